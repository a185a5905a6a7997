//! Private keys under a passphrase from files and descriptors. Typed passphrases are tested in
//! `terminal.rs`.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use crate::common::{Run, STAFF, TestDir};
use serde_json::Value;

/// Writes a file that only its owner can read.
fn secret(dir: &TestDir, name: &str, text: &str) {
    dir.write(name, text);
    fs::set_permissions(dir.file(name), fs::Permissions::from_mode(0o600)).unwrap();
}

/// A directory with a passphrase in `word`, and the private key of `keys/` encrypted under it in
/// `secret.json`.
fn locked() -> TestDir {
    let dir = TestDir::new();
    secret(&dir, "word", "correct horse\n");
    dir.ok("key encrypt keys/private.json --passphrase-file word --out secret.json");
    dir
}

fn mode(dir: &TestDir, name: &str) -> u32 {
    fs::metadata(dir.file(name)).unwrap().permissions().mode() & 0o777
}

/// Runs a shell line with `hearith` in it, without a terminal.
fn shell(dir: &TestDir, line: &str) -> Run {
    let line = line.replace("hearith", concat!(env!("CARGO_BIN_EXE_hearith"), " --insecure-key"));
    Run::of(Command::new("setsid").args(["-w", "bash", "-c", &line]).current_dir(dir.path()).output().unwrap())
}

#[test]
fn a_key_is_encrypted_and_decrypted() {
    let dir = locked();
    assert_eq!(mode(&dir, "secret.json"), 0o600);
    let text = dir.read("secret.json");
    let plain: Value = serde_json::from_str(&dir.read("keys/private.json")).unwrap();
    for member in ["p", "q"] {
        assert!(!text.contains(plain[member].as_str().unwrap()));
    }
    dir.ok("key decrypt secret.json --passphrase-file word --out again.json");
    assert_eq!(dir.read("again.json"), dir.read("keys/private.json"));
    assert_eq!(mode(&dir, "again.json"), 0o600);
    for key in ["secret.json", "keys/private.json"] {
        dir.ok(&format!("key public {key} --passphrase-file word --out public.json --force"));
        assert_eq!(dir.read("public.json"), dir.read("keys/public.json"));
    }
    let printed = dir.ok("key public keys/private.json --out -").text();
    assert_eq!(printed, dir.read("keys/public.json"));
}

#[test]
fn every_command_reads_an_encrypted_key() {
    let dir = locked();
    dir.write("in.csv", STAFF);
    let word = "--passphrase-file word --key secret.json";
    dir.ok(&format!("encrypt {word} --column salary in.csv --out rows.parquet"));
    dir.ok(&format!("sum {word} rows.parquet --out totals.parquet"));
    assert_eq!(dir.ok(&format!("decrypt {word} totals.parquet")).text(), "rows,salary\n5,2373\n");
    dir.ok(&format!("export {word} --column salary totals.parquet --out total.json"));
    dir.ok(&format!("import {word} --column salary --additions 5 total.json --out back.parquet"));
    assert_eq!(dir.ok("decrypt --key keys/private.json back.parquet").text(), "salary\n2373\n");
}

#[test]
fn a_key_is_made_under_a_passphrase() {
    let dir = locked();
    dir.ok("keygen --bits 512 --out new --passphrase-file word");
    assert_eq!(mode(&dir, "new/private.json"), 0o600);
    assert!(dir.read("new/private.json").contains("ciphertext"));
    dir.ok("key public new/private.json --passphrase-file word --out half.json");
    assert_eq!(dir.read("half.json"), dir.read("new/public.json"));
    secret(&dir, "empty", "\n");
    dir.fails("keygen --bits 512 --out none --passphrase-file empty", "none/private.json: the passphrase is empty");
    assert!(!dir.file("none").exists());
}

#[test]
fn passphrases_come_from_descriptors_and_pipes() {
    let dir = locked();
    let public = dir.read("keys/public.json");
    for line in [
        "hearith key public secret.json --out - --passphrase-fd 3 3<word",
        "hearith key public secret.json --out - --passphrase-fd 0 < <(cat word)",
        "echo correct horse | hearith key public secret.json --out - --passphrase-file /dev/stdin",
        "hearith key public secret.json --out - --passphrase-file <(cat word)",
    ] {
        let run = shell(&dir, line);
        assert_eq!(String::from_utf8_lossy(&run.stdout), public, "{line}: {}", run.stderr);
    }
}

#[test]
fn keys_come_through_pipes() {
    let dir = locked();
    let public = dir.read("keys/public.json");
    for line in [
        "cat keys/private.json | hearith key public /dev/stdin --out -",
        "hearith key public <(sleep 0.2; cat keys/private.json) --out -",
        "mkfifo fifo; (cat secret.json > fifo) & hearith key public fifo --passphrase-file word --out -",
    ] {
        let run = shell(&dir, line);
        assert_eq!(String::from_utf8_lossy(&run.stdout), public, "{line}: {}", run.stderr);
    }
    let run = shell(&dir, "hearith inspect /dev/zero");
    assert_eq!(run.status, Some(2));
    let run = shell(&dir, "hearith key public <(yes) --out -");
    assert!(run.stderr.contains("the text is too long for a key"), "{}", run.stderr);
}

#[test]
fn a_wrong_passphrase_is_one_line() {
    let dir = locked();
    secret(&dir, "wrong", "correct hoarse\n");
    let expected = "secret.json: the passphrase is wrong, or the encrypted key was changed";
    dir.fails("key decrypt secret.json --passphrase-file wrong --out out.json", expected);
    dir.fails("key public secret.json --passphrase-file missing --out out.json", "missing: cannot read: No such file");
    dir.fails("key decrypt keys/private.json --out out.json", "keys/private.json: not an encrypted key");
    dir.fails("key encrypt secret.json --passphrase-file word --out out.json", "secret.json: already encrypted");
    dir.fails("key encrypt keys/public.json --passphrase-file word --out out.json", "keys/public.json: a public key");
    dir.fails(
        "key decrypt secret.json --passphrase-file word --out keys/private.json",
        "keys/private.json: the file already",
    );
    let changed = dir.read("secret.json").replace("ciphertext\":\"", "ciphertext\":\"AAAA");
    secret(&dir, "changed.json", &changed);
    dir.fails(
        "key decrypt changed.json --passphrase-file word --out out.json",
        "changed.json: the encrypted key is dam",
    );
    // Without a terminal there is no one to ask.
    let run = shell(&dir, "hearith key decrypt secret.json --out out.json");
    run.failed("no terminal", "secret.json: its passphrase is needed, but there is no terminal to ask on");
    let run = shell(&dir, "hearith keygen --bits 512 --passphrase --out none");
    run.failed("no terminal", "none/private.json: its passphrase is needed");
    assert!(!dir.file("none").exists());
}

#[test]
fn a_key_takes_its_own_place_when_forced() {
    let dir = locked();
    let (plain, before) = (dir.read("keys/private.json"), dir.files());
    dir.ok("key encrypt keys/private.json --passphrase-file word --out keys/private.json --force");
    assert!(dir.read("keys/private.json").contains("ciphertext"));
    dir.ok("key decrypt keys/private.json --passphrase-file word --out keys/private.json --force");
    assert_eq!((dir.read("keys/private.json"), dir.files()), (plain, before));
}

#[test]
fn an_encrypted_key_is_described_without_its_passphrase() {
    let dir = locked();
    let said: Value = serde_json::from_str(&dir.ok("inspect --json secret.json").text()).unwrap();
    let public: Value = serde_json::from_str(&dir.ok("inspect --json keys/public.json").text()).unwrap();
    assert_eq!((&said["kind"], &said["key"]), (&"encrypted private key".into(), &public["key"]));
    assert_eq!((&said["algorithm"], &said["encryption"]), (&"PBES2-HS512+A256KW".into(), &"A256GCM".into()));
    assert!(said["iterations"].as_u64().unwrap() >= 600_000);
    let text = dir.ok("inspect secret.json").text();
    assert!(text.contains("secret.json: encrypted private key") && text.contains("600000 rounds"), "{text}");
    // The compact form of other programs.
    let parts: Value = serde_json::from_str(&dir.read("secret.json")).unwrap();
    let compact = ["protected", "encrypted_key", "iv", "ciphertext", "tag"].map(|part| parts[part].as_str().unwrap());
    dir.write("secret.jwe", compact.join("."));
    assert!(dir.ok("inspect secret.jwe").text().contains("encrypted private key"));
}

#[test]
fn what_others_can_read_is_warned_of() {
    let dir = locked();
    let warning = |file: &str, what: &str| format!("hearith: {file}: warning: other users can read this {what}");
    for (name, what) in [("keys/private.json", "private key"), ("secret.json", "private key"), ("word", "passphrase")] {
        let line = format!("key public {} --passphrase-file word --out -", name.replace("word", "secret.json"));
        assert!(!dir.ok(&line).stderr.contains("other users"), "{name}");
        fs::set_permissions(dir.file(name), fs::Permissions::from_mode(0o640)).unwrap();
        let told = dir.ok(&line).stderr;
        assert_eq!(told.matches("other users").count(), 1, "{told}");
        assert!(told.contains(&warning(name, what)), "{told}");
        fs::set_permissions(dir.file(name), fs::Permissions::from_mode(0o600)).unwrap();
    }
    // Everybody may read a public key.
    fs::set_permissions(dir.file("keys/public.json"), fs::Permissions::from_mode(0o644)).unwrap();
    assert!(!dir.ok("inspect keys/public.json").stderr.contains("other users"));
}

#[test]
fn a_passphrase_is_no_argument() {
    let dir = TestDir::new();
    let run = dir.run("keygen --bits 512 --passphrase=word --out none");
    assert_eq!(run.status, Some(2));
    assert!(run.stderr.contains("unexpected value") && !dir.file("none").exists(), "{}", run.stderr);
}
