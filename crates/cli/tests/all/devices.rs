//! Devices, none of which are built into this program.

use crate::common::{STAFF, TestDir};
use serde_json::Value;

const HOW: &str = "`cargo install --path crates/simulated` installs hearith-simulated, which simulates it";

#[test]
fn devices_that_are_not_built_in_say_how_to_get_them() {
    let dir = TestDir::new();
    dir.write("in.csv", STAFF);
    dir.write("in.txt", "1\n");
    for engine in ["mesa", "mesa-dual", "residue-bank", "dghv", "ballot-machine"] {
        for command in [
            "encrypt --key keys/public.json --column salary in.csv --out rows.parquet",
            "rns convert in.txt --out out.csv",
            "engines",
        ] {
            let expected = format!("the engine '{engine}' is not built in: {HOW}");
            dir.fails(&format!("{command} --engine {engine}"), &expected);
        }
    }
}

#[test]
fn only_devices_can_be_believed() {
    let dir = TestDir::new();
    dir.write("in.csv", STAFF);
    dir.write("in.txt", "1\n");
    dir.ok("encrypt --key keys/public.json --column salary in.csv --out rows.parquet");
    let expected = "--unchecked-device needs a device, and the engine 'serial' is not one";
    dir.fails("decrypt --key keys/private.json rows.parquet --engine serial --unchecked-device", expected);
    dir.fails("rns convert in.txt --engine serial --unchecked-device", expected);
}

#[test]
fn a_ballot_machine_that_is_not_built_in_says_how_to_get_one() {
    let dir = TestDir::new();
    for machine in ["--machine", "--machine=flash=log.bin", "--machine --challenge"] {
        let line = format!("election vote club --credential credential.json {machine} --choose Chair=Ada");
        dir.fails(&line, &format!("no ballot machine is built in: {HOW}"));
    }
    let run = dir.run("election vote club --credential credential.json --challenge --choose Chair=Ada");
    assert!(run.status == Some(2) && run.stderr.contains("--machine"), "{}", run.stderr);
}

#[test]
fn devices_that_are_not_built_in_are_listed() {
    let dir = TestDir::new();
    let text = dir.ok("engines").text();
    for (engine, does) in [("mesa", "decrypts"), ("residue-bank", "converts integers to residues")] {
        let line = format!("{engine:<14}  not built in        {does}; {HOW}");
        assert!(text.lines().any(|found| found == line), "{text}");
    }
    let engines: Value = serde_json::from_str(&dir.ok("engines --json").text()).unwrap();
    let built_in = |name: &str| {
        let engine = engines.as_array().unwrap().iter().find(|engine| engine["engine"] == name).unwrap();
        (engine["built_in"].clone(), engine["available"].clone())
    };
    assert_eq!(built_in("serial"), (true.into(), true.into()));
    assert_eq!(built_in("mesa-dual"), (false.into(), false.into()));
}
