//! Accepts connections within the descriptor limit and gives each handshake a deadline.
//!
//! A handshake consists of TLS, if enabled, and the first bytes of the protocol. Only a connection
//! whose handshake succeeds counts as a client. A client that shows no certificate, or sends
//! nothing, therefore never holds a permit.

use std::future::Future;
use std::io;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use rustls_pki_types::CertificateDer;
use tokio::io::AsyncWriteExt;
use tokio::net::TcpListener;
use tokio::sync::{Semaphore, mpsc, watch};
use tokio_rustls::TlsAcceptor;

use crate::log::Talk;
use crate::metrics::Connections;
use crate::networks::Networks;
use crate::pending::{Pending, Ticket};
use crate::permits::{Permit, Permits};
use crate::rate::client_prefix;
use crate::socket::{Cut, Foreign, Socket, Stream, Transport};
use crate::tls::{Current, Fingerprint};

/// Limits on connections.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Maximum number of clients, that is, of connections whose handshake is done.
    pub clients: usize,
    /// Maximum number of clients per certificate, or per address if clients show no certificates.
    pub clients_each: usize,
    /// Maximum number of connections beyond these that are admitted only to be told so.
    pub surplus: usize,
    /// Maximum number of unfinished handshakes. One more closes the oldest.
    pub handshakes: usize,
    /// Maximum number of unfinished handshakes per address.
    pub handshakes_each: usize,
    /// Deadline of a handshake.
    pub handshake: Duration,
}

/// The first bytes of a connection, after TLS.
#[derive(Clone, Copy, Debug)]
pub struct Opening {
    /// The bytes that a client must send first. Empty accepts any byte.
    pub bytes: &'static [u8],
    /// Returns the answer to a client that sends other bytes.
    pub otherwise: fn(&[u8]) -> &'static str,
}

impl Opening {
    /// Accepts any byte.
    pub const ANY: Self = Self { bytes: b"", otherwise: |_| "" };
}

/// The client that limits apply to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Whose {
    Certificate(Fingerprint),
    Address(IpAddr),
}

/// The other end of a connection.
#[derive(Clone, Debug)]
pub struct Peer {
    /// Its address.
    pub address: IpAddr,
    /// Its verified certificate, if clients must show one.
    pub certificate: Option<Arc<CertificateDer<'static>>>,
}

/// A connection whose handshake is done.
#[derive(Debug)]
pub struct Arrival {
    /// The connection.
    pub stream: Stream,
    /// The other end.
    pub peer: Peer,
    /// Whether no permit was free. The client must be told.
    pub surplus: bool,
    /// Ends the connection from outside.
    pub cut: Cut,
    /// The permit. Hold it as long as the connection is open: dropping it returns it.
    pub held: ConnectionPermit,
}

/// A connection's permit.
#[derive(Debug)]
pub struct ConnectionPermit {
    _permit: Permit<Whose>,
    counted: Connections,
}

impl Drop for ConnectionPermit {
    fn drop(&mut self) {
        self.counted.open.dec();
    }
}

/// Accepts connections and enforces the limits.
#[derive(Debug)]
pub struct Gate {
    limits: Limits,
    opening: Opening,
    tls: Option<Arc<Current>>,
    /// One permit for each descriptor that connections may use. `None` if this gate has reserved
    /// descriptors.
    descriptors: Option<Arc<Semaphore>>,
    pending: Arc<Pending>,
    permits: Arc<Permits<Whose>>,
    surplus: Arc<Permits<Whose>>,
    counted: Connections,
    talk: Arc<Talk>,
    /// Proxies, whose connections carry many clients.
    proxies: Networks,
}

/// Why a handshake failed.
#[derive(Debug)]
enum Failed {
    /// The client sent nothing, or was too slow.
    Late,
    /// The client closed the connection.
    Closed,
    /// The connection was closed to make room for others.
    Displaced,
    /// TLS failed, most often because of the client's certificate.
    Tls(io::Error),
    /// The client speaks another protocol.
    Protocol,
}

impl Gate {
    /// Creates a gate without proxies.
    pub fn new(
        limits: Limits,
        opening: Opening,
        tls: Option<Arc<Current>>,
        descriptors: Option<Arc<Semaphore>>,
        counted: Connections,
        talk: Arc<Talk>,
    ) -> Arc<Self> {
        Self::behind(Networks::default(), limits, opening, tls, descriptors, counted, talk)
    }

    /// Creates a gate. Connections from `proxies` are exempt from the limits per client.
    pub fn behind(
        proxies: Networks,
        limits: Limits,
        opening: Opening,
        tls: Option<Arc<Current>>,
        descriptors: Option<Arc<Semaphore>>,
        counted: Connections,
        talk: Arc<Talk>,
    ) -> Arc<Self> {
        let pending = Pending::new(limits.handshakes);
        let (permits, surplus) = (Permits::new(), Permits::new());
        Arc::new(Self { limits, opening, tls, descriptors, pending, permits, surplus, counted, talk, proxies })
    }

    /// Accepts and serves connections until the server stops, then waits for the open ones to end.
    pub async fn run<F, S>(self: Arc<Self>, listener: TcpListener, mut stopping: watch::Receiver<bool>, serve: F)
    where
        F: Fn(Arrival) -> S + Clone + Send + Sync + 'static,
        S: Future<Output = ()> + Send,
    {
        let (alive, mut ended) = mpsc::channel::<()>(1);
        loop {
            let accepted = tokio::select! {
                accepted = listener.accept() => accepted,
                // The sender is dropped only together with the server.
                _ = stopping.wait_for(|stopping| *stopping) => break,
            };
            let (stream, address) = match accepted {
                Ok((stream, address)) => (stream, address.ip().to_canonical()),
                Err(error) => {
                    // Usually the system has too many open files. This passes.
                    tracing::warn!(%error, "a connection could not be accepted");
                    tokio::time::sleep(Duration::from_millis(50)).await;
                    continue;
                }
            };
            let descriptor = match self.descriptors.as_ref().map(|all| all.clone().try_acquire_owned()) {
                None => None,
                Some(Ok(descriptor)) => Some(descriptor),
                Some(Err(_)) => {
                    // This frees a silent connection's descriptor for the next client.
                    self.pending.displace_oldest();
                    self.counted.turn_away();
                    continue;
                }
            };
            let cut = Cut::default();
            let each = self.most(address, self.limits.handshakes_each, self.limits.handshakes);
            let ticket = self.pending.enter(client_prefix(address), each, cut.clone());
            let socket = Socket::new(stream, cut.clone(), descriptor);
            let (gate, serve, alive) = (self.clone(), serve.clone(), alive.clone());
            tokio::spawn(async move {
                if let Some(arrival) = gate.admit(socket, address, cut, ticket).await {
                    serve(arrival).await;
                }
                drop(alive);
            });
            // Lets handshakes advance before the next accept. Otherwise a burst would displace its
            // own first connections.
            tokio::task::yield_now().await;
        }
        drop((listener, alive));
        self.pending.clear();
        // Nothing is ever sent. The channel closes when every connection has ended.
        let _ = ended.recv().await;
    }

    /// Returns the limit for an address: `all` for a proxy, `each` for any other.
    fn most(&self, address: IpAddr, each: usize, all: usize) -> usize {
        if self.proxies.contains(address) { all } else { each }
    }

    /// Completes the handshake. Returns `None` if it fails or no permit is free.
    async fn admit(&self, socket: Socket, address: IpAddr, cut: Cut, ticket: Ticket) -> Option<Arrival> {
        self.counted.pending.inc();
        let handshake = tokio::time::timeout(self.limits.handshake, self.shake(socket)).await;
        self.counted.pending.dec();
        drop(ticket);
        let (stream, certificate) = match handshake.unwrap_or(Err(Failed::Late)) {
            Ok(done) => done,
            Err(_) if cut.is_off() => return self.note(address, Failed::Displaced),
            Err(failed) => return self.note(address, failed),
        };
        let whose = certificate.as_deref().map_or(Whose::Address(client_prefix(address)), |certificate| {
            Whose::Certificate(Fingerprint::of(certificate))
        });
        let Limits { clients, clients_each, surplus, .. } = self.limits;
        let each = self.most(address, clients_each, clients);
        let permit = self.permits.acquire(whose, clients, each).map(|permit| (permit, false));
        let permit = permit.or_else(|| Some((self.surplus.acquire(whose, surplus, surplus)?, true)));
        let Some((permit, surplus)) = permit else {
            self.counted.turn_away();
            return None;
        };
        self.counted.open.inc();
        let held = ConnectionPermit { _permit: permit, counted: self.counted.clone() };
        Some(Arrival { stream, peer: Peer { address, certificate }, surplus, cut, held })
    }

    /// Performs the TLS handshake and reads the first bytes.
    async fn shake(&self, socket: Socket) -> Result<(Stream, Option<Arc<CertificateDer<'static>>>), Failed> {
        let (transport, certificate) = match &self.tls {
            None => (Transport::Plain(socket), None),
            Some(tls) => {
                let stream = TlsAcceptor::from(tls.get()).accept(socket).await.map_err(|error| match error.kind() {
                    io::ErrorKind::UnexpectedEof | io::ErrorKind::ConnectionReset => Failed::Closed,
                    _ => Failed::Tls(error),
                })?;
                let shown = stream.get_ref().1.peer_certificates().and_then(|chain| chain.first());
                let certificate = shown.map(|certificate| Arc::new(certificate.clone().into_owned()));
                (Transport::Tls(Box::new(stream)), certificate)
            }
        };
        match Stream::open(transport, self.opening.bytes).await {
            Ok(Ok(stream)) => Ok((stream, certificate)),
            Ok(Err(Foreign { mut stream })) => {
                let answer = (self.opening.otherwise)(stream.first());
                let _ = stream.write_all(answer.as_bytes()).await;
                let _ = stream.shutdown().await;
                Err(Failed::Protocol)
            }
            Err(_) => Err(Failed::Closed),
        }
    }

    /// Counts a failed handshake, and logs it unless the client has caused too many log lines.
    fn note<T>(&self, address: IpAddr, failed: Failed) -> Option<T> {
        let (why, error) = match failed {
            Failed::Late => ("late", None),
            Failed::Closed => ("closed", None),
            Failed::Displaced => ("displaced", None),
            Failed::Tls(error) => ("tls", Some(error)),
            Failed::Protocol => ("protocol", None),
        };
        self.counted.failed(why);
        // Port scans and health checks that only connect are not worth a line.
        if why != "closed" && self.talk.may(address) {
            match error {
                Some(error) => tracing::info!(why, %error, "a handshake failed"),
                None => tracing::info!(why, "a handshake failed"),
            }
        }
        None
    }
}

/// Listens on an address. Returns the bound address too, in case the system chose the port.
///
/// # Errors
/// The address is in use, or does not belong to this machine.
pub async fn bind(address: std::net::SocketAddr) -> io::Result<(TcpListener, std::net::SocketAddr)> {
    let listener = TcpListener::bind(address).await?;
    let found = listener.local_addr()?;
    Ok((listener, found))
}

#[cfg(test)]
mod tests {
    use super::*;
    use prometheus_client::encoding::text::encode;
    use prometheus_client::registry::Registry;
    use tokio::io::AsyncReadExt;
    use tokio::net::TcpStream;

    const LIMITS: Limits = Limits {
        clients: 2,
        clients_each: 2,
        surplus: 1,
        handshakes: 3,
        handshakes_each: 3,
        handshake: Duration::from_secs(3600),
    };

    struct Server {
        address: std::net::SocketAddr,
        registry: Registry,
        stop: watch::Sender<bool>,
        serving: tokio::task::JoinHandle<()>,
    }

    /// A server that sends `1` to clients with a permit and `0` to surplus ones, and then waits.
    async fn start(limits: Limits, descriptors: usize) -> Server {
        start_behind(Networks::default(), limits, descriptors).await
    }

    async fn start_behind(proxies: Networks, limits: Limits, descriptors: usize) -> Server {
        let mut registry = Registry::default();
        let counted = Connections::register(&mut registry);
        let opening = Opening { bytes: b"hello", otherwise: |_| "what?" };
        let descriptors = Some(Arc::new(Semaphore::new(descriptors)));
        let gate = Gate::behind(proxies, limits, opening, None, descriptors, counted, Arc::default());
        let (listener, address) = bind("127.0.0.1:0".parse().unwrap()).await.unwrap();
        let (stop, stopping) = watch::channel(false);
        let end = stopping.clone();
        let serving = tokio::spawn(gate.run(listener, stopping, move |mut arrival: Arrival| {
            let mut end = end.clone();
            async move {
                arrival.stream.read_exact(&mut [0; 5]).await.unwrap();
                arrival.stream.write_u8(if arrival.surplus { b'0' } else { b'1' }).await.unwrap();
                tokio::select! {
                    _ = arrival.stream.read_u8() => {}
                    _ = end.wait_for(|end| *end) => {}
                }
                drop(arrival);
            }
        }));
        Server { address, registry, stop, serving }
    }

    impl Server {
        async fn connect(&self, first: &[u8]) -> TcpStream {
            let mut stream = TcpStream::connect(self.address).await.unwrap();
            stream.write_all(first).await.unwrap();
            stream
        }

        /// The server's answer to a client: `1`, `0`, or nothing.
        async fn told(&self) -> (TcpStream, Option<u8>) {
            let mut stream = self.connect(b"hello").await;
            let told = stream.read_u8().await.ok();
            (stream, told)
        }

        async fn until(&self, line: &str) {
            loop {
                let mut text = String::new();
                encode(&mut text, &self.registry).unwrap();
                if text.lines().any(|found| found == line) {
                    return;
                }
                tokio::time::sleep(Duration::from_millis(2)).await;
            }
        }
    }

    #[tokio::test]
    async fn silent_connections_take_no_place_and_displace_one_another() {
        let server = start(LIMITS, 100).await;
        let mut silent = Vec::new();
        for _ in 0..20 {
            silent.push(server.connect(b"hel").await);
        }
        let (_first, told) = server.told().await;
        assert_eq!(told, Some(b'1'));
        server.until("failed_handshakes_total{why=\"displaced\"} 18").await;
        let ends = silent.iter_mut().take(18);
        for stream in ends {
            assert_eq!(stream.read(&mut [0]).await.unwrap_or(0), 0, "it is closed");
        }
        let (_second, told) = server.told().await;
        assert_eq!(told, Some(b'1'));
        let (_third, told) = server.told().await;
        assert_eq!(told, Some(b'0'), "no place: it is told so");
        let (_fourth, told) = server.told().await;
        assert_eq!(told, None);
        server.until("turned_away_total 1").await;
        server.until("clients 3").await;
        drop(_first);
        server.until("clients 2").await;
        assert_eq!(server.told().await.1, Some(b'1'));
    }

    #[tokio::test]
    async fn a_proxy_has_as_many_as_all_together() {
        let limits = Limits { clients: 4, clients_each: 1, surplus: 0, handshakes_each: 1, ..LIMITS };
        for (proxy, expected) in [("127.0.0.1", 4), ("127.0.0.2", 1)] {
            let proxies = [proxy.parse().unwrap()].into_iter().collect();
            let server = start_behind(proxies, limits, 100).await;
            let mut silent = server.connect(b"hel").await;
            let mut held = Vec::new();
            for _ in 0..6 {
                held.push(server.told().await);
            }
            assert_eq!(held.iter().filter(|(_, told)| told.is_some()).count(), expected, "{proxy}");
            if expected == 1 {
                assert_eq!(silent.read(&mut [0]).await.unwrap_or(0), 0, "the handshake made way");
            }
        }
    }

    #[tokio::test]
    async fn a_handshake_ends_in_time_or_with_the_server() {
        let server = start(Limits { handshake: Duration::from_millis(50), ..LIMITS }, 100).await;
        let mut silent = server.connect(b"").await;
        assert_eq!(silent.read(&mut [0]).await.unwrap_or(0), 0);
        server.until("failed_handshakes_total{why=\"late\"} 1").await;
        let mut foreign = server.connect(b"GET").await;
        let mut answer = String::new();
        foreign.read_to_string(&mut answer).await.unwrap();
        assert_eq!(answer, "what?");

        let server = start(LIMITS, 100).await;
        let (_client, _) = server.told().await;
        let _silent = server.connect(b"hel").await;
        server.until("handshakes 1").await;
        server.stop.send_replace(true);
        server.serving.await.unwrap();
    }

    #[tokio::test]
    async fn without_descriptors_the_silent_make_way_and_others_wait_for_none() {
        let server = start(Limits { handshakes: 100, handshakes_each: 100, ..LIMITS }, 4).await;
        let mut silent = Vec::new();
        for _ in 0..4 {
            silent.push(server.connect(b"hel").await);
        }
        server.until("handshakes 4").await;
        // Each rejected attempt displaces a silent connection.
        let told = loop {
            let (_stream, told) = server.told().await;
            if told.is_some() {
                break told;
            }
        };
        assert_eq!(told, Some(b'1'));
    }
}
