//! The tables that a table contains, by ids that distinguish a copy from another table.
//!
//! An encrypted table stores its id in the metadata `hearith.table` of its encrypted fields. Totals
//! list the tables they sum in `hearith.tables` of the field that counts rows: ids separated by
//! commas, each with `:FIRST-END` if only those rows were added. A table without either entry uses
//! the first version of the format or lost its metadata in another program. Copies of it cannot be
//! recognised.

use std::collections::BTreeMap;
use std::ops::Range;

use arrow_schema::{Field, Schema};

use crate::error::{Error, ErrorKind};
use crate::limits::MAX_DESCRIPTION_BYTES;
use crate::metadata::{MetadataError, TABLE, TABLES, counts_rows};

/// A random id, one for each encrypted table.
pub type TableId = [u8; 16];

/// All rows, whatever their number.
const WHOLE: Range<u64> = 0..u64::MAX;

/// The tables that a table contains, and which of their rows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Contents(BTreeMap<TableId, Vec<Range<u64>>>);

impl Contents {
    /// Reads the tables from a table's metadata.
    ///
    /// # Errors
    /// [`MetadataError`] for a malformed list or id.
    pub fn of(schema: &Schema) -> Result<Self, Error> {
        let mut contents = Self::default();
        for field in schema.fields() {
            let found = Self::of_field(field).map_err(|error| Error::from(error).in_column(field.name()))?;
            contents.merge(&found);
        }
        Ok(contents)
    }

    /// All rows of one table.
    pub(crate) fn whole(table: TableId) -> Self {
        Self::rows(table, WHOLE)
    }

    /// Some rows of one table.
    pub(crate) fn rows(table: TableId, rows: Range<u64>) -> Self {
        Self(BTreeMap::from([(table, vec![rows])]))
    }

    /// Whether the table's contents are unknown.
    pub fn is_unknown(&self) -> bool {
        self.0.is_empty()
    }

    /// Adds `more`, whose rows must not be contained yet.
    ///
    /// # Errors
    /// [`ErrorKind::Repeated`], with the id of a table that has rows in both.
    pub fn add(&mut self, more: &Self) -> Result<(), Error> {
        self.check_other(more)?;
        self.merge(more);
        Ok(())
    }

    /// Adds `more`, whether or not its rows are already contained.
    pub fn merge(&mut self, more: &Self) {
        for (table, rows) in &more.0 {
            let ranges = self.0.entry(*table).or_default();
            ranges.extend(rows.iter().cloned());
            ranges.sort_by_key(|rows| rows.start);
            *ranges = ranges.drain(..).fold(Vec::new(), merge_adjacent);
        }
    }

    /// Checks that no rows of `more` are already contained.
    pub(crate) fn check_other(&self, more: &Self) -> Result<(), Error> {
        let overlap =
            |a: &[Range<u64>], b: &[Range<u64>]| a.iter().any(|a| b.iter().any(|b| a.start < b.end && b.start < a.end));
        let shared = |(table, rows): (&TableId, &Vec<Range<u64>>)| {
            self.0.get(table).is_some_and(|ranges| overlap(ranges, rows)).then_some(*table)
        };
        match more.0.iter().find_map(shared) {
            None => Ok(()),
            Some(table) => Err(ErrorKind::Repeated { table: hex(&table) }.into()),
        }
    }

    /// Adds these contents to the field that counts rows in totals.
    pub(crate) fn describe(&self, field: Field) -> Field {
        if self.is_unknown() {
            return field;
        }
        let mut metadata = field.metadata().clone();
        metadata.insert(TABLES.to_owned(), self.to_text());
        field.with_metadata(metadata)
    }

    fn of_field(field: &Field) -> Result<Self, MetadataError> {
        let invalid = |key, text: &str| MetadataError::Invalid { key, value: text.chars().take(60).collect() };
        let mut contents = Self::default();
        if let Some(text) = field.metadata().get(TABLE) {
            contents.merge(&Self::whole(id(text).ok_or_else(|| invalid(TABLE, text))?));
        }
        if let Some(text) = field.metadata().get(TABLES).filter(|_| counts_rows(field)) {
            if text.len() > MAX_DESCRIPTION_BYTES {
                return Err(MetadataError::TooLong { limit: MAX_DESCRIPTION_BYTES });
            }
            for entry in text.split(',') {
                let (table, rows) = parse_entry(entry).ok_or_else(|| invalid(TABLES, entry))?;
                contents.merge(&Self::rows(table, rows));
            }
        }
        Ok(contents)
    }

    /// The text of a `hearith.tables` entry.
    pub(crate) fn to_text(&self) -> String {
        let each = self.0.iter().flat_map(|(table, rows)| rows.iter().map(|rows| (hex(table), rows)));
        let texts = each.map(|(table, rows)| match *rows == WHOLE {
            true => table,
            false => format!("{table}:{}-{}", rows.start, rows.end),
        });
        texts.collect::<Vec<_>>().join(",")
    }
}

/// Appends a range to ranges in ascending order, merging those that touch.
fn merge_adjacent(mut ranges: Vec<Range<u64>>, next: Range<u64>) -> Vec<Range<u64>> {
    match ranges.last_mut() {
        Some(last) if next.start <= last.end => last.end = last.end.max(next.end),
        _ => ranges.push(next),
    }
    ranges
}

/// A new random table id.
pub(crate) fn new_id() -> Result<TableId, Error> {
    let mut table = [0; 16];
    getrandom::fill(&mut table).map_err(hearith_bfv::ErrorKind::from).map_err(ErrorKind::from)?;
    Ok(table)
}

/// Bytes as lower-case hexadecimal, two digits each.
pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Parses an id of 32 lower-case hexadecimal digits.
pub(crate) fn id(text: &str) -> Option<TableId> {
    let number = u128::from_str_radix(text, 16).ok()?;
    let id = number.to_be_bytes();
    (hex(&id) == text).then_some(id)
}

fn parse_entry(text: &str) -> Option<(TableId, Range<u64>)> {
    let Some((table, rows)) = text.split_once(':') else { return Some((id(text)?, WHOLE)) };
    let (first, end) = rows.split_once('-')?;
    let rows = first.parse().ok()?..end.parse().ok()?;
    (!rows.is_empty()).then_some((id(table)?, rows))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metadata::rows_field;

    fn schema(contents: &Contents) -> Schema {
        Schema::new(vec![contents.describe(rows_field("rows"))])
    }

    #[test]
    fn what_is_written_is_read() {
        let mut contents = Contents::whole([7; 16]);
        contents.merge(&Contents::rows([9; 16], 4096..8192));
        contents.merge(&Contents::rows([9; 16], 0..100));
        assert_eq!(Contents::of(&schema(&contents)).unwrap(), contents);
        contents.merge(&Contents::rows([9; 16], 100..4096));
        assert_eq!(contents.0[&[9; 16]].first(), Some(&(0..8192)));
        assert!(Contents::of(&schema(&Contents::default())).unwrap().is_unknown());
    }

    #[test]
    fn rows_count_once() {
        let mut contents = Contents::rows([1; 16], 0..10);
        contents.add(&Contents::rows([1; 16], 10..20)).unwrap();
        contents.add(&Contents::whole([2; 16])).unwrap();
        for again in [Contents::rows([1; 16], 19..21), Contents::whole([1; 16]), Contents::whole([2; 16])] {
            let before = contents.clone();
            assert!(matches!(contents.add(&again).unwrap_err().kind(), ErrorKind::Repeated { .. }));
            assert_eq!(contents, before);
        }
    }

    #[test]
    fn lists_that_are_none_are_rejected() {
        let one = hex(&[1; 16]);
        for text in ["", ",", "12", &one.to_uppercase().replace('1', "A"), &format!("{one}:5-5"), &format!("{one}:a-b")]
        {
            let mut metadata = rows_field("rows").metadata().clone();
            metadata.insert(TABLES.to_owned(), text.to_owned());
            let schema = Schema::new(vec![rows_field("rows").with_metadata(metadata)]);
            assert!(Contents::of(&schema).is_err(), "{text}");
        }
    }
}
