//! Codes that people copy by hand: 26 characters of base32 and two check characters, in seven groups of four.
//!
//! The checks are those of a Reed-Solomon code over GF(32) of distance 3 (`docs/election-web.md`): one or two wrong
//! characters, and two that changed places, are always noticed, and the place of a single one is known.

use std::fmt;

/// Characters that say something.
const LENGTH: usize = 26;
/// All characters of a code.
const WHOLE: usize = LENGTH + 2;
const ALPHABET: &[u8; 32] = b"abcdefghijklmnopqrstuvwxyz234567";

/// What a code is of: the sum of its characters tells, so that one is never taken for the other.
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

/// Why a text is no code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CodeError {
    /// A character that no code has.
    Character(char),
    /// So many characters.
    Length(usize),
    /// A code of another kind.
    Kind,
    /// A mistake; in this group of four, from 1, if there is only one.
    Check(Option<usize>),
}

impl fmt::Display for CodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Character(character) => write!(f, "{character:?} is in no code: they have a to z and 2 to 7"),
            Self::Length(found) => write!(f, "it has {found} letters and digits, and a code has {WHOLE}"),
            Self::Kind => f.write_str("it is a code of another kind"),
            Self::Check(None) => f.write_str("there are several mistakes in it"),
            Self::Check(Some(group)) => write!(f, "there is a mistake in it, probably in group {group} of four"),
        }
    }
}

impl std::error::Error for CodeError {}

/// A product with 2 in GF(32) = GF(2)[x] / (x^5 + x^2 + 1).
fn doubled(value: u8) -> u8 {
    let next = value << 1;
    if next > 31 { next ^ 0b10_0101 } else { next }
}

/// The sum of the characters, and their sum as a polynomial in 2, the last one being its constant.
fn sums(values: &[u8]) -> (u8, u8) {
    values.iter().fold((0, 0), |(sum, weighted), value| (sum ^ value, doubled(weighted) ^ value))
}

/// The characters of bits, five in each, the last ones filled up with zeros.
pub(crate) fn base32(bytes: &[u8; 16]) -> String {
    let bits = u128::from_be_bytes(*bytes);
    let character = |at: usize| {
        let shifted = if at < 25 { bits >> (123 - 5 * at) } else { bits << 2 };
        char::from(ALPHABET[(shifted & 31) as usize])
    };
    (0..LENGTH).map(character).collect()
}

/// The 26 characters of a code as they are shown: with their checks, in groups of four.
pub(crate) fn shown(text: &str, kind: CodeKind) -> String {
    let mut values: Vec<u8> = text.bytes().filter_map(value).collect();
    let (sum, weighted) = sums(&[&values[..], &[0, 0]].concat());
    let wanted = sum ^ kind.sum();
    // a + b = wanted and 2 a + b = weighted, so 3 a is their sum.
    let a = (0..32).find(|&a| doubled(a) ^ a == wanted ^ weighted).unwrap_or_default();
    values.extend([a, wanted ^ a]);
    grouped(&values)
}

fn grouped(values: &[u8]) -> String {
    let group = |four: &[u8]| four.iter().map(|&value| char::from(ALPHABET[value as usize])).collect::<String>();
    values.chunks(4).map(group).collect::<Vec<_>>().join(" ")
}

fn value(character: u8) -> Option<u8> {
    ALPHABET.iter().position(|&known| known == character).map(|at| at as u8)
}

/// The 26 characters of a code as somebody typed it: spaces, hyphens and capitals do not matter, and digits that no code
/// has stand for the letters that look like them. A tracker may come without its checks, as the board has it.
///
/// # Errors
/// What is wrong with it.
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
    let values: Vec<u8> = found.bytes().filter_map(value).collect();
    match sums(&values) {
        (sum, 0) if sum == kind.sum() => {
            found.truncate(LENGTH);
            Ok(found)
        }
        (sum, 0) if [CodeKind::Tracker, CodeKind::Credential].iter().any(|other| other.sum() == sum) => {
            Err(CodeError::Kind)
        }
        (sum, weighted) => Err(CodeError::Check(place(sum ^ kind.sum(), weighted))),
    }
}

/// The group that a single wrong character is in: there the second sum is the first times a power of 2.
fn place(wrong: u8, weighted: u8) -> Option<usize> {
    let powers = std::iter::successors(Some(wrong), |&value| Some(doubled(value)));
    let power = powers.take(WHOLE).position(|value| value == weighted && value != 0)?;
    Some((WHOLE - 1 - power) / 4 + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    const CODES: [&str; 3] = ["aaaaaaaaaaaaaaaaaaaaaaaaaa", "77777777777777777777777777", "c6or6bozvbkrruund6w4yvyx3m"];
    const KINDS: [CodeKind; 2] = [CodeKind::Tracker, CodeKind::Credential];

    /// A product in GF(32), bit by bit.
    fn times(a: u8, b: u8) -> u8 {
        (0..5).filter(|bit| b >> bit & 1 == 1).fold(0, |sum, bit| (0..bit).fold(a, |value, _| doubled(value)) ^ sum)
    }

    #[test]
    fn codes_are_read_as_they_are_shown() {
        // Of the web's tests, which have the same codes.
        for (code, kind) in CODES.into_iter().flat_map(|code| KINDS.map(|kind| (code, kind))) {
            let text = shown(code, kind);
            assert_eq!(text.len(), 34);
            let values: Vec<u8> = text.bytes().filter_map(value).collect();
            assert_eq!(values.iter().fold(0, |sum, value| sum ^ value), kind.sum());
            let power = |place: usize| (0..place).fold(1, |power, _| times(power, 2));
            let weighted = values.iter().rev().enumerate().fold(0, |sum, (at, &value)| sum ^ times(value, power(at)));
            assert_eq!(weighted, 0);
            let alike = text.replace('o', "0").replace('l', "1").replace('b', "8");
            for typed in [&text, &text.to_uppercase(), &text.replace(' ', "-"), &text.replace(' ', ""), &alike] {
                assert_eq!(read(typed, kind).as_deref(), Ok(code));
            }
            let other = KINDS[usize::from(kind == CodeKind::Tracker)];
            assert_eq!(read(&text, other), Err(CodeError::Kind));
        }
        assert_eq!(shown(CODES[0], CodeKind::Tracker), "aaaa aaaa aaaa aaaa aaaa aaaa aaaa");
        assert_eq!(read(CODES[2], CodeKind::Tracker).as_deref(), Ok(CODES[2]), "as the board has it");
        assert_eq!(read(CODES[2], CodeKind::Credential), Err(CodeError::Length(26)));
        assert_eq!(read("abcd efgh", CodeKind::Tracker), Err(CodeError::Length(8)));
        assert_eq!(read("abcd?", CodeKind::Tracker), Err(CodeError::Character('?')));
    }

    #[test]
    fn one_mistake_is_placed_and_two_are_noticed() {
        for (code, kind) in CODES.into_iter().flat_map(|code| KINDS.map(|kind| (code, kind))) {
            let values: Vec<u8> = shown(code, kind).bytes().filter_map(value).collect();
            let altered = |changes: &[(usize, u8)]| {
                let mut values = values.clone();
                changes.iter().for_each(|&(at, by)| values[at] ^= by);
                read(&grouped(&values), kind)
            };
            for (at, by) in (0..WHOLE).flat_map(|at| (1..32).map(move |by| (at, by))) {
                assert_eq!(altered(&[(at, by)]), Err(CodeError::Check(Some(at / 4 + 1))));
                for other in at + 1..WHOLE {
                    assert!(altered(&[(at, by), (other, by % 7 + 1)]).is_err());
                    let mut swapped = values.clone();
                    swapped.swap(at, other);
                    assert!(swapped == values || read(&grouped(&swapped), kind).is_err());
                }
            }
        }
    }

    #[test]
    fn bits_are_base32() {
        // Python: base64.b32encode(bytes(range(16))).decode().lower().rstrip("=")
        assert_eq!(base32(&std::array::from_fn(|at| at as u8)), "aaaqeayeaudaocajbifqydiob4");
    }
}
