//! The simulated MESA against the library, through the driver.

use crate::common::{
    EPOCH, Fault, Shared, decrypts, device, header, is, key, random_ciphertexts, subgroup_key, tells_foreign_rows,
};
use hearith_device::mesa::Mesa;
use hearith_device::{Counters, ErrorKind, Transport};
use hearith_paillier::PrivateKey;
use hearith_simulated::Simulated;
use hearith_simulated::designs::{
    MESA_64, MESA_64_2, MESA_64_3, MESA_128, MESA_128_RESTORING, MESA_256, MESA_1024, MESA_2048,
};
use hearith_verilated::Design;

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
    several_keys(&MESA_64, 6, 400);
}

#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn decrypts_128_bits() {
    several_keys(&MESA_128, 4, 200);
}

#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn decrypts_256_bits() {
    several_keys(&MESA_256, 3, 100);
}

#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn decrypts_1024_bits() {
    several_keys(&MESA_1024, 1, 24);
}

#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
#[cfg_attr(verilator, ignore = "long: make test-full")]
fn decrypts_2048_bits() {
    several_keys(&MESA_2048, 1, 24);
}

#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn decrypts_with_the_restoring_divider() {
    several_keys(&MESA_128_RESTORING, 2, 100);
}

/// Every channel stalls at random, and registers are read in parallel: the plaintexts are the same.
#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn decrypts_under_pressure() {
    for (design, seeds) in [(&MESA_64, 0..6), (&MESA_64_3, 6..9), (&MESA_128_RESTORING, 9..11)] {
        for seed in seeds {
            let mut device = Mesa::open(Box::new(Simulated::under_pressure(design, seed).unwrap())).unwrap();
            let key = key(device.parameters().bits);
            device.load_key(&key).unwrap();
            decrypts(&mut device, &key, 20);
            decrypts(&mut device, &key, 1);
        }
    }
}

#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn smaller_keys_fit_and_larger_ones_are_refused() {
    let mut device = device(&MESA_256);
    let largest = device.parameters().bits;
    for bits in [64, 66, largest / 2 + 2, largest - 2] {
        let key = key(bits);
        device.load_key(&key).unwrap();
        decrypts(&mut device, &key, 20);
    }
    let bits = largest + 2;
    let refused = device.load_key(&key(bits));
    is(&refused.unwrap_err(), ErrorKind::KeyTooLarge { bits, largest });
    let (ciphertexts, _) = random_ciphertexts(&key(64), 3);
    is(&device.decrypt(&ciphertexts).unwrap_err(), ErrorKind::NoKey);
}

/// A batch's contribution to the counters.
fn counted(device: &mut Mesa, key: &PrivateKey, count: usize) -> Counters {
    let before = device.counters().unwrap();
    decrypts(device, key, count);
    let after = device.counters().unwrap();
    Counters {
        busy_cycles: after.busy_cycles - before.busy_cycles,
        accepted: after.accepted - before.accepted,
        delivered: after.delivered - before.delivered,
        products: after.products - before.products,
        discarded: after.discarded - before.discarded,
    }
}

/// PARAMETER 6 equals the measured interval, whether the ladders or their shared multiplier is
/// slower.
#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn intervals_are_as_the_device_says() {
    for design in [&MESA_64, &MESA_64_2, &MESA_64_3, &MESA_128_RESTORING] {
        let mut device = device(design);
        let parameters = device.parameters();
        let key = key(parameters.bits);
        device.load_key(&key).unwrap();
        let (few, many) = (counted(&mut device, &key, 30), counted(&mut device, &key, 230));
        // If the multiplier is slower, the last ciphertexts are a little faster, because no later
        // ones share it.
        let (cycles, interval) = (many.busy_cycles - few.busy_cycles, u64::from(parameters.interval));
        assert!(cycles.abs_diff(200 * interval) < interval, "{}: 200 in {cycles}, not {interval} each", design.name());
    }
}

/// Once the pipeline is full, a plaintext leaves every interval, in which every ladder works for
/// all but two cycles.
#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn ladders_never_idle_while_input_is_there() {
    for design in [&MESA_64, &MESA_256] {
        let mut device = device(design);
        let parameters = device.parameters();
        let key = key(parameters.bits);
        device.load_key(&key).unwrap();
        let (few, many) = (counted(&mut device, &key, 20), counted(&mut device, &key, 50));
        let (cycles, products) = (many.busy_cycles - few.busy_cycles, many.products - few.products);
        assert_eq!((many.accepted, many.delivered), (52, 52));
        assert_eq!(cycles, 30 * u64::from(parameters.interval));
        // A ladder starts one pair of products for every bit of its segment. The last ladder starts
        // one more to leave Montgomery form.
        assert_eq!(products, 30 * u64::from(parameters.bits + 2));
        let digits = (parameters.bits + 2).div_ceil(parameters.digit_bits);
        let step = digits + 2 * parameters.delay + 6;
        let longest_segment = (parameters.bits / 2 + 1).div_ceil(parameters.stages);
        assert_eq!(parameters.interval, longest_segment * step + 2);
    }
}

#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn cycles_and_products_depend_neither_on_keys_nor_on_ciphertexts() {
    let mut device = device(&MESA_64);
    let mut seen = Vec::new();
    for _ in 0..4 {
        let key = key(64);
        device.load_key(&key).unwrap();
        seen.push(counted(&mut device, &key, 25));
    }
    assert!(seen.iter().all(|counters| *counters == seen[0]), "{seen:?}");
}

/// Subgroup keys need 27 steps per stage instead of 86, less than the two products before and after
/// the stages, which then determine the interval.
#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn short_exponents_take_fewer_steps() {
    let mut device = device(&MESA_1024);
    let parameters = device.parameters();
    if parameters.bits < 1024 {
        return; // With coverage the device is narrow, and no such key fits.
    }
    let key = subgroup_key();
    device.load_key(&key).unwrap();
    let depth = parameters.stages as usize + 2;
    let (few, many) = (counted(&mut device, &key, 2 * depth), counted(&mut device, &key, 3 * depth));
    let items = depth as u64;
    // 161 bits, in six stages of 27 steps; the last includes its exit.
    assert_eq!(many.products - few.products, items * 2 * 6 * 27);
    let product = 2 * u64::from(parameters.bits) + 2 + 17 + 4;
    let (cycles, interval) = (many.busy_cycles - few.busy_cycles, 2 * product);
    assert!(cycles.abs_diff(items * interval) < interval, "{items} in {cycles}, not {interval} each");
    assert!(interval < u64::from(parameters.interval));
    tells_foreign_rows(&mut device, &key);
}

#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn batches_that_break_off_leave_nothing_behind() {
    let shared = Shared::new(&MESA_64);
    let mut device = Mesa::open(Box::new(shared.clone())).unwrap();
    let key = key(64);
    device.load_key(&key).unwrap();
    let (ciphertexts, _) = random_ciphertexts(&key, 10);
    // A header takes two beats of 32 bits, a ciphertext four, a plaintext two.
    for beats in 1..8 {
        shared.disturb(Fault::GivenUp(beats));
        let error = device.decrypt(&ciphertexts).unwrap_err();
        is(&error, ErrorKind::CutShort { bytes: 4 * beats, expected: 4 * beats });
        decrypts(&mut device, &key, 3);
        shared.disturb(Fault::Abandoned(beats));
        device.decrypt(&ciphertexts).unwrap_err();
        decrypts(&mut device, &key, 3);
    }
    for fault in [Fault::CutInput(2), Fault::CutInput(3), Fault::CutInput(6), Fault::CutInput(7), Fault::LongerInput(5)]
    {
        shared.disturb(fault);
        is(&device.decrypt(&ciphertexts).unwrap_err(), ErrorKind::Dropped);
        decrypts(&mut device, &key, 3);
    }
    shared.disturb(Fault::LongerOutput);
    let error = device.decrypt(&ciphertexts).unwrap_err();
    is(&error, ErrorKind::CutShort { bytes: 8 + 12 * 8, expected: 8 + 13 * 8 });
    decrypts(&mut device, &key, 3);
}

#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn a_reset_in_mid_stream_takes_the_key_along() {
    let shared = Shared::new(&MESA_64);
    let mut device = Mesa::open(Box::new(shared.clone())).unwrap();
    for beats in 1..4 {
        let key = key(64);
        device.load_key(&key).unwrap();
        let (ciphertexts, _) = random_ciphertexts(&key, 10);
        shared.disturb(Fault::Reset(beats));
        is(&device.decrypt(&ciphertexts).unwrap_err(), ErrorKind::WasReset);
        is(&device.decrypt(&ciphertexts).unwrap_err(), ErrorKind::NoKey);
        device.load_key(&key).unwrap();
        decrypts(&mut device, &key, 5);
    }
}

/// Byte addresses of the register map.
const CONTROL: u32 = 0x10;
const STATUS: u32 = 0x14;
const ERROR: u32 = 0x18;
const IN_FLIGHT: u32 = 0x24;
const KEY_CHECK: u32 = 0x28;
const KEY: u32 = 0x1_0000;

#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn keys_cannot_be_read_nor_changed_under_way() {
    let mut shared = Shared::new(&MESA_64);
    let mut device = Mesa::open(Box::new(shared.clone())).unwrap();
    let key = key(64);
    device.load_key(&key).unwrap();
    assert_eq!(shared.read(STATUS).unwrap(), 1);
    for address in (KEY..KEY + 0x8000).step_by(0x404) {
        is(&shared.read(address).unwrap_err(), ErrorKind::Refused { address });
    }
    // The key's checksum is gone as well.
    assert_eq!(shared.read(KEY_CHECK).unwrap(), 0);
    shared.write(ERROR, !0).unwrap();
    // Leaves something in flight, as after an unfinished transfer.
    let (ciphertexts, _) = random_ciphertexts(&key, 1);
    shared.disturb(Fault::Abandoned(2 + 3 * 4));
    device.decrypt(&ciphertexts).unwrap_err();
    assert_eq!((shared.read(STATUS).unwrap(), shared.read(IN_FLIGHT).unwrap()), (1, 0));
    let mut packet = header(shared.read(EPOCH).unwrap(), 9, 3);
    packet.extend([1; 3 * 16]);
    shared.simulated().queue(&packet, true, 100);
    assert_eq!(shared.read(STATUS).unwrap(), 3);
    assert!(shared.read(IN_FLIGHT).unwrap() > 0);
    is(&shared.write(KEY, 1).unwrap_err(), ErrorKind::Refused { address: KEY });
    // After a flush, the key is still there.
    shared.write(CONTROL, 2).unwrap();
    assert_eq!((shared.read(STATUS).unwrap() & 3, shared.read(IN_FLIGHT).unwrap()), (1, 0));
    // The driver notices that another program flushed the device.
    is(&device.decrypt(&ciphertexts).unwrap_err(), ErrorKind::WasReset);
    device.load_key(&key).unwrap();
    decrypts(&mut device, &key, 3);
    // A write makes the key incomplete.
    shared.write(KEY, 1).unwrap();
    assert_eq!(shared.read(STATUS).unwrap(), 0);
}

#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn wiping_clears_the_key() {
    let mut shared = Shared::new(&MESA_64);
    for drop_driver in [false, true] {
        let mut device = Mesa::open(Box::new(shared.clone())).unwrap();
        let key = key(64);
        device.load_key(&key).unwrap();
        decrypts(&mut device, &key, 3);
        let (ciphertexts, _) = random_ciphertexts(&key, 1);
        match drop_driver {
            true => drop(device),
            false => {
                device.wipe().unwrap();
                is(&device.decrypt(&ciphertexts).unwrap_err(), ErrorKind::NoKey);
            }
        }
        assert_eq!(shared.read(STATUS).unwrap(), 0);
        // Without a key it cannot be declared complete, and the device answers only with the
        // packet's header.
        is(&shared.write(CONTROL, 1).unwrap_err(), ErrorKind::Refused { address: CONTROL });
        assert_eq!(shared.read(STATUS).unwrap(), 8, "not ready, and ERROR says why");
        let head = header(shared.read(EPOCH).unwrap(), 1, 1);
        shared.simulated().queue(&[&head[..], &[7; 16]].concat(), true, 0);
        assert_eq!(shared.simulated().drain(3000), [head]);
    }
}

#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn ciphertexts_that_share_a_factor_are_found() {
    let mut device = device(&MESA_64);
    let key = key(64);
    device.load_key(&key).unwrap();
    let mut bytes = random_ciphertexts(&key, 3).0.to_be_bytes();
    // n itself in the second row.
    bytes[16..24].fill(0);
    bytes[24..32].copy_from_slice(&key.public().modulus_be());
    let ciphertexts = key.public().ciphertexts_from_be(&bytes).unwrap();
    let expected = hearith_paillier::ErrorKind::CiphertextSharesFactor.at_row(1);
    let error = device.decrypt(&ciphertexts).unwrap_err();
    assert_eq!(error.row(), Some(1));
    is(&error, ErrorKind::Scheme(expected.kind().clone()));
    assert_eq!(key.decrypt(&ciphertexts).unwrap_err(), expected);
}
