//! Various input files: other delimiters and marks, no header, words for null, compressed.

use std::io::Write;

use crate::common::{STAFF, TestDir};

/// Encrypts, sums and decrypts a table.
fn total(dir: &TestDir, encrypt: &[&str]) -> String {
    let mut arguments = vec!["encrypt", "-k", "keys/public.json"];
    arguments.extend(encrypt);
    arguments.extend(["-o", "rows.parquet"]);
    let output = dir.command(arguments).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    dir.ok("sum -k keys/public.json rows.parquet -o totals.parquet");
    dir.ok("decrypt -k keys/private.json totals.parquet").text()
}

#[test]
fn european_tables_are_read_with_their_marks() {
    let dir = TestDir::new();
    dir.write("in.csv", "dept;pay;note\nlab;1.234,56;1.5\nshop;-0,50;\nlab;n/a;x\n");
    let options = ["--delimiter", ";", "--decimal-comma", "--thousands", ".", "--null", "n/a"];
    let asked = [&["-c", "pay", "--scale", "2", "in.csv"][..], &options].concat();
    assert_eq!(total(&dir, &asked), "rows,pay\n3,1234.06\n");
    // Other columns keep their text.
    let back = dir.ok("decrypt -k keys/private.json rows.parquet").text();
    assert_eq!(back, "dept,pay,note\nlab,1234.56,1.5\nshop,-0.50,\nlab,,x\n");
    // A number of another dialect is not a number in this one.
    dir.write("in.csv", "pay\n1.5\n");
    dir.fails(
        "encrypt -k keys/public.json -c pay --scale 2 --decimal-comma in.csv -o rows.parquet",
        "in.csv: row 1: cell 1: is not a number with these decimal and thousands marks",
    );
}

#[test]
fn words_for_null_may_begin_with_a_minus() {
    let dir = TestDir::new();
    dir.write("in.csv", "dept,pay\nlab,5\nlab,-99\nshop,-\nshop,--\nshop,-1\n");
    let asked = ["-c", "pay", "--null", "-99", "--null", "-", "--null", "--", "in.csv"];
    assert_eq!(total(&dir, &asked), "rows,pay\n5,4\n");
}

#[test]
fn tabs_and_spaces_have_names() {
    let dir = TestDir::new();
    dir.write("in.csv", "dept\tpay\nlab\t12 000\nshop\t7\n");
    let asked = ["-c", "pay", "--delimiter", "tab", "--thousands", "space", "in.csv"];
    assert_eq!(total(&dir, &asked), "rows,pay\n2,12007\n");
}

#[test]
fn a_file_without_header_is_never_shown() {
    let dir = TestDir::new();
    dir.write("in.csv", "alice,5000\nbob,6000\n");
    assert_eq!(total(&dir, &["-c", "c2", "--no-header", "in.csv"]), "rows,c2\n2,11000\n");
    let said = dir.run("encrypt -k keys/public.json -c pay in.csv -o out.parquet");
    said.failed(
        "no header",
        "in.csv: column pay: the first line does not name it (--no-header: the first line is a row)",
    );
    assert!(!said.stderr.contains("alice") && !said.stderr.contains("5000"), "{}", said.stderr);
}

#[test]
fn dialects_of_other_files_are_refused() {
    let dir = TestDir::new();
    dir.write("in.csv", STAFF);
    dir.ok("encrypt -k keys/public.json -c bonus --scale 2 in.csv -o rows.parquet");
    let encrypt = "encrypt -k keys/public.json -c salary";
    dir.fails(
        &format!("{encrypt} --delimiter ; rows.parquet -o out.parquet"),
        "rows.parquet: a Parquet file, but options describe a CSV file",
    );
    dir.fails(
        &format!("{encrypt} --decimal-comma --thousands , in.csv -o out.parquet"),
        "the decimal mark cannot separate thousands as well",
    );
    dir.fails(&format!("{encrypt} --delimiter x in.csv -o out.parquet"), "a delimiter is one ASCII character");
}

#[test]
fn compressed_tables_are_read_whatever_they_are_called() {
    let dir = TestDir::new();
    dir.write("in.csv", STAFF);
    let expected = total(&dir, &["-c", "salary", "in.csv"]);
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    gzip.write_all(STAFF.as_bytes()).unwrap();
    let gzip = gzip.finish().unwrap();
    // Several concatenated members are one file.
    let (half, rest) = STAFF.split_at(70);
    let members = [half, rest].map(|part| zstd::encode_all(part.as_bytes(), 3).unwrap()).concat();
    for (name, content) in [("in.csv.gz", &gzip), ("in.csv.zst", &members), ("table", &gzip)] {
        dir.write(name, content);
        assert_eq!(total(&dir, &["-c", "salary", name]), expected, "{name}");
        let run = dir.run_with("encrypt -k keys/public.json -c salary - -o streamed.parquet", content);
        assert_eq!(run.status, Some(0), "{name}: {}", run.stderr);
        std::fs::remove_file(dir.file("streamed.parquet")).unwrap();
    }
    dir.write("cut.csv.gz", &gzip[..gzip.len() - 9]);
    dir.write("cut.csv.zst", &members[..members.len() - 5]);
    for name in ["cut.csv.gz", "cut.csv.zst"] {
        dir.fails(&format!("encrypt -k keys/public.json -c salary {name} -o out.parquet"), name);
    }
    // A compressed Parquet file.
    dir.ok("encrypt -k keys/public.json -c bonus --scale 2 in.csv -o rows.parquet");
    let packed = zstd::encode_all(&std::fs::read(dir.file("rows.parquet")).unwrap()[..], 3).unwrap();
    dir.write("rows.parquet.zst", packed);
    dir.ok("sum -k keys/public.json rows.parquet.zst -o totals.parquet");
    assert_eq!(dir.ok("decrypt -k keys/private.json totals.parquet").text(), "rows,bonus\n5,-1.24\n");
}

#[test]
fn names_with_commas_are_quoted() {
    let dir = TestDir::new();
    dir.write("in.csv", "\"dept, site\",\"salary, gross\",\"a=b\"\nx,1.5,2\ny,2,3\nx,3,4\n");
    let arguments = ["-c", "\"salary, gross\",a=b", "--scale", "\"salary, gross\"=1,\"a=b\"=0", "in.csv"];
    assert_eq!(total(&dir, &arguments), "rows,\"salary, gross\",a=b\n3,6.5,9\n");
    let sum =
        dir.command(["sum", "-k", "keys/public.json", "-b", "\"dept, site\"", "rows.parquet", "-o", "by.parquet"]);
    assert!({ sum }.status().unwrap().success());
    let by = dir.ok("decrypt -k keys/private.json by.parquet").text();
    assert_eq!(by, "\"dept, site\",rows,\"salary, gross\",a=b\nx,2,4.5,6\ny,1,2.0,3\n");
}

#[test]
fn files_under_parquets_own_encryption_are_named() {
    let dir = TestDir::new();
    dir.write("in.csv", STAFF);
    dir.ok("encrypt -k keys/public.json -c salary in.csv -o rows.parquet");
    let mut bytes = std::fs::read(dir.file("rows.parquet")).unwrap();
    let end = bytes.len();
    bytes[..4].copy_from_slice(b"PARE");
    bytes[end - 4..].copy_from_slice(b"PARE");
    dir.write("theirs.parquet", &bytes);
    for line in ["encrypt -k keys/public.json -c salary theirs.parquet", "sum -k keys/public.json theirs.parquet"] {
        dir.fails(&format!("{line} -o out.parquet"), "theirs.parquet: encrypted as a Parquet file");
    }
}

#[test]
fn folders_stand_for_their_parquet_files() {
    let dir = TestDir::new();
    std::fs::create_dir_all(dir.file("rows/year=2025")).unwrap();
    std::fs::create_dir_all(dir.file("rows/_temporary")).unwrap();
    std::fs::create_dir_all(dir.file("empty")).unwrap();
    for (number, file) in ["rows/a.parquet", "rows/year=2025/b.PARQUET", "rows/_temporary/c.parquet"].iter().enumerate()
    {
        dir.write("in.csv", format!("x\n{}\n", 10_u32.pow(number as u32)));
        dir.ok(&format!("encrypt -k keys/public.json -c x in.csv -o {file}"));
    }
    dir.write("rows/_SUCCESS", "");
    dir.ok("sum -k keys/public.json rows -o totals.parquet");
    assert_eq!(dir.ok("decrypt -k keys/private.json totals.parquet").text(), "rows,x\n2,11\n");
    dir.fails("sum -k keys/public.json empty -o totals2.parquet", "empty: a folder without Parquet files");
    // Patterns that no shell has expanded.
    for (pattern, expected) in
        [("rows/?.parquet", "1,1"), ("rows/*", ""), ("r*s", "2,11"), ("rows/year=[0-9]*", "1,10")]
    {
        let line = format!("sum -k keys/public.json {pattern} -o matched.parquet");
        match expected {
            // Matches a file that is not a table.
            "" => dir.fails(&line, "rows/_SUCCESS: "),
            _ => {
                dir.ok(&line);
                let totals = dir.ok("decrypt -k keys/private.json matched.parquet").text();
                assert_eq!(totals, format!("rows,x\n{expected}\n"), "{pattern}");
            }
        }
    }
    dir.fails("sum -k keys/public.json no-* -o totals2.parquet", "no-*: no file matches this pattern");
    std::fs::copy(dir.file("rows/a.parquet"), dir.file("a*.parquet")).unwrap();
    dir.ok("sum -k keys/public.json a*.parquet -o literal.parquet");
    // A folder and a file in it have the same rows.
    dir.fails("sum -k keys/public.json rows rows/a.parquet -o totals2.parquet", "rows/a.parquet: ");
}

#[test]
fn inputs_may_be_more_than_a_process_has_files() {
    let dir = TestDir::new();
    dir.write("in.csv", "x\n1\n2\n");
    dir.ok("encrypt -k keys/public.json -c x in.csv -o 0.parquet");
    std::fs::create_dir(dir.file("rows")).unwrap();
    for number in 0..100 {
        std::fs::copy(dir.file("0.parquet"), dir.file(&format!("rows/{number}.parquet"))).unwrap();
    }
    let program = dir.command(["sum", "-k", "keys/public.json", "--allow-repeated", "rows", "-o", "totals.parquet"]);
    let mut limited = std::process::Command::new("sh");
    limited.args(["-c", "ulimit -n 40; exec \"$@\"", "sh"]).arg(program.get_program()).args(program.get_args());
    let output = limited.current_dir(dir.path()).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(dir.ok("decrypt -k keys/private.json totals.parquet").text(), "rows,x\n200,300\n");
}

#[test]
fn tables_of_unlike_senders_add_up() {
    let dir = TestDir::new();
    dir.write("one.csv", "dept,pay\nlab,1500\nshop,20\n");
    dir.write("two.csv", "dept,pay\nlab,0.25\nlab,-3.5\n");
    dir.ok("encrypt -k keys/public.json -c pay one.csv -o one.parquet");
    dir.ok("encrypt -k keys/public.json -c pay --scale 2 --range 1000 --max-additions 100 two.csv -o two.parquet");
    for inputs in ["one.parquet two.parquet", "two.parquet one.parquet"] {
        dir.ok(&format!("sum -k keys/public.json -b dept {inputs} -o totals.parquet"));
        let totals = dir.ok("decrypt -k keys/private.json totals.parquet").text();
        assert_eq!(totals, "dept,rows,pay\nlab,3,1496.75\nshop,1,20.00\n");
    }
    // Totals can be summed with tables.
    dir.ok("sum -k keys/public.json -b dept one.parquet -o one-totals.parquet");
    dir.ok("sum -k keys/public.json -w \"dept\"='lab' two.parquet one-totals.parquet -o all.parquet");
    assert_eq!(dir.ok("decrypt -k keys/private.json all.parquet").text(), "rows,pay\n3,1496.75\n");
}
