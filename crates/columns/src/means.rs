//! Means of decrypted totals: the sum of a group divided by its number of encrypted values.

use std::collections::HashSet;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::UInt64Type;
use arrow_array::{Array, ArrayRef, Float64Array, RecordBatch, UInt64Array};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use zeroize::Zeroizing;

use crate::csv::CellFormatter;
use crate::described::{Described, described};
use crate::encrypt::{batch_of, find};
use crate::error::{Error, ErrorKind};
use crate::metadata::counts_rows;
use crate::totals::count_name;

/// The means of one table of totals.
#[derive(Debug)]
pub struct Means {
    means: Vec<Mean>,
    schema: SchemaRef,
}

/// A mean.
#[derive(Debug)]
struct Mean {
    /// The index of its sum among the decrypted columns.
    index: usize,
    /// The column of the totals that counts its values.
    values: String,
    /// The column that is null if all weights are 1.
    rarest: Option<String>,
}

impl Means {
    /// Prepares means of totals with the schema `totals`, which decrypt to the schema `decrypted`.
    ///
    /// # Errors
    /// [`ErrorKind::NoMeans`] for a table that does not hold totals, or whose totals do not count
    /// values. Also a damaged description.
    pub fn of(totals: &Schema, decrypted: &Schema) -> Result<Self, Error> {
        let counted = described(totals)?.into_iter().map(|Described { source, rarest, .. }| {
            let values = source.values.filter(|name| totals.field_with_name(name).is_ok());
            let values = values.ok_or_else(|| ErrorKind::NoMeans.in_column(&source.name))?;
            let index = decrypted.index_of(&source.name)?;
            Ok(Mean { index, values, rarest: rarest.filter(|name| totals.field_with_name(name).is_ok()) })
        });
        let mut means = counted.collect::<Result<Vec<_>, Error>>()?;
        if means.is_empty() || !totals.fields().iter().any(|field| counts_rows(field)) {
            return Err(ErrorKind::NoMeans.into());
        }
        means.sort_by_key(|mean| mean.index);
        let mut taken: HashSet<String> = decrypted.fields().iter().map(|field| field.name().clone()).collect();
        let mut fields = Vec::new();
        for (index, field) in decrypted.fields().iter().enumerate() {
            fields.push(field.clone());
            if means.iter().any(|mean| mean.index == index) {
                let name = count_name(field.name(), "mean", &mut taken);
                fields.push(Arc::new(Field::new(name, DataType::Float64, true)));
            }
        }
        Ok(Self { means, schema: Arc::new(Schema::new(fields)) })
    }

    /// The decrypted columns, each sum followed by its `X.mean`.
    pub fn schema(&self) -> SchemaRef {
        self.schema.clone()
    }

    /// The index in that schema of the decrypted column `index`.
    pub fn place(&self, index: usize) -> usize {
        index + self.means.iter().filter(|mean| mean.index < index).count()
    }

    /// Adds means to decrypted totals: the double nearest to the quotient, null if the sum is null
    /// or no value entered it.
    ///
    /// # Errors
    /// [`ErrorKind::Weighted`] at the first total with weights other than 1, since these are not
    /// recorded.
    pub fn beside(&self, totals: &RecordBatch, decrypted: &RecordBatch) -> Result<RecordBatch, Error> {
        let (mut fields, mut arrays): (Vec<Field>, Vec<ArrayRef>) = (Vec::new(), Vec::new());
        for (index, column) in decrypted.columns().iter().enumerate() {
            fields.push(decrypted.schema_ref().field(index).clone());
            arrays.push(column.clone());
            if let Some(mean) = self.means.iter().find(|mean| mean.index == index) {
                fields.push(self.schema.field(fields.len()).clone());
                arrays.push(Arc::new(mean.of(totals, column)?));
            }
        }
        batch_of(&Arc::new(Schema::new(fields)), arrays)
    }
}

impl Mean {
    fn of(&self, totals: &RecordBatch, sums: &ArrayRef) -> Result<Float64Array, Error> {
        let counts = counts(totals, &self.values)?;
        if let Some(name) = &self.rarest {
            let rarest = self::counts(totals, name)?;
            if let Some(row) = (0..rarest.len()).find(|&row| rarest.is_valid(row)) {
                return Err(ErrorKind::Weighted.at(row, name));
            }
        }
        let texts = CellFormatter::new(sums).map_err(|_| ErrorKind::NotANumber)?;
        let mean = |row: usize| match counts.value(row) {
            _ if sums.is_null(row) => None,
            0 => None,
            count => quotient(&Zeroizing::new(texts.text(row).ok()?), count),
        };
        Ok((0..sums.len()).map(mean).collect())
    }
}

fn counts<'a>(totals: &'a RecordBatch, name: &str) -> Result<&'a UInt64Array, Error> {
    find(totals.schema_ref(), name)?;
    let column = totals.column_by_name(name).and_then(|column| column.as_primitive_opt::<UInt64Type>());
    column.ok_or_else(|| ErrorKind::NoMeans.in_column(name))
}

/// The double nearest to a decimal divided by a count; `None` if the text is not a decimal.
///
/// With `f` fractional digits, the quotient is a fraction whose denominator `q` is below
/// `2^64 10^f`. The midpoint of two neighbouring doubles is a fraction with a denominator of at
/// most `2^54 q`. Unless they are equal, quotient and midpoint differ by more than
/// `10^-(2 f + 60)`. That many digits, and a mark for further non-zero ones, therefore determine
/// the rounding.
fn quotient(sum: &str, count: u64) -> Option<f64> {
    let digits = sum.strip_prefix('-').unwrap_or(sum);
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    if whole.is_empty() || !whole.bytes().chain(fraction.bytes()).all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let places = 2 * fraction.len() + 64;
    let mut text = Zeroizing::new(String::with_capacity(whole.len() + places + 4));
    text.push_str(if sum.starts_with('-') { "-" } else { "" });
    let mut rest = 0;
    let mut push = |text: &mut String, digit: u8| {
        rest = rest * 10 + u128::from(digit - b'0');
        text.push(char::from(b'0' + (rest / u128::from(count)) as u8));
        rest %= u128::from(count);
    };
    whole.bytes().for_each(|digit| push(&mut text, digit));
    text.push('.');
    fraction.bytes().chain(std::iter::repeat(b'0')).take(places).for_each(|digit| push(&mut text, digit));
    text.push(if rest == 0 { '0' } else { '1' });
    text.parse().ok()
}

#[cfg(test)]
mod tests {
    use num_bigint::BigInt;
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn quotients_are_the_nearest_doubles() {
        for (sum, count, mean) in [
            ("10", 4, 2.5),
            ("-1", 3, -1.0 / 3.0),
            ("0.3", 3, 0.1),
            ("0", 7, 0.0),
            ("9007199254740993", 1, 9_007_199_254_740_992.0),
            ("9007199254740993.0000000000000000000000000000000001", 1, 9_007_199_254_740_994.0),
            ("27021597764222979", 3, 9_007_199_254_740_992.0),
            ("99999999999999999999999999999999999999", 10, 1e37),
        ] {
            assert_eq!(quotient(sum, count), Some(mean), "{sum} / {count}");
        }
        for text in ["", "-", "#OVERFLOW", "1e5", "inf", ".5", "1,5"] {
            assert_eq!(quotient(text, 1), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn no_double_is_nearer(units in any::<i128>(), scale in 0_u32..38, count in 1_u64..) {
            let text = hearith_paillier::encoding::format_decimal(units, scale);
            let mean = quotient(&text, count).unwrap();
            // Doubles as multiples of 2^-1100, and distances as multiples of 2^-1100 / (10^scale
            // count).
            let exact = |double: f64| {
                let (exponent, fraction) = ((double.to_bits() >> 52) as u32, double.to_bits() & ((1 << 52) - 1));
                let mantissa = if exponent == 0 { fraction } else { fraction | 1 << 52 };
                BigInt::from(mantissa) << (exponent.max(1) + 25)
            };
            let below = BigInt::from(10).pow(scale) * count;
            let sum = BigInt::from(units.unsigned_abs()) << 1100_u32;
            let distance = |double: f64| (exact(double) * &below - &sum).magnitude().clone();
            for other in [mean.abs().next_up(), mean.abs().next_down().max(0.0)] {
                prop_assert!(distance(mean.abs()) <= distance(other), "{} / {}: {}", text, count, mean);
            }
            prop_assert_eq!(mean < 0.0, units < 0 && mean != 0.0);
        }
    }
}
