//! Checks batches of plaintexts against their ciphertexts on every engine: correct batches pass and
//! wrong ones fail.

use crate::common::{bytes_be, ciphertexts, engines, key, modulus, plaintexts, residues, some_keys};
use hearith_paillier::encoding::encode_signed;
use hearith_paillier::{Ciphertexts, DecryptError, DecryptionBackend, ErrorKind, Plaintexts, PrivateKey, Variant};
use rug::Integer;

/// Encryptions of 0, 1, n - 1 and others, with the trivial ciphertexts 1 and n^2 - 1, the largest.
fn batch(key: &PrivateKey, count: u32) -> (Ciphertexts, Plaintexts) {
    let (public, n) = (key.public(), modulus(key.public()));
    let numbers: Vec<Integer> = (0..count).map(|row| (Integer::from(row) * &n / 7u32 + row / 7) % &n).collect();
    let mut numbers = [vec![Integer::new(), Integer::from(1), Integer::from(&n - 1u32)], numbers].concat();
    let fresh = public.encrypt(&plaintexts(public, &numbers)).unwrap();
    let corners = ciphertexts(public, &[Integer::from(1), n.clone().square() - 1u32]);
    numbers.extend([Integer::new(), Integer::new()]);
    (Ciphertexts::concat(&fresh, &[&corners]).unwrap(), plaintexts(public, &numbers))
}

/// The plaintexts with one row replaced.
fn replaced(key: &PrivateKey, right: &Plaintexts, row: usize, number: &Integer) -> Plaintexts {
    let mut numbers = residues(right);
    numbers[row] = number.clone();
    plaintexts(key.public(), &numbers)
}

fn wrong(key: &PrivateKey, ciphertexts: &Ciphertexts, plaintexts: &Plaintexts) {
    assert_eq!(key.check(ciphertexts, plaintexts).unwrap_err(), ErrorKind::WrongDecryption.into());
}

#[test]
fn right_batches_pass_and_wrong_rows_are_found() {
    for key in some_keys() {
        let n = modulus(key.public());
        let (ciphertexts, right) = batch(key, 40);
        assert_eq!(key.check(&ciphertexts, &right), Ok(()));
        assert_eq!(key.decrypt_checked(&ciphertexts), Ok(right.clone()));
        let [p, q] = key.primes().map(|limbs| Integer::from_digits(limbs, rug::integer::Order::Lsf));
        for row in [0, 1, 2, 17, right.len() - 1] {
            let number = residues(&right)[row].clone();
            // Differences: one, one bit, multiples of one of the primes and others.
            for difference in
                [Integer::from(1), Integer::from(1) << 300, p.clone(), q.clone(), Integer::from(&p * 3u32)]
            {
                wrong(key, &ciphertexts, &replaced(key, &right, row, &((&number + difference) % &n)));
            }
        }
        // Two rows that are wrong by opposite amounts, which a simple sum would not detect.
        let numbers = residues(&right);
        let up = replaced(key, &right, 5, &(Integer::from(&numbers[5] + 1u32) % &n));
        wrong(key, &ciphertexts, &replaced(key, &up, 6, &((Integer::from(&numbers[6] - 1u32) + &n) % &n)));
        // Reordered plaintexts, and one plaintext for all rows.
        let rows: Vec<usize> = (1..right.len()).chain([0]).collect();
        wrong(key, &ciphertexts, &right.select(&rows).unwrap());
        wrong(key, &ciphertexts, &right.select(&vec![7; right.len()]).unwrap());
        wrong(key, &ciphertexts, &plaintexts(key.public(), &vec![Integer::new(); right.len()]));
    }
}

#[test]
fn batches_of_any_length() {
    for key in some_keys() {
        let public = key.public();
        let (ciphertexts, right) = batch(key, 60);
        for rows in [0, 1, 2, 7, 8, 9, 15, 16, 17, 33] {
            let (some, theirs) = (ciphertexts.range(0..rows).unwrap(), right.range(0..rows).unwrap());
            assert_eq!(key.check(&some, &theirs), Ok(()), "{rows} rows");
            if rows > 0 {
                let last = Integer::from(&residues(&theirs)[rows - 1] + 1u32) % modulus(public);
                wrong(key, &some, &replaced(key, &theirs, rows - 1, &last));
            }
        }
        // One row, the trivial ciphertext of 0.
        let zero = public.zero();
        assert_eq!(key.check(&zero, &encode_signed(public, &[0]).unwrap()), Ok(()));
        wrong(key, &zero, &encode_signed(public, &[1]).unwrap());
        // Batches of different lengths.
        let lengths = ErrorKind::Lengths { left: 2, right: 1 };
        let error = key.check(&ciphertexts.range(0..2).unwrap(), &right.range(0..1).unwrap());
        assert_eq!(error.unwrap_err(), lengths.into());
    }
}

/// Keys whose `n^2` has one limb less than twice those of `n`, and neighbouring lengths.
#[test]
fn keys_of_any_length() {
    for engine in engines() {
        for bits in [64, 66, 96, 98, 130, 160, 162, 256, 258] {
            let key = key(bits, Variant::Standard, engine);
            let (ciphertexts, right) = batch(&key, 20);
            assert_eq!(key.check(&ciphertexts, &right), Ok(()), "{bits} bits");
            wrong(&key, &ciphertexts, &replaced(&key, &right, 3, &Integer::from(12_345)));
        }
    }
}

/// A batch of more rows than one product covers (65 536), with one wrong row at various positions.
#[test]
fn long_batches_are_checked_to_the_end() {
    for engine in engines() {
        let key = key(64, Variant::Standard, engine);
        let public = key.public();
        let values: Vec<i128> = (0..(1 << 16) + 3).map(|row| row * 31 - 5).collect();
        let ciphertexts = public.encrypt(&encode_signed(public, &values).unwrap()).unwrap();
        assert_eq!(key.check(&ciphertexts, &encode_signed(public, &values).unwrap()), Ok(()));
        for row in [0, 65_535, 65_536, 65_538] {
            let mut changed = values.clone();
            changed[row] += 1;
            wrong(&key, &ciphertexts, &encode_signed(public, &changed).unwrap());
        }
    }
}

#[test]
fn batches_of_other_keys_are_refused() {
    let keys: Vec<&PrivateKey> = some_keys().take(2).collect();
    let (ciphertexts, plaintexts) = batch(keys[0], 2);
    let (others, their) = batch(keys[1], 2);
    for (ciphertexts, plaintexts) in [(&others, &plaintexts), (&ciphertexts, &their)] {
        let error = keys[0].check(ciphertexts, plaintexts).unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::WrongKey { .. }), "{error}");
    }
}

/// A ciphertext that shares a factor with n has no plaintext, so every plaintext is wrong.
#[test]
fn ciphertexts_that_hold_nothing_have_no_right_plaintext() {
    for key in some_keys() {
        let public = key.public();
        let bad = ciphertexts(public, &[Integer::from(1), modulus(public)]);
        wrong(key, &bad, &encode_signed(public, &[0, 0]).unwrap());
        let error = key.decrypt_checked(&bad).unwrap_err();
        assert_eq!(error, ErrorKind::CiphertextSharesFactor.at_row(1));
    }
}

#[test]
fn a_key_that_checks_decrypts_as_one_that_does_not() {
    for key in some_keys() {
        let (ciphertexts, right) = batch(key, 5);
        let backends: [&dyn DecryptionBackend; 2] = [key, &key.with_fault_check()];
        for backend in backends {
            assert_eq!(backend.public().id(), key.public().id());
            assert_eq!(backend.decrypt(&ciphertexts).unwrap(), right);
            let mut bytes = ciphertexts.to_be_bytes();
            bytes[..key.public().ciphertext_bytes()]
                .copy_from_slice(&bytes_be(&modulus(key.public()), ciphertexts.row_bytes()));
            let bad = key.public().ciphertexts_from_be(&bytes).unwrap();
            assert!(matches!(backend.decrypt(&bad), Err(DecryptError::Ciphertexts(_))));
        }
    }
}

/// Clones share the numbers: the remaining one works after the other is dropped.
#[test]
fn clones_decrypt() {
    let key = key(256, Variant::Djn, engines().next().unwrap());
    let (ciphertexts, right) = batch(&key, 3);
    let clone = key.clone();
    drop(key);
    assert_eq!(clone.decrypt_checked(&ciphertexts), Ok(right));
}
