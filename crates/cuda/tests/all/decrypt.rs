//! Decryption on emulated cards: known answers, faults, and foreign rows.

use hearith_device::{Device, ErrorKind as DeviceErrorKind, Trust};
use hearith_paillier::encoding::encode_signed;
use hearith_paillier::{DecryptError, DecryptionBackend, ErrorKind};

use crate::keys::{SOUND, djn, driver, known, private, standard, subgroup};
use hearith_cuda::LoadedCard;

#[test]
fn known_ciphertexts_of_all_sizes_are_decrypted() {
    for card in SOUND {
        // Including the smallest and the largest moduli of that size.
        for (key, vector) in [standard(1024), standard(1026)].concat() {
            let (plaintexts, ciphertexts) = known(key.public(), &vector["encryptions"], 8);
            assert_eq!(private(card, &key).decrypt(&ciphertexts).unwrap(), plaintexts, "card {card}");
        }
        let (key, vector) = &standard(2048)[0];
        let (plaintexts, ciphertexts) = known(key.public(), &vector["encryptions"], 2);
        assert_eq!(private(card, key).decrypt(&ciphertexts).unwrap(), plaintexts, "card {card}");
        for bits in [1024, 2048, 3072] {
            let (key, vector) = subgroup(bits);
            let (plaintexts, ciphertexts) = known(key.public(), &vector["own"], 2);
            let card = private(card, &key);
            assert_eq!(card.decrypt(&ciphertexts).unwrap(), plaintexts, "{bits} bits, {}", card.describe());
        }
    }
}

#[test]
#[ignore = "long: a minute; full exponents of the largest keys"]
fn known_ciphertexts_of_large_keys_are_decrypted() {
    for card in SOUND {
        let (key, vector) = &standard(3072)[0];
        let (plaintexts, ciphertexts) = known(key.public(), &vector["encryptions"], 8);
        assert_eq!(private(card, key).decrypt(&ciphertexts).unwrap(), plaintexts);
        let (key, _) = &standard(4096)[0];
        let plaintexts = encode_signed(key.public(), &[1, -1, 0]).unwrap();
        assert_eq!(private(card, key).decrypt(&key.encrypt(&plaintexts).unwrap()).unwrap(), plaintexts);
    }
}

/// A card whose powers are wrong although their first parts are 1, so that the fault does not show.
/// The batch is checked and recomputed on the CPU. The card is reported and no longer used.
#[test]
fn a_fault_that_gives_the_key_away_does_not_leave() {
    let key = djn(2048);
    let plaintexts = encode_signed(key.public(), &[5, -7, 1 << 40]).unwrap();
    let ciphertexts = key.encrypt(&plaintexts).unwrap();
    let believed = LoadedCard::with_private(&driver(), 6, &key, Trust::Unchecked).unwrap();
    let wrong = believed.decrypt(&ciphertexts).unwrap();
    assert_ne!(wrong, plaintexts, "the fault is planted");
    assert_eq!(wrong.range(0..2).unwrap(), plaintexts.range(0..2).unwrap());

    let mut card = private(6, &key);
    for _ in 0..2 {
        assert_eq!(card.decrypt(&ciphertexts).unwrap(), plaintexts);
        assert!(card.has_failed());
    }
    let note = card.note("ciphertexts").unwrap();
    assert!(note.contains(" s of kernels for 6 ciphertexts") && note.contains("Do not use this card"), "{note}");
}

/// Visible faults are not reported as wrong rows.
#[test]
fn a_fault_that_shows_is_not_the_rows() {
    let (key, vector) = subgroup(1024);
    let (plaintexts, ciphertexts) = known(key.public(), &vector["own"], 3);
    let card = private(4, &key);
    assert_eq!(card.decrypt(&ciphertexts).unwrap(), plaintexts);
    assert!(card.has_failed());
}

#[test]
fn a_card_that_breaks_is_an_error() {
    let (key, vector) = subgroup(1024);
    let (_, ciphertexts) = known(key.public(), &vector["own"], 1);
    let error = private(5, &key).decrypt(&ciphertexts).unwrap_err();
    assert!(matches!(error, DecryptError::Device(_)), "{error}");
    assert_eq!(error.to_string(), "the driver's cuLaunchKernel failed: unspecified launch failure (719)");
}

#[test]
fn rows_that_are_none_of_the_keys_are_named() {
    let (key, vector) = subgroup(1024);
    let (plaintexts, own) = known(key.public(), &vector["own"], 3);
    let (any, foreign) = known(key.public(), &vector["foreign"], 1);
    let mixed = hearith_paillier::Ciphertexts::concat(&own, &[&foreign]).unwrap();
    for card in SOUND {
        let loaded = private(card, &key);
        match loaded.decrypt(&mixed).unwrap_err() {
            DecryptError::Ciphertexts(error) => assert_eq!(error, ErrorKind::ForeignRandomiser.at_row(3)),
            other => panic!("{other}"),
        }
        assert!(!loaded.has_failed(), "a row's fault is none of the card's");
        assert_eq!(loaded.decrypt(&own).unwrap(), plaintexts);
        assert_eq!(private(card, &key.any_randomiser()).decrypt(&foreign).unwrap(), any);
    }
    let other = djn(2048);
    let error = private(0, &other).decrypt(&own).unwrap_err();
    assert!(matches!(&error, DecryptError::Ciphertexts(error) if matches!(error.kind(), ErrorKind::WrongKey { .. })));
}

#[test]
fn batches_of_no_rows_are_right() {
    let (key, vector) = subgroup(1024);
    let (none, nothing) = known(key.public(), &vector["own"], 0);
    assert_eq!(private(0, &key).decrypt(&nothing).unwrap(), none);
}

#[test]
fn keys_beyond_the_kernels_are_refused() {
    let (key, _) = &standard(8192)[0];
    let error = LoadedCard::with_private(&driver(), 0, key, Trust::Checked).unwrap_err();
    assert!(matches!(error.kind(), DeviceErrorKind::KeyTooLarge { bits: 8192, largest: 4096 }), "{error}");
    let error = LoadedCard::with_public(&driver(), 2, key.public(), Trust::Checked).unwrap_err();
    assert!(matches!(error.kind(), DeviceErrorKind::KeyTooLarge { bits: 8192, largest: 4096 }), "{error}");
}
