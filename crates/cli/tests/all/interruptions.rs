//! A run that ends early leaves no partial output behind.

use std::io::{Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::common::{Run, TestDir};

/// The expected events take milliseconds, but a machine may be busy. This limit only ends a test
/// that hangs.
const PATIENCE: Duration = Duration::from_secs(300);

/// Starts a run that has begun its output and waits for more input.
fn waiting(dir: &TestDir, line: &str) -> Child {
    let mut command = dir.command(line.split_whitespace());
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    child.stdin.as_mut().unwrap().write_all(b"salary\n1\n2\n").unwrap();
    child
}

/// Waits until a temporary file exists.
fn await_part(dir: &TestDir) {
    let started = Instant::now();
    while !dir.files().iter().any(|file| file.ends_with(".part")) {
        assert!(started.elapsed() < PATIENCE, "no output begun: {:?}", dir.files());
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn signal(child: &Child, name: &str) {
    let sent = Command::new("kill").args([&format!("-{name}"), &child.id().to_string()]).status();
    assert!(sent.unwrap().success());
}

#[test]
fn interrupts_remove_what_is_unfinished() {
    for (name, status) in [("INT", 130), ("TERM", 143)] {
        let dir = TestDir::new();
        let before = dir.files();
        let mut child = waiting(&dir, "encrypt --key keys/public.json --column salary - --out out.parquet");
        await_part(&dir);
        // The input stays open. At its end the program would finish, despite the signal.
        let input = child.stdin.take();
        signal(&child, name);
        assert_eq!(child.wait().unwrap().code(), Some(status), "SIG{name}");
        assert_eq!(dir.files(), before, "SIG{name}");
        drop(input);
    }
}

/// A shell starts a run with some signals ignored. Returns its status, and whether it finished
/// after a signal.
#[test]
fn signals_interrupt_unless_they_are_ignored() {
    let run = |nohup: &str, name: &str, ignored: bool| {
        let dir = TestDir::new();
        let program = env!("CARGO_BIN_EXE_hearith");
        let line = format!(
            "{nohup} exec {program} --insecure-key encrypt --key keys/public.json --column salary - --out out.parquet"
        );
        let mut shell = Command::new("sh");
        shell.args(["-c", &line]).current_dir(dir.path()).stdin(Stdio::piped()).stderr(Stdio::null());
        let mut child = shell.spawn().unwrap();
        child.stdin.as_mut().unwrap().write_all(b"salary\n1\n").unwrap();
        await_part(&dir);
        // Waiting closes the input, at whose end a run finishes, unless the test holds it.
        let input = (!ignored).then(|| child.stdin.take());
        signal(&child, name);
        if ignored {
            std::thread::sleep(Duration::from_millis(100));
        }
        let status = child.wait().unwrap().code();
        drop(input);
        (status, dir.file("out.parquet").exists())
    };
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:")).unwrap();
    let mask = u64::from_str_radix(mask.trim(), 16).unwrap();
    for (name, number) in [("HUP", 1), ("INT", 2), ("TERM", 15)] {
        assert_eq!(run(&format!("trap '' {name};"), name, true), (Some(0), true), "SIG{name}");
        // A signal that was ignored when the tests started cannot be distinguished from one ignored
        // by `nohup`.
        let ignored = mask >> (number - 1) & 1 == 1;
        let expected = if ignored { (Some(0), true) } else { (Some(128 + number), false) };
        assert_eq!(run("", name, ignored), expected, "SIG{name}");
    }
}

#[test]
fn what_a_killed_run_leaves_the_next_one_removes() {
    let dir = TestDir::new();
    let line = "encrypt --key keys/public.json --column salary - --out out.parquet";
    let before = dir.files();
    let mut killed = waiting(&dir, line);
    await_part(&dir);
    killed.kill().unwrap();
    killed.wait().unwrap();
    let left = dir.files();
    assert_eq!(left.len(), before.len() + 1, "SIGKILL cannot be handled: {left:?}");

    // A running process keeps its file while others write the same output or another.
    let mut living = waiting(&dir, line);
    let started = Instant::now();
    while dir.files() == left {
        assert!(started.elapsed() < PATIENCE, "no output begun");
        std::thread::sleep(Duration::from_millis(5));
    }
    let gone = || left.iter().filter(|file| !dir.files().contains(file)).count();
    while gone() == 0 {
        assert!(started.elapsed() < PATIENCE, "still there: {:?}", dir.files());
        std::thread::sleep(Duration::from_millis(5));
    }
    let held = dir.files();
    assert_eq!(held.len(), before.len() + 1, "{held:?}");
    let other = dir.run_with(line, b"salary\n7\n");
    assert_eq!(other.status, Some(0), "{}", other.stderr);
    assert!(held.iter().all(|file| dir.files().contains(file)), "{:?}", dir.files());
    drop(living.stdin.take());
    assert!(living.wait().unwrap().success());
    assert_eq!(dir.files().len(), before.len() + 1);
    assert_eq!(dir.ok("decrypt --key keys/private.json out.parquet").text(), "salary\n1\n2\n");
}

#[test]
fn an_interrupt_leaves_the_old_output() {
    let dir = TestDir::new();
    dir.write("out.parquet", "as it was");
    let before = dir.files();
    let mut child = waiting(&dir, "encrypt --key keys/public.json --column salary - --out out.parquet");
    await_part(&dir);
    // As above, the input stays open.
    let input = child.stdin.take();
    signal(&child, "INT");
    assert_eq!(child.wait().unwrap().code(), Some(130));
    drop(input);
    assert_eq!(dir.files(), before);
    assert_eq!(dir.read("out.parquet"), "as it was");
}

#[test]
fn an_interrupt_while_a_key_is_made_leaves_none() {
    let dir = TestDir::new();
    let before = dir.files();
    let mut command = dir.command(["keygen", "--bits", "8192", "--out", "large", "--threads", "1"]);
    let mut child = command.stderr(Stdio::null()).spawn().unwrap();
    await_part(&dir);
    let modes: Vec<(String, u32)> = dir
        .files()
        .into_iter()
        .filter(|file| file.contains(".private.json."))
        .filter_map(|file| Some((file.clone(), std::fs::metadata(file).ok()?.permissions().mode() & 0o777)))
        .collect();
    assert!(modes.iter().all(|(_, mode)| *mode == 0o600), "{modes:?}");
    signal(&child, "INT");
    let status = child.wait().unwrap();
    assert_eq!(status.code(), Some(130), "8192 bits take longer than a signal");
    assert_eq!(dir.files(), before);
    assert!(!dir.file("large").exists(), "nor the directory that was made for it");
    assert_eq!(modes.len(), 1, "the private key's file was there, for its owner alone");
}

/// Writes enough rows that the output does not fit a nearly full disk.
fn many_rows(dir: &TestDir) {
    let rows: String = (0..4000).map(|row| format!("{row},{}\n", "text ".repeat(5))).collect();
    dir.write("in.csv", format!("salary,note\n{rows}"));
}

#[test]
fn a_full_disk_is_one_line() {
    let dir = TestDir::new();
    many_rows(&dir);
    dir.fails(
        "encrypt --key keys/private.json --column salary in.csv --out /dev/full",
        "/dev/full: cannot write: No space",
    );
    dir.ok("encrypt --key keys/private.json --column salary in.csv --out rows.parquet");
    dir.fails("decrypt --key keys/private.json rows.parquet --out /dev/full", "/dev/full: cannot write: No space");
    dir.fails("sum --key keys/public.json rows.parquet --out /dev/full", "/dev/full: cannot write: No space");
    dir.fails(
        "export --key keys/public.json --column salary rows.parquet --out /dev/full",
        "/dev/full: cannot write: No",
    );
}

#[test]
fn a_full_standard_output_is_one_line() {
    let dir = TestDir::new();
    many_rows(&dir);
    dir.ok("encrypt --key keys/private.json --column salary in.csv --out rows.parquet");
    for line in ["decrypt --key keys/private.json rows.parquet", "inspect rows.parquet", "engines"] {
        let full = std::fs::File::options().write(true).open("/dev/full").unwrap();
        let run = Run::of(dir.command(line.split_whitespace()).stdout(full).output().unwrap());
        run.failed(line, "standard output: cannot write: No space");
    }
}

#[test]
fn a_closed_standard_output_is_one_line() {
    let dir = TestDir::new();
    many_rows(&dir);
    dir.ok("encrypt --key keys/private.json --column salary in.csv --out rows.parquet");
    for line in [
        "encrypt --key keys/private.json --column salary in.csv --out -",
        "sum --key keys/public.json rows.parquet --out -",
        "decrypt --key keys/private.json rows.parquet",
        "export --key keys/public.json --column salary rows.parquet",
        "inspect rows.parquet",
        "engines",
    ] {
        let line = format!("exec {} --insecure-key {line} >&-", env!("CARGO_BIN_EXE_hearith"));
        let run = Run::of(Command::new("sh").args(["-c", &line]).current_dir(dir.path()).output().unwrap());
        run.failed(&line, "standard output: cannot write: Bad file descriptor");
    }
    let line = format!(
        "exec {} --insecure-key decrypt --quiet --key keys/private.json rows.parquet >/dev/null",
        env!("CARGO_BIN_EXE_hearith")
    );
    assert!(Command::new("sh").args(["-c", &line]).current_dir(dir.path()).output().unwrap().status.success());
}

#[test]
fn a_file_that_may_not_grow_is_removed() {
    let dir = TestDir::new();
    many_rows(&dir);
    let before = dir.files();
    let line = format!(
        "ulimit -f 100; exec {} --insecure-key encrypt --key keys/private.json --column salary in.csv --out out.parquet",
        env!("CARGO_BIN_EXE_hearith")
    );
    let run = Run::of(Command::new("sh").args(["-c", &line]).current_dir(dir.path()).output().unwrap());
    run.failed("encrypt", "out.parquet: cannot write: File too large");
    assert_eq!(dir.files(), before);
}

#[test]
fn a_reader_that_leaves_early_is_no_error() {
    let dir = TestDir::new();
    many_rows(&dir);
    dir.ok("encrypt --key keys/private.json --column salary in.csv --out rows.parquet");
    let mut command = dir.command("decrypt --quiet --key keys/private.json rows.parquet".split_whitespace());
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut first = [0; 12];
    child.stdout.take().unwrap().read_exact(&mut first).unwrap();
    assert_eq!(&first, b"salary,note\n");
    let run = Run::of(child.wait_with_output().unwrap());
    assert_eq!(run.status, Some(141), "{}", run.stderr);
    assert!(run.complaints().is_empty(), "{}", run.stderr);
}
