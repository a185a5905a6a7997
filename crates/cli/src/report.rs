//! One line on standard error per step: what was done, how fast, and on which engine.

use std::io::Write;
use std::time::{Duration, Instant};

use serde::Serialize;

use crate::printable::{Printable, PrintableJson};

/// A finished step.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Step {
    /// The name of the step: `keygen`, `encrypt`, ...
    step: &'static str,
    #[serde(flatten)]
    work: Work,
    seconds: f64,
    /// The part of them spent waiting only for arithmetic.
    arithmetic_seconds: f64,
}

/// The work of a step.
#[derive(Clone, Debug, Serialize)]
#[serde(untagged)]
enum Work {
    Key {
        key: String,
        #[serde(skip_serializing_if = "Option::is_none")]
        bits: Option<u32>,
        /// The named parameters of a lattice key.
        #[serde(skip_serializing_if = "Option::is_none")]
        set: Option<&'static str>,
    },
    Rows {
        /// Rows read.
        rows: u64,
        /// Rows written.
        rows_out: u64,
        rows_per_second: f64,
        #[serde(flatten, skip_serializing_if = "Option::is_none")]
        withheld: Option<Withheld>,
        #[serde(skip_serializing_if = "Option::is_none")]
        note: Option<String>,
    },
}

/// Totals that were withheld, because too few rows or values contributed to them.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Withheld {
    #[serde(rename = "withheld_groups")]
    pub(crate) groups: u64,
    /// The number of rows in these groups.
    #[serde(rename = "withheld_rows")]
    pub(crate) rows: u64,
    /// The number of withheld column totals in the other groups.
    #[serde(rename = "withheld_totals")]
    pub(crate) totals: u64,
}

#[derive(Serialize)]
struct Line<'a> {
    #[serde(flatten)]
    step: &'a Step,
    engine: &'a str,
    threads: usize,
}

/// Times a step.
#[derive(Debug)]
pub(crate) struct Stopwatch {
    started: Instant,
    computing: Duration,
}

impl Stopwatch {
    /// Starts the clock.
    pub(crate) fn start() -> Self {
        Self { started: Instant::now(), computing: Duration::ZERO }
    }

    /// Times a part of the step that is arithmetic.
    pub(crate) fn compute<T>(&mut self, work: impl FnOnce() -> T) -> T {
        let started = Instant::now();
        let result = work();
        self.computing += started.elapsed();
        result
    }

    /// Finishes a step, with the rows read and written, and a note.
    pub(crate) fn stop(self, step: &'static str, rows: u64, rows_out: u64, note: Option<String>) -> Step {
        let rows_per_second = rows as f64 / self.started.elapsed().as_secs_f64().max(1e-9);
        self.step(step, Work::Rows { rows, rows_out, rows_per_second, withheld: None, note })
    }

    /// Finishes the generation of a key with this ID and size.
    pub(crate) fn stop_key(self, id: impl ToString, bits: u32) -> Step {
        self.step("keygen", Work::Key { key: id.to_string(), bits: Some(bits), set: None })
    }

    /// Finishes the generation of a key with this ID and these parameters.
    pub(crate) fn stop_set(self, id: impl ToString, set: &'static str) -> Step {
        self.step("keygen", Work::Key { key: id.to_string(), bits: None, set: Some(set) })
    }

    fn step(self, step: &'static str, work: Work) -> Step {
        let (seconds, computing) = (self.started.elapsed(), self.computing);
        Step { step, work, seconds: seconds.as_secs_f64(), arithmetic_seconds: computing.as_secs_f64() }
    }
}

impl Step {
    /// Adds the withheld totals to the step.
    pub(crate) fn withholding(mut self, what: Withheld) -> Self {
        if let Work::Rows { withheld, .. } = &mut self.work {
            *withheld = Some(what);
        }
        self
    }

    /// Prints the line, with the engine and the number of threads.
    pub(crate) fn print(&self, engine: &str, threads: usize, json: bool) {
        let line = Line { step: self, engine, threads };
        let text = match json {
            true => PrintableJson(&serde_json::to_string(&line).unwrap_or_default()).to_string(),
            false => Printable(&line.text()).to_string(),
        };
        let _ = writeln!(std::io::stderr(), "{text}");
    }
}

impl Line<'_> {
    fn text(&self) -> String {
        let Step { step, work, seconds, arithmetic_seconds } = self.step;
        let done = match work {
            Work::Key { key, bits, set } => {
                let size = bits.map_or_else(|| set.unwrap_or_default().to_owned(), |bits| format!("{bits} bits"));
                format!("{size}, key {key}, in {seconds:.2} s")
            }
            Work::Rows { rows, rows_out, rows_per_second, .. } => {
                let out = if rows == rows_out { String::new() } else { format!(" to {rows_out}") };
                format!("{rows} rows{out} in {seconds:.2} s, {rows_per_second:.0} rows/s")
            }
        };
        let note = match work {
            Work::Rows { note: Some(note), .. } => format!("; {note}"),
            _ => String::new(),
        };
        let withheld = match work {
            Work::Rows { withheld: Some(Withheld { groups, rows, totals }), .. } => {
                format!("; withheld {groups} groups of {rows} rows, {totals} more totals")
            }
            _ => String::new(),
        };
        let share = 100.0 * arithmetic_seconds / seconds.max(1e-9);
        let (engine, threads) = (self.engine, self.threads);
        format!("{step}: {done} ({share:.0} % arithmetic; engine {engine}, threads {threads}{note}){withheld}")
    }
}
