//! Output that appears only on a terminal, which `script` (part of every Debian) emulates.

use std::io::{Read, Write};
use std::process::{Command, Stdio};

use crate::common::{STAFF, TestDir};

/// Returns what appears on a terminal while a shell line runs.
fn on_terminal(dir: &TestDir, line: &str) -> String {
    let line = line.replace("hearith", concat!(env!("CARGO_BIN_EXE_hearith"), " --insecure-key"));
    let output = Command::new("script")
        .args(["-qec", &line, "/dev/null"])
        .current_dir(dir.path())
        .env("TERM", "xterm")
        .env("COLUMNS", "100")
        .output()
        .expect("this test needs `script`, of the Debian package bsdutils");
    String::from_utf8_lossy(&output.stdout).replace('\r', "")
}

#[test]
fn a_step_of_over_a_second_shows_its_progress() {
    let dir = TestDir::new();
    let slow =
        "(echo x; echo 1; sleep 1.6; echo 2) | hearith encrypt --key keys/public.json --column x - --out out.parquet";
    assert!(on_terminal(&dir, slow).contains("encrypting"));
    let quick = "printf 'x\\n1\\n' | hearith encrypt --key keys/public.json --column x - --out out.parquet";
    let shown = on_terminal(&dir, quick);
    assert!(shown.contains("encrypt: 1 rows") && !shown.contains("encrypting"), "{shown}");
    let elsewhere = format!("{slow} 2>&1 | cat");
    assert!(!on_terminal(&dir, &elsewhere).contains("encrypting"));
}

#[test]
fn a_key_that_takes_long_shows_its_progress_and_leaves_nothing_when_it_is_ended() {
    let dir = TestDir::new();
    let options = "--insecure-historical-parameters --scheme cnt --parameters large";
    let shown = on_terminal(&dir, &format!("timeout --foreground 4 hearith dghv keygen {options} --out k"));
    assert!(shown.contains("making the key"), "{shown}");
    assert!(!dir.file("k").exists());
}

/// Returns what appears on a terminal while every prompt is answered with a line.
fn typed(dir: &TestDir, line: &str, answers: &[(&str, &str)]) -> String {
    let line = line.replace("hearith", concat!(env!("CARGO_BIN_EXE_hearith"), " --insecure-key"));
    let mut child = Command::new("script")
        .args(["-qec", &line, "/dev/null"])
        .current_dir(dir.path())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("this test needs `script`, of the Debian package bsdutils");
    let (mut keyboard, mut screen) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
    let (mut shown, mut seen) = (Vec::new(), 0);
    for (prompt, answer) in answers {
        while !String::from_utf8_lossy(&shown[seen..]).contains(prompt) {
            let mut byte = [0];
            assert_eq!(screen.read(&mut byte).unwrap(), 1, "{prompt}: {}", String::from_utf8_lossy(&shown));
            shown.push(byte[0]);
        }
        seen = shown.len();
        keyboard.write_all(format!("{answer}\n").as_bytes()).unwrap();
    }
    screen.read_to_end(&mut shown).unwrap();
    child.wait().unwrap();
    String::from_utf8_lossy(&shown).replace('\r', "")
}

#[test]
fn a_passphrase_is_typed_twice_and_not_shown() {
    let dir = TestDir::new();
    let (prompt, again) = ("Passphrase of k/private.json: ", "Repeat the passphrase: ");
    let make = "hearith keygen --bits 512 --passphrase --out k";
    let shown = typed(&dir, make, &[(prompt, "correct horse"), (again, "correct hose")]);
    assert!(shown.contains("hearith: k/private.json: the two passphrases differ"), "{shown}");
    assert!(!dir.file("k").exists());
    let shown = typed(&dir, make, &[(prompt, "")]);
    assert!(shown.contains("hearith: k/private.json: the passphrase is empty"), "{shown}");
    let shown = typed(&dir, make, &[(prompt, "correct horse"), (again, "correct horse")]);
    assert!(shown.contains("keygen: 512 bits"), "{shown}");
    assert!(!shown.contains("horse"), "{shown}");

    dir.write("in.csv", STAFF);
    dir.ok("encrypt --key k/public.json --column salary in.csv --out rows.parquet");
    let read = "hearith decrypt --quiet --key k/private.json rows.parquet --out out.csv; stty -a | grep -o ' echo '";
    let shown = typed(&dir, read, &[(prompt, "correct horse")]);
    assert!(!shown.contains("horse") && shown.contains(" echo "), "the terminal echoes again: {shown}");
    assert!(dir.read("out.csv").contains("1500"));
    let shown = typed(&dir, read, &[(prompt, "wrong")]);
    assert!(shown.contains("hearith: k/private.json: the passphrase is wrong"), "{shown}");
}

#[test]
fn an_interrupt_at_a_prompt_leaves_a_terminal_that_echoes() {
    let dir = TestDir::new();
    let line = "trap : INT; hearith keygen --bits 512 --passphrase --out k; stty -a | grep -o ' echo '";
    // Ctrl-C, as the terminal receives it.
    let shown = typed(&dir, line, &[("Passphrase of k/private.json: ", "half\x03")]);
    assert!(shown.contains(" echo "), "{shown}");
    assert!(!dir.file("k").exists());
}

#[test]
fn decrypted_totals_are_a_table() {
    let dir = TestDir::new();
    dir.write("in.csv", STAFF);
    dir.totals("--column salary", "--by dept");
    let shown = on_terminal(&dir, "hearith decrypt --quiet --key keys/private.json totals.parquet");
    assert!(shown.contains("dept  rows  salary\n----  ----  ------\n"), "{shown}");
}

#[test]
fn parquet_is_not_for_terminals() {
    let dir = TestDir::new();
    dir.write("in.csv", STAFF);
    let shown = on_terminal(&dir, "hearith encrypt --key keys/public.json --column salary in.csv --out -");
    assert!(
        shown.contains("hearith: standard output: a terminal cannot show Parquet: name a file with --out"),
        "{shown}"
    );
    assert!(!shown.contains("PAR1"));
}
