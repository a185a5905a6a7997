//! `hearith engines`.

use std::io::{self, Write};

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
}

/// Lists the engines, which of them this machine can run, and which would be chosen.
pub(crate) fn run(session: &Session) -> Result<(), Failure> {
    let row = |&engine: &Engine| Row {
        engine: engine.name(),
        available: engine.is_available(),
        chosen: engine == session.engine,
        requires: engine.requires(),
    };
    let rows: Vec<Row> = Engine::ALL.iter().map(row).collect();
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
        let needs = match self.requires {
            "" => String::new(),
            requires => format!("needs {requires}"),
        };
        format!("{:<8}  {state:<18}  {needs}", self.engine).trim_end().to_owned() + "\n"
    }
}

/// Writes a command's answer to standard output.
pub(crate) fn print(text: &str) -> Result<(), Failure> {
    let mut stdout = io::stdout().lock();
    let written = stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush());
    written.map_err(|error| Failure::writing("standard output", &error))
}
