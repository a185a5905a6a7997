//! Bad input: one line that names file, row and column, status 2, and no file left behind.

use std::fs::{self, File};
use std::path::Path;
use std::sync::Arc;

use crate::common::{self, Run, STAFF, TestDir};
use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, FixedSizeBinaryArray, RecordBatch, UInt64Array};
use hearith_columns::limits::COMMAND_BYTES;
use hearith_columns::parquet::{ParquetReader, ParquetWriter};

const ENCRYPT: &str = "encrypt --key keys/public.json --column salary";

/// A directory with `in.csv` and its encryption `rows.parquet`.
fn staff() -> TestDir {
    let dir = TestDir::new();
    dir.write("in.csv", STAFF);
    dir.ok(&format!("{ENCRYPT} in.csv --out rows.parquet"));
    dir
}

/// Copies `rows.parquet` to `bad.parquet` with one column changed.
fn craft(dir: &TestDir, column: &str, change: impl FnOnce(&dyn Array) -> ArrayRef) {
    let source = ParquetReader::open(File::open(dir.file("rows.parquet")).unwrap()).unwrap();
    let batch = source.batches(1000, None).unwrap().next().unwrap().unwrap();
    let at = batch.schema().index_of(column).unwrap();
    let mut columns = batch.columns().to_vec();
    columns[at] = change(&columns[at]);
    let batch = RecordBatch::try_new(batch.schema(), columns).unwrap();
    let mut sink = ParquetWriter::new(File::create(dir.file("bad.parquet")).unwrap(), batch.schema()).unwrap();
    sink.write(&batch).unwrap();
    sink.finish().unwrap();
}

/// Replaces the ciphertext of the last row.
fn with_ciphertext(column: &dyn Array, bytes: &[u8]) -> ArrayRef {
    let column = column.as_fixed_size_binary();
    let width = column.value_length() as usize;
    let padded: Vec<u8> = std::iter::repeat_n(0, width - bytes.len()).chain(bytes.iter().copied()).collect();
    let last = column.len() - 1;
    let cells = (0..column.len()).map(|row| match row {
        _ if row == last => Some(padded.clone()),
        _ => column.is_valid(row).then(|| column.value(row).to_vec()),
    });
    Arc::new(FixedSizeBinaryArray::try_from_sparse_iter_with_size(cells, width as i32).unwrap())
}

fn counts(values: [u64; 5]) -> ArrayRef {
    Arc::new(UInt64Array::from(values.to_vec()))
}

#[test]
fn cells_that_are_no_numbers() {
    let dir = TestDir::new();
    dir.write("in.csv", "dept,salary\nlab,1\nlab,\nshop,n/a\n");
    dir.fails(
        &format!("{ENCRYPT} in.csv --out out.parquet"),
        "in.csv: row 3, column salary: is not a number (--show-cells shows the cell)",
    );
    let many: String = (0..5000).map(|row| if row == 4321 { "x\n".to_owned() } else { format!("{row}\n") }).collect();
    dir.write("many.csv", format!("salary\n{many}"));
    dir.fails(&format!("{ENCRYPT} many.csv --out out.parquet"), "many.csv: row 4322, column salary: is not a number");
}

#[test]
fn values_out_of_range() {
    let dir = staff();
    dir.fails(
        &format!("{ENCRYPT} --range 1000 in.csv --out out.parquet"),
        "in.csv: row 1, column salary: is out of range: at most 1000 in magnitude \
         (--range; --show-cells shows the cell)",
    );
    dir.ok(&format!("{ENCRYPT} --range salary=1500 in.csv --out out.parquet"));
    dir.write("big.csv", "salary\n9223372036854775807\n9223372036854775808\n");
    dir.fails(&format!("{ENCRYPT} big.csv --out big.parquet"), "big.csv: row 2, column salary: is out");
    dir.ok(&format!("{ENCRYPT} --range 1e25 big.csv --out big.parquet"));
}

#[test]
fn messages_hold_no_plain_value_unless_asked_to() {
    let dir = TestDir::new();
    for (cell, options, kind) in [
        ("canary-7", "", "is not a number"),
        ("7654321.5", "", "has more than 0 fractional digits"),
        ("7654321", "--range 100", "is out of range: at most 100 in magnitude"),
        ("\u{1b}[31mcanary", "", "is not a number"),
    ] {
        dir.write("in.csv", format!("dept,salary\nlab,1\nlab,{cell}\n"));
        let line = format!("{ENCRYPT} {options} in.csv --out out.parquet");
        let before = dir.files();
        let run = dir.run(&line);
        run.failed(&line, &format!("in.csv: row 2, column salary: {kind}"));
        for part in ["canary", "7654", "\u{1b}"] {
            assert!(!run.stderr.contains(part), "{}", run.stderr);
        }
        let shown = format!("in.csv: row 2, column salary: \"{}\" {kind}", cell.escape_debug());
        dir.fails(&format!("{line} --show-cells"), &shown);
        assert_eq!(dir.files(), before);
    }
}

#[test]
fn companions_and_empty_ciphertexts() {
    let dir = staff();
    dir.fails(
        "encrypt --key keys/public.json --column salary.additions rows.parquet --out out.parquet",
        "rows.parquet: column salary.additions: counts the additions of the encrypted column salary",
    );
    dir.ok("export --key keys/public.json --column salary rows.parquet --out salary.json");
    dir.fails(
        "import --key keys/public.json --column pay --additions 0 salary.json --out out.parquet",
        "salary.json: column pay: every ciphertext must hold at least one number (--additions)",
    );
}

#[test]
fn files_that_ask_for_too_much() {
    let dir = TestDir::new();
    let seeds = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/seeds/parquet_table");
    let mut refused = 0;
    for seed in fs::read_dir(seeds).unwrap() {
        let seed = seed.unwrap().path();
        let named = seed.file_name().unwrap().to_string_lossy().into_owned();
        fs::copy(&seed, dir.file("in.parquet")).unwrap();
        for command in ["inspect in.parquet", "encrypt --key keys/public.json --column x in.parquet --out out.parquet"]
        {
            // With the maximum memory that any command may use.
            let bounded = format!("ulimit -v {}; exec \"$0\" {command} --threads 1", COMMAND_BYTES >> 10);
            let output = std::process::Command::new("sh")
                .args(["-c", &bounded, env!("CARGO_BIN_EXE_hearith")])
                .current_dir(dir.path())
                .output()
                .unwrap();
            let run = Run::of(output);
            assert!(matches!(run.status, Some(0 | 2)), "{named}: {command}: {run:?}");
            assert!(!run.stderr.contains("internal error"), "{named}: {}", run.stderr);
            refused += usize::from(run.status == Some(2) && run.complaints().len() == 1);
        }
    }
    assert!(refused > 8, "{refused}");
}

#[test]
fn columns_that_are_not_there_or_twice() {
    let dir = staff();
    let out = "in.csv --out out.parquet";
    let encrypt = "encrypt --key keys/public.json";
    dir.fails(&format!("{encrypt} --column pay {out}"), "in.csv: column pay: the first line does not name it");
    dir.fails(
        &format!("{encrypt} --column salary,salary {out}"),
        "in.csv: column salary: two columns would have this name",
    );
    dir.fails(&format!("{encrypt} --column salary --scale bonus=2 {out}"), "--scale is given for bonus, which is not");
    dir.fails(&format!("{encrypt} --column salary --scale 1,2 {out}"), "--scale is given twice for all columns");
    dir.fails(
        &format!("{encrypt} --column salary --scale 39 {out}"),
        "in.csv: column salary: a scale of 39 is too large",
    );
    dir.fails(&format!("{encrypt} --column salary --range=-5 {out}"), "in.csv: column salary: \"-5\" is not a range");
    dir.write("twice.csv", "a,b,a\n1,2,3\n");
    dir.fails(
        &format!("{encrypt} --column b twice.csv --out out.parquet"),
        "twice.csv: cell 3 of the header: the same name as cell 1",
    );
    dir.write("taken.csv", "a,a.additions\n1,2\n");
    dir.fails(
        &format!("{encrypt} --column a taken.csv --out out.parquet"),
        "taken.csv: column a.additions: two columns would",
    );
    dir.fails(
        "encrypt --key keys/public.json --column salary rows.parquet --out out.parquet",
        "rows.parquet: column salary: is already encrypted",
    );
}

#[test]
fn packing_that_does_not_fit() {
    let dir = TestDir::new();
    let names: Vec<String> = (0..6).map(|column| format!("c{column}")).collect();
    dir.write("in.csv", format!("{}\n1,2,3,4,5,6\n", names.join(",")));
    let columns = names.join(",");
    dir.fails(
        &format!("encrypt --key keys/public.json --pack --column {columns} in.csv --out out.parquet"),
        &format!("in.csv: column {}: ", names.join("+")),
    );
    dir.ok(&format!("encrypt --key keys/public.json --pack --column {columns} --range 1000 in.csv --out out.parquet"));
    assert_eq!(dir.ok("decrypt --key keys/private.json out.parquet").text(), format!("{columns}\n1,2,3,4,5,6\n"));
}

#[test]
fn csv_that_is_damaged() {
    let dir = TestDir::new();
    let cases: [(&[u8], &str); 8] = [
        (b"", "bad.csv: no header: the first line must name the columns"),
        (b"salary,dept\n1,a\n2,\"\n3,c\n", "bad.csv: row 2: cell 2: an opening quote is never closed"),
        (b"salary,dept\n1,a\n2,b\"\n", "bad.csv: row 2: cell 2: a quote in a cell that does not begin with one"),
        (b"salary,dept\n1,\"a\"b\n", "bad.csv: row 1: cell 2: text after a closing quote"),
        (b"salary,dept\n1,a\n\n2,b\n", "bad.csv: row 2: 1 cells, but the first line has 2"),
        (b"salary,dept\n1,a\n2\n", "bad.csv: row 2: 1 cells, but the first line has 2"),
        (b"salary,dept\n1,a\n2,\xff\n", "bad.csv: row 2: cell 2: not UTF-8 text"),
        (b"\x00\x01\x02\x03binary", "bad.csv: column salary: the first line does not name it"),
    ];
    for (content, expected) in cases {
        dir.write("bad.csv", content);
        dir.fails(&format!("{ENCRYPT} bad.csv --out out.parquet"), expected);
    }
}

#[test]
fn a_wrong_key_names_both() {
    let dir = staff();
    let id = |key: &str| {
        let json = dir.ok(&format!("inspect --json {key}/public.json")).text();
        serde_json::from_str::<serde_json::Value>(&json).unwrap()["key"].as_str().unwrap().to_owned()
    };
    let expected = format!(
        "rows.parquet: column salary: encrypted under key {}, but the key given is {}",
        id("keys"),
        id("other")
    );
    dir.fails("sum --key other/public.json rows.parquet --out out.parquet", &expected);
    dir.fails("decrypt --key other/private.json rows.parquet --out out.csv", &expected);
    dir.fails("export --key other/public.json --column salary rows.parquet --out out.json", &expected);
}

#[test]
fn keys_that_are_none() {
    let dir = staff();
    dir.write("junk.json", "{\"kty\":\"DAJ\"}");
    dir.write("text.json", "no key");
    let missing = "missing.json: cannot read: No such file or directory";
    dir.fails("encrypt --key missing.json --column salary in.csv --out out.parquet", missing);
    dir.fails("sum --key missing.json rows.parquet --out out.parquet", missing);
    dir.fails("decrypt --key missing.json rows.parquet --out out.csv", missing);
    dir.fails("sum --key junk.json rows.parquet --out out.parquet", "junk.json: ");
    dir.fails("sum --key text.json rows.parquet --out out.parquet", "text.json: ");
    dir.fails(
        "decrypt --key keys/public.json rows.parquet",
        "keys/public.json: a public key: decrypting needs the private",
    );
    dir.fails("sum --key keys rows.parquet --out out.parquet", "keys: cannot read: ");
}

#[test]
fn files_that_are_missing_or_no_parquet() {
    let dir = staff();
    dir.fails(&format!("{ENCRYPT} none.csv --out out.parquet"), "none.csv: cannot read: No such file");
    dir.fails("sum --key keys/public.json none.parquet --out out.parquet", "none.parquet: cannot read: No such file");
    dir.fails("sum --key keys/public.json in.csv --out out.parquet", "in.csv: not a Parquet file");
    dir.write("empty.parquet", "");
    dir.fails(
        "sum --key keys/public.json empty.parquet --out out.parquet",
        "empty.parquet: not a complete Parquet file",
    );
    dir.fails("decrypt --key keys/private.json keys", "keys: cannot read: is a directory");
    fs::copy(dir.file("in.csv"), dir.file("csv.parquet")).unwrap();
    dir.fails("sum --key keys/public.json csv.parquet --out out.parquet", "csv.parquet: not a complete Parquet file");
    dir.fails("inspect in.csv", "in.csv: neither a key nor an encrypted table");
}

#[test]
fn parquet_without_encrypted_columns() {
    let dir = staff();
    dir.ok("decrypt --key keys/private.json rows.parquet --out plain.parquet");
    dir.fails("sum --key keys/public.json plain.parquet --out out.parquet", "plain.parquet: holds no encrypted column");
    dir.fails(
        "decrypt --key keys/private.json plain.parquet --out out.csv",
        "plain.parquet: holds no encrypted column",
    );
    assert!(dir.ok("inspect plain.parquet").text().contains("table, not encrypted"));
}

#[test]
fn parquet_cut_short_or_damaged_anywhere() {
    let dir = staff();
    let whole = fs::read(dir.file("rows.parquet")).unwrap();
    for length in (0..whole.len()).step_by(whole.len() / 40) {
        dir.write("bad.parquet", &whole[..length]);
        dir.fails("sum --key keys/public.json bad.parquet --out out.parquet", "bad.parquet: ");
    }
    // Any changed byte leads to a result or one error line, never to a panic or a partial file.
    let mut refused = 0;
    for at in (4..whole.len()).step_by(whole.len() / 120) {
        let mut damaged = whole.clone();
        damaged[at] ^= 0x55;
        dir.write("bad.parquet", &damaged);
        let before = dir.files();
        let run = dir.run("decrypt --key keys/private.json bad.parquet --out out.csv");
        if run.status == Some(0) {
            fs::remove_file(dir.file("out.csv")).unwrap();
            continue;
        }
        refused += 1;
        run.failed(&format!("byte {at} changed"), "");
        assert!(!run.stderr.contains("internal error"), "byte {at}: {}", run.stderr);
        if dir.file("out.csv").exists() {
            // An overflow: the other cells are complete.
            assert!(dir.read("out.csv").contains("#OVERFLOW"), "byte {at}: {}", run.stderr);
            fs::remove_file(dir.file("out.csv")).unwrap();
        }
        assert_eq!(dir.files(), before, "byte {at}");
    }
    assert!(refused > 10, "{refused}");
}

#[test]
fn ciphertexts_that_are_none() {
    let dir = staff();
    let key: serde_json::Value = serde_json::from_str(&dir.read("keys/public.json")).unwrap();
    let modulus = {
        let policy = hearith_paillier::KeyPolicy::AllowInsecure;
        let engine = hearith_paillier::Engine::best();
        hearith_paillier::PublicKey::from_jwk(&key.to_string(), policy, engine).unwrap().modulus_be()
    };
    let cases: [(&[u8], &str); 3] = [
        (&[], "the ciphertext is 0"),
        (&[0xff; 128], "the ciphertext is not below n^2"),
        (&modulus, "the ciphertext shares a factor with n"),
    ];
    for (bytes, what) in cases {
        craft(&dir, "salary", |column| with_ciphertext(column, bytes));
        let expected = format!("bad.parquet: row 5, column salary: {what}");
        dir.fails("sum --key keys/public.json bad.parquet --out out.parquet", &expected);
        dir.fails(
            "sum --key keys/public.json --by dept --allow-repeated rows.parquet bad.parquet --out out.parquet",
            &expected,
        );
        dir.fails("decrypt --key keys/private.json bad.parquet --out out.csv", &expected);
        dir.fails("export --key keys/public.json --column salary bad.parquet --out out.json", &expected);
    }
}

#[test]
fn sums_beyond_their_headroom() {
    let dir = TestDir::new();
    dir.write("in.csv", STAFF);
    dir.ok(&format!("{ENCRYPT} --max-additions 3 in.csv --out rows.parquet"));
    dir.fails(
        "sum --key keys/public.json rows.parquet --out out.parquet",
        "rows.parquet: row 5, column salary: 4 additions exceed the 3 that there is headroom for",
    );
    dir.ok("sum --key keys/public.json --by dept rows.parquet --out totals.parquet");
    dir.fails(
        "sum --key keys/public.json --by dept --allow-repeated totals.parquet rows.parquet --out out.parquet",
        "rows.parquet: row 5, column salary: 4 additions exceed",
    );
}

#[test]
fn overflowed_totals_are_marked() {
    let dir = staff();
    // Rows 2 and 5 claim more additions than the headroom.
    craft(&dir, "salary.additions", |_| counts([1, 1 << 34, 1, 0, 1 << 33]));
    let before = dir.files();
    let run = dir.run("decrypt --key keys/private.json bad.parquet");
    run.failed(
        "decrypt",
        "bad.parquet: row 2, column salary: overflowed its headroom: the total is not reliable (and 1 more",
    );
    assert_eq!(dir.files(), before);
    let column: Vec<String> = run.text().lines().map(|line| line.split(',').nth(3).unwrap().to_owned()).collect();
    assert_eq!(column, ["salary", "1500", "#OVERFLOW", "-7", "", "#OVERFLOW"]);
    let run = dir.run("decrypt --key keys/private.json bad.parquet --out marked.csv");
    run.failed("decrypt", "bad.parquet: row 2, column salary: overflowed its headroom");
    assert!(dir.read("marked.csv").contains("008,shop,1,#OVERFLOW,\n"), "complete, with marks");
    dir.fails(
        "decrypt --key keys/private.json bad.parquet --out out.parquet",
        "bad.parquet: row 2, column salary: overflowed its headroom",
    );
}

#[test]
fn groups_and_scales_that_do_not_go_together() {
    let dir = staff();
    dir.fails(
        "sum --key keys/public.json --by salary rows.parquet --out out.parquet",
        "rows.parquet: column salary: is encrypted",
    );
    dir.fails(
        "sum --key keys/public.json --by team rows.parquet --out out.parquet",
        "rows.parquet: column team: there is no",
    );
    dir.fails(
        "sum --key keys/public.json --by dept,dept rows.parquet --out out.parquet",
        "rows.parquet: column dept: two columns would",
    );
    dir.ok(&format!("{ENCRYPT} --scale 34 --range 1500 in.csv --out fine.parquet"));
    dir.fails(
        "sum --key keys/public.json rows.parquet fine.parquet --out out.parquet",
        "column salary: the scales and ranges of these tables together are too large",
    );
}

#[test]
fn outputs_that_cannot_be() {
    let dir = staff();
    dir.fails(
        &format!("{ENCRYPT} in.csv --out none/out.parquet"),
        "none/out.parquet: cannot write: there is no folder none",
    );
    dir.fails(&format!("{ENCRYPT} in.csv --out keys"), "keys: cannot write: is a directory");
    dir.fails(&format!("{ENCRYPT} in.csv --out in.csv"), "in.csv: the output would replace the input");
    dir.fails(
        &format!("{ENCRYPT} in.csv --out keys/public.json"),
        "keys/public.json: the output would replace the input",
    );
    fs::hard_link(dir.file("rows.parquet"), dir.file("same.parquet")).unwrap();
    dir.fails(
        "sum --key keys/public.json rows.parquet --out same.parquet",
        "same.parquet: the output would replace the input rows.parquet",
    );
    dir.fails(
        "decrypt --key keys/private.json rows.parquet --out rows.parquet",
        "rows.parquet: the output would replace",
    );
    dir.fails("sum --key keys/public.json rows.parquet --out out.parquet --engine abacus", "");
}

#[test]
fn an_input_given_twice() {
    let dir = staff();
    let sum = |inputs: &str| format!("sum --key keys/public.json {inputs} --out out.parquet");
    dir.fails(&sum("rows.parquet rows.parquet"), "rows.parquet: given twice: its rows would be counted twice");
    dir.fails(&sum("rows.parquet ./rows.parquet"), "./rows.parquet: the same file as rows.parquet: its rows would be");
    fs::hard_link(dir.file("rows.parquet"), dir.file("hard.parquet")).unwrap();
    std::os::unix::fs::symlink("rows.parquet", dir.file("soft.parquet")).unwrap();
    for other in ["hard.parquet", "soft.parquet"] {
        dir.fails(&sum(&format!("rows.parquet {other}")), &format!("{other}: the same file as rows.parquet"));
    }
    dir.run_with(&sum("- -"), b"PAR1").failed("standard input twice", "-: given twice");
    fs::copy(dir.file("rows.parquet"), dir.file("copy.parquet")).unwrap();
    dir.fails(&sum("rows.parquet copy.parquet"), "copy.parquet: has rows of table ");
    dir.ok(&sum("rows.parquet copy.parquet --allow-repeated"));
}

#[test]
fn more_threads_than_any_machine_has() {
    let dir = staff();
    let started = std::time::Instant::now();
    let run = dir.run("engines --threads 65535");
    assert_eq!(run.status, Some(2));
    assert!(run.stderr.contains("65535 is not in 1..=1024"), "{}", run.stderr);
    let run = common::Run::of(dir.command(["engines"]).env("RAYON_NUM_THREADS", "65535").output().unwrap());
    run.failed("the environment", "RAYON_NUM_THREADS is 65535: at most 1024 threads");
    assert!(started.elapsed().as_secs() < 20);
}

#[test]
fn a_directory_without_permission() {
    let dir = staff();
    fs::create_dir(dir.file("closed")).unwrap();
    let mut permissions = fs::metadata(dir.file("closed")).unwrap().permissions();
    std::os::unix::fs::PermissionsExt::set_mode(&mut permissions, 0o555);
    fs::set_permissions(dir.file("closed"), permissions).unwrap();
    let line = format!("{ENCRYPT} in.csv --out closed/out.parquet");
    match File::create(dir.file("closed/probe")) {
        // The superuser may write anywhere. Then the output exists.
        Ok(_) => drop(dir.ok(&line)),
        Err(_) => dir.fails(&line, "closed/out.parquet: cannot write: Permission denied"),
    }
}

#[test]
fn words_that_are_no_command() {
    let dir = staff();
    for line in
        ["", "frobnicate", "sum --key", "encrypt --key keys/public.json in.csv --out out.parquet", "sum --threads 0"]
    {
        assert_eq!(dir.run(line).status, Some(2), "{line}");
    }
    assert_eq!(dir.run("--version").text(), concat!("hearith ", env!("CARGO_PKG_VERSION"), "\n"));
    for command in [
        "",
        "keygen",
        "encrypt",
        "sum",
        "decrypt",
        "prove decryption",
        "verify decryption",
        "serve",
        "inspect",
        "engines",
        "export",
        "import",
    ] {
        let help = dir.ok(&format!("{command} --help")).text();
        assert!(help.lines().count() <= 45 && help.lines().all(|line| line.chars().count() <= 110), "{help}");
    }
}

#[test]
fn the_environment_chooses_an_engine_that_exists() {
    let dir = staff();
    let run = |name: &str| dir.command(["engines"]).env("HEARITH_ENGINE", name).output().unwrap();
    let wrong = run("abacus");
    assert_eq!(wrong.status.code(), Some(2));
    assert!(String::from_utf8(wrong.stderr).unwrap().contains("abacus"));
    let serial = String::from_utf8(run("serial").stdout).unwrap();
    assert!(serial.lines().next().unwrap().contains("chosen"), "{serial}");
}
