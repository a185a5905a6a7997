//! `hearith keygen --distributed`: a shared key that its trustees generate together.
//!
//! Every two trustees have a connection under TLS 1.3, on which both show the keys that they sign
//! with, as raw public keys (RFC 7250): nobody else is listened to. The higher number connects to
//! the lower one. Messages are sent after their lengths in four bytes; the first on each connection
//! is a random number and the parameters.

use std::fmt;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use hearith_columns::VerifyingKey;
use hearith_paillier::{DEFAULT_BITS, Variant};
use hearith_threshold::distributed::{
    Failure as Ended, Finished, Identity, Parameters, Reason, Step, Trustee, session_id,
};
use rustls_pki_types::{CertificateDer, PrivatePkcs8KeyDer, ServerName, SubjectPublicKeyInfoDer, UnixTime};
use tokio::io::{AsyncReadExt, AsyncWriteExt, ReadHalf, WriteHalf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep, timeout, timeout_at};
use tokio_rustls::rustls::client::AlwaysResolvesClientRawPublicKeys;
use tokio_rustls::rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use tokio_rustls::rustls::crypto::ring::{default_provider, sign::any_eddsa_type};
use tokio_rustls::rustls::crypto::{CryptoProvider, verify_tls13_signature_with_raw_key};
use tokio_rustls::rustls::server::AlwaysResolvesServerRawPublicKeys;
use tokio_rustls::rustls::server::danger::{ClientCertVerified, ClientCertVerifier};
use tokio_rustls::rustls::sign::CertifiedKey;
use tokio_rustls::rustls::version::TLS13;
use tokio_rustls::rustls::{
    CertificateError, ClientConfig, DigitallySignedStruct, DistinguishedName, Error as TlsError, PeerIncompatible,
    ServerConfig, SignatureScheme,
};
use tokio_rustls::{TlsAcceptor, TlsConnector, TlsStream};
use zeroize::{Zeroize, Zeroizing};

use crate::args::{Keygen, Meet, Peer, PeerKey, Sharing};
use crate::failure::{Failure, eprint_line, name};
use crate::keys::KeyFile;
use crate::progress::{Length, Progress};
use crate::session::Session;

/// How long trustees wait for each other at the beginning.
const MEETING: Duration = Duration::from_secs(600);
/// How long they wait for a message of a round.
const ROUND: Duration = Duration::from_secs(600);
/// How long strangers may take to show who they are.
const HANDSHAKE: Duration = Duration::from_secs(20);
/// How long the last messages may take.
const FAREWELL: Duration = Duration::from_secs(10);
/// Between two tries to reach another trustee.
const AGAIN: Duration = Duration::from_millis(200);
/// Runs after the first, each with fresh random numbers, if a connection is lost.
const RESTARTS: u32 = 2;
/// Bytes of the longest message: a batch of 65 536 candidates for the longest key.
const LONGEST: u32 = 1 << 27;
/// What an Ed25519 private key (RFC 8410) and a public one begin with.
const PRIVATE: [u8; 16] = [48, 46, 2, 1, 0, 48, 5, 6, 3, 43, 101, 112, 4, 34, 4, 32];
const PUBLIC: [u8; 12] = [48, 42, 48, 5, 6, 3, 43, 101, 112, 3, 33, 0];

/// A trustee's side of the generation of a key.
pub(crate) struct Meeting {
    parameters: Parameters,
    me: u32,
    identity: Identity,
    seed: Zeroizing<[u8; 32]>,
    /// Of all trustees.
    keys: Vec<[u8; 32]>,
    listen: SocketAddr,
    /// Of those with lower numbers.
    addresses: Vec<String>,
    is_quiet: bool,
}

/// Why a run has no key.
enum Lost {
    /// The meeting did not come about.
    Meeting(Failure),
    /// The run failed.
    Run(Ended),
}

/// What an option of `--distributed` that is missing is told as.
pub(crate) fn missing(what: &str) -> Failure {
    Failure::new(format!("--distributed needs {what}"))
}

/// The number of this trustee.
pub(crate) fn number(at: &Meet, Sharing { trustees, .. }: Sharing) -> Result<u32, Failure> {
    let me = at.trustee.filter(|me| (1..=trustees).contains(me));
    me.ok_or_else(|| missing(&format!("--trustee N, a number from 1 to {trustees}")))
}

impl Meeting {
    /// Reads the keys of `keygen`'s trustees.
    pub(crate) fn prepare(session: &Session, command: &Keygen, sharing: Sharing) -> Result<Self, Failure> {
        let trustees = sharing.trustees;
        let me = number(&command.at, sharing)?;
        let (bits, variant) = (command.bits.unwrap_or(DEFAULT_BITS), command.variant.unwrap_or(Variant::Standard));
        let file = command.identity.as_ref().ok_or_else(|| missing("--identity FILE"))?;
        let signing = KeyFile::open(file)?.signing(session)?;
        let seed = signing.to_seed();

        let mut keys = Vec::new();
        for number in 1..=trustees {
            if number == me {
                keys.push(signing.public());
                continue;
            }
            let PeerKey { file, .. } = only(&command.peer_key, number, |one| one.number)
                .ok_or_else(|| missing(&format!("--peer-key {number}=FILE once, trustee {number}'s public key")))?;
            match KeyFile::open(file)?.signers()?[..] {
                [key] => keys.push(key),
                _ => return Err(Failure::at(name(file), "a trustee has one key")),
            }
        }
        let shown: Vec<String> = keys.iter().map(|key| key.id().to_string()).collect();
        let keys = keys.iter().map(VerifyingKey::to_bytes).collect();
        Self::new(session, &command.at, sharing, (bits, variant), seed, keys, &shown)
    }

    /// Reads addresses, and shows the keys of all. `seed` is the secret half of this trustee's.
    pub(crate) fn new(
        session: &Session,
        at: &Meet,
        sharing: Sharing,
        (bits, variant): (u32, Variant),
        seed: Zeroizing<[u8; 32]>,
        keys: Vec<[u8; 32]>,
        shown: &[String],
    ) -> Result<Self, Failure> {
        let Sharing { needed, trustees } = sharing;
        let me = number(at, sharing)?;
        let parameters = Parameters::new(bits, needed, trustees, variant, session.policy, session.engine);
        let parameters = parameters.map_err(Failure::new)?;
        let listen = at.listen.ok_or_else(|| missing("--listen ADDRESS:PORT"))?;
        if (1..keys.len()).any(|at| keys[..at].contains(&keys[at])) {
            return Err(Failure::new("two trustees have the same key"));
        }
        let address = |number: u32| {
            let peer: Option<&Peer> = only(&at.peer, number, |one| one.number);
            peer.map(|peer| peer.address.clone()).ok_or_else(|| missing(&format!("--peer {number}=HOST:PORT once")))
        };
        let addresses = (1..me).map(address).collect::<Result<_, _>>()?;
        if !session.is_quiet() {
            for (number, key) in (1..).zip(shown) {
                let own = if number == me { ", this one" } else { "" };
                eprint_line(&format!("trustee {number}{own}: key {key}"));
            }
        }
        let identity = Identity::from_seed(&seed);
        Ok(Meeting { parameters, me, identity, seed, keys, listen, addresses, is_quiet: session.is_quiet() })
    }

    /// This trustee's number.
    pub(crate) fn trustee(&self) -> u32 {
        self.me
    }

    /// Generates the key. After a lost connection trustees meet again, and begin with fresh random
    /// numbers.
    pub(crate) fn run(&self) -> Result<Finished, Failure> {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build();
        let runtime = runtime.map_err(|error| Failure::because("cannot start threads", error))?;
        let progress = Progress::start("generating", Length::Candidates(self.parameters.expected_candidates()));
        runtime.block_on(async {
            let listener = TcpListener::bind(self.listen).await;
            let listener =
                listener.map_err(|error| Failure::new(format!("cannot listen at {}: {error}", self.listen)))?;
            for restart in 0.. {
                let ended = match self.attempt(&listener, &progress).await {
                    Ok(finished) => return Ok(finished),
                    Err(Lost::Meeting(failure)) => return Err(failure),
                    Err(Lost::Run(ended)) => ended,
                };
                let is_link = matches!(ended.reason, Reason::Silent | Reason::Reported { .. } | Reason::Chance);
                if !is_link || restart == RESTARTS {
                    return Err(Failure::new(format!("no key was generated: {ended}")));
                }
                if !self.is_quiet {
                    eprint_line(&format!("{ended}: beginning again, with fresh random numbers"));
                }
            }
            unreachable!("restarts are counted")
        })
    }

    async fn attempt(&self, listener: &TcpListener, progress: &Progress) -> Result<Finished, Lost> {
        let mut links = self.meet(listener).await.map_err(Lost::Meeting)?;
        let outcome = self.run_over(&mut links, progress).await;
        close(links).await;
        outcome
    }

    /// A run over connections, from the exchange of what all want.
    async fn run_over(&self, links: &mut [Option<Link>], progress: &Progress) -> Result<Finished, Lost> {
        let mut nonce = [0; 32];
        getrandom(&mut nonce).map_err(Lost::Meeting)?;
        // Who they are is known; now what they want.
        let hello = [&nonce[..], &self.parameters.to_bytes()].concat();
        let mut nonces = vec![nonce; self.keys.len()];
        links.iter().flatten().for_each(|link| link.send(hello.clone()));
        for (at, link) in links.iter_mut().enumerate() {
            let Some(link) = link else { continue };
            let number = at as u32 + 1;
            let silent = || Lost::Run(Ended { trustees: vec![number], reason: Reason::Silent });
            let theirs = link.receive().await.ok_or_else(silent)?;
            match theirs.split_first_chunk::<32>() {
                Some((nonce, parameters)) if parameters == self.parameters.to_bytes() => nonces[at] = *nonce,
                _ => {
                    let what =
                        format!("trustee {number} generates a key of another length, variant or number of trustees");
                    return Err(Lost::Meeting(Failure::new(what)));
                }
            }
        }
        let session = session_id(&self.parameters, &self.keys, &nonces);
        let trustee = Trustee::new(self.parameters.clone(), self.me, self.identity.clone(), &self.keys, session);
        let trustee = trustee.map_err(|error| Lost::Meeting(Failure::new(error)))?;
        exchange(trustee, links, progress).await.map_err(Lost::Run)
    }

    /// Connections to all others.
    async fn meet(&self, listener: &TcpListener) -> Result<Vec<Option<Link>>, Failure> {
        let deadline = Instant::now() + MEETING;
        let tls = |error: TlsError| Failure::because("cannot set up TLS", error);
        let (client, server) = (self.client().map_err(tls)?, self.server().map_err(tls)?);
        let (connector, acceptor) = (TlsConnector::from(client), TlsAcceptor::from(server));
        let mut links: Vec<Option<Link>> = self.keys.iter().map(|_| None).collect();
        let lower = self.addresses.iter().zip(&self.keys).zip(1_u32..).map(|((address, key), number)| {
            let (connector, address, key) = (connector.clone(), address.clone(), *key);
            tokio::spawn(async move { (number, reach(&connector, &address, &key, deadline).await) })
        });
        let lower: Vec<JoinHandle<_>> = lower.collect();
        let absent = |number: u32| Failure::new(format!("trustee {number} did not come within ten minutes"));
        while let Some(at) = (self.me as usize..links.len()).find(|&at| links[at].is_none()) {
            let accepted = timeout_at(deadline, listener.accept()).await.map_err(|_| absent(at as u32 + 1))?;
            let Ok((stream, _)) = accepted else { continue };
            let _ = stream.set_nodelay(true);
            // Strangers, and connections that others have given up.
            let Ok(Ok(stream)) = timeout(HANDSHAKE, acceptor.accept(stream)).await else { continue };
            let shown = stream.get_ref().1.peer_certificates().and_then(|shown| raw_key(shown.first()?));
            let number = self.keys.iter().position(|key| Some(*key) == shown).filter(|&at| at >= self.me as usize);
            if let Some(at) = number {
                links[at] = Some(Link::new(stream.into()));
            }
        }
        for task in lower {
            let (number, stream) = task.await.map_err(|error| Failure::because("a task ended", error))?;
            links[number as usize - 1] = Some(Link::new(stream.map_err(|_| absent(number))?.into()));
        }
        Ok(links)
    }

    fn certified(&self) -> Result<Arc<CertifiedKey>, TlsError> {
        let private = Zeroizing::new([&PRIVATE[..], &self.seed[..]].concat());
        let key = any_eddsa_type(&PrivatePkcs8KeyDer::from(&private[..]))?;
        let public = [&PUBLIC[..], &self.identity.public()].concat();
        Ok(Arc::new(CertifiedKey::new(vec![CertificateDer::from(public)], key)))
    }

    fn client(&self) -> Result<Arc<ClientConfig>, TlsError> {
        let provider = Arc::new(default_provider());
        let verifier = Arc::new(Known { keys: self.keys.clone(), provider: provider.clone() });
        let resolver = Arc::new(AlwaysResolvesClientRawPublicKeys::new(self.certified()?));
        let config = ClientConfig::builder_with_provider(provider).with_protocol_versions(&[&TLS13])?;
        let config = config.dangerous().with_custom_certificate_verifier(verifier);
        Ok(Arc::new(config.with_client_cert_resolver(resolver)))
    }

    fn server(&self) -> Result<Arc<ServerConfig>, TlsError> {
        let provider = Arc::new(default_provider());
        let verifier = Arc::new(Known { keys: self.keys.clone(), provider: provider.clone() });
        let resolver = Arc::new(AlwaysResolvesServerRawPublicKeys::new(self.certified()?));
        let config = ServerConfig::builder_with_provider(provider).with_protocol_versions(&[&TLS13])?;
        Ok(Arc::new(config.with_client_cert_verifier(verifier).with_cert_resolver(resolver)))
    }
}

/// The one entry of a number.
fn only<T>(all: &[T], number: u32, of: impl Fn(&T) -> u32) -> Option<&T> {
    let mut found = all.iter().filter(|one| of(one) == number);
    found.next().filter(|_| found.next().is_none())
}

fn getrandom(bytes: &mut [u8; 32]) -> Result<(), Failure> {
    let random =
        hearith_arith::random::bits(1, 4, 256).map_err(|error| Failure::because("no random numbers", error))?;
    bytes.copy_from_slice(&random.to_be_bytes(32));
    Ok(())
}

/// Rounds until the run ends.
async fn exchange(mut trustee: Trustee, links: &mut [Option<Link>], progress: &Progress) -> Result<Finished, Ended> {
    let mut messages = trustee.start();
    loop {
        send(links, messages);
        let mut received = Vec::with_capacity(links.len());
        for link in links.iter_mut() {
            received.push(match link {
                Some(link) => link.receive().await,
                None => None,
            });
        }
        let step = trustee.step(&received);
        received.iter_mut().flatten().for_each(Zeroize::zeroize);
        messages = match step {
            Step::Send(messages) => messages,
            Step::Finished(finished) => return Ok(*finished),
            Step::Failed { failure, farewell } => {
                send(links, farewell);
                return Err(failure);
            }
        };
        let so_far = trustee.progress();
        progress.set_candidates(so_far.tried, so_far.expected);
    }
}

fn send(links: &[Option<Link>], messages: Vec<Vec<u8>>) {
    for (link, message) in links.iter().zip(messages) {
        if let Some(link) = link {
            link.send(message);
        }
    }
}

/// A connection to a trustee with this key.
async fn reach(
    connector: &TlsConnector,
    address: &str,
    key: &[u8; 32],
    deadline: Instant,
) -> Result<tokio_rustls::client::TlsStream<TcpStream>, ()> {
    // Keys say who it is: names are not looked at.
    let name = ServerName::try_from("trustee").map_err(|_| ())?;
    loop {
        let attempt = async {
            let stream = TcpStream::connect(address).await.ok()?;
            let _ = stream.set_nodelay(true);
            let stream = connector.connect(name.clone(), stream).await.ok()?;
            let shown = stream.get_ref().1.peer_certificates().and_then(|shown| raw_key(shown.first()?));
            (shown.as_ref() == Some(key)).then_some(stream)
        };
        match timeout_at(deadline, attempt).await {
            Ok(Some(stream)) => return Ok(stream),
            Ok(None) => sleep(AGAIN).await,
            Err(_) => return Err(()),
        }
    }
}

/// The Ed25519 key of a raw public key.
fn raw_key(shown: &CertificateDer<'_>) -> Option<[u8; 32]> {
    shown.strip_prefix(&PUBLIC[..])?.try_into().ok()
}

/// A connection to another trustee. What is sent is written while this side computes or waits.
struct Link {
    outgoing: UnboundedSender<Vec<u8>>,
    writer: JoinHandle<()>,
    incoming: ReadHalf<TlsStream<TcpStream>>,
}

impl Link {
    fn new(stream: TlsStream<TcpStream>) -> Self {
        let (incoming, mut outward): (_, WriteHalf<_>) = tokio::io::split(stream);
        let (outgoing, mut messages) = unbounded_channel::<Vec<u8>>();
        let writer = tokio::spawn(async move {
            while let Some(message) = messages.recv().await {
                let message = Zeroizing::new(message);
                let length = (message.len() as u32).to_be_bytes();
                let written = async {
                    outward.write_all(&length).await?;
                    outward.write_all(&message).await?;
                    outward.flush().await
                };
                // Whoever reads finds the connection closed.
                if written.await.is_err() {
                    break;
                }
            }
            let _ = outward.shutdown().await;
        });
        Link { outgoing, writer, incoming }
    }

    fn send(&self, message: Vec<u8>) {
        let _ = self.outgoing.send(message);
    }

    async fn receive(&mut self) -> Option<Vec<u8>> {
        let read = async {
            let length = self.incoming.read_u32().await.ok().filter(|&length| length <= LONGEST)?;
            let mut message = vec![0; length as usize];
            self.incoming.read_exact(&mut message).await.ok()?;
            Some(message)
        };
        timeout(ROUND, read).await.ok().flatten()
    }

    /// Waits until all is written, and the other side has closed too. A socket that is closed over
    /// unread bytes resets its connection, and what was sent last never arrives.
    async fn close(self) {
        let Link { outgoing, writer, mut incoming } = self;
        drop(outgoing);
        let mut rest = Zeroizing::new([0; 4096]);
        let unread = async { while matches!(incoming.read(&mut rest[..]).await, Ok(1..)) {} };
        let _ = timeout(FAREWELL, async { tokio::join!(writer, unread) }).await;
    }
}

/// Closes all connections at once: nobody waits for somebody who waits for another.
async fn close(links: Vec<Option<Link>>) {
    let closing: Vec<_> = links.into_iter().flatten().map(|link| tokio::spawn(link.close())).collect();
    for link in closing {
        let _ = link.await;
    }
}

/// Accepts the keys of the trustees and nothing else.
struct Known {
    keys: Vec<[u8; 32]>,
    provider: Arc<CryptoProvider>,
}

impl Known {
    fn check(&self, shown: &CertificateDer<'_>) -> Result<(), TlsError> {
        match raw_key(shown).is_some_and(|key| self.keys.contains(&key)) {
            true => Ok(()),
            false => Err(TlsError::InvalidCertificate(CertificateError::ApplicationVerificationFailure)),
        }
    }

    fn signature(
        &self,
        message: &[u8],
        shown: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, TlsError> {
        let key = SubjectPublicKeyInfoDer::from(shown.as_ref());
        verify_tls13_signature_with_raw_key(message, &key, signature, &self.provider.signature_verification_algorithms)
    }
}

impl fmt::Debug for Known {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Known({} keys)", self.keys.len())
    }
}

impl ServerCertVerifier for Known {
    fn verify_server_cert(
        &self,
        shown: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _name: &ServerName<'_>,
        _ocsp: &[u8],
        _now: UnixTime,
    ) -> Result<ServerCertVerified, TlsError> {
        self.check(shown).map(|()| ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        _message: &[u8],
        _shown: &CertificateDer<'_>,
        _signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, TlsError> {
        Err(TlsError::PeerIncompatible(PeerIncompatible::Tls13RequiredForQuic))
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        shown: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, TlsError> {
        self.signature(message, shown, signature)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        vec![SignatureScheme::ED25519]
    }

    fn requires_raw_public_keys(&self) -> bool {
        true
    }
}

impl ClientCertVerifier for Known {
    fn root_hint_subjects(&self) -> &[DistinguishedName] {
        &[]
    }

    fn verify_client_cert(
        &self,
        shown: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _now: UnixTime,
    ) -> Result<ClientCertVerified, TlsError> {
        self.check(shown).map(|()| ClientCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        _message: &[u8],
        _shown: &CertificateDer<'_>,
        _signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, TlsError> {
        Err(TlsError::PeerIncompatible(PeerIncompatible::Tls13RequiredForQuic))
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        shown: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, TlsError> {
        self.signature(message, shown, signature)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        vec![SignatureScheme::ED25519]
    }

    fn requires_raw_public_keys(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use hearith_paillier::{Engine, KeyPolicy};

    use super::*;

    fn meeting(me: u32, addresses: Vec<String>) -> Meeting {
        let seeds = [[1; 32], [2; 32], [3; 32]];
        let (seed, policy) = (seeds[me as usize - 1], KeyPolicy::AllowInsecure);
        let parameters = Parameters::new(512, 2, 3, Variant::Standard, policy, Engine::Serial).unwrap();
        Meeting {
            parameters,
            me,
            identity: Identity::from_seed(&seed),
            seed: seed.into(),
            keys: seeds.map(|seed| Identity::from_seed(&seed).public()).to_vec(),
            listen: ([127, 0, 0, 1], 0).into(),
            addresses,
            is_quiet: true,
        }
    }

    /// Links between trustees 1 and 2, from either end.
    async fn pair() -> (Link, Link) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let (one, two) = (meeting(1, vec![]), meeting(2, vec![address.clone()]));
        let (acceptor, connector) =
            (TlsAcceptor::from(one.server().unwrap()), TlsConnector::from(two.client().unwrap()));
        let accepting = async { acceptor.accept(listener.accept().await.unwrap().0).await.unwrap() };
        let reaching = reach(&connector, &address, &two.keys[0], Instant::now() + HANDSHAKE);
        let (accepted, reached) = tokio::join!(accepting, reaching);
        (Link::new(accepted.into()), Link::new(reached.unwrap().into()))
    }

    /// What the sender's socket keeps and the receiver's has no room for is lost if the connection
    /// is reset: lengths around that of their buffers.
    #[tokio::test]
    async fn last_words_arrive_though_nobody_reads_the_answer() {
        for length in (14..20).map(|power| 1 << power) {
            let (one, mut two) = pair().await;
            two.send(vec![2; 1000]);
            sleep(Duration::from_millis(20)).await;
            one.send(vec![1; length]);
            let closing = tokio::spawn(close(vec![Some(one), None]));
            sleep(Duration::from_millis(50)).await;
            assert_eq!(two.receive().await.map(|message| message.len()), Some(length));
            close(vec![Some(two)]).await;
            closing.await.unwrap();
        }
    }
}
