//! A public key with its recryption key: sums and products of any depth.

use crate::circuit::{Builder, Wire};
use crate::{Ciphertext, Error, ErrorKind, Evaluator, PublicKey, RecryptionKey};

/// A public key and, if there is one, what recrypts its ciphertexts.
#[derive(Debug)]
pub struct PublicKeys {
    /// What encrypts and computes.
    pub key: PublicKey,
    /// What makes noisy ciphertexts fresh.
    pub recryption: Option<RecryptionKey>,
}

impl PublicKeys {
    /// Evaluates circuits, with recryption if there is a key for it.
    pub fn evaluator(&self) -> Evaluator<'_> {
        let evaluator = Evaluator::new(&self.key);
        match &self.recryption {
            Some(recryption) => evaluator.with_recryption(recryption),
            None => evaluator,
        }
    }

    /// Exclusive or, row by row; operands that are too noisy are recrypted first, if there is a key for it.
    ///
    /// # Errors
    /// As [`PublicKey::add`].
    pub fn add(&self, a: &[Ciphertext], b: &[Ciphertext]) -> Result<Vec<Ciphertext>, Error> {
        self.recrypting(a, b, self.key.add(a, b), Builder::xor)
    }

    /// And, row by row; operands that are too noisy are recrypted first, if there is a key for it.
    ///
    /// # Errors
    /// As [`PublicKey::multiply`].
    pub fn multiply(&self, a: &[Ciphertext], b: &[Ciphertext]) -> Result<Vec<Ciphertext>, Error> {
        self.recrypting(a, b, self.key.multiply(a, b), Builder::and)
    }

    /// What was done or, where the noise was too much for it, the same gate with recryption.
    fn recrypting(
        &self,
        a: &[Ciphertext],
        b: &[Ciphertext],
        done: Result<Vec<Ciphertext>, Error>,
        gate: impl Fn(&mut Builder, Wire, Wire) -> Wire,
    ) -> Result<Vec<Ciphertext>, Error> {
        match done {
            Err(error) if self.recryption.is_some() && matches!(error.kind(), ErrorKind::NoiseExhausted { .. }) => {
                let mut circuit = Builder::new(&[1, 1]);
                let inputs = circuit.inputs();
                let output = gate(&mut circuit, inputs[0], inputs[1]);
                let rows: Vec<Vec<Ciphertext>> = a.iter().zip(b).map(|(a, b)| vec![a.clone(), b.clone()]).collect();
                self.evaluator().evaluate(&circuit.finish(&[&[output]]), &rows).map(|rows| rows.concat())
            }
            done => done,
        }
    }
}
