//! The notation of a CSV file that differs from RFC 4180: marks, a missing header, and texts for
//! null.

use zeroize::Zeroizing;

/// The notation of a CSV file. The default is RFC 4180 with a header, and only empty cells are
/// null.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dialect {
    delimiter: u8,
    header: bool,
    nulls: Vec<String>,
    decimal: char,
    thousands: Option<char>,
}

/// Why a dialect is invalid.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DialectError {
    /// The delimiter is not an ASCII character, or is one that records or numbers use.
    #[error("a delimiter is one ASCII character other than a letter, a digit, a quote or a line break")]
    Delimiter,
    /// The decimal mark is neither a point nor a comma.
    #[error("a decimal mark is . or ,")]
    Decimal,
    /// The thousands separator is not supported.
    #[error("a thousands separator is one of . , ' _ or a space")]
    Thousands,
    /// The same character would separate thousands and fractions.
    #[error("the decimal mark cannot separate thousands as well")]
    Same,
}

/// Thousands separators in use, including the no-break space and the narrow no-break space.
const THOUSANDS: [char; 7] = ['.', ',', '\'', '_', ' ', '\u{a0}', '\u{202f}'];

impl Default for Dialect {
    fn default() -> Self {
        Self { delimiter: b',', header: true, nulls: Vec::new(), decimal: '.', thousands: None }
    }
}

impl Dialect {
    /// Sets the character between cells.
    ///
    /// # Errors
    /// [`DialectError::Delimiter`].
    pub fn delimited_by(mut self, delimiter: char) -> Result<Self, DialectError> {
        let byte = u8::try_from(delimiter).ok().filter(u8::is_ascii);
        let byte = byte.filter(|byte| !byte.is_ascii_alphanumeric() && !b"\"\r\n+-".contains(byte) && *byte != 0);
        self.delimiter = byte.ok_or(DialectError::Delimiter)?;
        Ok(self)
    }

    /// Reads the first line as a row. Columns are named `c1`, `c2` and so on.
    #[must_use]
    pub fn without_header(mut self) -> Self {
        self.header = false;
        self
    }

    /// Reads cells with exactly this text as null, in addition to empty cells.
    #[must_use]
    pub fn with_null(mut self, text: &str) -> Self {
        self.nulls.push(text.to_owned());
        self
    }

    /// Reads numbers with these marks: for `1.234,56`, pass `,` and `.`.
    ///
    /// # Errors
    /// When a mark is not supported, or both are the same.
    pub fn with_marks(mut self, decimal: char, thousands: Option<char>) -> Result<Self, DialectError> {
        if !['.', ','].contains(&decimal) {
            return Err(DialectError::Decimal);
        }
        if thousands.is_some_and(|mark| !THOUSANDS.contains(&mark)) {
            return Err(DialectError::Thousands);
        }
        if thousands == Some(decimal) {
            return Err(DialectError::Same);
        }
        (self.decimal, self.thousands) = (decimal, thousands);
        Ok(self)
    }

    pub(super) fn delimiter(&self) -> u8 {
        self.delimiter
    }

    /// Whether the first record names the columns.
    pub fn has_header(&self) -> bool {
        self.header
    }

    /// Whether a field represents null.
    pub(super) fn is_null(&self, field: &str) -> bool {
        field.is_empty() || self.nulls.iter().any(|null| null == field)
    }

    /// Whether numbers use marks other than a decimal point.
    pub(super) fn has_marks(&self) -> bool {
        self.decimal != '.' || self.thousands.is_some()
    }

    /// Rewrites a number with a decimal point and without thousands separators. `None` if the text
    /// is not a number in this dialect.
    pub(super) fn number(&self, text: &str) -> Option<Zeroizing<String>> {
        let trimmed = text.trim_ascii();
        let (mantissa, exponent) = match trimmed.find(['e', 'E']) {
            Some(at) => trimmed.split_at(at),
            None => (trimmed, ""),
        };
        let (sign, digits) = match mantissa.strip_prefix(['+', '-']) {
            Some(digits) => mantissa.split_at(mantissa.len() - digits.len()),
            None => ("", mantissa),
        };
        let (whole, fraction) = match digits.split_once(self.decimal) {
            Some((whole, fraction)) => (whole, Some(fraction)),
            None => (digits, None),
        };
        let whole = self.ungrouped(whole)?;
        let all_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
        if !all_digits(&whole) || !all_digits(fraction.unwrap_or("")) {
            return None;
        }
        let point = if fraction.is_some() { "." } else { "" };
        Some([sign, &whole, point, fraction.unwrap_or(""), exponent].concat().into())
    }

    /// Removes thousands separators. `None` unless each of them precedes three digits.
    fn ungrouped(&self, digits: &str) -> Option<Zeroizing<String>> {
        let Some(mark) = self.thousands else { return Some(digits.to_owned().into()) };
        let groups: Vec<&str> = digits.split(mark).collect();
        let [first, rest @ ..] = &groups[..] else { return None };
        let grouped = rest.is_empty() || (1..=3).contains(&first.len()) && rest.iter().all(|group| group.len() == 3);
        grouped.then(|| groups.concat().into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn european() -> Dialect {
        Dialect::default().with_marks(',', Some('.')).unwrap()
    }

    #[test]
    fn numbers_are_read_with_their_marks() {
        let read = |text| european().number(text);
        for (text, number) in [
            ("1.234,56", "1234.56"),
            ("1234,56", "1234.56"),
            ("-12.345.678", "-12345678"),
            ("+0,5", "+0.5"),
            (",5", ".5"),
            ("7", "7"),
            ("1,5e3", "1.5e3"),
            (" 2,50 ", "2.50"),
        ] {
            assert_eq!(read(text).as_ref().map(|read| read.as_str()), Some(number), "{text}");
        }
        // In another dialect, these would be read as unintended numbers.
        for text in ["1.5", "1,234.5", "12.34,5", "1234.567", ".123", "1..234", "1,2,3", "1 234", "0x10", "1.234.56"] {
            assert_eq!(read(text), None, "{text}");
        }
    }

    #[test]
    fn a_decimal_comma_alone_leaves_no_points() {
        let dialect = Dialect::default().with_marks(',', None).unwrap();
        assert_eq!(*dialect.number("1234,5").unwrap(), "1234.5");
        assert_eq!(dialect.number("1.234"), None);
    }

    #[test]
    fn every_grouped_number_is_read_as_it_is_without_groups() {
        let spaces = Dialect::default().with_marks('.', Some('\u{202f}')).unwrap();
        for number in [0_u64, 9, 10, 999, 1000, 12_345, 999_999, 1_000_000, u64::MAX] {
            let plain = number.to_string();
            let mut grouped = String::new();
            for (at, digit) in plain.chars().enumerate() {
                if at > 0 && (plain.len() - at).is_multiple_of(3) {
                    grouped.push('\u{202f}');
                }
                grouped.push(digit);
            }
            assert_eq!(*spaces.number(&grouped).unwrap(), plain);
            assert_eq!(*spaces.number(&plain).unwrap(), plain);
        }
    }

    #[test]
    fn dialects_that_contradict_themselves_are_refused() {
        for delimiter in ['a', '0', '"', '\n', '\r', '-', 'é', '\0'] {
            assert_eq!(Dialect::default().delimited_by(delimiter), Err(DialectError::Delimiter), "{delimiter:?}");
        }
        assert_eq!(Dialect::default().with_marks(';', None), Err(DialectError::Decimal));
        assert_eq!(Dialect::default().with_marks(',', Some('x')), Err(DialectError::Thousands));
        assert_eq!(Dialect::default().with_marks(',', Some(',')), Err(DialectError::Same));
    }
}
