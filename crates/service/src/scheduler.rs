//! The scheduler: cuts the requests of many clients into slices, combines them into batches, and
//! distributes the batches among this CPU and devices.
//!
//! # Fairness
//! Start-time fair queuing \[Goyal96\] orders the clients. Each client has a virtual time, which
//! advances by the thread time of each of its slices. The client with the lowest virtual time is
//! served next. A new client starts at the virtual time of the client being served. A client with
//! few requests therefore waits for at most one slice of the others, however much they request.
//!
//! # Slices
//! A request is computed in slices that take about [`SLICE_GOAL`], but have at least one round of a
//! processor's lanes. Other clients are served between two slices. A request that is cancelled or
//! past its deadline stops after the current slice. Sums are sliced too: the partial sums of a
//! group are added at the end.
//!
//! # Long rounds
//! A single round of lanes may take longer than [`SLICE_MOST`] (0.4 s for keys of 8192 bits). Such
//! rounds run on extra low-priority threads, one per core. The operating system prefers the threads
//! for shorter rounds whenever those have work.
//!
//! # Filling
//! A slice is filled up with rows of other clients with the same operation and key, in the order of
//! their virtual times. An idle processor takes whatever is queued, so a lone request does not
//! wait. While the processor computes, it begins a further batch only if enough rows are queued to
//! fill all lanes, which gives other rows time to arrive. Idle threads share the queued rows.
//!
//! # Faults
//! An invalid row fails only its own request. The other requests in the batch are retried
//! individually. A processor that fails, panics, returns wrong results or takes too long is
//! quarantined, and its slices return to the heads of their queues. A late result is discarded.
//! This CPU supports everything and is never quarantined.

mod queue;
mod request;

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use tokio::sync::{Semaphore, oneshot};

use crate::clients::ClientId;
use crate::keys::ServedKey;
use crate::limits::Limits;
use crate::metrics::Metrics;
use crate::processor::{Fault, Processor};
use crate::proto::ErrorReason;
use crate::refusal::Refusal;
use crate::work::{Input, Operation, Output};

use queue::{Queue, QueueKey};
pub use request::QueuePermit;
pub(crate) use request::deadline_passed;
use request::{Answer, Request, Slice};

/// Bytes that one permit of the queue represents.
const PERMIT_BYTES: usize = 1024;
/// Target thread time of a slice: half the maximum, because it is an estimate.
pub const SLICE_GOAL: Duration = Duration::from_millis(25);
/// Maximum thread time of a slice, unless a single round of lanes takes longer.
pub const SLICE_MOST: Duration = Duration::from_millis(50);
/// Minimum capacity, in rows, of a slice for a device, even if fewer rows would fill the device.
const DEVICE_ROWS: usize = 16;

/// A processor as the scheduler sees it.
#[derive(Debug)]
pub struct Worker {
    processor: Arc<dyn Processor>,
    /// Whether it is this CPU, which is never quarantined.
    cpu: bool,
    /// Whether it leaves to devices everything that they support.
    fallback_only: bool,
    /// Whether it runs only long rounds.
    long: bool,
}

impl Worker {
    /// Creates the worker for this CPU. With `fallback_only`, it leaves to devices everything that
    /// they support.
    pub fn cpu(processor: impl Processor + 'static, fallback_only: bool) -> Self {
        Self { processor: Arc::new(processor), cpu: true, fallback_only, long: false }
    }

    /// Creates the worker with the same processor for long rounds.
    fn for_long_rounds(&self) -> Self {
        Self { processor: self.processor.clone(), long: true, ..*self }
    }

    /// Creates the worker for a device.
    pub fn device(processor: impl Processor + 'static) -> Self {
        Self { processor: Arc::new(processor), cpu: false, fallback_only: false, long: false }
    }
}

/// The processors and their queues. Dropping it abandons all waiting requests, and waits only for
/// the CPU's batches in progress.
#[derive(Debug)]
pub struct Scheduler {
    shared: Arc<Shared>,
    threads: Vec<JoinHandle<()>>,
}

#[derive(Debug)]
struct Shared {
    workers: Vec<Worker>,
    state: Mutex<State>,
    /// One per worker, for its threads that wait for a batch.
    waiters: Vec<Condvar>,
    permits_left: Arc<Semaphore>,
    permits: usize,
    waiting: AtomicUsize,
    abandoned: AtomicBool,
    limits: Limits,
    metrics: Arc<Metrics>,
}

#[derive(Debug, Default)]
struct State {
    queue: Queue,
    in_flight: HashMap<u64, InFlightBatch>,
    last_batch: u64,
    /// For each worker, its number of batches in progress, and whether it is quarantined.
    running: Vec<usize>,
    quarantined: Vec<bool>,
    closing: bool,
}

/// A batch in progress on a worker.
#[derive(Clone, Debug)]
struct InFlightBatch {
    worker: usize,
    since: Instant,
    queue_key: QueueKey,
    slices: Vec<Slice>,
}

impl Scheduler {
    /// Starts the threads of all workers. One worker must be this CPU.
    pub fn start(mut workers: Vec<Worker>, limits: Limits, metrics: Arc<Metrics>) -> Self {
        debug_assert!(workers.iter().any(|worker| worker.cpu));
        let long: Vec<Worker> = workers.iter().filter(|worker| worker.cpu).map(Worker::for_long_rounds).collect();
        workers.extend(long);
        let permits = (limits.queue_bytes / PERMIT_BYTES).clamp(1, Semaphore::MAX_PERMITS.min(u32::MAX as usize));
        let state =
            State { running: vec![0; workers.len()], quarantined: vec![false; workers.len()], ..State::default() };
        let permits_left = Arc::new(Semaphore::new(permits));
        let (state, waiters) = (Mutex::new(state), workers.iter().map(|_| Condvar::new()).collect());
        let (waiting, abandoned) = (AtomicUsize::new(0), AtomicBool::new(false));
        let shared = Shared { workers, state, waiters, permits_left, permits, waiting, abandoned, limits, metrics };
        let shared = Arc::new(shared);
        let mut threads = Vec::new();
        for (index, worker) in shared.workers.iter().enumerate() {
            for _ in 0..worker.processor.batches().max(1) {
                let shared = shared.clone();
                let thread = thread::spawn(move || shared.work(index));
                // Device threads are not joined: a stalled device would block the end.
                threads.extend(worker.cpu.then_some(thread));
            }
        }
        let watch = Arc::downgrade(&shared);
        let every = (limits.device_timeout / 8).clamp(Duration::from_millis(5), Duration::from_secs(1));
        thread::spawn(move || {
            while let Some(shared) = watch.upgrade() {
                shared.quarantine_stalled();
                drop(shared);
                thread::sleep(every);
            }
        });
        Self { shared, threads }
    }

    /// Waits for space in the queue and returns the permit for an input.
    ///
    /// # Errors
    /// Too many requests are already waiting.
    pub async fn permit(&self, input: &Input) -> Result<QueuePermit, Refusal> {
        self.shared.permit(input.bytes()).await
    }

    /// Submits a client's request to the queue, where it is computed together with those of others.
    ///
    /// Dropping the future cancels the request. The future resolves to an error if the input is
    /// invalid or the deadline passes first.
    pub fn submit(
        &self,
        client: ClientId,
        key: Arc<ServedKey>,
        input: Input,
        permit: QueuePermit,
        deadline: Option<Instant>,
    ) -> impl Future<Output = Result<Output, Refusal>> + use<> {
        let (sender, answer) = oneshot::channel();
        let answer_to = Answer { sender, _permit: permit };
        self.shared.enqueue(Request::new(client, key, input, deadline, answer_to));
        async { answer.await.unwrap_or_else(|_| Err(Refusal::new(ErrorReason::Failed, "internal error"))) }
    }

    /// Makes dropping the scheduler not wait for batches in progress.
    pub fn abandon(&self) {
        self.shared.abandoned.store(true, Ordering::Relaxed);
    }

    /// Returns the names of the quarantined workers.
    pub fn quarantined(&self) -> Vec<String> {
        let state = self.shared.state();
        let quarantined = self.shared.workers.iter().zip(&state.quarantined).filter(|(_, quarantined)| **quarantined);
        quarantined.map(|(worker, _)| worker.processor.name()).collect()
    }
}

impl Drop for Scheduler {
    fn drop(&mut self) {
        self.shared.state().closing = true;
        self.shared.wake_all();
        if self.shared.abandoned.load(Ordering::Relaxed) {
            return;
        }
        for thread in self.threads.drain(..) {
            // Threads catch all panics of the batches that they run.
            let _ = thread.join();
        }
    }
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for space in the queue and returns a permit.
    async fn permit(&self, bytes: usize) -> Result<QueuePermit, Refusal> {
        let permits = bytes.div_ceil(PERMIT_BYTES).clamp(1, self.permits) as u32;
        let acquired = match self.permits_left.clone().try_acquire_many_owned(permits) {
            Ok(acquired) => acquired,
            Err(_) => {
                let _waiting = Waiter::enter(&self.waiting, self.limits.waiting)?;
                let acquired = self.permits_left.clone().acquire_many_owned(permits).await;
                acquired.map_err(|_| Refusal::new(ErrorReason::ShuttingDown, "shutting down"))?
            }
        };
        let (bytes, metrics) = (i64::from(permits) * PERMIT_BYTES as i64, self.metrics.clone());
        metrics.queue_bytes.inc_by(bytes);
        Ok(QueuePermit { _permits: acquired, bytes, metrics })
    }

    /// Adds a request to its queue. Wakes a worker's thread only if the worker may start a batch
    /// from the queue now, because most small requests wait for a batch to fill.
    fn enqueue(&self, request: Arc<Request>) {
        let mut state = self.state();
        let long = self.takes_long(&request);
        let queue_key = state.queue.push(request, false, long);
        let awake: Vec<&Condvar> = (0..self.workers.len())
            .filter(|&worker| self.may_take(&state, worker, queue_key))
            .map(|worker| &self.waiters[worker])
            .collect();
        drop(state);
        awake.into_iter().for_each(Condvar::notify_one);
    }

    /// Returns the processor for this CPU, which supports everything.
    fn cpu(&self) -> &dyn Processor {
        let cpu = self.workers.iter().find(|worker| worker.cpu);
        &*cpu.unwrap_or(&self.workers[0]).processor
    }

    /// Whether a single round of lanes takes this CPU longer than a slice may take.
    fn takes_long(&self, request: &Request) -> bool {
        let (cpu, operation) = (self.cpu(), request.input.operation());
        cpu.time(operation, &request.key, cpu.full_rows()) > SLICE_MOST
    }

    /// The cost of rows in nanoseconds of a CPU thread: their share of a full round.
    fn charge(&self, operation: Operation, key: &ServedKey, rows: usize) -> u64 {
        let (cpu, rows) = (self.cpu(), rows.max(1) as f64);
        let full = cpu.full_rows().max(1);
        (cpu.time(operation, key, full).as_nanos() as f64 / full as f64 * rows) as u64
    }

    fn wake_all(&self) {
        self.waiters.iter().for_each(Condvar::notify_all);
    }

    /// The main loop of a worker's thread.
    fn work(&self, worker: usize) {
        if self.workers[worker].long {
            lower_priority();
        }
        let processor = self.workers[worker].processor.clone();
        while let Some((number, batch)) = self.next(worker) {
            let rows = batch.slices.iter().map(|slice| slice.rows.len()).sum();
            self.metrics.batch(&processor.name(), batch.queue_key.1.name(), rows);
            let outputs = catch_unwind(AssertUnwindSafe(|| run(&*processor, &batch.slices)));
            let outputs = outputs.unwrap_or_else(|_| Err(Fault::Processor("it panicked".into())));
            if !self.complete(number, outputs) {
                return;
            }
        }
    }

    /// Waits for a worker's next batch. Returns `None` if the worker is quarantined or the
    /// scheduler is closing.
    fn next(&self, worker: usize) -> Option<(u64, InFlightBatch)> {
        let mut state = self.state();
        loop {
            if state.quarantined[worker] || state.closing {
                return None;
            }
            if let Some((client, queue_key)) = self.next_client(&state, worker) {
                let rows = self.slice_rows(worker, &state, queue_key);
                let slices = self.take(&mut state, client, queue_key, rows);
                if slices.is_empty() {
                    continue;
                }
                state.running[worker] += 1;
                state.last_batch += 1;
                let batch = InFlightBatch { worker, since: Instant::now(), queue_key, slices };
                let number = state.last_batch;
                state.in_flight.insert(number, batch.clone());
                // Another idle thread can take what is left.
                if self.has_due(&state, worker) {
                    self.waiters[worker].notify_one();
                }
                return Some((number, batch));
            }
            state = self.waiters[worker].wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// The number of rows for a worker's next batch from a queue: the share of each idle thread in
    /// whole rounds of lanes, at most the maximum slice.
    fn slice_rows(&self, worker: usize, state: &State, queue_key: QueueKey) -> usize {
        let Worker { processor, cpu, .. } = &self.workers[worker];
        let full = processor.full_rows().max(1);
        let Some(totals) = state.queue.queues.get(&queue_key) else { return full };
        let most = if *cpu {
            let round = processor.time(queue_key.1, &totals.key, full).as_secs_f64();
            let fit = |time: Duration| if round > 0.0 { (time.as_secs_f64() / round) as usize } else { usize::MAX };
            let least = processor.batch_rows().div_ceil(full).min(fit(SLICE_MOST)).max(1);
            fit(SLICE_GOAL).max(least).saturating_mul(full)
        } else {
            processor.batch_rows().max(DEVICE_ROWS)
        };
        let idle = processor.batches().saturating_sub(state.running[worker]).max(1);
        if totals.rows < full { most } else { ((totals.rows / full).div_ceil(idle).saturating_mul(full)).min(most) }
    }

    /// Whether a worker supports what a queue requests and is not supposed to leave it to others.
    fn serves(&self, state: &State, worker: usize, queue_key: QueueKey) -> bool {
        let Worker { processor, cpu, fallback_only, long } = &self.workers[worker];
        let Some(totals) = state.queue.queues.get(&queue_key) else { return false };
        let left_to_others = || {
            let others = self.workers.iter().zip(&state.quarantined);
            others.into_iter().any(|(other, quarantined)| {
                !other.cpu && !quarantined && other.processor.does(queue_key.1, &totals.key)
            })
        };
        (!cpu || *long == totals.long)
            && processor.does(queue_key.1, &totals.key)
            && !(*fallback_only && left_to_others())
    }

    /// Whether a worker may begin a batch from a queue now: it is idle, or the queue fills its
    /// lanes.
    fn is_due(&self, state: &State, worker: usize, queue_key: QueueKey) -> bool {
        let (processor, running) = (&self.workers[worker].processor, state.running[worker]);
        let fills = |rows| running < processor.batches() && rows >= processor.full_rows();
        running == 0 || state.queue.queues.get(&queue_key).is_some_and(|totals| fills(totals.rows))
    }

    /// Whether a worker may begin a batch from any queue now.
    fn has_due(&self, state: &State, worker: usize) -> bool {
        state.queue.queues.keys().any(|&queue_key| self.may_take(state, worker, queue_key))
    }

    /// Whether a worker may take from a queue now.
    fn may_take(&self, state: &State, worker: usize, queue_key: QueueKey) -> bool {
        self.serves(state, worker, queue_key) && self.is_due(state, worker, queue_key)
    }

    /// Returns the next client with a queue that a worker serves, and that queue, if the worker may
    /// begin a batch now.
    ///
    /// Once one queue justifies a batch, any queue may be next. Otherwise a row that fills no lanes
    /// would wait as long as other queues fill them.
    fn next_client(&self, state: &State, worker: usize) -> Option<(ClientId, QueueKey)> {
        if !self.has_due(state, worker) {
            return None;
        }
        let queues: HashSet<QueueKey> =
            state.queue.queues.keys().copied().filter(|&queue_key| self.serves(state, worker, queue_key)).collect();
        state.queue.order.iter().find_map(|(_, client)| {
            let flow = state.queue.clients.get(client)?;
            let queue_key =
                flow.queues.iter().map(|(queue_key, _)| *queue_key).find(|queue_key| queues.contains(queue_key))?;
            Some((*client, queue_key))
        })
    }

    /// Takes about `rows` rows from a queue: of the next client first, then of others in their
    /// order. Skips rows that are no longer wanted.
    fn take(&self, state: &mut State, first: ClientId, queue_key: QueueKey, rows: usize) -> Vec<Slice> {
        state.queue.now = state.queue.now.max(state.queue.clients.get(&first).map_or(0, |flow| flow.time));
        let others: Vec<ClientId> =
            state.queue.order.iter().map(|(_, client)| *client).filter(|client| *client != first).collect();
        let (mut taken, mut sum) = (Vec::new(), 0);
        for client in std::iter::once(first).chain(others) {
            let before = taken.len();
            let whole = state.queue.take(client, queue_key, rows, &mut sum, &mut taken);
            let rows_taken: usize = taken[before..].iter().map(|slice: &Slice| slice.rows.len()).sum();
            if let Some(slice) = taken.get(before) {
                state.queue.charge(client, self.charge(queue_key.1, &slice.request.key, rows_taken));
            }
            if whole || sum >= rows {
                break;
            }
        }
        taken
    }

    /// Delivers the outputs of a batch. Returns whether its worker continues.
    fn complete(&self, number: u64, outputs: Result<Vec<Output>, Fault>) -> bool {
        // The worker took too long, and another one has its batch.
        let Some(batch) = self.end(number) else { return false };
        let cpu = self.workers[batch.worker].cpu;
        let only = |batch: &InFlightBatch, refusal: Refusal| {
            let Slice { request, rows } = &batch.slices[0];
            let refusal = refusal.in_row(|row| request.input.row_of(rows, row));
            let row = refusal.row().unwrap_or_else(|| request.input.first_row(rows));
            request.complete(rows.clone(), Err((row, refusal)));
        };
        match outputs {
            Ok(outputs) => {
                for (slice, output) in batch.slices.into_iter().zip(outputs) {
                    slice.request.complete(slice.rows, Ok(output));
                }
            }
            Err(Fault::Input(error)) if batch.slices.len() == 1 => only(&batch, error.into()),
            Err(Fault::Input(_)) => self.requeue(&batch, true),
            Err(Fault::Key) => self.requeue(&batch, false),
            Err(Fault::Processor(_)) if cpu && batch.slices.len() > 1 => self.requeue(&batch, true),
            Err(Fault::Processor(error)) if cpu => {
                tracing::error!(%error, operation = batch.queue_key.1.name(), "a request failed");
                only(&batch, Refusal::new(ErrorReason::Failed, "the computation failed"));
            }
            Err(Fault::Processor(error)) => self.quarantine(&batch, &error.to_string()),
        }
        true
    }

    /// Removes a batch from those in progress.
    fn end(&self, number: u64) -> Option<InFlightBatch> {
        let mut state = self.state();
        let batch = state.in_flight.remove(&number)?;
        state.running[batch.worker] -= 1;
        Some(batch)
    }

    /// Returns the slices of a batch to the heads of their queues.
    fn requeue(&self, batch: &InFlightBatch, alone: bool) {
        let mut state = self.state();
        for Slice { request, rows } in batch.slices.iter().rev() {
            request.alone.fetch_or(alone, Ordering::Relaxed);
            let long = self.takes_long(request);
            state.queue.return_rows(request, rows.clone(), long);
        }
        drop(state);
        self.metrics.redone.inc_by(batch.slices.len() as u64);
        self.wake_all();
    }

    fn quarantine(&self, batch: &InFlightBatch, why: &str) {
        let processor = self.workers[batch.worker].processor.name();
        tracing::error!(processor, why, "a processor is quarantined, and its work is repeated");
        self.state().quarantined[batch.worker] = true;
        self.metrics.quarantined.inc();
        self.requeue(batch, false);
    }

    fn quarantine_stalled(&self) {
        let stalled = |batch: &InFlightBatch| {
            !self.workers[batch.worker].cpu && batch.since.elapsed() > self.limits.device_timeout
        };
        let numbers: Vec<u64> = {
            let state = self.state();
            state.in_flight.iter().filter(|(_, batch)| stalled(batch)).map(|(&number, _)| number).collect()
        };
        for number in numbers {
            if let Some(batch) = self.end(number) {
                self.quarantine(&batch, "a batch took too long");
            }
        }
    }
}

/// Lowers the thread's priority, on systems with thread priorities.
fn lower_priority() {
    #[cfg(target_os = "linux")]
    {
        // On Linux this affects only the calling thread. If it is not permitted, long rounds run at
        // the normal priority.
        let _ = rustix::process::setpriority_process(None, 19);
    }
}

/// Runs slices as one batch and splits the output.
fn run(processor: &dyn Processor, slices: &[Slice]) -> Result<Vec<Output>, Fault> {
    let internal = |error: hearith_paillier::Error| Fault::Processor(Box::new(error));
    let key = &slices[0].request.key;
    let inputs = slices.iter().map(|slice| slice.request.input.range(slice.rows.clone()));
    let inputs = inputs.collect::<Result<Vec<Cow<'_, Input>>, _>>().map_err(internal)?;
    let inputs: Vec<&Input> = inputs.iter().map(|input| &**input).collect();
    let lengths: Vec<usize> = inputs.iter().map(|input| input.answers()).collect();
    let output = match &*inputs {
        [input] => processor.run(key, input)?,
        inputs => processor.run(key, &Input::concat(inputs)?)?,
    };
    output.split(&lengths).map_err(internal)
}

/// A request that waits for a permit.
struct Waiter<'a>(&'a AtomicUsize);

impl<'a> Waiter<'a> {
    fn enter(count: &'a AtomicUsize, most: usize) -> Result<Self, Refusal> {
        let one_more = |waiting| (waiting < most).then_some(waiting + 1);
        let entered = count.fetch_update(Ordering::Relaxed, Ordering::Relaxed, one_more);
        let full = |_| {
            Refusal::new(ErrorReason::QueueFull, format!("{most} requests are already waiting for space in the queue"))
        };
        entered.map(|_| Self(count)).map_err(full)
    }
}

impl Drop for Waiter<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}
