//! The port to an external memory: words are transferred like those of a model in Rust, at the
//! memory's pace, and faults of the memory are noticed.

use hearith_rtl::{MEMORY_PORT_32X2, MEMORY_PORT_64X16, MEMORY_PORT_512X8};
use hearith_verilated::Design;
use hearith_verilated::bench::{
    AxiMemory, Bench, Lie, MemorySettings, Pressure, Random, Response, Rows, Sink, Source, Transfer,
};

const PRESSURES: [Pressure; 4] = [Pressure::None, Pressure::Random(150), Pressure::Random(40), Pressure::AfterValid];

/// Words of the memories.
const WORDS: usize = 1 << 12;
/// Cycles after which the ports report a memory as silent.
const TIMEOUT: u64 = 300;

// The faults of axi4_pkg, and the bit that marks a write.
const SILENT: u64 = 1;
const REFUSED: u64 = 2;
const NOWHERE: u64 = 3;
const MISPLACED: u64 = 4;
const UNASKED: u64 = 5;
const WRITE: u64 = 8;

/// A port between a client and a memory.
struct Port {
    bench: Bench,
    memory: AxiMemory,
    bytes: usize,
    read_requests: Source,
    words_read: Sink,
    write_requests: Source,
    words_written: Source,
    /// Cycles with `wr_done_o`.
    done: u64,
}

impl Port {
    fn new(design: &'static Design, seed: u64, settings: MemorySettings) -> Self {
        let mut bench = Bench::new(design.model(), seed);
        let bytes = bench.model.width("rd_data_o") as usize / 8;
        let memory = bench.axi_memory("m_axi_", 0, WORDS * bytes, settings);
        let read_requests = bench.source("rd_req_valid_i", "rd_req_ready_o", &["rd_req_addr_i", "rd_req_count_i"]);
        let words_read = bench.sink("rd_valid_o", "rd_ready_i", &["rd_data_o", "rd_last_o"]);
        let write_requests = bench.source("wr_req_valid_i", "wr_req_ready_o", &["wr_req_addr_i", "wr_req_count_i"]);
        let words_written = bench.source("wr_valid_i", "wr_ready_o", &["wr_data_i"]);
        let mut content = Random::new(seed);
        bench.content_mut(memory).iter_mut().for_each(|byte| *byte = content.next() as u8);
        let mut port = Self { bench, memory, bytes, read_requests, words_read, write_requests, words_written, done: 0 };
        // The buffers for words are wiped after a reset.
        port.idle(200);
        port
    }

    fn step(&mut self) {
        let mut done = false;
        self.bench.step_watching(|model| done = model.bit("wr_done_o"));
        self.done += u64::from(done);
    }

    fn idle(&mut self, cycles: u64) {
        (0..cycles).for_each(|_| self.step());
    }

    fn run_until(&mut self, limit: u64, condition: impl Fn(&Self) -> bool) {
        let end = self.bench.cycle() + limit;
        while !condition(self) {
            assert!(self.bench.cycle() < end, "not within {limit} cycles");
            self.step();
        }
    }

    fn read(&mut self, address: u64, count: u64) {
        self.bench.push(self.read_requests, &[&[address], &[count]]);
    }

    fn write(&mut self, address: u64, words: &[Vec<u64>]) {
        self.bench.push(self.write_requests, &[&[address], &[words.len() as u64]]);
        words.iter().for_each(|word| self.bench.push(self.words_written, &[word]));
    }

    /// A word of the memory.
    fn word(&self, address: u64) -> Vec<u64> {
        let bytes = &self.bench.content(self.memory)[address as usize * self.bytes..][..self.bytes];
        bytes.chunks(8).map(|limb| limb.iter().rev().fold(0, |value, &byte| value << 8 | u64::from(byte))).collect()
    }

    fn words(&self, address: u64, count: u64) -> Vec<Vec<u64>> {
        (address..address + count).map(|address| self.word(address)).collect()
    }

    fn random_words(&self, random: &mut Random, count: u64) -> Vec<Vec<u64>> {
        (0..count).map(|_| random.bits(8 * self.bytes)).collect()
    }

    fn received(&self) -> &[Transfer] {
        self.bench.received(self.words_read)
    }

    fn set_pressure(&mut self, round: usize) {
        let at = |shift: usize| PRESSURES[(round + shift) % PRESSURES.len()];
        self.bench.set_memory_pressure(self.memory, at(0));
        for (source, shift) in [(self.read_requests, 1), (self.write_requests, 2), (self.words_written, 3)] {
            self.bench.set_source_pressure(source, at(shift));
        }
        self.bench.set_sink_pressure(self.words_read, at(round / 2));
    }

    fn error(&self) -> u64 {
        self.bench.model.get_u64("error_o")
    }

    /// Pulses `clear_i`, and waits until the port is idle and its buffers are wiped.
    fn clear(&mut self) {
        self.bench.model.set("clear_i", true);
        self.step();
        self.bench.model.set("clear_i", false);
        self.bench.excuse(self.words_read);
        self.step();
        self.run_until(2000, |port| port.bench.model.bit("idle_o"));
        self.idle(200);
    }
}

/// Reads and writes of all lengths, in different halves of the memory, under every pressure on
/// every port.
#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn words_come_and_go_in_order() {
    for design in [&MEMORY_PORT_32X2, &MEMORY_PORT_64X16, &MEMORY_PORT_512X8] {
        for (round, rows) in
            [None, None, Some(Rows::DDR4), Some(Rows { bytes: 256, banks: 2, ..Rows::DDR4 })].iter().enumerate()
        {
            let settings = MemorySettings { latency: 1 + 7 * round as u64, rows: *rows, ..Default::default() };
            let mut port = Port::new(design, round as u64, settings);
            port.set_pressure(round);
            let mut random = Random::new(round as u64);
            let half = WORDS as u64 / 2;
            let (mut expected, mut written, mut requests) = (Vec::new(), Vec::new(), 0);
            while requests < 40 {
                let longest = [3, 40, 200][random.below(3) as usize];
                let count = 1 + random.below(longest);
                let address = random.below(half - count);
                port.read(address, count);
                expected.extend(
                    port.words(address, count)
                        .into_iter()
                        .enumerate()
                        .map(|(at, word)| vec![word, vec![u64::from(at as u64 + 1 == count)]]),
                );
                let words = port.random_words(&mut random, count);
                port.write(half + address, &words);
                written.push((half + address, words));
                requests += 1;
            }
            let total = expected.len();
            port.run_until(200_000, |port| port.received().len() == total && port.done == requests);
            assert!(port.received().iter().map(|transfer| &transfer.fields).eq(&expected));
            // Where writes overlap, the later one counts.
            let mut last = std::collections::BTreeMap::new();
            for (address, words) in written {
                last.extend((address..).zip(words));
            }
            assert!(last.iter().all(|(&address, word)| port.word(address) == *word));
            assert_eq!((port.error(), port.bench.model.bit("idle_o")), (0, true));
        }
    }
}

/// A request's cycles, from the edge that accepts it to the last word, and to the report that
/// everything is written.
#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn cycles_are_as_said() {
    for latency in [1, 2, 9, 40] {
        for count in [1, 15, 16, 17, 64] {
            let mut port = Port::new(&MEMORY_PORT_64X16, 1, MemorySettings { latency, ..Default::default() });
            port.read(32, count);
            port.run_until(1000, |port| port.received().len() == count as usize);
            let from = port.bench.taken(port.read_requests)[0];
            // 2 to the address, the latency to its first beat, the other beats, 2 to the client.
            assert_eq!(port.received().last().unwrap().cycle - from, 2 + latency + (count - 1) + 2, "read {count}");

            let mut port = Port::new(&MEMORY_PORT_64X16, 1, MemorySettings { latency, ..Default::default() });
            port.write(32, &vec![vec![7]; count as usize]);
            port.run_until(1000, |port| port.done == 1);
            let cycles = port.bench.cycle() - 1 - port.bench.taken(port.write_requests)[0];
            // The words of the first burst are collected, then a word per cycle is sent.
            assert_eq!(cycles, count.min(16) + count + latency + 3, "write {count} at latency {latency}");
        }
    }
}

/// Long reads and writes use the full bandwidth of a memory with banks, rows and refreshes; the
/// third case has rows as short as a burst.
#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn the_bandwidth_of_the_memory_is_used() {
    let short_rows = Rows { bytes: 128, ..Rows::DDR4 };
    for (interval, latency, rows) in
        [(1, 20, Rows::DDR4), (1, 60, Rows::DDR4), (1, 30, short_rows), (2, 40, Rows::DDR4)]
    {
        let settings = MemorySettings { interval, latency, rows: Some(rows), ..Default::default() };
        let mut port = Port::new(&MEMORY_PORT_64X16, 3, settings);
        let most = rows.bandwidth() / interval as f64;
        let count = 4000;
        port.read(0, count);
        port.run_until(20_000, |port| port.received().len() == count as usize);
        let first = port.bench.taken(port.read_requests)[0];
        let read = count as f64 / (port.received().last().unwrap().cycle - first) as f64;
        port.write(0, &vec![vec![5]; count as usize]);
        let start = port.bench.cycle();
        port.run_until(20_000, |port| port.done == 1);
        let written = count as f64 / (port.bench.cycle() - start) as f64;
        println!(
            "every {interval}, latency {latency}, rows of {}: {read:.3} and {written:.3} words a cycle of {most:.3}",
            rows.bytes
        );
        assert!(read >= 0.95 * most && written >= 0.95 * most, "{read} and {written} of {most}");
    }
}

/// With a single bank, every burst opens a row, and the misses accumulate.
#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn misses_cost_what_they_should() {
    let rows = Rows { bytes: 128, banks: 1, miss: 50, refresh_every: 1 << 30, refresh: 0 };
    let settings = MemorySettings { latency: 5, rows: Some(rows), ..Default::default() };
    let mut port = Port::new(&MEMORY_PORT_64X16, 3, settings);
    port.read(0, 1600);
    port.run_until(20_000, |port| port.received().len() == 1600);
    let cycles = port.received().last().unwrap().cycle - port.bench.taken(port.read_requests)[0];
    // A hundred rows with a burst each: the misses in sequence, then the last burst's words.
    assert_eq!(cycles, 2 + 100 * 50 + 5 + 15 + 2);
}

/// Every fault has its code, which stays. Later words are not passed on. If the protocol was kept,
/// the port works again after a clear.
#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn what_is_wrong_with_a_memory_is_noticed() {
    let cases = [
        (Some(Lie::SilentReads), None, SILENT, false),
        (Some(Lie::SilentWrites), None, SILENT | WRITE, false),
        (Some(Lie::Deaf), None, SILENT, false),
        (Some(Lie::LastEarly), None, MISPLACED, true),
        (Some(Lie::LastMissing), None, MISPLACED, true),
        (Some(Lie::StrayBeat), None, UNASKED, true),
        (Some(Lie::StrayResponse), None, UNASKED | WRITE, true),
        (Some(Lie::WrongId), None, UNASKED, true),
        (None, Some((40, Response::SubordinateError)), REFUSED, false),
        (None, Some((40, Response::DecodeError)), NOWHERE, false),
        (None, Some((1040, Response::SubordinateError)), REFUSED | WRITE, false),
        (None, Some((1040, Response::DecodeError)), NOWHERE | WRITE, false),
    ];
    for (lie, fault, code, for_good) in cases {
        let mut port = Port::new(&MEMORY_PORT_64X16, 5, MemorySettings { latency: 6, ..Default::default() });
        port.read(0, 8);
        port.write(1000, &vec![vec![1]; 8]);
        port.run_until(1000, |port| port.received().len() == 8 && port.done == 1);
        assert_eq!(port.error(), 0);

        port.bench.set_memory_lie(port.memory, lie);
        if let Some((word, response)) = fault {
            port.bench.set_memory_fault(port.memory, 8 * word..8 * (word + 1), response);
        }
        let before = port.words(0, 100);
        port.read(0, 100);
        let hears = !matches!(lie, Some(Lie::LastEarly | Lie::LastMissing | Lie::WrongId));
        if hears {
            port.write(1000, &vec![vec![2]; 100]);
        }
        let start = port.bench.cycle();
        port.run_until(2 * TIMEOUT, |port| port.error() != 0);
        // If two sides fail at once, either may be reported first.
        assert_eq!(port.error() & 7, code & 7, "{lie:?} {fault:?}");
        assert!(lie == Some(Lie::Deaf) || port.error() == code, "{lie:?} {fault:?}: {}", port.error());
        if code & 7 == SILENT {
            assert!((TIMEOUT..TIMEOUT + 130).contains(&(port.bench.cycle() - start)));
        }
        // All words passed on were right, and none follows once the buffers are empty.
        port.idle(400);
        let passed = port.received().len();
        assert!(passed < 108 || code & WRITE != 0 || lie == Some(Lie::StrayBeat), "{lie:?}: {passed}");
        assert!(port.received()[8..].iter().zip(&before).all(|(transfer, word)| transfer.fields[0] == *word));
        assert_eq!((port.error() & 7, port.done <= 2), (code & 7, true));
        let refused = port.bench.queued(port.read_requests);
        port.read(0, 4);
        port.idle(400);
        let stays = if code & WRITE != 0 { passed + 4 } else { passed };
        assert_eq!(port.received().len(), if refused == 0 { stays } else { passed }, "{lie:?} {fault:?}");

        if for_good {
            port.bench.model.set("clear_i", true);
            port.step();
            port.bench.model.set("clear_i", false);
            port.bench.excuse(port.words_read);
            port.idle(500);
            assert_eq!(port.error() & 7, code & 7, "{lie:?} stays until a reset");
        }
        // The port works again after a reset including the memory, or after a clear if the protocol
        // was kept.
        port.bench.set_memory_lie(port.memory, None);
        let from = match for_good || lie == Some(Lie::Deaf) || lie.is_some() {
            true => {
                port.bench.reset();
                port.done = 0;
                port.idle(200);
                0
            }
            false => {
                port.clear();
                port.received().len()
            }
        };
        assert_eq!(port.error(), 0, "{lie:?} {fault:?}");
        let (done, expected) = (port.done, port.words(200, 20));
        port.read(200, 20);
        port.write(1500, &expected);
        port.run_until(1000, |port| port.received().len() == from + 20 && port.done == done + 1);
        assert!(port.received()[from..].iter().map(|transfer| &transfer.fields[0]).eq(&expected));
        assert_eq!(port.words(1500, 20), expected);
    }
}

/// A late memory within the timeout is waited for.
#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn a_late_memory_is_waited_for() {
    let mut port = Port::new(&MEMORY_PORT_64X16, 6, MemorySettings { latency: TIMEOUT - 10, ..Default::default() });
    port.read(0, 40);
    port.write(1000, &vec![vec![3]; 40]);
    port.run_until(5000, |port| port.received().len() == 40 && port.done == 1);
    assert_eq!(port.error(), 0);
}

/// A clear in the middle leaves nothing behind: no word is output, none is written, and later
/// requests are right.
#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn clearing_forgets_what_is_under_way() {
    for after in (0..90).step_by(3) {
        let mut port = Port::new(&MEMORY_PORT_64X16, after, MemorySettings { latency: 12, ..Default::default() });
        port.set_pressure(after as usize);
        port.bench.set_source_pressure(port.words_written, Pressure::None);
        port.read(0, 300);
        port.write(1000, &vec![vec![9]; 300]);
        port.idle(after);
        let written = port.words(1000, 300).iter().filter(|word| word[0] == 9).count();
        // The client is cleared too.
        for source in [port.read_requests, port.write_requests, port.words_written] {
            port.bench.forget(source);
        }
        let done = port.done;
        port.clear();
        let kept = port.words(1000, 300).iter().filter(|word| word[0] == 9).count();
        // The beat on offer, and the one being accepted.
        assert!(kept <= written + 2, "{written} words became {kept}");
        let passed = port.received().len();
        port.idle(200);
        assert_eq!((port.error(), port.done, port.received().len()), (0, done, passed));
        let expected = port.words(500, 33);
        port.read(500, 33);
        port.write(2000, &expected);
        port.run_until(5000, |port| port.received().len() == passed + 33 && port.done == done + 1);
        assert!(port.received()[passed..].iter().map(|transfer| &transfer.fields[0]).eq(&expected));
        assert_eq!(port.words(2000, 33), expected);
    }
}
