//! The format of a CSV input.

use std::str::FromStr;

use clap::Args;
use hearith_columns::csv::{Dialect, DialectError};

/// How a CSV input is written, where it is not as RFC 4180 has it.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "A CSV input (default: RFC 4180)")]
pub struct Csv {
    /// The character that separates cells, such as ; or |, or tab
    #[arg(long, value_name = "CHAR")]
    pub delimiter: Option<Character>,
    /// The first line is a row: columns are called c1, c2, ...
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true)]
    #[arg(default_missing_value = "true", hide_possible_values = true)]
    pub no_header: Option<bool>,
    /// A cell of exactly this text is null, as is an empty one; repeatable
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    pub null: Vec<String>,
    /// Numbers to encrypt have a decimal comma
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true)]
    #[arg(default_missing_value = "true", hide_possible_values = true)]
    pub decimal_comma: Option<bool>,
    /// Numbers to encrypt have this thousands mark: . , ' _ space, or none
    #[arg(long, value_name = "CHAR")]
    pub thousands: Option<Mark>,
}

impl Csv {
    /// Returns the dialect.
    ///
    /// # Errors
    /// A character cannot have its role, or has two roles.
    pub fn dialect(&self) -> Result<Dialect, DialectError> {
        let decimal = if self.decimal_comma == Some(true) { ',' } else { '.' };
        let thousands = self.thousands.and_then(|Mark(mark)| mark);
        let mut dialect = Dialect::default().with_marks(decimal, thousands)?;
        if let Some(Character(delimiter)) = self.delimiter {
            dialect = dialect.delimited_by(delimiter)?;
        }
        if self.no_header == Some(true) {
            dialect = dialect.without_header();
        }
        Ok(self.null.iter().fold(dialect, |dialect, text| dialect.with_null(text)))
    }

    /// These options, or those of `others` where these are not set.
    pub fn or(&self, others: &Self) -> Self {
        Self {
            delimiter: self.delimiter.or(others.delimiter),
            no_header: self.no_header.or(others.no_header),
            null: if self.null.is_empty() { others.null.clone() } else { self.null.clone() },
            decimal_comma: self.decimal_comma.or(others.decimal_comma),
            thousands: self.thousands.or(others.thousands),
        }
    }

    /// Whether all options have their default values.
    pub fn is_default(&self) -> bool {
        self.dialect() == Ok(Dialect::default())
    }
}

/// A thousands mark, or none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mark(pub Option<char>);

impl FromStr for Mark {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "none" => Ok(Self(None)),
            _ => text
                .parse()
                .map(|Character(mark)| Self(Some(mark)))
                .map_err(|_| "expected one character, space or none"),
        }
    }
}

/// A character, or the name of one that is hard to type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Character(pub char);

impl FromStr for Character {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let mut characters = text.chars();
        match (text, characters.next(), characters.next()) {
            ("tab" | "\\t", ..) => Ok(Self('\t')),
            ("space", ..) => Ok(Self(' ')),
            (_, Some(one), None) => Ok(Self(one)),
            _ => Err("expected one character, tab or space"),
        }
    }
}
