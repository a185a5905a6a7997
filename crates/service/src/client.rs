//! The client: a key whose operations a service performs.
//!
//! A batch is sent in messages of [`MESSAGE_ROWS`] rows, so the service computes the first ones
//! while the last are still in transit. The client checks every answer as far as it can without the
//! private key: the number of rows, and that each is a valid number under the key. It has to trust
//! that the service computes the requested operation.

mod exchange;
mod remote_key;

use std::fmt;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use hearith_paillier::{ComputeError, DecryptError, Process, PublicKey};
use prost::bytes::Bytes;
use tokio::runtime::Runtime;
use tonic::transport::{Certificate, Channel, ClientTlsConfig, Endpoint, Identity};
use tonic::{Code, IntoStreamingRequest, Request, Status};
use tonic_types::StatusExt;

use crate::proto::paillier_client::PaillierClient;
use crate::proto::{self, DOMAIN, ErrorReason, ROW};
use exchange::Exchange;
use remote_key::Registered;
pub use remote_key::RemoteKey;

/// Maximum number of rows per message.
pub const MESSAGE_ROWS: usize = 128;
/// Bytes of a message in addition to its numbers.
const MESSAGE_EXTRA: usize = 1024;
/// Timeout for connecting.
const CONNECT: Duration = Duration::from_secs(10);
/// Interval of keep-alive pings, and the timeout for their answers.
const KEEP_ALIVE: Duration = Duration::from_secs(20);
/// Maximum size of an answer in bytes.
const ANSWER_BYTES: usize = 64 << 20;

/// Connection options.
#[derive(Clone, Default)]
pub struct Options {
    /// Root certificates that the service's certificate must chain to, in PEM. Needed for https.
    pub ca: Option<String>,
    /// The client's certificate and private key, in PEM, if the service requires one.
    pub identity: Option<(String, String)>,
    /// Time limit for an operation on a batch. `None` waits forever.
    pub timeout: Option<Duration>,
}

/// Omits the key.
impl fmt::Debug for Options {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Options")
            .field("ca", &self.ca.is_some())
            .field("timeout", &self.timeout)
            .finish_non_exhaustive()
    }
}

/// A failure of a service, or of the connection to it.
#[derive(Debug)]
pub struct Error {
    url: String,
    row: Option<usize>,
    kind: ErrorKind,
}

/// The cause of an [`Error`].
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The address is not a service URL.
    #[error("the URL of a service is http://HOST:PORT or https://HOST:PORT")]
    Url,
    /// Plaintexts would cross a network unencrypted.
    #[error("http is for services on this machine: use https for others")]
    Unprotected,
    /// There are no root certificates to verify the service's certificate with.
    #[error("https needs the root of the service's certificate")]
    NoRoot,
    /// The connection failed, or a certificate was rejected.
    #[error("cannot connect")]
    Connect(#[source] tonic::transport::Error),
    /// This is a child of `fork`. It has the memory of its parent's connections, but not their
    /// threads.
    #[error("the connection belongs to another process: connect again in this one")]
    OtherProcess,
    /// The client's threads could not be started.
    #[error("cannot start threads")]
    Runtime(#[source] std::io::Error),
    /// The service rejected the request.
    #[error("{text}")]
    Refused {
        /// The reason, for programs.
        reason: ErrorReason,
        /// The reason, as text.
        text: String,
    },
    /// The deadline passed.
    #[error("the service took too long")]
    Deadline(Box<Status>),
    /// The connection broke.
    #[error("{}", broken(.0))]
    Broken(Box<Status>),
    /// The service's answer is malformed.
    #[error("the service's answer is malformed")]
    Answer,
    /// The service returned a number that is invalid under the key.
    #[error("the service returned a number that is not a ciphertext of the key")]
    Number(#[source] hearith_paillier::Error),
}

/// Describes a broken connection. The status's own text shows its causes as internal structures.
fn broken(status: &Status) -> String {
    if status.code() == Code::Unimplemented {
        return "this is not a Hearith service".to_owned();
    }
    let mut text = "the connection broke".to_owned();
    let mut append = |more: &str| {
        if !more.is_empty() && !text.contains(more) {
            text = format!("{text}: {more}");
        }
    };
    append(status.message());
    let mut cause = std::error::Error::source(status);
    while let Some(error) = cause {
        append(&error.to_string());
        cause = error.source();
    }
    text
}

impl Error {
    /// The service's URL.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// The cause.
    pub fn kind(&self) -> &ErrorKind {
        &self.kind
    }

    /// The invalid row of the batch, counted from 0, if a row is invalid.
    pub fn row(&self) -> Option<usize> {
        self.row
    }

    /// The service's reason, if it rejected the request.
    pub fn reason(&self) -> Option<ErrorReason> {
        if let ErrorKind::Refused { reason, .. } = &self.kind { Some(*reason) } else { None }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ", self.url)?;
        if let Some(row) = self.row {
            write!(f, "row {row}: ")?;
        }
        self.kind.fmt(f)
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        std::error::Error::source(&self.kind)
    }
}

impl From<Error> for ComputeError {
    fn from(error: Error) -> Self {
        ComputeError::Service(Box::new(error))
    }
}

impl From<Error> for DecryptError {
    fn from(error: Error) -> Self {
        DecryptError::Device(Box::new(error))
    }
}

/// A connection to a service, re-established when it breaks. Threads can share it.
#[derive(Debug)]
pub struct Service {
    /// `Some` until the service is dropped.
    connection: Option<Connection>,
    process: Process,
    url: String,
    timeout: Option<Duration>,
}

#[derive(Debug)]
struct Connection {
    runtime: Runtime,
    client: PaillierClient<Channel>,
}

/// A child of `fork` has no threads to wait for, so it leaks the connection.
impl Drop for Service {
    fn drop(&mut self) {
        if !self.process.is_current() {
            std::mem::forget(self.connection.take());
        }
    }
}

impl Service {
    /// Connects to a service.
    ///
    /// # Errors
    /// The URL is invalid, `http` names another machine, a certificate is rejected, or the service
    /// does not answer.
    pub fn connect(url: &str, options: &Options) -> Result<Self, Error> {
        let error = |kind| Error { url: url.to_owned(), row: None, kind };
        let endpoint = endpoint(url, options).map_err(error)?;
        let builder = &mut tokio::runtime::Builder::new_multi_thread();
        let runtime = builder.worker_threads(1).thread_name("hearith-remote").enable_all().build();
        let runtime = runtime.map_err(|cause| error(ErrorKind::Runtime(cause)))?;
        let channel = runtime.block_on(endpoint.connect()).map_err(|cause| error(ErrorKind::Connect(cause)))?;
        let client = PaillierClient::new(channel).max_decoding_message_size(ANSWER_BYTES);
        let connection = Some(Connection { runtime, client });
        Ok(Self { connection, process: Process::current(), url: url.to_owned(), timeout: options.timeout })
    }

    fn connection(&self) -> Result<&Connection, Error> {
        let own = self.connection.as_ref().filter(|_| self.process.is_current());
        own.ok_or_else(|| self.wrong(ErrorKind::OtherProcess))
    }

    /// Registers a public key with the service.
    ///
    /// # Errors
    /// The service rejects the key or cannot be reached.
    pub fn key(self: &Arc<Self>, public: &PublicKey) -> Result<RemoteKey, Error> {
        Ok(RemoteKey::new(self.clone(), public.clone(), self.register(public)?))
    }

    fn register(&self, public: &PublicKey) -> Result<Registered, Error> {
        let (n, h) = (public.modulus_be().into(), public.generator_be().unwrap_or_default().into());
        let exponent_bits = public.exponent_bits().unwrap_or_default();
        let request = self.timed(Request::new(proto::RegisterKeyRequest { n, h, exponent_bits }));
        let Connection { runtime, client } = self.connection()?;
        let mut client = client.clone();
        let answer = runtime.block_on(self.within(client.register_key(request)));
        let answer = answer.map_err(|status| self.error(status, 0))?.into_inner();
        let message_bytes = usize::try_from(answer.max_message_bytes).unwrap_or(usize::MAX);
        Ok(Registered { handle: answer.key, message_bytes, decrypts: answer.decrypts })
    }

    fn timed<T>(&self, mut request: Request<T>) -> Request<T> {
        if let Some(timeout) = self.timeout {
            request.set_timeout(timeout);
        }
        request
    }

    /// Applies the timeout to a call.
    async fn within<T>(&self, call: impl Future<Output = Result<T, Status>>) -> Result<T, Status> {
        match self.timeout {
            None => call.await,
            Some(timeout) => {
                let late = |_| Err(Status::deadline_exceeded("the deadline has passed"));
                tokio::time::timeout(timeout, call).await.unwrap_or_else(late)
            }
        }
    }

    /// Sends requests as one stream and returns the numbers of their answers.
    fn exchange<E: Exchange>(&self, requests: Vec<E>, rows_each: usize) -> Result<Vec<Bytes>, Error> {
        let Connection { runtime, client } = self.connection()?;
        let expected = requests.len();
        let mut numbers = Vec::with_capacity(expected);
        let exchanged = async {
            let requests = self.timed(tokio_stream::iter(requests).into_streaming_request());
            let mut answers = E::call(client.clone(), requests).await?.into_inner();
            while let Some(answer) = answers.message().await? {
                numbers.push(E::numbers(answer));
            }
            Ok(())
        };
        let exchanged: Result<(), Status> = runtime.block_on(self.within(exchanged));
        exchanged.map_err(|status| self.error(status, numbers.len() * rows_each))?;
        if numbers.len() == expected { Ok(numbers) } else { Err(self.wrong(ErrorKind::Answer)) }
    }

    fn wrong(&self, kind: ErrorKind) -> Error {
        Error { url: self.url.clone(), row: None, kind }
    }

    /// Converts a status for the message that begins at row `first`.
    fn error(&self, status: Status, first: usize) -> Error {
        let info = status.get_details_error_info().filter(|info| info.domain == DOMAIN);
        let reason = info.as_ref().and_then(|info| ErrorReason::named(&info.reason));
        let row = info.and_then(|info| info.metadata.get(ROW)?.parse::<usize>().ok());
        let kind = match reason {
            Some(reason) => ErrorKind::Refused { reason, text: status.message().to_owned() },
            None if matches!(status.code(), Code::DeadlineExceeded | Code::Cancelled) => {
                ErrorKind::Deadline(Box::new(status))
            }
            None => ErrorKind::Broken(Box::new(status)),
        };
        Error { url: self.url.clone(), row: row.map(|row| row.saturating_add(first)), kind }
    }
}

fn endpoint(url: &str, options: &Options) -> Result<Endpoint, ErrorKind> {
    let endpoint = Endpoint::from_shared(url.to_owned()).map_err(|_| ErrorKind::Url)?;
    let (scheme, host) = (endpoint.uri().scheme_str(), endpoint.uri().host().ok_or(ErrorKind::Url)?);
    let endpoint = match (scheme, &options.ca) {
        (Some("http"), _) if !is_loopback(host) => return Err(ErrorKind::Unprotected),
        (Some("http"), _) => endpoint,
        (Some("https"), None) => return Err(ErrorKind::NoRoot),
        (Some("https"), Some(ca)) => {
            let mut tls = ClientTlsConfig::new().ca_certificate(Certificate::from_pem(ca));
            if let Some((certificate, key)) = &options.identity {
                tls = tls.identity(Identity::from_pem(certificate, key));
            }
            endpoint.tls_config(tls).map_err(ErrorKind::Connect)?
        }
        _ => return Err(ErrorKind::Url),
    };
    Ok(endpoint
        .connect_timeout(CONNECT)
        .http2_keep_alive_interval(KEEP_ALIVE)
        .keep_alive_timeout(KEEP_ALIVE)
        .keep_alive_while_idle(true))
}

fn is_loopback(host: &str) -> bool {
    let address = host.trim_start_matches('[').trim_end_matches(']').parse();
    host == "localhost" || address.is_ok_and(|address: IpAddr| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plaintexts_do_not_leave_the_machine_unprotected() {
        let kind = |url: &str| endpoint(url, &Options::default()).map(drop).map_err(|kind| format!("{kind:?}"));
        for url in ["http://127.0.0.1:1", "http://127.9.9.9:1", "http://[::1]:1", "http://localhost:1"] {
            assert_eq!(kind(url), Ok(()), "{url}");
        }
        for url in ["http://10.0.0.1:1", "http://example.org:1", "http://localhost.example.org:1"] {
            assert_eq!(kind(url), Err("Unprotected".to_owned()), "{url}");
        }
        assert_eq!(kind("https://example.org:1"), Err("NoRoot".to_owned()));
        for url in ["", "127.0.0.1:1", "ftp://localhost:1", "/tmp/socket", "http://"] {
            assert_eq!(kind(url), Err("Url".to_owned()), "{url}");
        }
    }
}
