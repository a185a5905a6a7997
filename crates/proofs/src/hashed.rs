//! Numbers from the hash of a key, as challenges that the key's owner could not choose.

use crate::transcript::Transcript;
use hearith_arith::Batch;
use hearith_paillier::PublicKey;

/// So many numbers modulo `n` for this kind of proof: blocks of the hash of `n`, counters and
/// nothing else, 128 bits more than `n` has, modulo `n`. Nobody chooses them, but by choosing `n`.
pub fn hashed(proof: &str, key: &PublicKey, count: usize) -> Batch {
    let n = key.modulus_be();
    let bytes = key.plaintext_bytes() + 16;
    let number = |index: usize| {
        let block = |block: usize| {
            let counters = [(index as u32).to_be_bytes(), (block as u32).to_be_bytes()].concat();
            Transcript::new(proof).with(&n).with(&counters).challenge()
        };
        (0..).flat_map(block).take(bytes).collect::<Vec<u8>>()
    };
    let numbers: Vec<u8> = (0..count).flat_map(number).collect();
    key.root().reduce(&Batch::from_be_bytes(&numbers, bytes, bytes.div_ceil(8)).public())
}
