//! Names and cells with terminal control characters, wherever they are shown.

use std::process::Stdio;

use crate::common::{Run, TestDir};

/// A name that clears the screen, contains a line break, and reverses the text direction.
const EVIL: &str = "a\u{1b}[2J\nb\u{9b}31m\u{202e}c";
/// Its escaped form.
const SHOWN: &str = "a\\u{1b}[2J\\nb\\u{9b}31m\\u{202e}c";

/// Expects only lines of harmless characters.
fn harmless(text: &str) {
    let steers = |c: char| c != '\n' && (c.is_control() || ('\u{202a}'..='\u{202e}').contains(&c));
    assert!(!text.chars().any(steers), "{text:?}");
}

fn run(dir: &TestDir, arguments: &[&str]) -> Run {
    Run::of(dir.command(arguments).stdin(Stdio::null()).output().unwrap())
}

fn ok(dir: &TestDir, arguments: &[&str]) -> Run {
    let run = run(dir, arguments);
    assert_eq!(run.status, Some(0), "{}", run.stderr);
    harmless(&run.stderr);
    run
}

/// A table with an encrypted column, another column and a cell of that name.
fn dir() -> TestDir {
    let dir = TestDir::new();
    dir.write("in.csv", format!("x,\"{EVIL}\",\"note{EVIL}\"\n1,2,\"{EVIL}\"\n"));
    ok(&dir, &["encrypt", "--key", "keys/public.json", "--column", EVIL, "in.csv", "--out", "rows.parquet"]);
    dir
}

#[test]
fn columns_and_cells_in_tables_and_descriptions() {
    let dir = dir();
    let said = ok(&dir, &["inspect", "rows.parquet"]).text();
    harmless(&said);
    assert!(said.contains(&format!("  {SHOWN}")) && said.contains(&format!("additions in {SHOWN}")), "{said}");
    let table = ok(&dir, &["decrypt", "--key", "keys/private.json", "rows.parquet", "--format", "table"]).text();
    harmless(&table);
    assert_eq!(table.lines().count(), 3, "{table}");
    assert_eq!(table.matches(SHOWN).count(), 3, "{table}");

    let json = ok(&dir, &["inspect", "--json", "rows.parquet"]).text();
    harmless(&json);
    let said: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(said["columns"][1]["name"], EVIL, "escaped as JSON does it, the name is the same");
}

#[test]
fn data_stay_as_they_are() {
    let dir = dir();
    let csv = ok(&dir, &["decrypt", "--key", "keys/private.json", "rows.parquet"]).text();
    assert_eq!(csv, dir.read("in.csv"));
}

#[test]
fn files_and_columns_in_errors() {
    let dir = dir();
    let encrypt = |column: &str, input: &str| {
        let run =
            run(&dir, &["encrypt", "--key", "keys/public.json", "--column", column, input, "--out", "out.parquet"]);
        harmless(&run.stderr);
        run
    };
    encrypt("y", "in.csv").failed("a missing column", "in.csv: column y: the first line does not name it");
    encrypt(&format!("note{EVIL}"), "in.csv").failed("no number", &format!("in.csv: row 1, column note{SHOWN}: "));
    encrypt("y", EVIL).failed("a missing file", &format!("{SHOWN}: cannot read: No such file"));
    std::fs::write(dir.file(EVIL), "x,x\n").unwrap();
    encrypt("y", EVIL).failed("a bad file", &format!("{SHOWN}: cell 2 of the header: the same name as cell 1"));
    let said = run(&dir, &["inspect", EVIL]);
    harmless(&said.stderr);
    said.failed("no table", &format!("{SHOWN}: neither a key nor"));
}

#[test]
fn arguments_that_are_too_many() {
    let dir = TestDir::new();
    let run = run(&dir, &["inspect", "a", EVIL]);
    assert_eq!(run.status, Some(2));
    harmless(&run.stderr);
    run.failed("one argument more", &format!("unexpected argument '{SHOWN}' found"));
}

#[test]
fn comments_of_keys() {
    let dir = TestDir::new();
    let mut key: serde_json::Value = serde_json::from_str(&dir.read("keys/public.json")).unwrap();
    key["kid"] = EVIL.into();
    dir.write("evil.json", key.to_string());
    let said = ok(&dir, &["inspect", "evil.json"]).text();
    harmless(&said);
    assert!(said.contains(&format!("comment  {SHOWN}")), "{said}");
    harmless(&ok(&dir, &["inspect", "--json", "evil.json"]).text());
    std::fs::copy(dir.file("evil.json"), dir.file(EVIL)).unwrap();
    let said = ok(&dir, &["inspect", EVIL]).text();
    harmless(&said);
    assert!(said.starts_with(&format!("{SHOWN}: public key\n")), "{said}");
}
