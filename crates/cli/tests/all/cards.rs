//! Graphics cards as engines: an emulated driver, and drivers that are missing or old.

use hearith_cuda::{EMULATED_DRIVER, LIBRARY_VARIABLE, OLD_DRIVER};

use crate::common::{Run, STAFF, TestDir};

/// Runs a command with this driver.
fn run(dir: &TestDir, driver: &str, line: &str) -> Run {
    Run::of(dir.command(line.split_whitespace()).env(LIBRARY_VARIABLE, driver).output().unwrap())
}

#[test]
fn columns_are_encrypted_added_and_decrypted_on_a_card() {
    let dir = TestDir::new();
    dir.write("in.csv", STAFF);
    let ok = |line: &str| {
        let run = run(&dir, EMULATED_DRIVER, line);
        assert_eq!(run.status, Some(0), "{}", run.stderr);
        run
    };
    dir.ok("encrypt --key keys/public.json --column salary in.csv --out cpu.parquet");
    dir.ok("sum --key keys/public.json cpu.parquet --out cpu-total.parquet");
    let expected = dir.ok("decrypt --key keys/private.json cpu-total.parquet").text();

    let made = ok("encrypt --engine cuda --key keys/public.json --column salary in.csv --out rows.parquet");
    assert!(made.stderr.contains("Emulated exact, sm_90, 1 GiB, wide kernels"), "{}", made.stderr);
    ok("sum --engine cuda --key keys/public.json rows.parquet --out total.parquet");
    let found = ok("decrypt --engine cuda --key keys/private.json total.parquet").text();
    assert_eq!(found, expected);
}

#[test]
fn cards_are_chosen_by_number() {
    let dir = TestDir::new();
    dir.write("in.csv", STAFF);
    let encrypt = |engine: &str| {
        let line = format!("encrypt {engine} --key keys/private.json --column salary in.csv --out rows.parquet");
        run(&dir, EMULATED_DRIVER, &line)
    };
    let narrow = encrypt("--engine cuda:2");
    assert_eq!(narrow.status, Some(0), "{}", narrow.stderr);
    assert!(narrow.stderr.contains("Emulated narrow, sm_89, 1 GiB, narrow kernels"), "{}", narrow.stderr);
    dir.ok("sum --key keys/public.json rows.parquet --out total.parquet");
    dir.ok("decrypt --key keys/private.json total.parquet");
    for (engine, expected) in [
        ("cuda:3", "card too old: Emulated old"),
        ("cuda:99", "no card 99: there are 9, counted from 0"),
        ("cuda:one", "there is no engine 'cuda:one': it may be cuda, cuda:all, cuda:0 and so on"),
    ] {
        let refused = encrypt(&format!("--engine {engine}"));
        assert!(refused.status == Some(2) && refused.stderr.contains(expected), "{}", refused.stderr);
    }
}

/// Few rows stay on the CPU, and no key is sent to a card without permission.
#[test]
fn auto_takes_a_card_where_it_is_allowed() {
    let dir = TestDir::new();
    dir.write("in.csv", STAFF);
    let encrypt = "encrypt --key keys/public.json --column salary in.csv --out rows.parquet";
    for engine in ["", " --engine auto"] {
        let cpu = run(&dir, EMULATED_DRIVER, &format!("{encrypt}{engine}"));
        assert!(cpu.status == Some(0) && !cpu.stderr.contains("auto"), "{}", cpu.stderr);
        let allowed = run(&dir, EMULATED_DRIVER, &format!("{encrypt}{engine} --allow-card"));
        assert_eq!(allowed.status, Some(0), "{}", allowed.stderr);
        assert!(allowed.stderr.contains("auto: no card was used"), "{}", allowed.stderr);
    }
    // Commands that no card supports, and a machine without a card.
    assert_eq!(run(&dir, EMULATED_DRIVER, "inspect rows.parquet --allow-card").status, Some(0));
    assert_eq!(run(&dir, "/nowhere/libcuda.so.1", &format!("{encrypt} --allow-card")).status, Some(0));
}

#[test]
fn cards_are_listed_in_one_line() {
    let dir = TestDir::new();
    let line = |driver: &str| {
        let run = run(&dir, driver, "engines");
        assert_eq!(run.status, Some(0), "{}", run.stderr);
        run.text().lines().find(|line| line.starts_with("cuda ")).unwrap().to_owned()
    };
    let needs = "; needs an NVIDIA card of compute capability 8.0 or newer, with driver 580 or newer";
    let none = line("/nowhere/libcuda.so.1");
    assert!(none.contains("not available ") && none.ends_with(needs), "{none}");
    assert!(none.contains("no driver: /nowhere/libcuda.so.1 cannot be loaded"), "{none}");
    let old = line(OLD_DRIVER);
    assert!(old.contains("driver too old: it supports CUDA 12.4") && old.ends_with(needs), "{old}");
    let found = line(EMULATED_DRIVER);
    assert!(found.contains(" available ") && found.contains("card 0: Emulated exact, sm_90"), "{found}");
    assert!(found.contains("card 3: card too old: Emulated old has compute capability 7.5"), "{found}");
}

/// There is no cost model for cards. The message names the card, or says why there is none.
#[test]
fn what_cannot_be_explained_is_said() {
    let dir = TestDir::new();
    let text = |driver| run(&dir, driver, "engines --explain --engine cuda").stderr;
    let known = text(EMULATED_DRIVER);
    assert!(
        known.contains("only the engine ifma has a cost model, not cuda (card 0: Emulated exact, sm_90"),
        "{known}"
    );
    let none = text("/nowhere/libcuda.so.1");
    assert!(none.contains("not cuda (not available: no driver: /nowhere/libcuda.so.1"), "{none}");
}

#[test]
fn a_card_that_is_not_there_is_an_error() {
    let dir = TestDir::new();
    dir.write("in.csv", STAFF);
    let command = "encrypt --engine cuda --key keys/public.json --column salary in.csv --out rows.parquet";
    let run = run(&dir, "/nowhere/libcuda.so.1", command);
    assert_eq!(run.status, Some(2));
    let expected = "engine cuda: no driver: /nowhere/libcuda.so.1 cannot be loaded";
    assert!(run.stderr.contains(expected), "{}", run.stderr);
}

#[test]
fn what_cards_do_not_do_is_refused_by_name() {
    let dir = TestDir::new();
    dir.write("in.txt", "1\n");
    let expected = "the engine 'cuda' only encrypts, adds and decrypts with Paillier keys";
    dir.fails("rns convert in.txt --out out.csv --engine cuda", expected);
    dir.fails("keygen --engine cuda --out other", expected);
}
