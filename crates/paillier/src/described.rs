//! Self-describing ciphertexts, which carry their key, scale, range, headroom and number of
//! additions. Databases store encrypted numbers in this form, because a value travels without the
//! metadata of its column.
//!
//! # Bytes
//! Numbers are big-endian. The description takes [`DESCRIPTION_BYTES`] bytes:
//!
//! | bytes | content |
//! | --- | --- |
//! | 0 | version, 1 |
//! | 1 | scale: fractional decimal digits, 0 to 38 |
//! | 2-3 | bits of n |
//! | 4-19 | ID of the key |
//! | 20-35 | maximum magnitude of one addend in units of the last digit, 1 to 2^127 - 1 |
//! | 36-43 | headroom in additions, at least 1 |
//! | 44-51 | additions in the ciphertext, at least 1 |
//! | 52- | the ciphertext, twice the bytes of n |
//!
//! # Text
//! `he1:KEY:BITS:SCALE:RANGE:HEADROOM:ADDITIONS:CIPHERTEXT`. The key ID is in hexadecimal digits,
//! numbers are in decimal digits without leading zeros, and the ciphertext is in base64url without
//! padding. Each number has exactly one text.

use crate::encoding::SlotLayout;
use crate::{Error, ErrorKind, KeyId, MAX_BITS, MIN_BITS};
use base64ct::{Base64UrlUnpadded, Encoding as _};
use std::fmt;
use std::str::FromStr;

/// Bytes of a description.
pub const DESCRIPTION_BYTES: usize = 52;

/// Maximum number of fractional decimal digits.
pub const MOST_PLACES: u32 = 38;

/// Prefix of the text of version 1.
const PREFIX: &str = "he1";
const VERSION: u8 = 1;

/// The metadata of an encrypted number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Description {
    key: KeyId,
    bits: u32,
    scale: u32,
    range: u128,
    headroom: u64,
    additions: u64,
}

impl Description {
    /// Describes a number of `scale` fractional digits. It is the sum of `additions` numbers whose
    /// magnitude in units of the last digit is at most `range`, and has headroom for `headroom` of
    /// them.
    ///
    /// # Errors
    /// [`Description`](ErrorKind::Description) for a value out of its range,
    /// [`HeadroomExhausted`](ErrorKind::HeadroomExhausted) for more additions than headroom, and
    /// [`DoesNotFit`](ErrorKind::DoesNotFit) if such sums do not fit a key of `bits` bits.
    pub fn new(key: KeyId, bits: u32, scale: u32, range: u128, headroom: u64, additions: u64) -> Result<Self, Error> {
        let sound = [
            ((MIN_BITS..=MAX_BITS).contains(&bits) && bits.is_multiple_of(2), "the key's length"),
            (scale <= MOST_PLACES, "the scale"),
            ((1..=i128::MAX as u128).contains(&range), "the range"),
            (headroom > 0, "the headroom"),
            (additions > 0, "the number of additions"),
        ];
        if let Some(&(_, part)) = sound.iter().find(|(sound, _)| !sound) {
            return Err(ErrorKind::Description { part }.into());
        }
        if additions > headroom {
            return Err(ErrorKind::HeadroomExhausted { headroom }.into());
        }
        SlotLayout::new(bits, 1, range, headroom)?;
        Ok(Description { key, bits, scale, range, headroom, additions })
    }

    /// ID of the public key.
    pub fn key(&self) -> KeyId {
        self.key
    }

    /// Bits of n.
    pub fn bits(&self) -> u32 {
        self.bits
    }

    /// Fractional decimal digits.
    pub fn scale(&self) -> u32 {
        self.scale
    }

    /// Maximum magnitude of one addend in units of the last digit.
    pub fn range(&self) -> u128 {
        self.range
    }

    /// Headroom in additions.
    pub fn headroom(&self) -> u64 {
        self.headroom
    }

    /// Number of additions in the ciphertext.
    pub fn additions(&self) -> u64 {
        self.additions
    }

    /// Bytes of the ciphertext.
    pub fn ciphertext_bytes(&self) -> usize {
        2 * self.bits.div_ceil(8) as usize
    }

    /// Describes the same number with more fractional digits. The caller must multiply its
    /// plaintext by ten to the power of the difference.
    ///
    /// # Errors
    /// As [`Description::new`]; a smaller scale is out of range.
    pub fn at_scale(&self, scale: u32) -> Result<Self, Error> {
        let digits = scale.checked_sub(self.scale).ok_or(ErrorKind::Description { part: "the scale" })?;
        let range = 10_u128.checked_pow(digits).and_then(|factor| self.range.checked_mul(factor));
        self.with(scale, range.unwrap_or(u128::MAX), self.headroom, self.additions.into())
    }

    /// The description that fits both numbers of one key: the larger scale, the larger range, the
    /// smaller headroom and the larger number of additions.
    ///
    /// # Errors
    /// [`WrongKey`](ErrorKind::WrongKey), and as [`Description::new`].
    pub fn common(&self, other: &Self) -> Result<Self, Error> {
        self.joined(other, self.additions.max(other.additions).into())
    }

    /// Describes the sum with another number, at the larger scale and with the smaller headroom.
    ///
    /// # Errors
    /// [`WrongKey`](ErrorKind::WrongKey), and as [`Description::new`].
    pub fn plus(&self, other: &Self) -> Result<Self, Error> {
        self.joined(other, u128::from(self.additions) + u128::from(other.additions))
    }

    fn joined(&self, other: &Self, additions: u128) -> Result<Self, Error> {
        if (self.key, self.bits) != (other.key, other.bits) {
            return Err(ErrorKind::WrongKey { expected: self.key, found: other.key }.into());
        }
        let scale = self.scale.max(other.scale);
        let (one, two) = (self.at_scale(scale)?, other.at_scale(scale)?);
        one.with(scale, one.range.max(two.range), one.headroom.min(two.headroom), additions)
    }

    /// Describes the multiple by `factor` in units of `10^-places`. It counts as many additions as
    /// the factor's magnitude, rounded up.
    ///
    /// # Errors
    /// As [`Description::new`].
    pub fn times(&self, factor: i128, places: u32) -> Result<Self, Error> {
        let raised = self.at_scale(self.scale.saturating_add(places))?;
        // Cannot overflow: `at_scale` limits the number of places.
        let whole = factor.unsigned_abs().div_ceil(10_u128.pow(places)).max(1);
        raised.with(raised.scale, raised.range, self.headroom, whole.saturating_mul(self.additions.into()))
    }

    /// Describes the sum with a plaintext number in units of `10^-places`. It counts as many
    /// additions as numbers of the range are needed to reach that number.
    ///
    /// # Errors
    /// As [`Description::new`].
    pub fn plus_plain(&self, number: i128, places: u32) -> Result<Self, Error> {
        let raised = self.at_scale(self.scale.max(places))?;
        let unit = 10_u128.checked_pow(raised.scale - places).unwrap_or(u128::MAX);
        let more = number.unsigned_abs().saturating_mul(unit).div_ceil(raised.range);
        raised.with(raised.scale, raised.range, self.headroom, more.saturating_add(self.additions.into()))
    }

    /// Describes the same number with a different number of additions.
    ///
    /// # Errors
    /// As [`Description::new`].
    pub fn with_additions(&self, additions: u64) -> Result<Self, Error> {
        self.with(self.scale, self.range, self.headroom, additions.into())
    }

    fn with(&self, scale: u32, range: u128, headroom: u64, additions: u128) -> Result<Self, Error> {
        let exhausted = ErrorKind::HeadroomExhausted { headroom };
        let additions = u64::try_from(additions).map_err(|_| exhausted)?;
        Self::new(self.key, self.bits, scale, range, headroom, additions)
    }

    /// Reads the description at the start of `bytes` and checks the length of the ciphertext that
    /// follows. Returns both.
    ///
    /// # Errors
    /// [`DescriptionBytes`](ErrorKind::DescriptionBytes) for a wrong length,
    /// [`Description`](ErrorKind::Description) for an unknown version, and as [`Description::new`].
    pub fn read(bytes: &[u8]) -> Result<(Self, &[u8]), Error> {
        let length = ErrorKind::DescriptionBytes { bytes: bytes.len() };
        let (head, ciphertext) = bytes.split_at_checked(DESCRIPTION_BYTES).ok_or_else(|| length.clone())?;
        if head[0] != VERSION {
            return Err(ErrorKind::Description { part: "the version" }.into());
        }
        // `head` is long enough for these slices.
        let number =
            |from: usize, bytes: usize| head[from..from + bytes].iter().fold(0, |n: u128, &b| n << 8 | u128::from(b));
        let key = KeyId::from_bytes(number(4, 16).to_be_bytes());
        let (bits, scale) = (number(2, 2) as u32, head[1].into());
        let found = Self::new(key, bits, scale, number(20, 16), number(36, 8) as u64, number(44, 8) as u64)?;
        if ciphertext.len() == found.ciphertext_bytes() { Ok((found, ciphertext)) } else { Err(length.into()) }
    }

    /// The description as bytes, to be followed by a ciphertext.
    pub fn to_bytes(&self) -> [u8; DESCRIPTION_BYTES] {
        let mut bytes = [0; DESCRIPTION_BYTES];
        (bytes[0], bytes[1]) = (VERSION, self.scale as u8);
        bytes[2..4].copy_from_slice(&(self.bits as u16).to_be_bytes());
        bytes[4..20].copy_from_slice(&self.key.to_bytes());
        bytes[20..36].copy_from_slice(&self.range.to_be_bytes());
        bytes[36..44].copy_from_slice(&self.headroom.to_be_bytes());
        bytes[44..].copy_from_slice(&self.additions.to_be_bytes());
        bytes
    }
}

/// A ciphertext with its description, as text or bytes: see the module `described`.
#[derive(Clone, PartialEq, Eq)]
pub struct Described {
    description: Description,
    ciphertext: Box<[u8]>,
}

impl Described {
    /// Combines a description with a big-endian ciphertext. Only the key can tell whether the
    /// ciphertext is valid: see
    /// [`PublicKey::ciphertexts_from_be`](crate::PublicKey::ciphertexts_from_be).
    ///
    /// # Errors
    /// [`DescriptionBytes`](ErrorKind::DescriptionBytes) for any length other than the
    /// description's.
    pub fn new(description: Description, ciphertext: &[u8]) -> Result<Self, Error> {
        if ciphertext.len() != description.ciphertext_bytes() {
            return Err(ErrorKind::DescriptionBytes { bytes: DESCRIPTION_BYTES + ciphertext.len() }.into());
        }
        Ok(Described { description, ciphertext: ciphertext.into() })
    }

    /// Reads a described ciphertext from bytes.
    ///
    /// # Errors
    /// As [`Description::read`].
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, Error> {
        let (description, ciphertext) = Description::read(bytes)?;
        Self::new(description, ciphertext)
    }

    /// The description and the ciphertext as bytes.
    pub fn to_bytes(&self) -> Vec<u8> {
        [&self.description.to_bytes()[..], &self.ciphertext].concat()
    }

    /// The description.
    pub fn description(&self) -> &Description {
        &self.description
    }

    /// The ciphertext, big-endian.
    pub fn ciphertext(&self) -> &[u8] {
        &self.ciphertext
    }
}

impl fmt::Display for Described {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Description { key, bits, scale, range, headroom, additions } = self.description;
        let ciphertext = Base64UrlUnpadded::encode_string(&self.ciphertext);
        write!(f, "{PREFIX}:{key}:{bits}:{scale}:{range}:{headroom}:{additions}:{ciphertext}")
    }
}

impl fmt::Debug for Described {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.description.fmt(f)
    }
}

impl FromStr for Described {
    type Err = Error;

    /// # Errors
    /// [`DescriptionText`](ErrorKind::DescriptionText) for any other form, and as
    /// [`Description::new`].
    fn from_str(text: &str) -> Result<Self, Error> {
        let parts: Vec<&str> = text.splitn(9, ':').collect();
        let [PREFIX, key, bits, scale, range, headroom, additions, ciphertext] = parts[..] else {
            return Err(ErrorKind::DescriptionText.into());
        };
        let description = Description::new(
            key.parse()?,
            decimal(bits)?,
            decimal(scale)?,
            decimal(range)?,
            decimal(headroom)?,
            decimal(additions)?,
        )?;
        let mut bytes = vec![0; description.ciphertext_bytes()];
        // A text that is too long is not decoded at all.
        let decoded = Base64UrlUnpadded::decode(ciphertext, &mut bytes).map_err(|_| ErrorKind::DescriptionText)?;
        Self::new(description, decoded)
    }
}

/// Parses a number in decimal digits without sign or leading zeros.
fn decimal<T: FromStr>(text: &str) -> Result<T, ErrorKind> {
    let plain = text.bytes().all(|byte| byte.is_ascii_digit()) && (text == "0" || !text.starts_with('0'));
    text.parse().ok().filter(|_| plain).ok_or(ErrorKind::DescriptionText)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn key(byte: u8) -> KeyId {
        KeyId::from_bytes([byte; 16])
    }

    /// A number under a key of 256 bits, in units of a hundredth.
    fn cents(range: u128, headroom: u64, additions: u64) -> Description {
        Description::new(key(1), 256, 2, range, headroom, additions).unwrap()
    }

    fn numbers() -> impl Strategy<Value = Description> {
        (0u8..3, 128u32..300, 0..=MOST_PLACES, 1u128..1 << 40, 1u64..1 << 20).prop_flat_map(
            |(id, bits, scale, range, headroom)| {
                (1..=headroom).prop_map(move |additions| {
                    Description::new(key(id), bits & !1, scale, range, headroom, additions).unwrap()
                })
            },
        )
    }

    proptest! {
        #[test]
        fn bytes_and_text_undo_each_other(description in numbers(), filling: u8) {
            let ciphertext = vec![filling; description.ciphertext_bytes()];
            let number = Described::new(description, &ciphertext).unwrap();
            prop_assert_eq!(&Described::from_bytes(&number.to_bytes()).unwrap(), &number);
            prop_assert_eq!(&number.to_string().parse::<Described>().unwrap(), &number);
        }

        #[test]
        fn altered_bytes_and_text_are_read_as_one_form_or_not(description in numbers(), at: u16, to: u8, cut: bool) {
            let number = Described::new(description, &vec![7; description.ciphertext_bytes()]).unwrap();
            let mut bytes = number.to_bytes();
            let position = usize::from(at) % bytes.len();
            if cut { bytes.truncate(position) } else { bytes[position] = to }
            if let Ok(read) = Described::from_bytes(&bytes) {
                prop_assert_eq!(read.to_bytes(), bytes);
            }
            let mut text = number.to_string().into_bytes();
            let position = usize::from(at) % text.len();
            if cut { text.truncate(position) } else { text[position] = to & 0x7f }
            let text = String::from_utf8(text).unwrap();
            if let Ok(read) = text.parse::<Described>() {
                prop_assert_eq!(read.to_string(), text);
            }
        }

        /// For every operation, the description bounds the plaintext.
        #[test]
        fn bounds_hold(a in numbers(), b in numbers(), factor in -10_000i128..10_000, places in 0u32..4) {
            // The maximum of a number in units of the scale, or `None` if it exceeds 128 bits.
            let most = |number: &Description, scale: u32| {
                let bound = number.range().checked_mul(number.additions().into())?;
                bound.checked_mul(10_u128.checked_pow(scale.checked_sub(number.scale())?)?)
            };
            let exceeds = |result: &Description, bound: Option<u128>| {
                most(result, result.scale()).zip(bound).is_some_and(|(allowed, bound)| bound > allowed)
            };
            if let Ok(sum) = a.plus(&b) {
                let bound = most(&a, sum.scale()).zip(most(&b, sum.scale())).and_then(|(a, b)| a.checked_add(b));
                prop_assert!(!exceeds(&sum, bound));
                prop_assert_eq!(a.key(), b.key());
                prop_assert_eq!(b.plus(&a).unwrap(), sum);
            }
            if let Ok(multiple) = a.times(factor, places) {
                let bound = most(&a, a.scale()).and_then(|bound| bound.checked_mul(factor.unsigned_abs()));
                prop_assert_eq!(multiple.scale(), a.scale() + places);
                prop_assert!(!exceeds(&multiple, bound));
            }
            if let Ok(sum) = a.plus_plain(factor, places) {
                let more = factor.unsigned_abs().checked_mul(10_u128.pow(sum.scale() - places));
                let bound = most(&a, sum.scale()).zip(more).and_then(|(a, more)| a.checked_add(more));
                prop_assert!(!exceeds(&sum, bound));
            }
        }
    }

    #[test]
    fn what_does_not_add_up_is_named() {
        let one = cents(1000, 3, 1);
        let kind = |result: Result<Description, Error>| result.unwrap_err().kind().clone();
        let other = Description::new(key(2), 256, 2, 1000, 3, 1).unwrap();
        assert!(matches!(kind(one.plus(&other)), ErrorKind::WrongKey { .. }));
        let three = one.plus(&one).unwrap().plus(&one).unwrap();
        let exhausted = ErrorKind::HeadroomExhausted { headroom: 3 };
        assert_eq!(kind(three.plus(&one)), exhausted);
        assert_eq!(kind(one.times(-4, 0)), exhausted);
        assert_eq!(kind(three.plus_plain(1, 2)), exhausted);
        // 1.5 counts as two additions; a hundredth counts as one.
        assert_eq!(one.times(15, 1).unwrap().additions(), 2);
        assert_eq!(one.times(1, 2).unwrap().additions(), 1);
        assert_eq!(kind(one.at_scale(1)), ErrorKind::Description { part: "the scale" });
        assert_eq!(kind(one.at_scale(38)), ErrorKind::Description { part: "the range" });
        let long = Description::new(key(1), 128, 0, 1 << 100, 1 << 20, 1).unwrap();
        assert!(matches!(kind(long.at_scale(3)), ErrorKind::DoesNotFit { .. }));
    }

    #[test]
    fn damaged_texts_are_rejected() {
        let number = Described::new(cents(1000, 3, 1), &[9; 64]).unwrap();
        let text = number.to_string();
        assert!(text.starts_with("he1:01010101010101010101010101010101:256:2:1000:3:1:CQkJ"), "{text}");
        for (from, to) in [
            ("he1", "he2"),
            (":256:", ":0256:"),
            (":256:", ":+256:"),
            (":256:", ":255:"),
            (":256:", ":512:"),
            (":2:", ":39:"),
            (":1000:", ":0:"),
            (":3:1:", ":3:4:"),
            (":3:1:", ":3:0:"),
            (":3:1:", ":3:"),
            ("CQkJ", "CQk="),
            ("CQkJ", "CQkJCQkJ"),
            ("CQkJ", "C:kJ"),
        ] {
            assert!(text.replacen(from, to, 1).parse::<Described>().is_err(), "{from} {to}");
        }
    }
}
