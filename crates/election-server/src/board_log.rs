//! The board of a server: the state after the lines of the store. All servers that share a store
//! reach the same state.
//!
//! An entry is checked once more in the transaction that appends it, after the entries of other
//! servers. The state changes only when the entry is on disk, so a failed transaction leaves
//! nothing to undo. Readers see the state before or after a transaction, never in between.

use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use hearith_election::signature::{PublicKey, Signer};
use hearith_election::{
    Ballot, Board, Body, Bytes, ErrorKind, Hash, Kind, Notice, Products, Receipt, SignedTreeHead, State, Tally,
    VoterState, Voters, canonical, in_order, tracker,
};
use hearith_paillier::{Engine, KeyPolicy};
use serde_json::value::RawValue;

use crate::last_head::LastHead;
use crate::store::{self, Append, Entry, Store};
use hearith_election::now_after;

/// Lines read at a time.
const PAGE: u64 = 500;

/// Why an entry was not written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The store failed. Whether the entry was written is unknown.
    #[error(transparent)]
    Store(#[from] store::Error),
    /// A line of the store does not continue the lines before it.
    #[error("entry {1} of the store {0} is invalid")]
    Line(store::Location, u64, #[source] Box<ErrorKind>),
    /// The store contains the election of another board.
    #[error("the board of the store {0} has another key: pass its original key with --board-key")]
    BoardKey(store::Location),
    /// The file of the last head cannot be read, or was signed by another board.
    #[error("{0}: not the last head that this board signed")]
    NoHead(PathBuf, #[source] Box<dyn std::error::Error + Send + Sync>),
    /// The store has fewer entries than readers have seen.
    #[error(
        "the store {store} has {size} entries, and the board signed a head of {shown} ({head}): it is an older backup. \
         Restore a newer one, or remove that file and tell readers which entries are lost"
    )]
    Stale {
        /// The store.
        store: store::Location,
        /// The number of entries in the store.
        size: u64,
        /// The file of the last head.
        head: PathBuf,
        /// The number of entries of the last head.
        shown: u64,
    },
    /// The store contains different entries than readers have seen.
    #[error("the entries of the store {0} differ from the head that the board signed ({1}): it is another board")]
    Forked(store::Location, PathBuf),
}

/// Public data that is available without a query of the store.
#[derive(Clone, Debug)]
pub(crate) struct Snapshot {
    /// The board's public key, as base64url.
    pub(crate) board: String,
    /// The election's id.
    pub(crate) id: Option<Hash>,
    /// The body of the first entry.
    pub(crate) manifest: Option<Box<RawValue>>,
    /// The phase of the election, or `empty` if there is none.
    pub(crate) phase: &'static str,
    /// The number of entries on the board.
    pub(crate) size: u64,
    /// The newest signed head.
    pub(crate) head: Option<Box<RawValue>>,
}

/// A notice that was written now or earlier.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Entered {
    pub(crate) index: u64,
    pub(crate) line: String,
}

/// The store and the state after its lines.
pub(crate) struct BoardLog {
    store: Store,
    signer: Signer,
    policy: KeyPolicy,
    engine: Engine,
    last: Option<LastHead>,
    current: RwLock<BoardState>,
    view: RwLock<Arc<Snapshot>>,
}

#[derive(Debug)]
struct BoardState {
    board: Board,
    state: Option<State>,
    head: Option<SignedTreeHead>,
    /// A head signed before this start, until the board has reached it.
    shown: Option<SignedTreeHead>,
}

impl std::fmt::Debug for BoardLog {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("BoardLog").field("store", &self.store).finish_non_exhaustive()
    }
}

impl BoardLog {
    /// Opens a store whose board signs with this key, and applies its lines. `last` is the file of
    /// the newest signed head.
    pub(crate) async fn open(
        store: Store,
        signer: Signer,
        last: Option<LastHead>,
        policy: KeyPolicy,
        engine: Engine,
    ) -> Result<Self, Error> {
        let view =
            Snapshot { board: text(&signer.public()), id: None, manifest: None, phase: "empty", size: 0, head: None };
        let shown = last.as_ref().map(read).transpose()?.flatten();
        let current = BoardState { board: Board::default(), state: None, head: None, shown };
        let (current, view) = (RwLock::new(current), RwLock::new(Arc::new(view)));
        let log = Self { store, signer, policy, engine, last, current, view };
        log.catch_up().await?;
        log.check_shown()?;
        Ok(log)
    }

    /// Checks that the store contains everything that the board has signed.
    fn check_shown(&self) -> Result<(), Error> {
        let current = self.read();
        let (Some(shown), Some(last)) = (&current.shown, &self.last) else { return Ok(()) };
        signed(last, shown, &self.signer)?;
        let (store, head) = (self.store.location().clone(), last.path().to_owned());
        Err(Error::Stale { store, size: current.board.size(), head, shown: shown.size })
    }

    pub(crate) fn store(&self) -> &Store {
        &self.store
    }

    /// The key that signs heads and receipts.
    pub(crate) fn signer(&self) -> &Signer {
        &self.signer
    }

    /// Public data that is available without a query of the store.
    pub(crate) fn view(&self) -> Arc<Snapshot> {
        self.view.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Evaluates a function of the election's state. `None` if there is no election yet.
    pub(crate) fn with_state<T>(&self, ask: impl FnOnce(&State) -> T) -> Option<T> {
        self.read().state.as_ref().map(ask)
    }

    fn read(&self) -> RwLockReadGuard<'_, BoardState> {
        self.current.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, BoardState> {
        self.current.write().unwrap_or_else(PoisonError::into_inner)
    }

    /// Applies the entries that other servers appended.
    pub(crate) async fn catch_up(&self) -> Result<(), Error> {
        loop {
            let first = self.read().board.size();
            let lines = self.store.lines(first, PAGE).await?;
            let last = (lines.len() as u64) < PAGE;
            if !lines.is_empty() {
                self.follow(first, lines)?;
                let head = self.store.newest_head().await?.and_then(|line| SignedTreeHead::from_line(&line).ok());
                self.publish(head);
            }
            if last {
                return Ok(());
            }
        }
    }

    /// Applies lines of the store, except those that were applied in the meantime.
    fn follow(&self, first: u64, lines: Vec<String>) -> Result<(), Error> {
        let mut current = self.write();
        for (index, line) in (first..).zip(lines) {
            if index == current.board.size() {
                self.apply(&mut current, &line)
                    .map_err(|error| Error::Line(self.store.location().clone(), index, Box::new(error)))?;
                if index == 0 && !self.owns(&current) {
                    return Err(Error::BoardKey(self.store.location().clone()));
                }
                let size = current.board.size();
                let shown = current.shown.take_if(|shown| shown.size == size);
                if let (Some(shown), Some(last)) = (shown, &self.last) {
                    signed(last, &shown, &self.signer)?;
                    if shown.root != current.board.root() {
                        return Err(Error::Forked(self.store.location().clone(), last.path().to_owned()));
                    }
                }
            }
        }
        Ok(())
    }

    fn apply(&self, current: &mut BoardState, line: &str) -> Result<(), ErrorKind> {
        let mut board = current.board.clone();
        let entry = board.follow(line)?;
        match &mut current.state {
            None => current.state = Some(State::begin(&entry.notice, self.policy, self.engine)?),
            Some(state) => _ = state.admit(&entry.notice)?,
        }
        current.board = board;
        Ok(())
    }

    fn owns(&self, current: &BoardState) -> bool {
        current.state.as_ref().is_some_and(|state| state.election().manifest().board == self.signer.public())
    }

    /// Publishes the current size of the board and its head.
    fn publish(&self, head: Option<SignedTreeHead>) {
        self.save_head(head.as_ref());
        let mut current = self.write();
        if let Some(head) = head.filter(|head| current.head.as_ref().is_none_or(|known| known.size < head.size)) {
            current.head = Some(head);
        }
        let mut view = self.view.write().unwrap_or_else(PoisonError::into_inner);
        let mut next = Snapshot::clone(&view);
        next.size = current.board.size();
        next.head = current.head.as_ref().and_then(|head| RawValue::from_string(head.to_line()).ok());
        if let Some(state) = &current.state {
            next.phase = state.phase().name();
            next.id = Some(state.election().id());
            if next.manifest.is_none() {
                let manifest = canonical::to_text(state.election().manifest());
                next.manifest = RawValue::from_string(manifest).ok();
            }
        }
        *view = Arc::new(next);
    }

    /// Stores a head that is newer than the last one, before anyone sees it.
    fn save_head(&self, head: Option<&SignedTreeHead>) {
        let (Some(last), Some(head)) = (&self.last, head) else { return };
        if self.read().head.as_ref().is_none_or(|known| known.size < head.size)
            && let Err(error) = last.write(head)
        {
            // The entries are on disk anyway. Only the check at the next start is weaker.
            tracing::warn!(file = %last.path().display(), %error, "cannot save the last head");
        }
    }

    /// Checks everything about a notice except its proofs, at the current state and time.
    pub(crate) fn check(&self, notice: &Notice) -> Result<(), ErrorKind> {
        self.check_at(notice, &self.time())
    }

    /// The current time, or that of the newest known head if that is later.
    fn time(&self) -> String {
        now_after(self.read().head.as_ref().map(|head| head.time.as_str()))
    }

    /// Checks everything about a notice except its proofs, at a given time.
    fn check_at(&self, notice: &Notice, time: &str) -> Result<(), ErrorKind> {
        match &self.read().state {
            Some(state) => state.check(notice).and_then(|()| state.check_date(notice.kind(), time)),
            None => State::begin(notice, self.policy, self.engine).map(drop),
        }
    }

    /// The entry of a ballot or challenge, if exactly the same notice is on the board.
    pub(crate) async fn entered(&self, notice: &Notice) -> Result<Option<Entered>, Error> {
        let Some(tracker) = tracker_of(notice) else { return Ok(None) };
        let found = self.store.tracked(&tracker).await?;
        Ok(found.filter(|(_, line)| is_of(line, notice)).map(|(index, line)| Entered { index, line }))
    }

    /// Writes independent notices (ballots and challenges of different voters, or a single one of
    /// another kind) and signs a head. Without notices it only signs a head. Each notice that the
    /// rules no longer permit is refused individually. All others are written to disk together, or
    /// none is.
    ///
    /// # Errors
    /// The store fails. Whether the notices were written is unknown. The next attempt finds out.
    pub(crate) async fn enter(&self, notices: &[&Notice]) -> Result<Vec<Result<Entered, ErrorKind>>, Error> {
        let mut append = self.store.append().await?;
        loop {
            let first = self.read().board.size();
            let lines = append.lines(first, PAGE).await?;
            if lines.is_empty() {
                break;
            }
            self.follow(first, lines)?;
        }
        // No head may have a time before that of the newest head, which may be another server's or
        // precede a clock change. The election's dates are compared with the same time.
        let newest = append.newest_head().await?.and_then(|line| SignedTreeHead::from_line(&line).ok());
        let time = now_after(newest.as_ref().map(|head| head.time.as_str()));
        let mut board = self.read().board.clone();
        let mut entered = Vec::with_capacity(notices.len());
        for notice in notices {
            let result = match self.find_written(&mut append, notice).await? {
                Some(before) => Ok(before),
                None => match self.check_at(notice, &time) {
                    Err(error) => Err(error),
                    Ok(()) => {
                        let index = board.size();
                        let line = board.append(Notice::clone(notice));
                        let (voters, revoting) = self.with_state(voting_terms).unwrap_or_default();
                        insert(&mut append, notice, index, &line, voters, revoting).await?;
                        Ok(Entered { index, line })
                    }
                },
            };
            entered.push(result);
        }
        // One head per transaction, so everything on disk is covered by a signature.
        let head = board.head(&time, &self.signer);
        if head.size > 0 {
            append.head(head.size, &head.to_line()).await?;
        }
        append.commit().await?;
        let first = self.read().board.size();
        let mut lines: Vec<(u64, String)> = entered
            .iter()
            .flatten()
            .map(|one| (one.index, one.line.clone()))
            .filter(|(index, _)| *index >= first)
            .collect();
        lines.sort_unstable_by_key(|(index, _)| *index);
        self.follow(first, lines.into_iter().map(|(_, line)| line).collect())?;
        self.publish(Some(head).filter(|head| head.size > 0));
        Ok(entered)
    }

    /// An entry that an earlier attempt had written after all.
    async fn find_written(&self, append: &mut Append, notice: &Notice) -> Result<Option<Entered>, Error> {
        if let Some(tracker) = tracker_of(notice) {
            let found = append.tracked(&tracker).await?;
            return Ok(found.filter(|(_, line)| is_of(line, notice)).map(|(index, line)| Entered { index, line }));
        }
        Ok(None)
    }

    /// Writes the entry that the election's dates require of the board itself, and returns it.
    ///
    /// # Errors
    /// The store fails.
    pub(crate) async fn enter_due(&self) -> Result<Option<(u64, Kind)>, Error> {
        let time = self.time();
        let Some(body) = self.with_state(|state| state.due(&time)).flatten() else { return Ok(None) };
        let notice = Notice::signed(body, &self.signer);
        let entered = self.enter(&[&notice]).await?.pop();
        // Another server of the store may have written it.
        Ok(entered.and_then(Result::ok).map(|one| (one.index, notice.kind())))
    }

    /// Multiplies the counted ballots and compares the result with a tally.
    ///
    /// # Errors
    /// The store fails.
    pub(crate) async fn check_tally(&self, tally: &Tally) -> Result<Result<(), ErrorKind>, Error> {
        let Some(election) = self.with_state(|state| state.election().clone()) else { return Ok(Ok(())) };
        let (mut products, mut next) = (Products::new(&election), 0);
        loop {
            let page = self.store.votes(next, PAGE).await?;
            let Some((last, _)) = page.last() else { break };
            next = last + 1;
            let ballots: Vec<(Ballot, u64)> = page.iter().filter_map(|(_, line)| self.weighed(line)).collect();
            let ballots: Vec<(&Ballot, u64)> = ballots.iter().map(|(ballot, weight)| (ballot, *weight)).collect();
            if let Err(error) = tokio::task::block_in_place(|| products.add(&ballots)) {
                return Ok(Err(error));
            }
        }
        Ok(products.check(tally))
    }

    /// The ballot of a line, and its voter's weight.
    fn weighed(&self, line: &str) -> Option<(Ballot, u64)> {
        let Body::Ballot(ballot) = hearith_election::Entry::from_line(line).ok()?.notice.into_body() else {
            return None;
        };
        let weight = self.with_state(|state| state.voter(&ballot.voter).map(VoterState::weight))??;
        Some((ballot, weight))
    }

    /// Signs a head if the newest one does not cover the board, as after a restore.
    pub(crate) async fn sign_head(&self) -> Result<(), Error> {
        let covered = {
            let current = self.read();
            current.board.size() == 0 || current.head.as_ref().is_some_and(|head| head.size == current.board.size())
        };
        if !covered {
            self.enter(&[]).await?;
        }
        Ok(())
    }

    /// Removes as few heads as possible so that none goes back in time. Signs a head of all entries
    /// if the last head was removed. Returns the number of removed heads.
    ///
    /// # Errors
    /// The store fails.
    pub(crate) async fn repair_heads(&self) -> Result<u64, Error> {
        let mut append = self.store.append().await?;
        let lines = append.heads().await?;
        let heads: Vec<SignedTreeHead> =
            lines.iter().filter_map(|(_, line)| SignedTreeHead::from_line(line).ok()).collect();
        let kept: HashSet<u64> = in_order(&heads).iter().map(|head| head.size).collect();
        let dropped: Vec<u64> = lines.iter().map(|(size, _)| *size).filter(|size| !kept.contains(size)).collect();
        for size in &dropped {
            append.drop_head(*size).await?;
        }
        append.commit().await?;
        self.enter(&[]).await?;
        Ok(dropped.len() as u64)
    }

    /// The board's receipt for an entry.
    pub(crate) fn receipt(&self, entered: &Entered) -> String {
        let id = self.view().id.unwrap_or(Hash([0; 32]));
        Receipt::new(id, entered.index, &entered.line, &self.signer).to_json()
    }
}

/// Reads the head in a file.
fn read(last: &LastHead) -> Result<Option<SignedTreeHead>, Error> {
    last.read().map_err(|error| Error::NoHead(last.path().to_owned(), error.into()))
}

/// Checks that a board with this key signed the head in a file.
fn signed(last: &LastHead, head: &SignedTreeHead, signer: &Signer) -> Result<(), Error> {
    let key = PublicKey::new("the board's", &signer.public());
    let checked = key.and_then(|key| head.check_signature(&key));
    checked.map_err(|error| Error::NoHead(last.path().to_owned(), error.into()))
}

/// The number of voters, and whether they may vote again.
pub(crate) fn voting_terms(state: &State) -> (u64, bool) {
    (state.voter_count(), state.election().manifest().revoting)
}

/// Writes an entry and the data derived from it. `voters` is the number of voters listed before it.
pub(crate) async fn insert(
    append: &mut Append,
    notice: &Notice,
    index: u64,
    line: &str,
    voters: u64,
    revoting: bool,
) -> Result<(), store::Error> {
    let kind = notice.kind().name().to_owned();
    append.entry(&Entry { position: index, kind, tracker: tracker_of(notice), line: line.to_owned() }).await?;
    match notice.body() {
        Body::Ballot(ballot) => append.vote(&ballot.voter, index, revoting).await?,
        Body::Voters(Voters { voters: more, .. }) => {
            for (number, voter) in (voters..).zip(more) {
                append.voter(number, &voter.id).await?;
            }
        }
        _ => {}
    }
    Ok(())
}

/// The tracker of a cast or challenged ballot, as 26 characters.
fn tracker_of(notice: &Notice) -> Option<String> {
    let hash = match notice.body() {
        Body::Ballot(_) => notice.hash(),
        Body::Challenge(challenge) => challenge.ballot.hash(),
        _ => return None,
    };
    Some(tracker(&hash))
}

/// Whether a line contains the notice: the same body and kind.
fn is_of(line: &str, notice: &Notice) -> bool {
    let Some(rest) = line.strip_prefix(r#"{"body":"#).and_then(|rest| rest.strip_prefix(notice.text())) else {
        return false;
    };
    rest.starts_with(r#","index":"#) && rest.contains(&format!(r#","kind":"{}","#, notice.kind().name()))
}

/// Bytes in the encoding of the record.
fn text(bytes: &Bytes) -> String {
    let json = canonical::to_text(bytes);
    json.trim_matches('"').to_owned()
}
