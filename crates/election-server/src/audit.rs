//! The audit log: what the server did and when, a line of JSON for each event, and nothing of what
//! anybody voted.
//!
//! It names entries by their index, refusals by their code, and voters who signed what was refused.
//! It holds no ciphertext, no proof, no tracker and no address of a client, so that it tells nobody
//! more than the board does, but for refusals.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use serde_json::{Map, Value};

use hearith_election::now;

/// A log, or none.
#[derive(Debug, Default)]
pub(crate) struct Audit {
    file: Option<Mutex<File>>,
}

impl Audit {
    /// A log in a file, which is made when it is missing and read by its owner alone; what is there
    /// is kept.
    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        let file = OpenOptions::new().append(true).create(true).mode(0o600).open(path)?;
        Ok(Self { file: Some(Mutex::new(file)) })
    }

    /// Notes events of one kind, in one write.
    pub(crate) fn note<const N: usize>(
        &self,
        events: impl IntoIterator<Item = (&'static str, [(&'static str, Value); N])>,
    ) {
        let Some(file) = &self.file else { return };
        let time = now();
        let mut lines = String::new();
        for (event, fields) in events {
            let mut line =
                Map::from_iter([("event".to_owned(), event.into()), ("time".to_owned(), time.clone().into())]);
            line.extend(
                fields.into_iter().filter(|(_, value)| !value.is_null()).map(|(name, value)| (name.to_owned(), value)),
            );
            lines.push_str(&Value::Object(line).to_string());
            lines.push('\n');
        }
        let mut file = file.lock().unwrap_or_else(PoisonError::into_inner);
        if let Err(error) = file.write_all(lines.as_bytes()) {
            tracing::error!(%error, "the audit log cannot be written");
        }
    }
}
