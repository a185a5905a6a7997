//! The client: a key whose operations a service carries out.
//!
//! A batch goes over in messages of [`MESSAGE_ROWS`] rows, so that the service computes the first
//! while the last are on their way. Every answer is checked as far as it can be without the private
//! key: the number of its rows, and that each is a number of the key. That the service computes
//! what it is asked to is a matter of trust.

use std::fmt;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use hearith_paillier::{
    Ciphertexts, Compute, ComputeError, Decrypt, DecryptError, ErrorKind as SchemeErrorKind, Plaintexts, Process,
    PublicKey,
};
use prost::bytes::Bytes;
use tokio::runtime::Runtime;
use tonic::transport::{Certificate, Channel, ClientTlsConfig, Endpoint, Identity};
use tonic::{Code, IntoStreamingRequest, Request, Response, Status, Streaming};
use tonic_types::StatusExt;
use zeroize::Zeroizing;

use crate::proto::paillier_client::PaillierClient;
use crate::proto::{self, DOMAIN, ErrorReason, ROW};

/// Rows of a message.
pub const MESSAGE_ROWS: usize = 128;
/// Bytes of a message beside its numbers.
const MESSAGE_EXTRA: usize = 1024;
/// How long it may take to connect.
const CONNECT: Duration = Duration::from_secs(10);
/// How often the service is asked whether it is there, and how long it may take to say so.
const KEEP_ALIVE: Duration = Duration::from_secs(20);
/// Bytes of an answer.
const ANSWER_BYTES: usize = 64 << 20;

/// How to connect.
#[derive(Clone, Default)]
pub struct Options {
    /// Roots of the service's certificate, in PEM: needed for https.
    pub ca: Option<String>,
    /// The client's certificate and its private key, in PEM, if the service asks for one.
    pub identity: Option<(String, String)>,
    /// How long an operation on a batch may take; for ever if none is given.
    pub timeout: Option<Duration>,
}

/// Shows nothing of the key.
impl fmt::Debug for Options {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Options")
            .field("ca", &self.ca.is_some())
            .field("timeout", &self.timeout)
            .finish_non_exhaustive()
    }
}

/// What went wrong with a service.
#[derive(Debug)]
pub struct Error {
    url: String,
    row: Option<usize>,
    kind: ErrorKind,
}

/// What went wrong.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The address is no URL of a service.
    #[error("a service is called http://HOST:PORT or https://HOST:PORT")]
    Url,
    /// Plaintexts would go over a network unprotected.
    #[error("http is for services on this machine: use https for others")]
    Unprotected,
    /// The service's certificate cannot be checked.
    #[error("https needs the root of the service's certificate")]
    NoRoot,
    /// There is no connection, or the certificates do not do.
    #[error("cannot connect")]
    Connect(#[source] tonic::transport::Error),
    /// A child of `fork` has the memory of its parent's connections, but not their threads.
    #[error("the connection belongs to the process that made it: connect in this one")]
    OtherProcess,
    /// The threads of the client could not be started.
    #[error("cannot start threads")]
    Runtime(#[source] std::io::Error),
    /// The service refuses.
    #[error("{text}")]
    Refused {
        /// Why.
        reason: ErrorReason,
        /// In words.
        text: String,
    },
    /// A deadline passed.
    #[error("the service took too long")]
    Deadline(Box<Status>),
    /// The connection broke.
    #[error("{}", broken(.0))]
    Broken(Box<Status>),
    /// The service gave what is no answer.
    #[error("the service's answer is malformed")]
    Answer,
    /// The service's version of the scheme gave numbers that are none of the key.
    #[error("the service returned a number that is not a ciphertext of the key")]
    Number(#[source] hearith_paillier::Error),
}

/// What broke, in words: a status tells its own causes, in the form of the program's internals.
fn broken(status: &Status) -> String {
    if status.code() == Code::Unimplemented {
        return "this is not a Hearith service".to_owned();
    }
    let mut text = "the connection broke".to_owned();
    let mut tell = |more: &str| {
        if !more.is_empty() && !text.contains(more) {
            text = format!("{text}: {more}");
        }
    };
    tell(status.message());
    let mut cause = std::error::Error::source(status);
    while let Some(error) = cause {
        tell(&error.to_string());
        cause = error.source();
    }
    text
}

impl Error {
    /// The service that it went wrong with.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// What went wrong.
    pub fn kind(&self) -> &ErrorKind {
        &self.kind
    }

    /// The row of the batch at fault, from 0, if there is one.
    pub fn row(&self) -> Option<usize> {
        self.row
    }

    /// Why the service refuses, if it does.
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

/// A connection to a service, which is made anew when it breaks. To be shared by threads.
#[derive(Debug)]
pub struct Service {
    /// There until it is dropped.
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

/// In a child of `fork` there are no threads that could be waited for.
impl Drop for Service {
    fn drop(&mut self) {
        if !self.process.is_current() {
            std::mem::forget(self.connection.take());
        }
    }
}

impl Service {
    /// Connects.
    ///
    /// # Errors
    /// A URL that is none, `http` to another machine, certificates that do not do, or nobody there.
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

    /// Makes a public key known to the service.
    ///
    /// # Errors
    /// The service does not take it, or is gone.
    pub fn key(self: &Arc<Self>, public: &PublicKey) -> Result<RemoteKey, Error> {
        let registered = self.register(public)?;
        let decrypts = registered.decrypts;
        Ok(RemoteKey {
            service: self.clone(),
            public: public.clone(),
            registered: Mutex::new(Arc::new(registered)),
            decrypts,
        })
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

    /// What a call gives, unless it takes too long.
    async fn within<T>(&self, call: impl Future<Output = Result<T, Status>>) -> Result<T, Status> {
        match self.timeout {
            None => call.await,
            Some(timeout) => {
                let late = |_| Err(Status::deadline_exceeded("the deadline has passed"));
                tokio::time::timeout(timeout, call).await.unwrap_or_else(late)
            }
        }
    }

    /// Sends requests as one stream and gives their answers.
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

    /// What a status says, of a message that begins at a row.
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

/// A public key whose operations a service carries out, and with it decryption if the service has
/// the private key.
pub struct RemoteKey {
    service: Arc<Service>,
    public: PublicKey,
    registered: Mutex<Arc<Registered>>,
    decrypts: bool,
}

#[derive(Debug)]
struct Registered {
    handle: String,
    message_bytes: usize,
    decrypts: bool,
}

impl RemoteKey {
    /// The public key.
    pub fn public(&self) -> &PublicKey {
        &self.public
    }

    /// Whether the service has the private key.
    pub fn decrypts(&self) -> bool {
        self.decrypts
    }

    /// Encrypts every plaintext, which the service sees.
    ///
    /// # Errors
    /// Whatever befalls the service.
    ///
    /// # Panics
    /// If the plaintexts are of another key.
    pub fn encrypt(&self, plaintexts: &Plaintexts) -> Result<Ciphertexts, Error> {
        self.same_key(plaintexts.key_id());
        let width = self.public.plaintext_bytes();
        let bytes = plaintexts.to_be_bytes();
        let pieces = |rows: usize, key: &str| {
            let piece = |bytes: &[u8]| proto::EncryptRequest { key: key.to_owned(), plaintexts: wiped(bytes) };
            bytes.chunks(rows * width).map(piece).collect()
        };
        self.ciphertexts(plaintexts.len(), width, pieces)
    }

    /// Other ciphertexts of the same plaintexts.
    ///
    /// # Errors
    /// Whatever befalls the service.
    ///
    /// # Panics
    /// If the ciphertexts are of another key.
    pub fn rerandomise(&self, ciphertexts: &Ciphertexts) -> Result<Ciphertexts, Error> {
        let bytes = self.bytes(ciphertexts);
        let width = self.public.ciphertext_bytes();
        let pieces = |rows: usize, key: &str| {
            let piece = |bytes: &[u8]| proto::RerandomiseRequest { key: key.to_owned(), ciphertexts: copied(bytes) };
            bytes.chunks(rows * width).map(piece).collect()
        };
        self.ciphertexts(ciphertexts.len(), width, pieces)
    }

    /// The sums of two batches, row by row.
    ///
    /// # Errors
    /// Whatever befalls the service.
    ///
    /// # Panics
    /// If the batches are of another key or differ in length.
    pub fn add(&self, left: &Ciphertexts, right: &Ciphertexts) -> Result<Ciphertexts, Error> {
        assert_eq!(left.len(), right.len(), "as many rows");
        let width = self.public.ciphertext_bytes();
        let (lefts, rights) = (self.bytes(left), self.bytes(right));
        let pieces = |rows: usize, key: &str| {
            let pairs = lefts.chunks(rows * width).zip(rights.chunks(rows * width));
            let piece =
                |(left, right)| proto::AddRequest { key: key.to_owned(), left: copied(left), right: copied(right) };
            pairs.map(piece).collect()
        };
        self.ciphertexts(left.len(), 2 * width, pieces)
    }

    /// The multiples by integers of magnitude below `2^bits`, row by row, not re-randomised.
    ///
    /// # Errors
    /// Whatever befalls the service.
    ///
    /// # Panics
    /// If the ciphertexts are of another key or there are not as many scalars.
    pub fn multiply(&self, ciphertexts: &Ciphertexts, scalars: &[i128], bits: u32) -> Result<Ciphertexts, Error> {
        const SCALAR: usize = 16;
        assert_eq!(ciphertexts.len(), scalars.len(), "as many rows");
        let width = self.public.ciphertext_bytes();
        let bytes = self.bytes(ciphertexts);
        let mut packed = Zeroizing::new(Vec::with_capacity(scalars.len() * SCALAR));
        scalars.iter().for_each(|scalar| packed.extend_from_slice(&scalar.to_be_bytes()));
        let pieces = |rows: usize, key: &str| {
            let piece = |(ciphertexts, scalars)| proto::MultiplyRequest {
                key: key.to_owned(),
                ciphertexts: copied(ciphertexts),
                scalars: wiped(scalars),
                bits: bits.min(i128::BITS),
                deterministic: true,
            };
            bytes.chunks(rows * width).zip(packed.chunks(rows * SCALAR)).map(piece).collect()
        };
        self.ciphertexts(ciphertexts.len(), width + SCALAR, pieces)
    }

    /// The sums of groups of rows. The service adds up the groups of every message, and then the
    /// parts of those that several have.
    ///
    /// # Errors
    /// Whatever befalls the service.
    ///
    /// # Panics
    /// If the ciphertexts are of another key, or a group names a row that there is not.
    pub fn sum_groups(&self, ciphertexts: &Ciphertexts, groups: &[Vec<u32>]) -> Result<Ciphertexts, Error> {
        let members: Vec<(usize, u32)> = groups
            .iter()
            .enumerate()
            .flat_map(|(group, rows)| rows.iter().map(move |&row| (row as usize, group as u32)))
            .collect();
        let (rows, mut of): (Vec<usize>, Vec<u32>) = members.into_iter().unzip();
        let mut terms = self.ok(ciphertexts.select(&rows));
        loop {
            let sums = self.sums_by_message(&terms, &of)?;
            let whole = sums.of.windows(2).all(|pair| pair[0] != pair[1]);
            (terms, of) = (sums.terms, sums.of);
            if whole {
                break;
            }
        }
        // A group of no rows has no sum yet.
        let zero = self.public.zero();
        let with_zero = self.ok(Ciphertexts::concat(&terms, &[&zero]));
        let mut places = vec![terms.len(); groups.len()];
        of.iter().enumerate().for_each(|(place, &group)| places[group as usize] = place);
        Ok(self.ok(with_zero.select(&places)))
    }

    /// Sums of what stands together, of rows in the order of their groups: one for each group that
    /// a message has rows of.
    fn sums_by_message(&self, terms: &Ciphertexts, of: &[u32]) -> Result<Sums, Error> {
        let width = self.public.ciphertext_bytes();
        let bytes = self.bytes(terms);
        let rows_a_message = self.message_rows(&self.registration(), width + 5);
        let numbered: Vec<(Vec<u32>, Vec<u32>)> = of.chunks(rows_a_message).map(numbered).collect();
        let pieces = |rows: usize, key: &str| {
            let piece = |(ciphertexts, (groups, names)): (&[u8], &(Vec<u32>, Vec<u32>))| proto::SumGroupsRequest {
                key: key.to_owned(),
                ciphertexts: copied(ciphertexts),
                groups: groups.clone(),
                count: names.len() as u32,
            };
            bytes.chunks(rows * width).zip(&numbered).map(piece).collect()
        };
        let of: Vec<u32> = numbered.iter().flat_map(|(_, names)| names).copied().collect();
        Ok(Sums { terms: self.ciphertexts(of.len(), width + 5, pieces)?, of })
    }

    /// What the ciphertexts hold.
    ///
    /// # Errors
    /// The service has no private key, or whatever befalls it.
    ///
    /// # Panics
    /// If the ciphertexts are of another key.
    pub fn decrypt(&self, ciphertexts: &Ciphertexts) -> Result<Plaintexts, Error> {
        let bytes = self.bytes(ciphertexts);
        let width = self.public.ciphertext_bytes();
        let pieces = |rows: usize, key: &str| {
            let piece = |bytes: &[u8]| proto::DecryptRequest { key: key.to_owned(), ciphertexts: copied(bytes) };
            bytes.chunks(rows * width).map(piece).collect()
        };
        let numbers = Zeroizing::new(self.exchange::<proto::DecryptRequest>(width, pieces)?);
        let plaintexts = self.public.plaintexts_from_be(&numbers).map_err(|error| self.no_number(error))?;
        if plaintexts.len() == ciphertexts.len() { Ok(plaintexts) } else { Err(self.service.wrong(ErrorKind::Answer)) }
    }

    /// The ciphertexts of all answers, so many.
    fn ciphertexts<E: Exchange>(
        &self,
        rows: usize,
        row_bytes: usize,
        pieces: impl Fn(usize, &str) -> Vec<E>,
    ) -> Result<Ciphertexts, Error> {
        let numbers = self.exchange::<E>(row_bytes, pieces)?;
        let ciphertexts = self.public.ciphertexts_from_be(&numbers).map_err(|error| self.no_number(error))?;
        if ciphertexts.len() == rows { Ok(ciphertexts) } else { Err(self.service.wrong(ErrorKind::Answer)) }
    }

    /// The numbers of all answers to requests that `pieces` makes, of so many rows each under the
    /// key's handle. A key that the service forgot is registered again, once.
    fn exchange<E: Exchange>(
        &self,
        row_bytes: usize,
        pieces: impl Fn(usize, &str) -> Vec<E>,
    ) -> Result<Vec<u8>, Error> {
        let ask = |registered: &Registered| {
            let rows = self.message_rows(registered, row_bytes);
            self.service.exchange(pieces(rows, &registered.handle), rows)
        };
        let registered = self.registration();
        let answers = match ask(&registered) {
            Err(error) if error.reason() == Some(ErrorReason::UnknownKey) => {
                let again = Arc::new(self.service.register(&self.public)?);
                *self.registered.lock().unwrap_or_else(PoisonError::into_inner) = again.clone();
                ask(&again)
            }
            answers => answers,
        };
        Ok(answers?.concat())
    }

    fn registration(&self) -> Arc<Registered> {
        self.registered.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Rows of a message.
    fn message_rows(&self, registered: &Registered, row_bytes: usize) -> usize {
        (registered.message_bytes.saturating_sub(MESSAGE_EXTRA) / row_bytes).clamp(1, MESSAGE_ROWS)
    }

    fn bytes(&self, ciphertexts: &Ciphertexts) -> Vec<u8> {
        self.same_key(ciphertexts.key_id());
        ciphertexts.to_be_bytes()
    }

    fn same_key(&self, other: hearith_paillier::KeyId) {
        assert_eq!(self.public.id(), other, "the same key");
    }

    /// What selecting and joining rows that are there gives.
    fn ok<T>(&self, result: Result<T, hearith_paillier::Error>) -> T {
        result.expect("rows that are there, of one key")
    }

    fn no_number(&self, error: hearith_paillier::Error) -> Error {
        self.service.wrong(ErrorKind::Number(error))
    }

    /// Fails as the operations of the key itself do.
    fn check(&self, a: &Ciphertexts, rows: Option<usize>) -> Result<(), hearith_paillier::Error> {
        let (expected, found) = (self.public.id(), a.key_id());
        if expected != found {
            return Err(SchemeErrorKind::WrongKey { expected, found }.into());
        }
        match rows.filter(|&rows| rows != a.len()) {
            Some(right) => Err(SchemeErrorKind::Lengths { left: a.len(), right }.into()),
            None => Ok(()),
        }
    }
}

/// Sums, and which group each is of.
struct Sums {
    terms: Ciphertexts,
    of: Vec<u32>,
}

/// Groups of a message, numbered from 0 in the order that they come in, and their names.
fn numbered(of: &[u32]) -> (Vec<u32>, Vec<u32>) {
    let mut names: Vec<u32> = Vec::new();
    let groups = of.iter().map(|&group| {
        if names.last() != Some(&group) {
            names.push(group);
        }
        names.len() as u32 - 1
    });
    (groups.collect(), names)
}

fn copied(bytes: &[u8]) -> Bytes {
    Bytes::copy_from_slice(bytes)
}

/// A copy of what is secret, wiped when the transport has copied it in turn.
fn wiped(bytes: &[u8]) -> Bytes {
    Bytes::from_owner(Zeroizing::new(bytes.to_vec()))
}

impl fmt::Debug for RemoteKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "RemoteKey({} at {})", self.public.id(), self.service.url)
    }
}

impl Compute for RemoteKey {
    fn public(&self) -> &PublicKey {
        &self.public
    }

    fn encrypt(&self, plaintexts: &Plaintexts) -> Result<Ciphertexts, ComputeError> {
        let (expected, found) = (self.public.id(), plaintexts.key_id());
        if expected != found {
            return Err(hearith_paillier::Error::from(SchemeErrorKind::WrongKey { expected, found }).into());
        }
        Ok(self.encrypt(plaintexts)?)
    }

    fn rerandomise(&self, ciphertexts: &Ciphertexts) -> Result<Ciphertexts, ComputeError> {
        self.check(ciphertexts, None)?;
        Ok(self.rerandomise(ciphertexts)?)
    }

    fn add(&self, a: &Ciphertexts, b: &Ciphertexts) -> Result<Ciphertexts, ComputeError> {
        self.check(b, None)?;
        self.check(a, Some(b.len()))?;
        Ok(self.add(a, b)?)
    }

    fn multiply(&self, ciphertexts: &Ciphertexts, scalars: &[i128], bits: u32) -> Result<Ciphertexts, ComputeError> {
        self.check(ciphertexts, Some(scalars.len()))?;
        Ok(self.multiply(ciphertexts, scalars, bits)?)
    }

    fn sum_groups(&self, ciphertexts: &Ciphertexts, groups: &[Vec<u32>]) -> Result<Ciphertexts, ComputeError> {
        self.check(ciphertexts, None)?;
        let rows = ciphertexts.len();
        if let Some(&row) = groups.iter().flatten().find(|&&row| row as usize >= rows) {
            return Err(SchemeErrorKind::NoSuchRow { rows }.at_row(row as usize).into());
        }
        Ok(self.sum_groups(ciphertexts, groups)?)
    }
}

impl Decrypt for RemoteKey {
    fn public(&self) -> &PublicKey {
        &self.public
    }

    fn decrypt(&self, ciphertexts: &Ciphertexts) -> Result<Plaintexts, DecryptError> {
        self.check(ciphertexts, None)?;
        Ok(self.decrypt(ciphertexts)?)
    }
}

/// A request of some operation, and how to make the call.
trait Exchange: Sized + Send + 'static {
    type Answer;

    fn call(
        client: PaillierClient<Channel>,
        requests: Request<Messages<Self>>,
    ) -> impl Future<Output = Result<Response<Streaming<Self::Answer>>, Status>> + Send;

    fn numbers(answer: Self::Answer) -> Bytes;
}

/// Messages that are there already, as a stream.
type Messages<E> = tokio_stream::Iter<std::vec::IntoIter<E>>;

macro_rules! exchange {
    ($($request:ident, $answer:ident, $method:ident, $numbers:ident;)*) => {$(
        impl Exchange for proto::$request {
            type Answer = proto::$answer;

            async fn call(
                mut client: PaillierClient<Channel>,
                requests: Request<Messages<Self>>,
            ) -> Result<Response<Streaming<Self::Answer>>, Status> {
                client.$method(requests).await
            }

            fn numbers(answer: Self::Answer) -> Bytes {
                answer.$numbers
            }
        }
    )*};
}

exchange! {
    EncryptRequest, EncryptResponse, encrypt, ciphertexts;
    RerandomiseRequest, RerandomiseResponse, rerandomise, ciphertexts;
    AddRequest, AddResponse, add, ciphertexts;
    MultiplyRequest, MultiplyResponse, multiply, ciphertexts;
    SumGroupsRequest, SumGroupsResponse, sum_groups, ciphertexts;
    DecryptRequest, DecryptResponse, decrypt, plaintexts;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_are_numbered_in_their_order() {
        assert_eq!(numbered(&[3, 3, 5, 9, 9]), (vec![0, 0, 1, 2, 2], vec![3, 5, 9]));
        assert_eq!(numbered(&[]), (vec![], vec![]));
    }

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
