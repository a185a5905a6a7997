//! Devices compute with public keys instead of the CPU, whichever key a batch has. Faulty ones are
//! quarantined.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use crate::common::*;
use hearith_device::{
    Computes, ComputingDevice, Counters, Device, DeviceProvider, Error as DeviceError, ErrorKind, State, System, Trust,
};
use hearith_paillier::{
    Ciphertexts, ComputeError, Engine, KeyPolicy, Plaintexts, PrivateKey, PublicKey, PublicKeyBackend, Variant,
};
use hearith_service::processor::Computer;
use hearith_service::scheduler::Worker;
use hearith_service::server::Server;

static FAKE: System = System { name: "fake", does: "computes" };
const STALL: Duration = Duration::from_secs(3);

/// How a device handles a batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    /// Computes correctly.
    Right,
    /// Returns too few rows.
    Short,
    /// Reports that it failed, or that its driver detected a wrong result.
    Fails,
    /// Panics.
    Panics,
    /// Answers correctly, but after a long time.
    Stalls,
}

/// Devices for keys of [`BITS`] bits.
#[derive(Clone, Debug)]
struct Fakes {
    way: Way,
    loaded: Arc<AtomicUsize>,
    asked: Arc<AtomicUsize>,
}

impl DeviceProvider for Fakes {
    fn system(&self) -> &'static System {
        &FAKE
    }

    fn state(&self) -> State {
        State { available: true, description: String::new(), requires: "" }
    }

    fn computes(&self) -> Option<&dyn Computes> {
        Some(self)
    }
}

impl Computes for Fakes {
    fn load_public(&self, key: &PublicKey, trust: Trust) -> Result<Box<dyn ComputingDevice>, DeviceError> {
        assert_eq!(trust, Trust::Checked, "no device is believed");
        if key.bits() != BITS {
            return Err(ErrorKind::KeySize { bits: key.bits(), takes: BITS }.into());
        }
        self.loaded.fetch_add(1, Ordering::SeqCst);
        Ok(Box::new(Fake { kind: self.clone(), key: key.clone() }))
    }
}

#[derive(Debug)]
struct Fake {
    kind: Fakes,
    key: PublicKey,
}

impl Fake {
    fn done(&self, right: Ciphertexts) -> Result<Ciphertexts, ComputeError> {
        self.kind.asked.fetch_add(1, Ordering::SeqCst);
        match self.kind.way {
            Way::Right => Ok(right),
            Way::Short => Ok(right.range(0..right.len() - 1)?),
            Way::Fails => Err(ComputeError::Service("a row is wrong".into())),
            Way::Panics => panic!("a driver that breaks down"),
            Way::Stalls => {
                thread::sleep(STALL);
                Ok(right)
            }
        }
    }
}

impl PublicKeyBackend for Fake {
    fn public(&self) -> &PublicKey {
        &self.key
    }

    fn encrypt(&self, plaintexts: &Plaintexts) -> Result<Ciphertexts, ComputeError> {
        self.done(self.key.encrypt(plaintexts)?)
    }

    fn rerandomise(&self, ciphertexts: &Ciphertexts) -> Result<Ciphertexts, ComputeError> {
        self.done(self.key.rerandomise(ciphertexts)?)
    }

    fn add(&self, a: &Ciphertexts, b: &Ciphertexts) -> Result<Ciphertexts, ComputeError> {
        self.done(self.key.add(a, b)?)
    }

    fn multiply(&self, ciphertexts: &Ciphertexts, scalars: &[i128], bits: u32) -> Result<Ciphertexts, ComputeError> {
        self.done(self.key.multiply_deterministic(ciphertexts, scalars, bits)?)
    }

    fn sum_groups(&self, ciphertexts: &Ciphertexts, groups: &[Vec<u32>]) -> Result<Ciphertexts, ComputeError> {
        self.done(self.key.sum_groups(ciphertexts, groups)?)
    }
}

impl Device for Fake {
    fn describe(&self) -> String {
        format!("{:?}", self.kind.way)
    }

    fn counters(&mut self) -> Result<Counters, DeviceError> {
        Ok(Counters::default())
    }

    fn batch_size(&self) -> usize {
        16
    }
}

impl ComputingDevice for Fake {}

fn fakes(way: Way) -> Fakes {
    Fakes { way, loaded: Arc::default(), asked: Arc::default() }
}

fn member(fakes: &Fakes) -> Worker {
    Worker::device(Computer::new(Box::leak(Box::new(fakes.clone()))).unwrap())
}

/// A server with these devices that leaves to them everything that they support.
fn server(devices: &[&Fakes], patience: Duration) -> Server {
    start_with(|options| {
        options.devices = devices.iter().map(|fakes| member(fakes)).collect();
        options.cpu_fallback_only = true;
        options.limits.device_timeout = patience;
    })
}

/// The number of rows that a processor was given.
fn rows(server: &Server, processor: &str) -> f64 {
    metric(server, &format!("hearith_batch_rows_sum{{processor=\"{processor}\""))
}

#[test]
fn a_device_computes_with_the_key_of_each_batch() {
    let fakes = fakes(Way::Right);
    let server = server(&[&fakes], Duration::from_secs(60));
    for key in [&*KEY, &*DJN, &*KEY] {
        let (public, remote) = (key.public(), remote(&server, key.public()));
        let ciphertexts = remote.encrypt(&plaintexts(public, 100)).unwrap();
        assert_eq!(opened(key, &ciphertexts), numbers(100));
        let others = remote.rerandomise(&ciphertexts).unwrap();
        assert!(others != ciphertexts && opened(key, &others) == numbers(100));
        assert_eq!(remote.add(&ciphertexts, &others).unwrap(), public.add(&ciphertexts, &others).unwrap());
        let scalars = numbers(100);
        let products = remote.multiply(&ciphertexts, &scalars, 40).unwrap();
        assert_eq!(products, public.multiply_deterministic(&ciphertexts, &scalars, 40).unwrap());
        let groups = [(0..50).collect(), (50..100).collect()];
        assert_eq!(
            remote.sum_groups(&ciphertexts, &groups).unwrap(),
            public.sum_groups(&ciphertexts, &groups).unwrap()
        );
    }
    assert_eq!(fakes.loaded.load(Ordering::SeqCst), 3, "once for each change of keys");
    assert_eq!(rows(&server, "fake"), 3.0 * 500.0);
    assert_eq!(rows(&server, KEY.public().engine().name()), 0.0);
}

/// Registering an unsuitable key does not take the device from other clients.
#[test]
fn keys_that_do_not_fit_are_the_cpus_and_set_no_device_aside() {
    let fakes = fakes(Way::Right);
    let server = server(&[&fakes], Duration::from_secs(60));
    let large = PrivateKey::generate(2 * BITS, Variant::Djn, KeyPolicy::AllowInsecure, Engine::best()).unwrap();
    thread::scope(|scope| {
        for key in [&*KEY, &large] {
            for _ in 0..4 {
                scope.spawn(|| {
                    let remote = remote(&server, key.public());
                    for _ in 0..10 {
                        let ciphertexts = remote.encrypt(&plaintexts(key.public(), 5)).unwrap();
                        assert_eq!(opened(key, &ciphertexts), numbers(5));
                    }
                });
            }
        }
    });
    assert_eq!(server.quarantined(), [""; 0]);
    assert_eq!(rows(&server, KEY.public().engine().name()), 200.0);
    assert!(rows(&server, "fake") >= 200.0);
}

#[test]
fn what_a_bad_device_was_given_is_computed_elsewhere() {
    for way in [Way::Short, Way::Fails, Way::Panics, Way::Stalls] {
        let (bad, good) = (fakes(way), fakes(Way::Right));
        let server = server(&[&bad, &good], Duration::from_millis(200));
        thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    let remote = remote(&server, KEY.public());
                    for _ in 0..10 {
                        let ciphertexts = remote.encrypt(&plaintexts(KEY.public(), 8)).unwrap();
                        assert_eq!(opened(&KEY, &ciphertexts), numbers(8), "{way:?}");
                    }
                });
            }
        });
        assert_eq!(server.quarantined(), ["fake"], "{way:?}");
        assert_eq!(bad.asked.load(Ordering::SeqCst), 1, "{way:?}: it is not asked again");
        assert!(good.asked.load(Ordering::SeqCst) > 0);
        assert_eq!(metric(&server, "hearith_requests_total{operation=\"encrypt\",outcome=\"ok\"}"), 80.0, "{way:?}");
    }
}
