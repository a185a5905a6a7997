//! The state that a trustee stores between two exchanges, in addition to the processed files.

use super::super::stream::{HASH_BYTES, Hash, Seed, random_seed};
use crate::error::Error;
use base64ct::{Base64UrlUnpadded, Encoding};
use serde::{Deserialize, Serialize};
use std::fmt;
use zeroize::Zeroizing;

/// The seed of a trustee's run, and a hash of its settings. The seeds of `w` trustees and the
/// messages they received determine the key, so a seed is stored under a passphrase and only until
/// the run ends. It is wiped when dropped.
pub struct Saved {
    pub(super) seed: Seed,
    pub(super) settings: Hash,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Text<'a> {
    kty: &'a str,
    seed: &'a str,
    settings: &'a str,
}

/// The key type in the text.
const TYPE: &str = "hearith-offline-1";

impl Saved {
    /// Generates a seed for a run with these [`settings`](super::Correspondent::settings).
    ///
    /// # Errors
    /// If the random generator fails.
    pub fn new(settings: [u8; 32]) -> Result<Self, Error> {
        Ok(Saved { seed: random_seed()?, settings })
    }

    /// Uses a given seed, for test vectors.
    pub fn with_seed(settings: [u8; 32], seed: &[u8; 32]) -> Self {
        Saved { seed: Seed::new(*seed), settings }
    }

    /// Whether the seed belongs to a run with these settings.
    pub fn is_of(&self, settings: [u8; 32]) -> bool {
        self.settings == settings
    }

    /// A JSON object with the seed, to be encrypted like a private key.
    pub fn to_text(&self) -> Zeroizing<String> {
        let seed = Zeroizing::new(Base64UrlUnpadded::encode_string(&self.seed[..]));
        let settings = Base64UrlUnpadded::encode_string(&self.settings);
        // A single allocation: a string that grows leaves copies of the secret in memory.
        let mut text = Zeroizing::new(Vec::with_capacity(256));
        // A struct of strings always has a JSON form.
        let _ = serde_json::to_writer(&mut *text, &Text { kty: TYPE, seed: &seed, settings: &settings });
        Zeroizing::new(String::from_utf8(std::mem::take(&mut *text)).unwrap_or_default())
    }

    /// Parses the output of [`Saved::to_text`]. `None` for any other text.
    pub fn from_text(text: &str) -> Option<Self> {
        let Text { seed, settings, .. } = serde_json::from_str(text).ok().filter(|text: &Text<'_>| text.kty == TYPE)?;
        let bytes = |text: &str| -> Option<Seed> {
            let mut bytes = Seed::default();
            (Base64UrlUnpadded::decode(text, &mut bytes[..]).ok()?.len() == HASH_BYTES).then_some(bytes)
        };
        Some(Saved { seed: bytes(seed)?, settings: *bytes(settings)? })
    }
}

impl fmt::Debug for Saved {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Saved")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        let saved = Saved::new([7; 32]).unwrap();
        let read = Saved::from_text(&saved.to_text()).unwrap();
        assert_eq!((&read.seed, read.settings), (&saved.seed, [7; 32]));
        assert_ne!(saved.seed, Saved::new([7; 32]).unwrap().seed);
        assert_eq!(format!("{saved:?}"), "Saved");
    }

    #[test]
    fn other_texts_are_none() {
        let text = Saved::with_seed([7; 32], &[1; 32]).to_text();
        for (from, to) in
            [("-1", "-2"), ("AQEB", "AQE"), ("AQEB", "AQE*"), ("seed", "seeds"), ("{", "{\"a\":1,"), ("}", "")]
        {
            let other = text.replacen(from, to, 1);
            assert!(other != **text && Saved::from_text(&other).is_none(), "{other}");
        }
    }
}
