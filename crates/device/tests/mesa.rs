//! The simulated MESA against the library, through the driver.

mod common;

use common::{device, key, random_ciphertexts};
use hearith_device::Mesa;
use hearith_device::designs::{MESA_64, MESA_128, MESA_256, MESA_1024, MESA_2048};
use hearith_paillier::{Decryption, PrivateKey};
use hearith_verilated::Design;

/// Decrypts fresh ciphertexts and corner values, and compares with the library.
fn decrypts(device: &mut Mesa, key: &PrivateKey, count: usize) {
    let (ciphertexts, plaintexts) = random_ciphertexts(key, count);
    let found = device.decrypt(&ciphertexts).unwrap();
    assert!(found == plaintexts, "{count} ciphertexts of key {}", key.public().id());
    assert!(found == key.decrypt_with(Decryption::Ecrt, &ciphertexts).unwrap());
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
