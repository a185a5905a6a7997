//! Verification of many ballots' proofs in one batch, which names the invalid ballots.

use crate::body::{Ballot, Challenge, Mark};
use crate::canonical::to_text;
use crate::contest::{Contest, Limit, Sums};
use crate::election::Election;
use crate::error::{ErrorKind, Place};
use hearith_paillier::encoding::encode_signed;
use hearith_paillier::{Ciphertexts, PublicKey};
use hearith_proofs::{Contexts, membership, residue, totals};
use rayon::prelude::*;
use std::ops::Range;

/// Verifies the proofs of ballots and returns a verdict for each, which does not depend on the
/// other ballots. The cost per ballot is lowest in batches of a thousand or more. Only if a ballot
/// is invalid does it check ballots individually and find the invalid proofs by halving.
pub fn verify_ballots(election: &Election, ballots: &[&Ballot]) -> Vec<Result<(), ErrorKind>> {
    let mut verdicts: Vec<Result<(), ErrorKind>> =
        ballots.par_iter().map(|ballot| election.check_shape(ballot)).collect();
    let contests = 0..election.contests().len();
    let of_shape = verdicts.iter().filter(|verdict| verdict.is_ok()).count();
    let found: Vec<ProofResults> =
        contests.clone().map(|contest| Part::new(election, contest, ballots, &verdicts).1.verify()).collect();
    if found.iter().flatten().all(Result::is_ok) {
        return verdicts;
    }
    verdicts.par_iter_mut().zip(ballots).filter(|(verdict, _)| verdict.is_ok()).for_each(|(verdict, ballot)| {
        *verdict = check_ranges(election, ballot);
    });
    for (contest, found) in contests.zip(found) {
        let (sound, part) = Part::new(election, contest, ballots, &verdicts);
        // The results apply to all ballots, unless some were excluded since.
        for (ballot, error) in part.at_fault(Some(found).filter(|_| sound.len() == of_shape)) {
            // A ballot can fail at several marks. The first one is reported.
            let verdict = &mut verdicts[sound[ballot]];
            if verdict.is_ok() {
                *verdict = Err(error);
            }
        }
    }
    verdicts
}

/// Verifies challenged ballots: their proofs, and that each mark is the encryption of its opening.
pub fn verify_challenges(election: &Election, challenges: &[&Challenge]) -> Vec<Result<(), ErrorKind>> {
    let ballots: Vec<&Ballot> = challenges.iter().map(|challenge| &challenge.ballot).collect();
    let verdicts = verify_ballots(election, &ballots);
    verdicts
        .into_iter()
        .zip(challenges)
        .map(|(verdict, challenge)| verdict.and_then(|()| check_openings(election, challenge)))
        .collect()
}

/// Re-encrypts the openings of a challenge.
fn check_openings(election: &Election, challenge: &Challenge) -> Result<(), ErrorKind> {
    let key = election.key();
    for (contest, (one, openings)) in election.contests().iter().zip(&challenge.openings).enumerate() {
        let place = |mark| Place { contest, mark: Some(mark) };
        let outside = |mark| ErrorKind::WrongOpening { place: place(mark) };
        if let Some(mark) = openings.iter().position(|opened| opened.value >= one.values()) {
            return Err(outside(mark));
        }
        let values: Vec<usize> = openings.iter().map(|opened| opened.value).collect();
        let exponents: Vec<u8> = openings.iter().flat_map(|opened| opened.exponent.0.clone()).collect();
        let short = key
            .short_openings_from_be(&exponents, key.short_bits())
            .map_err(|error| outside(error.row().unwrap_or(0)))?;
        let made = key.encrypt_with_short_openings(&one.encode(key, &values)?, &short)?.to_be_bytes();
        let marks = &challenge.ballot.contests[contest].marks;
        let shown = made.chunks_exact(key.ciphertext_bytes()).zip(marks);
        if let Some(mark) = shown.into_iter().position(|(made, mark)| made != mark.ciphertext.0) {
            return Err(outside(mark));
        }
    }
    Ok(())
}

/// Fails at the first number of a ballot that is out of range for a proof or ciphertext. It is
/// cheap and checks a ballot on its own.
fn check_ranges(election: &Election, ballot: &Ballot) -> Result<(), ErrorKind> {
    let key = election.key();
    for (contest, (one, selection)) in election.contests().iter().zip(&ballot.contests).enumerate() {
        for (mark, it) in selection.marks.iter().enumerate() {
            let good = key.ciphertexts_from_be(&it.ciphertext.0).is_ok()
                && membership::Proofs::from_be_bytes(key, election.mark_form(), one.values(), &it.proof.0).is_ok();
            if !good {
                return Err(ErrorKind::OutOfRange { place: Place { contest, mark: Some(mark) } });
            }
        }
        let mut rest = selection.sum.as_ref().map_or(&[][..], |sum| &sum.0);
        for sums in election.sums(contest) {
            let form = election.sum_form(sums);
            let (proofs, others) = rest.split_at(sums.groups.len() * election.sum_width(sums));
            let good = match sums.limit {
                Limit::Exactly(_) => residue::Proofs::from_be_bytes(key, form, proofs).is_ok(),
                Limit::AtMost(k) => membership::Proofs::from_be_bytes(key, form, k as usize + 1, proofs).is_ok(),
            };
            if !good {
                return Err(ErrorKind::OutOfRange { place: Place { contest, mark: None } });
            }
            rest = others;
        }
    }
    Ok(())
}

/// The results for all marks, and then for all sums of each kind, of a contest.
type ProofResults = Vec<Result<(), hearith_proofs::Error>>;

/// One contest of ballots that have the right shape.
struct Part<'a> {
    election: &'a Election,
    number: usize,
    contest: &'a Contest,
    /// The kinds of sums, each with the index of its first sum in the contest and the offset of its
    /// first byte.
    sums: Vec<(&'a Sums, usize, usize)>,
    ballots: Vec<&'a Ballot>,
}

impl<'a> Part<'a> {
    /// A contest of the ballots that are valid so far, and their indices among all ballots.
    fn new(
        election: &'a Election,
        number: usize,
        ballots: &[&'a Ballot],
        verdicts: &[Result<(), ErrorKind>],
    ) -> (Vec<usize>, Self) {
        let sound: Vec<usize> = (0..ballots.len()).filter(|&ballot| verdicts[ballot].is_ok()).collect();
        let those = sound.iter().map(|&ballot| ballots[ballot]).collect();
        let (mut first, mut byte) = (0, 0);
        let placed = |sums: &'a Sums| {
            let placed = (sums, first, byte);
            first += sums.groups.len();
            byte += sums.groups.len() * election.sum_width(sums);
            placed
        };
        let sums = election.sums(number).iter().map(placed).collect();
        (sound, Part { election, number, contest: &election.contests()[number], sums, ballots: those })
    }

    /// Verifies every proof.
    fn verify(&self) -> ProofResults {
        let (ballots, marks) = (self.ballots.len(), self.contest.marks());
        if ballots == 0 {
            return vec![Ok(()); 1 + self.sums.len()];
        }
        let of_sums = (0..self.sums.len()).map(|kind| self.verify_sums(kind, self.sum_rows(kind)));
        [self.verify_marks(0..ballots * marks)].into_iter().chain(of_sums).collect()
    }

    /// The rows of all ballots' proofs of one kind of sum.
    fn sum_rows(&self, kind: usize) -> Range<usize> {
        0..self.ballots.len() * self.sums[kind].0.groups.len()
    }

    /// The invalid ballots with their errors. `found` is the result of [`Part::verify`], if
    /// available.
    fn at_fault(&self, found: Option<ProofResults>) -> Vec<(usize, ErrorKind)> {
        let mut found = found.into_iter().flatten();
        let marks = self.contest.marks();
        let mut faults: Vec<(usize, ErrorKind)> =
            failing(0..self.ballots.len() * marks, found.next(), &|rows| self.verify_marks(rows))
                .into_iter()
                .map(|(row, error)| (row / marks, self.fault(Some(row % marks), error)))
                .collect();
        for (kind, (sums, ..)) in self.sums.iter().enumerate() {
            let failed = failing(self.sum_rows(kind), found.next(), &|rows| self.verify_sums(kind, rows));
            faults.extend(failed.into_iter().map(|(row, error)| (row / sums.groups.len(), self.fault(None, error))));
        }
        faults
    }

    /// The error at a mark, or of the contest's sums.
    fn fault(&self, mark: Option<usize>, error: hearith_proofs::Error) -> ErrorKind {
        let place = Place { contest: self.number, mark };
        match error.kind() {
            hearith_proofs::ErrorKind::DoesNotHold => ErrorKind::DoesNotHold { place },
            hearith_proofs::ErrorKind::OutOfRange => ErrorKind::OutOfRange { place },
            hearith_proofs::ErrorKind::Scheme(kind) if kind.is_bad_ciphertext() => ErrorKind::OutOfRange { place },
            _ => ErrorKind::Proof(error),
        }
    }

    fn key(&self) -> &PublicKey {
        self.election.key()
    }

    /// The ballot and mark of a row.
    fn mark(&self, row: usize) -> (&Ballot, usize) {
        (self.ballots[row / self.contest.marks()], row % self.contest.marks())
    }

    fn verify_marks(&self, rows: Range<usize>) -> Result<(), hearith_proofs::Error> {
        let all: Vec<_> = rows.map(|row| self.mark(row)).collect();
        let marks: Vec<&Mark> = all.iter().map(|&(ballot, mark)| &ballot.contests[self.number].marks[mark]).collect();
        let names = all.iter().map(|&(ballot, mark)| to_text(&(&ballot.voter, self.number, mark)));
        let contexts = Contexts::new(&self.election.ballot_context(), names);
        let ciphertexts = self.ciphertexts(&marks)?;
        let proofs: Vec<&[u8]> = marks.iter().map(|mark| &mark.proof.0[..]).collect();
        let set = self.election.set(self.number);
        let proofs =
            membership::Proofs::from_be_bytes(self.key(), self.election.mark_form(), set.len(), &proofs.concat())?;
        membership::verify(self.key(), &contexts, set, &ciphertexts, &proofs)
    }

    /// Verifies some of the sums of one kind. Each row is a sum of a ballot, ballot by ballot.
    fn verify_sums(&self, kind: usize, rows: Range<usize>) -> Result<(), hearith_proofs::Error> {
        let (sums, first, byte) = self.sums[kind];
        let (key, form, each) = (self.key(), self.election.sum_form(sums), sums.groups.len());
        let (ballots, width) = (rows.start / each..rows.end.div_ceil(each), self.election.sum_width(sums));
        let selection = |ballot: usize| &self.ballots[ballot].contests[self.number];
        let marks: Vec<&Mark> = ballots.clone().flat_map(|ballot| &selection(ballot).marks).collect();
        let ciphertexts = self.ciphertexts(&marks)?;
        let all = sums.groups_of(0..ballots.len(), self.contest.marks());
        let groups = &all[rows.start - ballots.start * each..][..rows.len()];
        let names = rows
            .clone()
            .map(|row| self.contest.sum_context(&self.ballots[row / each].voter, self.number, first + row % each));
        let contexts = Contexts::new(&self.election.ballot_context(), names);
        let proof = |row: usize| {
            let proofs = selection(row / each).sum.as_ref().map_or(&[][..], |sum| &sum.0);
            &proofs[byte + row % each * width..][..width]
        };
        let proofs = rows.map(proof).collect::<Vec<_>>().concat();
        match sums.limit {
            Limit::Exactly(k) => {
                let proofs = residue::Proofs::from_be_bytes(key, form, &proofs)?;
                let totals = encode_signed(key, &vec![i128::from(k); groups.len()])?;
                totals::verify_exactly(key, &contexts, &ciphertexts, groups, &totals, &proofs)
            }
            Limit::AtMost(k) => {
                let proofs = membership::Proofs::from_be_bytes(key, form, k as usize + 1, &proofs)?;
                totals::verify_at_most(key, &contexts, &ciphertexts, groups, k, &proofs)
            }
        }
    }

    fn ciphertexts(&self, marks: &[&Mark]) -> Result<Ciphertexts, hearith_proofs::Error> {
        let rows: Vec<&[u8]> = marks.iter().map(|mark| &mark.ciphertext.0[..]).collect();
        Ok(self.key().ciphertexts_from_be_rows(&rows)?)
    }
}

/// Every row that fails, with its error. A proof that does not hold is the first invalid one in its
/// batch, so the rows before it are valid. Other errors say nothing about the rows before. `of_all`
/// is the result for all rows, if known.
fn failing(
    rows: Range<usize>,
    mut of_all: Option<Result<(), hearith_proofs::Error>>,
    verify: &dyn Fn(Range<usize>) -> Result<(), hearith_proofs::Error>,
) -> Vec<(usize, hearith_proofs::Error)> {
    let (mut found, mut pending) = (Vec::new(), vec![rows]);
    while let Some(rows) = pending.pop() {
        if rows.is_empty() {
            continue;
        }
        let Err(error) = of_all.take().unwrap_or_else(|| verify(rows.clone())) else { continue };
        match error.row() {
            Some(row) => {
                let row = rows.start + row;
                if *error.kind() != hearith_proofs::ErrorKind::DoesNotHold {
                    pending.push(rows.start..row);
                }
                pending.push(row + 1..rows.end);
                found.push((row, error));
            }
            // The error does not concern a row, such as a failure of the random generator. No row
            // was verified.
            None => found.extend(rows.map(|row| (row, error.clone()))),
        }
    }
    found.sort_by_key(|(row, _)| *row);
    found
}
