//! A request, with its progress slice by slice and its answer.

use std::collections::VecDeque;
use std::ops::Range;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use tokio::sync::{OwnedSemaphorePermit, oneshot};

use super::queue::QueueKey;
use crate::clients::ClientId;
use crate::keys::ServedKey;
use crate::metrics::Metrics;
use crate::proto::ErrorReason;
use crate::refusal::Refusal;
use crate::work::{Input, Output};

/// Rows of a request that are computed together.
#[derive(Clone, Debug)]
pub(super) struct Slice {
    pub(super) request: Arc<Request>,
    pub(super) rows: Range<usize>,
}

#[derive(Debug)]
pub(super) struct Request {
    pub(super) client: ClientId,
    pub(super) key: Arc<ServedKey>,
    pub(super) input: Input,
    deadline: Option<Instant>,
    /// Whether it must not share a batch with others again.
    pub(super) alone: AtomicBool,
    /// If both are locked, the scheduler's state is locked first.
    progress: Mutex<Progress>,
    answer: Mutex<Option<Answer>>,
}

/// The progress of a request.
#[derive(Debug, Default)]
pub(super) struct Progress {
    /// Rows that were not yet given to a processor, or were returned, in order.
    remaining: VecDeque<Range<usize>>,
    /// The number of slices in progress.
    in_flight: usize,
    /// The finished slices.
    done: Vec<(Range<usize>, Output)>,
    /// The first row known to be invalid, with its refusal.
    failed: Option<(usize, Refusal)>,
}

impl Progress {
    pub(super) fn rows(&self) -> usize {
        self.remaining.iter().map(Range::len).sum()
    }

    /// Whether rows before the first invalid row, if any, remain to be computed.
    fn has_remaining(&self, input: &Input) -> bool {
        let end = self.failed.as_ref().map(|(row, _)| *row);
        self.remaining.iter().any(|rows| end.is_none_or(|end| input.first_row(rows) <= end))
    }
}

#[derive(Debug)]
pub(super) struct Answer {
    pub(super) sender: oneshot::Sender<Result<Output, Refusal>>,
    /// Returned when the answer is sent or nobody waits for it.
    pub(super) _permit: QueuePermit,
}

/// A request's share of the queue, counted until this is dropped.
#[derive(Debug)]
pub struct QueuePermit {
    pub(super) _permits: OwnedSemaphorePermit,
    pub(super) bytes: i64,
    pub(super) metrics: Arc<Metrics>,
}

impl Drop for QueuePermit {
    fn drop(&mut self) {
        self.metrics.queue_bytes.dec_by(self.bytes);
    }
}

impl Request {
    pub(super) fn new(
        client: ClientId,
        key: Arc<ServedKey>,
        input: Input,
        deadline: Option<Instant>,
        answer: Answer,
    ) -> Arc<Self> {
        let all = 0..input.rows();
        let progress = Mutex::new(Progress { remaining: VecDeque::from([all]), ..Progress::default() });
        let (alone, answer) = (AtomicBool::new(false), Mutex::new(Some(answer)));
        Arc::new(Self { client, key, input, deadline, alone, progress, answer })
    }

    pub(super) fn queue_key(&self) -> QueueKey {
        (self.key.handle(), self.input.operation())
    }

    pub(super) fn progress(&self) -> MutexGuard<'_, Progress> {
        self.progress.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn answer(&self, result: Result<Output, Refusal>) {
        let answer = self.answer.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(answer) = answer {
            // The receiver may be gone, which is no loss.
            let _ = answer.sender.send(result);
        }
    }

    /// Whether anyone still waits for the answer. Answers a request past its deadline with a
    /// refusal.
    pub(super) fn is_wanted(&self) -> bool {
        if self.deadline.is_some_and(|deadline| deadline <= Instant::now()) {
            self.answer(Err(deadline_passed()));
        }
        let answer = self.answer.lock().unwrap_or_else(PoisonError::into_inner);
        answer.as_ref().is_some_and(|answer| !answer.sender.is_closed())
    }

    /// Takes the next rows, at most `most`. Returns `None` if no useful rows are left.
    pub(super) fn take(&self, most: usize) -> Option<Range<usize>> {
        let mut progress = self.progress();
        if !progress.has_remaining(&self.input) {
            return None;
        }
        let rows = progress.remaining.pop_front()?;
        let taken = if rows.len() > most {
            let middle = rows.start + most.max(1);
            progress.remaining.push_front(middle..rows.end);
            rows.start..middle
        } else {
            rows
        };
        progress.in_flight += 1;
        Some(taken)
    }

    /// Returns rows that were not computed, to be taken again.
    pub(super) fn give_back(&self, rows: Range<usize>) {
        let mut progress = self.progress();
        progress.in_flight -= 1;
        let after =
            progress.remaining.iter().position(|other| other.start > rows.start).unwrap_or(progress.remaining.len());
        progress.remaining.insert(after, rows);
    }

    /// Records the result of a slice. After the last one, sends the answer.
    pub(super) fn complete(&self, rows: Range<usize>, result: Result<Output, (usize, Refusal)>) {
        let mut progress = self.progress();
        progress.in_flight -= 1;
        match result {
            Ok(output) => progress.done.push((rows, output)),
            Err(failed) if progress.failed.as_ref().is_some_and(|(row, _)| *row <= failed.0) => {}
            Err(failed) => progress.failed = Some(failed),
        }
        if progress.in_flight > 0 || progress.has_remaining(&self.input) {
            return;
        }
        let (failed, mut done) = (progress.failed.clone(), std::mem::take(&mut progress.done));
        drop(progress);
        done.sort_by_key(|(rows, _)| rows.start);
        self.answer(match failed {
            Some((_, refusal)) => Err(refusal),
            None => self.input.join(&self.key, done).map_err(Refusal::from),
        });
    }
}

/// The refusal after a deadline.
pub(crate) fn deadline_passed() -> Refusal {
    Refusal::new(ErrorReason::Deadline, "the deadline has passed")
}
