//! Who computes what when: requests of many clients, cut into slices, filled into batches and
//! shared out among this CPU and devices.
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
//! cancelled or is late goes no further. Sums are not cut: a message of them takes a few
//! milliseconds.
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
//! A processor that fails, panics, gives what is not right or takes too long is set aside, and what
//! it was given goes back to the heads of the queues. A late answer is dropped. This CPU does
//! everything, and is not set aside.

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

use queue::{Line, Queue};
pub use request::Room;
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
pub struct Member {
    processor: Arc<dyn Processor>,
    /// Whether it is this CPU, which is never set aside.
    cpu: bool,
    /// Whether it only does what no device does.
    reserve: bool,
    /// Whether it takes rounds that take long, and no others.
    long: bool,
}

impl Member {
    /// This CPU. As a reserve it leaves to devices what they do.
    pub fn cpu(processor: impl Processor + 'static, reserve: bool) -> Self {
        Self { processor: Arc::new(processor), cpu: true, reserve, long: false }
    }

    /// The same processor for rounds that take long.
    fn for_long_rounds(&self) -> Self {
        Self { processor: self.processor.clone(), long: true, ..*self }
    }

    /// A device.
    pub fn device(processor: impl Processor + 'static) -> Self {
        Self { processor: Arc::new(processor), cpu: false, reserve: false, long: false }
    }
}

/// The processors and what waits for them. When dropped, nobody waits any more: only what this CPU is at is ended.
#[derive(Debug)]
pub struct Scheduler {
    shared: Arc<Shared>,
    workers: Vec<JoinHandle<()>>,
}

#[derive(Debug)]
struct Shared {
    members: Vec<Member>,
    state: Mutex<State>,
    /// One a member: those of its threads that wait for a batch.
    waiters: Vec<Condvar>,
    room: Arc<Semaphore>,
    permits: usize,
    waiting: AtomicUsize,
    abandoned: AtomicBool,
    limits: Limits,
    metrics: Arc<Metrics>,
}

#[derive(Debug, Default)]
struct State {
    queue: Queue,
    flights: HashMap<u64, Flight>,
    flown: u64,
    /// Batches that each member works on, and whether it is set aside.
    running: Vec<usize>,
    aside: Vec<bool>,
    closing: bool,
}

/// A batch that a member works on.
#[derive(Clone, Debug)]
struct Flight {
    member: usize,
    since: Instant,
    line: Line,
    slices: Vec<Slice>,
}

impl Scheduler {
    /// Starts the threads of all members, one of which must be this CPU.
    pub fn start(mut members: Vec<Member>, limits: Limits, metrics: Arc<Metrics>) -> Self {
        debug_assert!(members.iter().any(|member| member.cpu));
        let long: Vec<Member> = members.iter().filter(|member| member.cpu).map(Member::for_long_rounds).collect();
        members.extend(long);
        let permits = (limits.queue_bytes / PERMIT_BYTES).clamp(1, Semaphore::MAX_PERMITS.min(u32::MAX as usize));
        let state = State { running: vec![0; members.len()], aside: vec![false; members.len()], ..State::default() };
        let room = Arc::new(Semaphore::new(permits));
        let (state, waiters) = (Mutex::new(state), members.iter().map(|_| Condvar::new()).collect());
        let (waiting, abandoned) = (AtomicUsize::new(0), AtomicBool::new(false));
        let shared = Shared { members, state, waiters, room, permits, waiting, abandoned, limits, metrics };
        let shared = Arc::new(shared);
        let mut workers = Vec::new();
        for (index, member) in shared.members.iter().enumerate() {
            for _ in 0..member.processor.batches().max(1) {
                let shared = shared.clone();
                let worker = thread::spawn(move || shared.work(index));
                // A device that stalls would hold up the end.
                workers.extend(member.cpu.then_some(worker));
            }
        }
        let watch = Arc::downgrade(&shared);
        let every = (limits.patience / 8).clamp(Duration::from_millis(5), Duration::from_secs(1));
        thread::spawn(move || {
            while let Some(shared) = watch.upgrade() {
                shared.set_stalled_aside();
                drop(shared);
                thread::sleep(every);
            }
        });
        Self { shared, workers }
    }

    /// Room in the queue for an input, once there is some.
    ///
    /// # Errors
    /// Too many others wait for it.
    pub async fn room(&self, input: &Input) -> Result<Room, Refusal> {
        self.shared.room(input.bytes()).await
    }

    /// Puts a request of a client into the queue, to be computed together with what others ask for.
    /// Whoever drops the future before it is takes the request back. It gives what is wrong with
    /// the input, or a deadline that passed before.
    pub fn submit(
        &self,
        client: ClientId,
        key: Arc<ServedKey>,
        input: Input,
        room: Room,
        deadline: Option<Instant>,
    ) -> impl Future<Output = Result<Output, Refusal>> + use<> {
        let (sender, answer) = oneshot::channel();
        let answer_to = Answer { sender, _room: room };
        self.shared.enqueue(Request::new(client, key, input, deadline, answer_to));
        async { answer.await.unwrap_or_else(|_| Err(Refusal::new(ErrorReason::Failed, "internal error"))) }
    }

    /// Leaves even what is being computed: the end does not wait for it.
    pub fn abandon(&self) {
        self.shared.abandoned.store(true, Ordering::Relaxed);
    }

    /// The members that were set aside, by name.
    pub fn set_aside(&self) -> Vec<String> {
        let state = self.shared.state();
        let aside = self.shared.members.iter().zip(&state.aside).filter(|(_, aside)| **aside);
        aside.map(|(member, _)| member.processor.name()).collect()
    }
}

impl Drop for Scheduler {
    fn drop(&mut self) {
        self.shared.state().closing = true;
        self.shared.wake_all();
        if self.shared.abandoned.load(Ordering::Relaxed) {
            return;
        }
        for worker in self.workers.drain(..) {
            // A worker has caught every panic of what it ran.
            let _ = worker.join();
        }
    }
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Room in the queue, once there is some.
    async fn room(&self, bytes: usize) -> Result<Room, Refusal> {
        let permits = bytes.div_ceil(PERMIT_BYTES).clamp(1, self.permits) as u32;
        let acquired = match self.room.clone().try_acquire_many_owned(permits) {
            Ok(acquired) => acquired,
            Err(_) => {
                let _waiting = WaitsForRoom::enter(&self.waiting, self.limits.waiting)?;
                let acquired = self.room.clone().acquire_many_owned(permits).await;
                acquired.map_err(|_| Refusal::new(ErrorReason::ShuttingDown, "shutting down"))?
            }
        };
        let (bytes, metrics) = (i64::from(permits) * PERMIT_BYTES as i64, self.metrics.clone());
        metrics.queue_bytes.inc_by(bytes);
        Ok(Room { _permits: acquired, bytes, metrics })
    }

    /// Wakes a thread of a member only if it may take the line: of many small requests most wait for the batch to fill.
    fn enqueue(&self, request: Arc<Request>) {
        let mut state = self.state();
        let long = self.takes_long(&request);
        let line = state.queue.put(request, false, long);
        let awake: Vec<&Condvar> = (0..self.members.len())
            .filter(|&member| self.may_take(&state, member, line))
            .map(|member| &self.waiters[member])
            .collect();
        drop(state);
        awake.into_iter().for_each(Condvar::notify_one);
    }

    /// This CPU, which does everything.
    fn cpu(&self) -> &dyn Processor {
        let cpu = self.members.iter().find(|member| member.cpu);
        &*cpu.unwrap_or(&self.members[0]).processor
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

    /// What a thread of a member does until the end.
    fn work(&self, member: usize) {
        if self.members[member].long {
            lower_priority();
        }
        let processor = self.members[member].processor.clone();
        while let Some((number, flight)) = self.next(member) {
            let rows = flight.slices.iter().map(|slice| slice.rows.len()).sum();
            self.metrics.batch(&processor.name(), flight.line.1.name(), rows);
            let outputs = catch_unwind(AssertUnwindSafe(|| run(&*processor, &flight.slices)));
            let outputs = outputs.unwrap_or_else(|_| Err(Fault::Processor("it broke down".into())));
            if !self.land(number, outputs) {
                return;
            }
        }
    }

    /// The next batch for a member; none if there will be no more.
    fn next(&self, member: usize) -> Option<(u64, Flight)> {
        let mut state = self.state();
        loop {
            if state.aside[member] || state.closing {
                return None;
            }
            if let Some((client, line)) = self.turn(&state, member) {
                let rows = self.slice_rows(member, &state, line);
                let slices = self.take(&mut state, client, line, rows);
                if slices.is_empty() {
                    continue;
                }
                state.running[member] += 1;
                state.flown += 1;
                let flight = Flight { member, since: Instant::now(), line, slices };
                let number = state.flown;
                state.flights.insert(number, flight.clone());
                // What is left is for whoever has nothing to do.
                if self.has_due(&state, member) {
                    self.waiters[member].notify_one();
                }
                return Some((number, flight));
            }
            state = self.waiters[member].wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Rows of the batch that a member makes of a line: the share of each of its threads that has nothing to do, in whole rounds of its
    /// lanes, and no more than a slice may be.
    fn slice_rows(&self, member: usize, state: &State, line: Line) -> usize {
        let Member { processor, cpu, .. } = &self.members[member];
        let full = processor.full_rows().max(1);
        let Some(waiting) = state.queue.lines.get(&line) else { return full };
        let most = if *cpu {
            let round = processor.time(line.1, &waiting.key, full).as_secs_f64();
            let fit = |time: Duration| if round > 0.0 { (time.as_secs_f64() / round) as usize } else { usize::MAX };
            let least = processor.batch_rows().div_ceil(full).min(fit(SLICE_MOST)).max(1);
            fit(SLICE_GOAL).max(least).saturating_mul(full)
        } else {
            processor.batch_rows().max(DEVICE_ROWS)
        };
        let idle = processor.batches().saturating_sub(state.running[member]).max(1);
        if waiting.rows < full { most } else { ((waiting.rows / full).div_ceil(idle).saturating_mul(full)).min(most) }
    }

    /// Whether a member does what a line asks for, and is the one to do it.
    fn serves(&self, state: &State, member: usize, line: Line) -> bool {
        let Member { processor, cpu, reserve, long } = &self.members[member];
        let Some(waiting) = state.queue.lines.get(&line) else { return false };
        let left_to_others = || {
            let others = self.members.iter().zip(&state.aside);
            others.into_iter().any(|(other, aside)| !other.cpu && !aside && other.processor.does(line.1, &waiting.key))
        };
        (!cpu || *long == waiting.long) && processor.does(line.1, &waiting.key) && !(*reserve && left_to_others())
    }

    /// Whether a line is reason enough for a member to begin a batch now: it has nothing to do, or the line fills its lanes.
    fn is_due(&self, state: &State, member: usize, line: Line) -> bool {
        let (processor, running) = (&self.members[member].processor, state.running[member]);
        let fills = |rows| running < processor.batches() && rows >= processor.full_rows();
        running == 0 || state.queue.lines.get(&line).is_some_and(|waiting| fills(waiting.rows))
    }

    /// Whether some line is one that a member may take from now.
    fn has_due(&self, state: &State, member: usize) -> bool {
        state.queue.lines.keys().any(|&line| self.may_take(state, member, line))
    }

    /// Whether a member may take a line from now.
    fn may_take(&self, state: &State, member: usize, line: Line) -> bool {
        self.serves(state, member, line) && self.is_due(state, member, line)
    }

    /// The client whose turn it is among those with a line that a member serves, and that line, if
    /// the member begins a batch now. Once one line is reason enough, any may be next: a row that
    /// fills no lanes would otherwise wait as long as others fill them.
    fn turn(&self, state: &State, member: usize) -> Option<(ClientId, Line)> {
        if !self.has_due(state, member) {
            return None;
        }
        let lines: HashSet<Line> =
            state.queue.lines.keys().copied().filter(|&line| self.serves(state, member, line)).collect();
        state.queue.order.iter().find_map(|(_, client)| {
            let flow = state.queue.clients.get(client)?;
            let line = flow.lines.iter().map(|(line, _)| *line).find(|line| lines.contains(line))?;
            Some((*client, line))
        })
    }

    /// Takes about so many rows of a line: of the client whose turn it is, and then of others in
    /// their order. None that nobody wants any more.
    fn take(&self, state: &mut State, first: ClientId, line: Line, rows: usize) -> Vec<Slice> {
        state.queue.now = state.queue.now.max(state.queue.clients.get(&first).map_or(0, |flow| flow.time));
        let others: Vec<ClientId> =
            state.queue.order.iter().map(|(_, client)| *client).filter(|client| *client != first).collect();
        let (mut taken, mut sum) = (Vec::new(), 0);
        for client in std::iter::once(first).chain(others) {
            let before = taken.len();
            let whole = state.queue.take(client, line, rows, &mut sum, &mut taken);
            let mine: usize = taken[before..].iter().map(|slice: &Slice| slice.rows.len()).sum();
            if let Some(slice) = taken.get(before) {
                state.queue.charge(client, self.charge(line.1, &slice.request.key, mine));
            }
            if whole || sum >= rows {
                break;
            }
        }
        taken
    }

    /// Gives out what a batch came to, and says whether its member goes on.
    fn land(&self, number: u64, outputs: Result<Vec<Output>, Fault>) -> bool {
        // Another member has it, since this one took too long.
        let Some(flight) = self.end(number) else { return false };
        let cpu = self.members[flight.member].cpu;
        let only = |flight: &Flight, refusal: Refusal| {
            let Slice { request, rows } = &flight.slices[0];
            let row = rows.start + refusal.row().unwrap_or(0);
            request.land(rows.clone(), Err((row, refusal.in_later_row(rows.start))));
        };
        match outputs {
            Ok(outputs) => {
                for (slice, output) in flight.slices.into_iter().zip(outputs) {
                    slice.request.land(slice.rows, Ok(output));
                }
            }
            Err(Fault::Input(error)) if flight.slices.len() == 1 => only(&flight, error.into()),
            Err(Fault::Input(_)) => self.again(&flight, true),
            Err(Fault::Key) => self.again(&flight, false),
            Err(Fault::Processor(_)) if cpu && flight.slices.len() > 1 => self.again(&flight, true),
            Err(Fault::Processor(error)) if cpu => {
                tracing::error!(%error, operation = flight.line.1.name(), "a request failed");
                only(&flight, Refusal::new(ErrorReason::Failed, "the computation failed"));
            }
            Err(Fault::Processor(error)) => self.set_aside(&flight, &error.to_string()),
        }
        true
    }

    /// Takes a flight off the list.
    fn end(&self, number: u64) -> Option<Flight> {
        let mut state = self.state();
        let flight = state.flights.remove(&number)?;
        state.running[flight.member] -= 1;
        Some(flight)
    }

    /// Puts the slices of a flight back to the heads of their queues.
    fn again(&self, flight: &Flight, alone: bool) {
        let mut state = self.state();
        for Slice { request, rows } in flight.slices.iter().rev() {
            request.alone.fetch_or(alone, Ordering::Relaxed);
            let long = self.takes_long(request);
            state.queue.put_back(request, rows.clone(), long);
        }
        drop(state);
        self.metrics.redone.inc_by(flight.slices.len() as u64);
        self.wake_all();
    }

    fn set_aside(&self, flight: &Flight, why: &str) {
        let processor = self.members[flight.member].processor.name();
        tracing::error!(processor, why, "a processor is set aside, its work done again");
        self.state().aside[flight.member] = true;
        self.metrics.set_aside.inc();
        self.again(flight, false);
    }

    fn set_stalled_aside(&self) {
        let stalled =
            |flight: &Flight| !self.members[flight.member].cpu && flight.since.elapsed() > self.limits.patience;
        let numbers: Vec<u64> = {
            let state = self.state();
            state.flights.iter().filter(|(_, flight)| stalled(flight)).map(|(&number, _)| number).collect()
        };
        for number in numbers {
            if let Some(flight) = self.end(number) {
                self.set_aside(&flight, "it took too long for a batch");
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

/// One of those that wait for room.
struct WaitsForRoom<'a>(&'a AtomicUsize);

impl<'a> WaitsForRoom<'a> {
    fn enter(count: &'a AtomicUsize, most: usize) -> Result<Self, Refusal> {
        let one_more = |waiting| (waiting < most).then_some(waiting + 1);
        let entered = count.fetch_update(Ordering::Relaxed, Ordering::Relaxed, one_more);
        let full = |_| Refusal::new(ErrorReason::QueueFull, format!("{most} requests wait for room in the queue"));
        entered.map(|_| Self(count)).map_err(full)
    }
}

impl Drop for WaitsForRoom<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}
