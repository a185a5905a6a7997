//! Who computes what when: requests of many clients, filled into batches and shared out among this CPU and devices.
//!
//! # Filling
//! Requests of one operation under one key wait in a line of their own. A processor takes the lines in turn, and from a line as many
//! requests as make a batch. It takes what there is when it has nothing else to do, so that a request alone does not wait; while it
//! computes, a further batch is begun only when there are rows to fill all lanes: the others have that time to arrive. Threads that have
//! nothing to do share what waits.
//!
//! # Faults
//! A wrong row fails its request alone: the others of its batch are computed again, each by itself. A processor that fails, panics, gives
//! what is not right or takes too long is set aside, and what it was given goes back to the heads of the lines. A late answer is
//! dropped. This CPU does everything, and is not set aside.

use std::collections::{HashMap, VecDeque};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use tokio::sync::{OwnedSemaphorePermit, Semaphore, oneshot};

use crate::keys::{Handle, ServedKey};
use crate::limits::Limits;
use crate::metrics::Metrics;
use crate::processor::{Fault, Processor};
use crate::proto::ErrorReason;
use crate::refusal::Refusal;
use crate::work::{Input, Operation, Output};

/// Bytes that a permit of the queue stands for.
const PERMIT_BYTES: usize = 1024;

/// A processor among others.
#[derive(Debug)]
pub struct Member {
    processor: Arc<dyn Processor>,
    /// Whether it is this CPU, which is never set aside.
    cpu: bool,
    /// Whether it only does what no device does.
    reserve: bool,
}

impl Member {
    /// This CPU. As a reserve it leaves to devices what they do.
    pub fn cpu(processor: impl Processor + 'static, reserve: bool) -> Self {
        Self { processor: Arc::new(processor), cpu: true, reserve }
    }

    /// A device.
    pub fn device(processor: impl Processor + 'static) -> Self {
        Self { processor: Arc::new(processor), cpu: false, reserve: false }
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
    lines: HashMap<Line, VecDeque<Arc<Request>>>,
    /// The lines that have requests, in turn.
    turns: VecDeque<Line>,
    flights: HashMap<u64, Flight>,
    flown: u64,
    /// Batches that each member works on, and whether it is set aside.
    running: Vec<usize>,
    aside: Vec<bool>,
    closing: bool,
}

/// What requests that may share a batch have in common.
type Line = (Handle, Operation);

/// A batch that a member works on.
#[derive(Clone, Debug)]
struct Flight {
    member: usize,
    since: Instant,
    line: Line,
    requests: Vec<Arc<Request>>,
}

#[derive(Debug)]
struct Request {
    key: Arc<ServedKey>,
    input: Input,
    deadline: Option<Instant>,
    /// Not to be put together with others again.
    alone: AtomicBool,
    answer: Mutex<Option<Answer>>,
}

#[derive(Debug)]
struct Answer {
    sender: oneshot::Sender<Result<Output, Refusal>>,
    /// Given back when the answer is there, or nobody waits for it.
    _room: Room,
}

/// Room in the queue, counted as long as it is taken.
#[derive(Debug)]
pub struct Room {
    _permits: OwnedSemaphorePermit,
    bytes: i64,
    metrics: Arc<Metrics>,
}

impl Drop for Room {
    fn drop(&mut self) {
        self.metrics.queue_bytes.dec_by(self.bytes);
    }
}

impl Request {
    fn answer(&self, result: Result<Output, Refusal>) {
        let answer = self.answer.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(answer) = answer {
            // Nobody waits for it any more: no loss.
            let _ = answer.sender.send(result);
        }
    }

    /// Whether an answer is still of use; one that comes too late is refused here.
    fn is_wanted(&self) -> bool {
        if self.deadline.is_some_and(|deadline| deadline <= Instant::now()) {
            self.answer(Err(deadline_passed()));
        }
        let answer = self.answer.lock().unwrap_or_else(PoisonError::into_inner);
        answer.as_ref().is_some_and(|answer| !answer.sender.is_closed())
    }
}

/// The refusal of what is late.
pub(crate) fn deadline_passed() -> Refusal {
    Refusal::new(ErrorReason::Deadline, "the deadline has passed")
}

impl Scheduler {
    /// Starts the threads of all members, one of which must be this CPU.
    pub fn start(members: Vec<Member>, limits: Limits, metrics: Arc<Metrics>) -> Self {
        debug_assert!(members.iter().any(|member| member.cpu));
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

    /// Puts a request into the queue, to be computed together with what others ask for. Whoever drops the future before it is takes the
    /// request back. It gives what is wrong with the input, or a deadline that passed before.
    pub fn submit(
        &self,
        key: Arc<ServedKey>,
        input: Input,
        room: Room,
        deadline: Option<Instant>,
    ) -> impl Future<Output = Result<Output, Refusal>> + use<> {
        let (sender, answer) = oneshot::channel();
        let answer_to = Mutex::new(Some(Answer { sender, _room: room }));
        let request = Request { key, input, deadline, alone: AtomicBool::new(false), answer: answer_to };
        self.shared.enqueue(Arc::new(request));
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
                let _waiting = Waiting::enter(&self.waiting, self.limits.waiting)?;
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
        let line = state.put(request, false);
        let rows = state.rows(line);
        let may = |member: usize| {
            let (processor, running) = (&self.members[member].processor, state.running[member]);
            running == 0 || (running < processor.batches() && rows >= processor.full_rows())
        };
        let awake: Vec<&Condvar> =
            self.waiters.iter().enumerate().filter(|(member, _)| may(*member)).map(|(_, waiters)| waiters).collect();
        drop(state);
        awake.into_iter().for_each(Condvar::notify_one);
    }

    fn wake_all(&self) {
        self.waiters.iter().for_each(Condvar::notify_all);
    }

    /// What a thread of a member does until the end.
    fn work(&self, member: usize) {
        let processor = self.members[member].processor.clone();
        while let Some((number, flight)) = self.next(member) {
            let inputs: Vec<&Input> = flight.requests.iter().map(|request| &request.input).collect();
            let rows = inputs.iter().map(|input| input.rows()).sum();
            self.metrics.batch(&processor.name(), flight.line.1.name(), rows);
            let key = &flight.requests[0].key;
            let outputs = catch_unwind(AssertUnwindSafe(|| run(&*processor, key, &inputs)));
            let outputs = outputs.unwrap_or_else(|_| Err(Fault::Processor("it broke down".into())));
            drop(inputs);
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
            if let Some(line) = self.line_for(&mut state, member) {
                let rows = self.batch_rows(member, &state, line);
                let requests = state.take(line, rows);
                if requests.is_empty() {
                    continue;
                }
                state.running[member] += 1;
                state.flown += 1;
                let flight = Flight { member, since: Instant::now(), line, requests };
                let number = state.flown;
                state.flights.insert(number, flight.clone());
                return Some((number, flight));
            }
            state = self.waiters[member].wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Rows of the batch that a member makes of a line: the share of each of its threads that has nothing to do, in whole rounds of its
    /// lanes.
    fn batch_rows(&self, member: usize, state: &State, line: Line) -> usize {
        let processor = &self.members[member].processor;
        let (full, most) = (processor.full_rows().max(1), processor.batch_rows());
        let idle = processor.batches().saturating_sub(state.running[member]).max(1);
        let rows = state.rows(line);
        if rows < full { most } else { ((rows / full).div_ceil(idle) * full).min(most) }
    }

    /// The line whose turn it is among those that a member may take from now.
    fn line_for(&self, state: &mut State, member: usize) -> Option<Line> {
        let Member { processor, reserve, .. } = &self.members[member];
        let busy = state.running[member] > 0;
        let turn = state.turns.iter().position(|line| {
            let requests = &state.lines[line];
            let (key, operation) = (&requests[0].key, line.1);
            let left_to_others = || {
                let others = self.members.iter().zip(&state.aside);
                others.into_iter().any(|(other, aside)| !other.cpu && !aside && other.processor.does(operation, key))
            };
            processor.does(operation, key)
                && !(*reserve && left_to_others())
                && (!busy || state.rows(*line) >= processor.full_rows())
        })?;
        state.turns.remove(turn)
    }

    /// Gives out what a batch came to, and says whether its member goes on.
    fn land(&self, number: u64, outputs: Result<Vec<Output>, Fault>) -> bool {
        // Another member has it, since this one took too long.
        let Some(flight) = self.end(number) else { return false };
        let cpu = self.members[flight.member].cpu;
        match outputs {
            Ok(outputs) => {
                flight.requests.iter().zip(outputs).for_each(|(request, output)| request.answer(Ok(output)));
            }
            Err(Fault::Input(error)) if flight.requests.len() == 1 => flight.requests[0].answer(Err(error.into())),
            Err(Fault::Input(_)) => self.again(&flight, true),
            Err(Fault::Key) => self.again(&flight, false),
            Err(Fault::Processor(_)) if cpu && flight.requests.len() > 1 => self.again(&flight, true),
            Err(Fault::Processor(error)) if cpu => {
                tracing::error!(%error, operation = flight.line.1.name(), "a request failed");
                let refusal = Refusal::new(ErrorReason::Failed, "the computation failed");
                flight.requests[0].answer(Err(refusal));
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

    /// Puts the requests of a flight back to the head of their line.
    fn again(&self, flight: &Flight, alone: bool) {
        let mut state = self.state();
        for request in flight.requests.iter().rev() {
            request.alone.fetch_or(alone, Ordering::Relaxed);
            state.put(request.clone(), true);
        }
        drop(state);
        self.metrics.redone.inc_by(flight.requests.len() as u64);
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

/// Runs inputs as one batch and takes the output apart.
fn run(processor: &dyn Processor, key: &ServedKey, inputs: &[&Input]) -> Result<Vec<Output>, Fault> {
    let lengths: Vec<usize> = inputs.iter().map(|input| input.answers()).collect();
    let output = match inputs {
        [input] => processor.run(key, input)?,
        _ => processor.run(key, &Input::concat(inputs)?)?,
    };
    output.split(&lengths).map_err(|error| Fault::Processor(Box::new(error)))
}

impl State {
    /// Rows that wait in a line.
    fn rows(&self, line: Line) -> usize {
        self.lines.get(&line).map_or(0, |requests| requests.iter().map(|request| request.input.rows()).sum())
    }

    /// Puts a request into its line, which it gives.
    fn put(&mut self, request: Arc<Request>, first: bool) -> Line {
        let line = (request.key.handle(), request.input.operation());
        let requests = self.lines.entry(line).or_default();
        if requests.is_empty() {
            self.turns.push_back(line);
        }
        if first {
            requests.push_front(request)
        } else {
            requests.push_back(request)
        }
        line
    }

    /// Takes requests of about so many rows from the head of a line whose turn it was. None that nobody wants any more.
    fn take(&mut self, line: Line, rows: usize) -> Vec<Arc<Request>> {
        let Some(requests) = self.lines.get_mut(&line) else { return Vec::new() };
        let (mut taken, mut sum) = (Vec::<Arc<Request>>::new(), 0);
        while let Some(next) = requests.front() {
            let alone = next.alone.load(Ordering::Relaxed);
            if !taken.is_empty() && (alone || sum + next.input.rows() > rows) {
                break;
            }
            let Some(next) = requests.pop_front() else { break };
            if next.is_wanted() {
                sum += next.input.rows();
                taken.push(next);
                if alone {
                    break;
                }
            }
        }
        match requests.is_empty() {
            true => drop(self.lines.remove(&line)),
            false => self.turns.push_back(line),
        }
        taken
    }
}

/// One of those that wait for room.
struct Waiting<'a>(&'a AtomicUsize);

impl<'a> Waiting<'a> {
    fn enter(count: &'a AtomicUsize, most: usize) -> Result<Self, Refusal> {
        let one_more = |waiting| (waiting < most).then_some(waiting + 1);
        let entered = count.fetch_update(Ordering::Relaxed, Ordering::Relaxed, one_more);
        let full = |_| Refusal::new(ErrorReason::QueueFull, format!("{most} requests wait for room in the queue"));
        entered.map(|_| Self(count)).map_err(full)
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}
