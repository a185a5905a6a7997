//! What only a terminal gets to see. `script` (of every Debian) is the terminal.

mod common;

use std::process::Command;

use common::{Place, STAFF};

/// What appears on a terminal while a shell line runs.
fn on_terminal(place: &Place, line: &str) -> String {
    let line = line.replace("hearith", env!("CARGO_BIN_EXE_hearith"));
    let output = Command::new("script")
        .args(["-qec", &line, "/dev/null"])
        .current_dir(place.path())
        .env("TERM", "xterm")
        .env("COLUMNS", "100")
        .output()
        .expect("this test needs `script`, of the Debian package bsdutils");
    String::from_utf8_lossy(&output.stdout).replace('\r', "")
}

#[test]
fn a_step_of_over_a_second_shows_its_progress() {
    let place = Place::new();
    let slow =
        "(echo x; echo 1; sleep 1.6; echo 2) | hearith encrypt --key keys/public.json --column x - --out out.parquet";
    assert!(on_terminal(&place, slow).contains("encrypting"));
    let quick = "printf 'x\\n1\\n' | hearith encrypt --key keys/public.json --column x - --out out.parquet";
    let shown = on_terminal(&place, quick);
    assert!(shown.contains("encrypt: 1 rows") && !shown.contains("encrypting"), "{shown}");
    let elsewhere = format!("{slow} 2>&1 | cat");
    assert!(!on_terminal(&place, &elsewhere).contains("encrypting"));
}

#[test]
fn decrypted_totals_are_a_table() {
    let place = Place::new();
    place.write("in.csv", STAFF);
    place.totals("--column salary", "--by dept");
    let shown = on_terminal(&place, "hearith decrypt --quiet --key keys/private.json totals.parquet");
    assert!(shown.contains("dept  rows  salary\n----  ----  ------\n"), "{shown}");
}

#[test]
fn parquet_is_not_for_terminals() {
    let place = Place::new();
    place.write("in.csv", STAFF);
    let shown = on_terminal(&place, "hearith encrypt --key keys/public.json --column salary in.csv --out -");
    assert!(
        shown.contains("hearith: standard output: a terminal cannot show Parquet: name a file with --out"),
        "{shown}"
    );
    assert!(!shown.contains("PAR1"));
}
