//! The organiser's directory: two secret keys, what is voted on, and the record as it grows.

use std::fs::{self, File};
use std::io::{Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use hearith_election::{
    Board, Body, Election, Error, ErrorKind, Folder, Holder, Kind, Lines, Notice, Phase, Receipt, Record, SecretKey,
    Signer, Source, State, Tally, tracker,
};
use hearith_election_server::client::Client;
use hearith_paillier::SecretText;
use zeroize::Zeroizing;

use crate::args::AtServer;
use crate::failure::{Failure, eprint_line, name};
use crate::input::pem;
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

/// An election that goes on, here or at a server, and who signs for it.
pub(super) struct ElectionHandle {
    /// Voters have none.
    organiser: Option<Signer>,
    /// Whoever lists voters, where that is not the organiser.
    registrar: Option<Signer>,
    location: BoardLocation,
    name: String,
}

enum BoardLocation {
    /// In the organiser's directory.
    Local { board: Signer, record: Box<Record> },
    /// At a server, which checks everything; what it is at, as far as that is needed here.
    Remote { client: Client, state: Box<State> },
}

impl ElectionHandle {
    /// Opens the organiser's directory. The record is locked for others as long as it is open.
    pub(super) fn open(session: &Session, folder: &Path) -> Result<Self, Failure> {
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

    /// The office of a registrar: in the organiser's directory, or at a server by its URL.
    pub(super) fn open_for(
        session: &Session,
        location: &Path,
        at: &AtServer,
        registrar: Option<&Path>,
    ) -> Result<Self, Failure> {
        let registrar = registrar.map(|path| secret_key(path, Holder::Registrar)).transpose()?;
        let mut office = Self::open_at(session, location, at)?;
        office.registrar = registrar;
        Ok(office)
    }

    /// Fails where voters are listed with another key than is here.
    pub(super) fn check_lists(&self) -> Result<(), Failure> {
        let own = self.registrar.as_ref().or(self.organiser.as_ref()).map(Signer::public);
        if own.is_none_or(|own| own == self.state().election().registrar().to_bytes()) {
            return Ok(());
        }
        Err(Failure::at(&self.name, "voters are listed with another key (--registrar names its file)"))
    }

    /// The organiser's keys, and the record here or at a server. Of a server's URL alone there are
    /// no keys.
    pub(super) fn open_at(session: &Session, folder: &Path, at: &AtServer) -> Result<Self, Failure> {
        let Some(url) = at.server.as_deref().or_else(|| url(folder)) else { return Self::open(session, folder) };
        let key = folder.join(ORGANISER);
        let organiser = self::url(folder).is_none().then(|| secret_key(&key, Holder::Organiser)).transpose()?;
        let client = client(url, at.ca.as_deref())?;
        let record = client.record().map_err(Failure::new)?;
        let (mut lines, mut board, mut state) = (Lines::new(&record), Board::default(), None);
        while let Some(line) = lines.next_line().map_err(|error| Failure::at(url, error))? {
            let notice = board.follow(&line).map_err(|error| Failure::at(url, error))?.notice;
            let taken = match &mut state {
                None => State::begin(&notice, session.policy, session.engine).map(|begun| state = Some(begun)),
                Some(state) => state.admit(&notice).map(drop),
            };
            taken.map_err(|error| Failure::at(url, error))?;
        }
        let state = state.ok_or_else(|| Failure::at(url, "there is no election yet"))?;
        Ok(ElectionHandle {
            organiser,
            registrar: None,
            location: BoardLocation::Remote { client, state: state.into() },
            name: url.to_owned(),
        })
    }

    /// As voters find it: the organiser's directory, or a server by its URL, of which they need to
    /// know the election only.
    pub(super) fn visit(session: &Session, location: &Path, ca: Option<&Path>) -> Result<Self, Failure> {
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
    pub(super) fn create(session: &Session, folder: &Path, first: Body) -> Result<Self, Failure> {
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

    /// What the election is at.
    pub(super) fn state(&self) -> &State {
        match &self.location {
            BoardLocation::Local { record, .. } => record.state(),
            BoardLocation::Remote { state, .. } => state,
        }
    }

    /// The products of what counts.
    pub(super) fn tally(&self) -> Result<Tally, Failure> {
        let tally = match &self.location {
            BoardLocation::Local { record, .. } => record.tally(),
            BoardLocation::Remote { client, state } => {
                hearith_election::tally(state, &client.record().map_err(Failure::new)?)
            }
        };
        tally.map_err(|error| Failure::at(&self.name, error))
    }

    /// Signs what an official says: the organiser, the registrar, or the board where the election
    /// has dates.
    pub(super) fn signed(&self, body: Body) -> Result<Notice, Failure> {
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
                return Err(Failure::at(&self.name, format!("'{kind}' comes at {date}: the board says it by itself")));
            }
            _ if matches!(body.kind(), Kind::Voters | Kind::Replace) && manifest.registrar.is_some() => {
                self.registrar.as_ref()
            }
            _ => self.organiser.as_ref(),
        };
        let signer = signer.ok_or_else(|| Failure::at(&self.name, "only its organiser or registrar says that"))?;
        Ok(Notice::signed(body, signer))
    }

    /// Enters what an official says.
    pub(super) fn publish(&mut self, body: Body) -> Result<(), Failure> {
        let notice = self.signed(body)?;
        self.enter(notice).map(|_| ())
    }

    /// Whether an entry that was sent may be on the board, after that failed: a server's answer may
    /// have been lost.
    pub(super) fn may_have_more(&self) -> bool {
        match &self.location {
            BoardLocation::Local { .. } => false,
            BoardLocation::Remote { client, state } => {
                client.election().map_or(true, |election| election.size != state.size())
            }
        }
    }

    /// Checks that a voter's ballot, or a challenged one, may come now, before it is made; a server
    /// says so when it comes.
    pub(super) fn awaits(&self, kind: Kind, voter: &str) -> Result<(), Failure> {
        let BoardLocation::Local { record, .. } = &self.location else { return Ok(()) };
        let state = record.state();
        let cannot = |error: ErrorKind| Err(Failure::at(&self.name, error));
        match (state.phase(), state.voter(voter)) {
            (Phase::Open, Some(standing)) => {
                let again = kind == Kind::Ballot && standing.counted().is_some();
                if again && !state.election().manifest().revoting { cannot(ErrorKind::VotedAlready) } else { Ok(()) }
            }
            (Phase::Open, None) => cannot(ErrorKind::UnknownVoter),
            (phase, _) => cannot(ErrorKind::OutOfOrder { kind, phase }),
        }
    }

    /// Checks what somebody signed, proofs included; a server does that itself.
    pub(super) fn check(&self, notice: &Notice) -> Result<(), Failure> {
        match &self.location {
            BoardLocation::Local { record, .. } => {
                let state = record.state();
                state.check(notice).and_then(|()| state.check_proofs(notice)).map_err(Failure::new)
            }
            BoardLocation::Remote { .. } => Ok(()),
        }
    }

    /// Enters what somebody signed, whose proofs the caller has verified.
    pub(super) fn enter(&mut self, notice: Notice) -> Result<Receipt, Failure> {
        match &mut self.location {
            BoardLocation::Local { board, record } => {
                let index = record.board().size();
                let line = record.append(notice).map_err(|error| Failure::at(&self.name, error))?;
                Ok(Receipt::new(record.state().election().id(), index, &line, board))
            }
            BoardLocation::Remote { client, state } => {
                let text = client.send(&notice).map_err(Failure::new)?;
                let line = published(client, &notice)?;
                let receipt = Receipt::from_json(&text)
                    .and_then(|receipt| confirmed(state.election(), receipt, line.as_deref(), &notice));
                let receipt = receipt.map_err(|error| Failure::at(&self.name, error).with_note(NOT_CONFIRMED))?;
                // Of voters a visitor knows nothing, nor needs to.
                let _ = state.admit(&notice);
                Ok(receipt)
            }
        }
    }

    /// Ends a command: the board answers for what it has now.
    pub(super) fn sign_head(&mut self) -> Result<(), Failure> {
        let BoardLocation::Local { board, record } = &mut self.location else { return Ok(()) };
        record.sign_head(board).map_err(|error| Failure::at(&self.name, error))
    }
}

/// What a receipt is worth that does not hold.
const NOT_CONFIRMED: &str = "nothing shows that it is on the board: note its tracker, and look in a verified record";

/// The line that the board shows for what was sent, if that has a tracker: ballots, cast or
/// challenged.
fn published(client: &Client, notice: &Notice) -> Result<Option<String>, Failure> {
    let ballot = match notice.body() {
        Body::Ballot(ballot) => ballot,
        Body::Challenge(challenge) => &challenge.ballot,
        _ => return Ok(None),
    };
    let found =
        client.tracked(&tracker(&ballot.hash())).map_err(|error| Failure::new(error).with_note(NOT_CONFIRMED))?;
    Ok(Some(found.entry.get().to_owned()))
}

/// A receipt that is the board's word for what was sent, by the line that it shows.
fn confirmed(election: &Election, receipt: Receipt, line: Option<&str>, notice: &Notice) -> Result<Receipt, ErrorKind> {
    match line {
        Some(line) => receipt.check_entry(election.board(), election.id(), line, notice)?,
        // Of what the organiser says, the record is verified at the end.
        None => receipt.check_signature(election.board())?,
    }
    if receipt.election == election.id() { Ok(receipt) } else { Err(ErrorKind::WrongElection) }
}

/// The URL that a place is, if it is one.
pub(super) fn url(location: &Path) -> Option<&str> {
    location.to_str().filter(|text| text.starts_with("http://") || text.starts_with("https://"))
}

/// A server's client.
pub(super) fn client(url: &str, ca: Option<&Path>) -> Result<Client, Failure> {
    let ca = ca.map(pem).transpose()?;
    Client::new(url, ca.as_deref()).map_err(Failure::new)
}

/// The election that a server holds.
pub(super) fn election_at(session: &Session, client: &Client, url: &str) -> Result<Election, Failure> {
    let manifest = client.election().map_err(Failure::new)?.manifest;
    let manifest = manifest.ok_or_else(|| Failure::at(url, "there is no election yet"))?;
    let at = |error: ErrorKind| Failure::at(url, error);
    let manifest = hearith_election::canonical::from_text("an election", manifest.get()).map_err(at)?;
    let election = Election::new(manifest, session.policy, session.engine).map_err(at)?;
    session.warn_insecure_key(url, election.key());
    Ok(election)
}

/// The organiser's and the board's key.
pub(super) fn keys(folder: &Path) -> Result<(Signer, Signer), Failure> {
    Ok((secret_key(&folder.join(ORGANISER), Holder::Organiser)?, secret_key(&folder.join(BOARD), Holder::Board)?))
}

pub(super) fn secret_key(path: &Path, holder: Holder) -> Result<Signer, Failure> {
    let at = |error: hearith_election::ErrorKind| Failure::at(name(path), Error::from(error));
    SecretKey::from_line(secret_text(path)?.first_line(), holder).and_then(|key| key.signer()).map_err(at)
}

/// Reads a file of secrets, with a warning if others can read it.
pub(super) fn secret_text(path: &Path) -> Result<SecretText, Failure> {
    let name = name(path);
    let text = SecretText::open(path).map_err(|error| Failure::reading(&name, error))?;
    if text.is_shared() {
        eprint_line(&format!("{name}: warning: others than its owner can read this secret (chmod 600 fixes it)"));
    }
    Ok(text)
}

/// A file of secrets as long as it may be: credentials, or a prepared ballot. Wiped when dropped.
pub(super) fn long_secret_text(path: &Path) -> Result<Zeroizing<String>, Failure> {
    let called = name(path);
    let read = || {
        let file = File::open(path)?;
        let metadata = file.metadata()?;
        if metadata.permissions().mode() & 0o077 != 0 {
            let what = "others than its owner can read this secret (chmod 600 fixes it)";
            eprint_line(&format!("{called}: warning: {what}"));
        }
        // With room enough from the start, so that no copy of a secret is left behind.
        let mut text = Zeroizing::new(String::with_capacity(metadata.len() as usize + 64));
        file.take(metadata.len()).read_to_string(&mut text)?;
        Ok(text)
    };
    read().map_err(|error| Failure::reading(&called, error))
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

/// Writes a file of bytes that must not be there yet, whole or not at all.
pub(super) fn write_new_bytes(path: &Path, access: Access, bytes: &[u8]) -> Result<(), Failure> {
    let mut output = Output::file(path, access, false)?;
    output.write_all(bytes).map_err(|error| Failure::writing(&name(path), error))?;
    output.commit()
}

/// The record that is meant: the folder itself, or the one in the organiser's directory.
pub(super) fn record_folder(path: &Path) -> Result<PathBuf, Failure> {
    fs::read_dir(path).map_err(|error| Failure::reading(&name(path), error))?;
    let inside = path.join(RECORD);
    Ok(if inside.is_dir() { inside } else { path.to_owned() })
}

/// The record that is meant, a folder or the one that a server shows, and what to call it.
pub(super) fn record(location: &Path, ca: Option<&Path>) -> Result<(Box<dyn Source>, String), Failure> {
    if let Some(url) = url(location) {
        return Ok((Box::new(client(url, ca)?.record().map_err(Failure::new)?), url.to_owned()));
    }
    let folder = record_folder(location)?;
    let name = name(&folder);
    Ok((Box::new(Folder(folder)), name))
}

/// What is wrong with a file or a record.
pub(super) fn of(path: &Path, error: impl Into<Error>) -> Failure {
    Failure::at(name(path), error.into())
}
