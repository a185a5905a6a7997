//! FHE over the integers: keys, encrypted bits, circuits.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::sync::LazyLock;

use crate::common::{self, Run, TestDir};
use hearith_dghv::circuit::{Circuit, library};
use serde_json::Value;
use tempfile::TempDir;

/// The option that every command requires.
const INSECURE: &str = "--insecure-historical-parameters";
/// The library's circuits.
const CIRCUITS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../dghv/circuits");

/// Keys generated once for all tests of this program.
static KEYS: LazyLock<TempDir> = LazyLock::new(|| {
    let directory = tempfile::tempdir().unwrap();
    for (name, options) in [
        ("cnt", "--scheme cnt --parameters toy"),
        ("short", "--scheme cnt --parameters toy --short-coefficients --without-recryption"),
        ("cmnt", "--scheme cmnt --parameters toy"),
        ("ladder", "--scheme cnt --parameters toy --short-coefficients --without-recryption --ladder 6"),
    ] {
        let made = common::program()
            .args(["dghv", "keygen", INSECURE, "--quiet", "--out"])
            .arg(directory.path().join(name))
            .args(options.split_whitespace())
            .output()
            .unwrap();
        assert!(made.status.success(), "{made:?}");
    }
    directory
});

/// A directory with the toy keys in `cnt/`, `short/`, `cmnt/` and `ladder/`, and two files of bits.
fn dir() -> TestDir {
    let dir = TestDir::new();
    for name in ["cnt", "short", "cmnt", "ladder"] {
        fs::create_dir(dir.file(name)).unwrap();
        for file in ["public.dghv", "private.dghv"] {
            fs::copy(KEYS.path().join(name).join(file), dir.file(name).join(file)).unwrap();
        }
    }
    dir.write("a.txt", "0\n0\n1\n1\n");
    dir.write("b.txt", "0\n1\n0\n1\n");
    dir
}

/// Adds the option to a command line.
fn insecure(line: &str) -> String {
    format!("dghv {INSECURE} {line}")
}

/// A directory with both files encrypted under a key.
fn encrypted(key: &str) -> TestDir {
    let dir = dir();
    for name in ["a", "b"] {
        dir.ok(&insecure(&format!("encrypt --key {key}/public.dghv {name}.txt --out {name}.dghv")));
    }
    dir
}

fn fails(dir: &TestDir, line: &str, expected: &str) {
    dir.fails(&insecure(line), expected);
}

fn inspected(dir: &TestDir, file: &str) -> Value {
    serde_json::from_str(&dir.ok(&format!("dghv inspect --json {file}")).text()).unwrap()
}

/// Copies a file with some bytes changed.
fn craft(dir: &TestDir, from: &str, to: &str, change: impl FnOnce(&mut Vec<u8>)) {
    let mut bytes = fs::read(dir.file(from)).unwrap();
    change(&mut bytes);
    dir.write(to, bytes);
}

#[test]
fn bits_are_added_and_multiplied() {
    // Fresh bits of `cnt` are recrypted before they are multiplied.
    for key in ["short", "cmnt", "cnt"] {
        let dir = encrypted(key);
        for (command, expected) in [("add", "0\n1\n1\n0\n"), ("multiply", "0\n0\n0\n1\n")] {
            let run = dir.ok(&insecure(&format!("{command} --key {key}/public.dghv a.dghv b.dghv --out c.dghv")));
            assert!(run.complaints()[0].starts_with(&format!("{command}: 4 rows in ")), "{}", run.stderr);
            dir.ok(&insecure(&format!("decrypt --key {key}/private.dghv c.dghv --out c.txt")));
            assert_eq!(dir.read("c.txt"), expected, "{key} {command}");
        }
    }
}

#[test]
fn fresh_bits_decrypt_under_every_key() {
    for key in ["cnt", "short", "cmnt"] {
        let dir = encrypted(key);
        for engine in ["serial", "cpu"] {
            let run = dir.ok(&insecure(&format!("decrypt --engine {engine} --key {key}/private.dghv b.dghv")));
            assert_eq!(run.text(), "0\n1\n0\n1\n");
        }
    }
}

#[test]
fn standard_input_and_output() {
    let dir = dir();
    let line = insecure("encrypt --quiet --key short/public.dghv - --out -");
    let run = dir.run_with(&line, b"1\r\n0\n 1");
    assert_eq!(run.status, Some(0), "{}", run.stderr);
    let back = dir.run_with(&insecure("decrypt --quiet --key short/private.dghv -"), &run.stdout);
    assert_eq!((back.status, back.text()), (Some(0), "1\n0\n1\n".to_owned()));
    let empty = dir.run_with(&line, b"");
    let back = dir.run_with(&insecure("decrypt --quiet --key short/private.dghv -"), &empty.stdout);
    assert_eq!((back.status, back.text()), (Some(0), String::new()));
}

#[test]
fn a_circuit_is_computed_on_encrypted_bits() {
    let dir = dir();
    let text = fs::read_to_string(format!("{CIRCUITS}/adder8.txt")).unwrap();
    let adder = Circuit::parse(&text).unwrap();
    dir.write("adder8.txt", text);
    let bits = |number: u32, count: usize| (0..count).map(|bit| format!("{}\n", number >> bit & 1)).collect::<String>();
    for (key, a, b) in [("cnt", 201, 99), ("cmnt", 77, 255)] {
        for (name, number) in [("a", a), ("b", b)] {
            dir.write(&format!("{name}.txt"), bits(number, 8));
            dir.ok(&insecure(&format!("encrypt --key {key}/public.dghv {name}.txt --out {name}.dghv")));
        }
        let line = format!("evaluate --key {key}/public.dghv --circuit adder8.txt a.dghv b.dghv --out sum.dghv");
        let run = dir.ok(&insecure(&line));
        assert!(run.stderr.contains("evaluate: 16 rows to 9 in "), "{}", run.stderr);
        assert!(run.stderr.contains(&format!("{} gates, 8 of them AND; ", adder.gates())), "{}", run.stderr);
        dir.ok(&insecure(&format!("decrypt --key {key}/private.dghv sum.dghv --out sum.txt")));
        assert_eq!(dir.read("sum.txt"), bits(a + b, 9), "{key}");
    }
}

/// A circuit with four inputs and `outputs` outputs, each the sum of two inputs. If `held`, the
/// first output is the complement of the last one, so all others have to wait for it.
fn many_outputs(outputs: usize, held: bool) -> String {
    let last = 3 + outputs;
    let mut text = format!("{outputs} {}\n1 4\n1 {outputs}\n\n", last + 1);
    for wire in 4..=last {
        match held && wire == 4 {
            true => text += &format!("1 1 {last} 4 INV\n"),
            false => text += &format!("2 1 {} {} {wire} XOR\n", wire % 4, (wire + 1) % 4),
        }
    }
    text
}

#[test]
fn outputs_take_no_memory_once_they_are_written() {
    let dir = encrypted("short");
    for (name, held) in [("given", false), ("held", true)] {
        dir.write(&format!("{name}.txt"), many_outputs(1500, held));
    }
    let line = |name: &str, memory: u32| {
        format!(
            "evaluate --threads 2 --memory {memory} --key short/public.dghv --circuit {name}.txt b.dghv --out c.dghv"
        )
    };
    // 1500 ciphertexts are 27 MB. Outputs that need not wait are written 16 MiB at a time.
    let refused = "held.txt: evaluating it needs 28 MiB of memory, but only 24 MiB may be used (--memory allows more)";
    fails(&dir, &line("held", 24), refused);
    for (name, memory) in [("given", 24), ("held", 28)] {
        dir.ok(&insecure(&line(name, memory)));
        let decrypted = dir.ok(&insecure("decrypt --key short/private.dghv c.dghv")).text();
        // Sums of neighbours among 0, 1, 0, 1.
        let expected = if name == "held" { format!("0\n{}", "1\n".repeat(1499)) } else { "1\n".repeat(1500) };
        assert_eq!(decrypted, expected, "{name}");
    }
}

#[test]
fn what_does_not_fit_the_address_space_is_refused_beforehand() {
    let dir = encrypted("short");
    dir.write("held.txt", many_outputs(60_000, true));
    let line = insecure("evaluate --key short/public.dghv --circuit held.txt b.dghv --out c.dghv");
    let before = dir.files();
    let program = dir.command(line.split_whitespace());
    let mut limited = std::process::Command::new("sh");
    limited.args(["-c", "ulimit -v 900000 && exec \"$0\" \"$@\""]).current_dir(dir.path());
    limited.arg(program.get_program()).args(program.get_args());
    let run = Run::of(limited.output().unwrap());
    run.failed("a limit of the address space", "held.txt: evaluating it needs 1");
    assert!(run.stderr.ends_with(" MiB may be used (--memory sets another limit)\n"), "{}", run.stderr);
    assert_eq!(dir.files(), before);
}

#[test]
fn integers_go_in_and_out() {
    let dir = dir();
    dir.write("adder4.txt", library::adder(4).to_string());
    dir.write("x.txt", "13\n");
    dir.write("y.txt", "6\n");
    for name in ["x", "y"] {
        dir.ok(&insecure(&format!("encrypt --width 4 --key cnt/public.dghv {name}.txt --out {name}.dghv")));
    }
    dir.ok(&insecure("evaluate --key cnt/public.dghv --circuit adder4.txt x.dghv y.dghv --out s.dghv"));
    assert_eq!(dir.ok(&insecure("decrypt --width 5 --key cnt/private.dghv s.dghv")).text(), "19\n");
    assert_eq!(dir.ok(&insecure("decrypt --width 5 --signed --key cnt/private.dghv s.dghv")).text(), "-13\n");
    assert_eq!(dir.ok(&insecure("decrypt --key cnt/private.dghv s.dghv")).text(), "1\n1\n0\n0\n1\n");
    dir.write("z.txt", "-2147483648\n2147483647\n-1\n");
    dir.ok(&insecure("encrypt --width 32 --signed --key short/public.dghv z.txt --out z.dghv"));
    let decrypt = "decrypt --width 32 --signed --key short/private.dghv z.dghv";
    assert_eq!(dir.ok(&insecure(decrypt)).text(), dir.read("z.txt"));
    let encrypt = |width: &str| format!("encrypt {width} --key short/public.dghv z.txt --out c.dghv");
    fails(&dir, &encrypt("--width 32"), "z.txt: line 1: not an integer from 0 to 4294967295");
    fails(&dir, &encrypt("--width 31 --signed"), "z.txt: line 1: not an integer from -1073741824 to 1073741823");
    let refused = "s.dghv: 5 bits cannot be divided into integers of 4 bits";
    fails(&dir, "decrypt --width 4 --key cnt/private.dghv s.dghv --out c.txt", refused);
    let run = dir.run(&insecure(&encrypt("--width 65")));
    assert_eq!(run.status, Some(2), "{}", run.stderr);
}

#[test]
fn without_recryption_circuits_are_shallow() {
    let dir = encrypted("short");
    let evaluate = |circuit: &str, files: &str| {
        insecure(&format!("evaluate --key short/public.dghv --circuit {circuit} {files} --out c.dghv"))
    };
    dir.write("adder2.txt", library::adder(2).to_string());
    dir.write("adder4.txt", library::adder(4).to_string());
    let refused = "adder4.txt: noise of up to ";
    dir.fails(&evaluate("adder4.txt", "a.dghv b.dghv"), refused);
    let run = dir.run(&evaluate("adder4.txt", "a.dghv b.dghv"));
    assert!(run.stderr.ends_with("(a key with recryption could continue)\n"), "{}", run.stderr);
    for name in ["a", "b"] {
        dir.write(&format!("{name}.txt"), "1\n1\n");
        dir.ok(&insecure(&format!("encrypt --key short/public.dghv {name}.txt --out {name}.dghv")));
    }
    let run = dir.ok(&evaluate("adder2.txt", "a.dghv b.dghv"));
    assert!(run.stderr.contains("; 0 recryptions"), "{}", run.stderr);
    assert_eq!(dir.ok(&insecure("decrypt --key short/private.dghv c.dghv")).text(), "0\n1\n1\n");
}

#[test]
fn bits_go_down_a_ladder() {
    let dir = encrypted("ladder");
    let level = |file: &str| inspected(&dir, file)["level"].as_u64().unwrap();
    let noise = |file: &str| inspected(&dir, file)["rows"][0]["noise"].as_f64().unwrap();
    let said = inspected(&dir, "ladder/public.dghv");
    let secrets: Vec<u64> = said["ladder"].as_array().unwrap().iter().map(|bits| bits.as_u64().unwrap()).collect();
    assert_eq!((secrets.len(), said["level"].as_u64()), (6, Some(0)));
    assert!(secrets.is_sorted_by(|a, b| a > b) && secrets[0] < said["lengths"]["secret"].as_u64().unwrap());
    let text = dir.ok("dghv inspect ladder/public.dghv").text();
    assert!(
        text.contains(&format!("  ladder     6 levels below, p {} to {} bits\n", secrets[0], secrets[5])),
        "{text}"
    );
    assert!(dir.ok("dghv inspect cnt/public.dghv").text().contains("  ladder     no\n"));

    // One level at a time, or several at once. Each level removes noise.
    let switch = |from: &str, to: &str| insecure(&format!("switch --key ladder/public.dghv {from} --out {to}"));
    let run = dir.ok(&switch("a.dghv", "a1.dghv"));
    assert!(run.stderr.contains("switch: 4 rows in ") && run.stderr.contains("level 0 to level 1"), "{}", run.stderr);
    dir.ok(&switch("--level 2 a1.dghv", "a2.dghv"));
    dir.ok(&switch("--level 2 b.dghv", "b2.dghv"));
    assert_eq!([level("a.dghv"), level("a1.dghv"), level("a2.dghv"), level("b2.dghv")], [0, 1, 2, 2]);
    assert!(noise("a.dghv") > noise("a1.dghv") + 50.0 && noise("a1.dghv") > noise("a2.dghv") + 40.0);
    assert!(dir.ok("dghv inspect a2.dghv").text().contains("  level      2\n"));
    assert_eq!(dir.ok(&insecure("decrypt --key ladder/private.dghv b2.dghv")).text(), "0\n1\n0\n1\n");

    // Files of two levels are combined at the lower one. The key's own products cannot multiply
    // eight bits.
    for (command, expected) in [("add", "0\n1\n1\n0\n"), ("multiply", "0\n0\n0\n1\n")] {
        dir.ok(&insecure(&format!("{command} --key ladder/public.dghv a1.dghv b2.dghv --out c.dghv")));
        assert_eq!(level("c.dghv"), 2);
        assert_eq!(dir.ok(&insecure("decrypt --key ladder/private.dghv c.dghv")).text(), expected);
    }
    dir.write("adder4.txt", library::adder(4).to_string());
    let evaluate =
        |key: &str| insecure(&format!("evaluate --key {key} --circuit adder4.txt a.dghv b.dghv --out s.dghv"));
    let run = dir.ok(&evaluate("ladder/public.dghv"));
    assert!(
        run.stderr.contains("; 0 recryptions, ") && run.stderr.contains(" switches down to level "),
        "{}",
        run.stderr
    );
    assert!(level("s.dghv") > 2);
    // 12 plus 10, lowest bits first.
    assert_eq!(dir.ok(&insecure("decrypt --key ladder/private.dghv s.dghv")).text(), "0\n1\n1\n0\n1\n");
}

#[test]
fn switches_that_cannot_be() {
    let dir = encrypted("ladder");
    let switch = |key: &str, input: &str| format!("switch --key {key}/public.dghv {input} --out c.dghv");
    dir.ok(&insecure("switch --key ladder/public.dghv --level 6 a.dghv --out a6.dghv"));
    let refused =
        "a6.dghv: cannot switch from level 6 to level 7: the key has 6 levels below its own (bits can only move down)";
    fails(&dir, &switch("ladder", "a6.dghv"), refused);
    fails(&dir, &switch("ladder", "--level 5 a6.dghv"), "a6.dghv: cannot switch from level 6 to level 5");
    fails(&dir, &switch("short", "a.dghv"), "a.dghv: encrypted under key ");
    dir.ok(&insecure("encrypt --key short/public.dghv a.txt --out s.dghv"));
    let refused = "s.dghv: cannot switch from level 0 to level 1: the key has 0 levels below its own (hearith dghv keygen --ladder";
    fails(&dir, &switch("short", "s.dghv"), refused);
    let length = fs::read(dir.file("a.dghv")).unwrap().len();
    craft(&dir, "a.dghv", "cut.dghv", |bytes| bytes.truncate(length - 5000));
    fails(&dir, &switch("ladder", "cut.dghv"), "cut.dghv: row 4: truncated");
    craft(&dir, "ladder/public.dghv", "cut", |bytes| bytes.truncate(100_000));
    fails(&dir, "switch --key cut a.dghv --out c.dghv", "cut: truncated: the file ends in the middle of its content");
    // Noise that a switch would remove.
    for file in ["p.dghv", "q.dghv"] {
        let from = if file == "p.dghv" { "a.dghv" } else { "p.dghv" };
        dir.ok(&insecure(&format!("multiply --key ladder/public.dghv {from} {from} --out {file}")));
    }
    let line = "multiply --key ladder/public.dghv q.dghv q.dghv --out c.dghv";
    fails(&dir, line, "q.dghv: row 1: noise of up to ");
    let run = dir.run(&insecure(line));
    assert!(run.stderr.ends_with("(reduce the noise first with hearith dghv switch)\n"), "{}", run.stderr);
    let keygen = |what: &str| format!("keygen --scheme cmnt --out new --parameters {what}");
    fails(&dir, &keygen("medium --ladder 3"), "a ladder of these parameters needs ");
    fails(&dir, &keygen("toy --ladder 99"), "a ladder of 99 rungs is not possible: these parameters allow 1 to 16");
    fails(&dir, &keygen("toy --ladder 0"), "a ladder of 0 rungs");
    assert!(!dir.file("new").exists());
}

#[test]
fn every_command_asks_by_name() {
    let dir = encrypted("short");
    let before = dir.files();
    for line in [
        "keygen --scheme cnt --parameters toy --out new",
        "encrypt --key short/public.dghv a.txt --out c.dghv",
        "add --key short/public.dghv a.dghv b.dghv --out c.dghv",
        "multiply --key short/public.dghv a.dghv b.dghv --out c.dghv",
        "evaluate --key short/public.dghv --circuit x.txt a.dghv --out c.dghv",
        "switch --key ladder/public.dghv a.dghv --out c.dghv",
        "decrypt --key short/private.dghv a.dghv --out c.txt",
    ] {
        let words = ["dghv"].into_iter().chain(line.split_whitespace());
        // Permission for weak keys of the other scheme does not apply here.
        let run = Run::of(dir.strict(words).arg("--insecure-key").output().unwrap());
        run.failed(line, "these schemes are broken: their keys protect nothing (--insecure-historical-parameters)");
        assert_eq!(dir.files(), before, "{line}");
    }
    let run = dir.ok(&insecure("add --quiet --key short/public.dghv a.dghv b.dghv --out c.dghv"));
    let warning = "hearith: short/public.dghv: warning: a key of cnt toy with short coefficients is INSECURE\n";
    assert_eq!(run.stderr, warning);
    dir.ok(&format!("dghv add --key short/public.dghv a.dghv b.dghv --out c.dghv {INSECURE}"));
}

#[test]
fn the_private_key_is_its_owners_and_a_key_is_not_replaced_unless_forced() {
    let dir = dir();
    let line = insecure("keygen --scheme cmnt --parameters toy --out new/deep");
    dir.ok(&line);
    let mode = |file: &str| fs::metadata(dir.file(file)).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode("new/deep/private.dghv"), 0o600);
    assert_ne!(mode("new/deep/public.dghv") & 0o400, 0);
    let before = fs::read(dir.file("new/deep/private.dghv")).unwrap();
    dir.fails(&line, "new/deep/private.dghv: there is a key already; --force would replace it");
    dir.ok(&format!("{line} --force"));
    assert_ne!(fs::read(dir.file("new/deep/private.dghv")).unwrap(), before);

    dir.write("bit.txt", "1\n");
    dir.ok(&insecure("encrypt --key new/deep/public.dghv bit.txt --out bit.dghv"));
    fs::set_permissions(dir.file("new/deep/private.dghv"), fs::Permissions::from_mode(0o644)).unwrap();
    let run = dir.ok(&insecure("decrypt --quiet --key new/deep/private.dghv bit.dghv"));
    let warning = "new/deep/private.dghv: warning: other users can read this private key (chmod 600 fixes it)";
    assert!(run.stderr.contains(warning), "{}", run.stderr);
}

#[test]
fn parameters_that_are_none() {
    let dir = dir();
    let keygen =
        |scheme: &str, parameters: &str| format!("keygen --scheme {scheme} --parameters {parameters} --out new");
    fails(&dir, &keygen("dghv", "toy"), "unknown scheme: choose one of cmnt, cnt");
    fails(&dir, &keygen("cnt", "tiny"), "unknown parameters: choose one of toy, small, medium, large (or a file");
    dir.write("set.txt", "toy = {'lam': 42}");
    fails(&dir, &keygen("cnt", "set.txt"), "set.txt: the parameter 'rho' is missing");
    fails(
        &dir,
        &keygen("cmnt", "set.txt"),
        "set.txt: parameters in the published program's format work only with --scheme cnt",
    );
    dir.write("set.txt", "{'lam':42,'rho':26,'eta':988,'gam':147456,'alpha':970,'tau':158}");
    fails(&dir, &keygen("cnt", "set.txt"), "set.txt: parameters: a fresh ciphertext would not decrypt");
    assert!(!dir.file("new").exists());
}

#[test]
fn parameters_of_the_published_program() {
    let dir = dir();
    let toy = "toy={'ty':\"toy\",'lam':42,'rho':26,'eta':988,'gam':147456,'Theta':150,'pksize':0.076519,'seclevel':42.0,\
               'alpha':936,'tau':158}";
    dir.write("toy.txt", toy);
    dir.ok(&insecure("keygen --scheme cnt --parameters toy.txt --out new"));
    assert_eq!(inspected(&dir, "new/public.dghv")["parameters"], "toy");
    dir.write("other.txt", "{'lam':10,'rho':8,'eta':300,'gam':4000,'alpha':30,'tau':20}");
    dir.ok(&insecure("keygen --scheme cnt --parameters other.txt --out other_lengths"));
    let said = inspected(&dir, "other_lengths/private.dghv");
    assert_eq!((&said["parameters"], &said["lengths"]["modulus"]), (&Value::Null, &4000.into()));
    dir.ok(&insecure("encrypt --key other_lengths/public.dghv a.txt --out a.dghv"));
    assert_eq!(dir.ok(&insecure("decrypt --key other_lengths/private.dghv a.dghv")).text(), "0\n0\n1\n1\n");
}

#[test]
fn inspecting_tells_noise_and_levels() {
    let dir = encrypted("cmnt");
    dir.ok(&insecure("multiply --key cmnt/public.dghv a.dghv b.dghv --out c.dghv"));
    let (fresh, product) = (inspected(&dir, "a.dghv"), inspected(&dir, "c.dghv"));
    let (public, private) = (inspected(&dir, "cmnt/public.dghv"), inspected(&dir, "cmnt/private.dghv"));
    assert_eq!((&fresh["kind"], &fresh["scheme"]), (&"encrypted bits".into(), &"cmnt".into()));
    assert_eq!((&fresh["parameters"], &fresh["insecure"]), (&"toy".into(), &true.into()));
    assert_eq!(public["recryption"], true);
    assert_eq!((&public["kind"], &private["kind"]), (&"public key".into(), &"private key".into()));
    assert!([&fresh, &product, &private].iter().all(|said| said["key"] == public["key"]));
    let row = |said: &Value, name: &str| said["rows"][3][name].as_f64().unwrap();
    assert_eq!(fresh["rows"].as_array().unwrap().len(), 4);
    assert!((row(&product, "noise") - 2.0 * row(&fresh, "noise")).abs() < 0.2);
    assert_eq!(row(&product, "levels_left"), row(&fresh, "levels_left") - 1.0);
    let text = dir.ok("dghv inspect c.dghv").text();
    let key = public["key"].as_str().unwrap();
    for part in ["encrypted bits\n", "cmnt toy INSECURE", key, "  rows 1 to 4: noise ", "multiplications left"] {
        assert!(text.contains(part), "{part} in {text}");
    }
    assert_eq!(dir.ok("inspect c.dghv").text(), text, "the general command knows these files too");
    let piped = dir.run_with("dghv inspect -", &fs::read(dir.file("c.dghv")).unwrap());
    assert_eq!(piped.text(), text.replace("c.dghv", "standard input"), "{}", piped.stderr);
    assert!(!dir.ok("dghv inspect cmnt/private.dghv").text().contains("prime"));
}

#[test]
fn files_that_are_wrong_are_named() {
    let dir = encrypted("short");
    let decrypt = |file: &str| format!("decrypt --key short/private.dghv {file} --out c.txt");
    let length = fs::read(dir.file("a.dghv")).unwrap().len();
    craft(&dir, "a.dghv", "cut.dghv", |bytes| bytes.truncate(length - 5000));
    fails(&dir, &decrypt("cut.dghv"), "cut.dghv: row 4: truncated: the file ends in the middle of its content");
    fails(&dir, "inspect cut.dghv", "cut.dghv: row 4: truncated");
    craft(&dir, "a.dghv", "bent.dghv", |bytes| bytes[1000] ^= 1);
    fails(&dir, &decrypt("bent.dghv"), "bent.dghv: damaged or tampered with: the checksum does not match the content");
    fails(
        &dir,
        "add --key short/public.dghv bent.dghv b.dghv --out c.dghv",
        "bent.dghv: damaged or tampered with: the checksum",
    );
    craft(&dir, "a.dghv", "new.dghv", |bytes| bytes[8] = 7);
    fails(
        &dir,
        &decrypt("new.dghv"),
        "new.dghv: version 7 of the format is not supported: this program reads versions 1 to 2",
    );
    fails(&dir, &decrypt("a.txt"), "a.txt: not a file of FHE over the integers");
    fails(&dir, &decrypt("short/public.dghv"), "short/public.dghv: holds a public key, not encrypted bits");
    fails(&dir, &decrypt("missing.dghv"), "missing.dghv: cannot read: No such file or directory");
    let key = |key: &str| format!("encrypt --key {key} a.txt --out c.dghv");
    fails(&dir, &key("short/private.dghv"), "short/private.dghv: holds a private key, not a public key");
    fails(&dir, &key("keys/public.json"), "keys/public.json: not a file of FHE over the integers");
    fails(&dir, &key("short"), "short: cannot read: is a directory");
    craft(&dir, "short/public.dghv", "bent", |bytes| bytes[70] ^= 1);
    fails(&dir, &key("bent"), "bent: damaged or tampered with");
    fails(&dir, "decrypt --key short/public.dghv a.dghv", "short/public.dghv: holds a public key, not a private key");
    fails(&dir, &decrypt("a.dghv").replace("c.txt", "a.dghv"), "a.dghv: the output would replace the input");
}

#[test]
fn keys_and_batches_that_do_not_belong_together() {
    let dir = encrypted("short");
    fails(&dir, "decrypt --key cmnt/private.dghv a.dghv --out c.txt", "a.dghv: encrypted under key ");
    dir.write("one.txt", "1\n");
    dir.ok(&insecure("encrypt --key short/public.dghv one.txt --out one.dghv"));
    dir.ok(&insecure("encrypt --key cnt/public.dghv a.txt --out other.dghv"));
    let add = |right: &str| format!("add --key short/public.dghv a.dghv {right} --out c.dghv");
    fails(&dir, &add("one.dghv"), "one.dghv: has 1 rows, but a.dghv has 4");
    fails(&dir, &add("other.dghv"), "other.dghv: encrypted under key ");
    // The scheme and lengths of another file with the ID of this one.
    let header = fs::read(dir.file("other.dghv")).unwrap()[12..40].to_vec();
    craft(&dir, "a.dghv", "foreign.dghv", |bytes| bytes[12..40].copy_from_slice(&header));
    fails(&dir, &add("foreign.dghv"), "foreign.dghv: its parameters differ from those of its key");
}

#[test]
fn noise_that_would_be_too_much_is_refused() {
    let dir = encrypted("short");
    let mut file = "a.dghv".to_owned();
    for round in 1..=2 {
        let next = format!("p{round}.dghv");
        dir.ok(&insecure(&format!("multiply --key short/public.dghv {file} {file} --out {next}")));
        file = next;
    }
    assert_eq!(inspected(&dir, &file)["rows"][0]["levels_left"], 0);
    let line = format!("multiply --key short/public.dghv {file} {file} --out c.dghv");
    fails(&dir, &line, &format!("{file}: row 1: noise of up to "));
    assert_eq!(dir.ok(&insecure(&format!("decrypt --key short/private.dghv {file}"))).text(), "0\n0\n1\n1\n");
}

#[test]
fn bits_that_are_none() {
    let dir = dir();
    for (content, line) in [("1\n2\n", 2), ("0\n\n1\n", 2), ("true\n", 1)] {
        dir.write("bad.txt", content);
        let expected = format!("bad.txt: line {line}: neither 0 nor 1");
        fails(&dir, "encrypt --key short/public.dghv bad.txt --out c.dghv", &expected);
    }
}

#[test]
fn circuits_that_are_none() {
    let dir = encrypted("cmnt");
    let evaluate = |files: &str| format!("evaluate --key cmnt/public.dghv --circuit bad.txt {files} --out c.dghv");
    let circuit = |text: &str| dir.write("bad.txt", text);
    circuit("2 6\n1 4\n1 1\n\n2 1 0 5 4 AND\n2 1 4 1 5 XOR\n");
    fails(&dir, &evaluate("a.dghv"), "bad.txt: line ");
    let run = dir.run(&insecure(&evaluate("a.dghv")));
    assert!(run.stderr.contains("loop"), "{}", run.stderr);
    circuit("1 9\n2 4 4\n1 1\n\n2 1 0 4 8 AND\n");
    dir.ok(&insecure(&evaluate("a.dghv b.dghv")));
    fs::remove_file(dir.file("c.dghv")).unwrap();
    fails(&dir, &evaluate("a.dghv"), "bad.txt: the circuit has 2 input values, but 1 files are given");
    circuit("1 8\n2 4 3\n1 1\n\n2 1 0 4 7 AND\n");
    fails(&dir, &evaluate("a.dghv b.dghv"), "b.dghv: has 4 rows, but input value 2 of the circuit has 3 bits");
    circuit("1 9\n4 4 1\n\n2 1 0 4 8 AND\n");
    fails(&dir, &evaluate("a.dghv b.dghv"), "bad.txt: line 2: this is the older Bristol Format: Bristol Fashion has ");
    circuit("");
    fails(&dir, &evaluate("a.dghv b.dghv"), "bad.txt: line ");
    fails(&dir, &evaluate("a.dghv").replace("bad.txt", "missing.txt"), "missing.txt: cannot read: No such file");
}

#[test]
fn the_circuits_of_the_library_are_read() {
    for file in fs::read_dir(CIRCUITS).unwrap() {
        let path = file.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "txt") {
            Circuit::parse(&fs::read_to_string(&path).unwrap()).unwrap();
        }
    }
}
