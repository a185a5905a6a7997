//! Simulated devices whose constants or answers get a bit flipped in transit. The checksum of the
//! key finds it, or if that is bypassed, the check of the batch.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use crate::common::{is, key, random_ciphertexts};
use hearith_arith::{Batch, Engine, Modulus, natural};
use hearith_device::mesa::{Keyed, Mesa, MesaDual, Parameters};
use hearith_device::residue_bank::ResidueBank;
use hearith_device::{Error, ErrorKind, Exchange, Marks, Transport, Trust};
use hearith_simulated::Simulated;
use hearith_simulated::designs::{MESA_64, MESA_DUAL_64, RESIDUE_BANK_60};
use hearith_verilated::Design;

/// Byte addresses of the register map.
const STATUS: u32 = 0x14;
const KEY_CHECK: u32 = 0x28;
const REGIONS: u32 = 0x1_0000;
const REGION_BYTES: u32 = 0x800;
/// The regions of MESA that hold the primes. In its dual-number form, other constants are in these
/// regions, and their bit 0 matters.
const DIVISORS: [u32; 2] = [5, 13];
/// The regions of step counts: of MESA, and of its dual-number form (where region 15 is the
/// modulus, all of whose bits matter).
const COUNTS: [u32; 2] = [15, 14];

/// The changes to data in transit.
#[derive(Default)]
struct Tampering {
    /// The constant written to this region gets this bit flipped.
    flip: Option<(u32, u32)>,
    /// KEY_CHECK shows the expected value.
    bypass: bool,
    /// Answers get this bit of this byte flipped.
    answer: Option<(usize, u32)>,
    /// The checksum of the intended data.
    crc: u32,
    /// Words of each region.
    words: BTreeMap<u32, u32>,
}

/// A simulated device, with an attacker in the path to it.
#[derive(Clone)]
struct Tampered {
    device: Arc<Mutex<Simulated>>,
    tampering: Arc<Mutex<Tampering>>,
}

impl Tampered {
    fn new(design: &'static Design) -> Self {
        let device = Simulated::new(design).unwrap();
        Self { device: Arc::new(Mutex::new(device)), tampering: Arc::default() }
    }

    fn flip(&self, flip: Option<(u32, u32)>, bypass: bool) {
        let mut tampering = self.tampering.lock().unwrap();
        (tampering.flip, tampering.bypass) = (flip, bypass);
    }
}

/// Updates a CRC-32, as zlib's, by a word.
fn crc(before: u32, word: u32) -> u32 {
    !(0..32).fold(!before ^ word, |crc, _| if crc & 1 == 1 { crc >> 1 ^ 0xedb8_8320 } else { crc >> 1 })
}

impl Transport for Tampered {
    fn describe(&self) -> String {
        self.device.lock().unwrap().describe()
    }

    fn read(&mut self, address: u32) -> Result<u32, Error> {
        let read = self.device.lock().unwrap().read(address)?;
        let tampering = self.tampering.lock().unwrap();
        Ok(if address == KEY_CHECK && tampering.bypass { tampering.crc } else { read })
    }

    fn write(&mut self, address: u32, mut value: u32) -> Result<(), Error> {
        if let Some(offset) = address.checked_sub(REGIONS) {
            let mut tampering = self.tampering.lock().unwrap();
            let (region, word) = (offset / REGION_BYTES, offset % REGION_BYTES / 4);
            tampering.crc = crc(if word == 0 { 0 } else { tampering.crc }, value);
            let words = tampering.words.entry(region).or_default();
            *words = (*words).max(word + 1);
            if let Some((_, bit)) = tampering.flip.filter(|&(flipped, bit)| (flipped, bit / 32) == (region, word)) {
                value ^= 1 << (bit % 32);
            }
        }
        self.device.lock().unwrap().write(address, value)
    }

    fn exchange(&mut self, exchange: Exchange<'_>) -> Result<(), Error> {
        let Exchange { input, output, header, input_item, output_item, quiet_cycles } = exchange;
        let exchange = Exchange { input, output: &mut *output, header, input_item, output_item, quiet_cycles };
        self.device.lock().unwrap().exchange(exchange)?;
        if let Some((byte, bit)) = self.tampering.lock().unwrap().answer {
            output[header + byte] ^= 1 << bit;
        }
        Ok(())
    }

    fn synchronise(&mut self, marks: Marks<'_>) -> Result<(), Error> {
        self.device.lock().unwrap().synchronise(marks)
    }
}

/// Flips bits of each constant that the driver writes.
fn constants<P: Parameters + 'static>(design: &'static Design) {
    let mut way = Tampered::new(design);
    let mut device = Keyed::<P>::open(Box::new(way.clone())).unwrap();
    let key = key(64);
    device.load_key(&key).unwrap();
    let (ciphertexts, plaintexts) = random_ciphertexts(&key, 6);
    assert!(device.decrypt(&ciphertexts).unwrap() == plaintexts);
    let regions: Vec<(u32, u32)> = way.tampering.lock().unwrap().words.clone().into_iter().collect();
    assert!(regions.len() >= 16);
    for (number, (region, words)) in (0..).zip(regions) {
        // The lowest bit of the top word, which every constant uses, and some others.
        for bit in [32 * (words - 1), (5 * number + 1) % 32] {
            way.flip(Some((region, bit)), false);
            is(&device.load_key(&key).unwrap_err(), ErrorKind::KeyNotLoaded { region });
            assert!(!device.has_key() && way.read(STATUS).unwrap() & 1 == 0);
            // If the checksum is bypassed, the device computes with the wrong constant.
            way.flip(Some((region, bit)), true);
            device.load_key(&key).unwrap();
            let answer = device.decrypt(&ciphertexts);
            let error = match answer {
                Err(error) => error,
                // These bits have no effect: bit 0 of a prime, because the divider assumes that it
                // is odd, and bits of step counts for stages that do not exist. The lower half of
                // MESA's count is for the stages before the last, and this design has one stage.
                Ok(found) => {
                    let is_idle = match bit {
                        0 => DIVISORS.contains(&region) || region == COUNTS[0],
                        _ => COUNTS.contains(&region),
                    };
                    assert!(found == plaintexts && is_idle, "bit {bit} of region {region}");
                    continue;
                }
            };
            let found = matches!(error.kind(), ErrorKind::FailedCheck | ErrorKind::NotAPlaintext);
            assert!(found, "bit {bit} of region {region}: {error}");
            assert!(!device.has_key() && way.read(STATUS).unwrap() & 1 == 0, "the device was not wiped");
        }
    }
    way.flip(None, false);
    device.load_key(&key).unwrap();
    assert!(device.decrypt(&ciphertexts).unwrap() == plaintexts);
}

#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn a_bit_of_a_constant_of_mesa_is_found() {
    constants::<hearith_device::mesa::MesaParameters>(&MESA_64);
}

#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn a_bit_of_a_constant_of_mesa_dual_is_found() {
    constants::<hearith_device::mesa::MesaDualParameters>(&MESA_DUAL_64);
}

/// The reason for the check: the same hardware, unchecked, with one wrong bit in a constant of p.
/// Every plaintext is below n, and a wrong one differs from the right one by a multiple of q.
#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn hardware_that_is_believed_gives_the_key_away() {
    let way = Tampered::new(&MESA_64);
    let mut device = Mesa::open(Box::new(way.clone())).unwrap().with_trust(Trust::Unchecked);
    let key = key(64);
    let (ciphertexts, plaintexts) = random_ciphertexts(&key, 6);
    let number = |bytes: &[u8]| u64::from_be_bytes(bytes.try_into().unwrap());
    let n = number(&key.public().modulus_be());
    // The constant that converts a ciphertext to Montgomery form modulo p^2: the p branch decrypts
    // another number.
    way.flip(Some((2, 7)), true);
    device.load_key(&key).unwrap();
    let wrong = device.decrypt(&ciphertexts).unwrap();
    let [p, q] = key.primes().map(|prime| prime[0]);
    let pairs = wrong
        .to_be_bytes()
        .chunks(8)
        .map(number)
        .zip(plaintexts.to_be_bytes().chunks(8).map(number))
        .collect::<Vec<_>>();
    let given = pairs.iter().filter(|(wrong, right)| wrong != right);
    let given: Vec<u64> = given.map(|(wrong, right)| natural::word::gcd(wrong.abs_diff(*right), n)).collect();
    assert!(!given.is_empty() && given.iter().all(|&common| common == q || common == p), "{given:?}");
}

#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn a_bit_of_an_answer_is_found() {
    let way = Tampered::new(&MESA_DUAL_64);
    let mut device = MesaDual::open(Box::new(way.clone())).unwrap();
    let key = key(64);
    let (ciphertexts, plaintexts) = random_ciphertexts(&key, 6);
    for byte in [0, 7, 8, 40] {
        way.tampering.lock().unwrap().answer = Some((byte, 2));
        device.load_key(&key).unwrap();
        let error = device.decrypt(&ciphertexts).unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::FailedCheck | ErrorKind::NotAPlaintext), "{error}");
    }
    way.tampering.lock().unwrap().answer = None;
    device.load_key(&key).unwrap();
    assert!(device.decrypt(&ciphertexts).unwrap() == plaintexts);
}

/// Each residue is 32 bits of the answer, those of the first modulus first.
#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn a_bit_of_a_residue_is_found() {
    let way = Tampered::new(&RESIDUE_BANK_60);
    let mut bank = ResidueBank::open(Box::new(way.clone())).unwrap();
    let numbers: Vec<u64> = (0..40).map(|row| row * 0x0001_2345_6789_abcd % (1 << 60)).collect();
    let numbers = Batch::from_rows(1, numbers.chunks(1));
    let moduli = bank.moduli().to_vec();
    let right = bank.residues(&moduli, &numbers).unwrap();
    for (column, &modulus) in right.columns().zip(&moduli) {
        let expected = Modulus::new(Engine::best(), &[modulus]).unwrap().reduce(&numbers);
        assert_eq!(column, expected.as_limbs());
    }
    for index in 0..moduli.len() {
        way.tampering.lock().unwrap().answer = Some((4 * index, 1));
        let error = bank.residues(&moduli, &numbers).unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::FailedCheck | ErrorKind::NotAResidue { .. }), "{error}");
    }
    way.tampering.lock().unwrap().answer = None;
    assert!(bank.residues(&moduli, &numbers).unwrap() == right);
}
