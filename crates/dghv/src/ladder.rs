//! Modulus switching \[CNT12\]: ciphertexts descend a ladder of keys with ever shorter secrets,
//! which reduces their noise.
//!
//! The ratio of the secret's length to the noise determines how much can be computed, but a product
//! doubles the noise whatever the length of the secret. A [`SwitchingKey`] converts a ciphertext
//! under a secret `p` to one of the same bit under a shorter `p'`. The noise becomes shorter by as
//! much as the secret, so the noise budget stays the same and the next product uses less of it. One
//! secret of `eta` bits allows about `log2(eta / noise)` levels of multiplications, a ladder about
//! `eta / noise`.
//!
//! Each rung is an independent key with its own modulus `A_0` of the same length. Ciphertexts at
//! any level are therefore added, multiplied, written and decrypted like those of any key. A
//! switching key encrypts `p` under `p'`, never under itself, so a ladder does not rely on circular
//! security.

mod generate;
mod shape;
mod switch;

pub use switch::SwitchingKey;

use crate::{Ciphertext, Error, ErrorKind, InsecureHistoricalParameters, KeyId, Parameters, PublicKey};
use std::fmt;

/// A key of a ladder, with the switching key that leads to it.
#[derive(Debug)]
pub struct Rung {
    /// The key at this level.
    pub key: PublicKey,
    /// Switches ciphertexts to this level from the level above.
    pub switching: SwitchingKey,
}

/// The public keys below a public key, each with the switching key from the one above.
///
/// ```
/// use hearith_arith::Engine;
/// use hearith_dghv::{InsecureHistoricalParameters as Insecure, KeyPair, Ladder, Parameters, PrivateKeys, PublicKeys, Scheme, Size};
/// let parameters = Parameters::historical(Scheme::Cmnt, Size::Toy);
/// let KeyPair { private, public } = KeyPair::generate(&parameters, Engine::best(), Insecure)?;
/// let (ladder, rungs) = Ladder::generate(&private, &public, 3, Insecure)?;
/// let public = PublicKeys { key: public, recryption: None, ladder: Some(ladder) };
/// let private = PrivateKeys { key: private, rungs };
/// let bits = public.key.encrypt(&[false, true])?;
/// // Each product descends while that leaves a larger noise budget. Without a ladder, two products
/// // exhaust it.
/// let squares = public.multiply(&bits, &bits)?;
/// let powers = public.multiply(&squares, &squares)?;
/// assert_eq!(public.level_of(&powers[0])?, 3);
/// assert_eq!(private.decrypt(&public.multiply(&powers, &powers)?)?, [false, true]);
/// # Ok::<(), hearith_dghv::Error>(())
/// ```
#[derive(Debug)]
pub struct Ladder {
    rungs: Vec<Rung>,
}

impl Ladder {
    /// Assembles a ladder from its rungs, the highest first.
    ///
    /// # Errors
    /// [`ErrorKind::MalformedKey`] if there are no rungs, or they do not form a chain that starts
    /// at this key.
    pub fn from_rungs(top: &PublicKey, rungs: Vec<Rung>, _: InsecureHistoricalParameters) -> Result<Self, Error> {
        let mut above = top.id();
        for Rung { key, switching } in &rungs {
            if (switching.from(), switching.to()) != (above, key.id()) {
                return Err(ErrorKind::MalformedKey { what: "the ladder's rungs do not follow one another" }.into());
            }
            above = key.id();
        }
        match rungs.is_empty() {
            true => Err(ErrorKind::MalformedKey { what: "the ladder has no rungs" }.into()),
            false => Ok(Ladder { rungs }),
        }
    }

    /// The rungs of levels 1, 2 and so on, the highest first.
    pub fn rungs(&self) -> &[Rung] {
        &self.rungs
    }

    /// The parameters of the rung below a key with the given parameters. `None` if the noise budget
    /// there would not allow a product.
    pub fn next_parameters(parameters: &Parameters) -> Option<Parameters> {
        shape::next_level(parameters)
    }

    /// Maximum number of rungs of a ladder below these parameters. The last rung still allows a
    /// product.
    pub fn most_rungs(parameters: &Parameters) -> usize {
        std::iter::successors(shape::next_level(parameters), shape::next_level).count()
    }

    /// Checks that switching keys for these parameters have a reasonable size.
    ///
    /// # Errors
    /// [`ErrorKind::NoLadder`], [`ErrorKind::LadderTooLarge`].
    pub fn check_size(parameters: &Parameters) -> Result<(), Error> {
        shape::check_size(parameters)
    }
}

/// A key and the levels below it.
#[derive(Clone, Copy)]
pub(crate) struct Levels<'a> {
    top: &'a PublicKey,
    rungs: &'a [Rung],
}

impl<'a> Levels<'a> {
    pub(crate) fn new(top: &'a PublicKey, ladder: Option<&'a Ladder>) -> Self {
        Levels { top, rungs: ladder.map_or(&[], |ladder| &ladder.rungs) }
    }

    /// The lowest level.
    pub(crate) fn lowest(&self) -> usize {
        self.rungs.len()
    }

    /// The key of a level. The level must exist.
    pub(crate) fn key(&self, level: usize) -> &'a PublicKey {
        match level.checked_sub(1) {
            None => self.top,
            Some(rung) => &self.rungs[rung].key,
        }
    }

    /// The level of a key.
    pub(crate) fn level_of(&self, id: KeyId) -> Result<usize, Error> {
        let level = (0..=self.lowest()).find(|&level| self.key(level).id() == id);
        level.ok_or_else(|| ErrorKind::OtherKey.into())
    }

    /// Noise in bits after switching from this level to the next lower one.
    pub(crate) fn noise_below(&self, level: usize, noise: f64) -> f64 {
        shape::noise(self.key(level).parameters(), self.key(level + 1).parameters(), noise)
    }

    /// Switches ciphertexts of one level to the next lower one.
    pub(crate) fn switch_down(&self, level: usize, ciphertexts: &[&Ciphertext]) -> Result<Vec<Ciphertext>, Error> {
        self.rungs[level].switching.switch(self.key(level), self.key(level + 1), ciphertexts)
    }

    /// Switches ciphertexts of any levels to level `to`.
    pub(crate) fn switch(&self, ciphertexts: &[Ciphertext], to: usize) -> Result<Vec<Ciphertext>, Error> {
        let mut rows = ciphertexts.to_vec();
        let levels = rows.iter().map(|row| self.level_of(row.key_id())).enumerate();
        let levels = levels.map(|(row, level)| level.map_err(|error| error.at_row(row)));
        let mut levels = levels.collect::<Result<Vec<_>, _>>()?;
        if let Some(row) = levels.iter().position(|&level| level > to || to > self.lowest()) {
            let kind = ErrorKind::Level { from: levels[row], to, levels: self.lowest() };
            return Err(Error::from(kind).at_row(row));
        }
        for level in 0..to {
            let here: Vec<usize> = (0..rows.len()).filter(|&row| levels[row] == level).collect();
            let above: Vec<&Ciphertext> = here.iter().map(|&row| &rows[row]).collect();
            let at_row = |error: Error| {
                let row = error.row().map(|row| here[row]);
                row.map_or(error.clone(), |row| error.at_row(row))
            };
            let switched =
                if here.is_empty() { Vec::new() } else { self.switch_down(level, &above).map_err(at_row)? };
            for (&row, ciphertext) in here.iter().zip(switched) {
                (rows[row], levels[row]) = (ciphertext, level + 1);
            }
        }
        Ok(rows)
    }
}

impl fmt::Debug for Levels<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Levels({}, {} below)", self.top.id(), self.lowest())
    }
}
