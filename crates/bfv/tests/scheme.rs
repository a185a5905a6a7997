//! Tests of the scheme through its public interface, on every engine available.

use hearith_bfv::{
    Ciphertext, Engine, ErrorKind, MAX_KEY_TEXT, NO_GROUP, PrivateKey, PublicKey, Set, Sums, Total, is_key,
};
use proptest::prelude::*;
use std::sync::LazyLock;

fn engines() -> impl Iterator<Item = Engine> {
    Engine::ALL.iter().copied().filter(|engine| engine.is_available())
}

static KEY: LazyLock<PrivateKey> = LazyLock::new(|| PrivateKey::generate(Set::Degree8192, Engine::best()).unwrap());

/// Signed numbers of `bits` bits, including the largest and the smallest.
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

/// The ciphertext was encrypted with the public key that the crate `fhe` 0.1.1 derived from the
/// same secret. `bench/fhe` wrote it together with the private key, and tests the other direction.
#[test]
fn what_another_library_encrypted_is_decrypted() {
    let numbers = [5, -7, (1 << 39) - 1, -(1 << 39), 0, 123_456_789, -1, 1];
    for engine in engines() {
        let key = PrivateKey::from_text(include_str!("fhe/private.json"), engine).unwrap();
        let theirs = Ciphertext::from_bytes(include_bytes!("fhe/ciphertext"), key.public()).unwrap();
        assert_eq!(*key.decrypt(&theirs).unwrap(), numbers);
        let mut sums = Sums::new(key.public(), 40).unwrap();
        sums.add(&theirs, &[0, 0, NO_GROUP, NO_GROUP, 1, 1, 0, NO_GROUP], Some(&[1, -2, 9, 9, 1, -2, 1, 9])).unwrap();
        let totals = sums.release().unwrap();
        let found: Vec<i128> = totals.iter().map(|total| key.decrypt_total(total).unwrap()).collect();
        assert_eq!(found, [18, -246_913_578]);
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
        // Group 4 stands for rows that a predicate excludes.
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
fn ciphertexts_are_multiplied_by_public_numbers() {
    let (key, bits) = (&*KEY, 80);
    let numbers: Vec<i128> = (-4100..4090).map(|i| i * i * i - 5).collect();
    let encrypted = key.encrypt(&numbers, bits).unwrap();
    for factor in [0, 1, -1, 3, -(1 << 33), i64::from(i32::MIN)] {
        let product = key.public().multiply(&encrypted, factor).unwrap();
        let expected: Vec<i128> = numbers.iter().map(|number| number * i128::from(factor)).collect();
        assert_eq!(*key.decrypt(&product).unwrap(), expected, "{factor}");
    }
    let one = key.encrypt(&[1], 120).unwrap();
    let far = key.public().multiply(&one, i64::MIN).unwrap();
    assert_eq!(*key.decrypt(&far).unwrap(), [-(1 << 63)]);
    assert_eq!(key.public().multiply(&far, 1 << 40).unwrap_err().kind(), &ErrorKind::Noise);
    let other = PrivateKey::generate(Set::Degree8192, Engine::best()).unwrap();
    assert_eq!(other.public().multiply(&one, 2).unwrap_err().kind(), &ErrorKind::Differs("the key"));
}

#[test]
fn what_is_hidden_is_hidden_again_at_little_cost() {
    let (key, bits) = (&*KEY, 97);
    let public = key.public();
    let mut sum = public.release(&key.encrypt(&[7, -7], bits).unwrap()).unwrap();
    for _ in 0..20 {
        sum = Ciphertext::from_bytes(&public.release(&sum).unwrap().to_bytes(), public).unwrap();
    }
    assert_eq!(*key.decrypt(&sum).unwrap(), [7, -7]);
    // A factor shows in the noise that hid everything before.
    let tripled = public.multiply(&sum, 3).unwrap();
    assert_eq!(public.release(&tripled).unwrap_err().kind(), &ErrorKind::NoRoom);
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
    // Unlimited additions are rejected before a result is wrong.
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

/// A ciphertext's noise may grow by its budget and not by one bit more.
#[test]
fn budgets_are_exact() {
    for (set, bits) in [(Set::Degree4096, 40), (Set::Degree4096, 36)] {
        let key = PrivateKey::generate(set, Engine::best()).unwrap();
        for encrypted in [key.encrypt(&[1], bits).unwrap(), key.public().encrypt(&[1], bits).unwrap()] {
            let budget = encrypted.budget();
            let most = key.public().multiply(&encrypted, 1 << budget).unwrap();
            assert_eq!(most.budget(), 0, "{set} {bits}");
            assert!(key.decrypt(&most).is_ok());
            let error = key.public().multiply(&encrypted, 1 << (budget + 1)).unwrap_err();
            assert_eq!(error.kind(), &ErrorKind::Noise, "{set} {bits}");
        }
    }
}

/// In the smallest set, weighted sums stay correct when added until the next addition is rejected.
#[test]
fn the_smallest_set_refuses_before_a_total_is_wrong() {
    let key = PrivateKey::generate(Set::Degree4096, Engine::best()).unwrap();
    let (public, bits) = (key.public(), 28);
    let (numbers, weights) = ([100, -30, 7], [9, -10, 1000]);
    let weighted = |encrypted: &Ciphertext, weights: &[i64]| {
        let mut sums = Sums::new(public, bits).unwrap();
        sums.add(encrypted, &[0; 3], Some(weights)).and_then(|()| sums.release())
    };
    let by_anybody = public.encrypt(&numbers, bits).unwrap();
    let total = weighted(&by_anybody, &weights).unwrap().remove(0);
    assert_eq!(key.decrypt_total(&total).unwrap(), 8200);
    let spare = total.budget();
    let mut sums = Sums::new(public, bits).unwrap();
    let added = (0..1_u64 << 20).find(|_| sums.add_total(&total, 0).is_err()).unwrap();
    assert!(added >= 1 << spare && added < 2 << spare, "{added} totals with {spare} bits to spare");
    // As many as the budget allows, with hiding noise on top.
    let mut sums = Sums::new(public, bits).unwrap();
    (0..1_i128 << (spare - 1)).for_each(|_| sums.add_total(&total, 0).unwrap());
    assert_eq!(key.decrypt_total(&sums.release().unwrap()[0]).unwrap(), 8200 << (spare - 1));

    // Weights that leave no budget for hiding noise, and weights that could make the total wrong.
    // The owner's noise is smaller.
    let heavy = [1 << 20, 0, 0];
    assert_eq!(weighted(&by_anybody, &heavy).unwrap_err().kind(), &ErrorKind::NoRoom);
    let owned = weighted(&key.encrypt(&numbers, bits).unwrap(), &heavy).unwrap();
    assert_eq!(key.decrypt_total(&owned[0]).unwrap(), 100 << 20);
    assert_eq!(weighted(&by_anybody, &[1 << 60, 0, 0]).unwrap_err().kind(), &ErrorKind::Noise);
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
        // Bits in all places: the header, the seed or `a`, and `b`. Byte 6, the length of
        // plaintexts, only changes the meaning.
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
    assert!(is_key(&private) && is_key(&public) && is_key(&flipped(&public)));
    assert!(!is_key("{\"kty\":\"DAJ\"}") && !is_key("") && !is_key(&public[..public.len() / 2]));
    let long = private.trim_end().to_owned() + &" ".repeat(MAX_KEY_TEXT);
    assert!(PrivateKey::from_text(&long, Engine::best()).unwrap_err().to_string().contains("too long for a key"));
}

#[test]
fn the_longest_key_is_read() {
    let key = PrivateKey::generate(Set::Degree16384, Engine::best()).unwrap();
    let text = key.public().to_text();
    assert!(text.len() < MAX_KEY_TEXT);
    assert_eq!(PublicKey::from_text(&text, Engine::best()).unwrap().id(), key.public().id());
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
        // A valid header followed by anything.
        let whole = KEY.encrypt(&[1, 2, 3], 30).unwrap().to_bytes();
        let front = &whole[..cut.min(whole.len() - 1)];
        prop_assert!(Ciphertext::from_bytes(&[front, &bytes[..]].concat(), key).is_err() || front.len() + bytes.len() == whole.len());
    }
}
