//! Subgroup keys, compared with an independent script with GMP
//! (tests/vectors/generate_subgroup.py): decryption with short exponents, foreign rows, and invalid
//! keys.

use std::sync::LazyLock;

use hearith_paillier::encoding::encode_signed;
use hearith_paillier::{
    Ciphertexts, Engine, Error, ErrorKind, KeyPolicy, MIN_ITERATIONS, PrivateKey, PublicKey, Variant,
};
use proptest::prelude::*;
use rug::{Integer, integer::Order};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::common::{bytes_be, ciphertexts, decrypt_small, encrypt, engines, integer_be, modulus};

#[derive(Clone, Deserialize)]
struct Row {
    m: String,
    c: String,
}

#[derive(Clone, Deserialize)]
struct Vector {
    bits: u32,
    x: u32,
    id: String,
    #[serde(rename = "P")]
    big_p: String,
    #[serde(rename = "Q")]
    big_q: String,
    p: String,
    q: String,
    h: String,
    own: Vec<Row>,
    foreign: Vec<Row>,
}

static VECTORS: LazyLock<Vec<Vector>> =
    LazyLock::new(|| serde_json::from_str(include_str!("../vectors/subgroup.json")).unwrap());

fn number(text: &str) -> Integer {
    Integer::from_str_radix(text, 16).unwrap()
}

fn be(text: &str) -> Vec<u8> {
    number(text).to_digits(Order::MsfBe)
}

/// The numbers of a private key, for modification.
#[derive(Clone)]
struct Numbers {
    primes: [Integer; 2],
    orders: [Integer; 2],
    h: Integer,
    x: u32,
}

impl Numbers {
    fn key(&self, engine: Engine) -> Result<PrivateKey, Error> {
        let be = |number: &Integer| number.to_digits::<u8>(Order::MsfBe);
        let [p, q] = [be(&self.primes[0]), be(&self.primes[1])];
        let [sp, sq] = [be(&self.orders[0]), be(&self.orders[1])];
        let policy = KeyPolicy::AllowInsecure;
        PrivateKey::from_subgroup_primes([&p, &q], [&sp, &sq], &be(&self.h), self.x, policy, engine)
    }

    fn n(&self) -> Integer {
        Integer::from(&self.primes[0] * &self.primes[1])
    }
}

impl Vector {
    fn numbers(&self) -> Numbers {
        Numbers {
            primes: [number(&self.big_p), number(&self.big_q)],
            orders: [number(&self.p), number(&self.q)],
            h: number(&self.h),
            x: self.x,
        }
    }

    fn key(&self, engine: Engine) -> PrivateKey {
        self.numbers().key(engine).unwrap()
    }
}

fn rows(key: &PublicKey, rows: &[Row]) -> Ciphertexts {
    ciphertexts(key, &rows.iter().map(|row| number(&row.c)).collect::<Vec<_>>())
}

fn plaintexts(rows: &[Row], width: usize) -> Vec<u8> {
    rows.iter().flat_map(|row| bytes_be(&number(&row.m), width)).collect()
}

#[test]
fn known_ciphertexts_decrypt_with_short_exponents() {
    for (vector, engine) in VECTORS.iter().flat_map(|vector| engines().map(move |engine| (vector, engine))) {
        let key = vector.key(engine);
        let public = key.public();
        assert_eq!((public.bits(), public.variant()), (vector.bits, Variant::Subgroup));
        assert_eq!((public.exponent_bits(), public.id().as_str()), (Some(vector.x), &*vector.id));
        let own = rows(public, &vector.own);
        let expected = plaintexts(&vector.own, public.plaintext_bytes());
        for found in [key.decrypt(&own), key.decrypt_any(&own), key.decrypt_checked(&own)] {
            assert!(*found.unwrap().to_be_bytes() == *expected, "{} bits, {engine}", vector.bits);
        }
    }
}

#[test]
fn foreign_rows_are_rejected_and_decrypt_when_asked() {
    for (vector, engine) in VECTORS.iter().flat_map(|vector| engines().map(move |engine| (vector, engine))) {
        let key = vector.key(engine);
        let foreign = rows(key.public(), &vector.foreign);
        let expected = plaintexts(&vector.foreign, key.public().plaintext_bytes());
        let any = key.any_randomiser();
        assert!(any.decrypts_any_randomiser() && !key.decrypts_any_randomiser());
        for found in [key.decrypt_any(&foreign), any.decrypt(&foreign), any.decrypt_checked(&foreign)] {
            assert!(*found.unwrap().to_be_bytes() == *expected);
        }
        // It is the same key, with the same JSON.
        assert_eq!((any.public(), any.to_jwk()), (key.public(), key.to_jwk()));
        for row in 0..foreign.len() {
            let mixed =
                key.public().concat_rows(&rows(key.public(), &vector.own), &foreign.range(row..row + 1).unwrap());
            assert_eq!(key.decrypt(&mixed).unwrap_err(), ErrorKind::ForeignRandomiser.at_row(vector.own.len()));
        }
        // A sum with a foreign row is also foreign.
        let sum = key.public().add(&rows(key.public(), &vector.own), &foreign).unwrap();
        assert_eq!(key.decrypt(&sum).unwrap_err(), ErrorKind::ForeignRandomiser.at_row(0));
    }
}

trait Rows {
    fn concat_rows(&self, one: &Ciphertexts, other: &Ciphertexts) -> Ciphertexts;
}

impl Rows for PublicKey {
    fn concat_rows(&self, one: &Ciphertexts, other: &Ciphertexts) -> Ciphertexts {
        self.ciphertexts_from_be(&[one.to_be_bytes(), other.to_be_bytes()].concat()).unwrap()
    }
}

/// A row that is foreign modulo only one prime and a row that shares a factor give the same error.
#[test]
fn rows_that_are_wrong_in_one_half_say_no_more() {
    for engine in engines() {
        let vector = &VECTORS[0];
        let (key, numbers) = (vector.key(engine), vector.numbers());
        let square = numbers.n().square();
        let own = number(&vector.own[0].c);
        for [one, other] in [[0, 1], [1, 0]].map(|order: [usize; 2]| order.map(|at| &numbers.primes[at])) {
            // 1 modulo the square of one prime, 2^n modulo the square of the other.
            let (one, other) = (Integer::from(one.square_ref()), Integer::from(other.square_ref()));
            let factor = Integer::from(2).pow_mod(&numbers.n(), &other).unwrap() - 1u32;
            let inverse = Integer::from(one.invert_ref(&other).unwrap());
            let half = 1 + &one * (factor * inverse % &other);
            let changed = &own * half % &square;
            let found = key.decrypt(&ciphertexts(key.public(), &[changed])).unwrap_err();
            assert_eq!(found, ErrorKind::ForeignRandomiser.at_row(0), "{engine}");
        }
        let multiple = ciphertexts(key.public(), &[Integer::from(&numbers.primes[0] * 5u32)]);
        assert_eq!(key.decrypt(&multiple).unwrap_err(), ErrorKind::ForeignRandomiser.at_row(0));
        assert_eq!(key.decrypt_any(&multiple).unwrap_err(), ErrorKind::CiphertextSharesFactor.at_row(0));
    }
}

/// Paillier's original formula in GMP.
fn textbook(numbers: &Numbers, c: &Integer) -> Integer {
    let (n, square) = (numbers.n(), numbers.n().square());
    let less_one = numbers.primes.each_ref().map(|prime| Integer::from(prime - 1));
    let order = Integer::from(less_one[0].lcm_ref(&less_one[1]));
    let power = c.clone().pow_mod(&order, &square).unwrap();
    (power - 1u32) / &n * order.invert(&n).unwrap() % n
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    /// For encryptions, sums, products and re-randomised ciphertexts, the textbook's decryption
    /// agrees, and their randomisers are in the subgroup.
    #[test]
    fn everything_computed_is_what_it_should_be(
        values in prop::collection::vec(-1_000_000_i128..1_000_000, 1..9),
        scalars in prop::collection::vec(-1000_i128..1000, 8),
    ) {
        let vector = &VECTORS[0];
        let numbers = vector.numbers();
        for engine in engines() {
            let key = vector.key(engine);
            let public = key.public();
            let scalars = &scalars[..values.len()];
            let made = encrypt(public, &values);
            let by_owner = key.encrypt(&encode_signed(public, &values).unwrap()).unwrap();
            let products = public.multiply(&made, scalars).unwrap();
            let sums = public.add(&products, &public.rerandomise(&by_owner).unwrap()).unwrap();
            let expected: Vec<i128> = values.iter().zip(scalars).map(|(value, scalar)| value * scalar + value).collect();
            prop_assert_eq!(decrypt_small(&key, &made), values.clone());
            prop_assert_eq!(decrypt_small(&key, &sums), expected.clone());
            let total = public.sum(&sums).unwrap();
            prop_assert_eq!(decrypt_small(&key, &total), [expected.iter().sum::<i128>()]);
            let bytes = sums.to_be_bytes();
            for (row, expected) in bytes.chunks_exact(public.ciphertext_bytes()).zip(&expected) {
                let found = textbook(&numbers, &integer_be(row));
                prop_assert_eq!(found, Integer::from(*expected).modulo(&modulus(public)));
            }
        }
    }
}

#[test]
fn new_keys_work_and_survive() {
    for engine in engines() {
        let key = PrivateKey::generate(1024, Variant::Subgroup, KeyPolicy::AllowInsecure, engine).unwrap();
        assert_eq!(decrypt_small(&key, &encrypt(key.public(), &[-7, 0, 12345])), [-7, 0, 12345]);
        let again = PrivateKey::from_jwk(&key.to_jwk(), KeyPolicy::AllowInsecure, engine).unwrap();
        assert_eq!((again.public(), again.to_jwk()), (key.public(), key.to_jwk()));
        assert_eq!(again.subgroup_primes(), key.subgroup_primes());
        assert_eq!(decrypt_small(&again, &encrypt(key.public(), &[-7])), [-7]);
        let public = PublicKey::from_jwk(&key.public().to_jwk(), KeyPolicy::AllowInsecure, engine).unwrap();
        assert_eq!((&public, public.id(), public.variant()), (key.public(), key.public().id(), Variant::Subgroup));
        let sealed = key.to_encrypted_jwk("word", MIN_ITERATIONS).unwrap();
        let opened = PrivateKey::from_encrypted_jwk(&sealed, "word", KeyPolicy::AllowInsecure, engine).unwrap();
        assert_eq!(opened.to_jwk(), key.to_jwk());
    }
}

/// Readers that do not support subgroups must reject the key: encrypting with its modulus alone
/// would use foreign randomisers.
#[test]
fn the_algorithm_is_one_that_others_refuse() {
    let key = VECTORS[0].key(Engine::best());
    let document: Value = serde_json::from_str(&key.public().to_jwk()).unwrap();
    assert_eq!((&document["alg"], &document["x"]), (&json!("PAI-SG1"), &json!(448)));
    let read = |document: &Value| PublicKey::from_jwk(&document.to_string(), KeyPolicy::AllowInsecure, Engine::best());
    for (member, value) in [("h", Value::Null), ("x", Value::Null), ("alg", json!("PAI-SG2")), ("x", json!(-1))] {
        let mut other = document.clone();
        other[member] = value;
        assert!(read(&other).is_err(), "{member}");
    }
    // As a DJN key it is a different key.
    let mut djn = document.clone();
    djn["alg"] = json!("PAI-GN1");
    let djn = read(&djn).unwrap();
    assert_eq!(djn.variant(), Variant::Djn);
    assert_ne!((djn.id(), &djn), (key.public().id(), key.public()));
}

#[test]
fn the_id_binds_modulus_generator_and_length() {
    let numbers = VECTORS[0].numbers();
    let id = |h: &Integer, x: u32| {
        let be = |number: &Integer| number.to_digits::<u8>(Order::MsfBe);
        let policy = KeyPolicy::AllowInsecure;
        PublicKey::new_subgroup(&be(&numbers.n()), &be(h), x, policy, Engine::best()).map(|key| key.id())
    };
    let known = id(&numbers.h, numbers.x).unwrap();
    let other = numbers.h.clone().pow_mod(&Integer::from(3), &numbers.n()).unwrap();
    assert_ne!(id(&other, numbers.x).unwrap(), known);
    assert_ne!(id(&numbers.h, numbers.x + 1).unwrap(), known);
    let outside = |bits| ErrorKind::ExponentLength { bits, least: 448, most: 512 };
    for bits in [0, 1, 447, 513, u32::MAX] {
        assert_eq!(id(&numbers.h, bits).unwrap_err(), outside(bits).into());
    }
}

fn random_prime(bits: u32, seed: u32) -> Integer {
    let mut state = rug::rand::RandState::new();
    state.seed(&seed.into());
    let low = Integer::from(Integer::random_bits(bits - 2, &mut state));
    ((Integer::from(3) << (bits - 2)) + low).next_prime()
}

#[test]
fn private_keys_of_every_wrong_kind_are_rejected() {
    let good = VECTORS[0].numbers();
    let engine = Engine::best();
    assert!(good.key(engine).is_ok());
    let n = good.n();
    let invalid = |problem| Error::from(ErrorKind::InvalidSubgroup { problem });
    let with = |change: &dyn Fn(&mut Numbers)| {
        let mut numbers = good.clone();
        change(&mut numbers);
        numbers.key(engine).map(|key| key.public().id())
    };
    let generator = Err(ErrorKind::InvalidGenerator.into());

    // Swapping the primes gives the same key.
    let swapped = with(&|numbers| {
        numbers.primes.reverse();
        numbers.orders.reverse();
    });
    assert_eq!(swapped, Ok(good.key(engine).unwrap().public().id()));
    assert_eq!(with(&|numbers| numbers.orders.reverse()), Err(invalid("p does not divide P - 1")));
    let other = random_prime(160, 1);
    assert_eq!(with(&|numbers| numbers.orders[0] = other.clone()), Err(invalid("p does not divide P - 1")));
    assert_eq!(with(&|numbers| numbers.orders[1] = other.clone()), Err(invalid("q does not divide Q - 1")));
    assert_eq!(with(&|numbers| numbers.orders[1] = numbers.orders[0].clone()), Err(invalid("the primes are the same")));
    let size = "the primes do not have the length that the key requires";
    for order in [Integer::new(), Integer::from(1), Integer::from(3), random_prime(159, 1), random_prime(161, 1)] {
        assert_eq!(with(&|numbers| numbers.orders[0] = order.clone()), Err(invalid(size)));
    }
    let cofactor = (good.primes[0].clone() - 1u32) / 2u32 / &good.orders[0];
    assert_eq!(with(&|numbers| numbers.orders[0] = cofactor.clone()), Err(invalid(size)), "u for p");
    let long: Integer = Integer::from(1) << 5000;
    assert_eq!(with(&|numbers| numbers.orders[0] = long.clone()), Err(invalid("the primes are too long")));

    // Generators of other orders.
    let minus = |g: Integer| &n - g;
    let g = minus(good.h.clone());
    for h in [
        g.clone(),                                                     // order p q
        minus(Integer::from(4).pow_mod(&good.orders[0], &n).unwrap()), // the cofactors are left
        Integer::from(7),                                              // anything
        good.h.clone() * 3u32 % &n,
    ] {
        assert_eq!(with(&|numbers| numbers.h = h.clone()), generator, "{h:x}");
    }
    // 1 or -1 modulo one prime: the checks of the public key reject it, because the neighbours
    // share a factor with n.
    for at in 0..2 {
        let power = g.clone().pow_mod(&good.orders[at], &n).unwrap();
        assert_eq!(with(&|numbers| numbers.h = minus(power.clone())), generator, "order {at} alone");
    }
    for h in [Integer::new(), Integer::from(1), Integer::from(&n - 1), n.clone(), Integer::from(&good.primes[0] * 3u32)]
    {
        assert_eq!(with(&|numbers| numbers.h = h.clone()), generator, "{h:x}");
    }
    assert!(matches!(with(&|numbers| numbers.x = 447).unwrap_err().kind(), ErrorKind::ExponentLength { .. }));
}

/// Primes `2 p u + 1` with composite parts, and safe primes: the form alone is not enough.
#[test]
fn parts_must_be_prime() {
    let good = VECTORS[0].numbers();
    // The size is valid for composite p = a b, and for composite u = a b.
    let composite = |bits: u32, seed: u32| random_prime(bits / 2, seed) * random_prime(bits - bits / 2, seed + 1000);
    let prime_of = |order: &Integer, wanted: &dyn Fn(u32) -> Integer| {
        (0..).map(|seed| (wanted(seed), seed)).find_map(|(cofactor, _)| {
            let prime: Integer = Integer::from(order * 2) * cofactor + 1u32;
            let fits = prime.significant_bits() == 512 && Integer::from(&prime >> 510) == 3;
            (fits && prime.is_probably_prime(30) != rug::integer::IsPrime::No).then_some(prime)
        })
    };
    let cases = [
        (composite(160, 5), "p is not prime", prime_of(&composite(160, 5), &|seed| random_prime(351, 100 + seed))),
        (good.orders[0].clone(), "a cofactor is not prime", prime_of(&good.orders[0], &|seed| composite(351, seed))),
    ];
    for (order, problem, prime) in cases {
        let mut numbers = good.clone();
        numbers.primes[0] = prime.unwrap();
        numbers.orders[0] = order;
        let found = numbers.key(Engine::best()).unwrap_err();
        assert_eq!(found, ErrorKind::InvalidSubgroup { problem }.into());
    }
}

#[test]
fn what_needs_safe_primes_or_more_bits_is_refused() {
    let engine = Engine::best();
    let shares = PrivateKey::generate_safe(1024, Variant::Subgroup, KeyPolicy::AllowInsecure, engine).unwrap_err();
    assert!(matches!(shares.kind(), ErrorKind::NotForSubgroup { .. }));
    let short = PrivateKey::generate(1022, Variant::Subgroup, KeyPolicy::AllowInsecure, engine).unwrap_err();
    assert_eq!(*short.kind(), ErrorKind::SubgroupKeySize { bits: 1022 });
    let insecure = PrivateKey::generate(1024, Variant::Subgroup, KeyPolicy::Secure, engine).unwrap_err();
    assert!(matches!(insecure.kind(), ErrorKind::InsecureKey(_)));
    assert!(VECTORS[1].numbers().key(engine).is_ok() && be(&VECTORS[1].p).len() == 32);
}
