//! The monitors of `rtl/lib`: each assertion fires on its violation, and none on correct behaviour.
//! A firing assertion ends the process, so every case runs in its own.

use std::process::Command;

use hearith_rtl::{BROKEN_STREAM, WATCHED_AXIL};
use hearith_verilated::Model;

/// Names the case that the test [`one_case`] runs.
const CASE: &str = "HEARITH_MONITOR_CASE";

/// For each case, the assertion that ends the simulation, if any.
const CASES: [(&str, Option<&str>); 27] = [
    ("stream 0", None),
    ("stream 1", Some("u_monitor.ValidStays")),
    ("stream 2", Some("u_monitor.DataStays")),
    ("stream 3", Some("u_monitor.LastStays")),
    ("stream 4", Some("u_monitor.ValidInReset")),
    ("stream 5", Some("u_monitor.ReadyInReset")),
    ("axil good", None),
    ("axil b withdrawn", Some("u_monitor.u_b.ValidStays")),
    ("axil b changes", Some("u_monitor.u_b.DataStays")),
    ("axil r withdrawn", Some("u_monitor.u_r.ValidStays")),
    ("axil rdata changes", Some("u_monitor.u_r.DataStays")),
    ("axil rresp changes", Some("u_monitor.u_r.DataStays")),
    ("axil aw withdrawn", Some("u_monitor.u_aw.ValidStays")),
    ("axil awaddr changes", Some("u_monitor.u_aw.DataStays")),
    ("axil w withdrawn", Some("u_monitor.u_w.ValidStays")),
    ("axil wdata changes", Some("u_monitor.u_w.DataStays")),
    ("axil wstrb changes", Some("u_monitor.u_w.DataStays")),
    ("axil ar withdrawn", Some("u_monitor.u_ar.ValidStays")),
    ("axil araddr changes", Some("u_monitor.u_ar.DataStays")),
    ("axil b without request", Some("u_monitor.WriteBeforeResponse")),
    ("axil b without data", Some("u_monitor.WriteBeforeResponse")),
    ("axil b without address", Some("u_monitor.WriteBeforeResponse")),
    ("axil r without request", Some("u_monitor.ReadBeforeResponse")),
    ("axil bresp 1", Some("u_monitor.WriteResponse")),
    ("axil rresp 1", Some("u_monitor.ReadResponse")),
    ("axil too many", Some("u_monitor.PendingBounded")),
    ("axil b in reset", Some("u_monitor.u_b.ValidInReset")),
];

fn stream(fault: u64) {
    let mut model = BROKEN_STREAM.model();
    model.set("fault_i", fault);
    model.set("out_ready_i", true);
    (0..10).for_each(|_| model.clock());
    model.set("rst_ni", true);
    for cycle in 0..200_u64 {
        model.set("out_ready_i", cycle % 3 == 0);
        model.clock();
    }
}

/// One clock cycle with these wires high (or at the given values) and all others low.
fn with(model: &mut Model, wires: &[(&str, u64)]) {
    wires.iter().for_each(|&(wire, value)| model.set(&format!("{wire}_i"), value));
    model.clock();
    wires.iter().for_each(|&(wire, _)| model.set(&format!("{wire}_i"), 0));
}

fn axil(case: &str) {
    let mut model = WATCHED_AXIL.model();
    // Nothing happens in reset.
    if case == "b in reset" {
        model.set("bvalid_i", true);
    }
    (0..10).for_each(|_| model.clock());
    model.set("rst_ni", true);
    let mut with = |wires: &[(&str, u64)]| with(&mut model, wires);
    let write = [("awvalid", 1), ("awready", 1), ("wvalid", 1), ("wready", 1), ("wdata", 5), ("wstrb", 15)];
    let read = [("arvalid", 1), ("arready", 1), ("araddr", 4)];
    match case {
        "good" => {
            // Everything waits; data before its address; two requests at once.
            with(&[("wvalid", 1), ("wdata", 7)]);
            with(&[("wvalid", 1), ("wdata", 7), ("wready", 1), ("awvalid", 1), ("awaddr", 9)]);
            with(&[("awvalid", 1), ("awaddr", 9), ("awready", 1)]);
            with(&write);
            with(&[("bvalid", 1), ("bresp", 2)]);
            with(&[("bvalid", 1), ("bresp", 2), ("bready", 1), ("arvalid", 1), ("araddr", 3)]);
            with(&[("bvalid", 1), ("bready", 1), ("arvalid", 1), ("araddr", 3), ("arready", 1)]);
            with(&read);
            with(&[("rvalid", 1), ("rdata", 6), ("rresp", 3)]);
            with(&[("rvalid", 1), ("rdata", 6), ("rresp", 3), ("rready", 1)]);
            with(&[("rvalid", 1), ("rdata", 1), ("rready", 1)]);
            with(&[]);
            // A request cut off by a reset.
            with(&[("awvalid", 1), ("awaddr", 9)]);
            model.set("rst_ni", false);
            (0..10).for_each(|_| model.clock());
        }
        "b withdrawn" => {
            with(&write);
            with(&[("bvalid", 1)]);
            with(&[]);
        }
        "b changes" => {
            with(&write);
            with(&[("bvalid", 1)]);
            with(&[("bvalid", 1), ("bresp", 2)]);
        }
        "r withdrawn" => {
            with(&read);
            with(&[("rvalid", 1)]);
            with(&[]);
        }
        "rdata changes" | "rresp changes" => {
            with(&read);
            with(&[("rvalid", 1)]);
            with(&[("rvalid", 1), (if case == "rdata changes" { "rdata" } else { "rresp" }, 2)]);
        }
        "b without request" => with(&[("bvalid", 1)]),
        "b without data" => {
            with(&write[..2]);
            with(&[("bvalid", 1)]);
        }
        "b without address" => {
            with(&write[2..]);
            with(&[("bvalid", 1)]);
        }
        "r without request" => with(&[("rvalid", 1)]),
        "bresp 1" => {
            with(&write);
            with(&[("bvalid", 1), ("bready", 1), ("bresp", 1)]);
        }
        "rresp 1" => {
            with(&read);
            with(&[("rvalid", 1), ("rready", 1), ("rresp", 1)]);
        }
        "too many" => (0..4).for_each(|_| with(&read)),
        "b in reset" => (),
        other => {
            // "aw withdrawn", "wdata changes": a fault of a host channel.
            let (wire, what) = other.split_once(' ').expect("a wire and what happens");
            let valid = match wire {
                "aw" | "awaddr" => "awvalid",
                "ar" | "araddr" => "arvalid",
                _ => "wvalid",
            };
            with(&[(valid, 1)]);
            match what {
                "changes" => with(&[(valid, 1), (wire, 1)]),
                _ => with(&[]),
            }
        }
    }
}

/// Run only by `monitors_fire_on_what_is_broken`.
#[test]
#[ignore = "a part of another test"]
fn one_case() {
    let case = std::env::var(CASE).expect("the case's name");
    match case.split_once(' ').expect("a monitor and a case") {
        ("stream", fault) => stream(fault.parse().expect("a number")),
        (_, case) => axil(case),
    }
}

#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn monitors_fire_on_what_is_broken() {
    for (case, assertion) in CASES {
        let mut command = Command::new(std::env::current_exe().expect("this program"));
        command.args(["--exact", "monitors::one_case", "--ignored", "--nocapture"]).env(CASE, case);
        let output = command.output().expect("this program runs");
        let text = [output.stdout, output.stderr].concat();
        let text = String::from_utf8_lossy(&text);
        match assertion {
            None => assert!(output.status.success(), "{case}: {text}"),
            Some(name) => {
                assert!(!output.status.success(), "{case}: nothing fired");
                let named = text.lines().any(|line| line.contains("Assertion failed in") && line.contains(name));
                assert!(named, "{case}: no {name} in {text}");
            }
        }
    }
}
