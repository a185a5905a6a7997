//! The driver of MESA against a device in software with every fault of a board, a cable or an
//! attacker. Each fault causes an error in bounded time and never a wrong number. The next batch is
//! right again, or the device is reported as gone.

use crate::common::{is, key, random_ciphertexts};
use crate::fake::faulty::{Fault, Faulty};
use crate::fake::{BITS, CIPHERTEXT, HEADER, PLAINTEXT, region, register};
use hearith_arith::natural::is_zero;
use hearith_arith::{Batch, Engine, Modulus};
use hearith_device::mesa::{Loaded, Mesa, MesaParameters};
use hearith_device::{Error, ErrorKind, Trust};
use hearith_paillier::{Ciphertexts, DecryptError, DecryptionBackend, Plaintexts, PrivateKey};

/// Items of a batch.
const ROWS: usize = 7;
/// Limit for the accesses of a batch, its failure, reloading the key and the next batch. Each
/// access takes a bounded time.
const MOST_CALLS: usize = 400;

struct Fixture {
    key: PrivateKey,
    faulty: Faulty,
    device: Mesa,
    ciphertexts: Ciphertexts,
    plaintexts: Plaintexts,
}

impl Fixture {
    fn new() -> Self {
        Self::trusting(Trust::Checked)
    }

    fn trusting(trust: Trust) -> Self {
        let (key, faulty) = (key(BITS), Faulty::new());
        let mut device = Mesa::open(Box::new(faulty.clone())).unwrap().with_trust(trust);
        device.load_key(&key).unwrap();
        // Fresh ciphertexts, and two edge cases.
        let (ciphertexts, plaintexts) = random_ciphertexts(&key, ROWS - 2);
        let mut fixture = Self { key, faulty, device, ciphertexts, plaintexts };
        fixture.works();
        fixture
    }

    fn decrypt(&mut self) -> Result<Plaintexts, Error> {
        self.device.decrypt(&self.ciphertexts)
    }

    #[track_caller]
    fn works(&mut self) {
        assert!(self.decrypt().unwrap() == self.plaintexts);
    }

    /// A single fault: the batch fails, and the next is right, with the key reloaded if it is gone.
    #[track_caller]
    fn fails_once(&mut self, fault: Fault) -> Error {
        let before = self.faulty.calls.load(std::sync::atomic::Ordering::Relaxed);
        self.faulty.set(Some(fault));
        let error = self.decrypt().expect_err(&format!("{fault:?}"));
        self.faulty.set(None);
        let keyless = matches!(
            error.kind(),
            ErrorKind::FailedCheck | ErrorKind::NotAPlaintext | ErrorKind::NotReady | ErrorKind::WasReset
        );
        assert_eq!(self.device.has_key(), !keyless, "{fault:?}: {error}");
        if keyless {
            assert!(self.faulty.device().is_wiped(), "{fault:?}");
            is(&self.decrypt().unwrap_err(), ErrorKind::NoKey);
            self.device.load_key(&self.key).unwrap();
        }
        assert!(self.decrypt().unwrap() == self.plaintexts, "after {fault:?}");
        let calls = self.faulty.calls.load(std::sync::atomic::Ordering::Relaxed) - before;
        assert!(calls < MOST_CALLS, "{fault:?}: {calls} accesses");
        error
    }
}

#[test]
fn a_sound_device_decrypts() {
    let mut fixture = Fixture::new();
    for count in [0, 1, 3, 60] {
        let (ciphertexts, plaintexts) = random_ciphertexts(&fixture.key, count);
        assert!(fixture.device.decrypt(&ciphertexts).unwrap() == plaintexts);
    }
    let empty = fixture.ciphertexts.range(0..0).unwrap();
    assert!(fixture.device.decrypt(&empty).unwrap().is_empty());
}

/// Every bit of an answer: of its header, of every number, and of the zeros above the numbers.
#[test]
fn every_bit_of_an_answer_that_flips_is_found() {
    let mut fixture = Fixture::new();
    for bit in 0..8 * HEADER {
        is(&fixture.fails_once(Fault::AnswerBit(bit)), ErrorKind::WrongAnswer);
    }
    for bit in 8 * HEADER..8 * (HEADER + 2 * PLAINTEXT) {
        let error = fixture.fails_once(Fault::AnswerBit(bit));
        // Numbers not below n are reported with their row.
        match error.kind() {
            ErrorKind::FailedCheck => assert_eq!(error.row(), None),
            ErrorKind::NotAPlaintext => assert_eq!(error.row(), Some((bit / 8 - HEADER) / PLAINTEXT)),
            _ => panic!("bit {bit}: {error}"),
        }
    }
}

/// Every bit of a packet header on the way in, and some bits of the ciphertexts.
#[test]
fn every_bit_of_a_question_that_flips_is_found() {
    let mut fixture = Fixture::new();
    for bit in 0..8 * HEADER {
        let error = fixture.fails_once(Fault::QuestionBit(bit));
        match bit {
            // The mark or the epoch is wrong: the device discards the packet and records it.
            0..32 => assert!(matches!(error.kind(), ErrorKind::Noted { .. }), "bit {bit}: {error}"),
            // The answer to a question that was never asked.
            32..48 => is(&error, ErrorKind::WrongAnswer),
            // The number of items differs from the header's.
            _ => is(&error, ErrorKind::Dropped),
        }
    }
    for bit in (8 * HEADER..8 * (HEADER + 3 * CIPHERTEXT)).step_by(5) {
        let error = fixture.fails_once(Fault::QuestionBit(bit));
        assert!(matches!(error.kind(), ErrorKind::FailedCheck | ErrorKind::NotAPlaintext), "bit {bit}: {error}");
    }
}

#[test]
fn packets_that_are_lost_repeated_cut_or_late_are_errors() {
    let mut fixture = Fixture::new();
    let whole = HEADER + ROWS * PLAINTEXT;
    let stalled = ErrorKind::Stalled { sent: ROWS, received: 0, expected: ROWS };
    is(&fixture.fails_once(Fault::DropQuestion), stalled.clone());
    is(&fixture.fails_once(Fault::DropAnswer), stalled.clone());
    is(&fixture.fails_once(Fault::Late), stalled.clone());
    is(&fixture.fails_once(Fault::Stalls), stalled);
    for bytes in [0, HEADER, HEADER + 8, whole - 8] {
        let error = fixture.fails_once(Fault::CutAnswer(bytes));
        is(&error, ErrorKind::CutShort { bytes, expected: whole });
    }
    let error = fixture.fails_once(Fault::LongAnswer(8));
    is(&error, ErrorKind::CutShort { bytes: whole + 8, expected: whole });
    for bytes in [HEADER, HEADER + 8, HEADER + CIPHERTEXT, HEADER + ROWS * CIPHERTEXT - 8] {
        is(&fixture.fails_once(Fault::CutQuestion(bytes)), ErrorKind::Dropped);
    }
    is(&fixture.fails_once(Fault::LongQuestion), ErrorKind::Dropped);
    is(&fixture.fails_once(Fault::OldAnswer), ErrorKind::WrongAnswer);
    is(&fixture.fails_once(Fault::Exchanged), ErrorKind::FailedCheck);
    is(&fixture.fails_once(Fault::EndOfFile), ErrorKind::CutShort { bytes: 0, expected: whole });
}

/// A repeated packet leaves an answer in the stream. The next batch fails because of it, and the
/// one after that is right.
#[test]
fn what_comes_twice_is_not_the_next_answer() {
    let mut fixture = Fixture::new();
    let (others, right) = random_ciphertexts(&fixture.key, ROWS - 2);
    for fault in [Fault::RepeatQuestion, Fault::RepeatAnswer] {
        fixture.faulty.set(Some(fault));
        fixture.works();
        is(&fixture.device.decrypt(&others).unwrap_err(), ErrorKind::WrongAnswer);
        assert!(fixture.device.decrypt(&others).unwrap() == right, "{fault:?}");
    }
}

/// Wrong numbers below n: in all rows, in one row, and wrong modulo one prime only.
#[test]
fn a_device_that_lies_is_found_out() {
    let mut fixture = Fixture::new();
    let lies = (0..ROWS).map(Fault::LiesOnce).chain([Fault::Lies, Fault::WrongModuloP]);
    for fault in lies {
        let error = fixture.fails_once(fault);
        is(&error, ErrorKind::FailedCheck);
        assert_eq!(
            error.to_string(),
            "the device returned a wrong result: the batch failed the check and was discarded"
        );
    }
}

/// A bit that flips on the way to a constant is found by KEY_CHECK. The device is wiped and has no
/// key.
#[test]
fn a_bit_that_flips_on_the_way_to_a_constant_is_found_by_its_checksum() {
    let mut fixture = Fixture::new();
    for number in (0..15).filter(|&number| number != 0) {
        for bit in [0, 31, 40] {
            fixture.faulty.set(Some(Fault::KeyBit { region: number, bit }));
            let error = fixture.device.load_key(&fixture.key).unwrap_err();
            is(&error, ErrorKind::KeyNotLoaded { region: number });
            assert!(!fixture.device.has_key() && fixture.faulty.device().is_wiped());
            is(&fixture.decrypt().unwrap_err(), ErrorKind::NoKey);
        }
    }
    fixture.device.load_key(&fixture.key).unwrap();
    fixture.works();
}

/// The regions whose constants the device computes with.
const USED: [u32; 7] = [
    region::P_SQUARE,
    region::P_ENTER,
    region::P_ONE,
    region::P_EXPONENT,
    region::P_PRIME,
    region::P_MERGED,
    region::MODULUS,
];

/// A bit that flips in the device's own memory escapes KEY_CHECK. The check of the batch finds it,
/// whichever constant it is in.
#[test]
fn a_bit_that_flips_in_the_devices_memory_is_found_by_the_check() {
    let mut fixture = Fixture::new();
    let of_q = USED.iter().map(|number| number + region::Q).filter(|&number| number < 15);
    for region in USED.into_iter().chain(of_q) {
        for bit in [0, 5, 33, 62] {
            fixture.faulty.set(Some(Fault::StoredBit { region, bit }));
            fixture.device.load_key(&fixture.key).unwrap();
            let error = fixture.decrypt().expect_err(&format!("bit {bit} of region {region}"));
            let found = matches!(error.kind(), ErrorKind::FailedCheck | ErrorKind::NotAPlaintext);
            assert!(found, "bit {bit} of region {region}: {error}");
            assert!(!fixture.device.has_key() && fixture.faulty.device().is_wiped());
        }
    }
    fixture.device.load_key(&fixture.key).unwrap();
    fixture.works();
}

/// The reason for the check: an unchecked device leaks the key by one wrong bit of one constant.
/// All its answers are below n, and each differs from the right one by a multiple of one of the
/// primes.
#[test]
fn a_device_that_is_believed_gives_the_key_away() {
    let mut fixture = Fixture::trusting(Trust::Unchecked);
    let mut given = 0;
    // Those constants of p that leave the device's arithmetic modulo n intact.
    for (region, bit) in [(region::P_ENTER, 3), (region::P_ENTER, 40), (region::P_ONE, 17), (region::P_EXPONENT, 9)] {
        fixture.faulty.set(Some(Fault::StoredBit { region, bit }));
        fixture.device.load_key(&fixture.key).unwrap();
        let Ok(wrong) = fixture.decrypt() else { continue };
        let n = Modulus::new(Engine::Serial, &modulus(&fixture.key)).unwrap();
        let differences = n.sub(wrong.batch(), fixture.plaintexts.batch());
        assert!(differences.rows().any(|row| is_zero(row) == 0));
        let [_, q] = fixture.key.primes().map(|prime| Modulus::new(Engine::Serial, prime).unwrap());
        assert!(q.reduce(&differences).rows().all(|row| is_zero(row) == 1));
        given += 1;
    }
    assert!(given > 0, "no such bit leaves numbers below n");
    // A malicious device chooses the plaintexts.
    fixture.faulty.set(None);
    fixture.device.load_key(&fixture.key).unwrap();
    fixture.faulty.set(Some(Fault::Lies));
    assert!(fixture.decrypt().unwrap() != fixture.plaintexts);
}

fn modulus(key: &PrivateKey) -> Vec<u64> {
    let bytes = key.public().modulus_be();
    Batch::from_be_bytes(&bytes, bytes.len(), key.public().plaintext_limbs()).row(0).to_vec()
}

/// A device that reports a good row as foreign has failed. If unchecked, the report becomes an
/// error of that row.
#[test]
fn a_good_row_is_not_foreign_because_a_device_says_so() {
    let mut fixture = Fixture::new();
    fixture.device.load_key(&fixture.key).unwrap();
    fixture.faulty.set(Some(Fault::Foreign(2)));
    is(&fixture.decrypt().unwrap_err(), ErrorKind::FailedCheck);
    assert!(!fixture.device.has_key() && fixture.faulty.device().is_wiped());
    let mut fixture = Fixture::trusting(Trust::Unchecked);
    fixture.device.load_key(&fixture.key).unwrap();
    fixture.faulty.set(Some(Fault::Foreign(2)));
    let error = fixture.decrypt().unwrap_err();
    assert_eq!(error.row(), Some(2));
    is(&error, ErrorKind::Scheme(hearith_paillier::ErrorKind::CiphertextSharesFactor));
    assert!(fixture.device.has_key());
}

/// Lost posted writes are noticed by the reads that follow.
#[test]
fn writes_that_are_lost_are_seen() {
    let mut fixture = Fixture::new();
    fixture.faulty.set(Some(Fault::LostKey));
    let error = fixture.device.load_key(&fixture.key).unwrap_err();
    is(&error, ErrorKind::KeyNotLoaded { region: 0 });
    fixture.faulty.set(None);
    fixture.device.load_key(&fixture.key).unwrap();
    fixture.works();
    // The device ignores orders to flush, to be ready and to wipe.
    fixture.faulty.set(Some(Fault::LostWrites(register::CONTROL)));
    let refused = ErrorKind::Refused { address: register::CONTROL };
    is(&Mesa::open(Box::new(fixture.faulty.clone())).unwrap_err(), refused.clone());
    is(&fixture.device.load_key(&fixture.key).unwrap_err(), refused.clone());
    fixture.faulty.set(None);
    fixture.device.wipe().unwrap();
    let mut empty = Mesa::open(Box::new(fixture.faulty.clone())).unwrap();
    fixture.faulty.set(Some(Fault::LostWrites(register::CONTROL)));
    is(&empty.load_key(&fixture.key).unwrap_err(), ErrorKind::NotReady);
    drop(empty);
    fixture.faulty.set(None);
    fixture.device.load_key(&fixture.key).unwrap();
    fixture.works();
    fixture.faulty.set(Some(Fault::LostWrites(register::CONTROL)));
    is(&fixture.device.wipe().unwrap_err(), refused.clone());
    fixture.faulty.set(Some(Fault::AlwaysReady));
    is(&fixture.device.wipe().unwrap_err(), refused);
    fixture.faulty.set(None);
    fixture.device.wipe().unwrap();
    assert!(fixture.faulty.device().is_wiped());
}

#[test]
fn a_device_that_was_reset_has_lost_its_key() {
    let mut fixture = Fixture::new();
    let error = fixture.fails_once(Fault::Reset);
    assert!(matches!(error.kind(), ErrorKind::WasReset | ErrorKind::NotReady), "{error}");
}

/// While a device is gone, every batch fails at once. When it is back, the key is loaded again.
#[test]
fn a_device_that_has_gone_is_declared_gone() {
    let mut fixture = Fixture::new();
    fixture.faulty.set(Some(Fault::Vanished));
    is(&fixture.decrypt().unwrap_err(), ErrorKind::Vanished);
    is(&fixture.device.load_key(&fixture.key).unwrap_err(), ErrorKind::Vanished);
    is(&fixture.device.counters().unwrap_err(), ErrorKind::Vanished);
    is(&Mesa::open(Box::new(fixture.faulty.clone())).unwrap_err(), ErrorKind::Vanished);
    fixture.faulty.device().reset();
    fixture.faulty.set(None);
    fixture.device.load_key(&fixture.key).unwrap();
    fixture.works();

    fixture.faulty.set(Some(Fault::IoErrors));
    assert!(matches!(fixture.decrypt().unwrap_err().kind(), ErrorKind::Io { .. }));
    assert!(matches!(Mesa::open(Box::new(fixture.faulty.clone())).unwrap_err().kind(), ErrorKind::Io { .. }));
    fixture.faulty.set(None);
    fixture.works();
}

/// While unsolicited data arrive, synchronisation is impossible: every batch fails, and so does
/// opening.
#[test]
fn a_device_that_babbles_is_an_error() {
    let mut fixture = Fixture::new();
    fixture.faulty.set(Some(Fault::Babbles));
    assert!(matches!(Mesa::open(Box::new(fixture.faulty.clone())).unwrap_err().kind(), ErrorKind::Stalled { .. }));
    fixture.faulty.set(None);
    // The failed opening of another driver wiped the device.
    fixture.decrypt().unwrap_err();
    fixture.device.load_key(&fixture.key).unwrap();
    fixture.works();
}

/// A loaded device recovers by itself: the batch with the fault fails, and the next is right,
/// whatever the fault was.
#[test]
fn a_loaded_device_is_mended_for_the_next_batch() {
    let (key, faulty) = (key(BITS), Faulty::new());
    let device = Loaded::<MesaParameters>::open(Box::new(faulty.clone()), &key, Trust::Checked).unwrap();
    let (ciphertexts, plaintexts) = random_ciphertexts(&key, ROWS - 2);
    assert!(device.decrypt(&ciphertexts).unwrap() == plaintexts);
    let faults = [
        Fault::AnswerBit(3),
        Fault::AnswerBit(8 * HEADER + 2),
        Fault::QuestionBit(20),
        Fault::DropQuestion,
        Fault::DropAnswer,
        Fault::OldAnswer,
        Fault::Exchanged,
        Fault::CutAnswer(HEADER),
        Fault::LongAnswer(8),
        Fault::CutQuestion(HEADER),
        Fault::LongQuestion,
        Fault::Late,
        Fault::Stalls,
        Fault::Vanished,
        Fault::IoErrors,
        Fault::EndOfFile,
        Fault::Reset,
        Fault::Lies,
        Fault::WrongModuloP,
    ];
    for fault in faults {
        faulty.set(Some(fault));
        let error = device.decrypt(&ciphertexts).expect_err(&format!("{fault:?}"));
        assert!(matches!(error, DecryptError::Device(_)), "{fault:?}: {error}");
        faulty.set(None);
        assert!(device.decrypt(&ciphertexts).unwrap() == plaintexts, "after {fault:?}");
    }
    // A bit of the key flips in the device's memory, as by radiation.
    for bit in 0..20 {
        faulty.device().flip(region::P_MERGED, 3 * bit);
        device.decrypt(&ciphertexts).unwrap_err();
        assert!(device.decrypt(&ciphertexts).unwrap() == plaintexts);
    }
    drop(device);
    assert!(faulty.device().is_wiped());
}

/// The driver's debug output and errors contain no limb of the primes or the modulus.
#[test]
fn errors_show_nothing_of_the_key_or_the_plaintexts() {
    let mut fixture = Fixture::new();
    let shown = format!("{:?}", fixture.device);
    let key = fixture.key.clone();
    let [p, q] = key.primes();
    fixture.faulty.set(Some(Fault::Lies));
    let error = fixture.decrypt().unwrap_err();
    for text in [shown, format!("{error:?} {error}")] {
        for limb in [p[0], q[0], modulus(&fixture.key)[0]] {
            assert!(!text.contains(&limb.to_string()) && !text.contains(&format!("{limb:x}")), "{text}");
        }
    }
}
