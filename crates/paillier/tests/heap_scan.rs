//! Checks that no secret is left on the heap, by searching every freed block.
//!
//! While recording, the allocator of this test program copies every block that is freed (or moved
//! when it grows). It returns zeroed memory, so the tested code wrote everything in the copies. The
//! test then searches the copies at every byte offset for values that must have been wiped:
//!
//! - of the key: `p`, `q`, their squares, `p - 1` and its half, the exponents and constants of
//!   decryption, and `R` and `R^2` modulo each prime and its square for the `R` of every engine,
//!   whose greatest common divisor with `n` would reveal a prime;
//! - of the data: plaintexts as integers, as residues modulo `n`, `p` and `q`, packed, and as
//!   decimal text; scalars; and the randomisers `r^n`, which are computed afterwards from
//!   ciphertexts and plaintexts.
//!
//! Each number is searched for in 64-bit limbs, in 52-bit limbs (the vector engine's form) and in
//! big-endian bytes; primes also in base64url. Every engine runs keys from primes and from JSON Web
//! Keys, rejected keys, writing keys, encryption with the public and the private key, decryption,
//! encodings, and operations on ciphertexts.
//!
//! Not covered: key generation, because the crates that search for primes leave copies (see
//! SECURITY.md); the stack and the registers; memory that is never freed.

#[path = "all/common/mod.rs"]
#[allow(dead_code, reason = "the other tests use the rest")]
mod common;

use common::{bytes_be, engines};
use hearith_paillier::encoding::{Signed, SlotLayout, decode_signed, encode_signed, format_decimal, parse_decimal};
use hearith_paillier::phe_json::{self, Number};
use hearith_paillier::{Engine, KeyPolicy, PrivateKey, PublicKey};
use hearith_testing::heap::{Recorder, Secrets, freed_by};
use rug::{Integer, integer::Order};
use std::hint::black_box;
use zeroize::Zeroizing;

#[global_allocator]
static RECORDER: Recorder = Recorder;

/// Adds GMP integers to the secrets.
trait Whole {
    fn whole(&mut self, name: &str, number: &Integer);
}

impl Whole for Secrets {
    fn whole(&mut self, name: &str, number: &Integer) {
        self.number(name, &number.to_digits(Order::Lsf));
    }
}

/// The lowest bits of a number.
fn low(number: &Integer, bits: u32) -> Integer {
    number.clone().keep_bits(bits)
}

/// The numbers of a key, stored outside the tested code: GMP has its own allocator.
struct Numbers {
    p: Integer,
    q: Integer,
    n: Integer,
    h: Option<Integer>,
    /// The primes of a subgroup key that divide `p - 1` and `q - 1`.
    orders: Option<[Integer; 2]>,
}

impl Numbers {
    /// One key of each variant, of different lengths. Their numbers are random, so a match is no
    /// coincidence.
    fn all() -> Vec<Numbers> {
        let vectors = common::vectors();
        let standard = vectors.keys.into_iter().filter(|key| key.bits == 1024 && key.kind == "random");
        let standard = standard.map(|key| Numbers { p: key.p.0, q: key.q.0, n: key.n.0, h: None, orders: None });
        let djn = vectors.djn.into_iter().filter(|key| key.bits == 512);
        let djn = djn.map(|key| Numbers { p: key.p.0, q: key.q.0, n: key.n.0, h: Some(key.h.0), orders: None });
        let all: Vec<Numbers> = standard.take(1).chain(djn.take(1)).chain([Self::of_subgroup()]).collect();
        assert_eq!(all.len(), 3);
        all
    }

    fn of_subgroup() -> Numbers {
        let all: serde_json::Value = serde_json::from_str(include_str!("vectors/subgroup.json")).unwrap();
        let number = |name: &str| Integer::from_str_radix(all[0][name].as_str().unwrap(), 16).unwrap();
        let [p, q] = [number("P"), number("Q")];
        let n = Integer::from(&p * &q);
        Numbers { p, q, n, h: Some(number("h")), orders: Some([number("p"), number("q")]) }
    }

    fn secrets(&self) -> Secrets {
        let mut secrets = Secrets::default();
        let Numbers { p, q, n, .. } = self;
        for (name, order) in ["order of p", "order of q"].into_iter().zip(self.orders.iter().flatten()) {
            secrets.whole(name, order);
            secrets.whole(&format!("twice the {name}"), &Integer::from(order << 1));
            secrets.text(&format!("{name} as text"), &base64(&order.to_digits(Order::MsfBe)));
        }
        let (p_less, q_less) = (Integer::from(p - 1), Integer::from(q - 1));
        let inverse = |x: &Integer, m: &Integer| x.clone().invert(m).unwrap();
        for (name, prime, less, other) in [("p", p, &p_less, q), ("q", q, &q_less, p)] {
            secrets.whole(name, prime);
            secrets.whole(&format!("{name} - 1"), less);
            secrets.whole(&format!("({name} - 1) / 2"), &Integer::from(less >> 1));
            let odd = less.find_one(0).unwrap();
            secrets.whole(&format!("odd part of {name} - 1"), &Integer::from(less >> odd));
            let square = prime.clone().square();
            secrets.whole(&format!("{name}^2"), &square);
            let e = prime - inverse(other, prime);
            secrets.whole(&format!("e_{name}"), &e);
            secrets.whole(&format!("inverse modulo {name}"), &inverse(other, prime));
            let l = other * inverse(other, prime);
            secrets.whole(&format!("l_{name}"), &l);
            secrets.whole(&format!("t_{name}"), &(Integer::from(&e * &l) % n));
            // R for both radices, and for all numbers of limbs that may occur.
            let limbs = prime.significant_bits().div_ceil(52) as usize;
            for (radix, limbs) in (1..=2 * limbs + 3).flat_map(|limbs| [(64, limbs), (52, limbs)]) {
                for power in [1u32, 2, 3] {
                    let r = Integer::from(1) << (radix * limbs as u32 * power);
                    for (of, modulus) in [(name.to_owned(), prime), (format!("{name}^2"), &square)] {
                        // A power of 2 below the modulus reveals nothing, and neither does its
                        // residue just above it.
                        if r.significant_bits() > modulus.significant_bits() + 64 {
                            let residue = Integer::from(&r % modulus);
                            secrets.whole(&format!("R mod {of}"), &residue);
                            secrets.whole(&format!("R mod {of}, high part"), &Integer::from(&residue / prime));
                        }
                    }
                }
            }
            let text = base64(&prime.to_digits(Order::MsfBe));
            secrets.text(&format!("{name} as text"), &text);
        }
        let euler = Integer::from(&p_less * &q_less);
        let lambda = p_less.lcm(&q_less);
        for (name, number) in [("lambda", &lambda), ("(p - 1)(q - 1)", &euler)] {
            // The upper half equals that of n, or of n divided by the same factor.
            secrets.whole(name, &low(number, n.significant_bits() / 2));
            secrets.whole(&format!("inverse of {name}"), &inverse(number, n));
        }
        secrets
    }

    fn key(&self, engine: Engine) -> Result<PrivateKey, hearith_paillier::Error> {
        let [p, q] = [&self.p, &self.q].map(|prime| Zeroizing::new(prime.to_digits::<u8>(Order::MsfBe)));
        let h = self.h.as_ref().map(|h| h.to_digits::<u8>(Order::MsfBe));
        if let (Some(orders), Some(h)) = (&self.orders, &h) {
            let [sp, sq] = [0, 1].map(|at| Zeroizing::new(orders[at].to_digits::<u8>(Order::MsfBe)));
            let policy = KeyPolicy::AllowInsecure;
            return PrivateKey::from_subgroup_primes([&p, &q], [&sp, &sq], h, 448, policy, engine);
        }
        PrivateKey::from_primes(&p, &q, h.as_deref(), KeyPolicy::AllowInsecure, engine)
    }
}

fn base64(bytes: &[u8]) -> String {
    use base64ct::{Base64UrlUnpadded, Encoding};
    Base64UrlUnpadded::encode_string(bytes)
}

/// Integers of 127 bits and both signs that cannot occur by chance.
const NUMBERS: [i128; 9] = [
    0x5d3a_91c7_e04b_26f8_8c15_7ae9_b36d_f042,
    -0x6e91_b85d_07c3_fa14_d2a6_39e8_47bf_5c03,
    0x47f2_0e9c_b1d5_6a83_3e78_c4f1_095b_ad67,
    0x7b06_d43f_9a2e_c851_61f9_0cb7_e8d4_2a35,
    -0x4c8b_f7a1_265e_d390_95d0_b3e4_7f1a_c682,
    0x5fe1_3c72_8d94_0ba6_b7c2_e5f8_1d36_9a4e,
    -0x63d9_0a5e_f47b_81c2_2f84_d6b9_c07e_513b,
    0x7892_e6bd_350f_ca47_e41b_5a83_d96c_07f2,
    0x41ac_7f50_e8d2_963b_0b6e_f197_c3a8_5d24,
];

/// Numbers below `n` that cannot occur by chance.
fn full_size(n: &Integer) -> Vec<Integer> {
    let square = |x: &i128| Integer::from(*x).square().square() * 0x9e37_79b9_7f4a_7c15u64;
    NUMBERS.iter().map(|x| (square(x) * square(x) + 1u32) % n).collect()
}

/// Runs a scenario and searches the memory that it freed.
fn scan<T>(what: &str, secrets: &Secrets, leaks: &mut Vec<String>, work: impl FnOnce() -> T) -> T {
    let (result, freed) = freed_by(work);
    assert!(!freed.is_empty(), "{what} frees nothing: the recorder does not work");
    for (name, times) in secrets.within(&freed) {
        leaks.push(format!("{what}: {name}, {times} times"));
    }
    result
}

#[test]
fn no_secret_is_left_on_the_heap() {
    the_recorder_finds_what_is_not_wiped();
    let mut leaks = Vec::new();
    for (numbers, engine) in Numbers::all().iter().flat_map(|numbers| engines().map(move |engine| (numbers, engine))) {
        let name = format!("{} bits, {engine}", numbers.n.significant_bits());
        keys(&name, numbers, engine, &mut leaks);
        decryption(&format!("{name}: decrypting"), numbers, engine, &mut leaks);
        encryption(&name, numbers, engine, &mut leaks);
        opening(&name, numbers, engine, &mut leaks);
        encodings(&name, numbers, engine, &mut leaks);
    }
    assert!(leaks.is_empty(), "left on the heap:\n{}", leaks.join("\n"));
}

/// Not a separate test, because it would run in parallel with the other one.
fn the_recorder_finds_what_is_not_wiped() {
    let number = Integer::from(NUMBERS[0]);
    let mut secrets = Secrets::default();
    secrets.whole("number", &number);
    secrets.text("text", "1234567890123456");
    let limbs = number.to_digits::<u64>(Order::Lsf);
    let found = |work: &dyn Fn()| secrets.within(&freed_by(work).1);
    assert_eq!(found(&|| drop(black_box(limbs.clone()))), [("number".to_owned(), 2)]);
    assert_eq!(found(&|| drop(black_box(Zeroizing::new(limbs.clone())))), []);
    let digits = |limb: u64| [limb & ((1 << 52) - 1), 7, limb >> 52];
    assert_eq!(found(&|| drop(black_box(vec![digits(limbs[0])]))), [("number".to_owned(), 1)]);
    let bytes = number.to_digits::<u8>(Order::MsfBe);
    assert_eq!(found(&|| drop(black_box([&[1, 2, 3][..], &bytes].concat()))), [("number".to_owned(), 2)]);
    assert_eq!(found(&|| drop(black_box("x1234567890123456".to_owned()))), [("text".to_owned(), 1)]);
    let grow = || {
        let mut vector = Zeroizing::new(Vec::with_capacity(2));
        vector.extend_from_slice(&limbs);
        vector.push(1);
        drop(black_box(vector));
    };
    assert_eq!(found(&grow), [("number".to_owned(), 2)], "what a vector that grows leaves behind");
}

/// Reads, rejects and writes keys.
fn keys(name: &str, numbers: &Numbers, engine: Engine, leaks: &mut Vec<String>) {
    let secrets = numbers.secrets();
    let key = scan(&format!("{name}: from primes"), &secrets, leaks, || numbers.key(engine).unwrap());
    let text = scan(&format!("{name}: writing"), &secrets, leaks, || key.to_jwk());
    scan(&format!("{name}: dropping"), &secrets, leaks, || drop(key));
    let read = |text: &str| PrivateKey::from_jwk(text, KeyPolicy::AllowInsecure, engine);
    let key = scan(&format!("{name}: from a JSON Web Key"), &secrets, leaks, || read(&text).unwrap());
    let [p, q] = [&numbers.p, &numbers.q].map(|prime| prime.to_digits::<u8>(Order::MsfBe));
    let even = bytes_be(&Integer::from(&numbers.q + 1), q.len());
    let policy = KeyPolicy::AllowInsecure;
    scan(&format!("{name}: refusing"), &secrets, leaks, || {
        PrivateKey::from_primes(&p, &even, None, policy, engine).unwrap_err();
        PrivateKey::from_primes(&p, &p, None, policy, engine).unwrap_err();
        PrivateKey::from_primes(&p, &q[1..], None, policy, engine).unwrap_err();
        PrivateKey::from_primes(&p, &q, Some(&[4]), policy, engine).unwrap_err();
        PrivateKey::from_primes(&p, &q, None, KeyPolicy::Secure, engine).unwrap_err();
        read(&text[..text.len() - 2]).unwrap_err();
    });
    scan(&format!("{name}: writing again"), &secrets, leaks, || drop((key.to_jwk(), key.public().to_jwk())));
    drop((key, text));
}

/// The constants that decryption derives from the key, and the plaintexts.
fn decryption(name: &str, numbers: &Numbers, engine: Engine, leaks: &mut Vec<String>) {
    let mut secrets = numbers.secrets();
    let plain = full_size(&numbers.n);
    for m in &plain {
        secrets.whole("plaintext", m);
        secrets.whole("plaintext modulo p", &Integer::from(m % &numbers.p));
        secrets.whole("plaintext modulo q", &Integer::from(m % &numbers.q));
    }
    let key = numbers.key(engine).unwrap();
    let ciphertexts = key.public().encrypt(&common::plaintexts(key.public(), &plain)).unwrap();
    // One row alone, then one more row than twice the number of lanes.
    let found = scan(name, &secrets, leaks, || {
        drop(key.decrypt(&ciphertexts.range(0..1).unwrap()).unwrap());
        let found = key.decrypt(&ciphertexts).unwrap();
        drop((found.to_be_bytes(), found.clone(), found.select(&[3, 1]).unwrap(), found.range(2..4).unwrap()));
        found
    });
    assert_eq!(common::residues(&found), plain);
    // One row, then all rows in the wrong order: the second check fails.
    scan(&format!("{name} and checking"), &secrets, leaks, || {
        let clone = key.clone();
        drop(clone.decrypt_checked(&ciphertexts.range(0..1).unwrap()).unwrap());
        drop(clone.decrypt_checked(&ciphertexts).unwrap());
        clone.check(&ciphertexts, &found.select(&[1, 0, 2, 3, 4, 5, 6, 7, 8]).unwrap()).unwrap_err();
    });
    // With this many rows, the check multiplies modulo p^2 and q^2, where residues reveal the
    // primes.
    let first = Integer::from_digits(ciphertexts.batch().row(0), Order::Lsf);
    for (name, prime) in [("p", &numbers.p), ("q", &numbers.q)] {
        for radix in [64, 52, 28] {
            let limbs = prime.significant_bits().div_ceil(radix);
            for limbs in limbs..limbs + 3 {
                let residue = Integer::from(&first << (radix * limbs)) % prime;
                secrets.whole(&format!("R times a ciphertext, modulo {name}"), &residue);
            }
        }
    }
    let rows: Vec<usize> = (0..135).map(|row| row % 9).collect();
    let (many, theirs) = (ciphertexts.select(&rows).unwrap(), found.select(&rows).unwrap());
    scan(&format!("{name} and checking many rows"), &secrets, leaks, || key.check(&many, &theirs).unwrap());
    scan(&format!("{name}, then dropping the key"), &secrets, leaks, || drop((key, found)));
}

/// Encryption, and operations with secret scalars.
fn encryption(name: &str, numbers: &Numbers, engine: Engine, leaks: &mut Vec<String>) {
    let mut secrets = numbers.secrets();
    let plain = full_size(&numbers.n);
    plain.iter().for_each(|m| secrets.whole("plaintext", m));
    NUMBERS.iter().for_each(|&scalar| secrets.whole("scalar", &Integer::from(scalar.unsigned_abs())));
    let bytes: Vec<u8> = plain.iter().flat_map(|m| bytes_be(m, numbers.n.significant_digits::<u8>())).collect();
    let key = numbers.key(engine).unwrap();
    let public: &PublicKey = key.public();
    let wide: Vec<Signed> = NUMBERS.iter().map(|&scalar| scalar.into()).collect();
    let work = || {
        let plaintexts = public.plaintexts_from_be(&bytes).unwrap();
        let mut pool = public.randomisers(12).unwrap();
        pool.append(key.randomisers(9).unwrap()).unwrap();
        let filled = public.randomiser_pool(12).unwrap();
        while filled.len() < 12 {
            std::thread::yield_now();
        }
        let ciphertexts = [
            public.encrypt_with(&plaintexts, &mut filled.take(plaintexts.len()).unwrap()).unwrap(),
            public.encrypt(&plaintexts).unwrap(),
            key.encrypt(&plaintexts).unwrap(),
            public.encrypt_with(&plaintexts, &mut pool).unwrap(),
            public.encrypt_with(&plaintexts, &mut pool).unwrap(),
        ];
        drop(public.rerandomise_with(&ciphertexts[0].range(0..2).unwrap(), &mut pool).unwrap());
        drop(public.rerandomise(&ciphertexts[0]).unwrap());
        drop(public.add_plain(&ciphertexts[1], &plaintexts).unwrap());
        drop(public.multiply(&ciphertexts[1], &NUMBERS).unwrap());
        drop(public.multiply_wide(&ciphertexts[1], &wide, 127).unwrap());
        drop(public.dot(&ciphertexts[1], &NUMBERS, 9).unwrap());
        drop(public.dot(&ciphertexts[1], &NUMBERS[..3], 3).unwrap());
        ciphertexts
    };
    let (ciphertexts, freed) = freed_by(work);
    // Compute the randomisers that were drawn: c = (1 + m n) R.
    let square = numbers.n.clone().square();
    for (c, m) in ciphertexts.iter().flat_map(|batch| common::integers(batch).into_iter().zip(&plain)) {
        let shift = Integer::from(m * &numbers.n) + 1u32;
        let randomiser = c * shift.invert(&square).unwrap() % &square;
        // The low part is visible in an encryption of 0; the plaintext hides the high part.
        secrets.whole("randomiser, high part", &Integer::from(&randomiser / &numbers.n));
        for (prime, name) in [(&numbers.p, "p^2"), (&numbers.q, "q^2")] {
            let residue = &randomiser % prime.clone().square();
            secrets.whole(&format!("randomiser modulo {name}"), &residue);
            secrets.whole(&format!("randomiser modulo {name}, high part"), &Integer::from(&residue / prime));
        }
    }
    let found = secrets.within(&freed);
    leaks.extend(found.into_iter().map(|(secret, times)| format!("{name}: encrypting: {secret}, {times} times")));
}

/// Openings of ciphertexts, drawn at encryption and recovered by the key's owner.
fn opening(name: &str, numbers: &Numbers, engine: Engine, leaks: &mut Vec<String>) {
    let Numbers { p, q, n, .. } = numbers;
    let mut secrets = numbers.secrets();
    for (prime, other) in [(p, q), (q, p)] {
        let less = Integer::from(prime - 1);
        secrets.whole("exponent of roots", &other.clone().invert(&less).unwrap());
    }
    let plain = full_size(n);
    plain.iter().for_each(|m| secrets.whole("plaintext", m));
    let key = numbers.key(engine).unwrap();
    let plaintexts = common::plaintexts(key.public(), &plain);
    let ((ciphertexts, bytes), freed) = freed_by(|| {
        let (ciphertexts, openings) = key.public().encrypt_opened(&plaintexts).unwrap();
        let (found, again) = key.open(&ciphertexts).unwrap();
        assert!(found == plaintexts && again == openings);
        key.public().check_openings(&ciphertexts, &found, &again.clone()).unwrap();
        drop(key.public().sum_openings(&again.range(1..5).unwrap(), &[vec![0, 3], vec![1]]).unwrap());
        let bytes = openings.to_be_bytes();
        drop(key.public().openings_from_be(&bytes).unwrap());
        (ciphertexts, bytes)
    });
    for r in bytes.chunks(bytes.len() / ciphertexts.len()).map(|r| Integer::from_digits(r, Order::MsfBe)) {
        secrets.whole("opening", &r);
        secrets.whole("opening modulo p", &Integer::from(&r % p));
        secrets.whole("opening modulo q", &Integer::from(&r % q));
    }
    let found = secrets.within(&freed);
    leaks.extend(found.into_iter().map(|(secret, times)| format!("{name}: opening: {secret}, {times} times")));
}

/// Encodes and decodes numbers, and converts them to text.
fn encodings(name: &str, numbers: &Numbers, engine: Engine, leaks: &mut Vec<String>) {
    let key = numbers.key(engine).unwrap();
    let public = key.public();
    let mut secrets = numbers.secrets();
    for &number in &NUMBERS {
        let magnitude = Integer::from(number.unsigned_abs());
        secrets.whole("number", &magnitude);
        // The higher bits are those of n.
        secrets.whole("residue", &low(&Integer::from(&numbers.n - &magnitude), 128));
        secrets.text("digits", &magnitude.to_string());
        secrets.text("digits after the first", &magnitude.to_string()[1..]);
    }
    // Three slots of 130 bits, packed according to the definition of the layout.
    let layout = SlotLayout::new(public.bits(), 3, i128::MAX as u128, 4).unwrap();
    for row in NUMBERS.chunks_exact(3) {
        let slot =
            |(position, &number): (usize, &i128)| Integer::from(number) << (position as u32 * layout.slot_bits());
        let packed: Integer = row.iter().enumerate().map(slot).sum();
        let raised: Integer = (0..3u32).map(|at| Integer::from(1) << ((at + 1) * layout.slot_bits() - 1)).sum();
        secrets.whole("packed", &Integer::from(&packed + &raised));
        secrets.whole("packed residue", &low(&packed.modulo(&numbers.n), 3 * layout.slot_bits()));
    }
    let text = Zeroizing::new(NUMBERS.map(|number| number.to_string()).join(";"));
    scan(&format!("{name}: encoding and decoding"), &secrets, leaks, || {
        let plaintexts = encode_signed(public, &NUMBERS).unwrap();
        let decoded = decode_signed(public, &plaintexts).unwrap();
        assert_eq!(decoded[1].to_i128(), Some(NUMBERS[1]));
        assert!(decoded.iter().all(|number| number.exceeds(1 << 126, 1) || !number.exceeds(1 << 127, 1)));
        drop(decoded.iter().map(|number| Zeroizing::new(number.to_decimal_string(40))).collect::<Vec<_>>());
        drop(decoded.iter().map(|number| Zeroizing::new(number.to_decimal_string(2))).collect::<Vec<_>>());
        drop(decoded.clone());
        let packed = layout.pack(public, &NUMBERS).unwrap();
        drop(layout.unpack(public, &packed, &vec![1; packed.len()]).unwrap());
        let phe: Vec<Number> = NUMBERS.iter().map(|&number| Number::from(number).with_exponent(-3).unwrap()).collect();
        let (encoded, exponents) = phe_json::encode(public, &phe).unwrap();
        drop(phe_json::decode(public, &encoded, &exponents).unwrap());
        assert!(phe.iter().all(|number| number.to_f64().is_ok()));
        for part in text.split(';') {
            let number = parse_decimal(part, 0).unwrap();
            drop(Zeroizing::new(format_decimal(number, 20)));
        }
        assert!(layout.pack(public, &NUMBERS[..2]).is_err());
        assert!(parse_decimal(&text, 0).is_err());
    });
}
