//! The report of a call: the current exchange, and the trustees whose files are missing.

use hearith_threshold::distributed::offline::{Correspondent, FAILURE_EXCHANGES, file_name};
use serde::Serialize;

use super::exchange_folder::ExchangeFolder;
use crate::engines::{print, print_json};
use crate::failure::CliError;
use crate::session::Session;

/// The state of a run after a call.
#[derive(Serialize)]
pub(super) struct Report {
    exchange: u32,
    exchanges: u32,
    has_failed: bool,
    is_finished: bool,
    /// Files of this exchange for the others.
    written: Vec<String>,
    /// Files of this exchange that are still missing.
    missing: Vec<String>,
    #[serde(skip)]
    text: Text,
}

/// The parts of the text report, with one name pattern for all files.
struct Text {
    to: String,
    from: String,
    written: String,
    missing: String,
}

impl Report {
    pub(super) fn new(
        me: u32,
        others: &[u32],
        folder: &ExchangeFolder,
        trustee: &Correspondent,
        missing: &[u32],
    ) -> Self {
        let exchange = trustee.exchange();
        let written = others.iter().map(|&to| folder.name_of(&file_name(exchange, me, to)));
        let awaited = missing.iter().map(|&from| folder.name_of(&file_name(exchange, from, me)));
        let text = Text {
            to: trustees(others),
            from: trustees(missing),
            written: folder.name_of(&format!("exchange-{exchange:02}-from-{me}-to-N.hearith")),
            missing: folder.name_of(&format!("exchange-{exchange:02}-from-N-to-{me}.hearith")),
        };
        Report {
            exchange,
            exchanges: trustee.exchanges(),
            has_failed: trustee.progress().is_some_and(|progress| progress.has_failed),
            is_finished: false,
            written: written.collect(),
            missing: awaited.collect(),
            text,
        }
    }

    /// Marks the run as finished.
    pub(super) fn finished(self) -> Self {
        Report { is_finished: true, ..self }
    }

    /// Prints the report to standard output.
    pub(super) fn print(&self, session: &Session) -> Result<(), CliError> {
        match (session.is_quiet(), session.json) {
            (true, _) => Ok(()),
            (false, true) => print_json(self),
            (false, false) => print(&self.to_text()),
        }
    }

    fn to_text(&self) -> String {
        let Report { exchange, exchanges, text: Text { to, from, written, missing }, .. } = self;
        if self.is_finished {
            return format!("exchange {exchange} of {exchanges}: done; keep {written} until all have their keys\n");
        }
        let progress = match self.has_failed {
            true => format!(
                "exchange {exchange} (the run has failed, at most {FAILURE_EXCHANGES} exchanges to find the cause)"
            ),
            false => format!("exchange {exchange} of {exchanges}"),
        };
        format!("{progress}: give {to} {written}\n{progress}: waiting for {missing} of {from}\n")
    }
}

/// Lists trustees by their numbers.
fn trustees(numbers: &[u32]) -> String {
    let names: Vec<String> = numbers.iter().map(u32::to_string).collect();
    match names.as_slice() {
        [one] => format!("trustee {one}"),
        many => format!("trustees {}", many.join(", ")),
    }
}
