//! The log of records in a flash memory (`rtl/election/vote_log.sv`): what was acknowledged is there once, whenever the power fails.

use std::collections::HashMap;

use hearith_rtl::VOTE_LOG;
use hearith_verilated::bench::{Bench, Random, SerialFlash};

const BODY: usize = 5;
const SLOTS: u64 = 32;

// Commands and answers of ballot_pkg.
const FIND: u64 = 0;
const APPEND: u64 = 1;
const FETCH: u64 = 2;
const FORMAT: u64 = 3;
const DONE: u64 = 0;
const KNOWN: u64 = 1;
const ABSENT: u64 = 2;
const FULL: u64 = 3;
const FAULT: u64 = 4;

/// The log over its memory.
struct Log {
    bench: Bench,
    flash: SerialFlash,
}

/// An answer: the code, the identifier or place, the body.
type Answer = (u64, u64, Vec<u64>);

impl Log {
    fn new(seed: u64) -> Self {
        Self { bench: Bench::new(VOTE_LOG.model(), seed), flash: SerialFlash::new(SLOTS as usize * 256, seed) }
    }

    fn step(&mut self) -> Option<Answer> {
        let model = &self.bench.model;
        let level = self.flash.step(model.bit("cs_no"), model.bit("sck_o"), model.bit("copi_o"));
        self.bench.model.set("cipo_i", level);
        let mut answer = None;
        self.bench.step_watching(|model| {
            let body = |at: usize| model.get_u64(&format!("body_o[{}:{}]", 32 * at + 31, 32 * at));
            answer = model
                .bit("done_o")
                .then(|| (model.get_u64("answer_o"), model.get_u64("id_o"), (0..BODY).map(body).collect()));
        });
        answer
    }

    fn wait(&mut self) {
        for _ in 0..200_000 {
            if self.bench.model.bit("command_ready_o") {
                return;
            }
            assert_eq!(self.step(), None);
        }
        panic!("the log is not ready");
    }

    /// Begins a command.
    fn order(&mut self, command: u64, id: u64, body: &[u64]) {
        self.wait();
        self.bench.model.set("command_valid_i", true);
        self.bench.model.set("command_i", command);
        self.bench.model.set("id_i", id);
        for (at, &word) in body.iter().enumerate() {
            self.bench.model.set(&format!("body_i[{}:{}]", 32 * at + 31, 32 * at), word);
        }
        assert_eq!(self.step(), None);
        self.bench.model.set("command_valid_i", false);
    }

    /// The answer to a command.
    fn ask(&mut self, command: u64, id: u64, body: &[u64]) -> Answer {
        self.order(command, id, body);
        (0..400_000).find_map(|_| self.step()).expect("an answer")
    }

    /// The power goes and comes back.
    fn power(&mut self) {
        self.flash.fail();
        self.bench.reset();
    }

    /// The log alone is reset; the memory goes on with what it has begun.
    fn reset(&mut self) {
        self.bench.reset();
    }

    /// All whole records by their identifiers, each of which is there once.
    fn records(&mut self) -> HashMap<u64, Vec<u64>> {
        self.wait();
        let used = self.bench.model.get_u64("used_o");
        let mut records = HashMap::new();
        for place in 0..used {
            let (code, id, body) = self.ask(FETCH, place, &[]);
            if code == DONE {
                assert_eq!(records.insert(id, body), None, "{id} is there twice");
                assert_eq!(self.ask(FIND, id, &[]).0, DONE);
            } else {
                assert_eq!(code, ABSENT);
            }
        }
        assert_eq!(self.ask(FETCH, used, &[]).0, ABSENT);
        records
    }
}

fn body(random: &mut Random) -> Vec<u64> {
    (0..BODY).map(|_| if random.below(6) == 0 { 0xffff_ffff } else { random.next() & 0xffff_ffff }).collect()
}

#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn records_are_kept_and_found() {
    let mut log = Log::new(1);
    let mut random = Random::new(2);
    let mut expected = HashMap::new();
    for id in 0..SLOTS {
        let (id, body) = (id * 0x0707_0707, body(&mut random));
        assert_eq!(log.ask(FIND, id, &[]).0, ABSENT);
        let answer = log.ask(APPEND, id, &body);
        assert_eq!((answer.0, answer.1), (DONE, id / 0x0707_0707));
        // The same again, and another with its identifier: neither is written.
        let programs = log.flash.programs;
        assert_eq!(log.ask(APPEND, id, &body).0, KNOWN);
        assert_eq!(log.ask(APPEND, id, &[0; BODY]).0, KNOWN);
        assert_eq!(log.flash.programs, programs);
        expected.insert(id, body);
    }
    assert_eq!(log.ask(APPEND, 1, &[1; BODY]).0, FULL);
    assert_eq!(log.records(), expected);
    log.power();
    assert_eq!(log.records(), expected);
    assert_eq!(log.ask(APPEND, 1, &[1; BODY]).0, FULL);
    assert_eq!(log.ask(FORMAT, 0, &[]).0, DONE);
    assert!(log.flash.content.iter().all(|&byte| byte == 0xff) && log.records().is_empty());
    assert_eq!(log.ask(APPEND, 0, &[3; BODY]).0, DONE);
    assert_eq!(log.records().len(), 1);
}

/// Appends under a supply that fails at any moment; who was not answered sends the same again.
fn survives(rounds: u64, seed: u64) {
    let mut failures = 0;
    let mut random = Random::new(seed);
    for round in 0..rounds {
        let mut log = Log::new(seed + 1000 * round);
        let (mut acknowledged, mut sent) = (HashMap::new(), HashMap::<u64, Vec<u64>>::new());
        let mut id = 100;
        loop {
            let record = sent.entry(id).or_insert_with(|| body(&mut random)).clone();
            log.order(APPEND, id, &record);
            // An append takes some 6000 cycles.
            let limit = random.below(9000);
            let answer = (0..limit).find_map(|_| log.step());
            match answer {
                Some((DONE | KNOWN, ..)) => {
                    acknowledged.insert(id, record);
                    id += 1;
                }
                Some((FULL, ..)) => break,
                Some(other) => panic!("{other:?}"),
                None => {
                    failures += 1;
                    if random.below(4) == 0 {
                        log.reset()
                    } else {
                        log.power()
                    }
                    // Sometimes again while it reads what is there.
                    let soon = random.below(30_000);
                    if random.below(3) == 0
                        && !(0..soon).any(|_| log.bench.model.bit("command_ready_o") || log.step().is_some())
                    {
                        log.power();
                    }
                }
            }
        }
        let found = log.records();
        for (id, record) in &acknowledged {
            assert_eq!(found.get(id), Some(record), "an acknowledged record");
        }
        assert!(found.iter().all(|(id, record)| sent.get(id) == Some(record)), "nothing that was not sent");
        assert!(found.len() >= 8);
    }
    assert!(failures as u64 > 4 * rounds);
}

#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn no_acknowledged_record_is_lost_when_the_power_fails() {
    survives(4, 11);
}

#[test]
#[ignore = "a long test: some thousand failures of the power"]
fn no_acknowledged_record_is_lost_however_often_the_power_fails() {
    survives(300, 12);
}

#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn a_format_that_is_cut_short_leaves_whole_records_or_none() {
    let mut random = Random::new(21);
    for _ in 0..6 {
        let mut log = Log::new(random.next());
        let records: HashMap<u64, Vec<u64>> = (1..=20).map(|id| (id, body(&mut random))).collect();
        (1..=20).for_each(|id| assert_eq!(log.ask(APPEND, id, &records[&id]).0, DONE));
        log.order(FORMAT, 0, &[]);
        (0..random.below(4000)).for_each(|_| drop(log.step()));
        log.power();
        assert!(log.records().iter().all(|(id, record)| records.get(id) == Some(record)));
        assert_eq!(log.ask(FORMAT, 0, &[]).0, DONE);
        assert!(log.records().is_empty());
    }
}

#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn worn_and_stuck_memories_are_reported() {
    // One bad slot is left out, and three in a row are a fault.
    let mut log = Log::new(31);
    log.flash.worn = Some((1..2, 0x10));
    assert_eq!(log.ask(APPEND, 5, &[0; BODY]).0, DONE);
    let answer = log.ask(APPEND, 6, &[0; BODY]);
    assert_eq!((answer.0, answer.1), (DONE, 2));
    assert_eq!(log.records().len(), 2);
    log.flash.worn = Some((3..9, 0x10));
    assert_eq!(log.ask(APPEND, 7, &[0; BODY]).0, FAULT);
    assert_eq!(log.ask(FIND, 7, &[]).0, ABSENT);
    log.power();
    assert_eq!(log.records().len(), 2);
    log.flash.worn = None;
    assert_eq!(log.ask(APPEND, 7, &[0; BODY]).0, DONE);
    // A memory that stays busy.
    log.flash.stuck = true;
    log.order(APPEND, 8, &[0; BODY]);
    let answer = (0..400_000).find_map(|at| {
        // It can be read again after it was asked for long enough.
        log.flash.stuck = at < 60_000;
        log.step()
    });
    assert_eq!(answer.map(|answer| answer.0), Some(FAULT));
}
