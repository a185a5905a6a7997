//! `hearith election decrypt-share --machine`: a tally board counts the ballots of a verified
//! record and computes a trustee's share of the result.
//!
//! Its output is verified as anyone would verify it.

use hearith_device::ballot::{Counted, Tally as TallyBoard, TallySetup};
use hearith_device::{DeviceProvider, Error};
use hearith_election::{Bytes, Contest, Place, Share, Source, State, Tally, for_each_counted};
use hearith_threshold::KeyShare;

use crate::device::failed;
use crate::failure::{Cause, CliError};
use crate::session::Session;

/// A verified record, with its name.
pub(super) struct Verified<'a> {
    pub(super) source: &'a dyn Source,
    pub(super) name: &'a str,
    pub(super) state: &'a State,
    pub(super) tally: &'a Tally,
}

/// Lets a tally board compute the share.
pub(super) fn share(
    session: &Session,
    settings: &str,
    record: &Verified<'_>,
    trustee: &KeyShare,
) -> Result<Share, CliError> {
    let (provider, boards) = session.devices.tally_board()?;
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
    let machine = |error: Error| failed(provider, error);
    let mut board = boards.set_up_tally(&setup, &ballots, settings).map_err(machine)?;
    board.wait_for(ballots.len() as u32).map_err(machine)?;
    let places = election.places();
    check_products(provider, &mut board, &places, record.tally)?;
    let shares = shares(&mut board, &places, trustee).map_err(machine)?;
    let share = Share { election: election.id(), shares: Bytes(shares), trustee: trustee.trustee() };
    election.verify_share(record.tally, &share).map_err(|error| unverified(provider, error))?;
    Ok(share)
}

/// The ballots that count, by contest.
fn ballots(record: &Verified<'_>) -> Result<Vec<Counted>, CliError> {
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
    read.map_err(|error| CliError::at(record.name, error))?;
    match weighs_more {
        true => Err(CliError::at(
            record.name,
            "a ballot has a weight other than 1, but a tally board counts each ballot once",
        )),
        false => Ok(ballots),
    }
}

/// Checks that the board's products match the record, before it receives a share of the key.
fn check_products(
    provider: &dyn DeviceProvider,
    board: &mut TallyBoard,
    places: &[Place],
    tally: &Tally,
) -> Result<(), CliError> {
    for (place, product) in places.iter().zip(tally.contests.iter().flatten()) {
        let (contest, mark) = numbers(place);
        if board.product(contest, mark).map_err(|error| failed(provider, error))? != product.0 {
            return Err(unverified(
                provider,
                format!("contest {contest}, mark {mark}: not the product of the ballots"),
            ));
        }
    }
    Ok(())
}

/// Computes the trustee's share of each mark. The board holds the share of the key only during the
/// computation.
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

/// The failure for a machine's output, which is not trusted.
fn unverified(provider: &dyn DeviceProvider, error: impl Into<Cause>) -> CliError {
    CliError::at(format!("engine {}", provider.system().name), error)
        .with_note("what the machine returned does not verify")
}
