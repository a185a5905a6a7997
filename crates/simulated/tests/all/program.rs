//! The command line on simulated hardware.

use std::fs;

use crate::command_line::serving::{Service, shown};
use crate::command_line::{STAFF, TestDir};
use hearith_simulated::PROVIDERS;
use serde_json::Value;

const ENCRYPT: &str = "encrypt --key keys/public.json --column salary,bonus --scale bonus=2 in.csv --out rows.parquet";
const SUM: &str = "sum --key keys/public.json --by dept rows.parquet --out totals.parquet";

fn totals() -> TestDir {
    let dir = TestDir::new();
    dir.write("in.csv", STAFF);
    dir.ok(ENCRYPT);
    dir.ok(SUM);
    dir
}

fn available() -> bool {
    PROVIDERS.iter().all(|provider| provider.state().available)
}

#[test]
fn every_device_gives_the_totals_of_the_cpu() {
    let dir = totals();
    let decrypt = "decrypt --key keys/private.json totals.parquet";
    let expected = dir.ok(decrypt).text();
    let decryptors: Vec<_> = PROVIDERS.iter().filter(|provider| provider.decrypts().is_some()).collect();
    assert_eq!(decryptors.len(), 3);
    for provider in decryptors {
        let engine = provider.system().name;
        let line = format!("{decrypt} --json --engine {engine}");
        if !provider.state().available {
            dir.fails(&line, &format!("engine {engine}: the design"));
            continue;
        }
        let run = dir.ok(&line);
        assert_eq!(run.text(), expected);
        // The same with checks off.
        assert_eq!(dir.ok(&format!("{line} --unchecked-device")).text(), expected);
        let report = run.stderr.lines().find(|line| line.starts_with("{\"step\"")).unwrap();
        let report: Value = serde_json::from_str(report).unwrap();
        assert_eq!(report["engine"], engine);
        assert!(report["note"].as_str().unwrap().contains(" cycles for "), "{report}");
    }
}

/// Tables that the co-processor encrypts and sums decrypt to the CPU's results, whether the private
/// or the public key is given.
#[test]
fn the_coprocessor_encrypts_and_adds_up() {
    let dir = totals();
    let decrypt = "decrypt --key keys/private.json totals.parquet";
    let expected = dir.ok(decrypt).text();
    let coproc = PROVIDERS.iter().find(|provider| provider.system().name == "coproc").unwrap();
    let (encrypt, sum) = (format!("{ENCRYPT} --engine coproc"), format!("{SUM} --engine coproc --rerandomise"));
    if !coproc.state().available {
        for line in [encrypt, sum] {
            dir.fails(&line, "engine coproc: the design");
        }
        return;
    }
    for (unchecked, key) in [("", "public"), (" --unchecked-device", "private")] {
        let with = |line: &str| format!("{line} --json{unchecked}").replace("public", key);
        for line in [&encrypt, &sum] {
            let run = dir.ok(&with(line));
            let report = run.stderr.lines().find(|line| line.starts_with("{\"step\"")).unwrap();
            let report: Value = serde_json::from_str(report).unwrap();
            assert_eq!(report["engine"], "coproc");
            assert!(report["note"].as_str().unwrap().contains(" commands"), "{report}");
        }
        assert_eq!(dir.ok(decrypt).text(), expected);
    }
    // A key that fits no device.
    dir.ok("keygen --bits 2048 --out large");
    let line = ENCRYPT.replace("keys", "large");
    dir.fails(&format!("{line} --engine coproc"), "engine coproc: a key of 2048 bits does not fit");
}

/// Any of several devices may do the work, and all are listed.
#[test]
fn a_service_decrypts_on_its_devices() {
    let dir = totals();
    let expected = dir.ok("decrypt --key keys/private.json totals.parquet").text();
    if !available() {
        return dir.fails("serve --key keys/private.json --device mesa-dual", "engine mesa-dual: the design");
    }
    for devices in ["--device mesa-dual", "--engine mesa-dual", "--engine coproc --device mesa-dual,mesa"] {
        let service = Service::start(&dir, &format!("--key keys/private.json --metrics 127.0.0.1:0 {devices}"));
        let remote = format!("decrypt --key keys/public.json --remote {} totals.parquet", service.url);
        assert_eq!(dir.ok(&remote).text(), expected, "{devices}");
        let metrics = shown(service.metrics.as_ref().unwrap());
        let did = |processor: &str| {
            let line = format!("hearith_batch_rows_count{{processor=\"{processor}\",operation=\"decrypt\"}}");
            metrics.contains(&line)
        };
        // With --engine, the CPU leaves supported operations to devices.
        let by_device = ["mesa", "mesa-dual", "coproc"].into_iter().any(did);
        assert!(by_device || !devices.contains("--engine"), "{devices}: {metrics}");
        assert!(metrics.contains("hearith_set_aside 0"), "{devices}: {metrics}");
        assert_eq!(service.end("-TERM"), Some(0));
    }
    dir.fails(
        "serve --key keys/private.json --device residue-bank",
        "the engine 'residue-bank' only converts integers to residues",
    );
    dir.fails("serve --key keys/private.json --device abacus", "there is no device 'abacus'");
    dir.fails("serve --engine mesa-dual", "a device that decrypts needs a private key");
}

/// The service uses the keys that its clients register, one after the other, and no private key.
/// Operations that no device supports are left to the CPU.
#[test]
fn a_service_computes_on_its_coprocessor() {
    let dir = totals();
    let coproc = PROVIDERS.iter().find(|provider| provider.system().name == "coproc").unwrap();
    if !coproc.state().available {
        return dir.fails("serve --engine coproc", "engine coproc: it needs Verilator");
    }
    let service = Service::start(&dir, "--engine coproc --metrics 127.0.0.1:0");
    let metrics = || shown(service.metrics.as_ref().unwrap());
    let did = |processor: &str, operation: &str| {
        metrics().contains(&format!("hearith_batch_rows_count{{processor=\"{processor}\",operation=\"{operation}\"}}"))
    };
    for keys in ["keys", "other", "keys"] {
        let decrypt = format!("decrypt --key {keys}/private.json totals.parquet");
        for line in [ENCRYPT, SUM] {
            dir.ok(&line.replace("keys", keys));
        }
        let expected = dir.ok(&decrypt).text();
        for line in [ENCRYPT, SUM] {
            dir.ok(&format!("{line} --remote {}", service.url).replace("keys", keys));
        }
        assert_eq!(dir.ok(&decrypt).text(), expected, "{keys}");
    }
    assert!(did("coproc", "encrypt") && did("coproc", "sum_groups"), "{}", metrics());
    assert_eq!(
        metrics().matches("hearith_batch_rows_count").count(),
        2,
        "the CPU was asked for nothing: {}",
        metrics()
    );
    dir.ok("keygen --bits 2048 --out large");
    dir.ok(&format!("{ENCRYPT} --remote {}", service.url).replace("keys", "large"));
    assert!(metrics().contains("hearith_set_aside 0"), "{}", metrics());
    assert_eq!(metrics().matches("hearith_batch_rows_count").count(), 3, "{}", metrics());
    assert_eq!(service.end("-TERM"), Some(0));
}

#[test]
fn devices_are_listed_with_their_parameters_or_what_is_missing() {
    let dir = TestDir::new();
    let text = dir.ok("engines --engine mesa").text();
    let line = text.lines().find(|line| line.starts_with("mesa ")).unwrap();
    let expected = if available() { "N = 1024 with 12 MEs" } else { "needs Verilator" };
    assert!(line.contains(expected) && line.contains("chosen"), "{text}");
    assert_eq!(text.matches("chosen").count(), 1, "{text}");
}

#[test]
fn devices_refuse_what_they_cannot_do() {
    let dir = totals();
    dir.fails(&format!("{ENCRYPT} --engine mesa"), "the engine 'mesa' only decrypts");
    dir.fails(&format!("{SUM} --engine residue-bank"), "the engine 'residue-bank' only converts integers to residues");
    dir.fails(
        "keygen --bits 2048 --out other --engine coproc",
        "the engine 'coproc' only encrypts, adds up and decrypts",
    );
    dir.fails("decrypt --key keys/private.json totals.parquet --engine abacus", "unknown engine 'abacus'");
    let run = dir.run("engines --engine abacus");
    let named = "devices: cuda (encrypts, adds and decrypts with Paillier keys), mesa (decrypts), \
        mesa-dual (decrypts), residue-bank (converts integers to residues), \
        coproc (encrypts, adds up and decrypts), dghv (encrypts with keys over the integers), \
        ballot-machine (makes and counts ballots)";
    assert!(run.stderr.trim_end().ends_with(named), "{}", run.stderr);
    if available() {
        dir.ok("keygen --bits 3072 --out large");
        dir.write("one.csv", "salary\n1\n");
        dir.ok("encrypt --key large/public.json --column salary one.csv --out one.parquet");
        let line = "decrypt --key large/private.json one.parquet --engine mesa --out out.csv";
        dir.fails(line, "engine mesa: a key of 3072 bits does not fit: the device supports at most 2048");
    }
}

#[test]
fn the_residue_bank_gives_the_residues_of_the_cpu() {
    let dir = TestDir::new();
    // The product of the primes has 360 bits: 108 digits always fit.
    let nines = "9".repeat(108);
    let numbers: Vec<String> = (0..200).map(|at| nines[..1 + at * 107 / 199].to_owned()).collect();
    dir.write("in.txt", format!("0\n1\n0xfffffffffffffffffffffffffffff\n{}\n", numbers.join("\n")));
    for table in ["csv", "parquet"] {
        dir.ok(&format!("rns convert --engine cpu --modulus-bits 359 in.txt --out cpu.{table}"));
        let line = format!("rns convert --engine residue-bank --modulus-bits 359 --json in.txt --out bank.{table}");
        if !available() {
            dir.fails(&line, "engine residue-bank: the design residue_bank_360 has no model");
            continue;
        }
        let report: Value = serde_json::from_str(dir.ok(&line).stderr.lines().last().unwrap()).unwrap();
        assert_eq!(report["engine"], "residue-bank");
        assert!(report["note"].as_str().unwrap().ends_with(" cycles for 203 integers"), "{report}");
        let bytes = |name: &str| fs::read(dir.file(&format!("{name}.{table}"))).unwrap();
        assert!(bytes("bank") == bytes("cpu"), "{table}");
        dir.ok(&format!("{line} --unchecked-device"));
        assert!(bytes("bank") == bytes("cpu"), "{table}");
    }
}

#[test]
fn the_residue_bank_refuses_what_it_was_not_built_for() {
    let dir = totals();
    dir.write("in.txt", "1\n");
    let convert = "rns convert --engine residue-bank --modulus-bits 359 in.txt --out out.csv";
    dir.fails(&format!("{convert} --primes 101,103"), "engine residue-bank: no residue bank has these 2 moduli");
    dir.fails("rns primes --engine residue-bank", "the engine 'residue-bank' only converts integers to residues");
    dir.fails(
        "decrypt --key keys/private.json totals.parquet --engine residue-bank",
        "the engine 'residue-bank' only converts integers to residues",
    );
    dir.fails("rns convert --engine mesa in.txt --out out.csv", "the engine 'mesa' only decrypts");
}

/// Columns encrypted with the bank's residues decrypt, sum and look like the CPU's. All other
/// commands refuse the bank.
#[test]
fn the_residue_bank_encrypts_columns_whole() {
    let dir = totals();
    dir.ok("keygen --scheme bfv --out lattice");
    let bank = "--engine residue-bank";
    let line = |key: &str, options: &str| ENCRYPT.replace("keys/public", &format!("lattice/{key}")) + " " + options;
    let paillier = format!("{ENCRYPT} {bank}");
    dir.fails(&paillier, "the engine 'residue-bank' only converts integers to residues");
    let coproc = "the engine 'coproc' does not support BFV keys";
    dir.fails(&line("public", "--engine coproc"), coproc);
    for command in [
        "sum --key lattice/public.json rows.parquet --out totals.parquet",
        "decrypt --key lattice/private.json rows.parquet",
    ] {
        dir.fails(&format!("{command} {bank}"), "the engine 'residue-bank' only converts integers to residues");
    }
    let provider = PROVIDERS.iter().find(|provider| provider.system().name == "residue-bank").unwrap();
    if !provider.state().available {
        return dir.fails(&line("public", bank), "engine residue-bank: the design residue_bank_200 has no model");
    }
    let looks = |key: &str, options: &str| {
        dir.ok(&line(key, options));
        let rows = dir.ok("decrypt --key lattice/private.json rows.parquet").text();
        (fs::metadata(dir.file("rows.parquet")).unwrap().len(), rows)
    };
    for key in ["public", "private"] {
        let expected = looks(key, "--engine cpu");
        assert_eq!(expected.1, STAFF);
        let report = dir.ok(&line(key, &format!("{bank} --json"))).stderr;
        let report: Value = serde_json::from_str(report.lines().last().unwrap()).unwrap();
        assert_eq!(report["engine"], "residue-bank");
        assert!(report["note"].as_str().unwrap().ends_with(" cycles for 10 coefficients"), "{report}");
        assert_eq!(looks(key, bank), expected);
        assert_eq!(looks(key, &format!("{bank} --unchecked-device")), expected);
        dir.ok("sum --key lattice/public.json --by dept rows.parquet --out totals.parquet");
        let totals = dir.ok("decrypt --key lattice/private.json totals.parquet").text();
        assert_eq!(totals, "dept,rows,salary,bonus\n,1,-7,1.25\nlab,3,1480,-2.49\nshop,1,900,\n");
    }
}

/// Bits encrypted with the accelerator decrypt with the CPU. Commands that it does not support are
/// refused.
#[test]
fn bits_are_encrypted_over_the_integers() {
    let dir = TestDir::new();
    dir.write("bits.txt", "1\n0\n");
    let dghv = "dghv --insecure-historical-parameters";
    dir.ok(&format!("{dghv} keygen --scheme cnt --parameters toy --without-recryption --out key"));
    let encrypt = format!("{dghv} encrypt --key key/public.dghv bits.txt --out bits.dghv --json --engine dghv");
    let provider = PROVIDERS.iter().find(|provider| provider.system().name == "dghv").unwrap();
    if !provider.state().available {
        dir.fails(&encrypt, "engine dghv: the design");
        return;
    }
    let run = dir.ok(&encrypt);
    let report = run.stderr.lines().find(|line| line.starts_with("{\"step\"")).unwrap();
    let report: Value = serde_json::from_str(report).unwrap();
    assert_eq!(report["engine"], "dghv");
    assert!(report["note"].as_str().unwrap().contains(" cycles for "), "{report}");
    let decrypted = dir.ok(&format!("{dghv} decrypt --key key/private.dghv bits.dghv"));
    assert_eq!(decrypted.text(), "1\n0\n");
    let refused = format!("{dghv} decrypt --key key/private.dghv bits.dghv --engine dghv");
    dir.fails(&refused, "the engine 'dghv' only encrypts with keys over the integers");
}
