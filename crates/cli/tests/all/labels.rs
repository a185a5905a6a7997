//! Proofs and decryption shares are valid for one table with all its labels, and for no other.

use std::fs::File;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::UInt64Type;
use arrow_array::{Array, ArrayRef, RecordBatch, StringArray, UInt64Array};
use arrow_schema::{Field, Metadata, Schema};
use arrow_select::concat::concat_batches;
use hearith_columns::TableDigest;
use hearith_columns::parquet::{ParquetReader, ParquetWriter};

use crate::common::{STAFF, TestDir};

fn read(dir: &TestDir, name: &str) -> RecordBatch {
    let source = ParquetReader::open(File::open(dir.file(name)).unwrap()).unwrap();
    let schema = source.schema();
    let batches: Vec<RecordBatch> = source.batches(1000, None).unwrap().map(Result::unwrap).collect();
    concat_batches(&schema, &batches).unwrap()
}

fn write(dir: &TestDir, name: &str, batch: &RecordBatch) {
    let mut sink = ParquetWriter::new(Vec::new(), batch.schema()).unwrap();
    sink.write(batch).unwrap();
    dir.write(name, sink.finish().unwrap());
}

/// Replaces the column of this name in a batch.
fn with(batch: &RecordBatch, name: &str, array: ArrayRef) -> RecordBatch {
    let mut columns = batch.columns().to_vec();
    columns[batch.schema().index_of(name).unwrap()] = array;
    RecordBatch::try_new(batch.schema(), columns).unwrap()
}

/// Changes the fields of a batch.
fn relabelled(batch: &RecordBatch, change: impl Fn(&Field) -> Field) -> RecordBatch {
    let fields: Vec<Field> = batch.schema().fields().iter().map(|field| change(field)).collect();
    RecordBatch::try_new(Arc::new(Schema::new(fields)), batch.columns().to_vec()).unwrap()
}

fn with_entry(field: &Field, key: &str, value: &str) -> Field {
    let mut metadata = field.metadata().clone();
    metadata.insert(key.to_owned(), value.to_owned());
    field.clone().with_metadata(metadata)
}

fn counts(batch: &RecordBatch, name: &str, change: impl Fn(u64) -> u64) -> RecordBatch {
    let old = batch.column_by_name(name).unwrap().as_primitive::<UInt64Type>();
    with(batch, name, Arc::new(UInt64Array::from_iter_values(old.values().iter().map(|&count| change(count)))))
}

fn named(batch: &RecordBatch, names: [&str; 3]) -> RecordBatch {
    with(batch, "dept", Arc::new(StringArray::from(names.to_vec())))
}

/// Modifications of a table that change no ciphertext.
fn forgeries(totals: &RecordBatch) -> [RecordBatch; 8] {
    let scale = |field: &Field| match field.name() == "bonus" {
        true => with_entry(field, "hearith.scale", "1"),
        false => field.clone(),
    };
    let range = |field: &Field| match field.name() == "salary" {
        true => with_entry(field, "hearith.range", "99999"),
        false => field.clone(),
    };
    let renamed = |field: &Field| match field.name() == "dept" {
        true => field.clone().with_name("team"),
        false => field.clone(),
    };
    let depts = totals.column_by_name("dept").unwrap().as_string::<i32>().clone();
    assert_eq!((depts.is_null(0), depts.value(1), depts.value(2)), (true, "lab", "shop"));
    [
        named(totals, ["x", "shop", "lab"]),
        named(totals, ["", "lab", "shop"]),
        counts(totals, "rows", |rows| rows + 1),
        counts(totals, "salary.additions", |additions| 2 * additions),
        counts(totals, "salary.values", |values| 2 * values),
        relabelled(totals, scale),
        relabelled(totals, range),
        relabelled(totals, renamed),
    ]
}

/// Writes the digest of another table into the metadata of a proof or shares.
fn claimed(batch: &RecordBatch, of: &RecordBatch) -> RecordBatch {
    let mut digest = TableDigest::new(&of.schema()).unwrap();
    digest.update(of).unwrap();
    let digest: String = digest.finish().iter().map(|byte| format!("{byte:02x}")).collect();
    relabelled(batch, |field| with_entry(field, "hearith.digest", &digest))
}

const OTHER: &str = "made for a table that differs";

fn totals(dir: &TestDir, key: &str) {
    dir.write("in.csv", STAFF);
    let options = "--column salary,bonus --scale bonus=2 in.csv --out rows.parquet";
    dir.ok(&format!("encrypt --key {key} {options}"));
    dir.ok(&format!("sum --key {key} --by dept rows.parquet --out totals.parquet"));
}

#[test]
fn no_label_changes_under_a_proof() {
    let dir = TestDir::new();
    totals(&dir, "keys/public.json");
    dir.ok("prove decryption --key keys/private.json totals.parquet --out proof.parquet");
    let verify = |table: &str, proof: &str| {
        format!("verify decryption --key keys/public.json {table}.parquet {proof}.parquet --out numbers.csv")
    };
    dir.ok(&verify("totals", "proof"));
    let (table, proof) = (read(&dir, "totals.parquet"), read(&dir, "proof.parquet"));
    for forged in forgeries(&table) {
        write(&dir, "forged.parquet", &forged);
        dir.fails(&verify("forged", "proof"), &format!("proof.parquet: {OTHER}"));
        write(&dir, "claimed.parquet", &claimed(&proof, &forged));
        dir.fails(&verify("forged", "claimed"), "forged.parquet: row 1, column ");
    }
    // Rows in another order, with their proofs.
    let turned = |batch: &RecordBatch| {
        let rows = UInt64Array::from(vec![2, 1, 0]);
        let columns = batch.columns().iter().map(|column| arrow_select::take::take(column, &rows, None).unwrap());
        RecordBatch::try_new(batch.schema(), columns.collect()).unwrap()
    };
    write(&dir, "forged.parquet", &turned(&table));
    write(&dir, "turned.parquet", &turned(&proof));
    dir.fails(&verify("forged", "turned"), &format!("turned.parquet: {OTHER}"));
    write(&dir, "claimed.parquet", &claimed(&turned(&proof), &turned(&table)));
    dir.fails(&verify("forged", "claimed"), "forged.parquet: row 1, column salary: the proof does not hold");
    // A proof of another number.
    let column = proof.column_by_name("salary.plaintext").unwrap().as_fixed_size_binary();
    let mut number = column.value(1).to_vec();
    *number.last_mut().unwrap() ^= 1;
    let cells = [column.value(0), &number, column.value(2)].into_iter();
    let changed = arrow_array::FixedSizeBinaryArray::try_from_iter(cells).unwrap();
    write(&dir, "changed.parquet", &with(&proof, "salary.plaintext", Arc::new(changed)));
    dir.fails(&verify("totals", "changed"), "totals.parquet: row 2, column salary: the proof does not hold");
    // A proof of the first version, and one without information about its table.
    let opening = |field: &Field| field.clone().with_name(field.name().replace(".proof", ".opening"));
    let silent = |field: &Field| field.clone().with_metadata(Metadata::default());
    for old in [relabelled(&proof, opening), relabelled(&proof, silent)] {
        write(&dir, "old.parquet", &old);
        dir.fails(&verify("totals", "old"), "old.parquet: from an earlier version, which did not bind names");
    }
}

#[test]
fn no_label_changes_under_shares() {
    let dir = TestDir::new();
    dir.ok("keygen --bits 512 --shares 2/2 --out shared");
    totals(&dir, "shared/public.json");
    for trustee in [1, 2] {
        dir.ok(&format!(
            "decrypt-share --share shared/share-{trustee}.json totals.parquet --out share-{trustee}.parquet"
        ));
    }
    let combine = |table: &str, first: &str| {
        format!("combine --key shared/verification.json {table}.parquet {first}.parquet share-2.parquet --out x.csv")
    };
    dir.ok(&combine("totals", "share-1"));
    let table = read(&dir, "totals.parquet");
    let shares = [1, 2].map(|trustee| read(&dir, &format!("share-{trustee}.parquet")));
    for forged in forgeries(&table) {
        write(&dir, "forged.parquet", &forged);
        dir.fails(&combine("forged", "share-1"), &format!("forged.parquet: column salary: trustee 2: {OTHER}"));
        for (trustee, shares) in (1..).zip(&shares) {
            write(&dir, &format!("claimed-{trustee}.parquet"), &claimed(shares, &forged));
        }
        let claimed = "combine --key shared/verification.json forged.parquet claimed-1.parquet claimed-2.parquet";
        dir.fails(&format!("{claimed} --out y.csv"), "forged.parquet: row 1, column ");
    }
    let silent = relabelled(&shares[0], |field| {
        with_entry(&field.clone().with_metadata(Metadata::default()), "hearith.trustee", "1")
    });
    write(&dir, "old.parquet", &silent);
    let expected = "totals.parquet: column salary: trustee 1: from an earlier version, which did not bind names";
    dir.fails(&combine("totals", "old"), expected);
}
