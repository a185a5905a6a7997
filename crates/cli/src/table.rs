//! Aligned tables for people to read.

use std::io::Write;

use arrow_array::RecordBatch;
use arrow_schema::Schema;
use hearith_columns::csv::CellFormatter;
use hearith_columns::parquet::WriteError;

use crate::printable::Printable;

/// Number of rows that determine the column widths. Later rows may exceed them.
const SAMPLE_ROWS: usize = 1000;
/// The space between columns.
const GAP: &str = "  ";

/// A table being written: names, a rule, then rows, with numbers aligned to the right.
pub(crate) struct TableSink<W> {
    output: W,
    names: Vec<String>,
    right: Vec<bool>,
    rows: Vec<Vec<String>>,
    widths: Option<Vec<usize>>,
}

impl<W: Write> TableSink<W> {
    /// Begins a table with these columns. Their types decide which ones are numbers, even if
    /// batches contain these as text.
    pub(crate) fn new(output: W, schema: &Schema) -> Self {
        let names = schema.fields().iter().map(|field| Printable(field.name()).to_string()).collect();
        let right = schema.fields().iter().map(|field| field.data_type().is_numeric()).collect();
        Self { output, names, right, rows: Vec::new(), widths: None }
    }

    /// Adds a batch. Prints rows once enough are known to determine the widths.
    pub(crate) fn write(&mut self, batch: &RecordBatch) -> Result<(), WriteError> {
        let columns = batch.columns().iter().map(|column| CellFormatter::new(column));
        let columns = columns.collect::<Result<Vec<_>, _>>()?;
        for row in 0..batch.num_rows() {
            let cells = columns.iter().map(|column| Ok(Printable(&column.text(row)?).to_string()));
            self.rows.push(cells.collect::<Result<_, WriteError>>()?);
        }
        match self.widths.is_some() || self.rows.len() >= SAMPLE_ROWS {
            true => Ok(self.print()?),
            false => Ok(()),
        }
    }

    /// Prints the remaining rows.
    pub(crate) fn finish(mut self) -> Result<W, WriteError> {
        self.print()?;
        self.output.flush()?;
        Ok(self.output)
    }

    fn print(&mut self) -> std::io::Result<()> {
        if self.widths.is_none() {
            let widths: Vec<usize> = (0..self.names.len()).map(|index| self.width(index)).collect();
            self.line(&self.names.clone(), &widths)?;
            let rule: Vec<String> = widths.iter().map(|&width| "-".repeat(width)).collect();
            self.line(&rule, &widths)?;
            self.widths = Some(widths);
        }
        let widths = self.widths.clone().unwrap_or_default();
        for row in std::mem::take(&mut self.rows) {
            self.line(&row, &widths)?;
        }
        Ok(())
    }

    fn width(&self, column: usize) -> usize {
        let cells = self.rows.iter().map(|row| row[column].chars().count());
        cells.max().unwrap_or(0).max(self.names[column].chars().count())
    }

    fn line(&mut self, cells: &[String], widths: &[usize]) -> std::io::Result<()> {
        let aligned = cells.iter().zip(widths).zip(&self.right).map(|((cell, &width), &right)| match right {
            true => format!("{cell:>width$}"),
            false => format!("{cell:<width$}"),
        });
        let line = aligned.collect::<Vec<_>>().join(GAP);
        writeln!(self.output, "{}", line.trim_end())
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow_array::{Array, ArrayRef, Int64Array, StringArray};

    use super::*;

    fn shown(columns: Vec<(&str, ArrayRef)>) -> String {
        let batch =
            RecordBatch::try_from_iter_with_nullable(columns.into_iter().map(|(name, array)| (name, array, true)));
        let batch = batch.unwrap();
        let mut sink = TableSink::new(Vec::new(), &batch.schema());
        sink.write(&batch).unwrap();
        String::from_utf8(sink.finish().unwrap()).unwrap()
    }

    #[test]
    fn numbers_stand_to_the_right() {
        let dept: ArrayRef = Arc::new(StringArray::from(vec![Some("laboratory"), None]));
        let total: ArrayRef = Arc::new(Int64Array::from(vec![-20, 1500]));
        let expected = "dept        total\n----------  -----\nlaboratory    -20\n             1500\n";
        assert_eq!(shown(vec![("dept", dept), ("total", total)]), expected);
    }

    #[test]
    fn cells_and_names_stay_on_their_line_and_steer_no_terminal() {
        let note: ArrayRef = Arc::new(StringArray::from(vec!["two\nlines", "\u{1b}[31m", "\u{202e}txt"]));
        let expected = "note\\n\\u{9b}2J\n--------------\ntwo\\nlines\n\\u{1b}[31m\n\\u{202e}txt\n";
        assert_eq!(shown(vec![("note\n\u{9b}2J", note)]), expected);
    }

    #[test]
    fn a_table_without_rows_has_its_names() {
        let none: ArrayRef = Arc::new(StringArray::new_null(0));
        assert_eq!(none.len(), 0);
        assert_eq!(shown(vec![("name", none)]), "name\n----\n");
    }
}
