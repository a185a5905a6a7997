//! The corpus of manipulated records (`verifier/tests/corpus`). Each record must fail at a given
//! check or be valid. The Python verifier and the web pages run the same test, so all three agree,
//! as does the distributed verifier.

use crate::records::report;
use hearith_election::{Folder, Report};
use hearith_paillier::KeyPolicy;
use rayon::prelude::*;
use serde::Deserialize;
use std::path::Path;
use std::process::Command;

#[derive(Deserialize)]
struct Case {
    check: Option<String>,
    family: String,
    folder: String,
    insecure: bool,
    name: String,
}

/// Runs the generator with these arguments and returns its folder and cases.
fn corpus(arguments: &[&str]) -> (tempfile::TempDir, Vec<Case>) {
    let folder = tempfile::tempdir().unwrap();
    let program = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../verifier/tests/corpus");
    let status = Command::new("python3").arg(program).arg(folder.path()).args(arguments).status();
    assert!(status.expect("python3 is there").success());
    let text = std::fs::read_to_string(folder.path().join("cases.json")).unwrap();
    let cases = serde_json::from_str(&text).unwrap();
    (folder, cases)
}

/// The first check that fails.
fn failing(report: &Report) -> Option<&'static str> {
    report.checks.iter().find(|(_, check)| check.wrong > 0).map(|(step, _)| step.name())
}

fn agree(arguments: &[&str], least: usize) {
    let (folder, cases) = corpus(arguments);
    assert!(cases.len() >= least);
    let wrong: Vec<String> = cases
        .par_iter()
        .filter_map(|case| {
            let policy = if case.insecure { KeyPolicy::AllowInsecure } else { KeyPolicy::Secure };
            let report = report(&Folder(folder.path().join(&case.folder)), policy);
            let found = failing(&report);
            let Case { check, family, name, .. } = case;
            (found != check.as_deref()).then(|| format!("{family}: {name}: {found:?}, not {check:?}"))
        })
        .collect();
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), cases.len(), wrong.join("\n"));
}

#[test]
fn every_manipulation_is_found_by_the_check_that_it_concerns() {
    agree(&[], 370);
}

#[test]
#[ignore = "a long test: a thousand mutations"]
fn random_mutations_are_judged_alike() {
    agree(&["--random", "1000", "--seed", "3"], 1000);
}
