//! Backups: exporting the record from a store and restoring it. Everything else in a store is
//! derived from the record.

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use hearith_election::{
    Board, ErrorKind, HEADS, Lines, Report, SignedTreeHead, Signer, Source, State, board_file, verify,
};
use hearith_paillier::{Engine, KeyPolicy};

use crate::board_log::{self, BoardLog, insert, voting_terms};
use crate::last_head::LastHead;
use crate::record::LINES;
use crate::store::{self, Location, Store};

/// Why a backup was not made or not restored.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The store failed.
    #[error(transparent)]
    Store(#[from] store::Error),
    /// The store is empty.
    #[error("the store {0} is empty")]
    Empty(Location),
    /// The store is not empty.
    #[error("the store {0} is not empty: restore the backup into an empty store")]
    NotEmpty(Location),
    /// A file cannot be written.
    #[error("{0}: cannot write")]
    Write(PathBuf, #[source] io::Error),
    /// A file in the folder belongs to another board.
    #[error("{0}: belongs to another board")]
    Other(PathBuf),
    /// The store does not contain a valid board.
    #[error(transparent)]
    BoardLog(#[from] board_log::Error),
    /// The record is invalid.
    #[error("the record is invalid: {0}")]
    Wrong(String),
    /// The record cannot be read.
    #[error(transparent)]
    Record(#[from] hearith_election::Error),
}

/// Writes the record of a store into a folder and returns its number of entries. Continues an
/// earlier backup of the same board. Files appear only when they are complete and on disk.
///
/// # Errors
/// The store fails or is empty, a file cannot be written, or a file belongs to another board.
pub async fn backup(store: &Store, folder: &Path) -> Result<u64, Error> {
    // Up to the newest head. Later entries belong to the next backup.
    let heads = store.heads(0).await?;
    let newest =
        heads.last().map(|line| SignedTreeHead::from_line(line)).transpose().map_err(hearith_election::Error::from)?;
    let size = newest.map_or(0, |head| head.size);
    if size == 0 {
        return Err(Error::Empty(store.location().clone()));
    }
    for first in (0..size).step_by(LINES as usize) {
        let path = folder.join(board_file(first));
        let text = text(&store.lines(first, LINES.min(size - first)).await?);
        match fs::read_to_string(&path) {
            Ok(old) if old == text => continue,
            Ok(old) if !text.starts_with(&old) => return Err(Error::Other(path)),
            _ => write(&path, &text)?,
        }
    }
    write(&folder.join(HEADS), &text(&heads))?;
    Ok(size)
}

/// Removes as few heads of a store as possible so that none goes back in time, and signs a head of
/// all entries if the last head was removed. Earlier versions signed the time of the clock without
/// a check. Returns the number of removed heads. No server may use the store at the same time.
///
/// # Errors
/// The store fails, is empty, or contains the board of another key.
pub async fn repair_heads(store: &Store, board: Signer, policy: KeyPolicy, engine: Engine) -> Result<u64, Error> {
    let board_log = BoardLog::open(store.clone(), board, None, policy, engine).await?;
    if board_log.view().size == 0 {
        return Err(Error::Empty(store.location().clone()));
    }
    Ok(board_log.repair_heads().await?)
}

fn text(lines: &[String]) -> String {
    lines.iter().flat_map(|line| [line, "\n"]).collect()
}

/// Writes a file under a temporary name and renames it when it is on disk.
fn write(path: &Path, text: &str) -> Result<(), Error> {
    let written = || -> io::Result<()> {
        let folder = path.parent().unwrap_or(Path::new("."));
        fs::create_dir_all(folder)?;
        let part = path.with_extension("part");
        let mut file = File::create(&part)?;
        file.write_all(text.as_bytes())?;
        file.sync_all()?;
        fs::rename(&part, path)?;
        File::open(folder)?.sync_all()
    };
    written().map_err(|error| Error::Write(path.to_owned(), error))
}

/// Verifies a record and copies it into an empty store, completely or not at all. Calls `progress`
/// with the number of bytes verified.
///
/// # Errors
/// The record is invalid, cannot be read, or lacks entries of the head stored next to the store.
/// The store fails, or is not empty.
pub async fn restore(
    store: &Store,
    record: &dyn Source,
    policy: KeyPolicy,
    engine: Engine,
    progress: &(dyn Fn(u64) + Sync),
) -> Result<u64, Error> {
    let report = verify(record, policy, engine, progress)?;
    if !report.is_good() {
        return Err(Error::Wrong(first_fault(&report)));
    }
    let heads = heads(record)?;
    let mut last_head = LastHeadCheck::open(store.location())?;
    let mut append = store.append().await?;
    if !append.lines(0, 1).await?.is_empty() {
        return Err(Error::NotEmpty(store.location().clone()));
    }
    let (mut lines, mut board, mut state) = (Lines::new(record), Board::default(), None);
    while let Some(line) = lines.next_line()? {
        let index = board.size();
        let at = |error: ErrorKind| hearith_election::Error::from(error).at_entry(index);
        let notice = board.follow(&line).map_err(at)?.notice;
        let (voters, revoting) = state.as_ref().map(voting_terms).unwrap_or_default();
        match &mut state {
            None => state = Some(State::begin(&notice, policy, engine).map_err(at)?),
            Some(state) => _ = state.admit(&notice).map_err(at)?,
        }
        insert(&mut append, &notice, index, &line, voters, revoting).await?;
        last_head.check(&board)?;
    }
    last_head.finish(&board)?;
    if (board.size(), board.root()) != (report.size, report.root) {
        return Err(Error::Wrong("it changed while it was read".to_owned()));
    }
    for head in heads.iter().filter(|head| head.size > 0) {
        append.head(head.size, &head.to_line()).await?;
    }
    append.commit().await?;
    Ok(board.size())
}

/// The head stored next to the restored store, until the record has reached it.
struct LastHeadCheck {
    location: Location,
    file: Option<LastHead>,
    head: Option<SignedTreeHead>,
}

impl LastHeadCheck {
    fn open(location: &Location) -> Result<Self, Error> {
        let file = location.last_head().map(LastHead::at);
        let read = |file: &LastHead| {
            file.read().map_err(|error| board_log::Error::NoHead(file.path().to_owned(), error.into()))
        };
        let head = file.as_ref().map(read).transpose()?.flatten();
        Ok(Self { location: location.clone(), file, head })
    }

    fn path(&self) -> PathBuf {
        self.file.as_ref().map(|file| file.path().to_owned()).unwrap_or_default()
    }

    fn check(&mut self, board: &Board) -> Result<(), Error> {
        match self.head.take_if(|head| head.size == board.size()) {
            Some(head) if head.root != board.root() => {
                Err(board_log::Error::Forked(self.location.clone(), self.path()).into())
            }
            _ => Ok(()),
        }
    }

    fn finish(self, board: &Board) -> Result<(), Error> {
        let Some(head) = &self.head else { return Ok(()) };
        let (store, size) = (self.location.clone(), board.size());
        Err(board_log::Error::Stale { store, size, head: self.path(), shown: head.size }.into())
    }
}

fn first_fault(report: &Report) -> String {
    let fault = report.checks.values().flat_map(|check| &check.faults).next();
    fault.map_or_else(|| "the verification names no fault".to_owned(), ToString::to_string)
}

fn heads(record: &dyn Source) -> Result<Vec<SignedTreeHead>, hearith_election::Error> {
    let Some(mut file) = record.open(HEADS)? else { return Ok(Vec::new()) };
    let mut text = String::new();
    file.read_to_string(&mut text)?;
    text.lines().map(|line| Ok(SignedTreeHead::from_line(line)?)).collect()
}
