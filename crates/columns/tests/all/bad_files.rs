//! Parquet files that claim far more than they hold. Each ends in one clear error, or in short
//! batches.
//!
//! The tests write the files byte by byte (Apache Parquet, "Parquet format", and Apache Thrift,
//! "Thrift Compact protocol encoding"), as no writer would write them.

use std::io::{Read, Seek, Write};
use std::sync::Arc;

use arrow_array::types::Int32Type;
use arrow_array::{ArrayRef, DictionaryArray, Int32Array, RecordBatch, StringArray};
use hearith_columns::limits::*;
use hearith_columns::parquet::{ParquetReader, ParquetWriter};
use hearith_columns::{Error, ErrorKind, ParquetFault};
use parquet::arrow::arrow_writer::ArrowWriter;
use parquet::file::properties::WriterProperties;

const I32: u8 = 5;
const I64: u8 = 6;
const BINARY: u8 = 8;
const LIST: u8 = 9;
const STRUCT: u8 = 12;

// Codes of the format.
const INT32: i64 = 1;
const BYTE_ARRAY: i64 = 6;
const FIXED: i64 = 7;
const REQUIRED: i64 = 0;
const OPTIONAL: i64 = 1;
const UNCOMPRESSED: i64 = 0;
const GZIP: i64 = 2;
const BROTLI: i64 = 4;
const ZSTD: i64 = 6;
const PLAIN: i64 = 0;
const RLE: i64 = 3;
const DATA_PAGE: i64 = 0;
const DICTIONARY_PAGE: i64 = 2;

fn varint(mut number: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    while number >= 0x80 {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
    bytes
}

fn int(number: i64) -> Vec<u8> {
    varint((number << 1 ^ number >> 63) as u64)
}

fn binary(bytes: &[u8]) -> Vec<u8> {
    [varint(bytes.len() as u64), bytes.to_vec()].concat()
}

fn list(kind: u8, elements: &[Vec<u8>]) -> Vec<u8> {
    [vec![0xf0 | kind], varint(elements.len() as u64), elements.concat()].concat()
}

/// A structure with these fields: id, type, content.
fn structure(fields: &[(u8, u8, Vec<u8>)]) -> Vec<u8> {
    let (mut bytes, mut last) = (Vec::new(), 0);
    for (id, kind, content) in fields {
        bytes.push((id - last) << 4 | kind);
        bytes.extend(content);
        last = *id;
    }
    bytes.push(0);
    bytes
}

fn group(name: &str, children: i64) -> Vec<u8> {
    structure(&[(3, I32, int(REQUIRED)), (4, BINARY, binary(name.as_bytes())), (5, I32, int(children))])
}

fn leaf(name: &str, physical: i64, length: i64, repetition: i64) -> Vec<u8> {
    let name = binary(name.as_bytes());
    structure(&[(1, I32, int(physical)), (2, I32, int(length)), (3, I32, int(repetition)), (4, BINARY, name)])
}

/// A file's column `x` and its pages.
struct Column {
    physical: i64,
    length: i64,
    repetition: i64,
    compression: i64,
    pages: Vec<Vec<u8>>,
    rows: i64,
}

impl Column {
    fn new(physical: i64, pages: Vec<Vec<u8>>) -> Self {
        Self { physical, length: 0, repetition: REQUIRED, compression: UNCOMPRESSED, pages, rows: 1 }
    }

    fn file(&self) -> Vec<u8> {
        let body = self.pages.concat();
        let schema = [group("schema", 1), leaf("x", self.physical, self.length, self.repetition)];
        self.file_with(&schema, &[self.chunk(4, body.len())], &body)
    }

    fn chunk(&self, start: usize, length: usize) -> Vec<u8> {
        let metadata = structure(&[
            (1, I32, int(self.physical)),
            (2, LIST, list(I32, &[int(PLAIN), int(RLE)])),
            (3, LIST, list(BINARY, &[binary(b"x")])),
            (4, I32, int(self.compression)),
            (5, I64, int(self.rows)),
            (6, I64, int(length as i64)),
            (7, I64, int(length as i64)),
            (9, I64, int(start as i64)),
        ]);
        structure(&[(2, I64, int(start as i64)), (3, STRUCT, metadata)])
    }

    fn file_with(&self, schema: &[Vec<u8>], chunks: &[Vec<u8>], body: &[u8]) -> Vec<u8> {
        let row_group =
            structure(&[(1, LIST, list(STRUCT, chunks)), (2, I64, int(body.len() as i64)), (3, I64, int(self.rows))]);
        file(schema, self.rows, &[row_group], &[], body)
    }
}

fn file(schema: &[Vec<u8>], rows: i64, groups: &[Vec<u8>], keys: &[(&str, &str)], body: &[u8]) -> Vec<u8> {
    let pair = |(key, value): &(&str, &str)| {
        structure(&[(1, BINARY, binary(key.as_bytes())), (2, BINARY, binary(value.as_bytes()))])
    };
    let mut fields =
        vec![(1, I32, int(1)), (2, LIST, list(STRUCT, schema)), (3, I64, int(rows)), (4, LIST, list(STRUCT, groups))];
    if !keys.is_empty() {
        fields.push((5, LIST, list(STRUCT, &keys.iter().map(pair).collect::<Vec<_>>())));
    }
    let footer = structure(&fields);
    [b"PAR1", body, &footer, &(footer.len() as u32).to_le_bytes(), b"PAR1"].concat()
}

/// A page whose header claims these sizes and this number of values.
fn page(kind: i64, uncompressed: i64, values: i64, body: &[u8]) -> Vec<u8> {
    let what = match kind {
        DICTIONARY_PAGE => (7, STRUCT, structure(&[(1, I32, int(values)), (2, I32, int(PLAIN))])),
        _ => {
            let rest = [(3, I32, int(RLE)), (4, I32, int(RLE))];
            let fields = [(1, I32, int(values)), (2, I32, int(PLAIN))].into_iter().chain(rest);
            (5, STRUCT, structure(&fields.collect::<Vec<_>>()))
        }
    };
    let fields = [(1, I32, int(kind)), (2, I32, int(uncompressed)), (3, I32, int(body.len() as i64)), what];
    [structure(&fields), body.to_vec()].concat()
}

fn data(values: i64, body: &[u8]) -> Vec<u8> {
    page(DATA_PAGE, body.len() as i64, values, body)
}

fn open(bytes: &[u8]) -> Result<ParquetReader, Error> {
    let mut file = tempfile::tempfile().unwrap();
    file.write_all(bytes).unwrap();
    file.rewind().unwrap();
    ParquetReader::open(file)
}

fn rows(bytes: &[u8]) -> Result<Vec<RecordBatch>, Error> {
    open(bytes)?.batches(8192, None)?.collect()
}

fn too_large(bytes: &[u8]) -> (&'static str, u64) {
    let error = rows(bytes).unwrap_err();
    let ErrorKind::TooLarge { what, limit } = error.kind() else { panic!("{error}") };
    (what, *limit)
}

/// The inconsistent structure that the error names.
fn structural(bytes: &[u8]) -> &'static str {
    let error = rows(bytes).unwrap_err();
    match error.kind() {
        ErrorKind::NotParquet(ParquetFault::Structure(what)) | ErrorKind::Damaged(ParquetFault::Structure(what)) => {
            what
        }
        _ => panic!("{error}"),
    }
}

#[test]
fn files_made_here_are_read() {
    let numbers = Column { rows: 2, ..Column::new(INT32, vec![data(2, &[7, 0, 0, 0, 9, 0, 0, 0])]) };
    let batches = rows(&numbers.file()).unwrap();
    assert_eq!(batches[0].column(0).as_ref(), &Int32Array::from(vec![7, 9]) as &dyn arrow_array::Array);
    let nested = [group("schema", 1), group("a", 1), group("b", 1), leaf("x", INT32, 0, REQUIRED)];
    assert!(open(&file(&nested, 0, &[], &[], &[])).is_ok());
}

#[test]
fn nesting_is_bounded() {
    let nested = |depth: usize| {
        let groups = (0..depth).map(|level| group(&format!("g{level}"), 1));
        let schema: Vec<Vec<u8>> =
            [group("schema", 1)].into_iter().chain(groups).chain([leaf("x", INT32, 0, REQUIRED)]).collect();
        file(&schema, 0, &[], &[], &[])
    };
    assert!(open(&nested(MAX_DEPTH - 1)).is_ok());
    for depth in [MAX_DEPTH, 2000, 100_000] {
        assert_eq!(too_large(&nested(depth)), ("levels of nested columns", MAX_DEPTH as u64));
    }
}

#[test]
fn columns_are_bounded() {
    let claims = |children| file(&[group("schema", children), leaf("x", INT32, 0, REQUIRED)], 0, &[], &[], &[]);
    assert_eq!(too_large(&claims(i64::from(i32::MAX))), ("columns", MAX_COLUMNS as u64));
    assert_eq!(structural(&claims(2)), "its footer");
    assert_eq!(structural(&claims(-1)), "its footer");
    let many: Vec<Vec<u8>> = (0..=MAX_COLUMNS).map(|column| leaf(&format!("c{column}"), INT32, 0, REQUIRED)).collect();
    let most = MAX_COLUMNS as i64;
    let halves = [
        vec![group("schema", 2), group("a", most)],
        many[..MAX_COLUMNS].to_vec(),
        vec![group("b", 1)],
        many[MAX_COLUMNS..].to_vec(),
    ];
    assert_eq!(too_large(&file(&halves.concat(), 0, &[], &[], &[])), ("columns", MAX_COLUMNS as u64));
    let two_roots = [group("schema", 1), leaf("x", INT32, 0, REQUIRED), leaf("y", INT32, 0, REQUIRED)];
    assert!(matches!(open(&file(&two_roots, 0, &[], &[], &[])).unwrap_err().kind(), ErrorKind::NotParquet(_)));
}

#[test]
fn footers_are_bounded() {
    let mut sparse = tempfile::tempfile().unwrap();
    sparse.write_all(b"PAR1").unwrap();
    sparse.seek(std::io::SeekFrom::Start(MAX_FOOTER_BYTES + 100)).unwrap();
    sparse.write_all(&(MAX_FOOTER_BYTES as u32 + 1).to_le_bytes()).unwrap();
    sparse.write_all(b"PAR1").unwrap();
    let error = ParquetReader::open(sparse).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::TooLarge { what: "bytes in the footer", .. }), "{error}");
    let schema = [group("schema", 1), leaf("x", INT32, 0, REQUIRED)];
    let hinted = |value| file(&schema, 0, &[], &[("ARROW:schema", value)], &[]);
    for value in ["", "AAAA", "%%%", "/////xAAAAD/////"] {
        assert_eq!(structural(&hinted(value)), "the Arrow schema in its footer", "{value}");
    }
    let no_schema = open(&hinted("/////xAAAAAAAAAA")).unwrap_err();
    assert!(matches!(no_schema.kind(), ErrorKind::NotParquet(_)), "{no_schema}");
    assert!(open(&file(&schema, 0, &[], &[("another", "%%%")], &[])).is_ok());
}

#[test]
fn pages_are_bounded() {
    let huge = i64::from(i32::MAX);
    let compressed = |uncompressed| Column {
        compression: ZSTD,
        ..Column::new(INT32, vec![page(DATA_PAGE, uncompressed, 1, &[0; 8])])
    };
    assert_eq!(too_large(&compressed(huge).file()), ("bytes in a page", MAX_PAGE_BYTES));
    assert_eq!(structural(&compressed(-1).file()), "the header of a page");
    assert_eq!(too_large(&Column::new(INT32, vec![data(huge, &[0; 4])]).file()), ("values in a page", MAX_PAGE_VALUES));
    let dictionary = |values, body: &[u8]| {
        Column::new(BYTE_ARRAY, vec![page(DICTIONARY_PAGE, body.len() as i64, values, body), data(1, &[0; 4])])
    };
    assert_eq!(structural(&dictionary(1000, &[0; 8]).file()), "the number of values of a dictionary");
    assert_eq!(too_large(&dictionary(huge, &[0; 8]).file()), ("values in a page", MAX_PAGE_VALUES));
    let late = Column::new(BYTE_ARRAY, vec![data(1, &[0; 4]), page(DICTIONARY_PAGE, 4, 1, &[0; 4])]);
    assert_eq!(structural(&Column { rows: 2, ..late }.file()), "the place of a dictionary");
    let endless = Column::new(INT32, vec![vec![0x1c; 100]]);
    assert_eq!(structural(&endless.file()), "the header of a page");
    // Statistics that claim gigabytes.
    let claim = structure(&[(1, I32, int(0)), (2, I32, int(4)), (3, I32, int(4)), (4, BINARY, varint(4 << 30))]);
    assert_eq!(structural(&Column::new(INT32, vec![claim]).file()), "the header of a page");
}

#[test]
fn columns_lie_apart_within_the_file() {
    let column = Column::new(INT32, vec![data(1, &[7, 0, 0, 0])]);
    let body = column.pages.concat();
    let schema = [group("schema", 2), leaf("x", INT32, 0, REQUIRED), leaf("y", INT32, 0, REQUIRED)];
    let same = column.file_with(&schema, &[column.chunk(4, body.len()), column.chunk(4, body.len())], &body);
    assert_eq!(structural(&same), "the list of its columns' places");
    let single = [group("schema", 1), leaf("x", INT32, 0, REQUIRED)];
    let far = column.file_with(&single, &[column.chunk(4, 1 << 40)], &body);
    assert_eq!(structural(&far), "the list of its columns' places");
}

#[test]
fn nulls_of_wide_columns_make_short_batches() {
    // 5000 nulls: a run of definition levels 0.
    let levels = [&3_u32.to_le_bytes()[..], &varint(5000 << 1), &[0]].concat();
    let width = 8 << 20;
    let column =
        Column { length: width, repetition: OPTIONAL, rows: 5000, ..Column::new(FIXED, vec![data(5000, &levels)]) };
    let first = open(&column.file()).unwrap().batches(8192, None).unwrap().next().unwrap().unwrap();
    assert!((1..=9).contains(&first.num_rows()), "{}", first.num_rows());
    let wider = Column { length: MAX_CELL_BYTES as i64 + 1, ..column };
    assert_eq!(too_large(&wider.file()), ("bytes in a cell", MAX_CELL_BYTES as u64));
}

#[test]
fn compressed_pages_become_no_longer_than_they_say() {
    let zeros = || std::io::repeat(0).take(64 << 20);
    let (mut gzip, mut brotli) = (Vec::new(), Vec::new());
    flate2::read::GzEncoder::new(zeros(), flate2::Compression::best()).read_to_end(&mut gzip).unwrap();
    brotli::CompressorReader::new(zeros(), 4096, 5, 22).read_to_end(&mut brotli).unwrap();
    for (compression, bomb) in [(GZIP, gzip), (BROTLI, brotli)] {
        let column =
            |uncompressed| Column { compression, ..Column::new(INT32, vec![page(DATA_PAGE, uncompressed, 1, &bomb)]) };
        assert_eq!(structural(&column(4).file()), "the length of a compressed page");
        assert_eq!(rows(&column(64 << 20).file()).unwrap()[0].num_rows(), 1);
    }
}

#[test]
fn rows_that_are_not_there_are_missed() {
    let column = Column { rows: 3, ..Column::new(INT32, vec![data(2, &[7, 0, 0, 0, 9, 0, 0, 0])]) };
    let error = rows(&column.file()).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Damaged(_)), "{error}");
    let lying = file(&[group("schema", 1), leaf("x", INT32, 0, REQUIRED)], i64::MAX, &[], &[], &[]);
    let error = rows(&lying).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Damaged(ParquetFault::RowsMissing { .. })), "{error}");
}

fn written(column: ArrayRef, properties: WriterProperties) -> Vec<u8> {
    let batch = RecordBatch::try_from_iter([("x", column)]).unwrap();
    let mut writer = ArrowWriter::try_new(Vec::new(), batch.schema(), Some(properties)).unwrap();
    writer.write(&batch).unwrap();
    writer.into_inner().unwrap()
}

#[test]
fn dictionaries_of_long_values_make_short_batches() {
    const LENGTH: usize = 8 << 20;
    let values: ArrayRef = Arc::new(StringArray::from(vec!["y".repeat(LENGTH)]));
    let column = DictionaryArray::<Int32Type>::new(Int32Array::from(vec![0; 20]), values);
    let plain = arrow_cast::cast(&column, &arrow_schema::DataType::Utf8).unwrap();
    let properties = WriterProperties::builder().set_dictionary_page_size_limit(LENGTH * 2);
    let bytes = written(plain, properties.build());
    assert!(bytes.len() < 2 * LENGTH + (1 << 16), "one value in the file: {}", bytes.len());
    let sizes: Vec<usize> = rows(&bytes).unwrap().iter().map(RecordBatch::num_rows).collect();
    assert_eq!((sizes.iter().sum::<usize>(), sizes.iter().max()), (20, Some(&8)), "{sizes:?}");
}

#[test]
fn cells_are_bounded() {
    let cells = vec!["short".to_owned(), "y".repeat(MAX_CELL_BYTES + 1)];
    let properties = || WriterProperties::builder().set_dictionary_enabled(false).build();
    let bytes = written(Arc::new(StringArray::from(cells.clone())), properties());
    let error = rows(&bytes).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::TooLarge { what: "bytes in a cell", .. }), "{error}");
    assert_eq!((error.row(), error.column()), (Some(1), Some("x")));
    let bytes = written(Arc::new(StringArray::from(vec![&cells[1][1..]])), properties());
    assert_eq!(rows(&bytes).unwrap()[0].num_rows(), 1);
}

#[test]
fn row_groups_are_put_together_into_the_batches_asked_for() {
    let numbers = |range: std::ops::Range<i32>| -> RecordBatch {
        let column: ArrayRef = Arc::new(Int32Array::from_iter_values(range));
        RecordBatch::try_from_iter([("x", column)]).unwrap()
    };
    let properties = WriterProperties::builder().set_max_row_group_row_count(Some(7)).build();
    let mut writer = ArrowWriter::try_new(Vec::new(), numbers(0..0).schema(), Some(properties)).unwrap();
    writer.write(&numbers(0..50)).unwrap();
    let bytes = writer.into_inner().unwrap();
    assert_eq!(open(&bytes).unwrap().row_groups(), 8);
    for rows in [1, 3, 7, 10, 49, 50, 1000] {
        let batches: Vec<RecordBatch> =
            open(&bytes).unwrap().batches(rows, None).unwrap().map(Result::unwrap).collect();
        let (last, whole) = batches.split_last().unwrap();
        assert!(whole.iter().all(|batch| batch.num_rows() == rows), "{rows}");
        let together = arrow_select::concat::concat_batches(&last.schema(), &batches).unwrap();
        assert_eq!(together.column(0).as_ref(), numbers(0..50).column(0).as_ref(), "{rows}");
    }
}

#[test]
fn our_own_files_are_within_bounds() {
    let column: ArrayRef = Arc::new(Int32Array::from_iter_values(0..20_000));
    let batch = RecordBatch::try_from_iter([("x", column)]).unwrap();
    let mut sink = ParquetWriter::new(Vec::new(), batch.schema()).unwrap();
    sink.write(&batch).unwrap();
    assert_eq!(rows(&sink.finish().unwrap()).unwrap().len(), 3);
}
