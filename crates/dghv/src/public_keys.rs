//! A public key with its ladder and recryption key, for sums and products of any depth.

use crate::circuit::{Builder, Wire};
use crate::ladder::Levels;
use crate::{Ciphertext, Error, ErrorKind, Evaluator, Ladder, PublicKey, RecryptionKey};

/// A public key, optionally with its recryption key and a ladder of keys below it.
#[derive(Debug)]
pub struct PublicKeys {
    /// Encrypts and computes.
    pub key: PublicKey,
    /// Replaces noisy ciphertexts by fresh ones.
    pub recryption: Option<RecryptionKey>,
    /// Keys with shorter secrets, under which ciphertexts have less noise.
    pub ladder: Option<Ladder>,
}

impl PublicKeys {
    /// An evaluator for circuits that uses the ladder and the recryption key, if present.
    pub fn evaluator(&self) -> Evaluator<'_> {
        let evaluator = Evaluator::new(&self.key);
        let evaluator = self.ladder.iter().fold(evaluator, |evaluator, ladder| evaluator.with_ladder(ladder));
        self.recryption.iter().fold(evaluator, |evaluator, recryption| evaluator.with_recryption(recryption))
    }

    /// The key of a level: 0 is the key itself, 1 the first rung of the ladder. `None` for a level
    /// below the ladder.
    pub fn at_level(&self, level: usize) -> Option<&PublicKey> {
        let levels = self.levels();
        (level <= levels.lowest()).then(|| levels.key(level))
    }

    /// The level of a ciphertext.
    ///
    /// # Errors
    /// [`ErrorKind::OtherKey`] if it belongs to none of these keys.
    pub fn level_of(&self, ciphertext: &Ciphertext) -> Result<usize, Error> {
        self.levels().level_of(ciphertext.key_id())
    }

    /// Switches ciphertexts of any levels down to this one. Each rung removes noise.
    ///
    /// # Errors
    /// With the row: [`ErrorKind::Level`] for a level above the ciphertext's or below the ladder,
    /// [`ErrorKind::OtherKey`], [`ErrorKind::OutOfRange`], [`ErrorKind::NoiseExhausted`].
    pub fn switch(&self, ciphertexts: &[Ciphertext], level: usize) -> Result<Vec<Ciphertext>, Error> {
        self.levels().switch(ciphertexts, level)
    }

    fn levels(&self) -> Levels<'_> {
        Levels::new(&self.key, self.ladder.as_ref())
    }

    /// Computes the exclusive or of each pair of rows.
    ///
    /// Operands that are too noisy are recrypted first if there is a recryption key. With a ladder,
    /// operands of different levels meet at the lower one.
    ///
    /// # Errors
    /// As [`PublicKey::add`]. With a ladder, noise errors have no row.
    pub fn add(&self, a: &[Ciphertext], b: &[Ciphertext]) -> Result<Vec<Ciphertext>, Error> {
        match self.ladder {
            Some(_) => gate(self.evaluator(), a, b, Builder::xor),
            None => self.add_at(0, a, b),
        }
    }

    /// Computes the AND of each pair of rows.
    ///
    /// Operands that are too noisy are recrypted first if there is a recryption key. With a ladder,
    /// operands descend to the level where their product has the largest noise budget left, and all
    /// results to the lowest level that one of them requires.
    ///
    /// # Errors
    /// As [`PublicKey::multiply`]. With a ladder, noise errors have no row.
    pub fn multiply(&self, a: &[Ciphertext], b: &[Ciphertext]) -> Result<Vec<Ciphertext>, Error> {
        match self.ladder {
            Some(_) => gate(self.evaluator(), a, b, Builder::and),
            None => self.multiply_at(0, a, b),
        }
    }

    /// Computes the exclusive or of each pair of rows at this level, to which operands descend. At
    /// level 0, operands that are too noisy are recrypted first if there is a recryption key.
    ///
    /// # Errors
    /// As [`PublicKey::add`] and [`PublicKeys::switch`].
    pub fn add_at(&self, level: usize, a: &[Ciphertext], b: &[Ciphertext]) -> Result<Vec<Ciphertext>, Error> {
        self.at(level, a, b, PublicKey::add, Builder::xor)
    }

    /// Computes the AND of each pair of rows at this level, like [`PublicKeys::add_at`].
    ///
    /// # Errors
    /// As [`PublicKey::multiply`] and [`PublicKeys::switch`].
    pub fn multiply_at(&self, level: usize, a: &[Ciphertext], b: &[Ciphertext]) -> Result<Vec<Ciphertext>, Error> {
        self.at(level, a, b, PublicKey::multiply, Builder::and)
    }

    /// Combines two batches with the key of a level. If they are too noisy at level 0, evaluates
    /// the same gate with recryption.
    fn at(
        &self,
        level: usize,
        a: &[Ciphertext],
        b: &[Ciphertext],
        compute: impl Fn(&PublicKey, &[Ciphertext], &[Ciphertext]) -> Result<Vec<Ciphertext>, Error>,
        build: impl Fn(&mut Builder, Wire, Wire) -> Wire,
    ) -> Result<Vec<Ciphertext>, Error> {
        let levels = self.levels().lowest();
        let key = self.at_level(level).ok_or(ErrorKind::Level { from: 0, to: level, levels })?;
        let (a, b) = (self.switch(a, level)?, self.switch(b, level)?);
        match (compute(key, &a, &b), &self.recryption) {
            (Err(error), Some(recryption))
                if level == 0 && matches!(error.kind(), ErrorKind::NoiseExhausted { .. }) =>
            {
                gate(Evaluator::new(&self.key).with_recryption(recryption), &a, &b, build)
            }
            (done, _) => done,
        }
    }
}

/// Evaluates a circuit of one gate on each row.
fn gate(
    evaluator: Evaluator<'_>,
    a: &[Ciphertext],
    b: &[Ciphertext],
    build: impl Fn(&mut Builder, Wire, Wire) -> Wire,
) -> Result<Vec<Ciphertext>, Error> {
    let (left, right) = (a.len(), b.len());
    if left != right {
        return Err(ErrorKind::UnequalLengths { left, right }.into());
    }
    let mut circuit = Builder::new(&[1, 1]);
    let inputs = circuit.inputs();
    let output = build(&mut circuit, inputs[0], inputs[1]);
    let rows: Vec<Vec<Ciphertext>> = a.iter().zip(b).map(|(a, b)| vec![a.clone(), b.clone()]).collect();
    evaluator.evaluate(&circuit.finish(&[&[output]]), &rows).map(|rows| rows.concat())
}
