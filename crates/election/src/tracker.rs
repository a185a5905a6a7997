//! Trackers: what voters find their ballots by.

use crate::canonical::Hash;

/// Characters of a tracker, without the spaces between its groups.
pub const TRACKER_CHARACTERS: usize = 26;
const ALPHABET: &[u8; 32] = b"abcdefghijklmnopqrstuvwxyz234567";

/// A ballot's tracker: the first 16 bytes of its hash in lower-case base32 (RFC 4648) without padding, in groups of four.
pub fn tracker(ballot: &Hash) -> String {
    let mut bits = u128::from_be_bytes(std::array::from_fn(|byte| ballot.0[byte]));
    let mut text = String::with_capacity(TRACKER_CHARACTERS + TRACKER_CHARACTERS / 4);
    for at in 0..TRACKER_CHARACTERS {
        if at > 0 && at % 4 == 0 {
            text.push(' ');
        }
        text.push(ALPHABET[(bits >> 123) as usize] as char);
        bits <<= 5;
    }
    text
}

/// A tracker as people write it, with or without spaces or hyphens, in upper or lower case; `None` if it is none.
pub fn read_tracker(text: &str) -> Option<String> {
    let plain: Vec<u8> = text
        .bytes()
        .filter(|&character| character != b' ' && character != b'-')
        .map(|one| one.to_ascii_lowercase())
        .collect();
    if plain.len() != TRACKER_CHARACTERS || !plain.iter().all(|character| ALPHABET.contains(character)) {
        return None;
    }
    Some(plain.chunks(4).map(|group| String::from_utf8_lossy(group)).collect::<Vec<_>>().join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trackers_are_base32() {
        // Python: base64.b32encode(hashlib.sha256(b"").digest()[:16]).decode().lower().rstrip("=")
        let shown = tracker(&Hash::of(&[]));
        assert_eq!(shown, "4oym iquy 7qob jgx3 6tej s35z eq");
        assert_eq!(read_tracker("4OYMIQUY7QOBJGX36TEJS35ZEQ"), Some(shown.clone()));
        assert_eq!(read_tracker("4oym-iquy-7qob-jgx3-6tej-s35z-eq"), Some(shown));
        for bad in ["", "4oym", "4oym iquy 7qob jgx3 6tej s35z e1", "4oym iquy 7qob jgx3 6tej s35z eqa"] {
            assert_eq!(read_tracker(bad), None);
        }
    }
}
