//! The scheme as others use it, on every engine that the machine has.

use hearith_bfv::{Ciphertext, Engine, ErrorKind, NO_GROUP, PrivateKey, PublicKey, Set, Sums, Total};
use proptest::prelude::*;
use std::sync::LazyLock;

fn engines() -> impl Iterator<Item = Engine> {
    Engine::ALL.iter().copied().filter(|engine| engine.is_available())
}

static KEY: LazyLock<PrivateKey> = LazyLock::new(|| PrivateKey::generate(Set::Degree8192, Engine::best()).unwrap());

/// Numbers of so many bits with their sign, the largest and the smallest among them.
fn numbers(count: usize, bits: u32) -> Vec<i128> {
    let largest = i128::MAX >> (128 - bits);
    let step = 0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c834_u128;
    let spread = |i: usize| (step.wrapping_mul(i as u128 + 1) as i128) >> (128 - bits);
    let mut numbers: Vec<i128> = (0..count).map(spread).collect();
    numbers[0] = largest;
    numbers[count - 1] = -largest - 1;
    numbers
}

#[test]
fn what_is_encrypted_is_decrypted() {
    for (set, bits) in [(Set::Degree4096, 40), (Set::Degree8192, 97), (Set::Degree8192, 127), (Set::Degree16384, 127)] {
        for engine in engines() {
            let key = PrivateKey::generate(set, engine).unwrap();
            for count in [2, 9, set.degree()] {
                let numbers = numbers(count, bits);
                let by_anybody = key.public().encrypt(&numbers, bits).unwrap();
                let by_owner = key.encrypt(&numbers, bits).unwrap();
                assert_eq!(*key.decrypt(&by_anybody).unwrap(), numbers);
                assert_eq!(*key.decrypt(&by_owner).unwrap(), numbers);
                for ciphertext in [by_anybody, by_owner] {
                    let back = Ciphertext::from_bytes(&ciphertext.to_bytes(), key.public()).unwrap();
                    assert!(back.is_fresh());
                    assert_eq!(*key.decrypt(&back).unwrap(), numbers);
                }
            }
        }
    }
}

#[test]
fn engines_read_each_others_files() {
    let private: Vec<PrivateKey> =
        engines().map(|engine| PrivateKey::from_text(&KEY.to_text(), engine).unwrap()).collect();
    let numbers = numbers(100, 64);
    for writer in &private {
        for reader in &private {
            assert_eq!(writer.public().to_text(), reader.public().to_text());
            for ciphertext in [writer.encrypt(&numbers, 64).unwrap(), writer.public().encrypt(&numbers, 64).unwrap()] {
                let read = Ciphertext::from_bytes(&ciphertext.to_bytes(), reader.public()).unwrap();
                assert_eq!(*reader.decrypt(&read).unwrap(), numbers);
                let mut sums = Sums::new(reader.public(), 64).unwrap();
                sums.add(&read, &[0; 100], Some(&(0..100).map(|i| i64::from(i == 7)).collect::<Vec<_>>())).unwrap();
                assert_eq!(writer.decrypt_total(&sums.release().unwrap()[0]).unwrap(), numbers[7]);
            }
        }
    }
}

#[test]
fn a_value_takes_as_many_bytes_as_documented() {
    for (set, public, private) in
        [(Set::Degree4096, 25.0, 12.5), (Set::Degree8192, 50.0, 25.0), (Set::Degree16384, 100.0, 50.0)]
    {
        let key = PrivateKey::generate(set, Engine::best()).unwrap();
        let numbers = vec![3; set.degree()];
        let per_value = |ciphertext: Ciphertext| ciphertext.to_bytes().len() as f64 / set.degree() as f64;
        assert!((per_value(key.public().encrypt(&numbers, 20).unwrap()) - public).abs() < 0.05);
        assert!((per_value(key.encrypt(&numbers, 20).unwrap()) - private).abs() < 0.05);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    #[test]
    fn sums_by_groups_are_those_of_the_numbers(
        rows in prop::collection::vec((any::<i64>(), 0_u32..5, -1000_i64..1000), 1..300),
        weighted in any::<bool>(), owner in any::<bool>(), engine in 0_usize..2,
    ) {
        let engine = engines().nth(engine).unwrap_or(Engine::Serial);
        let key = PrivateKey::from_text(&KEY.to_text(), engine).unwrap();
        let bits = 90;
        // Group 4 stands for the rows that a predicate leaves out.
        let groups: Vec<u32> = rows.iter().map(|row| if row.1 == 4 { NO_GROUP } else { row.1 }).collect();
        let weights: Vec<i64> = rows.iter().map(|row| row.2).collect();
        let values: Vec<i128> = rows.iter().map(|row| i128::from(row.0)).collect();
        let mut sums = Sums::new(key.public(), bits).unwrap();
        let mut expected = [0_i128; 4];
        for piece in 0..2 {
            let part = if piece == 0 { 0..rows.len() / 2 } else { rows.len() / 2..rows.len() };
            if part.is_empty() { continue; }
            let values = &values[part.clone()];
            let encrypted = if owner { key.encrypt(values, bits) } else { key.public().encrypt(values, bits) }.unwrap();
            sums.add(&encrypted, &groups[part.clone()], weighted.then_some(&weights[part.clone()])).unwrap();
            for i in part.filter(|&i| groups[i] != NO_GROUP) {
                expected[groups[i] as usize] += i128::from(rows[i].0) * if weighted { i128::from(rows[i].2) } else { 1 };
            }
        }
        for (total, expected) in sums.release().unwrap().iter().zip(expected) {
            let read = Total::from_bytes(&total.to_bytes(), key.public()).unwrap();
            prop_assert_eq!(key.decrypt_total(&read).unwrap(), expected);
        }
    }
}

#[test]
fn ciphertexts_are_added_number_by_number() {
    let (key, bits) = (&*KEY, 40);
    let (a, b) = (vec![5, -7, 1 << 30], vec![-5, -8, 1 << 31]);
    let sum = key.public().add(&key.encrypt(&a, bits).unwrap(), &key.public().encrypt(&b, bits).unwrap()).unwrap();
    assert!(!sum.is_fresh());
    let released = key.public().release(&sum).unwrap();
    let back = Ciphertext::from_bytes(&released.to_bytes(), key.public()).unwrap();
    assert_eq!(*key.decrypt(&back).unwrap(), [0, -15, 3 << 30]);
    let other = key.encrypt(&a[..2], bits).unwrap();
    assert_eq!(key.public().add(&sum, &other).unwrap_err().kind(), &ErrorKind::Differs("the number of numbers"));
}

#[test]
fn totals_are_added_up_again() {
    let (key, bits) = (&*KEY, 97);
    let totals: Vec<Total> = (0..3)
        .flat_map(|i| {
            let mut sums = Sums::new(key.public(), bits).unwrap();
            sums.add(&key.public().encrypt(&[i, 10, 20], bits).unwrap(), &[0, 0, NO_GROUP], None).unwrap();
            sums.release().unwrap()
        })
        .collect();
    let mut sums = Sums::new(key.public(), bits).unwrap();
    totals.iter().for_each(|total| sums.add_total(total, 1).unwrap());
    let all = sums.release().unwrap();
    assert_eq!(all.iter().map(|total| key.decrypt_total(total).unwrap()).collect::<Vec<_>>(), [0, 33]);
}

#[test]
fn noise_that_could_make_a_total_wrong_is_an_error() {
    let (key, bits) = (&*KEY, 127);
    let encrypted = key.public().encrypt(&[1], bits).unwrap();
    let sum = |weight: i64| {
        let mut sums = Sums::new(key.public(), bits).unwrap();
        sums.add(&encrypted, &[0], Some(&[weight])).and_then(|()| sums.release())
    };
    let total = sum(1000).unwrap();
    assert_eq!(key.decrypt_total(&total[0]).unwrap(), 1000);
    assert_eq!(sum(1 << 30).unwrap_err().kind(), &ErrorKind::NoRoom);
    assert_eq!(sum(i64::MIN).unwrap_err().kind(), &ErrorKind::Noise);
    // Additions without end are refused before they are wrong.
    let mut doubled = encrypted;
    let refused = (0..200).find_map(|_| match key.public().add(&doubled, &doubled) {
        Ok(sum) => {
            doubled = sum;
            None
        }
        Err(error) => Some(error),
    });
    assert_eq!(refused.unwrap().kind(), &ErrorKind::Noise);
    assert!(key.decrypt(&doubled).is_ok());
}

#[test]
fn bad_numbers_are_refused() {
    let key = KEY.public();
    let kind = |numbers: &[i128], bits| key.encrypt(numbers, bits).unwrap_err();
    let error = kind(&[0, 127, -128, 128], 8);
    assert_eq!((error.kind(), error.row()), (&ErrorKind::OutOfRange { bits: 8 }, Some(3)));
    assert_eq!(kind(&[-129], 8).row(), Some(0));
    assert!(matches!(kind(&[], 8).kind(), ErrorKind::Count { count: 0, most: 8192 }));
    assert!(matches!(kind(&[0; 8193], 8).kind(), ErrorKind::Count { count: 8193, .. }));
    for bits in [0, 1, 128, 200] {
        assert!(matches!(kind(&[0], bits).kind(), ErrorKind::Bits { .. }));
        assert!(matches!(Sums::new(key, bits).unwrap_err().kind(), ErrorKind::Bits { .. }));
    }
    let (encrypted, mut sums) = (key.encrypt(&[1, 2], 20).unwrap(), Sums::new(key, 20).unwrap());
    assert!(matches!(sums.add(&encrypted, &[0], None).unwrap_err().kind(), ErrorKind::Rows { what: "groups", .. }));
    let error = sums.add(&encrypted, &[0, 0], Some(&[1])).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Rows { what: "weights", .. }));
    let mut others = Sums::new(key, 21).unwrap();
    assert_eq!(
        others.add(&encrypted, &[0, 0], None).unwrap_err().kind(),
        &ErrorKind::Differs("the length of plaintexts")
    );
}

#[test]
fn other_keys_and_sets_are_refused() {
    let encrypted = KEY.encrypt(&[1, 2], 20).unwrap();
    for (set, what) in [(Set::Degree8192, "the key"), (Set::Degree4096, "the parameter set")] {
        let other = PrivateKey::generate(set, Engine::best()).unwrap();
        let differs = ErrorKind::Differs(what);
        assert_eq!(other.decrypt(&encrypted).unwrap_err().kind(), &differs);
        assert_eq!(Ciphertext::from_bytes(&encrypted.to_bytes(), other.public()).unwrap_err().kind(), &differs);
        let mut sums = Sums::new(other.public(), 20).unwrap();
        assert_eq!(sums.add(&encrypted, &[0, 0], None).unwrap_err().kind(), &differs);
    }
}

#[test]
fn altered_bytes_are_refused_or_found_out() {
    let key = &*KEY;
    for ciphertext in [key.encrypt(&[1; 20], 60).unwrap(), key.public().encrypt(&[1; 20], 60).unwrap()] {
        let bytes = ciphertext.to_bytes();
        for cut in [0, 10, 43, 44, 80, bytes.len() - 1] {
            assert!(Ciphertext::from_bytes(&bytes[..cut], key.public()).is_err());
        }
        assert!(Ciphertext::from_bytes(&[&bytes[..], &[0]].concat(), key.public()).is_err());
        // Wherever a bit changes: in the header, the seed or `a`, and `b`. (Byte 6, the length of plaintexts, says what is meant.)
        for at in (0..6).chain(7..24).chain([26, 27, 43, 44, 70, bytes.len() / 2, bytes.len() - 30, bytes.len() - 600])
        {
            let mut altered = bytes.clone();
            altered[at] ^= 64;
            let read = Ciphertext::from_bytes(&altered, key.public()).and_then(|read| key.decrypt(&read).map(|_| ()));
            assert!(read.is_err(), "byte {at}");
        }
    }
    let mut sums = Sums::new(key.public(), 60).unwrap();
    sums.add(&key.encrypt(&[1; 20], 60).unwrap(), &[0; 20], None).unwrap();
    let bytes = sums.release().unwrap()[0].to_bytes();
    for at in (0..6).chain(7..24).chain([39, 46, bytes.len() - 5]) {
        let mut altered = bytes.clone();
        altered[at] ^= 64;
        let read = Total::from_bytes(&altered, key.public()).and_then(|read| key.decrypt_total(&read));
        assert!(read.is_err(), "byte {at}");
    }
    assert!(Total::from_bytes(&bytes[..bytes.len() - 1], key.public()).is_err());
    assert!(Total::from_bytes(&bytes[..39], key.public()).is_err());
}

#[test]
fn keys_are_read_as_they_are_written() {
    let (private, public) = (KEY.to_text(), KEY.public().to_text());
    let read = PrivateKey::from_text(&private, Engine::best()).unwrap();
    assert_eq!(read.public().to_text(), public);
    assert_eq!(PublicKey::from_text(&public, Engine::best()).unwrap().id(), KEY.public().id());
    assert_eq!(PublicKey::from_text(&private, Engine::best()).unwrap().id(), KEY.public().id());
    let id = KEY.public().id().to_string();
    let flipped = |text: &str| text.replace(&id, &"0".repeat(32));
    for bad in [
        "".to_owned(),
        "{}".to_owned(),
        flipped(&private),
        flipped(&public),
        public.replace("HEARITH-BFV", "RSA"),
        public.replace("bfv-8192", "bfv-4096"),
        public.replace("bfv-8192", "bfv-1024"),
        public.replace("\"b\":\"", "\"b\":\"AA"),
        public[..public.len() / 2].to_owned(),
        private.replace("\"d\":\"", "\"d\":\"AA"),
        private.replace("\"d\":", "\"x\":"),
    ] {
        assert!(PublicKey::from_text(&bad, Engine::best()).is_err(), "{}", &bad[..bad.len().min(80)]);
    }
    assert!(PrivateKey::from_text(&public, Engine::best()).is_err());
}

#[test]
fn nothing_secret_is_shown() {
    let seed = KEY.to_text().split("\"d\":\"").nth(1).unwrap()[..43].to_owned();
    let shown = format!("{:?} {:#?} {:?}", *KEY, *KEY, KEY.public());
    assert!(!shown.contains(&seed) && shown.contains(&KEY.public().id().to_string()) && shown.len() < 300);
    let encrypted = KEY.encrypt(&[123_456_789], 40).unwrap();
    assert!(!format!("{encrypted:?}").contains("123456789"));
    let error = KEY.encrypt(&[123_456_789], 20).unwrap_err();
    assert!(!format!("{error:?} {error}").contains("123456789"));
}

proptest! {
    #[test]
    fn parsers_take_any_bytes(bytes in prop::collection::vec(any::<u8>(), 0..200), text in ".{0,80}", cut in 0_usize..300) {
        let key = KEY.public();
        prop_assert!(Ciphertext::from_bytes(&bytes, key).is_err());
        prop_assert!(Total::from_bytes(&bytes, key).is_err());
        prop_assert!(PublicKey::from_text(&text, Engine::Serial).is_err());
        // A header that is right with anything behind it.
        let whole = KEY.encrypt(&[1, 2, 3], 30).unwrap().to_bytes();
        let front = &whole[..cut.min(whole.len() - 1)];
        prop_assert!(Ciphertext::from_bytes(&[front, &bytes[..]].concat(), key).is_err() || front.len() + bytes.len() == whole.len());
    }
}
