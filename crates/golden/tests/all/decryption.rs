//! Tests the papers' decryption methods against known answers and against the product, on every
//! engine of this machine.

use hearith_golden::{Decryption, PaperKey};
use hearith_paillier::encoding::encode_signed;
use hearith_paillier::{Ciphertexts, Engine, ErrorKind, KeyPolicy, PrivateKey, PublicKey, Variant};
use hearith_testing::has;
use proptest::prelude::*;
use rug::{Integer, integer::Order};
use serde::Deserialize;
use std::sync::LazyLock;

fn engines() -> impl Iterator<Item = Engine> {
    Engine::ALL.iter().copied().filter(|engine| has(engine.name(), engine.is_available()))
}

/// The part of the scheme's known answers used here. Numbers are hexadecimal.
#[derive(Deserialize)]
struct Vectors {
    keys: Vec<KeyVector>,
    large: Vec<Large>,
}

#[derive(Deserialize)]
struct KeyVector {
    kind: String,
    bits: u32,
    p: String,
    q: String,
    decryptions: Vec<Decrypted>,
}

#[derive(Deserialize)]
struct Decrypted {
    c: String,
    m: String,
}

#[derive(Deserialize)]
struct Large {
    p: String,
    q: String,
}

fn vectors() -> Vectors {
    serde_json::from_str(include_str!("../../../paillier/tests/vectors/vectors.json")).unwrap()
}

fn number(hex: &str) -> Integer {
    Integer::from_str_radix(hex, 16).unwrap()
}

fn key(p: &str, q: &str, engine: Engine) -> PrivateKey {
    let [p, q] = [p, q].map(|prime| number(prime).to_digits::<u8>(Order::MsfBe));
    PrivateKey::from_primes(&p, &q, None, KeyPolicy::AllowInsecure, engine).unwrap()
}

/// Big-endian bytes of the numbers, each in `width` bytes.
fn bytes(numbers: &[Integer], width: usize) -> Vec<u8> {
    let of = |number: &Integer| {
        let digits = number.to_digits::<u8>(Order::MsfBe);
        [vec![0; width - digits.len()], digits].concat()
    };
    numbers.iter().flat_map(of).collect()
}

fn ciphertexts(key: &PublicKey, numbers: &[Integer]) -> Ciphertexts {
    key.ciphertexts_from_be(&bytes(numbers, key.ciphertext_bytes())).unwrap()
}

/// A key of each variant for every engine, with its modulus.
static KEYS: LazyLock<Vec<(PrivateKey, PaperKey, Integer)>> = LazyLock::new(|| {
    let key = |engine, variant| {
        let key = PrivateKey::generate(512, variant, KeyPolicy::AllowInsecure, engine).unwrap();
        let (paper, n) = (PaperKey::new(&key).unwrap(), Integer::from_digits(&key.public().modulus_be(), Order::MsfBe));
        (key, paper, n)
    };
    engines().flat_map(|engine| [Variant::Standard, Variant::Djn].map(|variant| key(engine, variant))).collect()
});

#[test]
fn known_ciphertexts_decrypt_in_every_way() {
    for engine in engines() {
        for vector in vectors().keys {
            let key = key(&vector.p, &vector.q, engine);
            let paper = PaperKey::new(&key).unwrap();
            let (c, m): (Vec<_>, Vec<_>) =
                vector.decryptions.iter().map(|one| (number(&one.c), number(&one.m))).unzip();
            let c = ciphertexts(key.public(), &c);
            let expected = bytes(&m, key.public().plaintext_bytes());
            for way in Decryption::ALL {
                let found = paper.decrypt(way, &c).unwrap();
                assert_eq!(found.to_be_bytes()[..], expected, "{} {} bits, {engine}, {way}", vector.kind, vector.bits);
                // A batch of one number takes a different path through the lanes.
                let one = paper.decrypt(way, &c.range(1..2).unwrap()).unwrap();
                assert_eq!(one, found.range(1..2).unwrap());
                assert!(paper.decrypt(way, &c.range(0..0).unwrap()).unwrap().is_empty());
            }
        }
    }
}

proptest! {
    #[test]
    fn random_ciphertexts(seeds in proptest::collection::vec(any::<[u64; 16]>(), 1..6)) {
        for (key, paper, n) in KEYS.iter() {
            let square = n.clone().square();
            let random = seeds.iter().map(|seed| Integer::from_digits(seed, Order::Lsf) % &square);
            let c = random.map(|c| if c == 0 { Integer::from(1) } else { c }).collect::<Vec<_>>();
            let c = ciphertexts(key.public(), &c);
            let expected = key.decrypt(&c).unwrap();
            for way in Decryption::ALL {
                prop_assert_eq!(&paper.decrypt(way, &c).unwrap(), &expected);
            }
        }
    }
}

/// Key sizes at, just above and just below multiples of 64-bit and 52-bit limbs.
#[test]
fn keys_of_all_sizes() {
    for engine in engines() {
        for bits in [64, 66, 102, 104, 106, 126, 128, 130, 190, 192, 206, 208, 210, 254, 256, 258, 384, 416, 510, 640] {
            for variant in [Variant::Standard, Variant::Djn] {
                let key = PrivateKey::generate(bits, variant, KeyPolicy::AllowInsecure, engine).unwrap();
                let paper = PaperKey::new(&key).unwrap();
                let plaintexts = encode_signed(key.public(), &[0, 1, -1, 1 << 40, -(1 << 40)]).unwrap();
                let c = key.encrypt(&plaintexts).unwrap();
                for way in Decryption::ALL {
                    let found = paper.decrypt(way, &c).unwrap();
                    assert_eq!(found, plaintexts, "{bits} bits, {variant}, {engine}, {way}");
                }
            }
        }
    }
}

#[test]
fn the_largest_keys() {
    for vector in vectors().large {
        let key = key(&vector.p, &vector.q, Engine::best());
        let plaintexts = encode_signed(key.public(), &[-1, 12345]).unwrap();
        let c = key.encrypt(&plaintexts).unwrap();
        assert_eq!(PaperKey::new(&key).unwrap().decrypt(Decryption::Ecrt, &c).unwrap(), plaintexts);
    }
}

#[test]
fn ciphertexts_that_share_a_factor_are_refused() {
    for engine in engines() {
        for vector in vectors().keys.into_iter().filter(|vector| vector.bits <= 1024) {
            let key = key(&vector.p, &vector.q, engine);
            let paper = PaperKey::new(&key).unwrap();
            let (p, q) = (number(&vector.p), number(&vector.q));
            let n = Integer::from(&p * &q);
            let product = |a: &Integer, b: &Integer| Integer::from(a * b);
            let last = n.clone().square() - &n;
            for bad in [
                p.clone(),
                q.clone(),
                n.clone(),
                product(&p, &p),
                product(&q, &q),
                product(&p, &n),
                product(&q, &n),
                last,
            ] {
                let good = Integer::from(&n + 1);
                let c = ciphertexts(key.public(), &[good.clone(), good.clone(), bad, good]);
                for way in Decryption::ALL {
                    let refused = paper.decrypt(way, &c).unwrap_err();
                    assert_eq!(refused, ErrorKind::CiphertextSharesFactor.at_row(2), "{} {way}", vector.kind);
                }
            }
        }
    }
}

#[test]
fn ciphertexts_of_other_keys_are_refused() {
    let ((key, paper, _), (other, ..)) = (&KEYS[0], &KEYS[1]);
    let (expected, found) = (key.public().id(), other.public().id());
    for way in Decryption::ALL {
        let refused = paper.decrypt(way, &other.public().zero()).unwrap_err();
        assert_eq!(refused, ErrorKind::WrongKey { expected, found }.into());
    }
}
