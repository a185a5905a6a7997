//! CSV as streams of batches. Cells remain unchanged text, and an empty cell is null. A [`Dialect`]
//! describes files in other notations.
//!
//! Quotes follow RFC 4180 strictly. A cell that begins with a quote ends with one, and quotes
//! within it are doubled. A quote anywhere else is an error that names row and column, but never
//! shows text. Quoted cells may hold commas and line breaks.
//!
//! Every line is a row, even an empty one. In a table of one column, an empty line is a null.
//! Otherwise it is an error, like every row with too few cells. Only the last line may lack its
//! line end.

mod dialect;
mod records;

use std::collections::HashMap;
use std::fmt;
use std::io::{Read, Write};
use std::sync::Arc;

use arrow_array::builder::StringBuilder;
use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_cast::display::{ArrayFormatter, FormatOptions};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use zeroize::Zeroizing;

use crate::error::{Error, ErrorKind};
use crate::limits::{BATCH_BYTES, MAX_HEADER_BYTES};
use crate::metadata::check_names;
use crate::parquet::WriteError;
pub use dialect::{Dialect, DialectError};
use records::{Fault, Record, Records};

/// Why a text is not valid CSV.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CsvFault {
    /// The first line is missing or empty.
    #[error("no header: the first line must name the columns")]
    NoHeader,
    /// The file is empty.
    #[error("no first line")]
    Nothing,
    /// The header cannot be read.
    #[error("cell {} of the header: {fault}", .cell + 1)]
    Header {
        /// The cell, from 0.
        cell: usize,
        /// What is wrong with it.
        fault: Box<CsvFault>,
    },
    /// A cell of a row cannot be read. It is identified by number, not name: the first line of a
    /// file without a header holds cells, which are private.
    #[error("cell {}: {fault}", .cell + 1)]
    Cell {
        /// The cell in the row, from 0.
        cell: usize,
        /// What is wrong with it.
        fault: Box<CsvFault>,
    },
    /// Two cells of the header hold the same name.
    #[error("the same name as cell {}", .first + 1)]
    Repeated {
        /// The first cell with this name, from 0.
        first: usize,
    },
    /// A cell is not a number in the file's dialect.
    #[error("is not a number with these decimal and thousands marks")]
    NotANumber,
    /// A row is longer or shorter than the first line.
    #[error("{found} cells, but the first line has {expected}")]
    Cells {
        /// Cells of the row.
        found: usize,
        /// Cells of the first line.
        expected: usize,
    },
    /// The text is not UTF-8.
    #[error("not UTF-8 text")]
    NotUtf8,
    /// The quote that opens a cell is never closed.
    #[error("an opening quote is never closed")]
    UnclosedQuote,
    /// A cell continues after its closing quote.
    #[error("text after a closing quote (quotes within quotes are doubled)")]
    TextAfterQuote,
    /// A quote occurs in a cell that does not begin with one.
    #[error("a quote in a cell that does not begin with one")]
    BareQuote,
    /// A carriage return outside quotes is not followed by a line feed.
    #[error("a carriage return without a line feed")]
    BareReturn,
}

/// A CSV reader that yields batches of text columns.
///
/// The reader wipes the text from its own buffers. The batches also hold the text, and belong to
/// the caller.
pub struct CsvReader<R> {
    records: Records<R>,
    dialect: Dialect,
    schema: SchemaRef,
    /// For each column, whether its cells are numbers written in the marks of the file's dialect.
    numbers: Vec<bool>,
    /// The first line, if it is a row.
    first: Option<Record>,
    batch_rows: usize,
    row: u64,
    ended: bool,
}

impl<R: Read> CsvReader<R> {
    /// Reads the header. Batches have up to `batch_rows` rows, fewer if the rows are long.
    ///
    /// # Errors
    /// When the stream has no header or two columns of one name, is not UTF-8, or cannot be read.
    pub fn open(input: R, batch_rows: usize) -> Result<Self, Error> {
        Self::with(input, batch_rows, &Dialect::default(), &[])
    }

    /// Like [`open`](Self::open), with another dialect. Cells of the columns in `numbers` are
    /// rewritten with a decimal point and without thousands separators. Columns that the file does
    /// not have are ignored.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    pub fn with(input: R, batch_rows: usize, dialect: &Dialect, numbers: &[String]) -> Result<Self, Error> {
        let mut records = Records::new(input, dialect.delimiter())?;
        let mut first = Record::default();
        let found = records.read(&mut first).map_err(in_header)?;
        let names = match dialect.has_header() {
            true => header(&first)?,
            false if found => (1..=first.len()).map(|number| format!("c{number}")).collect(),
            false => return Err(ErrorKind::from(CsvFault::Nothing).into()),
        };
        let numbers = names.iter().map(|name| dialect.has_marks() && numbers.contains(name)).collect();
        let fields = names.iter().map(|name| Field::new(name, DataType::Utf8, true));
        let schema = Arc::new(Schema::new(fields.collect::<Vec<_>>()));
        check_names(&schema)?;
        let first = (!dialect.has_header()).then_some(first);
        let (dialect, batch_rows) = (dialect.clone(), batch_rows.max(1));
        Ok(Self { records, dialect, schema, numbers, first, batch_rows, row: 0, ended: false })
    }

    /// The columns, all of them text.
    pub fn schema(&self) -> SchemaRef {
        self.schema.clone()
    }

    fn read(&mut self) -> Result<Option<RecordBatch>, Error> {
        let mut columns: Vec<StringBuilder> = self.schema.fields().iter().map(|_| StringBuilder::new()).collect();
        let mut record = Record::default();
        let (mut rows, mut bytes) = (0, 0);
        while rows < self.batch_rows && bytes < BATCH_BYTES {
            let row = self.row + rows as u64;
            if !self.next_record(&mut record).map_err(|fault| fault.at_row(row))? {
                self.ended = true;
                break;
            }
            let (found, expected) = (record.len(), columns.len());
            if found != expected {
                return Err(ErrorKind::from(CsvFault::Cells { found, expected }).at_row(row));
            }
            for ((index, column), field) in columns.iter_mut().enumerate().zip(record.fields()) {
                let field = field.map_err(|fault| fault.at_row(row))?;
                self.append(index, field, column).map_err(|fault| fault.at_row(row))?;
            }
            bytes += record.bytes();
            rows += 1;
        }
        self.row += rows as u64;
        if rows == 0 {
            return Ok(None);
        }
        let arrays = columns.iter_mut().map(|column| Arc::new(column.finish()) as ArrayRef);
        Ok(Some(RecordBatch::try_new(self.schema.clone(), arrays.collect())?))
    }

    /// Reads the next record, including the first line if it is a row. Returns whether there was
    /// one.
    fn next_record(&mut self, record: &mut Record) -> Result<bool, Fault> {
        match self.first.take() {
            Some(first) => {
                *record = first;
                Ok(true)
            }
            None => self.records.read(record),
        }
    }

    /// Appends a field to its column.
    fn append(&self, index: usize, field: &str, column: &mut StringBuilder) -> Result<(), Fault> {
        if self.dialect.is_null(field) {
            column.append_null();
        } else if self.numbers[index] {
            let number = self.dialect.number(field);
            let number = number.ok_or_else(|| Fault { field: index, kind: CsvFault::NotANumber.into() })?;
            column.append_value(number.as_str());
        } else {
            column.append_value(field);
        }
        Ok(())
    }
}

impl Fault {
    /// Converts the fault to an error of a row, from 0.
    fn at_row(self, row: u64) -> Error {
        match self.kind {
            ErrorKind::Csv(fault) => {
                ErrorKind::from(CsvFault::Cell { cell: self.field, fault: Box::new(fault) }).at_row(row)
            }
            other => other.at_row(row),
        }
    }
}

/// The names in the first line.
fn header(record: &Record) -> Result<Vec<String>, Error> {
    if record.bytes() > MAX_HEADER_BYTES {
        let (what, limit) = ("bytes in the header", MAX_HEADER_BYTES as u64);
        return Err(ErrorKind::TooLarge { what, limit }.into());
    }
    let names = record.fields().collect::<Result<Vec<_>, _>>().map_err(in_header)?;
    if matches!(names[..], [] | [""]) {
        return Err(ErrorKind::from(CsvFault::NoHeader).into());
    }
    let mut seen = HashMap::new();
    for (field, name) in names.iter().enumerate() {
        if let Some(first) = seen.insert(*name, field) {
            return Err(in_header(Fault { field, kind: CsvFault::Repeated { first }.into() }));
        }
    }
    Ok(names.into_iter().map(str::to_owned).collect())
}

fn in_header(fault: Fault) -> Error {
    match fault.kind {
        ErrorKind::Csv(inner) => ErrorKind::from(CsvFault::Header { cell: fault.field, fault: Box::new(inner) }).into(),
        other => other.into(),
    }
}

impl<R> fmt::Debug for CsvReader<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CsvReader").field("schema", &self.schema).field("row", &self.row).finish_non_exhaustive()
    }
}

impl<R: Read> Iterator for CsvReader<R> {
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

/// A CSV writer. A null is an empty cell and an empty text is `""`, as in PostgreSQL and polars.
///
/// In a table of one column, a null is `""` as well, because many readers skip empty lines and
/// would lose rows.
#[derive(Debug)]
pub struct CsvWriter<W: Write> {
    writer: csv::Writer<W>,
    delimiter: u8,
}

impl<W: Write> CsvWriter<W> {
    /// Writes the header.
    ///
    /// # Errors
    /// A failure to write.
    pub fn new(output: W, schema: &Schema) -> Result<Self, WriteError> {
        Self::delimited(output, schema, b',')
    }

    /// Like [`new`](Self::new), with another delimiter.
    ///
    /// # Errors
    /// A failure to write.
    pub fn delimited(output: W, schema: &Schema, delimiter: u8) -> Result<Self, WriteError> {
        // The writer quotes either all empty cells or none, so cells are quoted before they reach
        // it.
        let mut builder = csv::WriterBuilder::new();
        let builder = builder.delimiter(delimiter).quote_style(csv::QuoteStyle::Never);
        let mut sink = Self { writer: builder.from_writer(output), delimiter };
        schema.fields().iter().try_for_each(|field| sink.write_text(field.name()))?;
        sink.end_record()?;
        Ok(sink)
    }

    /// Writes a batch.
    ///
    /// # Errors
    /// When a column's type has no text form (nested types have one), or writing fails.
    pub fn write(&mut self, batch: &RecordBatch) -> Result<(), WriteError> {
        let columns = batch.columns().iter().map(|column| Ok((column.logical_nulls(), CellFormatter::new(column)?)));
        let columns = columns.collect::<Result<Vec<_>, WriteError>>()?;
        for row in 0..batch.num_rows() {
            for (nulls, texts) in &columns {
                match nulls.as_ref().is_some_and(|nulls| nulls.is_null(row)) {
                    true => self.write_field(b"")?,
                    false => self.write_text(&Zeroizing::new(texts.text(row)?))?,
                }
            }
            self.end_record()?;
        }
        Ok(())
    }

    /// Writes a field that is not null.
    fn write_text(&mut self, text: &str) -> Result<(), WriteError> {
        let special = |byte: &u8| *byte == self.delimiter || b"\"\r\n".contains(byte);
        if !text.is_empty() && !text.as_bytes().iter().any(special) {
            return self.write_field(text.as_bytes());
        }
        let quotes = text.bytes().filter(|byte| *byte == b'"').count();
        // Allocated in full at the start, because growing would leave a copy in memory.
        let mut quoted = Zeroizing::new(Vec::with_capacity(text.len() + quotes + 2));
        quoted.push(b'"');
        for byte in text.bytes() {
            if byte == b'"' {
                quoted.push(b'"');
            }
            quoted.push(byte);
        }
        quoted.push(b'"');
        self.write_field(&quoted)
    }

    fn write_field(&mut self, field: &[u8]) -> Result<(), WriteError> {
        self.writer.write_field(field).map_err(WriteError::from_csv)
    }

    fn end_record(&mut self) -> Result<(), WriteError> {
        self.writer.write_record(None::<&[u8]>).map_err(WriteError::from_csv)
    }

    /// Flushes and returns the output.
    ///
    /// # Errors
    /// A failure to write.
    pub fn finish(self) -> Result<W, WriteError> {
        self.writer.into_inner().map_err(|error| WriteError::Io(error.into_error()))
    }
}

/// The cells of a column as text, as CSV and tables show them.
pub struct CellFormatter<'a> {
    formatter: ArrayFormatter<'a>,
}

impl<'a> CellFormatter<'a> {
    /// Prepares a column.
    ///
    /// # Errors
    /// [`WriteError::NoText`] for a type without a text form.
    pub fn new(column: &'a dyn Array) -> Result<Self, WriteError> {
        const OPTIONS: FormatOptions<'static> = FormatOptions::new().with_display_error(false);
        Ok(Self { formatter: ArrayFormatter::try_new(column, &OPTIONS).map_err(|_| WriteError::NoText)? })
    }

    /// The text of a cell, empty for null.
    ///
    /// # Errors
    /// [`WriteError::NoText`] for a value without a text form, such as a date beyond the calendar.
    pub fn text(&self, row: usize) -> Result<String, WriteError> {
        self.formatter.value(row).try_to_string().map_err(|_| WriteError::NoText)
    }
}

#[cfg(test)]
mod tests {
    use arrow_array::cast::AsArray;
    use arrow_array::{DictionaryArray, Int8Array, StringArray};

    use super::*;

    fn open(text: &str) -> Result<CsvReader<&[u8]>, Error> {
        CsvReader::open(text.as_bytes(), 2)
    }

    fn rewritten(text: &str) -> String {
        let source = open(text).unwrap();
        let mut sink = CsvWriter::new(Vec::new(), &source.schema()).unwrap();
        source.for_each(|batch| sink.write(&batch.unwrap()).unwrap());
        String::from_utf8(sink.finish().unwrap()).unwrap()
    }

    #[test]
    fn cells_stay_what_they_were() {
        let text = "id,name,note\n007,\"a,b\",\n 1 ,\"say \"\"hi\"\"\",é\n1e5,\"two\nlines\",0.10\n";
        assert_eq!(rewritten(text), text);
    }

    #[test]
    fn null_is_nothing_and_the_empty_text_is_quoted() {
        let dept: ArrayRef = Arc::new(StringArray::from(vec![Some(""), None, Some("a\tb"), Some("\"")]));
        let values = StringArray::from(vec![None, Some(""), Some("x")]);
        let keys = Int8Array::from(vec![Some(1), Some(0), None, Some(2)]);
        let site: ArrayRef = Arc::new(DictionaryArray::new(keys, Arc::new(values)));
        let batch = RecordBatch::try_from_iter_with_nullable([("dept", dept, true), ("site", site, true)]).unwrap();
        let written = |delimiter| {
            let mut sink = CsvWriter::delimited(Vec::new(), &batch.schema(), delimiter).unwrap();
            sink.write(&batch).unwrap();
            String::from_utf8(sink.finish().unwrap()).unwrap()
        };
        assert_eq!(written(b','), "dept,site\n\"\",\"\"\n,\na\tb,\n\"\"\"\",x\n");
        assert_eq!(written(b'\t'), "dept\tsite\n\"\"\t\"\"\n\t\n\"a\tb\"\t\n\"\"\"\"\tx\n");
        let lone = batch.project(&[0]).unwrap();
        let mut sink = CsvWriter::new(Vec::new(), &lone.schema()).unwrap();
        sink.write(&lone).unwrap();
        assert_eq!(sink.finish().unwrap(), b"dept\n\"\"\n\"\"\na\tb\n\"\"\"\"\n", "no empty lines");
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
        assert_eq!(errors("a,b\n1,2\n3,4\n5\n"), "row 2: 1 cells, but the first line has 2");
        let mut broken = CsvReader::open(&b"a\nx\n\xff\n"[..], 10).unwrap();
        let error = broken.next().unwrap().unwrap_err();
        assert_eq!(error.to_string(), "row 1: cell 1: not UTF-8 text");
    }

    #[test]
    fn headers_are_checked() {
        assert!(open("").unwrap_err().to_string().contains("no header"));
        let error = open("a,b,a\n").unwrap_err().to_string();
        assert_eq!(error, "cell 3 of the header: the same name as cell 1");
    }

    #[test]
    fn no_message_holds_a_cell_of_a_file_without_header() {
        for text in ["alice,5000,5000\n", "alice,5000\nbob,\"6000\n", "alice,5000\nbob\n", "alice,5000\nbob,\"6\"0\n"] {
            let error = match open(text) {
                Err(error) => error,
                Ok(mut rows) => rows.find_map(Result::err).unwrap(),
            };
            let said = error.to_string();
            assert!(["alice", "bob", "5000", "60"].iter().all(|cell| !said.contains(cell)), "{said}");
        }
    }

    fn read(text: &str, dialect: &Dialect, numbers: &[&str]) -> Result<Vec<RecordBatch>, Error> {
        let numbers: Vec<String> = numbers.iter().map(|&name| name.to_owned()).collect();
        CsvReader::with(text.as_bytes(), 2, dialect, &numbers)?.collect()
    }

    #[test]
    fn without_header_the_first_line_is_a_row() {
        let batches = read("7,a\n8,b\n9,c\n", &Dialect::default().without_header(), &[]).unwrap();
        assert_eq!(batches.iter().map(RecordBatch::num_rows).collect::<Vec<_>>(), [2, 1]);
        assert_eq!(batches[0].schema().field(1).name(), "c2");
        assert_eq!(batches[0].column(0).as_string::<i32>(), &StringArray::from(vec!["7", "8"]));
        assert_eq!(read("", &Dialect::default().without_header(), &[]).unwrap_err().to_string(), "no first line");
    }

    #[test]
    fn marks_are_those_of_the_numbers_alone() {
        let dialect = Dialect::default().delimited_by(';').unwrap().with_marks(',', Some('.')).unwrap();
        let dialect = dialect.with_null("n/a");
        let text = "name;pay\n\"a;b\";1.234,5\n1,5;n/a\n";
        let batch = read(text, &dialect, &["pay", "other"]).unwrap().remove(0);
        assert_eq!(batch.column(0).as_string::<i32>(), &StringArray::from(vec!["a;b", "1,5"]));
        assert_eq!(batch.column(1).as_string::<i32>(), &StringArray::from(vec![Some("1234.5"), None]));
        let error = read("name;pay\na;1.5\n", &dialect, &["pay"]).unwrap_err().to_string();
        assert_eq!(error, "row 0: cell 2: is not a number with these decimal and thousands marks");
    }

    #[test]
    fn batches_are_of_the_size_asked_for() {
        let sizes: Vec<usize> = open("a\n1\n2\n3\n4\n5\n").unwrap().map(|batch| batch.unwrap().num_rows()).collect();
        assert_eq!(sizes, [2, 2, 1]);
    }
}
