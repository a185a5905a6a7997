//! Sends each voter an e-mail through a mail server (RFC 5321), which a file of settings names.

use std::collections::{HashMap, HashSet};
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::net::IpAddr;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use lettre::message::Mailbox;
use lettre::transport::smtp::authentication::Credentials;
use lettre::transport::smtp::client::{Certificate, Tls, TlsParameters};
use lettre::{Address, Message, SmtpTransport, Transport};
use serde::Deserialize;

use super::deliver::{Code, fill_in};
use super::letters::{Words, filled};
use super::organiser_dir::{secret_text, text};
use crate::args::ElectionDeliver;
use crate::engines::{print, print_json};
use crate::failure::{CliError, eprint_line, name};
use crate::input::pem;
use crate::progress::{Length, Progress};
use crate::session::Session;

/// How long the mail server may take to answer.
const PATIENCE: Duration = Duration::from_secs(60);

/// The settings of a mail server.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Settings {
    /// The server's name or address.
    server: String,
    /// The port. The default depends on `security`: 465, 587 or 25.
    port: Option<u16>,
    #[serde(default)]
    security: Security,
    /// A root of the server's certificate, in PEM, if the system does not have it.
    ca: Option<PathBuf>,
    /// The sender of the e-mails.
    from: String,
    reply_to: Option<String>,
    user: Option<String>,
    /// A file with the password in its first line.
    password_file: Option<PathBuf>,
}

/// The security of the connection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Security {
    /// TLS from the first byte.
    Tls,
    /// TLS after `STARTTLS`, which is required.
    #[default]
    StartTls,
    /// No TLS. Allowed only for this machine.
    None,
}

/// Sends the e-mails that were not sent before.
pub(super) fn send(
    session: &Session,
    command: &ElectionDeliver,
    path: &Path,
    codes: &[Code],
    words: &Words,
    own: Option<&str>,
) -> Result<(), CliError> {
    let settings: Settings = toml::from_str(&text(path)?).map_err(|error| CliError::at(name(path), error.message()))?;
    let of = |what: &str| CliError::at(name(path), format!("{what} is not an e-mail address"));
    let from: Mailbox = settings.from.parse().map_err(|_| of("'from'"))?;
    let reply_to: Option<Mailbox> =
        settings.reply_to.as_deref().map(str::parse).transpose().map_err(|_| of("'reply_to'"))?;
    let addresses = command.addresses.as_deref().map(addresses).transpose()?.unwrap_or_default();
    // All voters must have an address before any e-mail is sent.
    let without: Vec<&str> =
        codes.iter().filter(|code| !addresses.contains_key(&code.called)).map(|code| code.called.as_str()).collect();
    if let Some(first) = without.first() {
        return Err(CliError::new(format!("{} voters have no address, the first is '{first}'", without.len())));
    }
    let noted = command.sent.clone().unwrap_or_else(|| {
        let mut noted = command.credentials.clone().into_os_string();
        noted.push(".sent");
        noted.into()
    });
    let mut sent = Sent::open(&noted)?;
    let transport = transport(path, &settings)?;
    let (mut done, mut refused) = (0, Vec::new());
    let progress = Progress::start("sending", Length::Rows(codes.len() as u64));
    for (number, code) in codes.iter().enumerate() {
        progress.set(number as u64, codes.len() as u64);
        if sent.has(&code.voter) {
            continue;
        }
        let subject = filled(words.subject, &[("title", &command.title)]);
        let body = fill_in(own.unwrap_or(words.mail), &command.title, code);
        let to = Mailbox::new(None, addresses[&code.called].clone());
        let mut message = Message::builder().from(from.clone()).to(to).subject(subject.trim_start_matches(": "));
        if let Some(reply_to) = &reply_to {
            message = message.reply_to(Mailbox::clone(reply_to));
        }
        let message = message.body(body).map_err(|error| CliError::because("an e-mail cannot be written", error))?;
        match transport.send(&message) {
            Ok(_) => {
                sent.note(&code.voter)?;
                done += 1;
            }
            // The server rejects this address. Others may work.
            Err(error) if error.is_permanent() => refused.push(format!("{}: {error}", code.called)),
            Err(error) => {
                let kept = format!("{done} e-mails were sent; the next run continues after them ({})", name(&noted));
                return Err(CliError::at(&settings.server, error).with_note(&kept));
            }
        }
    }
    drop(progress);
    refused.iter().for_each(eprint_line);
    match session.json {
        true => print_json(&serde_json::json!({ "sent": done, "refused": refused.len() }))?,
        false => print(&format!("{done} e-mails sent\n"))?,
    }
    match refused.len() {
        0 => Ok(()),
        count => Err(CliError::at(&settings.server, format!("{count} addresses were rejected"))),
    }
}

fn transport(path: &Path, settings: &Settings) -> Result<SmtpTransport, CliError> {
    let host = settings.server.as_str();
    let here = host == "localhost" || host.parse::<IpAddr>().is_ok_and(|address| address.is_loopback());
    let tls = || -> Result<TlsParameters, CliError> {
        let mut tls = TlsParameters::builder(host.to_owned());
        if let Some(ca) = &settings.ca {
            let wrong = |_| CliError::at(name(ca), "no PEM certificate found");
            tls = tls.add_root_certificate(Certificate::from_pem(pem(ca)?.as_bytes()).map_err(wrong)?);
        }
        tls.build().map_err(|error| CliError::because("TLS cannot be set up", error))
    };
    let (tls, port) = match settings.security {
        Security::Tls => (Tls::Wrapper(tls()?), 465),
        Security::StartTls => (Tls::Required(tls()?), 587),
        Security::None if here => (Tls::None, 25),
        Security::None => return Err(CliError::at(name(path), "without TLS, codes are sent only to this machine")),
    };
    let mut transport =
        SmtpTransport::builder_dangerous(host).port(settings.port.unwrap_or(port)).tls(tls).timeout(Some(PATIENCE));
    if let (Some(user), Some(file)) = (&settings.user, &settings.password_file) {
        let password = secret_text(file)?.first_line().to_owned();
        transport = transport.credentials(Credentials::new(user.clone(), password));
    }
    Ok(transport.build())
}

/// Reads the addresses of voters by name.
fn addresses(path: &Path) -> Result<HashMap<String, Address>, CliError> {
    let text = text(path)?;
    let mut table = csv::Reader::from_reader(text.as_bytes());
    let at = |error: csv::Error| CliError::at(name(path), error);
    let header = table.headers().map_err(at)?.clone();
    let column = |called: &str| header.iter().position(|name| name == called);
    let (Some(voter), Some(email)) = (column("voter"), column("email")) else {
        return Err(CliError::at(name(path), "not a table with the columns 'voter' and 'email'"));
    };
    let mut addresses = HashMap::new();
    for (row, record) in table.records().enumerate() {
        let record = record.map_err(at)?;
        let wrong = |what: &str| CliError::at(name(path), format!("row {}: {what}", row + 1));
        let address = record[email].trim().parse().map_err(|_| wrong("not an e-mail address"))?;
        if addresses.insert(record[voter].to_owned(), address).is_some() {
            return Err(wrong("this voter is listed twice"));
        }
    }
    Ok(addresses)
}

/// The voters that were sent an e-mail, stored so that nobody gets two.
struct Sent {
    path: PathBuf,
    voters: HashSet<String>,
    file: fs::File,
}

impl Sent {
    fn open(path: &Path) -> Result<Self, CliError> {
        let known = match fs::read_to_string(path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
            Err(error) => return Err(CliError::reading(&name(path), error)),
        };
        let file = OpenOptions::new().append(true).create(true).mode(0o600).open(path);
        let file = file.map_err(|error| CliError::writing(&name(path), error))?;
        Ok(Sent { path: path.to_owned(), voters: known.lines().map(str::to_owned).collect(), file })
    }

    fn has(&self, voter: &str) -> bool {
        self.voters.contains(voter)
    }

    fn note(&mut self, voter: &str) -> Result<(), CliError> {
        let written = writeln!(self.file, "{voter}").and_then(|()| self.file.sync_data());
        written.map_err(|error| CliError::writing(&name(&self.path), error))
    }
}
