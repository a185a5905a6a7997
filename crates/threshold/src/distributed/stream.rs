//! Random numbers derived from a seed, so anyone with the revealed seed can recompute them.

use hearith_arith::natural::{Secret, clear_bits_from, from_be};
use sha2::{Digest, Sha256};
use zeroize::Zeroizing;

/// Length of a hash, a seed or a nonce, in bytes.
pub(crate) const HASH_BYTES: usize = 32;
/// A public hash.
pub(crate) type Hash = [u8; HASH_BYTES];
/// The seed of secrets. It is wiped when dropped.
pub(crate) type Seed = Zeroizing<Hash>;

/// SHA-256 of parts, each preceded by its length in eight big-endian bytes. The first part is
/// `hearith-distributed 1 ` and the label.
pub(crate) fn derive(label: &str, parts: &[&[u8]]) -> Hash {
    let mut hash = Sha256::new();
    hash.update((PREFIX.len() as u64 + label.len() as u64).to_be_bytes());
    hash.update(PREFIX);
    hash.update(label);
    for part in parts {
        hash.update((part.len() as u64).to_be_bytes());
        hash.update(part);
    }
    hash.finalize().into()
}

const PREFIX: &str = "hearith-distributed 1 ";

/// As [`derive()`], with a secret result.
pub(crate) fn derive_seed(label: &str, parts: &[&[u8]]) -> Seed {
    Zeroizing::new(derive(label, parts))
}

/// A new seed from the operating system's random generator.
pub(crate) fn random_seed() -> Result<Seed, getrandom::Error> {
    let mut seed = Seed::default();
    getrandom::fill(&mut *seed)?;
    Ok(seed)
}

/// The byte stream `SHA-256(seed, 0) SHA-256(seed, 1) ...` with counters of eight big-endian bytes.
pub(crate) struct Stream {
    seed: Seed,
    counter: u64,
    block: Seed,
    used: usize,
}

impl Stream {
    /// The stream of a seed.
    pub(crate) fn new(seed: Seed) -> Self {
        Stream { seed, counter: 0, block: Seed::default(), used: HASH_BYTES }
    }

    fn fill(&mut self, bytes: &mut [u8]) {
        let mut rest = bytes;
        while !rest.is_empty() {
            if self.used == HASH_BYTES {
                let mut hash = Sha256::new();
                hash.update(*self.seed);
                hash.update(self.counter.to_be_bytes());
                self.block.copy_from_slice(&Zeroizing::new(<Hash>::from(hash.finalize()))[..]);
                (self.counter, self.used) = (self.counter + 1, 0);
            }
            let count = rest.len().min(HASH_BYTES - self.used);
            let (now, later) = rest.split_at_mut(count);
            now.copy_from_slice(&self.block[self.used..][..count]);
            self.used += count;
            rest = later;
        }
    }

    /// The next eight bytes, as a number.
    pub(crate) fn word(&mut self) -> u64 {
        let mut bytes = Zeroizing::new([0; 8]);
        self.fill(&mut *bytes);
        u64::from_be_bytes(*bytes)
    }

    /// A number below `bound`, uniform up to a bias of `bound / 2^64`: the high half of the next
    /// word times the bound. Unlike a remainder, this is constant time.
    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        ((u128::from(self.word()) * u128::from(bound)) >> 64) as u64
    }

    /// A number below `2^bits` in `limbs` limbs: the next bytes, big-endian, with excess bits
    /// cleared.
    pub(crate) fn number(&mut self, bits: u32, limbs: usize) -> Secret {
        let mut bytes = Zeroizing::new(vec![0; bits.div_ceil(8) as usize]);
        self.fill(&mut bytes);
        // There are enough limbs for the bits.
        let mut number = from_be(&bytes, limbs).unwrap_or_else(|| Zeroizing::new(vec![0; limbs]));
        clear_bits_from(&mut number, bits);
        number
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_distinguished() {
        assert_ne!(derive("a", &[b"xy", b"z"]), derive("a", &[b"x", b"yz"]));
        assert_ne!(derive("a", &[b"x"]), derive("ax", &[]));
    }

    /// Python: hashlib.sha256(b"".join(len(x).to_bytes(8, "big") + x for x in
    /// [b"hearith-distributed 1 a", b"xy"])).hexdigest()[:16], then
    /// hashlib.sha256(bytes(32) + bytes(8)).digest() and that of counter 1.
    #[test]
    fn hashes_and_streams_are_those_of_the_page() {
        let hex = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
        assert_eq!(hex(&derive("a", &[b"xy"]))[..16], *"5691c2dc3ac60fc8");
        let mut stream = Stream::new(Seed::default());
        let mut bytes = [0; 40];
        stream.fill(&mut bytes[..3]);
        stream.fill(&mut bytes[3..]);
        assert_eq!(hex(&bytes), "2c34ce1df23b838c5abf2a7f6437cca3d3067ed509ff25f11df6b11b582b51eb08e00266fff0aacc");
        let mut stream = Stream::new(Seed::default());
        let number = stream.number(13, 1);
        assert_eq!(number[0], u64::from(u16::from_be_bytes([bytes[0], bytes[1]])) & 0x1fff);
    }
}
