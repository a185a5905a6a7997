//! Invalid input is rejected with the row and the reason.

use crate::common::{bytes_be, ciphertexts, encrypt, engines, integers, key, modulus, some_keys, vectors};
use hearith_paillier::encoding::{Signed, decode_signed, encode_signed};
use hearith_paillier::{
    Ciphertexts, Error, ErrorKind, KeyPolicy, Plaintexts, PrivateKey, PublicKey, Randomisers, Variant, Weakness,
};
use rug::Integer;

fn fault(row: usize, kind: ErrorKind) -> Error {
    kind.at_row(row)
}

#[test]
fn numbers_that_are_no_residues_are_refused() {
    for engine in engines() {
        for vector in vectors().keys {
            let key = vector.key(engine);
            let (public, square) = (key.public(), vector.n.0.square());
            let width = public.ciphertext_bytes();
            let read = |numbers: &[Integer]| {
                let bytes: Vec<u8> = numbers.iter().flat_map(|number| bytes_be(number, width)).collect();
                public.ciphertexts_from_be(&bytes).map(|found| found.len())
            };
            let largest = Integer::from(&square - 1);
            assert_eq!(read(&[1.into(), largest.clone()]), Ok(2));
            assert_eq!(read(&[1.into(), largest.clone(), 0.into()]), Err(fault(2, ErrorKind::CiphertextZero)));
            assert_eq!(read(&[1.into(), square.clone(), 0.into()]), Err(fault(1, ErrorKind::CiphertextTooLarge)));
            let all_ones = (Integer::from(1) << (8 * width as u32)) - 1;
            assert_eq!(read(&[all_ones]), Err(fault(0, ErrorKind::CiphertextTooLarge)));
            let bytes = vec![1; 2 * width - 1];
            let short = ErrorKind::Width { width, bytes: 2 * width - 1 };
            assert_eq!(public.ciphertexts_from_be(&bytes).unwrap_err(), short.into());
        }
    }
}

#[test]
fn decryption_refuses_ciphertexts_that_share_a_factor() {
    for engine in engines() {
        for vector in vectors().keys.into_iter().filter(|vector| vector.bits <= 1024) {
            let key = vector.key(engine);
            let (n, p, q) = (&vector.n.0, &vector.p.0, &vector.q.0);
            let last = n.clone().square() - n;
            let product = |a: &Integer, b: &Integer| Integer::from(a * b);
            for bad in
                [p.clone(), q.clone(), n.clone(), product(p, p), product(q, q), product(p, n), product(q, n), last]
            {
                let good = Integer::from(n + 1);
                let c = ciphertexts(key.public(), &[good.clone(), good.clone(), bad, good]);
                let refused = key.decrypt(&c).unwrap_err();
                assert_eq!(refused, fault(2, ErrorKind::CiphertextSharesFactor), "{} {}", vector.kind, vector.bits);
                assert_eq!(key.public().negate(&c).unwrap_err(), fault(2, ErrorKind::CiphertextSharesFactor));
                assert_eq!(key.public().multiply(&c, &[0, 1, 2, 3]).unwrap_err().row(), Some(2));
                assert_eq!(key.public().check_coprime(&c), Err(fault(2, ErrorKind::CiphertextSharesFactor)));
            }
        }
    }
}

#[test]
fn the_first_bad_row_is_found_wherever_it_is() {
    let vector = vectors().keys.into_iter().find(|vector| vector.bits == 512).unwrap();
    let key = vector.key(engines().last().unwrap());
    for (rows, bad) in
        [(1, vec![0]), (2, vec![1]), (7, vec![3, 5]), (64, vec![0, 63]), (65, vec![64]), (100, vec![40, 41, 99])]
    {
        let number = |row: usize| if bad.contains(&row) { vector.q.0.clone() } else { Integer::from(row + 1) };
        let c = ciphertexts(key.public(), &(0..rows).map(number).collect::<Vec<_>>());
        assert_eq!(key.public().check_coprime(&c).unwrap_err().row(), Some(bad[0]), "{bad:?} of {rows}");
    }
}

#[test]
fn plaintexts_are_below_the_modulus() {
    for key in some_keys() {
        let (public, n) = (key.public(), modulus(key.public()));
        let width = public.plaintext_bytes();
        let read = |number: &Integer| public.plaintexts_from_be(&bytes_be(number, width)).map(|found| found.len());
        assert_eq!(read(&Integer::from(&n - 1)), Ok(1));
        assert_eq!(read(&n), Err(ErrorKind::PlaintextTooLarge.at_row(0)));
        let short = ErrorKind::Width { width, bytes: 3 };
        assert_eq!(public.plaintexts_from_be(&[0; 3]).unwrap_err(), short.into());
    }
}

#[test]
fn integers_too_large_for_the_key_are_refused() {
    for engine in engines() {
        for bits in [64, 126, 128, 130] {
            let key = key(bits, Variant::Standard, engine);
            let half = (modulus(key.public()) - 1u32) / 2u32;
            let encode = |value: i128| {
                encode_signed(key.public(), &[0, value]).map(|found| decode_signed(key.public(), &found).unwrap())
            };
            let refused = ErrorKind::OutOfRange.at_row(1);
            match half.to_i128() {
                Some(half) => {
                    for value in [half, -half] {
                        assert_eq!(encode(value), Ok(vec![Signed::from(0), Signed::from(value)]));
                    }
                    assert_eq!((encode(half + 1), encode(-half - 1)), (Err(refused.clone()), Err(refused)));
                }
                None => assert_eq!(encode(i128::MIN).unwrap()[1].to_i128(), Some(i128::MIN)),
            }
        }
    }
}

#[test]
fn batches_of_another_key_are_refused() {
    let engine = engines().next().unwrap();
    let (key, other) = (key(512, Variant::Djn, engine), key(512, Variant::Standard, engine));
    let wrong = Error::from(ErrorKind::WrongKey { expected: key.public().id(), found: other.public().id() });
    let refuse = |result: Result<Ciphertexts, Error>| assert_eq!(result.unwrap_err(), wrong);

    let (mine, public) = (encrypt(key.public(), &[1]), key.public());
    let theirs = encrypt(other.public(), &[1]);
    let plain: Plaintexts = encode_signed(public, &[1]).unwrap();
    let foreign: Plaintexts = encode_signed(other.public(), &[1]).unwrap();
    let pool = || -> Randomisers { other.randomisers(3).unwrap() };

    refuse(public.encrypt(&foreign));
    refuse(key.encrypt(&foreign));
    refuse(public.encrypt_with(&plain, &mut pool()));
    refuse(public.encrypt_with(&foreign, &mut key.randomisers(1).unwrap()));
    refuse(public.rerandomise(&theirs));
    refuse(public.rerandomise_with(&mine, &mut pool()));
    refuse(public.add(&mine, &theirs));
    refuse(public.add(&theirs, &mine));
    refuse(public.subtract(&mine, &theirs));
    refuse(public.negate(&theirs));
    refuse(public.add_plain(&theirs, &plain));
    refuse(public.add_plain(&mine, &foreign));
    refuse(public.multiply(&theirs, &[1]));
    refuse(public.dot(&theirs, &[1], 1));
    refuse(public.sum(&theirs));
    refuse(public.sum_groups(&theirs, &[vec![0]]));
    refuse(Ciphertexts::concat(&mine, &[&theirs]));
    assert_eq!(Plaintexts::concat(&plain, &[&foreign]).unwrap_err(), wrong);
    assert_eq!(key.randomisers(1).unwrap().append(pool()), Err(wrong.clone()));
    assert_eq!(decode_signed(public, &foreign).unwrap_err(), wrong);
    assert_eq!(key.decrypt(&theirs).unwrap_err(), wrong);
}

#[test]
fn batches_that_do_not_match_are_refused() {
    for key in some_keys() {
        let public = key.public();
        let (two, three) = (encrypt(public, &[1, 2]), encrypt(public, &[1, 2, 3]));
        let plain = encode_signed(public, &[1, 2]).unwrap();
        let lengths = |left, right| Err(ErrorKind::Lengths { left, right }.into());
        assert_eq!(public.add(&two, &three), lengths(2, 3));
        assert_eq!(public.subtract(&three, &two), lengths(3, 2));
        assert_eq!(public.add_plain(&three, &plain), lengths(3, 2));
        assert_eq!(public.multiply(&three, &[1, 2]), lengths(3, 2));
        assert_eq!(public.dot(&three, &[1, 2], 3), lengths(3, 2));
        assert_eq!(public.dot(&three, &[1, 2, 3], 2), Err(ErrorKind::Terms { terms: 2, rows: 3 }.into()));
        assert_eq!(public.dot(&three, &[1, 2, 3], 0), Err(ErrorKind::Terms { terms: 0, rows: 3 }.into()));
        let row = |row| Err(ErrorKind::NoSuchRow { rows: 3 }.at_row(row));
        assert_eq!(public.sum_groups(&three, &[vec![0, 1], vec![2, 3, 0]]), row(3));
        assert_eq!(three.select(&[2, 0, 5]), row(5));
        assert_eq!(three.range(1..5), row(4));
        #[expect(clippy::reversed_empty_ranges)]
        let reversed = three.range(2..1);
        assert_eq!(reversed, row(2));
        assert_eq!(plain.select(&[2]).unwrap_err(), ErrorKind::NoSuchRow { rows: 2 }.at_row(2));
        assert_eq!(plain.range(0..3).unwrap_err().row(), Some(2));
        let too_large = Err(ErrorKind::ScalarTooLarge { bits: 3 }.at_row(1));
        assert_eq!(public.multiply_bounded(&two, &[7, -8], 3), too_large);
        assert_eq!(public.dot_bounded(&two, &[7, 8], 2, 3), too_large);
        assert_eq!(public.multiply_wide(&two, &[7.into(), 8.into()], 3), too_large);
        assert_eq!(
            integers(&three.select(&[2, 0]).unwrap()),
            [&integers(&three)[2..], &integers(&three)[..1]].concat()
        );
    }
}

#[test]
fn public_keys_that_cannot_be_are_refused() {
    for engine in engines() {
        let read = |n: &Integer, h: Option<&Integer>, policy| {
            let (n, h) = (bytes_be(n, 2000), h.map(|h| bytes_be(h, 2000)));
            PublicKey::new(&n, h.as_deref(), policy, engine).map(|key| key.variant())
        };
        let any = KeyPolicy::AllowInsecure;
        let djn = vectors().djn.into_iter().find(|vector| vector.bits == 512).unwrap();
        let (n, h) = (djn.n.0, djn.h.0);
        assert_eq!(read(&n, None, any), Ok(Variant::Standard));
        assert_eq!(read(&n, Some(&h), any), Ok(Variant::Djn));
        assert_eq!(
            read(&n, None, KeyPolicy::Secure),
            Err(ErrorKind::InsecureKey(Weakness::Short { bits: 512 }).into())
        );
        let one = Integer::from(1);
        for good in [Integer::from(2), Integer::from(3), Integer::from(&n - 2)] {
            assert_eq!(read(&n, Some(&good), any), Ok(Variant::Djn), "{good}");
        }
        for bad in
            [Integer::new(), one.clone(), Integer::from(&n - 1), n.clone(), Integer::from(&n + 5), djn.p.0.clone()]
        {
            assert_eq!(read(&n, Some(&bad), any), Err(ErrorKind::InvalidGenerator.into()), "{bad}");
        }
        // 1 or -1 modulo one prime, and a random number modulo the other.
        for prime in [&djn.p.0, &djn.q.0] {
            let multiple = Integer::from(prime * 12_345);
            for bad in [Integer::from(&multiple + 1), multiple - 1] {
                assert_eq!(read(&n, Some(&bad), any), Err(ErrorKind::InvalidGenerator.into()), "{bad}");
            }
        }
        let power = |bits: u32| one.clone() << bits;
        assert_eq!(read(&power(511), None, any), Err(ErrorKind::SmallFactor { factor: 2 }.into()));
        assert_eq!(read(&(power(511) + 1), None, any), Err(ErrorKind::SmallFactor { factor: 3 }.into()));
        assert_eq!(read(&(power(511) + 3), None, any).unwrap_err(), small(&(power(511) + 3)));
        assert_eq!(read(&(power(512) + 1), None, any), Err(ErrorKind::OddKeySize { bits: 513 }.into()));
        assert_eq!(read(&(power(61) + 1), None, any), Err(ErrorKind::KeySizeOutOfRange { bits: 62 }.into()));
        assert_eq!(read(&(power(8193) + 1), None, any), Err(ErrorKind::KeySizeOutOfRange { bits: 16000 }.into()));
        assert_eq!(read(&Integer::new(), None, any), Err(ErrorKind::KeySizeOutOfRange { bits: 0 }.into()));
        // A modulus that is 3 modulo 4 has no h.
        let other = vectors().keys.into_iter().find(|vector| vector.n.0.mod_u(4) == 3).unwrap();
        assert_eq!(read(&other.n.0, Some(&Integer::from(4)), any), Err(ErrorKind::InvalidGenerator.into()));
    }
}

#[test]
fn weak_keys_are_taken_only_when_asked_for() {
    for engine in engines() {
        // Primes of 1024 bits.
        let prime = |start: u32| ((Integer::from(3) << 1022u32) + (Integer::from(start) << 900u32)).next_prime();
        let (p, q) = (prime(1), prime(1 << 31u32));
        let modulus =
            |n: &Integer, policy| PublicKey::new(&bytes_be(n, 300), None, policy, engine).map(|key| key.weakness());
        let primes = |p: &Integer, q: &Integer, policy| {
            let key = PrivateKey::from_primes(&bytes_be(p, 300), &bytes_be(q, 300), None, policy, engine);
            key.map(|key| key.public().weakness())
        };
        let (secure, any) = (KeyPolicy::Secure, KeyPolicy::AllowInsecure);
        assert_eq!(modulus(&Integer::from(&p * &q), secure), Ok(None));
        assert_eq!(primes(&p, &q, secure), Ok(None));

        let n = (Integer::from(3) << 2046u32).next_prime();
        assert_eq!(modulus(&n, secure), Err(ErrorKind::InsecureKey(Weakness::PrimeModulus).into()));
        assert_eq!(modulus(&n, any), Ok(Some(Weakness::PrimeModulus)));
        // Anyone can detect neighbouring primes, but only the owner primes with equal leading bits.
        let neighbour = Integer::from(&p + 1).next_prime();
        assert_eq!(
            modulus(&Integer::from(&p * &neighbour), secure),
            Err(ErrorKind::InsecureKey(Weakness::ClosePrimes).into())
        );
        let alike = (Integer::from(&p) + (Integer::from(1) << 900u32)).next_prime();
        assert_eq!(modulus(&Integer::from(&p * &alike), secure), Ok(None));
        for close in [&neighbour, &alike] {
            assert_eq!(primes(&p, close, secure), Err(ErrorKind::InsecureKey(Weakness::ClosePrimes).into()));
            assert_eq!(primes(close, &p, any), Ok(Some(Weakness::ClosePrimes)));
        }
        // Numbers that cannot decrypt are rejected under every policy.
        for policy in [secure, any] {
            assert_eq!(modulus(&Integer::from(p.square_ref()), policy), Err(ErrorKind::SquareModulus.into()));
            assert_eq!(primes(&p, &p, policy), Err(ErrorKind::UnequalPrimes.into()));
            let composite = Integer::from(&p - 2);
            assert!(matches!(primes(&composite, &q, policy).unwrap_err().kind(), ErrorKind::NotPrime { .. }));
            let with_factor = ((Integer::from(3) << 2030u32) + 1u32) * 65521;
            assert!(matches!(modulus(&with_factor, policy).unwrap_err().kind(), ErrorKind::SmallFactor { .. }));
        }
    }
}

/// The error for a number that has a small factor.
fn small(n: &Integer) -> Error {
    let factor = (3..1000).find(|&factor| n.is_divisible_u(factor)).expect("a number with a small factor");
    ErrorKind::SmallFactor { factor: factor.into() }.into()
}

#[test]
fn private_keys_that_cannot_be_are_refused() {
    for engine in engines() {
        let djn = vectors().djn.into_iter().find(|vector| vector.bits == 512).unwrap();
        let read = |p: &Integer, q: &Integer, h: Option<&Integer>| {
            let [p, q] = [p, q].map(|prime| bytes_be(prime, 100));
            let h = h.map(|h| bytes_be(h, 100));
            PrivateKey::from_primes(&p, &q, h.as_deref(), KeyPolicy::AllowInsecure, engine)
                .map(|key| modulus(key.public()))
        };
        let (p, q, h, n) = (&djn.p.0, &djn.q.0, &djn.h.0, &djn.n.0);
        for found in [read(p, q, None), read(q, p, Some(h))] {
            assert_eq!(found, Ok(n.clone()));
        }
        assert_eq!(read(p, p, None), Err(ErrorKind::UnequalPrimes.into()));
        assert_eq!(read(p, &Integer::from(97), None), Err(ErrorKind::UnequalPrimes.into()));
        assert_eq!(read(&Integer::from(p + 2), q, None), Err(ErrorKind::NotPrime { factor: "p" }.into()));
        assert_eq!(read(p, &(Integer::from(q >> 2) << 2), None), Err(ErrorKind::NotPrime { factor: "q" }.into()));
        // h must be minus a square: 4 is a square, so it is not.
        assert_eq!(read(p, q, Some(&Integer::from(4))), Err(ErrorKind::InvalidGenerator.into()));
        assert_eq!(read(p, q, Some(&Integer::from(n - 4))), Ok(n.clone()));
        // Minus a square, and -1 modulo p: minus the square of 1 + p.
        let less = n - Integer::from(p + 1).square() % n;
        assert_eq!(read(p, q, Some(&less)), Err(ErrorKind::InvalidGenerator.into()));
        // Two 8-byte primes whose product has 127 bits.
        let least = Integer::from(1u64 << 63).next_prime();
        assert_eq!(read(&least, &least.clone().next_prime(), None), Err(ErrorKind::OddKeySize { bits: 127 }.into()));
    }
}

#[test]
fn sizes_that_cannot_be_generated_are_refused() {
    let engine = engines().next().unwrap();
    let refused = |bits, policy| PrivateKey::generate(bits, Variant::Djn, policy, engine).unwrap_err();
    assert_eq!(refused(1024, KeyPolicy::Secure), ErrorKind::InsecureKey(Weakness::Short { bits: 1024 }).into());
    assert_eq!(refused(63, KeyPolicy::AllowInsecure), ErrorKind::KeySizeOutOfRange { bits: 63 }.into());
    assert_eq!(refused(65, KeyPolicy::AllowInsecure), ErrorKind::OddKeySize { bits: 65 }.into());
    assert_eq!(refused(8194, KeyPolicy::Secure), ErrorKind::KeySizeOutOfRange { bits: 8194 }.into());
    assert!(refused(1024, KeyPolicy::Secure).to_string().contains("at least 2048"));
}

#[test]
fn nothing_secret_is_shown() {
    for key in some_keys() {
        let id = key.public().id();
        let plaintexts = encode_signed(key.public(), &[42, 43]).unwrap();
        assert_eq!(format!("{key:?}"), format!("PrivateKey({id})"));
        assert_eq!(format!("{plaintexts:?}"), format!("Plaintexts(2 of key {id})"));
        assert_eq!(format!("{:?}", key.randomisers(3).unwrap()), format!("Randomisers(3 of key {id})"));
        assert_eq!(format!("{:?}", encrypt(key.public(), &[1])), format!("Ciphertexts(1 of key {id})"));
        assert_eq!(format!("{:?}", key.public()), format!("PublicKey({id}, 512 bits, {})", key.public().variant()));
    }
}
