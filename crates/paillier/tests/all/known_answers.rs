//! Answers computed with GMP by the textbook formulas and confirmed by python-paillier
//! (`vectors/generate.py`).

use crate::common::{ciphertexts, engines, integers, modulus, plaintexts, residues, vectors};
use hearith_paillier::Variant;
use hearith_paillier::encoding::Signed;
use rug::{Integer, integer::Order};

#[test]
fn moduli_are_the_products() {
    for vector in vectors().keys {
        let key = vector.key(engines().next().unwrap());
        assert_eq!((key.public().bits(), modulus(key.public())), (vector.bits, vector.n.0), "{}", vector.kind);
    }
}

#[test]
fn known_ciphertexts_decrypt() {
    for engine in engines() {
        for vector in vectors().keys {
            let key = vector.key(engine);
            let encrypted = vector.encryptions.iter().map(|one| (one.c.0.clone(), one.m.0.clone()));
            let others = vector.decryptions.iter().map(|one| (one.c.0.clone(), one.m.0.clone()));
            let (c, m): (Vec<Integer>, Vec<Integer>) = encrypted.chain(others).unzip();
            let c = ciphertexts(key.public(), &c);
            let found = residues(&key.decrypt(&c).unwrap());
            assert_eq!(found, m, "{} {} bits, {engine}", vector.kind, vector.bits);
            // A batch of one uses different code paths for the lanes.
            let one = key.decrypt(&c.range(2..3).unwrap()).unwrap();
            assert_eq!(residues(&one), m[2..3]);
            assert_eq!(key.public().check_coprime(&c), Ok(()));
        }
    }
}

#[test]
fn known_sums_and_multiples() {
    for engine in engines() {
        for vector in vectors().keys {
            let (key, known) = (vector.key(engine), vector.arithmetic);
            let public = key.public();
            let [a, b] = [&known.a, &known.b].map(|number| ciphertexts(public, std::slice::from_ref(&number.0)));
            let m = plaintexts(public, std::slice::from_ref(&known.m.0));
            let k = known.k.0.to_i128().unwrap();
            let wide = Signed::new(true, known.k.0.to_digits(Order::Lsf));
            let both = hearith_paillier::Ciphertexts::concat(&a, &[&b]).unwrap();
            let results = [
                ("add", public.add(&a, &b), known.add),
                ("neg", public.negate(&a), known.neg),
                ("sub", public.subtract(&a, &b), known.sub),
                ("scale", public.multiply_deterministic(&a, &[k], 128), known.scale),
                ("scale by a negative", public.multiply_deterministic(&a, &[-k], 101), known.scale_neg),
                ("add a plaintext", public.add_plain(&a, &m), known.add_plain),
                ("dot", public.dot_deterministic(&both, &[k, -3], 2, 128), known.dot),
            ];
            for (name, found, expected) in results {
                assert_eq!(integers(&found.unwrap()), [expected.0], "{name}: {} {}", vector.kind, vector.bits);
            }
            let scaled = public.multiply_deterministic(&a, &[-k], 128);
            assert_eq!(public.multiply_wide_deterministic(&a, &[wide], 100), scaled);
        }
    }
}

#[test]
fn known_djn_ciphertexts_decrypt() {
    for engine in engines() {
        for vector in vectors().djn {
            let key = vector.key(engine);
            assert_eq!((key.public().bits(), key.public().variant()), (vector.bits, Variant::Djn));
            assert_eq!(modulus(key.public()), vector.n.0);
            let (c, m): (Vec<_>, Vec<_>) = vector.encryptions.into_iter().map(|one| (one.c.0, one.m.0)).unzip();
            assert_eq!(residues(&key.decrypt(&ciphertexts(key.public(), &c)).unwrap()), m);
        }
    }
}

/// The largest keys, with ciphertexts decrypted in GMP by Paillier's formula modulo `p^2`.
#[test]
fn the_largest_keys_work() {
    for engine in engines() {
        for vector in vectors().large {
            let key = vector.key(engine);
            let (public, p) = (key.public(), &vector.p.0);
            assert_eq!(public.bits(), vector.bits);
            let m = plaintexts(public, &[modulus(public) - 1u32, Integer::from(12345)]);
            let c = key.encrypt(&m).unwrap();
            let c = public.add(&c, &public.encrypt(&m).unwrap()).unwrap();
            let at_p = integers(&c)[1].clone().pow_mod(&Integer::from(p - 1), &p.clone().square()).unwrap();
            let inverse = (-vector.q.0.clone()).invert(p).unwrap();
            assert_eq!((at_p - 1u32) / p * inverse % p, 24690);
            let expected = [modulus(public) - 2u32, Integer::from(24690)];
            assert_eq!(residues(&key.decrypt(&c).unwrap()), expected, "{} bits, {engine}", vector.bits);
        }
    }
}
