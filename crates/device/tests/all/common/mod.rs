//! Helpers for tests of devices, here and in the crate of simulated devices.

use hearith_device::{Error, ErrorKind};
use hearith_paillier::{Ciphertexts, Engine, KeyPolicy, Plaintexts, PrivateKey, Variant};

/// A new key.
pub fn key(bits: u32) -> PrivateKey {
    PrivateKey::generate(bits, Variant::Standard, KeyPolicy::AllowInsecure, Engine::best()).unwrap()
}

/// Expects an error of exactly this kind. Kinds hold causes that can only be compared by their
/// text.
#[track_caller]
pub fn is(error: &Error, kind: ErrorKind) {
    assert_eq!(format!("{:?}", error.kind()), format!("{kind:?}"));
}

/// Numbers without a pattern, the same in every run: SplitMix64 (Steele, Lea and Flood, Fast
/// splittable pseudorandom number generators, 2014).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ mixed >> 31
    }
}

/// Encryptions of 0, 1, n - 1 and random numbers, plus the trivial ciphertext 1 and the largest
/// unit, together with their plaintexts.
pub fn random_ciphertexts(key: &PrivateKey, count: usize) -> (Ciphertexts, Plaintexts) {
    let public = key.public();
    let n = public.modulus_be();
    let width = public.plaintext_bytes();
    let number = |value: u8| (0..width).map(move |at| if at + 1 == width { value } else { 0 });
    let below_n: Vec<u8> = {
        let mut less = n.clone();
        *less.last_mut().unwrap() -= 1; // n is odd
        less
    };
    let mut bytes: Vec<u8> = number(0).chain(number(1)).chain(below_n).collect();
    let mut random = Random(count as u64);
    while bytes.len() < count.max(3) * width {
        // Below n: a random number whose top byte is less than n's.
        let row = (0..width).map(|at| match at {
            0 => (random.next() % u64::from(n[0]).max(1)) as u8,
            _ => random.next() as u8,
        });
        bytes.extend(row);
    }
    bytes.truncate(count * width);
    let plaintexts = public.plaintexts_from_be(&bytes).unwrap();
    let fresh = public.encrypt(&plaintexts).unwrap();
    // The trivial encryption of 0, and n^2 - 1 = -1, which also encrypts 0, since (-1)^(p-1) = 1.
    let mut largest = vec![0; public.ciphertext_bytes()];
    subtract_one_from_square(&n, &mut largest);
    let largest = public.ciphertexts_from_be(&largest).unwrap();
    let all = Ciphertexts::concat(&fresh, &[&public.zero(), &largest]).unwrap();
    let zeros: Vec<u8> = number(0).chain(number(0)).collect();
    let zeros = public.plaintexts_from_be(&zeros).unwrap();
    (all, Plaintexts::concat(&plaintexts, &[&zeros]).unwrap())
}

/// `n^2 - 1`, big-endian.
fn subtract_one_from_square(n: &[u8], out: &mut [u8]) {
    let mut little = vec![0_u32; 2 * n.len() + 1];
    for (i, &a) in n.iter().rev().enumerate() {
        for (j, &b) in n.iter().rev().enumerate() {
            little[i + j] += u32::from(a) * u32::from(b);
            // Keeps the sums small.
            little[i + j + 1] += little[i + j] >> 8;
            little[i + j] &= 0xff;
        }
    }
    for i in 0..little.len() - 1 {
        little[i + 1] += little[i] >> 8;
        little[i] &= 0xff;
    }
    // n is odd, so its square ends in an odd byte.
    little[0] -= 1;
    for (byte, digit) in out.iter_mut().rev().zip(little) {
        *byte = digit as u8;
    }
}
