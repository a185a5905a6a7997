//! The simulated MESA in dual numbers against the library, through the driver.

use crate::common::{Fault, Shared, decrypts, is, key, random_ciphertexts, subgroup_key, tells_foreign_rows};
use hearith_device::mesa::MesaDual;
use hearith_device::{Counters, ErrorKind};
use hearith_simulated::Simulated;
use hearith_simulated::designs::{
    MESA_DUAL_64, MESA_DUAL_64_10, MESA_DUAL_128, MESA_DUAL_256, MESA_DUAL_1024, MESA_DUAL_2048,
};
use hearith_verilated::Design;

fn device(design: &'static Design) -> MesaDual {
    MesaDual::open(Box::new(Simulated::new(design).unwrap())).unwrap()
}

fn several_keys(design: &'static Design, keys: usize, count: usize) {
    let mut device = device(design);
    for _ in 0..keys {
        let key = key(device.parameters().bits);
        device.load_key(&key).unwrap();
        decrypts(&mut device, &key, count);
        decrypts(&mut device, &key, 1);
    }
}

#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn decrypts_64_bits() {
    several_keys(&MESA_DUAL_64, 6, 200);
}

#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn decrypts_128_bits() {
    several_keys(&MESA_DUAL_128, 4, 100);
}

#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn decrypts_256_bits() {
    several_keys(&MESA_DUAL_256, 3, 60);
}

#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn decrypts_1024_bits() {
    several_keys(&MESA_DUAL_1024, 1, 24);
}

#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
#[cfg_attr(verilator, ignore = "long: make test-full")]
fn decrypts_2048_bits() {
    several_keys(&MESA_DUAL_2048, 1, 24);
}

/// Every channel stalls at random, and registers are read in parallel: the plaintexts are the same.
#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn decrypts_under_pressure() {
    for (design, seeds) in [(&MESA_DUAL_64, 0..6), (&MESA_DUAL_64_10, 6..9)] {
        for seed in seeds {
            let mut device = MesaDual::open(Box::new(Simulated::under_pressure(design, seed).unwrap())).unwrap();
            let key = key(64);
            device.load_key(&key).unwrap();
            decrypts(&mut device, &key, 20);
            decrypts(&mut device, &key, 1);
        }
    }
}

#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn smaller_keys_fit_and_larger_ones_are_refused() {
    let mut device = device(&MESA_DUAL_256);
    let largest = device.parameters().bits;
    for bits in [96, largest / 2 + 2, largest - 2] {
        let key = key(bits);
        device.load_key(&key).unwrap();
        decrypts(&mut device, &key, 10);
    }
    let bits = largest + 2;
    let refused = device.load_key(&key(bits));
    is(&refused.unwrap_err(), ErrorKind::KeyTooLarge { bits, largest });
}

#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn lanes_never_idle_while_input_is_there_and_nothing_depends_on_values() {
    let mut device = device(&MESA_DUAL_128);
    let parameters = device.parameters();
    let mut counted = |count: usize| {
        let key = key(128);
        device.load_key(&key).unwrap();
        let before = device.counters().unwrap();
        decrypts(&mut device, &key, count);
        let after = device.counters().unwrap();
        Counters {
            busy_cycles: after.busy_cycles - before.busy_cycles,
            accepted: after.accepted - before.accepted,
            delivered: after.delivered - before.delivered,
            products: after.products - before.products,
            discarded: after.discarded - before.discarded,
        }
    };
    let (few, again, many) = (counted(20), counted(20), counted(40));
    assert_eq!(few, again);
    assert_eq!(many.delivered, 42);
    // Twenty more, distributed over the lanes.
    let rounds = 20 / u64::from(parameters.lanes);
    assert_eq!(many.busy_cycles - few.busy_cycles, rounds * u64::from(parameters.interval));
    // The products of dual_lane's header, for p and for q: into Montgomery form, the table, the
    // windows, and out of it.
    let products = 18 + 5 * (u64::from(parameters.bits) / 2).div_ceil(4);
    assert_eq!(many.products - few.products, 20 * 2 * products);
}

/// PARAMETER 6 equals the measured interval, whether the lanes or the product after them is slower.
#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn intervals_are_as_the_device_says() {
    for design in [&MESA_DUAL_64, &MESA_DUAL_64_10] {
        let mut device = device(design);
        let parameters = device.parameters();
        let key = key(64);
        device.load_key(&key).unwrap();
        let mut busy = |count: usize| {
            let before = device.counters().unwrap().busy_cycles;
            decrypts(&mut device, &key, count);
            device.counters().unwrap().busy_cycles - before
        };
        let (few, many) = (busy(40), busy(140));
        let (cycles, interval) = (u64::from(parameters.lanes) * (many - few), u64::from(parameters.interval));
        assert!(cycles.abs_diff(100 * interval) < interval, "{}: 100 in {cycles}, not {interval}", design.name());
    }
}

/// Subgroup keys need only the windows of their exponents, 41 instead of 128. Loaded for any
/// randomiser, they need exactly all 128.
#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn short_exponents_take_a_third_of_the_cycles() {
    let mut device = device(&MESA_DUAL_1024);
    let parameters = device.parameters();
    if parameters.bits < 1024 {
        return; // With coverage the device is narrow, and no such key fits.
    }
    let key = subgroup_key();
    let lanes = parameters.lanes as usize;
    for (loaded, windows) in [(key.clone(), 41), (key.any_randomiser(), 128)] {
        device.load_key(&loaded).unwrap();
        let mut counted = |count: usize| {
            let before = device.counters().unwrap();
            decrypts(&mut device, &loaded, count - 2);
            let after = device.counters().unwrap();
            (after.busy_cycles - before.busy_cycles, after.products - before.products)
        };
        // From the second round on, lanes follow each other at the pace of the product after them.
        let (few, many) = (counted(2 * lanes), counted(3 * lanes));
        // The jobs of a lane, 56 plus 11 per window, as in its header.
        let jobs = |windows: u64| 56 + 11 * windows;
        assert_eq!(jobs(128) * (many.0 - few.0), jobs(windows) * u64::from(parameters.interval), "{windows} windows");
        assert_eq!(many.1 - few.1, 2 * u64::from(parameters.lanes) * (18 + 5 * windows));
    }
    tells_foreign_rows(&mut device, &key);
}

#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn batches_that_break_off_leave_nothing_behind() {
    let shared = Shared::new(&MESA_DUAL_64);
    let mut device = MesaDual::open(Box::new(shared.clone())).unwrap();
    let key = key(64);
    device.load_key(&key).unwrap();
    let (ciphertexts, _) = random_ciphertexts(&key, 10);
    for beats in 1..6 {
        shared.disturb(Fault::GivenUp(beats));
        let error = device.decrypt(&ciphertexts).unwrap_err();
        is(&error, ErrorKind::CutShort { bytes: 4 * beats, expected: 4 * beats });
        decrypts(&mut device, &key, 5);
    }
    shared.disturb(Fault::Reset(1));
    is(&device.decrypt(&ciphertexts).unwrap_err(), ErrorKind::WasReset);
    is(&device.decrypt(&ciphertexts).unwrap_err(), ErrorKind::NoKey);
    device.load_key(&key).unwrap();
    decrypts(&mut device, &key, 5);
}
