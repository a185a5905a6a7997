//! A trustee's state between two calls: a folder next to the key's files.
//!
//! | file | content |
//! | --- | --- |
//! | `state.json` | the seed of the run, under a passphrase |
//! | `exchange-NN-from-I-to-J.hearith` | the file received from trustee I, sealed as it came |
//! | `exchange-NN-from-I-to-J.absent` | the run goes on without that file |
//! | `finished` | the key's files are being written |
//!
//! All messages are derived from these files. Files are only added, and each is complete and on the
//! disk before anything derived from it is written elsewhere. An interrupted call can therefore be
//! repeated with the same result.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use hearith_paillier::{KeyId, SecretText};
use hearith_threshold::distributed::offline::Saved;

use crate::failure::{CliError, name};
use crate::key_files::{CreatedDirectories, write};
use crate::keys::sealed;
use crate::output::{Access, Output};
use crate::session::Session;

const STATE: &str = "state.json";
const FINISHED: &str = "finished";
/// The extension that marks a missing file.
const ABSENT: &str = "absent";

/// The state of a trustee's run.
pub(super) struct State(PathBuf);

impl State {
    /// The state of the trustee whose key files are written to `out`.
    pub(super) fn at(out: &Path, trustee: u32) -> Self {
        State(out.join(format!("offline-{trustee}")))
    }

    fn file(&self) -> PathBuf {
        self.0.join(STATE)
    }

    /// Whether a run has begun.
    pub(super) fn is_there(&self) -> bool {
        exists(&self.file())
    }

    /// Whether an interrupted call was writing the key's files.
    pub(super) fn is_ending(&self) -> bool {
        self.is_there() && exists(&self.0.join(FINISHED))
    }

    /// Asks for the passphrase of the state, or for a new one if there is no state yet.
    pub(super) fn passphrase(&self, session: &Session) -> Result<SecretText, CliError> {
        let file = name(&self.file());
        match self.is_there() {
            true => session.passphrases.ask(&file),
            false => session.passphrases.choose(&file),
        }
    }

    /// Begins a run with these settings.
    pub(super) fn begin(&self, settings: [u8; 32], passphrase: &SecretText) -> Result<Saved, CliError> {
        // Files that an interrupted removal left belong to no run.
        self.remove_files()?;
        let saved = Saved::new(settings).map_err(CliError::new)?;
        let directories = CreatedDirectories::make(&self.0);
        let directories = directories.map_err(|error| CliError::writing(&name(&self.0), error))?;
        let mut output = Output::file(&self.file(), Access::Owner, false)?;
        write(&mut output, &sealed(saved.to_text(), run_id(settings)?, Some(passphrase))?)?;
        output.commit()?;
        directories.keep();
        Ok(saved)
    }

    /// Opens the current run, which must have these settings.
    pub(super) fn open(&self, settings: [u8; 32], passphrase: &SecretText) -> Result<Saved, CliError> {
        let file = name(&self.file());
        let text = SecretText::open(&self.file()).map_err(|error| CliError::reading(&file, error))?;
        let text = text.decrypt(passphrase.first_line()).map_err(|error| CliError::at(&file, error))?;
        match Saved::from_text(text.as_str()) {
            None => Err(CliError::at(&file, "not the state of an offline run")),
            Some(saved) if !saved.is_of(settings) => {
                let what = "this run began with other options or other trustees' keys";
                Err(CliError::at(&file, what))
            }
            Some(saved) => Ok(saved),
        }
    }

    /// Whether a file was received, or the run continues without it.
    pub(super) fn has(&self, file: &str) -> bool {
        let path = self.0.join(file);
        exists(&path) || exists(&path.with_extension(ABSENT))
    }

    /// Returns a received file, or `None` if the run continues without it.
    pub(super) fn received(&self, file: &str) -> Result<Option<Vec<u8>>, CliError> {
        let path = self.0.join(file);
        match fs::read(&path) {
            Ok(bytes) => Ok(Some(bytes)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(CliError::reading(&name(&path), error)),
        }
    }

    /// The name of a received file in messages.
    pub(super) fn name_of(&self, file: &str) -> String {
        name(&self.0.join(file))
    }

    /// Stores a file for the rest of the run.
    pub(super) fn store(&self, file: &str, content: &[u8]) -> Result<(), CliError> {
        self.put(&self.0.join(file), content)
    }

    /// Records that the run continues without a file.
    pub(super) fn mark_absent(&self, file: &str) -> Result<(), CliError> {
        self.put(&self.0.join(file).with_extension(ABSENT), &[])
    }

    /// Records that the key's files are being written.
    pub(super) fn finish(&self) -> Result<(), CliError> {
        let path = self.0.join(FINISHED);
        if exists(&path) { Ok(()) } else { self.put(&path, &[]) }
    }

    fn put(&self, path: &Path, content: &[u8]) -> Result<(), CliError> {
        let mut output = Output::file(path, Access::Owner, false)?;
        output.write_all(content).map_err(|error| CliError::writing(&name(path), error))?;
        output.commit()
    }

    /// Removes the state, starting with the seed. Without the seed, nothing can decrypt what was
    /// sent to this trustee.
    pub(super) fn remove(&self) -> Result<(), CliError> {
        remove(&self.file())?;
        // Not every file system can sync directories.
        let _ = File::open(&self.0).and_then(|folder| folder.sync_all());
        self.remove_files()
    }

    fn remove_files(&self) -> Result<(), CliError> {
        let entries = match fs::read_dir(&self.0) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            Err(error) => return Err(CliError::reading(&name(&self.0), error)),
        };
        for entry in entries {
            let entry = entry.map_err(|error| CliError::reading(&name(&self.0), error))?;
            if entry.file_name().to_str().is_some_and(is_ours) {
                remove(&entry.path())?;
            }
        }
        // The folder stays if it contains other files.
        let _ = fs::remove_dir(&self.0);
        Ok(())
    }
}

/// Whether a file belongs to a state, including temporary files, but not the seed's file.
fn is_ours(file: &str) -> bool {
    let is_exchange =
        |file: &str| file.starts_with("exchange-") && (file.ends_with(".hearith") || file.ends_with(ABSENT));
    file == FINISHED || is_exchange(file) || (file.starts_with('.') && file.ends_with(".part"))
}

/// The ID of a run, which is stored in the clear next to the seed, as a key's ID is next to a key.
fn run_id(settings: [u8; 32]) -> Result<KeyId, CliError> {
    let hex: String = settings[..16].iter().map(|byte| format!("{byte:02x}")).collect();
    hex.parse().map_err(CliError::new)
}

fn exists(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok()
}

fn remove(path: &Path) -> Result<(), CliError> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(CliError::writing(&name(path), error)),
        _ => Ok(()),
    }
}
