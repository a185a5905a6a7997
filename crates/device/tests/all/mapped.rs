//! The memory-mapped transport against a device in software. Its registers are behind a window, its
//! streams behind descriptors. The stream to the device keeps packet boundaries, as a DMA engine
//! does; the stream from it does not.

use std::error::Error as _;
use std::fs::File;
use std::io::{self, PipeWriter, Write, pipe};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixDatagram;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use crate::common::{is, key, random_ciphertexts};
use crate::fake::{BITS, FakeMesa, HEADER, PLAINTEXT, register};
use hearith_device::mesa::{Loaded, Mesa, MesaParameters};
use hearith_device::{ErrorKind, Mapping, MemoryMapped, Transport, Trust, Window};
use hearith_paillier::{Ciphertexts, DecryptError, DecryptionBackend};

const WINDOW: usize = register::WINDOW as usize;
const CLOCK: u64 = 100_000_000;

/// The fault of the answer to the next packet with items.
#[derive(Clone, Copy)]
enum Fault {
    /// The answer is sent later by this time.
    Late(Duration),
    /// Only this many bytes of the answer are sent.
    Cut(usize),
    /// The packet was truncated to this many bytes on its way to the device.
    Question(usize),
    /// This many bytes of the answer are sent, and then the stream is closed.
    Closed(usize),
}

/// A board: the device, and a thread that transports packets.
struct Board {
    device: Arc<Mutex<FakeMesa>>,
    fault: Arc<Mutex<Option<Fault>>>,
    gone: Arc<AtomicBool>,
    stop: Arc<AtomicBool>,
    carrier: Option<JoinHandle<()>>,
}

/// The registers of the device. As over a bus with posted writes, refused reads return all ones and
/// refused writes return nothing.
struct Registers {
    device: Arc<Mutex<FakeMesa>>,
    gone: Arc<AtomicBool>,
}

impl Window for Registers {
    fn read(&mut self, address: u32) -> Option<u32> {
        let gone = self.gone.load(Ordering::Relaxed);
        Some(if gone { u32::MAX } else { self.device.lock().unwrap().read(address).unwrap_or(u32::MAX) })
    }

    fn write(&mut self, address: u32, value: u32) -> Option<()> {
        if !self.gone.load(Ordering::Relaxed) {
            let _ = self.device.lock().unwrap().write(address, value);
        }
        Some(())
    }
}

impl Board {
    /// A board, its transport, and the other end of its interrupt.
    fn new() -> (Self, MemoryMapped<Registers>, OwnedFd) {
        let (to_device, from_host) = UnixDatagram::pair().unwrap();
        let (from_device, to_host) = pipe().unwrap();
        let (interrupt, line) = UnixDatagram::pair().unwrap();
        from_host.set_read_timeout(Some(Duration::from_millis(10))).unwrap();
        line.set_nonblocking(true).unwrap();
        let mut board = Self {
            device: Arc::new(Mutex::new(FakeMesa::new())),
            fault: Arc::default(),
            gone: Arc::default(),
            stop: Arc::default(),
            carrier: None,
        };
        let registers = Registers { device: board.device.clone(), gone: board.gone.clone() };
        let (device, fault) = (board.device.clone(), board.fault.clone());
        let (gone, stop) = (board.gone.clone(), board.stop.clone());
        board.carrier = Some(thread::spawn(move || {
            let mut to_host = Some(to_host);
            let mut packet = vec![0; 1 << 16];
            while !stop.load(Ordering::Relaxed) {
                let Ok(bytes) = from_host.recv(&mut packet) else { continue };
                if !gone.load(Ordering::Relaxed) {
                    carry(&device, &packet[..bytes], &fault, &mut to_host);
                    ring(&device, &line);
                }
            }
        }));
        let (input, output) = (OwnedFd::from(to_device), OwnedFd::from(from_device));
        let transport = MemoryMapped::with_window("fake".into(), registers, input, output, CLOCK).unwrap();
        (board, transport, OwnedFd::from(interrupt))
    }

    fn set(&self, fault: Fault) {
        *self.fault.lock().unwrap() = Some(fault);
    }
}

impl Drop for Board {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        let _ = self.carrier.take().map(JoinHandle::join);
    }
}

/// Transports a packet to the device, and its answers back in pieces, as a stream may.
fn carry(device: &Mutex<FakeMesa>, packet: &[u8], fault: &Mutex<Option<Fault>>, to_host: &mut Option<PipeWriter>) {
    let fault = if packet.len() > HEADER { fault.lock().unwrap().take() } else { None };
    let kept = match fault {
        Some(Fault::Question(bytes)) => bytes,
        _ => packet.len(),
    };
    let answers: Vec<Vec<u8>> = {
        let mut device = device.lock().unwrap();
        device.take(&packet[..kept]);
        device.answers.drain(..).collect()
    };
    for mut answer in answers {
        match fault {
            Some(Fault::Late(time)) => thread::sleep(time),
            Some(Fault::Cut(bytes) | Fault::Closed(bytes)) => answer.truncate(bytes),
            _ => {}
        }
        for piece in answer.chunks(24) {
            let _ = to_host.as_mut().map(|to_host| to_host.write_all(piece));
        }
    }
    if matches!(fault, Some(Fault::Closed(_))) {
        *to_host = None;
    }
}

/// Raises the interrupt if the device does.
fn ring(device: &Mutex<FakeMesa>, line: &UnixDatagram) {
    let mut device = device.lock().unwrap();
    let (happened, enabled) = (device.read(register::INTERRUPT), device.read(register::INTERRUPT_ENABLE));
    if happened.unwrap() & enabled.unwrap() != 0 {
        let _ = line.send(&1_u32.to_ne_bytes());
    }
}

/// Expects the work to take less than this many seconds. The transport's margin is one second: once
/// until a batch fails, and once more until both sides are synchronised again.
fn within<T>(seconds: f64, work: impl FnOnce() -> T) -> T {
    let start = Instant::now();
    let result = work();
    let taken = start.elapsed().as_secs_f64();
    assert!(taken < seconds, "{taken} seconds instead of {seconds}");
    result
}

#[test]
fn decrypts_through_registers_and_streams() {
    let (key, (_board, transport, _)) = (key(BITS), Board::new());
    let (ciphertexts, plaintexts) = random_ciphertexts(&key, 30);
    let mut device = Mesa::open(Box::new(transport)).unwrap();
    device.load_key(&key).unwrap();
    assert!(device.decrypt(&ciphertexts).unwrap() == plaintexts);
    assert_eq!(device.counters().unwrap().delivered, 32);
}

/// A device with a key loaded decrypts like the key itself, from any thread.
#[test]
fn a_loaded_device_decrypts_as_the_key_does() {
    let (key, (board, transport, _)) = (key(BITS), Board::new());
    let (ciphertexts, plaintexts) = random_ciphertexts(&key, 10);
    for trust in [Trust::Checked, Trust::Unchecked] {
        let (_board, transport, _) = Board::new();
        let device = Loaded::<MesaParameters>::boxed(Box::new(transport), &key, trust).unwrap();
        thread::scope(|scope| {
            assert_eq!(device.public().id(), key.public().id());
            assert!(
                device.batch_size() > 0 && device.describe() == "fake, N = 128 with 4 MEs",
                "{}",
                device.describe()
            );
            let backends: [&dyn DecryptionBackend; 3] = [&key, &*device, &*device];
            let decrypted = backends.map(|backend| scope.spawn(|| backend.decrypt(&ciphertexts).unwrap()));
            assert!(decrypted.into_iter().all(|thread| thread.join().unwrap() == plaintexts));
        });
    }
    // Dropping the driver wipes the device.
    let mut device = Mesa::open(Box::new(transport)).unwrap();
    device.load_key(&key).unwrap();
    assert!(!board.device.lock().unwrap().is_wiped());
    drop(device);
    assert!(board.device.lock().unwrap().is_wiped());
}

#[test]
fn a_loaded_device_tells_wrong_ciphertexts_from_failures() {
    let (key, (board, transport, _)) = (key(BITS), Board::new());
    let device = Loaded::<MesaParameters>::open(Box::new(transport), &key, Trust::Checked).unwrap();
    let decrypt = |ciphertexts: &Ciphertexts| device.decrypt(ciphertexts).unwrap_err();
    // n itself in the second row.
    let mut bytes = random_ciphertexts(&key, 3).0.to_be_bytes();
    bytes[32..48].fill(0);
    bytes[48..64].copy_from_slice(&key.public().modulus_be());
    let wrong = key.public().ciphertexts_from_be(&bytes).unwrap();
    let DecryptError::Ciphertexts(error) = decrypt(&wrong) else { panic!("a failure of the device") };
    assert_eq!(error, key.decrypt(&wrong).unwrap_err());
    assert_eq!(error.row(), Some(1));
    board.set(Fault::Closed(5));
    let error = decrypt(&random_ciphertexts(&key, 3).0);
    assert!(matches!(&error, DecryptError::Device(_)), "{error}");
    let cause = error.source().unwrap().downcast_ref::<hearith_device::Error>().unwrap();
    assert!(matches!(cause.kind(), ErrorKind::CutShort { bytes: 5, .. }), "{cause}");
    // The stream stays closed.
    assert!(matches!(decrypt(&random_ciphertexts(&key, 3).0), DecryptError::Device(_)));
}

/// Answers that are truncated, late or missing cause an error within twice the device's time limit,
/// and the next batch is right. Data in flight is not taken for its answer.
#[test]
fn both_sides_agree_again_after_a_failure() {
    let (key, (board, transport, _)) = (key(BITS), Board::new());
    let mut device = Mesa::open(Box::new(transport)).unwrap();
    device.load_key(&key).unwrap();
    let stalled = |received| ErrorKind::Stalled { sent: 7, received, expected: 7 };
    let faults = [
        (Fault::Cut(0), stalled(0)),
        (Fault::Cut(HEADER + 2 * PLAINTEXT), stalled(2)),
        (Fault::Cut(HEADER + 2 * PLAINTEXT + 5), stalled(2)),
        // Late enough that the driver has given up and sent its marks.
        (Fault::Late(Duration::from_millis(1200)), stalled(0)),
        // The device was waiting for the rest of a packet, and reports it.
        (Fault::Question(HEADER + 40), ErrorKind::Dropped),
    ];
    for (fault, kind) in faults {
        let (first, second) = (random_ciphertexts(&key, 5), random_ciphertexts(&key, 8));
        board.set(fault);
        is(&within(4.0, || device.decrypt(&first.0).unwrap_err()), kind);
        assert!(within(0.9, || device.decrypt(&second.0).unwrap()) == second.1);
    }
}

/// With an interrupt, an error that the device records is noticed at once instead of after the time
/// limit.
#[test]
fn an_interrupt_tells_of_an_error_at_once() {
    let (key, (board, transport, interrupt)) = (key(BITS), Board::new());
    let mut device = Mesa::open(Box::new(transport.with_interrupt(interrupt).unwrap())).unwrap();
    device.load_key(&key).unwrap();
    for _ in 0..3 {
        let (ciphertexts, plaintexts) = random_ciphertexts(&key, 5);
        board.set(Fault::Question(HEADER + 40));
        is(&within(0.9, || device.decrypt(&ciphertexts).unwrap_err()), ErrorKind::Dropped);
        assert!(within(0.9, || device.decrypt(&ciphertexts).unwrap()) == plaintexts);
        // An interrupt without a cause.
        ring_for_nothing(&board);
        assert!(device.decrypt(&ciphertexts).unwrap() == plaintexts);
    }
}

/// Creates a cause that is cleared before the driver looks.
fn ring_for_nothing(board: &Board) {
    let mut device = board.device.lock().unwrap();
    device.read(0x3).unwrap_err();
    device.write(register::ERROR, u32::MAX).unwrap();
}

#[test]
fn a_device_that_has_gone_is_declared_gone() {
    let (key, (board, transport, _)) = (key(BITS), Board::new());
    let mut device = Mesa::open(Box::new(transport)).unwrap();
    device.load_key(&key).unwrap();
    let (ciphertexts, plaintexts) = random_ciphertexts(&key, 5);
    board.gone.store(true, Ordering::Relaxed);
    is(&within(3.0, || device.decrypt(&ciphertexts).unwrap_err()), ErrorKind::Vanished);
    for _ in 0..3 {
        is(&within(0.9, || device.load_key(&key).unwrap_err()), ErrorKind::Vanished);
    }
    board.device.lock().unwrap().reset();
    board.gone.store(false, Ordering::Relaxed);
    device.load_key(&key).unwrap();
    assert!(device.decrypt(&ciphertexts).unwrap() == plaintexts);
}

/// A file with these words, to be mapped as the window.
fn file_window(words: &[(u32, u32)]) -> File {
    let file = tempfile::tempfile().unwrap();
    file.set_len(WINDOW as u64).unwrap();
    for &(address, word) in words {
        std::os::unix::fs::FileExt::write_all_at(&file, &word.to_le_bytes(), address.into()).unwrap();
    }
    file
}

fn over_file(window: &File) -> MemoryMapped<Mapping> {
    let ((_, to_device), (from_device, _)) = (pipe().unwrap(), pipe().unwrap());
    let streams = (OwnedFd::from(to_device), OwnedFd::from(from_device));
    MemoryMapped::new("fake".into(), window, (0, WINDOW), streams.0, streams.1, CLOCK).unwrap()
}

#[test]
fn registers_are_where_the_window_has_them() {
    let window = file_window(&[(0, 7), (0x1_2340, 0x0102_0304)]);
    let mut transport = over_file(&window);
    assert_eq!([transport.read(0).unwrap(), transport.read(0x1_2340).unwrap()], [7, 0x0102_0304]);
    transport.write(WINDOW as u32 - 4, 0x1122_3344).unwrap();
    let mut bytes = [0; 4];
    std::os::unix::fs::FileExt::read_exact_at(&window, &mut bytes, WINDOW as u64 - 4).unwrap();
    assert_eq!(bytes, 0x1122_3344_u32.to_le_bytes());
    assert!(format!("{transport:?}").contains("fake"));
    for address in [WINDOW as u32, u32::MAX - 3, 2] {
        is(&transport.read(address).unwrap_err(), ErrorKind::Refused { address });
        is(&transport.write(address, 0).unwrap_err(), ErrorKind::Refused { address });
    }
}

#[test]
fn another_device_is_recognised() {
    let error = Mesa::open(Box::new(over_file(&file_window(&[])))).unwrap_err();
    is(&error, ErrorKind::WrongDevice { expected: "MESA", found: 0 });
    let error = Mesa::open(Box::new(over_file(&file_window(&[(0, u32::MAX)])))).unwrap_err();
    is(&error, ErrorKind::Vanished);
    let mesa = u32::from_be_bytes(*b"MESA");
    let error = Mesa::open(Box::new(over_file(&file_window(&[(0, mesa), (4, 1)])))).unwrap_err();
    is(&error, ErrorKind::UnknownParameters { name: "MESA" });
    let missing = Path::new("/nowhere/uio0");
    let error = MemoryMapped::open(missing, (0, WINDOW), missing, missing, CLOCK).unwrap_err();
    assert!(
        matches!(error.kind(), ErrorKind::Io { .. }) && error.to_string().starts_with("/nowhere/uio0: "),
        "{error}"
    );
    // The operating system's own error is kept.
    let cause = error.source().and_then(|cause| cause.downcast_ref::<Arc<io::Error>>()).unwrap();
    assert_eq!(cause.kind(), io::ErrorKind::NotFound);
}
