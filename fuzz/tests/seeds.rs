//! Every seed goes once through its target: what a target asserts holds for them, and inputs that
//! once failed stay mended.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The executables of the targets, by the folder of their seeds.
const TARGETS: &[(&str, &str)] = &[
    ("arguments", env!("CARGO_BIN_EXE_arguments")),
    ("chunk", env!("CARGO_BIN_EXE_chunk")),
    ("ciphertexts", env!("CARGO_BIN_EXE_ciphertexts")),
    ("circuit", env!("CARGO_BIN_EXE_circuit")),
    ("condition", env!("CARGO_BIN_EXE_condition")),
    ("csv_table", env!("CARGO_BIN_EXE_csv_table")),
    ("decimal", env!("CARGO_BIN_EXE_decimal")),
    ("described", env!("CARGO_BIN_EXE_described")),
    ("dghv_bits", env!("CARGO_BIN_EXE_dghv_bits")),
    ("dghv_file", env!("CARGO_BIN_EXE_dghv_file")),
    ("dghv_parameters", env!("CARGO_BIN_EXE_dghv_parameters")),
    ("distributed_message", env!("CARGO_BIN_EXE_distributed_message")),
    ("election_line", env!("CARGO_BIN_EXE_election_line")),
    ("encrypted_key", env!("CARGO_BIN_EXE_encrypted_key")),
    ("integers", env!("CARGO_BIN_EXE_integers")),
    ("long_numbers", env!("CARGO_BIN_EXE_long_numbers")),
    ("metadata", env!("CARGO_BIN_EXE_metadata")),
    ("offline_file", env!("CARGO_BIN_EXE_offline_file")),
    ("parquet_table", env!("CARGO_BIN_EXE_parquet_table")),
    ("phe_json", env!("CARGO_BIN_EXE_phe_json")),
    ("private_key", env!("CARGO_BIN_EXE_private_key")),
    ("proof", env!("CARGO_BIN_EXE_proof")),
    ("public_key", env!("CARGO_BIN_EXE_public_key")),
    ("service_request", env!("CARGO_BIN_EXE_service_request")),
    ("share", env!("CARGO_BIN_EXE_share")),
];

fn entries(folder: &Path) -> Vec<PathBuf> {
    let mut entries: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    entries.sort();
    entries
}

#[test]
fn every_seed_passes_its_target() {
    let seeds = Path::new(env!("CARGO_MANIFEST_DIR")).join("seeds");
    for (target, program) in TARGETS.iter().copied() {
        let files = entries(&seeds.join(target));
        assert!(!files.is_empty(), "{target} has no seeds");
        // Named files run once each.
        let output = Command::new(program).args(&files).output().unwrap();
        let report = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{target}: {report}");
        assert_eq!(report.matches("Executed ").count(), files.len(), "{target}: {report}");
    }
}

#[test]
fn every_target_has_its_seeds_run() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz_targets");
    let targets: Vec<_> = entries(&folder).iter().map(|path| path.file_stem().unwrap().to_owned()).collect();
    assert!(targets.iter().eq(TARGETS.iter().map(|(target, _)| *target)), "{targets:?}");
}
