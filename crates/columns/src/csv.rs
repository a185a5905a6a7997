//! CSV as streams of batches. Every cell stays the text that it was; an empty cell is null.

use std::io::{Read, Write};
use std::sync::Arc;

use arrow_array::builder::StringBuilder;
use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_cast::display::{ArrayFormatter, FormatOptions};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use csv::{ErrorKind, StringRecord};

use crate::error::{Error, Reason};
use crate::metadata::check_names;
use crate::parquet::WriteError;

/// A CSV stream being read: batches of text columns.
#[derive(Debug)]
pub struct CsvSource<R> {
    reader: csv::Reader<R>,
    schema: SchemaRef,
    batch_rows: usize,
    row: u64,
    ended: bool,
}

impl<R: Read> CsvSource<R> {
    /// Reads the header; batches will have up to `batch_rows` rows.
    ///
    /// # Errors
    /// A stream without header, with two columns of one name, that is not UTF-8, or unreadable.
    pub fn open(input: R, batch_rows: usize) -> Result<Self, Error> {
        let mut reader = csv::ReaderBuilder::new().buffer_capacity(1 << 18).from_reader(input);
        let header = reader.headers().map_err(|error| unreadable(&error, None))?;
        if header.is_empty() {
            return Err(Error::table(Reason::Format("an empty CSV file: no header".into())));
        }
        let fields = header.iter().map(|name| Field::new(name, DataType::Utf8, true));
        let schema = Arc::new(Schema::new(fields.collect::<Vec<_>>()));
        check_names(&schema)?;
        Ok(Self { reader, schema, batch_rows: batch_rows.max(1), row: 0, ended: false })
    }

    /// The columns, all of them text.
    pub fn schema(&self) -> SchemaRef {
        self.schema.clone()
    }

    fn read(&mut self) -> Result<Option<RecordBatch>, Error> {
        let mut columns: Vec<StringBuilder> = self.schema.fields().iter().map(|_| StringBuilder::new()).collect();
        let mut record = StringRecord::new();
        let mut rows = 0;
        while rows < self.batch_rows {
            let row = self.row + rows as u64;
            let more = self.reader.read_record(&mut record);
            if !more.map_err(|error| unreadable(&error, Some(row)))? {
                self.ended = true;
                break;
            }
            for (column, cell) in columns.iter_mut().zip(&record) {
                column.append_option((!cell.is_empty()).then_some(cell));
            }
            rows += 1;
        }
        self.row += rows as u64;
        if rows == 0 {
            return Ok(None);
        }
        let arrays = columns.iter_mut().map(|column| Arc::new(column.finish()) as ArrayRef);
        RecordBatch::try_new(self.schema.clone(), arrays.collect())
            .map(Some)
            .map_err(|error| Error::table(Reason::Shape(error.to_string())))
    }
}

impl<R: Read> Iterator for CsvSource<R> {
    type Item = Result<RecordBatch, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.ended {
            return None;
        }
        let batch = self.read();
        self.ended |= batch.is_err();
        batch.transpose()
    }
}

/// A CSV stream being written; nulls are empty cells.
#[derive(Debug)]
pub struct CsvSink<W: Write> {
    writer: csv::Writer<W>,
}

impl<W: Write> CsvSink<W> {
    /// Writes the header.
    ///
    /// # Errors
    /// A failure to write.
    pub fn new(output: W, schema: &Schema) -> Result<Self, WriteError> {
        let mut writer = csv::Writer::from_writer(output);
        writer.write_record(schema.fields().iter().map(|field| field.name())).map_err(failed)?;
        Ok(Self { writer })
    }

    /// Writes a batch.
    ///
    /// # Errors
    /// A column whose type has no text (nested types have one), or a failure to write.
    pub fn write(&mut self, batch: &RecordBatch) -> Result<(), WriteError> {
        let columns = batch.columns().iter().map(|column| Texts::new(column));
        let columns = columns.collect::<Result<Vec<_>, _>>()?;
        for row in 0..batch.num_rows() {
            for column in &columns {
                self.writer.write_field(column.text(row)?).map_err(failed)?;
            }
            self.writer.write_record(None::<&[u8]>).map_err(failed)?;
        }
        Ok(())
    }

    /// Gives the output back, everything written to it.
    ///
    /// # Errors
    /// A failure to write.
    pub fn finish(self) -> Result<W, WriteError> {
        self.writer.into_inner().map_err(|error| WriteError::Io(error.into_error()))
    }
}

/// The cells of a column as text, as CSV and tables show them.
pub struct Texts<'a> {
    formatter: ArrayFormatter<'a>,
}

impl<'a> Texts<'a> {
    /// Prepares a column.
    ///
    /// # Errors
    /// [`WriteError::Format`] for a type that has no text.
    pub fn new(column: &'a dyn Array) -> Result<Self, WriteError> {
        const OPTIONS: FormatOptions<'static> = FormatOptions::new().with_display_error(false);
        let formatter =
            ArrayFormatter::try_new(column, &OPTIONS).map_err(|error| WriteError::Format(error.to_string()))?;
        Ok(Self { formatter })
    }

    /// The text of a cell; empty for null.
    ///
    /// # Errors
    /// [`WriteError::Format`] for a value without text, such as a date beyond the calendar.
    pub fn text(&self, row: usize) -> Result<String, WriteError> {
        let text = self.formatter.value(row).try_to_string();
        text.map_err(|error| WriteError::Format(error.to_string()))
    }
}

fn failed(error: csv::Error) -> WriteError {
    match error.into_kind() {
        ErrorKind::Io(error) => WriteError::Io(error),
        other => WriteError::Format(format!("{other:?}")),
    }
}

fn unreadable(error: &csv::Error, row: Option<u64>) -> Error {
    let text = match error.kind() {
        ErrorKind::Io(error) => error.to_string(),
        ErrorKind::Utf8 { .. } => "not UTF-8 text".to_owned(),
        ErrorKind::UnequalLengths { expected_len, len, .. } => {
            format!("{len} cells, but the header has {expected_len}")
        }
        _ => error.to_string(),
    };
    match row {
        Some(row) => Error::row_of(row, Reason::Format(text)),
        None => Error::table(Reason::Format(text)),
    }
}

#[cfg(test)]
mod tests {
    use arrow_array::StringArray;
    use arrow_array::cast::AsArray;

    use super::*;

    fn open(text: &str) -> Result<CsvSource<&[u8]>, Error> {
        CsvSource::open(text.as_bytes(), 2)
    }

    fn rewritten(text: &str) -> String {
        let source = open(text).unwrap();
        let mut sink = CsvSink::new(Vec::new(), &source.schema()).unwrap();
        source.for_each(|batch| sink.write(&batch.unwrap()).unwrap());
        String::from_utf8(sink.finish().unwrap()).unwrap()
    }

    #[test]
    fn cells_stay_what_they_were() {
        let text = "id,name,note\n007,\"a,b\",\n 1 ,\"say \"\"hi\"\"\",é\n1e5,\"two\nlines\",0.10\n";
        assert_eq!(rewritten(text), text);
    }

    #[test]
    fn empty_cells_are_null() {
        let batch = open("a,b\n,1\n\"\",2\n").unwrap().next().unwrap().unwrap();
        assert_eq!(batch.column(0).as_string::<i32>(), &StringArray::new_null(2));
        assert_eq!(batch.column(1).as_string::<i32>(), &StringArray::from(vec!["1", "2"]));
    }

    #[test]
    fn a_byte_order_mark_is_no_part_of_the_name() {
        assert_eq!(open("\u{feff}a,b\n1,2\n").unwrap().schema().field(0).name(), "a");
    }

    #[test]
    fn errors_name_the_row() {
        let errors = |text: &str| {
            let mut batches = open(text).unwrap();
            let error = batches.find_map(Result::err).unwrap().to_string();
            assert!(batches.next().is_none(), "an error ends the stream");
            error
        };
        assert_eq!(errors("a,b\n1,2\n3,4\n5\n"), "row 3: 1 cells, but the header has 2");
        let mut broken = CsvSource::open(&b"a\nx\n\xff\n"[..], 10).unwrap();
        let error = broken.next().unwrap().unwrap_err();
        assert_eq!(error.to_string(), "row 2: not UTF-8 text");
    }

    #[test]
    fn headers_are_checked() {
        assert!(open("").unwrap_err().to_string().contains("no header"));
        let error = open("a,b,a\n").unwrap_err().to_string();
        assert_eq!(error, "column a: there would be two columns of this name");
    }

    #[test]
    fn batches_are_of_the_size_asked_for() {
        let sizes: Vec<usize> = open("a\n1\n2\n3\n4\n5\n").unwrap().map(|batch| batch.unwrap().num_rows()).collect();
        assert_eq!(sizes, [2, 2, 1]);
    }
}
