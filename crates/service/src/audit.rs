//! The audit log: one line of JSON for every answered decryption request, written before the answer
//! is sent.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use hearith_paillier::KeyId;
use serde::Serialize;

/// An audit log file.
#[derive(Debug)]
pub(crate) struct Audit {
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    file: File,
    /// Whether the last line was only partly written.
    broken: bool,
}

/// A decryption.
#[derive(Debug, Serialize)]
pub(crate) struct Decrypted {
    event: &'static str,
    /// Seconds since 1970, UTC.
    time: u64,
    /// The client's name and the SHA-256 of its certificate. Both are `None` if clients show no
    /// certificates.
    client: Option<String>,
    certificate: Option<String>,
    key: String,
    rows: usize,
}

impl Decrypted {
    /// Creates an event with the current time.
    pub(crate) fn new(client: Option<(String, String)>, key: KeyId, rows: usize) -> Self {
        let time = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_secs());
        let (client, certificate) = client.unzip();
        Self { event: "decrypted", time, client, certificate, key: key.to_string(), rows }
    }
}

impl Audit {
    /// Opens a log file for appending. Creates it if it is missing, readable and writable only by
    /// its owner.
    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        let mut options = OpenOptions::new();
        options.append(true).create(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        Ok(Self { state: Mutex::new(State { file: options.open(path)?, broken: false }) })
    }

    /// Writes a line. This may block.
    ///
    /// # Errors
    /// The line was not written. The decryption must not be answered.
    pub(crate) fn write(&self, event: &Decrypted) -> io::Result<()> {
        let mut line = serde_json::to_vec(event)?;
        line.push(b'\n');
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if state.broken {
            // The partial line stays on a line of its own.
            line.insert(0, b'\n');
        }
        let written = state.file.write_all(&line);
        state.broken = written.is_err();
        written
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_kept_and_failures_told() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("audit");
        let id: KeyId = "0".repeat(32).parse().unwrap_or_else(|_| panic!("an id"));
        for rows in 1..3 {
            let client = Some(("payroll".to_owned(), "ab".to_owned()));
            Audit::open(&path).unwrap().write(&Decrypted::new(client, id, rows)).unwrap();
        }
        let text = std::fs::read_to_string(&path).unwrap();
        let lines: Vec<serde_json::Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert_eq!((lines.len(), &lines[0]["client"], &lines[1]["rows"]), (2, &"payroll".into(), &2.into()));
        let full = Audit::open(Path::new("/dev/full")).unwrap();
        assert!(full.write(&Decrypted::new(None, id, 1)).is_err());
    }
}
