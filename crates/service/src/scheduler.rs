//! The scheduler: it cuts requests of many clients into slices, fills batches with them, and shares
//! the batches among this CPU and devices.
//!
//! # Turns
//! Clients take turns by start-time fair queuing \[Goyal96\]: each has a virtual time, which a
//! slice of its rows advances by the time that it takes a thread, and the client with the least is
//! served next. Who comes begins at the time of who is served. So a client that asks for little
//! waits for one slice of the others, however much they ask for.
//!
//! # Slices
//! A request is computed in slices, of as many rows as take [`SLICE_GOAL`] but at least one round
//! of a processor's lanes. Between two slices everybody else has a turn, and a request that was
//! cancelled or is late goes no further. Sums are cut as well: what the slices of a group came to
//! is added up in the end.
//!
//! # Long rounds
//! One round of lanes may take longer than [`SLICE_MOST`] (0.4 s for keys of 8192 bits). These are
//! left to threads of low priority, one a core beside those for shorter ones, which the system
//! prefers whenever they have something to do.
//!
//! # Filling
//! A slice is filled up with rows of other clients with the same operation and key, in the order of
//! their virtual times. A processor takes what there is when it has nothing else to do, so that a
//! request alone does not wait; while it computes, a further batch is begun only when there are
//! rows to fill all lanes: the others have that time to arrive. Threads that have nothing to do
//! share what waits.
//!
//! # Faults
//! A wrong row fails its request alone: the others of its batch are computed again, each by itself.
//! A processor that fails, panics, gives what is not right or takes too long is quarantined, and
//! what it was given goes back to the heads of the queues. A late answer is dropped. This CPU does
//! everything, and is never quarantined.

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

/// Bytes that a permit of the queue stands for.
const PERMIT_BYTES: usize = 1024;
/// The time that a slice should take a thread: half of what it may, since it is estimated.
pub const SLICE_GOAL: Duration = Duration::from_millis(25);
/// The time that a slice may take a thread, unless a single round of lanes takes longer.
pub const SLICE_MOST: Duration = Duration::from_millis(50);
/// Rows that a slice for a device has at least, however few fill it.
const DEVICE_ROWS: usize = 16;

/// A processor among others.
#[derive(Debug)]
pub struct Worker {
    processor: Arc<dyn Processor>,
    /// Whether it is this CPU, which is never quarantined.
    cpu: bool,
    /// Whether it only does what no device does.
    fallback_only: bool,
    /// Whether it takes rounds that take long, and no others.
    long: bool,
}

impl Worker {
    /// This CPU. As a fallback it leaves to devices what they do.
    pub fn cpu(processor: impl Processor + 'static, fallback_only: bool) -> Self {
        Self { processor: Arc::new(processor), cpu: true, fallback_only, long: false }
    }

    /// The same processor for rounds that take long.
    fn for_long_rounds(&self) -> Self {
        Self { processor: self.processor.clone(), long: true, ..*self }
    }

    /// A device.
    pub fn device(processor: impl Processor + 'static) -> Self {
        Self { processor: Arc::new(processor), cpu: false, fallback_only: false, long: false }
    }
}

/// The processors and what waits for them. When dropped, nobody waits any more: only what this CPU
/// is at is ended.
#[derive(Debug)]
pub struct Scheduler {
    shared: Arc<Shared>,
    threads: Vec<JoinHandle<()>>,
}

#[derive(Debug)]
struct Shared {
    workers: Vec<Worker>,
    state: Mutex<State>,
    /// One a worker: those of its threads that wait for a batch.
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
    /// Batches that each worker works on, and whether it is quarantined.
    running: Vec<usize>,
    quarantined: Vec<bool>,
    closing: bool,
}

/// A batch that a worker works on.
#[derive(Clone, Debug)]
struct InFlightBatch {
    worker: usize,
    since: Instant,
    queue_key: QueueKey,
    slices: Vec<Slice>,
}

impl Scheduler {
    /// Starts the threads of all workers, one of which must be this CPU.
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
                // A device that stalls would hold up the end.
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

    /// A permit for an input to enter the queue, once there is capacity.
    ///
    /// # Errors
    /// Too many others wait for it.
    pub async fn permit(&self, input: &Input) -> Result<QueuePermit, Refusal> {
        self.shared.permit(input.bytes()).await
    }

    /// Puts a request of a client into the queue, to be computed together with what others ask for.
    /// Whoever drops the future before it is takes the request back. It gives what is wrong with
    /// the input, or a deadline that passed before.
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

    /// Leaves even what is being computed: the end does not wait for it.
    pub fn abandon(&self) {
        self.shared.abandoned.store(true, Ordering::Relaxed);
    }

    /// The quarantined workers, by name.
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
            // A thread has caught every panic of what it ran.
            let _ = thread.join();
        }
    }
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A permit to enter the queue, once there is capacity.
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

    /// Wakes a thread of a worker only if it may take the queue: of many small requests most wait
    /// for the batch to fill.
    fn enqueue(&self, request: Arc<Request>) {
        let mut state = self.state();
        let long = self.takes_long(&request);
        let queue_key = state.queue.put(request, false, long);
        let awake: Vec<&Condvar> = (0..self.workers.len())
            .filter(|&worker| self.may_take(&state, worker, queue_key))
            .map(|worker| &self.waiters[worker])
            .collect();
        drop(state);
        awake.into_iter().for_each(Condvar::notify_one);
    }

    /// This CPU, which does everything.
    fn cpu(&self) -> &dyn Processor {
        let cpu = self.workers.iter().find(|worker| worker.cpu);
        &*cpu.unwrap_or(&self.workers[0]).processor
    }

    /// Whether a single round of lanes takes this CPU longer than a slice may.
    fn takes_long(&self, request: &Request) -> bool {
        let (cpu, operation) = (self.cpu(), request.input.operation());
        cpu.time(operation, &request.key, cpu.full_rows()) > SLICE_MOST
    }

    /// Nanoseconds that rows take a thread of this CPU, their part of a full round.
    fn charge(&self, operation: Operation, key: &ServedKey, rows: usize) -> u64 {
        let (cpu, rows) = (self.cpu(), rows.max(1) as f64);
        let full = cpu.full_rows().max(1);
        (cpu.time(operation, key, full).as_nanos() as f64 / full as f64 * rows) as u64
    }

    fn wake_all(&self) {
        self.waiters.iter().for_each(Condvar::notify_all);
    }

    /// What a thread of a worker does until the end.
    fn work(&self, worker: usize) {
        if self.workers[worker].long {
            lower_priority();
        }
        let processor = self.workers[worker].processor.clone();
        while let Some((number, batch)) = self.next(worker) {
            let rows = batch.slices.iter().map(|slice| slice.rows.len()).sum();
            self.metrics.batch(&processor.name(), batch.queue_key.1.name(), rows);
            let outputs = catch_unwind(AssertUnwindSafe(|| run(&*processor, &batch.slices)));
            let outputs = outputs.unwrap_or_else(|_| Err(Fault::Processor("it broke down".into())));
            if !self.complete(number, outputs) {
                return;
            }
        }
    }

    /// The next batch for a worker; none if there will be no more.
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
                // What is left is for whoever has nothing to do.
                if self.has_due(&state, worker) {
                    self.waiters[worker].notify_one();
                }
                return Some((number, batch));
            }
            state = self.waiters[worker].wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Rows of the batch that a worker makes of a queue: the share of each of its threads that has
    /// nothing to do, in whole rounds of its lanes, and no more than a slice may be.
    fn slice_rows(&self, worker: usize, state: &State, queue_key: QueueKey) -> usize {
        let Worker { processor, cpu, .. } = &self.workers[worker];
        let full = processor.full_rows().max(1);
        let Some(waiting) = state.queue.queues.get(&queue_key) else { return full };
        let most = if *cpu {
            let round = processor.time(queue_key.1, &waiting.key, full).as_secs_f64();
            let fit = |time: Duration| if round > 0.0 { (time.as_secs_f64() / round) as usize } else { usize::MAX };
            let least = processor.batch_rows().div_ceil(full).min(fit(SLICE_MOST)).max(1);
            fit(SLICE_GOAL).max(least).saturating_mul(full)
        } else {
            processor.batch_rows().max(DEVICE_ROWS)
        };
        let idle = processor.batches().saturating_sub(state.running[worker]).max(1);
        if waiting.rows < full { most } else { ((waiting.rows / full).div_ceil(idle).saturating_mul(full)).min(most) }
    }

    /// Whether a worker does what a queue asks for, and is the one to do it.
    fn serves(&self, state: &State, worker: usize, queue_key: QueueKey) -> bool {
        let Worker { processor, cpu, fallback_only, long } = &self.workers[worker];
        let Some(waiting) = state.queue.queues.get(&queue_key) else { return false };
        let left_to_others = || {
            let others = self.workers.iter().zip(&state.quarantined);
            others.into_iter().any(|(other, quarantined)| {
                !other.cpu && !quarantined && other.processor.does(queue_key.1, &waiting.key)
            })
        };
        (!cpu || *long == waiting.long)
            && processor.does(queue_key.1, &waiting.key)
            && !(*fallback_only && left_to_others())
    }

    /// Whether a queue is reason enough for a worker to begin a batch now: it has nothing to do, or
    /// the queue fills its lanes.
    fn is_due(&self, state: &State, worker: usize, queue_key: QueueKey) -> bool {
        let (processor, running) = (&self.workers[worker].processor, state.running[worker]);
        let fills = |rows| running < processor.batches() && rows >= processor.full_rows();
        running == 0 || state.queue.queues.get(&queue_key).is_some_and(|waiting| fills(waiting.rows))
    }

    /// Whether some queue is one that a worker may take from now.
    fn has_due(&self, state: &State, worker: usize) -> bool {
        state.queue.queues.keys().any(|&queue_key| self.may_take(state, worker, queue_key))
    }

    /// Whether a worker may take a queue from now.
    fn may_take(&self, state: &State, worker: usize, queue_key: QueueKey) -> bool {
        self.serves(state, worker, queue_key) && self.is_due(state, worker, queue_key)
    }

    /// The client whose turn it is among those with a queue that a worker serves, and that queue,
    /// if the worker begins a batch now. Once one queue is reason enough, any may be next: a row
    /// that fills no lanes would otherwise wait as long as others fill them.
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

    /// Takes about so many rows of a queue: of the client whose turn it is, and then of others in
    /// their order. None that nobody wants any more.
    fn take(&self, state: &mut State, first: ClientId, queue_key: QueueKey, rows: usize) -> Vec<Slice> {
        state.queue.now = state.queue.now.max(state.queue.clients.get(&first).map_or(0, |flow| flow.time));
        let others: Vec<ClientId> =
            state.queue.order.iter().map(|(_, client)| *client).filter(|client| *client != first).collect();
        let (mut taken, mut sum) = (Vec::new(), 0);
        for client in std::iter::once(first).chain(others) {
            let before = taken.len();
            let whole = state.queue.take(client, queue_key, rows, &mut sum, &mut taken);
            let mine: usize = taken[before..].iter().map(|slice: &Slice| slice.rows.len()).sum();
            if let Some(slice) = taken.get(before) {
                state.queue.charge(client, self.charge(queue_key.1, &slice.request.key, mine));
            }
            if whole || sum >= rows {
                break;
            }
        }
        taken
    }

    /// Gives out what a batch came to, and says whether its worker goes on.
    fn complete(&self, number: u64, outputs: Result<Vec<Output>, Fault>) -> bool {
        // Another worker has it, since this one took too long.
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
            Err(Fault::Input(_)) => self.again(&batch, true),
            Err(Fault::Key) => self.again(&batch, false),
            Err(Fault::Processor(_)) if cpu && batch.slices.len() > 1 => self.again(&batch, true),
            Err(Fault::Processor(error)) if cpu => {
                tracing::error!(%error, operation = batch.queue_key.1.name(), "a request failed");
                only(&batch, Refusal::new(ErrorReason::Failed, "the computation failed"));
            }
            Err(Fault::Processor(error)) => self.quarantine(&batch, &error.to_string()),
        }
        true
    }

    /// Takes a batch off the list.
    fn end(&self, number: u64) -> Option<InFlightBatch> {
        let mut state = self.state();
        let batch = state.in_flight.remove(&number)?;
        state.running[batch.worker] -= 1;
        Some(batch)
    }

    /// Puts the slices of a batch back to the heads of their queues.
    fn again(&self, batch: &InFlightBatch, alone: bool) {
        let mut state = self.state();
        for Slice { request, rows } in batch.slices.iter().rev() {
            request.alone.fetch_or(alone, Ordering::Relaxed);
            let long = self.takes_long(request);
            state.queue.put_back(request, rows.clone(), long);
        }
        drop(state);
        self.metrics.redone.inc_by(batch.slices.len() as u64);
        self.wake_all();
    }

    fn quarantine(&self, batch: &InFlightBatch, why: &str) {
        let processor = self.workers[batch.worker].processor.name();
        tracing::error!(processor, why, "a processor is quarantined, its work done again");
        self.state().quarantined[batch.worker] = true;
        self.metrics.quarantined.inc();
        self.again(batch, false);
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
                self.quarantine(&batch, "it took too long for a batch");
            }
        }
    }
}

/// Leaves the processors to others, where the system knows priorities of threads.
fn lower_priority() {
    #[cfg(target_os = "linux")]
    {
        // Of the calling thread: on Linux every thread has its own. Where it is not allowed, long
        // rounds have the same priority.
        let _ = rustix::process::setpriority_process(None, 19);
    }
}

/// Runs slices as one batch and takes the output apart.
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
        let full = |_| Refusal::new(ErrorReason::QueueFull, format!("{most} requests wait for room in the queue"));
        entered.map(|_| Self(count)).map_err(full)
    }
}

impl Drop for Waiter<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}
