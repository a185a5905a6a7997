//! Runs the real program in separate directories.

pub mod ceremony;
pub mod serving;

use std::ffi::OsStr;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::LazyLock;

use tempfile::TempDir;

/// Keys generated once for all tests of a program. They are far too small, for speed.
static KEYS: LazyLock<TempDir> = LazyLock::new(|| {
    let directory = tempfile::tempdir().unwrap();
    for (name, variant) in [("keys", "standard"), ("other", "djn")] {
        let out = directory.path().join(name);
        let made = program()
            .args(["keygen", "--bits", "512", "--insecure-key", "--variant", variant, "--out"])
            .arg(out)
            .output()
            .unwrap();
        assert!(made.status.success(), "{made:?}");
    }
    directory
});

/// The program of the package under test: the command line, or its variant with simulated devices.
const PROGRAM: &str = match (option_env!("CARGO_BIN_EXE_hearith"), option_env!("CARGO_BIN_EXE_hearith-simulated")) {
    (Some(program), _) | (None, Some(program)) => program,
    (None, None) => panic!("the package has no such program"),
};

/// The program, isolated from parts of the caller's environment that change its behaviour. A shell
/// starts background jobs with SIGINT ignored, and nohup its command with SIGHUP ignored. The
/// program would keep ignoring them.
pub fn program() -> Command {
    let mut command = Command::new("env");
    command.args(["--default-signal=INT,HUP", PROGRAM]).env_remove("HEARITH_ENGINE").stdin(Stdio::null());
    command
}

/// A directory with keys in `keys/` and `other/`.
pub struct TestDir {
    directory: TempDir,
}

/// The outcome of a run.
#[derive(Debug)]
pub struct Run {
    pub status: Option<i32>,
    pub stdout: Vec<u8>,
    pub stderr: String,
}

impl TestDir {
    pub fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        for name in ["keys", "other"] {
            let (from, to) = (KEYS.path().join(name), directory.path().join(name));
            fs::create_dir(&to).unwrap();
            for file in ["public.json", "private.json"] {
                fs::copy(from.join(file), to.join(file)).unwrap();
            }
        }
        Self { directory }
    }

    pub fn path(&self) -> &Path {
        self.directory.path()
    }

    pub fn file(&self, name: &str) -> PathBuf {
        self.path().join(name)
    }

    pub fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        fs::write(self.file(name), content).unwrap();
    }

    pub fn read(&self, name: &str) -> String {
        fs::read_to_string(self.file(name)).unwrap()
    }

    /// The program in this directory, with permission for the tests' small keys.
    pub fn command<S: AsRef<OsStr>>(&self, arguments: impl IntoIterator<Item = S>) -> Command {
        let mut command = self.strict(["--insecure-key"]);
        command.args(arguments);
        command
    }

    /// The program in this directory, which rejects small keys as usual.
    pub fn strict<S: AsRef<OsStr>>(&self, arguments: impl IntoIterator<Item = S>) -> Command {
        let mut command = program();
        command.current_dir(self.path()).args(arguments);
        command
    }

    /// Runs the program with the words of a line as its arguments.
    pub fn run(&self, line: &str) -> Run {
        Run::of(self.command(line.split_whitespace()).output().unwrap())
    }

    /// Runs it with data on standard input.
    pub fn run_with(&self, line: &str, input: &[u8]) -> Run {
        let mut command = self.command(line.split_whitespace());
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut stdin = child.stdin.take().unwrap();
        let input = input.to_vec();
        let writer = std::thread::spawn(move || {
            let _ = stdin.write_all(&input);
        });
        let output = child.wait_with_output().unwrap();
        writer.join().unwrap();
        Run::of(output)
    }

    /// Runs it and expects success.
    pub fn ok(&self, line: &str) -> Run {
        let run = self.run(line);
        assert_eq!(run.status, Some(0), "{line}: {}", run.stderr);
        run
    }

    /// Runs it. Expects status 2, one line on standard error that begins with `expected`, and no
    /// new file.
    pub fn fails(&self, line: &str, expected: &str) {
        let before = self.files();
        let run = self.run(line);
        run.failed(line, expected);
        assert_eq!(self.files(), before, "{line}: files came or went");
    }

    /// Runs a Python program in this directory, expects success, and returns its output.
    pub fn python(&self, program: &str) -> String {
        let output = Command::new(python()).args(["-c", program]).current_dir(self.path()).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }

    /// The files in this directory, sorted.
    pub fn files(&self) -> Vec<String> {
        let mut files = Vec::new();
        list(self.path(), &mut files);
        files.sort();
        files
    }

    /// Encrypts `in.csv`, sums it, decrypts the totals, and returns them as CSV.
    pub fn totals(&self, encrypt: &str, sum: &str) -> String {
        self.ok(&format!("encrypt --key keys/public.json {encrypt} in.csv --out rows.parquet"));
        self.ok(&format!("sum --key keys/public.json {sum} rows.parquet --out totals.parquet"));
        self.ok("decrypt --key keys/private.json totals.parquet").text()
    }
}

impl Run {
    pub fn of(output: Output) -> Self {
        let stderr = String::from_utf8(output.stderr).unwrap();
        Self { status: output.status.code(), stdout: output.stdout, stderr }
    }

    pub fn text(&self) -> String {
        String::from_utf8(self.stdout.clone()).unwrap()
    }

    /// The lines on standard error, except warnings about the tests' small keys.
    pub fn complaints(&self) -> Vec<&str> {
        self.stderr.lines().filter(|line| !line.trim_end_matches(['"', '}']).ends_with("is INSECURE")).collect()
    }

    /// Expects status 2 and one line that begins with `expected`.
    pub fn failed(&self, what: &str, expected: &str) {
        assert_eq!(self.status, Some(2), "{what}: {}", self.stderr);
        let complaints = self.complaints();
        assert_eq!(complaints.len(), 1, "{what}: {complaints:?}");
        let expected = format!("hearith: {expected}");
        assert!(complaints[0].starts_with(&expected), "{what}: {}", complaints[0]);
    }
}

fn list(directory: &Path, files: &mut Vec<String>) {
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => list(&path, files),
            false => files.push(path.to_string_lossy().into_owned()),
        }
    }
}

/// Staff of two departments and of none, with text to keep and a null in each numeric column.
pub const STAFF: &str = "\
id,dept,site,salary,bonus
007,lab,1,1500,0.50
008,shop,1,900,
009,,1,-7,1.25
010,lab,2,,-3.00
011,lab,2,-20,0.01
";

/// The Python interpreter with pyarrow and phe that tests compare with.
pub fn python() -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let usual = root.join(".venv/bin/python");
    let python = std::env::var_os("HEARITH_PHE_PYTHON").map_or(usual, PathBuf::from);
    let found = Command::new(&python).args(["-c", "import phe.command_line, pyarrow"]).output();
    assert!(
        found.is_ok_and(|output| output.status.success()),
        "this test compares with the Python packages phe[cli] and pyarrow, which {} does not have: `make test` sets them \
         up, or name a Python that has them in HEARITH_PHE_PYTHON",
        python.display()
    );
    python
}
