//! Tests of recryption, and of circuits on ciphertexts that are recrypted where the noise requires
//! it.

use hearith_arith::Engine;
use hearith_dghv::circuit::{Circuit, library};
use hearith_dghv::{
    Ciphertext, ErrorKind, Evaluator, InsecureHistoricalParameters, KeyPair, Lengths, Parameters, RecryptionKey,
    Scheme, Size,
};
use rug::Integer;
use rug::integer::Order;
use rug::ops::RemRounding;
use std::time::Instant;

/// A set far too small for any use, with enough noise budget for recryption and a product.
fn tiny(scheme: Scheme) -> Parameters {
    let lengths = Lengths {
        security: 8,
        key_noise: 6,
        secret: 400,
        modulus: 2000,
        elements: 7,
        coefficient: 8,
        encryption_noise: 20,
    };
    Parameters::custom(scheme, lengths).unwrap()
}

struct Keys {
    pair: KeyPair,
    recryption: RecryptionKey,
}

fn keys(parameters: &Parameters) -> Keys {
    let pair = KeyPair::generate(parameters, Engine::best(), InsecureHistoricalParameters).unwrap();
    let recryption = RecryptionKey::generate(&pair.private, &pair.public, InsecureHistoricalParameters).unwrap();
    Keys { pair, recryption }
}

impl Keys {
    fn encrypt(&self, bits: &[bool]) -> Vec<Ciphertext> {
        self.pair.public.encrypt(bits).unwrap()
    }

    fn decrypt(&self, ciphertexts: &[Ciphertext]) -> Vec<bool> {
        self.pair.private.decrypt(ciphertexts).unwrap()
    }

    /// The results of a circuit on ciphertexts, row by row, and the number of recryptions.
    fn evaluate(&self, circuit: &Circuit, rows: &[Vec<bool>]) -> (Vec<Vec<bool>>, usize) {
        let rows: Vec<Vec<Ciphertext>> = rows.iter().map(|row| self.encrypt(row)).collect();
        let evaluator = Evaluator::new(&self.pair.public).with_recryption(&self.recryption);
        let recryptions = evaluator.recryptions(circuit, &rows).unwrap();
        let results = evaluator.evaluate(circuit, &rows).unwrap();
        (results.iter().map(|row| self.decrypt(row)).collect(), recryptions)
    }
}

fn bits(value: usize, count: usize) -> Vec<bool> {
    (0..count).map(|bit| value >> bit & 1 == 1).collect()
}

/// Recrypts and multiplies in turn. The bits stay the same, and so does the noise after each
/// recryption.
fn recryption_goes_on(keys: &Keys, fresh: &[bool], times: usize) {
    let (public, recryption) = (&keys.pair.public, &keys.recryption);
    let parameters = public.parameters();
    let mut ciphertexts = keys.encrypt(fresh);
    for _ in 0..times {
        ciphertexts = recryption.recrypt(public, &ciphertexts).unwrap();
        assert_eq!(keys.decrypt(&ciphertexts), fresh);
        assert!(ciphertexts.iter().all(|c| c.noise() <= recryption.noise()));
        assert!(ciphertexts[0].levels_left(parameters) > 0, "{ciphertexts:?}");
        ciphertexts = public.multiply(&ciphertexts, &ciphertexts).unwrap();
        assert_eq!(keys.decrypt(&ciphertexts), fresh);
        assert!(ciphertexts[0].noise() <= RecryptionKey::noise_limit(parameters));
    }
}

fn everything(parameters: &Parameters, rows: usize) {
    let keys = keys(parameters);
    recryption_goes_on(&keys, &[false, true, true], 2);
    let mut seed = 12_345_usize;
    let mut random = |bits: usize| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        seed >> 33 & ((1 << bits) - 1)
    };
    let sbox = Circuit::parse(library::AES_SBOX).unwrap();
    for circuit in [library::adder(8), library::less_than(8), library::majority(3), sbox] {
        let inputs: Vec<Vec<bool>> =
            (0..rows).map(|_| bits(random(circuit.input_bits()), circuit.input_bits())).collect();
        let start = Instant::now();
        let (results, recryptions) = keys.evaluate(&circuit, &inputs);
        println!("{circuit:?}: {rows} rows with {recryptions} recryptions in {:?}", start.elapsed());
        for (input, result) in inputs.iter().zip(results) {
            assert_eq!(result, circuit.evaluate_plain(input), "{circuit:?} of {input:?}");
        }
    }
}

#[test]
fn tiny_keys_evaluate_all_circuits() {
    for &scheme in Scheme::ALL {
        everything(&tiny(scheme), 20);
    }
}

#[test]
fn toy_keys_evaluate_all_circuits() {
    for &scheme in Scheme::ALL {
        everything(&Parameters::historical(scheme, Size::Toy), 2);
    }
}

#[test]
fn small_keys_recrypt() {
    for &scheme in Scheme::ALL {
        recryption_goes_on(&keys(&Parameters::historical(scheme, Size::Small)), &[false, true], 1);
    }
}

#[test]
#[ignore = "takes a minute on two cores"]
fn small_keys_evaluate_all_circuits() {
    for &scheme in Scheme::ALL {
        everything(&Parameters::historical(scheme, Size::Small), 1);
    }
}

#[test]
#[ignore = "takes half a minute where tests are optimised"]
fn medium_keys_recrypt() {
    for &scheme in Scheme::ALL {
        let keys = keys(&Parameters::historical(scheme, Size::Medium));
        let bits = keys.encrypt(&[true]);
        let start = Instant::now();
        keys.recryption.recrypt(&keys.pair.public, &bits).unwrap();
        println!("{scheme} medium: a recryption in {:?}", start.elapsed());
        recryption_goes_on(&keys, &[true], 1);
    }
}

/// Ciphertexts with actual noise up to the limit for recryption: of both signs, and random.
#[test]
fn noise_up_to_the_limit_is_recrypted() {
    let parameters = tiny(Scheme::Cnt);
    let keys = keys(&parameters);
    let (public, limit) = (&keys.pair.public, RecryptionKey::noise_limit(&parameters));
    let modulus = Integer::from_digits(public.modulus(), Order::Lsf);
    let bits: Vec<bool> = (0..200).map(|row| row % 3 == 0).collect();
    let mut state = rug::rand::RandState::new();
    let noisy = keys.encrypt(&bits).into_iter().enumerate().map(|(row, fresh)| {
        // Below 2^limit including the ciphertext's own noise.
        let most: Integer = (Integer::from(1) << limit as u32) - (Integer::from(1) << 40);
        let noise = if row < 4 { most } else { Integer::from(most.random_below_ref(&mut state)) };
        let even: Integer = (noise >> 1) << 1;
        let value = Integer::from_digits(fresh.value(), Order::Lsf);
        let value: Integer = if row % 2 == 0 { value + even } else { value - even };
        let mut limbs = value.rem_euc(&modulus).to_digits::<u64>(Order::Lsf);
        limbs.resize(parameters.limbs(), 0);
        Ciphertext::from_parts(public.id(), &parameters, limbs, limit).unwrap()
    });
    let recrypted = keys.recryption.recrypt(public, &noisy.collect::<Vec<_>>()).unwrap();
    assert_eq!(keys.decrypt(&recrypted), bits);
}

#[test]
fn every_set_has_room_for_a_product_after_recryption() {
    for &scheme in Scheme::ALL {
        for &size in Size::ALL {
            let parameters = Parameters::historical(scheme, size);
            let (noise, limit) = (RecryptionKey::noise_of(&parameters), RecryptionKey::noise_limit(&parameters));
            println!("{scheme} {size}: {noise:.1} of {limit} bits");
            assert!(2.0 * noise <= limit, "{scheme} {size}: {noise} bits");
        }
    }
}

#[test]
fn what_cannot_be_recrypted_is_refused() {
    let parameters = tiny(Scheme::Cnt);
    let (keys, other) = (keys(&parameters), keys(&parameters));
    let (public, limit) = (&keys.pair.public, RecryptionKey::noise_limit(&parameters));
    let good = keys.encrypt(&[true, false]);
    let value = good[0].value().to_vec();
    let noisy = Ciphertext::from_parts(public.id(), &parameters, value, limit + 1.0).unwrap();
    let error = keys.recryption.recrypt(public, &[&good[0], &noisy]).unwrap_err();
    assert_eq!((error.row(), error.kind()), (Some(1), &ErrorKind::NoiseExhausted { bits: 394, limit: 393 }));
    let error = other.recryption.recrypt(public, &good).unwrap_err();
    assert_eq!((error.row(), error.kind()), (Some(0), &ErrorKind::OtherKey));
    let error = other.recryption.recrypt(&other.pair.public, &good).unwrap_err();
    assert_eq!((error.row(), error.kind()), (Some(0), &ErrorKind::OtherKey));
    let error = RecryptionKey::generate(&other.pair.private, public, InsecureHistoricalParameters).unwrap_err();
    assert_eq!(*error.kind(), ErrorKind::KeysDiffer);
    let rows = [good.clone(), vec![good[0].clone()]];
    let error = Evaluator::new(public).evaluate(&library::less_than(1), &rows).unwrap_err();
    assert_eq!((error.row(), error.kind()), (Some(1), &ErrorKind::Inputs { found: 1, expected: 2 }));
}

#[test]
fn without_recryption_the_noise_ends() {
    let keys = keys(&tiny(Scheme::Cmnt));
    let inputs = keys.encrypt(&bits(0xffff, 16));
    let error = Evaluator::new(&keys.pair.public).evaluate(&library::adder(8), &[inputs]).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::NoiseExhausted { .. }) && error.row().is_none(), "{error}");
}

#[test]
fn parts_make_the_same_key() {
    let keys = keys(&tiny(Scheme::Cnt));
    let (public, key) = (&keys.pair.public, &keys.recryption);
    let parts = |first: &[u64], corrections: &[u64]| {
        RecryptionKey::from_parts(
            public,
            *key.seed(),
            first.to_vec(),
            corrections.to_vec(),
            InsecureHistoricalParameters,
        )
    };
    let again = parts(key.first(), key.corrections()).unwrap();
    let bits = keys.encrypt(&[true, false]);
    assert_eq!(again.recrypt(public, &bits).unwrap(), key.recrypt(public, &bits).unwrap());
    assert!(matches!(parts(&key.first()[1..], key.corrections()).unwrap_err().kind(), ErrorKind::MalformedKey { .. }));
    assert!(matches!(parts(key.first(), &key.corrections()[1..]).unwrap_err().kind(), ErrorKind::MalformedKey { .. }));
    let long = vec![u64::MAX; key.corrections().len()];
    assert!(matches!(parts(key.first(), &long).unwrap_err().kind(), ErrorKind::MalformedKey { .. }));
}

#[test]
fn progress_ends_with_everything_done() {
    let keys = keys(&tiny(Scheme::Cnt));
    let told = std::sync::Mutex::new(Vec::new());
    let tell = |done, all| told.lock().unwrap().push((done, all));
    let evaluator = Evaluator::new(&keys.pair.public).with_recryption(&keys.recryption).with_progress(&tell);
    let rows = [keys.encrypt(&bits(0x1234, 16)), keys.encrypt(&bits(0xffff, 16))];
    let recryptions = evaluator.recryptions(&library::adder(8), &rows).unwrap();
    evaluator.evaluate(&library::adder(8), &rows).unwrap();
    let told = told.into_inner().unwrap();
    let all = 2 * 8 + recryptions as u64;
    assert!(recryptions > 0 && told.iter().all(|step| step.1 == all) && told.is_sorted());
    assert_eq!(told.last(), Some(&(all, all)));
}
