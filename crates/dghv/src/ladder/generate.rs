//! Generation of ladders: keys with ever shorter secrets, and the switching keys between them.

use super::shape::{self, DIGIT};
use super::{Ladder, Rung, SwitchingKey};
use crate::elements::{Elements, SEED_BYTES};
use crate::key::correction;
use crate::number::{Residues, add_modulus_if_borrowed};
use crate::squash::{SUBSET, Stream, first, subset};
use crate::{Error, ErrorKind, InsecureHistoricalParameters, KeyPair, PrivateKey, PublicKey, RecryptionKey};
use hearith_arith::natural::{resized, shifted_down, sub_assign};
use rayon::prelude::*;
use std::sync::atomic::{AtomicU64, Ordering};
use zeroize::Zeroizing;

impl Ladder {
    /// Generates a ladder of `rungs` rungs below a key, and the private keys of its rungs.
    ///
    /// # Errors
    /// [`ErrorKind::KeysDiffer`] if the keys are not a pair, [`ErrorKind::Ladder`] for no rungs or
    /// more than [`Ladder::most_rungs`], [`ErrorKind::NoLadder`], [`ErrorKind::LadderTooLarge`],
    /// [`ErrorKind::Random`].
    pub fn generate(
        private: &PrivateKey,
        public: &PublicKey,
        rungs: usize,
        known: InsecureHistoricalParameters,
    ) -> Result<(Self, Vec<PrivateKey>), Error> {
        Self::generate_with_progress(private, public, rungs, known, &|_, _| ())
    }

    /// Generates a ladder and reports, after every element, the number of elements done and their
    /// total.
    ///
    /// # Errors
    /// As [`Ladder::generate`].
    pub fn generate_with_progress(
        private: &PrivateKey,
        public: &PublicKey,
        rungs: usize,
        known: InsecureHistoricalParameters,
        progress: &(dyn Fn(u64, u64) + Sync),
    ) -> Result<(Self, Vec<PrivateKey>), Error> {
        private.check(public)?;
        Self::check_rungs(public.parameters(), rungs)?;
        let levels = std::iter::successors(shape::next_level(public.parameters()), shape::next_level).take(rungs);
        let all = levels.map(|level| SwitchingKey::elements(&level) as u64).sum();
        let done = AtomicU64::new(0);
        let step = || progress(done.fetch_add(1, Ordering::Relaxed) + 1, all);
        let mut secrets: Vec<PrivateKey> = Vec::with_capacity(rungs);
        let mut made: Vec<Rung> = Vec::with_capacity(rungs);
        for _ in 0..rungs {
            let above = made.last().map_or(public, |rung| &rung.key);
            let parameters = shape::next_level(above.parameters()).ok_or(ErrorKind::NoLadder)?;
            let KeyPair { private: secret, public: key } = KeyPair::generate(&parameters, public.engine(), known)?;
            let from = (secrets.last().unwrap_or(private), above);
            let switching = SwitchingKey::generate(from, (&secret, &key), known, &step)?;
            made.push(Rung { key, switching });
            secrets.push(secret);
        }
        Ok((Ladder::from_rungs(public, made, known)?, secrets))
    }

    /// Checks that a ladder of `rungs` rungs can be generated below a key with these parameters.
    ///
    /// # Errors
    /// [`ErrorKind::Ladder`], [`ErrorKind::NoLadder`], [`ErrorKind::LadderTooLarge`].
    pub fn check_rungs(parameters: &crate::Parameters, rungs: usize) -> Result<(), Error> {
        shape::check_size(parameters)?;
        let most = Self::most_rungs(parameters);
        if (1..=most).contains(&rungs) { Ok(()) } else { Err(ErrorKind::Ladder { rungs, most }.into()) }
    }
}

impl SwitchingKey {
    /// Generates the switching key from one key pair to the next. The time spent on the private
    /// keys and the subset depends only on lengths.
    fn generate(
        (private, from): (&PrivateKey, &PublicKey),
        (secret, to): (&PrivateKey, &PublicKey),
        known: InsecureHistoricalParameters,
        step: &(dyn Fn() + Sync),
    ) -> Result<Self, Error> {
        let parameters = to.parameters();
        let (set, digits) = (RecryptionKey::set_size(parameters), Self::digits(parameters));
        let mut seed = [0; SEED_BYTES];
        getrandom::fill(&mut seed)?;
        let (stream, elements) = (Stream::new(&seed), Elements::new(&seed, parameters.lengths().modulus));
        let block = set / SUBSET;
        let subset = subset(block)?;
        let first = first(&stream, private.expose_prime(), &subset, Self::fraction_limbs(parameters), block);
        let prime = secret.expose_prime();
        let residues = Residues::new(prime, parameters.limbs());
        let raised = resized(prime, parameters.correction_limbs());
        let element = |index: usize| -> Result<Vec<u64>, Error> {
            let residue = residues.reduce(&elements.number(set + index));
            let mut correction = Zeroizing::new(correction(parameters, &residue, prime, None)?);
            let (fraction, digit) = (index / digits, index % digits);
            let chosen = u64::from(subset[fraction / block] == (fraction % block) as u64);
            // Subtracting the digit's weight from the correction adds it to the element.
            let mut weight = shifted_down(prime, 64 * Self::whole_limbs(parameters) as u32 - DIGIT * digit as u32);
            weight.iter_mut().for_each(|limb| *limb &= chosen.wrapping_neg());
            let borrow = sub_assign(&mut correction, &weight);
            add_modulus_if_borrowed(&mut correction, borrow, &raised);
            step();
            Ok(correction.to_vec())
        };
        let corrections: Result<Vec<Vec<u64>>, Error> = (0..set * digits).into_par_iter().map(element).collect();
        Self::from_parts(from, to, seed, first, corrections?.concat(), known)
    }
}
