//! Conditions on plain columns: which rows of a table are added up.
//!
//! A condition is a subset of SQL, parsed by `sqlparser` and evaluated here. DataFusion evaluates
//! SQL too, but would multiply the time of a build, and rounds where a number meets a double or a
//! literal is finer than its column.
//!
//! - Columns by bare or `"quoted"` names, as the table spells them, words of SQL such as `"user"`
//!   in quotes; `'text'`; numbers; `true`, `false`; `DATE '2020-01-31'`, `TIMESTAMP '2020-01-31
//!   12:00:00'`. A condition has a column.
//! - `=` (or `==`), `<>` (or `!=`), `<`, `<=`, `>`, `>=`, `[not] between ... and ...`,
//!   `[not] in (...)`, `[not] like '...' [escape '.']`, `is [not] null|true|false`, `not`, `and`,
//!   `or`, parentheses; `cast(... as type)` and `...::type`.
//!
//! **Everything compares exactly.** Integers, decimals and floating-point numbers are rational
//! numbers, dates and timestamps of every unit numbers of seconds. A text beside a column is read
//! as the column's type, however fine, and is an error if it is not of that type. Numbers beside a
//! floating-point column are the double that they are the shortest text of (`0.1`), else
//! themselves. NaN is the largest number and equals itself; text is ordered by its bytes.
//!
//! **Text is untyped**, since all of a CSV file is text: beside a number its cells are numbers, or
//! null if empty, and the first that is neither is an error; two such columns compare when one is
//! cast.
//!
//! **What is null is unknown**, and rows for which a condition is unknown are left out. `and` and
//! `or` look no further than the operand that decides.

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
use crate::groups::as_plain;
pub use computed::{BoundComputed, Computed, listed};
use evaluate::{Cells, Typed};
use parse::Node;
use types::Typing;

/// What is wrong with a condition.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PredicateError {
    /// A text that is no expression.
    #[error("invalid condition: {0}")]
    Syntax(String),
    /// A part of SQL that conditions do not have.
    #[error("invalid condition: {what} {} is not supported", crate::error::one_line(.token))]
    Unsupported {
        /// What it is.
        what: &'static str,
        /// As it is written.
        token: String,
    },
    /// An error where columns' names are words of SQL that are not quoted.
    #[error("{error} (a column whose name is a word of SQL needs quotes: {})", names::listed(.names))]
    Unquoted {
        /// What is wrong with the text as it is.
        error: Box<Self>,
        /// The names that need quotes.
        names: Vec<String>,
    },
    /// A condition of constants alone.
    #[error("invalid condition: it looks at no column")]
    Constant,
    /// More operators than are taken.
    #[error("invalid condition: more than {limit} operators (a list, `in (...)`, may be longer)")]
    TooLong {
        /// How many are taken.
        limit: usize,
    },
    /// More parentheses or `not` within each other than are taken.
    #[error("invalid condition: nested more than {limit} levels deep")]
    TooDeep {
        /// How many are taken.
        limit: usize,
    },
    /// An expression that is neither true nor false.
    #[error("invalid condition: {what} is {class}, neither true nor false")]
    NoCondition {
        /// The expression.
        what: String,
        /// What it is.
        class: &'static str,
    },
    /// A name that no column has.
    #[error("there is no such column (text is quoted: '{name}'; there are: {})", crate::error::list(.available))]
    NoColumn {
        /// The name.
        name: String,
        /// The columns that there are.
        available: Vec<String>,
    },
    /// A text that names no column and is no expression.
    #[error("'{text}' is neither a column nor an expression: {why}")]
    NoColumnNorExpression {
        /// The text.
        text: String,
        /// Why it is no expression.
        why: String,
    },
    /// A column of decimals without a number of digits.
    #[error("a decimal column needs its digits, as decimal(38, 2)")]
    NoDigits,
    /// Values that do not compare.
    #[error("{left} does not compare with {right}: cast one of them")]
    Mismatch {
        /// One side.
        left: String,
        /// The other.
        right: String,
    },
    /// A comparison with the word `null`, which is never true.
    #[error("nothing equals null: write `is null` or `is not null`")]
    NullCompared,
    /// A literal that is not of the type that it is compared with or cast to.
    #[error("{value} is not {kind}")]
    Literal {
        /// The literal.
        value: String,
        /// What it should be.
        kind: &'static str,
    },
    /// A cast that would lose something, or means nothing.
    #[error("{from} cannot be cast to {to}")]
    Cast {
        /// What is cast.
        from: String,
        /// To what.
        to: &'static str,
    },
    /// A cell that a cast cannot take.
    #[error("is not {0}")]
    Cell(&'static str),
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
/// let keep = condition.bind(&table.schema())?.keep(&table)?;
/// assert_eq!(keep.values().iter().collect::<Vec<_>>(), [true, true, false]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Predicate {
    node: Node,
    columns: Vec<String>,
}

impl Predicate {
    /// Both this condition and another.
    pub fn and(mut self, other: Self) -> Self {
        self.node = Node::And(vec![self.node, other.node]);
        self.columns.extend(other.columns);
        self
    }

    /// The columns that it looks at.
    pub fn columns(&self) -> impl Iterator<Item = &str> {
        self.columns.iter().map(String::as_str)
    }

    /// The condition in the types of a table's columns.
    ///
    /// # Errors
    /// [`ErrorKind::Predicate`]: a column that the table does not have or that is encrypted, values that do not compare, a
    /// literal that is not of the type of what it is compared with.
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
    /// For each row of a batch whether the condition holds; where that is unknown it does not.
    ///
    /// # Errors
    /// A batch without the columns; the first row with a text that is not of the type that is
    /// sought, or cast to.
    pub fn keep(&self, batch: &RecordBatch) -> Result<BooleanArray, Error> {
        let arrays = plain_columns(&self.columns, batch)?;
        let cells = cells_of(&arrays);
        let holds = |row: usize| {
            let known = self.condition.truth(&cells, row);
            known.map(|known| known == Some(true)).map_err(|fault| fault.into_error(row, &self.columns))
        };
        let keep = (0..batch.num_rows()).map(holds).collect::<Result<Vec<_>, _>>()?;
        Ok(BooleanArray::from(keep))
    }
}

/// The columns of these names in their plain types.
fn plain_columns(names: &[String], batch: &RecordBatch) -> Result<Vec<ArrayRef>, Error> {
    let array = |name: &String| -> Result<ArrayRef, Error> {
        find(batch.schema_ref(), name)?;
        let array = batch.column_by_name(name).ok_or(ErrorKind::NothingEncrypted)?;
        as_plain(array).map_err(|error| Error::from(error).in_column(name))
    };
    names.iter().map(array).collect()
}

fn cells_of(arrays: &[ArrayRef]) -> Vec<Cells<'_>> {
    arrays.iter().map(Cells::new).collect()
}

#[cfg(test)]
mod tests;
