//! `hearith engines`.

use std::io::{self, Write};

use hearith_device::{DeviceEngine, EngineState};
use hearith_paillier::Engine;
use serde::Serialize;

use crate::closed;
use crate::failure::Failure;
use crate::printable::{PrintableJson, PrintableLines};
use crate::session::Session;

/// An engine as reported.
#[derive(Serialize)]
struct Row {
    engine: &'static str,
    available: bool,
    chosen: bool,
    requires: &'static str,
    /// What a device is: its parameters.
    #[serde(skip_serializing_if = "String::is_empty")]
    device: String,
}

/// Lists the engines, which of them this machine can run, and which would be chosen.
pub(crate) fn run(session: &Session) -> Result<(), Failure> {
    let row = |&engine: &Engine| Row {
        engine: engine.name(),
        available: engine.is_available(),
        chosen: session.device.is_none() && engine == session.engine,
        requires: engine.requires(),
        device: String::new(),
    };
    let device = |&engine: &DeviceEngine| {
        let EngineState { available, description, requires } = engine.state();
        let chosen = session.device == Some(engine);
        Row { engine: engine.name(), available, chosen, requires, device: description }
    };
    let rows: Vec<Row> = Engine::ALL.iter().map(row).chain(DeviceEngine::ALL.iter().map(device)).collect();
    match session.json {
        true => print_json(&rows),
        false => print(&rows.iter().map(Row::line).collect::<String>()),
    }
}

impl Row {
    fn line(&self) -> String {
        let available = if self.available { "available" } else { "not available" };
        let chosen = if self.chosen { ", chosen" } else { "" };
        let state = format!("{available}{chosen}");
        let needs = match (self.requires, &self.device) {
            ("", device) => device.clone(),
            (_, device) if self.available && !device.is_empty() => device.clone(),
            (requires, _) => format!("needs {requires}"),
        };
        format!("{:<12}  {state:<18}  {needs}", self.engine).trim_end().to_owned() + "\n"
    }
}

/// Writes a command's answer for people to standard output.
pub(crate) fn print(text: &str) -> Result<(), Failure> {
    write(&PrintableLines(text))
}

/// Writes a command's answer for programs, one line of JSON, to standard output.
pub(crate) fn print_json(answer: &impl Serialize) -> Result<(), Failure> {
    let json = serde_json::to_string(answer).map_err(Failure::new)?;
    write(&format_args!("{}\n", PrintableJson(&json)))
}

fn write(text: &dyn std::fmt::Display) -> Result<(), Failure> {
    let mut stdout = io::stdout().lock();
    let written = closed::check_standard_output().and_then(|()| write!(stdout, "{text}")).and_then(|()| stdout.flush());
    written.map_err(|error| Failure::writing("standard output", error))
}
