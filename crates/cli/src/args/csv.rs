//! How a CSV input is written.

use std::str::FromStr;

use clap::Args;
use hearith_columns::csv::{Dialect, DialectError};

/// How a CSV input is written, where it is not as RFC 4180 has it.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "A CSV input (RFC 4180 when left out)")]
pub struct Csv {
    /// The character that separates cells, such as ; or |, or tab
    #[arg(long, value_name = "CHAR")]
    pub delimiter: Option<Character>,
    /// The first line is a row: columns are called c1, c2, ...
    #[arg(long)]
    pub no_header: bool,
    /// A cell of exactly this text is null, as is an empty one; repeatable
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    pub null: Vec<String>,
    /// Numbers to encrypt have a decimal comma
    #[arg(long)]
    pub decimal_comma: bool,
    /// Numbers to encrypt have this thousands mark: . , ' _ or space
    #[arg(long, value_name = "CHAR")]
    pub thousands: Option<Character>,
}

impl Csv {
    /// The dialect.
    ///
    /// # Errors
    /// Characters that cannot have this meaning, or two.
    pub fn dialect(&self) -> Result<Dialect, DialectError> {
        let decimal = if self.decimal_comma { ',' } else { '.' };
        let thousands = self.thousands.map(|Character(mark)| mark);
        let mut dialect = Dialect::default().with_marks(decimal, thousands)?;
        if let Some(Character(delimiter)) = self.delimiter {
            dialect = dialect.delimited_by(delimiter)?;
        }
        if self.no_header {
            dialect = dialect.without_header();
        }
        Ok(self.null.iter().fold(dialect, |dialect, text| dialect.with_null(text)))
    }

    /// Whether anything is said.
    pub fn is_default(&self) -> bool {
        self.dialect() == Ok(Dialect::default())
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
            _ => Err("one character, or tab or space"),
        }
    }
}
