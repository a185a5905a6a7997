//! Table I of the MESA paper \[HDSST25\]: what post-processing costs, in operations on twice the bits of the key.

mod common;

use common::some_keys;
use hearith_paillier::Decryption;
use hearith_paillier::count::{Counts, take};

#[test]
fn merged_constants_halve_the_multiplications_and_save_judgements() {
    for key in some_keys() {
        let c = key.public().zeros(8);
        let cost = |way| {
            // The constants, which are made when a way is first used, are not post-processing.
            key.decrypt_with(way, &c).unwrap();
            take();
            key.decrypt_with(way, &c).unwrap();
            let Counts { multiplications, judgements } = take();
            (multiplications / 8.0, judgements / 8.0)
        };
        assert_eq!(cost(Decryption::Crt), (2.0, 2.5));
        assert_eq!(cost(Decryption::Ecrt), (1.0, 1.0));
    }
}
