//! The hash that replaces a verifier's challenge.

use hearith_arith::Batch;
use rayon::prelude::*;
use sha2::{Digest, Sha256};

/// Bytes of a challenge.
pub const CHALLENGE_BYTES: usize = 32;
/// Bits of a challenge.
pub(crate) const CHALLENGE_BITS: u32 = 8 * CHALLENGE_BYTES as u32;
/// Limbs of a challenge.
pub const CHALLENGE_LIMBS: usize = CHALLENGE_BYTES / 8;
/// Maximum rows per task of the thread pool.
const ROWS_PER_TASK: usize = 64;

/// The purpose of each row's proof: a shared name, such as that of an election, and a name for each
/// row, such as that of a ballot. A proof only holds in its own context.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Contexts {
    shared: Vec<u8>,
    rows: Vec<Vec<u8>>,
}

impl Contexts {
    /// Contexts with a shared name and a name for each row.
    pub fn new(shared: &[u8], rows: impl IntoIterator<Item: AsRef<[u8]>>) -> Self {
        Contexts { shared: shared.to_vec(), rows: rows.into_iter().map(|row| row.as_ref().to_vec()).collect() }
    }

    /// The number of rows.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// The challenge of each row for this kind of proof: the hash of its contexts and of the parts
    /// that `rest` adds. Other crates use it for their proofs as well.
    pub fn challenges(&self, proof: &str, rest: impl Fn(Transcript, usize) -> Transcript + Sync) -> Batch {
        let challenge = |row: usize| {
            let transcript = Transcript::new(proof).with(&self.shared).with(&self.rows[row]);
            limbs(&rest(transcript, row).challenge())
        };
        let rows: Vec<_> = (0..self.len()).into_par_iter().with_max_len(ROWS_PER_TASK).map(challenge).collect();
        Batch::from_rows(CHALLENGE_LIMBS, rows.iter().map(|row| &row[..])).public()
    }
}

/// SHA-256 over parts, each preceded by its length in eight big-endian bytes, so different lists of
/// parts never have the same encoding. The first part names the protocol, its version and the kind
/// of proof.
#[derive(Clone, Debug)]
pub struct Transcript(Sha256);

impl Transcript {
    /// An empty transcript of this kind of proof.
    pub fn new(proof: &str) -> Self {
        Transcript(Sha256::new()).with(format!("hearith-proofs 1 {proof}").as_bytes())
    }

    /// Appends a part.
    pub fn with(mut self, part: &[u8]) -> Self {
        self.0.update((part.len() as u64).to_be_bytes());
        self.0.update(part);
        self
    }

    /// The challenge, big-endian.
    pub fn challenge(self) -> [u8; CHALLENGE_BYTES] {
        self.0.finalize().into()
    }
}

/// A challenge as limbs, least significant first.
pub(crate) fn limbs(challenge: &[u8; CHALLENGE_BYTES]) -> [u64; CHALLENGE_LIMBS] {
    let (words, _) = challenge.as_chunks::<8>();
    std::array::from_fn(|limb| u64::from_be_bytes(words[CHALLENGE_LIMBS - 1 - limb]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_told_apart() {
        let one = Transcript::new("a").with(b"xy").with(b"z").challenge();
        for other in [
            Transcript::new("a").with(b"x").with(b"yz"),
            Transcript::new("a").with(b"xyz"),
            Transcript::new("b").with(b"xy").with(b"z"),
            Transcript::new("a").with(b"xy").with(b"z").with(b""),
        ] {
            assert_ne!(one, other.challenge());
        }
        assert_eq!(one, Transcript::new("a").with(b"xy").with(b"z").challenge());
    }

    #[test]
    fn the_hash_is_the_one_that_the_page_describes() {
        // Python: hashlib.sha256(b"".join(len(x).to_bytes(8, "big") + x for x in [b"hearith-proofs
        // 1 a", b"xy"])).hexdigest()
        let found: String =
            Transcript::new("a").with(b"xy").challenge().iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(found, "3b17129cf0cc52821c993bbbe505527685d1753088da0f0883281dfb00f9080c");
    }

    #[test]
    fn limbs_are_least_significant_first() {
        let mut challenge = [0; CHALLENGE_BYTES];
        challenge[CHALLENGE_BYTES - 1] = 7;
        challenge[0] = 1;
        assert_eq!(limbs(&challenge), [7, 0, 0, 1 << 56]);
    }
}
