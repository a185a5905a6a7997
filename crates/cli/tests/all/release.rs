//! Re-randomised totals of `sum`, and the suppression of small groups.

use std::collections::BTreeSet;
use std::fs::File;

use crate::common::{Run, STAFF, TestDir};
use arrow_array::Array;
use arrow_array::cast::AsArray;
use hearith_columns::parquet::ParquetReader;

fn staff(encrypt: &str) -> TestDir {
    let dir = TestDir::new();
    dir.write("in.csv", STAFF);
    dir.ok(&format!(
        "encrypt --key keys/public.json --column salary,bonus --scale bonus=2 {encrypt} in.csv --out rows.parquet"
    ));
    dir
}

/// The ciphertexts of a column that are not null.
fn ciphertexts(dir: &TestDir, file: &str, column: &str) -> BTreeSet<Vec<u8>> {
    let source = ParquetReader::open(File::open(dir.file(file)).unwrap()).unwrap();
    let batches = source.batches(1000, None).unwrap().map(Result::unwrap);
    let cells = batches.flat_map(|batch| {
        let column = batch.column_by_name(column).unwrap().as_fixed_size_binary().clone();
        (0..column.len()).filter(|&row| column.is_valid(row)).map(|row| column.value(row).to_vec()).collect::<Vec<_>>()
    });
    cells.collect()
}

fn report(run: &Run) -> serde_json::Value {
    serde_json::from_str(run.complaints()[0]).unwrap()
}

#[test]
fn a_group_of_one_row_shows_its_ciphertext_unless_rerandomised() {
    for key in ["public", "private"] {
        let dir = staff("");
        let sum = format!("sum --key keys/{key}.json --by dept rows.parquet");
        dir.ok(&format!("{sum} --out plain.parquet"));
        dir.ok(&format!("{sum} --rerandomise --out other.parquet"));
        for column in ["salary", "bonus"] {
            let [rows, plain, other] =
                ["rows", "plain", "other"].map(|file| ciphertexts(&dir, &format!("{file}.parquet"), column));
            assert!(!plain.is_disjoint(&rows), "the totals of one value are the rows' own ciphertexts");
            assert!(other.is_disjoint(&rows) && other.is_disjoint(&plain) && other.len() == plain.len());
        }
        let decrypt = |file: &str| dir.ok(&format!("decrypt --key keys/private.json {file}.parquet")).text();
        assert_eq!(decrypt("other"), decrypt("plain"));
        assert!(decrypt("other").contains("shop,1,900,\n"));
        dir.ok("sum --key keys/public.json other.parquet --out all.parquet");
        assert_eq!(decrypt("all"), "rows,salary,bonus\n5,2373,-1.24\n");
    }
}

#[test]
fn small_groups_are_withheld_and_counted() {
    let dir = staff("");
    let run = dir.ok("sum --json --key keys/public.json --by dept --min-rows 2 rows.parquet --out totals.parquet");
    assert_eq!(
        dir.ok("decrypt --key keys/private.json totals.parquet").text(),
        "dept,rows,salary,bonus\nlab,3,1480,-2.49\n"
    );
    let said = report(&run);
    let counts =
        ["rows", "rows_out", "withheld_groups", "withheld_rows", "withheld_totals"].map(|name| said[name].as_u64());
    assert_eq!(counts, [5, 1, 2, 2, 0].map(Some), "{said}");

    let run = dir.ok("sum --key keys/public.json --by dept --min-rows 2 rows.parquet --out totals.parquet");
    assert!(run.complaints()[0].ends_with("; withheld 2 groups of 2 rows, 0 more totals"), "{}", run.stderr);
    let run = dir.ok("sum --json --key keys/public.json --by dept rows.parquet --out totals.parquet");
    assert!(report(&run).get("withheld_groups").is_none(), "{}", run.stderr);
}

#[test]
fn totals_of_fewer_values_than_rows_are_withheld_too() {
    // Department lab has three rows, two of which have a salary.
    let dir = staff("");
    let run = dir.ok("sum --json --key keys/public.json --by dept --min-rows 3 rows.parquet --out totals.parquet");
    let said = report(&run);
    assert_eq!((said["withheld_groups"].as_u64(), said["withheld_totals"].as_u64()), (Some(2), Some(1)), "{said}");
    assert_eq!(
        dir.ok("decrypt --key keys/private.json totals.parquet").text(),
        "dept,rows,salary,bonus\nlab,3,,-2.49\n"
    );
    assert!(ciphertexts(&dir, "totals.parquet", "salary").is_empty());

    // The bonus is in the same ciphertext, so it is withheld too.
    let dir = staff("--pack");
    let run = dir.ok("sum --json --key keys/public.json --by dept --min-rows 3 rows.parquet --out totals.parquet");
    assert_eq!(report(&run)["withheld_totals"].as_u64(), Some(2));
    assert_eq!(dir.ok("decrypt --key keys/private.json totals.parquet").text(), "dept,rows,salary,bonus\nlab,3,,\n");
}

#[test]
fn a_total_of_all_rows_is_a_group_too() {
    let dir = staff("");
    dir.ok("sum --key keys/public.json --min-rows 5 rows.parquet --out totals.parquet");
    assert!(dir.ok("decrypt --key keys/private.json totals.parquet").text().starts_with("rows,salary,bonus\n5,"));
    dir.ok("sum --key keys/public.json --min-rows 6 rows.parquet --out totals.parquet");
    assert_eq!(dir.ok("decrypt --key keys/private.json totals.parquet").text(), "rows,salary,bonus\n");
}

#[test]
fn rows_of_totals_count_as_the_rows_that_they_are_of() {
    let dir = staff("");
    dir.ok("sum --key keys/public.json --by dept,site rows.parquet --out parts.parquet");
    let run = dir.ok("sum --json --key keys/public.json --by dept --min-rows 2 parts.parquet --out totals.parquet");
    assert_eq!(report(&run)["withheld_rows"].as_u64(), Some(2));
    assert_eq!(
        dir.ok("decrypt --key keys/private.json totals.parquet").text(),
        "dept,rows,salary,bonus\nlab,3,1480,-2.49\n"
    );
}
