//! One trustee's part of a candidate: `p_i` and `q_i`, the polynomials that share them, and masks.

use super::plan::{Field, Plan, evaluate};
use super::stream::{HASH_BYTES, Hash, Seed, Stream, derive_seed};
use hearith_arith::Batch;
use hearith_arith::natural::{Secret, add_assign, limbs_of, product_in, resized, to_be};
use zeroize::Zeroizing;

/// `p_i` and `q_i`, and the polynomials `D p_i + a_1 X + ... + a_(w-1) X^(w-1)`.
pub(crate) struct Contribution {
    pub(crate) numbers: [Secret; 2],
    polynomials: [Vec<Secret>; 2],
}

impl Contribution {
    /// Derives the contribution from a trustee's seed and the batch's coin.
    pub(crate) fn new(plan: &Plan, trustee: u32, seed: &Seed, coin: &Hash) -> Self {
        let mut stream = Stream::new(derive_seed("candidate", &[&seed[..], coin, &[trustee as u8]]));
        let limbs = plan.prime_limbs();
        let mut half = || {
            let multiple = stream.number(plan.sieve.multiple_bits, limbs_of(plan.sieve.multiple_bits));
            let number = plan.sieve.contribution(trustee, limbs, |below| stream.below(below), &multiple);
            let constant = product_in(&number, &[plan.factorial], limbs + 1);
            let bits = plan.coefficient_bits;
            let more = (0..plan.degree).map(|_| stream.number(bits, limbs_of(bits)));
            let polynomial: Vec<Secret> = std::iter::once(constant).chain(more).collect();
            (number, polynomial)
        };
        let ((p, of_p), (q, of_q)) = (half(), half());
        Contribution { numbers: [p, q], polynomials: [of_p, of_q] }
    }

    /// The share of `p_i` or `q_i` for trustee `at`.
    pub(crate) fn share(&self, plan: &Plan, half: usize, at: u32) -> Secret {
        // For small numbers, the constant term may have one limb more than a share.
        let longest = self.polynomials[half].iter().map(|coefficient| coefficient.len()).max().unwrap_or(1);
        let mut share = Zeroizing::new(vec![0; limbs_of(plan.share_bits).max(longest)]);
        evaluate(&mut share, &self.polynomials[half], u64::from(at));
        resized(&share, limbs_of(plan.share_bits))
    }

    /// `p_i + q_i`, with one limb more than a prime.
    pub(crate) fn sum(&self) -> Secret {
        let [p, q] = &self.numbers;
        let mut sum = resized(p, p.len() + 1);
        add_assign(&mut sum, q);
        sum
    }

    /// The message to trustee `to`: its shares of `p_i` and `q_i`, and a seed for masks.
    pub(crate) fn message(&self, plan: &Plan, mask: &Seed, to: u32) -> Zeroizing<Vec<u8>> {
        let mut message = Zeroizing::new(Vec::with_capacity(message_bytes(plan)));
        for half in [0, 1] {
            message.extend_from_slice(&to_be(&self.share(plan, half, to), plan.share_bytes()));
        }
        message.extend_from_slice(&mask[..]);
        message
    }
}

/// Length in bytes of [`Contribution::message`].
pub(crate) fn message_bytes(plan: &Plan) -> usize {
    2 * plan.share_bytes() + HASH_BYTES
}

/// The seed of the mask of two trustees' products for a candidate. Trustee `to` adds the mask, and
/// trustee `from`, who made the seed, subtracts it.
pub(crate) fn mask(seed: &Seed, coin: &Hash, from: u32, to: u32) -> Seed {
    derive_seed("mask", &[&seed[..], coin, &[from as u8], &[to as u8]])
}

/// Expands seeds to elements of a field, one per row.
pub(crate) fn expand(field: &Field, seeds: impl ExactSizeIterator<Item = Seed>) -> Batch {
    let mut rows = Batch::zeros(seeds.len(), field.modulus.limbs());
    for (row, seed) in rows.rows_mut().zip(seeds) {
        row.copy_from_slice(&Stream::new(seed).number(field.bits, field.modulus.limbs()));
    }
    field.modulus.reduce(&rows)
}

#[cfg(test)]
mod tests {
    use super::super::Parameters;
    use super::super::core::{Core, Stage};
    use super::*;
    use hearith_paillier::{Engine, KeyPolicy, Variant};
    use rug::{Integer, integer::IsPrime, integer::Order};
    use std::sync::Arc;

    const TRUSTEES: u32 = 3;

    fn plan() -> Plan {
        let (variant, policy) = (Variant::Standard, KeyPolicy::AllowInsecure);
        Plan::new(Parameters::new(128, 2, TRUSTEES, variant, policy, Engine::best()).unwrap()).unwrap()
    }

    /// Critical values of chi-square for a probability of `10^-7`, by degrees of freedom. Computed
    /// in Python from the continued fraction of the incomplete gamma function.
    fn critical(degrees: usize) -> f64 {
        match degrees {
            1 => 28.37,
            2 => 32.24,
            3 => 35.41,
            4 => 38.24,
            8 => 47.97,
            10 => 52.31,
            15 => 62.33,
            16 => 64.23,
            17 => 66.10,
            18 => 67.95,
            other => panic!("{other} degrees of freedom"),
        }
    }

    /// Fails unless all classes occur about equally often.
    fn is_uniform(classes: usize, numbers: &[Integer], class: impl Fn(&Integer) -> usize, what: &str) {
        let mut counts = vec![0; classes];
        numbers.iter().for_each(|number| counts[class(number)] += 1);
        let expected = numbers.len() as f64 / classes as f64;
        let chi_square: f64 = counts.iter().map(|&count| (f64::from(count) - expected).powi(2) / expected).sum();
        assert!(chi_square < critical(classes - 1), "{what}: {chi_square}: {counts:?}");
    }

    /// The class of a number by its excess over the minimum, using the distribution function of the
    /// sum of three uniform numbers.
    fn magnitude(plan: &Plan, number: &Integer, classes: usize) -> usize {
        let base = (Integer::from(3) << (plan.prime_bits - 2)).to_f64();
        let unit = plan.sieve.period() * 2f64.powi(plan.sieve.multiple_bits as i32);
        let x = (number.to_f64() - base) / unit;
        // The Irwin-Hall distribution.
        let below = match x {
            x if x < 1.0 => x.powi(3) / 6.0,
            x if x < 2.0 => (-2.0 * x.powi(3) + 9.0 * x.powi(2) - 9.0 * x + 3.0) / 6.0,
            x => 1.0 - (3.0 - x).powi(3) / 6.0,
        };
        ((below * classes as f64) as usize).min(classes - 1)
    }

    fn check(plan: &Plan, numbers: &[Integer], are_primes: bool, what: &str) {
        // At least 30 numbers per class are expected.
        let is_enough = |classes: usize| numbers.len() >= 30 * classes;
        for prime in plan.sieve.primes().filter(|&prime| prime > 3 && is_enough(prime as usize - 2)) {
            // Neither 0 nor 1, which the sieve excludes.
            let class = |number: &Integer| number.mod_u(prime as u32) as usize - 2;
            is_uniform(prime as usize - 2, numbers, class, &format!("{what} modulo {prime}"));
        }
        for other in [17, 19].into_iter().filter(|&prime| is_enough(prime as usize)) {
            // A prime is not a multiple of another one.
            let least = usize::from(are_primes);
            let class = |number: &Integer| number.mod_u(other) as usize - least;
            is_uniform(other as usize - least, numbers, class, &format!("{what} modulo {other}"));
        }
        is_uniform(2, numbers, |number| number.mod_u(8) as usize / 4, &format!("{what} modulo 8"));
        let classes = if is_enough(16) { 16 } else { 4 };
        is_uniform(classes, numbers, |number| magnitude(plan, number, classes), &format!("{what}, magnitude"));
    }

    fn sum(parts: impl Iterator<Item = Secret>) -> Integer {
        parts.map(|part| Integer::from_digits(&part[..], Order::Lsf)).sum()
    }

    /// Candidates, the primes among them, and the primes of keys have the distribution that the
    /// protocol specifies: uniform in the residues that the sieve leaves, uniform modulo other
    /// primes, and with the magnitude of a sum of uniform numbers. Seeds are fixed. With random
    /// seeds, the 20 comparisons at `10^-7` each would fail by chance once in 500 000 runs.
    #[test]
    fn primes_are_distributed_as_the_protocol_says() {
        let plan = Arc::new(plan());
        let (mut candidates, mut primes) = (Vec::new(), Vec::new());
        for number in 0..4000_u32 {
            let of_trustee = |trustee: u32| {
                let label = [number.to_be_bytes(), trustee.to_be_bytes()].concat();
                Contribution::new(&plan, trustee, &derive_seed("test candidate", &[&label]), &[7; HASH_BYTES])
            };
            let contributions: Vec<Contribution> = (1..=TRUSTEES).map(of_trustee).collect();
            for half in [0, 1] {
                let candidate = sum(contributions.iter().map(|one| one.numbers[half].clone()));
                if candidate.is_probably_prime(20) != IsPrime::No {
                    primes.push(candidate.clone());
                }
                candidates.push(candidate);
            }
        }
        assert!(primes.len() > 600, "{}", primes.len());
        check(&plan, &candidates, false, "candidates");
        check(&plan, &primes, true, "primes");

        // The primes of keys: runs the trustees' cores without signatures until they find a
        // candidate.
        let mut chosen = Vec::new();
        for run in 0..50_u32 {
            let core = |trustee: u32| {
                let label = [run.to_be_bytes(), trustee.to_be_bytes()].concat();
                Core::new(Arc::clone(&plan), trustee, derive_seed("test core", &[&label]))
            };
            let mut cores: Vec<Core> = (1..=TRUSTEES).map(core).collect();
            while cores[0].stage() != Stage::TestCommitments {
                let bodies: Vec<_> = cores.iter_mut().map(|core| core.send().unwrap()).collect();
                let broadcasts: Vec<Vec<u8>> = bodies.iter().map(|body| body.broadcast.clone()).collect();
                for (to, core) in cores.iter_mut().enumerate() {
                    let private: Vec<_> = bodies.iter().map(|body| body.private[to].clone()).collect();
                    core.receive(&broadcasts, &private).unwrap();
                }
            }
            chosen.extend([0, 1].map(|half| sum(cores.iter().map(|core| core.survivor_number(half)))));
        }
        assert!(chosen.iter().all(|prime| prime.is_probably_prime(20) != IsPrime::No));
        check(&plan, &chosen, true, "primes of keys");
    }
}
