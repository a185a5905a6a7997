//! `hearith rns`: special primes, and conversion of integers to residues and back.

mod convert;
mod engines;
pub mod integers;
mod primes;
mod tables;

use hearith_rns::{Basis, Bounds, ErrorKind, PrimeSearch, SpecialPrime};

use crate::args::{Convert, Rns, Search};
use crate::failure::CliError;
use crate::session::Session;

/// Runs the command.
pub(crate) fn run(session: &Session, command: &Rns) -> Result<(), CliError> {
    match command {
        Rns::Primes(command) => primes::run(session, command),
        Rns::Convert(command) if command.back => convert::from_residues(session, command),
        Rns::Convert(command) => convert::to_residues(session, command),
    }
}

impl Search {
    fn bounds(&self) -> Bounds {
        if self.tight { Bounds::Tight } else { Bounds::Paper }
    }

    fn search(&self) -> PrimeSearch {
        let Search { degree, modulus_bits, word_bits, terms, max_word, .. } = *self;
        PrimeSearch { degree, modulus_bits, word_bits, max_word, terms, bounds: self.bounds() }
    }

    fn primes(&self) -> Result<impl Iterator<Item = SpecialPrime> + use<>, CliError> {
        self.search().primes().map_err(CliError::new)
    }
}

impl Convert {
    /// The given moduli, or else as many of the largest special primes as are needed for every
    /// integer of the requested length.
    fn moduli(&self) -> Result<Vec<u64>, CliError> {
        match self.primes.is_empty() {
            false => Ok(self.primes.clone()),
            true => self.search.search().moduli().map_err(|error| match error.kind() {
                ErrorKind::TooFewPrimes { .. } => {
                    CliError::new(error).with_note("allow more --terms or a longer --max-word")
                }
                _ => CliError::new(error),
            }),
        }
    }

    /// Like [`moduli`](Self::moduli), for a table with this number of columns. Older tables have
    /// one prime per word, of which the last holds less than every integer.
    fn moduli_of_columns(&self, columns: usize) -> Result<Vec<u64>, CliError> {
        let mut moduli = self.moduli()?;
        if self.primes.is_empty() && columns == self.search.search().words() as usize {
            moduli.truncate(columns);
        }
        Ok(moduli)
    }

    fn basis(&self, session: &Session, moduli: &[u64]) -> Result<Basis, CliError> {
        Basis::new(session.engine, moduli).map_err(CliError::new)
    }
}
