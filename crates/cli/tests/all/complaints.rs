//! Errors are one line or one object, whatever their cause.

use serde_json::{Value, json};

use crate::common::{Run, STAFF, TestDir};

fn staff() -> TestDir {
    let dir = TestDir::new();
    dir.write("in.csv", STAFF);
    dir
}

/// The only error of a failed run, as an object.
fn told(run: &Run) -> Value {
    assert_eq!(run.status, Some(2), "{}", run.stderr);
    let objects = run.stderr.lines().map(|line| serde_json::from_str::<Value>(line).expect(line));
    let mut errors: Vec<Value> = objects.filter_map(|object| object.get("error").cloned()).collect();
    assert_eq!(errors.len(), 1, "{}", run.stderr);
    errors.remove(0)
}

#[test]
fn errors_are_objects_that_know_their_place() {
    let dir = staff();
    let error = told(&dir.run("encrypt --json -k keys/public.json -c dept in.csv -o out.parquet"));
    assert_eq!((&error["file"], &error["row"], &error["column"]), (&json!("in.csv"), &json!(1), &json!("dept")));
    let message = "in.csv: row 1, column dept: is not a number (--show-cells shows the cell)";
    assert_eq!(error["message"], message);
    dir.write("bad.csv", "a,b\n1,2\n3,\"4\"5\n");
    let error = told(&dir.run("encrypt --json -k keys/public.json -c b bad.csv -o out.parquet"));
    assert_eq!((&error["row"], &error["cell"], &error["column"]), (&json!(2), &json!(2), &Value::Null));
    dir.write("in.txt", "1\nx\n");
    let error = told(&dir.run("rns convert in.txt -o out.csv --json".replace("-o", "--out").as_str()));
    assert_eq!((&error["file"], &error["line"], &error["row"]), (&json!("in.txt"), &json!(2), &Value::Null));
    let error = told(&dir.run("inspect --json missing.parquet"));
    assert_eq!(error["file"], "missing.parquet");
    // When the arguments are invalid, only the request for JSON is known.
    let error = told(&dir.run("decrypt --json -f foo -k keys/private.json x.parquet"));
    assert!(error["message"].as_str().unwrap().starts_with("invalid value 'foo' for '--format <FORMAT>' ["), "{error}");
    let run = dir.run("inspect -- --json");
    assert!(run.stderr.starts_with("hearith: "), "after -- it is a file: {}", run.stderr);
}

#[test]
fn warnings_are_objects_too() {
    let dir = staff();
    let run = dir.ok("encrypt --json -k keys/public.json -c salary in.csv -o out.parquet");
    let objects: Vec<Value> = run.stderr.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(objects[0]["warning"]["message"], "keys/public.json: warning: a key of 512 bits is INSECURE");
    assert_eq!(objects[1]["step"], "encrypt");
}

#[test]
fn bad_arguments_are_one_line() {
    let dir = staff();
    let encrypt = "encrypt -k keys/public.json -c salary in.csv -o out.parquet";
    for (line, expected) in [
        (
            "decrypt -f foo -k k x",
            "invalid value 'foo' for '--format <FORMAT>' [possible values: csv, tsv, json, parquet",
        ),
        ("encrypt -k k -c salary", "the following required arguments were not provided: --out <FILE>, <IN>"),
        ("summ", "unrecognized subcommand 'summ'; tip: a similar subcommand exists: 'sum'"),
        (&format!("{encrypt} --threads 0"), "invalid value '0' for '--threads <N>': 0 is not in 1..=1024"),
        (
            &format!("{encrypt} --scale salary=x"),
            "invalid value 'salary=x' for '--scale <N>': expected a whole number, in digits",
        ),
        (
            &format!("{encrypt} --delimiter ab"),
            "invalid value 'ab' for '--delimiter <CHAR>': expected one character, tab",
        ),
        (&format!("{encrypt} more"), "unexpected argument 'more' found"),
        ("encrypt -k k -c v --scale -1 x -o o", "unexpected argument '-1' found; tip: write --OPTION=VALUE if a value"),
        ("sum -k k -o o --min-rows 0 x", "invalid value '0' for '--min-rows <N>': expected at least 1"),
        ("sum -k k -o o --min-rows x x", "invalid value 'x' for '--min-rows <N>': expected a whole number, in digits"),
        (
            "sum -k k -o o --min-rows 99999999999999999999 x",
            "invalid value '99999999999999999999' for '--min-rows <N>': the number is too large",
        ),
        ("sum -k k -o o --allow-rare-weights x", "the following required arguments were not provided: --min-rows <N>"),
        ("decrypt --check --remote u -k k x", "the argument '--check' cannot be used with"),
    ] {
        dir.fails(line, expected);
        let run = dir.run(line);
        assert_eq!(run.stderr.lines().count(), 1, "{}", run.stderr);
    }
}

#[test]
fn no_message_shows_a_number_that_nobody_gave() {
    let dir = staff();
    dir.ok("keygen --scheme bfv --set bfv-4096 --out bfv");
    let out = "in.csv -o out.parquet";
    for (line, expected) in [
        (
            "encrypt -k bfv/public.json -c salary --range 1e38",
            "in.csv: column salary: plaintexts of 160 bits are not supported: bfv-4096 allows 2 to 40 bits",
        ),
        (
            "encrypt -k bfv/public.json -c salary --range 1e38 --max-additions 18446744073709551615",
            "in.csv: column salary: plaintexts of 192 bits are not supported: bfv-4096 allows 2 to 40 bits",
        ),
    ] {
        dir.fails(&format!("{line} {out}"), expected);
    }
    dir.write("v.json", "{\"v\": \"12345\", \"e\": -200}\n");
    let import = dir.run(
        "import -k keys/public.json -c x --exponent -200 v.json -o out.parquet"
            .replace("-c", "--column")
            .replace("-o", "--out")
            .replace("-k", "--key")
            .as_str(),
    );
    assert!(!import.stderr.contains("0 bits"), "{}", import.stderr);
}

#[test]
fn long_names_do_not_fill_the_screen() {
    let dir = staff();
    let name = "y".repeat(5000);
    let run = dir.run(&format!("encrypt -k keys/public.json -c {name} in.csv -o out.parquet"));
    run.failed("a long name", "in.csv: column yyy");
    assert!(run.complaints()[0].len() < 1100, "{}", run.complaints()[0].len());
    let run = dir.run(&format!("encrypt -k keys/public.json -c x --scale {name} in.csv -o out.parquet"));
    assert!(run.complaints()[0].len() < 1100, "{}", run.complaints()[0].len());
    assert!(run.complaints()[0].ends_with("expected a whole number, in digits"));
}

#[test]
fn a_stream_that_cannot_be_stored_is_not_called_unreadable() {
    let dir = staff();
    dir.ok("encrypt -k keys/public.json -c salary in.csv -o rows.parquet");
    let table = std::fs::read(dir.file("rows.parquet")).unwrap();
    let decrypt = |command: &mut std::process::Command| {
        command.stdin(std::fs::File::open(dir.file("rows.parquet")).unwrap());
        Run::of(command.output().unwrap())
    };
    let mut missing = dir.command(["decrypt", "-k", "keys/private.json", "-"]);
    missing.env("TMPDIR", "nowhere");
    let expected = "standard input: cannot be stored temporarily in nowhere: ";
    decrypt(&mut missing).failed("no TMPDIR", expected);
    // A limit on file sizes simulates a full disk.
    let mut limited = std::process::Command::new("sh");
    let script = format!("ulimit -f {}; exec \"$@\"", table.len() / 1024);
    let program = dir.command(["decrypt", "-k", "keys/private.json", "-"]);
    limited.args(["-c", &script, "sh"]).arg(program.get_program()).args(program.get_args());
    limited.current_dir(dir.path()).env("TMPDIR", dir.path()).env_remove("HEARITH_ENGINE");
    let expected = format!("standard input: cannot be stored temporarily in {}: File too large", dir.path().display());
    decrypt(&mut limited).failed("a full disk", &expected);
}

#[test]
fn temporary_names_are_not_shown() {
    let dir = staff();
    let encrypt = "encrypt -k keys/public.json -c salary in.csv -o";
    dir.fails(
        &format!("{encrypt} nowhere/out.parquet"),
        "nowhere/out.parquet: cannot write: there is no folder nowhere",
    );
    dir.write("file", "");
    let run = dir.run(&format!("{encrypt} file/out.parquet"));
    assert!(!run.stderr.contains(".part"), "{}", run.stderr);
    let mut limited = std::process::Command::new("sh");
    let words: Vec<&str> = encrypt.split(' ').chain(["out.parquet"]).collect();
    let program = dir.command(words);
    limited.args(["-c", "ulimit -f 1; exec \"$@\"", "sh"]).arg(program.get_program()).args(program.get_args());
    let run = Run::of(limited.current_dir(dir.path()).env_remove("HEARITH_ENGINE").output().unwrap());
    run.failed("a full disk", "out.parquet: cannot write: File too large");
    assert!(!run.stderr.contains(".part"), "{}", run.stderr);
}
