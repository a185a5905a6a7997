//! The main workflow in every form: encrypt, sum, decrypt.

use std::fs::File;
use std::sync::Arc;

use crate::common::{STAFF, TestDir};
use arrow_array::cast::AsArray;
use arrow_array::types::Decimal128Type;
use arrow_array::{Array, ArrayRef, Decimal128Array, Float64Array, Int32Array, RecordBatch, StringArray};
use hearith_columns::parquet::{ParquetReader, ParquetWriter};

const BY_DEPT: &str = "dept,rows,salary,bonus\n,1,-7,1.25\nlab,3,1480,-2.49\nshop,1,900,\n";

fn staff() -> TestDir {
    let dir = TestDir::new();
    dir.write("in.csv", STAFF);
    dir
}

fn read_parquet(dir: &TestDir, name: &str) -> RecordBatch {
    let source = ParquetReader::open(File::open(dir.file(name)).unwrap()).unwrap();
    source.batches(1000, None).unwrap().next().unwrap().unwrap()
}

fn write_parquet(dir: &TestDir, name: &str, batch: &RecordBatch) {
    let file = File::create(dir.file(name)).unwrap();
    let mut sink = ParquetWriter::new(file, batch.schema()).unwrap();
    sink.write(batch).unwrap();
    sink.finish().unwrap();
}

#[test]
fn csv_by_one_column() {
    assert_eq!(staff().totals("--column salary,bonus --scale bonus=2", "--by dept"), BY_DEPT);
}

/// Output that is checked before it is written is the same.
#[test]
fn decrypting_with_a_check() {
    let dir = staff();
    let plain = dir.totals("--column salary,bonus --scale bonus=2", "--by dept");
    assert_eq!(plain, BY_DEPT);
    assert_eq!(dir.ok("decrypt --key keys/private.json totals.parquet --check").text(), plain);
}

#[test]
fn csv_packed() {
    assert_eq!(
        staff().totals("--column salary,bonus --scale 2 --pack", "--by dept"),
        BY_DEPT.replace("-7,", "-7.00,").replace("1480,", "1480.00,").replace("900,", "900.00,")
    );
}

#[test]
fn groups_by_several_columns_and_by_none() {
    let dir = staff();
    let by_both = "dept,site,rows,salary\n,1,1,-7\nlab,1,1,1500\nlab,2,2,-20\nshop,1,1,900\n";
    assert_eq!(dir.totals("--column salary", "--by dept,site"), by_both);
    assert_eq!(dir.totals("--column salary", "--by dept --by site"), by_both);
    assert_eq!(dir.totals("--column salary", ""), "rows,salary\n5,2373\n");
}

#[test]
fn several_inputs_and_totals_of_totals() {
    let dir = staff();
    dir.write("more.csv", "salary,dept,bonus\n100,shop,7.5\n1,new,\n");
    for name in ["in", "more"] {
        dir.ok(&format!(
            "encrypt --key keys/public.json --column salary,bonus --scale bonus=2 {name}.csv --out {name}.parquet"
        ));
        dir.ok(&format!("sum --key keys/public.json --by dept {name}.parquet --out {name}.totals.parquet"));
    }
    let expected = "dept,rows,salary,bonus\n,1,-7,1.25\nlab,3,1480,-2.49\nnew,1,1,\nshop,2,1000,7.50\n";
    for inputs in ["in.parquet more.parquet", "more.parquet in.parquet", "in.totals.parquet more.totals.parquet"] {
        dir.ok(&format!("sum --key keys/public.json --by dept {inputs} --out all.parquet"));
        assert_eq!(dir.ok("decrypt --key keys/private.json all.parquet").text(), expected, "{inputs}");
    }
    dir.ok("sum --key keys/public.json in.totals.parquet more.parquet --out all.parquet");
    assert_eq!(dir.ok("decrypt --key keys/private.json all.parquet").text(), "rows,salary,bonus\n7,2474,6.26\n");
}

#[test]
fn other_columns_pass_through_byte_for_byte() {
    let dir = TestDir::new();
    let text = "a,salary,\"b \"\"q\"\"\",c\n007,1,\" x,y\",1e5\n,2,é,0.10\n\"two\nlines\",3,'',TRUE\n";
    dir.write("in.csv", text);
    dir.ok("encrypt --key keys/public.json --column salary in.csv --out rows.parquet");
    assert_eq!(dir.ok("decrypt --key keys/private.json rows.parquet").text(), text);
}

#[test]
fn parquet_in_and_out_with_its_types() {
    let dir = TestDir::new();
    let columns: Vec<(&str, ArrayRef)> = vec![
        ("site", Arc::new(Int32Array::from(vec![Some(2), None, Some(2)]))),
        ("units", Arc::new(Int32Array::from(vec![Some(5), Some(-6), None]))),
        ("price", Arc::new(Float64Array::from(vec![0.1, 2.5, -1e-3]))),
        ("tax", Arc::new(Decimal128Array::from(vec![125, 1, 2]).with_precision_and_scale(9, 2).unwrap())),
        ("text", Arc::new(StringArray::from(vec!["1.5", "-2", "+0.25"]))),
    ];
    let batch = RecordBatch::try_from_iter_with_nullable(columns.into_iter().map(|(n, a)| (n, a, true))).unwrap();
    write_parquet(&dir, "in.parquet", &batch);
    dir.ok("encrypt --key keys/public.json --column units,price,tax,text --scale price=3,text=2 in.parquet --out rows.parquet");
    let rows = read_parquet(&dir, "rows.parquet");
    assert_eq!(rows.column_by_name("site"), batch.column_by_name("site"), "types pass through");
    dir.ok("sum --key keys/public.json --by site rows.parquet --out totals.parquet");
    assert_eq!(
        dir.ok("decrypt --key keys/private.json totals.parquet").text(),
        "site,rows,units,price,tax,text\n,1,-6,2.500,0.01,-2.00\n2,2,5,0.099,1.27,1.75\n"
    );
    dir.ok("decrypt --key keys/private.json totals.parquet --out plain.parquet");
    let plain = read_parquet(&dir, "plain.parquet");
    let price = plain.column_by_name("price").unwrap().as_primitive::<Decimal128Type>();
    assert_eq!((price.precision(), price.scale(), price.values().as_ref()), (38, 3, &[2500_i128, 99][..]));
    assert!(plain.column_by_name("price.additions").is_none());
    assert_eq!(plain.column_by_name("site").unwrap().as_ref(), &Int32Array::from(vec![None, Some(2)]) as &dyn Array);
}

#[test]
fn an_encrypted_table_decrypts_row_by_row() {
    let dir = staff();
    dir.ok("encrypt --key keys/public.json --column salary,bonus --scale bonus=2 --pack in.csv --out rows.parquet");
    dir.ok("decrypt --key keys/private.json rows.parquet --out back.csv");
    assert_eq!(dir.read("back.csv"), STAFF);
}

#[test]
fn the_owners_key_encrypts_and_adds_too() {
    let dir = staff();
    dir.ok("encrypt --key keys/private.json --column salary in.csv --out rows.parquet");
    dir.ok("sum --key keys/private.json rows.parquet --out totals.parquet");
    assert_eq!(dir.ok("decrypt --key keys/private.json totals.parquet").text(), "rows,salary\n5,2373\n");
}

#[test]
fn the_djn_variant_does_the_same() {
    let dir = staff();
    dir.ok("encrypt --key other/public.json --column salary,bonus --scale bonus=2 in.csv --out rows.parquet");
    dir.ok("sum --key other/public.json --by dept rows.parquet --out totals.parquet");
    assert_eq!(dir.ok("decrypt --key other/private.json totals.parquet").text(), BY_DEPT);
    assert!(dir.ok("inspect other/public.json").text().contains("djn"));
}

#[test]
fn standard_streams_all_the_way() {
    let dir = staff();
    let rows = dir
        .run_with("encrypt --key keys/public.json --column salary,bonus --scale bonus=2 - --out -", STAFF.as_bytes());
    assert_eq!(rows.status, Some(0), "{}", rows.stderr);
    let totals = dir.run_with("sum --key keys/public.json --by dept - --out -", &rows.stdout);
    assert_eq!(totals.status, Some(0), "{}", totals.stderr);
    let plain = dir.run_with("decrypt --key keys/private.json - --out -", &totals.stdout);
    assert_eq!(plain.text(), BY_DEPT);
    let said = dir.run_with("inspect -", &totals.stdout);
    assert!(said.text().starts_with("standard input: encrypted table, 3 rows"), "{said:?}");
    let again = dir.run_with("encrypt --key keys/public.json --column rows - --out again.parquet", &{
        dir.write("totals.parquet", &totals.stdout);
        dir.ok("decrypt --key keys/private.json totals.parquet --format parquet").stdout
    });
    assert_eq!(again.status, Some(0), "Parquet on standard input: {}", again.stderr);
    dir.run_with("decrypt --key keys/private.json - --format csv", b"a,b\n1,2\n")
        .failed("CSV to decrypt", "standard input: not a Parquet file");
}

#[test]
fn forms_of_the_result() {
    let dir = staff();
    dir.totals("--column salary,bonus --scale bonus=2", "--by dept");
    let table = dir.ok("decrypt --key keys/private.json totals.parquet --format table").text();
    assert_eq!(
        table,
        "dept  rows  salary  bonus\n----  ----  ------  -----\n         1      -7   1.25\nlab      3    1480  -2.49\nshop     1     900\n"
    );
    dir.ok("decrypt --key keys/private.json totals.parquet --out totals.csv");
    assert_eq!(dir.read("totals.csv"), BY_DEPT);
    dir.ok("decrypt --key keys/private.json totals.parquet --format csv --out odd.parquet");
    assert_eq!(dir.read("odd.parquet"), BY_DEPT, "--format beats the name");
}

#[test]
fn rounding_is_asked_for() {
    let dir = TestDir::new();
    dir.write("in.csv", "x\n0.125\n0.135\n-2.5e-3\n1e2\n");
    dir.fails(
        "encrypt --key keys/public.json --column x --scale 2 in.csv --out rows.parquet",
        "in.csv: row 1, column x: has more than 2 fractional digits (--scale keeps more, --round rounds",
    );
    assert_eq!(dir.totals("--column x --scale 2 --round", ""), "rows,x\n4,100.26\n");
    assert_eq!(dir.totals("--column x --scale 4", ""), "rows,x\n4,100.2575\n");
}

#[test]
fn engines_and_threads_do_not_change_the_result() {
    for options in ["--engine serial", "--threads 1", "--engine serial --threads 3"] {
        let dir = staff();
        dir.ok(&format!(
            "{options} encrypt --key keys/public.json --column salary,bonus --scale bonus=2 --pack in.csv --out rows.parquet"
        ));
        dir.ok(&format!("sum {options} --key keys/public.json --by dept rows.parquet --out totals.parquet"));
        let run = dir.ok(&format!("decrypt --key keys/private.json totals.parquet {options} --json"));
        assert_eq!(run.text(), BY_DEPT);
        let report: serde_json::Value = serde_json::from_str(run.complaints()[0]).unwrap();
        let serial = options.contains("serial");
        assert!(!serial || report["engine"] == "serial", "{report}");
    }
}

#[test]
fn every_step_reports_rows_and_speed() {
    let dir = staff();
    let run = dir.ok("encrypt --json --key keys/public.json --column salary in.csv --out rows.parquet");
    let report: serde_json::Value = serde_json::from_str(run.complaints()[0]).unwrap();
    assert_eq!((&report["step"], &report["rows"]), (&"encrypt".into(), &5.into()));
    assert!(report["rows_per_second"].as_f64().unwrap() > 0.0);
    assert!(report["arithmetic_seconds"].as_f64().unwrap() <= report["seconds"].as_f64().unwrap());
    assert!(report["threads"].as_u64().unwrap() > 0 && report["engine"].is_string());
    let run = dir.ok("sum --key keys/public.json rows.parquet --out totals.parquet");
    assert!(run.complaints()[0].starts_with("sum: 5 rows to 1 in 0."), "{}", run.stderr);
    assert!(run.complaints()[0].contains("rows/s") && run.complaints()[0].contains("engine "));
    let run = dir.ok("sum --quiet --key keys/public.json rows.parquet --out totals.parquet");
    assert!(run.complaints().is_empty(), "{}", run.stderr);
    assert!(!run.stderr.contains('\r') && !run.stderr.contains('\u{1b}'), "no bars off a terminal");
}

#[test]
fn an_output_is_replaced_only_when_complete() {
    let dir = staff();
    dir.ok("encrypt --key keys/public.json --column salary in.csv --out rows.parquet");
    let before = std::fs::read(dir.file("rows.parquet")).unwrap();
    dir.write("bad.csv", "salary\n1\nx\n");
    dir.fails("encrypt --key keys/public.json --column salary bad.csv --out rows.parquet", "bad.csv: row 2");
    assert_eq!(std::fs::read(dir.file("rows.parquet")).unwrap(), before);
    dir.write("good.csv", "salary\n41\n");
    dir.ok("encrypt --key keys/public.json --column salary good.csv --out rows.parquet");
    assert_eq!(dir.ok("decrypt --key keys/private.json rows.parquet").text(), "salary\n41\n");
}

#[test]
fn a_link_is_written_through() {
    let dir = staff();
    dir.write("real.csv", "");
    std::os::unix::fs::symlink("real.csv", dir.file("link.csv")).unwrap();
    dir.totals("--column salary", "");
    dir.ok("decrypt --key keys/private.json totals.parquet --out link.csv");
    assert!(dir.file("link.csv").is_symlink());
    assert_eq!(dir.read("real.csv"), "rows,salary\n5,2373\n");
}

#[test]
fn a_link_to_a_missing_file_is_written_through() {
    use std::os::unix::fs::symlink;
    let dir = staff();
    dir.totals("--column salary", "");
    std::fs::create_dir(dir.file("there")).unwrap();
    symlink("second.csv", dir.file("first.csv")).unwrap();
    symlink("there/real.csv", dir.file("second.csv")).unwrap();
    dir.ok("decrypt --key keys/private.json totals.parquet --out first.csv");
    assert!(dir.file("first.csv").is_symlink() && dir.file("second.csv").is_symlink());
    assert_eq!(dir.read("there/real.csv"), "rows,salary\n5,2373\n");

    let decrypt = "decrypt --key keys/private.json totals.parquet --out";
    symlink("nowhere/real.csv", dir.file("lost.csv")).unwrap();
    dir.fails(&format!("{decrypt} lost.csv"), "lost.csv: cannot write: there is no folder ./nowhere");
    symlink("ring.csv", dir.file("ring.csv")).unwrap();
    dir.fails(&format!("{decrypt} ring.csv"), "ring.csv: cannot write: Too many levels of symbolic links");
    assert!(["lost.csv", "ring.csv"].iter().all(|name| dir.file(name).is_symlink()));
}

#[test]
fn pipes_are_files_too() {
    let dir = staff();
    dir.ok("encrypt --key keys/public.json --column salary in.csv --out rows.parquet");
    let line = format!(
        "{} --insecure-key sum --key keys/public.json <(cat rows.parquet) --out >(cat > copy.parquet)",
        env!("CARGO_BIN_EXE_hearith")
    );
    let shell = std::process::Command::new("bash").args(["-c", &line]).current_dir(dir.path()).output().unwrap();
    assert!(shell.status.success(), "{shell:?}");
    // The shell does not wait for the copy.
    let copied = || std::fs::read(dir.file("copy.parquet")).is_ok_and(|bytes| bytes.ends_with(b"PAR1"));
    let waited = (0..200).any(|_| {
        std::thread::sleep(std::time::Duration::from_millis(20));
        copied()
    });
    assert!(waited);
    assert_eq!(dir.ok("decrypt --key keys/private.json copy.parquet").text(), "rows,salary\n5,2373\n");
}
