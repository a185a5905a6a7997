//! Numbers derived from a hash of a key, used as challenges that the key's owner cannot choose.

use crate::transcript::Transcript;
use hearith_arith::Batch;
use hearith_paillier::PublicKey;

/// Derives `count` numbers modulo `n` for this kind of proof. Each consists of blocks of a hash of
/// `n` and counters only, with 128 bits more than `n`, reduced modulo `n`. They can only be
/// influenced by the choice of `n`.
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
