//! Making ballots: encrypts choices, proves them, and keeps their openings for a challenge.

use crate::body::{Ballot, Challenge, Mark, RevealedMark, Selection};
use crate::canonical::{Bytes, to_text};
use crate::contest::{Contest, Limit, Sums};
use crate::election::Election;
use crate::error::ErrorKind;
use hearith_paillier::encoding::encode_signed;
use hearith_paillier::{Ciphertexts, ShortOpenings};
use hearith_proofs::{Contexts, membership, totals};
use std::fmt;
use zeroize::Zeroizing;

/// A ballot that is not cast yet, with its openings. To cast it, drop the openings. To challenge
/// it, publish the openings and make another ballot.
pub struct Prepared {
    ballot: Ballot,
    secret: Vec<OpenedContest>,
}

/// The values and openings of a contest's marks.
struct OpenedContest {
    values: Zeroizing<Vec<usize>>,
    openings: ShortOpenings,
}

impl Prepared {
    /// The ballot.
    pub fn ballot(&self) -> &Ballot {
        &self.ballot
    }

    /// The ballot, to be cast. Its openings are wiped.
    pub fn into_ballot(self) -> Ballot {
        self.ballot
    }

    /// The ballot with its openings, which must not be cast.
    pub fn into_challenge(self) -> Challenge {
        let openings = self.secret.iter().map(OpenedContest::shown).collect();
        Challenge { election: self.ballot.election, ballot: self.ballot, openings }
    }
}

impl OpenedContest {
    fn shown(&self) -> Vec<RevealedMark> {
        let (bytes, width) = (self.openings.to_be_bytes(), self.openings.row_bytes());
        let exponents = bytes.chunks_exact(width).map(|exponent| Bytes(exponent.to_vec()));
        exponents.zip(self.values.iter()).map(|(exponent, &value)| RevealedMark { exponent, value }).collect()
    }
}

impl fmt::Debug for Prepared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Prepared({})", self.ballot.hash())
    }
}

/// A voter's id and, for each contest, the values of the marks ([`Contest::choose`]).
pub type Vote = (String, Vec<Zeroizing<Vec<usize>>>);

impl Election {
    /// Encrypts and proves one voter's choices: the chosen candidates of each contest, from 0.
    ///
    /// # Errors
    /// [`Choice`](ErrorKind::Choice), or if the random generator fails.
    pub fn prepare(&self, voter: &str, chosen: &[Vec<usize>]) -> Result<Prepared, ErrorKind> {
        let count = self.contests().len();
        if chosen.len() != count {
            return Err(ErrorKind::Choice {
                contest: count.min(chosen.len()),
                problem: "the number of contests differs from that of the election",
            });
        }
        let values = |(contest, (one, chosen)): (usize, (&Contest, &Vec<usize>))| {
            one.choose(chosen).map(Zeroizing::new).map_err(|problem| ErrorKind::Choice { contest, problem })
        };
        let values = self.contests().iter().zip(chosen).enumerate().map(values).collect::<Result<_, _>>()?;
        let mut prepared = self.prepare_all(&[(voter.to_owned(), values)])?;
        prepared.pop().ok_or(ErrorKind::Shape { problem: "no ballot" })
    }

    /// Encrypts and proves the votes of many voters in one batch, from the values of their marks.
    /// Does not check the values: those that a contest does not permit cause an error, or ballots
    /// whose proofs do not hold. Constant time in the values.
    ///
    /// # Errors
    /// [`Choice`](ErrorKind::Choice) for a wrong number of values, [`Proof`](ErrorKind::Proof) for
    /// a value or sum that no proof covers, or a failure of the random generator.
    pub fn prepare_all(&self, votes: &[Vote]) -> Result<Vec<Prepared>, ErrorKind> {
        let mut all: Vec<Prepared> = votes
            .iter()
            .map(|(voter, _)| Prepared {
                ballot: Ballot { contests: Vec::new(), election: self.id(), voter: voter.clone() },
                secret: Vec::new(),
            })
            .collect();
        for (number, contest) in self.contests().iter().enumerate() {
            let problem = "there must be one value per mark";
            if votes.iter().any(|(_, values)| values.get(number).is_none_or(|values| values.len() != contest.marks())) {
                return Err(ErrorKind::Choice { contest: number, problem });
            }
            for (prepared, (selection, opened)) in all.iter_mut().zip(self.prepare_contest(number, contest, votes)?) {
                prepared.ballot.contests.push(selection);
                prepared.secret.push(opened);
            }
        }
        Ok(all)
    }

    fn prepare_contest(
        &self,
        number: usize,
        contest: &Contest,
        votes: &[Vote],
    ) -> Result<Vec<(Selection, OpenedContest)>, ErrorKind> {
        let (key, marks) = (self.key(), contest.marks());
        let values =
            Zeroizing::new(votes.iter().flat_map(|(_, values)| values[number].iter().copied()).collect::<Vec<usize>>());
        let (ciphertexts, openings) = key.encrypt_opened_short(&contest.encode(key, &values)?)?;
        let names = votes.iter().flat_map(|(voter, _)| (0..marks).map(move |mark| to_text(&(voter, number, mark))));
        let contexts = Contexts::new(&self.ballot_context(), names);
        let proofs = membership::prove(key, &contexts, self.set(number), &ciphertexts, &openings, &values)?;
        let (numbers, width) = (ciphertexts.to_be_bytes(), key.ciphertext_bytes());
        let (proofs, proof_width) =
            (proofs.to_be_bytes(), membership::Proofs::row_bytes(key, self.mark_form(), contest.values()));
        let sums = self.prove_sums(number, votes, &ciphertexts, &openings)?;
        let mark = |row: usize| Mark {
            ciphertext: Bytes(numbers[row * width..][..width].to_vec()),
            proof: Bytes(proofs[row * proof_width..][..proof_width].to_vec()),
        };
        let one = |(row, sum): (usize, Option<Bytes>)| {
            let rows = row * marks..(row + 1) * marks;
            let opened =
                OpenedContest { values: votes[row].1[number].clone(), openings: openings.range(rows.clone())? };
            Ok((Selection { marks: rows.map(mark).collect(), sum }, opened))
        };
        sums.into_iter().enumerate().map(one).collect()
    }

    /// Each ballot's concatenated proofs of sums, if the contest requires any.
    fn prove_sums(
        &self,
        number: usize,
        votes: &[Vote],
        ciphertexts: &Ciphertexts,
        openings: &ShortOpenings,
    ) -> Result<Vec<Option<Bytes>>, ErrorKind> {
        let mut proofs: Vec<Option<Bytes>> = vec![None; votes.len()];
        let mut first = 0;
        for sums in self.sums(number) {
            let bytes = self.prove_alike(number, first, sums, votes, (ciphertexts, openings))?;
            let of_ballots = bytes.chunks_exact(bytes.len() / votes.len().max(1));
            for (proofs, more) in proofs.iter_mut().zip(of_ballots) {
                proofs.get_or_insert_with(|| Bytes(Vec::new())).0.extend(more);
            }
            first += sums.groups.len();
        }
        Ok(proofs)
    }

    /// The proofs of one kind of sum, ballot by ballot. `first` is the index of the first such sum
    /// in the contest.
    fn prove_alike(
        &self,
        number: usize,
        first: usize,
        sums: &Sums,
        votes: &[Vote],
        (ciphertexts, openings): (&Ciphertexts, &ShortOpenings),
    ) -> Result<Vec<u8>, ErrorKind> {
        let (key, contest, each) = (self.key(), &self.contests()[number], sums.groups.len());
        let groups = sums.groups_of(0..votes.len(), contest.marks());
        let context = |row: usize| contest.sum_context(&votes[row / each].0, number, first + row % each);
        let contexts = Contexts::new(&self.ballot_context(), (0..groups.len()).map(context));
        Ok(match sums.limit {
            Limit::Exactly(k) => {
                let totals = encode_signed(key, &vec![i128::from(k); groups.len()])?;
                totals::prove_exactly(key, &contexts, ciphertexts, openings, &groups, &totals)?.to_be_bytes()
            }
            Limit::AtMost(k) => {
                let mut selected = Zeroizing::new(Vec::with_capacity(groups.len()));
                votes.iter().for_each(|(_, values)| selected.extend_from_slice(&sums.of(&values[number])));
                totals::prove_at_most(key, &contexts, ciphertexts, openings, &groups, k, &selected)?.to_be_bytes()
            }
        })
    }
}
