//! The log of records in a flash memory (`rtl/election/vote_log.sv`): an acknowledged record is
//! stored exactly once, whenever the power fails.

use std::collections::HashMap;

use hearith_rtl::{VOTE_LOG, VOTE_LOG_PAGES, VOTE_LOG_SECTORS};
use hearith_verilated::Design;
use hearith_verilated::bench::{Bench, Random, SerialFlash};

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

/// The log with its memory.
struct Log {
    bench: Bench,
    flash: SerialFlash,
    /// Words of a record's body.
    body: usize,
    slots: u64,
}

/// An answer: the code, and the identifier or place.
type Answer = (u64, u64);

impl Log {
    fn new(design: &'static Design, seed: u64) -> Self {
        let [body, slot_log, slots] = ["Body", "SlotLog", "Slots"].map(|name| design.parameter(name));
        let flash = SerialFlash::new((slots as usize) << slot_log, seed);
        Self { bench: Bench::new(design.model(), seed), flash, body: body as usize, slots: slots.into() }
    }

    /// An upper bound of an append's cycles: the record is written and read back, at 48 cycles per
    /// byte.
    fn append_time(&self) -> u64 {
        2 * (4 * self.body as u64 + 40) * 48 + 3000
    }

    /// A random body of a record.
    fn random(&self, random: &mut Random) -> Vec<u64> {
        (0..self.body).map(|_| if random.below(6) == 0 { 0xffff_ffff } else { random.next() & 0xffff_ffff }).collect()
    }

    fn step(&mut self) -> Option<Answer> {
        let model = &self.bench.model;
        let level = self.flash.step(model.bit("cs_no"), model.bit("sck_o"), model.bit("copi_o"));
        self.bench.model.set("cipo_i", level);
        let mut answer = None;
        self.bench.step_watching(|model| {
            answer = model.bit("done_o").then(|| (model.get_u64("answer_o"), model.get_u64("id_o")));
        });
        answer
    }

    fn wait(&mut self) {
        for _ in 0..200_000 + self.slots * self.append_time() {
            if self.bench.model.bit("command_ready_o") {
                return;
            }
            assert_eq!(self.step(), None);
        }
        panic!("the log is not ready");
    }

    /// Starts a command with this body.
    fn order(&mut self, command: u64, id: u64, body: &[u64]) {
        self.wait();
        for (at, &word) in body.iter().enumerate() {
            let inputs = [("word_write_i", 1), ("word_place_i", 1 + at as u64), ("word_i", word)];
            inputs.into_iter().for_each(|(port, value)| self.bench.model.set(port, value));
            assert_eq!(self.step(), None);
        }
        self.bench.model.set("word_write_i", false);
        self.bench.model.set("command_valid_i", true);
        self.bench.model.set("command_i", command);
        self.bench.model.set("id_i", id);
        assert_eq!(self.step(), None);
        self.bench.model.set("command_valid_i", false);
    }

    /// Carries out a command, and returns its answer.
    fn ask(&mut self, command: u64, id: u64, body: &[u64]) -> Answer {
        self.order(command, id, body);
        (0..400_000 + self.append_time()).find_map(|_| self.step()).expect("an answer")
    }

    /// The current body, after this identifier.
    fn in_hand(&mut self, id: u64) -> Vec<u64> {
        self.wait();
        self.bench.model.set("word_read_i", true);
        let places = 0..=self.body;
        let read = |place: usize| {
            self.bench.model.set("read_place_i", place as u64);
            assert_eq!(self.step(), None);
            self.bench.model.get_u64("word_o")
        };
        let words: Vec<u64> = places.map(read).collect();
        self.bench.model.set("word_read_i", false);
        assert_eq!(words[0], id);
        words[1..].to_vec()
    }

    /// Fails and restores the power.
    fn power(&mut self) {
        self.flash.fail();
        self.bench.reset();
    }

    /// Resets only the log; the memory continues its operation.
    fn reset(&mut self) {
        self.bench.reset();
    }

    /// All complete records by their identifiers. Each must occur once.
    fn records(&mut self) -> HashMap<u64, Vec<u64>> {
        // After a fault the log reads the memory again.
        assert_ne!(self.ask(FETCH, 0, &[]).0, FAULT);
        let used = self.bench.model.get_u64("used_o");
        let mut records = HashMap::new();
        for place in 0..used {
            let (code, id) = self.ask(FETCH, place, &[]);
            if code == DONE {
                let body = self.in_hand(id);
                assert_eq!(records.insert(id, body), None, "{id} is there twice");
                assert_eq!(self.ask(FIND, id, &[]).0, DONE);
            } else {
                assert_eq!(code, ABSENT);
            }
        }
        assert_eq!(self.ask(FETCH, used, &[]).0, ABSENT);
        records
    }

    /// Checks that all acknowledged records are there, and none that was not sent. Returns their
    /// number.
    fn keeps(&mut self, acknowledged: &HashMap<u64, Vec<u64>>, sent: &HashMap<u64, Vec<u64>>) -> u64 {
        let found = self.records();
        for (id, record) in acknowledged {
            assert_eq!(found.get(id), Some(record), "an acknowledged record");
        }
        assert!(found.iter().all(|(id, record)| sent.get(id) == Some(record)), "nothing that was not sent");
        found.len() as u64
    }
}

#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn records_are_kept_and_found() {
    for design in [&VOTE_LOG, &VOTE_LOG_PAGES, &VOTE_LOG_SECTORS] {
        keeps_and_finds(Log::new(design, 1));
    }
}

fn keeps_and_finds(mut log: Log) {
    let mut random = Random::new(2);
    let mut expected = HashMap::new();
    let (zeros, ones) = (vec![0; log.body], vec![1; log.body]);
    for id in 0..log.slots {
        let (id, body) = (id * 0x0707_0707, log.random(&mut random));
        assert_eq!(log.ask(FIND, id, &[]).0, ABSENT);
        let answer = log.ask(APPEND, id, &body);
        assert_eq!((answer.0, answer.1), (DONE, id / 0x0707_0707));
        // Neither the same record again nor another with its identifier is written.
        let programs = log.flash.programs;
        assert_eq!(log.ask(APPEND, id, &body).0, KNOWN);
        assert_eq!(log.ask(APPEND, id, &zeros).0, KNOWN);
        assert_eq!(log.flash.programs, programs);
        expected.insert(id, body);
    }
    // One program operation per page.
    let pages = (4 * (log.body as u64 + 2)).div_ceil(256);
    assert_eq!(log.flash.programs, log.slots * pages);
    assert_eq!(log.ask(APPEND, 1, &ones).0, FULL);
    assert_eq!(log.records(), expected);
    log.power();
    assert_eq!(log.records(), expected);
    assert_eq!(log.ask(APPEND, 1, &ones).0, FULL);
    assert_eq!(log.ask(FORMAT, 0, &[]).0, DONE);
    assert!(log.flash.content.iter().all(|&byte| byte == 0xff) && log.records().is_empty());
    assert_eq!(log.ask(APPEND, 0, &ones).0, DONE);
    assert_eq!(log.records().len(), 1);
}

/// The power fails, or the log alone is reset, at some pages of a record with several: during their
/// transfer to the memory, while the memory writes them, and after them.
fn fails_at(design: &'static Design, pages: &[u64]) {
    let mut random = Random::new(41);
    let mut log = Log::new(design, 42);
    let (first, second) = (log.random(&mut random), log.random(&mut random));
    assert_eq!(log.ask(APPEND, 1, &first).0, DONE);
    let content = log.flash.content.clone();
    let busy = log.flash.times[0];
    let mut left = [0; 3];
    for &page in pages {
        // Cycles after the end of the previous page, or of the page itself. The 256 bytes of a page
        // take 12 288 cycles.
        for (programs, after) in
            [(page, 6000), (page + 1, 0), (page + 1, busy / 2), (page + 1, busy - 1), (page + 1, busy + 60)]
        {
            for alone in [false, false, true] {
                let mut log = Log::new(design, random.next());
                log.flash.content.clone_from(&content);
                log.order(APPEND, 2, &second);
                while log.flash.programs < programs {
                    assert_eq!(log.step(), None);
                }
                for _ in 0..after {
                    assert_eq!(log.step(), None, "it is not yet read back");
                }
                if alone {
                    log.reset()
                } else {
                    log.power()
                }
                let found = log.records();
                assert_eq!(found.get(&1), Some(&first), "what was acknowledged");
                assert!(found.get(&2).is_none_or(|body| *body == second));
                // Counts of the cases: nothing was written, something was, or everything was.
                left[if found.len() == 2 { 2 } else { usize::from(log.bench.model.get_u64("used_o") == 2) }] += 1;
                let again = log.ask(APPEND, 2, &second).0;
                assert_eq!(again, if found.len() == 2 { KNOWN } else { DONE });
                let expected: HashMap<_, _> = [(1, first.clone()), (2, second.clone())].into();
                assert_eq!(log.records(), expected);
            }
        }
    }
    assert!(left.iter().all(|&cases| cases > 0), "{left:?}");
}

#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn a_record_of_several_pages_is_whole_or_not_there_at_whatever_page_the_power_fails() {
    fails_at(&VOTE_LOG_PAGES, &[0, 1, 2]);
}

#[test]
#[ignore = "a long test: records of seventeen pages"]
fn a_record_of_two_sectors_is_whole_or_not_there_at_whichever_the_power_fails() {
    // The first page, the last page of the first sector, and the first page of the second sector.
    fails_at(&VOTE_LOG_SECTORS, &[0, 15, 16]);
}

/// Appends while the power fails at any moment. A sender without an answer repeats its record.
fn survives(design: &'static Design, rounds: u64, seed: u64) {
    let (mut failures, mut kept) = (0_u64, 0);
    let mut random = Random::new(seed);
    for round in 0..rounds {
        let mut log = Log::new(design, seed + 1000 * round);
        let time = log.append_time();
        let (mut acknowledged, mut sent) = (HashMap::new(), HashMap::<u64, Vec<u64>>::new());
        let mut id = 100;
        loop {
            let record = sent.entry(id).or_insert_with(|| log.random(&mut random)).clone();
            log.order(APPEND, id, &record);
            let limit = random.below(time * 5 / 4);
            let answer = (0..limit).find_map(|_| log.step());
            match answer {
                Some((DONE | KNOWN, _)) => {
                    acknowledged.insert(id, record);
                    id += 1;
                }
                Some((FULL, _)) => break,
                Some(other) => panic!("{other:?}"),
                None => {
                    failures += 1;
                    if random.below(4) == 0 {
                        log.reset()
                    } else {
                        log.power()
                    }
                    // Sometimes the power fails again while the log reads its content.
                    let soon = random.below(5 * time);
                    if random.below(3) == 0
                        && !(0..soon).any(|_| log.bench.model.bit("command_ready_o") || log.step().is_some())
                    {
                        log.power();
                    }
                }
            }
        }
        kept += log.keeps(&acknowledged, &sent);
    }
    // Both outcomes occur.
    let slots = rounds * u64::from(design.parameter("Slots"));
    assert!(failures > slots / 8 && kept > slots / 8, "{failures} failures, {kept} records");
}

#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn no_acknowledged_record_is_lost_when_the_power_fails() {
    survives(&VOTE_LOG, 4, 11);
    survives(&VOTE_LOG_PAGES, 2, 13);
    survives(&VOTE_LOG_SECTORS, 2, 15);
}

#[test]
#[ignore = "a long test: some thousand failures of the power"]
fn no_acknowledged_record_is_lost_however_often_the_power_fails() {
    survives(&VOTE_LOG, 300, 12);
    survives(&VOTE_LOG_PAGES, 60, 14);
    survives(&VOTE_LOG_SECTORS, 60, 16);
}

#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn a_format_that_is_cut_short_leaves_whole_records_or_none() {
    let mut random = Random::new(21);
    for _ in 0..6 {
        let mut log = Log::new(&VOTE_LOG, random.next());
        let records: HashMap<u64, Vec<u64>> = (1..=20).map(|id| (id, log.random(&mut random))).collect();
        (1..=20).for_each(|id| assert_eq!(log.ask(APPEND, id, &records[&id]).0, DONE));
        log.order(FORMAT, 0, &[]);
        (0..random.below(4000)).for_each(|_| _ = log.step());
        log.power();
        assert!(log.records().iter().all(|(id, record)| records.get(id) == Some(record)));
        assert_eq!(log.ask(FORMAT, 0, &[]).0, DONE);
        assert!(log.records().is_empty());
    }
}

/// No slot that looks empty stays before an acknowledged record, which nothing would find after a
/// reset.
#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn programs_without_effect_leave_no_empty_slot() {
    for (design, ineffective) in [(&VOTE_LOG, 1), (&VOTE_LOG, 2), (&VOTE_LOG, 3), (&VOTE_LOG_PAGES, 3)] {
        let mut log = Log::new(design, 51);
        let mut random = Random::new(52);
        let records: Vec<Vec<u64>> = (0..4).map(|_| log.random(&mut random)).collect();
        assert_eq!(log.ask(APPEND, 100, &records[0]), (DONE, 0));
        log.flash.ineffective = ineffective;
        // A record has three attempts.
        let (code, place) = log.ask(APPEND, 101, &records[1]);
        let pages = (4 * (log.body as u64 + 2)).div_ceil(256);
        assert_eq!((code == DONE, log.flash.ineffective), (ineffective < 3 * pages, 0));
        if code == DONE {
            assert_eq!(place, 1);
        } else {
            assert_eq!((code, log.bench.model.get_u64("used_o")), (FAULT, 1));
            assert_eq!(log.ask(FIND, 101, &[]).0, ABSENT);
            assert_eq!(log.ask(APPEND, 101, &records[1]), (DONE, 1));
        }
        assert_eq!(log.ask(APPEND, 102, &records[2]), (DONE, 2));
        log.reset();
        assert_eq!(log.ask(APPEND, 102, &records[3]).0, KNOWN);
        let expected = [(100, 0), (101, 1), (102, 2)].map(|(id, at)| (id, records[at].clone()));
        assert_eq!(log.records(), HashMap::from(expected));
    }
}

/// The last sector stays busy in its erasure. Its records may be lost, those of the others not.
#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn a_format_that_fails_leaves_the_records_of_other_sectors() {
    let mut log = Log::new(&VOTE_LOG, 61);
    let mut random = Random::new(62);
    let per_sector = 4096 / (log.flash.content.len() as u64 / log.slots);
    let records: HashMap<u64, Vec<u64>> = (0..per_sector + 2).map(|id| (id, log.random(&mut random))).collect();
    (0..per_sector + 2).for_each(|id| assert_eq!(log.ask(APPEND, id, &records[&id]), (DONE, id)));
    log.flash.stuck = true;
    assert_eq!(log.ask(FORMAT, 0, &[]).0, FAULT);
    // As long as the memory is busy, nothing is known.
    assert_eq!(log.ask(FIND, 1, &[]).0, FAULT);
    assert_eq!(log.ask(APPEND, 1, &records[&1]).0, FAULT);
    log.flash.stuck = false;
    assert_eq!(log.ask(APPEND, 1, &records[&1]).0, KNOWN);
    let body = log.random(&mut random);
    assert_eq!(log.ask(APPEND, 1000, &body).0, DONE);
    let mut expected: HashMap<_, _> = records.into_iter().filter(|(id, _)| *id < per_sector).collect();
    expected.insert(1000, body);
    for _ in 0..2 {
        let mut found = log.records();
        found.retain(|id, _| *id < per_sector || *id == 1000);
        assert_eq!(found, expected);
        log.power();
    }
    assert_eq!(log.ask(FORMAT, 0, &[]).0, DONE);
    assert!(log.records().is_empty());
}

/// Programs without effect, a memory that stays busy, and failures of the power, at random: nothing
/// that was acknowledged is lost or stored twice.
#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn no_acknowledged_record_is_lost_in_a_faulty_memory() {
    let mut random = Random::new(71);
    let mut faults = 0;
    for round in 0..20 {
        let mut log = Log::new(&VOTE_LOG, 72 + round);
        let (mut acknowledged, mut sent) = (HashMap::new(), HashMap::<u64, Vec<u64>>::new());
        for id in 0..log.slots / 3 {
            let record = sent.entry(id).or_insert_with(|| log.random(&mut random)).clone();
            match random.below(6) {
                0 => log.flash.ineffective = 1 + random.below(4),
                1 => log.flash.stuck = true,
                2 => log.power(),
                _ => (),
            }
            // A sender repeats its record after a fault, twice at most.
            for _ in 0..3 {
                // A memory that is stuck cannot be read after a reset.
                if !log.bench.model.bit("command_ready_o") {
                    log.flash.stuck = false;
                }
                match log.ask(APPEND, id, &record).0 {
                    DONE | KNOWN => {
                        acknowledged.insert(id, record);
                        break;
                    }
                    other => assert_eq!(other, FAULT),
                }
                faults += 1;
                log.flash.stuck = log.flash.stuck && random.below(2) == 0;
            }
        }
        (log.flash.stuck, log.flash.ineffective) = (false, 0);
        for _ in 0..2 {
            log.keeps(&acknowledged, &sent);
            log.power();
        }
    }
    assert!(faults > 40, "{faults} faults");
}

#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn worn_and_stuck_memories_are_reported() {
    // One bad slot is skipped, and three in a row are a fault.
    let mut log = Log::new(&VOTE_LOG, 31);
    let zeros = vec![0; log.body];
    log.flash.worn = Some((1..2, 0x10));
    assert_eq!(log.ask(APPEND, 5, &zeros).0, DONE);
    let answer = log.ask(APPEND, 6, &zeros);
    assert_eq!((answer.0, answer.1), (DONE, 2));
    assert_eq!(log.records().len(), 2);
    log.flash.worn = Some((3..9, 0x10));
    assert_eq!(log.ask(APPEND, 7, &zeros).0, FAULT);
    assert_eq!(log.ask(FIND, 7, &[]).0, ABSENT);
    log.power();
    assert_eq!(log.records().len(), 2);
    log.flash.worn = None;
    assert_eq!(log.ask(APPEND, 7, &zeros).0, DONE);
    // A bad page in the middle of a record also makes its slot bad.
    let mut pages = Log::new(&VOTE_LOG_PAGES, 32);
    pages.flash.worn = Some((1..2, 0x10));
    let answer = pages.ask(APPEND, 5, &vec![0; pages.body]);
    assert_eq!((answer.0, answer.1, pages.records().len()), (DONE, 1, 1));
    // A memory that stays busy.
    log.flash.stuck = true;
    log.order(APPEND, 8, &zeros);
    let answer = (0..400_000).find_map(|at| {
        // The memory recovers after it was polled for long enough.
        log.flash.stuck = at < 60_000;
        log.step()
    });
    assert_eq!(answer.map(|answer| answer.0), Some(FAULT));
}
