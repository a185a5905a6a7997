//! What the tests of simulated devices share.

#![allow(dead_code, reason = "each test uses its part")]

#[path = "../../../device/tests/common/mod.rs"]
mod devices;

use std::sync::{Arc, Mutex};

pub use devices::*;
use hearith_device::mesa::{Keyed, Mesa, Parameters};
use hearith_device::{Error, ErrorKind, Exchange, Transport};
use hearith_golden::{Decryption, PaperKey};
use hearith_paillier::PrivateKey;
use hearith_simulated::Simulated;
use hearith_verilated::Design;

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

    fn read(&mut self, address: u32) -> Result<u32, Error> {
        self.device.lock().unwrap().read(address)
    }

    fn write(&mut self, address: u32, value: u32) -> Result<(), Error> {
        self.device.lock().unwrap().write(address, value)
    }

    fn exchange(&mut self, exchange: Exchange<'_>) -> Result<(), Error> {
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
                Err(ErrorKind::Stalled { sent: packets, received, expected: packets }.into())
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
pub fn decrypts<P: Parameters>(device: &mut Keyed<P>, key: &PrivateKey, count: usize) {
    let (ciphertexts, plaintexts) = random_ciphertexts(key, count);
    assert!(device.decrypt(&ciphertexts).unwrap() == plaintexts, "{count} ciphertexts of key {}", key.public().id());
    assert!(key.decrypt(&ciphertexts).unwrap() == plaintexts);
    assert!(PaperKey::new(key).unwrap().decrypt(Decryption::Ecrt, &ciphertexts).unwrap() == plaintexts);
}
