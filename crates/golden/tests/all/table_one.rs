//! Tests Table I of the MESA paper \[HDSST25\]: the cost of post-processing in operations on twice
//! as many bits as the key has.

use hearith_golden::count::{Counts, take};
use hearith_golden::{Decryption, PaperKey};
use hearith_paillier::{Engine, KeyPolicy, PrivateKey, Variant};
use hearith_testing::has;

#[test]
fn merged_constants_halve_the_multiplications_and_save_comparisons() {
    for &engine in Engine::ALL.iter().filter(|engine| has(engine.name(), engine.is_available())) {
        for variant in [Variant::Standard, Variant::Djn] {
            let private = PrivateKey::generate(512, variant, KeyPolicy::AllowInsecure, engine).unwrap();
            let (key, c) = (PaperKey::new(&private).unwrap(), private.public().zeros(8));
            let cost = |way| {
                take();
                key.decrypt(way, &c).unwrap();
                let Counts { multiplications, comparisons } = take();
                (multiplications / 8.0, comparisons / 8.0)
            };
            assert_eq!(cost(Decryption::Crt), (2.0, 2.5));
            assert_eq!(cost(Decryption::Ecrt), (1.0, 1.0));
        }
    }
}
