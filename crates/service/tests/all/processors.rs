//! Devices that fail, stall, return wrong results or panic are quarantined, and their work is
//! repeated elsewhere.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use crate::common::*;
use hearith_device::{Counters, DecryptingDevice, Device, Error as DeviceError};
use hearith_paillier::{Ciphertexts, DecryptError, DecryptionBackend, Plaintexts, PublicKey};
use hearith_service::processor::Decryptor;
use hearith_service::scheduler::Worker;

/// How a device handles a batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    /// Decrypts.
    Right,
    /// Returns a wrong plaintext in one row.
    Lies,
    /// Returns too few rows.
    Short,
    /// Reports that it failed.
    Fails,
    /// Panics.
    Panics,
    /// Answers correctly, but after a long time.
    Stalls,
}

const STALL: Duration = Duration::from_secs(5);

#[derive(Debug)]
struct Fake {
    way: Way,
    asked: Arc<AtomicUsize>,
}

impl DecryptionBackend for Fake {
    fn public(&self) -> &PublicKey {
        KEY.public()
    }

    fn decrypt(&self, ciphertexts: &Ciphertexts) -> Result<Plaintexts, DecryptError> {
        self.asked.fetch_add(1, Ordering::SeqCst);
        let right = KEY.decrypt(ciphertexts)?;
        match self.way {
            Way::Right => Ok(right),
            Way::Lies => {
                let mut bytes = right.to_be_bytes();
                let last = bytes.len() - 1;
                bytes[last] ^= 1;
                Ok(KEY.public().plaintexts_from_be(&bytes)?)
            }
            Way::Short => Ok(right.range(0..right.len() - 1)?),
            Way::Fails => Err(DecryptError::Device("the link is down".into())),
            Way::Panics => panic!("a driver that breaks down"),
            Way::Stalls => {
                thread::sleep(STALL);
                Ok(right)
            }
        }
    }
}

impl Device for Fake {
    fn describe(&self) -> String {
        format!("{:?}", self.way)
    }

    fn counters(&mut self) -> Result<Counters, DeviceError> {
        Ok(Counters::default())
    }

    fn batch_size(&self) -> usize {
        16
    }
}

impl DecryptingDevice for Fake {}

fn device(way: Way) -> (Worker, Arc<AtomicUsize>) {
    let asked = Arc::new(AtomicUsize::new(0));
    let fake = Fake { way, asked: asked.clone() };
    (Worker::device(Decryptor::new("fake", KEY.clone(), Box::new(fake))), asked)
}

#[test]
fn a_device_decrypts_in_place_of_the_cpu() {
    let (member, asked) = device(Way::Right);
    let server = start_with(|options| {
        options.devices = vec![member];
        options.cpu_fallback_only = true;
    });
    let remote = remote(&server, KEY.public());
    // The device does not encrypt, so the CPU does.
    let ciphertexts = remote.encrypt(&plaintexts(KEY.public(), 100)).unwrap();
    assert_eq!(integers(KEY.public(), &remote.decrypt(&ciphertexts).unwrap()), numbers(100));
    assert!(asked.load(Ordering::SeqCst) > 0);
    assert_eq!(metric(&server, "hearith_batch_rows_sum{processor=\"fake\",operation=\"decrypt\"}"), 100.0);
    assert_eq!(server.quarantined(), [""; 0]);
}

#[test]
fn work_is_shared_out_among_devices_and_the_cpu() {
    let ((first, first_asked), (second, second_asked)) = (device(Way::Right), device(Way::Right));
    let server = start_with(|options| options.devices = vec![first, second]);
    let ciphertexts = KEY.public().encrypt(&plaintexts(KEY.public(), 128)).unwrap();
    thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                let remote = remote(&server, KEY.public());
                for _ in 0..20 {
                    assert_eq!(integers(KEY.public(), &remote.decrypt(&ciphertexts).unwrap()), numbers(128));
                }
            });
        }
    });
    let of = |processor: &str| metric(&server, &format!("hearith_batch_rows_sum{{processor=\"{processor}\""));
    let cpu = of(KEY.public().engine().name());
    assert!(first_asked.load(Ordering::SeqCst) > 0 && second_asked.load(Ordering::SeqCst) > 0 && cpu > 0.0);
    assert_eq!(of("fake") + cpu, 8.0 * 20.0 * 128.0);
}

#[test]
fn what_a_bad_device_was_given_is_done_elsewhere() {
    for way in [Way::Lies, Way::Short, Way::Fails, Way::Panics] {
        let ((bad, asked), (good, _)) = (device(way), device(Way::Right));
        let server = start_with(|options| {
            options.devices = vec![bad, good];
            options.cpu_fallback_only = true;
        });
        let ciphertexts = KEY.public().encrypt(&plaintexts(KEY.public(), 8)).unwrap();
        thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    let remote = remote(&server, KEY.public());
                    for _ in 0..20 {
                        assert_eq!(
                            integers(KEY.public(), &remote.decrypt(&ciphertexts).unwrap()),
                            numbers(8),
                            "{way:?}"
                        );
                    }
                });
            }
        });
        assert_eq!(server.quarantined(), ["fake"], "{way:?}");
        assert_eq!(asked.load(Ordering::SeqCst), 1, "{way:?}: it is not asked again");
        assert_eq!(metric(&server, "hearith_set_aside "), 1.0);
        assert!(metric(&server, "hearith_redone_total") >= 1.0);
        assert_eq!(metric(&server, "hearith_requests_total{operation=\"decrypt\",outcome=\"ok\"}"), 160.0, "{way:?}");
    }
}

#[test]
fn a_device_that_stalls_is_set_aside_and_its_late_answer_dropped() {
    let (stalling, asked) = device(Way::Stalls);
    let server = start_with(|options| {
        options.devices = vec![stalling];
        options.cpu_fallback_only = true;
        options.limits.device_timeout = Duration::from_millis(100);
    });
    let remote = remote(&server, KEY.public());
    let ciphertexts = remote.encrypt(&plaintexts(KEY.public(), 8)).unwrap();
    let started = Instant::now();
    assert_eq!(integers(KEY.public(), &remote.decrypt(&ciphertexts).unwrap()), numbers(8));
    assert!(started.elapsed() < STALL, "the answer does not wait for the device");
    assert_eq!(server.quarantined(), ["fake"]);
    thread::sleep(STALL);
    assert_eq!(integers(KEY.public(), &remote.decrypt(&ciphertexts).unwrap()), numbers(8));
    assert_eq!(asked.load(Ordering::SeqCst), 1);
    assert_eq!(metric(&server, "hearith_requests_total{operation=\"decrypt\",outcome=\"ok\"}"), 2.0);
}

/// An invalid row is its client's fault, not the device's.
#[test]
fn a_wrong_row_sets_no_device_aside_and_fails_no_other_request() {
    let (member, _) = device(Way::Right);
    let server = start_with(|options| {
        options.devices = vec![member];
        options.cpu_fallback_only = true;
    });
    let public = KEY.public();
    let good = public.encrypt(&plaintexts(public, 3)).unwrap();
    let p: Vec<u8> = KEY.primes()[0].iter().rev().flat_map(|limb| limb.to_be_bytes()).collect();
    let mut bytes = vec![0; public.ciphertext_bytes()];
    let start = bytes.len() - p.len();
    bytes[start..].copy_from_slice(&p);
    let bad = public.ciphertexts_from_be(&bytes).unwrap();
    thread::scope(|scope| {
        for client in 0..12 {
            let (server, good, bad) = (&server, &good, &bad);
            scope.spawn(move || {
                let remote = remote(server, public);
                for _ in 0..10 {
                    match client % 3 {
                        0 => assert_eq!(remote.decrypt(bad).unwrap_err().row(), Some(0)),
                        _ => assert_eq!(integers(public, &remote.decrypt(good).unwrap()), numbers(3)),
                    }
                }
            });
        }
    });
    assert_eq!(server.quarantined(), [""; 0]);
}
