//! Random conditions over columns of every type keep the rows that DuckDB or Python's fractions
//! keep (`tests/duckdb_predicates.py`).

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;

use arrow_array::RecordBatch;
use hearith_columns::Predicate;
use hearith_columns::parquet::ParquetReader;
use hearith_testing::has;
use serde_json::Value;

const BATCH_ROWS: usize = 16;

/// The Python of the test environment, or the system's.
fn python() -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let own = root.join(".venv/bin/python");
    if own.exists() { own } else { "python3".into() }
}

/// The rows of the table for which a condition holds.
fn rows_kept(batches: &[RecordBatch], condition: &str) -> Vec<u64> {
    let predicate: Predicate = condition.parse().unwrap_or_else(|error| panic!("{condition}: {error}"));
    let bound = predicate.bind(&batches[0].schema()).unwrap_or_else(|error| panic!("{condition}: {error}"));
    let (mut kept, mut first) = (Vec::new(), 0);
    for batch in batches {
        let mask = bound.evaluate(batch).unwrap_or_else(|error| panic!("{condition}: {error}"));
        kept.extend((0..batch.num_rows()).filter(|&row| mask.value(row)).map(|row| first + row as u64));
        first += batch.num_rows() as u64;
    }
    kept
}

/// Compares `conditions` random conditions over each of `tables` tables.
fn compare(tables: u64, conditions: usize) {
    let imports = Command::new(python()).args(["-c", "import duckdb, pyarrow"]).output();
    if !has("duckdb", imports.is_ok_and(|output| output.status.success())) {
        eprintln!("left out: DuckDB is not installed for Python");
        return;
    }
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/duckdb_predicates.py");
    for seed in 0..tables {
        let folder = tempfile::tempdir().unwrap();
        let arguments = [conditions.to_string(), seed.to_string()];
        let output = Command::new(python()).arg(&script).arg(folder.path()).args(arguments).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let text = fs::read_to_string(folder.path().join("predicates.json")).unwrap();
        let cases: Vec<Value> = serde_json::from_str(&text).unwrap();
        assert!(cases.len() >= conditions);
        let table = ParquetReader::open(File::open(folder.path().join("table.parquet")).unwrap()).unwrap();
        let batches: Vec<RecordBatch> = table.batches(BATCH_ROWS, None).unwrap().map(Result::unwrap).collect();
        for case in cases {
            let condition = case["where"].as_str().unwrap();
            let rows: Vec<u64> = case["rows"].as_array().unwrap().iter().map(|row| row.as_u64().unwrap()).collect();
            assert_eq!(rows_kept(&batches, condition), rows, "seed {seed}: {condition}");
        }
    }
}

#[test]
fn random_conditions_keep_the_rows_that_duckdb_keeps() {
    compare(2, 250);
}

#[test]
#[ignore = "long: ten thousand conditions"]
fn ten_thousand_conditions_keep_the_rows_that_duckdb_keeps() {
    compare(20, 500);
}
