//! `hearith rns`: special primes, and integers to residues and back.

mod convert;
mod engines;
pub mod integers;
mod primes;
mod tables;

use hearith_rns::{Basis, Bounds, PrimeSearch, SpecialPrime};

use crate::args::{Convert, Rns, Search};
use crate::failure::Failure;
use crate::session::Session;

/// Runs the command.
pub(crate) fn run(session: &Session, command: &Rns) -> Result<(), Failure> {
    match command {
        Rns::Primes(command) => primes::run(session, command),
        Rns::Convert(command) if command.back => convert::back(session, command),
        Rns::Convert(command) => convert::forth(session, command),
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

    fn primes(&self) -> Result<impl Iterator<Item = SpecialPrime> + use<>, Failure> {
        self.search().primes().map_err(Failure::new)
    }
}

impl Convert {
    /// The moduli named, or the largest special primes, as many as an integer has words.
    fn moduli(&self) -> Result<Vec<u64>, Failure> {
        if !self.primes.is_empty() {
            return Ok(self.primes.clone());
        }
        let moduli = self.search.primes()?.map(|prime| prime.modulus());
        let wanted = self.search.search().words() as usize;
        let moduli: Vec<u64> = moduli.take(wanted).collect();
        match moduli.len() {
            found if found == wanted => Ok(moduli),
            found => Err(Failure::new(format!(
                "{wanted} special primes are needed and there are {found}: allow more --terms or a longer --max-word"
            ))),
        }
    }

    fn basis(&self, session: &Session, moduli: &[u64]) -> Result<Basis, Failure> {
        Basis::new(session.engine, moduli).map_err(Failure::new)
    }
}
