//! Decrypting on simulated hardware.

mod common;

use common::{Place, STAFF};
use hearith_device::DeviceEngine;
use serde_json::Value;

const ENCRYPT: &str = "encrypt --key keys/public.json --column salary,bonus --scale bonus=2 in.csv --out rows.parquet";
const SUM: &str = "sum --key keys/public.json --by dept rows.parquet --out totals.parquet";

fn totals() -> Place {
    let place = Place::new();
    place.write("in.csv", STAFF);
    place.ok(ENCRYPT);
    place.ok(SUM);
    place
}

fn available() -> bool {
    DeviceEngine::ALL.iter().all(|engine| engine.state().available)
}

#[test]
fn every_device_gives_the_totals_of_the_cpu() {
    let place = totals();
    let decrypt = "decrypt --key keys/private.json totals.parquet";
    let expected = place.ok(decrypt).text();
    for engine in DeviceEngine::ALL.into_iter().filter(|engine| engine.decrypts()) {
        let line = format!("{decrypt} --json --engine {}", engine.name());
        if !engine.state().available {
            place.fails(&line, &format!("engine {}: the design", engine.name()));
            continue;
        }
        let run = place.ok(&line);
        assert_eq!(run.text(), expected);
        let report = run.stderr.lines().find(|line| line.starts_with('{')).unwrap();
        let report: Value = serde_json::from_str(report).unwrap();
        assert_eq!(report["engine"], engine.name());
        assert!(report["note"].as_str().unwrap().contains(" cycles for "), "{report}");
    }
}

#[test]
fn devices_are_listed_with_their_parameters_or_what_is_missing() {
    let place = Place::new();
    let text = place.ok("engines --engine mesa").text();
    let line = text.lines().find(|line| line.starts_with("mesa ")).unwrap();
    let expected = if available() { "N = 1024 with 12 MEs" } else { "needs Verilator" };
    assert!(line.contains(expected) && line.contains("chosen"), "{text}");
    assert_eq!(text.matches("chosen").count(), 1, "{text}");
}

#[test]
fn devices_refuse_what_they_cannot_do() {
    let place = totals();
    place.fails(&format!("{ENCRYPT} --engine mesa"), "the engine 'mesa' only decrypts");
    place.fails("decrypt --key keys/private.json totals.parquet --engine abacus", "unknown engine 'abacus'");
    if available() {
        place.ok("keygen --bits 3072 --out large");
        place.write("one.csv", "salary\n1\n");
        place.ok("encrypt --key large/public.json --column salary one.csv --out one.parquet");
        let line = "decrypt --key large/private.json one.parquet --engine mesa --out out.csv";
        place.fails(line, "engine mesa: a key of 3072 bits does not fit: the device takes at most 2048");
    }
}
