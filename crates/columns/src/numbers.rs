//! Cells as exact scaled integers, from every Arrow type that holds numbers and from text.
//!
//! A cell of value `v` becomes the integer `v * 10^scale`. Nothing is lost silently: a cell with
//! more fractional digits is an error, or is rounded half to even on request. A float represents
//! the shortest decimal number that reads back as the same float.
//!
//! Cells are read in place, also in dictionaries and runs. The numbers and intermediate texts are
//! wiped from memory.

use std::fmt::Write;

use arrow_array::cast::AsArray;
use arrow_array::types::*;
use arrow_array::{Array, ArrowPrimitiveType, PrimitiveArray};
use arrow_buffer::i256;
use arrow_schema::{DataType, Field};
use hearith_paillier::ErrorKind as PaillierKind;
use hearith_paillier::encoding::{format_decimal, parse_decimal};
use zeroize::Zeroizing;

use crate::error::{Error, ErrorKind};
use crate::metadata::MAX_SCALE;

/// The treatment of fractional digits beyond the scale.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Rounding {
    /// Rejects the cell.
    #[default]
    Exact,
    /// Rounds to the nearest number, half to even.
    HalfEven,
}

/// Scaled integers, `None` for nulls.
pub(crate) type Numbers = Zeroizing<Vec<Option<i128>>>;

/// Returns the number of a row, `None` for null.
type Cells<'a> = Box<dyn Fn(usize) -> Result<Option<i128>, Fault> + 'a>;

/// Why a cell cannot become a scaled integer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fault {
    NotANumber,
    TooManyDigits,
    OutOfRange,
}

/// Parses the cells of one column into scaled integers.
#[derive(Clone, Debug)]
pub(crate) struct DecimalParser {
    /// Name of the column, for errors.
    pub(crate) column: String,
    /// Fractional decimal digits kept.
    pub(crate) scale: u32,
    /// Largest magnitude after scaling.
    pub(crate) range: u128,
    /// The treatment of further digits.
    pub(crate) rounding: Rounding,
    /// Whether errors show the cell.
    pub(crate) show_cells: bool,
}

/// The scale of a column's type: that of a decimal, otherwise 0.
pub(crate) fn natural_scale(field: &Field) -> u32 {
    match field.data_type() {
        DataType::Decimal32(_, scale)
        | DataType::Decimal64(_, scale)
        | DataType::Decimal128(_, scale)
        | DataType::Decimal256(_, scale) => u32::from(scale.max(&0).unsigned_abs()),
        _ => 0,
    }
}

/// Checks that a type can hold numbers: numeric types, text, booleans (1 and 0), and all nulls.
pub(crate) fn check_numeric(field: &Field) -> Result<(), Error> {
    match value_type(field.data_type()) {
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View | DataType::Boolean | DataType::Null => Ok(()),
        kind if kind.is_numeric() => Ok(()),
        found => Err(ErrorKind::NotNumeric { found: found.to_string() }.in_column(field.name())),
    }
}

/// The type of the values in dictionaries and runs.
fn value_type(kind: &DataType) -> &DataType {
    match kind {
        DataType::Dictionary(_, values) => value_type(values),
        DataType::RunEndEncoded(_, values) => value_type(values.data_type()),
        other => other,
    }
}

impl DecimalParser {
    /// The scaled integers of a column.
    ///
    /// # Errors
    /// Reports the first cell that is not a number, has too many digits, or is out of range.
    pub(crate) fn read(&self, array: &dyn Array) -> Result<Numbers, Error> {
        let cells = self.cells(array)?;
        let mut numbers = Zeroizing::new(Vec::with_capacity(array.len()));
        for row in 0..array.len() {
            let number = cells(row).and_then(|cell| cell.map(|number| self.check_range(number)).transpose());
            numbers.push(number.map_err(|fault| self.error(array, row, fault))?);
        }
        Ok(numbers)
    }

    /// A reader for the cells of an array.
    fn cells<'a>(&'a self, array: &'a dyn Array) -> Result<Cells<'a>, Error> {
        macro_rules! integers {
            ($kind:ty) => {
                each(array.as_primitive::<$kind>(), |value| self.rescale(value.into(), 0))
            };
        }
        macro_rules! decimals {
            ($kind:ty, $scale:expr) => {{
                let scale = i32::from(*$scale);
                each(array.as_primitive::<$kind>(), move |value| self.rescale(value.into(), scale))
            }};
        }
        macro_rules! texts {
            ($array:expr) => {{
                let texts = $array;
                let cell = move |row| self.parse(texts.value(row).trim_ascii()).map(Some);
                Box::new(move |row| if texts.is_null(row) { Ok(None) } else { cell(row) })
            }};
        }
        macro_rules! runs {
            ($kind:ty) => {{
                let runs = array.as_run::<$kind>();
                let cell = self.cells(runs.values())?;
                Box::new(move |row| cell(runs.get_physical_index(row)))
            }};
        }
        Ok(match array.data_type() {
            DataType::Int8 => integers!(Int8Type),
            DataType::Int16 => integers!(Int16Type),
            DataType::Int32 => integers!(Int32Type),
            DataType::Int64 => integers!(Int64Type),
            DataType::UInt8 => integers!(UInt8Type),
            DataType::UInt16 => integers!(UInt16Type),
            DataType::UInt32 => integers!(UInt32Type),
            DataType::UInt64 => integers!(UInt64Type),
            DataType::Decimal32(_, scale) => decimals!(Decimal32Type, scale),
            DataType::Decimal64(_, scale) => decimals!(Decimal64Type, scale),
            DataType::Decimal128(_, scale) => decimals!(Decimal128Type, scale),
            DataType::Decimal256(_, scale) => {
                let scale = i32::from(*scale);
                each(array.as_primitive::<Decimal256Type>(), move |value: i256| {
                    self.rescale(value.to_i128().ok_or(Fault::OutOfRange)?, scale)
                })
            }
            DataType::Float16 => each(array.as_primitive::<Float16Type>(), |value| self.float(value.to_f32())),
            DataType::Float32 => each(array.as_primitive::<Float32Type>(), |value| self.float(value)),
            DataType::Float64 => each(array.as_primitive::<Float64Type>(), |value| self.float(value)),
            DataType::Boolean => {
                let values = array.as_boolean();
                let cell = move |row| self.rescale(values.value(row).into(), 0).map(Some);
                Box::new(move |row| if values.is_null(row) { Ok(None) } else { cell(row) })
            }
            DataType::Null => Box::new(|_| Ok(None)),
            DataType::Utf8 => texts!(array.as_string::<i32>()),
            DataType::LargeUtf8 => texts!(array.as_string::<i64>()),
            DataType::Utf8View => texts!(array.as_string_view()),
            DataType::Dictionary(..) => {
                let dictionary = array.as_any_dictionary();
                let cell = self.cells(dictionary.values())?;
                // Keys of nulls are arbitrary. Without values, all keys are of nulls.
                let keys = match dictionary.values().is_empty() {
                    true => vec![0; array.len()],
                    false => dictionary.normalized_keys(),
                };
                Box::new(move |row| if array.is_null(row) { Ok(None) } else { cell(keys[row]) })
            }
            DataType::RunEndEncoded(ends, _) => match ends.data_type() {
                DataType::Int16 => runs!(Int16Type),
                DataType::Int32 => runs!(Int32Type),
                _ => runs!(Int64Type),
            },
            found => return Err(ErrorKind::NotNumeric { found: found.to_string() }.in_column(&self.column)),
        })
    }

    fn error(&self, array: &dyn Array, row: usize, fault: Fault) -> Error {
        let kind = match fault {
            Fault::NotANumber => ErrorKind::NotANumber,
            Fault::TooManyDigits => ErrorKind::TooManyDigits { scale: self.scale },
            Fault::OutOfRange => {
                let range = i128::try_from(self.range).unwrap_or(i128::MAX);
                ErrorKind::OutOfRange { range: format_decimal(range, self.scale) }
            }
        };
        let error = kind.at(row, &self.column);
        match self.show_cells {
            true => error.showing(&arrow_cast::display::array_value_to_string(array, row).unwrap_or_default()),
            false => error,
        }
    }

    fn check_range(&self, number: i128) -> Result<i128, Fault> {
        match number.unsigned_abs() <= self.range {
            true => Ok(number),
            false => Err(Fault::OutOfRange),
        }
    }

    /// `value * 10^-from` at the column's scale.
    fn rescale(&self, value: i128, from: i32) -> Result<i128, Fault> {
        let up = self.scale as i32 - from;
        if value == 0 || up == 0 {
            return Ok(value);
        }
        let power = 10_i128.checked_pow(up.unsigned_abs());
        if up > 0 {
            return power.and_then(|power| value.checked_mul(power)).ok_or(Fault::OutOfRange);
        }
        // A power beyond 10^38 exceeds twice any value, so only a fraction below one half remains.
        let (whole, rest) = power.map_or((0, value), |power| (value / power, value % power));
        match (rest, self.rounding) {
            (0, _) => Ok(whole),
            (_, Rounding::Exact) => Err(Fault::TooManyDigits),
            (_, Rounding::HalfEven) => {
                let half = power.map_or(u128::MAX, |power| power.unsigned_abs() / 2);
                let away = rest.unsigned_abs() > half || (rest.unsigned_abs() == half && whole % 2 != 0);
                Ok(whole + if away { value.signum() } else { 0 })
            }
        }
    }

    /// Reads a float through its shortest decimal form.
    fn float(&self, value: impl std::fmt::Display) -> Result<i128, Fault> {
        /// Longer than any double's text, so the text is never reallocated.
        const MAX_TEXT: usize = 512;
        let mut text = Zeroizing::new(String::with_capacity(MAX_TEXT));
        write!(text, "{value}").map_err(|_| Fault::NotANumber)?;
        self.parse(&text)
    }

    /// Parses a number in decimal notation, with or without an exponent, at the column's scale.
    fn parse(&self, text: &str) -> Result<i128, Fault> {
        let decimal = match text.bytes().any(|byte| byte | 0x20 == b'e') {
            true => &without_exponent(text).ok_or(Fault::NotANumber)?,
            false => text,
        };
        let error = match parse_decimal(decimal, self.scale) {
            Ok(number) => return Ok(number),
            Err(error) => error,
        };
        match error.kind() {
            PaillierKind::TooManyPlaces { .. } if self.rounding == Rounding::HalfEven => self.round(decimal),
            PaillierKind::TooManyPlaces { .. } => Err(Fault::TooManyDigits),
            PaillierKind::OutOfRange => Err(Fault::OutOfRange),
            _ => Err(Fault::NotANumber),
        }
    }

    /// Rounds a well-formed decimal number with more than `scale` fractional digits.
    fn round(&self, text: &str) -> Result<i128, Fault> {
        let point = text.find('.').ok_or(Fault::NotANumber)?;
        let cut = point + 1 + self.scale as usize;
        let (kept, rest) = text.split_at_checked(cut).ok_or(Fault::NotANumber)?;
        if !rest.bytes().all(|digit| digit.is_ascii_digit()) {
            return Err(Fault::NotANumber);
        }
        let kept = kept.strip_suffix('.').unwrap_or(kept);
        // ".7" at scale 0 keeps no digit.
        let kept = match kept.trim_start_matches(['+', '-']) {
            "" => 0,
            _ => parse_decimal(kept, self.scale).map_err(|_| Fault::OutOfRange)?,
        };
        let beyond_half = match rest.as_bytes() {
            [b'5', tail @ ..] => tail.iter().any(|&digit| digit != b'0') || kept % 2 != 0,
            [first, ..] => *first > b'5',
            [] => false,
        };
        let away = if text.starts_with('-') { -1 } else { 1 };
        match beyond_half {
            true => kept.checked_add(away).ok_or(Fault::OutOfRange),
            false => Ok(kept),
        }
    }
}

/// A reader for the cells of a primitive array.
fn each<'a, T: ArrowPrimitiveType>(
    array: &'a PrimitiveArray<T>,
    scaled: impl Fn(T::Native) -> Result<i128, Fault> + 'a,
) -> Cells<'a> {
    Box::new(move |row| if array.is_null(row) { Ok(None) } else { scaled(array.value(row)).map(Some) })
}

/// Writes `1.5e-7` as `0.00000015`. `None` if the text is not such a number or its exponent is too
/// large.
fn without_exponent(text: &str) -> Option<Zeroizing<String>> {
    const LARGEST: i32 = 400;
    let (number, exponent) = text.split_once(['e', 'E'])?;
    let digits = exponent.strip_prefix(['+', '-']).unwrap_or(exponent);
    if digits.is_empty() || !digits.bytes().all(|digit| digit.is_ascii_digit()) {
        return None;
    }
    let exponent: i32 = exponent.parse().ok().filter(|e: &i32| e.abs() <= LARGEST)?;
    let unsigned = number.strip_prefix(['+', '-']).unwrap_or(number);
    let sign = &number[..number.len() - unsigned.len()];
    let (whole, fraction) = unsigned.split_once('.').unwrap_or((unsigned, ""));
    let digits = || whole.bytes().chain(fraction.bytes());
    if digits().next().is_none() || !digits().all(|digit| digit.is_ascii_digit()) {
        return None;
    }
    let count = i32::try_from(whole.len() + fraction.len()).ok()?;
    let point = i32::try_from(whole.len()).ok()? + exponent;
    let (before, after) = ((1 - point).max(0), (point - count).max(0));
    let zeros = |count: i32| std::iter::repeat_n('0', count as usize);
    let padded = zeros(before).chain(digits().map(char::from)).chain(zeros(after));
    // Full capacity, so the text is never reallocated.
    let mut decimal = Zeroizing::new(String::with_capacity(sign.len() + (before + count + after) as usize + 1));
    decimal.push_str(sign);
    for (index, digit) in padded.enumerate() {
        if index == point.max(1) as usize {
            decimal.push('.');
        }
        decimal.push(digit);
    }
    Some(decimal)
}

/// Parses a declared range at the column's scale: a positive decimal number in the column's own
/// units.
pub(crate) fn scaled_range(column: &str, text: &str, scale: u32) -> Result<u128, Error> {
    let range = i128::MAX as u128;
    let parser =
        DecimalParser { column: column.to_owned(), scale, range, rounding: Rounding::Exact, show_cells: false };
    match parser.parse(text) {
        Ok(range) if range > 0 => Ok(range.unsigned_abs()),
        _ => Err(ErrorKind::BadRange { text: text.to_owned() }.in_column(column)),
    }
}

/// Checks a scale.
pub(crate) fn check_scale(column: &str, scale: u32) -> Result<u32, Error> {
    match scale <= MAX_SCALE {
        true => Ok(scale),
        false => Err(ErrorKind::BadScale { scale }.in_column(column)),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow_array::*;
    use arrow_schema::TimeUnit;
    use proptest::prelude::*;

    use super::*;

    fn parser(scale: u32, rounding: Rounding) -> DecimalParser {
        DecimalParser { column: "x".into(), scale, range: i128::MAX as u128, rounding, show_cells: true }
    }

    fn read(array: &dyn Array, scale: u32) -> Result<Vec<Option<i128>>, String> {
        parser(scale, Rounding::Exact).read(array).map(|numbers| numbers.to_vec()).map_err(|error| error.to_string())
    }

    fn rounded(array: &dyn Array, scale: u32) -> Vec<Option<i128>> {
        parser(scale, Rounding::HalfEven).read(array).unwrap().to_vec()
    }

    #[test]
    fn integers_of_every_width() {
        let expected = Ok(vec![Some(700), None, Some(100)]);
        let columns: Vec<ArrayRef> = vec![
            Arc::new(Int8Array::from(vec![Some(7), None, Some(1)])),
            Arc::new(Int16Array::from(vec![Some(7), None, Some(1)])),
            Arc::new(Int32Array::from(vec![Some(7), None, Some(1)])),
            Arc::new(Int64Array::from(vec![Some(7), None, Some(1)])),
            Arc::new(UInt8Array::from(vec![Some(7), None, Some(1)])),
            Arc::new(UInt16Array::from(vec![Some(7), None, Some(1)])),
            Arc::new(UInt32Array::from(vec![Some(7), None, Some(1)])),
            Arc::new(UInt64Array::from(vec![Some(7), None, Some(1)])),
            Arc::new(Float32Array::from(vec![Some(7.0), None, Some(1.0)])),
            Arc::new(Float64Array::from(vec![Some(7.0), None, Some(1.0)])),
            Arc::new(StringArray::from(vec![Some("7"), None, Some("1.00")])),
            Arc::new(LargeStringArray::from(vec![Some("7"), None, Some(" 1 ")])),
            Arc::new(StringViewArray::from(vec![Some("+7.0"), None, Some("1")])),
            Arc::new(DictionaryArray::<types::Int8Type>::from_iter([Some("7"), None, Some("1")])),
        ];
        for column in columns {
            assert_eq!(read(&column, 2), expected, "{}", column.data_type());
        }
        let extremes = UInt64Array::from(vec![u64::MAX]);
        assert_eq!(read(&extremes, 0), Ok(vec![Some(u64::MAX.into())]));
    }

    #[test]
    fn nulls_are_nulls_behind_dictionaries_and_runs() {
        let expected = Ok(vec![Some(7), None, Some(7), None, Some(1)]);
        let keys = Int16Array::from(vec![Some(2), Some(1), Some(2), None, Some(0)]);
        let values: ArrayRef = Arc::new(Int64Array::from(vec![Some(1), None, Some(7)]));
        let dictionary: ArrayRef = Arc::new(DictionaryArray::new(keys, values.clone()));
        assert_eq!(read(&dictionary, 0), expected);
        assert_eq!(read(&dictionary.slice(1, 3), 0), Ok(vec![None, Some(7), None]));
        let ends = Int32Array::from(vec![1, 2, 3, 4, 5]);
        let cells = StringViewArray::from(vec![Some("7"), None, Some("7"), None, Some("1")]);
        let runs: ArrayRef = Arc::new(RunArray::<types::Int32Type>::try_new(&ends, &cells).unwrap());
        assert_eq!(read(&runs, 0), expected);
        assert_eq!(read(&runs.slice(2, 2), 0), Ok(vec![Some(7), None]));
        let halves = arrow_cast::cast(&Float64Array::from(vec![Some(0.5), None]), &DataType::Float16).unwrap();
        assert_eq!(read(&halves, 1), Ok(vec![Some(5), None]));
        let no_values = Int64Array::from(Vec::<i64>::new());
        let all_null = DictionaryArray::new(Int8Array::from(vec![None, None]), Arc::new(no_values));
        assert_eq!(read(&all_null, 0), Ok(vec![None, None]));
        // A value that no row refers to is not a cell.
        let unused: ArrayRef = Arc::new(StringArray::from(vec!["x", "3"]));
        assert_eq!(read(&DictionaryArray::new(Int8Array::from(vec![1, 1]), unused), 0), Ok(vec![Some(3), Some(3)]));
        for column in [dictionary, runs] {
            assert!(check_numeric(&Field::new("x", column.data_type().clone(), true)).is_ok());
        }
    }

    #[test]
    fn errors_show_cells_only_when_asked_to() {
        let silent = DecimalParser { show_cells: false, ..parser(0, Rounding::Exact) };
        let columns: [ArrayRef; 3] = [
            Arc::new(StringArray::from(vec!["1", "secret"])),
            Arc::new(Float64Array::from(vec![1.0, 777.5])),
            Arc::new(DictionaryArray::<types::Int8Type>::from_iter([Some("1"), Some("777.5")])),
        ];
        for column in columns {
            let error = silent.read(&column).unwrap_err();
            assert_eq!((error.row(), error.column()), (Some(1), Some("x")));
            let told = format!("{error} {error:?} {}", error.kind());
            assert!(!told.contains("secret") && !told.contains("777"), "{told}");
            let error = parser(0, Rounding::Exact).read(&column).unwrap_err();
            assert!(["\"secret\"", "\"777.5\""].contains(&error.cell().unwrap()), "{error}");
        }
    }

    #[test]
    fn truth_counts_one_and_columns_of_nulls_hold_nothing() {
        let truth = BooleanArray::from(vec![Some(true), None, Some(false)]);
        assert_eq!(read(&truth, 0).unwrap(), [Some(1), None, Some(0)]);
        assert_eq!(read(&truth, 2).unwrap(), [Some(100), None, Some(0)]);
        assert_eq!(read(&NullArray::new(2), 0).unwrap(), [None, None]);
    }

    #[test]
    fn decimals_keep_their_value() {
        let cents = Decimal128Array::from(vec![Some(1250), Some(-5), None]);
        let cents = cents.with_precision_and_scale(10, 2).unwrap();
        assert_eq!(read(&cents, 2), Ok(vec![Some(1250), Some(-5), None]));
        assert_eq!(read(&cents, 3), Ok(vec![Some(12500), Some(-50), None]));
        assert!(read(&cents, 1).unwrap_err().contains("row 1, column x: \"-0.05\" has more than 1"));
        assert_eq!(rounded(&cents, 1), [Some(125), Some(0), None]);
        assert_eq!(rounded(&cents, 0), [Some(12), Some(0), None]);
        let thousands = Decimal128Array::from(vec![3]).with_precision_and_scale(5, -3).unwrap();
        assert_eq!(read(&thousands, 0), Ok(vec![Some(3000)]));
        let wide = Decimal256Array::from(vec![i256::from(41)]).with_precision_and_scale(60, 1);
        assert_eq!(read(&wide.unwrap(), 1), Ok(vec![Some(41)]));
        let small = Decimal32Array::from(vec![41]).with_precision_and_scale(5, 1).unwrap();
        assert_eq!(read(&small, 1), Ok(vec![Some(41)]));
    }

    #[test]
    fn floats_stand_for_their_shortest_decimal() {
        let floats = Float64Array::from(vec![0.1, -2.5, 1e-5, 1e21]);
        assert_eq!(read(&floats, 5), Ok(vec![Some(10_000), Some(-250_000), Some(1), Some(10_i128.pow(26))]));
        assert!(read(&floats, 4).unwrap_err().starts_with("row 2, column x: "));
        assert_eq!(read(&Float32Array::from(vec![0.1_f32]), 1), Ok(vec![Some(1)]));
        for bad in [f64::NAN, f64::INFINITY] {
            let error = read(&Float64Array::from(vec![1.0, bad]), 5).unwrap_err();
            assert!(error.starts_with("row 1, column x: "), "{error}");
            assert!(error.ends_with("is not a number"), "{error}");
        }
        assert!(read(&Float64Array::from(vec![1e300]), 0).unwrap_err().contains("out of range"));
        assert_eq!(
            rounded(&Float64Array::from(vec![0.5, 1.5, -2.5, 1e-300]), 0),
            [Some(0), Some(2), Some(-2), Some(0)]
        );
    }

    #[test]
    fn texts_that_are_no_numbers_are_named() {
        for text in ["", "abc", "0x10", "1_000", "1,5", "--1", "1e", "e5", "1e5e5", ".", "NaN", "1e999"] {
            let error = read(&StringArray::from(vec!["1", text]), 2).unwrap_err();
            assert!(error.starts_with("row 1, column x: "), "{text}: {error}");
            assert!(error.ends_with("is not a number"), "{text}: {error}");
        }
    }

    #[test]
    fn exponents_are_written_out() {
        for (text, decimal) in [
            ("1e0", "1"),
            ("1.5e3", "1500"),
            ("-1.5E-3", "-0.0015"),
            ("+12.34e1", "+123.4"),
            ("12.34e+2", "1234"),
            ("0.5e-1", "0.05"),
            (".5e1", "5"),
        ] {
            assert_eq!(without_exponent(text).as_deref().map(String::as_str), Some(decimal), "{text}");
        }
        assert_eq!(read(&StringArray::from(vec!["2.5e-2", "1e2"]), 3), Ok(vec![Some(25), Some(100_000)]));
    }

    #[test]
    fn ranges_are_in_the_columns_units() {
        assert_eq!(scaled_range("x", "99.5", 2).ok(), Some(9950));
        for bad in ["0", "-1", "1.234", "abc", "1e60"] {
            assert!(scaled_range("x", bad, 2).is_err(), "{bad}");
        }
        let tight = DecimalParser { range: 9950, ..parser(2, Rounding::Exact) };
        assert!(tight.read(&StringArray::from(vec!["99.5", "-99.5"])).is_ok());
        let error = tight.read(&StringArray::from(vec!["99.5", "-99.51"])).unwrap_err();
        assert!(error.to_string().contains("at most 99.50"), "{error}");
    }

    #[test]
    fn types_without_numbers_are_refused() {
        for kind in [DataType::Date32, DataType::Time64(TimeUnit::Microsecond), DataType::Binary] {
            assert!(check_numeric(&Field::new("x", kind, true)).is_err());
        }
    }

    proptest! {
        #[test]
        fn rounding_text_agrees_with_rounding_decimals(value in any::<i64>(), from in 0_u32..12, to in 0_u32..12) {
            let text = format_decimal(value.into(), from);
            let array = Decimal128Array::from(vec![i128::from(value)]);
            let array = array.with_precision_and_scale(38, from as i8).unwrap();
            prop_assert_eq!(rounded(&StringArray::from(vec![text]), to), rounded(&array, to));
        }

        #[test]
        fn doubles_survive(value in any::<f64>().prop_filter("size", |v| v.abs() < 1e15 && v.abs() > 1e-4)) {
            let found = rounded(&Float64Array::from(vec![value]), 22)[0].unwrap();
            prop_assert_eq!(format_decimal(found, 22).parse::<f64>().unwrap(), value);
        }

        #[test]
        fn no_text_panics(text in ".*") {
            let _ = read(&StringArray::from(vec![text.clone()]), 3);
            let _ = parser(3, Rounding::HalfEven).read(&StringArray::from(vec![text]));
        }
    }
}
