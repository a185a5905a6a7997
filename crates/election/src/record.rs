//! A published record: the lines and heads of a board, in a folder or another source of files.
//!
//! `board/00000000.jsonl`, `board/00001000.jsonl` and so on contain a thousand entries each, one
//! per line. `heads.jsonl` contains one head per line.

use crate::board::{Board, SignedTreeHead};
use crate::body::Tally;
use crate::canonical::MAX_LINE;
use crate::entry::Notice;
use crate::error::{Error, ErrorKind};
use crate::signature::Signer;
use crate::state::State;
use crate::tally::tally;
use crate::time::now_after;
use hearith_paillier::{Engine, KeyPolicy};
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};

/// Entries in a file of the board.
pub const FILE_ENTRIES: u64 = 1000;
/// The name of the file of heads.
pub const HEADS: &str = "heads.jsonl";
/// The folder of the board's files.
const BOARD: &str = "board";

/// The name of the file that contains an entry.
pub fn board_file(entry: u64) -> String {
    format!("{BOARD}/{:08}.jsonl", entry / FILE_ENTRIES * FILE_ENTRIES)
}

/// A source of the files of a record.
pub trait Source: Sync {
    /// Opens a file of the record by its name, which is [`HEADS`] or that of [`board_file`].
    /// Returns `None` if it does not exist.
    ///
    /// # Errors
    /// If it cannot be read.
    fn open(&self, name: &str) -> io::Result<Option<Box<dyn Read + Send>>>;

    /// The total size of all files in bytes, if known.
    fn bytes(&self) -> Option<u64> {
        None
    }
}

/// A record in a folder.
#[derive(Clone, Debug)]
pub struct Folder(pub PathBuf);

impl Source for Folder {
    fn open(&self, name: &str) -> io::Result<Option<Box<dyn Read + Send>>> {
        match File::open(self.0.join(name)) {
            Ok(file) => Ok(Some(Box::new(file))),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn bytes(&self) -> Option<u64> {
        let of_files = fs::read_dir(self.0.join(BOARD)).ok()?;
        of_files.map(|file| file.and_then(|file| file.metadata()).map(|metadata| metadata.len()).ok()).sum()
    }
}

/// The lines of a record's board, across all files in order.
pub struct Lines<'a> {
    source: &'a dyn Source,
    next: u64,
    file: Option<BufReader<Box<dyn Read + Send>>>,
}

impl<'a> Lines<'a> {
    /// Starts at the first line.
    pub fn new(source: &'a dyn Source) -> Self {
        Lines { source, next: 0, file: None }
    }

    /// Starts at the first line of the file that begins with this entry.
    pub(crate) fn from_file(source: &'a dyn Source, first: u64) -> Self {
        Lines { source, next: first, file: None }
    }

    /// The next line without its newline, or `None` after the last.
    ///
    /// # Errors
    /// A file that cannot be read, or a line that is too long, unterminated or not UTF-8.
    pub fn next_line(&mut self) -> Result<Option<String>, Error> {
        let entry = self.next;
        if entry.is_multiple_of(FILE_ENTRIES) {
            self.end_file()?;
            match self.source.open(&board_file(entry))? {
                Some(file) => self.file = Some(BufReader::with_capacity(1 << 18, file)),
                None => return Ok(None),
            }
        }
        let Some(file) = &mut self.file else { return Ok(None) };
        let line = read_line(file).map_err(|error| error.at_entry(entry))?;
        self.next += u64::from(line.is_some());
        if line.is_none() {
            self.file = None;
            // If a file is not full, the next one must not exist.
            if self.source.open(&board_file(entry + FILE_ENTRIES))?.is_some() {
                let problem = "a file before the last one has fewer than 1000 entries";
                return Err(ErrorKind::Shape { problem }.at_entry(entry));
            }
        }
        Ok(line)
    }

    /// Fails if the file just read contains too many lines.
    fn end_file(&mut self) -> Result<(), Error> {
        match self.file.take().map(|mut file| file.fill_buf().map(<[u8]>::is_empty)).transpose()? {
            None | Some(true) => Ok(()),
            Some(false) => Err(ErrorKind::Shape { problem: "a file has more than 1000 entries" }.at_entry(self.next)),
        }
    }
}

/// Reads a line without its newline. Returns `None` at the end.
pub(crate) fn read_line(file: &mut impl BufRead) -> Result<Option<String>, Error> {
    let mut line = Vec::new();
    let bytes = file.take(MAX_LINE as u64 + 2).read_until(b'\n', &mut line)?;
    if bytes == 0 {
        return Ok(None);
    }
    if line.pop() != Some(b'\n') {
        let problem = "the line does not end with a newline";
        return Err(if bytes > MAX_LINE {
            ErrorKind::TooLong { bytes }.into()
        } else {
            ErrorKind::Shape { problem }.into()
        });
    }
    match String::from_utf8(line) {
        Ok(line) => Ok(Some(line)),
        Err(_) => Err(ErrorKind::NotCanonical { what: "a line with invalid UTF-8" }.into()),
    }
}

/// All heads of a record, in order.
pub(crate) fn heads(source: &dyn Source) -> Result<Vec<SignedTreeHead>, Error> {
    let Some(file) = source.open(HEADS)? else { return Ok(Vec::new()) };
    heads_of(BufReader::new(file))
}

/// The heads of a file.
pub(crate) fn heads_of(mut file: impl BufRead) -> Result<Vec<SignedTreeHead>, Error> {
    let mut heads = Vec::new();
    while let Some(line) = read_line(&mut file)? {
        heads.push(SignedTreeHead::from_line(&line)?);
    }
    Ok(heads)
}

/// The longest sublist of heads that never decreases in size or time, sorted by size.
pub fn in_order(heads: &[SignedTreeHead]) -> Vec<&SignedTreeHead> {
    // After sorting by size, this is the longest subsequence with non-decreasing times.
    let mut sorted: Vec<usize> = (0..heads.len()).collect();
    sorted.sort_by_key(|&at| (heads[at].size, heads[at].time.as_str()));
    // `ends`: for each length, the last head of the subsequence with the earliest time. `before`:
    // its predecessor.
    let (mut ends, mut before): (Vec<usize>, Vec<Option<usize>>) = (Vec::new(), vec![None; heads.len()]);
    for at in sorted {
        let length = ends.partition_point(|&end| heads[end].time <= heads[at].time);
        before[at] = length.checked_sub(1).map(|shorter| ends[shorter]);
        if length == ends.len() { ends.push(at) } else { ends[length] = at }
    }
    let mut kept: Vec<&SignedTreeHead> =
        std::iter::successors(ends.last().copied(), |&at| before[at]).map(|at| &heads[at]).collect();
    kept.reverse();
    kept
}

/// A record in a folder that one process at a time writes, and the state of its election.
#[derive(Debug)]
pub struct Record {
    folder: PathBuf,
    board: Board,
    state: State,
    /// The time of the newest head.
    newest: Option<String>,
    /// Held while the record is open, so that no other process writes it.
    _lock: File,
}

impl Record {
    /// Creates a record with an election's first entry. Creates the folder, which must not contain
    /// a record.
    ///
    /// # Errors
    /// The errors of [`State::begin`], or a folder that cannot be written or already has a record.
    pub fn create(folder: &Path, first: Notice, policy: KeyPolicy, engine: Engine) -> Result<Self, Error> {
        let state = State::begin(&first, policy, engine)?;
        fs::create_dir_all(folder.join(BOARD))?;
        let lock = lock(folder)?;
        let line = Board::default().append(first);
        let mut file = OpenOptions::new().write(true).create_new(true).open(folder.join(board_file(0)))?;
        write_line(&mut file, &line)?;
        let mut board = Board::default();
        board.push(&line);
        Ok(Record { folder: folder.to_owned(), board, state, newest: None, _lock: lock })
    }

    /// Opens a record to continue it. Checks everything except proofs. Removes an unterminated last
    /// line, which a crash left behind before anyone was told that it is on the board.
    ///
    /// # Errors
    /// A fault of the record or of the folder.
    pub fn open(folder: &Path, policy: KeyPolicy, engine: Engine) -> Result<Self, Error> {
        let lock = lock(folder)?;
        drop_unfinished(folder)?;
        let source = Folder(folder.to_owned());
        let (mut lines, mut board, mut state) = (Lines::new(&source), Board::default(), None);
        while let Some(line) = lines.next_line()? {
            let entry = board.size();
            let notice = board.follow(&line).map_err(|error| error.at_entry(entry))?.notice;
            match &mut state {
                None => state = Some(State::begin(&notice, policy, engine).map_err(|error| error.at_entry(entry))?),
                Some(state) => _ = state.admit(&notice).map_err(|error| error.at_entry(entry))?,
            }
        }
        let state = state.ok_or(ErrorKind::Shape { problem: "there is no record here" })?;
        let newest = heads(&source)?.pop().map(|head| head.time);
        Ok(Record { folder: folder.to_owned(), board, state, newest, _lock: lock })
    }

    /// The state of the election.
    pub fn state(&self) -> &State {
        &self.state
    }

    /// The board.
    pub fn board(&self) -> &Board {
        &self.board
    }

    /// The folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Enters a notice that the state admits and returns its line, which is on disk when this
    /// returns. The caller verifies proofs beforehand ([`State::check_proofs`]).
    ///
    /// # Errors
    /// The errors of [`State::check`] and [`State::check_date`], or a failure to write, after which
    /// the record must be reopened.
    pub fn append(&mut self, notice: Notice) -> Result<String, Error> {
        self.state.check_date(notice.kind(), &now_after(self.newest.as_deref()))?;
        self.state.admit(&notice)?;
        let path = self.folder.join(board_file(self.board.size()));
        let line = self.board.append(notice);
        let mut file = OpenOptions::new().append(true).create(true).open(path)?;
        write_line(&mut file, &line)?;
        Ok(line)
    }

    /// The record as a source for a verifier.
    pub fn source(&self) -> Folder {
        Folder(self.folder.clone())
    }

    /// The tally of the ballots on the board ([`tally`](crate::tally)).
    ///
    /// # Errors
    /// A failure to read.
    pub fn tally(&self) -> Result<Tally, Error> {
        tally(&self.state, &self.source())
    }

    /// Signs a head of the current board, with a time not before that of the newest head.
    ///
    /// # Errors
    /// A failure to read or write, or an invalid head.
    pub fn sign_head(&mut self, board: &Signer) -> Result<(), Error> {
        let newest = heads(&self.source())?.pop();
        let time = now_after(newest.as_ref().map(|head| head.time.as_str()));
        self.append_head(&self.board.head(&time, board))
    }

    /// Removes as few heads as possible so that none goes back in size or time. Signs a head of all
    /// entries if the last head was removed. Returns the number of removed heads.
    ///
    /// # Errors
    /// An invalid head, a key other than the board's, or a failure to read or write.
    pub fn repair_heads(&mut self, board: &Signer) -> Result<usize, Error> {
        if self.state.election().manifest().board != board.public() {
            return Err(ErrorKind::Secret { problem: "the key is not this board's" }.into());
        }
        let found = heads(&self.source())?;
        let kept = in_order(&found);
        if !kept.iter().copied().eq(&found) {
            let text: String = kept.iter().flat_map(|head| [head.to_line(), "\n".into()]).collect();
            let part = self.folder.join(HEADS).with_extension("part");
            let mut file = File::create(&part)?;
            file.write_all(text.as_bytes())?;
            file.sync_all()?;
            fs::rename(&part, self.folder.join(HEADS))?;
            File::open(&self.folder)?.sync_all()?;
        }
        if kept.last().is_none_or(|head| head.size < self.board.size()) {
            self.sign_head(board)?;
        }
        Ok(found.len() - kept.len())
    }

    /// Appends a head.
    ///
    /// # Errors
    /// A failure to write.
    pub fn append_head(&mut self, head: &SignedTreeHead) -> Result<(), Error> {
        let mut file = OpenOptions::new().append(true).create(true).open(self.folder.join(HEADS))?;
        write_line(&mut file, &head.to_line())?;
        self.newest = Some(head.time.clone());
        Ok(())
    }
}

fn write_line(file: &mut File, line: &str) -> io::Result<()> {
    file.write_all([line, "\n"].concat().as_bytes())?;
    file.sync_data()
}

/// Locks the record against other writers.
fn lock(folder: &Path) -> Result<File, Error> {
    let file = File::open(folder.join(BOARD))?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(fs::TryLockError::WouldBlock) => {
            Err(ErrorKind::Shape { problem: "another program is writing this record" }.into())
        }
        Err(fs::TryLockError::Error(error)) => Err(error.into()),
    }
}

/// Truncates the last file of the board and the file of heads after their last newline.
fn drop_unfinished(folder: &Path) -> io::Result<()> {
    let mut files: Vec<PathBuf> =
        fs::read_dir(folder.join(BOARD))?.map(|file| file.map(|file| file.path())).collect::<io::Result<_>>()?;
    files.sort();
    for path in files.last().into_iter().chain([&folder.join(HEADS)]) {
        let Ok(file) = OpenOptions::new().read(true).write(true).open(path) else { continue };
        let mut reader = BufReader::new(&file);
        let (mut whole, mut line) = (0, Vec::new());
        while reader.read_until(b'\n', &mut line)? > 0 && line.ends_with(b"\n") {
            whole += line.len() as u64;
            line.clear();
        }
        if whole < file.metadata()?.len() {
            file.set_len(whole)?;
        }
    }
    Ok(())
}
