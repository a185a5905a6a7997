//! A card with a key loaded: an implementation of [`DecryptionBackend`] and [`PublicKeyBackend`],
//! with checks.
//!
//! No card is trusted. Consumer cards have no error correction, and one wrong power of a ciphertext
//! leaks the private key \[BDL97\]. Therefore:
//!
//! - Every decrypted batch passes [`PrivateKey::check`] before any of it is returned.
//! - Every encrypted or re-randomised batch passes
//!   [`randomised::check`](hearith_device::randomised::check). A wrong plaintext passes with a
//!   probability of at most `2^-64`. A sample would find one wrong row of `N` only with the
//!   sample's share of `N`.
//! - Sums and multiples have no check that is cheaper than computing them, so they are computed
//!   twice. The second time everything is written to the card again, and other threads compute in
//!   reverse order.
//!
//! While the card computes the next rows, the CPU converts and checks the previous ones
//! (`overlap.rs`). Nothing is returned before everything is checked.
//!
//! A batch that fails is discarded and recomputed on the CPU. From then on the card is not used,
//! and [`Device::note`] reports it.

use std::fmt;
use std::ops::Range;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use hearith_arith::{Batch, Factor, Modulus, Pairs, Square, natural, random};
use hearith_device::mesa::{Powers, merged};
use hearith_device::randomised::{self, Payload, Randomisers};
use hearith_device::{ComputingDevice, Counters, DecryptingDevice, Device, Error, ErrorKind, Trust};
use hearith_paillier::{
    Ciphertexts, ComputeError, DecryptError, DecryptionBackend, ErrorKind as SchemeErrorKind, Plaintexts, PrivateKey,
    PublicKey, PublicKeyBackend, Variant,
};
use zeroize::Zeroizing;

use crate::card::{Card, ROWS};
use crate::driver::Driver;
use crate::engine::{Comb, Dual, Engine, Plain, Power, Raw};
use crate::fault::Fault;
use crate::overlap::overlap;
use crate::shape::Arithmetic;

/// Bits of the largest keys that have kernels.
pub const MAX_KEY_BITS: u32 = 4096;

/// A card that computes with one key, to be shared between threads. It processes one batch at a
/// time. The key is on the card only during a batch and is overwritten afterwards.
pub struct LoadedCard {
    public: PublicKey,
    trust: Trust,
    private: Option<Private>,
    /// Computed when first needed.
    constants: OnceLock<Result<Public, Error>>,
    arithmetic: Arithmetic,
    state: Mutex<State>,
}

/// The state of the card.
struct State {
    engine: Engine,
    /// Rows processed.
    rows: u64,
    /// Whether the card returned a wrong answer.
    has_failed: bool,
}

/// The data for decryption: both halves of the key.
struct Private {
    key: PrivateKey,
    halves: [Half; 2],
    /// Bits of each exponent.
    bits: u32,
}

struct Half {
    dual: Dual,
    exponent: Zeroizing<Vec<u64>>,
    /// Arithmetic modulo the square of the prime, and the other prime modulo this one.
    squared: Modulus,
    other: Factor,
    /// Maps the second part of a power to its part of the plaintext.
    finish: Factor,
}

/// The data for all operations with the public key.
struct Public {
    dual: Dual,
    plain: Plain,
    /// The comb for powers of `h^n`, and `h^n` itself, if the key has a generator.
    comb: Option<(Comb, Batch)>,
}

impl LoadedCard {
    /// Opens card `number` of a driver to compute with a public key.
    ///
    /// # Errors
    /// [`ErrorKind::KeyTooLarge`], or a [`Fault`] of the card.
    pub fn with_public(driver: &Driver, number: usize, key: &PublicKey, trust: Trust) -> Result<Self, Error> {
        let card = Card::open(driver, number).map_err(failed)?;
        let constants = Public::new(card.arithmetic(), key)?;
        let loaded = Self::of(card, key, trust, None);
        Ok(Self { constants: OnceLock::from(Ok(constants)), ..loaded })
    }

    /// Opens card `number` of a driver to decrypt with a private key, and to compute as its owner.
    /// The key stays in this process's memory as well.
    ///
    /// # Errors
    /// [`ErrorKind::KeyTooLarge`], or a [`Fault`] of the card.
    pub fn with_private(driver: &Driver, number: usize, key: &PrivateKey, trust: Trust) -> Result<Self, Error> {
        let card = Card::open(driver, number).map_err(failed)?;
        let private = Some(Private::new(card.arithmetic(), key)?);
        Ok(Self::of(card, key.public(), trust, private))
    }

    fn of(card: Card, key: &PublicKey, trust: Trust, private: Option<Private>) -> Self {
        let (constants, arithmetic) = (OnceLock::new(), card.arithmetic());
        let state = Mutex::new(State { engine: Engine(card), rows: 0, has_failed: false });
        LoadedCard { public: key.clone(), trust, private, constants, arithmetic, state }
    }

    /// Whether the card returned a wrong answer. It is not used after that.
    pub fn has_failed(&self) -> bool {
        self.state().has_failed
    }

    /// Total run time of the card's kernels since it was loaded, without copies and checks.
    pub fn busy(&self) -> Duration {
        self.state().engine.0.busy()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // After a panic, the only thing left to do is to overwrite memory.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Computes on the card. If its answer is wrong, now or earlier, computes on the CPU.
    fn compute<T>(
        &self,
        rows: usize,
        on_card: impl FnOnce(&mut Engine) -> Result<T, Error>,
        on_cpu: impl FnOnce() -> Result<T, hearith_paillier::Error>,
    ) -> Result<T, Error> {
        let mut state = self.state();
        state.rows += rows as u64;
        if !state.has_failed {
            let answer = on_card(&mut state.engine);
            let wiped = state.engine.0.wipe().map_err(failed);
            match answer {
                Err(error) if is_wrong(&error) => state.has_failed = true,
                answer => return answer.and_then(|answer| wiped.map(|()| answer)),
            }
        }
        drop(state);
        Ok(on_cpu()?)
    }

    fn constants(&self) -> Result<&Public, Error> {
        self.constants.get_or_init(|| Public::new(self.arithmetic, &self.public)).as_ref().map_err(Clone::clone)
    }

    fn owns(&self, batches: &[hearith_paillier::KeyId]) -> Result<(), Error> {
        let expected = self.public.id();
        match batches.iter().find(|id| **id != expected) {
            None => Ok(()),
            Some(&found) => Err(ErrorKind::Scheme(SchemeErrorKind::WrongKey { expected, found }).into()),
        }
    }

    /// Converts numbers to ciphertexts. A number that is no ciphertext shows a faulty card.
    fn ciphertexts(&self, numbers: Batch) -> Result<Ciphertexts, Error> {
        self.public.ciphertexts_from_batch(numbers).map_err(|_| ErrorKind::NotACiphertext.into())
    }

    /// Computes randomisers times payloads, and checks them. The owner of a standard key uses the
    /// primes.
    fn randomised(&self, engine: &mut Engine, payload: &Payload<'_>) -> Result<Ciphertexts, Error> {
        if let Some(private) = self.private.as_ref().filter(|_| self.public.variant() == Variant::Standard) {
            return self.by_owner(engine, private, payload);
        }
        let Public { dual, comb, .. } = self.constants()?;
        let public = &self.public;
        let (numbers, second) = match payload {
            Payload::Plaintexts(numbers) => (*numbers, Some(*numbers)),
            Payload::Numbers(numbers) => (*numbers, None),
        };
        let drawn = match comb {
            Some(_) => short_exponents(public, numbers.len())?,
            None => public.openings(numbers.len())?.batch().clone(),
        };
        let mut on_card = |hand_over: &mut dyn FnMut((Range<usize>, Raw))| match comb {
            Some((comb, _)) => engine.comb(dual, comb, &drawn, second, |rows, raw| hand_over((rows, raw))),
            None => {
                let power = Power { dual, numbers: &drawn, exponent: public.root().as_limbs() };
                let hand_over =
                    |rows, raw: Vec<Raw>| raw.into_iter().for_each(|raw| hand_over((Range::clone(&rows), raw)));
                engine.powers(&[power], (public.bits(), public.bits()), second, hand_over)
            }
        };
        let finish = |(rows, raw): (Range<usize>, Raw)| {
            let drawn = drawn.range(rows.clone());
            let randomisers = match comb {
                Some((_, base)) => Randomisers::Comb(base.row(0), &drawn, public.short_bits()),
                None => Randomisers::Units(&drawn),
            };
            let randomised = public.square().join(&dual.pairs(&raw)).resize(public.squared().limbs());
            let numbers = numbers.range(rows);
            let (results, payload) = match payload {
                Payload::Plaintexts(_) => (randomised, Payload::Plaintexts(&numbers)),
                Payload::Numbers(_) => (public.squared().mul(&numbers, &randomised), Payload::Numbers(&numbers)),
            };
            if self.trust == Trust::Checked {
                randomised::check(public.root().as_limbs(), public.squared(), &results, &randomisers, &payload)?;
            }
            self.ciphertexts(results)
        };
        self.joined(overlap(|hand_over| on_card(hand_over).map_err(failed), finish)?)
    }

    /// The same for the owner, with powers modulo the squares of both primes. They are checked
    /// modulo each square: a ciphertext of a wrong plaintext is wrong modulo at least one.
    fn by_owner(&self, engine: &mut Engine, private: &Private, payload: &Payload<'_>) -> Result<Ciphertexts, Error> {
        let (public, key) = (&self.public, &private.key);
        let (Payload::Plaintexts(numbers) | Payload::Numbers(numbers)) = payload;
        let drawn = key.residues(numbers.len())?;
        let primes = key.primes();
        let bits = public.bits() / 2;
        let power =
            |half: usize| Power { dual: &private.halves[half].dual, numbers: &drawn[half], exponent: primes[half] };
        let on_card = |hand_over: &mut dyn FnMut((Range<usize>, Vec<Raw>))| {
            engine.powers(&[power(0), power(1)], (bits, bits), None, |rows, raw| hand_over((rows, raw))).map_err(failed)
        };
        let finish = |(rows, raw): (Range<usize>, Vec<Raw>)| {
            let [at_p, at_q] = private.pairs(&raw);
            let (randomisers, numbers) = (key.combine(&at_p, &at_q)?, numbers.range(rows.clone()));
            let (results, payload) = match payload {
                Payload::Plaintexts(_) => {
                    let pairs = public.square().split(&randomisers);
                    let high = public.root().add(&pairs.high, &public.root().mul(&pairs.low, &numbers));
                    (public.square().join(&Pairs { low: pairs.low, high }), Payload::Plaintexts(&numbers))
                }
                Payload::Numbers(_) => (public.squared().mul(&numbers, &randomisers), Payload::Numbers(&numbers)),
            };
            let results = results.resize(public.squared().limbs());
            if self.trust == Trust::Checked {
                private.check_halves(&results, &drawn.each_ref().map(|drawn| drawn.range(rows.clone())), &payload)?;
            }
            self.ciphertexts(results)
        };
        self.joined(overlap(on_card, finish)?)
    }

    /// Joins the results of all parts of a batch.
    fn joined(&self, parts: Vec<Ciphertexts>) -> Result<Ciphertexts, Error> {
        let none = self.ciphertexts(Batch::zeros(0, self.public.squared().limbs()))?;
        Ok(Ciphertexts::concat(&none, &parts.iter().collect::<Vec<_>>())?)
    }

    /// Computes in two ways and requires equal results. If checks are off, computes once.
    fn twice(&self, mut compute: impl FnMut(bool) -> Result<Batch, Fault>) -> Result<Batch, Error> {
        let found = compute(false).map_err(failed)?;
        if self.trust == Trust::Checked && compute(true).map_err(failed)? != found {
            return Err(ErrorKind::FailedCheck.into());
        }
        Ok(found)
    }

    fn decrypted(&self, ciphertexts: &Ciphertexts) -> Result<Plaintexts, Error> {
        let private = self.private.as_ref().ok_or(ErrorKind::NoKey)?;
        self.owns(&[ciphertexts.key_id()])?;
        let on_card = |engine: &mut Engine| private.decrypt(engine, ciphertexts, self.trust);
        self.compute(ciphertexts.len(), on_card, || private.key.decrypt_checked(ciphertexts))
    }
}

/// Exponents for a comb, drawn from the operating system.
fn short_exponents(key: &PublicKey, len: usize) -> Result<Batch, Error> {
    let bits = key.short_bits();
    let made = random::bits(len, natural::limbs_of(bits), bits);
    made.map_err(|error| ErrorKind::Scheme(SchemeErrorKind::Randomness(error)).into())
}

/// Whether an error means that a card's answer is wrong.
fn is_wrong(error: &Error) -> bool {
    matches!(error.kind(), ErrorKind::FailedCheck | ErrorKind::NotAPlaintext | ErrorKind::NotACiphertext)
}

/// Wraps a card's fault.
pub(crate) fn failed(fault: Fault) -> Error {
    ErrorKind::Transport(std::sync::Arc::new(fault)).into()
}

fn too_large(key: &PublicKey) -> Error {
    ErrorKind::KeyTooLarge { bits: key.bits(), largest: MAX_KEY_BITS }.into()
}

/// Fails for a key that has kernels for only a part of the operations.
fn check_size(key: &PublicKey) -> Result<(), Error> {
    if key.bits() <= MAX_KEY_BITS { Ok(()) } else { Err(too_large(key)) }
}

impl Private {
    fn new(arithmetic: Arithmetic, key: &PrivateKey) -> Result<Self, Error> {
        let public = key.public();
        check_size(public)?;
        let Powers { exponents, bits } = Powers::of(key);
        let [p, q] = key.primes();
        let half = |prime: &[u64], other: &[u64], exponent: &Zeroizing<Vec<u64>>| {
            let square = Square::new(public.engine(), prime).map_err(hearith_paillier::Error::from)?;
            let dual = Dual::new(arithmetic, &square).ok_or_else(|| too_large(public))?;
            // Times 2^0, since no Montgomery product of another radix follows.
            let squared = natural::product(prime, prime);
            let squared = Modulus::new(public.engine(), &squared).map_err(hearith_paillier::Error::from)?;
            let modulo_prime = square.root();
            let rest = modulo_prime.reduce(&Batch::from_rows(other.len(), [other]));
            let other_factor = modulo_prime.factor(rest.row(0));
            let finish = merged([prime, other], exponent, public.root(), 0).map_err(hearith_paillier::Error::from)?;
            let (exponent, finish) = (exponent.clone(), public.root().factor(&finish));
            Ok::<_, Error>(Half { dual, exponent, squared, other: other_factor, finish })
        };
        let halves = [half(p, q, &exponents[0])?, half(q, p, &exponents[1])?];
        Ok(Private { key: key.clone(), halves, bits })
    }

    /// Decrypts, and checks part by part unless checks are off.
    fn decrypt(&self, engine: &mut Engine, ciphertexts: &Ciphertexts, trust: Trust) -> Result<Plaintexts, Error> {
        let public = self.key.public();
        let powers = self.halves.each_ref().map(|half| Power {
            dual: &half.dual,
            numbers: ciphertexts.batch(),
            exponent: &half.exponent,
        });
        let on_card = |hand_over: &mut dyn FnMut((Range<usize>, Vec<Raw>))| {
            let bits = (2 * public.bits(), self.bits);
            engine.powers(&powers, bits, None, |rows, raw| hand_over((rows, raw))).map_err(failed)
        };
        let finish = |(rows, raw): (Range<usize>, Vec<Raw>)| {
            let answer = self.plaintexts(ciphertexts, rows.clone(), self.pairs(&raw))?;
            if trust == Trust::Checked {
                self.key.check(&ciphertexts.range(rows)?, &answer).map_err(|error| match error.kind() {
                    SchemeErrorKind::WrongDecryption => ErrorKind::FailedCheck.into(),
                    _ => Error::from(error),
                })?;
            }
            Ok(answer)
        };
        let parts = overlap(on_card, finish)?;
        let none = public.plaintexts_from_batch(Batch::zeros(0, public.plaintext_limbs()))?;
        Ok(Plaintexts::concat(&none, &parts.iter().collect::<Vec<_>>())?)
    }

    /// The powers of some rows modulo the squares of both primes.
    fn pairs(&self, raw: &[Raw]) -> [Pairs; 2] {
        [self.halves[0].dual.pairs(&raw[0]), self.halves[1].dual.pairs(&raw[1])]
    }

    /// The plaintexts of some rows, from their powers. If a row's power is not 1 modulo a prime,
    /// either the row is foreign or the card is faulty. The CPU decides which.
    fn plaintexts(
        &self,
        ciphertexts: &Ciphertexts,
        rows: Range<usize>,
        [at_p, at_q]: [Pairs; 2],
    ) -> Result<Plaintexts, Error> {
        let public = self.key.public();
        let root: &Modulus = public.root();
        let [p, q] = &self.halves;
        // Both halves are searched together, to find the first row whichever half shows it.
        let mut lows = at_p.low.rows().zip(at_q.low.rows());
        if let Some(row) = lows.position(|(p, q)| natural::is_one(p) & natural::is_one(q) == 0) {
            return Err(self.refused(ciphertexts, rows.start + row));
        }
        let sum = root.add(&root.mul_by(&at_p.high, &p.finish), &root.mul_by(&at_q.high, &q.finish));
        public.plaintexts_from_batch(sum).map_err(|_| ErrorKind::NotAPlaintext.into())
    }

    /// Fails unless ciphertexts are right modulo the square of each prime.
    fn check_halves(&self, results: &Batch, drawn: &[Batch; 2], payload: &Payload<'_>) -> Result<(), Error> {
        for ((half, prime), drawn) in self.halves.iter().zip(self.key.primes()).zip(drawn) {
            // Modulo p^2, 1 + m p q is 1 + (m q mod p) p.
            let there = match payload {
                Payload::Plaintexts(numbers) => half.dual.root().mul_by(&half.dual.root().reduce(numbers), &half.other),
                Payload::Numbers(numbers) => half.squared.reduce(numbers),
            };
            let payload = match payload {
                Payload::Plaintexts(_) => Payload::Plaintexts(&there),
                Payload::Numbers(_) => Payload::Numbers(&there),
            };
            let results = half.squared.reduce(results);
            randomised::check(prime, &half.squared, &results, &Randomisers::Residues(drawn), &payload)?;
        }
        Ok(())
    }

    fn refused(&self, ciphertexts: &Ciphertexts, row: usize) -> Error {
        match ciphertexts.range(row..row + 1).and_then(|one| self.key.decrypt(&one)) {
            Ok(_) => ErrorKind::FailedCheck.into(),
            Err(error) => error.kind().clone().at_row(row).into(),
        }
    }
}

impl Public {
    fn new(arithmetic: Arithmetic, key: &PublicKey) -> Result<Self, Error> {
        check_size(key)?;
        let dual = Dual::new(arithmetic, key.square()).ok_or_else(|| too_large(key))?;
        let plain = Plain::new(arithmetic, key.squared()).ok_or_else(|| too_large(key))?;
        let comb = match key.variant() {
            Variant::Standard => None,
            _ => {
                let base = key.generator_power(&[1])?.resize(key.squared().limbs()).public();
                Some((dual.comb(key.squared(), base.row(0), key.short_bits()), base))
            }
        };
        Ok(Public { dual, plain, comb })
    }
}

/// The ciphertexts, inverted where the scalar is negative, and the magnitudes of the scalars.
/// Constant time.
fn signed(
    key: &PublicKey,
    ciphertexts: &Ciphertexts,
    scalars: &[i128],
    bits: u32,
) -> Result<(Batch, Batch), hearith_paillier::Error> {
    let inverses = key.negate(ciphertexts)?;
    let (mut bases, mut magnitudes) = (ciphertexts.batch().clone(), Batch::zeros(scalars.len(), 2));
    for (row, &scalar) in scalars.iter().enumerate() {
        let sign = (scalar >> 127) as u128;
        let magnitude = (scalar as u128 ^ sign).wrapping_sub(sign);
        // This branch reveals nothing about a valid scalar.
        if magnitude.checked_shr(bits).unwrap_or(0) != 0 {
            return Err(SchemeErrorKind::ScalarTooLarge { bits }.at_row(row));
        }
        natural::assign_if(bases.row_mut(row), inverses.batch().row(row), sign as u64 & 1);
        magnitudes.row_mut(row).copy_from_slice(&[magnitude as u64, (magnitude >> 64) as u64]);
    }
    Ok((bases, magnitudes))
}

/// The rows in reverse order.
fn reversed(batch: &Batch) -> Batch {
    batch.select(&(0..batch.len()).rev().collect::<Vec<_>>())
}

/// The error of the batch, unless the card failed.
fn scheme_error(error: &Error) -> Option<hearith_paillier::Error> {
    let ErrorKind::Scheme(kind) = error.kind() else { return None };
    Some(match error.row() {
        Some(row) => kind.clone().at_row(row),
        None => kind.clone().into(),
    })
}

fn compute_error(error: Error) -> ComputeError {
    match scheme_error(&error) {
        Some(error) => ComputeError::Batch(error),
        None => ComputeError::Service(Box::new(error)),
    }
}

impl DecryptionBackend for LoadedCard {
    fn public(&self) -> &PublicKey {
        &self.public
    }

    fn decrypt(&self, ciphertexts: &Ciphertexts) -> Result<Plaintexts, DecryptError> {
        self.decrypted(ciphertexts).map_err(|error| match scheme_error(&error) {
            Some(error) => DecryptError::Ciphertexts(error),
            None => DecryptError::Device(Box::new(error)),
        })
    }
}

impl PublicKeyBackend for LoadedCard {
    fn public(&self) -> &PublicKey {
        &self.public
    }

    fn encrypt(&self, plaintexts: &Plaintexts) -> Result<Ciphertexts, ComputeError> {
        let payload = Payload::Plaintexts(plaintexts.batch());
        let on_card = |engine: &mut Engine| self.randomised(engine, &payload);
        let owned = self.owns(&[plaintexts.key_id()]);
        let made = owned.and_then(|()| {
            self.compute(plaintexts.len(), on_card, || match &self.private {
                Some(private) => private.key.encrypt(plaintexts),
                None => self.public.encrypt(plaintexts),
            })
        });
        made.map_err(compute_error)
    }

    fn rerandomise(&self, ciphertexts: &Ciphertexts) -> Result<Ciphertexts, ComputeError> {
        let payload = Payload::Numbers(ciphertexts.batch());
        let on_card = |engine: &mut Engine| self.randomised(engine, &payload);
        let owned = self.owns(&[ciphertexts.key_id()]);
        let on_cpu = || match &self.private {
            Some(private) => private.key.rerandomise(ciphertexts),
            None => self.public.rerandomise(ciphertexts),
        };
        let made = owned.and_then(|()| self.compute(ciphertexts.len(), on_card, on_cpu));
        made.map_err(compute_error)
    }

    fn add(&self, a: &Ciphertexts, b: &Ciphertexts) -> Result<Ciphertexts, ComputeError> {
        if a.len() != b.len() {
            // Returns the CPU's error.
            return Ok(self.public.add(a, b)?);
        }
        let on_card = |engine: &mut Engine| {
            let plain = &self.constants()?.plain;
            let mut sums = Batch::zeros(0, self.public.squared().limbs()).public();
            for start in (0..a.len()).step_by(ROWS / 2) {
                let rows = start..a.len().min(start + ROWS / 2);
                let pairs: Vec<[u32; 2]> = (0..rows.len() as u32).map(|row| [row, rows.len() as u32 + row]).collect();
                let numbers = Batch::concat(&[&a.batch().range(rows.clone()), &b.batch().range(rows)]);
                sums.append(&self.twice(|other_way| engine.products(plain, &numbers, &pairs, other_way))?);
            }
            self.ciphertexts(sums)
        };
        let owned = self.owns(&[a.key_id(), b.key_id()]);
        let made = owned.and_then(|()| self.compute(a.len(), on_card, || self.public.add(a, b)));
        made.map_err(compute_error)
    }

    fn multiply(&self, ciphertexts: &Ciphertexts, scalars: &[i128], bits: u32) -> Result<Ciphertexts, ComputeError> {
        if ciphertexts.len() != scalars.len() {
            // Returns the CPU's error.
            return Ok(self.public.multiply_deterministic(ciphertexts, scalars, bits)?);
        }
        let on_card = |engine: &mut Engine| {
            let dual = &self.constants()?.dual;
            let (bases, exponents) = signed(&self.public, ciphertexts, scalars, bits)?;
            let length = bits.clamp(1, i128::BITS);
            let numbers = self.twice(|other_way| {
                let pairs = match other_way {
                    false => engine.multiples(dual, &bases, 2 * self.public.bits(), &exponents, length)?,
                    true => {
                        let (bases, exponents) = (reversed(&bases), reversed(&exponents));
                        engine.multiples(dual, &bases, 2 * self.public.bits(), &exponents, length)?
                    }
                };
                // n^2 may be one limb shorter than twice n.
                let joined = self.public.square().join(&pairs).resize(self.public.squared().limbs());
                Ok(if other_way { reversed(&joined) } else { joined })
            })?;
            self.ciphertexts(numbers)
        };
        let on_cpu = || self.public.multiply_deterministic(ciphertexts, scalars, bits);
        let owned = self.owns(&[ciphertexts.key_id()]);
        owned.and_then(|()| self.compute(ciphertexts.len(), on_card, on_cpu)).map_err(compute_error)
    }

    fn sum_groups(&self, ciphertexts: &Ciphertexts, groups: &[Vec<u32>]) -> Result<Ciphertexts, ComputeError> {
        let rows = ciphertexts.len();
        if groups.iter().flatten().any(|&row| row as usize >= rows) {
            // Returns the CPU's error.
            return Ok(self.public.sum_groups(ciphertexts, groups)?);
        }
        let on_card = |engine: &mut Engine| {
            let plain = &self.constants()?.plain;
            let products = |other_way| engine.products(plain, ciphertexts.batch(), groups, other_way);
            self.ciphertexts(self.twice(products)?)
        };
        let owned = self.owns(&[ciphertexts.key_id()]);
        let made = owned.and_then(|()| self.compute(rows, on_card, || self.public.sum_groups(ciphertexts, groups)));
        made.map_err(compute_error)
    }
}

impl Device for LoadedCard {
    fn describe(&self) -> String {
        let state = self.state();
        let card = &state.engine.0;
        format!("{}, {} kernels", card.properties(), card.arithmetic())
    }

    fn counters(&mut self) -> Result<Counters, Error> {
        let rows = self.state().rows;
        Ok(Counters { accepted: rows, delivered: rows, ..Counters::default() })
    }

    fn batch_size(&self) -> usize {
        ROWS
    }

    /// A card's clock frequency varies, so the note reports seconds instead of cycles.
    fn note(&mut self, rows: &str) -> Result<String, Error> {
        // Each call locks the state itself.
        let count = self.state().rows;
        let failed = self.has_failed();
        let wrong = "; the card returned a wrong result: the CPU computed that batch and all later ones, and no wrong \
                     result was given out. Do not use this card";
        let busy = self.busy().as_secs_f64();
        Ok(format!("{}: {busy:.3} s of kernels for {count} {rows}{}", self.describe(), if failed { wrong } else { "" }))
    }
}

impl DecryptingDevice for LoadedCard {}

impl ComputingDevice for LoadedCard {}

impl fmt::Debug for LoadedCard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "LoadedCard({:?}, {:?})", self.public.id(), self.state().engine)
    }
}
