//! The residue bank's driver against a bank in software that can be told to lie.

mod common;

use common::is;
use hearith_arith::Batch;
use hearith_device::residue_bank::ResidueBank;
use hearith_device::{ConvertingDevice, Error, ErrorKind, Exchange, Marks, Transport, Trust};

const PRIMES: [u32; 3] = [59, 47, 37];
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

/// A bank for numbers of 60 bits over streams of 32.
struct Bank {
    index: u32,
    epoch: u32,
    ready: bool,
    /// What is added to the second prime's residue of this number.
    lie: Option<(usize, u32)>,
    /// Whether it is reset before the next packet.
    reset: bool,
}

impl Transport for Bank {
    fn describe(&self) -> String {
        "a bank in software".to_owned()
    }

    fn read(&mut self, address: u32) -> Result<u32, Error> {
        Ok(match address {
            IDENTITY => u32::from_be_bytes(*b"RESB"),
            VERSION => 2,
            EPOCH => self.epoch,
            STATUS => self.ready.into(),
            VALUE => PRIMES.get(self.index as usize).copied().unwrap_or(0),
            // 60 bits, three primes, words of six bits, beats of 32 bits, four cycles.
            PARAMETERS..0xa0 => [60, 3, 6, 32, 4, 0, 0, 0][(address - PARAMETERS) as usize / 4],
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
        assert_eq!((exchange.header, exchange.input_item, exchange.output_item), (8, 8, 12));
        if std::mem::take(&mut self.reset) {
            (self.epoch, self.ready) = (0, false);
        }
        let (header, numbers) = exchange.input.split_at(8);
        // A device that is not ready takes nothing, nor does it know another epoch.
        if !self.ready {
            return Err(exchange.stalled(0, 0));
        }
        assert_eq!(header[..4], [0x48, 0x45, self.epoch as u8, 0]);
        assert_eq!(usize::from(u16::from_le_bytes([header[6], header[7]])), numbers.len() / 8);
        let (echo, answers) = exchange.output.split_at_mut(8);
        echo.copy_from_slice(header);
        let packets = numbers.chunks_exact(8).zip(answers.chunks_exact_mut(12));
        for (row, (number, residues)) in packets.enumerate() {
            let number = u64::from_le_bytes(number.try_into().unwrap());
            for (index, prime) in PRIMES.into_iter().enumerate() {
                let lie = self.lie.filter(|&(at, _)| (at, 1) == (row, index)).map_or(0, |(_, lie)| lie);
                let residue = (number % u64::from(prime)) as u32 + lie;
                residues[4 * index..][..4].copy_from_slice(&residue.to_le_bytes());
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

fn bank(lie: Option<(usize, u32)>) -> Box<dyn ConvertingDevice> {
    Box::new(ResidueBank::open(software(lie)).unwrap())
}

fn software(lie: Option<(usize, u32)>) -> Box<Bank> {
    Box::new(Bank { index: 0, epoch: 0, ready: false, lie, reset: false })
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
    assert_eq!(error.to_string(), "row 2: the device gave what is no residue modulo 47");
    // Of another modulus it is nobody's business.
    bank(Some((2, 47))).residues(&[59], &numbers(&[1, 2, 3, 4])).unwrap();
}

/// Wrong residues that could be right ones, of any size: nothing is given out, unless whoever asks believes the bank.
#[test]
fn wrong_residues_are_found() {
    let batch = numbers(&[1, 2, 46, 4, 1 << 59]);
    for lie in 1..PRIMES[1] - 1 {
        // Row 0 has the residue 1, which stays below the prime.
        let error = bank(Some((0, lie))).residues(&[59, 47], &batch).unwrap_err();
        is(&error, ErrorKind::FailedCheck);
        assert_eq!(error.row(), None);
        bank(Some((0, lie))).residues(&[59, 37], &batch).unwrap();
    }
    let believed = ResidueBank::open(software(Some((0, 5)))).unwrap();
    let residues = believed.with_trust(Trust::Believe).residues(&[47], &batch).unwrap();
    assert_eq!(residues.column(0)[0], 6);
}

/// A bank that was reset, or has lied, is started anew for the next batch.
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

/// More numbers than go to the device at a time, the wrong one among the last.
#[test]
fn long_batches_are_checked_to_the_end() {
    let batch = numbers(&(0..5000).map(|row| row * row).collect::<Vec<_>>());
    assert_eq!(bank(None).residues(&[37], &batch).unwrap().column(0)[4999], 4999 * 4999 % 37);
    // Counted from the beginning of a part: row 4, of both parts.
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
