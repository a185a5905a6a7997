//! Finds Verilator.

use std::env;
use std::path::PathBuf;
use std::process::Command;

/// An installed Verilator.
#[derive(Debug)]
pub struct Verilator {
    program: String,
    version: String,
    root: PathBuf,
}

impl Verilator {
    /// Looks for the program named by the environment variable `VERILATOR`, or `verilator`.
    ///
    /// Tells Cargo when to look again: when the variable changes, or, if nothing was found, when
    /// such a program is installed.
    pub fn find() -> Option<Self> {
        println!("cargo::rerun-if-env-changed=VERILATOR");
        let program = env::var("VERILATOR").unwrap_or_else(|_| "verilator".into());
        let answer = |arguments: &[&str]| {
            let output = Command::new(&program).args(arguments).output().ok()?;
            let text = String::from_utf8(output.stdout).ok()?;
            output.status.success().then(|| text.trim().to_owned())
        };
        let found = answer(&["--version"]).zip(answer(&["--getenv", "VERILATOR_ROOT"]));
        if found.is_none() {
            println!("cargo::rerun-if-env-changed=PATH");
            let directories = env::var_os("PATH").unwrap_or_default();
            let present = env::split_paths(&directories).filter(|directory| directory.is_dir());
            present.for_each(|directory| println!("cargo::rerun-if-changed={}", directory.display()));
        }
        let (version, root) = found?;
        Some(Self { program, version, root: root.into() })
    }

    /// The directory of its C++ headers and run-time sources.
    pub fn include(&self) -> PathBuf {
        self.root.join("include")
    }

    /// A command that runs it.
    #[allow(dead_code, reason = "this crate's own build script needs only the directory")]
    pub fn command(&self) -> Command {
        Command::new(&self.program)
    }

    /// The version that it prints.
    #[allow(dead_code, reason = "this crate's own build script needs only the directory")]
    pub fn version(&self) -> &str {
        &self.version
    }
}
