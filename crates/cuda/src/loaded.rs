//! A card with a key: what [`Decrypt`] and [`Compute`] ask of one, checked.
//!
//! No card is believed. Consumer cards have no error correction, and one wrong power of a
//! ciphertext gives the private key away \[BDL97\]. So:
//!
//! - every batch that was decrypted passes [`PrivateKey::check`] before any of it is given out;
//! - every batch that was encrypted or re-randomised passes
//!   [`randomised::check`](hearith_device::randomised::check), which no wrong plaintext does but
//!   with a probability of `2^-64`. A sample would find one wrong row of `N` with the sample's
//!   share of `N` only;
//! - sums and multiples, for which there is no check cheaper than computing them, are computed
//!   twice: the second time from the other end, with everything written to the card again, by other
//!   threads, in another order.
//!
//! The CPU turns what the card computed into results, and checks it, while the card computes the
//! next rows (`behind.rs`); nothing is given out before all is checked.
//!
//! A batch that fails is discarded and computed again on the CPU. From then on the card is not used
//! any more, and [`Device::note`] says so.

use std::fmt;
use std::ops::Range;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use hearith_arith::{Batch, Factor, Modulus, Pairs, Square, natural, random};
use hearith_device::mesa::{Powers, merged};
use hearith_device::randomised::{self, Payload, Randomisers};
use hearith_device::{ComputingDevice, Counters, DecryptingDevice, Device, Error, ErrorKind, Trust};
use hearith_paillier::{
    Ciphertexts, Compute, ComputeError, Decrypt, DecryptError, ErrorKind as SchemeErrorKind, Plaintexts, PrivateKey,
    PublicKey, Variant,
};
use zeroize::Zeroizing;

use crate::behind::behind;
use crate::card::{Card, ROWS};
use crate::driver::Driver;
use crate::engine::{Comb, Dual, Engine, Plain, Power, Raw};
use crate::fault::Fault;
use crate::shape::Arithmetic;

/// The largest keys that have kernels.
pub const MAX_KEY_BITS: u32 = 4096;

/// A card that computes with one key, to be shared between threads: one batch at a time has it to
/// itself. The key is on the card while a batch is computed and overwritten after it.
pub struct LoadedCard {
    public: PublicKey,
    trust: Trust,
    private: Option<Private>,
    /// Made when they are first needed.
    constants: OnceLock<Result<Public, Error>>,
    arithmetic: Arithmetic,
    state: Mutex<State>,
}

/// What belongs to the card, and what was seen of it.
struct State {
    engine: Engine,
    /// Rows given out.
    rows: u64,
    /// Whether an answer of the card was wrong.
    has_failed: bool,
}

/// For decryption: both halves of the key.
struct Private {
    key: PrivateKey,
    halves: [Half; 2],
    /// Bits of both exponents.
    bits: u32,
}

struct Half {
    dual: Dual,
    exponent: Zeroizing<Vec<u64>>,
    /// Modulo the square of the prime, and the other prime modulo this one.
    squared: Modulus,
    other: Factor,
    /// What takes the second part of a power to its part of the plaintext.
    finish: Factor,
}

/// For everything that the public key is enough for.
struct Public {
    dual: Dual,
    plain: Plain,
    /// The powers of `h^n`, with `h^n` itself, if the key has a generator.
    comb: Option<(Comb, Batch)>,
}

impl LoadedCard {
    /// Card `number` of a driver, to compute with a public key.
    ///
    /// # Errors
    /// [`ErrorKind::KeyTooLarge`], or a [`Fault`] of the card.
    pub fn with_public(driver: &Driver, number: usize, key: &PublicKey, trust: Trust) -> Result<Self, Error> {
        let card = Card::open(driver, number).map_err(failed)?;
        let constants = Public::new(card.arithmetic(), key)?;
        let loaded = Self::of(card, key, trust, None);
        Ok(Self { constants: OnceLock::from(Ok(constants)), ..loaded })
    }

    /// Card `number` of a driver, to decrypt with a private key, and to compute as its owner. The
    /// key stays in this process's memory as well.
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

    /// Whether the card gave a wrong answer. It has not been used since.
    pub fn has_failed(&self) -> bool {
        self.state().has_failed
    }

    /// How long the card's kernels ran since it was loaded, without copies and checks.
    pub fn busy(&self) -> Duration {
        self.state().engine.0.busy()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // A batch that panicked left nothing but memory to be overwritten.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What the card computes or, if its answer is wrong or one was before, the CPU.
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

    /// Numbers as ciphertexts. One that is none shows a card that errs.
    fn ciphertexts(&self, numbers: Batch) -> Result<Ciphertexts, Error> {
        self.public.ciphertexts_from_batch(numbers).map_err(|_| ErrorKind::NotACiphertext.into())
    }

    /// Randomisers times payloads, checked. The owner of a standard key makes them through the
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
        self.joined(behind(|hand_over| on_card(hand_over).map_err(failed), finish)?)
    }

    /// The same with powers modulo the squares of both primes, checked modulo each: a ciphertext of
    /// a wrong plaintext is wrong modulo one of them.
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
        self.joined(behind(on_card, finish)?)
    }

    /// The results of all parts of a batch.
    fn joined(&self, parts: Vec<Ciphertexts>) -> Result<Ciphertexts, Error> {
        let none = self.ciphertexts(Batch::zeros(0, self.public.squared().limbs()))?;
        Ok(Ciphertexts::concat(&none, &parts.iter().collect::<Vec<_>>())?)
    }

    /// What is computed in two ways, which must agree; in one if the card is believed.
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

/// Exponents of a comb, drawn from the operating system.
fn short_exponents(key: &PublicKey, len: usize) -> Result<Batch, Error> {
    let bits = key.short_bits();
    let made = random::bits(len, natural::limbs_of(bits), bits);
    made.map_err(|error| ErrorKind::Scheme(SchemeErrorKind::Randomness(error)).into())
}

/// Whether an error says that what a card gave is wrong.
fn is_wrong(error: &Error) -> bool {
    matches!(error.kind(), ErrorKind::FailedCheck | ErrorKind::NotAPlaintext | ErrorKind::NotACiphertext)
}

/// A card's own failure.
pub(crate) fn failed(fault: Fault) -> Error {
    ErrorKind::Transport(std::sync::Arc::new(fault)).into()
}

fn too_large(key: &PublicKey) -> Error {
    ErrorKind::KeyTooLarge { bits: key.bits(), largest: MAX_KEY_BITS }.into()
}

/// Fails for a key of which only a part of the operations has kernels.
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
            // Times 2^0: no Montgomery product of another radix follows.
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

    /// The plaintexts, checked part by part unless the card is believed.
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
        let parts = behind(on_card, finish)?;
        let none = public.plaintexts_from_batch(Batch::zeros(0, public.plaintext_limbs()))?;
        Ok(Plaintexts::concat(&none, &parts.iter().collect::<Vec<_>>())?)
    }

    /// The powers of some rows modulo the squares of both primes.
    fn pairs(&self, raw: &[Raw]) -> [Pairs; 2] {
        [self.halves[0].dual.pairs(&raw[0]), self.halves[1].dual.pairs(&raw[1])]
    }

    /// The plaintexts of some rows, from their powers. A row whose power is not 1 modulo a prime is
    /// foreign, or the card errs: the CPU decides which.
    fn plaintexts(
        &self,
        ciphertexts: &Ciphertexts,
        rows: Range<usize>,
        [at_p, at_q]: [Pairs; 2],
    ) -> Result<Plaintexts, Error> {
        let public = self.key.public();
        let root: &Modulus = public.root();
        let [p, q] = &self.halves;
        // Both halves are looked at, so that the row is the first, whichever half shows it.
        let mut lows = at_p.low.rows().zip(at_q.low.rows());
        if let Some(row) = lows.position(|(p, q)| natural::is_one(p) & natural::is_one(q) == 0) {
            return Err(self.refused(ciphertexts, rows.start + row));
        }
        let sum = root.add(&root.mul_by(&at_p.high, &p.finish), &root.mul_by(&at_q.high, &q.finish));
        public.plaintexts_from_batch(sum).map_err(|_| ErrorKind::NotAPlaintext.into())
    }

    /// Fails unless ciphertexts are what they should be modulo the square of each prime.
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

/// Ciphertexts, or their inverses where the scalar is negative, and the magnitudes of the scalars,
/// in constant time.
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
        // Of a scalar that is right this tells nothing.
        if magnitude.checked_shr(bits).unwrap_or(0) != 0 {
            return Err(SchemeErrorKind::ScalarTooLarge { bits }.at_row(row));
        }
        natural::assign_if(bases.row_mut(row), inverses.batch().row(row), sign as u64 & 1);
        magnitudes.row_mut(row).copy_from_slice(&[magnitude as u64, (magnitude >> 64) as u64]);
    }
    Ok((bases, magnitudes))
}

/// The rows from the other end.
fn reversed(batch: &Batch) -> Batch {
    batch.select(&(0..batch.len()).rev().collect::<Vec<_>>())
}

/// What is wrong with a batch, if that is what failed.
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

impl Decrypt for LoadedCard {
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

impl Compute for LoadedCard {
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
            // The CPU's own error.
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
            // The CPU's own error.
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
                // n^2 may have a limb less than two of n.
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
            // The CPU's own error.
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

    /// A card's clock changes as it likes, so cycles would say little.
    fn note(&mut self, rows: &str) -> Result<String, Error> {
        // Each takes the lock for itself.
        let count = self.state().rows;
        let failed = self.has_failed();
        let wrong = "; the card gave a wrong answer: the CPU computed that batch and all after it, and nothing wrong \
                     was given out. Do not use this card";
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
