//! Dishonest dealers: their output is rejected or still decrypts correctly. GMP computes all
//! numbers.

use hearith_paillier::{Engine, KeyPolicy, PrivateKey, Variant};
use hearith_threshold::{Error, ErrorKind, Origin, VerificationKeys};
use rug::{Integer, integer::Order, rand::RandState};
use sha2::{Digest, Sha256};

/// A key, and a dealer's knowledge of it.
struct Dealer {
    private: PrivateKey,
    n: Integer,
    squared: Integer,
    order: Integer,
    /// `n p' q'`.
    modulus: Integer,
    v: Integer,
}

impl Dealer {
    fn new(bits: u32) -> Self {
        let (policy, engine) = (KeyPolicy::AllowInsecure, Engine::best());
        let private = PrivateKey::generate_safe(bits, Variant::Standard, policy, engine).unwrap();
        let [p, q] = private.primes().map(|prime| Integer::from_digits(prime, Order::Lsf));
        let n = Integer::from(&p * &q);
        let order = (p >> 1) * (q >> 1);
        let (squared, modulus) = (Integer::from(n.square_ref()), Integer::from(&n * &order));
        let unit = hashed(&n).pow_mod(&n, &squared).unwrap() * (n.clone() + 1u32);
        let v = unit.square() % &squared;
        Dealer { private, n, squared, order, modulus, v }
    }

    /// An honest dealer's `d` times a factor: 0 modulo `p' q'`, and the factor modulo `n`.
    fn exponent(&self, factor: u32) -> Integer {
        let inverse = Integer::from(self.order.invert_ref(&self.n).unwrap());
        (Integer::from(&self.order * &inverse) * factor) % &self.modulus
    }

    /// `D s_i` for a random polynomial with this value at 0.
    fn exponents(&self, value: &Integer, needed: u32, trustees: u32) -> Vec<Integer> {
        let mut random = RandState::new();
        let more = (1..needed).map(|_| Integer::from(self.modulus.random_below_ref(&mut random)));
        let coefficients: Vec<Integer> = std::iter::once(value.clone()).chain(more).collect();
        let factorial = Integer::from(Integer::factorial(trustees));
        let share = |i: u32| coefficients.iter().rev().fold(Integer::new(), |sum, one| sum * i + one) * &factorial;
        (1..=trustees).map(share).collect()
    }

    fn wide(&self, number: &Integer) -> Vec<u8> {
        let digits = number.to_digits::<u8>(Order::Msf);
        [vec![0; self.private.public().ciphertext_bytes() - digits.len()], digits].concat()
    }

    fn read(&self, needed: u32, v: &Integer, v_i: &[Integer]) -> Result<VerificationKeys, Error> {
        let v_i: Vec<Vec<u8>> = v_i.iter().map(|one| self.wide(one)).collect();
        VerificationKeys::from_be(self.private.public().clone(), needed, &self.wide(v), &v_i, Origin::Dealt)
    }

    fn powers(&self, exponents: &[Integer]) -> Vec<Integer> {
        exponents.iter().map(|one| Integer::from(self.v.pow_mod_ref(one, &self.squared).unwrap())).collect()
    }

    fn deal(&self, value: &Integer, needed: u32, trustees: u32) -> Result<VerificationKeys, Error> {
        self.read(needed, &self.v, &self.powers(&self.exponents(value, needed, trustees)))
    }
}

/// `H(n)`, as in docs/explanation/threshold.md.
fn hashed(n: &Integer) -> Integer {
    let n_be = n.to_digits::<u8>(Order::Msf);
    let bytes = (0..).flat_map(|block: u32| {
        let parts: [&[u8]; 3] = [b"hearith-proofs 1 base", &n_be, &[[0; 4], block.to_be_bytes()].concat()];
        let update =
            |hash: Sha256, part: &&[u8]| hash.chain_update((part.len() as u64).to_be_bytes()).chain_update(part);
        parts.iter().fold(Sha256::new(), update).finalize().to_vec()
    });
    Integer::from_digits(&bytes.take(n_be.len() + 16).collect::<Vec<u8>>(), Order::Msf) % n
}

fn kind<T: std::fmt::Debug>(result: Result<T, Error>) -> ErrorKind {
    result.expect_err("what must not be taken").kind().clone()
}

const SHARINGS: [(u32, u32); 8] = [(1, 1), (1, 3), (2, 2), (2, 3), (3, 5), (5, 5), (4, 9), (11, 20)];

#[test]
fn honest_dealings_pass() {
    // Also for lengths that are not a multiple of a limb.
    for bits in [66, 130, 256] {
        let dealer = Dealer::new(bits);
        for (needed, trustees) in SHARINGS {
            dealer.deal(&dealer.exponent(1), needed, trustees).unwrap();
        }
    }
}

#[test]
fn a_polynomial_of_another_value_is_refused() {
    let dealer = Dealer::new(256);
    let honest = dealer.exponent(1);
    let halves: Vec<Integer> = dealer.private.primes().map(|prime| Integer::from_digits(prime, Order::Lsf) >> 1).into();
    for (needed, trustees) in SHARINGS {
        let refused = ErrorKind::NotDealt { first: 1, last: needed };
        // Results multiplied by 2, by 0, and by -1.
        for factor in [dealer.exponent(2), dealer.exponent(0), dealer.modulus.clone() - &honest] {
            assert_eq!(kind(dealer.deal(&factor, needed, trustees)), refused);
        }
        // 1 modulo n, but not a multiple of the order, or only of one half of it.
        for more in [Integer::from(1), halves[0].clone(), halves[1].clone()] {
            let value = (Integer::from(&dealer.n * &more) + &honest) % &dealer.modulus;
            assert_eq!(kind(dealer.deal(&value, needed, trustees)), refused);
        }
    }
}

#[test]
fn each_single_share_off_the_polynomial_is_refused() {
    let dealer = Dealer::new(256);
    for (needed, trustees) in SHARINGS {
        let exponents = dealer.exponents(&dealer.exponent(1), needed, trustees);
        for at in 0..trustees as usize {
            // By 1, by a number that only changes the plaintext part, and by one that only changes
            // the rest.
            for more in [Integer::from(1), dealer.order.clone(), dealer.n.clone()] {
                let mut exponents = exponents.clone();
                exponents[at] += more;
                let found = kind(dealer.read(needed, &dealer.v, &dealer.powers(&exponents)));
                let ErrorKind::NotDealt { first, last } = found else { panic!("{found:?}") };
                assert!((first..=last).contains(&(at as u32 + 1)), "{first} to {last}, {at}");
            }
            // A square root of 1 does not change what is compared.
            let mut v_i = dealer.powers(&exponents);
            v_i[at] = Integer::from(&dealer.squared - &v_i[at]);
            dealer.read(needed, &dealer.v, &v_i).unwrap();
        }
    }
}

#[test]
fn nobody_chooses_the_base() {
    let dealer = Dealer::new(256);
    let exponents = dealer.exponents(&dealer.exponent(1), 2, 3);
    // Another square, an n-th power, whose shares prove nothing about the plaintext, and 1.
    let other = Integer::from(&dealer.v * &dealer.v) % &dealer.squared;
    let residue = Integer::from(other.pow_mod_ref(&dealer.n, &dealer.squared).unwrap());
    for v in [other, residue, Integer::from(1)] {
        let power = |one: &Integer| Integer::from(v.pow_mod_ref(one, &dealer.squared).unwrap());
        let v_i: Vec<Integer> = exponents.iter().map(power).collect();
        assert_eq!(kind(dealer.read(2, &v, &v_i)), ErrorKind::OtherBase);
    }
    let ones = vec![Integer::from(1); 3];
    assert_eq!(kind(dealer.read(2, &Integer::from(1), &ones)), ErrorKind::OtherBase);
    assert_eq!(kind(dealer.read(2, &dealer.v, &ones)), ErrorKind::NotDealt { first: 1, last: 2 });
    // The same in a file.
    let good = dealer.deal(&dealer.exponent(1), 2, 3).unwrap();
    let mut json: serde_json::Value = serde_json::from_str(&good.to_json()).unwrap();
    let text = |text: &str| VerificationKeys::from_json(text, KeyPolicy::AllowInsecure, Engine::best());
    text(&json.to_string()).unwrap();
    let one = "A".repeat(84) + "AQ";
    for v_i in 0..3 {
        json["shared"]["v_i"][v_i] = one.as_str().into();
    }
    assert_eq!(kind(text(&json.to_string())), ErrorKind::NotDealt { first: 1, last: 2 });
    json["shared"]["v"] = one.as_str().into();
    assert_eq!(kind(text(&json.to_string())), ErrorKind::OtherBase);
}

/// A file from a version whose dealer chose `v`.
#[test]
fn files_of_before_are_refused_by_name() {
    let lines: Vec<&str> = include_str!("../vectors_chosen_base.txt").lines().collect();
    let text = lines[0].strip_prefix("verification ").unwrap();
    let found = VerificationKeys::from_json(text, KeyPolicy::AllowInsecure, Engine::best());
    assert!(kind(found).to_string().contains("share a new key"));
    let share = lines[1].splitn(3, ' ').last().unwrap();
    let found = hearith_threshold::KeyShare::from_json(share, KeyPolicy::AllowInsecure, Engine::best());
    assert_eq!(kind(found), ErrorKind::OtherBase);
}
