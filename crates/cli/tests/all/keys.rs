//! Key files: permissions, rejected parameters, and descriptions.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use crate::common::{Run, TestDir};
use serde_json::Value;

fn mode(path: &std::path::Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

#[test]
fn a_private_key_is_for_its_owner_alone() {
    let dir = TestDir::new();
    dir.ok("keygen --bits 512 --out new/deep");
    assert_eq!(mode(&dir.file("new/deep/private.json")), 0o600);
    assert_ne!(mode(&dir.file("new/deep/public.json")) & 0o400, 0);
    // With any umask, and (in `interruptions.rs`) from the first moment.
    let line = format!("umask 000; {} keygen --force --bits 512 --insecure-key --out k", env!("CARGO_BIN_EXE_hearith"));
    let made = Command::new("sh").args(["-c", &line]).current_dir(dir.path()).output().unwrap();
    assert!(made.status.success(), "{made:?}");
    assert_eq!(mode(&dir.file("k/private.json")), 0o600);
}

#[test]
fn a_key_is_not_replaced_unless_forced() {
    let dir = TestDir::new();
    let before = dir.read("keys/private.json");
    dir.fails("keygen --bits 512 --out keys", "keys/private.json: there is a key already; --force");
    fs::remove_file(dir.file("keys/private.json")).unwrap();
    dir.fails("keygen --bits 512 --out keys", "keys/public.json: there is a key already; --force");
    dir.ok("keygen --bits 512 --out keys --force");
    assert_ne!(dir.read("keys/private.json"), before);
    assert_eq!(dir.files().len(), 4, "no temporary file stays");
}

#[test]
fn sizes_that_protect_nothing_are_asked_for() {
    let dir = TestDir::new();
    for bits in [64, 512, 1024, 2046] {
        let expected = format!("a key of {bits} bits is insecure");
        let line = format!("keygen --bits {bits} --out small");
        let run = Run::of(dir.strict(line.split_whitespace()).output().unwrap());
        run.failed(&line, &expected);
        assert!(run.stderr.contains("(--insecure-key)"), "{}", run.stderr);
        assert!(!dir.file("small").exists(), "no directory is left behind");
    }
    for (bits, expected) in
        [(1023, "the key size must be even"), (8194, "a key of 8194 bits"), (62, "a key of 62 bits")]
    {
        dir.fails(&format!("keygen --bits {bits} --out odd"), expected);
    }
    let run = dir.ok("keygen --bits 64 --out tiny");
    assert!(run.stderr.contains("tiny/private.json: warning: a key of 64 bits is INSECURE"), "{}", run.stderr);
}

#[test]
fn the_usual_size_has_3072_bits_and_2048_will_do() {
    let dir = TestDir::new();
    let run = dir.ok("keygen --out usual --json");
    let report: Value = serde_json::from_str(run.stderr.trim()).expect("one line, no warning");
    assert_eq!((&report["step"], &report["bits"]), (&"keygen".into(), &3072.into()));
    let said: Value = serde_json::from_str(&dir.ok("inspect --json usual/private.json").text()).unwrap();
    assert_eq!((&said["bits"], &said["insecure"], &said["key"]), (&3072.into(), &false.into(), &report["key"]));
    assert!(dir.ok("keygen --bits 2048 --variant djn --out djn").stderr.lines().count() == 1);
    dir.write("in.csv", "x\n1\n-3\n");
    for key in ["djn/public.json", "djn/private.json"] {
        dir.ok(&format!("encrypt --key {key} --column x in.csv --out rows.parquet"));
        dir.ok("sum --key djn/public.json rows.parquet --out totals.parquet");
        let run = dir.ok("decrypt --key djn/private.json totals.parquet --quiet");
        assert_eq!((run.text().as_str(), run.stderr.as_str()), ("rows,x\n2,-2\n", ""));
    }
}

#[test]
fn using_an_insecure_key_warns_once() {
    let dir = TestDir::new();
    dir.write("in.csv", "x\n1\n");
    let run = dir.ok("encrypt --quiet --key keys/public.json --column x in.csv --out rows.parquet");
    assert_eq!(run.stderr, "hearith: keys/public.json: warning: a key of 512 bits is INSECURE\n");
}

#[test]
fn an_insecure_key_is_used_only_when_asked_for() {
    let dir = TestDir::new();
    dir.write("in.csv", "x\n1\n");
    dir.ok("encrypt --key keys/public.json --column x in.csv --out rows.parquet");
    dir.ok("export --key keys/public.json --column x rows.parquet --out x.json");
    let before = dir.files();
    for line in [
        "encrypt --key keys/public.json --column x in.csv --out out.parquet",
        "encrypt --key keys/private.json --column x in.csv --out out.parquet",
        "sum --key keys/public.json rows.parquet --out out.parquet",
        "decrypt --key keys/private.json rows.parquet --out out.csv",
        "export --key keys/public.json --column x rows.parquet --out out.json",
        "import --key keys/public.json --column x x.json --out out.parquet",
        "key public keys/private.json --out out.json",
    ] {
        let run = Run::of(dir.strict(line.split_whitespace()).output().unwrap());
        let key = if line.contains("private") { "keys/private.json" } else { "keys/public.json" };
        run.failed(line, &format!("{key}: a key of 512 bits is insecure: at least 2048 are needed"));
        assert!(run.stderr.ends_with("(--insecure-key)\n"), "{}", run.stderr);
        assert_eq!(dir.files(), before, "{line}");
        // The option's old name works too.
        let run = dir.strict(line.split_whitespace()).arg("--insecure-key-size").output().unwrap();
        assert!(run.status.success(), "{run:?}");
        dir.files().iter().filter(|file| !before.contains(file)).for_each(|file| fs::remove_file(file).unwrap());
    }
    let shown = Run::of(dir.strict(["inspect", "keys/private.json"]).output().unwrap());
    assert!(shown.text().contains("512 INSECURE"), "looking at a key uses it for nothing");
}

#[test]
fn a_missing_public_half_is_written_again() {
    let dir = TestDir::new();
    let public = dir.read("keys/public.json");
    fs::remove_file(dir.file("keys/public.json")).unwrap();
    dir.ok("key public keys/private.json --out keys/public.json");
    assert_eq!(dir.read("keys/public.json"), public);
}

#[test]
fn what_a_failed_keygen_made_is_removed() {
    let dir = TestDir::new();
    let line = "keygen --bits 1024 --out a/b/c";
    let run = Run::of(dir.strict(line.split_whitespace()).output().unwrap());
    run.failed(line, "a key of 1024 bits is insecure");
    assert!(!dir.file("a").exists());
    fs::create_dir(dir.file("a")).unwrap();
    dir.strict(line.split_whitespace()).output().unwrap();
    assert!(dir.file("a").exists() && !dir.file("a/b").exists(), "what was there stays");
}

#[test]
fn inspecting_keys_and_tables() {
    let dir = TestDir::new();
    let said = |line: &str| -> Value { serde_json::from_str(&dir.ok(line).text()).unwrap() };
    let (public, private) = (said("inspect --json keys/public.json"), said("inspect --json keys/private.json"));
    assert_eq!((&public["kind"], &private["kind"]), (&"public key".into(), &"private key".into()));
    assert_eq!(public["key"], private["key"]);
    assert_eq!(
        (&public["scheme"], &public["bits"], &public["insecure"]),
        (&"paillier".into(), &512.into(), &true.into())
    );
    let text = dir.ok("inspect keys/private.json").text();
    assert!(text.contains("512 INSECURE") && text.contains(public["key"].as_str().unwrap()));
    let secret: Value = serde_json::from_str(&dir.read("keys/private.json")).unwrap();
    assert!(!text.contains(secret["p"].as_str().unwrap()), "no secrets");

    dir.write("in.csv", "dept,pay,bonus,one\na,1,2.5,3\nb,4,,6\n");
    dir.ok("encrypt --key keys/public.json --pack --column pay,bonus --scale bonus=1 --range pay=1000,bonus=9.5 in.csv --out packed.parquet");
    dir.ok("encrypt --key keys/public.json --column one --max-additions 100 packed.parquet --out rows.parquet");
    let table = said("inspect --json rows.parquet");
    assert_eq!((&table["kind"], &table["rows"]), (&"encrypted table".into(), &2.into()));
    let column =
        |name: &str| table["columns"].as_array().unwrap().iter().find(|column| column["name"] == name).unwrap();
    let packed = column("pay+bonus");
    assert_eq!((&packed["encoding"], &packed["slots"], &packed["key"]), (&"slots".into(), &2.into(), &public["key"]));
    let bonus = &packed["columns"][1];
    assert_eq!((&bonus["name"], &bonus["scale"], &bonus["range"]), (&"bonus".into(), &1.into(), &"9.5".into()));
    assert_eq!(column("one")["max_additions"], 100);
    assert_eq!(column("bonus.additions")["additions_of"], "bonus");
    assert_eq!(column("dept")["type"], "Utf8");
    let text = dir.ok("inspect rows.parquet").text();
    for part in
        ["encrypted table, 2 rows", "2 slots: pay (scale 0, range 1000), bonus (scale 1, range 9.5)", "INSECURE"]
    {
        assert!(text.contains(part), "{part} in {text}");
    }
}

#[test]
fn engines_are_listed() {
    let dir = TestDir::new();
    let text = dir.ok("engines").text();
    assert!(text.lines().any(|line| line.starts_with("serial ") && line.contains("available")), "{text}");
    assert_eq!(text.matches("chosen").count(), 1, "{text}");
    let engines: Value = serde_json::from_str(&dir.ok("engines --json --engine serial").text()).unwrap();
    let chosen: Vec<&Value> = engines.as_array().unwrap().iter().filter(|engine| engine["chosen"] == true).collect();
    assert_eq!(chosen.len(), 1);
    assert_eq!((&chosen[0]["engine"], &chosen[0]["available"]), (&"serial".into(), &true.into()));
    dir.fails("engines --engine none", "unknown engine");
}
