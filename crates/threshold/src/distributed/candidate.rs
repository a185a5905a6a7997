//! One trustee's part of one candidate: `p_i` and `q_i`, the polynomials that share them, and
//! masks.

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
    /// What follows from a trustee's seed and the batch's coin.
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

    /// What trustee `at` gets of `p_i`, or of `q_i`.
    pub(crate) fn share(&self, plan: &Plan, half: usize, at: u32) -> Secret {
        // A constant of small numbers may have a limb more than a share.
        let longest = self.polynomials[half].iter().map(|coefficient| coefficient.len()).max().unwrap_or(1);
        let mut share = Zeroizing::new(vec![0; limbs_of(plan.share_bits).max(longest)]);
        evaluate(&mut share, &self.polynomials[half], u64::from(at));
        resized(&share, limbs_of(plan.share_bits))
    }

    /// `p_i + q_i`, in a limb more than a prime has.
    pub(crate) fn sum(&self) -> Secret {
        let [p, q] = &self.numbers;
        let mut sum = resized(p, p.len() + 1);
        add_assign(&mut sum, q);
        sum
    }

    /// What trustee `to` is sent: its shares of `p_i` and `q_i`, and a seed for masks.
    pub(crate) fn message(&self, plan: &Plan, mask: &Seed, to: u32) -> Zeroizing<Vec<u8>> {
        let mut message = Zeroizing::new(Vec::with_capacity(message_bytes(plan)));
        for half in [0, 1] {
            message.extend_from_slice(&to_be(&self.share(plan, half, to), plan.share_bytes()));
        }
        message.extend_from_slice(&mask[..]);
        message
    }
}

/// Bytes of [`Contribution::message`].
pub(crate) fn message_bytes(plan: &Plan) -> usize {
    2 * plan.share_bytes() + HASH_BYTES
}

/// The seed of what masks the products of two trustees for a candidate: the first adds it, the
/// second, who made it, subtracts it.
pub(crate) fn mask(seed: &Seed, coin: &Hash, from: u32, to: u32) -> Seed {
    derive_seed("mask", &[&seed[..], coin, &[from as u8], &[to as u8]])
}

/// Elements of a field that follow from seeds, one a row.
pub(crate) fn expand(field: &Field, seeds: impl ExactSizeIterator<Item = Seed>) -> Batch {
    let mut rows = Batch::zeros(seeds.len(), field.modulus.limbs());
    for (row, seed) in rows.rows_mut().zip(seeds) {
        row.copy_from_slice(&Stream::new(seed).number(field.bits, field.modulus.limbs()));
    }
    field.modulus.reduce(&rows)
}
