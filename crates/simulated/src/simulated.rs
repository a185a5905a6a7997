//! A simulated device as a transport for the drivers: its Verilator model, linked in.

use std::collections::VecDeque;
use std::sync::Arc;

use hearith_device::{Error, ErrorKind, Exchange, Marks, Transport, registers};
use hearith_verilated::Design;
use hearith_verilated::bench::{AxiMemory, Bench, Lie, MemorySettings, Pressure, Random, Rows};

/// Most cycles of a register access.
const REGISTER_CYCLES: u32 = 1000;
const OKAY: u64 = 0;
/// The parameter of designs with a memory that holds its 64-bit words.
const MEMORY_WORDS: &str = "MemoryWords";
/// Seed of the memory's random choices.
const MEMORY_SEED: u64 = 1;
/// A DDR4 memory behind its controller, seen from a design at 200 MHz.
const MEMORY: MemorySettings =
    MemorySettings { latency: 30, interval: 1, outstanding: 16, failing: 0, rows: Some(Rows::DDR4) };
const WHOLE_WORD: u64 = 0xf;
/// Registers that are polled under pressure.
const POLLED_REGISTERS: [u32; 5] =
    [registers::STATUS, registers::ERROR, registers::IN_FLIGHT, registers::EPOCH, registers::BUSY];

/// A device simulated cycle by cycle, starting from reset.
///
/// Data that was sent but not yet accepted stays queued before the device, as in the buffers of a
/// DMA engine, even if the exchange that sent it has failed.
#[derive(Debug)]
pub struct Simulated {
    bench: Bench,
    /// The device's external memory, if it has a port to one.
    memory: Option<AxiMemory>,
    /// Bytes of a beat of either stream.
    beat: usize,
    cycles: u64,
    /// The random source of stalls, if there are any.
    pressure: Option<Random>,
    /// Beats queued for the device; the first is on offer if `offering`.
    upstream: VecDeque<Beat>,
    offering: bool,
    /// Beats received from the device, which are accepted while `taking`.
    downstream: VecDeque<Beat>,
    taking: bool,
    reading: Option<Access>,
    writing: Option<Access>,
}

/// A beat of a stream.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Beat {
    bytes: Vec<u8>,
    last: bool,
}

/// A register access in progress.
#[derive(Clone, Copy, Debug)]
struct Access {
    address: u64,
    data: u64,
    strobes: u64,
    /// Whether the address and the data are on offer, and have been accepted.
    address_offered: bool,
    address_taken: bool,
    data_offered: bool,
    data_taken: bool,
    /// The response and the read data.
    answer: Option<(u64, u64)>,
}

impl Simulated {
    /// Creates a device after its reset.
    ///
    /// # Errors
    /// [`ErrorKind::Transport`] if the program was built without Verilator.
    pub fn new(design: &'static Design) -> Result<Self, Error> {
        let model = design.instantiate().map_err(|error| ErrorKind::Transport(Arc::new(error)))?;
        let beat = design.parameter("StreamBits") as usize / 8;
        let mut bench = Bench::new(model, MEMORY_SEED);
        let words = design.parameters().iter().any(|(name, _)| *name == MEMORY_WORDS);
        let memory = words.then(|| bench.axi_memory("m_axi_", 0, 8 * design.parameter(MEMORY_WORDS) as usize, MEMORY));
        let mut device = Self {
            bench,
            memory,
            beat,
            cycles: 0,
            pressure: None,
            upstream: VecDeque::new(),
            offering: false,
            downstream: VecDeque::new(),
            taking: false,
            reading: None,
            writing: None,
        };
        device.reset();
        Ok(device)
    }

    /// Creates a device whose channels all stall at random: both streams, and the five register
    /// channels.
    ///
    /// Register writes present address and data in any order, and registers are read while the
    /// streams flow. The seed determines all of it.
    ///
    /// The monitors at the device's ports (rtl/lib/monitors.svh) check AXI's rules and end the
    /// simulation on a violation.
    ///
    /// # Errors
    /// Those of [`Simulated::new`].
    pub fn under_pressure(design: &'static Design, seed: u64) -> Result<Self, Error> {
        let mut device = Self { pressure: Some(Random::new(seed)), ..Self::new(design)? };
        if let Some(memory) = device.memory {
            device.bench.set_memory_pressure(memory, Pressure::Random(100));
        }
        Ok(device)
    }

    /// Clock cycles since the reset.
    pub fn cycles(&self) -> u64 {
        self.cycles
    }

    /// Resets the device, as a board's reset button does. Data queued before the device stays.
    pub fn reset(&mut self) {
        // The memory's port is reset too.
        self.bench.reset();
        for valid in ["s_axis_tvalid_i", "m_axis_tready_i", "axil_awvalid_i", "axil_wvalid_i", "axil_arvalid_i"] {
            self.bench.model.set(valid, false);
        }
        // Long enough to pass the synchroniser and settle before the reset ends.
        self.bench.model.set("rst_ni", false);
        (0..6).for_each(|_| self.bench.model.clock());
        self.bench.model.reset();
        // The synchroniser delays the end of the reset.
        (0..4).for_each(|_| self.bench.model.clock());
        (self.reading, self.writing) = (None, None);
        self.offering = false;
    }

    /// Bytes of a beat of either stream.
    pub fn beat(&self) -> usize {
        self.beat
    }

    /// The words of a memory inside the device that the build script declares, such as
    /// `u_numbers.word_q`.
    ///
    /// # Panics
    /// If there is no such memory.
    pub fn memory(&self, path: &str) -> Vec<Vec<u64>> {
        (0..self.bench.model.memory_words(path)).map(|word| self.bench.model.peek(path, word)).collect()
    }

    /// The content of the external memory; empty if the device has no port to one.
    pub fn external(&self) -> &[u8] {
        self.memory.map_or(&[], |memory| self.bench.content(memory))
    }

    /// The mutable content of the external memory, for changes that the device does not see.
    pub fn external_mut(&mut self) -> &mut [u8] {
        match self.memory {
            Some(memory) => self.bench.content_mut(memory),
            None => &mut [],
        }
    }

    /// Makes the external memory break the protocol from now on, or stop doing so.
    pub fn set_external_lie(&mut self, lie: Option<Lie>) {
        if let Some(memory) = self.memory {
            self.bench.set_memory_lie(memory, lie);
        }
    }

    /// Whether the device's interrupt is raised.
    pub fn interrupt(&self) -> bool {
        self.bench.model.bit("irq_o")
    }

    /// Writes the bytes of a register that `strobes` selects.
    ///
    /// # Errors
    /// Those of [`Transport::write`].
    pub fn write_strobed(&mut self, address: u32, value: u32, strobes: u8) -> Result<(), Error> {
        self.writing = Some(Access { strobes: strobes.into(), ..Access::new(address, value) });
        let (response, _) = self.finish(address, |device| &mut device.writing)?;
        if response == OKAY { Ok(()) } else { Err(ErrorKind::Refused { address }.into()) }
    }

    /// Queues a packet of whole beats for the device, and lets cycles pass. Its end is marked only
    /// if it is `ended`.
    pub fn queue(&mut self, packet: &[u8], ended: bool, cycles: u64) {
        self.send(packet, packet.len());
        if let (Some(beat), false) = (self.upstream.back_mut(), ended) {
            beat.last = false;
        }
        self.idle(cycles);
    }

    /// Lets cycles pass.
    pub fn idle(&mut self, cycles: u64) {
        (0..cycles).for_each(|_| self.step());
    }

    /// Number of beats that the device has not accepted yet.
    pub fn queued(&self) -> usize {
        self.upstream.len()
    }

    /// Receives this many beats and returns their bytes.
    ///
    /// # Panics
    /// If that takes more than `cycles` cycles.
    pub fn take(&mut self, beats: usize, cycles: u64) -> Vec<u8> {
        let end = self.cycles + cycles;
        while self.downstream.len() < beats {
            assert!(self.cycles < end, "{} of {beats} beats within {cycles} cycles", self.downstream.len());
            self.taking = true;
            self.step();
            self.taking = false;
        }
        self.downstream.drain(..).flat_map(|beat| beat.bytes).collect()
    }

    /// Lets cycles pass in which output is accepted, and returns the packets received since the
    /// last call: all beats, including those of an unfinished last packet.
    pub fn drain(&mut self, cycles: u64) -> Vec<Vec<u8>> {
        self.taking = true;
        (0..cycles).for_each(|_| self.step());
        self.taking = false;
        let mut packets = vec![Vec::new()];
        for beat in self.downstream.drain(..) {
            packets.last_mut().expect("there is one").extend(beat.bytes);
            if beat.last {
                packets.push(Vec::new());
            }
        }
        packets.retain(|packet| !packet.is_empty());
        packets
    }

    /// Decides whether an action that can stall happens in this cycle.
    fn acts(&mut self) -> bool {
        self.pressure.as_mut().is_none_or(|random| random.below(3) == 0)
    }

    /// Steps both streams and the registers by a clock cycle.
    fn step(&mut self) {
        self.offer();
        let takes = self.taking && self.acts();
        self.bench.model.set("m_axis_tready_i", takes);
        self.offer_accesses();
        self.bench.settle();
        let sent = self.offering && self.bench.model.bit("s_axis_tready_o");
        if takes && self.bench.model.bit("m_axis_tvalid_o") {
            let data = self.bench.model.get("m_axis_tdata_o");
            let bytes = data.iter().flat_map(|limb| limb.to_le_bytes()).take(self.beat).collect();
            self.downstream.push_back(Beat { bytes, last: self.bench.model.bit("m_axis_tlast_o") });
        }
        self.note_accesses();
        self.bench.edge();
        self.cycles += 1;
        if sent {
            self.upstream.pop_front();
            self.offering = false;
        }
    }

    /// Offers the next beat, if there is one. An offered beat stays on offer.
    fn offer(&mut self) {
        if !self.offering && !self.upstream.is_empty() {
            self.offering = self.acts();
        }
        self.bench.model.set("s_axis_tvalid_i", self.offering);
        if let (true, Some(beat)) = (self.offering, self.upstream.front()) {
            let limb = |bytes: &[u8]| bytes.iter().rev().fold(0, |limb, &byte| limb << 8 | u64::from(byte));
            let limbs: Vec<u64> = beat.bytes.chunks(8).map(limb).collect();
            self.bench.model.set("s_axis_tdata_i", limbs);
            self.bench.model.set("s_axis_tlast_i", beat.last);
        }
    }

    /// Offers those parts of register accesses that have not been accepted yet.
    fn offer_accesses(&mut self) {
        let mut acts = || self.pressure.as_mut().is_none_or(|random| random.below(3) == 0);
        let (mut address_valid, mut data_valid, mut read_valid) = (false, false, false);
        if let Some(access) = &mut self.writing {
            access.address_offered = !access.address_taken && (access.address_offered || acts());
            access.data_offered = !access.data_taken && (access.data_offered || acts());
            (address_valid, data_valid) = (access.address_offered, access.data_offered);
            self.bench.model.set("axil_awaddr_i", access.address);
            // Nothing secret stays on the bus.
            self.bench.model.set("axil_wdata_i", if data_valid { access.data } else { 0 });
            self.bench.model.set("axil_wstrb_i", access.strobes);
        }
        if let Some(access) = &mut self.reading {
            access.address_offered = !access.address_taken && (access.address_offered || acts());
            read_valid = access.address_offered;
            self.bench.model.set("axil_araddr_i", access.address);
        }
        let (takes_response, takes_data) = (acts(), acts());
        self.bench.model.set("axil_awvalid_i", address_valid);
        self.bench.model.set("axil_wvalid_i", data_valid);
        self.bench.model.set("axil_arvalid_i", read_valid);
        self.bench.model.set("axil_bready_i", self.writing.is_some() && takes_response);
        self.bench.model.set("axil_rready_i", self.reading.is_some() && takes_data);
    }

    /// Records which parts of register accesses the device accepts in this cycle, and its answers.
    fn note_accesses(&mut self) {
        let model = &self.bench.model;
        if let Some(access) = &mut self.writing {
            access.address_taken |= access.address_offered && model.bit("axil_awready_o");
            access.data_taken |= access.data_offered && model.bit("axil_wready_o");
            if model.bit("axil_bvalid_o") && model.bit("axil_bready_i") {
                access.answer = Some((model.get_u64("axil_bresp_o"), 0));
            }
        }
        if let Some(access) = &mut self.reading {
            access.address_taken |= access.address_offered && model.bit("axil_arready_o");
            if model.bit("axil_rvalid_o") && model.bit("axil_rready_i") {
                access.answer = Some((model.get_u64("axil_rresp_o"), model.get_u64("axil_rdata_o")));
            }
        }
    }

    /// Steps until a register access is answered, and returns the answer.
    fn finish(&mut self, address: u32, access: impl Fn(&mut Self) -> &mut Option<Access>) -> Result<(u64, u64), Error> {
        for _ in 0..REGISTER_CYCLES {
            self.step();
            if let Some(answer) = access(self).as_ref().and_then(|access| access.answer) {
                *access(self) = None;
                return Ok(answer);
            }
        }
        // An access without an answer is given up, and the bus with it.
        *access(self) = None;
        Err(ErrorKind::Silent { address }.into())
    }

    /// Under pressure, occasionally reads a register while the streams flow.
    fn poll_register(&mut self) {
        let Some(random) = &mut self.pressure else { return };
        match &self.reading {
            None if random.below(4) == 0 => {
                let address = POLLED_REGISTERS[random.below(POLLED_REGISTERS.len() as u64) as usize];
                self.reading = Some(Access::new(address, 0));
            }
            Some(access) if access.answer.is_some() => {
                let response = access.answer.map(|(response, _)| response);
                assert_eq!(response, Some(OKAY), "register {:#x} was refused", access.address);
                self.reading = None;
            }
            _ => (),
        }
    }

    /// Finishes a register read in progress.
    fn finish_poll(&mut self) -> Result<(), Error> {
        match self.reading {
            Some(access) if access.answer.is_none() => {
                self.finish(access.address as u32, |device| &mut device.reading).map(drop)
            }
            _ => {
                self.reading = None;
                Ok(())
            }
        }
    }

    /// Queues packets of `length` bytes each.
    fn send(&mut self, packets: &[u8], length: usize) {
        for packet in packets.chunks(length) {
            let beats = packet.len() / self.beat;
            let beat = |(at, bytes): (usize, &[u8])| Beat { bytes: bytes.to_vec(), last: at + 1 == beats };
            self.upstream.extend(packet.chunks(self.beat).enumerate().map(beat));
        }
    }

    /// Steps until a beat is received, or until no beat has been accepted for more than `allowed`
    /// cycles. `quiet` counts the cycles without progress.
    fn next_beat(&mut self, quiet: &mut u64, allowed: u64) -> Option<Beat> {
        while self.downstream.is_empty() {
            let before = self.upstream.len();
            self.poll_register();
            self.step();
            *quiet = if self.upstream.len() < before { 0 } else { *quiet + 1 };
            if *quiet > allowed {
                return None;
            }
        }
        *quiet = 0;
        self.downstream.pop_front()
    }

    fn pass(&mut self, exchange: &mut Exchange<'_>) -> Result<(), Error> {
        let (mut received, mut quiet) = (0, 0);
        let expected = exchange.output.len();
        let already = self.upstream.len();
        self.send(exchange.input, exchange.input.len());
        let beats = self.upstream.len() - already;
        while received < expected {
            let Some(beat) = self.next_beat(&mut quiet, exchange.quiet_cycles) else {
                let sent = beats.saturating_sub(self.upstream.len()) * self.beat;
                return Err(exchange.stalled(sent, received));
            };
            exchange.output[received..][..self.beat].copy_from_slice(&beat.bytes);
            received += self.beat;
            if beat.last != (received == expected) {
                return Err(exchange.cut_short(received));
            }
        }
        Ok(())
    }

    fn pass_marks(&mut self, marks: &Marks<'_>) -> Result<(), Error> {
        self.send(marks.input, marks.packet);
        let end = self.cycles + marks.quiet_cycles + self.upstream.len() as u64;
        let (mut packet, mut quiet) = (Vec::new(), 0);
        loop {
            let stalled = |device: &Self| {
                let left = (device.upstream.len() * device.beat).min(marks.input.len());
                Err(marks.stalled(marks.input.len() - left))
            };
            let Some(beat) = self.next_beat(&mut quiet, marks.quiet_cycles) else { return stalled(self) };
            if self.cycles > end {
                return stalled(self);
            }
            // Of a longer packet, only enough is kept to distinguish it from the echo.
            packet.extend(beat.bytes);
            packet.truncate(marks.echo.len() + 1);
            if beat.last {
                if packet == marks.echo {
                    return Ok(());
                }
                packet.clear();
            }
        }
    }
}

impl Transport for Simulated {
    fn describe(&self) -> String {
        format!("simulated {}", self.bench.model.design().name())
    }

    fn read(&mut self, address: u32) -> Result<u32, Error> {
        self.finish_poll()?;
        self.reading = Some(Access::new(address, 0));
        let (response, value) = self.finish(address, |device| &mut device.reading)?;
        if response == OKAY { Ok(value as u32) } else { Err(ErrorKind::Refused { address }.into()) }
    }

    fn write(&mut self, address: u32, value: u32) -> Result<(), Error> {
        self.write_strobed(address, value, WHOLE_WORD as u8)
    }

    fn exchange(&mut self, mut exchange: Exchange<'_>) -> Result<(), Error> {
        self.taking = true;
        let result = self.pass(&mut exchange);
        self.taking = false;
        result
    }

    fn synchronise(&mut self, marks: Marks<'_>) -> Result<(), Error> {
        self.taking = true;
        let result = self.pass_marks(&marks);
        self.taking = false;
        result
    }
}

impl Access {
    fn new(address: u32, data: u32) -> Self {
        Self {
            address: address.into(),
            data: data.into(),
            strobes: WHOLE_WORD,
            address_offered: false,
            address_taken: false,
            data_offered: false,
            data_taken: false,
            answer: None,
        }
    }
}
