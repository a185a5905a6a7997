//! `hearith election deliver`: sends each voter's credential as a separate file, letter or e-mail.

use std::path::Path;

use hearith_election::{KeyRole, SecretKey};
use zeroize::Zeroizing;

use super::letters::{Words, filled, words};
use super::mail;
use super::organiser_dir::{long_secret_text, of, text, write_new, write_new_bytes};
use super::pdf::Document;
use crate::args::ElectionDeliver;
use crate::engines::print;
use crate::failure::{CliError, name};
use crate::key_files::{CreatedDirectories, check_absent};
use crate::output::Access;
use crate::progress::{Length, Progress};
use crate::session::Session;

/// The code for one voter.
pub(super) struct Code {
    /// The voter's ID on the board.
    pub(super) voter: String,
    /// The voter's name: the ID, or the name behind an alias.
    pub(super) called: String,
    pub(super) code: Zeroizing<String>,
    pub(super) link: Option<Zeroizing<String>>,
}

/// Delivers credentials.
pub(super) fn run(session: &Session, command: &ElectionDeliver) -> Result<(), CliError> {
    if let Some(folder) = &command.files {
        return files(&command.credentials, folder);
    }
    let codes = read_codes(&command.credentials)?;
    let words = words(command.language);
    let own = command.text.as_deref().map(text).transpose()?;
    match (&command.letters, &command.smtp) {
        (Some(out), _) => letters(command, out, &codes, &words, own.as_deref()),
        (_, Some(settings)) => mail::send(session, command, settings, &codes, &words, own.as_deref()),
        _ => Ok(()),
    }
}

/// Writes a file for each credential.
fn files(path: &Path, folder: &Path) -> Result<(), CliError> {
    let lines = long_secret_text(path)?;
    let read = |line| SecretKey::from_line(line, KeyRole::Voter).map_err(|error| of(path, error));
    let keys = lines.lines().map(read).collect::<Result<Vec<_>, _>>()?;
    let directories = CreatedDirectories::make(folder).map_err(|error| CliError::writing(&name(folder), error))?;
    for (number, key) in keys.iter().enumerate() {
        let file = format!("{:04}-{}.json", number + 1, file_name(key.voter().unwrap_or_default()));
        write_new(&folder.join(file), Access::Owner, &key.to_line())?;
    }
    directories.keep();
    print(&format!("{} files\n", keys.len()))
}

/// Converts a voter's ID to a part of a file name that every system accepts.
fn file_name(voter: &str) -> String {
    let allowed = |one: char| if one.is_alphanumeric() || one == '-' { one } else { '_' };
    voter.chars().take(40).map(allowed).collect()
}

/// Reads the table of codes written by `register` or the organiser's page.
fn read_codes(path: &Path) -> Result<Vec<Code>, CliError> {
    let text = long_secret_text(path)?;
    let mut table = csv::Reader::from_reader(text.as_bytes());
    let at = |error: csv::Error| CliError::at(name(path), error);
    let header = table.headers().map_err(at)?.clone();
    let column = |called: &str| header.iter().position(|name| name == called);
    let (Some(voter), Some(code)) = (column("voter"), column("code")) else {
        return Err(CliError::at(name(path), "not a table with the columns 'voter' and 'code'"));
    };
    let (called, link) = (column("name").unwrap_or(voter), column("link"));
    let mut codes = Vec::new();
    for record in table.records() {
        let record = record.map_err(at)?;
        let cell = |column: usize| record.get(column).unwrap_or_default().to_owned();
        let (code, link) = (Zeroizing::new(cell(code)), link.map(|link| Zeroizing::new(cell(link))));
        codes.push(Code { voter: cell(voter), called: cell(called), code, link });
    }
    if codes.is_empty() { Err(CliError::at(name(path), "there are no codes")) } else { Ok(codes) }
}

/// Fills in a text for one voter.
pub(super) fn fill_in(text: &str, title: &str, code: &Code) -> String {
    let link = code.link.as_ref().map_or("", |link| link.as_str());
    filled(text, &[("voter", &code.called), ("title", title), ("code", &code.code), ("link", link)])
}

/// Writes a page for each voter.
fn letters(
    command: &ElectionDeliver,
    out: &Path,
    codes: &[Code],
    words: &Words,
    own: Option<&str>,
) -> Result<(), CliError> {
    check_absent(out)?;
    let mut document = Document::new(command.font.as_deref())?;
    let progress = Progress::start("writing letters", Length::Rows(codes.len() as u64));
    for (number, code) in codes.iter().enumerate() {
        if !command.title.is_empty() {
            document.text(&command.title, 18.0)?;
            document.space(14.0);
        }
        document.text(&format!("{} {}", words.for_whom, code.called), 13.0)?;
        document.space(14.0);
        document.text(&fill_in(own.unwrap_or(words.letter), &command.title, code), 11.0)?;
        document.space(8.0);
        if let Some(link) = code.link.as_ref().filter(|link| !link.is_empty()) {
            document.qr(link, 170.0)?;
            document.space(8.0);
            document.text(&format!("{} {}", words.address, link.split("/#/").next().unwrap_or_default()), 11.0)?;
        }
        document.space(8.0);
        document.text(words.code, 11.0)?;
        document.code(&code.code, 14.0);
        document.space(14.0);
        document.text(words.secret, 10.0)?;
        document.end_page();
        progress.set(number as u64, codes.len() as u64);
    }
    drop(progress);
    let bytes = Zeroizing::new(document.finish(&command.title));
    write_new_bytes(out, Access::Owner, &bytes)?;
    print(&format!("{} letters\n", codes.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_have_names_that_every_system_takes() {
        assert_eq!(file_name("../../etc/passwd"), "______etc_passwd");
        assert_eq!(file_name("Zoë O'Brien-Müller"), "Zoë_O_Brien-Müller");
        assert_eq!(file_name(&"a".repeat(100)).len(), 40);
    }
}
