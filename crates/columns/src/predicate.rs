//! Conditions on plain columns: which rows of a table are added up.
//!
//! `NAME OPERATOR VALUE` with `=`, `!=` (or `<>`), `<`, `<=`, `>`, `>=`; `NAME is null`, `NAME is not null`; several of them with `and`
//! between. A name or value with other characters than letters, digits, `_`, `.`, `-`, `+` and `:` stands in quotes, single ones for
//! values and double ones for names, doubled within. A value is read as the column's type has it, and compared as that type is: text by
//! its bytes, floating-point numbers with NaN as the largest. But text is compared as numbers, which its cells must be or empty,
//! where the value is a number without quotes: a table that was CSV has only text. A row whose cell is null, or empty where a number is
//! sought, meets no condition but `is null`.

use std::iter::Peekable;
use std::str::{Chars, FromStr};

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, BooleanArray, RecordBatch, Scalar, StringArray};
use arrow_buffer::BooleanBuffer;
use arrow_cast::{CastOptions, cast_with_options};
use arrow_ord::cmp;
use arrow_schema::{DataType, Schema};

use crate::encrypt::find;
use crate::error::{Error, ErrorKind};
use crate::groups::{as_plain, plain};
use crate::metadata::is_encrypted;

/// What is wrong with a condition.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PredicateError {
    /// A text that is none.
    #[error("no condition: {expected} expected {}", place(.found))]
    Text {
        /// What should stand there.
        expected: &'static str,
        /// What stands there; nothing at the end.
        found: Option<String>,
    },
    /// A quoted text that does not end.
    #[error("no condition: a quote is not closed")]
    Quote,
    /// A value that the column's type does not have.
    #[error("holds {kind}, and {value} is none", value = format_args!("'{}'", .value.escape_debug()))]
    Value {
        /// The type of the column.
        kind: String,
        /// The value given.
        value: String,
    },
    /// Cells that have no order.
    #[error("holds {kind}, which cannot be compared")]
    Type {
        /// The type of the column.
        kind: String,
    },
    /// An encrypted column.
    #[error("is encrypted: conditions need plain values")]
    Encrypted,
}

fn place(found: &Option<String>) -> String {
    found.as_ref().map_or_else(|| "at the end".to_owned(), |found| format!("at '{}'", found.escape_debug()))
}

/// Conditions that must all hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Predicate(Vec<Condition>);

#[derive(Clone, Debug, PartialEq, Eq)]
struct Condition {
    column: String,
    test: Test,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Test {
    Compare(Comparison, Value),
    Null(bool),
}

/// What cells are compared with.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Value {
    text: String,
    quoted: bool,
}

/// The type in which text is compared as numbers: 38 digits at either side of the point.
const NUMBER: DataType = DataType::Decimal256(76, 38);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Comparison {
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

impl Predicate {
    /// Both these conditions and others.
    pub fn and(mut self, other: Self) -> Self {
        self.0.extend(other.0);
        self
    }

    /// The columns that it looks at.
    pub fn columns(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|condition| &*condition.column)
    }

    /// The conditions in the types of a table's columns.
    ///
    /// # Errors
    /// [`ErrorKind::Predicate`]; a column that the table does not have.
    pub fn bind(&self, schema: &Schema) -> Result<BoundPredicate, Error> {
        let bound = |condition: &Condition| condition.bind(schema);
        self.0.iter().map(bound).collect::<Result<_, _>>().map(BoundPredicate)
    }
}

impl Condition {
    fn bind(&self, schema: &Schema) -> Result<Bound, Error> {
        let fault = |error: PredicateError| ErrorKind::from(error).in_column(&self.column);
        let field = find(schema, &self.column)?;
        if is_encrypted(field) {
            return Err(fault(PredicateError::Encrypted));
        }
        let mut kind = plain(field.data_type());
        let test = match &self.test {
            Test::Null(wanted) => BoundTest::Null(*wanted),
            Test::Compare(comparison, value) => {
                if kind == DataType::Utf8 && !value.quoted && read(&value.text, &NUMBER).is_ok() {
                    kind = NUMBER;
                }
                BoundTest::Compare(*comparison, read(&value.text, &kind).map_err(fault)?)
            }
        };
        Ok(Bound { column: self.column.clone(), test })
    }
}

/// A value of a type.
fn read(value: &str, kind: &DataType) -> Result<ArrayRef, PredicateError> {
    if kind.is_nested() || matches!(kind, DataType::Null | DataType::Binary | DataType::FixedSizeBinary(_)) {
        return Err(PredicateError::Type { kind: kind.to_string() });
    }
    let wrong = || PredicateError::Value { kind: kind.to_string(), value: value.to_owned() };
    let options = CastOptions { safe: false, ..CastOptions::default() };
    let cast = cast_with_options(&StringArray::from(vec![value]), kind, &options).and_then(|array| as_plain(&array));
    let array = cast.map_err(|_| wrong())?;
    // A decimal with more digits than the column has would be rounded.
    let text = cast_with_options(&array, &DataType::Utf8, &options);
    let back = text.and_then(|text| cast_with_options(&text, &DataType::Float64, &options));
    let given = cast_with_options(&StringArray::from(vec![value]), &DataType::Float64, &options);
    match (kind.is_decimal(), back, given) {
        (true, Ok(back), Ok(given)) if back.to_data() != given.to_data() => Err(wrong()),
        _ if array.is_null(0) => Err(wrong()),
        _ => Ok(array),
    }
}

/// Conditions on the columns of one table.
#[derive(Debug)]
pub struct BoundPredicate(Vec<Bound>);

#[derive(Debug)]
struct Bound {
    column: String,
    test: BoundTest,
}

#[derive(Debug)]
enum BoundTest {
    /// With an array of one cell, in the type in which cells are compared.
    Compare(Comparison, ArrayRef),
    Null(bool),
}

impl BoundPredicate {
    /// For each row of a batch whether all conditions hold.
    ///
    /// # Errors
    /// A batch without the columns.
    pub fn keep(&self, batch: &RecordBatch) -> Result<BooleanArray, Error> {
        let mut keep = BooleanBuffer::new_set(batch.num_rows());
        for bound in &self.0 {
            find(batch.schema_ref(), &bound.column)?;
            let array = batch.column_by_name(&bound.column).ok_or(ErrorKind::NothingEncrypted)?;
            let holds = bound.test.holds(array).map_err(|error| error.in_column(&bound.column))?;
            keep = &keep & &holds;
        }
        Ok(BooleanArray::new(keep, None))
    }
}

impl BoundTest {
    fn holds(&self, array: &ArrayRef) -> Result<BooleanBuffer, Error> {
        let nulls = array.logical_nulls();
        match self {
            BoundTest::Null(wanted) => {
                let valid = nulls.map_or_else(|| BooleanBuffer::new_set(array.len()), |nulls| nulls.inner().clone());
                Ok(if *wanted { !&valid } else { valid })
            }
            BoundTest::Compare(comparison, value) => {
                let mut array = as_plain(array)?;
                if *value.data_type() == NUMBER && array.data_type() == &DataType::Utf8 {
                    array = numbers(&array)?;
                }
                let value = Scalar::new(value.clone());
                let compared = match comparison {
                    Comparison::Equal => cmp::eq(&array, &value),
                    Comparison::NotEqual => cmp::neq(&array, &value),
                    Comparison::Less => cmp::lt(&array, &value),
                    Comparison::LessOrEqual => cmp::lt_eq(&array, &value),
                    Comparison::Greater => cmp::gt(&array, &value),
                    Comparison::GreaterOrEqual => cmp::gt_eq(&array, &value),
                }?;
                let (holds, nulls) = compared.into_parts();
                Ok(nulls.map_or(holds.clone(), |nulls| &holds & nulls.inner()))
            }
        }
    }
}

/// Text as numbers, null where it is empty.
fn numbers(text: &ArrayRef) -> Result<ArrayRef, Error> {
    let numbers = cast_with_options(text, &NUMBER, &CastOptions { safe: true, ..CastOptions::default() })?;
    let text = text.as_string::<i32>();
    let wrong = |&row: &usize| numbers.is_null(row) && text.is_valid(row) && !text.value(row).is_empty();
    match (0..text.len()).find(wrong) {
        Some(row) => Err(ErrorKind::NotANumber.at_row(row as u64)),
        None => Ok(numbers),
    }
}

/// A piece of the text.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Token {
    Word(String),
    Name(String),
    Value(String),
    Sign(Comparison),
}

impl Token {
    fn text(self) -> String {
        match self {
            Token::Word(text) | Token::Name(text) | Token::Value(text) => text,
            Token::Sign(_) => "an operator".to_owned(),
        }
    }

    fn is_word(&self, word: &str) -> bool {
        matches!(self, Token::Word(found) if found.eq_ignore_ascii_case(word))
    }
}

impl FromStr for Predicate {
    type Err = PredicateError;

    fn from_str(text: &str) -> Result<Self, PredicateError> {
        let mut tokens = tokens(text)?.into_iter().peekable();
        let mut conditions = Vec::new();
        loop {
            conditions.push(condition(&mut tokens)?);
            match tokens.next() {
                None => return Ok(Self(conditions)),
                Some(token) if token.is_word("and") => {}
                Some(token) => return Err(unexpected("`and`", Some(token))),
            }
        }
    }
}

fn unexpected(expected: &'static str, found: Option<Token>) -> PredicateError {
    PredicateError::Text { expected, found: found.map(Token::text) }
}

fn condition(tokens: &mut Peekable<impl Iterator<Item = Token>>) -> Result<Condition, PredicateError> {
    let column = match tokens.next() {
        Some(Token::Word(name) | Token::Name(name)) => name,
        other => return Err(unexpected("a column", other)),
    };
    let test = match tokens.next() {
        Some(Token::Sign(comparison)) => match tokens.next() {
            Some(Token::Word(text)) => Test::Compare(comparison, Value { text, quoted: false }),
            Some(Token::Value(text)) => Test::Compare(comparison, Value { text, quoted: true }),
            other => return Err(unexpected("a value", other)),
        },
        Some(token) if token.is_word("is") => {
            let wanted = tokens.next_if(|token| token.is_word("not")).is_none();
            match tokens.next() {
                Some(token) if token.is_word("null") => Test::Null(wanted),
                other => return Err(unexpected("`null`", other)),
            }
        }
        other => return Err(unexpected("an operator", other)),
    };
    Ok(Condition { column, test })
}

fn tokens(text: &str) -> Result<Vec<Token>, PredicateError> {
    let mut chars = text.chars().peekable();
    let mut tokens = Vec::new();
    while let Some(&c) = chars.peek() {
        let token = match c {
            c if c.is_whitespace() => {
                chars.next();
                continue;
            }
            '\'' => Token::Value(quoted(&mut chars)?),
            '"' => Token::Name(quoted(&mut chars)?),
            '=' | '!' | '<' | '>' => Token::Sign(sign(&mut chars)?),
            c if stands_bare(c) => {
                let mut word = String::new();
                while let Some(c) = chars.next_if(|&c| stands_bare(c)) {
                    word.push(c);
                }
                Token::Word(word)
            }
            c => {
                let expected = "a name, an operator or a value in quotes";
                return Err(PredicateError::Text { expected, found: Some(c.to_string()) });
            }
        };
        tokens.push(token);
    }
    Ok(tokens)
}

fn stands_bare(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '.' | '-' | '+' | ':')
}

/// What is in quotes; the same quote doubled stands for itself.
fn quoted(chars: &mut Peekable<Chars<'_>>) -> Result<String, PredicateError> {
    let Some(quote) = chars.next() else { return Err(PredicateError::Quote) };
    let mut text = String::new();
    loop {
        match chars.next().ok_or(PredicateError::Quote)? {
            c if c != quote => text.push(c),
            _ if chars.next_if_eq(&quote).is_some() => text.push(quote),
            _ => return Ok(text),
        }
    }
}

fn sign(chars: &mut Peekable<Chars<'_>>) -> Result<Comparison, PredicateError> {
    let first = chars.next();
    let equal = chars.next_if_eq(&'=').is_some();
    match (first, equal) {
        (Some('='), _) => Ok(Comparison::Equal),
        (Some('!'), true) => Ok(Comparison::NotEqual),
        (Some('<'), true) => Ok(Comparison::LessOrEqual),
        (Some('<'), false) if chars.next_if_eq(&'>').is_some() => Ok(Comparison::NotEqual),
        (Some('<'), false) => Ok(Comparison::Less),
        (Some('>'), true) => Ok(Comparison::GreaterOrEqual),
        (Some('>'), false) => Ok(Comparison::Greater),
        (other, _) => Err(PredicateError::Text { expected: "an operator", found: other.map(|c| c.to_string()) }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    use arrow_array::types::Int32Type;
    use arrow_array::{BinaryArray, Date32Array, Decimal128Array, DictionaryArray, Float64Array, Int8Array};

    fn table() -> RecordBatch {
        let columns: Vec<(&str, ArrayRef)> = vec![
            ("n", Arc::new(Int8Array::from(vec![Some(-3), Some(0), None, Some(7)]))),
            ("name", Arc::new(StringArray::from(vec![Some("lab"), Some("it's"), None, Some("")]))),
            ("text", Arc::new(StringArray::from(vec!["100", "", "30", "7.5"]))),
            (
                "dict",
                Arc::new(
                    vec![Some("a"), None, Some("b"), Some("a")].into_iter().collect::<DictionaryArray<Int32Type>>(),
                ),
            ),
            ("day", Arc::new(Date32Array::from(vec![Some(0), Some(1), Some(20_000), None]))),
            ("price", Arc::new(Decimal128Array::from(vec![150, -25, 0, 1]).with_precision_and_scale(10, 2).unwrap())),
            ("x", Arc::new(Float64Array::from(vec![-0.0, 1.5, f64::NAN, f64::NEG_INFINITY]))),
            ("yes", Arc::new(BooleanArray::from(vec![true, false, true, false]))),
            ("a b\"c", Arc::new(Int8Array::from(vec![1, 2, 3, 4]))),
            ("raw", Arc::new(BinaryArray::from(vec![&b"x"[..]; 4]))),
        ];
        RecordBatch::try_from_iter_with_nullable(columns.into_iter().map(|(name, array)| (name, array, true))).unwrap()
    }

    /// The rows that are kept.
    fn kept(text: &str) -> Vec<usize> {
        let table = table();
        let bound = text.parse::<Predicate>().unwrap().bind(&table.schema()).unwrap();
        let keep = bound.keep(&table).unwrap();
        (0..4).filter(|&row| keep.value(row)).collect()
    }

    #[test]
    fn rows_that_meet_all_conditions_are_kept() {
        for (text, rows) in [
            ("n = 0", &[1][..]),
            ("n==0", &[1]),
            ("n != 0", &[0, 3]),
            ("n <> 0", &[0, 3]),
            ("n<0", &[0]),
            ("n <= 0", &[0, 1]),
            ("n > -3", &[1, 3]),
            ("n>=+7", &[3]),
            ("n is null", &[2]),
            ("n IS NOT NULL", &[0, 1, 3]),
            ("name = lab", &[0]),
            ("name = 'it''s'", &[1]),
            ("text >= 30", &[0, 2]),
            ("text >= '30'", &[2, 3]),
            ("text = 7.50", &[3]),
            ("text = '7.50'", &[]),
            ("name = ''", &[3]),
            ("name < lab", &[1, 3]),
            ("dict = a", &[0, 3]),
            ("dict != a", &[2]),
            ("dict is null", &[1]),
            ("day >= 1970-01-02", &[1, 2]),
            ("price = 1.5", &[0]),
            ("price = 1.50 and price > -1", &[0]),
            ("price < 0.01", &[1, 2]),
            ("x = 0", &[0]),
            ("x > 1", &[1, 2]),
            ("x < -1e300", &[3]),
            ("yes = true and n is not null", &[0]),
            ("yes = false AND n = 7 and name = ''", &[3]),
            ("\"a b\"\"c\" >= 3", &[2, 3]),
            ("raw is null", &[]),
        ] {
            assert_eq!(kept(text), rows, "{text}");
        }
    }

    #[test]
    fn what_is_no_condition_is_said_where() {
        for (text, expected) in [
            ("", "a column expected at the end"),
            ("n", "an operator expected at the end"),
            ("n =", "a value expected at the end"),
            ("n = = 1", "a value expected at 'an operator'"),
            ("n = 1 n = 2", "`and` expected at 'n'"),
            ("n = 1 and", "a column expected at the end"),
            ("n is nothing", "`null` expected at 'nothing'"),
            ("'n' = 1", "a column expected at 'n'"),
            ("n = \"x\"", "a value expected at 'x'"),
            ("n ! 1", "an operator expected at '!'"),
            ("n = (1)", "a name, an operator or a value in quotes expected at '('"),
            ("n = 'x", "a quote is not closed"),
        ] {
            let error = text.parse::<Predicate>().unwrap_err().to_string();
            assert_eq!(error, format!("no condition: {expected}"), "{text}");
        }
    }

    #[test]
    fn text_that_is_no_number_is_an_error_where_a_number_is_sought() {
        let bound = "name > 1".parse::<Predicate>().unwrap().bind(&table().schema()).unwrap();
        assert_eq!(bound.keep(&table()).unwrap_err().to_string(), "row 0, column name: is not a number");
    }

    #[test]
    fn conditions_that_do_not_fit_the_columns_are_refused() {
        for (text, expected) in [
            ("m = 1", "column m: there is no such column"),
            ("n = 1000", "column n: holds Int8, and '1000' is none"),
            ("n = 1.5", "column n: holds Int8, and '1.5' is none"),
            ("n = x", "column n: holds Int8, and 'x' is none"),
            ("price = 1.505", "column price: holds Decimal128(10, 2), and '1.505' is none"),
            ("day = lab", "column day: holds Date32, and 'lab' is none"),
            ("yes = perhaps", "column yes: holds Boolean, and 'perhaps' is none"),
            ("raw = x", "column raw: holds Binary, which cannot be compared"),
        ] {
            let error = text.parse::<Predicate>().unwrap().bind(&table().schema()).unwrap_err().to_string();
            assert!(error.starts_with(expected), "{text}: {error}");
        }
    }
}
