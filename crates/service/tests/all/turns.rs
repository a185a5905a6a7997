//! The order in which clients are served.
//!
//! The processor in these tests reports the rows that it was given, waits for permission to
//! continue, and estimates its times in advance. Nothing depends on real time.

use std::collections::HashSet;
use std::pin::Pin;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use crate::common::*;
use hearith_paillier::{Ciphertexts, ErrorKind, Plaintexts};
use hearith_service::clients::ClientId;
use hearith_service::keys::ServedKey;
use hearith_service::limits::Limits;
use hearith_service::processor::{Fault, Processor};
use hearith_service::proto::ErrorReason;
use hearith_service::refusal::Refusal;
use hearith_service::scheduler::{Scheduler, Worker};
use hearith_service::work::{Input, Operation, Output};

/// Rows with this number or a higher one are invalid.
const WRONG: u32 = 9000;

/// A client's pending answer.
type Asked = Pin<Box<dyn Future<Output = Result<Output, Refusal>> + Send>>;

/// A batch that was begun: the numbers of its rows, and the sender that lets it continue.
struct Begun {
    rows: Vec<u32>,
    go: Sender<()>,
}

#[derive(Debug)]
struct Actor {
    begun: Mutex<Sender<Begun>>,
    threads: usize,
    lanes: usize,
    /// The time per row of an encryption or a sum. Additions take no time.
    row: Duration,
}

impl Processor for Actor {
    fn name(&self) -> String {
        "actor".into()
    }

    fn does(&self, _: Operation, _: &ServedKey) -> bool {
        true
    }

    fn batches(&self) -> usize {
        self.threads
    }

    fn full_rows(&self) -> usize {
        self.lanes
    }

    fn batch_rows(&self) -> usize {
        self.lanes
    }

    fn time(&self, operation: Operation, _: &ServedKey, rows: usize) -> Duration {
        let long = matches!(operation, Operation::Encrypt | Operation::SumGroups);
        if long { self.row * rows as u32 } else { Duration::from_millis(1) }
    }

    fn run(&self, key: &ServedKey, input: &Input) -> Result<Output, Fault> {
        let rows = match input {
            Input::Encrypt(plaintexts) => numbers_of(plaintexts),
            Input::SumGroups { ciphertexts, .. } => (0..ciphertexts.len() as u32).collect(),
            _ => vec![0],
        };
        let (go, wait) = channel();
        // Once the receiver is dropped, nothing waits.
        let _ = self.begun.lock().unwrap().send(Begun { rows: rows.clone(), go });
        let _ = wait.recv();
        if let Some(wrong) = rows.iter().position(|&number| number >= WRONG) {
            return Err(Fault::Input(ErrorKind::OutOfRange.at_row(wrong)));
        }
        // Returns the input, to show the order of its rows.
        match input {
            Input::Encrypt(plaintexts) => Ok(Output::Plaintexts(plaintexts.clone())),
            Input::Add(left, _) => Ok(Output::Ciphertexts(left.clone())),
            Input::SumGroups { .. } => Ok(input.compute(key)?),
            _ => unreachable!("these tests ask for nothing else"),
        }
    }
}

fn numbers_of(plaintexts: &Plaintexts) -> Vec<u32> {
    let bytes = plaintexts.to_be_bytes();
    let width = bytes.len() / plaintexts.len().max(1);
    bytes.chunks(width.max(4)).map(|row| u32::from_be_bytes(row[width - 4..].try_into().unwrap())).collect()
}

struct Stage {
    begun: Receiver<Begun>,
    scheduler: Scheduler,
    keys: [Arc<ServedKey>; 2],
}

impl Stage {
    /// Ten milliseconds per row on threads with one lane: two rows per slice.
    fn new(threads: usize) -> Self {
        Self::with(threads, 1, Duration::from_millis(10))
    }

    fn with(threads: usize, lanes: usize, row: Duration) -> Self {
        let (sender, begun) = channel();
        let actor = Actor { begun: Mutex::new(sender), threads, lanes, row };
        let scheduler = Scheduler::start(vec![Worker::cpu(actor, false)], Limits::default(), Arc::default());
        let keys = [&*KEY, &*DJN].map(|key| Arc::new(ServedKey::new(key.public().clone(), None)));
        Self { begun, scheduler, keys }
    }

    /// Submits a client's rows with these numbers under a key.
    fn ask(&self, client: ClientId, key: usize, numbers: impl IntoIterator<Item = u32>) -> Asked {
        self.ask_until(client, key, numbers, None)
    }

    fn ask_until(
        &self,
        client: ClientId,
        key: usize,
        numbers: impl IntoIterator<Item = u32>,
        deadline: Option<Instant>,
    ) -> Asked {
        let key = self.keys[key].clone();
        let numbers: Vec<i128> = numbers.into_iter().map(i128::from).collect();
        let plaintexts = hearith_paillier::encoding::encode_signed(key.public(), &numbers).unwrap();
        self.submit(client, key, Input::Encrypt(plaintexts), deadline)
    }

    fn submit(&self, client: ClientId, key: Arc<ServedKey>, input: Input, deadline: Option<Instant>) -> Asked {
        let permit = block_on(self.scheduler.permit(&input)).unwrap();
        Box::pin(self.scheduler.submit(client, key, input, permit, deadline))
    }

    /// The next batch that is begun. It is still waiting.
    fn next(&self) -> Begun {
        self.begun.recv_timeout(Duration::from_secs(600)).expect("a batch is begun")
    }

    /// The rows of the next batches.
    fn order(&self, count: usize) -> Vec<Vec<u32>> {
        (0..count).map(|_| self.next().rows).collect()
    }
}

impl Begun {
    fn go(self) -> Vec<u32> {
        let _ = self.go.send(());
        self.rows
    }
}

fn clients() -> [ClientId; 3] {
    [(); 3].map(|()| ClientId::anonymous())
}

#[test]
fn whoever_asks_for_little_waits_for_one_slice_of_the_others() {
    let (stage, [heavy, light, _]) = (Stage::new(1), clients());
    let all = stage.ask(heavy, 0, 0..1000);
    let first = stage.next();
    assert_eq!(first.rows, [0, 1], "twenty milliseconds");
    let one = stage.ask(light, 1, [5000]);
    first.go();
    let second = stage.next();
    assert_eq!(second.go(), [5000]);
    assert_eq!(block_on(one).unwrap().rows(), 1);
    assert_eq!(stage.order(3), [[2, 3], [4, 5], [6, 7]]);
    drop((stage, all));
}

#[test]
fn a_row_alone_has_its_turn_while_others_fill_all_lanes_of_all_threads() {
    let (stage, [heavy, light, _]) = (Stage::with(2, 4, Duration::from_millis(2)), clients());
    let all = stage.ask(heavy, 0, 0..1000);
    let (first, second) = (stage.next(), stage.next());
    let one = stage.ask(light, 1, [5000]);
    first.go();
    // The other thread continues with the rows of the client that fills its lanes.
    let third = stage.next();
    assert_eq!(third.go(), [5000]);
    assert_eq!(block_on(one).unwrap().rows(), 1);
    second.go();
    drop((stage, all));
}

#[test]
fn clients_take_turns_however_many_requests_they_have() {
    let (stage, [first, second, third]) = (Stage::new(1), clients());
    // One has many requests, one a large request, and one arrives last.
    let mut asked: Vec<_> = (0..20).map(|number| stage.ask(first, 0, [number])).collect();
    let begun = stage.next();
    let large = stage.ask(second, 1, 100..120);
    let late = stage.ask(third, 1, 200..204);
    begun.go();
    let order: Vec<Vec<u32>> = stage.order(9);
    let served: Vec<u32> = order.iter().flatten().map(|number| number / 100).collect();
    // At most one slice of another client between two of one client, until it is finished.
    assert_eq!(served.iter().filter(|&&client| client == 2).count(), 4, "{order:?}");
    for client in 0..2 {
        let positions: Vec<usize> = (0..served.len()).filter(|&at| served[at] == client).collect();
        assert!(positions.windows(2).all(|pair| pair[1] - pair[0] <= 5), "{order:?}");
    }
    asked.clear();
    drop((stage, large, late));
}

#[test]
fn shares_are_of_time_and_not_of_requests() {
    // A row of the second takes as long as two of the first, so its requests are served half as
    // often.
    let (stage, [first, second, _]) = (Stage::new(1), clients());
    let begun = stage.ask(first, 0, [0]);
    let held = stage.next();
    let ones: Vec<_> = (0..60).map(|number| stage.ask(first, 0, [100 + number])).collect();
    let pairs: Vec<_> =
        (0..60).map(|number| stage.ask(second, 1, [2 * number, 2 * number + 1].map(|n| 1000 + n))).collect();
    held.go();
    let rows: Vec<u32> = stage.order(30).into_iter().flatten().collect();
    let of_second = rows.iter().filter(|&&number| number >= 1000).count();
    assert!((28..=32).contains(&of_second), "{of_second} of {} rows", rows.len());
    drop((stage, begun, ones, pairs));
}

#[test]
fn what_is_cancelled_or_late_goes_no_further() {
    let (stage, [heavy, light, _]) = (Stage::new(1), clients());
    let all = stage.ask(heavy, 0, 0..1000);
    let first = stage.next();
    let one = stage.ask(light, 1, [5000]);
    drop(all);
    first.go();
    assert_eq!(stage.next().go(), [5000]);
    assert!(block_on(one).is_ok());

    let deadline = Instant::now() + Duration::from_millis(20);
    let late = stage.ask_until(heavy, 0, 0..1000, Some(deadline));
    let first = stage.next();
    while Instant::now() <= deadline {
        std::thread::sleep(Duration::from_millis(1));
    }
    let one = stage.ask(light, 1, [5001]);
    first.go();
    assert_eq!(stage.next().go(), [5001]);
    assert!(block_on(one).is_ok());
    assert_eq!(block_on(late).unwrap_err().reason(), ErrorReason::Deadline);
    let last = stage.ask(light, 1, [5002]);
    assert_eq!(stage.next().go(), [5002], "nothing of the heavy one");
    assert!(block_on(last).is_ok());
}

#[test]
fn long_rounds_leave_a_thread_to_short_ones() {
    // Eight lanes of a tenth of a second each: a round cannot be divided.
    let (stage, [heavy, light, other]) = (Stage::with(1, 8, Duration::from_millis(100)), clients());
    let all = stage.ask(heavy, 0, 0..16);
    let long = stage.next();
    assert_eq!(long.rows, (0..8).collect::<Vec<u32>>());
    let more = stage.ask(other, 1, 100..108);
    // Sums are short, and are computed during the long round.
    for _ in 0..3 {
        let ciphertexts = KEY.public().encrypt(&plaintexts(KEY.public(), 1)).unwrap();
        let input = Input::Add(ciphertexts.clone(), ciphertexts);
        let sum = stage.submit(light, stage.keys[0].clone(), input, None);
        assert_eq!(stage.next().go(), [0]);
        assert!(block_on(sum).is_ok());
    }
    long.go();
    assert_eq!(stage.next().go(), (100..108).collect::<Vec<u32>>(), "long ones take turns, too");
    assert_eq!(stage.next().go(), (8..16).collect::<Vec<u32>>());
    assert!(block_on(all).is_ok() && block_on(more).is_ok());
}

/// Out of order, without rows, with one row, and long enough that slices end within them.
const GROUPS: [&[u32]; 6] = [&[], &[9, 1, 2, 3, 4], &[0], &[], &[5], &[10, 8, 7, 6]];

/// Sums of eleven rows by [`GROUPS`].
fn sums(ciphertexts: Ciphertexts) -> Input {
    Input::SumGroups { ciphertexts, groups: GROUPS.map(<[u32]>::to_vec).into() }
}

#[test]
fn sums_are_cut_and_added_up() {
    let (stage, [heavy, light, _]) = (Stage::new(1), clients());
    let ciphertexts = KEY.public().encrypt(&plaintexts(KEY.public(), 11)).unwrap();
    let expected = KEY.public().sum_groups(&ciphertexts, &GROUPS.map(<[u32]>::to_vec)).unwrap();
    let all = stage.submit(heavy, stage.keys[0].clone(), sums(ciphertexts.clone()), None);
    let first = stage.next();
    assert_eq!(first.rows.len(), 2, "twenty milliseconds");
    let one = stage.ask(light, 1, [5000]);
    first.go();
    assert_eq!(stage.next().go(), [5000]);
    assert!(block_on(one).is_ok());
    let left: usize = (0..5).map(|_| stage.next().go().len()).sum();
    assert_eq!(left, 9);
    assert!(block_on(all).unwrap() == Output::Ciphertexts(expected.clone()));
    // Wherever slices end.
    let (input, key) = (sums(ciphertexts), &stage.keys[0]);
    for (first, length) in (0..11).flat_map(|first| (1..=11).map(move |length| (first, length))) {
        let mut slices = Vec::new();
        let mut start = 0;
        while start < 11 {
            let end = if start == 0 && first > 0 { first } else { (start + length).min(11) };
            slices.push((start..end, input.range(start..end).unwrap().compute(key).unwrap()));
            start = end;
        }
        assert!(input.join(key, slices).unwrap() == Output::Ciphertexts(expected.clone()), "{first} {length}");
    }
    assert!(input.range(10..12).is_err());
}

#[test]
fn the_first_wrong_row_of_sums_is_named_whatever_its_group() {
    let public = KEY.public();
    let p: Vec<u8> = KEY.primes()[0].iter().rev().flat_map(|limb| limb.to_be_bytes()).collect();
    let mut bytes = public.encrypt(&plaintexts(public, 11)).unwrap().to_be_bytes();
    // Row 8 is in the last group, row 9 in an earlier one.
    for row in [9, 8, 10] {
        let end = (row + 1) * public.ciphertext_bytes();
        bytes[end - public.ciphertext_bytes()..end].fill(0);
        bytes[end - p.len()..end].copy_from_slice(&p);
    }
    let ciphertexts = public.ciphertexts_from_be(&bytes).unwrap();
    for threads in [1, 3] {
        let (stage, [client, ..]) = (Stage::new(threads), clients());
        let all = stage.submit(client, stage.keys[0].clone(), sums(ciphertexts.clone()), None);
        let named = std::thread::spawn(move || block_on(all).unwrap_err());
        while !named.is_finished() {
            if let Ok(begun) = stage.begun.recv_timeout(Duration::from_millis(10)) {
                begun.go();
            }
        }
        let refusal = named.join().unwrap();
        assert_eq!((refusal.reason(), refusal.row()), (ErrorReason::BadNumber, Some(8)), "{threads} threads");
    }
}

#[test]
fn slices_come_together_in_their_order() {
    let (stage, [client, ..]) = (Stage::new(3), clients());
    let all = stage.ask(client, 0, 0..6);
    let begun: Vec<Begun> = (0..3).map(|_| stage.next()).collect();
    let rows: HashSet<u32> = begun.iter().flat_map(|begun| begun.rows.clone()).collect();
    assert_eq!(rows, (0..6).collect());
    // In reverse order.
    begun.into_iter().rev().for_each(|begun| drop(begun.go()));
    let Output::Plaintexts(plaintexts) = block_on(all).unwrap() else { panic!("no plaintexts") };
    assert_eq!(numbers_of(&plaintexts), [0, 1, 2, 3, 4, 5]);
    let none = stage.ask(client, 0, []);
    assert!(stage.next().go().is_empty());
    assert_eq!(block_on(none).unwrap().rows(), 0);
}

#[test]
fn the_first_wrong_row_is_named_whichever_slice_fails_first() {
    let (stage, [client, ..]) = (Stage::new(2), clients());
    let all = stage.ask(client, 0, [0, WRONG, 2, WRONG + 1, 4, 5, 6, 7]);
    let mut begun = [stage.next(), stage.next()];
    begun.sort_by_key(|begun| begun.rows[0]);
    let [first, second] = begun;
    assert_eq!((&*first.rows, &*second.rows), (&[0, WRONG][..], &[2, WRONG + 1][..]));
    second.go();
    // Rows after an invalid row are no longer needed. Those before it are.
    let other = stage.ask(client, 1, [50]);
    assert_eq!(stage.next().go(), [50]);
    assert!(block_on(other).is_ok());
    first.go();
    let refusal = block_on(all).unwrap_err();
    assert_eq!((refusal.reason(), refusal.row()), (ErrorReason::BadNumber, Some(1)));
}

#[test]
fn rows_of_many_clients_share_a_slice() {
    let (stage, [first, second, third]) = (Stage::with(1, 4, Duration::from_millis(2)), clients());
    let held = stage.ask(first, 0, [0]);
    let begun = stage.next();
    let asked: Vec<_> = [(first, 1), (second, 2), (third, 3), (second, 4)]
        .map(|(client, number)| stage.ask(client, 0, [number]))
        .into_iter()
        .collect();
    begun.go();
    let mut rows = stage.next().go();
    rows.sort_unstable();
    assert_eq!(rows, [1, 2, 3, 4]);
    assert!(block_on(held).is_ok());
    asked.into_iter().for_each(|one| assert_eq!(block_on(one).unwrap().rows(), 1));
}
