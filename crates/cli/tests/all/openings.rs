//! Decryptions that anyone can verify.

use crate::common::{STAFF, TestDir};

/// Encrypted totals and their proof.
fn proved(columns: &str, by: &str) -> (TestDir, String) {
    let dir = TestDir::new();
    dir.write("in.csv", STAFF);
    let plain = dir.totals(columns, by);
    dir.ok("prove decryption --key keys/private.json totals.parquet --out proof.parquet");
    (dir, plain)
}

const VERIFY: &str = "verify decryption --key keys/public.json totals.parquet proof.parquet";

#[test]
fn what_is_verified_is_what_the_owner_decrypts() {
    for columns in ["--column salary,bonus --scale bonus=2", "--column salary,bonus --scale 2 --pack"] {
        let (dir, plain) = proved(columns, "--by dept");
        assert_eq!(dir.ok(VERIFY).text(), plain);
        dir.ok(&format!("{VERIFY} --out numbers.csv"));
        assert_eq!(dir.read("numbers.csv"), plain);
    }
}

#[test]
fn a_table_of_many_rows_and_nulls_is_proved_row_by_row() {
    let dir = TestDir::new();
    let rows: String = (0..3000)
        .map(|row| if row % 7 == 0 { format!("{row},\n") } else { format!("{row},{}\n", row * row) })
        .collect();
    dir.write("in.csv", format!("id,x\n{rows}"));
    dir.ok("encrypt --key keys/private.json --column x in.csv --out totals.parquet");
    dir.ok("prove decryption --key keys/private.json totals.parquet --out proof.parquet");
    assert_eq!(dir.ok(VERIFY).text(), dir.ok("decrypt --key keys/private.json totals.parquet").text());
}

#[test]
fn proofs_of_something_else_are_refused() {
    let (dir, _) = proved("--column salary,bonus --scale bonus=2", "--by dept");
    // The same totals re-randomised, fewer rows, other columns, another key.
    dir.ok("sum --key keys/public.json --by dept --rerandomise rows.parquet --out again.parquet");
    dir.ok("sum --key keys/public.json rows.parquet --out one.parquet");
    dir.ok("encrypt --key keys/public.json --column salary in.csv --out other.parquet");
    let against = |key: &str, table: &str, proof: &str| {
        format!("verify decryption --key {key} {table}.parquet {proof}.parquet --out numbers.csv")
    };
    let fails = |key: &str, table: &str, proof: &str, expected: &str| dir.fails(&against(key, table, proof), expected);
    let (ours, theirs) = ("keys/public.json", "other/public.json");
    let another = "proof.parquet: made for a table that differs";
    fails(ours, "again", "proof", another);
    fails(ours, "one", "proof", another);
    fails(ours, "other", "proof", "proof.parquet: not proofs of the decryption of this table");
    fails(ours, "totals", "totals", "totals.parquet: not proofs of the decryption of this table");
    fails(theirs, "totals", "proof", "totals.parquet: column salary: ");
    dir.fails("prove decryption --key keys/public.json totals.parquet --out more.parquet", "keys/public.json: ");
}
