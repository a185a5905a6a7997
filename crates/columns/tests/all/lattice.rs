//! Batched columns: tables in memory, and through Parquet.

use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock};

use arrow_array::cast::AsArray;
use arrow_array::types::{Decimal128Type, UInt64Type};
use arrow_array::{Array, ArrayRef, BinaryArray, BooleanArray, Int64Array, RecordBatch, StringArray};
use arrow_schema::Schema;
use arrow_select::concat::concat_batches;
use hearith_bfv::{Engine, PrivateKey, Set};
use hearith_columns::lattice::{LatticeAggregator, LatticeColumn, LatticeDecryptor, LatticeEncryptor, LatticeKey};
use hearith_columns::parquet::{ParquetReader, ParquetWriter};
use hearith_columns::{Aggregator, ColumnSpec, EncryptOptions, EncryptionKey, Encryptor, Error};
use parquet::arrow::arrow_writer::ArrowWriter;

const ROWS: usize = 10_000;
const GROUPS: [&str; 3] = ["lab", "shop", "yard"];

static KEY: LazyLock<PrivateKey> = LazyLock::new(|| PrivateKey::generate(Set::Degree4096, Engine::best()).unwrap());

fn value(row: usize) -> Option<i64> {
    (row % 7 != 3).then_some(row as i64 % 201 - 100)
}

fn weight(row: usize) -> i64 {
    row as i64 % 5 - 2
}

fn table(rows: usize) -> RecordBatch {
    let dept: ArrayRef = Arc::new(StringArray::from_iter_values((0..rows).map(|row| GROUPS[row % 3])));
    let weights: ArrayRef = Arc::new(Int64Array::from_iter_values((0..rows).map(weight)));
    let values: ArrayRef = Arc::new(Int64Array::from_iter((0..rows).map(value)));
    RecordBatch::try_from_iter([("dept", dept), ("weight", weights), ("value", values)]).unwrap()
}

fn options(range: &str, max_additions: u64) -> EncryptOptions {
    let column = ColumnSpec { name: "value".into(), range: Some(range.into()), ..Default::default() };
    EncryptOptions { max_additions, ..EncryptOptions::new(vec![column]) }
}

/// The encrypted table, chunk by chunk.
fn encrypted(rows: usize, owner: bool) -> Vec<RecordBatch> {
    let key = if owner { LatticeKey::Owner(&KEY) } else { LatticeKey::Public(KEY.public()) };
    let table = table(rows);
    let mut encryptor = LatticeEncryptor::new(key, &table.schema(), &options("100", 20_000)).unwrap();
    let chunk = encryptor.chunk_rows();
    (0..rows).step_by(chunk).map(|row| encryptor.encrypt(&table.slice(row, chunk.min(rows - row))).unwrap()).collect()
}

fn totals(
    tables: &[&[RecordBatch]],
    by: &[&str],
    weight: Option<&str>,
    keep: Option<fn(usize) -> bool>,
    min_rows: u64,
) -> Result<RecordBatch, Error> {
    let by: Vec<String> = by.iter().map(|&name| name.to_owned()).collect();
    let schema = tables[0][0].schema();
    let mut totals = LatticeAggregator::new(KEY.public(), &schema, &by, weight)?;
    for batches in tables {
        totals.begin(&batches[0].schema())?;
        let mut row = 0;
        for batch in *batches {
            let kept =
                keep.map(|keep| BooleanArray::from_iter((row..row + batch.num_rows()).map(|row| Some(keep(row)))));
            totals.update(batch, kept.as_ref())?;
            row += batch.num_rows();
        }
        totals.end()?;
    }
    Ok(totals.finish_with(min_rows)?.batch)
}

fn decrypted(batches: &[RecordBatch]) -> Result<RecordBatch, Error> {
    let mut decryptor = LatticeDecryptor::new(&KEY, &batches[0].schema(), false)?;
    let mut out = Vec::new();
    for batch in batches {
        out.extend(decryptor.decrypt(batch)?);
    }
    decryptor.end()?;
    Ok(concat_batches(&decryptor.schema(), &out)?)
}

fn by_dept(totals: &RecordBatch) -> BTreeMap<String, (u64, Option<i128>)> {
    let totals = decrypted(std::slice::from_ref(totals)).unwrap();
    let names = totals.column_by_name("dept").unwrap().as_string::<i32>();
    let rows = totals.column(1).as_primitive::<UInt64Type>();
    let values = totals.column_by_name("value").unwrap().as_primitive::<Decimal128Type>();
    let value = |row| values.is_valid(row).then(|| values.value(row));
    (0..totals.num_rows()).map(|row| (names.value(row).to_owned(), (rows.value(row), value(row)))).collect()
}

fn expected(keep: impl Fn(usize) -> bool, weight: impl Fn(usize) -> i64) -> BTreeMap<String, (u64, Option<i128>)> {
    let mut sums = BTreeMap::new();
    for row in (0..ROWS).filter(|&row| keep(row)) {
        let sum = sums.entry(GROUPS[row % 3].to_owned()).or_insert((0, None));
        sum.0 += 1;
        if let Some(value) = value(row) {
            sum.1 = Some(sum.1.unwrap_or(0) + i128::from(value * weight(row)));
        }
    }
    sums
}

#[test]
fn columns_come_back_with_their_nulls() {
    for owner in [false, true] {
        // In batches that do not match the chunks.
        let all = concat_batches(&encrypted(ROWS, owner)[0].schema(), &encrypted(ROWS, owner)[..1]).unwrap();
        assert_eq!(all.num_rows(), 4096);
        let batches = encrypted(ROWS, owner);
        let all = concat_batches(&batches[0].schema(), &batches).unwrap();
        let pieces: Vec<RecordBatch> =
            (0..ROWS).step_by(1111).map(|row| all.slice(row, 1111.min(ROWS - row))).collect();
        let back = decrypted(&pieces).unwrap();
        assert_eq!((back.num_rows(), back.num_columns()), (ROWS, 3), "neither companions nor row numbers");
        assert_eq!(back.column_by_name("dept").unwrap(), table(ROWS).column_by_name("dept").unwrap());
        let values = back.column_by_name("value").unwrap().as_primitive::<Decimal128Type>();
        assert!(values.iter().enumerate().all(|(row, found)| found == value(row).map(i128::from)));
    }
}

#[test]
fn totals_are_those_of_the_plain_column() {
    for owner in [false, true] {
        let batches = encrypted(ROWS, owner);
        assert_eq!(by_dept(&totals(&[&batches], &["dept"], None, None, 0).unwrap()), expected(|_| true, |_| 1));
        let keep = |row: usize| row % 4 == 1 && row > 100;
        assert_eq!(by_dept(&totals(&[&batches], &["dept"], None, Some(keep), 0).unwrap()), expected(keep, |_| 1));
    }
    let small = encrypted(3000, true);
    let weighted = by_dept(&totals(&[&small], &["dept"], Some("weight"), None, 0).unwrap());
    assert_eq!(weighted, expected(|row| row < 3000, weight));
}

#[test]
fn totals_of_tables_are_added_up_again_and_small_groups_left_out() {
    let parts = [encrypted(ROWS, true), encrypted(ROWS, true)];
    let [a, b] = [0, 1].map(|i| totals(&[&parts[i]], &["dept"], None, None, 0).unwrap());
    let twice: BTreeMap<_, _> = expected(|_| true, |_| 1)
        .into_iter()
        .map(|(name, (rows, sum))| (name, (2 * rows, sum.map(|sum| 2 * sum))))
        .collect();
    assert_eq!(by_dept(&totals(&[&[a], &[b]], &["dept"], None, None, 0).unwrap()), twice);
    assert_eq!(by_dept(&totals(&[&parts[0], &parts[1]], &["dept"], None, None, 0).unwrap()), twice);
    let few: fn(usize) -> bool = |row| row == 0 || row % 3 == 1;
    let released = by_dept(&totals(&[&parts[0]], &["dept"], None, Some(few), 2).unwrap());
    assert_eq!(released.keys().collect::<Vec<_>>(), ["shop"]);
}

#[test]
fn files_keep_chunks_apart_and_descriptions_whole() {
    let batches = encrypted(ROWS, true);
    let mut sink = ParquetWriter::new(Vec::new(), batches[0].schema()).unwrap();
    batches.iter().for_each(|batch| sink.write(batch).unwrap());
    let bytes = sink.finish().unwrap();
    // Two primes: 12.5 bytes per number under the private key, and little overhead.
    assert!(bytes.len() < 16 * ROWS + 4096 * 13);
    let mut file = tempfile::tempfile().unwrap();
    std::io::Write::write_all(&mut file, &bytes).unwrap();
    let source = ParquetReader::open(file).unwrap();
    let column = LatticeColumn::from_field(source.schema().field_with_name("value").unwrap()).unwrap().unwrap();
    assert_eq!((column.set, column.max_additions, column.source.range), (Set::Degree4096, 20_000, 100));
    let read: Vec<RecordBatch> = source.batches(1000, None).unwrap().map(Result::unwrap).collect();
    assert_eq!(by_dept(&totals(&[&read], &["dept"], None, None, 0).unwrap()), expected(|_| true, |_| 1));
}

/// A file with one row group for each batch.
fn file(batches: &[RecordBatch]) -> std::fs::File {
    let mut file = tempfile::tempfile().unwrap();
    let mut writer = ArrowWriter::try_new(file.try_clone().unwrap(), batches[0].schema(), None).unwrap();
    for batch in batches {
        writer.write(batch).unwrap();
        writer.flush().unwrap();
    }
    writer.close().unwrap();
    std::io::Seek::rewind(&mut file).unwrap();
    file
}

#[test]
fn nothing_at_all_has_a_total_too() {
    let schema = encrypted(1, false)[0].schema();
    for (by, rows) in [(vec![], 1), (vec!["dept".to_owned()], 0)] {
        let totals = LatticeAggregator::new(KEY.public(), &schema, &by, None).unwrap();
        assert_eq!(totals.finish_with(0).unwrap().batch.num_rows(), rows);
    }
}

#[test]
fn row_groups_are_added_up_apart_and_once_each() {
    let whole = encrypted(ROWS, false);
    let file = file(&whole);
    let part = |groups: std::ops::Range<usize>| -> Vec<RecordBatch> {
        let source = ParquetReader::open(file.try_clone().unwrap()).unwrap();
        source.batches_of(groups, 1500, None).unwrap().map(Result::unwrap).collect()
    };
    let started = || LatticeAggregator::new(KEY.public(), &whole[0].schema(), &["dept".to_owned()], None).unwrap();
    let add = |totals: &mut LatticeAggregator, groups: std::ops::Range<usize>| {
        totals.begin_part(&whole[0].schema())?;
        part(groups).iter().try_for_each(|batch| totals.update(batch, None))?;
        totals.end()
    };
    // Two partial sums, with the later rows first, as from two workers.
    let (mut first, mut second) = (started(), started());
    add(&mut first, 2..3).unwrap();
    add(&mut first, 0..1).unwrap();
    add(&mut second, 1..2).unwrap();
    let partial = [first, second].map(|totals| vec![totals.finish_with(0).unwrap().batch]);
    assert_eq!(
        by_dept(&totals(&[&partial[0], &partial[1]], &["dept"], None, None, 0).unwrap()),
        expected(|_| true, |_| 1)
    );

    let mut again = started();
    add(&mut again, 1..3).unwrap();
    let error = add(&mut again, 0..2).unwrap_err().to_string();
    assert!(error.contains("added already"), "{error}");
    let mut again = started();
    add(&mut again, 1..3).unwrap();
    assert!(again.begin(&whole[0].schema()).unwrap_err().to_string().contains("added already"));
    // A part must not start within a chunk.
    let mut cut = started();
    cut.begin_part(&whole[0].schema()).unwrap();
    cut.update(&whole[1].slice(1, 50), None).unwrap();
    assert!(cut.end().unwrap_err().to_string().contains("is missing"));
    assert_eq!(part(0..0).len(), 0);
    // A part must not start at another row than announced.
    let first = (whole[0].num_rows() * 2) as u64;
    for (row, expected) in [(first, true), (first + 1, false), (0, false)] {
        let mut sums = started();
        sums.begin_part_at(&whole[0].schema(), row).unwrap();
        assert_eq!(sums.update(&whole[2], None).is_ok(), expected, "{row}");
    }
}

#[test]
fn columns_of_another_scheme_are_named() {
    let paillier = hearith_paillier::PrivateKey::generate(
        512,
        hearith_paillier::Variant::Djn,
        hearith_paillier::KeyPolicy::AllowInsecure,
        Engine::best(),
    )
    .unwrap();
    let lattice = &encrypted(10, true)[0];
    let error = Aggregator::new(paillier.public(), &lattice.schema(), &[]).unwrap_err().to_string();
    assert_eq!(error, "column value: encrypted by bfv, but the key given is of paillier");
    let options = EncryptOptions::new(vec![ColumnSpec { name: "value".into(), ..Default::default() }]);
    let rows = Encryptor::new(EncryptionKey::Owner(&paillier), &table(10).schema(), &options).unwrap();
    let error = LatticeAggregator::new(KEY.public(), &rows.schema(), &[], None).unwrap_err().to_string();
    assert_eq!(error, "column value: encrypted by paillier, but the key given is of bfv");
    let twice = LatticeEncryptor::new(LatticeKey::Owner(&KEY), &lattice.schema(), &options).unwrap_err().to_string();
    assert_eq!(twice, "column value: is already encrypted");
}

/// The batches with changed cells in the encrypted column.
fn with_cells(batch: &RecordBatch, change: impl Fn(Vec<Option<Vec<u8>>>) -> Vec<Option<Vec<u8>>>) -> RecordBatch {
    let cells = batch.column_by_name("value").unwrap().as_binary::<i32>();
    let cells = change(cells.iter().map(|cell| cell.map(<[u8]>::to_vec)).collect());
    let mut columns = batch.columns().to_vec();
    columns[batch.schema().index_of("value").unwrap()] = Arc::new(BinaryArray::from_iter(cells));
    RecordBatch::try_new(batch.schema(), columns).unwrap()
}

#[test]
fn tables_that_were_changed_are_refused_by_sums_and_decryption() {
    let whole = encrypted(ROWS, true);
    let altered = |at: usize| {
        let change = |mut cells: Vec<Option<Vec<u8>>>| {
            let cell = cells[0].as_mut().unwrap();
            let at = at.min(cell.len() - 1);
            cell[at] ^= 1;
            cells
        };
        with_cells(&whole[0], change)
    };
    let cut = with_cells(&whole[0], |mut cells| {
        let short = cells[0].as_ref().unwrap().len() / 2;
        cells[0].as_mut().unwrap().truncate(short);
        cells
    });
    let [a, b, c] = [&whole[0], &whole[1], &whole[2]].map(Clone::clone);
    let bad: Vec<(&str, Vec<RecordBatch>)> = vec![
        ("has an invalid header", vec![altered(0), b.clone(), c.clone()]),
        ("belongs to another table", vec![altered(5), b.clone(), c.clone()]),
        ("was altered", vec![altered(40), b.clone(), c.clone()]),
        ("was altered", vec![altered(usize::MAX), b.clone(), c.clone()]),
        ("was altered", vec![cut, b.clone(), c.clone()]),
        ("moved, left out or repeated", vec![b.clone(), a.clone(), c.clone()]),
        ("moved, left out or repeated", vec![a.clone(), a.clone(), b.clone()]),
        ("moved, left out or repeated", vec![a.clone(), c.clone()]),
        ("fewer rows than numbers", vec![a.slice(0, 4000), b.clone(), c.clone()]),
        ("is missing", vec![a.slice(1, 4095), b.clone(), c.clone()]),
        ("moved, left out or repeated", vec![a.clone(), b.clone(), c.clone(), a.slice(1, 10)]),
        ("ends too early", vec![a.clone(), b.clone(), c.slice(0, 1000)]),
    ];
    for (what, batches) in bad {
        let sum = totals(&[&batches], &["dept"], None, None, 0).unwrap_err().to_string();
        assert!(sum.contains(what), "{what}: {sum}");
        let back = decrypted(&batches).unwrap_err().to_string();
        assert!(back.contains(what), "{what}: {back}");
    }
    let twice = totals(&[&whole, &whole], &[], None, None, 0).unwrap_err().to_string();
    assert!(twice.contains("added already"), "{twice}");
}

#[test]
fn headroom_ranges_and_noise_are_kept() {
    let table = table(6000);
    let refused = |options: &EncryptOptions| {
        LatticeEncryptor::new(LatticeKey::Owner(&KEY), &table.schema(), options).map(|_| ()).unwrap_err().to_string()
    };
    assert!(refused(&options("9223372036854775807", 1 << 32)).contains("bfv-4096 allows 2 to 40"));
    assert!(refused(&EncryptOptions { pack: true, ..options("100", 10) }).contains("cannot be packed"));
    let mut encryptor = LatticeEncryptor::new(LatticeKey::Owner(&KEY), &table.schema(), &options("99", 10)).unwrap();
    let error = encryptor.encrypt(&table.slice(0, 4096)).unwrap_err();
    assert!(error.to_string().contains("out of range"), "{error}");
    let mut encryptor = LatticeEncryptor::new(LatticeKey::Owner(&KEY), &table.schema(), &options("100", 10)).unwrap();
    let batch = encryptor.encrypt(&table.slice(0, 4096)).unwrap();
    let error = totals(&[&[batch]], &[], None, None, 0).unwrap_err().to_string();
    assert!(error.contains("11 additions exceed the 10"), "{error}");
    let other = PrivateKey::generate(Set::Degree4096, Engine::best()).unwrap();
    let error = LatticeAggregator::new(other.public(), &encrypted(10, true)[0].schema(), &[], None).unwrap_err();
    assert!(error.to_string().contains("but the key given is"), "{error}");
    let error = LatticeAggregator::new(KEY.public(), &Schema::empty(), &[], None).unwrap_err();
    assert!(error.to_string().contains("no encrypted column"), "{error}");
}

/// Every encrypted table can be summed entirely, with either key.
#[test]
fn noise_has_room_for_the_sum_of_every_table_that_is_encrypted() {
    let table = table(6000);
    let plain: i64 = (0..6000).filter_map(value).sum();
    let encrypted = |owner: bool, options: &EncryptOptions| {
        let key = if owner { LatticeKey::Owner(&KEY) } else { LatticeKey::Public(KEY.public()) };
        let mut encryptor = LatticeEncryptor::new(key, &table.schema(), options)?;
        [table.slice(0, 4096), table.slice(4096, 1904)].iter().map(|rows| encryptor.encrypt(rows)).collect()
    };
    let (mut summed, mut refused) = (0, 0);
    for bits in 7..40 {
        for (owner, additions) in [(false, 1 << 32), (true, 1 << 32), (false, 6000), (true, 6000), (true, 1 << 20)] {
            let options = options(&(1_u64 << bits).to_string(), additions);
            match encrypted(owner, &options) {
                Ok(batches) => {
                    let batches: Vec<RecordBatch> = batches;
                    let found = totals(&[&batches], &[], None, None, 0).unwrap();
                    let again = LatticeAggregator::new(KEY.public(), &found.schema(), &[], None);
                    let mut again = again.unwrap();
                    again.update(&found, None).unwrap();
                    let found = decrypted(&[again.finish_with(0).unwrap().batch]).unwrap();
                    let found = found.column_by_name("value").unwrap().as_primitive::<Decimal128Type>().value(0);
                    assert_eq!(found, i128::from(plain), "{bits} {owner} {additions}");
                    summed += 1;
                }
                Err(error) => {
                    let error = error.to_string();
                    assert!(
                        error.contains("column value: the noise budget of bfv-4096")
                            || error.contains("allows 2 to 40")
                    );
                    refused += 1;
                }
            }
        }
    }
    assert!(summed > 40 && refused > 40, "{summed} {refused}");
    let fails = |range: &str, additions| encrypted(false, &options(range, additions)).unwrap_err().to_string();
    // The first chunk has 3511 numbers.
    let few = fails("1048576", 1 << 32);
    assert!(few.starts_with("column value: the noise budget of bfv-4096 allows 1024 additions"), "{few}");
    assert!(few.contains("in this range, not 3511: choose a smaller range"), "{few}");
    let declared = fails("16777216", 6000);
    assert!(declared.contains("allows 17 additions of numbers in this range, not 3511"), "{declared}");
    // Parts of a table can be summed if fewer additions are declared.
    let batches: Vec<RecordBatch> = encrypted(false, &options("1048576", 1000)).unwrap();
    let keep = |row: usize| row % 6 == 1;
    let found = totals(&[&batches], &[], None, Some(keep), 0).unwrap();
    let found = decrypted(&[found]).unwrap();
    let expected: i64 = (0..6000).filter(|&row| keep(row)).filter_map(value).sum();
    assert_eq!(found.column_by_name("value").unwrap().as_primitive::<Decimal128Type>().value(0), i128::from(expected));
}

/// The rows of a batch in another order.
fn taken(batch: &RecordBatch, rows: &[usize]) -> RecordBatch {
    let rows = arrow_array::UInt64Array::from_iter_values(rows.iter().map(|&row| row as u64));
    arrow_select::take::take_record_batch(batch, &rows).unwrap()
}

/// A permutation of `0..rows`, the same in every run.
fn shuffled(rows: usize, seed: u64) -> Vec<usize> {
    let mut state = seed;
    let mut order: Vec<usize> = (0..rows).collect();
    for last in (1..rows).rev() {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        order.swap(last, (state >> 33) as usize % (last + 1));
    }
    order
}

#[test]
fn rows_of_a_chunk_are_known_by_their_numbers_in_any_order() {
    let whole = encrypted(ROWS, true);
    for seed in 0..8 {
        let mut orders: Vec<Vec<usize>> = whole.iter().map(|batch| shuffled(batch.num_rows(), seed)).collect();
        // The order that went unnoticed: the chunk's own row stays first.
        let first = orders[0].iter().position(|&row| row == 0).unwrap();
        orders[0].swap(0, first);
        let batches: Vec<RecordBatch> = whole.iter().zip(&orders).map(|(batch, order)| taken(batch, order)).collect();
        assert_eq!(by_dept(&totals(&[&batches], &["dept"], None, None, 0).unwrap()), expected(|_| true, |_| 1));
        let numbers = decrypted(&batches).unwrap();
        let values = numbers.column_by_name("value").unwrap().as_primitive::<Decimal128Type>();
        let places =
            orders.iter().zip((0..).step_by(4096)).flat_map(|(order, at)| order.iter().map(move |row| at + row));
        assert!(places.zip(values).all(|(row, found)| found == value(row).map(i128::from)), "{seed}");
    }
    let small = encrypted(3000, true);
    let mixed = [taken(&small[0], &shuffled(3000, 9))];
    let weighted = by_dept(&totals(&[&mixed], &["dept"], Some("weight"), None, 0).unwrap());
    assert_eq!(weighted, expected(|row| row < 3000, weight));
}

#[test]
fn row_numbers_that_are_wrong_are_rejected() {
    let whole = encrypted(ROWS, true);
    let at = whole[0].schema().index_of("hearith.row").unwrap();
    let numbered = |batch: usize, change: &dyn Fn(u64) -> Option<u64>| {
        let batch = &whole[batch];
        let numbers = batch.column(at).as_primitive::<UInt64Type>().values().iter().map(|&row| change(row));
        let mut columns = batch.columns().to_vec();
        columns[at] = Arc::new(arrow_array::UInt64Array::from_iter(numbers));
        let mut fields: Vec<arrow_schema::Field> =
            batch.schema().fields().iter().map(|field| arrow_schema::Field::clone(field)).collect();
        fields[at] = fields[at].clone().with_nullable(true);
        RecordBatch::try_new(Arc::new(Schema::new(fields)), columns).unwrap()
    };
    let without = |batch: &RecordBatch| {
        let kept: Vec<usize> = (0..batch.num_columns()).filter(|&column| column != at).collect();
        batch.project(&kept).unwrap()
    };
    let [a, b, c] = [0, 1, 2].map(|i| whole[i].clone());
    let mixed = concat_batches(&a.schema(), [&a, &b]).unwrap();
    let bad: Vec<(&str, Vec<RecordBatch>)> = vec![
        ("has a duplicate row", vec![numbered(0, &|row| Some(row.min(4000))), b.clone(), c.clone()]),
        ("has a duplicate row", vec![numbered(0, &|_| Some(0)), b.clone(), c.clone()]),
        ("fewer numbers than rows", vec![a.clone(), b.clone(), numbered(2, &|row| Some(row + 1))]),
        ("moved, left out or repeated", vec![numbered(0, &|row| Some(row + 4096)), b.clone(), c.clone()]),
        ("several chunks were mixed", vec![numbered(0, &|row| Some(row * 2)), b.clone(), c.clone()]),
        ("moved, left out or repeated", vec![numbered(0, &|_| Some(u64::MAX)), b.clone(), c.clone()]),
        ("must not be null", vec![numbered(0, &|row| (row != 7).then_some(row)), b.clone(), c.clone()]),
        ("which numbers the rows, is missing", whole.iter().map(without).collect()),
        ("were mixed", vec![taken(&mixed, &(0..8192).map(|i| i / 2 + i % 2 * 4096).collect::<Vec<_>>()), c.clone()]),
    ];
    for (what, batches) in bad {
        let sum = totals(&[&batches], &["dept"], None, None, 0).unwrap_err().to_string();
        assert!(sum.contains(what), "{what}: {sum}");
        let back = decrypted(&batches).unwrap_err().to_string();
        assert!(back.contains(what), "{what}: {back}");
    }
}

/// The batches with columns renamed by `name`.
fn renamed(batches: &[RecordBatch], name: impl Fn(&str) -> String) -> Vec<RecordBatch> {
    let rename = |batch: &RecordBatch| {
        let fields = batch
            .schema()
            .fields()
            .iter()
            .map(|field| field.as_ref().clone().with_name(name(field.name())))
            .collect::<Vec<_>>();
        RecordBatch::try_new(Arc::new(Schema::new(fields)), batch.columns().to_vec()).unwrap()
    };
    batches.iter().map(rename).collect()
}

#[test]
fn projected_renamed_and_concatenated_tables_stay_readable() {
    let whole = encrypted(ROWS, true);
    let keep = ["dept", "value", "value.additions", "hearith.row"];
    let project = |batch: &RecordBatch| {
        let kept: Vec<usize> = keep.iter().rev().map(|name| batch.schema().index_of(name).unwrap()).collect();
        batch.project(&kept).unwrap()
    };
    let projected: Vec<RecordBatch> = whole.iter().map(project).collect();
    let other = renamed(&projected, |name| if name == "value" { "pay".to_owned() } else { name.to_owned() });
    let joined = [concat_batches(&other[0].schema(), &other).unwrap()];
    for batches in [&projected[..], &other[..], &joined[..]] {
        assert_eq!(by_dept(&totals(&[batches], &["dept"], None, None, 0).unwrap()), expected(|_| true, |_| 1));
    }
}

#[test]
fn copies_are_rejected_unless_allowed_in_tables_and_in_totals() {
    let parts = [encrypted(ROWS, true), encrypted(100, true)];
    let sum = |tables: &[&[RecordBatch]]| totals(tables, &["dept"], None, None, 0);
    let one = vec![sum(&[&parts[0]]).unwrap()];
    let both = vec![sum(&[&parts[0], &parts[1]]).unwrap()];
    for tables in [[&one, &one], [&one, &parts[0]], [&parts[0], &one], [&both, &parts[1]], [&one, &both]] {
        let error = sum(&[tables[0], tables[1]]).unwrap_err();
        assert!(error.to_string().contains("which was added already"), "{error}");
    }
    sum(&[&one, &parts[1]]).unwrap();
    let mut twice = LatticeAggregator::new(KEY.public(), &one[0].schema(), &["dept".to_owned()], None).unwrap();
    twice.allow_repeated();
    for batches in [&one, &parts[0]] {
        twice.begin(&batches[0].schema()).unwrap();
        batches.iter().for_each(|batch| twice.update(batch, None).unwrap());
        twice.end().unwrap();
    }
    let twice = by_dept(&twice.finish_with(0).unwrap().batch);
    assert!(
        expected(|_| true, |_| 1).iter().all(|(name, (rows, sum))| twice[name] == (2 * rows, sum.map(|sum| 2 * sum)))
    );
}
