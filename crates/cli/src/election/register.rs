//! `hearith election register`: the list of voters, their credentials, and replacements for lost
//! ones.

use std::collections::HashSet;
use std::ffi::OsString;
use std::fs::{self, File};
use std::path::{Path, PathBuf};

use hearith_election::{
    Body, ElectionRef, Hash, MAX_VOTERS_AN_ENTRY, NewKey, Notice, Replace, SecretKey, State, Voter, VoterCode, Voters,
    canonical,
};
use zeroize::Zeroizing;

use super::organiser_dir::{ElectionHandle, of, text, url, write_new};
use crate::args::ElectionRegister;
use crate::engines::print;
use crate::failure::{CliError, name};
use crate::key_files::check_absent;
use crate::output::Access;
use crate::session::Session;

/// Lists voters, creates their credentials, and opens the vote.
pub(super) fn register(session: &Session, command: &ElectionRegister) -> Result<(), CliError> {
    let mut handle = ElectionHandle::open_for(session, &command.location, &command.at, command.registrar.as_deref())?;
    let id = handle.state().election().id();
    if command.out.is_some() {
        handle.check_lists()?;
    }
    if let (Some(path), Some(out)) = (&command.voters, &command.out) {
        let new_voters = NewVoters::of_table(path, id, command)?;
        let count = new_voters.voters.len();
        deliver(&mut handle, new_voters, out, command)?;
        let what = if command.replace { "credentials replaced" } else { "voters" };
        print(&format!("{count} {what}\n"))?;
    } else if let Some(out) = &command.out {
        if !command.again {
            return Err(CliError::new("--out needs the table of VOTERS, or --again"));
        }
        let entries = send_again(&mut handle, out)?;
        print(&format!("{entries} entries sent\n"))?;
    }
    if command.open {
        handle.publish(Body::Open(ElectionRef { election: id }))?;
        print("voting is open\n")?;
    }
    handle.sign_head()
}

/// Stores the credentials of voters, then enters the voters on the board.
fn deliver(
    handle: &mut ElectionHandle,
    new_voters: NewVoters,
    out: &Path,
    command: &ElectionRegister,
) -> Result<(), CliError> {
    let pending = pending(out);
    check_absent(out)?;
    check_absent(&pending)?;
    command.codes.as_deref().map_or(Ok(()), check_absent)?;
    let notices = new_voters.bodies(handle.state().election().id(), command.replace).into_iter();
    let notices = notices.map(|body| handle.signed(body)).collect::<Result<Vec<Notice>, CliError>>()?;
    // Credentials first: a listed voter without a credential could not vote.
    write_new(out, Access::Owner, new_voters.credentials.trim_end())?;
    let files = [Some(out), command.codes.as_deref(), Some(&pending)];
    let remove = || files.into_iter().flatten().for_each(|path| _ = fs::remove_file(path));
    if let Some(path) = &command.codes {
        write_new(path, Access::Owner, new_voters.codes.trim_end()).inspect_err(|_| remove())?;
    }
    // The entries are stored until they are known to be on the board. They can then be sent again,
    // without a second set of credentials.
    let lines: Vec<String> = notices.iter().map(Notice::to_json).collect();
    write_new(&pending, Access::Owner, &lines.join("\n")).inspect_err(|_| remove())?;
    for (number, notice) in notices.into_iter().enumerate() {
        if let Err(failure) = handle.enter(notice) {
            if number > 0 || handle.may_have_more() {
                let kept = "some of these voters may be on the board: their credentials are kept, and register --again \
                            sends them again";
                return Err(failure.with_note(kept));
            }
            remove();
            return Err(failure);
        }
    }
    fs::remove_file(&pending).map_err(|error| CliError::writing(&name(&pending), error))
}

/// Sends the entries of an uncertain earlier attempt that are not on the board. Returns how many
/// were sent.
fn send_again(handle: &mut ElectionHandle, out: &Path) -> Result<usize, CliError> {
    let pending = pending(out);
    let lines = text(&pending)?;
    let read = |line: &str| Notice::from_json(line).map_err(|error| of(&pending, error));
    let notices = lines.lines().map(read).collect::<Result<Vec<Notice>, CliError>>()?;
    let mut sent = 0;
    for notice in notices {
        if !is_there(handle.state(), &notice) {
            handle.enter(notice)?;
            sent += 1;
        }
    }
    fs::remove_file(&pending).map_err(|error| CliError::writing(&name(&pending), error))?;
    Ok(sent)
}

/// The file with entries that may not be on the board.
fn pending(out: &Path) -> PathBuf {
    let mut path = OsString::from(out);
    path.push(".pending");
    path.into()
}

/// Whether the board has all voters of an entry with these keys.
fn is_there(state: &State, notice: &Notice) -> bool {
    let has = |id: &str, key: &hearith_election::Bytes| {
        state.voter(id).is_some_and(|standing| standing.key().to_bytes() == *key)
    };
    match notice.body() {
        Body::Voters(list) => list.voters.iter().all(|one| has(&one.id, &one.key)),
        Body::Replace(list) => list.voters.iter().all(|one| has(&one.id, &one.key)),
        _ => false,
    }
}

/// The voters of a table, with their new credentials.
struct NewVoters {
    voters: Vec<Voter>,
    /// The credentials, one per line.
    credentials: Zeroizing<String>,
    /// The credentials as codes, in a CSV table.
    codes: Zeroizing<String>,
}

impl NewVoters {
    /// Reads voters, and creates credentials for those without a key of their own. Codes come with
    /// links to a server's pages.
    fn of_table(path: &Path, election: Hash, command: &ElectionRegister) -> Result<Self, CliError> {
        let file = File::open(path).map_err(|error| CliError::reading(&name(path), error))?;
        let mut table = csv::Reader::from_reader(file);
        let at = |error: csv::Error| CliError::at(name(path), error);
        let header = table.headers().map_err(at)?.clone();
        let column = |called: &str| header.iter().position(|name| name == called);
        let Some(id) = column("voter") else { return Err(CliError::at(name(path), "there is no column 'voter'")) };
        if let Some(other) = header.iter().find(|name| !["voter", "weight", "key"].contains(name)) {
            return Err(CliError::at(
                name(path),
                format!("unknown column '{other}': only voter, weight and key are allowed"),
            ));
        }
        let (weight, key) = (column("weight"), column("key"));
        let server = command.at.server.as_deref().or_else(|| url(&command.location));
        // The capacity suffices for all lines, so growing leaves no copy of a secret behind.
        let bytes = fs::metadata(path).map_or(0, |metadata| metadata.len() as usize);
        let mut credentials = Zeroizing::new(String::with_capacity(400 * bytes + 1024));
        let mut codes = Codes::new(command.aliases, server, bytes);
        let (mut voters, mut aliases) = (Vec::new(), Aliases::default());
        for (row, record) in table.records().enumerate() {
            let record = record.map_err(at)?;
            let wrong = |what: &str| CliError::at(name(path), format!("row {}: {what}", row + 1));
            let cell =
                |column: Option<usize>| column.and_then(|column| record.get(column)).filter(|cell| !cell.is_empty());
            let called = record.get(id).unwrap_or_default().to_owned();
            let id = if command.aliases { aliases.next()? } else { called.clone() };
            let weight =
                cell(weight).map_or(Ok(1), str::parse).map_err(|_| wrong("the weight is not a whole number"))?;
            let key = match cell(key) {
                Some(key) => canonical::parse("a public key", &canonical::to_text(&key))
                    .map_err(|_| wrong("the key is not base64url"))?,
                None => {
                    let generated = VoterCode::generate().and_then(|code| Ok((code.signer(&election)?, code)));
                    let (signer, code) = generated.map_err(CliError::new)?;
                    credentials.push_str(&SecretKey::of_voter(election, &id, &signer).to_line());
                    credentials.push('\n');
                    codes.push(&id, &called, &code);
                    signer.public()
                }
            };
            voters.push(Voter { id, key, weight });
        }
        if voters.is_empty() {
            return Err(CliError::at(name(path), "there are no voters"));
        }
        if command.aliases {
            // The table's order would reveal whose aliases these are.
            voters.sort_by(|one, other| one.id.cmp(&other.id));
        }
        Ok(NewVoters { voters, credentials, codes: codes.table })
    }

    /// The entries that list the voters or replace their credentials.
    fn bodies(&self, election: Hash, replace: bool) -> Vec<Body> {
        let entries = self.voters.chunks(MAX_VOTERS_AN_ENTRY);
        if !replace {
            return entries.map(|voters| Body::Voters(Voters { election, voters: voters.to_vec() })).collect();
        }
        let new = |voter: &Voter| NewKey { id: voter.id.clone(), key: voter.key.clone() };
        entries.map(|voters| Body::Replace(Replace { election, voters: voters.iter().map(new).collect() })).collect()
    }
}

/// The table of codes: `voter`, `name` if voters are listed by aliases, `code`, and `link` if there
/// is a server.
struct Codes<'a> {
    table: Zeroizing<String>,
    names: bool,
    server: Option<&'a str>,
}

impl<'a> Codes<'a> {
    fn new(names: bool, server: Option<&'a str>, bytes: usize) -> Self {
        let each = 160 + server.map_or(0, str::len);
        let mut table = Zeroizing::new(String::with_capacity((each + 2) * bytes + 1024));
        let header = ["voter", if names { ",name" } else { "" }, ",code", server.map_or("", |_| ",link"), "\n"];
        header.into_iter().for_each(|part| table.push_str(part));
        Codes { table, names, server }
    }

    fn push(&mut self, id: &str, called: &str, code: &VoterCode) {
        let quoted = |text: &str| format!("\"{}\"", text.replace('"', "\"\""));
        self.table.push_str(&quoted(id));
        if self.names {
            self.table.push(',');
            self.table.push_str(&quoted(called));
        }
        self.table.push(',');
        self.table.push_str(&code.shown());
        if let Some(server) = self.server {
            let link = [",", server.trim_end_matches('/'), "/#/vote/", &code.in_link()];
            link.into_iter().for_each(|part| self.table.push_str(part));
        }
        self.table.push('\n');
    }
}

/// Random names without duplicates.
#[derive(Default)]
struct Aliases(HashSet<String>);

impl Aliases {
    fn next(&mut self) -> Result<String, CliError> {
        loop {
            let code = VoterCode::generate().map_err(CliError::new)?;
            // Forty random bits of a code that is used for nothing else.
            let alias = format!("voter {}", &code.shown()[..9]);
            if self.0.insert(alias.clone()) {
                return Ok(alias);
            }
        }
    }
}
