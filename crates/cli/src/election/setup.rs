//! `hearith election init`, `trustee-key`, `ceremony` and `register`.

use std::fs::File;
use std::path::Path;

use hearith_election::signature::PublicKey;
use hearith_election::{
    Body, Bytes, Contest, ElectionKey, Hash, Holder, MAX_VOTERS_AN_ENTRY, Manifest, Of, SecretKey, Signer, Trustees,
    Voter, VoterCode, Voters, canonical,
};
use hearith_paillier::{PrivateKey, Variant};
use hearith_threshold::deal;
use serde::{Deserialize, Serialize};
use zeroize::Zeroizing;

use super::office::{BOARD, DRAFT, ORGANISER, Office, of, secret_text, text, write_new};
use crate::args::{ElectionCeremony, ElectionInit, ElectionRegister, ElectionTrusteeKey};
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
    contests: Vec<Contest>,
    revoting: bool,
    title: String,
}

/// Makes the organiser's and the board's key.
pub(super) fn init(_: &Session, command: &ElectionInit) -> Result<(), Failure> {
    let contests = canonical::parse("a list of contests", &text(&command.contests)?);
    let contests: Vec<Contest> = contests.map_err(|error| of(&command.contests, error))?;
    let draft = Draft { contests, revoting: command.revoting, title: command.title.clone() };
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

/// Makes a trustee's key to sign with, on the trustee's own machine.
pub(super) fn trustee_key(session: &Session, command: &ElectionTrusteeKey) -> Result<(), Failure> {
    check_absent(&command.out)?;
    let signer = Signer::generate().map_err(|error| of(&command.out, error))?;
    write_new(&command.out, Access::Owner, &SecretKey::of_office(Holder::Trustee, &signer).to_line())?;
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
        let Draft { contests, revoting, title } = draft;
        let key = ElectionKey::new(key).map_err(Failure::new)?;
        Ok(Manifest { board, contests, key, organiser, revoting, title, trustees })
    };
    let choose = |file: &str| session.passphrases.is_given().then(|| session.passphrases.choose(file)).transpose();
    let first = match command.shares {
        Some(sharing) => {
            let mut files = SharedKey::begin(&command.out, sharing.trustees, false)?;
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
                // Safe primes for one holder too: then no prime factor is small, which the proofs rest on.
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

/// Lists voters, makes their credentials, begins the vote.
pub(super) fn register(session: &Session, command: &ElectionRegister) -> Result<(), Failure> {
    let mut office = Office::open_at(session, &command.office, &command.at)?;
    let id = office.state().election().id();
    if let (Some(path), Some(out)) = (&command.voters, &command.out) {
        let Registered { voters, credentials, codes } = read_voters(path, id, command.at.server.as_deref())?;
        check_absent(out)?;
        command.codes.as_deref().map_or(Ok(()), check_absent)?;
        let count = voters.len();
        let entries: Vec<Body> = voters
            .chunks(MAX_VOTERS_AN_ENTRY)
            .map(|voters| Body::Voters(Voters { election: id, voters: voters.to_vec() }))
            .collect();
        // Credentials first: a voter on the list whose credential nobody has could not vote.
        write_new(out, Access::Owner, credentials.trim_end())?;
        if let Some(path) = &command.codes {
            write_new(path, Access::Owner, codes.trim_end()).inspect_err(|_| _ = std::fs::remove_file(out))?;
        }
        let secrets = [Some(out), command.codes.as_ref()];
        for (number, entry) in entries.into_iter().enumerate() {
            if let Err(failure) = office.say(entry) {
                if number > 0 || office.may_have_more_voters() {
                    let kept = "some of these voters may be on the board: their credentials are kept";
                    return Err(failure.noting(kept));
                }
                secrets.into_iter().flatten().for_each(|path| _ = std::fs::remove_file(path));
                return Err(failure);
            }
        }
        print(&format!("{count} voters\n"))?;
    }
    if command.open {
        office.say(Body::Open(Of { election: id }))?;
        print("voting is open\n")?;
    }
    office.sign_head()
}

/// Voters of a table, with their new credentials.
struct Registered {
    voters: Vec<Voter>,
    /// A line each.
    credentials: Zeroizing<String>,
    /// The same as codes: a CSV table.
    codes: Zeroizing<String>,
}

/// Reads voters, and makes credentials for those who have no key of their own; codes have links into the pages of a server.
fn read_voters(path: &Path, election: Hash, server: Option<&str>) -> Result<Registered, Failure> {
    let file = File::open(path).map_err(|error| Failure::reading(&name(path), error))?;
    let mut table = csv::Reader::from_reader(file);
    let at = |error: csv::Error| Failure::at(name(path), error);
    let header = table.headers().map_err(at)?.clone();
    let column = |called: &str| header.iter().position(|name| name == called);
    let Some(id) = column("voter") else { return Err(Failure::at(name(path), "there is no column 'voter'")) };
    if let Some(other) = header.iter().find(|name| !["voter", "weight", "key"].contains(name)) {
        return Err(Failure::at(name(path), format!("a column '{other}' is none of voter, weight and key")));
    }
    let (weight, key) = (column("weight"), column("key"));
    // With room for all lines from the start, so that no copy of a secret is left behind.
    let lines = std::fs::metadata(path).map_or(0, |metadata| metadata.len() as usize);
    let (mut voters, mut credentials) = (Vec::new(), Zeroizing::new(String::with_capacity(400 * lines + 1024)));
    let each = 128 + server.map_or(0, str::len);
    let mut codes = Zeroizing::new(String::with_capacity((each + 2) * lines + 1024));
    codes.push_str(if server.is_some() { "voter,code,link\n" } else { "voter,code\n" });
    for (row, record) in table.records().enumerate() {
        let record = record.map_err(at)?;
        let wrong = |what: &str| Failure::at(name(path), format!("row {}: {what}", row + 1));
        let cell = |column: Option<usize>| column.and_then(|column| record.get(column)).filter(|cell| !cell.is_empty());
        let id = record.get(id).unwrap_or_default().to_owned();
        let weight = cell(weight).map_or(Ok(1), str::parse).map_err(|_| wrong("the weight is no whole number"))?;
        let key = match cell(key) {
            Some(key) => canonical::parse("a public key", &canonical::to_text(&key))
                .map_err(|_| wrong("the key is not base64url"))?,
            None => {
                let made = VoterCode::generate().and_then(|code| Ok((code.signer(&election)?, code)));
                let (signer, code) = made.map_err(Failure::new)?;
                credentials.push_str(&SecretKey::of_voter(election, &id, &signer).to_line());
                credentials.push('\n');
                let parts = ["\"", &id.replace('"', "\"\""), "\",", &code.shown()];
                parts.into_iter().for_each(|part| codes.push_str(part));
                if let Some(server) = server {
                    let link = [",", server.trim_end_matches('/'), "/#/vote/", &code.in_link()];
                    link.into_iter().for_each(|part| codes.push_str(part));
                }
                codes.push('\n');
                signer.public()
            }
        };
        voters.push(Voter { id, key, weight });
    }
    if voters.is_empty() {
        return Err(Failure::at(name(path), "there are no voters"));
    }
    Ok(Registered { voters, credentials, codes })
}
