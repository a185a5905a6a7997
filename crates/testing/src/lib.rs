//! Engines and tools that a machine may lack, and the list of those that it must have.
//!
//! A test that can run without something asks [`has`]. The environment variable `HEARITH_REQUIRE`
//! lists what a machine must have, separated by commas, such as `ifma,verilator,valgrind`. If a
//! listed item is missing, [`has`] fails the test instead of skipping it. All valid names are in
//! [`NAMES`]. Any other name is an error, so a typo cannot disable a requirement.

pub mod heap;

/// The environment variable with the list of required items.
pub const REQUIRE: &str = "HEARITH_REQUIRE";

/// The valid names of a list:
///
/// - engines and tools
/// - what is in Python: the second test bench of the top modules (cocotb), and the requirements of
///   the Python package's tests (python-paillier, its own suite from the package index, DuckDB, the
///   built command line, Flower, Spark, notebooks)
/// - Go, for the service's client in another language
/// - PostgreSQL, for the election's server, and one with the extension (`scripts/postgres.sh test`)
/// - Chromium, for the server's pages
/// - requirements of tests of forks: process namespaces, and the right to choose the next process
///   id (`/proc/sys/kernel/ns_last_pid`)
/// - buildah, for the service's image
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

/// Whether a test can use `name`. The caller passes in `present` whether it is available.
///
/// # Panics
/// If it is missing although `HEARITH_REQUIRE` lists it, if the list holds a name outside
/// [`NAMES`], or if `name` is not among them.
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

    /// Set in the child process that the test starts.
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
