//! The residue bank's driver against a bank in software that can return wrong residues.

use crate::common::is;
use std::sync::Arc;

use hearith_arith::{Batch, Engine};
use hearith_bfv::{PrivateKey, Set};
use hearith_device::residue_bank::ResidueBank;
use hearith_device::{ConvertingDevice, Error, ErrorKind, Exchange, Marks, PlaintextConverter, Transport, Trust};

const PRIMES: [u64; 3] = [59, 47, 37];
/// Bytes of a beat.
const BEAT: usize = 4;
const IDENTITY: u32 = 0x00;
const VERSION: u32 = 0x04;
const EPOCH: u32 = 0x0c;
const CONTROL: u32 = 0x10;
const STATUS: u32 = 0x14;
const INDEX: u32 = 0x2c;
const VALUE: u32 = 0x30;
const PARAMETERS: u32 = 0x80;
const READY: u32 = 1;
const FLUSH_OR_WIPE: u32 = 6;
const WIPE: u32 = 4;

/// A bank over streams of 32 bits.
struct Bank {
    primes: &'static [u64],
    /// Bits of a number, and of a prime.
    bits: [u32; 2],
    index: u32,
    epoch: u32,
    ready: bool,
    /// The number added to the second prime's residue in this row.
    lie: Option<(usize, u64)>,
    /// Whether it is reset before the next packet.
    reset: bool,
}

impl Bank {
    /// A residue in the form of an answer, or a prime in that of the table.
    fn slot(&self, residue: u64) -> Vec<u8> {
        residue.to_le_bytes()[..if self.bits[1] > 31 { 8 } else { 4 }].to_vec()
    }
}

impl Transport for Bank {
    fn describe(&self) -> String {
        "a bank in software".to_owned()
    }

    fn read(&mut self, address: u32) -> Result<u32, Error> {
        Ok(match address {
            IDENTITY => u32::from_be_bytes(*b"RESB"),
            VERSION => 3,
            EPOCH => self.epoch,
            STATUS => self.ready.into(),
            VALUE => {
                let words: Vec<u8> = self.primes.iter().flat_map(|&prime| self.slot(prime)).collect();
                words.as_chunks::<BEAT>().0.get(self.index as usize).map_or(0, |&word| u32::from_le_bytes(word))
            }
            // Beats of 32 bits, an interval of four cycles.
            PARAMETERS..0xa0 => {
                let [bits, word_bits] = self.bits;
                [bits, self.primes.len() as u32, word_bits, 32, 4, 0, 0, 0][(address - PARAMETERS) as usize / 4]
            }
            _ => 0,
        })
    }

    fn write(&mut self, address: u32, value: u32) -> Result<(), Error> {
        match address {
            INDEX => self.index = value,
            CONTROL => {
                self.epoch += u32::from(value & FLUSH_OR_WIPE != 0);
                self.ready = (self.ready || value & READY != 0) && value & WIPE == 0;
            }
            _ => (),
        }
        Ok(())
    }

    fn exchange(&mut self, exchange: Exchange<'_>) -> Result<(), Error> {
        let (taken, given) = (exchange.input_item, exchange.output_item);
        assert_eq!((exchange.header, taken), (8, self.bits[0].div_ceil(32) as usize * BEAT));
        assert_eq!(given, self.primes.len() * self.slot(0).len());
        if std::mem::take(&mut self.reset) {
            (self.epoch, self.ready) = (0, false);
        }
        let (header, numbers) = exchange.input.split_at(8);
        // A device that is not ready accepts nothing, and its epoch is another.
        if !self.ready {
            return Err(exchange.stalled(0, 0));
        }
        assert_eq!(header[..4], [0x48, 0x45, self.epoch as u8, 0]);
        assert_eq!(usize::from(u16::from_le_bytes([header[6], header[7]])), numbers.len() / taken);
        let (echo, answers) = exchange.output.split_at_mut(8);
        echo.copy_from_slice(header);
        let packets = numbers.chunks_exact(taken).zip(answers.chunks_exact_mut(given));
        for (row, (number, residues)) in packets.enumerate() {
            let number = number.iter().rev().fold(0, |number, &byte| number << 8 | u128::from(byte));
            for (index, &prime) in self.primes.iter().enumerate() {
                let lie = self.lie.filter(|&(at, _)| (at, 1) == (row, index)).map_or(0, |(_, lie)| lie);
                let residue = self.slot((number % u128::from(prime)) as u64 + lie);
                residues[residue.len() * index..][..residue.len()].copy_from_slice(&residue);
            }
        }
        Ok(())
    }

    fn synchronise(&mut self, marks: Marks<'_>) -> Result<(), Error> {
        assert_eq!((marks.packet, marks.input.len()), (8, 16));
        assert!(marks.input.ends_with(marks.echo) && !marks.input.starts_with(marks.echo));
        assert_eq!(marks.echo[..4], [0x48, 0x45, self.epoch as u8, 0]);
        assert_eq!(marks.echo[6..], [0, 0]);
        Ok(())
    }
}

fn bank(lie: Option<(usize, u64)>) -> Box<dyn ConvertingDevice> {
    Box::new(ResidueBank::open(software(lie)).unwrap())
}

fn software(lie: Option<(usize, u64)>) -> Box<Bank> {
    Box::new(Bank { primes: &PRIMES, bits: [60, 6], index: 0, epoch: 0, ready: false, lie, reset: false })
}

/// A bank for numbers of 100 bits, with the primes of a parameter set of the lattice scheme.
fn long(lie: Option<(usize, u64)>) -> ResidueBank {
    let primes = Set::Degree4096.moduli();
    ResidueBank::open(Box::new(Bank { primes, bits: [100, 50], ..*software(lie) })).unwrap()
}

fn numbers(numbers: &[u64]) -> Batch {
    Batch::from_rows(1, numbers.iter().map(std::slice::from_ref))
}

#[test]
fn residues_come_in_the_order_asked_for() {
    let residues = bank(None).residues(&[37, 59], &numbers(&[1 << 40, 0, 58])).unwrap();
    let columns: Vec<&[u64]> = residues.columns().collect();
    assert_eq!(columns, [[(1 << 40) % 37, 0, 58 - 37], [(1 << 40) % 59, 0, 58]]);
    is(&bank(None).residues(&[101], &numbers(&[1])).unwrap_err(), ErrorKind::NotAModulus { modulus: 101 });
}

#[test]
fn a_residue_that_is_none_is_named_with_its_row() {
    let error = bank(Some((2, 47))).residues(&[59, 47], &numbers(&[1, 2, 3, 4])).unwrap_err();
    assert_eq!(error.row(), Some(2));
    is(&error, ErrorKind::NotAResidue { modulus: 47 });
    assert_eq!(error.to_string(), "row 2: the device returned something that is not a residue modulo 47");
    // The residue of a modulus that was not requested does not matter.
    bank(Some((2, 47))).residues(&[59], &numbers(&[1, 2, 3, 4])).unwrap();
}

/// Wrong residues below the prime, of any size: nothing is returned, unless checks are off.
#[test]
fn wrong_residues_are_found() {
    let batch = numbers(&[1, 2, 46, 4, 1 << 59]);
    for lie in 1..PRIMES[1] - 1 {
        // Row 0 has the residue 1, so the wrong residue stays below the prime.
        let error = bank(Some((0, lie))).residues(&[59, 47], &batch).unwrap_err();
        is(&error, ErrorKind::FailedCheck);
        assert_eq!(error.row(), None);
        bank(Some((0, lie))).residues(&[59, 37], &batch).unwrap();
    }
    let believed = ResidueBank::open(software(Some((0, 5)))).unwrap();
    let residues = believed.with_trust(Trust::Unchecked).residues(&[47], &batch).unwrap();
    assert_eq!(residues.column(0)[0], 6);
}

/// A bank that was reset or returned wrong residues is restarted for the next batch.
#[test]
fn a_bank_that_failed_is_started_anew() {
    let batch = numbers(&[1, 2, 46, 4, 1 << 59]);
    let mut bank = ResidueBank::open(Box::new(Bank { reset: true, ..*software(None) })).unwrap();
    let error = bank.residues(&[47], &batch).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::WasReset | ErrorKind::NotReady), "{error}");
    for _ in 0..2 {
        assert_eq!(bank.residues(&[47], &batch).unwrap().column(0)[..4], [1, 2, 46, 4]);
    }
    is(&bank.residues(&[7], &batch).unwrap_err(), ErrorKind::NotAModulus { modulus: 7 });
    bank.residues(&[47], &batch).unwrap();
}

/// More numbers than are sent at a time, with the wrong one in the last part.
#[test]
fn long_batches_are_checked_to_the_end() {
    let batch = numbers(&(0..5000).map(|row| row * row).collect::<Vec<_>>());
    assert_eq!(bank(None).residues(&[37], &batch).unwrap().column(0)[4999], 4999 * 4999 % 37);
    // The row counts from the beginning of a part: row 4 of both parts.
    is(&bank(Some((4, 2))).residues(&[47], &batch).unwrap_err(), ErrorKind::FailedCheck);
    bank(Some((4, 2))).residues(&[], &batch).unwrap();
    bank(None).residues(&[37], &numbers(&[])).unwrap();
}

#[test]
fn a_number_that_is_too_long_is_named_with_its_row() {
    let error = bank(None).residues(&[59], &numbers(&[1, (1 << 60) - 1, 1 << 60])).unwrap_err();
    assert_eq!(error.row(), Some(2));
    is(&error, ErrorKind::NumberTooLong { bits: 60 });
    assert_eq!(
        error.offset_rows(4096).to_string(),
        "row 4098: the number is longer than the 60 bits that the residue bank takes"
    );
}

/// Residues of 50 bits occupy 64 bits each, and so do primes in the table.
#[test]
fn residues_of_more_than_a_word() {
    let primes = Set::Degree4096.moduli();
    let product = u128::from(primes[0]) * u128::from(primes[1]);
    let rows = [0, 1, product - 1, product, (1 << 100) - 1, 12345 << 80]
        .map(|number: u128| [number as u64, (number >> 64) as u64]);
    let batch = Batch::from_rows(2, rows.iter().map(|row| &row[..]));
    let mut right = long(None);
    assert_eq!((right.moduli(), right.parameters().word_bits), (primes, 50));
    let residues = right.residues(&[primes[1], primes[0]], &batch).unwrap();
    for (column, prime) in residues.columns().zip([primes[1], primes[0]]) {
        let expected = rows.map(|[low, high]| (u128::from(high) << 64 | u128::from(low)) % u128::from(prime));
        assert!(column.iter().copied().map(u128::from).eq(expected));
    }
    is(&long(Some((0, 1))).residues(primes, &batch).unwrap_err(), ErrorKind::FailedCheck);
    is(&long(Some((0, 1 << 49))).residues(primes, &batch).unwrap_err(), ErrorKind::FailedCheck);
    let error = long(Some((0, primes[1]))).residues(primes, &batch).unwrap_err();
    is(&error, ErrorKind::NotAResidue { modulus: primes[1] });
}

/// A bank can be used for encryption under either key. If it returns wrong residues, no ciphertext
/// is returned.
#[test]
fn plaintexts_of_the_lattice_scheme() {
    let converter = |lie| Arc::new(PlaintextConverter::new(Box::new(long(lie))));
    let own = || PrivateKey::generate(Set::Degree4096, Engine::best()).unwrap();
    let numbers: Vec<i128> = (0..5000).map(|row| (row - 2000) * 0x0123_4567).take(4096).collect();
    let bank = converter(None);
    let key = own().with_converter(bank.clone());
    for ciphertext in [key.encrypt(&numbers, 40), key.public().encrypt(&numbers, 40)] {
        assert_eq!(key.decrypt(&ciphertext.unwrap()).unwrap()[..], numbers);
    }
    let error = own().with_converter(converter(Some((4000, 1)))).encrypt(&numbers, 40).unwrap_err();
    let hearith_bfv::ErrorKind::Converter(_) = error.kind() else { panic!("{error}") };
    assert_eq!(error.to_string(), Error::from(ErrorKind::FailedCheck).to_string());
    // A set whose primes the bank lacks.
    let other = PrivateKey::generate(Set::Degree8192, Engine::best()).unwrap().with_converter(bank);
    let error = other.encrypt(&[1], 40).unwrap_err();
    assert!(error.to_string().starts_with("the residue bank has no unit for the modulus 1125899903827969"), "{error}");
}
