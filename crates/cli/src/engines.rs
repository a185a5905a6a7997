//! `hearith engines`.

use std::io::{self, Write};

use hearith_device::{DeviceProvider, State, System};
use hearith_paillier::Engine;
use serde::Serialize;

use crate::device::HOW;
use crate::failure::CliError;
use crate::printable::{PrintableJson, PrintableLines};
use crate::session::Session;
use crate::stdout_guard;

/// An engine in the report.
#[derive(Serialize)]
struct Row {
    engine: &'static str,
    available: bool,
    chosen: bool,
    requires: &'static str,
    /// Whether it is built in.
    built_in: bool,
    /// A device's parameters, or why it is not available.
    #[serde(skip_serializing_if = "String::is_empty")]
    device: String,
}

/// Lists the engines, which of them this machine can run, and which one is selected.
pub(crate) fn run(session: &Session) -> Result<(), CliError> {
    let row = |&engine: &Engine| Row {
        engine: engine.name(),
        available: engine.is_available(),
        chosen: session.device.is_none() && engine == session.engine,
        requires: engine.requires(),
        built_in: true,
        device: String::new(),
    };
    let device = |provider: &&'static dyn DeviceProvider| {
        let State { available, description, requires } = provider.state();
        let chosen = session.device.is_some_and(|chosen| chosen.system() == provider.system());
        Row { engine: provider.system().name, available, chosen, requires, built_in: true, device: description }
    };
    let absent = |system: &'static System| {
        let device = format!("{}; {HOW}", system.does);
        Row { engine: system.name, available: false, chosen: false, requires: "", built_in: false, device }
    };
    let cpu = Engine::ALL.iter().map(row);
    let rows: Vec<Row> =
        cpu.chain(session.devices.0.iter().map(device)).chain(session.devices.absent().map(absent)).collect();
    match session.json {
        true => print_json(&rows),
        false => print(&rows.iter().map(Row::line).collect::<String>()),
    }
}

impl Row {
    fn line(&self) -> String {
        let available = match (self.available, self.built_in) {
            (true, _) => "available",
            (false, true) => "not available",
            (false, false) => "not built in",
        };
        let chosen = if self.chosen { ", chosen" } else { "" };
        let state = format!("{available}{chosen}");
        let needs = match (self.requires, &*self.device) {
            ("", device) => device.to_owned(),
            (_, device) if self.available && !device.is_empty() => device.to_owned(),
            (requires, "") => format!("needs {requires}"),
            (requires, device) => format!("{device}; needs {requires}"),
        };
        format!("{:<14}  {state:<18}  {needs}", self.engine).trim_end().to_owned() + "\n"
    }
}

/// Prints a command's text output.
pub(crate) fn print(text: &str) -> Result<(), CliError> {
    write(&PrintableLines(text))
}

/// Prints a command's JSON output on one line.
pub(crate) fn print_json(answer: &impl Serialize) -> Result<(), CliError> {
    let json = serde_json::to_string(answer).map_err(CliError::new)?;
    write(&format_args!("{}\n", PrintableJson(&json)))
}

fn write(text: &dyn std::fmt::Display) -> Result<(), CliError> {
    let mut stdout = io::stdout().lock();
    let written =
        stdout_guard::check_standard_output().and_then(|()| write!(stdout, "{text}")).and_then(|()| stdout.flush());
    written.map_err(|error| CliError::writing("standard output", error))
}
