//! `hearith election tally`, `decrypt-share` and `finish`.

use std::path::Path;

use hearith_election::signature::PublicKey;
use hearith_election::{Body, Election, ElectionRef, ErrorKind, KeyRole, Notice, Phase, Signer};

use super::organiser_dir::{ElectionHandle, of, record, secret_key, text, write_new};
use super::outcome::print_outcome;
use super::tally_board::{self, Verified};
use super::verify::verified;
use crate::args::{ElectionDecryptShare, ElectionFinish, ElectionTally};
use crate::engines::print;
use crate::failure::{CliError, eprint_line, name};
use crate::keys::{Key, KeyFile};
use crate::output::Access;
use crate::session::Session;

/// Closes the vote, and publishes the products of the ballots that count.
pub(super) fn tally(session: &Session, command: &ElectionTally) -> Result<(), CliError> {
    let mut handle = ElectionHandle::open_at(session, &command.directory, &command.at)?;
    if handle.state().phase() == Phase::Open {
        handle.publish(Body::Close(ElectionRef { election: handle.state().election().id() }))?;
    }
    let tally = handle.tally()?;
    let (counted, weight) = (tally.counted, tally.weight);
    handle.publish(Body::Tally(tally))?;
    handle.sign_head()?;
    print(&format!("{counted} ballots count, of weight {weight}\n"))
}

/// Computes a trustee's decryption share, after verifying the whole record.
pub(super) fn decrypt_share(session: &Session, command: &ElectionDecryptShare) -> Result<(), CliError> {
    let trustee = KeyFile::open(&command.share)?.share(session)?;
    let signer = secret_key(&command.trustee_key, KeyRole::Trustee)?;
    let (source, location) = record(&command.record, command.ca.as_deref())?;
    let report = verified(session, &*source, &location)?;
    let Some((state, tally)) = report.state.as_ref().and_then(|state| Some((state, state.tally()?))) else {
        return Err(CliError::at(location, "there is no tally yet"));
    };
    let election = state.election();
    election.check_trustee(&trustee).map_err(|error| of(&command.share, error))?;
    check_signer(election, trustee.trustee(), &signer).map_err(|error| of(&command.trustee_key, error))?;
    let share = match &command.machine {
        Some(settings) => {
            let record = Verified { source: &*source, name: &location, state, tally };
            tally_board::share(session, settings, &record, &trustee)?
        }
        None => election.share(&trustee, tally).map_err(|error| of(&command.share, error))?,
    };
    write_new(&command.out, Access::Usual, &Notice::signed(Body::Share(share), &signer).to_json())
}

/// Checks that a key is the one that a trustee has to sign shares with.
fn check_signer(election: &Election, trustee: u32, signer: &Signer) -> Result<(), ErrorKind> {
    let own = PublicKey::new("the trustee's", &signer.public())?;
    match election.signing_key(trustee) {
        Some(key) if *key == own => Ok(()),
        _ => Err(ErrorKind::Secret { problem: "not the signing key of the trustee who holds the share" }),
    }
}

/// Publishes the decryption and the result.
pub(super) fn finish(session: &Session, command: &ElectionFinish) -> Result<(), CliError> {
    let mut handle = ElectionHandle::open_at(session, &command.directory, &command.at)?;
    for path in &command.shares {
        let notice = read_share(path)?;
        let right = handle.state().check(&notice).and_then(|()| handle.state().check_proofs(&notice));
        match right {
            Ok(()) => drop(handle.enter(notice)?),
            // The others may suffice without it.
            Err(error) => eprint_line(&format!("{}: {error}: ignored", name(path))),
        }
    }
    if let Some(path) = &command.key {
        let private = Key::read_private(session, path)?;
        let Some(tally) = handle.state().tally() else {
            return Err(CliError::at(name(&command.directory), "there is no tally yet"));
        };
        let opening = handle.state().election().open(&private, tally).map_err(|error| of(path, error))?;
        handle.publish(Body::Opening(opening))?;
    }
    let result = handle.state().outcome();
    if result.is_err() {
        // The accepted shares stay, and other trustees' shares can follow.
        handle.sign_head()?;
    }
    let result = result.map_err(|error| of(&command.directory, error))?;
    handle.publish(Body::Result(result.clone()))?;
    handle.sign_head()?;
    print_outcome(session, handle.state().election().contests(), &result)
}

fn read_share(path: &Path) -> Result<Notice, CliError> {
    let notice = Notice::from_json(text(path)?.trim_end()).map_err(|error| of(path, error))?;
    match notice.body() {
        Body::Share(_) => Ok(notice),
        _ => Err(CliError::at(name(path), "not a trustee's share")),
    }
}
