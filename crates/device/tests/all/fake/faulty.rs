//! A transport to the device in software, with the faults of boards, cables and attackers.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};

use hearith_device::{Error, ErrorKind, Exchange, Marks, Transport};

use super::{FakeMesa, HEADER, PLAINTEXT, READY, Refused, WIPE, register};

/// A fault, from when it is set until it has happened (single faults) or until it is cleared
/// (lasting faults).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The next word written there arrives with this bit flipped.
    KeyBit { region: u32, bit: u32 },
    /// The same, but KEY_CHECK reports no error: the bit flips in the device's memory.
    StoredBit { region: u32, bit: u32 },
    /// The next answer has this bit flipped, counted from its first byte, header included.
    AnswerBit(usize),
    /// The next packet to the device has this bit flipped.
    QuestionBit(usize),
    /// The next packet to the device is lost.
    DropQuestion,
    /// The next answer is lost.
    DropAnswer,
    /// The next packet arrives twice.
    RepeatQuestion,
    /// The next answer arrives twice.
    RepeatAnswer,
    /// The next answer is replaced by the previous one.
    OldAnswer,
    /// The next answer claims that the powers of this item are not 1.
    Foreign(usize),
    /// The next answer has its first two items exchanged.
    Exchanged,
    /// The next answer ends after this many bytes.
    CutAnswer(usize),
    /// The next answer is this many bytes too long.
    LongAnswer(usize),
    /// The next packet to the device ends after this many bytes, a whole number of beats.
    CutQuestion(usize),
    /// The next packet to the device is one beat too long.
    LongQuestion,
    /// The next answer is late: it is still in flight when the next packet has been sent.
    Late,
    /// Every answer is late: the device accepts packets and returns nothing.
    Stalls,
    /// Registers read as all ones, writes have no effect, the streams stop.
    Vanished,
    /// Every access fails in the operating system.
    IoErrors,
    /// The streams have ended.
    EndOfFile,
    /// The device is reset before the next packet.
    Reset,
    /// All plaintexts are wrong by 1.
    Lies,
    /// One plaintext is wrong by 1: that of this item.
    LiesOnce(usize),
    /// All plaintexts are wrong modulo p only: a number that is 0 modulo q is added. The gcd of the
    /// difference and n is q.
    WrongModuloP,
    /// Writes of this register have no effect and report no error.
    LostWrites(u32),
    /// No word of the key arrives, and no error is reported.
    LostKey,
    /// The device always reports that it is ready.
    AlwaysReady,
    /// The device sends unsolicited answers for ever.
    Babbles,
}

/// The device with a faulty transport. Clones share one device.
#[derive(Clone)]
pub struct Faulty {
    pub device: Arc<Mutex<FakeMesa>>,
    fault: Arc<Mutex<Option<Fault>>>,
    last: Arc<Mutex<Vec<u8>>>,
    /// Accesses and packets so far, each of which takes a bounded time.
    pub calls: Arc<AtomicUsize>,
}

impl Faulty {
    pub fn new() -> Self {
        Self {
            device: Arc::new(Mutex::new(FakeMesa::new())),
            fault: Arc::default(),
            last: Arc::default(),
            calls: Arc::default(),
        }
    }

    /// Sets the fault from now on, or clears it.
    pub fn set(&self, fault: Option<Fault>) {
        self.device().lie = match fault {
            Some(Fault::Lies) => Some(Arc::new(|_, _| vec![1])),
            Some(Fault::LiesOnce(wrong)) => Some(Arc::new(move |item, _| vec![u64::from(item == wrong)])),
            Some(Fault::WrongModuloP) => Some(Arc::new(|_, [_, q]| q.to_vec())),
            _ => None,
        };
        *self.fault.lock().unwrap() = fault;
    }

    pub fn device(&self) -> MutexGuard<'_, FakeMesa> {
        self.device.lock().unwrap()
    }

    fn fault(&self) -> Option<Fault> {
        *self.fault.lock().unwrap()
    }

    /// Returns the fault if it is a wanted one, and clears it.
    fn once(&self, wanted: impl Fn(Fault) -> bool) -> Option<Fault> {
        let mut fault = self.fault.lock().unwrap();
        if fault.is_some_and(wanted) { fault.take() } else { None }
    }

    fn io<T>() -> Result<T, Error> {
        let source = Arc::new(std::io::Error::from_raw_os_error(5));
        Err(ErrorKind::Io { what: "the device".into(), source }.into())
    }

    /// The packets that the device returns for one packet.
    fn through(&self, packet: &[u8]) -> Vec<Vec<u8>> {
        let mut packet = packet.to_vec();
        let mut times = 1;
        // Marks are no items: faults of packets only affect packets with items.
        let items = packet.len() > HEADER;
        match self.fault().filter(|_| items) {
            Some(Fault::QuestionBit(bit)) => {
                self.set(None);
                packet[bit / 8] ^= 1 << (bit % 8);
            }
            Some(Fault::DropQuestion) => {
                self.set(None);
                return Vec::new();
            }
            Some(Fault::RepeatQuestion) => {
                self.set(None);
                times = 2;
            }
            Some(Fault::CutQuestion(bytes)) => {
                self.set(None);
                packet.truncate(bytes);
            }
            Some(Fault::LongQuestion) => {
                self.set(None);
                packet.extend_from_slice(&[0; 8]);
            }
            Some(Fault::Reset) => {
                self.set(None);
                self.device().reset();
            }
            _ => {}
        }
        let mut device = self.device();
        for _ in 0..times {
            device.take(&packet);
        }
        let answers: Vec<Vec<u8>> = device.answers.drain(..).collect();
        drop(device);
        answers.into_iter().flat_map(|answer| self.changed(answer)).collect()
    }

    /// The packets that an answer turns into.
    fn changed(&self, mut answer: Vec<u8>) -> Vec<Vec<u8>> {
        if answer.len() <= HEADER {
            return match self.fault() {
                Some(Fault::Stalls) => Vec::new(),
                _ => vec![answer],
            };
        }
        let before = std::mem::replace(&mut *self.last.lock().unwrap(), answer.clone());
        let happens = |fault| {
            use Fault::*;
            matches!(
                fault,
                AnswerBit(_)
                    | Foreign(_)
                    | DropAnswer
                    | RepeatAnswer
                    | OldAnswer
                    | Exchanged
                    | CutAnswer(_)
                    | LongAnswer(_)
                    | Late
            )
        };
        match self.once(happens) {
            Some(Fault::AnswerBit(bit)) => answer[bit / 8] ^= 1 << (bit % 8),
            Some(Fault::Foreign(item)) => answer[HEADER + item * PLAINTEXT..][..PLAINTEXT].fill(u8::MAX),
            Some(Fault::DropAnswer) => return Vec::new(),
            Some(Fault::RepeatAnswer) => return vec![answer.clone(), answer],
            Some(Fault::OldAnswer) => return vec![before],
            Some(Fault::Exchanged) => {
                let (first, second) = answer[HEADER..].split_at_mut(PLAINTEXT);
                first.swap_with_slice(&mut second[..PLAINTEXT]);
            }
            Some(Fault::CutAnswer(bytes)) => answer.truncate(bytes),
            Some(Fault::LongAnswer(bytes)) => answer.resize(answer.len() + bytes, 0),
            Some(Fault::Late) => {
                self.device().answers.push_back(answer);
                return Vec::new();
            }
            _ if self.fault() == Some(Fault::Stalls) => return Vec::new(),
            _ => {}
        }
        vec![answer]
    }

    /// Answers that were still in flight.
    fn late(&self) -> Vec<Vec<u8>> {
        self.device().answers.drain(..).collect()
    }

    /// Whether the streams work.
    fn streams(&self) -> Result<bool, Error> {
        match self.fault() {
            Some(Fault::IoErrors) => Self::io(),
            Some(Fault::Vanished) => Ok(false),
            _ => Ok(true),
        }
    }
}

impl Transport for Faulty {
    fn describe(&self) -> String {
        "a device in software".to_owned()
    }

    fn read(&mut self, address: u32) -> Result<u32, Error> {
        self.calls.fetch_add(1, Ordering::Relaxed);
        match self.fault() {
            Some(Fault::Vanished) => return Ok(u32::MAX),
            Some(Fault::IoErrors) => return Self::io(),
            Some(Fault::AlwaysReady) if address == register::STATUS => return Ok(1),
            _ => {}
        }
        self.device().read(address).map_err(|Refused| ErrorKind::Refused { address }.into())
    }

    /// A posted write does not show refusals.
    fn write(&mut self, address: u32, mut value: u32) -> Result<(), Error> {
        self.calls.fetch_add(1, Ordering::Relaxed);
        let address_of = |region: u32, bit: u32| register::REGIONS + region * register::REGION_BYTES + bit / 32 * 4;
        match self.fault() {
            Some(Fault::Vanished) => return Ok(()),
            Some(Fault::IoErrors) => return Self::io(),
            Some(Fault::LostWrites(lost)) if lost == address => return Ok(()),
            Some(Fault::LostKey) if address >= register::REGIONS => return Ok(()),
            Some(Fault::KeyBit { region, bit }) if address_of(region, bit) == address => {
                self.set(None);
                value ^= 1 << (bit % 32);
            }
            Some(Fault::StoredBit { region, bit })
                if address == register::CONTROL && value & (READY | WIPE) == READY =>
            {
                self.set(None);
                self.device().flip(region, bit);
            }
            _ => {}
        }
        let _ = self.device().write(address, value);
        Ok(())
    }

    fn exchange(&mut self, exchange: Exchange<'_>) -> Result<(), Error> {
        self.calls.fetch_add(1, Ordering::Relaxed);
        if !self.streams()? {
            return Err(exchange.stalled(0, 0));
        }
        if self.fault() == Some(Fault::EndOfFile) {
            return Err(exchange.cut_short(0));
        }
        let late = self.late();
        let answers = self.through(exchange.input);
        let mut answers = late.into_iter().chain(answers);
        let Some(answer) = answers.next() else {
            return Err(exchange.stalled(exchange.input.len(), 0));
        };
        // Further answers remain in flight.
        let rest: Vec<Vec<u8>> = answers.collect();
        self.device().answers.extend(rest);
        let bytes = answer.len().min(exchange.output.len());
        exchange.output[..bytes].copy_from_slice(&answer[..bytes]);
        if answer.len() == exchange.output.len() { Ok(()) } else { Err(exchange.cut_short(answer.len())) }
    }

    fn synchronise(&mut self, marks: Marks<'_>) -> Result<(), Error> {
        self.calls.fetch_add(1, Ordering::Relaxed);
        if !self.streams()? || self.fault() == Some(Fault::EndOfFile) || self.fault() == Some(Fault::Babbles) {
            return Err(marks.stalled(0));
        }
        let mut answers = self.late();
        for packet in marks.input.chunks(marks.packet) {
            answers.extend(self.through(packet));
        }
        // Nothing else may follow the echo.
        match answers.last().is_some_and(|last| last == marks.echo) {
            true => Ok(()),
            false => Err(marks.stalled(marks.input.len())),
        }
    }
}
