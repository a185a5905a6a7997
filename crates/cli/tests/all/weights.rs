//! `--min-rows` counts encrypted values, and those of each weight, in every kind of table that a
//! total is derived from.

use std::fs::File;
use std::path::Path;

use arrow_array::cast::AsArray;
use arrow_array::types::UInt64Type;
use arrow_array::{Array, RecordBatch};
use hearith_columns::parquet::ParquetReader;

use crate::common::{Run, TestDir};

const KEYS: [&str; 2] = ["public", "private"];

/// Six salaries with columns of weights.
const CSV: &str = "g,salary,five,zero,mixed,pairs,ones\n\
    a,1,5,0,1,1,1\na,20,0,0,1,1,1\na,300,0,0,1000000,7,1\nb,4000,5,0,1,-1,1\nb,50000,5,0,1,-1,1\nb,,5,0,9,9,1\n";

fn dir() -> TestDir {
    let dir = TestDir::new();
    dir.ok("keygen --scheme bfv --out bfv");
    dir.write("in.csv", CSV);
    let options = "--column salary --range 100000 --max-additions 100000000 in.csv";
    dir.ok(&format!("encrypt --key bfv/public.json {options} --out rows.parquet"));
    dir
}

/// Sums these files with these options. Returns the decrypted totals and the report.
fn summed(dir: &TestDir, files: &str, options: &str) -> (String, serde_json::Value) {
    let run: Run = dir.ok(&format!("sum --json --key bfv/public.json {options} {files} --out totals.parquet"));
    let report = run.complaints().into_iter().find(|line| line.starts_with('{')).unwrap();
    let text = dir.ok("decrypt --key bfv/private.json totals.parquet").text();
    (text, serde_json::from_str(report).unwrap())
}

fn batch(path: &Path) -> RecordBatch {
    ParquetReader::open(File::open(path).unwrap()).unwrap().batches(1000, None).unwrap().next().unwrap().unwrap()
}

fn counts(dir: &TestDir, column: &str) -> Vec<Option<u64>> {
    let batch = batch(&dir.file("totals.parquet"));
    batch.column_by_name(column).unwrap().as_primitive::<UInt64Type>().iter().collect()
}

#[test]
fn a_weight_does_not_make_many_values_of_one() {
    let dir = dir();
    // In group a, one value has weight 5, and the others have weight 0.
    let (text, report) = summed(&dir, "rows.parquet", "--by g --weight five --min-rows 3");
    assert_eq!(text, "g,rows,salary\na,3,\nb,3,\n");
    assert_eq!(report["withheld_totals"].as_u64(), Some(2));
    let (text, _) = summed(&dir, "rows.parquet", "--by g --weight five --min-rows 2");
    assert_eq!(text, "g,rows,salary\na,3,\nb,3,270000\n");
    assert_eq!(counts(&dir, "salary.values"), [Some(0), Some(2)]);
    let (text, _) = summed(&dir, "rows.parquet", "--by g --weight five --min-rows 2 --allow-rare-weights");
    assert_eq!(text, "g,rows,salary\na,3,\nb,3,270000\n", "one value is one whatever is allowed");
}

#[test]
fn weights_of_zero_sum_to_zero() {
    let dir = dir();
    for options in ["", "--min-rows 3"] {
        let (text, _) = summed(&dir, "rows.parquet", &format!("--by g --weight zero {options}"));
        assert_eq!(text, "g,rows,salary\na,3,0\nb,3,0\n");
        assert_eq!(counts(&dir, "salary.values"), [Some(0); 2]);
        std::fs::copy(dir.file("totals.parquet"), dir.file("zeros.parquet")).unwrap();
        assert_eq!(summed(&dir, "zeros.parquet", options).0, "rows,salary\n6,0\n");
    }
}

#[test]
fn each_weight_needs_its_values() {
    let dir = dir();
    let weighted = |weight: &str, more: &str| {
        summed(&dir, "rows.parquet", &format!("--by g --weight {weight} --min-rows 2 {more}")).0
    };
    // 300 000 021 would reveal 300.
    assert_eq!(weighted("mixed", ""), "g,rows,salary\na,3,\nb,3,54000\n");
    assert_eq!(counts(&dir, "salary.values"), [Some(0), Some(2)]);
    assert_eq!(weighted("mixed", "--allow-rare-weights"), "g,rows,salary\na,3,300000021\nb,3,54000\n");
    assert_eq!(counts(&dir, "salary.rarest"), [Some(1), None]);
    assert_eq!(weighted("pairs", ""), "g,rows,salary\na,3,\nb,3,-54000\n");
    assert_eq!(weighted("ones", ""), "g,rows,salary\na,3,321\nb,3,54000\n");
    assert_eq!(counts(&dir, "salary.values"), [Some(3), Some(2)]);
    // One of all rows has weight 7.
    let (text, _) = summed(&dir, "rows.parquet", "--weight pairs --min-rows 2");
    assert_eq!(text, "rows,salary\n6,\n");
}

#[test]
fn sums_of_totals_keep_the_counts() {
    let dir = dir();
    let part = |name: &str, options: &str| {
        summed(&dir, "rows.parquet", options);
        std::fs::copy(dir.file("totals.parquet"), dir.file(name)).unwrap();
    };
    part("five.parquet", "--by g --weight five");
    let (text, _) = summed(&dir, "five.parquet", "--by g --min-rows 2");
    assert_eq!(text, "g,rows,salary\na,3,\nb,3,270000\n");
    part("mixed.parquet", "--by g --weight mixed");
    assert_eq!(summed(&dir, "mixed.parquet", "--min-rows 2").0, "rows,salary\n6,\n");
    part("ones.parquet", "--by g");
    assert_eq!(summed(&dir, "ones.parquet", "--min-rows 5").0, "rows,salary\n6,54321\n");
    assert_eq!(summed(&dir, "ones.parquet", "--min-rows 6").0, "rows,salary\n6,\n");
    // Tables with and without weights: the rarer count of both applies.
    let both = "ones.parquet mixed.parquet --allow-repeated --by g";
    assert_eq!(summed(&dir, both, "--min-rows 2").0, "g,rows,salary\na,6,\nb,6,108000\n");
    assert_eq!(counts(&dir, "salary.values"), [Some(0), Some(4)]);
    assert_eq!(summed(&dir, both, "--min-rows 3 --allow-rare-weights").0.lines().nth(1), Some("a,6,300000342"));
}

#[test]
fn totals_without_counts_are_a_value_each() {
    let dir = TestDir::new();
    let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/format-1");
    for scheme in ["paillier", "bfv"] {
        let totals = from.join(format!("{scheme}-totals.parquet"));
        std::fs::copy(totals, dir.file("old.parquet")).unwrap();
        let key = from.join(scheme).join("public.json").display().to_string();
        let groups = batch(&dir.file("old.parquet")).num_rows() as u64;
        for (least, released) in [(groups, true), (groups + 1, false)] {
            dir.ok(&format!("sum --key {key} --min-rows {least} old.parquet --out totals.parquet"));
            let totals = batch(&dir.file("totals.parquet"));
            assert_eq!(totals.column_by_name("salary").unwrap().is_valid(0), released, "{scheme}, {least}");
        }
    }
}

#[test]
fn packed_and_single_columns_of_paillier_count_values() {
    let dir = TestDir::new();
    dir.write("in.csv", "g,x,y\na,1,10\na,2,\na,3,30\nb,4,40\n");
    for (pack, expected) in [("", "g,rows,x,y\na,3,6,\n"), ("--pack", "g,rows,x,y\na,3,,\n")] {
        for key in KEYS {
            dir.ok(&format!("encrypt --key keys/{key}.json --column x,y {pack} in.csv --out rows.parquet"));
            dir.ok(&format!("sum --key keys/{key}.json --by g rows.parquet --out parts.parquet"));
            for file in ["rows", "parts"] {
                dir.ok(&format!("sum --key keys/{key}.json --by g --min-rows 3 {file}.parquet --out totals.parquet"));
                assert_eq!(dir.ok("decrypt --key keys/private.json totals.parquet").text(), expected);
            }
        }
    }
    assert!(dir.ok("inspect parts.parquet").text().contains("encrypted values in x"));
}

#[test]
fn a_group_column_may_have_the_name_of_a_count() {
    let dir = TestDir::new();
    dir.ok("keygen --scheme bfv --out bfv");
    dir.write("in.csv", "x.values,x.rarest,x\n1,2,3\n1,2,4\n");
    for (keys, options) in [("keys", ""), ("bfv", "--range 10 --max-additions 1000")] {
        dir.ok(&format!("encrypt --key {keys}/public.json --column x {options} in.csv --out rows.parquet"));
        let sum = format!("sum --key {keys}/public.json --by x.values,x.rarest --min-rows 2");
        dir.ok(&format!("{sum} rows.parquet --out totals.parquet"));
        dir.ok(&format!("{sum} totals.parquet --out again.parquet"));
        let text = dir.ok(&format!("decrypt --key {keys}/private.json again.parquet")).text();
        assert_eq!(text, "x.values,x.rarest,rows,x\n1,2,2,7\n");
    }
}
