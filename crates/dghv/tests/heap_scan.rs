//! Checks that no secret is left on the heap: every block is searched when it is freed.
//!
//! The search covers these values, in limbs and in the vector engine's digits:
//!
//! - of private keys, including those of a ladder's rungs: `p`, `q_0`, the reciprocals `2^k / p`
//!   that recryption and switching keys hide in their fractions, the powers of two modulo `p` that
//!   decryption divides by, and the corrections of a switching key before the chosen digits'
//!   weights are subtracted, which would reveal the subset;
//! - of ciphertexts: residues modulo `p`, and the coefficients and noise that encryption in CNT
//!   draws, which the test derives afterwards.
//!
//! Each engine generates, reads, writes and rejects keys, generates recryption keys and ladders,
//! encrypts with the public and the private key, and decrypts.
//!
//! Not covered:
//!
//! - the prime search, whose crates leave copies (see SECURITY.md): key generation is not searched
//!   for the primes themselves;
//! - single bits of a message or of a subset;
//! - super-size products in CMNT's encryption, which are not wiped according to
//!   docs/explanation/dghv.md;
//! - the stack, registers, and memory that is never freed.

#[path = "all/reference/mod.rs"]
#[allow(dead_code, reason = "the other tests use the rest")]
mod reference;

use hearith_arith::Engine;
use hearith_dghv::{
    Ciphertext, InsecureHistoricalParameters, KeyPair, Ladder, Lengths, Parameters, PrivateKey, PrivateKeys, PublicKey,
    RecryptionKey, Scheme, SwitchingKey,
};
use hearith_testing::heap::{Recorder, Secrets, freed_by};
use reference::{chi, integer};
use rug::Integer;
use rug::integer::Order;
use rug::ops::{Pow, RemRounding};
use std::hint::black_box;

#[global_allocator]
static RECORDER: Recorder = Recorder;

const INSECURE: InsecureHistoricalParameters = InsecureHistoricalParameters;

/// Lengths at which every part is too long to be found by chance.
const LENGTHS: Lengths = Lengths {
    security: 42,
    key_noise: 30,
    secret: 700,
    modulus: 6000,
    elements: 3,
    coefficient: 64,
    encryption_noise: 200,
};

fn parameters(scheme: Scheme, lengths: Lengths) -> Parameters {
    Parameters::custom(scheme, lengths).unwrap()
}

/// The values to search for, with a method that adds GMP numbers.
#[derive(Default)]
struct Hidden(Secrets);

impl Hidden {
    fn number(&mut self, name: &str, number: &Integer) {
        self.0.number(name, &number.to_digits(Order::Lsf));
    }

    /// Adds values derived from a private key, except the prime itself and intermediate values of
    /// the search for it.
    fn around(&mut self, prime: &Integer, modulus: &Integer, limbs: usize) {
        self.number("q_0", &Integer::from(modulus / prime));
        let k = prime.significant_digits::<u64>();
        for power in [limbs + k, limbs + 2 * k, limbs + 3 * k] {
            self.number("a power of two modulo p", &(Integer::from(2).pow(64 * power as u32) % prime));
        }
        for length in [limbs + 1, limbs + 1 + k, limbs + 2 + k, limbs + k] {
            let reciprocal = (Integer::from(1) << (64 * length as u32 - 1)) / prime;
            // The top words are the same for every such number.
            self.number("a reciprocal of p", &reciprocal.keep_bits(64 * (limbs - k) as u32));
        }
    }

    fn private(&mut self, key: &PrivateKey, public: &PublicKey) {
        let prime = integer(key.expose_prime());
        self.number("p", &prime);
        let k = prime.significant_digits::<u64>() as u32;
        for power in [2 * k, 3 * k] {
            self.number("a Montgomery constant of p", &(Integer::from(2).pow(64 * power) % &prime));
        }
        self.around(&prime, &integer(public.modulus()), key.parameters().limbs());
    }

    /// Adds the residues of ciphertexts modulo `p`.
    fn residues(&mut self, key: &PrivateKey, ciphertexts: &[Ciphertext]) {
        let prime = integer(key.expose_prime());
        for ciphertext in ciphertexts {
            let residue = integer(ciphertext.value()) % &prime;
            self.number("a residue modulo p", &Integer::from(&prime - &residue));
            self.number("a residue modulo p", &residue);
        }
    }

    /// Runs `work` and searches the memory that it frees.
    fn scan<T>(&self, what: &str, leaks: &mut Vec<String>, work: impl FnOnce() -> T) -> T {
        let (result, freed) = freed_by(work);
        assert!(!freed.is_empty(), "{what} frees nothing: the recorder does not work");
        self.search(what, leaks, &freed);
        result
    }

    fn search(&self, what: &str, leaks: &mut Vec<String>, freed: &[u8]) {
        leaks.extend(self.0.within(freed).into_iter().map(|(name, times)| format!("{what}: {name}, {times} times")));
    }
}

#[test]
fn no_secret_is_left_on_the_heap() {
    the_search_finds_what_is_not_wiped();
    let mut leaks = Vec::new();
    for engine in Engine::ALL.iter().copied().filter(|engine| engine.is_available()) {
        for &scheme in Scheme::ALL {
            keys(scheme, engine, &mut leaks);
        }
        drawn_by_encryption(engine, &mut leaks);
    }
    assert!(leaks.is_empty(), "left on the heap:\n{}", leaks.join("\n"));
}

/// Not a test of its own, because it would run concurrently with the other test.
fn the_search_finds_what_is_not_wiped() {
    let mut hidden = Hidden::default();
    let number = Integer::from(0x5d3a_91c7_e04b_26f8_8c15_7ae9_b36d_f042_u128);
    hidden.number("number", &number);
    let mut leaks = Vec::new();
    hidden.scan("test", &mut leaks, || drop(black_box(number.to_digits::<u64>(Order::Lsf))));
    assert_eq!(leaks, ["test: number, 2 times"]);
}

/// Generates, writes, reads and uses keys.
fn keys(scheme: Scheme, engine: Engine, leaks: &mut Vec<String>) {
    let name = |what: &str| format!("{scheme}, {engine}: {what}");
    let parameters = parameters(scheme, LENGTHS);
    let (KeyPair { private, public }, freed) = freed_by(|| KeyPair::generate(&parameters, engine, INSECURE).unwrap());
    let mut hidden = Hidden::default();
    hidden.around(&integer(private.expose_prime()), &integer(public.modulus()), parameters.limbs());
    hidden.search(&name("making keys"), leaks, &freed);

    hidden.private(&private, &public);
    let recryption = hidden.scan(&name("making a recryption key"), leaks, || {
        RecryptionKey::generate(&private, &public, INSECURE).unwrap()
    });
    let ((ladder, rungs), freed) = freed_by(|| Ladder::generate(&private, &public, 2, INSECURE).unwrap());
    let mut below = Hidden::default();
    below.private(&private, &public);
    for (secret, rung) in rungs.iter().zip(ladder.rungs()) {
        below.around(&integer(secret.expose_prime()), &integer(rung.key.modulus()), parameters.limbs());
        weightless(&mut below, secret, &rung.switching);
        hidden.private(secret, &rung.key);
    }
    below.search(&name("making a ladder"), leaks, &freed);

    let bits = [true, false, true];
    let owned = hidden.scan(&name("encrypting as owner"), leaks, || private.encrypt(&public, &bits).unwrap());
    let fresh = hidden.scan(&name("encrypting"), leaks, || public.encrypt(&bits).unwrap());
    let recrypted = hidden.scan(&name("recrypting"), leaks, || recryption.recrypt(&public, &fresh).unwrap());
    for ciphertexts in [&owned, &fresh, &recrypted] {
        hidden.residues(&private, ciphertexts);
    }
    let keys = PrivateKeys { key: private, rungs };
    hidden.scan(&name("decrypting"), leaks, || {
        let clone = keys.clone();
        for ciphertexts in [&owned, &fresh, &recrypted] {
            assert_eq!(clone.decrypt(ciphertexts).unwrap(), bits);
        }
        drop(clone);
    });
    let mut file = Vec::with_capacity(10_000);
    hidden.scan(&name("writing and reading"), leaks, || {
        keys.write_to(&mut file).unwrap();
        drop(PrivateKeys::read_from(&file[..], INSECURE).unwrap());
        PrivateKeys::read_from(&file[..file.len() - 1], INSECURE).unwrap_err();
    });
    let prime = keys.key.expose_prime().to_vec();
    hidden.scan(&name("refusing"), leaks, || {
        let even: zeroize::Zeroizing<Vec<u64>> = zeroize::Zeroizing::new(prime.iter().map(|limb| limb & !1).collect());
        PrivateKey::from_parts(parameters.clone(), keys.key.id(), &even, INSECURE).unwrap_err();
        keys.key.check(&ladder.rungs()[0].key).unwrap_err();
    });
    hidden.scan(&name("dropping"), leaks, || drop(keys));
    drop((prime, file));
}

/// Adds a switching key's corrections before the weights of chosen digits were subtracted.
fn weightless(hidden: &mut Hidden, secret: &PrivateKey, key: &SwitchingKey) {
    let (parameters, prime) = (secret.parameters(), integer(secret.expose_prime()));
    let set = RecryptionKey::set_size(parameters);
    let (limbs, digits) = (parameters.correction_limbs(), SwitchingKey::elements(parameters) / set);
    // A digit near the top, whose weight is long.
    let digit = digits - 5;
    let weight = Integer::from(&prime << (16 * digit as u32)) >> (16 * digits as u32);
    let mut chosen = 0;
    for index in (digit..digits * set).step_by(digits) {
        let correction = integer(&key.corrections()[index * limbs..][..limbs]);
        let element = chi(key.seed(), parameters.lengths().modulus, set + index) - &correction;
        let noise = centred(element, &prime);
        if noise.significant_bits() > parameters.lengths().key_noise {
            chosen += 1;
            let before: Integer = correction + &weight;
            // `p` was added where the correction was below the weight. Above the weight's limbs,
            // the number equals the correction.
            let low = |number: Integer| number.keep_bits(weight.significant_bits() / 64 * 64);
            hidden.number("a correction without its weight", &low(before.clone()));
            hidden.number("a correction without its weight", &low(before - &prime));
        }
    }
    assert_eq!(chosen, 15, "one of each block");
}

/// Searches for the coefficients and noise of an encryption in CNT. The key's owner can derive them
/// because there is only a single element, with much or very little noise.
fn drawn_by_encryption(engine: Engine, leaks: &mut Vec<String>) {
    let lengths = Lengths { elements: 1, secret: 1600, ..LENGTHS };
    for coefficient in [64, 200, 700] {
        let parameters =
            parameters(Scheme::Cnt, Lengths { key_noise: 500, coefficient, encryption_noise: 20, ..lengths });
        let KeyPair { private, public } = KeyPair::generate(&parameters, engine, INSECURE).unwrap();
        let (ciphertexts, freed) = freed_by(|| public.encrypt(&[true; 5]).unwrap());
        let element = noise(&private, &public.element(0));
        let mut hidden = Hidden::default();
        for ciphertext in &ciphertexts {
            // m + 2 r + 2 b r_1 with r far below r_1.
            let twice = noise(&private, ciphertext.value());
            let (b, _) = twice.div_rem_round(Integer::from(2 * &element));
            assert!(b.significant_bits() <= coefficient, "{coefficient} bits");
            hidden.number("a coefficient", &b);
        }
        hidden.search(&format!("{engine}: encrypting with coefficients of {coefficient} bits"), leaks, &freed);
    }
    let parameters =
        parameters(Scheme::Cnt, Lengths { key_noise: 1, coefficient: 1, encryption_noise: 500, ..lengths });
    let KeyPair { private, public } = KeyPair::generate(&parameters, engine, INSECURE).unwrap();
    let (ciphertexts, freed) = freed_by(|| public.encrypt(&[false; 5]).unwrap());
    let mut hidden = Hidden::default();
    for ciphertext in &ciphertexts {
        // 2 r, and 2 b r_1 of a few bits; r = u - 2^500.
        let drawn: Integer = (noise(&private, ciphertext.value()) >> 1) + (Integer::from(1) << 500);
        let upper = |number: Integer| number >> 64 << 64;
        hidden.number("noise", &upper(drawn.clone()));
        hidden.number("noise", &upper(drawn << 1));
    }
    hidden.search(&format!("{engine}: encrypting with noise"), leaks, &freed);
}

/// The residue of least absolute value modulo the secret.
fn noise(key: &PrivateKey, value: &[u64]) -> Integer {
    centred(integer(value), &integer(key.expose_prime()))
}

fn centred(number: Integer, prime: &Integer) -> Integer {
    let residue = number.rem_euc(prime);
    if Integer::from(2 * &residue) > *prime { residue - prime } else { residue }
}
