//! The client of a server, which fetches public data and sends signed entries.

use std::io::{self, Read};
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use hearith_election::{FILE_ENTRIES, HEADS, Hash, Kind, Notice, SignedTreeHead, Source};
use serde::Deserialize;
use serde_json::value::RawValue;
use tokio_rustls::rustls::crypto::ring::default_provider;
use ureq::tls::{Certificate, RootCerts, TlsConfig};
use ureq::{Agent, Body, http};

use crate::tls;

/// Maximum time to establish a connection.
const CONNECT: Duration = Duration::from_secs(10);
/// Maximum time to wait for the server's answer. The store may be restarting.
const ANSWER: Duration = Duration::from_secs(90);
/// Maximum length in bytes of an answer other than a file of the record.
const MAX_ANSWER_BYTES: u64 = 16 << 20;

/// Why a request to a server failed.
#[derive(Debug, thiserror::Error)]
#[error("{url}: {kind}")]
pub struct Error {
    url: String,
    kind: ErrorKind,
}

impl Error {
    /// The kind of the error.
    pub fn kind(&self) -> &ErrorKind {
        &self.kind
    }
}

/// The kind of an error.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The URL is not that of a server.
    #[error("not the URL of a server: expected http://HOST:PORT or https://HOST")]
    Url,
    /// An `http` URL of another machine, over which nothing would authenticate the server.
    #[error("http is only for servers on this machine: use https")]
    Unprotected,
    /// The root certificates are unusable.
    #[error("root certificates: {0}")]
    Roots(String),
    /// The server is unreachable or closed the connection.
    #[error("cannot connect: {0}")]
    Connection(String),
    /// The server refused the request.
    #[error("{message}")]
    Refused {
        /// The code of the refusal.
        code: String,
        /// The message.
        message: String,
    },
    /// The answer is not that of an election server.
    #[error("the answer does not come from an election server")]
    Answer,
}

/// A server's description of its election.
#[derive(Debug, Deserialize)]
pub struct Election {
    /// The board's public key.
    pub board: String,
    /// The election's id, if an election has begun.
    pub id: Option<Hash>,
    /// The body of the first entry.
    pub manifest: Option<Box<RawValue>>,
    /// The phase of the election.
    pub phase: String,
    /// The number of entries on the board.
    pub size: u64,
    /// The number of voters who have voted.
    pub voted: u64,
    /// The number of voters.
    pub voters: u64,
}

/// The entry of a tracker.
#[derive(Debug, Deserialize)]
pub struct Tracked {
    /// Whether it is a ballot that counts, according to the server. Do not trust this: a verifier
    /// computes it from the record.
    pub counts: bool,
    /// The line of the board.
    pub entry: Box<RawValue>,
}

/// Maximum total length of the heads in bytes.
const MAX_HEADS_BYTES: u64 = 1 << 30;

/// A connection to a server.
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
    /// A client for the server at a URL. The server's certificate must have a root in `ca` (PEM),
    /// or in the system's store if `ca` is `None`.
    ///
    /// # Errors
    /// The URL or the root certificates are unusable.
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

    /// Fetches the server's description of its election.
    ///
    /// # Errors
    /// The server is unreachable or refuses the request.
    pub fn election(&self) -> Result<Election, Error> {
        self.get_json("api/election")
    }

    /// Fetches the entry of a tracker, given as 26 characters.
    ///
    /// # Errors
    /// The server is unreachable or refuses the request, for example because there is no such
    /// entry.
    pub fn tracked(&self, tracker: &str) -> Result<Tracked, Error> {
        self.get_json(&format!("api/ballots/{tracker}"))
    }

    /// Sends a signed notice and returns the text of the server's receipt. A notice that is already
    /// on the board gets its receipt again.
    ///
    /// # Errors
    /// The server is unreachable or refuses the notice.
    pub fn send(&self, notice: &Notice) -> Result<String, Error> {
        let path = match notice.kind() {
            Kind::Ballot => "api/ballots",
            Kind::Challenge => "api/challenges",
            _ => "api/entries",
        };
        let request = self.agent.post(format!("{}/{path}", self.url)).content_type("application/json");
        self.text(self.answered(request.send(notice.to_json()))?)
    }

    /// The current record.
    ///
    /// # Errors
    /// The server is unreachable, or its heads are invalid.
    pub fn record(&self) -> Result<Record, Error> {
        // Bypasses caches, because a tally must not miss a ballot.
        let request = self.agent.get(format!("{}/record/{HEADS}", self.url));
        let answer = self.answered(request.header("Cache-Control", "no-cache").call())?;
        let read = answer.into_body().into_with_config().limit(MAX_HEADS_BYTES).read_to_string();
        let heads = read.map_err(|error| self.error(ErrorKind::Connection(error.to_string())))?;
        let size = match heads.lines().next_back().map(SignedTreeHead::from_line) {
            None => 0,
            Some(Ok(head)) => head.size,
            Some(Err(_)) => return Err(self.error(ErrorKind::Answer)),
        };
        Ok(Record { client: self.clone(), heads, size })
    }

    fn error(&self, kind: ErrorKind) -> Error {
        Error { url: self.url.clone(), kind }
    }

    fn get(&self, path: &str) -> Result<http::Response<Body>, Error> {
        self.answered(self.agent.get(format!("{}/{path}", self.url)).call())
    }

    fn get_json<T: for<'a> Deserialize<'a>>(&self, path: &str) -> Result<T, Error> {
        let text = self.text(self.get(path)?)?;
        serde_json::from_str(&text).map_err(|_| self.error(ErrorKind::Answer))
    }

    fn text(&self, answer: http::Response<Body>) -> Result<String, Error> {
        let read = answer.into_body().into_with_config().limit(MAX_ANSWER_BYTES).read_to_string();
        read.map_err(|error| self.error(ErrorKind::Connection(error.to_string())))
    }

    /// The answer, unless it is a refusal.
    fn answered(&self, answer: Result<http::Response<Body>, ureq::Error>) -> Result<http::Response<Body>, Error> {
        let answer = answer.map_err(|error| self.error(ErrorKind::Connection(error.to_string())))?;
        if answer.status().is_success() {
            return Ok(answer);
        }
        let refused: Result<Refused, _> = serde_json::from_str(&self.text(answer)?);
        let Refused { error: code, message } = refused.map_err(|_| self.error(ErrorKind::Answer))?;
        Err(self.error(ErrorKind::Refused { code, message }))
    }
}

/// A server's record at a point in time, for verification without a local copy. It ends at the
/// newest head of that time.
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

/// The first lines of a file that may have grown.
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
        Some(pem) => tls::certificates(pem).ok_or("no PEM certificate found")?,
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
