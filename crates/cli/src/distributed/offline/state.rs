//! What a trustee keeps between two calls: a folder beside the key's files.
//!
//! | file | content |
//! | --- | --- |
//! | `state.json` | the seed of the run, under a passphrase |
//! | `exchange-NN-from-I-to-J.hearith` | the file taken from trustee I, sealed as it came |
//! | `exchange-NN-from-I-to-J.absent` | the run goes on without that file |
//! | `finished` | the key's files are being written |
//!
//! All that is sent follows from these. They only ever appear, complete and on the disk before
//! anything that follows from them is written elsewhere. So a call that is interrupted, at whatever
//! moment, is repeated with the same result.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use hearith_paillier::{KeyId, SecretText};
use hearith_threshold::distributed::offline::Saved;

use crate::failure::{Failure, name};
use crate::keys::sealed;
use crate::output::{Access, Output};
use crate::pair::{CreatedDirectories, write};
use crate::session::Session;

const STATE: &str = "state.json";
const FINISHED: &str = "finished";
/// What is left of the name of a file that does not come.
const ABSENT: &str = "absent";

/// The state of a trustee's run.
pub(super) struct State(PathBuf);

impl State {
    /// That of a trustee whose key's files are written to `out`.
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

    /// Whether its key's files were being written.
    pub(super) fn is_ending(&self) -> bool {
        self.is_there() && exists(&self.0.join(FINISHED))
    }

    /// The passphrase of the state, a new one if there is none yet.
    pub(super) fn passphrase(&self, session: &Session) -> Result<SecretText, Failure> {
        let file = name(&self.file());
        match self.is_there() {
            true => session.passphrases.ask(&file),
            false => session.passphrases.choose(&file),
        }
    }

    /// Begins a run with these settings.
    pub(super) fn begin(&self, settings: [u8; 32], passphrase: &SecretText) -> Result<Saved, Failure> {
        // What a call that ended in the midst of removing has left belongs to no run.
        self.remove_files()?;
        let saved = Saved::new(settings).map_err(Failure::new)?;
        let made = CreatedDirectories::make(&self.0);
        let made = made.map_err(|error| Failure::writing(&name(&self.0), error))?;
        let mut output = Output::file(&self.file(), Access::Owner, false)?;
        write(&mut output, &sealed(saved.to_text(), run_id(settings)?, Some(passphrase))?)?;
        output.commit()?;
        made.keep();
        Ok(saved)
    }

    /// The run that has begun, which must have these settings.
    pub(super) fn open(&self, settings: [u8; 32], passphrase: &SecretText) -> Result<Saved, Failure> {
        let file = name(&self.file());
        let text = SecretText::open(&self.file()).map_err(|error| Failure::reading(&file, error))?;
        let text = text.decrypt(passphrase.first_line()).map_err(|error| Failure::at(&file, error))?;
        match Saved::from_text(text.as_str()) {
            None => Err(Failure::at(&file, "not the state of a run by files")),
            Some(saved) if !saved.is_of(settings) => {
                let what = "this run began with other options, or with other trustees' keys";
                Err(Failure::at(&file, what))
            }
            Some(saved) => Ok(saved),
        }
    }

    /// Whether a file was taken, or the run goes on without it.
    pub(super) fn has(&self, file: &str) -> bool {
        let path = self.0.join(file);
        exists(&path) || exists(&path.with_extension(ABSENT))
    }

    /// A file that was taken; none if the run goes on without it.
    pub(super) fn taken(&self, file: &str) -> Result<Option<Vec<u8>>, Failure> {
        let path = self.0.join(file);
        match fs::read(&path) {
            Ok(bytes) => Ok(Some(bytes)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(Failure::reading(&name(&path), error)),
        }
    }

    /// What a file that was taken is called in messages.
    pub(super) fn name_of(&self, file: &str) -> String {
        name(&self.0.join(file))
    }

    /// Keeps a file for as long as the run lasts.
    pub(super) fn keep(&self, file: &str, content: &[u8]) -> Result<(), Failure> {
        self.put(&self.0.join(file), content)
    }

    /// From now on the run goes on without a file.
    pub(super) fn go_without(&self, file: &str) -> Result<(), Failure> {
        self.put(&self.0.join(file).with_extension(ABSENT), &[])
    }

    /// From now on the key's files are written.
    pub(super) fn finish(&self) -> Result<(), Failure> {
        let path = self.0.join(FINISHED);
        if exists(&path) { Ok(()) } else { self.put(&path, &[]) }
    }

    fn put(&self, path: &Path, content: &[u8]) -> Result<(), Failure> {
        let mut output = Output::file(path, Access::Owner, false)?;
        output.write_all(content).map_err(|error| Failure::writing(&name(path), error))?;
        output.commit()
    }

    /// Removes all of it, the seed first: without it nothing opens what was sent to this trustee.
    pub(super) fn remove(&self) -> Result<(), Failure> {
        remove(&self.file())?;
        // Where directories cannot be synced, so be it.
        let _ = File::open(&self.0).and_then(|folder| folder.sync_all());
        self.remove_files()
    }

    fn remove_files(&self) -> Result<(), Failure> {
        let entries = match fs::read_dir(&self.0) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            Err(error) => return Err(Failure::reading(&name(&self.0), error)),
        };
        for entry in entries {
            let entry = entry.map_err(|error| Failure::reading(&name(&self.0), error))?;
            if entry.file_name().to_str().is_some_and(is_ours) {
                remove(&entry.path())?;
            }
        }
        // Somebody else's files may be there: they stay.
        let _ = fs::remove_dir(&self.0);
        Ok(())
    }
}

/// Files of a state but for the seed's, temporary ones too.
fn is_ours(file: &str) -> bool {
    let is_exchange =
        |file: &str| file.starts_with("exchange-") && (file.ends_with(".hearith") || file.ends_with(ABSENT));
    file == FINISHED || is_exchange(file) || (file.starts_with('.') && file.ends_with(".part"))
}

/// Shown in the clear beside the seed, as the id of a key is beside it.
fn run_id(settings: [u8; 32]) -> Result<KeyId, Failure> {
    let hex: String = settings[..16].iter().map(|byte| format!("{byte:02x}")).collect();
    hex.parse().map_err(Failure::new)
}

fn exists(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok()
}

fn remove(path: &Path) -> Result<(), Failure> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(Failure::writing(&name(path), error)),
        _ => Ok(()),
    }
}
