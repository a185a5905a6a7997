//! Key generation without a network: each exchange is a set of files that people carry.
//!
//! A [`Correspondent`] is one trustee's side. [`Correspondent::files`] returns the files of the
//! current exchange, one for each other trustee. [`Correspondent::take`] processes theirs and
//! advances to the next exchange. Everything follows from a seed of 32 bytes and the processed
//! files. So a program that stops between two exchanges stores [`Saved`] and those files, which
//! only the seed can open, and processes them again with the same result.
//!
//! The first exchange carries a signed X25519 key of each trustee. All later ones carry the
//! messages of a [`Trustee`](super::Trustee), which are signed as usual and sealed to their
//! receiver. A batch has enough candidates to succeed in
//! [99 of 100 runs](Parameters::for_one_batch). So a run needs [`EXCHANGES`] exchanges, and
//! [`BATCH_EXCHANGES`] more for each additional batch. After a failure it needs up to
//! [`FAILURE_EXCHANGES`] more to find the trustee at fault.
//!
//! The README in the parent folder specifies the file format.

mod correspondent;
mod file;
mod saved;

pub use correspondent::{Correspondent, Next, Wrong, WrongFile, file_name};
pub use saved::Saved;

use super::core::Stage;
use super::trustee::BLAME_ROUNDS;
use super::{MAX_CANDIDATES, Parameters};

/// The number of exchanges if the first batch has a successful candidate: from the keys that later
/// files are sealed to, until all have confirmed the generated key.
pub const EXCHANGES: u32 = Stage::Done as u32 + 2;
/// The number of exchanges for an additional batch of candidates.
pub const BATCH_EXCHANGES: u32 = Stage::OpeningAgreement as u32 - Stage::Seeds as u32 + 1;
/// Maximum number of exchanges after a run has failed.
pub const FAILURE_EXCHANGES: u32 = BLAME_ROUNDS;

impl Parameters {
    /// Sets the batch size so that the first batch has a successful candidate in 99 of 100 runs. If
    /// `e` candidates are expected until one succeeds, `c` candidates all fail with probability
    /// `(1 - 1 / e)^c`, which is below `exp(-c / e)`.
    pub fn for_one_batch(self) -> Self {
        let candidates = (self.expected() * 100_f64.ln()).ceil() as usize;
        self.with_candidates(candidates.min(MAX_CANDIDATES))
    }
}

#[cfg(test)]
mod tests {
    use super::super::candidate::Contribution;
    use super::super::plan::Plan;
    use super::super::stream::derive_seed;
    use super::*;
    use hearith_paillier::{Engine, KeyPolicy, Variant};
    use rug::Integer;
    use rug::integer::{IsPrime, Order};

    fn parameters(bits: u32) -> Parameters {
        let policy = KeyPolicy::AllowInsecure;
        Parameters::new(bits, 3, 5, Variant::Standard, policy, Engine::Serial).unwrap().for_one_batch()
    }

    /// The numbers in the changelog.
    #[test]
    fn a_run_takes_twenty_exchanges() {
        assert_eq!((EXCHANGES, BATCH_EXCHANGES, FAILURE_EXCHANGES), (20, 10, 5));
        let thousands = |bits| (parameters(bits).candidates() as f64 / 1000.0).round();
        assert_eq!([2048, 3072, 4096].map(thousands), [43.0, 97.0, 173.0]);
    }

    #[test]
    fn batches_have_as_many_candidates_as_it_takes_and_no_more() {
        for bits in [128, 512, 2048, 3072, 4096] {
            let parameters = parameters(bits);
            let fails = |candidates: usize| (1.0 - 1.0 / parameters.expected()).powf(candidates as f64);
            assert!(fails(parameters.candidates()) <= 0.01, "{bits}");
            assert!(fails(parameters.candidates() * 98 / 100) > 0.01 || bits == 128, "{bits}");
        }
    }

    /// Candidates of two primes are at least as frequent as the batch size assumes.
    #[test]
    fn candidates_succeed_as_often_as_expected() {
        let (plan, candidates) = (Plan::new(parameters(128)).unwrap(), 5000_u32);
        let is_prime = |contributions: &[Contribution], half: usize| {
            let sum: Integer =
                contributions.iter().map(|one| Integer::from_digits(&one.numbers[half][..], Order::Lsf)).sum();
            sum.is_probably_prime(20) != IsPrime::No
        };
        let succeeded = (0..candidates).filter(|number| {
            let of_trustee = |trustee: u32| {
                let seed = derive_seed("test batch", &[&number.to_be_bytes(), &trustee.to_be_bytes()]);
                Contribution::new(&plan, trustee, &seed, &[7; 32])
            };
            let contributions: Vec<Contribution> = (1..=5).map(of_trustee).collect();
            is_prime(&contributions, 0) && is_prime(&contributions, 1)
        });
        let rate = succeeded.count() as f64 / f64::from(candidates) * plan.parameters.expected();
        assert!((0.75..1.5).contains(&rate), "{rate}");
    }
}
