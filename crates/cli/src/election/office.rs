//! The organiser's directory: two secret keys, what is voted on, and the record as it grows.

use std::fs;
use std::path::{Path, PathBuf};

use hearith_election::{Body, Error, Holder, Notice, Receipt, Record, SecretKey, Signer, State, now};
use hearith_paillier::SecretText;

use crate::failure::{Failure, eprint_line, name};
use crate::output::{Access, Output};
use crate::pair::write;
use crate::session::Session;

/// The organiser's key.
pub(super) const ORGANISER: &str = "organiser.json";
/// The board's key.
pub(super) const BOARD: &str = "board.json";
/// What is voted on, until it is published.
pub(super) const DRAFT: &str = "draft.json";
/// The record.
const RECORD: &str = "record";

/// An election that goes on: its record, and who signs for it.
pub(super) struct Office {
    organiser: Signer,
    board: Signer,
    record: Record,
    name: String,
}

impl Office {
    /// Opens the directory. The record is locked for others as long as it is open.
    pub(super) fn open(session: &Session, folder: &Path) -> Result<Self, Failure> {
        let (organiser, board) = keys(folder)?;
        let path = folder.join(RECORD);
        let record = Record::open(&path, session.policy, session.engine).map_err(|error| of(&path, error))?;
        session.warn_of(&name(&path), record.state().election().key());
        Ok(Office { organiser, board, record, name: name(&path) })
    }

    /// Begins the record with an election's first entry.
    pub(super) fn create(session: &Session, folder: &Path, first: Body) -> Result<Self, Failure> {
        let (organiser, board) = keys(folder)?;
        let path = folder.join(RECORD);
        let first = Notice::signed(first, &organiser);
        let record = Record::create(&path, first, session.policy, session.engine).map_err(|error| of(&path, error))?;
        Ok(Office { organiser, board, record, name: name(&path) })
    }

    /// What the election is at.
    pub(super) fn state(&self) -> &State {
        self.record.state()
    }

    /// The record.
    pub(super) fn record(&self) -> &Record {
        &self.record
    }

    /// Enters what the organiser says.
    pub(super) fn say(&mut self, body: Body) -> Result<(), Failure> {
        let notice = Notice::signed(body, &self.organiser);
        self.enter(notice).map(|_| ())
    }

    /// Enters what somebody signed, whose proofs the caller has verified.
    pub(super) fn enter(&mut self, notice: Notice) -> Result<Receipt, Failure> {
        let index = self.record.board().size();
        let line = self.record.append(notice).map_err(|error| Failure::at(&self.name, error))?;
        Ok(Receipt::new(self.state().election().id(), index, &line, &self.board))
    }

    /// Ends a command: the board answers for what it has now.
    pub(super) fn sign_head(&mut self) -> Result<(), Failure> {
        let head = self.record.board().head(&now(), &self.board);
        self.record.append_head(&head).map_err(|error| Failure::at(&self.name, error))
    }
}

/// The organiser's and the board's key.
fn keys(folder: &Path) -> Result<(Signer, Signer), Failure> {
    Ok((secret_key(&folder.join(ORGANISER), Holder::Organiser)?, secret_key(&folder.join(BOARD), Holder::Board)?))
}

fn secret_key(path: &Path, holder: Holder) -> Result<Signer, Failure> {
    let at = |error: hearith_election::ErrorKind| Failure::at(name(path), Error::from(error));
    SecretKey::from_line(secret_text(path)?.first_line(), holder).and_then(|key| key.signer()).map_err(at)
}

/// Reads a file of secrets, with a warning if others can read it.
pub(super) fn secret_text(path: &Path) -> Result<SecretText, Failure> {
    let name = name(path);
    let text = SecretText::open(path).map_err(|error| Failure::reading(&name, error))?;
    if text.is_shared() {
        eprint_line(&format!("{name}: warning: others than its owner can read this secret (chmod 600 mends it)"));
    }
    Ok(text)
}

/// A public text of a file.
pub(super) fn text(path: &Path) -> Result<String, Failure> {
    fs::read_to_string(path).map_err(|error| Failure::reading(&name(path), error))
}

/// Writes a file that must not be there yet, whole or not at all.
pub(super) fn write_new(path: &Path, access: Access, text: &str) -> Result<(), Failure> {
    let mut output = Output::file(path, access, false)?;
    write(&mut output, text)?;
    output.commit()
}

/// The record that is meant: the folder itself, or the one in the organiser's directory.
pub(super) fn record_folder(path: &Path) -> PathBuf {
    let inside = path.join(RECORD);
    if inside.is_dir() { inside } else { path.to_owned() }
}

/// What is wrong with a file or a record.
pub(super) fn of(path: &Path, error: impl Into<Error>) -> Failure {
    Failure::at(name(path), error.into())
}
