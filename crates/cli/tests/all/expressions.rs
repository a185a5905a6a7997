//! Groups and weights by expressions.

use crate::common::{Run, TestDir};

/// Encrypts `pay` of a Parquet table with unencrypted columns of several types, some with odd
/// names.
fn dir(keys: &str) -> TestDir {
    let dir = TestDir::new();
    if keys == "bfv" {
        dir.ok("keygen --scheme bfv --set bfv-8192 --out bfv");
    }
    dir.python(
        "import pyarrow as pa, pyarrow.parquet as pq\n\
         t = pa.table({'day': ['2020-01-31', '2020-02-01', '2020-01-31', ''],\n\
                       'age': pa.array([30, 29, None, 65], pa.int32()),\n\
                       'hours': ['2', '3', '4', '0'],\n\
                       'pay': pa.array([10, 200, 3000, 40000]),\n\
                       'age > 3': ['x', 'x', 'y', 'y'],\n\
                       'a, b': [1, 1, 2, 2],\n\
                       'pay-scale': ['s', 't', 's', 's']})\n\
         pq.write_table(t, 'in.parquet')",
    );
    dir.ok(&format!("encrypt -k {keys}/public.json -c pay in.parquet -o rows.parquet"));
    dir
}

fn sum(dir: &TestDir, keys: &str, options: &[&str]) -> String {
    let sum = ["sum", "-q", "-k", &format!("{keys}/public.json"), "rows.parquet", "-o", "totals.parquet"];
    let run = Run::of(dir.command(sum.iter().chain(options)).output().unwrap());
    assert_eq!(run.status, Some(0), "{options:?}: {}", run.stderr);
    dir.ok(&format!("decrypt -k {keys}/private.json totals.parquet")).text()
}

#[test]
fn groups_by_expressions_of_every_kind() {
    for keys in ["keys", "bfv"] {
        let dir = dir(keys);
        let sum = |options: &[&str]| sum(&dir, keys, options);
        let days = "d,rows,pay\n,1,40000\n2020-01-31,2,3010\n2020-02-01,1,200\n";
        assert_eq!(sum(&["--by", "cast(day as date) as d"]), days);
        let days = days.replace("d,rows", "cast(day as date),rows");
        assert_eq!(sum(&["--by", "cast(day as date)"]), days);
        // Totals have the column too, so the same expression groups them.
        let again = ["sum", "-q", "-k", &format!("{keys}/public.json"), "--by", "cast(day as date)", "totals.parquet"];
        let run = Run::of(dir.command(again.iter().chain(&["-o", "again.parquet"])).output().unwrap());
        assert_eq!(run.status, Some(0), "{}", run.stderr);
        assert_eq!(dir.ok(&format!("decrypt -k {keys}/private.json again.parquet")).text(), days);
        let senior = "senior,rows,pay\n,1,3000\nfalse,1,200\ntrue,2,40010\n";
        assert_eq!(sum(&["--by", "age >= 30 as senior"]), senior);
        let known = "day,age is null,rows,pay\n\"\",false,1,40000\n2020-01-31,false,1,10\n2020-01-31,true,1,3000\n\
                     2020-02-01,false,1,200\n";
        assert_eq!(sum(&["--by", "day, age is null"]), known);
        let two = "\"hours::decimal(9, 2)\",\"age in (29, 30)\",rows,pay\n0.00,false,1,40000\n2.00,true,1,10\n3.00,true,1,200\n4.00,,1,3000\n";
        assert_eq!(sum(&["--by", "hours::decimal(9, 2),age in (29, 30)"]), two);
        // Only rows that are summed must have the type.
        let dated = "d,rows,pay\n2020-01-31,2,3010\n";
        assert_eq!(sum(&["--by", "cast(day as date) as d", "--where", "day < '2020-02' and day <> ''"]), dated);
    }
}

#[test]
fn names_of_columns_come_before_expressions() {
    let dir = dir("keys");
    let sum = |options: &[&str]| sum(&dir, "keys", options);
    assert_eq!(sum(&["--by", "age > 3"]), "age > 3,rows,pay\nx,2,210\ny,2,43000\n");
    assert_eq!(sum(&["--by", "\"a, b\""]), "\"a, b\",rows,pay\n1,2,210\n2,2,43000\n");
    assert_eq!(sum(&["--by", "pay-scale"]), "pay-scale,rows,pay\ns,3,43010\nt,1,200\n");
    let both = "\"a, b\",pay-scale,rows,pay\n1,s,1,10\n1,t,1,200\n2,s,2,43000\n";
    assert_eq!(sum(&["--by", "\"a, b\",pay-scale"]), both);
    assert_eq!(sum(&["--by", "\"a, b\"", "--by", "pay-scale"]), both);
    assert_eq!(sum(&["--by", "pay-scale,\"a, b\" as n"]), "pay-scale,n,rows,pay\ns,1,1,10\ns,2,2,43000\nt,1,1,200\n");
}

#[test]
fn weights_are_expressions_too() {
    let dir = dir("bfv");
    let sum = |options: &[&str]| sum(&dir, "bfv", options);
    let hours = "rows,pay\n4,12620\n";
    assert_eq!(sum(&["--weight", "hours"]), hours);
    assert_eq!(sum(&["--weight", "cast(hours as integer)"]), hours);
    // True counts once, false not at all.
    assert_eq!(sum(&["--weight", "day = '2020-01-31'"]), "rows,pay\n4,3010\n");
    assert_eq!(sum(&["--weight", "\"a, b\"", "--by", "\"a, b\""]), "\"a, b\",rows,pay\n1,2,210\n2,2,86000\n");
    dir.fails(
        "sum -k bfv/public.json --weight age>=30 rows.parquet -o x.parquet",
        "rows.parquet: row 3, column age>=30: is null: every row needs a weight",
    );
    let fails = |weight: &str, expected: &str| {
        let line = ["sum", "-k", "bfv/public.json", "--weight", weight, "rows.parquet", "-o", "x.parquet"];
        Run::of(dir.command(line).output().unwrap()).failed(weight, &format!("rows.parquet: {expected}"));
    };
    fails("cast(hours as double)", "column cast(hours as double): holds Float64: weights must be 64-bit integers");
    fails("day", "row 1, column day: is not a 64-bit integer, as weights must be");
    fails("age", "row 3, column age: is null: every row needs a weight");
    fails("pay", "column pay: is encrypted: weights must be plaintext");
}

#[test]
fn conditions_may_begin_with_a_minus() {
    let dir = dir("keys");
    for (condition, expected) in [("-30 = age", "0,\n"), ("-1 < age", "3,40210\n"), ("-1<age", "3,40210\n")] {
        assert_eq!(sum(&dir, "keys", &["--where", condition]), format!("rows,pay\n{expected}"), "{condition}");
    }
}

#[test]
fn columns_called_by_words_of_sql_are_quoted() {
    let dir = TestDir::new();
    dir.write("in.csv", "user,select,pay\na,1,10\nb,2,200\n");
    dir.ok("encrypt -k keys/public.json -c pay in.csv -o rows.parquet");
    let fails = |options: &[&str], expected: &str| {
        let line = ["sum", "-k", "keys/public.json", "rows.parquet", "-o", "x.parquet"];
        Run::of(dir.command(line.iter().chain(options)).output().unwrap()).failed(&options.join(" "), expected);
    };
    let needs = "is not supported (a column whose name is an SQL keyword needs quotes";
    let function = format!("the function user {needs}: \"user\")");
    let invalid =
        |condition: &str| format!("invalid value '{condition}' for '--where <CONDITION>': invalid condition: ");
    fails(&["--where", "user = 'a'"], &(invalid("user = 'a'") + &function));
    let subquery = format!("the subquery SELECT NOT in(2) {needs}: \"select\")");
    fails(&["--where", "(select not in (2))"], &(invalid("(select not in (2))") + &subquery));
    let neither = "rows.parquet: 'user = 'a' as u' is neither a column nor an expression: ";
    fails(&["--by", "user = 'a' as u"], &format!("{neither}{function}"));
    assert_eq!(sum(&dir, "keys", &["--where", "\"user\" = 'a'"]), "rows,pay\n1,10\n");
    assert_eq!(sum(&dir, "keys", &["--where", "(\"select\" not in (2))", "--by", "user"]), "user,rows,pay\na,1,10\n");
}

#[test]
fn conditions_look_at_a_column() {
    let dir = dir("keys");
    for condition in ["2020 >= 2", "true"] {
        let line = ["sum", "-k", "keys/public.json", "--where", condition, "rows.parquet", "-o", "x.parquet"];
        let run = Run::of(dir.command(line).output().unwrap());
        let invalid = format!("invalid value '{condition}' for '--where <CONDITION>': invalid condition: ");
        run.failed(condition, &(invalid + "it names no column"));
        assert!(!dir.file("x.parquet").exists());
    }
}

#[test]
fn what_is_neither_is_named() {
    let dir = dir("keys");
    let fails = |by: &str, expected: &str| {
        let line = ["sum", "-k", "keys/public.json", "--by", by, "rows.parquet", "-o", "x.parquet"];
        let run = Run::of(dir.command(line).output().unwrap());
        run.failed(by, &format!("rows.parquet: {expected}"));
        assert!(!dir.file("x.parquet").exists());
    };
    fails("nope", "column nope: there is no such column (there are: day, age");
    fails("pay gros", "'pay gros' is neither a column nor an expression: ");
    fails("age + 1", "'age + 1' is neither a column nor an expression: the operator + is not supported");
    fails("cast(nope as date)", "column nope: there is no such column");
    fails("cast(pay as date)", "column pay: is encrypted");
    fails("cast(cast(day as date) as integer)", "column day of untyped text as a date cannot be cast to a number");
    fails("cast(age as decimal)", "a decimal column needs a precision and scale");
    fails("cast(hours as date)", "row 1, column hours: is not a date (YYYY-MM-DD)");
    fails("pay", "column pay: is encrypted: group by an unencrypted column");
    fails("day,day", "column day: two columns would have this name");
}
