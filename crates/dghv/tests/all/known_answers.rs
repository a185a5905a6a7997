//! Compares the crate with an independent implementation over GMP.

use crate::reference::{Keys, chi, integer, limbs};
use hearith_arith::Engine;
use hearith_dghv::{
    Ciphertext, InsecureHistoricalParameters, Lengths, Parameters, PrivateKey, PublicKey, Scheme, Size,
};

fn sets() -> Vec<Parameters> {
    let lengths = Lengths {
        security: 8,
        key_noise: 6,
        secret: 300,
        modulus: 2000,
        elements: 7,
        coefficient: 8,
        encryption_noise: 20,
    };
    let odd = Lengths {
        security: 70,
        key_noise: 63,
        secret: 704,
        modulus: 6001,
        elements: 9,
        coefficient: 130,
        encryption_noise: 127,
    };
    let mut sets = Vec::new();
    for &scheme in Scheme::ALL {
        sets.extend([Parameters::custom(scheme, lengths).unwrap(), Parameters::historical(scheme, Size::Toy)]);
    }
    sets.extend([
        Parameters::custom(Scheme::Cnt, odd).unwrap(),
        Parameters::historical(Scheme::Cnt, Size::Toy).with_short_coefficients(),
    ]);
    sets
}

/// Converts the reference's keys to the crate's.
fn keys(reference: &Keys, engine: Engine) -> (PrivateKey, PublicKey) {
    let parameters = &reference.parameters;
    let modulus = limbs(&reference.modulus, parameters.limbs());
    let (corrections, insecure) = (reference.correction_limbs(), InsecureHistoricalParameters);
    let public =
        PublicKey::from_parts(parameters.clone(), engine, reference.seed, modulus, corrections, insecure).unwrap();
    let prime = limbs(&reference.p, parameters.lengths().secret.div_ceil(64) as usize);
    let private = PrivateKey::from_parts(parameters.clone(), public.id(), &prime, insecure).unwrap();
    (private, public)
}

fn engines() -> impl Iterator<Item = Engine> {
    Engine::ALL.iter().copied().filter(|engine| engine.is_available())
}

/// Compares everything that one key computes, on every engine.
fn agree(parameters: &Parameters) {
    let mut reference = Keys::generate(parameters, 1);
    let bits = [false, true, true, false, true];
    let theirs: Vec<_> = bits.iter().map(|&bit| reference.encrypt(bit)).collect();
    for engine in engines() {
        let (private, public) = keys(&reference, engine);
        private.check(&public).unwrap();
        for (index, element) in reference.elements.iter().enumerate() {
            assert_eq!(integer(&public.element(index)), *element, "element {index}");
        }
        // Decrypt the reference's ciphertexts and ours, and check the noise bounds.
        let value = |number| limbs(number, parameters.limbs());
        let taken: Vec<_> = theirs
            .iter()
            .map(|number| {
                Ciphertext::from_parts(public.id(), parameters, value(number), parameters.fresh_noise()).unwrap()
            })
            .collect();
        assert_eq!(private.decrypt(&taken).unwrap(), bits);
        let check = |ciphertexts: &[Ciphertext], bits: &[bool]| {
            for (ciphertext, &bit) in ciphertexts.iter().zip(bits) {
                let (noise, parity) = reference.decrypt(&integer(ciphertext.value()));
                assert_eq!(parity, bit);
                assert!(f64::from(noise.significant_bits()) <= ciphertext.noise() + 1.0);
                assert!(integer(ciphertext.value()) < reference.modulus);
            }
        };
        let ours = public.encrypt(&bits).unwrap();
        check(&ours, &bits);
        check(&private.encrypt(&public, &bits).unwrap(), &bits);
        // Sums, products and complements equal those of the numbers.
        let numbers: Vec<_> = ours.iter().map(|ciphertext| integer(ciphertext.value())).collect();
        for ((sum, a), b) in public.add(&ours, &taken).unwrap().iter().zip(&numbers).zip(&theirs) {
            assert_eq!(integer(sum.value()), reference.residue(a + b.clone()));
        }
        for (not, a) in public.not(&ours).unwrap().iter().zip(&numbers) {
            assert_eq!(integer(not.value()), reference.residue(1 - a.clone()));
        }
        if ours[0].levels_left(parameters) > 0 {
            let products = public.multiply(&ours, &taken).unwrap();
            for ((product, a), b) in products.iter().zip(&numbers).zip(&theirs) {
                assert_eq!(integer(product.value()), reference.residue(a * b.clone()));
            }
            check(&products, &bits);
        }
    }
}

#[test]
fn tiny_and_toy_agree_with_gmp() {
    sets().iter().for_each(agree);
}

#[test]
#[ignore = "takes half a minute where tests are optimised"]
fn small_agrees_with_gmp() {
    for &scheme in Scheme::ALL {
        agree(&Parameters::historical(scheme, Size::Small));
    }
}

/// Fixed values, so that elements and key IDs stay the same: one element and one ID.
#[test]
fn elements_and_ids_stay() {
    let seed = std::array::from_fn(|i| i as u8);
    let element = chi(&seed, 130, 3);
    assert_eq!(format!("{element:x}"), "745bcb12acb22446c805311c6145cb90");
    let reference = Keys::generate(&sets()[0], 5);
    let (_, public) = keys(&reference, Engine::best());
    assert_eq!(public.id().to_string(), "92663fae8621a5676ece2ea98d4fcd84");
}
