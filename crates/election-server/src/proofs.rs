//! Verification of the proofs of a batch of notices: all ballots together, all challenges together,
//! and others one by one.

use hearith_election::{Ballot, Body, Challenge, ErrorKind, Kind, Notice, State, verify_ballots, verify_challenges};

use crate::board_log::BoardLog;

/// A verdict for each notice.
pub(crate) fn verify(board_log: &BoardLog, notices: &[&Notice]) -> Vec<Result<(), ErrorKind>> {
    let mut verdicts: Vec<Result<(), ErrorKind>> = notices.iter().map(|_| Ok(())).collect();
    let Some(election) = board_log.with_state(|state| state.election().clone()) else { return verdicts };
    let bodies = || notices.iter().map(|notice| notice.body()).enumerate();
    let ballots: Vec<(usize, &Ballot)> = bodies()
        .filter_map(|(at, body)| if let Body::Ballot(ballot) = body { Some((at, ballot)) } else { None })
        .collect();
    let challenges: Vec<(usize, &Challenge)> = bodies()
        .filter_map(|(at, body)| if let Body::Challenge(challenge) = body { Some((at, challenge)) } else { None })
        .collect();
    let (at, those): (Vec<usize>, Vec<&Ballot>) = ballots.into_iter().unzip();
    at.into_iter().zip(verify_ballots(&election, &those)).for_each(|(at, verdict)| verdicts[at] = verdict);
    let (at, those): (Vec<usize>, Vec<&Challenge>) = challenges.into_iter().unzip();
    at.into_iter().zip(verify_challenges(&election, &those)).for_each(|(at, verdict)| verdicts[at] = verdict);
    // Works on a copy: verifying a share takes a second, and writers wait for readers of the state.
    let others = |notice: &Notice| !matches!(notice.kind(), Kind::Ballot | Kind::Challenge);
    if notices.iter().any(|notice| others(notice))
        && let Some(decryption) = board_log.with_state(State::decryption)
    {
        for (at, notice) in notices.iter().enumerate().filter(|(_, notice)| others(notice)) {
            verdicts[at] = decryption.check(notice.body());
        }
    }
    verdicts
}
