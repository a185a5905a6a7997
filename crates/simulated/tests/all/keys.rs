//! Keys loaded one after another into a device without a wipe between them: every answer is that of
//! a device that never had the first key. Also tests incomplete keys.

use crate::common::{EPOCH, Recorder, Session, header, is, key, load, random_ciphertexts};
use hearith_arith::Engine;
use hearith_device::coproc::Coproc;
use hearith_device::dghv::Dghv;
use hearith_device::mesa::{Mesa, MesaDual};
use hearith_device::{ErrorKind, Transport};
use hearith_dghv::{InsecureHistoricalParameters, KeyPair, Lengths, Parameters, Scheme};
use hearith_paillier::{KeyPolicy, PrivateKey, Variant};
use hearith_simulated::Simulated;
use hearith_simulated::designs::{
    COPROC_64, COPROC_64_DIGIT, COPROC_64_DUAL, DGHV_TINY, MESA_64, MESA_DUAL_64, RESIDUE_BANK_60,
};
use hearith_verilated::Design;
use hearith_verilated::bench::Random;

const CONTROL: u32 = 0x10;
const STATUS: u32 = 0x14;
const ERROR: u32 = 0x18;
const READY: u32 = 1;
const FLUSH: u32 = 2;
const WIPE: u32 = 4;
const INCOMPLETE: u32 = 128;
/// The region of the co-processor's secret exponent, which is optional in a key.
const LAMBDA: u32 = 3;
/// The answer code for missing data.
const MISSING: u8 = 8;
/// More cycles than any item takes.
const LONG: u64 = 200_000;

static COPROCS: [&Design; 3] = [&COPROC_64, &COPROC_64_DIGIT, &COPROC_64_DUAL];

fn region(address: u32) -> u32 {
    (address - 0x1_0000) / 0x800
}

/// The answer to a packet, after its header, with the packet's epoch set to the device's.
fn answer(device: &mut Simulated, packet: &[u8], bytes: usize) -> Vec<u8> {
    let epoch = device.read(EPOCH).unwrap() as u16;
    let mut packet = packet.to_vec();
    packet[2..4].copy_from_slice(&epoch.to_le_bytes());
    device.queue(&packet, true, 0);
    device.take(bytes / device.beat(), LONG)[8..].to_vec()
}

/// Session of a driver with a key and commands.
fn paillier(design: &'static Design) -> Session {
    Recorder::session(design, |transport| {
        let private = PrivateKey::generate(64, Variant::Djn, KeyPolicy::AllowInsecure, Engine::best()).unwrap();
        let (ciphertexts, plaintexts) = random_ciphertexts(&private, 3);
        let mut device = Coproc::open(transport).unwrap();
        device.load_private_key(&private).unwrap();
        device.encrypt(&plaintexts).unwrap();
        device.sum_groups(&ciphertexts, &[vec![0, 1], vec![1, 2]]).unwrap();
        device.decrypt(&ciphertexts).unwrap();
    })
}

fn pipelined(design: &'static Design) -> Session {
    let key = key(64);
    let (ciphertexts, _) = random_ciphertexts(&key, 4);
    Recorder::session(design, |transport| {
        let mut device = Mesa::open(transport).unwrap();
        device.load_key(&key).unwrap();
        device.decrypt(&ciphertexts).unwrap();
    })
}

fn dual(design: &'static Design) -> Session {
    let key = key(64);
    let (ciphertexts, _) = random_ciphertexts(&key, 4);
    Recorder::session(design, |transport| {
        let mut device = MesaDual::open(transport).unwrap();
        device.load_key(&key).unwrap();
        device.decrypt(&ciphertexts).unwrap();
    })
}

fn integers(design: &'static Design) -> Session {
    let lengths = Lengths {
        security: 8,
        key_noise: 4,
        secret: 640,
        modulus: 1500,
        elements: 3,
        coefficient: 100,
        encryption_noise: 100,
    };
    let parameters = Parameters::custom(Scheme::Cmnt, lengths).unwrap();
    let key = KeyPair::generate(&parameters, Engine::best(), InsecureHistoricalParameters).unwrap();
    Recorder::session(design, |transport| {
        let mut device = Dghv::open(transport).unwrap();
        let encrypted = key.public.encrypt_with(&[true, false], &mut |request| device.encryptions(request));
        encrypted.unwrap();
    })
}

/// Commands of the co-processor that show remains of a key: totals of groups, the comb, the secret
/// exponent.
fn probe() -> Vec<u8> {
    let groups = (0..4).map(|group: u64| 9 | group << 48);
    let others = [11, 5 | 64 << 16, 6 | 64 << 16, 7 | 1 << 48, 9 | 1 << 48, 8 | 20 << 16, 9, 11];
    let words: Vec<u64> = groups.chain(others).collect();
    let item = |&word: &u64| [&word.to_le_bytes()[..], &3_u128.to_le_bytes(), &5_u128.to_le_bytes()].concat();
    let items: Vec<u8> = words.iter().flat_map(item).collect();
    [header(0, 1, words.len() as u16), items].concat()
}

/// Compares the second key in a device that has worked with the first one to the second key in a
/// fresh device.
fn follow(design: &'static Design, first: &Session, second: &[(u32, u32)], packets: &[(Vec<u8>, Vec<u8>)]) {
    for flushed in [false, true] {
        let mut used = Simulated::new(design).unwrap();
        load(&mut used, &first.constants).unwrap();
        for (input, output) in &first.packets {
            assert_eq!(answer(&mut used, input, output.len()), output[8..], "{}", design.name());
        }
        if flushed {
            used.write(CONTROL, FLUSH).unwrap();
        }
        let epoch = used.read(EPOCH).unwrap();
        load(&mut used, second).unwrap();
        assert_eq!(used.read(EPOCH).unwrap(), epoch + 1, "another key has an epoch of its own");
        let mut fresh = Simulated::new(design).unwrap();
        load(&mut fresh, second).unwrap();
        for (number, (input, output)) in packets.iter().enumerate() {
            let [given, expected] = [&mut used, &mut fresh].map(|device| answer(device, input, output.len()));
            assert_eq!(given, expected, "{}, packet {number}, flushed: {flushed}", design.name());
        }
    }
}

#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn no_answer_depends_on_an_earlier_key_of_a_coprocessor() {
    for design in COPROCS {
        let [first, second] = [paillier(design), paillier(design)];
        let probe = probe();
        let answers = vec![0; 8 + 24 * ((probe.len() - 8) / 40)];
        let packets: Vec<_> = [(probe, answers)].into_iter().chain(second.packets.clone()).collect();
        let lambda = |&(address, _): &(u32, u32)| region(address) == LAMBDA;
        let without: Vec<_> = second.constants.iter().copied().filter(|constant| !lambda(constant)).collect();
        let (start, end) =
            (second.constants.iter().position(lambda).unwrap(), second.constants.iter().rposition(lambda).unwrap());
        assert!(end > start);
        let cut = |at: usize| [&second.constants[..at], &second.constants[at + 1..]].concat();
        for constants in [second.constants.clone(), without, cut(start), cut(end)] {
            follow(design, &first, &constants, &packets);
        }
    }
}

#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn no_answer_depends_on_an_earlier_key_of_a_decryptor() {
    let [first, second] = [pipelined(&MESA_64), pipelined(&MESA_64)];
    follow(&MESA_64, &first, &second.constants, &second.packets);
    let [first, second] = [dual(&MESA_DUAL_64), dual(&MESA_DUAL_64)];
    follow(&MESA_DUAL_64, &first, &second.constants, &second.packets);
}

#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn no_answer_depends_on_an_earlier_key_of_integers() {
    let [first, second] = [integers(&DGHV_TINY), integers(&DGHV_TINY)];
    follow(&DGHV_TINY, &first, &second.constants, &second.packets);
}

#[track_caller]
fn incomplete(device: &mut Simulated, command: u32) {
    is(&device.write(CONTROL, command).unwrap_err(), ErrorKind::Refused { address: CONTROL });
    assert_eq!((device.read(ERROR).unwrap(), device.read(STATUS).unwrap()), (INCOMPLETE, 8));
    device.write(ERROR, INCOMPLETE).unwrap();
}

/// Words may arrive in any order and be corrected. While any word is missing, READY is rejected and
/// changes nothing.
#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn a_key_that_is_not_whole_is_rejected() {
    let sessions = COPROCS.map(|design| (design, paillier(design)));
    let others =
        [(&MESA_64, pipelined(&MESA_64)), (&MESA_DUAL_64, dual(&MESA_DUAL_64)), (&DGHV_TINY, integers(&DGHV_TINY))];
    for (design, session) in sessions.into_iter().chain(others) {
        let mut random = Random::new(5);
        let optional = |address: u32| design.top() == "coproc" && region(address) == LAMBDA;
        let mut device = Simulated::under_pressure(design, 3).unwrap();
        incomplete(&mut device, READY);
        let mut words = session.constants.clone();
        for missing in 0..words.len() {
            for at in (1..words.len()).rev() {
                words.swap(at, random.below(at as u64 + 1) as usize);
            }
            let (address, word) = words[missing % words.len()];
            let others = words.iter().filter(|&&(other, _)| other != address);
            for &(other, word) in others.clone().rev().filter(|_| random.below(4) == 0) {
                device.write(other, !word).unwrap();
            }
            for &(other, word) in others {
                device.write(other, word).unwrap();
            }
            if optional(address) {
                device.write(CONTROL, READY).unwrap();
                continue;
            }
            let epoch = device.read(EPOCH).unwrap();
            incomplete(&mut device, READY);
            incomplete(&mut device, READY | FLUSH);
            assert_eq!(device.read(EPOCH).unwrap(), epoch, "{}: flushed by a write that was rejected", design.name());
            device.write(address, word).unwrap();
            device.write(CONTROL, READY).unwrap();
            assert_eq!(device.read(STATUS).unwrap(), 1);
            for (input, output) in &session.packets {
                assert_eq!(answer(&mut device, input, output.len()), output[8..], "{}", design.name());
            }
        }
        // A wipe is not rejected.
        device.write(CONTROL, WIPE | READY).unwrap();
        assert_eq!(device.read(STATUS).unwrap(), 0);
        incomplete(&mut device, READY);
    }
    // A device without constants is ready as soon as it is told so.
    let mut bank = Simulated::new(&RESIDUE_BANK_60).unwrap();
    bank.write(CONTROL, READY).unwrap();
    assert_eq!(bank.read(STATUS).unwrap(), 1);
}

/// An incomplete secret exponent is not used, and the co-processor reports it.
#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn a_part_of_a_secret_exponent_decrypts_nothing() {
    for design in COPROCS {
        let session = paillier(design);
        let lambda: Vec<_> = session.constants.iter().filter(|(address, _)| region(*address) == LAMBDA).collect();
        for missing in lambda {
            let mut device = Simulated::new(design).unwrap();
            let others: Vec<_> = session.constants.iter().copied().filter(|constant| constant != missing).collect();
            load(&mut device, &others).unwrap();
            let item = [&11_u64.to_le_bytes()[..], &2_u128.to_le_bytes(), &0_u128.to_le_bytes()].concat();
            let packet = [header(0, 1, 1), item].concat();
            let answer = answer(&mut device, &packet, 8 + 24);
            assert_eq!((answer[0], &answer[8..]), (MISSING, &[0; 16][..]), "{}", design.name());
        }
    }
}

/// A driver loads several keys in turn into a device in use.
#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn a_driver_changes_the_key() {
    let mut device = Mesa::open(Box::new(Simulated::new(&MESA_64).unwrap())).unwrap();
    for _ in 0..3 {
        let key = key(64);
        let (ciphertexts, plaintexts) = random_ciphertexts(&key, 3);
        device.load_key(&key).unwrap();
        assert!(device.decrypt(&ciphertexts).unwrap() == plaintexts);
    }
}
