//! Helpers for tests of simulated devices.

#[path = "../../../../device/tests/all/common/mod.rs"]
mod devices;

use std::sync::{Arc, Mutex, MutexGuard};

pub use devices::*;
use hearith_device::mesa::{Keyed, Mesa, Parameters};
use hearith_device::{Error, ErrorKind, Exchange, Marks, Transport};
use hearith_golden::{Decryption, PaperKey};
use hearith_paillier::encoding::encode_signed;
use hearith_paillier::{
    Ciphertexts, Engine, ErrorKind as SchemeErrorKind, KeyPolicy, Plaintexts, PrivateKey, PublicKey, Variant,
};
use hearith_simulated::Simulated;
use hearith_verilated::Design;
use hearith_verilated::bench::Lie;

/// A new key with short exponents, of the smallest size.
pub fn subgroup_key() -> PrivateKey {
    PrivateKey::generate(1024, Variant::Subgroup, KeyPolicy::AllowInsecure, Engine::best()).unwrap()
}

/// Valid ciphertexts under this key's modulus with randomisers outside its subgroup, and their
/// plaintexts.
fn foreign_ciphertexts(key: &PrivateKey, count: usize) -> (Ciphertexts, Plaintexts) {
    let public = key.public();
    let standard = PublicKey::new(&public.modulus_be(), None, KeyPolicy::AllowInsecure, Engine::best()).unwrap();
    let numbers: Vec<i128> = (0..count as i128).map(|row| 1000 * row - 7).collect();
    let theirs = standard.encrypt(&encode_signed(&standard, &numbers).unwrap()).unwrap();
    let ours = public.ciphertexts_from_be(&theirs.to_be_bytes()).unwrap();
    (ours, encode_signed(public, &numbers).unwrap())
}

/// Foreign rows are reported as errors of these rows, wherever they are, and the device keeps its
/// key. With the key loaded for any randomiser, the device decrypts them.
#[track_caller]
pub fn tells_foreign_rows<P: Parameters>(device: &mut Keyed<P>, key: &PrivateKey) {
    let (foreign, plaintexts) = foreign_ciphertexts(key, 2);
    let (own, right) = random_ciphertexts(key, 1);
    let error = SchemeErrorKind::ForeignRandomiser;
    device.load_key(key).unwrap();
    for (batch, row) in [([&foreign, &own], 0), ([&own, &foreign], own.len())] {
        let batch = Ciphertexts::concat(batch[0], &batch[1..]).unwrap();
        let found = device.decrypt(&batch).unwrap_err();
        assert_eq!(found.row(), Some(row));
        is(&found, ErrorKind::Scheme(error.clone()));
        assert!(device.has_key());
    }
    assert!(device.decrypt(&own).unwrap() == right);
    device.load_key(&key.any_randomiser()).unwrap();
    assert!(device.decrypt(&foreign).unwrap() == plaintexts);
}

/// A simulated device that the test shares with the driver, and whose streams it can disturb.
#[derive(Clone)]
pub struct Shared {
    pub device: Arc<Mutex<Simulated>>,
    fault: Arc<Mutex<Option<Fault>>>,
}

/// A fault of the next exchange.
#[derive(Clone, Copy, Debug)]
pub enum Fault {
    /// The exchange is given up after this many beats of the answer; the rest stays in flight.
    GivenUp(usize),
    /// The same, followed by a reset of the device.
    Reset(usize),
    /// The exchange is given up after this many beats were sent, in the middle of the packet. The
    /// rest is never sent.
    Abandoned(usize),
    /// Everything is sent and nothing is received. The exchange is given up after this many cycles,
    /// with a part of the packet still queued before the device.
    Ignored(u64),
    /// The device's memory begins to break the protocol this many cycles after everything was sent.
    Lied(u64, Lie),
    /// The packet to the device ends after this many beats.
    CutInput(usize),
    /// The packet to the device is too long by this many beats.
    LongerInput(usize),
    /// The packet from the device is shorter than expected.
    LongerOutput,
}

impl Shared {
    pub fn new(design: &'static Design) -> Self {
        Self::of(Simulated::new(design).unwrap())
    }

    pub fn of(device: Simulated) -> Self {
        Self { device: Arc::new(Mutex::new(device)), fault: Arc::default() }
    }

    /// Disturbs the next exchange.
    pub fn disturb(&self, fault: Fault) {
        *self.fault.lock().unwrap() = Some(fault);
    }

    /// The device itself.
    pub fn simulated(&self) -> MutexGuard<'_, Simulated> {
        self.device.lock().unwrap()
    }
}

impl Transport for Shared {
    fn describe(&self) -> String {
        self.simulated().describe()
    }

    fn read(&mut self, address: u32) -> Result<u32, Error> {
        self.simulated().read(address)
    }

    fn write(&mut self, address: u32, value: u32) -> Result<(), Error> {
        self.simulated().write(address, value)
    }

    fn exchange(&mut self, exchange: Exchange<'_>) -> Result<(), Error> {
        let mut device = self.simulated();
        let beat = device.beat();
        let Exchange { input, output, header, input_item, output_item, quiet_cycles } = exchange;
        let mut pass = |input: &[u8], output: &mut [u8]| {
            device.exchange(Exchange { input, output, header, input_item, output_item, quiet_cycles })
        };
        match self.fault.lock().unwrap().take() {
            None => pass(input, output),
            Some(fault @ (Fault::GivenUp(beats) | Fault::Reset(beats))) => {
                // The answer continues beyond its expected end.
                let error = pass(input, &mut output[..beats * beat]).unwrap_err();
                if matches!(fault, Fault::Reset(_)) {
                    device.reset();
                }
                Err(error)
            }
            Some(Fault::Abandoned(beats)) => {
                device.queue(&input[..beats * beat], false, 500);
                Err(ErrorKind::Stalled { sent: 0, received: 0, expected: 0 }.into())
            }
            Some(Fault::Ignored(cycles)) => {
                device.queue(input, true, cycles);
                let expected = (input.len() - header) / input_item;
                Err(ErrorKind::Stalled { sent: 0, received: 0, expected }.into())
            }
            Some(Fault::Lied(cycles, lie)) => {
                device.queue(input, true, cycles);
                device.set_external_lie(Some(lie));
                output.copy_from_slice(&device.take(output.len() / beat, quiet_cycles));
                Ok(())
            }
            Some(Fault::CutInput(beats)) => pass(&input[..beats * beat], output),
            Some(Fault::LongerInput(beats)) => pass(&[input, &vec![0; beats * beat]].concat(), output),
            Some(Fault::LongerOutput) => {
                let mut longer = vec![0; output.len() + output_item];
                pass(input, &mut longer)
            }
        }
    }

    fn synchronise(&mut self, marks: Marks<'_>) -> Result<(), Error> {
        self.simulated().synchronise(marks)
    }
}

/// A record of a driver's session: the words of constants that it wrote, with their addresses, and
/// the packets that it sent, each with its answer.
#[derive(Clone, Default)]
pub struct Session {
    pub constants: Vec<(u32, u32)>,
    pub packets: Vec<(Vec<u8>, Vec<u8>)>,
}

/// A simulated device that records its session.
pub struct Recorder {
    device: Simulated,
    session: Arc<Mutex<Session>>,
}

impl Recorder {
    /// The session of a driver with a device after its reset.
    pub fn session(design: &'static Design, work: impl FnOnce(Box<dyn Transport>)) -> Session {
        let session = Arc::new(Mutex::new(Session::default()));
        work(Box::new(Self { device: Simulated::new(design).unwrap(), session: session.clone() }));
        let session = session.lock().unwrap().clone();
        assert!(!session.packets.is_empty());
        session
    }
}

impl Transport for Recorder {
    fn describe(&self) -> String {
        self.device.describe()
    }

    fn read(&mut self, address: u32) -> Result<u32, Error> {
        self.device.read(address)
    }

    fn write(&mut self, address: u32, value: u32) -> Result<(), Error> {
        if address >= 0x1_0000 {
            self.session.lock().unwrap().constants.push((address, value));
        }
        self.device.write(address, value)
    }

    fn exchange(&mut self, exchange: Exchange<'_>) -> Result<(), Error> {
        let Exchange { input, output, header, input_item, output_item, quiet_cycles } = exchange;
        self.device.exchange(Exchange { input, output, header, input_item, output_item, quiet_cycles })?;
        self.session.lock().unwrap().packets.push((input.to_vec(), output.to_vec()));
        Ok(())
    }

    fn synchronise(&mut self, marks: Marks<'_>) -> Result<(), Error> {
        self.device.synchronise(marks)
    }
}

/// Writes constants word by word, and lets the device use them.
pub fn load(device: &mut Simulated, constants: &[(u32, u32)]) -> Result<(), Error> {
    constants.iter().try_for_each(|&(address, word)| device.write(address, word))?;
    device.write(0x10, 1)
}

/// The register with the current epoch.
pub const EPOCH: u32 = 0x0c;

/// The header of a packet of `count` items, for streams of at most 64 bits.
pub fn header(epoch: u32, sequence: u16, count: u16) -> Vec<u8> {
    [0x4548, epoch as u16, sequence, count].into_iter().flat_map(u16::to_le_bytes).collect()
}

/// A simulated MESA.
pub fn device(design: &'static Design) -> Mesa {
    Mesa::open(Box::new(Simulated::new(design).unwrap())).unwrap()
}

/// Decrypts fresh ciphertexts and edge cases, and compares with all algorithms of the library.
pub fn decrypts<P: Parameters>(device: &mut Keyed<P>, key: &PrivateKey, count: usize) {
    let (ciphertexts, plaintexts) = random_ciphertexts(key, count);
    assert!(device.decrypt(&ciphertexts).unwrap() == plaintexts, "{count} ciphertexts of key {}", key.public().id());
    assert!(key.decrypt(&ciphertexts).unwrap() == plaintexts);
    assert!(PaperKey::new(key).unwrap().decrypt(Decryption::Ecrt, &ciphertexts).unwrap() == plaintexts);
}
