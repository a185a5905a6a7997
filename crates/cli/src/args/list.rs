//! Lists of columns, and of settings for them: `a,b` and `a=2,b=0`.
//!
//! A name with a comma, a quote or an equals sign is quoted, with inner quotes doubled, as in CSV:
//! `"salary, gross",b`.

use std::fmt::Display;
use std::str::FromStr;

/// The elements of one option.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct List<T>(pub Vec<T>);

/// Concatenates the elements of several options.
pub fn all<T: Clone>(lists: &[List<T>]) -> Vec<T> {
    lists.iter().flat_map(|list| list.0.iter().cloned()).collect()
}

/// A list of columns and expressions. Distinguishing the two needs a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Columns(pub String);

impl From<&str> for Columns {
    fn from(text: &str) -> Self {
        Self(text.to_owned())
    }
}

/// The name of a column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Name(pub String);

/// A value for every column, or for one: `VALUE` or `NAME=VALUE`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Setting<T> {
    /// The column, or `None` for all columns.
    pub column: Option<String>,
    /// The value.
    pub value: T,
}

/// An element of a list: the quoted name at its start, if there is one, and the remaining text.
struct Element<'a> {
    quoted: Option<String>,
    rest: &'a str,
}

/// A type that an element of a list can be parsed into.
pub trait Listed: Sized {
    /// Parses an element. `rest` is the text after the quoted name, or all of it without one.
    ///
    /// # Errors
    /// The element is invalid.
    fn read(quoted: Option<String>, rest: &str) -> Result<Self, String>;
}

impl<T: Listed> FromStr for List<T> {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let elements = elements(text)?.into_iter().map(|Element { quoted, rest }| T::read(quoted, rest));
        elements.collect::<Result<_, _>>().map(Self)
    }
}

impl Listed for Name {
    fn read(quoted: Option<String>, rest: &str) -> Result<Self, String> {
        match quoted {
            None => Ok(Self(rest.to_owned())),
            Some(name) if rest.is_empty() => Ok(Self(name)),
            Some(_) => Err("text after a quoted name (double the quotes within it)".to_owned()),
        }
    }
}

impl<T: FromStr<Err: Display>> Listed for Setting<T> {
    fn read(quoted: Option<String>, rest: &str) -> Result<Self, String> {
        let (column, value) = match (quoted, rest.rsplit_once('=')) {
            (None, None) => (None, rest),
            (None, Some(("", _))) => return Err("no column name before the =".to_owned()),
            (None, Some((column, value))) => (Some(column.to_owned()), value),
            (Some(column), Some(("", value))) => (Some(column), value),
            (Some(_), _) => return Err("a quoted name needs = and a value after it".to_owned()),
        };
        let value = value.parse().map_err(|error: T::Err| error.to_string())?;
        Ok(Self { column, value })
    }
}

/// Splits at the commas outside quotes.
fn elements(text: &str) -> Result<Vec<Element<'_>>, String> {
    let (mut found, mut text) = (Vec::new(), text);
    loop {
        let (quoted, after) = match text.strip_prefix('"') {
            None => (None, text),
            Some(inner) => closed(inner).map(|(name, after)| (Some(name), after))?,
        };
        let (rest, next) = match after.split_once(',') {
            None => (after, None),
            Some((rest, next)) => (rest, Some(next)),
        };
        found.push(Element { quoted, rest });
        match next {
            None => return Ok(found),
            Some(next) => text = next,
        }
    }
}

/// Returns the name before the closing quote, and the text after it.
fn closed(mut inner: &str) -> Result<(String, &str), String> {
    let mut name = String::new();
    loop {
        let (part, after) = inner.split_once('"').ok_or("an opening quote is never closed")?;
        name += part;
        match after.strip_prefix('"') {
            None => return Ok((name, after)),
            Some(more) => {
                name.push('"');
                inner = more;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn names(text: &str) -> Result<Vec<String>, String> {
        text.parse::<List<Name>>().map(|list| all(&[list]).into_iter().map(|Name(name)| name).collect())
    }

    fn settings(text: &str) -> Result<Vec<(Option<String>, u32)>, String> {
        let list = text.parse::<List<Setting<u32>>>()?;
        Ok(all(&[list]).into_iter().map(|setting| (setting.column, setting.value)).collect())
    }

    #[test]
    fn names_with_commas_are_quoted() {
        assert_eq!(names("a,b c"), Ok(vec!["a".into(), "b c".into()]));
        assert_eq!(names("\"salary, gross\",b"), Ok(vec!["salary, gross".into(), "b".into()]));
        assert_eq!(names("\"say \"\"hi\"\"\""), Ok(vec!["say \"hi\"".into()]));
        assert_eq!(names("5\" pipe"), Ok(vec!["5\" pipe".into()]));
        assert!(names("\"a").unwrap_err().contains("never closed"));
        assert!(names("\"a\"b").unwrap_err().contains("after a quoted name"));
    }

    #[test]
    fn settings_are_of_all_columns_or_of_one() {
        let one = |name: &str, value| (Some(name.to_owned()), value);
        assert_eq!(settings("2"), Ok(vec![(None, 2)]));
        assert_eq!(settings("a=2,b=0"), Ok(vec![one("a", 2), one("b", 0)]));
        assert_eq!(settings("a=b=2"), Ok(vec![one("a=b", 2)]));
        assert_eq!(settings("\"salary, gross\"=2,1"), Ok(vec![one("salary, gross", 2), (None, 1)]));
        assert_eq!(settings("\"a=1,b\"=3"), Ok(vec![one("a=1,b", 3)]));
        for wrong in ["=2", "a=x", "\"a\"", "\"a\"2", ""] {
            assert!(settings(wrong).is_err(), "{wrong}");
        }
    }

    proptest! {
        #[test]
        fn every_name_can_be_written_in_quotes(list in prop::collection::vec(".*", 1..5)) {
            let quoted: Vec<String> = list.iter().map(|name| format!("\"{}\"", name.replace('"', "\"\""))).collect();
            prop_assert_eq!(names(&quoted.join(",")), Ok(list));
        }
    }
}
