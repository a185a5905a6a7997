//! `hearith engines`.

use std::io::{self, Write};

use hearith_device::{DeviceEngine, EngineState};
use hearith_paillier::Engine;
use serde::Serialize;

use crate::failure::Failure;
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
    let text = match session.json {
        true => serde_json::to_string(&rows).unwrap_or_default() + "\n",
        false => rows.iter().map(Row::line).collect(),
    };
    print(&text)
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

/// Writes a command's answer to standard output.
pub(crate) fn print(text: &str) -> Result<(), Failure> {
    let mut stdout = io::stdout().lock();
    let written = stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush());
    written.map_err(|error| Failure::writing("standard output", &error))
}
