//! Plaintexts as long coefficients, for devices that convert them to residues instead of the CPU.
//!
//! The CPU needs no long integers: [`Ring::add_plain`](crate::ring::Ring::add_plain) reduces the
//! short remainder of the division modulo each prime. A converting device needs the quotient, which
//! has as many bits as `q`.

use crate::ring::{Poly, Ring};
use crate::{Error, ErrorKind};
use hearith_arith::Batch;
use hearith_arith::natural::{add_assign, add_multiple, bits_at, limbs_of, product};
use std::fmt;
use std::sync::Arc;
use zeroize::Zeroizing;

/// The reason why a conversion failed.
pub type Reason = Box<dyn std::error::Error + Send + Sync>;

/// Converts long integers to residues, typically on an accelerator.
///
/// The converter receives plaintexts and must keep them as secret as their owner does.
pub trait Convert: fmt::Debug + Send + Sync {
    /// Returns the residues of all numbers, which are below the product of the moduli: first those
    /// modulo the first modulus, then those modulo the next.
    ///
    /// # Errors
    /// Any error of the converter.
    fn residues(&self, moduli: &[u64], numbers: &Batch) -> Result<Zeroizing<Vec<u64>>, Reason>;
}

/// Why a converter failed. It compares equal only to itself and its clones.
#[derive(Clone, Debug)]
pub struct Cause(Arc<dyn std::error::Error + Send + Sync>);

impl From<Reason> for Cause {
    fn from(reason: Reason) -> Self {
        Cause(reason.into())
    }
}

impl PartialEq for Cause {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for Cause {}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl std::error::Error for Cause {
    /// The converter's reason. It has the same message as this error.
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&*self.0)
    }
}

/// `q m / t` with `t = 2^bits`, rounded to the nearest integer, modulo `q`, one row per number. In
/// constant time.
pub(crate) fn scaled(ring: &Ring, numbers: &[i128], bits: u32) -> Batch {
    let q = ring.primes.iter().fold(vec![1], |all, prime| product(&all, &[prime.q]));
    let q = &q[..limbs_of(ring.set.modulus_bits())];
    let mut rows = Batch::zeros(numbers.len(), q.len());
    let mut accumulator = Zeroizing::new(vec![0; q.len() + 2]);
    for (row, &number) in rows.rows_mut().zip(numbers) {
        // Reduced modulo t, so non-negative. This changes the result by a multiple of q.
        let number = number as u128 & ((1 << bits) - 1);
        accumulator.fill(0);
        add_multiple(&mut accumulator, q, number as u64);
        add_multiple(&mut accumulator[1..], q, (number >> 64) as u64);
        let half = bits as usize - 1;
        add_assign(&mut accumulator[half / 64..], &[1 << (half % 64)]);
        for (index, limb) in row.iter_mut().enumerate() {
            *limb = bits_at(&accumulator, 64 * index + bits as usize, 64);
        }
    }
    rows
}

/// Does the same as [`Ring::add_plain`], with residues from a converter.
pub(crate) fn add_plain(ring: &Ring, a: &mut Poly, numbers: &[i128], bits: u32, by: &dyn Convert) -> Result<(), Error> {
    let moduli = ring.set.moduli();
    let words = by.residues(moduli, &scaled(ring, numbers, bits)).map_err(Cause::from)?;
    let columns = words.chunks_exact(numbers.len());
    let right = words.len() == moduli.len() * numbers.len()
        && columns.clone().zip(moduli).all(|(column, &q)| column.iter().fold(true, |all, &word| all & (word < q)));
    if !right {
        return Err(ErrorKind::Malformed("the converter returned no residues").into());
    }
    let mut plain = Poly::zeros(moduli.len(), numbers.len().div_ceil(crate::kernel::LANES));
    for (prime, column) in columns.enumerate() {
        plain.set(prime, column);
    }
    let vectors = plain.vectors();
    ring.each(a, |kernel, i, a, prime| kernel.add(&mut a[..vectors], plain.of(i), prime));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Engine, PrivateKey, Set};
    use rug::Integer;
    use rug::integer::Order;

    /// A converter that uses GMP, returns wrong residues, or fails.
    #[derive(Debug)]
    enum Software {
        Right,
        Wrong(fn(&mut Vec<u64>, u64)),
        Broken,
    }

    impl Convert for Software {
        fn residues(&self, moduli: &[u64], numbers: &Batch) -> Result<Zeroizing<Vec<u64>>, Reason> {
            let numbers: Vec<Integer> = numbers.rows().map(|row| Integer::from_digits(row, Order::Lsf)).collect();
            let product = moduli.iter().fold(Integer::from(1), |product, &q| product * q);
            assert!(numbers.iter().all(|number| *number < product));
            let column = |&q: &u64| numbers.iter().map(move |number| Integer::from(number % q).to_u64().unwrap());
            let mut words = moduli.iter().flat_map(column).collect();
            match self {
                Software::Right => {}
                Software::Wrong(spoil) => spoil(&mut words, moduli[0]),
                Software::Broken => return Err("no such device".into()),
            }
            Ok(Zeroizing::new(words))
        }
    }

    /// The numbers of largest magnitude with `bits` bits, and others.
    fn numbers(bits: u32) -> Vec<i128> {
        let largest = i128::MAX >> (128 - bits);
        [0, 1, -1, largest, -largest, -largest - 1, largest / 3, -largest / 7, largest / 2 + 1, -largest / 2].to_vec()
    }

    #[test]
    fn scaled_plaintexts_are_those_of_long_division() {
        for (set, bits) in [(Set::Degree4096, 2), (Set::Degree4096, 40), (Set::Degree8192, 64), (Set::Degree16384, 127)]
        {
            let ring = Ring::new(set, Engine::Serial).unwrap();
            let q = set.moduli().iter().fold(Integer::from(1), |product, &q| product * q);
            for (row, number) in scaled(&ring, &numbers(bits), bits).rows().zip(numbers(bits)) {
                let (half, t) = (Integer::from(1) << (bits - 1), Integer::from(1) << bits);
                let rounded = (q.clone() * number + half).div_rem_floor(t).0;
                let (_, residue) = rounded.div_rem_floor(q.clone());
                assert_eq!(Integer::from_digits(row, Order::Lsf), residue, "{set} {bits} {number}");
            }
        }
    }

    #[test]
    fn ciphertexts_are_the_same_byte_by_byte() {
        for (set, bits) in [(Set::Degree4096, 2), (Set::Degree4096, 40), (Set::Degree8192, 97), (Set::Degree16384, 127)]
        {
            for &engine in Engine::ALL.iter().filter(|engine| engine.is_available()) {
                let key = PrivateKey::generate(set, engine).unwrap();
                let encrypted = |key: &PrivateKey, numbers: &[i128]| key.encrypted_alike(numbers, bits).unwrap();
                let expected = [1, 10].map(|count| encrypted(&key, &numbers(bits)[..count]));
                let key = key.with_converter(Arc::new(Software::Right));
                assert!([1, 10].map(|count| encrypted(&key, &numbers(bits)[..count])) == expected, "{set} {engine}");
                let whole = key.encrypt(&numbers(bits), bits).unwrap();
                assert_eq!(key.decrypt(&whole).unwrap()[..], numbers(bits));
            }
        }
    }

    #[test]
    fn what_fails_or_lies_gives_no_ciphertext() {
        let key = PrivateKey::generate(Set::Degree4096, Engine::Serial).unwrap();
        let public = |converter| key.public().clone().with_converter(Arc::new(converter));
        let error = public(Software::Broken).encrypt(&[5], 20).unwrap_err();
        assert_eq!(error.to_string(), "no such device");
        assert!(matches!(error.kind(), ErrorKind::Converter(_)) && error == error.clone());
        let spoils: [fn(&mut Vec<u64>, u64); 3] = [
            |words, q| words[0] = q,
            |words, _| words.push(0),
            |words, _| {
                words.pop();
            },
        ];
        for spoil in spoils {
            let error = public(Software::Wrong(spoil)).encrypt(&[5], 20).unwrap_err();
            assert_eq!(error.to_string(), "the converter returned no residues");
        }
    }
}
