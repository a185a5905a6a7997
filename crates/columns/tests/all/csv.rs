//! CSV that RFC 4180 does not allow is rejected, never misread.

use arrow_array::Array;
use arrow_array::cast::AsArray;
use hearith_columns::csv::CsvReader;
use hearith_columns::limits::{MAX_CELL_BYTES, MAX_COLUMNS};
use hearith_columns::{CsvFault, Error, ErrorKind};
use proptest::prelude::*;

/// Returns its bytes a few at a time, as pipes do.
struct Drops<'a>(&'a [u8], usize);

impl std::io::Read for Drops<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let count = self.0.len().min(self.1).min(buffer.len());
        buffer[..count].copy_from_slice(&self.0[..count]);
        self.0 = &self.0[count..];
        Ok(count)
    }
}

/// A table: names, and rows of cells, with `None` for empty ones.
type Table = (Vec<String>, Vec<Vec<Option<String>>>);

fn read(text: &[u8], drop: usize) -> Result<Table, Error> {
    let source = CsvReader::open(Drops(text, drop), 3)?;
    let names = source.schema().fields().iter().map(|field| field.name().clone()).collect();
    let mut rows = Vec::new();
    for batch in source {
        let batch = batch?;
        let cell = |row, column: &arrow_array::ArrayRef| {
            let column = column.as_string::<i32>();
            column.is_valid(row).then(|| column.value(row).to_owned())
        };
        rows.extend((0..batch.num_rows()).map(|row| batch.columns().iter().map(|column| cell(row, column)).collect()));
    }
    Ok((names, rows))
}

fn fault(text: &str) -> (Option<u64>, CsvFault) {
    let error = read(text.as_bytes(), 7).unwrap_err();
    let ErrorKind::Csv(fault) = error.kind() else { panic!("{error}") };
    assert_eq!(error.column(), None, "names may be cells");
    (error.row(), fault.clone())
}

/// A fault in a cell of a row, both from 0.
fn at(row: u64, cell: usize, fault: CsvFault) -> (Option<u64>, CsvFault) {
    (Some(row), CsvFault::Cell { cell, fault: Box::new(fault) })
}

#[test]
fn a_stray_quote_swallows_no_rows() {
    let rows = (1..=1000).map(|row| if row == 2 { "2,\"\n".to_owned() } else { format!("{row},\n") });
    let text = format!("x,note\n{}", rows.collect::<String>());
    assert_eq!(fault(&text), at(1, 1, CsvFault::UnclosedQuote));
    // Quotes in a later row close it in the wrong place.
    let text = text.replace("500,", "500,\"word\"");
    assert_eq!(fault(&text), at(1, 1, CsvFault::TextAfterQuote));
}

#[test]
fn quotes_stand_where_they_may() {
    assert_eq!(fault("a,b\n1,2\n\"x\"y,2\n"), at(1, 0, CsvFault::TextAfterQuote));
    assert_eq!(fault("a,b\n1,\"x\" \n"), at(0, 1, CsvFault::TextAfterQuote));
    assert_eq!(fault("a,b\n1,x\"y\n"), at(0, 1, CsvFault::BareQuote));
    assert_eq!(fault("a,b\n1, \"x\"\n"), at(0, 1, CsvFault::BareQuote));
    assert_eq!(fault("a,b\n1,\"x"), at(0, 1, CsvFault::UnclosedQuote));
    assert_eq!(fault("a,b\r\n1,2\r3,4\r\n"), at(0, 1, CsvFault::BareReturn));
    assert_eq!(fault("a,b\n1,2,\"x"), at(0, 2, CsvFault::UnclosedQuote));
    let (_, rows) = read(b"a,b\n\"\",\"x,\"\"y\"\"\r\nz\"\r\n\"\"\"\",\"\n\"", 1).unwrap();
    assert_eq!(rows[0], [None, Some("x,\"y\"\r\nz".to_owned())]);
    assert_eq!(rows[1], [Some("\"".to_owned()), Some("\n".to_owned())]);
}

#[test]
fn every_line_is_a_row() {
    let cells = |text: &str| -> Vec<Option<String>> {
        read(text.as_bytes(), 2).unwrap().1.into_iter().map(|mut row| row.remove(0)).collect()
    };
    let expected = [Some("1".to_owned()), None, Some("3".to_owned()), None];
    assert_eq!(cells("x\n1\n\n3\n\n"), expected);
    assert_eq!(cells("x\r\n1\r\n\r\n3\r\n\r\n"), expected);
    assert_eq!(cells("x\n1\n\"\"\n3\n\"\""), expected);
    assert_eq!(cells("x\n"), []);
    assert_eq!(cells("x"), []);
    assert_eq!(fault("a,b\n1,2\n\n3,4\n"), (Some(1), CsvFault::Cells { found: 1, expected: 2 }));
    assert_eq!(fault("a,b\n1,2\n\n"), (Some(1), CsvFault::Cells { found: 1, expected: 2 }));
}

#[test]
fn headers_are_read_strictly() {
    assert_eq!(fault(""), (None, CsvFault::NoHeader));
    assert_eq!(fault("\n1\n"), (None, CsvFault::NoHeader));
    assert_eq!(fault("\u{feff}"), (None, CsvFault::NoHeader));
    let bare = CsvFault::Header { cell: 1, fault: Box::new(CsvFault::BareQuote) };
    assert_eq!(bare.to_string(), "cell 2 of the header: a quote in a cell that does not begin with one");
    assert_eq!(fault("a,b\"\n1,2\n"), (None, bare));
    let (names, rows) = read("\u{feff}\"a\",\"b\nc\"\n1,2".as_bytes(), 1).unwrap();
    assert_eq!((names, rows.len()), (vec!["a".to_owned(), "b\nc".to_owned()], 1));
}

#[test]
fn cells_and_columns_are_bounded() {
    let too_large = |text: String| {
        let error = read(text.as_bytes(), 1 << 20).unwrap_err();
        let ErrorKind::TooLarge { limit, .. } = *error.kind() else { panic!("{error}") };
        (error.row(), limit)
    };
    let long = "y".repeat(MAX_CELL_BYTES + 1);
    let cell = (Some(1), MAX_CELL_BYTES as u64);
    assert_eq!(too_large(format!("a,b\n1,2\n3,{long}\n")), cell);
    assert_eq!(too_large(format!("a,b\n1,2\n3,\"{long}\"\n")), cell);
    assert_eq!(too_large(",".repeat(MAX_COLUMNS)).1, MAX_COLUMNS as u64);
    let whole = "y".repeat(MAX_CELL_BYTES);
    assert_eq!(read(format!("a,b\n1,{whole}\n").as_bytes(), 1 << 20).unwrap().1[0][1].as_ref(), Some(&whole));
    // Long rows make short batches.
    let rows = format!("{whole}\n").repeat(5);
    let mut batches = CsvReader::open(std::io::Cursor::new(format!("a\n{rows}")), 100).unwrap();
    let sizes: Vec<usize> = batches.by_ref().map(|batch| batch.unwrap().num_rows()).collect();
    assert_eq!(sizes, [4, 1]);
}

/// A second RFC 4180 parser, over a whole text by its grammar. Returns records of cells, or
/// nothing.
fn by_the_grammar(text: &[u8]) -> Option<Vec<Vec<String>>> {
    let mut rest = text.strip_prefix("\u{feff}".as_bytes()).unwrap_or(text);
    let mut records = Vec::new();
    while !rest.is_empty() {
        let mut record = Vec::new();
        loop {
            let (cell, after) = match rest.strip_prefix(b"\"") {
                Some(quoted) => quoted_cell(quoted)?,
                None => {
                    let end = rest.iter().position(|byte| b",\r\n\"".contains(byte)).unwrap_or(rest.len());
                    (rest[..end].to_vec(), &rest[end..])
                }
            };
            record.push(String::from_utf8(cell).ok()?);
            match after.strip_prefix(b",") {
                Some(more) => rest = more,
                None => {
                    rest = after;
                    break;
                }
            }
        }
        records.push(record);
        rest = match rest {
            [] => rest,
            [b'\n', after @ ..] | [b'\r', b'\n', after @ ..] => after,
            _ => return None,
        };
    }
    Some(records)
}

fn quoted_cell(mut rest: &[u8]) -> Option<(Vec<u8>, &[u8])> {
    let mut cell = Vec::new();
    loop {
        let end = rest.iter().position(|&byte| byte == b'"')?;
        cell.extend(&rest[..end]);
        match &rest[end + 1..] {
            [b'"', after @ ..] => {
                cell.push(b'"');
                rest = after;
            }
            after => return Some((cell, after)),
        }
    }
}

/// Reads with both parsers, which must yield the same table or both fail.
fn compare(text: &[u8], drop: usize) -> Result<(), TestCaseError> {
    let records = by_the_grammar(text);
    let expected = records.filter(|records| {
        let named = records.first().is_some_and(|header| header.len() > 1 || !header[0].is_empty());
        let same_length = records.iter().all(|record| record.len() == records[0].len());
        let distinct = records.first().is_some_and(|header| {
            let names: std::collections::HashSet<&String> = header.iter().collect();
            names.len() == header.len()
        });
        named && same_length && distinct
    });
    match (read(text, drop), expected) {
        (Err(_), None) => Ok(()),
        (Ok((names, rows)), Some(records)) => {
            prop_assert_eq!(&names, &records[0]);
            let cells = |record: &Vec<String>| {
                record.iter().map(|cell| (!cell.is_empty()).then(|| cell.clone())).collect::<Vec<_>>()
            };
            prop_assert_eq!(rows, records[1..].iter().map(cells).collect::<Vec<_>>());
            Ok(())
        }
        (read, expected) => {
            Err(TestCaseError::fail(format!("{:?}: {read:?}, expected {expected:?}", String::from_utf8_lossy(text))))
        }
    }
}

proptest! {
    #[test]
    fn what_the_csv_crate_writes_is_read_back(
        columns in 1_usize..5,
        cells in proptest::collection::vec("[a\"',;\r\n 0é]{0,6}", 0..40),
        style in 0_usize..4,
        crlf: bool,
        drop in 1_usize..9,
    ) {
        let style = [csv::QuoteStyle::Necessary, csv::QuoteStyle::Always, csv::QuoteStyle::NonNumeric, csv::QuoteStyle::Necessary][style];
        let terminator = if crlf { csv::Terminator::CRLF } else { csv::Terminator::Any(b'\n') };
        let mut writer = csv::WriterBuilder::new().quote_style(style).terminator(terminator).from_writer(Vec::new());
        let names: Vec<String> = (0..columns).map(|column| format!("c{column}")).collect();
        writer.write_record(&names).unwrap();
        let rows: Vec<&[String]> = cells.chunks_exact(columns).collect();
        rows.iter().for_each(|row| writer.write_record(*row).unwrap());
        let text = writer.into_inner().unwrap();
        let expected: Vec<Vec<Option<String>>> = rows.iter()
            .map(|row| row.iter().map(|cell| (!cell.is_empty()).then(|| cell.clone())).collect())
            .collect();
        prop_assert_eq!(read(&text, drop).unwrap(), (names, expected));
    }

    #[test]
    fn changed_bytes_never_make_other_rows(
        rows in proptest::collection::vec("[ab]{0,2}|\"\"|\"a,b\"|\"a\"\"b\"|\"\n\"", 0..12),
        columns in 1_usize..4,
        changes in proptest::collection::vec((any::<prop::sample::Index>(), proptest::sample::select(b"\",\n\ra\xff".to_vec())), 0..4),
        drop in 1_usize..9,
    ) {
        let header: Vec<String> = (0..columns).map(|column| format!("h{column}")).collect();
        let lines = rows.chunks_exact(columns).map(|row| row.join(","));
        let mut text = [header.join(",")].into_iter().chain(lines).collect::<Vec<_>>().join("\n").into_bytes();
        for (at, byte) in changes {
            let at = at.index(text.len());
            text[at] = byte;
        }
        compare(&text, drop)?;
    }

    #[test]
    fn texts_of_quotes_and_breaks_are_read_as_the_grammar_says(text in "\u{feff}?[a,\"\r\n]{0,24}", drop in 1_usize..9) {
        compare(text.as_bytes(), drop)?;
    }
}
