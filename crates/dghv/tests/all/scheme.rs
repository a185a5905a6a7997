//! Tests of encryption, decryption and computing with ciphertexts, on the smallest published sets.

use hearith_arith::Engine;
use hearith_dghv::{Ciphertext, ErrorKind, InsecureHistoricalParameters, KeyPair, Lengths, Parameters, Scheme, Size};

/// A set far too small for any use, with very fast key generation.
fn tiny(scheme: Scheme) -> Parameters {
    let lengths = Lengths {
        security: 8,
        key_noise: 6,
        secret: 300,
        modulus: 2000,
        elements: 7,
        coefficient: 8,
        encryption_noise: 20,
    };
    Parameters::custom(scheme, lengths).unwrap()
}

fn keys(parameters: &Parameters) -> KeyPair {
    KeyPair::generate(parameters, Engine::best(), InsecureHistoricalParameters).unwrap()
}

fn everything_computes(parameters: &Parameters) {
    let KeyPair { private, public } = keys(parameters);
    private.check(&public).unwrap();
    let (a, b) = ([false, false, true, true], [false, true, false, true]);
    for encrypt in [
        |keys: (&_, &_), bits: &[bool]| encrypted(keys, bits),
        |(private, public): (&hearith_dghv::PrivateKey, &_), bits: &[bool]| private.encrypt(public, bits).unwrap(),
    ] {
        let (x, y) = (encrypt((&private, &public), &a), encrypt((&private, &public), &b));
        assert_eq!(private.decrypt(&x).unwrap(), a);
        assert_eq!(private.decrypt(&y).unwrap(), b);
        assert_eq!(private.decrypt(&public.add(&x, &y).unwrap()).unwrap(), [false, true, true, false]);
        assert_eq!(private.decrypt(&public.not(&x).unwrap()).unwrap(), [true, true, false, false]);
        if x[0].levels_left(parameters) > 0 {
            assert_eq!(private.decrypt(&public.multiply(&x, &y).unwrap()).unwrap(), [false, false, false, true]);
        }
    }
}

fn encrypted((_, public): (&hearith_dghv::PrivateKey, &hearith_dghv::PublicKey), bits: &[bool]) -> Vec<Ciphertext> {
    public.encrypt(bits).unwrap()
}

#[test]
fn toys_compute() {
    for &scheme in Scheme::ALL {
        everything_computes(&tiny(scheme));
        everything_computes(&Parameters::historical(scheme, Size::Toy));
    }
    everything_computes(&Parameters::historical(Scheme::Cnt, Size::Toy).with_short_coefficients());
}

#[test]
fn small_ones_compute() {
    Scheme::ALL.iter().for_each(|&scheme| everything_computes(&Parameters::historical(scheme, Size::Small)));
}

#[test]
#[ignore = "takes a minute where tests are optimised"]
fn medium_ones_compute() {
    Scheme::ALL.iter().for_each(|&scheme| everything_computes(&Parameters::historical(scheme, Size::Medium)));
}

#[test]
#[ignore = "takes minutes, most of them for the keys"]
fn large_ones_compute() {
    Scheme::ALL.iter().for_each(|&scheme| everything_computes(&Parameters::historical(scheme, Size::Large)));
}

#[test]
fn exhausted_noise_is_refused() {
    let parameters = Parameters::historical(Scheme::Cmnt, Size::Toy);
    let KeyPair { private, public } = keys(&parameters);
    let mut power = public.encrypt(&[true]).unwrap();
    for level in (0..power[0].levels_left(&parameters)).rev() {
        power = public.multiply(&power, &power).unwrap();
        assert_eq!(power[0].levels_left(&parameters), level);
        assert_eq!(private.decrypt(&power).unwrap(), [true]);
    }
    let error = public.multiply(&power, &power).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::NoiseExhausted { limit: 1086, .. }));
    assert_eq!(error.row(), Some(0));
}

#[test]
fn other_keys_are_refused() {
    let parameters = tiny(Scheme::Cnt);
    let (one, other) = (keys(&parameters), keys(&parameters));
    let bits = one.public.encrypt(&[true, false]).unwrap();
    assert_eq!(*other.private.decrypt(&bits).unwrap_err().kind(), ErrorKind::OtherKey);
    assert_eq!(*other.public.add(&bits, &bits).unwrap_err().kind(), ErrorKind::OtherKey);
    assert_eq!(*other.private.check(&one.public).unwrap_err().kind(), ErrorKind::KeysDiffer);
    let unequal = one.public.add(&bits, &bits[1..]).unwrap_err();
    assert_eq!(*unequal.kind(), ErrorKind::UnequalLengths { left: 2, right: 1 });
}

#[test]
fn of_several_wrong_rows_the_first_is_named() {
    let parameters = tiny(Scheme::Cmnt);
    let (mine, other) = (keys(&parameters), keys(&parameters));
    let bits = [true; 64];
    let strange = encrypted((&other.private, &other.public), &bits);
    for _ in 0..50 {
        assert_eq!(mine.private.decrypt(&strange).unwrap_err().row(), Some(0));
        assert_eq!(mine.public.add(&strange, &strange).unwrap_err().row(), Some(0));
    }
}
