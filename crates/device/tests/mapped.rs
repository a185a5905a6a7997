//! The memory-mapped transport against a fake: a file as register window, and a thread behind two pipes that decrypts as
//! the hardware does.

#![cfg(unix)]

mod common;

use std::error::Error as _;
use std::fs::File;
use std::io::{self, PipeReader, PipeWriter, Read, Write, pipe};
use std::os::fd::OwnedFd;
use std::os::unix::fs::FileExt;
use std::sync::Arc;
use std::thread;

use common::{is, key, random_ciphertexts};
use hearith_device::mesa::{Loaded, Mesa, MesaParameters};
use hearith_device::{Error, ErrorKind, Exchange, Marks, MemoryMapped, Transport, Trust};
use hearith_paillier::{Ciphertexts, Decrypt, DecryptError, PrivateKey};

const BITS: u32 = 128;
const WINDOW: usize = 0x2_0000;
const CLOCK: u64 = 100_000_000;
const EPOCH: u32 = 0x0c;
const CONTROL: u32 = 0x10;
const STATUS: u32 = 0x14;
const ERROR: u32 = 0x18;
const KEY_CHECK: u32 = 0x28;
const PARAMETERS: u64 = 0x80;
const KEY: u32 = 0x1_0000;
const HEADER: usize = 8;

/// The identity, version and parameters of a MESA of 128 bits.
fn registers() -> File {
    let file = tempfile::tempfile().unwrap();
    file.set_len(WINDOW as u64).unwrap();
    let bytes = |words: &[u32]| -> Vec<u8> { words.iter().flat_map(|word| word.to_le_bytes()).collect() };
    file.write_all_at(&bytes(&[u32::from_be_bytes(*b"MESA"), 2]), 0).unwrap();
    file.write_all_at(&bytes(&[BITS, 2, 0x1_0210, 64, 176, 2 * BITS + 2, 578, 0]), PARAMETERS).unwrap();
    file
}

/// A transport, and the other ends of its streams.
fn transport(window: &File) -> (Board, PipeReader, PipeWriter) {
    let (from_host, to_device) = pipe().unwrap();
    let (from_device, to_host) = pipe().unwrap();
    let streams = (OwnedFd::from(to_device), OwnedFd::from(from_device));
    let transport = MemoryMapped::new("fake".into(), window, (0, WINDOW), streams.0, streams.1, CLOCK).unwrap();
    (Board { transport, window: window.try_clone().unwrap(), sum: u32::MAX }, from_host, to_host)
}

/// A mapped device whose registers react to what is written, in the file beneath the mapping.
struct Board {
    transport: MemoryMapped,
    window: File,
    /// CRC-32 of the words since word 0 of a region, without the inversion at the end.
    sum: u32,
}

impl Board {
    fn put(&self, address: u32, value: u32) {
        self.window.write_all_at(&value.to_le_bytes(), address.into()).unwrap();
    }
}

impl Transport for Board {
    fn describe(&self) -> String {
        self.transport.describe()
    }

    fn read(&mut self, address: u32) -> Result<u32, Error> {
        self.transport.read(address)
    }

    fn write(&mut self, address: u32, value: u32) -> Result<(), Error> {
        self.transport.write(address, value)?;
        match address {
            ERROR => self.put(ERROR, 0),
            CONTROL => {
                let ready = self.transport.read(STATUS)? == 1;
                self.put(STATUS, u32::from((ready || value & 1 != 0) && value & 4 == 0));
                if value & 6 != 0 {
                    let epoch = self.transport.read(EPOCH)?;
                    self.put(EPOCH, epoch + 1);
                }
            }
            KEY.. => {
                self.sum = if address.is_multiple_of(0x800) { u32::MAX } else { self.sum } ^ value;
                for _ in 0..32 {
                    self.sum = self.sum >> 1 ^ if self.sum & 1 == 1 { 0xedb8_8320 } else { 0 };
                }
                self.put(KEY_CHECK, !self.sum);
            }
            _ => (),
        }
        Ok(())
    }

    fn exchange(&mut self, exchange: Exchange<'_>) -> Result<(), Error> {
        self.transport.exchange(exchange)
    }

    fn synchronise(&mut self, marks: Marks<'_>) -> Result<(), Error> {
        self.transport.synchronise(marks)
    }
}

/// Echoes the header of every packet, and answers up to `count` ciphertexts in all, little end first, with their plaintexts. Ends when
/// there are more, or the pipe is closed.
fn decrypt_behind_pipes(mut from_host: PipeReader, mut to_host: PipeWriter, key: &PrivateKey, mut count: usize) {
    let public = key.public();
    let mut header = [0; HEADER];
    while from_host.read_exact(&mut header).is_ok() {
        to_host.write_all(&header).unwrap();
        for _ in 0..u16::from_le_bytes([header[6], header[7]]) {
            let mut packet = vec![0; 2 * BITS as usize / 8];
            from_host.read_exact(&mut packet).unwrap();
            let Some(left) = count.checked_sub(1) else { return };
            count = left;
            packet.reverse();
            let plaintext = key.decrypt(&public.ciphertexts_from_be(&packet).unwrap()).unwrap();
            let mut bytes = plaintext.to_be_bytes().to_vec();
            bytes.reverse();
            // In pieces, as a stream may come.
            let (first, second) = bytes.split_at(8);
            to_host.write_all(first).unwrap();
            to_host.write_all(second).unwrap();
        }
    }
}

#[test]
fn decrypts_through_registers_and_pipes() {
    let (key, window) = (key(BITS), registers());
    let (transport, from_host, to_host) = transport(&window);
    let (ciphertexts, plaintexts) = random_ciphertexts(&key, 30);
    thread::scope(|scope| {
        scope.spawn(|| decrypt_behind_pipes(from_host, to_host, &key, ciphertexts.len()));
        let mut device = Mesa::open(Box::new(transport)).unwrap();
        device.load_key(&key).unwrap();
        assert!(device.decrypt(&ciphertexts).unwrap() == plaintexts);
    });
}

/// A device with a key in it stands in for the key, from whichever thread.
#[test]
fn a_loaded_device_decrypts_as_the_key_does() {
    let (key, window) = (key(BITS), registers());
    let (transport, from_host, to_host) = transport(&window);
    let (ciphertexts, plaintexts) = random_ciphertexts(&key, 10);
    thread::scope(|scope| {
        scope.spawn(|| decrypt_behind_pipes(from_host, to_host, &key, 2 * ciphertexts.len()));
        let device = Loaded::<MesaParameters>::boxed(Box::new(transport), &key, Trust::Check).unwrap();
        assert_eq!(device.public().id(), key.public().id());
        assert!(device.batch_size() > 0 && device.describe() == "fake, N = 128 with 4 MEs", "{}", device.describe());
        let holders: [&dyn Decrypt; 3] = [&key, &*device, &*device];
        thread::scope(|scope| {
            let decrypted = holders.map(|holder| scope.spawn(|| holder.decrypt(&ciphertexts).unwrap()));
            assert!(decrypted.into_iter().all(|thread| thread.join().unwrap() == plaintexts));
        });
    });
}

#[test]
fn a_loaded_device_tells_wrong_ciphertexts_from_failures() {
    let (key, window) = (key(BITS), registers());
    let (transport, from_host, to_host) = transport(&window);
    // n itself in the second row.
    let mut bytes = random_ciphertexts(&key, 3).0.to_be_bytes();
    bytes[32..48].fill(0);
    bytes[48..64].copy_from_slice(&key.public().modulus_be());
    let wrong = key.public().ciphertexts_from_be(&bytes).unwrap();
    thread::scope(|scope| {
        scope.spawn(|| decrypt_behind_pipes(from_host, to_host, &key, 0));
        let device = Loaded::<MesaParameters>::open(Box::new(transport), &key, Trust::Check).unwrap();
        let decrypt = |ciphertexts: &Ciphertexts| device.decrypt(ciphertexts).unwrap_err();
        let DecryptError::Ciphertexts(error) = decrypt(&wrong) else { panic!("a failure of the device") };
        assert_eq!(error, key.decrypt(&wrong).unwrap_err());
        assert_eq!(error.row(), Some(1));
        // Nothing behind the pipes any more.
        let error = decrypt(&random_ciphertexts(&key, 3).0);
        assert!(matches!(&error, DecryptError::Device(_)), "{error}");
        let cause = error.source().unwrap().downcast_ref::<hearith_device::Error>().unwrap();
        assert!(matches!(cause.kind(), ErrorKind::Io { .. } | ErrorKind::CutShort { .. }), "{cause}");
    });
}

#[test]
fn keys_are_written_where_the_register_map_says() {
    let (key, window) = (key(BITS), registers());
    let (transport, from_host, to_host) = transport(&window);
    thread::scope(|scope| {
        scope.spawn(|| decrypt_behind_pipes(from_host, to_host, &key, 0));
        let mut device = Mesa::open(Box::new(transport)).unwrap();
        device.load_key(&key).unwrap();
        let read = |address: u32| {
            let mut word = [0; 4];
            window.read_exact_at(&mut word, address.into()).unwrap();
            word
        };
        let constant = |number: u32, words: u32| -> Vec<u8> {
            (KEY + number * 0x800..).step_by(4).take(words as usize).flat_map(read).collect()
        };
        let [p, q] = key.primes().map(|prime| prime.iter().flat_map(|limb| limb.to_le_bytes()).collect::<Vec<u8>>());
        assert!(constant(5, BITS / 64) == p);
        assert!(constant(13, BITS / 64) == q);
        let mut n = key.public().modulus_be();
        n.reverse();
        assert!(constant(7, BITS / 32) == n);
        // And the key is declared complete.
        assert_eq!(read(CONTROL), [1, 0, 0, 0]);
    });
}

#[test]
fn a_device_that_stops_is_an_error() {
    let (key, window) = (key(BITS), registers());
    let (transport, from_host, to_host) = transport(&window);
    let (ciphertexts, _) = random_ciphertexts(&key, 5);
    // Two answers, then silence; the pipes stay open.
    let ends = (from_host.try_clone().unwrap(), to_host.try_clone().unwrap());
    thread::scope(|scope| {
        scope.spawn(|| decrypt_behind_pipes(from_host, to_host, &key, 2));
        let mut device = Mesa::open(Box::new(transport)).unwrap();
        device.load_key(&key).unwrap();
        let error = device.decrypt(&ciphertexts).unwrap_err();
        is(&error, ErrorKind::Stalled { sent: 7, received: 2, expected: 7 });
    });
    drop(ends);
}

#[test]
fn a_stream_that_ends_early_is_an_error() {
    let (key, window) = (key(BITS), registers());
    let (transport, from_host, to_host) = transport(&window);
    let (ciphertexts, _) = random_ciphertexts(&key, 5);
    let kept = from_host.try_clone().unwrap();
    thread::scope(|scope| {
        // Two answers and a piece of the third, then the stream is closed.
        scope.spawn(|| {
            let mut piece = to_host.try_clone().unwrap();
            decrypt_behind_pipes(from_host, to_host, &key, 2);
            piece.write_all(&[0; 5]).unwrap();
        });
        let mut device = Mesa::open(Box::new(transport)).unwrap();
        device.load_key(&key).unwrap();
        let error = device.decrypt(&ciphertexts).unwrap_err();
        is(&error, ErrorKind::CutShort { bytes: HEADER + 2 * 16 + 5, expected: HEADER + 7 * 16 });
    });
    drop(kept);
}

/// A bit that changes between the host and the device: the key is not used.
#[test]
fn a_key_that_does_not_arrive_whole_is_not_used() {
    struct Faulty(Board);
    impl Transport for Faulty {
        fn describe(&self) -> String {
            self.0.describe()
        }
        fn read(&mut self, address: u32) -> Result<u32, Error> {
            self.0.read(address)
        }
        fn write(&mut self, address: u32, value: u32) -> Result<(), Error> {
            // The second word of q.
            self.0.write(address, value ^ u32::from(address == KEY + 13 * 0x800 + 4) << 17)
        }
        fn exchange(&mut self, exchange: Exchange<'_>) -> Result<(), Error> {
            self.0.exchange(exchange)
        }
        fn synchronise(&mut self, marks: Marks<'_>) -> Result<(), Error> {
            self.0.synchronise(marks)
        }
    }
    let (key, window) = (key(BITS), registers());
    let (transport, from_host, to_host) = transport(&window);
    thread::scope(|scope| {
        scope.spawn(|| decrypt_behind_pipes(from_host, to_host, &key, 0));
        let mut device = Mesa::open(Box::new(Faulty(transport))).unwrap();
        is(&device.load_key(&key).unwrap_err(), ErrorKind::KeyNotLoaded { region: 13 });
        is(&device.decrypt(&random_ciphertexts(&key, 3).0).unwrap_err(), ErrorKind::NoKey);
        let mut status = [1; 4];
        window.read_exact_at(&mut status, STATUS.into()).unwrap();
        assert_eq!(status, [0; 4]);
    });
}

#[test]
fn registers_outside_the_window_are_refused() {
    let window = registers();
    let (mut transport, ..) = transport(&window);
    for address in [WINDOW as u32, u32::MAX - 3, 2] {
        is(&transport.read(address).unwrap_err(), ErrorKind::Refused { address });
        is(&transport.write(address, 0).unwrap_err(), ErrorKind::Refused { address });
    }
}

#[test]
fn another_device_is_recognised() {
    let window = tempfile::tempfile().unwrap();
    window.set_len(WINDOW as u64).unwrap();
    let error = Mesa::open(Box::new(transport(&window).0)).unwrap_err();
    is(&error, ErrorKind::WrongDevice { expected: "MESA", found: 0 });
    let missing = std::path::Path::new("/nowhere/uio0");
    let error = MemoryMapped::open(missing, (0, WINDOW), missing, missing, CLOCK).unwrap_err();
    assert!(
        matches!(error.kind(), ErrorKind::Io { .. }) && error.to_string().starts_with("/nowhere/uio0: "),
        "{error}"
    );
    // The operating system's own error is kept.
    let cause = error.source().and_then(|cause| cause.downcast_ref::<Arc<io::Error>>()).unwrap();
    assert_eq!(cause.kind(), io::ErrorKind::NotFound);
}
