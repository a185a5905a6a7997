//! `hearith election decrypt-share --machine`: a tally board counts the ballots of a record that
//! was verified, and makes a trustee's share of what they come to. What it gives is verified as
//! everybody would.

use hearith_device::ballot::{Counted, Tally as TallyBoard, TallySetup};
use hearith_device::{Error, Kind};
use hearith_election::{Bytes, Contest, Place, Share, Source, State, Tally, for_each_counted};
use hearith_threshold::KeyShare;

use crate::device::failed;
use crate::failure::{Cause, Failure};
use crate::session::Session;

/// A record that was verified, and what it is called.
pub(super) struct Verified<'a> {
    pub(super) source: &'a dyn Source,
    pub(super) name: &'a str,
    pub(super) state: &'a State,
    pub(super) tally: &'a Tally,
}

/// Has the share made by a tally board.
pub(super) fn share(
    session: &Session,
    settings: &str,
    record: &Verified<'_>,
    trustee: &KeyShare,
) -> Result<Share, Failure> {
    let (kind, boards) = session.devices.tally_board()?;
    let election = record.state.election();
    let ballots = ballots(record)?;
    let marks: Vec<usize> = election.contests().iter().map(Contest::marks).collect();
    let setup = TallySetup {
        key: election.key(),
        election: election.id().0,
        marks: &marks,
        generator: election.manifest().trustees.as_ref().map(|trustees| trustees.base.0.clone()).unwrap_or_default(),
        verifier: trustee.verification_be(),
        needed: trustee.needed(),
        trustees: trustee.trustees(),
        trustee: trustee.trustee(),
        share_bits: trustee.hidden_bits(),
    };
    let machine = |error: Error| failed(kind, error);
    let mut board = boards.set_up_tally(&setup, &ballots, settings).map_err(machine)?;
    board.wait_for(ballots.len() as u32).map_err(machine)?;
    let places = election.places();
    check_products(kind, &mut board, &places, record.tally)?;
    let shares = shares(&mut board, &places, trustee).map_err(machine)?;
    let share = Share { election: election.id(), shares: Bytes(shares), trustee: trustee.trustee() };
    election.verify_share(record.tally, &share).map_err(|error| wrong(kind, error))?;
    Ok(share)
}

/// The ballots that count, contest by contest.
fn ballots(record: &Verified<'_>) -> Result<Vec<Counted>, Failure> {
    let (mut ballots, mut weighs_more) = (Vec::new(), false);
    let read = for_each_counted(record.state, record.source, |ballot, weight| {
        weighs_more |= weight != 1;
        let number = ballots.len() as u32;
        let counted = |(contest, selection): (usize, hearith_election::Selection)| Counted {
            contest: contest as u32,
            number,
            ciphertexts: selection.marks.into_iter().map(|mark| mark.ciphertext.0).collect(),
        };
        ballots.extend(ballot.contests.into_iter().enumerate().map(counted));
        Ok(())
    });
    read.map_err(|error| Failure::at(record.name, error))?;
    match weighs_more {
        true => Err(Failure::at(record.name, "a ballot has another weight than 1: a tally board counts each once")),
        false => Ok(ballots),
    }
}

/// Checks that the board has come to what the record says, before it is given a share of the key.
fn check_products(kind: &dyn Kind, board: &mut TallyBoard, places: &[Place], tally: &Tally) -> Result<(), Failure> {
    for (place, product) in places.iter().zip(tally.contests.iter().flatten()) {
        let (contest, mark) = numbers(place);
        if board.product(contest, mark).map_err(|error| failed(kind, error))? != product.0 {
            return Err(wrong(kind, format!("contest {contest}, mark {mark}: not the product of the ballots")));
        }
    }
    Ok(())
}

/// The trustee's share of each mark. The board has the share of the key as long as it takes.
fn shares(board: &mut TallyBoard, places: &[Place], trustee: &KeyShare) -> Result<Vec<u8>, Error> {
    board.load(&trustee.exponent_be())?;
    let mut shares = Vec::new();
    for place in places {
        let (contest, mark) = numbers(place);
        shares.extend(board.share(contest, mark)?);
    }
    board.forget()?;
    Ok(shares)
}

fn numbers(place: &Place) -> (u32, u32) {
    (place.contest as u32, place.mark.unwrap_or_default() as u32)
}

/// What a machine made is not believed.
fn wrong(kind: &dyn Kind, error: impl Into<Cause>) -> Failure {
    Failure::at(format!("engine {}", kind.system().name), error).with_note("what the machine returned does not verify")
}
