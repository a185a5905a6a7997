//! Every written table can be read again at any width, or fails before it is written.

use std::sync::Arc;

use arrow_array::{ArrayRef, Int64Array, RecordBatch, RecordBatchOptions};
use arrow_schema::{DataType, Field, Schema};
use hearith_bfv::{Engine, PrivateKey, Set};
use hearith_columns::lattice::{LatticeAggregator, LatticeDecryptor, LatticeEncryptor, LatticeKey};
use hearith_columns::limits::MAX_COLUMNS;
use hearith_columns::parquet::{ParquetReader, ParquetWriter, WriteError};
use hearith_columns::{Alignment, ColumnSpec, EncryptOptions, EncryptionKey, Encryptor, TableDigest};
use hearith_paillier::{KeyPolicy, Variant};

/// A table with this many columns, each with the numbers of its rows.
fn table(columns: usize, rows: i64) -> RecordBatch {
    let numbers: ArrayRef = Arc::new(Int64Array::from_iter_values(0..rows));
    let fields: Vec<Field> = (0..columns).map(|at| Field::new(format!("c{at}"), DataType::Int64, true)).collect();
    let options = RecordBatchOptions::new().with_row_count(Some(rows as usize));
    RecordBatch::try_new_with_options(Arc::new(Schema::new(fields)), vec![numbers; columns], &options).unwrap()
}

/// Writes batches to a file and reads them again.
fn read_again(batches: &[RecordBatch]) -> Vec<RecordBatch> {
    let file = tempfile::tempfile().unwrap();
    let mut sink = ParquetWriter::new(file.try_clone().unwrap(), batches[0].schema()).unwrap();
    batches.iter().for_each(|batch| sink.write(batch).unwrap());
    sink.finish().unwrap();
    let source = ParquetReader::open(file).unwrap();
    source.batches(1 << 16, None).unwrap().map(Result::unwrap).collect()
}

/// Copies the one encrypted column of a table `copies` times, each with its own name and companion.
fn widened(batch: &RecordBatch, copies: usize) -> RecordBatch {
    let (schema, arrays) = (batch.schema(), batch.columns());
    let [cells, additions, numbers] = [0, 1, 2].map(|at| (schema.field(at).clone(), arrays[at].clone()));
    let copy = |at: usize| {
        let (name, companion) = (format!("c{at}"), format!("c{at}.additions"));
        let mut metadata = cells.0.metadata().clone();
        metadata.insert("hearith.additions".to_owned(), format!("[\"{companion}\"]"));
        let field = cells.0.clone().with_name(name).with_metadata(metadata);
        [(field, cells.1.clone()), (additions.0.clone().with_name(companion), additions.1.clone())]
    };
    let (fields, arrays): (Vec<Field>, Vec<ArrayRef>) = (0..copies).flat_map(copy).chain([numbers]).unzip();
    RecordBatch::try_new(Arc::new(Schema::new(fields)), arrays).unwrap()
}

#[test]
fn a_thousand_columns_of_bfv_are_read_and_summed() {
    let key = PrivateKey::generate(Set::Degree8192, Engine::best()).unwrap();
    let options = EncryptOptions::new(vec![ColumnSpec { name: "c0".into(), ..Default::default() }]);
    let table = table(1, 3000);
    let mut encryptor = LatticeEncryptor::new(LatticeKey::Public(key.public()), &table.schema(), &options).unwrap();
    let wide = widened(&encryptor.encrypt(&table).unwrap(), 1000);
    let batches = read_again(&[wide]);
    let schema = batches[0].schema();
    let sum = |keep: &[usize]| {
        let kept: Vec<RecordBatch> = batches.iter().map(|batch| batch.project(keep).unwrap()).collect();
        let mut totals = LatticeAggregator::new(key.public(), &kept[0].schema(), &[], None).unwrap();
        totals.begin(&kept[0].schema()).unwrap();
        kept.iter().for_each(|batch| totals.update(batch, None).unwrap());
        totals.end().unwrap();
        totals.finish_with(0).unwrap().batch
    };
    // Only the first and the last, because all of them take too long.
    let last = schema.fields().len() - 1;
    for keep in [[0, 1, last], [last - 2, last - 1, last]] {
        let totals = sum(&keep);
        let mut decryptor = LatticeDecryptor::new(&key, &totals.schema(), true).unwrap();
        let shown = decryptor.decrypt(&totals).unwrap().unwrap();
        let text =
            hearith_columns::csv::CellFormatter::new(shown.column_by_name("c0").unwrap()).unwrap().text(0).unwrap();
        assert_eq!(text, (0..3000).sum::<i64>().to_string());
        // The same number of totals is written and read as well.
        assert_eq!(read_again(&[widened(&totals.project(&[1, 2, 0]).unwrap(), 1000)])[0].num_columns(), 2001);
    }
}

#[test]
fn as_many_columns_as_are_read_become_more_and_stay_readable() {
    let key = hearith_paillier::PrivateKey::generate(256, Variant::Standard, KeyPolicy::AllowInsecure, Engine::best());
    let key = key.unwrap();
    let table = table(4096, 2);
    let columns = (0..4096).map(|at| ColumnSpec { name: format!("c{at}"), ..Default::default() }).collect();
    let encryptor = Encryptor::new(EncryptionKey::Owner(&key), &table.schema(), &EncryptOptions::new(columns)).unwrap();
    let batches = read_again(&[encryptor.encrypt(&table).unwrap()]);
    assert_eq!(batches[0].num_columns(), 8192);
}

#[test]
fn what_could_not_be_read_is_an_error_before_it_is_written() {
    let refused = |batch: &RecordBatch| -> String {
        let written = ParquetWriter::new(Vec::new(), batch.schema()).and_then(|mut sink| sink.write(batch));
        let error = written.unwrap_err();
        assert!(matches!(error, WriteError::Unreadable(_)), "{error}");
        error.to_string()
    };
    read_again(&[table(MAX_COLUMNS, 1)]);
    let error = refused(&table(MAX_COLUMNS + 1, 1));
    assert_eq!(error, format!("this version could not read the file back: more than {MAX_COLUMNS} columns"));
    let cell: ArrayRef = Arc::new(arrow_array::BinaryArray::from_iter_values([vec![0_u8; 16 << 20]]));
    let wide =
        |count: usize| RecordBatch::try_from_iter((0..count).map(|at| (format!("c{at}"), cell.clone()))).unwrap();
    read_again(&[wide(28)]);
    assert!(refused(&wide(29)).contains("row 0: more than 469762048 bytes in a row"));
    let long: ArrayRef = Arc::new(arrow_array::StringArray::from_iter_values(["x".repeat((16 << 20) + 1)]));
    let long = RecordBatch::try_from_iter([("note", long)]).unwrap();
    assert!(refused(&long).contains("row 0, column note: more than 16777216 bytes in a cell"));
}

/// The extension type, by which other programs distinguish unlike columns, exists only in files and
/// does not change results.
#[test]
fn files_have_the_extension_type_and_totals_are_the_same() {
    let key = hearith_paillier::PrivateKey::generate(256, Variant::Standard, KeyPolicy::AllowInsecure, Engine::best());
    let key = key.unwrap();
    let options = EncryptOptions::new(vec![ColumnSpec { name: "c0".into(), ..Default::default() }]);
    let table = table(2, 5);
    let encryptor = Encryptor::new(EncryptionKey::Owner(&key), &table.schema(), &options).unwrap();
    let batch = encryptor.encrypt(&table).unwrap();
    let batches = read_again(std::slice::from_ref(&batch));
    let read = batches[0].schema();
    let types = |schema: &Schema| -> Vec<Option<String>> {
        schema.fields().iter().map(|field| field.extension_type_name().map(str::to_owned)).collect()
    };
    assert_eq!(types(&batch.schema()), [const { None::<String> }; 3]);
    assert_eq!(types(&read), [Some("hearith.paillier".to_owned()), None, None]);
    let digest = |batch: &RecordBatch| {
        let mut digest = TableDigest::new(&batch.schema()).unwrap();
        digest.update(batch).unwrap();
        digest.finish()
    };
    assert_eq!(digest(&batch), digest(&batches[0]));
    // Files with and without the type are alike.
    let schemas = [batch.schema(), read.clone()];
    let mut alignment = Alignment::of(&schemas, &["c1".to_owned()]).unwrap();
    assert_eq!(alignment.schema(&read).unwrap(), read);
    assert_eq!(alignment.align(key.public(), &batches[0]).unwrap(), batches[0]);
    // At another scale, the type would describe the column before the change.
    let finer = ColumnSpec { name: "c0".into(), scale: Some(2), ..Default::default() };
    let finer = EncryptOptions::new(vec![finer]);
    let finer = Encryptor::new(EncryptionKey::Owner(&key), &table.schema(), &finer).unwrap().schema();
    let alignment = Alignment::of(&[read.clone(), finer], &[]).unwrap();
    assert_eq!(types(&alignment.schema(&read).unwrap()), [const { None::<String> }; 3]);
}
