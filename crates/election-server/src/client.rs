//! The client of a server: it fetches public data and sends signed entries.

use std::io::{self, Read};
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use hearith_election::{FILE_ENTRIES, HEADS, Hash, Head, Kind, Notice, Source};
use serde::Deserialize;
use serde_json::value::RawValue;
use tokio_rustls::rustls::crypto::ring::default_provider;
use ureq::tls::{Certificate, RootCerts, TlsConfig};
use ureq::{Agent, Body, http};

use crate::tls;

/// How long a connection may take to come.
const CONNECT: Duration = Duration::from_secs(10);
/// How long the server may take to answer: the store may be restarting.
const ANSWER: Duration = Duration::from_secs(90);
/// Bytes of an answer that is no file of the record.
const MOST: u64 = 16 << 20;

/// Why a server did not do what it was asked for.
#[derive(Debug, thiserror::Error)]
#[error("{url}: {kind}")]
pub struct Error {
    url: String,
    kind: ErrorKind,
}

impl Error {
    /// What went wrong.
    pub fn kind(&self) -> &ErrorKind {
        &self.kind
    }
}

/// What went wrong.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ErrorKind {
    /// Not the URL of a server.
    #[error("not the URL of a server: http://HOST:PORT or https://HOST")]
    Url,
    /// Ballots would go over the network with nothing that tells the server from another.
    #[error("http is for servers on this machine: use https")]
    Unprotected,
    /// The roots of certificates are not usable.
    #[error("roots of certificates: {0}")]
    Roots(String),
    /// The server cannot be reached, or broke off.
    #[error("cannot connect: {0}")]
    Connection(String),
    /// The server refuses.
    #[error("{message}")]
    Refused {
        /// The code of the refusal.
        code: String,
        /// In words.
        message: String,
    },
    /// The answer is none of such a server.
    #[error("the answer is not that of an election server")]
    Answer,
}

/// What a server says of its election.
#[derive(Debug, Deserialize)]
pub struct Election {
    /// The board's public key.
    pub board: String,
    /// The election's id, if there is one yet.
    pub id: Option<Hash>,
    /// The body of the first entry.
    pub manifest: Option<Box<RawValue>>,
    /// What the election is at.
    pub phase: String,
    /// How many entries the board has.
    pub size: u64,
    /// Voters who have voted.
    pub voted: u64,
    /// Voters.
    pub voters: u64,
}

/// An entry that a tracker leads to.
#[derive(Debug, Deserialize)]
pub struct Tracked {
    /// Whether it is a ballot that counts: the server's word, which a verifier of the record
    /// computes and nobody should believe.
    pub counts: bool,
    /// The line of the board.
    pub entry: Box<RawValue>,
}

/// Bytes of all heads.
const MOST_HEADS: u64 = 1 << 30;

/// A server.
#[derive(Clone, Debug)]
pub struct Client {
    agent: Agent,
    url: String,
}

#[derive(Deserialize)]
struct Refused {
    error: String,
    message: String,
}

impl Client {
    /// A server at a URL, believed if its certificate leads to a root in `ca` (PEM), else to one of
    /// the system's.
    ///
    /// # Errors
    /// The URL or the roots are not usable.
    pub fn new(url: &str, ca: Option<&str>) -> Result<Self, Error> {
        let wrong = |kind| Error { url: url.to_owned(), kind };
        let uri: http::Uri = url.parse().map_err(|_| wrong(ErrorKind::Url))?;
        let protected = match (uri.scheme_str(), uri.host(), uri.query()) {
            (Some("https"), Some(_), None) => true,
            (Some("http"), Some(host), None) if is_here(host) => false,
            (Some("http"), Some(_), None) => return Err(wrong(ErrorKind::Unprotected)),
            _ => return Err(wrong(ErrorKind::Url)),
        };
        let mut config = Agent::config_builder()
            .http_status_as_error(false)
            .max_redirects(0)
            .proxy(None)
            .user_agent(concat!("hearith/", env!("CARGO_PKG_VERSION")))
            .timeout_connect(Some(CONNECT))
            .timeout_recv_response(Some(ANSWER))
            .timeout_recv_body(Some(ANSWER * 10));
        if protected {
            let roots = roots(ca).map_err(|why| wrong(ErrorKind::Roots(why)))?;
            let tls = TlsConfig::builder()
                .unversioned_rustls_crypto_provider(Arc::new(default_provider()))
                .root_certs(RootCerts::new_with_certs(&roots));
            config = config.tls_config(tls.build());
        }
        Ok(Self { agent: config.build().new_agent(), url: url.trim_end_matches('/').to_owned() })
    }

    /// What the server says of its election.
    ///
    /// # Errors
    /// The server is not to be had, or refuses.
    pub fn election(&self) -> Result<Election, Error> {
        self.get_json("api/election")
    }

    /// The entry that a tracker, in its 26 characters, leads to.
    ///
    /// # Errors
    /// The server is not to be had, or refuses: there is none.
    pub fn tracked(&self, tracker: &str) -> Result<Tracked, Error> {
        self.get_json(&format!("api/ballots/{tracker}"))
    }

    /// Sends what somebody signed, and gives the server's receipt: its text. What is on the board
    /// already gives its receipt again.
    ///
    /// # Errors
    /// The server is not to be had, or refuses.
    pub fn send(&self, notice: &Notice) -> Result<String, Error> {
        let path = match notice.kind() {
            Kind::Ballot => "api/ballots",
            Kind::Challenge => "api/challenges",
            _ => "api/entries",
        };
        let request = self.agent.post(format!("{}/{path}", self.url)).content_type("application/json");
        self.text(self.answered(request.send(notice.to_json()))?)
    }

    /// The record as it is now.
    ///
    /// # Errors
    /// The server is not to be had, or its heads are none.
    pub fn record(&self) -> Result<Record, Error> {
        // As it is now: whoever tallies must miss no ballot.
        let request = self.agent.get(format!("{}/record/{HEADS}", self.url));
        let answer = self.answered(request.header("Cache-Control", "no-cache").call())?;
        let read = answer.into_body().into_with_config().limit(MOST_HEADS).read_to_string();
        let heads = read.map_err(|error| self.wrong(ErrorKind::Connection(error.to_string())))?;
        let size = match heads.lines().next_back().map(Head::from_line) {
            None => 0,
            Some(Ok(head)) => head.size,
            Some(Err(_)) => return Err(self.wrong(ErrorKind::Answer)),
        };
        Ok(Record { client: self.clone(), heads, size })
    }

    fn wrong(&self, kind: ErrorKind) -> Error {
        Error { url: self.url.clone(), kind }
    }

    fn get(&self, path: &str) -> Result<http::Response<Body>, Error> {
        self.answered(self.agent.get(format!("{}/{path}", self.url)).call())
    }

    fn get_json<T: for<'a> Deserialize<'a>>(&self, path: &str) -> Result<T, Error> {
        let text = self.text(self.get(path)?)?;
        serde_json::from_str(&text).map_err(|_| self.wrong(ErrorKind::Answer))
    }

    fn text(&self, answer: http::Response<Body>) -> Result<String, Error> {
        let read = answer.into_body().into_with_config().limit(MOST).read_to_string();
        read.map_err(|error| self.wrong(ErrorKind::Connection(error.to_string())))
    }

    /// The answer, if it is no refusal.
    fn answered(&self, answer: Result<http::Response<Body>, ureq::Error>) -> Result<http::Response<Body>, Error> {
        let answer = answer.map_err(|error| self.wrong(ErrorKind::Connection(error.to_string())))?;
        if answer.status().is_success() {
            return Ok(answer);
        }
        let refused: Result<Refused, _> = serde_json::from_str(&self.text(answer)?);
        let Refused { error: code, message } = refused.map_err(|_| self.wrong(ErrorKind::Answer))?;
        Err(self.wrong(ErrorKind::Refused { code, message }))
    }
}

/// The record as a server shows it at a time, to be verified without being kept: as far as the
/// newest head goes that was there then.
#[derive(Debug)]
pub struct Record {
    client: Client,
    heads: String,
    size: u64,
}

impl Source for Record {
    fn open(&self, name: &str) -> io::Result<Option<Box<dyn Read + Send>>> {
        if name == HEADS {
            return Ok(Some(Box::new(io::Cursor::new(self.heads.clone().into_bytes()))));
        }
        let digits = name.rsplit('/').next().and_then(|file| file.strip_suffix(".jsonl"));
        let Some(first) = digits.and_then(|digits| digits.parse::<u64>().ok()).filter(|first| *first < self.size)
        else {
            return Ok(None);
        };
        let answer = self.client.get(&format!("record/{name}")).map_err(io::Error::other)?;
        let lines = FILE_ENTRIES.min(self.size - first);
        Ok(Some(Box::new(FirstLines { reader: answer.into_body().into_reader(), lines })))
    }
}

/// So many lines of a file that may have grown.
struct FirstLines<R> {
    reader: R,
    lines: u64,
}

impl<R: Read> Read for FirstLines<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.lines == 0 {
            return Ok(0);
        }
        let read = self.reader.read(buffer)?;
        let ends = buffer[..read].iter().enumerate().filter(|(_, byte)| **byte == b'\n').map(|(at, _)| at + 1);
        let (mut count, mut last) = (0, read);
        for end in ends {
            count += 1;
            if count == self.lines {
                last = end;
                break;
            }
        }
        self.lines -= count;
        Ok(last)
    }
}

fn is_here(host: &str) -> bool {
    let address = host.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>();
    host == "localhost" || address.is_ok_and(|address| address.is_loopback())
}

fn roots(ca: Option<&str>) -> Result<Vec<Certificate<'static>>, String> {
    let found = match ca {
        Some(pem) => tls::certificates(pem).ok_or("no certificate in PEM")?,
        None => rustls_native_certs::load_native_certs().certs,
    };
    if found.is_empty() {
        return Err("the system has none".to_owned());
    }
    Ok(found.iter().map(|root| Certificate::from_der(root).to_owned()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_grew_is_read_as_far_as_it_was() {
        for lines in 0..=4 {
            let mut text = String::new();
            FirstLines { reader: &b"one\ntwo\nthree\n"[..], lines }.read_to_string(&mut text).unwrap();
            assert_eq!(text, ["", "one\n", "one\ntwo\n", "one\ntwo\nthree\n", "one\ntwo\nthree\n"][lines as usize]);
        }
    }

    #[test]
    fn ballots_go_to_servers_that_can_be_told_apart() {
        let kind = |url: &str| Client::new(url, None).map(drop).map_err(|error| format!("{:?}", error.kind));
        for url in ["http://127.0.0.1:1", "http://[::1]:1/", "http://localhost:1", "https://example.org"] {
            assert_eq!(kind(url), Ok(()), "{url}");
        }
        for url in ["http://10.0.0.1:1", "http://example.org", "http://localhost.example.org"] {
            assert_eq!(kind(url), Err("Unprotected".to_owned()), "{url}");
        }
        for url in ["", "127.0.0.1:1", "ftp://localhost", "/a/folder", "http://", "https://example.org?a=b"] {
            assert_eq!(kind(url), Err("Url".to_owned()), "{url}");
        }
        let error = Client::new("https://example.org", Some("no PEM")).unwrap_err();
        assert!(matches!(error.kind, ErrorKind::Roots(_)));
    }
}
