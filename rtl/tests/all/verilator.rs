//! Without Verilator, every test of the hardware is skipped. On a machine that must have Verilator,
//! this test then fails.

#[test]
fn verilator_is_there_where_it_must_be() {
    assert_eq!(hearith_testing::has("verilator", cfg!(verilator)), cfg!(verilator));
}

/// Cover points are compiled only when coverage is counted. This test checks that they still fit
/// their modules.
#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn cover_points_fit_their_modules() {
    let verilator = std::env::var("VERILATOR").unwrap_or_else(|_| "verilator".into());
    let mut files: Vec<_> = std::fs::read_dir("tests/cover").unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    assert!(!files.is_empty());
    for file in files {
        let name = file.file_stem().unwrap().to_str().unwrap();
        let module = name.strip_suffix("_cover").expect("named after its module");
        let mut command = std::process::Command::new(&verilator);
        command.args(["--lint-only", "-Wall", "--coverage-user", "--top-module", module, "+libext+.sv"]);
        command.args(["-y", "lib", "-y", "arith", "-y", "blocks", "-y", "coproc", "-y", "mesa", "-y", "rns"]);
        let output = command.arg(&file).arg(format!("{module}.sv")).output().unwrap();
        assert!(output.status.success(), "{name}: {}", String::from_utf8_lossy(&output.stderr));
    }
}
