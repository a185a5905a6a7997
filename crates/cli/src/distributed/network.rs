//! Generates a key with other trustees over the network.
//!
//! Every two trustees have a TLS 1.3 connection, on which both show their signing keys as raw
//! public keys (RFC 7250). Connections with other keys are rejected. The trustee with the higher
//! number connects to the one with the lower number. Each message follows its length in four bytes.
//! The first message on each connection is a random number and the parameters.

mod link;
mod tls;

use std::net::SocketAddr;
use std::time::Duration;

use hearith_threshold::distributed::{Failure as RunFailure, Finished, Reason, Step, Trustee, session_id};
use rustls_pki_types::ServerName;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep, timeout, timeout_at};
use tokio_rustls::rustls::Error as TlsError;
use tokio_rustls::{TlsAcceptor, TlsConnector};
use zeroize::Zeroize;

use super::party::{Party, missing, only};
use crate::args::{Meet, Peer};
use crate::failure::{CliError, eprint_line};
use crate::progress::{Length, Progress};
use crate::session::Session;
use link::{Link, close};

/// How long trustees wait for each other at the start.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(600);
/// Deadline of a handshake with an unknown peer.
const HANDSHAKE_TIMEOUT: Duration = Duration::from_secs(20);
/// Pause between two attempts to reach another trustee.
const RETRY_DELAY: Duration = Duration::from_millis(200);
/// Maximum number of restarts after a lost connection, each with fresh random numbers.
const RESTARTS: u32 = 2;

/// A trustee's side of a key generation.
pub(crate) struct NetworkRun {
    party: Party,
    listen: SocketAddr,
    /// The addresses of the trustees with lower numbers.
    addresses: Vec<String>,
    is_quiet: bool,
}

/// Why a run produced no key.
enum AttemptError {
    /// The trustees did not all connect, or requested different keys.
    Connect(CliError),
    /// The run failed.
    Run(RunFailure),
}

impl NetworkRun {
    /// Reads the addresses, and shows the keys of all trustees.
    pub(super) fn new(session: &Session, party: Party, at: &Meet) -> Result<Self, CliError> {
        let listen = at.listen.ok_or_else(|| missing("--listen ADDRESS:PORT, or --offline FOLDER"))?;
        let address = |number: u32| {
            let peer: Option<&Peer> = only(&at.peer, number, |one| one.number);
            peer.map(|peer| peer.address.clone())
                .ok_or_else(|| missing(&format!("exactly one --peer {number}=HOST:PORT")))
        };
        let addresses = (1..party.me).map(address).collect::<Result<_, _>>()?;
        party.show_keys(session);
        Ok(NetworkRun { party, listen, addresses, is_quiet: session.is_quiet() })
    }

    /// Generates the key. After a lost connection, trustees reconnect and restart with fresh random
    /// numbers.
    pub(crate) fn run(&self) -> Result<Finished, CliError> {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build();
        let runtime = runtime.map_err(|error| CliError::because("cannot start threads", error))?;
        let progress = Progress::start("generating", Length::Candidates(self.party.parameters.expected_candidates()));
        runtime.block_on(async {
            let listener = TcpListener::bind(self.listen).await;
            let listener =
                listener.map_err(|error| CliError::new(format!("cannot listen at {}: {error}", self.listen)))?;
            for restart in 0.. {
                let ended = match self.attempt(&listener, &progress).await {
                    Ok(finished) => return Ok(finished),
                    Err(AttemptError::Connect(failure)) => return Err(failure),
                    Err(AttemptError::Run(ended)) => ended,
                };
                let is_link = matches!(ended.reason, Reason::Silent | Reason::Reported { .. } | Reason::Chance);
                if !is_link || restart == RESTARTS {
                    return Err(CliError::new(format!("no key was generated: {ended}")));
                }
                if !self.is_quiet {
                    eprint_line(&format!("{ended}: restarting with fresh random numbers"));
                }
            }
            unreachable!("restarts are counted")
        })
    }

    async fn attempt(&self, listener: &TcpListener, progress: &Progress) -> Result<Finished, AttemptError> {
        let mut links = self.connect_all(listener).await.map_err(AttemptError::Connect)?;
        let outcome = self.run_over(&mut links, progress).await;
        close(links).await;
        outcome
    }

    /// Runs over established connections, starting with the exchange of parameters.
    async fn run_over(&self, links: &mut [Option<Link>], progress: &Progress) -> Result<Finished, AttemptError> {
        let mut nonce = [0; 32];
        getrandom(&mut nonce).map_err(AttemptError::Connect)?;
        // The peers' identities are known. Now they compare parameters.
        let hello = [&nonce[..], &self.party.parameters.to_bytes()].concat();
        let mut nonces = vec![nonce; self.party.keys.len()];
        links.iter().flatten().for_each(|link| link.send(hello.clone()));
        for (at, link) in links.iter_mut().enumerate() {
            let Some(link) = link else { continue };
            let number = at as u32 + 1;
            let silent = || AttemptError::Run(RunFailure { trustees: vec![number], reason: Reason::Silent });
            let theirs = link.receive().await.ok_or_else(silent)?;
            match theirs.split_first_chunk::<32>() {
                Some((nonce, parameters)) if parameters == self.party.parameters.to_bytes() => nonces[at] = *nonce,
                _ => {
                    let what = format!("trustee {number} uses another key length, variant or number of trustees");
                    return Err(AttemptError::Connect(CliError::new(what)));
                }
            }
        }
        let session = session_id(&self.party.parameters, &self.party.keys, &nonces);
        let Party { parameters, me, identity, keys, .. } = &self.party;
        let trustee = Trustee::new(parameters.clone(), *me, identity.clone(), keys, session);
        let trustee = trustee.map_err(|error| AttemptError::Connect(CliError::new(error)))?;
        exchange(trustee, links, progress).await.map_err(AttemptError::Run)
    }

    /// Connects to all other trustees.
    async fn connect_all(&self, listener: &TcpListener) -> Result<Vec<Option<Link>>, CliError> {
        let deadline = Instant::now() + CONNECT_TIMEOUT;
        let failed = |error: TlsError| CliError::because("cannot set up TLS", error);
        let (client, server) = (tls::client(&self.party).map_err(failed)?, tls::server(&self.party).map_err(failed)?);
        let (connector, acceptor) = (TlsConnector::from(client), TlsAcceptor::from(server));
        let mut links: Vec<Option<Link>> = self.party.keys.iter().map(|_| None).collect();
        let lower = self.addresses.iter().zip(&self.party.keys).zip(1_u32..).map(|((address, key), number)| {
            let (connector, address, key) = (connector.clone(), address.clone(), *key);
            tokio::spawn(async move { (number, connect_to(&connector, &address, &key, deadline).await) })
        });
        let lower: Vec<JoinHandle<_>> = lower.collect();
        let absent = |number: u32| CliError::new(format!("trustee {number} did not connect within ten minutes"));
        while let Some(at) = (self.party.me as usize..links.len()).find(|&at| links[at].is_none()) {
            let accepted = timeout_at(deadline, listener.accept()).await.map_err(|_| absent(at as u32 + 1))?;
            let Ok((stream, _)) = accepted else { continue };
            let _ = stream.set_nodelay(true);
            // Skips strangers, and connections that peers have given up.
            let Ok(Ok(stream)) = timeout(HANDSHAKE_TIMEOUT, acceptor.accept(stream)).await else { continue };
            let peer =
                stream.get_ref().1.peer_certificates().and_then(|certificates| tls::raw_key(certificates.first()?));
            let number = self.party.keys.iter().position(|key| Some(*key) == peer);
            let number = number.filter(|&at| at >= self.party.me as usize);
            if let Some(at) = number {
                links[at] = Some(Link::new(stream.into()));
            }
        }
        for task in lower {
            let (number, stream) = task.await.map_err(|error| CliError::because("a task failed", error))?;
            links[number as usize - 1] = Some(Link::new(stream.map_err(|_| absent(number))?.into()));
        }
        Ok(links)
    }
}

fn getrandom(bytes: &mut [u8; 32]) -> Result<(), CliError> {
    let random = hearith_arith::random::bits(1, 4, 256)
        .map_err(|error| CliError::because("cannot get random numbers", error))?;
    bytes.copy_from_slice(&random.to_be_bytes(32));
    Ok(())
}

/// Exchanges rounds of messages until the run ends.
async fn exchange(
    mut trustee: Trustee,
    links: &mut [Option<Link>],
    progress: &Progress,
) -> Result<Finished, RunFailure> {
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

/// Connects to the trustee with this key.
async fn connect_to(
    connector: &TlsConnector,
    address: &str,
    key: &[u8; 32],
    deadline: Instant,
) -> Result<tokio_rustls::client::TlsStream<TcpStream>, ()> {
    // Keys identify the peer, so the name does not matter.
    let name = ServerName::try_from("trustee").map_err(|_| ())?;
    loop {
        let attempt = async {
            let stream = TcpStream::connect(address).await.ok()?;
            let _ = stream.set_nodelay(true);
            let stream = connector.connect(name.clone(), stream).await.ok()?;
            let peer =
                stream.get_ref().1.peer_certificates().and_then(|certificates| tls::raw_key(certificates.first()?));
            (peer.as_ref() == Some(key)).then_some(stream)
        };
        match timeout_at(deadline, attempt).await {
            Ok(Some(stream)) => return Ok(stream),
            Ok(None) => sleep(RETRY_DELAY).await,
            Err(_) => return Err(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use hearith_paillier::{Engine, KeyPolicy, Variant};
    use hearith_threshold::distributed::{Identity, Parameters};

    use super::*;

    fn run(me: u32, addresses: Vec<String>) -> NetworkRun {
        let seeds = [[1; 32], [2; 32], [3; 32]];
        let (seed, policy) = (seeds[me as usize - 1], KeyPolicy::AllowInsecure);
        let parameters = Parameters::new(512, 2, 3, Variant::Standard, policy, Engine::Serial).unwrap();
        let party = Party {
            parameters,
            me,
            identity: Identity::from_seed(&seed),
            seed: seed.into(),
            keys: seeds.map(|seed| Identity::from_seed(&seed).public()).to_vec(),
            key_texts: Vec::new(),
        };
        NetworkRun { party, listen: ([127, 0, 0, 1], 0).into(), addresses, is_quiet: true }
    }

    /// Connected links between trustees 1 and 2.
    async fn pair() -> (Link, Link) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let (one, two) = (run(1, vec![]), run(2, vec![address.clone()]));
        let (acceptor, connector) =
            (TlsAcceptor::from(tls::server(&one.party).unwrap()), TlsConnector::from(tls::client(&two.party).unwrap()));
        let accepting = async { acceptor.accept(listener.accept().await.unwrap().0).await.unwrap() };
        let reaching = connect_to(&connector, &address, &two.party.keys[0], Instant::now() + HANDSHAKE_TIMEOUT);
        let (accepted, reached) = tokio::join!(accepting, reaching);
        (Link::new(accepted.into()), Link::new(reached.unwrap().into()))
    }

    /// Data that the sender's socket holds, and for which the receiver's has no space, is lost if
    /// the connection is reset. Tests lengths around the sizes of their buffers.
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
