//! A memory for a design that is an AXI4 manager.
//!
//! Supported bursts are INCR of 1 to 256 beats and WRAP of 2, 4, 8 and 16, including narrow and
//! unaligned ones. Bursts are carried out in the order of their addresses. FIXED bursts, which are
//! for FIFOs, fail the test. So do violations by the manager:
//!
//! - a burst that crosses a 4 KiB boundary
//! - a wrapping burst of another length, or an unaligned one
//! - beats wider than the bus
//! - `wlast` too early or too late
//! - strobes outside the bytes of a beat
//!
//! Data may arrive before its address. Reads and writes do not wait for each other.
//!
//! Errors occur by address ([`Bench::set_memory_fault`]) or at random
//! ([`MemorySettings::failing`]). Addresses beyond the memory cause DECERR. With an error, read
//! data is random, and written data is dropped.
//!
//! [`Rows`] adds the delays of banks, rows and refreshes. [`Lie`] breaks the protocol.

use std::collections::VecDeque;
use std::ops::Range;

use super::{Bench, Pressure, Random, Response, Sink, Source, Streams};

/// A memory, and its channels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AxiMemory {
    /// AW.
    pub write_address: Sink,
    /// W.
    pub write_data: Sink,
    /// B.
    pub write_response: Source,
    /// AR.
    pub read_address: Sink,
    /// R.
    pub read_data: Source,
    index: usize,
}

/// The behaviour of a memory. Random stalls come from the pressures of its channels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemorySettings {
    /// Least number of cycles from a read's address to its first beat, and from a write's last beat
    /// to its response; 1 or more.
    pub latency: u64,
    /// Least number of cycles from one beat to the next, in each direction; 1 or more.
    pub interval: u64,
    /// Number of bursts per direction that are accepted before the first is answered; 1 or more.
    pub outstanding: usize,
    /// Number of bursts out of 256, at random, in which every beat fails with SLVERR.
    pub failing: u8,
    /// Banks and rows, if it has any.
    pub rows: Option<Rows>,
}

impl Default for MemorySettings {
    /// The fastest memory: latency 1, a beat per cycle, 16 outstanding bursts, no failures, no
    /// rows.
    fn default() -> Self {
        Self { latency: 1, interval: 1, outstanding: 16, failing: 0, rows: None }
    }
}

/// Delays of dynamic memory, in cycles of the bus. Successive rows are in different banks, so that
/// a bank can open its next row while others are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rows {
    /// Bytes of a row.
    pub bytes: u64,
    /// Banks, each with one open row.
    pub banks: usize,
    /// Cycles to close a row and open another: the cost of a miss in addition to the latency.
    pub miss: u64,
    /// Cycles from one refresh to the next. A refresh closes all rows.
    pub refresh_every: u64,
    /// Cycles of a refresh, during which no data is transferred.
    pub refresh: u64,
}

impl Rows {
    /// DDR4-2400 behind a controller, seen from a bus at 200 MHz: 16 banks with rows of 8 KiB, 32
    /// ns from one row to another of the same bank, and a refresh of 350 ns every 7.8 us.
    pub const DDR4: Self = Self { bytes: 8192, banks: 16, miss: 7, refresh_every: 1560, refresh: 70 };

    /// The fraction of time without refreshes: an upper bound of the usable bandwidth.
    pub fn bandwidth(&self) -> f64 {
        1.0 - self.refresh as f64 / self.refresh_every as f64
    }

    /// Whether the cycle belongs to a refresh.
    fn refreshes(&self, cycle: u64) -> bool {
        cycle % self.refresh_every >= self.refresh_every - self.refresh
    }
}

/// A permanent violation of the protocol by a memory ([`Bench::set_memory_lie`]).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lie {
    /// Reads are accepted and never answered.
    SilentReads,
    /// Writes are accepted and never answered.
    SilentWrites,
    /// Nothing is accepted.
    Deaf,
    /// The beat before the last of a burst is marked as the last.
    LastEarly,
    /// The last beat is not marked as the last.
    LastMissing,
    /// An unsolicited beat.
    StrayBeat,
    /// An unsolicited response.
    StrayResponse,
    /// Answers have a wrong identifier, if there are identifiers.
    WrongId,
}

/// Counts of a memory. Bytes count only if they were really transferred: strobed, and without an
/// error.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MemoryCounts {
    /// Bursts read completely.
    pub read_bursts: u64,
    /// Beats read.
    pub read_beats: u64,
    /// Bytes read.
    pub read_bytes: u64,
    /// Bursts written and answered.
    pub write_bursts: u64,
    /// Beats written.
    pub write_beats: u64,
    /// Bytes written.
    pub write_bytes: u64,
    /// Bursts with an error.
    pub failed: u64,
}

/// The state of a memory.
#[derive(Debug)]
pub(super) struct Memory {
    bus: AxiMemory,
    name: String,
    /// Bytes of a beat.
    width: u64,
    ids: bool,
    settings: MemorySettings,
    base: u64,
    content: Vec<u8>,
    faults: Vec<(Range<u64>, Response)>,
    lie: Option<Lie>,
    /// For each bank, its open row and the cycle from which it can open another.
    banks: Vec<(Option<u64>, u64)>,
    counts: MemoryCounts,
    writes: VecDeque<Burst>,
    /// Accepted beats: data, strobes, last.
    beats: VecDeque<(Vec<u64>, Vec<u64>, bool)>,
    /// Responses of writes: earliest cycle, id, response.
    responses: VecDeque<(u64, u64, Response)>,
    reads: VecDeque<Burst>,
    /// The earliest cycle for the next beat, read or written.
    read_from: u64,
    write_from: u64,
}

/// A burst in progress.
#[derive(Debug)]
struct Burst {
    id: u64,
    address: u64,
    beats: u64,
    /// Bytes of a beat.
    size: u64,
    wraps: bool,
    /// The number of the next beat.
    at: u64,
    /// The first cycle in which the burst may be answered.
    due: u64,
    /// Whether the burst fails at random.
    fails: bool,
    worst: Response,
}

impl Burst {
    /// The addresses of the next beat, from its first byte to the end of the beat.
    fn beat(&self) -> Range<u64> {
        let aligned = self.address / self.size * self.size;
        let start = match (self.at, self.wraps) {
            (0, _) => self.address,
            (at, false) => aligned + at * self.size,
            (at, true) => {
                let total = self.beats * self.size;
                let lower = self.address / total * total;
                lower + (self.address - lower + at * self.size) % total
            }
        };
        start..start / self.size * self.size + self.size
    }

    fn worsen(&mut self, response: Response) {
        self.worst = if response.code() > self.worst.code() { response } else { self.worst };
    }
}

impl Bench {
    /// Adds a memory of `bytes` zero bytes from address `base` on.
    ///
    /// The ports are named by the prefix plus `awvalid` and so on, each with or without `_i` and
    /// `_o`. The ids, and `lock`, `cache`, `prot`, `qos` and `region`, are optional.
    ///
    /// # Panics
    /// If the latency, the interval or `outstanding` is 0.
    pub fn axi_memory(&mut self, prefix: &str, base: u64, bytes: usize, settings: MemorySettings) -> AxiMemory {
        assert!(settings.latency > 0 && settings.interval > 0 && settings.outstanding > 0, "{settings:?}");
        let design = self.model.design();
        let name = |name: &str| design.bus_port(prefix, name).name;
        let optional = |name: &str| design.find_bus_port(prefix, name).map(|port| port.name);
        let ids = optional("awid").is_some();
        // The id comes last of the fields that are used. The unused fields of the manager follow
        // it.
        let address = |channel: &str| {
            let fields = ["addr", "len", "size", "burst"].map(|field| name(&format!("{channel}{field}")));
            let others =
                ["id", "lock", "cache", "prot", "qos", "region"].map(|field| optional(&format!("{channel}{field}")));
            fields.into_iter().chain(others.into_iter().flatten()).collect::<Vec<_>>()
        };
        let answer = |fields: &[&'static str], id: &str| fields.iter().copied().chain(optional(id)).collect::<Vec<_>>();
        let (write_addresses, read_addresses) = (address("aw"), address("ar"));
        let written = answer(&[name("bresp")], "bid");
        let read = answer(&[name("rdata"), name("rresp"), name("rlast")], "rid");
        let bus = AxiMemory {
            write_address: self.sink(name("awvalid"), name("awready"), &write_addresses),
            write_data: self.sink(name("wvalid"), name("wready"), &[name("wdata"), name("wstrb"), name("wlast")]),
            write_response: self.source(name("bvalid"), name("bready"), &written),
            read_address: self.sink(name("arvalid"), name("arready"), &read_addresses),
            read_data: self.source(name("rvalid"), name("rready"), &read),
            index: self.memories.len(),
        };
        self.memories.push(Memory {
            bus,
            name: prefix.into(),
            width: u64::from(design.bus_port(prefix, "wdata").width) / 8,
            ids,
            settings,
            base,
            content: vec![0; bytes],
            faults: Vec::new(),
            lie: None,
            banks: vec![(None, 0); settings.rows.map_or(0, |rows| rows.banks)],
            counts: MemoryCounts::default(),
            writes: VecDeque::new(),
            beats: VecDeque::new(),
            responses: VecDeque::new(),
            reads: VecDeque::new(),
            read_from: 0,
            write_from: 0,
        });
        bus
    }

    /// Puts all channels of a memory under the same pressure.
    pub fn set_memory_pressure(&mut self, memory: AxiMemory, pressure: Pressure) {
        for sink in [memory.write_address, memory.write_data, memory.read_address] {
            self.set_sink_pressure(sink, pressure);
        }
        for source in [memory.write_response, memory.read_data] {
            self.set_source_pressure(source, pressure);
        }
    }

    /// Makes beats at these addresses fail.
    pub fn set_memory_fault(&mut self, memory: AxiMemory, addresses: Range<u64>, response: Response) {
        self.memories[memory.index].faults.push((addresses, response));
    }

    /// Makes a memory break the protocol from now on, or stop doing so.
    pub fn set_memory_lie(&mut self, memory: AxiMemory, lie: Option<Lie>) {
        self.memories[memory.index].lie = lie;
    }

    /// The content, from the memory's first address on.
    pub fn content(&self, memory: AxiMemory) -> &[u8] {
        &self.memories[memory.index].content
    }

    /// The mutable content, for changes that the design does not see.
    pub fn content_mut(&mut self, memory: AxiMemory) -> &mut [u8] {
        &mut self.memories[memory.index].content
    }

    /// The memory's counts.
    pub fn memory_counts(&self, memory: AxiMemory) -> MemoryCounts {
        self.memories[memory.index].counts
    }

    /// Whether nothing is in progress: every accepted burst was answered, and the design accepted
    /// the answers.
    pub fn memory_is_idle(&self, memory: AxiMemory) -> bool {
        let state = &self.memories[memory.index];
        let queued = self.queued(memory.write_response) + self.queued(memory.read_data);
        queued == 0
            && state.writes.is_empty()
            && state.beats.is_empty()
            && state.responses.is_empty()
            && state.reads.is_empty()
    }
}

impl Memory {
    pub fn reset(&mut self) {
        self.writes.clear();
        self.beats.clear();
        self.responses.clear();
        self.reads.clear();
    }

    /// Processes the transfers of this cycle, and continues the bursts that are due.
    pub fn act(&mut self, streams: &mut Streams, random: &mut Random, cycle: u64) {
        self.take(streams, random, cycle);
        let refreshes = self.refresh(cycle);
        self.write(cycle);
        self.respond(streams, cycle);
        if !refreshes && self.lie != Some(Lie::SilentReads) {
            self.read(streams, random, cycle);
        }
        self.stray(streams);
        let outstanding = self.settings.outstanding;
        let answers = streams.source(self.bus.write_response).queue.len();
        let hears = self.lie != Some(Lie::Deaf);
        streams.sink(self.bus.write_address).open =
            hears && self.writes.len() + self.responses.len() + answers < outstanding;
        streams.sink(self.bus.write_data).open = hears && !refreshes && cycle + 1 >= self.write_from;
        streams.sink(self.bus.read_address).open = hears && self.reads.len() < outstanding;
    }

    /// Whether the memory is in a refresh, which closes its rows.
    fn refresh(&mut self, cycle: u64) -> bool {
        let refreshes = self.settings.rows.is_some_and(|rows| rows.refreshes(cycle + 1));
        if refreshes {
            self.banks.fill((None, 0));
        }
        refreshes
    }

    /// The cycle in which the row of an address is open, for a burst that arrives now.
    fn row_open(&mut self, address: u64, cycle: u64) -> u64 {
        let Some(rows) = self.settings.rows else { return cycle };
        let row = address / rows.bytes;
        let (open, ready) = &mut self.banks[(row % rows.banks as u64) as usize];
        if *open != Some(row) {
            (*open, *ready) = (Some(row), cycle.max(*ready) + rows.miss);
        }
        cycle.max(*ready)
    }

    /// Sends the unsolicited beat or response, once nothing else is in progress.
    fn stray(&mut self, streams: &mut Streams) {
        let width = vec![0; self.width.div_ceil(8) as usize];
        let (source, fields): (_, &[&[u64]]) = match self.lie {
            Some(Lie::StrayBeat) if self.reads.is_empty() => (self.bus.read_data, &[&width, &[0], &[1], &[0]]),
            Some(Lie::StrayResponse) if self.writes.is_empty() => (self.bus.write_response, &[&[0], &[0]]),
            _ => return,
        };
        let source = streams.source(source);
        if source.queue.is_empty() {
            source.push(&fields[..source.fields()]);
            self.lie = None;
        }
    }

    /// The identifier of an answer.
    fn id(&self, burst: u64) -> u64 {
        burst ^ u64::from(self.lie == Some(Lie::WrongId))
    }

    fn take(&mut self, streams: &mut Streams, random: &mut Random, cycle: u64) {
        for transfer in std::mem::take(&mut streams.sink(self.bus.write_address).received) {
            let burst = self.burst(&transfer.fields, random, cycle);
            self.writes.push_back(burst);
        }
        for transfer in std::mem::take(&mut streams.sink(self.bus.read_address).received) {
            let burst = self.burst(&transfer.fields, random, cycle);
            self.reads.push_back(burst);
        }
        for transfer in std::mem::take(&mut streams.sink(self.bus.write_data).received) {
            let [data, strobes, last] = <[Vec<u64>; 3]>::try_from(transfer.fields).expect("three fields");
            self.beats.push_back((data, strobes, last == [1]));
            self.write_from = cycle + self.settings.interval;
        }
    }

    /// Checks a burst's address against the rules, and creates the burst.
    fn burst(&mut self, fields: &[Vec<u64>], random: &mut Random, cycle: u64) -> Burst {
        let (address, beats, size, kind) = (fields[0][0], fields[1][0] + 1, 1 << fields[2][0], fields[3][0]);
        let place = format!("{} in cycle {cycle}: a burst of {beats} beats of {size} bytes at {address:#x}", self.name);
        assert!(size <= self.width, "{place}, on a bus of {} bytes", self.width);
        assert!(kind == 1 || kind == 2, "{place} of kind {kind}, which is neither INCR nor WRAP");
        let wraps = kind == 2;
        if wraps {
            assert!([2, 4, 8, 16].contains(&beats), "{place} cannot wrap");
            assert!(address.is_multiple_of(size), "{place} wraps and is not aligned");
        } else {
            let last = address / size * size + beats * size - 1;
            assert!(address / 4096 == last / 4096, "{place} crosses a boundary of 4 KiB");
        }
        let fails = random.next() % 256 < self.settings.failing.into();
        let id = if self.ids { fields[4][0] } else { 0 };
        let due = self.row_open(address, cycle) + self.settings.latency;
        Burst { id, address, beats, size, wraps, at: 0, due, fails, worst: Response::Okay }
    }

    /// The response to an access at these addresses.
    fn response(&self, burst: &Burst, addresses: &Range<u64>) -> Response {
        if addresses.start < self.base || addresses.end > self.base + self.content.len() as u64 {
            return Response::DecodeError;
        }
        let meets = |range: &Range<u64>| range.start < addresses.end && addresses.start < range.end;
        let fault = self.faults.iter().find(|(range, _)| meets(range)).map(|(_, response)| *response);
        fault.unwrap_or(if burst.fails { Response::SubordinateError } else { Response::Okay })
    }

    /// Carries out the beats whose addresses have arrived.
    fn write(&mut self, cycle: u64) {
        while !self.writes.is_empty() && !self.beats.is_empty() {
            let (mut burst, (data, strobes, last)) =
                (self.writes.pop_front().expect("there is one"), self.beats.pop_front().expect("there is one"));
            let addresses = burst.beat();
            let response = self.response(&burst, &addresses);
            let place = format!("{}, beat {} of {} that ends in cycle {cycle}", self.name, burst.at, burst.beats);
            assert_eq!(last, burst.at + 1 == burst.beats, "wlast of {place}");
            let lanes = addresses.start % self.width..(addresses.end - 1) % self.width + 1;
            for lane in 0..self.width {
                if strobes[lane as usize / 64] >> (lane % 64) & 1 == 0 {
                    continue;
                }
                assert!(lanes.contains(&lane), "strobe {lane} outside of the bytes of {place}");
                if response == Response::Okay {
                    let to = addresses.start / self.width * self.width + lane - self.base;
                    self.content[to as usize] = (data[lane as usize / 8] >> (8 * (lane % 8))) as u8;
                    self.counts.write_bytes += 1;
                }
            }
            self.counts.write_beats += 1;
            burst.worsen(response);
            burst.at += 1;
            if last {
                self.counts.write_bursts += 1;
                self.counts.failed += u64::from(burst.worst != Response::Okay);
                self.responses.push_back((burst.due.max(cycle + self.settings.latency), burst.id, burst.worst));
            } else {
                self.writes.push_front(burst);
            }
        }
    }

    fn respond(&mut self, streams: &mut Streams, cycle: u64) {
        if self.lie == Some(Lie::SilentWrites) {
            return;
        }
        while let Some(&(due, id, response)) = self.responses.front() {
            // An item queued now is offered in the next cycle.
            if due > cycle + 1 {
                return;
            }
            self.responses.pop_front();
            let fields: &[&[u64]] = &[&[response.code()], &[self.id(id)]];
            let source = streams.source(self.bus.write_response);
            source.push(&fields[..source.fields()]);
        }
    }

    fn read(&mut self, streams: &mut Streams, random: &mut Random, cycle: u64) {
        let source = streams.source(self.bus.read_data);
        let Some(burst) = self.reads.front() else { return };
        // A beat is read only after the previous one was accepted.
        if burst.due > cycle + 1 || self.read_from > cycle + 1 || !source.queue.is_empty() {
            return;
        }
        let mut burst = self.reads.pop_front().expect("there is one");
        let addresses = burst.beat();
        let response = self.response(&burst, &addresses);
        let mut data = random.bits(8 * self.width as usize);
        if response == Response::Okay {
            // The other bytes of the bus stay random.
            let lane = addresses.start % self.width;
            let from = (addresses.start - self.base) as usize;
            for (lane, byte) in (lane..).zip(&self.content[from..][..(addresses.end - addresses.start) as usize]) {
                let shift = 8 * (lane % 8);
                let limb = &mut data[lane as usize / 8];
                *limb = *limb & !(0xff << shift) | u64::from(*byte) << shift;
            }
            self.counts.read_bytes += addresses.end - addresses.start;
        }
        let last = burst.at + 1 == burst.beats;
        let marked = match self.lie {
            Some(Lie::LastEarly) => last || burst.at + 2 == burst.beats,
            Some(Lie::LastMissing) => false,
            _ => last,
        };
        let fields: &[&[u64]] = &[&data, &[response.code()], &[u64::from(marked)], &[self.id(burst.id)]];
        source.push(&fields[..source.fields()]);
        self.counts.read_beats += 1;
        self.read_from = cycle + 1 + self.settings.interval;
        burst.worsen(response);
        burst.at += 1;
        if last {
            self.counts.read_bursts += 1;
            self.counts.failed += u64::from(burst.worst != Response::Okay);
        } else {
            self.reads.push_front(burst);
        }
    }
}
