//! Every operation through the service agrees with the key's own.

use std::thread;

use crate::common::*;
use hearith_paillier::{ComputeError, DecryptionBackend, ErrorKind, PublicKeyBackend, Variant};
use hearith_service::proto::ErrorReason;

#[test]
fn operations_are_those_of_the_key() {
    for key in [&*KEY, &*DJN, &*SUBGROUP] {
        let server = start_with(|options| options.keys = vec![key.clone()]);
        let public = key.public();
        let remote = remote(&server, public);
        // More rows than fit a message, with a partial last message.
        let (count, values) = (300, numbers(300));
        let ciphertexts = remote.encrypt(&plaintexts(public, count)).unwrap();
        assert_eq!(opened(key, &ciphertexts), values);
        let again = remote.encrypt(&plaintexts(public, count)).unwrap();
        assert_ne!(again, ciphertexts, "randomisers are fresh");

        let others = remote.rerandomise(&ciphertexts).unwrap();
        assert_eq!(opened(key, &others), values);
        assert!((0..count).all(|row| others.batch().row(row) != ciphertexts.batch().row(row)));

        let sums = remote.add(&ciphertexts, &others).unwrap();
        assert_eq!(sums, public.add(&ciphertexts, &others).unwrap());

        let scalars: Vec<i128> = (0..count as i128).map(|row| (row - 150) << (row % 60)).collect();
        let multiples = remote.multiply(&ciphertexts, &scalars, 70).unwrap();
        assert_eq!(multiples, public.multiply_deterministic(&ciphertexts, &scalars, 70).unwrap());

        assert_eq!(integers(public, &remote.decrypt(&ciphertexts).unwrap()), values);
        assert!(remote.decrypts());
    }
}

#[test]
fn sums_by_groups_are_those_of_the_key() {
    let server = start();
    let public = KEY.public();
    let remote = remote(&server, public);
    let ciphertexts = public.encrypt(&plaintexts(public, 1000)).unwrap();
    let by_rest = |groups: u32| (0..groups).map(|rest| (rest..1000).step_by(groups as usize).collect()).collect();
    let cases: Vec<Vec<Vec<u32>>> = vec![
        by_rest(1),
        by_rest(7),
        by_rest(1000),
        vec![],
        vec![vec![], vec![5, 5, 5], vec![], (0..1000).collect(), vec![999]],
    ];
    for groups in cases {
        assert_eq!(
            remote.sum_groups(&ciphertexts, &groups).unwrap(),
            public.sum_groups(&ciphertexts, &groups).unwrap()
        );
    }
}

#[test]
fn batches_of_no_rows_are_answered() {
    let server = start();
    let public = KEY.public();
    let remote = remote(&server, public);
    let none = remote.encrypt(&plaintexts(public, 0)).unwrap();
    assert!(none.is_empty() && remote.decrypt(&none).unwrap().is_empty());
    assert!(remote.add(&none, &none).unwrap().is_empty() && remote.multiply(&none, &[], 8).unwrap().is_empty());
}

#[test]
fn what_is_wrong_is_told_as_by_the_key() {
    let server = start();
    let public = KEY.public();
    let remote = remote(&server, public);
    let remote: &dyn PublicKeyBackend = &remote;
    let ciphertexts = public.encrypt(&plaintexts(public, 3)).unwrap();
    let kind = |error: ComputeError| match error {
        ComputeError::Batch(error) => error.kind().clone(),
        ComputeError::Service(error) => panic!("{error}"),
    };
    let fewer = ciphertexts.range(0..2).unwrap();
    assert_eq!(kind(remote.add(&ciphertexts, &fewer).unwrap_err()), ErrorKind::Lengths { left: 3, right: 2 });
    assert_eq!(kind(remote.sum_groups(&ciphertexts, &[vec![3]]).unwrap_err()), ErrorKind::NoSuchRow { rows: 3 });
    let (expected, found) = (public.id(), DJN.public().id());
    let other = DJN.public().encrypt(&plaintexts(DJN.public(), 1)).unwrap();
    assert_eq!(kind(remote.rerandomise(&other).unwrap_err()), ErrorKind::WrongKey { expected, found });
}

#[test]
fn a_wrong_row_is_named_as_it_stands_in_the_batch() {
    let server = start();
    let public = KEY.public();
    let remote = remote(&server, public);
    let good = public.encrypt(&plaintexts(public, 200)).unwrap();
    // A multiple of p shares a factor with n. It is in the second message.
    let mut bytes = good.to_be_bytes();
    let width = public.ciphertext_bytes();
    let p: Vec<u8> = KEY.primes()[0].iter().rev().flat_map(|limb| limb.to_be_bytes()).collect();
    bytes[150 * width..151 * width].fill(0);
    bytes[151 * width - p.len()..151 * width].copy_from_slice(&p);
    let wrong = public.ciphertexts_from_be(&bytes).unwrap();
    let error = remote.decrypt(&wrong).unwrap_err();
    assert_eq!((error.reason(), error.row()), (Some(ErrorReason::BadNumber), Some(150)), "{error}");
    assert!(error.to_string().contains("row 150: "), "{error}");
}

#[test]
fn without_the_private_key_nothing_is_decrypted() {
    let server = start();
    let public = DJN.public();
    let remote = remote(&server, public);
    assert!(!remote.decrypts());
    let ciphertexts = remote.encrypt(&plaintexts(public, 5)).unwrap();
    let error = DecryptionBackend::decrypt(&remote, &ciphertexts).unwrap_err();
    assert!(error.to_string().contains("no private key"), "{error}");
    assert_eq!(opened(&DJN, &ciphertexts), numbers(5));
}

/// Registering a modulus with another generator does not change the generator that others encrypt
/// with.
#[test]
fn a_generator_is_its_registrants_alone() {
    let server = start();
    let public = DJN.public();
    let honest = remote(&server, public);
    // 4 is a unit and a square. Ciphertexts under it leak their plaintexts.
    let n = public.modulus_be();
    let weak =
        hearith_paillier::PublicKey::new(&n, Some(&[4]), hearith_paillier::KeyPolicy::AllowInsecure, public.engine());
    let weak = remote(&server, &weak.unwrap());
    let ciphertexts = honest.encrypt(&plaintexts(public, 9)).unwrap();
    assert_eq!(opened(&DJN, &ciphertexts), numbers(9));
    assert_eq!(metric(&server, "hearith_keys "), 2.0);
    drop(weak);
}

#[test]
fn many_clients_with_different_keys_at_once() {
    let keys: Vec<_> = (0..4).map(|number| key([Variant::Standard, Variant::Djn][number % 2])).collect();
    let server = start_with(|options| options.keys = keys.clone());
    thread::scope(|scope| {
        for client in 0..16 {
            let (server, key) = (&server, &keys[client % keys.len()]);
            scope.spawn(move || {
                let remote = remote(server, key.public());
                for round in 0..10 {
                    let count = 1 + (client * 7 + round) % 20;
                    let ciphertexts = remote.encrypt(&plaintexts(key.public(), count)).unwrap();
                    let doubled = remote.add(&ciphertexts, &ciphertexts).unwrap();
                    let found = integers(key.public(), &remote.decrypt(&doubled).unwrap());
                    assert_eq!(found, numbers(count).iter().map(|number| 2 * number).collect::<Vec<_>>());
                }
            });
        }
    });
    assert_eq!(metric(&server, "hearith_requests_total{operation=\"encrypt\",outcome=\"ok\"}"), 160.0);
    assert_eq!(metric(&server, "hearith_requests_total"), 480.0, "nothing was refused");
    assert_eq!(metric(&server, "hearith_queue_bytes "), 0.0);
}

/// Rows of different clients share batches: there are fewer batches than requests.
#[test]
fn small_requests_share_batches() {
    let server = start();
    let public = KEY.public();
    thread::scope(|scope| {
        for _ in 0..32 {
            scope.spawn(|| {
                let remote = remote(&server, public);
                for _ in 0..20 {
                    remote.encrypt(&plaintexts(public, 1)).unwrap();
                }
            });
        }
    });
    let (batches, rows) = (metric(&server, "hearith_batch_rows_count"), metric(&server, "hearith_batch_rows_sum"));
    assert_eq!(rows, 640.0);
    assert!(batches < rows, "{batches} batches");
}
