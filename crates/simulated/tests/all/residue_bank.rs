//! Simulated residue banks compared with division, through the driver.

use crate::common::{Fault, Shared, header, is};
use std::sync::Arc;

use hearith_arith::{Batch, Engine, natural};
use hearith_bfv::{Convert, PrivateKey, Reason, Set};
use hearith_device::residue_bank::{RESIDUE_BANK, ResidueBank};
use hearith_device::{Converts, ErrorKind, PlaintextConverter, Transport, Trust};
use hearith_simulated::designs::{
    RESIDUE_BANK_60, RESIDUE_BANK_60_WIDE, RESIDUE_BANK_200, RESIDUE_BANK_360, RESIDUE_BANK_360_WIDE, RESIDUE_BANK_400,
    RESIDUE_BANK_1440,
};
use hearith_simulated::{PROVIDERS, Simulated};
use hearith_verilated::Design;
use hearith_verilated::bench::Random;
use zeroize::Zeroizing;

fn bank(design: &'static Design) -> ResidueBank {
    ResidueBank::open(Box::new(Simulated::new(design).unwrap())).unwrap()
}

/// The simulated banks, as users choose them.
fn simulated() -> &'static dyn Converts {
    let provider = PROVIDERS.iter().find(|provider| provider.system() == &RESIDUE_BANK).unwrap();
    provider.converts().unwrap()
}

/// 0, 1, all ones, single words of ones, and random numbers of `bits` bits.
fn numbers(bits: u32, count: usize) -> Batch {
    let limbs = bits.div_ceil(64) as usize;
    let mut random = Random::new(count as u64);
    let ones: Vec<u64> = (0..limbs as u32).map(|at| u64::MAX >> (64 - (bits - 64 * at).min(64))).collect();
    let mut rows = vec![vec![0; limbs], ones.clone()];
    rows.push((0..limbs).map(|at| u64::from(at == 0)).collect());
    rows.extend((0..limbs).map(|only| (0..limbs).map(|at| if at == only { ones[at] } else { 0 }).collect()));
    rows.extend((0..count).map(|_| random.bits(bits as usize)));
    rows.truncate(count);
    Batch::from_rows(limbs, rows.iter().map(Vec::as_slice))
}

/// The remainder by schoolbook division, limb by limb.
fn remainder(number: &[u64], modulus: u64) -> u64 {
    let step = |rest: u128, &limb: &u64| (rest << 64 | u128::from(limb)) % u128::from(modulus);
    number.iter().rev().fold(0, step) as u64
}

fn converts(bank: &mut ResidueBank, numbers: &Batch) {
    let moduli = bank.moduli().to_vec();
    let residues = bank.residues(&moduli, numbers).unwrap();
    assert_eq!((residues.moduli(), residues.len()), (&moduli[..], numbers.len()));
    for (column, &modulus) in residues.columns().zip(&moduli) {
        let expected = numbers.rows().map(|number| remainder(number, modulus));
        assert!(column.iter().copied().eq(expected), "modulo {modulus}");
    }
}

#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn converts_batches() {
    for (design, count) in [
        (&RESIDUE_BANK_60, 5000),
        (&RESIDUE_BANK_200, 500),
        (&RESIDUE_BANK_360, 500),
        (&RESIDUE_BANK_360_WIDE, 500),
        (&RESIDUE_BANK_400, 500),
        (&RESIDUE_BANK_1440, 60),
    ] {
        let mut bank = bank(design);
        let parameters = bank.parameters();
        assert_eq!(parameters.moduli as usize, bank.moduli().len());
        let numbers = numbers(parameters.bits, count);
        converts(&mut bank, &numbers);
        converts(&mut bank, &numbers.range(0..1));
        converts(&mut bank, &numbers.range(0..0));
        let counters = bank.counters().unwrap();
        let items = count as u64 + 1;
        let products = items * u64::from(parameters.moduli);
        assert_eq!((counters.accepted, counters.delivered, counters.products), (items, items, products));
    }
}

/// A batch's contribution to the busy cycles.
fn busy(bank: &mut ResidueBank, numbers: &Batch) -> u64 {
    let before = bank.counters().unwrap().busy_cycles;
    converts(bank, numbers);
    bank.counters().unwrap().busy_cycles - before
}

#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn a_coefficient_every_interval_and_every_cycle_over_wide_streams() {
    for (design, interval) in [
        (&RESIDUE_BANK_60, 4),
        (&RESIDUE_BANK_200, 5),
        (&RESIDUE_BANK_360, 7),
        (&RESIDUE_BANK_360_WIDE, 1),
        (&RESIDUE_BANK_60_WIDE, 1),
    ] {
        let mut bank = bank(design);
        let parameters = bank.parameters();
        let buffers = if interval == 1 { 0 } else { 2 };
        assert_eq!((parameters.interval, parameters.latency), (interval, parameters.stages + 2 + buffers));
        let numbers = numbers(parameters.bits, 400);
        let few = busy(&mut bank, &numbers.range(0..100));
        let many = busy(&mut bank, &numbers);
        assert_eq!(many - few, 300 * u64::from(interval), "{}", bank.describe());
    }
}

/// Every channel stalls at random, and registers are read in parallel: the residues are the same.
#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn converts_under_pressure() {
    for design in [&RESIDUE_BANK_60, &RESIDUE_BANK_60_WIDE, &RESIDUE_BANK_200] {
        let bits = design.parameter("V") * design.parameter("Words");
        for seed in 0..6 {
            let transport = Simulated::under_pressure(design, seed).unwrap();
            let mut bank = ResidueBank::open(Box::new(transport)).unwrap();
            converts(&mut bank, &numbers(bits, 200));
            converts(&mut bank, &numbers(bits, 1));
        }
    }
}

#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn some_of_the_moduli_in_another_order() {
    let mut bank = bank(&RESIDUE_BANK_360);
    let moduli = [bank.moduli()[7], bank.moduli()[0]];
    let numbers = numbers(360, 20);
    let residues = bank.residues(&moduli, &numbers).unwrap();
    for (column, modulus) in residues.columns().zip(moduli) {
        assert!(column.iter().copied().eq(numbers.rows().map(|number| remainder(number, modulus))));
    }
    is(&bank.residues(&[17], &numbers).unwrap_err(), ErrorKind::NotAModulus { modulus: 17 });
}

#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn numbers_that_do_not_fit_are_refused() {
    let mut bank = bank(&RESIDUE_BANK_60);
    let moduli = bank.moduli().to_vec();
    let longest = Batch::from_rows(2, [&[(1 << 60) - 1, 0][..]]);
    assert_eq!(natural::bit_length(longest.row(0)), 60);
    converts(&mut bank, &longest);
    let longer = Batch::from_rows(2, [&[1, 0][..], &[1 << 60, 0]]);
    let error = bank.residues(&moduli, &longer).unwrap_err();
    is(&error, ErrorKind::NumberTooLong { bits: 60 });
    assert_eq!(error.to_string(), "row 1: the number is longer than the 60 bits that the residue bank takes");
}

#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn the_smallest_bank_that_fits_is_chosen() {
    let primes = bank(&RESIDUE_BANK_360).moduli().to_vec();
    assert_eq!(primes[0], 1_073_692_673);
    let banks = simulated();
    let chosen = banks.open(&primes, 360, Trust::default()).unwrap();
    assert_eq!(chosen.describe(), "simulated residue_bank_360");
    let refused = |moduli: &[u64], bits| banks.open(moduli, bits, Trust::default()).err().expect("no bank has them");
    let error = refused(&primes, 1500);
    is(&error, ErrorKind::NoResidueBank { moduli: 12, bits: 1500, largest: 1440 });
    let error = refused(&[101], 60);
    is(&error, ErrorKind::NoResidueBank { moduli: 1, bits: 60, largest: 1440 });
}

#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn another_device_is_told_apart() {
    let bank = Box::new(Simulated::new(&RESIDUE_BANK_60).unwrap());
    let error = hearith_device::mesa::Mesa::open(bank).unwrap_err();
    assert_eq!(error.to_string(), "not a MESA: its identity is 0x52455342");
}

#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn batches_that_break_off_leave_nothing_behind() {
    for design in [&RESIDUE_BANK_60, &RESIDUE_BANK_200, &RESIDUE_BANK_360] {
        let shared = Shared::new(design);
        let mut bank = ResidueBank::open(Box::new(shared.clone())).unwrap();
        let (moduli, numbers) = (bank.moduli().to_vec(), numbers(bank.parameters().bits, 10));
        let beat = bank.parameters().stream_bits as usize / 8;
        for beats in 1..8 {
            shared.disturb(Fault::GivenUp(beats));
            let error = bank.residues(&moduli, &numbers).unwrap_err();
            is(&error, ErrorKind::CutShort { bytes: beats * beat, expected: beats * beat });
            converts(&mut bank, &numbers);
            shared.disturb(Fault::Abandoned(beats));
            bank.residues(&moduli, &numbers).unwrap_err();
            converts(&mut bank, &numbers);
        }
        for fault in
            [Fault::CutInput(2), Fault::CutInput(3), Fault::CutInput(4), Fault::LongerInput(1), Fault::LongerInput(7)]
        {
            shared.disturb(fault);
            is(&bank.residues(&moduli, &numbers).unwrap_err(), ErrorKind::Dropped);
            converts(&mut bank, &numbers);
        }
        shared.disturb(Fault::LongerOutput);
        let error = bank.residues(&moduli, &numbers).unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::CutShort { .. }), "{error}");
        converts(&mut bank, &numbers);
        // A reset stops the bank. The driver restarts it for the next batch, and so does opening
        // it.
        shared.disturb(Fault::Reset(2));
        is(&bank.residues(&moduli, &numbers).unwrap_err(), ErrorKind::WasReset);
        converts(&mut bank, &numbers);
        drop(bank);
        converts(&mut ResidueBank::open(Box::new(shared)).unwrap(), &numbers);
    }
}

/// Byte addresses of the register map.
const CONTROL: u32 = 0x10;
const STATUS: u32 = 0x14;
const IN_FLIGHT: u32 = 0x24;
const INDEX: u32 = 0x2c;
const VALUE: u32 = 0x30;
const KEY: u32 = 0x1_0000;

#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn primes_are_read_one_at_a_time_and_there_is_no_key() {
    let mut shared = Shared::new(&RESIDUE_BANK_60);
    assert_eq!(shared.read(STATUS).unwrap(), 0);
    for (number, prime) in [(0, 59), (1, 47), (2, 37), (3, 0), (255, 0), (256, 0), (0xffff, 0)] {
        shared.write(INDEX, number).unwrap();
        assert_eq!(shared.read(VALUE).unwrap(), prime);
    }
    is(&shared.write(KEY, 0).unwrap_err(), ErrorKind::Refused { address: KEY });
    shared.write(CONTROL, 1).unwrap();
    assert_eq!(shared.read(STATUS).unwrap(), 1 | 8);
    // Two numbers enter, and the answers are not accepted. Reading the primes has no effect on
    // them.
    let packet = [header(0, 1, 2), vec![7; 16]].concat();
    shared.simulated().queue(&packet, true, 100);
    assert_eq!((shared.read(STATUS).unwrap() & 3, shared.read(IN_FLIGHT).unwrap()), (3, 2));
    shared.write(INDEX, 1).unwrap();
    assert_eq!(shared.read(VALUE).unwrap(), 47);
    // A flush drops them, and the bank continues.
    shared.write(CONTROL, 2).unwrap();
    assert_eq!((shared.read(STATUS).unwrap() & 3, shared.read(IN_FLIGHT).unwrap()), (1, 0));
    // A wipe stops it.
    shared.write(CONTROL, 4).unwrap();
    assert_eq!(shared.read(STATUS).unwrap() & 3, 0);
}

/// Primes of more than 31 bits occupy two words of the table.
#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn long_primes_are_read_in_halves() {
    let mut shared = Shared::new(&RESIDUE_BANK_200);
    let moduli = Set::Degree8192.moduli();
    let words = moduli.iter().flat_map(|&prime| [prime as u32, (prime >> 32) as u32]).chain([0]);
    for (number, word) in (0..).zip(words).chain([(255, 0), (256, 0)]) {
        shared.write(INDEX, number).unwrap();
        assert_eq!(shared.read(VALUE).unwrap(), word, "word {number}");
    }
}

/// A bank with each residue compared with division.
#[derive(Debug)]
struct Compared(PlaintextConverter);

impl Convert for Compared {
    fn residues(&self, moduli: &[u64], numbers: &Batch) -> Result<Zeroizing<Vec<u64>>, Reason> {
        let words = self.0.residues(moduli, numbers)?;
        let expected = moduli.iter().flat_map(|&modulus| numbers.rows().map(move |number| remainder(number, modulus)));
        assert!(words.iter().copied().eq(expected));
        Ok(words)
    }
}

/// Every parameter set has a bank. Its residues are those that this CPU would compute
/// (`hearith_bfv`'s tests compare ciphertexts byte by byte).
#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn plaintexts_of_the_lattice_scheme() {
    for (set, bits, name) in [
        (Set::Degree4096, 40, "residue_bank_200"),
        (Set::Degree8192, 97, "residue_bank_200"),
        (Set::Degree16384, 127, "residue_bank_400"),
    ] {
        let device = simulated().open(set.moduli(), set.modulus_bits(), Trust::default()).unwrap();
        assert_eq!(device.describe(), format!("simulated {name}"));
        let converter = Arc::new(Compared(PlaintextConverter::new(device)));
        let key = PrivateKey::generate(set, Engine::best()).unwrap().with_converter(converter.clone());
        let largest = i128::MAX >> (128 - bits);
        let numbers: Vec<i128> = (0..200).map(|row| largest / (row / 3 + 1) * (row % 3 - 1)).collect();
        for ciphertext in [key.encrypt(&numbers, bits), key.public().encrypt(&numbers, bits)] {
            assert_eq!(key.decrypt(&ciphertext.unwrap()).unwrap()[..], numbers);
        }
        assert_eq!(converter.0.device().counters().unwrap().delivered, 400);
    }
}
