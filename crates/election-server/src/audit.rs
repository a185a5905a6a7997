//! The audit log: the server's actions with their time, one line of JSON per event, without the
//! content of any vote.
//!
//! It identifies entries by index, refusals by code, and refused submissions by the voter who
//! signed them. It contains no ciphertexts, proofs, trackers or client addresses. Apart from
//! refusals, it reveals nothing beyond the public board.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use serde_json::{Map, Value};

use hearith_election::now;

/// An audit log, which may be disabled.
#[derive(Debug, Default)]
pub(crate) struct Audit {
    file: Option<Mutex<File>>,
}

impl Audit {
    /// Opens a log file for appending. A new file is readable only by its owner.
    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        let file = OpenOptions::new().append(true).create(true).mode(0o600).open(path)?;
        Ok(Self { file: Some(Mutex::new(file)) })
    }

    /// Logs events of one kind in a single write.
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
