//! Tests that the attack of `examples/gcd_attack` recovers deliberately small keys and the
//! published toy key.

#[path = "../../examples/gcd_attack/attack.rs"]
mod gcd_attack;

use hearith_arith::Engine;
use hearith_dghv::{InsecureHistoricalParameters, KeyPair, Lengths, Parameters, Scheme, Size};
use rug::Integer;

fn falls(parameters: &Parameters) {
    let KeyPair { private, public } =
        KeyPair::generate(parameters, Engine::best(), InsecureHistoricalParameters).unwrap();
    let found = gcd_attack::find_key(&public).unwrap();
    assert_eq!(found.expose_prime(), private.expose_prime());
    let bits = [true, false, false, true];
    assert_eq!(found.decrypt(&public.encrypt(&bits).unwrap()).unwrap(), bits);
}

#[test]
fn small_keys_fall() {
    for (scheme, key_noise) in [(Scheme::Cmnt, 1), (Scheme::Cmnt, 10), (Scheme::Cnt, 11)] {
        let lengths = Lengths {
            security: 8,
            key_noise,
            secret: 400,
            modulus: 5000,
            elements: 7,
            coefficient: 8,
            encryption_noise: 20,
        };
        falls(&Parameters::custom(scheme, lengths).unwrap());
    }
}

#[test]
fn the_toy_falls() {
    falls(&Parameters::historical(Scheme::Cmnt, Size::Toy));
}

/// Every noise of the interval including both ends, and one outside.
#[test]
fn every_noise_is_searched() {
    let prime = Integer::from(1_000_003);
    let modulus = Integer::from(&prime * 999_983_u32) * 999_979_u32;
    let multiple = Integer::from(&prime * 123_456_789_u32);
    for bits in [1, 4, 5] {
        let bound = 1_i64 << bits;
        for noise in -bound..=bound {
            let divisor = gcd_attack::common_divisor(&modulus, &Integer::from(&multiple + noise), bits);
            assert_eq!(divisor, Some(prime.clone()), "{noise}, {bits} bits");
        }
        assert_eq!(gcd_attack::common_divisor(&modulus, &Integer::from(&multiple + (2 * bound + 40)), bits), None);
    }
}
