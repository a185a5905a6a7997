//! `hearith election vote --machine`: enters a ballot that a machine encrypts and proves, like any
//! other ballot. The record decides what counts, and the machine's log follows it.

use hearith_device::ballot::{self, Machine, Rules, Sealed, Setup};
use hearith_device::{DeviceProvider, Error};
use hearith_election::{
    Ballot, Body, Bytes, Challenge, Contest, Election, ErrorKind, Kind as Entry, Limit, Mark, Method, Notice,
    RevealedMark, Selection, Signer, shown_tracker, verify_ballots, verify_challenges,
};
use zeroize::Zeroizing;

use super::organiser_dir::ElectionHandle;
use super::vote::{chosen, credential, keep, publish_challenge};
use crate::args::ElectionVote;
use crate::device::failed;
use crate::engines::{print, print_json};
use crate::failure::{CliError, eprint_line};
use crate::session::Session;

/// A voter at a machine that is set up for the election.
struct Station<'a> {
    provider: &'static dyn DeviceProvider,
    machine: Machine,
    election: Election,
    /// The voter's number.
    number: u32,
    /// The chosen marks of each contest.
    choices: &'a [Zeroizing<Vec<u32>>],
}

/// Lets the machine create a ballot, then casts or challenges it.
pub(super) fn vote(session: &Session, command: &ElectionVote, settings: &str) -> Result<(), CliError> {
    let (provider, machines) = session.devices.ballot_machine()?;
    let mut handle = ElectionHandle::visit(session, &command.location, command.ca.as_deref())?;
    let election = handle.state().election().clone();
    let (voter, signer) = credential(&command.credential, command.voter.as_deref(), &election)?;
    let choices = choices(election.contests(), &chosen(election.contests(), &command.choose)?)?;
    let contests: Vec<Rules> = election.contests().iter().enumerate().map(rules).collect::<Result<_, _>>()?;
    let setup = Setup { key: election.key(), election: election.id().0, contests: &contests };
    handle.awaits(if command.challenge { Entry::Challenge } else { Entry::Ballot }, &voter)?;
    let machine = machines.set_up(&setup, settings).map_err(|error| failed(provider, error))?;
    let number = machine.voter(&voter).map_err(|error| failed(provider, error))?;
    let mut station = Station { provider, machine, election, number, choices: &choices };
    match command.challenge {
        true => station.challenge(session, &mut handle, voter, &signer),
        false => station.cast(session, &mut handle, command, voter, &signer),
    }
}

impl Station<'_> {
    /// Enters the ballot, and lets the machine log it.
    fn cast(
        &mut self,
        session: &Session,
        handle: &mut ElectionHandle,
        command: &ElectionVote,
        voter: String,
        signer: &Signer,
    ) -> Result<(), CliError> {
        let (mut sealed, last) = (Vec::new(), self.choices.len() - 1);
        for contest in 0..=last {
            sealed.push(self.seal(contest)?);
            // The machine holds one ballot at a time.
            if contest < last {
                self.machine.cast().map_err(|error| self.failed(error))?;
            }
        }
        let receipts: Vec<String> = sealed.iter().map(|one| hexadecimal(&one.receipt)).collect();
        let ballot = self.ballot(voter, sealed);
        let shown = shown_tracker(&ballot.hash());
        let receipt = self.verified(verify_ballots(&self.election, &[&ballot])).and_then(|()| {
            let notice = Notice::signed(Body::Ballot(ballot), signer);
            handle.check(&notice)?;
            handle.enter(notice)
        });
        let receipt = receipt.inspect_err(|_| {
            // The machine returns to its state before the vote. An error of `discard` matters less
            // than the first error.
            let _ = self.machine.discard();
        })?;
        let signed = handle.sign_head();
        if let Err(error) = self.machine.cast() {
            let failure = self.failed(error);
            eprint_line(&format!("warning: the ballot is cast, but the machine's log does not record it: {failure}"));
        }
        signed?;
        keep(command, &receipt)?;
        if session.json {
            let json = serde_json::json!({ "cast": receipt.index, "machine": receipts, "tracker": shown });
            return print_json(&json);
        }
        let receipts: String = receipts.iter().map(|receipt| format!("machine's receipt {receipt}\n")).collect();
        print(&format!("cast: entry {} of the board\n{receipts}tracker {shown}\n", receipt.index))
    }

    /// Lets the machine open its ballot, and publishes it.
    fn challenge(
        &mut self,
        session: &Session,
        handle: &mut ElectionHandle,
        voter: String,
        signer: &Signer,
    ) -> Result<(), CliError> {
        let (mut sealed, mut openings) = (Vec::new(), Vec::new());
        for contest in 0..self.choices.len() {
            sealed.push(self.seal(contest)?);
            let opened = self.machine.open().map_err(|error| self.failed(error))?;
            openings.push(opened.iter().map(revealed_mark).collect::<Vec<_>>());
        }
        let as_chosen = is_chosen(&openings, self.choices);
        let ballot = self.ballot(voter, sealed);
        let challenge = Challenge { election: ballot.election, ballot, openings };
        self.verified(verify_challenges(&self.election, &[&challenge]))?;
        publish_challenge(session, handle, challenge, signer)?;
        match as_chosen {
            true => Ok(()),
            false => Err(CliError::refuted(
                &self.name(),
                "THE MACHINE ENCRYPTED A DIFFERENT CHOICE than the one made".to_owned(),
            )),
        }
    }

    fn seal(&mut self, contest: usize) -> Result<Sealed, CliError> {
        self.machine.seal(self.number, contest, &self.choices[contest]).map_err(|error| self.failed(error))
    }

    fn ballot(&self, voter: String, sealed: Vec<Sealed>) -> Ballot {
        Ballot { contests: sealed.into_iter().map(selection).collect(), election: self.election.id(), voter }
    }

    /// Returns the verdicts on the machine's output, which is not trusted.
    fn verified(&self, verdicts: Vec<Result<(), ErrorKind>>) -> Result<(), CliError> {
        let wrong = |error| CliError::at(self.name(), error).with_note("what the machine returned does not verify");
        verdicts.into_iter().collect::<Result<(), _>>().map_err(wrong)
    }

    fn failed(&self, error: Error) -> CliError {
        failed(self.provider, error)
    }

    fn name(&self) -> String {
        format!("engine {}", self.provider.system().name)
    }
}

/// The marks of each contest to send to a machine.
fn choices(contests: &[Contest], chosen: &[Vec<usize>]) -> Result<Vec<Zeroizing<Vec<u32>>>, CliError> {
    let one = |(contest, (one, chosen)): (usize, (&Contest, &Vec<usize>))| {
        let values = one.choose(chosen).map_err(|problem| ErrorKind::Choice { contest, problem })?;
        let values = Zeroizing::new(values);
        Ok(selected_marks(values.iter().map(|&value| value as u32)))
    };
    contests.iter().zip(chosen).enumerate().map(one).collect::<Result<_, ErrorKind>>().map_err(CliError::new)
}

/// The positions of the marks that are 1.
fn selected_marks(marks: impl ExactSizeIterator<Item = u32>) -> Zeroizing<Vec<u32>> {
    let mut positions = Zeroizing::new(Vec::with_capacity(marks.len()));
    positions.extend((0..).zip(marks).filter(|&(_, mark)| mark == 1).map(|(position, _)| position));
    positions
}

/// Whether the opened marks are the chosen ones.
fn is_chosen(openings: &[Vec<RevealedMark>], choices: &[Zeroizing<Vec<u32>>]) -> bool {
    let revealed = openings.iter().map(|marks| selected_marks(marks.iter().map(|mark| mark.value as u32)));
    openings.len() == choices.len() && revealed.zip(choices).all(|(revealed, chosen)| revealed == *chosen)
}

/// The rules of a contest to send to a machine.
fn rules((number, contest): (usize, &Contest)) -> Result<Rules, CliError> {
    let marks = contest.marks();
    if contest.blank && !matches!(contest.method, Method::Choose(Limit::Exactly(1) | Limit::AtMost(1))) {
        return Err(CliError::new(format!(
            "contest {number}: ballot machines accept a blank vote only in place of a single vote"
        )));
    }
    let (least, most) = match contest.method {
        Method::Approval | Method::YesNo => (0, marks),
        Method::Choose(Limit::Exactly(k)) => (k as usize, k as usize),
        Method::Choose(Limit::AtMost(1)) if marks > 1 => (0, 1),
        Method::Rank { .. } => {
            return Err(CliError::new(format!("contest {number}: ballot machines do not rank candidates")));
        }
        Method::Choose(Limit::AtMost(_)) | Method::Plurality => {
            return Err(CliError::new(format!(
                "contest {number}: ballot machines support only a fixed number of candidates, at most one of several, \
                 approval voting, or yes and no"
            )));
        }
    };
    Ok(Rules { marks, most, least })
}

fn selection(sealed: Sealed) -> Selection {
    let mark = |mark: ballot::Mark| Mark { ciphertext: Bytes(mark.ciphertext), proof: Bytes(mark.proof) };
    Selection { marks: sealed.marks.into_iter().map(mark).collect(), sum: sealed.sum.map(Bytes) }
}

/// An opening of a mark in its published form.
fn revealed_mark(opening: &ballot::Opening) -> RevealedMark {
    RevealedMark { exponent: Bytes(opening.exponent.to_vec()), value: opening.value.into() }
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn contest(method: Method, candidates: usize) -> Contest {
        let candidates = (0..candidates).map(|one| format!("candidate {one}")).collect();
        Contest::new("a contest", candidates, method)
    }

    #[test]
    fn a_machine_that_encrypts_something_else_is_found_out() {
        let contests = [contest(Method::Choose(Limit::Exactly(1)), 3), contest(Method::YesNo, 2)];
        let choices = choices(&contests, &[vec![2], vec![1]]).unwrap();
        assert_eq!(choices.iter().map(|marks| marks.to_vec()).collect::<Vec<_>>(), [vec![2], vec![]]);
        let opened = |values: &[&[usize]]| {
            let mark = |&value: &usize| RevealedMark { exponent: Bytes(vec![1]), value };
            values.iter().map(|marks| marks.iter().map(mark).collect()).collect::<Vec<Vec<_>>>()
        };
        assert!(is_chosen(&opened(&[&[0, 0, 1], &[0]]), &choices));
        for other in [&[&[0, 1, 0][..], &[0][..]][..], &[&[0, 0, 1], &[1]], &[&[0, 0, 0], &[0]], &[&[0, 0, 1]]] {
            assert!(!is_chosen(&opened(other), &choices), "{other:?}");
        }
    }

    #[test]
    fn machines_are_told_of_the_contests_that_they_can_prove() {
        use Limit::{AtMost, Exactly};
        for (method, candidates, expected) in [
            (Method::Choose(Exactly(2)), 3, Some((3, 2, 2))),
            (Method::Choose(Exactly(1)), 1, Some((1, 1, 1))),
            (Method::Choose(AtMost(1)), 3, Some((3, 1, 0))),
            (Method::Approval, 3, Some((3, 3, 0))),
            (Method::YesNo, 2, Some((1, 1, 0))),
            // The record has a proof for a sum of at most one mark out of one, but the machine does
            // not.
            (Method::Choose(AtMost(1)), 1, None),
            (Method::Choose(AtMost(2)), 3, None),
            (Method::Plurality, 3, None),
            (Method::Rank { points: vec![1] }, 3, None),
        ] {
            let rules = rules((0, &contest(method.clone(), candidates))).ok();
            assert_eq!(rules.map(|rules| (rules.marks, rules.most, rules.least)), expected, "{method:?}");
        }
    }
}
