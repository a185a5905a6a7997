//! Trackers, by which voters find their ballots.

use crate::canonical::Hash;
use crate::code::{self, CodeError, CodeKind};

/// A ballot's tracker in the form of the board: the first 16 bytes of the ballot's hash in
/// lower-case base32 (RFC 4648) without padding.
pub fn tracker(ballot: &Hash) -> String {
    code::plain(&bits(ballot))
}

/// A ballot's tracker in the form shown to people: with two check characters, in groups of four.
pub fn shown_tracker(ballot: &Hash) -> String {
    code::shown(&bits(ballot), CodeKind::Tracker, " ").to_string()
}

fn bits(ballot: &Hash) -> [u8; 16] {
    std::array::from_fn(|byte| ballot.0[byte])
}

/// Reads a tracker as people write it, with or without check characters, spaces or hyphens, in
/// upper or lower case. Returns its 26 characters.
///
/// # Errors
/// The fault of the text.
pub fn read_tracker(text: &str) -> Result<String, CodeError> {
    code::read(text, CodeKind::Tracker)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trackers_are_base32() {
        // Python: base64.b32encode(hashlib.sha256(b"").digest()[:16]).decode().lower().rstrip("=")
        let (plain, hash) = ("4oymiquy7qobjgx36tejs35zeq", Hash::of(&[]));
        assert_eq!(tracker(&hash), plain);
        let shown = shown_tracker(&hash);
        assert!(shown.starts_with("4oym iquy 7qob jgx3 6tej s35z eq"), "{shown}");
        for typed in [plain, "4OYM-IQUY-7QOB-JGX3-6TEJ-S35Z-EQ", &shown, &shown.to_uppercase()] {
            assert_eq!(read_tracker(typed).as_deref(), Ok(plain));
        }
        for bad in ["", "4oym", "4oym iquy 7qob jgx3 6tej s35z e9", "4oym iquy 7qob jgx3 6tej s35z eqa"] {
            assert!(read_tracker(bad).is_err());
        }
    }
}
