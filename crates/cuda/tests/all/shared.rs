//! Cards chosen by name, several of which share the rows of a batch. Each test runs in its own
//! process, because the environment selects the driver.

use std::process::Command;

use hearith_cuda::{AUTO_ROWS, Choice, EMULATED_DRIVER, LIBRARY_VARIABLE, LoadedCards};
use hearith_device::{Device, Trust};
use hearith_paillier::encoding::{decode_signed, encode_signed};
use hearith_paillier::{Ciphertexts, DecryptError, DecryptionBackend, ErrorKind, PrivateKey, PublicKeyBackend};

use crate::keys::{known, standard, subgroup};

/// Runs a test in its own process, with this driver.
fn with_driver(test: &str, driver: &str, body: impl FnOnce()) {
    if std::env::var_os(LIBRARY_VARIABLE).is_some_and(|set| set == driver) {
        return body();
    }
    let program = std::env::current_exe().unwrap();
    let arguments = [&format!("shared::{test}"), "--exact", "--include-ignored", "--nocapture"];
    let run = Command::new(program).args(arguments).env(LIBRARY_VARIABLE, driver).output().unwrap();
    let text = String::from_utf8_lossy(&run.stdout);
    assert!(run.status.success() && text.contains("1 passed"), "{text}{}", String::from_utf8_lossy(&run.stderr));
}

/// A batch of `rows` rows: a few ciphertexts repeated.
fn column(few: &Ciphertexts, rows: usize) -> Ciphertexts {
    few.select(&(0..rows).map(|row| row % few.len()).collect::<Vec<_>>()).unwrap()
}

#[test]
fn cards_are_chosen() {
    with_driver("cards_are_chosen", EMULATED_DRIVER, || {
        let (key, _) = subgroup(1024);
        // Only cards that have kernels.
        let all = LoadedCards::with_private(Choice::All, &key, Trust::Checked).unwrap();
        assert_eq!((all.describe().matches("kernels").count(), all.describe().contains("Emulated old")), (8, false));
        let one = LoadedCards::with_private(Choice::Number(2), &key, Trust::Checked).unwrap();
        assert_eq!(one.describe(), "Emulated narrow, sm_89, 1 GiB, narrow kernels");
        for (number, cause) in [(3, "card too old"), (9, "no card 9")] {
            let error = LoadedCards::with_private(Choice::Number(number), &key, Trust::Checked).unwrap_err();
            assert!(error.to_string().contains(cause), "{error}");
        }
    });
}

#[test]
fn two_cards_share_rows() {
    with_driver("two_cards_share_rows", EMULATED_DRIVER, || {
        let (key, vector) = subgroup(1024);
        let public = key.public();
        let (_, few) = known(public, &vector["own"], 3);
        let rows = 8200;
        let many = column(&few, rows);
        let cards = LoadedCards::of_cards(&[0, 2], &key, Trust::Checked).unwrap();
        let groups: Vec<Vec<u32>> = vec![(0..rows as u32).collect(), vec![], vec![8199, 0, 8199], vec![4096]];
        assert_eq!(cards.sum_groups(&many, &groups).unwrap(), public.sum_groups(&many, &groups).unwrap());
        assert_eq!(cards.add(&many, &many).unwrap(), public.add(&many, &many).unwrap());
        for card in cards.describe().split("; ") {
            assert!(card.starts_with("Emulated "), "{card}");
        }
        let out_of_range = cards.sum_groups(&many, &[vec![8200]]).unwrap_err();
        assert!(out_of_range.to_string().contains("8200"), "{out_of_range}");
    });
}

#[test]
fn auto_takes_a_card_for_large_batches() {
    with_driver("auto_takes_a_card_for_large_batches", EMULATED_DRIVER, || {
        let key = &standard(1024)[0].0;
        let public = key.public();
        let few = public.encrypt(&encode_signed(public, &[1, -2, 3]).unwrap()).unwrap();
        let auto = LoadedCards::with_private(Choice::Auto, key, Trust::Checked).unwrap();
        assert_eq!((auto.rows_of(AUTO_ROWS - 1), auto.rows_of(AUTO_ROWS) >= AUTO_ROWS), (0, true));
        assert_eq!(numbers(key, &auto.sum_groups(&few, &[vec![0, 1, 2]]).unwrap()), [2]);
        assert_eq!(auto.describe(), "auto: no card was used");
        let many = column(&few, AUTO_ROWS);
        let total = auto.sum_groups(&many, &[(0..AUTO_ROWS as u32).collect()]).unwrap();
        assert_eq!(total, public.sum(&many).unwrap());
        assert!(auto.describe().starts_with("Emulated exact"), "{}", auto.describe());
    });
}

/// Without a driver, `auto` uses the CPU, and a named card is an error.
#[test]
fn auto_does_without_a_card() {
    with_driver("auto_does_without_a_card", "/nowhere/libcuda.so.1", || {
        let key = &standard(1024)[0].0;
        let many = column(&key.encrypt(&encode_signed(key.public(), &[5]).unwrap()).unwrap(), AUTO_ROWS);
        let auto = LoadedCards::with_public(Choice::Auto, key.public(), Trust::Checked).unwrap();
        let total = auto.sum_groups(&many, &[(0..AUTO_ROWS as u32).collect()]).unwrap();
        assert_eq!(numbers(key, &total), [5 * AUTO_ROWS as i128]);
        for choice in [Choice::First, Choice::Number(0), Choice::All] {
            let error = LoadedCards::with_public(choice, key.public(), Trust::Checked).unwrap_err();
            assert!(error.to_string().contains("no driver"), "{error}");
        }
    });
}

fn numbers(key: &PrivateKey, ciphertexts: &Ciphertexts) -> Vec<i128> {
    let decoded = decode_signed(key.public(), &key.decrypt(ciphertexts).unwrap()).unwrap();
    decoded.iter().map(|number| number.to_i128().unwrap()).collect()
}

/// An error names the row of the batch, not that of the card.
#[test]
fn rows_of_errors_are_those_of_the_batch() {
    with_driver("rows_of_errors_are_those_of_the_batch", EMULATED_DRIVER, || {
        let (key, vector) = subgroup(1024);
        let own = column(&known(key.public(), &vector["own"], 3).1, 4096);
        let foreign = known(key.public(), &vector["foreign"], 1).1;
        let mixed = Ciphertexts::concat(&own, &[&foreign]).unwrap();
        let cards = LoadedCards::of_cards(&[0, 2], &key, Trust::Checked).unwrap();
        match cards.decrypt(&mixed).unwrap_err() {
            DecryptError::Ciphertexts(error) => assert_eq!(error, ErrorKind::ForeignRandomiser.at_row(4096)),
            other => panic!("{other}"),
        }
    });
}
