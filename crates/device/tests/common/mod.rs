//! What the tests of devices share.

#![allow(dead_code, reason = "each test uses its part")]

use std::sync::{Arc, Mutex};

use hearith_device::{Decryptor, DeviceError, Exchange, Mesa, Simulated, Transport};
use hearith_golden::{Decryption, PaperKey};
use hearith_paillier::{Ciphertexts, Engine, KeyPolicy, Plaintexts, PrivateKey, Variant};
use hearith_verilated::Design;

/// A new key.
pub fn key(bits: u32) -> PrivateKey {
    PrivateKey::generate(bits, Variant::Standard, KeyPolicy::AllowInsecure, Engine::best()).unwrap()
}

/// A simulated device that the test can reach beside the driver, and whose streams it can disturb.
#[derive(Clone)]
pub struct Shared {
    pub device: Arc<Mutex<Simulated>>,
    fault: Arc<Mutex<Option<Fault>>>,
}

/// What happens to the next exchange.
#[derive(Clone, Copy)]
pub enum Fault {
    /// It is given up with this many answers received; the rest stay in flight.
    GivenUp(usize),
    /// Likewise, and then somebody resets the device.
    Reset(usize),
    /// The packets to the device are cut after this many bytes, a whole number of beats.
    CutInput(usize),
    /// The packets from the device should be longer than they are.
    LongerOutput,
}

impl Shared {
    pub fn new(design: &'static Design) -> Self {
        let device = Simulated::new(design).unwrap();
        Self { device: Arc::new(Mutex::new(device)), fault: Arc::default() }
    }

    /// Disturbs the next exchange.
    pub fn disturb(&self, fault: Fault) {
        *self.fault.lock().unwrap() = Some(fault);
    }
}

impl Transport for Shared {
    fn describe(&self) -> String {
        self.device.lock().unwrap().describe()
    }

    fn read(&mut self, address: u32) -> Result<u32, DeviceError> {
        self.device.lock().unwrap().read(address)
    }

    fn write(&mut self, address: u32, value: u32) -> Result<(), DeviceError> {
        self.device.lock().unwrap().write(address, value)
    }

    fn exchange(&mut self, exchange: Exchange<'_>) -> Result<(), DeviceError> {
        let mut device = self.device.lock().unwrap();
        let Exchange { input, input_packet, output, output_packet, quiet_cycles } = exchange;
        let packets = input.len() / input_packet;
        match self.fault.lock().unwrap().take() {
            None => device.exchange(Exchange { input, input_packet, output, output_packet, quiet_cycles }),
            Some(fault @ (Fault::GivenUp(received) | Fault::Reset(received))) => {
                let output = &mut output[..received * output_packet];
                device.exchange(Exchange { input, input_packet, output, output_packet, quiet_cycles })?;
                if matches!(fault, Fault::Reset(_)) {
                    device.reset();
                }
                Err(DeviceError::Stalled { sent: packets, received, expected: packets })
            }
            Some(Fault::CutInput(kept)) => {
                let cut: Vec<u8> = input.chunks(input_packet).flat_map(|packet| packet[..kept].to_vec()).collect();
                device.exchange(Exchange { input: &cut, input_packet: kept, output, output_packet, quiet_cycles })
            }
            Some(Fault::LongerOutput) => {
                let output_packet = 2 * output_packet;
                device.exchange(Exchange { input, input_packet, output, output_packet, quiet_cycles })
            }
        }
    }
}

/// A simulated MESA.
pub fn device(design: &'static Design) -> Mesa {
    Mesa::open(Box::new(Simulated::new(design).unwrap())).unwrap()
}

/// Decrypts fresh ciphertexts and corner values, and compares with the library, whatever its algorithm.
pub fn decrypts(device: &mut dyn Decryptor, key: &PrivateKey, count: usize) {
    let (ciphertexts, plaintexts) = random_ciphertexts(key, count);
    assert!(device.decrypt(&ciphertexts).unwrap() == plaintexts, "{count} ciphertexts of key {}", key.public().id());
    assert!(key.decrypt(&ciphertexts).unwrap() == plaintexts);
    assert!(PaperKey::new(key).unwrap().decrypt(Decryption::Ecrt, &ciphertexts).unwrap() == plaintexts);
}

/// Encryptions of 0, 1, n - 1 and of random numbers, with the trivial ciphertext 1 and the largest unit among them, and
/// what they hold.
pub fn random_ciphertexts(key: &PrivateKey, count: usize) -> (Ciphertexts, Plaintexts) {
    let public = key.public();
    let n = public.modulus_be();
    let width = public.plaintext_bytes();
    let number = |value: u8| (0..width).map(move |at| if at + 1 == width { value } else { 0 });
    let below_n: Vec<u8> = {
        let mut less = n.clone();
        *less.last_mut().unwrap() -= 1; // n is odd
        less
    };
    let mut bytes: Vec<u8> = number(0).chain(number(1)).chain(below_n).collect();
    let mut random = hearith_verilated::bench::Random::new(count as u64);
    while bytes.len() < count.max(3) * width {
        // Below n: a random number with its top byte less than that of n.
        let row = (0..width).map(|at| match at {
            0 => random.below(u64::from(n[0]).max(1)) as u8,
            _ => random.next() as u8,
        });
        bytes.extend(row);
    }
    bytes.truncate(count * width);
    let plaintexts = public.plaintexts_from_be(&bytes).unwrap();
    let fresh = public.encrypt(&plaintexts).unwrap();
    // The trivial encryption of 0, and n^2 - 1 = -1: an encryption of 0 as well, since (-1)^(p-1) = 1.
    let mut largest = vec![0; public.ciphertext_bytes()];
    subtract_one_from_square(&n, &mut largest);
    let largest = public.ciphertexts_from_be(&largest).unwrap();
    let all = Ciphertexts::concat(&fresh, &[&public.zero(), &largest]).unwrap();
    let zeros: Vec<u8> = number(0).chain(number(0)).collect();
    let zeros = public.plaintexts_from_be(&zeros).unwrap();
    (all, Plaintexts::concat(&plaintexts, &[&zeros]).unwrap())
}

/// `n^2 - 1`, big-endian.
fn subtract_one_from_square(n: &[u8], out: &mut [u8]) {
    let mut little = vec![0_u32; 2 * n.len() + 1];
    for (i, &a) in n.iter().rev().enumerate() {
        for (j, &b) in n.iter().rev().enumerate() {
            little[i + j] += u32::from(a) * u32::from(b);
            // Keeps the sums small.
            little[i + j + 1] += little[i + j] >> 8;
            little[i + j] &= 0xff;
        }
    }
    for i in 0..little.len() - 1 {
        little[i + 1] += little[i] >> 8;
        little[i] &= 0xff;
    }
    // n is odd, so its square ends in an odd byte.
    little[0] -= 1;
    for (byte, digit) in out.iter_mut().rev().zip(little) {
        *byte = digit as u8;
    }
}
