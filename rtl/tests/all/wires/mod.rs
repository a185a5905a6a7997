//! Two ends of a link, and the line between them, which may have bit errors or be cut.

use hearith_rtl::{SPI_CONTROLLER_LINK, SPI_PERIPHERAL_LINK, UART_LINK};
use hearith_verilated::bench::{Bench, Pressure, Random, Sink, Source};

/// The cycles of a bit on each wire, as set in the designs.
const PERIOD: u64 = 8;
const SPI_BIT: u64 = 10;

/// Codes of `link_pkg`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    BadFrame = 1,
    WrongLength,
    FrameTooLong,
    UnknownKind,
    Sequence,
    Flooding,
    Silent,
    PartnerReset,
    LongMessage,
    Line,
}

impl Fault {
    fn new(code: u64) -> Self {
        use Fault::*;
        let all = [
            BadFrame,
            WrongLength,
            FrameTooLong,
            UnknownKind,
            Sequence,
            Flooding,
            Silent,
            PartnerReset,
            LongMessage,
            Line,
        ];
        all.into_iter().find(|&fault| fault as u64 == code).unwrap_or_else(|| panic!("there is no fault {code}"))
    }
}

/// The CRC-32 of IEEE 802.3.
pub fn crc32(bytes: &[u8]) -> u32 {
    let step = |crc: u32, _| (crc >> 1) ^ (0xedb8_8320 & (crc & 1).wrapping_neg());
    !bytes.iter().fold(!0, |crc, &byte| (0..8).fold(crc ^ u32::from(byte), step))
}

/// The bytes of a frame of these words.
pub fn frame(words: &[u32]) -> Vec<u8> {
    let mut bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    bytes.extend(crc32(&bytes).to_le_bytes());
    let inside = bytes.into_iter().flat_map(|byte| match byte {
        0x7d | 0x7e => vec![0x7d, byte ^ 0x20],
        _ => vec![byte],
    });
    [0x7e].into_iter().chain(inside).chain([0x7e]).collect()
}

/// The type of the wires.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wires {
    Uart,
    Spi,
}

/// One end, with the messages that its user sends and has received.
pub struct End {
    pub bench: Bench,
    source: Source,
    sink: Sink,
    tag: u16,
    /// Messages not delivered yet, the one in progress first.
    waiting: Vec<Vec<u64>>,
    /// All messages sent.
    sent: Vec<Vec<u64>>,
    taken: usize,
    received: Vec<Vec<u64>>,
    /// Messages received more than once.
    pub doubled: usize,
    /// Whether the partner was reset since the last message.
    may_double: bool,
    pub delivered: usize,
    pub faults: Vec<Fault>,
    pressure: Pressure,
}

impl End {
    pub fn new(mut bench: Bench, tag: u16, wires: Wires) -> Self {
        let source = bench.source("in_valid_i", "in_ready_o", &["in_data_i", "in_last_i"]);
        let sink = bench.sink("out_valid_o", "out_ready_i", &["out_data_o", "out_last_o"]);
        bench.model.set("tag_i", u64::from(tag));
        if wires == Wires::Uart {
            bench.model.set("rx_i", true);
        }
        let nothing = Vec::new;
        Self {
            bench,
            source,
            sink,
            tag,
            waiting: nothing(),
            sent: nothing(),
            taken: 0,
            received: nothing(),
            doubled: 0,
            may_double: false,
            delivered: 0,
            faults: Vec::new(),
            pressure: Pressure::None,
        }
    }

    /// Sets how eagerly messages are offered and accepted.
    pub fn pressure(&mut self, pressure: Pressure) {
        self.pressure = pressure;
        self.bench.set_sink_pressure(self.sink, pressure);
        if pressure != Pressure::Stalled {
            self.bench.set_source_pressure(self.source, pressure);
        }
    }

    pub fn send(&mut self, message: Vec<u64>) {
        self.push(&message);
        self.sent.push(message.clone());
        self.waiting.push(message);
    }

    /// Sends a message that will not arrive.
    pub fn send_unexpected(&mut self, message: Vec<u64>) {
        self.push(&message);
    }

    fn push(&mut self, message: &[u64]) {
        for (at, &word) in message.iter().enumerate() {
            self.bench.push(self.source, &[&[word], &[u64::from(at + 1 == message.len())]]);
        }
    }

    pub fn up(&self) -> bool {
        self.bench.model.bit("up_o")
    }

    pub fn received(&self) -> &[Vec<u64>] {
        &self.received
    }

    /// Steps by one cycle and records its events. A message counts when its last word arrives.
    /// Messages are identified by their content, as records are by their identifiers.
    pub fn step(&mut self) {
        let (mut delivered, mut fault) = (false, None);
        self.bench.step_watching(|model| {
            delivered = model.bit("delivered_o");
            fault = model.bit("fault_o").then(|| Fault::new(model.get_u64("fault_code_o")));
        });
        self.faults.extend(fault);
        if delivered {
            self.waiting.remove(0);
            self.delivered += 1;
        }
        let items = &self.bench.received(self.sink)[self.taken..];
        if items.last().is_some_and(|item| item.fields[1] == [1]) {
            let message: Vec<u64> = items.iter().map(|item| item.fields[0][0]).collect();
            self.taken += message.len();
            if self.received.contains(&message) {
                assert!(self.may_double, "{message:x?} came twice without a reset");
                self.doubled += 1;
            } else {
                self.received.push(message);
            }
        }
    }

    /// Sets the level on the line into a UART link for this many cycles.
    pub fn hear_level(&mut self, level: bool, cycles: u64) {
        self.bench.model.set("rx_i", level);
        (0..cycles).for_each(|_| self.step());
    }

    /// Sends bytes from the test as the partner.
    pub fn hear(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.hear_level(false, PERIOD);
            (0..8).for_each(|at| self.hear_level(byte >> at & 1 == 1, PERIOD));
            self.hear_level(true, PERIOD);
        }
    }

    /// Resets the end, which loses everything in progress. Messages not delivered yet are sent
    /// again.
    fn reset(&mut self) {
        self.tag += 2;
        self.bench.reset();
        self.bench.model.set("tag_i", u64::from(self.tag));
        self.taken = 0;
        self.pressure(self.pressure);
        for message in self.waiting.clone() {
            self.push(&message);
        }
    }
}

/// Bit errors of a wire, each for the duration of a bit.
struct Noise {
    random: Random,
    rate: f64,
    period: u64,
    turned: bool,
}

impl Noise {
    fn pass(&mut self, cycle: u64, level: bool) -> bool {
        if self.rate > 0.0 && cycle.is_multiple_of(self.period) {
            self.turned = (self.random.next() as f64) < self.rate * 2_f64.powi(64);
        }
        level ^ self.turned
    }
}

/// Two ends and the wires between them.
pub struct Pair {
    pub ends: [End; 2],
    wires: Wires,
    noise: Vec<Noise>,
    /// Whether the wires from each end are cut.
    pub cut: [bool; 2],
    pub cycle: u64,
    pub resets: u32,
}

impl Pair {
    pub fn new(wires: Wires, seed: u64, rate: f64) -> Self {
        let (designs, period) = match wires {
            Wires::Uart => ([&UART_LINK, &UART_LINK], PERIOD),
            Wires::Spi => ([&SPI_CONTROLLER_LINK, &SPI_PERIPHERAL_LINK], SPI_BIT),
        };
        let mut tags = [0x1000, 0x2001].into_iter();
        let ends = designs.map(|design| End::new(Bench::new(design.model(), seed), tags.next().unwrap(), wires));
        // The interface's clock and selection have a tenth of the data's error rate, because each
        // of their errors damages several bytes.
        let noise = |at: u64| {
            let rate = if at > 2 { rate / 10.0 } else { rate };
            Noise { random: Random::new(seed ^ (at << 32)), rate, period, turned: false }
        };
        Self { ends, wires, noise: (1..5).map(noise).collect(), cut: [false; 2], cycle: 0, resets: 0 }
    }

    pub fn step(&mut self) {
        let joined: &[(usize, &str, &str, bool)] = match self.wires {
            Wires::Uart => &[(0, "tx_o", "rx_i", true), (1, "tx_o", "rx_i", true)],
            Wires::Spi => &[
                (0, "copi_o", "copi_i", false),
                (1, "cipo_o", "cipo_i", false),
                (0, "sck_o", "sck_i", false),
                (0, "cs_no", "cs_ni", true),
            ],
        };
        for (&(from, output, input, rest), noise) in joined.iter().zip(&mut self.noise) {
            let level = noise.pass(self.cycle, self.ends[from].bench.model.bit(output));
            self.ends[1 - from].bench.model.set(input, if self.cut[from] { rest } else { level });
        }
        self.ends.iter_mut().for_each(End::step);
        self.cycle += 1;
    }

    pub fn run(&mut self, cycles: u64) {
        (0..cycles).for_each(|_| self.step());
    }

    pub fn reset(&mut self, end: usize) {
        self.ends[end].reset();
        self.ends.iter_mut().for_each(|end| end.may_double = true);
        self.resets += 1;
    }

    /// Whether everything was delivered. Received messages must equal the sent ones, in order.
    pub fn is_done(&self) -> bool {
        for (end, partner) in [(0, 1), (1, 0)] {
            let (sent, received) = (&self.ends[end].sent, &self.ends[partner].received);
            assert!(sent.starts_with(received), "in order");
            assert!(sent.len() - self.ends[end].waiting.len() <= received.len(), "delivered and not received");
        }
        self.ends.iter().all(|end| end.waiting.is_empty())
    }

    pub fn arrived(&self) -> [usize; 2] {
        [0, 1].map(|end| self.ends[end].received.len())
    }
}
