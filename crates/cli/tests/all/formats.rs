//! Files of the first version of the format, and what the second version binds.

use crate::common::{STAFF, TestDir, python};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

/// A directory with files written by the first version.
fn dir() -> TestDir {
    let dir = TestDir::new();
    let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/format-1");
    for folder in ["", "paillier", "bfv"] {
        fs::create_dir_all(dir.file(folder)).unwrap();
        for entry in fs::read_dir(from.join(folder)).unwrap() {
            let path = entry.unwrap().path();
            if path.is_file() {
                fs::copy(&path, dir.file(folder).join(path.file_name().unwrap())).unwrap();
            }
        }
    }
    // Files from a checkout are readable by others, which the program warns about.
    for scheme in ["paillier", "bfv"] {
        let private = dir.file(&format!("{scheme}/private.json"));
        fs::set_permissions(private, fs::Permissions::from_mode(0o600)).unwrap();
    }
    dir
}

#[test]
fn paillier_files_of_the_first_version_are_read_with_a_warning() {
    let dir = dir();
    for file in ["paillier-rows", "paillier-totals"] {
        let run = dir.ok(&format!("sum --key paillier/public.json {file}.parquet --out {file}-sum.parquet"));
        assert!(run.stderr.contains(&format!("{file}.parquet: warning: does not say which tables it contains")));
        let totals = dir.ok(&format!("decrypt --key paillier/private.json {file}-sum.parquet")).text();
        assert_eq!(totals, "rows,salary,bonus\n5,2373,-1.24\n");
    }
    assert_eq!(dir.ok("decrypt --key paillier/private.json paillier-rows.parquet").text(), STAFF);
}

#[test]
fn bfv_files_of_the_first_version_are_rejected_or_read_with_a_warning() {
    let dir = dir();
    let old = "bfv-rows.parquet: column salary: is in version 1 of the format, which does not bind the order of rows";
    dir.fails("sum --key bfv/public.json bfv-rows.parquet --out x.parquet", old);
    dir.fails("decrypt --key bfv/private.json bfv-rows.parquet --out x.csv", old);
    let run = dir.ok("sum --key bfv/public.json bfv-totals.parquet --out sum.parquet");
    assert!(run.stderr.contains("bfv-totals.parquet: warning: does not say which tables it contains"));
    assert_eq!(dir.ok("decrypt --key bfv/private.json sum.parquet").text(), "rows,salary\n5,2373\n");
}

#[test]
fn copies_are_rejected_by_both_schemes_unless_allowed() {
    let dir = dir();
    dir.write("in.csv", STAFF);
    for (scheme, options) in [("paillier", ""), ("bfv", "--range 10000 --max-additions 1000")] {
        let line = format!("encrypt --key {scheme}/public.json --column salary {options} in.csv --out");
        dir.ok(&format!("{line} {scheme}-a.parquet"));
        dir.ok(&format!("{line} {scheme}-b.parquet"));
        let sum = |inputs: &str| format!("sum --key {scheme}/public.json --by dept {inputs} --out");
        let file = |name: &str| format!("{scheme}-{name}.parquet");
        dir.ok(&format!("{} {}", sum(&file("a")), file("totals")));
        for name in ["a", "totals"] {
            fs::copy(dir.file(&file(name)), dir.file(&file(&format!("{name}-copy")))).unwrap();
        }
        for (first, second) in [("a", "a-copy"), ("totals", "totals-copy"), ("totals", "a"), ("a", "totals")] {
            let line = sum(&format!("{} {}", file(first), file(second)));
            dir.fails(&format!("{line} x.parquet"), &format!("{}: has rows of table ", file(second)));
            dir.ok(&format!("{line} {} --allow-repeated", file("twice")));
            let twice = dir.ok(&format!("decrypt --key {scheme}/private.json {}", file("twice"))).text();
            assert_eq!(twice, "dept,rows,salary\n,2,-14\nlab,6,2960\nshop,2,1800\n");
        }
        let again = sum(&format!("{0} {0}", file("a")));
        dir.fails(&format!("{again} x.parquet"), &format!("{}: given twice", file("a")));
        dir.ok(&format!("{again} {} --allow-repeated", file("twice")));
        let run = dir.ok(&format!("{} {}", sum(&format!("{} {}", file("totals"), file("b"))), file("both")));
        assert!(!run.stderr.contains("does not say"), "{}", run.stderr);
        dir.fails(
            &format!("{} x.parquet", sum(&format!("{} {}", file("b"), file("both")))),
            &format!("{}: has rows of table ", file("both")),
        );
    }
}

#[test]
fn a_column_may_be_called_rows() {
    let dir = dir();
    dir.write("in.csv", "g,rows\na,1\na,2\nb,5\n");
    for (scheme, options) in [("paillier", ""), ("bfv", "--range 10 --max-additions 1000")] {
        dir.ok(&format!("encrypt --key {scheme}/public.json --column rows {options} in.csv --out rows.parquet"));
        dir.ok(&format!("sum --key {scheme}/public.json --by g rows.parquet --out totals.parquet"));
        dir.ok(&format!("sum --key {scheme}/public.json --by g totals.parquet --out again.parquet"));
        for file in ["totals", "again"] {
            let totals = dir.ok(&format!("decrypt --key {scheme}/private.json {file}.parquet")).text();
            assert_eq!(totals, "g,rows.1,rows\na,2,3\nb,1,5\n");
        }
    }
}

/// A file rewritten by pyarrow keeps its sums, or is rejected.
#[test]
fn pyarrow_may_sort_project_rename_and_concatenate() {
    let dir = dir();
    let csv: String = (0..9000).map(|row| format!("{},{},{}\n", row % 3, row * 7919 % 101, row % 50)).collect();
    dir.write("in.csv", format!("g,order,x\n{csv}"));
    let options = "--column x --range 100 --max-additions 10000 in.csv --out rows.parquet";
    dir.ok(&format!("encrypt --key bfv/private.json {options}"));
    let script = "
import pyarrow as pa, pyarrow.parquet as pq
table = pq.read_table('rows.parquet')
chunks = [table.slice(at, 4096) for at in range(0, table.num_rows, 4096)]
# The first row of a chunk stays where it is: this order summed into wrong groups before.
kept = [pa.concat_tables([one.slice(0, 1), one.slice(1).sort_by('order')]) for one in chunks]
write = lambda name, table: pq.write_table(table, name + '.parquet')
write('kept', pa.concat_tables(kept))
write('sorted', pa.concat_tables([one.sort_by([('order', 'descending')]) for one in chunks]))
write('projected', table.select(['hearith.row', 'x', 'x.additions', 'g']))
write('renamed', table.rename_columns(['g', 'o', 'pay', 'x.additions', 'hearith.row']))
write('mixed', table.sort_by('order'))
write('missing', table.drop_columns(['hearith.row']))
write('filtered', pa.concat_tables([table.slice(0, 10), table.slice(11)]))
write('doubled', pa.concat_tables([table.slice(0, 11), table.slice(10)]))
";
    let run = Command::new(python()).args(["-c", script]).current_dir(dir.path()).output().unwrap();
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
    let mut expected = [0; 3];
    (0..9000).for_each(|row| expected[row % 3] += row % 50);
    let [a, b, c] = expected;
    let expected = format!("0,3000,{a}\n1,3000,{b}\n2,3000,{c}\n");
    for file in ["rows", "kept", "sorted", "projected", "renamed"] {
        dir.ok(&format!("sum --key bfv/public.json --by g {file}.parquet --out totals.parquet"));
        let totals = dir.ok("decrypt --key bfv/private.json totals.parquet").text();
        assert_eq!(totals.split_once('\n').unwrap().1, expected, "{file}");
    }
    for (file, what) in [
        ("mixed", "row "),
        ("missing", "column x: the column hearith.row, which numbers the rows, is missing"),
        ("filtered", "row 4096, column x: the chunk has fewer rows than numbers: rows were left out"),
        ("doubled", "row 12, column x: the chunk has a duplicate row"),
    ] {
        let expected = format!("{file}.parquet: {what}");
        dir.fails(&format!("sum --key bfv/public.json --by g {file}.parquet --out x.parquet"), &expected);
        dir.fails(&format!("decrypt --key bfv/private.json {file}.parquet --out x.csv"), &expected);
    }
}
