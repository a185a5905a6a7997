//! The encrypted sums of the ballots: products of ciphertexts.

use crate::body::{Ballot, Body, Tally};
use crate::canonical::Bytes;
use crate::election::Election;
use crate::entry::Entry;
use crate::error::{Error, ErrorKind, Place};
use crate::record::{Lines, Source};
use crate::state::{MAX_WEIGHT, State};
use hearith_paillier::Ciphertexts;
use std::collections::{BTreeMap, HashMap};

/// Maximum number of bits of a weight.
const WEIGHT_BITS: u32 = 64 - MAX_WEIGHT.leading_zeros();

/// Ballots that are multiplied in one batch.
const BATCH: usize = 1000;

/// The tally of a record: the products of the ballots that `state` counts. Does not verify their
/// proofs again.
///
/// # Errors
/// If the record cannot be read.
pub fn tally(state: &State, source: &dyn Source) -> Result<Tally, Error> {
    let mut products = Products::new(state.election());
    let mut batch = Vec::with_capacity(BATCH);
    for_each_counted(state, source, |ballot, weight| {
        batch.push((ballot, weight));
        if batch.len() == BATCH {
            products.add(&borrowed(&batch))?;
            batch.clear();
        }
        Ok(())
    })?;
    products.add(&borrowed(&batch))?;
    Ok(products.to_tally(state.counted()))
}

/// Calls `each` with every counted ballot of a record and its weight, in the order of the record.
/// Does not verify their proofs again.
///
/// # Errors
/// If the record cannot be read, or `each` fails.
pub fn for_each_counted(
    state: &State,
    source: &dyn Source,
    mut each: impl FnMut(Ballot, u64) -> Result<(), Error>,
) -> Result<(), Error> {
    let counted: HashMap<u64, u64> =
        state.voters().filter_map(|(_, voter)| Some((voter.counted_entry()?, voter.weight()))).collect();
    let (mut lines, mut index) = (Lines::new(source), 0);
    while let Some(line) = lines.next_line()? {
        if let Some(&weight) = counted.get(&index)
            && let Body::Ballot(ballot) =
                Entry::from_line(&line).map_err(|error| error.at_entry(index))?.notice.into_body()
        {
            each(ballot, weight)?;
        }
        index += 1;
    }
    Ok(())
}

fn borrowed(batch: &[(Ballot, u64)]) -> Vec<(&Ballot, u64)> {
    batch.iter().map(|(ballot, weight)| (ballot, *weight)).collect()
}

/// The products of ballots so far, one row per mark. They grow in batches, so only one batch is in
/// memory.
#[derive(Clone, Debug)]
pub struct Products {
    election: Election,
    numbers: Ciphertexts,
}

impl Products {
    /// The products of no ballots: ones, which encrypt 0.
    pub fn new(election: &Election) -> Self {
        Products { election: election.clone(), numbers: election.key().zeros(election.marks()) }
    }

    /// Multiplies by ballots, each with its weight. The ballots must have the right shape.
    ///
    /// # Errors
    /// A ciphertext out of range.
    pub fn add(&mut self, ballots: &[(&Ballot, u64)]) -> Result<(), ErrorKind> {
        let product = self.product(ballots)?;
        self.numbers = self.election.key().add(&self.numbers, &product)?;
        Ok(())
    }

    /// Multiplies by the products of other ballots.
    ///
    /// # Errors
    /// Products of another election.
    pub fn multiply(&mut self, other: &Products) -> Result<(), ErrorKind> {
        self.numbers = self.election.key().add(&self.numbers, &other.numbers)?;
        Ok(())
    }

    /// Divides by ballots that were replaced by others.
    ///
    /// # Errors
    /// The errors of [`Products::add`].
    pub fn remove(&mut self, ballots: &[(&Ballot, u64)]) -> Result<(), ErrorKind> {
        let product = self.product(ballots)?;
        self.numbers = self.election.key().subtract(&self.numbers, &product)?;
        Ok(())
    }

    /// The products, one number per mark.
    pub(crate) fn to_bytes(&self) -> Vec<Bytes> {
        self.numbers.to_be_bytes().chunks_exact(self.numbers.row_bytes()).map(|one| Bytes(one.to_vec())).collect()
    }

    /// Reads the products of another machine.
    ///
    /// # Errors
    /// A number out of range, or a wrong number of products.
    pub(crate) fn from_bytes(election: &Election, products: &[Bytes]) -> Result<Self, ErrorKind> {
        if products.len() != election.marks() {
            return Err(ErrorKind::Shape { problem: "there must be one product per mark" });
        }
        let rows: Vec<&[u8]> = products.iter().map(|one| &one.0[..]).collect();
        Ok(Products { numbers: election.key().ciphertexts_from_be_rows(&rows)?, election: election.clone() })
    }

    /// The body of a tally entry with these products, from the number of counted ballots and their
    /// weight.
    pub fn to_tally(&self, (counted, weight): (u64, u64)) -> Tally {
        let mut numbers = self.to_bytes().into_iter();
        let contests = self.election.contests().iter().map(|contest| numbers.by_ref().take(contest.marks()).collect());
        Tally { contests: contests.collect(), counted, election: self.election.id(), weight }
    }

    /// Compares a tally entry with these products.
    ///
    /// # Errors
    /// [`WrongTally`](ErrorKind::WrongTally) for the first mark that differs.
    pub fn check(&self, tally: &Tally) -> Result<(), ErrorKind> {
        let own = self.to_tally((tally.counted, tally.weight));
        let numbers = |tally: &Tally| tally.contests.iter().flatten().cloned().collect::<Vec<_>>();
        let places = self.election.places();
        let differs = numbers(&own).iter().zip(&numbers(tally)).position(|(own, other)| own != other);
        match differs {
            Some(mark) => Err(ErrorKind::WrongTally { place: places[mark] }),
            None if own == *tally => Ok(()),
            None => Err(ErrorKind::WrongTally { place: Place { contest: 0, mark: None } }),
        }
    }

    /// The product of the given ballots alone: a plain product for each distinct weight, combined
    /// by a product of powers.
    fn product(&self, ballots: &[(&Ballot, u64)]) -> Result<Ciphertexts, ErrorKind> {
        let (key, marks) = (self.election.key(), self.election.marks());
        let mut by_weight: BTreeMap<u64, Vec<usize>> = BTreeMap::new();
        ballots.iter().enumerate().for_each(|(row, (_, weight))| by_weight.entry(*weight).or_default().push(row));
        let contests = ballots.iter().flat_map(|(ballot, _)| &ballot.contests);
        let rows: Vec<&[u8]> = contests.flat_map(|one| &one.marks).map(|mark| &mark.ciphertext.0[..]).collect();
        let numbers = key.ciphertexts_from_be_rows(&rows)?;
        let of = |mark: usize, rows: &[usize]| rows.iter().map(|row| (row * marks + mark) as u32).collect::<Vec<_>>();
        let groups: Vec<Vec<u32>> =
            (0..marks).flat_map(|mark| by_weight.values().map(move |rows| of(mark, rows))).collect();
        let sums = key.sum_groups(&numbers, &groups)?;
        if by_weight.keys().all(|&weight| weight == 1) {
            return if by_weight.is_empty() { Ok(key.zeros(marks)) } else { Ok(sums) };
        }
        let weights: Vec<i128> = by_weight.keys().map(|&weight| i128::from(weight)).collect();
        Ok(key.dot_deterministic(&sums, &weights, weights.len(), WEIGHT_BITS)?)
    }
}
