//! Batched columns: the commands with keys of the lattice scheme, end to end.

use crate::common::{Run, STAFF, TestDir};
use arrow_array::cast::AsArray;
use arrow_array::{BinaryArray, RecordBatch};
use arrow_select::concat::concat_batches;
use hearith_columns::parquet::{ParquetReader, ParquetWriter};
use std::fs::File;
use std::process::Stdio;
use std::sync::Arc;

/// A directory with the staff table and keys of both schemes: `keys/` for Paillier, `lattice/` for
/// BFV.
fn dir() -> TestDir {
    let dir = TestDir::new();
    dir.write("in.csv", STAFF);
    dir.ok("keygen --scheme bfv --set bfv-8192 --out lattice");
    dir
}

/// Encrypts `in.csv`, sums it, decrypts the totals, and returns them as CSV.
fn totals(dir: &TestDir, encrypt: &str, sum: &str) -> String {
    dir.ok(&format!("encrypt --key lattice/public.json {encrypt} in.csv --out rows.parquet"));
    let arguments: Vec<String> = sum.split('|').map(str::to_owned).collect();
    let words = ["sum", "--key", "lattice/public.json", "rows.parquet", "--out", "totals.parquet"];
    let all = words.iter().map(|&word| word.to_owned()).chain(arguments.into_iter().filter(|word| !word.is_empty()));
    let run = Run::of(dir.command(all).output().unwrap());
    assert_eq!(run.status, Some(0), "{sum}: {}", run.stderr);
    dir.ok("decrypt --key lattice/private.json totals.parquet").text()
}

#[test]
fn totals_are_exact_by_groups_conditions_and_weights() {
    let dir = dir();
    let columns = "--column salary,bonus --scale bonus=2";
    assert_eq!(
        totals(&dir, columns, "--by|dept"),
        "dept,rows,salary,bonus\n,1,-7,1.25\nlab,3,1480,-2.49\nshop,1,900,\n"
    );
    assert_eq!(totals(&dir, columns, ""), "rows,salary,bonus\n5,2373,-1.24\n");
    assert_eq!(
        totals(&dir, columns, "--by|site|--where|dept = 'lab'"),
        "site,rows,salary,bonus\n1,1,1500,0.50\n2,2,-20,-2.99\n"
    );
    assert_eq!(totals(&dir, columns, "--where|site < 2|--where|dept != ''"), "rows,salary,bonus\n2,2400,0.50\n");
    assert_eq!(totals(&dir, columns, "--weight|site"), "rows,salary,bonus\n5,2353,-4.23\n");
    assert_eq!(totals(&dir, columns, "--by|dept|--min-rows|2"), "dept,rows,salary,bonus\nlab,3,1480,-2.49\n");
    assert_eq!(totals(&dir, columns, "--where|dept = 'none'"), "rows,salary,bonus\n0,,\n");
}

#[test]
fn conditions_are_for_keys_of_paillier_as_well() {
    let dir = dir();
    dir.ok("encrypt --key keys/public.json --column salary in.csv --out rows.parquet");
    let sum = |conditions: &[&str]| {
        let words = ["sum", "--key", "keys/public.json", "--by", "dept", "rows.parquet", "--out", "totals.parquet"];
        let run = Run::of(dir.command(words.iter().chain(conditions)).output().unwrap());
        assert_eq!(run.status, Some(0), "{}", run.stderr);
        dir.ok("decrypt --key keys/private.json totals.parquet").text()
    };
    assert_eq!(sum(&["--where", "site = 1 and dept is not null"]), "dept,rows,salary\nlab,1,1500\nshop,1,900\n");
    let either = "site > 5 or cast(id as text) = dept or (dept like 'l%' and not site between 2 and 9)";
    assert_eq!(sum(&["--where", either]), "dept,rows,salary\nlab,1,1500\n");
    assert_eq!(sum(&["--where", "id >= '009'"]), "dept,rows,salary\n,1,-7\nlab,2,-20\n");
    dir.fails(
        "sum --key keys/public.json --weight site rows.parquet --out other.parquet",
        "keys/public.json: a Paillier key: --weight needs a BFV key",
    );
}

#[test]
fn the_whole_table_comes_back_from_either_key() {
    let dir = dir();
    let mut lengths = Vec::new();
    for key in ["public", "private"] {
        dir.ok(&format!(
            "encrypt --key lattice/{key}.json --column salary,bonus --scale bonus=2 in.csv --out rows.parquet"
        ));
        let back = dir.ok("decrypt --key lattice/private.json rows.parquet").text();
        assert_eq!(back, STAFF);
        lengths.push(std::fs::metadata(dir.file("rows.parquet")).unwrap().len());
        let table = dir.ok("decrypt --key lattice/private.json rows.parquet --format table").text();
        assert!(table.contains("1.25"));
    }
    assert!(lengths[1] * 50 < lengths[0], "{lengths:?}: a few rows under the private key need no long half");
    dir.ok("decrypt --key lattice/private.json rows.parquet --out back.parquet");
    assert!(dir.ok("inspect back.parquet").text().contains("Decimal128(38, 2)"));
}

#[test]
fn many_rows_and_numbers_of_64_bits() {
    let dir = dir();
    let value = |row: i64| match row % 3 {
        0 => i64::MAX - row,
        1 => -i64::MAX + row,
        _ => row,
    };
    let rows = 20_000;
    let csv: String = (0..rows).map(|row| format!("{},{}\n", row % 7, value(row))).collect();
    dir.write("in.csv", format!("group,x\n{csv}"));
    let mut expected = [0_i128; 7];
    (0..rows).for_each(|row| expected[(row % 7) as usize] += i128::from(value(row)));
    let count = |group: i64| (0..rows).filter(|row| row % 7 == group).count();
    let lines: String =
        (0..7).map(|group| format!("{group},{},{}\n", count(group), expected[group as usize])).collect();
    assert_eq!(totals(&dir, "--column x", "--by|group"), format!("group,rows,x\n{lines}"));
    let back = dir.ok("decrypt --key lattice/private.json rows.parquet").text();
    assert_eq!(back, dir.read("in.csv"));

    // Totals of totals. The same table is rejected the second time, under any name.
    std::fs::copy(dir.file("rows.parquet"), dir.file("copy.parquet")).unwrap();
    dir.fails(
        "sum --key lattice/public.json rows.parquet copy.parquet --out twice.parquet",
        "copy.parquet: has rows of table ",
    );
    dir.ok("sum --key lattice/public.json totals.parquet --out all.parquet");
    let all = dir.ok("decrypt --key lattice/private.json all.parquet").text();
    assert_eq!(all, format!("rows,x\n{rows},{}\n", expected.iter().sum::<i128>()));

    // Reads and writes streams.
    let run = dir.run_with("encrypt --key lattice/private.json --column x - --out -", dir.read("in.csv").as_bytes());
    dir.write("rows.parquet", &run.stdout);
    let summed = dir.run_with("sum --key lattice/public.json - --out -", &run.stdout).stdout;
    let decrypted = dir.run_with("decrypt --key lattice/private.json -", &summed);
    assert_eq!(decrypted.text(), all);
}

#[test]
fn keys_and_tables_are_described() {
    let dir = dir();
    let key = dir.ok("inspect lattice/public.json").text();
    assert!(key.starts_with("lattice/public.json: public key\n  scheme   bfv\n  key      "), "{key}");
    assert!(key.contains("  set      bfv-8192\n"), "{key}");
    assert!(dir.ok("inspect lattice/private.json").text().contains("private key"));
    totals(&dir, "--column salary --range 100000", "--by|dept");
    let rows = dir.ok("inspect rows.parquet").text();
    assert!(rows.contains("encrypted table, 5 rows in 1 row groups"), "{rows}");
    assert!(
        rows.contains("bfv-8192, chunks of 8192 rows, 50 bits, scale 0, range 100000, up to 4294967296 additions"),
        "{rows}"
    );
    assert!(rows.contains("UInt64, additions in salary"), "{rows}");
    let totals: serde_json::Value = serde_json::from_str(&dir.ok("inspect --json totals.parquet").text()).unwrap();
    assert_eq!((&totals["scheme"], &totals["columns"][2]["form"]), (&"bfv".into(), &"totals".into()));
    let made = dir.run("keygen --scheme bfv --set bfv-4096 --out small --json");
    let line: serde_json::Value = serde_json::from_str(made.complaints()[0]).unwrap();
    assert_eq!((&line["set"], line.get("bits")), (&"bfv-4096".into(), None));
}

#[test]
fn private_keys_lie_under_passphrases() {
    let dir = dir();
    dir.write("word", "a passphrase\n");
    dir.ok("key encrypt lattice/private.json --out lattice/locked.json --passphrase-file word");
    assert!(!dir.read("lattice/locked.json").contains("HEARITH-BFV"));
    let said = dir.ok("inspect lattice/locked.json").text();
    let id = dir.ok("inspect lattice/public.json --json").text();
    let id: serde_json::Value = serde_json::from_str(&id).unwrap();
    assert!(said.contains("encrypted private key") && said.contains(id["key"].as_str().unwrap()), "{said}");
    totals(&dir, "--column salary", "--by|dept");
    let clear = dir.ok("decrypt --key lattice/private.json totals.parquet").text();
    let locked = dir.ok("decrypt --key lattice/locked.json --passphrase-file word totals.parquet").text();
    assert_eq!(clear, locked);
    dir.ok("key decrypt lattice/locked.json --out opened.json --passphrase-file word");
    assert_eq!(dir.read("opened.json"), dir.read("lattice/private.json"));
    dir.ok("key public opened.json --out public.json");
    assert_eq!(dir.read("public.json"), dir.read("lattice/public.json"));
    dir.ok("keygen --scheme bfv --passphrase-file word --out sealed");
    assert!(!dir.read("sealed/private.json").contains("HEARITH-BFV"));
    dir.fails("key encrypt lattice/public.json --out x.json", "lattice/public.json: a public key: there is nothing");
}

#[test]
fn what_does_not_go_together_is_refused_in_a_line() {
    let dir = dir();
    dir.ok("keygen --scheme bfv --out another");
    dir.ok("keygen --scheme bfv --set bfv-4096 --out small");
    totals(&dir, "--column salary", "--by|dept");
    dir.ok("encrypt --key keys/public.json --column salary in.csv --out paillier.parquet");
    dir.write("wide.csv", "x\n9223372036854775808\n");
    dir.write("text.csv", "x\n1\nlots\n");
    for (line, expected) in [
        ("keygen --scheme bfv --out lattice", "lattice/private.json: there is a"),
        ("keygen --scheme bfv --bits 2048 --out new", "--bits is for keys of --scheme paillier"),
        ("keygen --scheme bfv --shares 2/3 --out new", "--shares is for keys of --scheme paillier"),
        ("keygen --set bfv-4096 --out new", "--set is for keys of --scheme bfv"),
        (
            "encrypt --key small/public.json --column salary in.csv --out x",
            "in.csv: column salary: plaintexts of 96 bits are not supported: bfv-4096 allows 2 to 40 bits",
        ),
        ("encrypt --key lattice/public.json --column x wide.csv --out x", "wide.csv: row 1, column x: is out of range"),
        ("encrypt --key lattice/public.json --column x text.csv --out x", "text.csv: row 2, column x: is not a number"),
        (
            "encrypt --key lattice/public.json --column salary,bonus --scale 2 --pack in.csv --out x",
            "in.csv: columns of a BFV key cannot be packed",
        ),
        (
            "encrypt --key lattice/public.json --column salary rows.parquet --out x",
            "rows.parquet: column salary: is already encrypted",
        ),
        (
            "encrypt --key lattice/public.json --column salary in.csv --out x --remote http://127.0.0.1:1",
            "--remote works with Paillier keys only",
        ),
        (
            "encrypt --key lattice/public.json --column salary in.csv --out x --unchecked-device",
            "--unchecked-device needs a device",
        ),
        ("sum --key another/public.json rows.parquet --out x", "rows.parquet: column salary: encrypted under key"),
        (
            "sum --key keys/public.json rows.parquet --out x",
            "rows.parquet: column salary: encrypted by bfv, but the key given is of paillier",
        ),
        (
            "sum --key lattice/public.json paillier.parquet --out x",
            "paillier.parquet: column salary: encrypted by paillier, but the key given is of bfv",
        ),
        (
            "sum --key lattice/public.json --weight dept rows.parquet --out x",
            "rows.parquet: row 1, column dept: is not a 64-bit integer, as weights must be",
        ),
        (
            "sum --key lattice/public.json --weight salary rows.parquet --out x",
            "rows.parquet: column salary: is encrypted: weights must be plaintext",
        ),
        (
            "sum --key lattice/public.json --weight none rows.parquet --out x",
            "rows.parquet: column none: there is no such column",
        ),
        ("sum --key lattice/public.json --by salary rows.parquet --out x", "rows.parquet: column salary: is encrypted"),
        (
            "sum --key lattice/public.json --where salary=1 rows.parquet --out x",
            "rows.parquet: column salary: is encrypted: conditions can use only unencrypted columns",
        ),
        (
            "sum --key lattice/public.json --where none=1 rows.parquet --out x",
            "rows.parquet: column none: there is no such column",
        ),
        (
            "sum --key lattice/public.json --where dept>1 rows.parquet --out x",
            "rows.parquet: row 1, column dept: is not a number",
        ),
        (
            "sum --key lattice/public.json --where dept=lab rows.parquet --out x",
            "rows.parquet: column lab: there is no such column (text is quoted: 'lab'; there are:",
        ),
        (
            "sum --key lattice/public.json --where id<dept rows.parquet --out x",
            "rows.parquet: column id of untyped text cannot be compared with column dept of untyped text: cast one",
        ),
        (
            "decrypt --key lattice/public.json totals.parquet",
            "lattice/public.json: a public key: decrypting needs the private key",
        ),
        ("decrypt --key another/private.json totals.parquet", "totals.parquet: column salary: encrypted under key"),
        (
            "decrypt --key keys/private.json totals.parquet",
            "totals.parquet: column salary: encrypted by bfv, but the key given is of paillier",
        ),
        (
            "decrypt --key lattice/private.json paillier.parquet",
            "paillier.parquet: column salary: encrypted by paillier",
        ),
        ("decrypt --key lattice/private.json --check totals.parquet", "--check works with Paillier keys only"),
        ("decrypt --key lattice/private.json in.csv", "in.csv: not a Parquet file"),
        ("export --key lattice/public.json rows.parquet --column salary --out x", "lattice/public.json: a BFV key"),
    ] {
        dir.fails(line, expected);
    }
    let text = dir.read("lattice/public.json");
    dir.write("cut.json", &text[..text.len() / 2]);
    assert_eq!(dir.run("sum --key cut.json rows.parquet --out x").status, Some(2));
    dir.write("altered.json", text.replace("bfv-8192", "bfv-4096"));
    dir.fails(
        "sum --key altered.json rows.parquet --out x",
        "altered.json: a part of the key does not have the length that its parameter set requires",
    );
    // clap rejects an invalid condition.
    let run = Run::of(
        dir.command(["sum", "--key", "lattice/public.json", "--where", "dept =", "rows.parquet", "--out", "x"])
            .stdin(Stdio::null())
            .output()
            .unwrap(),
    );
    assert_eq!(run.status, Some(2));
    assert!(run.stderr.contains("invalid condition: Expected: an expression"), "{}", run.stderr);
}

#[test]
fn spent_headroom_and_noise_are_errors_and_no_totals() {
    let dir = dir();
    dir.write("in.csv", "w,x\n1,5\n1,6\n1000,7\n");
    dir.ok("encrypt --key lattice/public.json --column x --max-additions 2 in.csv --out rows.parquet");
    dir.fails(
        "sum --key lattice/public.json rows.parquet --out x.parquet",
        "rows.parquet: row 3, column x: 3 additions exceed the 2 that there is headroom for",
    );
    dir.fails(
        "sum --key lattice/public.json --weight w rows.parquet --out x.parquet",
        "rows.parquet: row 3, column x: 1002 additions exceed the 2",
    );
    // Plaintexts of 127 bits leave little room for noise.
    dir.write("in.csv", format!("w,x\n{},2\n", 1_u64 << 60));
    dir.ok("encrypt --key lattice/public.json --column x --range 3 --max-additions 9000000000000000000 in.csv --out rows.parquet");
    dir.ok("sum --key lattice/public.json --weight w rows.parquet --out x.parquet");
    dir.ok("encrypt --key lattice/public.json --column x --range 9223372036854775807 --max-additions 9000000000000000000 in.csv --out rows.parquet");
    dir.fails(
        "sum --key lattice/public.json --weight w rows.parquet --out y.parquet",
        "rows.parquet: column x: the noise budget is exhausted, so the result could be wrong",
    );
}

#[test]
fn the_smallest_set_has_room_or_says_that_it_has_none() {
    let dir = TestDir::new();
    dir.ok("keygen --scheme bfv --set bfv-4096 --out small");
    dir.write("in.csv", "w,x\n1000000,100\n48576,-99\n");
    let encrypt = |key: &str| {
        let options = "--column x --range 100 --max-additions 1048576 in.csv --out rows.parquet";
        dir.ok(&format!("encrypt --key small/{key}.json {options}"));
    };
    encrypt("public");
    dir.fails(
        "sum --key small/public.json --weight w rows.parquet --out x.parquet",
        "column x: the noise budget is too small to hide the noise",
    );
    // The owner's encryption has seven bits less noise.
    encrypt("private");
    dir.ok("sum --key small/public.json --weight w rows.parquet --out x.parquet");
    assert_eq!(dir.ok("decrypt --key small/private.json x.parquet").text(), "rows,x\n2,95190976\n");
}

/// Three chunks of the smallest set, in batches, for writing modified files.
struct Chunked {
    dir: TestDir,
    batches: Vec<RecordBatch>,
}

impl Chunked {
    const ROWS: usize = 10_000;

    fn new() -> Self {
        let dir = TestDir::new();
        dir.ok("keygen --scheme bfv --set bfv-4096 --out small");
        let csv: String = (0..Self::ROWS).map(|row| format!("{},{}\n", row % 3, row % 100)).collect();
        dir.write("in.csv", format!("g,x\n{csv}"));
        let options = "--column x --range 100 --max-additions 10000 in.csv";
        dir.ok(&format!("encrypt --key small/private.json {options} --out rows.parquet"));
        let source = ParquetReader::open(File::open(dir.file("rows.parquet")).unwrap()).unwrap();
        let (schema, read) = (source.schema(), source.batches(1000, None).unwrap().map(Result::unwrap));
        let whole = concat_batches(&schema, &read.collect::<Vec<_>>()).unwrap();
        let piece = |row| whole.slice(row, 4096.min(Self::ROWS - row));
        let batches = (0..Self::ROWS).step_by(4096).map(piece).collect();
        Chunked { dir, batches }
    }

    /// Returns one of the batches with its chunk changed.
    fn changed(&self, batch: usize, change: fn(&mut Vec<u8>)) -> RecordBatch {
        let batch = &self.batches[batch];
        let at = batch.schema().index_of("x").unwrap();
        let mut chunk = batch.column(at).as_binary::<i32>().value(0).to_vec();
        change(&mut chunk);
        let cells = (0..batch.num_rows()).map(|row| (row == 0).then_some(&chunk));
        let mut columns = batch.columns().to_vec();
        columns[at] = Arc::new(BinaryArray::from_iter(cells));
        RecordBatch::try_new(batch.schema(), columns).unwrap()
    }

    /// Checks that sums and decryption reject a table of these batches and leave no files.
    fn refused(&self, name: &str, batches: &[RecordBatch], expected: &str) {
        let mut sink = ParquetWriter::new(Vec::new(), self.batches[0].schema()).unwrap();
        batches.iter().for_each(|batch| sink.write(batch).unwrap());
        self.refused_bytes(name, &sink.finish().unwrap(), expected);
    }

    fn refused_bytes(&self, name: &str, bytes: &[u8], expected: &str) {
        self.dir.write(name, bytes);
        let expected = format!("{name}: {expected}");
        self.dir.fails(&format!("sum --key small/public.json --by g {name} --out x.parquet"), &expected);
        self.dir.fails(&format!("decrypt --key small/private.json {name} --out x.parquet"), &expected);
    }
}

#[test]
fn damaged_tables_are_refused_in_a_line() {
    let table = Chunked::new();
    let [a, b, c] = [0, 1, 2].map(|i| table.batches[i].clone());
    let moved = "belongs to other rows: chunks or rows were moved, left out or repeated";
    let altered = table.changed(1, |chunk| *chunk.last_mut().unwrap() ^= 1);
    let short = table.changed(2, |chunk| chunk.truncate(chunk.len() / 2));
    let shorter = table.changed(0, |chunk| chunk.truncate(20));
    for (name, batches, row, expected) in [
        ("altered", vec![a.clone(), altered, c.clone()], 4097, "was altered"),
        ("short", vec![a.clone(), b.clone(), short], 8193, "was altered"),
        ("shorter", vec![shorter, b.clone(), c.clone()], 1, "is cut short"),
        ("order", vec![a.clone(), c.clone(), b.clone()], 4097, moved),
        ("first", vec![b.clone(), a.clone(), c.clone()], 1, moved),
        ("twice", vec![a.clone(), a.clone(), b.clone(), c.clone()], 4097, moved),
        ("without", vec![a.clone(), c.clone()], 4097, moved),
        (
            "fewer",
            vec![a.slice(0, 4000), b.clone(), c.clone()],
            4001,
            "has fewer rows than numbers: rows were left out",
        ),
        ("more", vec![a.clone(), a.slice(1, 1), b.clone(), c.clone()], 4097, moved),
    ] {
        table.refused(name, &batches, &format!("row {row}, column x: the chunk {expected}"));
    }
    let early = "column x: the chunk has fewer rows than numbers: the table ends too early";
    table.refused("early", &[a, b, c.slice(0, 1000)], early);

    // Bytes of the file itself: one of a chunk, in the middle, and those at the end.
    let bytes = std::fs::read(table.dir.file("rows.parquet")).unwrap();
    let mut flipped = bytes.clone();
    flipped[bytes.len() / 2] ^= 1;
    table.refused_bytes("flipped", &flipped, "row 4097, column x: the chunk was altered");
    table.refused_bytes("cut", &bytes[..bytes.len() / 2], "not a complete Parquet file");
    let again = "sum --key small/public.json rows.parquet rows.parquet --out x.parquet";
    table.dir.fails(again, "rows.parquet: given twice: its rows would be counted twice");
}

#[test]
fn tables_of_other_parameters_are_refused_beside_each_other() {
    let table = Chunked::new();
    let dir = &table.dir;
    dir.ok("keygen --scheme bfv --out large");
    let encrypt = |key: &str, options: &str, out: &str| {
        dir.ok(&format!("encrypt --key {key}/public.json --column x {options} in.csv --out {out}"));
    };
    encrypt("large", "", "large.parquet");
    encrypt("small", "--range 99 --max-additions 20000", "other.parquet");
    let sum = |tables: &str| format!("sum --key small/public.json {tables} --out x.parquet");
    let other = "large.parquet: column x: encrypted under key";
    dir.fails(&sum("large.parquet"), other);
    dir.fails(&sum("rows.parquet large.parquet"), other);
    dir.fails(&sum("rows.parquet other.parquet"), "other.parquet: column x: the range is 99, not 100 as before");
}
