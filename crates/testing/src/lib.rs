//! Engines and tools that a machine may lack, and the list of those that it must have.
//!
//! A test that can do without something asks [`has`]. Whoever knows the machine lists in
//! `HEARITH_REQUIRE` what must not be missing there (names with commas between them, such as
//! `ifma,verilator,valgrind`): then [`has`] fails the test instead of leaving it out. Every name
//! that a list may hold is in [`NAMES`]; any other is an error, so that no slip of the pen requires
//! nothing.

pub mod heap;

/// The environment variable with the list of what must be there.
pub const REQUIRE: &str = "HEARITH_REQUIRE";

/// What a list may name: engines, tools, and what is in Python: the tops' second test bench
/// (cocotb), and what the Python package's tests ask for (python-paillier, its own suite from the
/// package index, DuckDB, the built command line, Flower, Spark, notebooks); Go, for the service's
/// client in another language; PostgreSQL, for the election's server, and one with the extension
/// (`scripts/postgres.sh test`); Chromium, for its pages; and what tests of forks need: namespaces
/// of processes, and the right to choose the next process's id (`/proc/sys/kernel/ns_last_pid`);
/// buildah, for the service's image.
pub const NAMES: [&str; 21] = [
    "serial",
    "avx2",
    "adx",
    "ifma",
    "verilator",
    "cocotb",
    "valgrind",
    "phe",
    "phe-suite",
    "duckdb",
    "command",
    "flower",
    "spark",
    "notebooks",
    "go",
    "postgres",
    "postgres-extension",
    "chromium",
    "namespaces",
    "last-pid",
    "buildah",
];

/// Whether a test can use what `name` stands for, `present` telling that it is there.
///
/// # Panics
/// If it is missing although `HEARITH_REQUIRE` lists it, if that lists a name outside of [`NAMES`],
/// or if `name` is outside of them.
#[must_use]
pub fn has(name: &str, present: bool) -> bool {
    let list = std::env::var(REQUIRE).unwrap_or_default();
    match judge(&list, name, present) {
        Ok(()) => {
            if !present {
                eprintln!("without {name}: a part of this test is left out");
            }
            present
        }
        Err(message) => panic!("{message}"),
    }
}

fn judge(list: &str, name: &str, present: bool) -> Result<(), String> {
    let mut required = false;
    for listed in list.split(',').map(str::trim).filter(|listed| !listed.is_empty()) {
        if !NAMES.contains(&listed) {
            return Err(format!("{REQUIRE} lists {listed:?}; it may list {}", NAMES.join(", ")));
        }
        required |= listed == name;
    }
    if !NAMES.contains(&name) {
        return Err(format!("{name:?} is none of {}", NAMES.join(", ")));
    }
    if required && !present {
        return Err(format!("{REQUIRE} lists {name}, which is missing"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    #[test]
    fn what_is_listed_must_be_there() {
        assert_eq!(judge("", "ifma", false), Ok(()));
        assert_eq!(judge("valgrind,phe", "ifma", false), Ok(()));
        assert_eq!(judge(" ifma , phe", "ifma", true), Ok(()));
        assert_eq!(judge("phe, ifma", "ifma", false), Err("HEARITH_REQUIRE lists ifma, which is missing".into()));
    }

    #[test]
    fn names_are_known() {
        assert!(judge("ifm", "ifma", true).unwrap_err().starts_with("HEARITH_REQUIRE lists \"ifm\""));
        assert!(judge("", "quantum", true).unwrap_err().starts_with("\"quantum\" is none of"));
    }

    /// Set in the process that the test starts.
    const CHILD: &str = "HEARITH_TESTING_CHILD";

    #[test]
    fn the_environment_fails_a_test() {
        if std::env::var_os(CHILD).is_some() {
            assert!(!has("ifma", false));
            return;
        }
        let run = |list| {
            let mut command = Command::new(std::env::current_exe().unwrap());
            command.args(["--exact", "tests::the_environment_fails_a_test"]).env(REQUIRE, list).env(CHILD, "1");
            command.output().unwrap()
        };
        assert!(run("valgrind").status.success());
        let failed = run("valgrind,ifma");
        assert!(!failed.status.success());
        assert!(String::from_utf8_lossy(&failed.stdout).contains("lists ifma, which is missing"), "{failed:?}");
    }
}
