//! Operations with the public key on emulated cards, compared with the CPU.

use hearith_device::{Device, Trust};
use hearith_paillier::encoding::{decode_signed, encode_signed};
use hearith_paillier::{ErrorKind, PrivateKey, PublicKey, PublicKeyBackend};

use crate::keys::{SOUND, djn, driver, private, public, standard, subgroup};
use hearith_cuda::LoadedCard;

const NUMBERS: [i128; 5] = [0, 1, -1, 1 << 60, -12345];

fn decrypted(key: &PrivateKey, ciphertexts: &hearith_paillier::Ciphertexts) -> Vec<i128> {
    let decoded = decode_signed(key.public(), &key.decrypt(ciphertexts).unwrap()).unwrap();
    decoded.iter().map(|number| number.to_i128().unwrap()).collect()
}

#[test]
fn every_variant_is_encrypted_and_rerandomised() {
    let standard = [1024, 1026].map(|bits| standard(bits).remove(0).0);
    let keys = [djn(2048), subgroup(1024).0, subgroup(3072).0].into_iter().chain(standard);
    for key in keys {
        for number in SOUND {
            let card = public(number, key.public());
            let plaintexts = encode_signed(key.public(), &NUMBERS[..3]).unwrap();
            let first = card.encrypt(&plaintexts).unwrap();
            assert_eq!(key.decrypt(&first).unwrap(), plaintexts, "{}", card.describe());
            let second = card.rerandomise(&first).unwrap();
            assert_eq!(key.decrypt(&second).unwrap(), plaintexts, "{}", card.describe());
            assert!(!card.has_failed());
            for row in 0..3 {
                assert_ne!(first.batch().row(row), second.batch().row(row));
                assert_ne!(first.batch().row(row), first.batch().row((row + 1) % 3));
            }
        }
    }
}

#[test]
fn sums_and_multiples_are_those_of_the_cpu() {
    for key in [djn(2048), subgroup(3072).0, standard(1026).remove(0).0] {
        let public_key = key.public();
        let a = public_key.encrypt(&encode_signed(public_key, &NUMBERS).unwrap()).unwrap();
        let b = public_key.encrypt(&encode_signed(public_key, &[7; 5]).unwrap()).unwrap();
        // More factors than a list can hold, repeated rows, and an empty group.
        let many: Vec<u32> = (0..150).map(|number| number % 5).collect();
        let groups = [vec![0, 1, 2, 3, 4], vec![], vec![3], vec![4, 4], many];
        let scalars = [0, 1, -1, i128::from(u64::MAX), -(1 << 69)];
        for number in SOUND {
            let card = public(number, public_key);
            assert_eq!(card.add(&a, &b).unwrap(), public_key.add(&a, &b).unwrap(), "{}", card.describe());
            let totals = card.sum_groups(&a, &groups).unwrap();
            assert_eq!(totals, public_key.sum_groups(&a, &groups).unwrap(), "{}", card.describe());
            let multiples = card.multiply(&a, &scalars, 70).unwrap();
            assert_eq!(multiples, public_key.multiply_deterministic(&a, &scalars, 70).unwrap(), "{}", card.describe());
            assert!(!card.has_failed());
            let expected: Vec<i128> =
                NUMBERS.iter().zip([0, 1, -1, 5, -3]).map(|(number, scalar)| number * scalar).collect();
            assert_eq!(decrypted(&key, &card.multiply(&a, &[0, 1, -1, 5, -3], 3).unwrap()), expected);
        }
    }
}

/// Encryption through the primes. The randomisers are checked, so a card fails if it returns 1 for
/// all of them, or if one row is wrong.
#[test]
fn owners_encrypt_through_the_primes() {
    for (key, _) in standard(1026).into_iter().take(1).chain(standard(2048)) {
        let plaintexts = encode_signed(key.public(), &NUMBERS[..3]).unwrap();
        for number in SOUND {
            let card = private(number, &key);
            let first = PublicKeyBackend::encrypt(&card, &plaintexts).unwrap();
            assert_eq!(key.decrypt(&first).unwrap(), plaintexts, "{}", card.describe());
            let second = card.rerandomise(&first).unwrap();
            assert_eq!(key.decrypt(&second).unwrap(), plaintexts, "{}", card.describe());
            assert!(!card.has_failed());
            (0..3).for_each(|row| assert_ne!(first.batch().row(row), second.batch().row(row)));
        }
        for faulty in [4, 6] {
            let card = private(faulty, &key);
            assert_eq!(key.decrypt(&PublicKeyBackend::encrypt(&card, &plaintexts).unwrap()).unwrap(), plaintexts);
            assert!(card.has_failed(), "{}", card.describe());
            let card = private(faulty, &key);
            let sound = key.encrypt(&plaintexts).unwrap();
            assert_eq!(key.decrypt(&card.rerandomise(&sound).unwrap()).unwrap(), plaintexts);
            assert!(card.has_failed(), "{}", card.describe());
        }
    }
    // For other keys, the owner has no advantage from the primes.
    let (key, _) = subgroup(1024);
    let plaintexts = encode_signed(key.public(), &NUMBERS).unwrap();
    let card = private(0, &key);
    assert_eq!(key.decrypt(&PublicKeyBackend::encrypt(&card, &plaintexts).unwrap()).unwrap(), plaintexts);
    assert_eq!(
        key.decrypt(
            &card.add(&PublicKeyBackend::encrypt(&card, &plaintexts).unwrap(), &key.public().zeros(5)).unwrap()
        )
        .unwrap(),
        plaintexts
    );
}

#[test]
fn weighted_sums_are_those_of_the_cpu() {
    let key = djn(2048);
    let public_key = key.public();
    let numbers = public_key.encrypt(&encode_signed(public_key, &[NUMBERS, NUMBERS].concat()).unwrap()).unwrap();
    let (weights, own) = ([3, -1, 0, 1 << 60, -7], (-5..5).collect::<Vec<i128>>());
    for number in SOUND {
        let card = public(number, public_key);
        for weights in [&weights[..], &own] {
            let expected = public_key.dot_deterministic(&numbers, weights, 5, 61).unwrap();
            assert_eq!(card.dot(&numbers, weights, 5, 61).unwrap(), expected, "{}", card.describe());
        }
        assert!(!card.has_failed());
    }
    let card = public(4, public_key);
    let expected = public_key.dot_deterministic(&numbers, &weights, 5, 61).unwrap();
    assert_eq!(card.dot(&numbers, &weights, 5, 61).unwrap(), expected);
    assert!(card.has_failed());
    let error = card.dot(&numbers, &weights, 3, 61).unwrap_err();
    assert!(matches!(error, hearith_paillier::ComputeError::Batch(error)
        if matches!(error.kind(), ErrorKind::Terms { terms: 3, rows: 10 })));
}

#[test]
fn the_largest_keys_are_summed() {
    let (key, _) = &standard(4096)[0];
    let ciphertexts = key.encrypt(&encode_signed(key.public(), &NUMBERS).unwrap()).unwrap();
    for number in SOUND {
        let card = public(number, key.public());
        let groups = [vec![0, 1, 2, 3, 4]];
        let totals = card.sum_groups(&ciphertexts, &groups).unwrap();
        assert_eq!(totals, key.public().sum_groups(&ciphertexts, &groups).unwrap());
        assert_eq!(card.multiply(&ciphertexts, &[3; 5], 2).unwrap().len(), 5);
        assert!(!card.has_failed());
    }
}

/// Results of a card that flips bits are not returned. They are recomputed on the CPU.
#[test]
fn faults_in_every_operation_are_found() {
    let key = subgroup(1024).0;
    let public_key = key.public();
    let plaintexts = encode_signed(public_key, &NUMBERS).unwrap();
    let ciphertexts = public_key.encrypt(&plaintexts).unwrap();
    let fresh = || public(4, public_key);
    let all = [vec![0, 1, 2, 3, 4]];
    let failed = |card: LoadedCard| assert!(card.has_failed());

    let card = fresh();
    assert_eq!(key.decrypt(&card.encrypt(&plaintexts).unwrap()).unwrap(), plaintexts);
    failed(card);
    let card = fresh();
    assert_eq!(key.decrypt(&card.rerandomise(&ciphertexts).unwrap()).unwrap(), plaintexts);
    failed(card);
    let card = fresh();
    assert_eq!(card.add(&ciphertexts, &ciphertexts).unwrap(), public_key.add(&ciphertexts, &ciphertexts).unwrap());
    failed(card);
    let card = fresh();
    let totals = card.sum_groups(&ciphertexts, &all).unwrap();
    assert_eq!(totals, public_key.sum_groups(&ciphertexts, &all).unwrap());
    failed(card);
    let card = fresh();
    let multiples = card.multiply(&ciphertexts, &[2; 5], 2).unwrap();
    assert_eq!(multiples, public_key.multiply_deterministic(&ciphertexts, &[2; 5], 2).unwrap());
    failed(card);

    // Encryption that is wrong in the last row only.
    let card = public(6, public_key);
    assert_eq!(key.decrypt(&card.encrypt(&plaintexts).unwrap()).unwrap(), plaintexts);
    failed(card);
    let believed = LoadedCard::with_public(&driver(), 6, public_key, Trust::Unchecked).unwrap();
    assert_ne!(key.decrypt(&believed.encrypt(&plaintexts).unwrap()).ok(), Some(plaintexts), "the fault is planted");
}

#[test]
fn wrong_batches_are_refused_as_by_the_cpu() {
    let (key, other): (PrivateKey, PrivateKey) = (subgroup(1024).0, standard(1024).remove(0).0);
    let numbers = |key: &PublicKey, rows: usize| key.encrypt(&encode_signed(key, &NUMBERS[..rows]).unwrap()).unwrap();
    let (five, four, foreign) = (numbers(key.public(), 5), numbers(key.public(), 4), numbers(other.public(), 5));
    let card = public(0, key.public());
    let refused =
        |result: Result<_, hearith_paillier::ComputeError>| match result.map(|_: hearith_paillier::Ciphertexts| ()) {
            Err(hearith_paillier::ComputeError::Batch(error)) => error,
            other => panic!("{other:?}"),
        };
    assert!(matches!(refused(card.add(&five, &four)).kind(), ErrorKind::Lengths { .. }));
    assert!(matches!(refused(card.add(&five, &foreign)).kind(), ErrorKind::WrongKey { .. }));
    assert!(matches!(refused(card.rerandomise(&foreign)).kind(), ErrorKind::WrongKey { .. }));
    assert!(matches!(refused(card.sum_groups(&five, &[vec![5]])).kind(), ErrorKind::NoSuchRow { .. }));
    assert!(matches!(refused(card.multiply(&five, &[1; 4], 1)).kind(), ErrorKind::Lengths { .. }));
    let too_large = refused(card.multiply(&five, &[1, 1, 4, 1, 1], 2));
    assert_eq!(too_large, ErrorKind::ScalarTooLarge { bits: 2 }.at_row(2));
    assert!(!card.has_failed());
}
