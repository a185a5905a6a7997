//! The intake of entries: reads, verifies in batches, writes to the board, acknowledges.
//!
//! Two stages run concurrently. The first takes everything that arrived while it was busy, so
//! batches grow with the load. It reads entries, checks signatures and rules, and verifies proofs
//! on all cores. The second writes the accepted entries. Nobody gets a receipt before the entry is
//! on disk. A client without a receipt can send the same entry again and gets the receipt of the
//! single entry on the board.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use axum::body::Bytes;
use hearith_election::{Body, ErrorKind, Kind, Notice, canonical};
use hearith_serving::permits::{Permit, Permits};
use hearith_serving::rate::RateLimiter;
use rayon::prelude::*;
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;

use crate::audit::Audit;
use crate::authors::Author;
use crate::board_log::{BoardLog, Error};
use crate::groups::groups;
use crate::limits::Limits;
use crate::metrics::Metrics;
use crate::proofs::verify;
use crate::refusal::{Reason, Refusal};

/// Seconds in a day.
const DAY: f64 = 86_400.0;

/// Initial and maximum delay before the store is tried again.
const PAUSES: (Duration, Duration) = (Duration::from_millis(50), Duration::from_secs(1));

/// The acknowledgement of an accepted entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Accepted {
    /// The receipt's text.
    pub(crate) receipt: String,
    /// Whether this request made the entry, as opposed to an earlier one.
    pub(crate) new: bool,
}

type Answer = Result<Accepted, Refusal>;

/// The queue of submitted entries.
#[derive(Debug)]
pub(crate) struct Intake {
    queue: mpsc::Sender<Submission>,
    waiting: Arc<AtomicUsize>,
    most: usize,
    metrics: Arc<Metrics>,
}

/// Counts an entry as queued until it is dropped.
#[derive(Debug)]
struct QueuePermit {
    all: Arc<AtomicUsize>,
    metrics: Arc<Metrics>,
}

impl QueuePermit {
    /// A permit, unless the queue is full.
    fn take(intake: &Intake) -> Option<Self> {
        let before = intake.waiting.fetch_add(1, Ordering::AcqRel);
        intake.metrics.waiting.inc();
        let permit = Self { all: intake.waiting.clone(), metrics: intake.metrics.clone() };
        (before < intake.most).then_some(permit)
    }
}

impl Drop for QueuePermit {
    fn drop(&mut self) {
        self.all.fetch_sub(1, Ordering::AcqRel);
        self.metrics.waiting.dec();
    }
}

/// The tasks of the two stages: verify, then append.
#[derive(Debug)]
pub(crate) struct Pipeline {
    verifying: JoinHandle<()>,
    entering: JoinHandle<()>,
}

/// A submitted entry.
#[derive(Debug)]
struct Submission {
    kind: Kind,
    body: Bytes,
    reply: PendingReply,
}

/// The pending answer to a client.
#[derive(Debug)]
struct PendingReply {
    kind: Kind,
    since: Instant,
    answer: oneshot::Sender<Answer>,
    share: Option<Permit<u32>>,
    _permit: QueuePermit,
}

/// A notice whose proofs hold.
#[derive(Debug)]
struct Verified {
    notice: Notice,
    reply: PendingReply,
}

/// The shared state of both stages.
#[derive(Debug)]
struct Work {
    board_log: Arc<BoardLog>,
    limits: Limits,
    metrics: Arc<Metrics>,
    audit: Arc<Audit>,
    organiser: Option<canonical::Bytes>,
    /// The remaining ballots and challenges of each voter.
    ballots: Option<RateLimiter<String>>,
    bad: RateLimiter<Author>,
    /// Allows one share of each trustee to be queued for verification or writing.
    shares: Arc<Permits<u32>>,
    /// The number of this board's entries that the metrics already include.
    counted: AtomicU64,
}

impl Intake {
    /// Starts the pipeline of a board log. On an empty store, this organiser may begin an election.
    pub(crate) fn open(
        board_log: Arc<BoardLog>,
        organiser: Option<canonical::Bytes>,
        limits: Limits,
        metrics: Arc<Metrics>,
        audit: Arc<Audit>,
    ) -> (Self, Pipeline) {
        let (queue, sent) = mpsc::channel(limits.waiting.max(1));
        // One batch is written while another waits and a third is verified.
        let (passed, entering) = mpsc::channel(1);
        let waiting = Arc::<AtomicUsize>::default();
        let (a_minute, a_day) = (f64::from(limits.bad_ballots), f64::from(limits.ballots));
        let work = Arc::new(Work {
            board_log,
            limits,
            metrics: metrics.clone(),
            audit,
            organiser,
            ballots: (limits.ballots > 0).then(|| RateLimiter::new(a_day / DAY, a_day)),
            bad: RateLimiter::new(a_minute / 60.0, a_minute),
            shares: Permits::new(),
            counted: AtomicU64::new(0),
        });
        work.count();
        let stages = Pipeline {
            verifying: tokio::spawn(verify_all(work.clone(), sent, passed)),
            entering: tokio::spawn(enter_all(work, entering)),
        };
        (Self { queue, waiting, most: limits.waiting, metrics }, stages)
    }

    /// Submits an entry, and waits until it is on disk or refused.
    pub(crate) async fn send(&self, kind: Kind, body: Bytes) -> Answer {
        let Some(permit) = QueuePermit::take(self) else {
            self.metrics.refuse(Reason::Busy.code());
            let refusal = Refusal::new(Reason::Busy, "too many entries are waiting: try again later");
            return Err(refusal.after(Duration::from_secs(2)));
        };
        let (answer, answered) = oneshot::channel();
        let reply = PendingReply { kind, since: Instant::now(), answer, share: None, _permit: permit };
        let stopping = || Refusal::new(Reason::Stopping, "the server is shutting down");
        self.queue.send(Submission { kind, body, reply }).await.map_err(|_| stopping())?;
        answered.await.unwrap_or_else(|_| Err(Refusal::new(Reason::Internal, "internal error")))
    }
}

impl Pipeline {
    /// Waits until all submitted entries are answered. Nothing can be submitted by then.
    pub(crate) async fn end(self) {
        let _ = self.verifying.await;
        let _ = self.entering.await;
    }
}

async fn verify_all(work: Arc<Work>, mut sent: mpsc::Receiver<Submission>, passed: mpsc::Sender<Vec<Verified>>) {
    let mut batch = Vec::new();
    while sent.recv_many(&mut batch, work.limits.batch.max(1)).await > 0 {
        let batch = std::mem::take(&mut batch);
        // Entries of other servers may make this batch admissible. If the store fails, the second
        // stage reports it.
        if let Err(error) = work.board_log.catch_up().await {
            work.note_failure(&error);
        }
        let shared = work.clone();
        let (good, bad) = match tokio::task::spawn_blocking(move || shared.verify_batch(batch)).await {
            Ok(judged) => judged,
            // If a thread panics, the batch is dropped, which notifies the waiting clients.
            Err(_) => continue,
        };
        let good = work.check_tallies(good).await;
        for (reply, notice, refusal) in bad {
            work.refuse(reply, notice.as_ref(), refusal).await;
        }
        if !good.is_empty() && passed.send(good).await.is_err() {
            return;
        }
    }
}

async fn enter_all(work: Arc<Work>, mut passed: mpsc::Receiver<Vec<Verified>>) {
    let mut heads = tokio::time::interval(Duration::from_secs(1));
    heads.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            biased;
            batch = passed.recv() => match batch {
                Some(batch) => {
                    for group in groups(batch, |one| &one.notice) {
                        work.enter(group).await;
                    }
                }
                None => break,
            },
            _ = heads.tick() => work.keep_up().await,
        }
    }
    // The last head of this server covers everything that it knows.
    if let Err(error) = work.board_log.sign_head().await {
        work.note_failure(&error);
    }
}

/// The body of a request.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Request<'a> {
    #[serde(borrow)]
    body: &'a RawValue,
    kind: Option<Kind>,
    signature: canonical::Bytes,
}

type Verdicts = (Vec<Verified>, Vec<(PendingReply, Option<Notice>, Refusal)>);

impl Work {
    /// Reads, checks and verifies a batch.
    fn verify_batch(&self, batch: Vec<Submission>) -> Verdicts {
        let started = Instant::now();
        self.metrics.batch.observe(batch.len() as f64);
        let read: Vec<_> = batch
            .into_par_iter()
            .map(|Submission { kind, body, mut reply }| match read(kind, &body) {
                Err(refusal) => (reply, None, Err(refusal)),
                Ok(notice) => {
                    let checked = self.check(&notice).map(|share| reply.share = share);
                    (reply, Some(notice), checked)
                }
            })
            .collect();
        let (mut good, mut bad) = (Vec::new(), Vec::new());
        for (reply, notice, checked) in read {
            match (notice, checked) {
                (Some(notice), Ok(())) => good.push(Verified { notice, reply }),
                (notice, Err(refusal)) => bad.push((reply, notice, refusal)),
                (None, Ok(())) => {}
            }
        }
        let notices: Vec<&Notice> = good.iter().map(|one| &one.notice).collect();
        let verdicts = verify(&self.board_log, &notices);
        let mut proven = Vec::with_capacity(good.len());
        for (one, verdict) in good.into_iter().zip(verdicts) {
            match verdict {
                Ok(()) => proven.push(one),
                Err(error) => {
                    if let Some(author) = Author::of(&one.notice) {
                        let _ = self.bad.take(author, Instant::now());
                    }
                    bad.push((one.reply, Some(one.notice), refusal_of(&error)));
                }
            }
        }
        self.metrics.verifying.observe(started.elapsed().as_secs_f64());
        (proven, bad)
    }

    /// Checks everything except proofs. A share uses its trustee's only permit.
    fn check(&self, notice: &Notice) -> Result<Option<Permit<u32>>, Refusal> {
        self.check_beginning(notice)?;
        self.board_log.check(notice).map_err(|error| refusal_of(&error))?;
        // The author's signature is valid, so nobody else can use up the author's limit.
        let author = Author::of(notice);
        if author.as_ref().is_some_and(|author| !self.bad.has(author.clone(), Instant::now())) {
            let what = match author {
                Some(Author::Trustee(_)) => "too many shares of this trustee were wrong",
                _ => "too many ballots of this voter were wrong",
            };
            return Err(Refusal::new(Reason::TooMany, what).after(Duration::from_secs(60)));
        }
        match author {
            Some(Author::Voter(voter)) => self.take_ballot(voter).map(|()| None),
            Some(Author::Trustee(trustee)) => {
                let busy = || Refusal::new(Reason::Busy, "a share of this trustee is already waiting");
                let permit = self.shares.acquire(trustee, usize::MAX, 1).map(Some);
                permit.ok_or_else(|| busy().after(Duration::from_secs(2)))
            }
            None => Ok(None),
        }
    }

    /// Uses one of the ballots that a voter may send in a day.
    fn take_ballot(&self, voter: String) -> Result<(), Refusal> {
        let Some(Err(wait)) = self.ballots.as_ref().map(|ballots| ballots.take(voter, Instant::now())) else {
            return Ok(());
        };
        let words = "this voter has reached the daily limit of ballots and challenges";
        Err(Refusal::new(Reason::TooMany, words).after(wait))
    }

    /// Restores a voter's limit for a ballot that the server failed to write. The voter will send
    /// it again.
    fn return_ballot(&self, notice: &Notice) {
        if let (Some(ballots), Some(voter)) = (&self.ballots, voter_of(notice)) {
            ballots.give_back(voter.to_owned(), Instant::now());
        }
    }

    /// Checks that an election may begin here, if there is none yet.
    fn check_beginning(&self, notice: &Notice) -> Result<(), Refusal> {
        if self.board_log.with_state(|_| ()).is_some() {
            return Ok(());
        }
        let Body::Election(manifest) = notice.body() else {
            return Err(Refusal::new(Reason::Phase, "there is no election here yet"));
        };
        if self.organiser.as_ref() != Some(&manifest.organiser) {
            return Err(Refusal::new(Reason::NotSigned, "this server holds no election of this organiser"));
        }
        if manifest.board != self.board_log.signer().public() {
            return Err(Refusal::new(Reason::BadRequest, "the board's key is not this server's"));
        }
        Ok(())
    }

    /// Removes and refuses wrong tallies, which depend on all ballots of the board, and passes on
    /// all other notices.
    async fn check_tallies(&self, batch: Vec<Verified>) -> Vec<Verified> {
        let mut right = Vec::with_capacity(batch.len());
        for one in batch {
            let Body::Tally(tally) = one.notice.body() else {
                right.push(one);
                continue;
            };
            let refusal = match self.board_log.check_tally(tally).await {
                Ok(Ok(())) => {
                    right.push(one);
                    continue;
                }
                Ok(Err(error)) => refusal_of(&error),
                Err(error) => {
                    self.note_failure(&error);
                    Refusal::new(Reason::Store, "the store does not answer").after(Duration::from_secs(5))
                }
            };
            self.refuse(one.reply, Some(&one.notice), refusal).await;
        }
        right
    }

    /// Writes a group of independent notices and answers them. Retries for a while if the store
    /// fails.
    async fn enter(&self, group: Vec<Verified>) {
        let (started, mut pause) = (Instant::now(), PAUSES.0);
        let notices: Vec<&Notice> = group.iter().map(|one| &one.notice).collect();
        let entered = loop {
            match self.board_log.enter(&notices).await {
                Ok(entered) => break Ok(entered),
                Err(error) => {
                    self.note_failure(&error);
                    if started.elapsed() >= self.limits.store_timeout {
                        break Err(error);
                    }
                }
            }
            tokio::time::sleep(pause).await;
            pause = (pause * 2).min(PAUSES.1);
        };
        self.metrics.committing.observe(started.elapsed().as_secs_f64());
        self.count();
        match entered {
            Ok(entered) => {
                let lines = entered.iter().flatten().zip(&notices);
                self.audit.note(lines.map(|(one, notice)| {
                    ("entered", [("index", one.index.into()), ("kind", notice.kind().name().into())])
                }));
                let receipts: Vec<_> =
                    entered.par_iter().map(|one| one.as_ref().ok().map(|one| self.board_log.receipt(one))).collect();
                for ((one, entered), receipt) in group.into_iter().zip(entered).zip(receipts) {
                    match (entered, receipt) {
                        (Ok(_), Some(receipt)) => self.answer(one.reply, Ok(Accepted { receipt, new: true })),
                        (Err(error), _) => self.refuse(one.reply, Some(&one.notice), refusal_of(&error)).await,
                        (Ok(_), None) => {}
                    }
                }
            }
            Err(_) => {
                for one in group {
                    let text =
                        "the store does not answer: the entry may or may not be on the board, and can be sent again";
                    let refusal = Refusal::new(Reason::Store, text).after(Duration::from_secs(5));
                    self.return_ballot(&one.notice);
                    self.refuse(one.reply, Some(&one.notice), refusal).await;
                }
            }
        }
    }

    /// Applies the entries of other servers, signs a head if none covers the board, and begins or
    /// ends the vote if its date has come.
    async fn keep_up(&self) {
        let update = async {
            self.board_log.catch_up().await?;
            self.board_log.sign_head().await?;
            self.board_log.enter_due().await
        };
        match update.await {
            Ok(None) => {}
            Ok(Some((index, kind))) => {
                self.audit.note([("entered", [("index", index.into()), ("kind", kind.name().into())])]);
            }
            Err(error) => self.note_failure(&error),
        }
        self.count();
    }

    /// Refuses an entry, unless the same entry is already on the board. In that case its receipt is
    /// returned again.
    async fn refuse(&self, reply: PendingReply, notice: Option<&Notice>, refusal: Refusal) {
        let may_be_written = matches!(refusal.reason(), Reason::Phase | Reason::Voted | Reason::Doubled);
        if let Some(notice) = notice.filter(|notice| may_be_written && self.is_signed(notice)) {
            match self.board_log.entered(notice).await {
                Ok(Some(entered)) => {
                    let receipt = self.board_log.receipt(&entered);
                    return self.answer(reply, Ok(Accepted { receipt, new: false }));
                }
                Ok(None) => {}
                Err(error) => self.note_failure(&error),
            }
        }
        // Names no voter who may not have sent the entry.
        let voter = notice.filter(|notice| self.is_signed(notice)).and_then(voter_of);
        let voter = voter.map_or(Value::Null, Value::from);
        let (code, kind) = (refusal.reason().code(), reply.kind.name());
        self.audit.note([("refused", [("code", code.into()), ("kind", kind.into()), ("voter", voter)])]);
        self.answer(reply, Err(refusal));
    }

    fn is_signed(&self, notice: &Notice) -> bool {
        let author = self.board_log.with_state(|state| state.author(notice));
        matches!(author, Some(Ok(author)) if notice.check_signature(&author).is_ok())
    }

    fn answer(&self, reply: PendingReply, answer: Answer) {
        let outcome = answer.as_ref().map_or_else(|refusal| refusal.reason().code(), |_| "ok");
        self.metrics.entry(reply.kind.name(), outcome);
        self.metrics.seconds.observe(reply.since.elapsed().as_secs_f64());
        // Released before the answer, after which the trustee may send the next share.
        drop(reply.share);
        // A client that has disconnected gets no answer.
        let _ = reply.answer.send(answer);
    }

    /// Adds the entries of this board to the metrics, which cover all elections of the server.
    fn count(&self) {
        let size = self.board_log.view().size;
        let before = self.counted.swap(size, Ordering::AcqRel);
        self.metrics.size.inc_by(size as i64 - before as i64);
    }

    fn note_failure(&self, error: &Error) {
        self.metrics.store_failures.inc();
        tracing::warn!(error = %crate::with_causes(error), "the store failed");
    }
}

/// Parses a request to a notice.
fn read(kind: Kind, body: &[u8]) -> Result<Notice, Refusal> {
    let wrong = |text: &str| Refusal::new(Reason::BadRequest, text);
    let text = std::str::from_utf8(body).map_err(|_| wrong("not UTF-8"))?;
    let request: Request<'_> =
        serde_json::from_str(text).map_err(|_| wrong("expected JSON with body, kind and signature"))?;
    if request.kind.is_some_and(|said| said != kind) {
        return Err(wrong("this address accepts another kind of entry"));
    }
    Notice::new(kind, request.body.get(), request.signature).map_err(|error| refusal_of(&error))
}

/// The voter of a ballot or challenge.
fn voter_of(notice: &Notice) -> Option<&str> {
    match notice.body() {
        Body::Ballot(ballot) => Some(&ballot.voter),
        Body::Challenge(challenge) => Some(&challenge.ballot.voter),
        _ => None,
    }
}

/// The refusal for an error, with its message, which contains no secrets.
fn refusal_of(error: &ErrorKind) -> Refusal {
    use ErrorKind as E;
    let reason = match error {
        E::BadSignature | E::UnknownVoter => Reason::NotSigned,
        E::OutOfOrder { .. } | E::Date { .. } | E::TooFewShares { .. } => Reason::Phase,
        E::VotedAlready => Reason::Voted,
        E::CiphertextTwice { .. } | E::ShareTwice { .. } => Reason::Doubled,
        E::OutOfRange { .. } | E::DoesNotHold { .. } | E::WrongOpening { .. } => Reason::Unproven,
        E::WrongTally { .. } | E::WrongCount { .. } | E::WrongResult { .. } | E::NoResult { .. } => Reason::Unproven,
        E::Scheme(_) | E::Proof(_) | E::Shared(_) => Reason::Unproven,
        _ => Reason::BadRequest,
    };
    Refusal::new(reason, error.to_string())
}
