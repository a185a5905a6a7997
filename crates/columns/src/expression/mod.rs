//! Conditions on unencrypted columns, which select the rows of a table to aggregate.
//!
//! A condition is a subset of SQL, parsed by `sqlparser` and evaluated here. DataFusion also
//! evaluates SQL, but would multiply the build time. It also rounds where a number is compared with
//! a double, or where a literal is finer than its column.
//!
//! - Operands: columns by bare or `"quoted"` names, spelled as in the table, with SQL words such as
//!   `"user"` in quotes; `'text'`; numbers; `true`, `false`; `DATE '2020-01-31'`,
//!   `TIMESTAMP '2020-01-31 12:00:00'`. A condition has at least one column.
//! - Operators: `=` (or `==`), `<>` (or `!=`), `<`, `<=`, `>`, `>=`, `[not] between ... and ...`,
//!   `[not] in (...)`, `[not] like '...' [escape '.']`, `is [not] null|true|false`, `not`, `and`,
//!   `or`, parentheses; `cast(... as type)` and `...::type`.
//!
//! **All comparisons are exact.** Integers, decimals and floating-point numbers are rational
//! numbers. Dates and timestamps of every unit are numbers of seconds. A text next to a column is
//! read as the column's type, at any precision, and is an error if it is not of that type. A number
//! next to a floating-point column is the double whose shortest text it is (`0.1`), otherwise it is
//! exact. NaN is the largest number and equals itself. Text is ordered by its bytes.
//!
//! **Text is untyped**, since every cell of a CSV file is text. Next to a number, its cells are
//! numbers, or null if empty. The first cell that is neither is an error. Two untyped columns
//! compare only if one of them is cast.
//!
//! **Nulls are unknown**, and rows for which a condition is unknown are left out. `and` and `or` do
//! not evaluate operands after the deciding one.

mod computed;
mod evaluate;
mod names;
mod number;
mod parse;
mod temporal;
mod types;

use std::str::FromStr;

use arrow_array::{ArrayRef, BooleanArray, RecordBatch};
use arrow_schema::Schema;

use crate::encrypt::find;
use crate::error::{Error, ErrorKind};
use crate::groups::to_canonical;
pub use computed::{BoundComputed, Computed, listed};
use evaluate::{Cells, Typed};
use parse::Node;
use types::Typing;

/// What is wrong with a condition.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PredicateError {
    /// The text is not an expression.
    #[error("invalid condition: {0}")]
    Syntax(String),
    /// SQL syntax that conditions do not support.
    #[error("invalid condition: {what} {} is not supported", crate::error::one_line(.token))]
    Unsupported {
        /// The kind of syntax.
        what: &'static str,
        /// Its text.
        token: String,
    },
    /// An error caused by unquoted column names that are SQL words.
    #[error("{error} (a column whose name is an SQL keyword needs quotes: {})", names::listed(.names))]
    Unquoted {
        /// The error of the text without quotes.
        error: Box<Self>,
        /// The names that need quotes.
        names: Vec<String>,
    },
    /// A condition without columns.
    #[error("invalid condition: it names no column")]
    Constant,
    /// More operators than allowed.
    #[error("invalid condition: more than {limit} operators (a list, `in (...)`, may be longer)")]
    TooLong {
        /// The largest accepted number.
        limit: usize,
    },
    /// Parentheses or `not` nested too deeply.
    #[error("invalid condition: nested more than {limit} levels deep")]
    TooDeep {
        /// The deepest accepted level.
        limit: usize,
    },
    /// An expression that is not a condition.
    #[error("invalid condition: {what} is {class}, neither true nor false")]
    NoCondition {
        /// The expression.
        what: String,
        /// Its class.
        class: &'static str,
    },
    /// No column has this name.
    #[error("there is no such column (text is quoted: '{name}'; there are: {})", crate::error::list(.available))]
    NoColumn {
        /// The name.
        name: String,
        /// The existing columns.
        available: Vec<String>,
    },
    /// The text is neither the name of a column nor an expression.
    #[error("'{text}' is neither a column nor an expression: {why}")]
    NoColumnNorExpression {
        /// The text.
        text: String,
        /// Why it is not an expression.
        why: String,
    },
    /// A cast to a decimal column without a number of digits.
    #[error("a decimal column needs a precision and scale, such as decimal(38, 2)")]
    NoDigits,
    /// Values that cannot be compared.
    #[error("{left} cannot be compared with {right}: cast one of them")]
    Mismatch {
        /// One side.
        left: String,
        /// The other side.
        right: String,
    },
    /// A comparison with the word `null`, which is never true.
    #[error("nothing equals null: write `is null` or `is not null`")]
    NullCompared,
    /// A literal does not have the type that it is compared with or cast to.
    #[error("{value} is not {kind}")]
    Literal {
        /// The literal.
        value: String,
        /// The expected type.
        kind: &'static str,
    },
    /// A cast that would lose information or has no meaning.
    #[error("{from} cannot be cast to {to}")]
    Cast {
        /// The source.
        from: String,
        /// The target.
        to: &'static str,
    },
    /// A cell that cannot be cast.
    #[error("is not {0}")]
    Cell(&'static str),
    /// A column whose cells have no order.
    #[error("holds {kind}, which cannot be compared")]
    Type {
        /// The type of the column.
        kind: String,
    },
    /// An encrypted column.
    #[error("is encrypted: conditions can use only unencrypted columns")]
    Encrypted,
}

impl PredicateError {
    fn into_error(self) -> Error {
        ErrorKind::from(self).into()
    }
}

/// A condition on the columns of tables.
///
/// ```
/// use std::sync::Arc;
/// use arrow_array::{ArrayRef, Date32Array, RecordBatch, StringArray};
/// use hearith_columns::Predicate;
///
/// let day: ArrayRef = Arc::new(Date32Array::from(vec![18_262, 18_263, 18_264])); // from 2020-01-01 on
/// let paid: ArrayRef = Arc::new(StringArray::from(vec!["9.50", "10", ""]));
/// let table = RecordBatch::try_from_iter_with_nullable([("day", day, true), ("paid", paid, true)])?;
///
/// let condition: Predicate = "day < '2020-01-02 00:00:01' and paid between 9.5 and 10".parse()?;
/// let mask = condition.bind(&table.schema())?.evaluate(&table)?;
/// assert_eq!(mask.values().iter().collect::<Vec<_>>(), [true, true, false]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Predicate {
    node: Node,
    columns: Vec<String>,
}

impl Predicate {
    /// Combines this condition and another with `and`.
    pub fn and(mut self, other: Self) -> Self {
        self.node = Node::And(vec![self.node, other.node]);
        self.columns.extend(other.columns);
        self
    }

    /// The columns that it reads.
    pub fn columns(&self) -> impl Iterator<Item = &str> {
        self.columns.iter().map(String::as_str)
    }

    /// Binds the condition to the column types of a table.
    ///
    /// # Errors
    /// [`ErrorKind::Predicate`] when a column is missing or encrypted, values cannot be compared,
    /// or a literal does not have the type that it is compared with.
    pub fn bind(&self, schema: &Schema) -> Result<BoundPredicate, Error> {
        let mut typing = Typing::new(schema);
        let condition = typing.condition(&self.node)?;
        Ok(BoundPredicate { condition, columns: typing.columns })
    }
}

impl FromStr for Predicate {
    type Err = PredicateError;

    fn from_str(text: &str) -> Result<Self, PredicateError> {
        let node = parse::parse(text)?;
        let columns = node.sources()?;
        Ok(Self { node, columns })
    }
}

/// A condition on the columns of one table.
#[derive(Debug)]
pub struct BoundPredicate {
    condition: Typed,
    columns: Vec<String>,
}

impl BoundPredicate {
    /// For each row of a batch, whether the condition holds. Unknown counts as false.
    ///
    /// # Errors
    /// When the batch lacks the columns. Reports the first row whose text is not of the required
    /// type or cannot be cast.
    pub fn evaluate(&self, batch: &RecordBatch) -> Result<BooleanArray, Error> {
        let arrays = canonical_columns(&self.columns, batch)?;
        let cells = cells_of(&arrays);
        let holds = |row: usize| {
            let known = self.condition.truth(&cells, row);
            known.map(|known| known == Some(true)).map_err(|fault| fault.into_error(row, &self.columns))
        };
        let mask = (0..batch.num_rows()).map(holds).collect::<Result<Vec<_>, _>>()?;
        Ok(BooleanArray::from(mask))
    }
}

/// The columns with these names in their canonical types.
fn canonical_columns(names: &[String], batch: &RecordBatch) -> Result<Vec<ArrayRef>, Error> {
    let array = |name: &String| -> Result<ArrayRef, Error> {
        find(batch.schema_ref(), name)?;
        let array = batch.column_by_name(name).ok_or(ErrorKind::NothingEncrypted)?;
        to_canonical(array).map_err(|error| Error::from(error).in_column(name))
    };
    names.iter().map(array).collect()
}

fn cells_of(arrays: &[ArrayRef]) -> Vec<Cells<'_>> {
    arrays.iter().map(Cells::new).collect()
}

#[cfg(test)]
mod tests;
