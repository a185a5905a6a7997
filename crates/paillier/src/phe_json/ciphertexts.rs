//! Ciphertexts in python-paillier's JSON format.

use crate::ciphertexts::check_lengths;
use crate::{Ciphertexts, Error, ErrorKind, PublicKey};
use hearith_arith::natural::{from_decimal, to_decimal};
use hearith_arith::{ArithError, Batch};
use serde::de::{DeserializeSeed, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use std::borrow::Cow;
use std::fmt;

/// One ciphertext. Other members are ignored.
#[derive(Serialize, Deserialize)]
struct Object<'a> {
    #[serde(borrow)]
    v: Cow<'a, str>,
    e: i32,
}

/// Writes every ciphertext as a one-line JSON object with its exponent (see
/// [`encode`](super::encode)), which is 0 for integers.
///
/// # Errors
/// [`Lengths`](crate::ErrorKind::Lengths) unless there is one exponent per ciphertext.
pub fn export(ciphertexts: &Ciphertexts, exponents: &[i32]) -> Result<Vec<String>, Error> {
    check_lengths(ciphertexts.len(), exponents.len())?;
    let object = |(number, &e): (&[u64], &i32)| {
        // A struct of a string and a number always has a JSON form.
        serde_json::to_string(&Object { v: to_decimal(number).into(), e }).unwrap_or_default()
    };
    Ok(ciphertexts.batch().rows().zip(exponents).map(object).collect())
}

/// Reads ciphertexts and their exponents from a text: one JSON object, several consecutive objects,
/// or an array of objects.
///
/// # Errors
/// If the text has another form, or if a ciphertext is 0, not below `n^2`, or shares a factor with
/// `n`. Rows are counted from 0.
pub fn import(key: &PublicKey, text: &str) -> Result<(Ciphertexts, Vec<i32>), Error> {
    let mut rows = Rows { key, numbers: Vec::new(), exponents: Vec::new() };
    let array = text.trim_start().starts_with('[');
    let mut json = serde_json::Deserializer::from_str(text);
    if array {
        (&mut json).deserialize_seq(Sequence(&mut rows)).map_err(json_error)??;
        json.end().map_err(json_error)?;
    } else {
        for object in json.into_iter() {
            rows.push(&object.map_err(json_error)?)?;
        }
    }
    let limbs = key.ciphertext_limbs();
    let ciphertexts = key.ciphertexts(Batch::from_rows(limbs, rows.numbers.chunks_exact(limbs))).public();
    key.check_range(&ciphertexts)?;
    key.check_coprime(&ciphertexts)?;
    Ok((ciphertexts, rows.exponents))
}

/// The ciphertexts that have been read.
struct Rows<'k> {
    key: &'k PublicKey,
    numbers: Vec<u64>,
    exponents: Vec<i32>,
}

impl Rows<'_> {
    fn push(&mut self, object: &Object<'_>) -> Result<(), Error> {
        let row = self.exponents.len();
        let problem = |problem| ErrorKind::Member { member: "v", problem }.at_row(row);
        // Reject numbers that are longer than a ciphertext of the largest key, 16384 bits, before
        // converting them.
        if object.v.len() > 4933 {
            return Err(problem("is too long"));
        }
        let start = self.numbers.len();
        self.numbers.resize(start + self.key.ciphertext_limbs(), 0);
        from_decimal(object.v.as_bytes(), &mut self.numbers[start..]).map_err(|error| match error {
            ArithError::TooLarge => problem("is not below n^2"),
            _ => problem("is not a decimal integer"),
        })?;
        self.exponents.push(object.e);
        Ok(())
    }
}

/// Reads the objects of an array one by one.
struct Sequence<'r, 'k>(&'r mut Rows<'k>);

impl<'de> Visitor<'de> for Sequence<'_, '_> {
    type Value = Result<(), Error>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an array of objects with members 'v' and 'e'")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut objects: A) -> Result<Self::Value, A::Error> {
        while let Some(pushed) = objects.next_element_seed(Element(self.0))? {
            if pushed.is_err() {
                return Ok(pushed);
            }
        }
        Ok(Ok(()))
    }
}

struct Element<'r, 'k>(&'r mut Rows<'k>);

impl<'de> DeserializeSeed<'de> for Element<'_, '_> {
    type Value = Result<(), Error>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        Ok(self.0.push(&Object::deserialize(deserializer)?))
    }
}

fn json_error(error: serde_json::Error) -> Error {
    // Ciphertexts are public, but the parser's message quotes unexpected input and may be long.
    let problem = match error.classify() {
        serde_json::error::Category::Data => "not an object with a text 'v' and an integer 'e'",
        serde_json::error::Category::Eof => "the text ends too early",
        _ => "a syntax error",
    };
    ErrorKind::PheJson { line: error.line(), column: error.column(), problem }.into()
}
