//! Simulated accelerators of encryption over the integers against the software, through the driver.

mod common;

use std::time::Instant;

use common::{Fault, Shared};
use hearith_arith::Engine;
use hearith_device::dghv::{DGHV, Dghv, MemoryFault};
use hearith_device::{Device, Error, ErrorKind, Exchange, IntegerEncryptingDevice, Marks, Transport, Trust};
use hearith_dghv::{InsecureHistoricalParameters, KeyPair, Lengths, Parameters, PublicKey, Scheme, Size};
use hearith_simulated::designs::{DGHV_SMALL, DGHV_TINY, DGHV_TOY};
use hearith_simulated::{KINDS, Simulated};
use hearith_verilated::Design;
use hearith_verilated::bench::Lie;

fn accelerator(design: &'static Design) -> Dghv {
    Dghv::open(Box::new(Simulated::new(design).unwrap())).unwrap()
}

/// A key far too short for anything but tests.
fn tiny(scheme: Scheme, modulus: u32, elements: u32, coefficient: u32) -> KeyPair {
    let lengths = Lengths {
        security: 8,
        key_noise: 4,
        secret: 640,
        modulus,
        elements,
        coefficient,
        encryption_noise: coefficient,
    };
    key(&Parameters::custom(scheme, lengths).unwrap())
}

fn key(parameters: &Parameters) -> KeyPair {
    KeyPair::generate(parameters, Engine::best(), InsecureHistoricalParameters).unwrap()
}

/// Encrypts bits; every sum must be the software's for the same coefficients, and the ciphertexts must decrypt.
fn encrypts(device: &mut Dghv, key: &KeyPair, bits: &[bool]) {
    let ciphertexts = key.public.encrypt_with(bits, &mut |request| {
        let sums = device.sums(request)?;
        assert!(sums == request.compute(Engine::best())?, "{request:?}");
        Ok::<_, Error>(sums)
    });
    assert_eq!(key.private.decrypt(&ciphertexts.unwrap()).unwrap().as_slice(), bits);
}

fn fails(device: &mut Dghv, key: &PublicKey) -> ErrorKind {
    device.encrypt(key, &[true]).unwrap_err().kind().clone()
}

/// Both schemes, lengths on both sides of words, segments and rows, the longest coefficients that fit; with stalls everywhere too.
#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn encrypts_as_the_software_does() {
    let shapes = [(1152, 1, 1), (1153, 3, 64), (1500, 4, 100), (4096, 2, 505), (4097, 5, 449), (15_872, 2, 300)];
    for (seed, (modulus, elements, coefficient)) in (1..).zip(shapes) {
        for scheme in [Scheme::Cnt, Scheme::Cmnt] {
            let key = tiny(scheme, modulus, elements, coefficient);
            encrypts(&mut accelerator(&DGHV_TINY), &key, &[true]);
            let stalling = Simulated::under_pressure(&DGHV_TINY, seed).unwrap();
            encrypts(&mut Dghv::open(Box::new(stalling)).unwrap(), &key, &[false, true]);
        }
    }
}

/// One device takes one key after another, and a shorter coefficient after a longer one.
#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn keys_follow_each_other() {
    let mut device = accelerator(&DGHV_TINY);
    for coefficient in [500, 20, 300] {
        encrypts(&mut device, &tiny(Scheme::Cnt, 2000, 3, coefficient), &[true, false]);
    }
}

/// The published parameters, smallest first: an encryption, its cycles and products.
fn published(design: &'static Design, size: Size) {
    let key = key(&Parameters::historical(Scheme::Cnt, size));
    let mut device = accelerator(design);
    let start = Instant::now();
    encrypts(&mut device, &key, &[true]);
    let (parameters, lengths) = (device.parameters(), *key.public.parameters().lengths());
    let words = u64::from(lengths.modulus.div_ceil(64) + parameters.limbs);
    let counters = device.counters().unwrap();
    assert_eq!(counters.products, u64::from(lengths.elements) * words * u64::from(parameters.limbs));
    // A word a cycle, and for each term the latency of the memory there and back, the seed's keys, and a packet's share.
    let terms = u64::from(lengths.elements) * (words + 250);
    // Eight words a command to be read and to be wiped.
    let moved = words.div_ceil(8) * 2 * 100;
    println!("{size}: {} cycles in {:?}, at most {}", counters.busy_cycles, start.elapsed(), terms + moved);
    assert!((u64::from(lengths.elements) * words..terms + moved).contains(&counters.busy_cycles));
}

#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn toy_keys_are_encrypted_with() {
    published(&DGHV_TOY, Size::Toy);
}

#[test]
#[ignore = "7.6 million cycles: in test-full"]
fn small_keys_are_encrypted_with() {
    published(&DGHV_SMALL, Size::Small);
}

/// Users choose it by name; the smallest design that a key fits is taken, and what fits none is refused.
#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn a_fitting_design_is_chosen() {
    let kind = KINDS.iter().find(|kind| kind.system() == &DGHV).unwrap();
    let encrypts = kind.encrypts_integers().unwrap();
    let open = |key: &KeyPair| encrypts.load_integers(&key.public, Trust::Check);
    for (modulus, coefficient, name) in
        [(2000, 500, "dghv_tiny"), (15_872, 10, "dghv_tiny"), (15_873, 10, "dghv_toy"), (2000, 520, "dghv_toy")]
    {
        let key = tiny(Scheme::Cnt, modulus, 3, coefficient);
        let mut device = open(&key).unwrap();
        assert_eq!(device.describe(), format!("simulated {name}"));
        let ciphertexts = device.encrypt(&key.public, &[true, false]).unwrap();
        assert_eq!(key.private.decrypt(&ciphertexts).unwrap().as_slice(), [true, false]);
    }
    let long = open(&tiny(Scheme::Cnt, 1_100_000, 1, 10)).err().unwrap();
    assert!(matches!(long.kind(), ErrorKind::ElementTooLong { bits: 1_100_000, .. }), "{long}");
    let mut small = accelerator(&DGHV_TINY);
    let long = fails(&mut small, &tiny(Scheme::Cnt, 15_873, 1, 10).public);
    assert!(matches!(long, ErrorKind::ElementTooLong { bits: 15_873, largest: 15_872 }), "{long}");
    let long = fails(&mut small, &tiny(Scheme::Cnt, 2000, 4, 510).public);
    assert!(matches!(long, ErrorKind::CoefficientTooLong { bits: 510, largest: 512 }), "{long}");
}

/// A memory that does not answer, refuses, lies or is not there: an error that says so, no ciphertext; and the device works again when the memory
/// does, where the protocol was broken after a reset.
#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn what_is_wrong_with_the_memory_is_reported() {
    let key = tiny(Scheme::Cnt, 3000, 3, 100);
    let cases = [
        (Lie::SilentReads, MemoryFault::Silent),
        (Lie::SilentWrites, MemoryFault::Silent),
        (Lie::Deaf, MemoryFault::Silent),
        (Lie::LastEarly, MemoryFault::Misplaced),
        (Lie::LastMissing, MemoryFault::Misplaced),
        (Lie::StrayBeat, MemoryFault::Unasked),
        (Lie::StrayResponse, MemoryFault::Unasked),
        (Lie::WrongId, MemoryFault::Unasked),
    ];
    for (lie, expected) in cases {
        let shared = Shared::new(&DGHV_TINY);
        let mut device = Dghv::open(Box::new(shared.clone())).unwrap();
        encrypts(&mut device, &key, &[true]);
        shared.simulated().set_external_lie(Some(lie));
        let error = fails(&mut device, &key.public);
        assert!(matches!(error, ErrorKind::MemoryFailed { fault, .. } if fault == expected), "{lie:?}: {error}");
        drop(device);
        shared.simulated().set_external_lie(None);
        shared.simulated().reset();
        let mut device = Dghv::open(Box::new(shared.clone())).unwrap();
        encrypts(&mut device, &key, &[true, false]);
    }
}

/// Changes a word of the memory before an exchange.
struct Tampering {
    shared: Shared,
    before: usize,
}

impl Transport for Tampering {
    fn describe(&self) -> String {
        self.shared.describe()
    }

    fn read(&mut self, address: u32) -> Result<u32, Error> {
        self.shared.read(address)
    }

    fn write(&mut self, address: u32, value: u32) -> Result<(), Error> {
        self.shared.write(address, value)
    }

    fn exchange(&mut self, exchange: Exchange<'_>) -> Result<(), Error> {
        if self.before == 0 {
            self.shared.simulated().external_mut()[77] ^= 4;
        }
        self.before = self.before.wrapping_sub(1);
        self.shared.exchange(exchange)
    }

    fn synchronise(&mut self, marks: Marks<'_>) -> Result<(), Error> {
        self.shared.synchronise(marks)
    }
}

/// A bit that changes in the memory is found, and believed only by who wants to.
#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn wrong_sums_are_not_given_out() {
    let key = tiny(Scheme::Cnt, 3000, 3, 100);
    // The first exchange adds up, the second reads.
    let open = || {
        let shared = Shared::new(&DGHV_TINY);
        Dghv::open(Box::new(Tampering { shared, before: 1 })).unwrap()
    };
    assert!(matches!(fails(&mut open(), &key.public), ErrorKind::FailedCheck));
    assert!(open().with_trust(Trust::Believe).encrypt(&key.public, &[true]).is_ok());
}

/// The device's memories for words on their way.
const WAITING: [&str; 2] = ["u_reader", "u_writer"];

/// Nothing of a sum stays anywhere, nor does it when somebody resets the device, or gives up, in the middle of one.
#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn nothing_stays_behind() {
    let key = tiny(Scheme::Cnt, 3000, 20, 100);
    for fault in [
        None,
        Some(Fault::GivenUp(150)),
        Some(Fault::Reset(150)),
        Some(Fault::Abandoned(300)),
        Some(Fault::CutInput(77)),
    ] {
        let shared = Shared::new(&DGHV_TINY);
        let mut device = Dghv::open(Box::new(shared.clone())).unwrap();
        device.load(&[1; 16]).unwrap();
        match fault {
            None => encrypts(&mut device, &key, &[true]),
            Some(fault) => {
                shared.disturb(fault);
                device.encrypt(&key.public, &[true]).unwrap_err();
            }
        }
        let mut simulated = shared.simulated();
        simulated.idle(300);
        let stays = simulated.external().iter().any(|&byte| byte != 0);
        let waits = WAITING.map(|place| {
            let words = simulated.memory(&format!("u_memory.{place}.u_words.gen_memory.u_items.word_q"));
            words.iter().flatten().any(|&limb| limb != 0)
        });
        drop(simulated);
        assert_eq!((stays, waits), (false, [false; 2]), "{fault:?}");
        encrypts(&mut device, &key, &[true]);
    }
}
