//! `hearith election init`, `trustee-key`, `registrar-key` and `ceremony`.

use std::path::Path;

use hearith_election::signature::PublicKey;
use hearith_election::{Body, Bytes, Contest, ElectionKey, Holder, Manifest, SecretKey, Signer, Trustees, canonical};
use hearith_paillier::{PrivateKey, Variant};
use hearith_threshold::deal;
use serde::{Deserialize, Serialize};

use super::office::{BOARD, DRAFT, ORGANISER, Office, of, secret_text, text, write_new};
use crate::args::{ElectionCeremony, ElectionInit, ElectionTrusteeKey};
use crate::engines::{print, print_json};
use crate::failure::{Failure, name};
use crate::keygen::private_text;
use crate::output::Access;
use crate::pair::{JSON, MadeDirectories, Pair, check_absent};
use crate::progress::{Length, Progress};
use crate::session::Session;
use crate::shared_key::SharedKey;

/// An election before it has a key.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Draft {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    about: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    closes: Option<String>,
    contests: Vec<Contest>,
    #[serde(default)]
    late: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    opens: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    registrar: Option<Bytes>,
    revoting: bool,
    title: String,
    #[serde(default)]
    trial: bool,
}

/// Makes the organiser's and the board's key.
pub(super) fn init(_: &Session, command: &ElectionInit) -> Result<(), Failure> {
    let contests = canonical::parse("a list of contests", &text(&command.contests)?);
    let contests: Vec<Contest> = contests.map_err(|error| of(&command.contests, error))?;
    let about = command.about.as_deref().map(text).transpose()?.map(|about| about.trim_end().to_owned());
    let registrar = command.registrar.as_deref().map(public_key).transpose()?;
    let ElectionInit { opens, closes, late, trial, revoting, title, .. } = command.clone();
    let draft = Draft { about, closes, contests, late, opens, registrar, revoting, title, trial };
    let files = [ORGANISER, BOARD, DRAFT].map(|file| command.out.join(file));
    files.iter().try_for_each(|file| check_absent(file))?;
    let made = MadeDirectories::make(&command.out);
    let made = made.map_err(|error| Failure::writing(&name(&command.out), error))?;
    for (file, holder) in [(&files[0], Holder::Organiser), (&files[1], Holder::Board)] {
        let signer = Signer::generate().map_err(|error| of(file, error))?;
        write_new(file, Access::Owner, &SecretKey::of_office(holder, &signer).to_line())?;
    }
    write_new(&files[2], Access::Usual, &canonical::to_text(&draft))?;
    made.keep();
    Ok(())
}

/// A key of an option.
fn public_key(text: &str) -> Result<Bytes, Failure> {
    let wrong = |_| Failure::new("--registrar: no public half of a registrar's key");
    let key: Bytes = canonical::parse("a public key", &canonical::to_text(&text.trim())).map_err(wrong)?;
    PublicKey::new("the registrar's", &key).map_err(wrong)?;
    Ok(key)
}

/// Makes a trustee's or a registrar's key to sign with, on a machine of their own.
pub(super) fn signing_key(session: &Session, command: &ElectionTrusteeKey, holder: Holder) -> Result<(), Failure> {
    check_absent(&command.out)?;
    let signer = Signer::generate().map_err(|error| of(&command.out, error))?;
    write_new(&command.out, Access::Owner, &SecretKey::of_office(holder, &signer).to_line())?;
    let public = base64(&signer.public());
    match session.json {
        true => print_json(&serde_json::json!({ "public": public })),
        false => print(&format!("{public}\n")),
    }
}

fn base64(bytes: &Bytes) -> String {
    canonical::to_text(bytes).trim_matches('"').to_owned()
}

/// The public halves of trustees' keys, one a line.
fn trustee_keys(path: &Path, trustees: u32) -> Result<Vec<Bytes>, Failure> {
    let text = text(path)?;
    let key = |(line, key): (usize, &str)| -> Result<Bytes, Failure> {
        let wrong = |_| Failure::at(name(path), format!("line {}: no public half of a trustee's key", line + 1));
        let key: Bytes = canonical::parse("a public key", &canonical::to_text(&key.trim())).map_err(wrong)?;
        PublicKey::new("a trustee's", &key).map_err(wrong)?;
        Ok(key)
    };
    let keys = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()).map(key);
    let keys = keys.collect::<Result<Vec<_>, _>>()?;
    if keys.len() == trustees as usize {
        Ok(keys)
    } else {
        Err(Failure::at(name(path), format!("{} keys for {trustees} trustees", keys.len())))
    }
}

/// Makes the key, deals it, and publishes the election.
pub(super) fn ceremony(session: &Session, command: &ElectionCeremony) -> Result<(), Failure> {
    let path = command.office.join(DRAFT);
    let draft = canonical::parse("a draft of an election", &text(&path)?);
    let draft: Draft = draft.map_err(|error| of(&path, error))?;
    let signer = |file: &str, holder| -> Result<Bytes, Failure> {
        let path = command.office.join(file);
        let key = SecretKey::from_line(secret_text(&path)?.first_line(), holder).and_then(|key| key.signer());
        Ok(key.map_err(|error| of(&path, error))?.public())
    };
    let (organiser, board) = (signer(ORGANISER, Holder::Organiser)?, signer(BOARD, Holder::Board)?);
    check_absent(&command.office.join("record"))?;
    // Before the search for primes, which takes minutes.
    let signing = match (command.shares, &command.trustee_keys) {
        (Some(sharing), Some(path)) => trustee_keys(path, sharing.trustees)?,
        _ => Vec::new(),
    };
    let manifest = |key: &PrivateKey, trustees| -> Result<Manifest, Failure> {
        let Draft { about, closes, contests, late, opens, registrar, revoting, title, trial } = draft;
        let key = ElectionKey::new(key).map_err(Failure::new)?;
        Ok(Manifest {
            about,
            board,
            closes,
            contests,
            key,
            late,
            opens,
            organiser,
            registrar,
            revoting,
            title,
            trial,
            trustees,
        })
    };
    let choose = |file: &str| session.passphrases.is_given().then(|| session.passphrases.choose(file)).transpose();
    let first = match command.shares {
        Some(sharing) => {
            let mut files = SharedKey::begin(&command.out, 1..=sharing.trustees, false)?;
            let passphrase = choose(&name(&command.out))?;
            let (manifest, verification, shares) = {
                let _progress = Progress::start("searching safe primes", Length::Unknown);
                let key = PrivateKey::generate_safe(command.bits, Variant::Djn, session.policy, session.engine)
                    .map_err(Failure::new)?;
                let (verification, shares) = deal(&key, sharing.needed, sharing.trustees).map_err(Failure::new)?;
                (manifest(&key, Some(Trustees::new(&verification, signing)))?, verification, shares)
            };
            check(session, &manifest)?;
            files.write(&verification, &shares, passphrase.as_ref())?;
            files.commit()?;
            manifest
        }
        None => {
            let mut pair = Pair::begin(&command.out, JSON, false)?;
            let passphrase = choose(&name(&command.out))?;
            let key = {
                // Safe primes for one holder too: then no prime factor is small, which the proofs
                // rest on.
                let _progress = Progress::start("searching safe primes", Length::Unknown);
                PrivateKey::generate_safe(command.bits, Variant::Djn, session.policy, session.engine)
                    .map_err(Failure::new)?
            };
            let manifest = manifest(&key, None)?;
            check(session, &manifest)?;
            pair.write(&private_text(&key, passphrase.as_ref())?, &key.public().to_jwk())?;
            pair.commit()?;
            manifest
        }
    };
    let id = first.id();
    let mut office = Office::create(session, &command.office, Body::Election(Box::new(first)))?;
    session.warn_of(&name(&command.office), office.state().election().key());
    office.sign_head()?;
    print(&format!("election {id}\n"))
}

/// Refuses an election that cannot be held before anything of it is written.
fn check(session: &Session, manifest: &Manifest) -> Result<(), Failure> {
    let checked = hearith_election::Election::new(manifest.clone(), session.policy, session.engine);
    checked.map(|_| ()).map_err(Failure::new)
}
