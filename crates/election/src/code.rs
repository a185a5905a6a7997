//! Codes that people copy by hand: 26 base32 characters and two check characters, in seven groups
//! of four.
//!
//! The checks form a Reed-Solomon code over GF(32) of distance 3 (see the crate's README). They
//! always detect one or two wrong characters and two swapped characters, and they locate a single
//! wrong character.

use std::fmt;
use zeroize::Zeroizing;

/// Data characters of a code.
const LENGTH: usize = 26;
/// All characters of a code.
const WHOLE: usize = LENGTH + 2;

/// The kind of a code. The sum of its characters encodes the kind, so one kind is never accepted as
/// the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CodeKind {
    /// A ballot's tracker.
    Tracker,
    /// A voter's credential.
    Credential,
}

impl CodeKind {
    fn sum(self) -> u8 {
        match self {
            Self::Tracker => 0,
            Self::Credential => 17,
        }
    }
}

/// Why a text is not a valid code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CodeError {
    /// A character that occurs in no code.
    Character(char),
    /// The wrong number of characters, with the number found.
    Length(usize),
    /// A code of the other kind.
    Kind,
    /// A mistake, with its group of four (from 1) if there is only one.
    Check(Option<usize>),
}

impl fmt::Display for CodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Character(character) => {
                write!(f, "{character:?} is not allowed in a code: codes consist of a to z and 2 to 7")
            }
            Self::Length(found) => write!(f, "it has {found} letters and digits, but a code has {WHOLE}"),
            Self::Kind => f.write_str("it is a code of another kind"),
            Self::Check(None) => f.write_str("there are several mistakes in it"),
            Self::Check(Some(group)) => write!(f, "there is a mistake in it, probably in group {group}"),
        }
    }
}

impl std::error::Error for CodeError {}

// Credential codes are secret: the following functions have neither branches nor table look-ups
// that depend on them.

/// Multiplies by 2 in GF(32) = GF(2)[x] / (x^5 + x^2 + 1).
fn doubled(value: u8) -> u8 {
    (value << 1) ^ ((value >> 4) * 0b10_0101)
}

/// Multiplies in GF(32).
fn times(a: u8, b: u8) -> u8 {
    let mut power = a;
    (0..5).fold(0, |sum, bit| {
        let part = power * ((b >> bit) & 1);
        power = doubled(power);
        sum ^ part
    })
}

/// The base32 character of a value: `a` to `z`, then `2` to `7`.
fn character(value: u8) -> char {
    let digit = (value.wrapping_sub(26) >> 7) ^ 1;
    char::from(b'a' + value - digit * (b'z' + 1 - b'2'))
}

/// The sum of the characters, and their value as a polynomial at 2 whose constant term is the last
/// character.
fn sums(values: &[u8]) -> (u8, u8) {
    values.iter().fold((0, 0), |(sum, weighted), value| (sum ^ value, doubled(weighted) ^ value))
}

/// Encodes 128 bits and two zero bits, five to a character, followed by the two checks.
fn values(bytes: &[u8; 16], kind: CodeKind) -> Zeroizing<[u8; WHOLE]> {
    let bits = u128::from_be_bytes(*bytes);
    let mut values = Zeroizing::new([0; WHOLE]);
    for (at, value) in values[..LENGTH].iter_mut().enumerate() {
        let shifted = if at < 25 { bits >> (123 - 5 * at) } else { bits << 2 };
        *value = (shifted & 31) as u8;
    }
    let (sum, weighted) = sums(&*values);
    let wanted = sum ^ kind.sum();
    // a + b = wanted and 2 a + b = weighted, so 3 a = wanted + weighted, and 28 is the inverse
    // of 3.
    let a = times(wanted ^ weighted, 28);
    [values[LENGTH], values[LENGTH + 1]] = [a, wanted ^ a];
    values
}

/// The 26 data characters, without checks.
pub(crate) fn plain(bytes: &[u8; 16]) -> String {
    values(bytes, CodeKind::Tracker)[..LENGTH].iter().map(|&value| character(value)).collect()
}

/// A code for display: with its checks, in groups of four separated by `between`.
pub(crate) fn shown(bytes: &[u8; 16], kind: CodeKind, between: &str) -> Zeroizing<String> {
    grouped(&values(bytes, kind), between)
}

fn grouped(values: &[u8; WHOLE], between: &str) -> Zeroizing<String> {
    // The full capacity at once: a string that grows leaves copies of the secret in memory.
    let mut text = Zeroizing::new(String::with_capacity(WHOLE + WHOLE / 4 * between.len()));
    for (at, &value) in values.iter().enumerate() {
        if at > 0 && at % 4 == 0 {
            text.push_str(between);
        }
        text.push(character(value));
    }
    text
}

/// The value of a base32 character.
fn value(character: u8) -> u8 {
    let digit = (character >> 6) ^ 1;
    character.wrapping_sub(b'a').wrapping_add(digit * (b'z' + 1 - b'2'))
}

/// Reads a code as typed by a person and returns its 26 data characters. Ignores spaces, hyphens
/// and case, and maps digits that no code has to the letters that they resemble. A tracker may omit
/// its checks, as on the board.
///
/// # Errors
/// The fault of the text.
pub(crate) fn read(text: &str, kind: CodeKind) -> Result<String, CodeError> {
    let typed = |character: char| match character.to_ascii_lowercase() {
        ' ' | '-' => None,
        '0' => Some(Ok('o')),
        '1' => Some(Ok('l')),
        '8' => Some(Ok('b')),
        letter @ ('a'..='z' | '2'..='7') => Some(Ok(letter)),
        _ => Some(Err(CodeError::Character(character))),
    };
    let mut found: String = text.chars().filter_map(typed).collect::<Result<_, _>>()?;
    if found.len() == LENGTH && kind == CodeKind::Tracker {
        return Ok(found);
    }
    if found.len() != WHOLE {
        return Err(CodeError::Length(found.len()));
    }
    let values: Vec<u8> = found.bytes().map(value).collect();
    match sums(&values) {
        (sum, 0) if sum == kind.sum() => {
            found.truncate(LENGTH);
            Ok(found)
        }
        (sum, 0) if [CodeKind::Tracker, CodeKind::Credential].iter().any(|other| other.sum() == sum) => {
            Err(CodeError::Kind)
        }
        (sum, weighted) => Err(CodeError::Check(wrong_group(sum ^ kind.sum(), weighted))),
    }
}

/// The group of a single wrong character. For one error, the second sum is the first times a power
/// of 2.
fn wrong_group(wrong: u8, weighted: u8) -> Option<usize> {
    let powers = std::iter::successors(Some(wrong), |&value| Some(doubled(value)));
    let power = powers.take(WHOLE).position(|value| value == weighted && value != 0)?;
    Some((WHOLE - 1 - power) / 4 + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALPHABET: &[u8; 32] = b"abcdefghijklmnopqrstuvwxyz234567";
    const KINDS: [CodeKind; 2] = [CodeKind::Tracker, CodeKind::Credential];

    fn codes() -> [[u8; 16]; 4] {
        [[0; 16], [0xff; 16], std::array::from_fn(|at| at as u8), *b"any sixteen byte"]
    }

    fn both() -> impl Iterator<Item = ([u8; 16], CodeKind)> {
        codes().into_iter().flat_map(|code| KINDS.map(|kind| (code, kind)))
    }

    #[test]
    fn characters_are_those_of_base32() {
        for (at, &known) in ALPHABET.iter().enumerate() {
            assert_eq!((character(at as u8), value(known)), (char::from(known), at as u8));
        }
        // Python: base64.b32encode(bytes(range(16))).decode().lower().rstrip("=")
        assert_eq!(plain(&codes()[2]), "aaaqeayeaudaocajbifqydiob4");
        assert_eq!(plain(&codes()[1]), "77777777777777777777777774");
    }

    #[test]
    fn codes_are_read_as_they_are_shown() {
        for (code, kind) in both() {
            let (text, plain) = (shown(&code, kind, " "), plain(&code));
            assert!(text.len() == 34 && text.starts_with(&plain[..4]), "{}", *text);
            let value = |one: u8| ALPHABET.iter().position(|&known| known == one).unwrap() as u8;
            let values: Vec<u8> = text.bytes().filter(|&one| one != b' ').map(value).collect();
            assert_eq!(values.iter().fold(0, |sum, value| sum ^ value), kind.sum());
            // 2^i by repeated products, with a product computed bit by bit from the highest.
            let product = |a: u8, b: u8| {
                (0..5).rev().fold(0u8, |sum, bit| {
                    let doubled = if sum >= 16 { (sum << 1) ^ 0b10_0101 } else { sum << 1 };
                    if (b >> bit) & 1 == 1 { doubled ^ a } else { doubled }
                })
            };
            let power = |exponent: usize| (0..exponent).fold(1, |power, _| product(power, 2));
            let weighted = values.iter().rev().enumerate().fold(0, |sum, (at, &value)| sum ^ product(value, power(at)));
            assert_eq!(weighted, 0);
            let alike = text.replace('o', "0").replace('l', "1").replace('b', "8");
            for typed in [&*text, &text.to_uppercase(), &text.replace(' ', "-"), &text.replace(' ', ""), &alike] {
                assert_eq!(read(typed, kind).as_deref(), Ok(&*plain));
            }
            let other = KINDS[usize::from(kind == CodeKind::Tracker)];
            assert_eq!(read(&text, other), Err(CodeError::Kind));
        }
        let tracker = plain(&codes()[3]);
        assert_eq!(read(&tracker, CodeKind::Tracker).as_deref(), Ok(&*tracker), "as the board has it");
        assert_eq!(read(&tracker, CodeKind::Credential), Err(CodeError::Length(26)));
        assert_eq!(read("abcd efgh", CodeKind::Tracker), Err(CodeError::Length(8)));
        assert_eq!(read("abcd?", CodeKind::Tracker), Err(CodeError::Character('?')));
    }

    #[test]
    fn one_mistake_is_placed_and_two_are_noticed() {
        for (code, kind) in both() {
            let values = values(&code, kind);
            let altered = |changes: &[(usize, u8)]| {
                let mut values = values.clone();
                changes.iter().for_each(|&(at, by)| values[at] ^= by);
                read(&grouped(&values, ""), kind)
            };
            for (at, by) in (0..WHOLE).flat_map(|at| (1..32).map(move |by| (at, by))) {
                assert_eq!(altered(&[(at, by)]), Err(CodeError::Check(Some(at / 4 + 1))));
                for other in at + 1..WHOLE {
                    assert!(altered(&[(at, by), (other, by % 7 + 1)]).is_err());
                    let mut swapped = values.clone();
                    swapped.swap(at, other);
                    assert!(*swapped == *values || read(&grouped(&swapped, ""), kind).is_err());
                }
            }
        }
    }
}
