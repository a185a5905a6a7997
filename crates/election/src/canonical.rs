//! Canonical JSON: RFC 8785 restricted to objects, arrays, strings, integers below `2^53`, `true`,
//! `false` and `null`.
//!
//! Types declare their members in alphabetical order, so serialising a value produces the canonical
//! form. Reading serialises the parsed value again and rejects a text that differs in any byte.
//! This rejects white space, reordered, duplicate or unknown members, and any other spelling of a
//! number, string or base64.

use crate::error::ErrorKind;
use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use serde::de::{DeserializeOwned, Error as _};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use sha2::{Digest, Sha256};
use std::borrow::Cow;
use std::fmt;
use std::io::{self, Write};
use std::str::FromStr;

/// The largest number in a text. Every JSON reader represents the numbers up to it exactly.
const MAX_NUMBER: u64 = (1 << 53) - 1;

/// Maximum length of a line of the board, in bytes.
pub const MAX_LINE: usize = 8 << 20;

/// Serialises a value in canonical form.
pub fn to_text<T: Serialize>(value: &T) -> String {
    // Structs of numbers, strings and vectors of these always have a JSON form.
    serde_json::to_string(value).unwrap_or_default()
}

/// Parses the canonical form of a value. `what` names the expected value in errors.
///
/// # Errors
/// [`TooLong`](ErrorKind::TooLong), [`Json`](ErrorKind::Json), or
/// [`NotCanonical`](ErrorKind::NotCanonical).
pub fn from_text<T: Serialize + DeserializeOwned>(what: &'static str, text: &str) -> Result<T, ErrorKind> {
    let value = parse(what, text)?;
    if is_text_of(&value, text) && numbers_fit(text) { Ok(value) } else { Err(ErrorKind::NotCanonical { what }) }
}

/// Whether no number of a canonical text exceeds `2^53 - 1`. Readers that store numbers in floating
/// point would misread larger ones.
fn numbers_fit(text: &str) -> bool {
    let (mut number, mut in_text, mut escaped) = (0_u64, false, false);
    text.bytes().all(|byte| {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = in_text,
            b'"' => in_text = !in_text,
            b'0'..=b'9' if !in_text => number = number.saturating_mul(10).saturating_add(u64::from(byte - b'0')),
            _ => number = 0,
        }
        number <= MAX_NUMBER
    })
}

/// Whether a text is the canonical form of a value. Compares the serialised form piece by piece
/// without storing it.
fn is_text_of<T: Serialize>(value: &T, text: &str) -> bool {
    let mut rest = Rest(text.as_bytes());
    serde_json::to_writer(&mut rest, value).is_ok() && rest.0.is_empty()
}

/// The rest of a text under comparison. A write that differs from it fails.
struct Rest<'a>(&'a [u8]);

impl Write for Rest<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 = self.0.strip_prefix(bytes).ok_or(io::ErrorKind::InvalidData)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Parses a value from any JSON form, for files that people write.
///
/// # Errors
/// [`TooLong`](ErrorKind::TooLong) or [`Json`](ErrorKind::Json).
pub fn parse<'a, T: Deserialize<'a>>(what: &'static str, text: &'a str) -> Result<T, ErrorKind> {
    if text.len() > MAX_LINE {
        return Err(ErrorKind::TooLong { bytes: text.len() });
    }
    // Reports only the position: the parser's message may quote the text.
    serde_json::from_str(text).map_err(|error| ErrorKind::Json { what, line: error.line(), column: error.column() })
}

/// Public bytes, serialised as base64url without padding.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct Bytes(pub Vec<u8>);

impl fmt::Debug for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Bytes({})", self.0.len())
    }
}

impl From<Vec<u8>> for Bytes {
    fn from(bytes: Vec<u8>) -> Self {
        Bytes(bytes)
    }
}

impl Serialize for Bytes {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&BASE64_URL_SAFE_NO_PAD.encode(&self.0))
    }
}

impl<'de> Deserialize<'de> for Bytes {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text: Text<'de> = Deserialize::deserialize(deserializer)?;
        let bytes = BASE64_URL_SAFE_NO_PAD.decode(&*text.0).map(Bytes);
        bytes.map_err(|_| D::Error::custom("a value is not base64url without padding"))
    }
}

/// A string, borrowed from the input where possible.
#[derive(Deserialize)]
struct Text<'a>(#[serde(borrow)] Cow<'a, str>);

/// A SHA-256 hash, serialised as 64 lower-case hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Hash(pub [u8; 32]);

impl Hash {
    /// Hashes the concatenation of parts.
    pub fn of(parts: &[&[u8]]) -> Self {
        let mut hash = Sha256::new();
        parts.iter().for_each(|part| hash.update(part));
        Hash(hash.finalize().into())
    }
}

impl fmt::Display for Hash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for Hash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for Hash {
    type Err = ErrorKind;

    fn from_str(text: &str) -> Result<Self, ErrorKind> {
        let digits = text.as_bytes();
        let mut hash = [0; 32];
        if digits.len() != 64 || !digits.iter().all(|digit| matches!(digit, b'0'..=b'9' | b'a'..=b'f')) {
            return Err(ErrorKind::NotCanonical { what: "a hash" });
        }
        let value = |digit: u8| if digit < b'a' { digit - b'0' } else { digit - b'a' + 10 };
        hash.iter_mut().zip(digits.chunks(2)).for_each(|(byte, pair)| *byte = value(pair[0]) << 4 | value(pair[1]));
        Ok(Hash(hash))
    }
}

impl Serialize for Hash {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Hash {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text: Text<'de> = Deserialize::deserialize(deserializer)?;
        text.0.parse().map_err(|_| D::Error::custom("a hash is not 64 lower-case hexadecimal digits"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Serialize, Deserialize, PartialEq, Debug)]
    struct Small {
        bytes: Bytes,
        list: Vec<u32>,
        text: String,
    }

    #[test]
    fn only_the_canonical_form_is_read() {
        let good = r#"{"bytes":"_-8","list":[1,20],"text":"\"\\ \u001f\n/é😀"}"#;
        let value: Small = from_text("a test", good).unwrap();
        assert_eq!(value.bytes.0, [0xff, 0xef]);
        assert_eq!(to_text(&value), good);
        for (bad, why) in [
            (r#"{"list":[1,20],"bytes":"_-8","text":"a"}"#, "order"),
            (r#"{"bytes":"_-8","list":[1, 20],"text":"a"}"#, "space"),
            (r#"{"bytes":"_-8","list":[1.0],"text":"a"}"#, "fraction"),
            (r#"{"bytes":"_-8","list":[1e1],"text":"a"}"#, "exponent"),
            (r#"{"bytes":"_-8","list":[-0],"text":"a"}"#, "minus"),
            (r#"{"bytes":"_-8","list":[01],"text":"a"}"#, "zero"),
            (r#"{"bytes":"_-9","list":[],"text":"a"}"#, "trailing bits"),
            (r#"{"bytes":"_-8=","list":[],"text":"a"}"#, "padding"),
            (r#"{"bytes":"/+8","list":[],"text":"a"}"#, "alphabet"),
            (r#"{"bytes":"_-8","list":[],"text":"\u0061"}"#, "escape"),
            (r#"{"bytes":"_-8","list":[],"text":"\/"}"#, "slash"),
            (r#"{"bytes":"_-8","list":[],"text":"\u001F"}"#, "upper case"),
            (r#"{"bytes":"_-8","list":[],"text":"\ud800"}"#, "half a pair"),
            (r#"{"bytes":"_-8","list":[],"text":"a","v":1}"#, "unknown"),
            (r#"{"bytes":"_-8","list":[],"text":"a","text":"a"}"#, "twice"),
            (r#"{"bytes":"_-8","list":[],"text":"a"} "#, "trailing"),
            (r#"{"bytes":"_-8","list":[]}"#, "missing"),
            (r#"{"bytes":"_-8","list":[],"text":null}"#, "null"),
        ] {
            let found = from_text::<Small>("a test", bad);
            assert!(matches!(found, Err(ErrorKind::NotCanonical { .. } | ErrorKind::Json { .. })), "{why}");
        }
    }

    #[test]
    fn numbers_are_those_that_every_reader_holds() {
        let of = |list: &str, text: &str| format!(r#"{{"a":{list},"text":{text}}}"#);
        for (list, text, good) in [
            ("[9007199254740991]", r#""a""#, true),
            ("[9007199254740992]", r#""a""#, false),
            ("[1,18446744073709551615]", r#""a""#, false),
            ("[9007199254740991,9007199254740991]", r#""a""#, true),
            ("[1]", r#""99999999999999999999""#, true),
            ("[1]", r#""\\\"99999999999999999999""#, true),
            ("[99999999999999999]", r#""\\""#, false),
        ] {
            assert_eq!(numbers_fit(&of(list, text)), good, "{list} {text}");
        }
        let wide = r#"{"bytes":"_-8","list":[4294967296],"text":""}"#;
        assert!(from_text::<Small>("a test", wide).is_err());
    }

    #[test]
    fn hashes_are_lower_case() {
        let text = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
        assert_eq!(Hash::of(&[]).to_string(), text);
        assert_eq!(text.parse::<Hash>().unwrap(), Hash::of(&[b""]));
        for bad in [text.to_uppercase(), text[1..].to_owned(), format!("{text}0"), text.replace('b', "g")] {
            assert!(bad.parse::<Hash>().is_err());
        }
    }
}
