//! The organiser's directory: two secret keys, the draft of the election, and the growing record.

use std::fs::{self, File};
use std::io::{Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use hearith_election::{
    Board, Body, Election, Error, ErrorKind, Folder, KeyRole, Kind, Lines, Notice, Phase, Receipt, Record, SecretKey,
    Signer, Source, State, Tally, tracker,
};
use hearith_election_server::client::Client;
use hearith_paillier::SecretText;
use zeroize::Zeroizing;

use crate::args::AtServer;
use crate::failure::{CliError, eprint_line, name};
use crate::input::pem;
use crate::key_files::write;
use crate::output::{Access, Output};
use crate::session::Session;

/// The file of the organiser's key.
pub(super) const ORGANISER: &str = "organiser.json";
/// The file of the board's key.
pub(super) const BOARD: &str = "board.json";
/// The file of the election's draft, until it is published.
pub(super) const DRAFT: &str = "draft.json";
/// The folder of the record.
const RECORD: &str = "record";

/// A running election, local or at a server, with the keys that sign for it.
pub(super) struct ElectionHandle {
    /// The organiser's key. `None` for voters.
    organiser: Option<Signer>,
    /// The registrar's key, if someone other than the organiser lists voters.
    registrar: Option<Signer>,
    location: BoardLocation,
    name: String,
}

enum BoardLocation {
    /// In the organiser's directory.
    Local { board: Signer, record: Box<Record> },
    /// At a server, which checks everything. `state` is complete only as far as commands need it.
    Remote { client: Client, state: Box<State> },
}

impl ElectionHandle {
    /// Opens the organiser's directory. Locks the record against other processes as long as it is
    /// open.
    pub(super) fn open(session: &Session, folder: &Path) -> Result<Self, CliError> {
        let (organiser, board) = keys(folder)?;
        let path = folder.join(RECORD);
        let record = Record::open(&path, session.policy, session.engine).map_err(|error| of(&path, error))?;
        session.warn_insecure_key(&name(&path), record.state().election().key());
        Ok(ElectionHandle {
            organiser: Some(organiser),
            registrar: None,
            location: BoardLocation::Local { board, record: record.into() },
            name: name(&path),
        })
    }

    /// Opens an election for a registrar: in the organiser's directory, or at a server by its URL.
    pub(super) fn open_for(
        session: &Session,
        location: &Path,
        at: &AtServer,
        registrar: Option<&Path>,
    ) -> Result<Self, CliError> {
        let registrar = registrar.map(|path| secret_key(path, KeyRole::Registrar)).transpose()?;
        let mut handle = Self::open_at(session, location, at)?;
        handle.registrar = registrar;
        Ok(handle)
    }

    /// Fails if the election requires a different key for listing voters.
    pub(super) fn check_lists(&self) -> Result<(), CliError> {
        let own = self.registrar.as_ref().or(self.organiser.as_ref()).map(Signer::public);
        if own.is_none_or(|own| own == self.state().election().registrar().to_bytes()) {
            return Ok(());
        }
        Err(CliError::at(&self.name, "voters are listed with another key: pass its file with --registrar"))
    }

    /// Opens the organiser's keys, and the record, local or at a server. A server's URL alone comes
    /// without keys.
    pub(super) fn open_at(session: &Session, folder: &Path, at: &AtServer) -> Result<Self, CliError> {
        let Some(url) = at.server.as_deref().or_else(|| url(folder)) else { return Self::open(session, folder) };
        let key = folder.join(ORGANISER);
        let organiser = self::url(folder).is_none().then(|| secret_key(&key, KeyRole::Organiser)).transpose()?;
        let client = client(url, at.ca.as_deref())?;
        let record = client.record().map_err(CliError::new)?;
        let (mut lines, mut board, mut state) = (Lines::new(&record), Board::default(), None);
        while let Some(line) = lines.next_line().map_err(|error| CliError::at(url, error))? {
            let notice = board.follow(&line).map_err(|error| CliError::at(url, error))?.notice;
            let admitted = match &mut state {
                None => State::begin(&notice, session.policy, session.engine).map(|begun| state = Some(begun)),
                Some(state) => state.admit(&notice).map(drop),
            };
            admitted.map_err(|error| CliError::at(url, error))?;
        }
        let state = state.ok_or_else(|| CliError::at(url, "there is no election yet"))?;
        Ok(ElectionHandle {
            organiser,
            registrar: None,
            location: BoardLocation::Remote { client, state: state.into() },
            name: url.to_owned(),
        })
    }

    /// Opens an election for a voter: in the organiser's directory, or at a server by its URL. At a
    /// server, reads only the election itself.
    pub(super) fn visit(session: &Session, location: &Path, ca: Option<&Path>) -> Result<Self, CliError> {
        let Some(url) = url(location) else { return Self::open(session, location) };
        let client = client(url, ca)?;
        let election = election_at(session, &client, url)?;
        let state = Box::new(State::new(election));
        Ok(ElectionHandle {
            organiser: None,
            registrar: None,
            location: BoardLocation::Remote { client, state },
            name: url.to_owned(),
        })
    }

    /// Begins the record with an election's first entry.
    pub(super) fn create(session: &Session, folder: &Path, first: Body) -> Result<Self, CliError> {
        let (organiser, board) = keys(folder)?;
        let path = folder.join(RECORD);
        let first = Notice::signed(first, &organiser);
        let record = Record::create(&path, first, session.policy, session.engine).map_err(|error| of(&path, error))?;
        Ok(ElectionHandle {
            organiser: Some(organiser),
            registrar: None,
            location: BoardLocation::Local { board, record: record.into() },
            name: name(&path),
        })
    }

    /// The state of the election.
    pub(super) fn state(&self) -> &State {
        match &self.location {
            BoardLocation::Local { record, .. } => record.state(),
            BoardLocation::Remote { state, .. } => state,
        }
    }

    /// Computes the products of the ballots that count.
    pub(super) fn tally(&self) -> Result<Tally, CliError> {
        let tally = match &self.location {
            BoardLocation::Local { record, .. } => record.tally(),
            BoardLocation::Remote { client, state } => {
                hearith_election::tally(state, &client.record().map_err(CliError::new)?)
            }
        };
        tally.map_err(|error| CliError::at(&self.name, error))
    }

    /// Signs an official statement: as the organiser, the registrar, or the board if the election
    /// has dates.
    pub(super) fn signed(&self, body: Body) -> Result<Notice, CliError> {
        let manifest = self.state().election().manifest();
        let of_board = match body.kind() {
            Kind::Open => manifest.opens.as_ref(),
            Kind::Close => manifest.closes.as_ref(),
            _ => None,
        };
        let signer = match (of_board, &self.location) {
            (Some(_), BoardLocation::Local { board, .. }) => Some(board),
            (Some(date), BoardLocation::Remote { .. }) => {
                let kind = body.kind();
                return Err(CliError::at(&self.name, format!("the board itself publishes '{kind}' at {date}")));
            }
            _ if matches!(body.kind(), Kind::Voters | Kind::Replace) && manifest.registrar.is_some() => {
                self.registrar.as_ref()
            }
            _ => self.organiser.as_ref(),
        };
        let signer =
            signer.ok_or_else(|| CliError::at(&self.name, "only the organiser or the registrar can publish this"))?;
        Ok(Notice::signed(body, signer))
    }

    /// Signs and enters an official statement.
    pub(super) fn publish(&mut self, body: Body) -> Result<(), CliError> {
        let notice = self.signed(body)?;
        self.enter(notice).map(|_| ())
    }

    /// Whether an entry may be on the board although sending it failed, because a server's answer
    /// may have been lost.
    pub(super) fn may_have_more(&self) -> bool {
        match &self.location {
            BoardLocation::Local { .. } => false,
            BoardLocation::Remote { client, state } => {
                client.election().map_or(true, |election| election.size != state.size())
            }
        }
    }

    /// Checks that a voter may cast or challenge a ballot now, before the ballot is created. A
    /// server reports it only when the ballot arrives.
    pub(super) fn awaits(&self, kind: Kind, voter: &str) -> Result<(), CliError> {
        let BoardLocation::Local { record, .. } = &self.location else { return Ok(()) };
        let state = record.state();
        let cannot = |error: ErrorKind| Err(CliError::at(&self.name, error));
        match (state.phase(), state.voter(voter)) {
            (Phase::Open, Some(standing)) => {
                let again = kind == Kind::Ballot && standing.counted_entry().is_some();
                if again && !state.election().manifest().revoting { cannot(ErrorKind::VotedAlready) } else { Ok(()) }
            }
            (Phase::Open, None) => cannot(ErrorKind::UnknownVoter),
            (phase, _) => cannot(ErrorKind::OutOfOrder { kind, phase }),
        }
    }

    /// Checks a signed statement, including its proofs. A server does that itself.
    pub(super) fn check(&self, notice: &Notice) -> Result<(), CliError> {
        match &self.location {
            BoardLocation::Local { record, .. } => {
                let state = record.state();
                state.check(notice).and_then(|()| state.check_proofs(notice)).map_err(CliError::new)
            }
            BoardLocation::Remote { .. } => Ok(()),
        }
    }

    /// Enters a signed statement. The caller has verified its proofs.
    pub(super) fn enter(&mut self, notice: Notice) -> Result<Receipt, CliError> {
        match &mut self.location {
            BoardLocation::Local { board, record } => {
                let index = record.board().size();
                let line = record.append(notice).map_err(|error| CliError::at(&self.name, error))?;
                Ok(Receipt::new(record.state().election().id(), index, &line, board))
            }
            BoardLocation::Remote { client, state } => {
                let text = client.send(&notice).map_err(CliError::new)?;
                let line = published(client, &notice)?;
                let receipt = Receipt::from_json(&text)
                    .and_then(|receipt| confirmed(state.election(), receipt, line.as_deref(), &notice));
                let receipt = receipt.map_err(|error| CliError::at(&self.name, error).with_note(NOT_CONFIRMED))?;
                // A visitor has no list of voters and needs none.
                let _ = state.admit(&notice);
                Ok(receipt)
            }
        }
    }

    /// Ends a command: the board signs its current head.
    pub(super) fn sign_head(&mut self) -> Result<(), CliError> {
        let BoardLocation::Local { board, record } = &mut self.location else { return Ok(()) };
        record.sign_head(board).map_err(|error| CliError::at(&self.name, error))
    }
}

/// The note on an invalid receipt.
const NOT_CONFIRMED: &str = "it may not be on the board: note its tracker, and look for it in a verified record";

/// Returns the board's line for a sent notice that has a tracker: a ballot, cast or challenged.
fn published(client: &Client, notice: &Notice) -> Result<Option<String>, CliError> {
    let ballot = match notice.body() {
        Body::Ballot(ballot) => ballot,
        Body::Challenge(challenge) => &challenge.ballot,
        _ => return Ok(None),
    };
    let found =
        client.tracked(&tracker(&ballot.hash())).map_err(|error| CliError::new(error).with_note(NOT_CONFIRMED))?;
    Ok(Some(found.entry.get().to_owned()))
}

/// Checks that a receipt is the board's signature on the sent notice, using the line that the board
/// shows.
fn confirmed(election: &Election, receipt: Receipt, line: Option<&str>, notice: &Notice) -> Result<Receipt, ErrorKind> {
    match line {
        Some(line) => receipt.check_entry(election.board(), election.id(), line, notice)?,
        // Official statements are checked at the end, when the record is verified.
        None => receipt.check_signature(election.board())?,
    }
    if receipt.election == election.id() { Ok(receipt) } else { Err(ErrorKind::WrongElection) }
}

/// Returns a location that is a URL.
pub(super) fn url(location: &Path) -> Option<&str> {
    location.to_str().filter(|text| text.starts_with("http://") || text.starts_with("https://"))
}

/// Creates a client for a server.
pub(super) fn client(url: &str, ca: Option<&Path>) -> Result<Client, CliError> {
    let ca = ca.map(pem).transpose()?;
    Client::new(url, ca.as_deref()).map_err(CliError::new)
}

/// Returns the election at a server.
pub(super) fn election_at(session: &Session, client: &Client, url: &str) -> Result<Election, CliError> {
    let manifest = client.election().map_err(CliError::new)?.manifest;
    let manifest = manifest.ok_or_else(|| CliError::at(url, "there is no election yet"))?;
    let at = |error: ErrorKind| CliError::at(url, error);
    let manifest = hearith_election::canonical::from_text("an election", manifest.get()).map_err(at)?;
    let election = Election::new(manifest, session.policy, session.engine).map_err(at)?;
    session.warn_insecure_key(url, election.key());
    Ok(election)
}

/// Reads the organiser's and the board's keys.
pub(super) fn keys(folder: &Path) -> Result<(Signer, Signer), CliError> {
    Ok((secret_key(&folder.join(ORGANISER), KeyRole::Organiser)?, secret_key(&folder.join(BOARD), KeyRole::Board)?))
}

pub(super) fn secret_key(path: &Path, role: KeyRole) -> Result<Signer, CliError> {
    let at = |error: hearith_election::ErrorKind| CliError::at(name(path), Error::from(error));
    SecretKey::from_line(secret_text(path)?.first_line(), role).and_then(|key| key.signer()).map_err(at)
}

/// Reads a file of secrets. Warns if others can read it.
pub(super) fn secret_text(path: &Path) -> Result<SecretText, CliError> {
    let name = name(path);
    let text = SecretText::open(path).map_err(|error| CliError::reading(&name, error))?;
    if text.is_shared() {
        eprint_line(&format!("{name}: warning: other users can read this secret (chmod 600 fixes it)"));
    }
    Ok(text)
}

/// Reads a file of secrets of any length: credentials, or a prepared ballot. The text is wiped when
/// dropped.
pub(super) fn long_secret_text(path: &Path) -> Result<Zeroizing<String>, CliError> {
    let called = name(path);
    let read = || {
        let file = File::open(path)?;
        let metadata = file.metadata()?;
        if metadata.permissions().mode() & 0o077 != 0 {
            let what = "other users can read this secret (chmod 600 fixes it)";
            eprint_line(&format!("{called}: warning: {what}"));
        }
        // The capacity suffices from the start, so growing leaves no copy of a secret behind.
        let mut text = Zeroizing::new(String::with_capacity(metadata.len() as usize + 64));
        file.take(metadata.len()).read_to_string(&mut text)?;
        Ok(text)
    };
    read().map_err(|error| CliError::reading(&called, error))
}

/// Reads a file of public text.
pub(super) fn text(path: &Path) -> Result<String, CliError> {
    fs::read_to_string(path).map_err(|error| CliError::reading(&name(path), error))
}

/// Writes a new file, completely or not at all.
pub(super) fn write_new(path: &Path, access: Access, text: &str) -> Result<(), CliError> {
    let mut output = Output::file(path, access, false)?;
    write(&mut output, text)?;
    output.commit()
}

/// Writes a new file of bytes, completely or not at all.
pub(super) fn write_new_bytes(path: &Path, access: Access, bytes: &[u8]) -> Result<(), CliError> {
    let mut output = Output::file(path, access, false)?;
    output.write_all(bytes).map_err(|error| CliError::writing(&name(path), error))?;
    output.commit()
}

/// The folder of the record: the given one, or the one in the organiser's directory.
pub(super) fn record_folder(path: &Path) -> Result<PathBuf, CliError> {
    fs::read_dir(path).map_err(|error| CliError::reading(&name(path), error))?;
    let inside = path.join(RECORD);
    Ok(if inside.is_dir() { inside } else { path.to_owned() })
}

/// Opens a record in a folder or at a server. Returns its name for messages too.
pub(super) fn record(location: &Path, ca: Option<&Path>) -> Result<(Box<dyn Source>, String), CliError> {
    if let Some(url) = url(location) {
        return Ok((Box::new(client(url, ca)?.record().map_err(CliError::new)?), url.to_owned()));
    }
    let folder = record_folder(location)?;
    let name = name(&folder);
    Ok((Box::new(Folder(folder)), name))
}

/// The failure of a file or a record.
pub(super) fn of(path: &Path, error: impl Into<Error>) -> CliError {
    CliError::at(name(path), error.into())
}
