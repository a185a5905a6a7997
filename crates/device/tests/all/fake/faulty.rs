//! A way to the device in software that goes wrong as boards, cables and attackers do.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};

use hearith_device::{Error, ErrorKind, Exchange, Marks, Transport};

use super::{FakeMesa, HEADER, PLAINTEXT, READY, Refused, WIPE, register};

/// What goes wrong, from when it is said until it has happened (once) or until the device is mended
/// (always).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The word that is written there next arrives with this bit flipped.
    KeyBit { region: u32, bit: u32 },
    /// Likewise, and KEY_CHECK says that all is well: the bit flips in the device's memory.
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
    /// The next answer comes twice.
    RepeatAnswer,
    /// The next answer is the one before.
    OldAnswer,
    /// The next answer says of this item that its powers are not 1.
    Foreign(usize),
    /// The next answer has its first two items exchanged.
    Exchanged,
    /// The next answer ends after so many bytes.
    CutAnswer(usize),
    /// The next answer has so many bytes more.
    LongAnswer(usize),
    /// The next packet to the device ends after so many bytes, a whole number of beats.
    CutQuestion(usize),
    /// The next packet to the device has a beat too many.
    LongQuestion,
    /// The next answer comes when nobody waits for it any more: it is still on its way when the
    /// next packet has been sent.
    Late,
    /// Every answer is: the device takes packets and gives nothing.
    Stalls,
    /// Registers read as all ones, writes go nowhere, the streams stand still.
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
    /// All plaintexts are wrong modulo p alone, since something is added that is 0 modulo q. The
    /// gcd of the difference and n is q.
    WrongModuloP,
    /// Writes of this register change nothing, and nobody says so.
    LostWrites(u32),
    /// No word of the key arrives, and nobody says so.
    LostKey,
    /// The device says that it is always ready, whatever it was told.
    AlwaysReady,
    /// It sends answers that nobody asked for, for ever.
    Babbles,
}

/// The device, and what is wrong with the way to it. Clones reach the same one.
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

    /// What goes wrong from now on; nothing if none.
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

    /// Whether this is what goes wrong; if it happens once, it has now.
    fn once(&self, wanted: impl Fn(Fault) -> bool) -> Option<Fault> {
        let mut fault = self.fault.lock().unwrap();
        if fault.is_some_and(wanted) { fault.take() } else { None }
    }

    fn io<T>() -> Result<T, Error> {
        let source = Arc::new(std::io::Error::from_raw_os_error(5));
        Err(ErrorKind::Io { what: "the device".into(), source }.into())
    }

    /// The packets that the device gives for one.
    fn through(&self, packet: &[u8]) -> Vec<Vec<u8>> {
        let mut packet = packet.to_vec();
        let mut times = 1;
        // Marks are not items: what is to happen to a packet happens to one with items.
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

    /// What comes of an answer.
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

    /// Answers that were still on their way.
    fn late(&self) -> Vec<Vec<u8>> {
        self.device().answers.drain(..).collect()
    }

    /// Whether the streams are there.
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

    /// A posted write: a refusal is not seen here.
    fn write(&mut self, address: u32, mut value: u32) -> Result<(), Error> {
        self.calls.fetch_add(1, Ordering::Relaxed);
        let place = |region: u32, bit: u32| register::REGIONS + region * register::REGION_BYTES + bit / 32 * 4;
        match self.fault() {
            Some(Fault::Vanished) => return Ok(()),
            Some(Fault::IoErrors) => return Self::io(),
            Some(Fault::LostWrites(lost)) if lost == address => return Ok(()),
            Some(Fault::LostKey) if address >= register::REGIONS => return Ok(()),
            Some(Fault::KeyBit { region, bit }) if place(region, bit) == address => {
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
        // Whatever nobody waits for is still on its way.
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
        // Nothing else comes after the echo.
        match answers.last().is_some_and(|last| last == marks.echo) {
            true => Ok(()),
            false => Err(marks.stalled(marks.input.len())),
        }
    }
}
