//! One trustee's side of the protocol, without signatures and network. Its messages of each round
//! follow from its seed and the messages it has received.

use super::candidate::{Contribution, expand, mask, message_bytes};
use super::numbers::jacobi;
use super::plan::{EXTRA_BITS, Field, Plan, evaluate, has_at_most};
use super::proofs::{KeyProofs, NUMBERS, Numbers};
use super::stream::{HASH_BYTES, Hash, Seed, Stream, derive, derive_seed};
use crate::key::{KeyShare, Origin, Shared, VerificationKeys, checked_units, joined};
use crate::lagrange::coefficients;
use hearith_arith::natural::{
    Secret, add_assign, bit_length, difference, divide_word, from_be, has_bits_from, is_one, is_zero, less, limbs_of,
    product, product_in, resized, shifted_down, sub_assign, to_be,
};
use hearith_arith::{Batch, Exponents, Modulus, powers_of_two};
use hearith_paillier::{PublicKey, Variant};
use hearith_proofs::hashed;
use hearith_proofs::roots::ROOTS;
use std::sync::Arc;
use zeroize::Zeroizing;

/// Rounds of the survivor's biprimality test.
pub(crate) const TESTS: usize = 128;

/// The stage of a round. The discriminants are those of the wire format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub(crate) enum Stage {
    /// Commitments to the seeds from which everything is derived.
    Hello = 0,
    /// Commitments to a seed for each candidate and to a share of the coin.
    Seeds = 1,
    /// The shares of the coin.
    Coin = 2,
    /// Shares of `p_i` and `q_i`.
    Shares = 3,
    /// Commitments to shares of the products.
    ProductCommitments = 4,
    /// Shares of the products.
    Products = 5,
    /// Commitments to answers.
    AnswerCommitments = 6,
    /// Answers of the test whether the products have two prime factors.
    Answers = 7,
    /// Empty messages, which confirm that all have seen the same broadcasts.
    Agreement = 8,
    /// The seeds of all candidates except the survivor.
    Opening = 9,
    /// Empty, like `Agreement`.
    OpeningAgreement = 10,
    /// Commitments to answers about the survivor.
    TestCommitments = 11,
    /// Answers about the survivor.
    Tests = 12,
    /// Shares of `beta_i` and `rho_i`.
    Blinding = 13,
    /// Commitments to shares of `Theta`.
    ResultCommitments = 14,
    /// Shares of `Theta`.
    Results = 15,
    /// `v_i`, and shares of the proofs.
    VerificationKeys = 16,
    /// Empty, like `Agreement`.
    KeyAgreement = 17,
    /// Trustees keep the key once all have sent this.
    Done = 18,
}

/// One trustee's messages of a round: a broadcast to all, and a private part for each trustee
/// including itself.
pub(crate) struct Body {
    pub(crate) broadcast: Vec<u8>,
    pub(crate) private: Vec<Zeroizing<Vec<u8>>>,
}

/// A contradiction that cannot occur if all trustees follow the protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Suspicion(pub(crate) &'static str);

/// One trustee's side of the protocol.
pub(crate) struct Core {
    plan: Arc<Plan>,
    me: u32,
    master: Seed,
    stage: Stage,
    number: u32,
    batch: Batches,
    survivor: Option<Survivor>,
    key: Option<Key>,
}

/// The result of a trustee. A DJN key includes proofs.
pub(crate) struct Key {
    pub(crate) verification: VerificationKeys,
    pub(crate) share: KeyShare,
    pub(crate) proofs: Option<KeyProofs>,
}

/// A batch of candidates.
#[derive(Default)]
struct Batches {
    seeds: Vec<Seed>,
    /// For each trustee, one hash per candidate.
    seed_hashes: Vec<Vec<u8>>,
    coin_hashes: Vec<Vec<u8>>,
    coin: Hash,
    contributions: Vec<Contribution>,
    /// The shares that each trustee sent.
    received: Vec<Zeroizing<Vec<u8>>>,
    /// This trustee's shares of all `D p` and all `D q`.
    sums: Option<[Batch; 2]>,
    /// The content of this trustee's commitment.
    committed: Vec<u8>,
    commitments: Vec<Vec<u8>>,
    /// `N` of each candidate.
    moduli: Vec<Vec<u64>>,
    /// Candidates without small factors.
    tested: Vec<(usize, Modulus)>,
    passed: Vec<usize>,
}

/// The candidate that becomes the key.
struct Survivor {
    key: PublicKey,
    contribution: Contribution,
    /// This trustee's share of `D (p + q)`.
    sum: Secret,
    bases: Batch,
    committed: Vec<u8>,
    /// `D rho_i`, and this trustee's share of `D rho`.
    own_blind: Secret,
    blind: Secret,
    shared: Option<Shared>,
    /// `Theta` and `t`, and for a DJN key the numbers whose roots are the proofs.
    theta: Vec<u64>,
    inverse: Vec<u64>,
    numbers: Option<Numbers>,
}

impl Core {
    /// Starts the protocol as trustee `me`.
    pub(crate) fn new(plan: Arc<Plan>, me: u32, master: Seed) -> Self {
        Self::at(plan, me, master, Stage::Hello, 0)
    }

    /// Starts at a stage of a batch, [`Stage::Hello`] or [`Stage::Seeds`].
    pub(crate) fn at(plan: Arc<Plan>, me: u32, master: Seed, stage: Stage, number: u32) -> Self {
        Core { plan, me, master, stage, number, batch: Batches::default(), survivor: None, key: None }
    }

    pub(crate) fn stage(&self) -> Stage {
        self.stage
    }

    /// The number of the batch, from 0.
    pub(crate) fn number(&self) -> u32 {
        self.number
    }

    pub(crate) fn master(&self) -> &Seed {
        &self.master
    }

    /// This trustee's summand of one of the survivor's factors.
    #[cfg(test)]
    pub(crate) fn survivor_number(&self, half: usize) -> Secret {
        self.survivor.as_ref().unwrap().contribution.numbers[half].clone()
    }

    /// The key, after [`Stage::KeyAgreement`].
    pub(crate) fn into_key(self) -> Option<Key> {
        self.key
    }

    fn everybody(&self) -> std::ops::RangeInclusive<u32> {
        1..=self.plan.trustees()
    }

    /// This trustee's messages of the current round.
    pub(crate) fn send(&mut self) -> Result<Body, Suspicion> {
        let nothing = self.everybody().map(|_| Zeroizing::default()).collect();
        let broadcast = match self.stage {
            Stage::Hello => derive("master", &[&self.master[..]]).to_vec(),
            Stage::Seeds => self.seeds(),
            Stage::Coin => self.coin_part().to_vec(),
            Stage::Shares => return Ok(Body { broadcast: Vec::new(), private: self.shares() }),
            Stage::ProductCommitments => {
                let products = self.products();
                self.commit(products)
            }
            Stage::AnswerCommitments => {
                let answers = self.answers();
                self.commit(answers)
            }
            Stage::TestCommitments => {
                let answers = self.tests()?;
                self.commit(answers)
            }
            Stage::Blinding => return Ok(Body { broadcast: Vec::new(), private: self.blinding()? }),
            Stage::Products | Stage::Answers | Stage::Tests | Stage::Results => self.opened(),
            Stage::ResultCommitments => {
                let result = std::mem::take(&mut self.survivor()?.committed);
                self.commit(result)
            }
            Stage::Opening => self.rejected_seeds(),
            Stage::VerificationKeys => self.verification()?,
            Stage::Agreement | Stage::OpeningAgreement | Stage::KeyAgreement | Stage::Done => Vec::new(),
        };
        Ok(Body { broadcast, private: nothing })
    }

    /// Processes the messages of all trustees in the current round, in the order of the trustees,
    /// including its own.
    pub(crate) fn receive(&mut self, broadcasts: &[Vec<u8>], private: &[Zeroizing<Vec<u8>>]) -> Result<(), Suspicion> {
        let plan = Arc::clone(&self.plan);
        let expected = self.lengths();
        if broadcasts.iter().any(|one| one.len() != expected.0) || private.iter().any(|one| one.len() != expected.1) {
            return Err(Suspicion("a message has the wrong length"));
        }
        self.stage = match self.stage {
            Stage::Hello => Stage::Seeds,
            Stage::Seeds => {
                let at = HASH_BYTES * plan.candidates();
                self.batch.seed_hashes = broadcasts.iter().map(|one| one[..at].to_vec()).collect();
                self.batch.coin_hashes = broadcasts.iter().map(|one| one[at..].to_vec()).collect();
                Stage::Coin
            }
            Stage::Coin => {
                for (trustee, (part, hash)) in broadcasts.iter().zip(&self.batch.coin_hashes).enumerate() {
                    if derive("coin hash", &[&[trustee as u8 + 1], part])[..] != hash[..] {
                        return Err(Suspicion("a part of the coin does not match its commitment"));
                    }
                }
                let parts: Vec<&[u8]> = broadcasts.iter().map(|part| &part[..]).collect();
                self.batch.coin = derive("coin", &parts);
                Stage::Shares
            }
            Stage::Shares => {
                self.batch.received = private.to_vec();
                self.add_shares()?;
                Stage::ProductCommitments
            }
            Stage::ProductCommitments
            | Stage::AnswerCommitments
            | Stage::TestCommitments
            | Stage::ResultCommitments => {
                self.batch.commitments = broadcasts.to_vec();
                match self.stage {
                    Stage::ProductCommitments => Stage::Products,
                    Stage::AnswerCommitments => Stage::Answers,
                    Stage::TestCommitments => Stage::Tests,
                    _ => Stage::Results,
                }
            }
            Stage::Products => {
                let products = self.check_commitments(broadcasts)?;
                self.moduli(&products)?;
                Stage::AnswerCommitments
            }
            Stage::Answers => {
                let answers = self.check_commitments(broadcasts)?;
                self.judge(&answers)?;
                Stage::Agreement
            }
            Stage::Agreement => Stage::Opening,
            Stage::Opening => {
                self.check_rejected(broadcasts)?;
                Stage::OpeningAgreement
            }
            Stage::OpeningAgreement => match self.batch.passed.first() {
                Some(&survivor) => {
                    self.survive(survivor)?;
                    Stage::TestCommitments
                }
                None => {
                    self.batch = Batches::default();
                    self.number += 1;
                    Stage::Seeds
                }
            },
            Stage::Tests => {
                let answers = self.check_commitments(broadcasts)?;
                self.check_tests(&answers)?;
                Stage::Blinding
            }
            Stage::Blinding => {
                self.result(private)?;
                Stage::ResultCommitments
            }
            Stage::Results => {
                let parts = self.check_commitments(broadcasts)?;
                self.share(&parts)?;
                Stage::VerificationKeys
            }
            Stage::VerificationKeys => {
                self.check_key(broadcasts)?;
                Stage::KeyAgreement
            }
            Stage::KeyAgreement | Stage::Done => Stage::Done,
        };
        Ok(())
    }

    /// Lengths in bytes of each trustee's broadcast and private messages in the current round.
    pub(crate) fn lengths(&self) -> (usize, usize) {
        let plan = &self.plan;
        let (candidates, modulus) = (plan.candidates(), plan.modulus_bytes());
        match self.stage {
            Stage::Seeds => (HASH_BYTES * (candidates + 1), 0),
            Stage::Hello
            | Stage::Coin
            | Stage::ProductCommitments
            | Stage::AnswerCommitments
            | Stage::TestCommitments
            | Stage::ResultCommitments => (HASH_BYTES, 0),
            Stage::Shares => (0, candidates * message_bytes(plan)),
            Stage::Products => (HASH_BYTES + candidates * plan.field.bytes(), 0),
            Stage::Answers => (HASH_BYTES + self.batch.tested.len() * modulus, 0),
            Stage::Opening => (HASH_BYTES * self.rejected().count(), 0),
            Stage::Tests => (HASH_BYTES + 2 * TESTS * modulus, 0),
            Stage::Blinding => (0, plan.wide.bytes() + plan.blind_share_bytes() + HASH_BYTES),
            Stage::Results => (HASH_BYTES + plan.wide.bytes(), 0),
            Stage::VerificationKeys => (modulus * (2 + self.proof_numbers()), 0),
            Stage::Agreement | Stage::OpeningAgreement | Stage::KeyAgreement | Stage::Done => (0, 0),
        }
    }

    /// The number of integers modulo `N` that each trustee contributes to the proofs.
    fn proof_numbers(&self) -> usize {
        if self.plan.parameters.variant == Variant::Djn { NUMBERS } else { 0 }
    }

    fn seed_of(&self, label: &str, more: &[u8]) -> Seed {
        derive_seed(label, &[&self.master[..], &self.number.to_be_bytes(), more])
    }

    /// Stores `content` to be opened later, and returns the commitment to it.
    fn commit(&mut self, content: Vec<u8>) -> Vec<u8> {
        let nonce = self.seed_of("nonce", &[self.stage as u8]);
        self.batch.committed = [&nonce[..], &content].concat();
        commitment(self.me, &self.batch.committed).to_vec()
    }

    fn opened(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.batch.committed)
    }

    /// Checks the opened commitments and returns their content without nonces.
    fn check_commitments<'a>(&self, opened: &'a [Vec<u8>]) -> Result<Vec<&'a [u8]>, Suspicion> {
        for ((trustee, opened), commitment_given) in self.everybody().zip(opened).zip(&self.batch.commitments) {
            if commitment(trustee, opened)[..] != commitment_given[..] {
                return Err(Suspicion("an opened value does not match its commitment"));
            }
        }
        Ok(opened.iter().map(|one| &one[HASH_BYTES..]).collect())
    }

    // Candidates.

    fn coin_part(&self) -> Seed {
        self.seed_of("coin part", &[])
    }

    /// Hashes of the seeds and of the coin share.
    fn seeds(&mut self) -> Vec<u8> {
        let candidates = 0..self.plan.candidates() as u32;
        self.batch.seeds = candidates.map(|candidate| self.seed_of("seed", &candidate.to_be_bytes())).collect();
        let hashes = self.batch.seeds.iter().map(|seed| derive("seed hash", &[&seed[..]]));
        let coin = derive("coin hash", &[&[self.me as u8], &self.coin_part()[..]]);
        hashes.chain([coin]).flatten().collect()
    }

    /// Shares of all candidates for each trustee.
    fn shares(&mut self) -> Vec<Zeroizing<Vec<u8>>> {
        let (plan, me) = (&self.plan, self.me);
        let Batches { seeds, coin, contributions, .. } = &mut self.batch;
        *contributions = seeds.iter().map(|seed| Contribution::new(plan, me, seed, coin)).collect();
        let bytes = seeds.len() * message_bytes(plan);
        let to = |to: u32| {
            let mut message = Zeroizing::new(Vec::with_capacity(bytes));
            for (contribution, seed) in contributions.iter().zip(seeds.iter()) {
                message.extend_from_slice(&contribution.message(plan, &mask(seed, coin, me, to), to));
            }
            message
        };
        (1..=plan.trustees()).map(to).collect()
    }

    /// Sums the received shares to shares of `D p` and `D q`.
    fn add_shares(&mut self) -> Result<(), Suspicion> {
        let plan = &self.plan;
        let (width, limbs) = (plan.share_bytes(), limbs_of(plan.sum_bits(plan.share_bits)));
        let mut sums = [0, 1].map(|_| Batch::zeros(plan.candidates(), limbs));
        for message in &self.batch.received {
            for (row, part) in message.chunks_exact(message_bytes(plan)).enumerate() {
                for (half, sum) in sums.iter_mut().enumerate() {
                    let share = from_be(&part[half * width..][..width], limbs).unwrap_or_default();
                    if share.is_empty() || has_bits_from(&share, plan.share_bits) {
                        return Err(Suspicion("a share is too long"));
                    }
                    add_assign(sum.row_mut(row), &share);
                }
            }
        }
        self.batch.sums = Some(sums);
        Ok(())
    }

    /// This trustee's shares of the products: `lambda_i P(i) Q(i) / D^3` plus masks whose sum over
    /// all trustees is 0.
    fn products(&self) -> Vec<u8> {
        let (plan, field) = (&self.plan, &self.plan.field);
        let Some([p, q]) = &self.batch.sums else { return Vec::new() };
        let products = field.modulus.mul(&field.modulus.reduce(p), &field.modulus.reduce(q));
        let mut parts = field.modulus.mul_by(&products, &field.lagrange[self.me as usize - 1]);
        let at = message_bytes(plan) - HASH_BYTES;
        for trustee in self.everybody().filter(|&trustee| trustee != self.me) {
            let messages = self.batch.received[trustee as usize - 1].chunks_exact(message_bytes(plan));
            let more = expand(field, messages.map(|message| seed_from(&message[at..])));
            let seeds = self.batch.seeds.iter().map(|seed| mask(seed, &self.batch.coin, self.me, trustee));
            let less = expand(field, seeds);
            parts = field.modulus.sub(&field.modulus.add(&parts, &more), &less);
        }
        parts.to_be_bytes(field.bytes())
    }

    /// Computes `N` of all candidates and selects those without small factors.
    fn moduli(&mut self, parts: &[&[u8]]) -> Result<(), Suspicion> {
        let (plan, field) = (&self.plan, &self.plan.field);
        let sum = sum(field, parts)?;
        let limbs = limbs_of(plan.parameters.bits);
        let is_good = |row: &[u64]| bit_length(row) == plan.parameters.bits && row[0] & 3 == 1;
        if !sum.rows().all(is_good) {
            return Err(Suspicion("a product is not one of two candidates"));
        }
        self.batch.moduli = sum.rows().map(|row| row[..limbs].to_vec()).collect();
        let tested = self.batch.moduli.iter().enumerate().filter(|(_, n)| !plan.trial.finds_factor(n));
        let modulus = |(index, n): (usize, &Vec<u64>)| Some((index, Modulus::new(plan.parameters.engine, n).ok()?));
        self.batch.tested = tested.filter_map(modulus).collect();
        Ok(())
    }

    /// This trustee's summand of the exponent `(N + 1 - p - q) / 2^shift`, and its number of bits.
    /// The summand is `(N + 1 - p_1 - q_1) / 2^shift` for the first trustee and
    /// `(p_i + q_i) / 2^shift` for the others.
    fn exponent(&self, contribution: &Contribution, n: &[u64], shift: u32) -> (Secret, u32) {
        let sum = contribution.sum();
        if self.me > 1 {
            return (shifted_down(&sum, shift), self.plan.prime_bits);
        }
        let mut whole = resized(n, n.len());
        // N is 1 modulo 4, so there is no carry. The sum has at most as many bits as a prime, and N
        // twice as many.
        whole[0] += 1;
        let sum = resized(&sum, whole.len().min(sum.len()));
        sub_assign(&mut whole, &sum);
        (shifted_down(&whole, shift), self.plan.parameters.bits)
    }

    /// This trustee's factor of `4^((N + 1 - p - q) / 4)`, for each candidate without small
    /// factors.
    fn answers(&self) -> Vec<u8> {
        let limbs = limbs_of(self.plan.parameters.bits);
        let tested = &self.batch.tested;
        let mut exponents = Batch::zeros(tested.len(), limbs);
        let mut bits = 1;
        for (row, (index, n)) in exponents.rows_mut().zip(tested) {
            let (exponent, length) = self.exponent(&self.batch.contributions[*index], n.as_limbs(), 1);
            row.copy_from_slice(&resized(&exponent, limbs));
            bits = length;
        }
        let moduli: Vec<&Modulus> = tested.iter().map(|(_, n)| n).collect();
        powers_of_two(&moduli, Exponents::Each(&exponents, bits)).public().to_be_bytes(self.plan.modulus_bytes())
    }

    /// Selects the candidates that pass: the first trustee's answer is the product of the others'
    /// answers.
    fn judge(&mut self, answers: &[&[u8]]) -> Result<(), Suspicion> {
        let (width, limbs) = (self.plan.modulus_bytes(), limbs_of(self.plan.parameters.bits));
        let mut passed = Vec::new();
        for (row, (index, n)) in self.batch.tested.iter().enumerate() {
            let answer = |all: &&[u8]| unit(n, &all[row * width..][..width], limbs);
            let answers = answers.iter().map(answer).collect::<Result<Vec<_>, _>>()?;
            let product = answers[2..].iter().fold(answers[1].clone(), |product, one| n.mul(&product, one));
            if product == answers[0] {
                passed.push(*index);
            }
        }
        self.batch.passed = passed;
        Ok(())
    }

    /// All candidates except the survivor.
    fn rejected(&self) -> impl Iterator<Item = usize> + '_ {
        let survivor = self.batch.passed.first().copied();
        (0..self.plan.candidates()).filter(move |&index| Some(index) != survivor)
    }

    fn rejected_seeds(&self) -> Vec<u8> {
        self.rejected().flat_map(|index| *self.batch.seeds[index]).collect()
    }

    /// Checks that every rejected candidate follows from its seeds and is not a product of two
    /// primes.
    fn check_rejected(&self, opened: &[Vec<u8>]) -> Result<(), Suspicion> {
        let (plan, batch) = (&self.plan, &self.batch);
        let width = message_bytes(plan);
        let mut halves: [Vec<Secret>; 2] = Default::default();
        for (at, index) in self.rejected().enumerate() {
            let mut sums = [0, 1].map(|_| Zeroizing::new(vec![0; plan.prime_limbs()]));
            for trustee in self.everybody() {
                let number = trustee as usize - 1;
                let seed = seed_from(&opened[number][at * HASH_BYTES..][..HASH_BYTES]);
                if derive("seed hash", &[&seed[..]]) != batch.seed_hashes[number][index * HASH_BYTES..][..HASH_BYTES] {
                    return Err(Suspicion("a seed does not match its commitment"));
                }
                let contribution = Contribution::new(plan, trustee, &seed, &batch.coin);
                let message = contribution.message(plan, &mask(&seed, &batch.coin, trustee, self.me), self.me);
                if message[..] != batch.received[number][index * width..][..width] {
                    return Err(Suspicion("a share does not follow from its seed"));
                }
                for (sum, part) in sums.iter_mut().zip(&contribution.numbers) {
                    add_assign(sum, part);
                }
            }
            if product(&sums[0], &sums[1])[..batch.moduli[index].len()] != batch.moduli[index] {
                return Err(Suspicion("a product does not match its candidates"));
            }
            if batch.tested.iter().any(|(tested, _)| *tested == index) && !batch.passed.contains(&index) {
                for (half, sum) in halves.iter_mut().zip(sums) {
                    half.push(sum);
                }
            }
        }
        // Uses Fermat's test to base 2. If p and q both pass it, their product passes the test to
        // base 4.
        let [p, q] = halves;
        let of_p = self.may_be_prime(&p)?;
        let both: Vec<Secret> = q.into_iter().zip(of_p).filter_map(|(q, may_be)| may_be.then_some(q)).collect();
        match self.may_be_prime(&both)?.contains(&true) {
            true => Err(Suspicion("a product of two primes was rejected")),
            false => Ok(()),
        }
    }

    /// Fermat's test to base 2.
    fn may_be_prime(&self, numbers: &[Secret]) -> Result<Vec<bool>, Suspicion> {
        let engine = self.plan.parameters.engine;
        let moduli = numbers.iter().map(|number| Modulus::new(engine, number)).collect::<Result<Vec<_>, _>>();
        let moduli = moduli.map_err(|_| Suspicion("a candidate is even"))?;
        let less_one: Vec<Secret> = numbers.iter().map(|number| difference(number, &[1])).collect();
        let exponents = Batch::from_rows(self.plan.prime_limbs(), less_one.iter().map(|one| &one[..]));
        let moduli: Vec<&Modulus> = moduli.iter().collect();
        let powers = powers_of_two(&moduli, Exponents::Each(&exponents, self.plan.prime_bits));
        Ok(powers.rows().take(numbers.len()).map(|power| is_one(power) == 1).collect())
    }

    // The survivor.

    fn survivor(&mut self) -> Result<&mut Survivor, Suspicion> {
        self.survivor.as_mut().ok_or(Suspicion("there is no survivor"))
    }

    /// Moves the survivor out of the batch and discards the rest.
    fn survive(&mut self, index: usize) -> Result<(), Suspicion> {
        let plan = &self.plan;
        let mut batch = std::mem::take(&mut self.batch);
        let Some([p, q]) = &batch.sums else { return Err(Suspicion("there are no shares")) };
        let mut sum = resized(p.row(index), limbs_of(plan.sum_bits(plan.share_bits) + 1));
        add_assign(&mut sum, q.row(index));
        let n = to_be(&batch.moduli[index], plan.modulus_bytes());
        let key = PublicKey::new(&n, None, plan.parameters.policy, plan.parameters.engine);
        let key = key.map_err(|_| Suspicion("the modulus is not a valid public key"))?;
        let bases = bases(&key);
        if bases.len() < TESTS {
            return Err(Suspicion("too few bases have the Jacobi symbol 1"));
        }
        self.survivor = Some(Survivor {
            bases,
            key,
            contribution: batch.contributions.swap_remove(index),
            sum,
            committed: Vec::new(),
            own_blind: Zeroizing::default(),
            blind: Zeroizing::default(),
            shared: None,
            theta: Vec::new(),
            inverse: Vec::new(),
            numbers: None,
        });
        Ok(())
    }

    /// For each base `g`, this trustee's factor of `g^((N + 1 - p - q) / 4)`, and `g` to the power
    /// of its share of `D (p + q)`.
    fn tests(&self) -> Result<Vec<u8>, Suspicion> {
        let survivor = self.survivor.as_ref().ok_or(Suspicion("there is no survivor"))?;
        let (n, bases) = (survivor.key.root(), &survivor.bases);
        let (exponent, bits) = self.exponent(&survivor.contribution, n.as_limbs(), 2);
        let answers = n.pow(bases, Exponents::Shared(&exponent, bits));
        let bits = self.plan.sum_bits(self.plan.share_bits) + 1;
        let shares = n.pow(bases, Exponents::Shared(&survivor.sum, bits));
        let width = self.plan.modulus_bytes();
        Ok([answers, shares].iter().flat_map(|batch| batch.to_be_bytes(width)).collect())
    }

    /// Checks all rounds of Boneh and Franklin's test. Also checks that the shares of `D (p + q)`
    /// lie on one polynomial whose value at 0 satisfies the test.
    fn check_tests(&self, answers: &[&[u8]]) -> Result<(), Suspicion> {
        let survivor = self.survivor.as_ref().ok_or(Suspicion("there is no survivor"))?;
        let (n, bases) = (survivor.key.root(), &survivor.bases);
        let (width, limbs) = (self.plan.modulus_bytes(), n.limbs());
        let read = |bytes: &[u8]| {
            let rows = bytes.chunks_exact(width).map(|row| unit(n, row, limbs)).collect::<Result<Vec<_>, _>>()?;
            Ok(Batch::concat(&rows.iter().collect::<Vec<_>>()).public())
        };
        let halves = |half: usize| {
            answers.iter().map(|all| read(&all[half * TESTS * width..][..TESTS * width])).collect::<Result<Vec<_>, _>>()
        };
        let (answers, shares) = (halves(0)?, halves(1)?);
        let others = answers[2..].iter().fold(answers[1].clone(), |product, one| n.mul(&product, one));
        let negative = n.neg(&others);
        if (0..TESTS).any(|row| answers[0].row(row) != others.row(row) && answers[0].row(row) != negative.row(row)) {
            return Err(Suspicion("the survivor is not a product of two primes"));
        }
        // prod y_i^(lambda_i) = g^(D^2 (N + 1)) for every window of neighbouring trustees.
        let mut whole = n.as_limbs().to_vec();
        whole[0] += 1;
        let whole = product(&whole, &[self.plan.factorial]);
        let whole = product(&whole, &[self.plan.factorial]);
        let expected = n.pow(bases, Exponents::Public(&whole));
        let (needed, trustees) = (self.plan.parameters.needed, self.plan.trustees());
        for first in 1..=trustees - needed + 1 {
            let window: Vec<u32> = (first..first + needed).collect();
            let (mut left, mut right) = (None, expected.clone());
            for (&trustee, &lambda) in window.iter().zip(&coefficients(trustees, &window)) {
                let exponent = [lambda.unsigned_abs() as u64, (lambda.unsigned_abs() >> 64) as u64];
                let power = n.pow(&shares[trustee as usize - 1], Exponents::Public(&exponent));
                match (lambda < 0, left.take()) {
                    (true, kept) => (left, right) = (kept, n.mul(&right, &power)),
                    (false, None) => left = Some(power),
                    (false, Some(product)) => left = Some(n.mul(&product, &power)),
                }
            }
            if left.as_ref() != Some(&right) {
                return Err(Suspicion("the shares of the survivor do not lie on one polynomial"));
            }
        }
        Ok(())
    }

    /// Shares of `beta_i` in the field and of `D rho_i` over the integers, and masks.
    fn blinding(&mut self) -> Result<Vec<Zeroizing<Vec<u8>>>, Suspicion> {
        let mut stream = Stream::new(self.seed_of("blinding", &[]));
        let (plan, me) = (&self.plan, self.me);
        let n = self.survivor.as_ref().ok_or(Suspicion("there is no survivor"))?.key.root();
        let field = &plan.wide;
        let bits = plan.parameters.bits + EXTRA_BITS;
        let beta = n.reduce(&Batch::from_rows(limbs_of(bits), [&stream.number(bits, limbs_of(bits))[..]]));
        let mut of_beta = vec![resized(beta.row(0), field.modulus.limbs())];
        of_beta.extend((0..plan.degree).map(|_| stream.number(field.bits, field.modulus.limbs())));
        let rho = stream.number(plan.rho_bits, limbs_of(plan.rho_bits));
        let mut of_rho = vec![product_in(&rho, &[plan.factorial], rho.len() + 1)];
        let (bits, limbs) = (plan.blind_coefficient_bits, limbs_of(plan.blind_coefficient_bits + 1));
        of_rho.extend((0..plan.degree).map(|_| stream.number(bits, limbs)));
        // Makes all shares of the key positive.
        of_rho[1][bits as usize / 64] |= 1 << (bits % 64);
        let message = |to: u32| {
            let at = |number: &Secret| Batch::from_rows(field.modulus.limbs(), [&number[..]]);
            let factor = field.modulus.factor(&[u64::from(to)]);
            let share = of_beta.iter().rev().fold(Batch::zeros(1, field.modulus.limbs()), |value, coefficient| {
                field.modulus.add(&field.modulus.mul_by(&value, &factor), &field.modulus.reduce(&at(coefficient)))
            });
            let mut blind = Zeroizing::new(vec![0; limbs_of(plan.blind_share_bits)]);
            evaluate(&mut blind, &of_rho, u64::from(to));
            let mut message = Zeroizing::new(Vec::with_capacity(field.bytes() + plan.blind_share_bytes() + HASH_BYTES));
            message.extend_from_slice(&to_be(share.row(0), field.bytes()));
            message.extend_from_slice(&to_be(&blind, plan.blind_share_bytes()));
            message.extend_from_slice(&self.blinding_mask(me, to)[..]);
            message
        };
        let messages = self.everybody().map(message).collect();
        let own_blind = of_rho.swap_remove(0);
        self.survivor()?.own_blind = own_blind;
        Ok(messages)
    }

    /// The seed of the mask of two trustees' results.
    fn blinding_mask(&self, from: u32, to: u32) -> Seed {
        self.seed_of("blinding mask", &[from as u8, to as u8])
    }

    /// This trustee's share of `Theta = D (phi beta + N rho)`: `lambda_i (F(i) B(i) + N R(i)) / D`,
    /// masked, where `F = D (N + 1) - S` shares `D phi`.
    fn result(&mut self, received: &[Zeroizing<Vec<u8>>]) -> Result<(), Suspicion> {
        let (plan, field) = (Arc::clone(&self.plan), &self.plan.wide);
        let (modulus, width) = (&field.modulus, field.bytes());
        let row = |number: &[u64]| modulus.reduce(&Batch::from_rows(number.len(), [number]));
        let mut beta = Batch::zeros(1, modulus.limbs());
        let mut blind = Zeroizing::new(vec![0; limbs_of(plan.sum_bits(plan.blind_share_bits))]);
        let mut masks = Batch::zeros(1, modulus.limbs());
        for (trustee, message) in self.everybody().zip(received) {
            beta = modulus.add(&beta, &element(field, &message[..width])?);
            let share = from_be(&message[width..][..plan.blind_share_bytes()], blind.len()).unwrap_or_default();
            if share.is_empty() || has_bits_from(&share, plan.blind_share_bits) {
                return Err(Suspicion("a share is too long"));
            }
            add_assign(&mut blind, &share);
            if trustee != self.me {
                let seed = seed_from(&message[width + plan.blind_share_bytes()..]);
                masks = modulus.add(&masks, &expand(field, [seed].into_iter()));
                let own = self.blinding_mask(self.me, trustee);
                masks = modulus.sub(&masks, &expand(field, [own].into_iter()));
            }
        }
        let lagrange = &field.lagrange[self.me as usize - 1];
        let survivor = self.survivor.as_mut().ok_or(Suspicion("there is no survivor"))?;
        let n = survivor.key.root().as_limbs();
        let mut whole = n.to_vec();
        whole[0] += 1;
        let phi = modulus.sub(&row(&product(&whole, &[plan.factorial])), &row(&survivor.sum));
        let value = modulus.add(&modulus.mul(&phi, &beta), &modulus.mul(&row(n), &row(&blind)));
        let part = modulus.add(&modulus.mul_by(&value, lagrange), &masks);
        survivor.committed = part.to_be_bytes(width);
        survivor.blind = blind;
        Ok(())
    }

    /// Computes `s_i = t (N R(i) - Theta)` with `t = -1 / Theta mod N`, and `v_i`.
    fn share(&mut self, parts: &[&[u8]]) -> Result<(), Suspicion> {
        let plan = Arc::clone(&self.plan);
        let theta = sum(&plan.wide, parts)?;
        let theta = theta.row(0);
        if !has_at_most(theta, plan.result_bits) || divide_word(theta, plan.factorial).1 != 0 {
            return Err(Suspicion("the masked product is out of range"));
        }
        let survivor = self.survivor()?;
        let n = survivor.key.root();
        let reduced = n.reduce(&Batch::from_rows(theta.len(), [theta]).public());
        let inverse = survivor.key.inverse_of_residue(n.neg(&reduced).row(0));
        let inverse = inverse.ok_or(Suspicion("the masked product has a factor in common with the modulus"))?;
        let limbs = limbs_of(super::key_share_bits(plan.parameters.bits, plan.parameters.needed, plan.trustees()));
        let mut multiple = product_in(&survivor.blind, n.as_limbs(), limbs.max(theta.len()));
        sub_assign(&mut multiple, theta);
        let share = product_in(&multiple, &inverse, limbs);

        let Plan { parameters, .. } = &*plan;
        let key = match parameters.variant {
            Variant::Djn => {
                let root = hashed("generator", &survivor.key, 1);
                let h = n.neg(&n.mul(&root, &root)).to_be_bytes(plan.modulus_bytes());
                PublicKey::new(&survivor.key.modulus_be(), Some(&h), parameters.policy, parameters.engine)
            }
            _ => Ok(survivor.key.clone()),
        };
        let key = key.map_err(|_| Suspicion("the modulus is not a valid public key"))?;
        let shared = Shared::new(key, parameters.needed, parameters.trustees, Origin::Distributed)
            .map_err(|_| Suspicion("the modulus has no base"))?;
        let exponent = product_in(&share, &[plan.factorial], share.len() + 1);
        let bits = shared.response_bits();
        let power = shared.key().square().pow(shared.generator(), Exponents::Shared(&exponent, bits));
        let verification = joined(shared.key(), &power).public();
        let mut shown = verification.to_be_bytes(2 * plan.modulus_bytes());
        let share = KeyShare::new(shared.clone(), self.me, verification.clone(), &share)
            .map_err(|_| Suspicion("the share is out of range"))?;
        if parameters.variant == Variant::Djn {
            let numbers = Numbers::of(shared.key()).ok_or(Suspicion("no small number has the Jacobi symbol -1"))?;
            let survivor = self.survivor.as_ref().ok_or(Suspicion("there is no survivor"))?;
            let bits = parameters.bits + plan.rho_bits + 64;
            let whole = product_in(&survivor.own_blind, &inverse, limbs_of(bits));
            let (half, half_bits) = self.exponent(&survivor.contribution, survivor.key.root().as_limbs(), 3);
            shown.extend_from_slice(&numbers.part(shared.key(), (&whole, bits), (&half, half_bits)));
            let (theta, survivor) = (theta.to_vec(), self.survivor()?);
            (survivor.theta, survivor.inverse, survivor.numbers) = (theta, inverse, Some(numbers));
        }
        let survivor = self.survivor()?;
        (survivor.committed, survivor.shared) = (shown, Some(shared.clone()));
        self.key = Some(Key { verification: VerificationKeys::new(shared, verification), share, proofs: None });
        Ok(())
    }

    fn verification(&mut self) -> Result<Vec<u8>, Suspicion> {
        Ok(std::mem::take(&mut self.survivor()?.committed))
    }

    /// Checks that all trustees' `v_i` belong to one sharing of the key.
    fn check_key(&mut self, broadcasts: &[Vec<u8>]) -> Result<(), Suspicion> {
        let width = self.plan.modulus_bytes();
        let survivor = self.survivor.take().ok_or(Suspicion("there is no survivor"))?;
        let shared = survivor.shared.ok_or(Suspicion("there is no key"))?;
        let units: Vec<u8> = broadcasts.iter().flat_map(|one| &one[..2 * width]).copied().collect();
        let units = checked_units(shared.key(), "v_i", &units);
        let units = units.map_err(|_| Suspicion("a number v_i is not a unit"))?;
        let key = shared.key().clone();
        let verification = VerificationKeys::checked(shared, units);
        let verification = verification.map_err(|_| Suspicion("the numbers v_i do not belong to one key"))?;
        let mut proofs = None;
        if let Some(numbers) = &survivor.numbers {
            let n = key.root();
            let rows = |bytes: &[u8]| {
                let rows =
                    bytes.chunks_exact(width).map(|row| unit(n, row, n.limbs())).collect::<Result<Vec<_>, _>>()?;
                Ok(Batch::concat(&rows.iter().collect::<Vec<_>>()).public())
            };
            let parts = broadcasts.iter().map(|one| {
                let (whole, half) = one[2 * width..].split_at(ROOTS * width);
                Ok(vec![rows(whole)?, rows(half)?])
            });
            let parts = parts.collect::<Result<Vec<_>, Suspicion>>()?;
            let found = numbers.combine(&key, &survivor.theta, &survivor.inverse, &parts);
            proofs = Some(found.ok_or(Suspicion("the roots do not match the numbers"))?);
        }
        let key = self.key.take().ok_or(Suspicion("there is no key"))?;
        self.key = Some(Key { verification, proofs, ..key });
        Ok(())
    }
}

fn commitment(trustee: u32, opened: &[u8]) -> Hash {
    derive("commitment", &[&[trustee as u8], opened])
}

fn seed_from(bytes: &[u8]) -> Seed {
    let mut seed = Seed::default();
    seed.copy_from_slice(bytes);
    seed
}

/// Reads a canonical element of a field, as one row.
fn element(field: &Field, bytes: &[u8]) -> Result<Batch, Suspicion> {
    let number = from_be(bytes, field.modulus.limbs()).filter(|number| less(number, field.modulus.as_limbs()) == 1);
    let number = number.ok_or(Suspicion("a number is not below its modulus"))?;
    Ok(Batch::from_rows(number.len(), [&number[..]]))
}

/// The sums of all trustees' rows of elements.
fn sum(field: &Field, parts: &[&[u8]]) -> Result<Batch, Suspicion> {
    let read = |part: &&[u8]| {
        let rows = Batch::from_be_bytes(part, field.bytes(), field.modulus.limbs());
        let is_below = rows.rows().all(|row| less(row, field.modulus.as_limbs()) == 1);
        is_below.then_some(rows).ok_or(Suspicion("a number is not below its modulus"))
    };
    let parts = parts.iter().map(read).collect::<Result<Vec<_>, _>>()?;
    let sum = parts[1..].iter().fold(parts[0].clone(), |sum, part| field.modulus.add(&sum, part));
    Ok(sum.public())
}

/// Reads a canonical nonzero number modulo `N`, as one row.
fn unit(n: &Modulus, bytes: &[u8], limbs: usize) -> Result<Batch, Suspicion> {
    let number = from_be(bytes, limbs).filter(|number| less(number, n.as_limbs()) == 1 && is_zero(number) == 0);
    let number = number.ok_or(Suspicion("an answer is not below the modulus"))?;
    Ok(Batch::from_rows(limbs, [&number[..]]).public())
}

/// The bases of the survivor's tests: the first numbers with Jacobi symbol 1 in the hash sequence
/// of `N`.
fn bases(key: &PublicKey) -> Batch {
    let n = key.root();
    // Half of all numbers have it. The chance that fewer than 128 of 512 have it is below 2^-100.
    let numbers = hashed("biprimality", key, 4 * TESTS);
    let chosen: Vec<usize> = (0..numbers.len()).filter(|&row| jacobi(numbers.row(row), n.as_limbs()) == 1).collect();
    numbers.select(&chosen[..TESTS.min(chosen.len())])
}
