//! The server: a store, the queue of entries and the HTTP front end, from start to shutdown.

use std::net::{IpAddr, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::{fs, io};

use axum::Router;
use axum::http::HeaderValue;
use hearith_election::{Bytes, Signer};
use hearith_paillier::{Engine, KeyPolicy};
use hearith_serving::permits::Permits;
use hearith_serving::rate::RateLimiter;
use hearith_serving::{gate, page};
use tokio::net::TcpListener;
use tokio::runtime::Runtime;
use tokio::sync::watch;
use tokio::task::JoinHandle;

use crate::audit::Audit;
use crate::board_log::{self, BoardLog};
use crate::clients::Proxies;
use crate::http::{self, AppState};
use crate::intake::{Intake, Pipeline};
use crate::last_head::LastHead;
use crate::limits::Limits;
use crate::listener;
use crate::metrics::Metrics;
use crate::record::RecordCache;
use crate::security;
use crate::store::{self, Location, Store};
use crate::tls::{self, Current, Tls};

/// Maximum burst of requests, in seconds of the permitted rate.
const BURST: f64 = 10.0;

/// The options of a server.
#[derive(Debug)]
pub struct Options {
    /// The store of the board.
    pub store: Location,
    /// The address to listen on. Port 0 selects a free port.
    pub listen: SocketAddr,
    /// The address that serves metrics at `/metrics`. It must be a loopback address, because
    /// metrics are not encrypted.
    pub metrics: Option<SocketAddr>,
    /// The TLS certificate and key. Without TLS, the server only listens on a loopback address.
    pub tls: Option<Tls>,
    /// The trusted proxies, whose connections are exempt from the limit per address.
    pub proxies: Proxies,
    /// The file of the last head, by default [`Location::last_head`]. A store with fewer entries is
    /// not served.
    pub last_head: Option<PathBuf>,
    /// The key that signs heads and receipts.
    pub board: Signer,
    /// The organiser who may begin an election on an empty store.
    pub organiser: Option<Bytes>,
    /// The folder of the web pages.
    pub pages: Option<PathBuf>,
    /// The file of the audit log.
    pub audit: Option<PathBuf>,
    /// The policy that keys must satisfy.
    pub policy: KeyPolicy,
    /// The engine that verifies proofs.
    pub engine: Engine,
    /// The limits on clients.
    pub limits: Limits,
    /// Other elections on the same server, each below its own path.
    pub others: Vec<Another>,
}

/// An additional election on a server, below `/NAME/`.
#[derive(Debug)]
pub struct Another {
    /// The first segment of its paths: at most 40 lower-case letters, digits and hyphens, and not a
    /// segment reserved by the server.
    pub name: String,
    /// The store of the board.
    pub store: Location,
    /// The file of the last head, by default [`Location::last_head`].
    pub last_head: Option<PathBuf>,
    /// The key that signs heads and receipts.
    pub board: Signer,
    /// The organiser who may begin an election on an empty store.
    pub organiser: Option<Bytes>,
    /// The file of the audit log.
    pub audit: Option<PathBuf>,
}

/// Why a server cannot start.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Other machines could connect without protection.
    #[error("{0} can be reached from other machines: that needs TLS, here or in a proxy on this machine")]
    NotLoopback(SocketAddr),
    /// Other machines could read the metrics.
    #[error(
        "{0} can be reached from other machines: metrics are shown on the loopback address only, since they are not encrypted"
    )]
    MetricsNotLoopback(SocketAddr),
    /// The address is in use or does not belong to this machine.
    #[error("cannot listen on {0}")]
    Listen(SocketAddr, #[source] io::Error),
    /// The runtime cannot start threads.
    #[error("cannot start the server's threads")]
    Runtime(#[source] io::Error),
    /// The certificate or its key is unusable.
    #[error(transparent)]
    Tls(#[from] tls::Error),
    /// The server has no TLS certificate to replace.
    #[error("the server was started without TLS")]
    NoTls,
    /// The audit log cannot be written.
    #[error("{0}")]
    Audit(String, #[source] io::Error),
    /// The pages are missing, or their policy is invalid.
    #[error("{0} has no index.html, or its csp.txt is not a policy on a single line")]
    Pages(String),
    /// An election has an invalid or reserved name, or shares its name or store with another one.
    #[error("election '{0}': {1}")]
    Name(String, &'static str),
    /// The store is unavailable.
    #[error(transparent)]
    Store(#[from] store::Error),
    /// The store does not contain this server's board.
    #[error(transparent)]
    BoardLog(#[from] board_log::Error),
}

/// A running server. Dropping it without [`Server::stop`] aborts it.
#[derive(Debug)]
pub struct Server {
    runtime: Option<Runtime>,
    address: SocketAddr,
    metrics_address: Option<SocketAddr>,
    metrics: Arc<Metrics>,
    size: u64,
    limits: Limits,
    stop: watch::Sender<bool>,
    tls: Option<Arc<Current>>,
    serving: Option<JoinHandle<()>>,
}

impl Server {
    /// Applies all entries of the store, and then starts to listen.
    ///
    /// # Errors
    /// An unavailable store or one with another board, an unusable address or one that requires
    /// TLS, or an unusable certificate.
    pub fn start(options: Options) -> Result<Self, Error> {
        if options.tls.is_none() && !options.listen.ip().is_loopback() {
            return Err(Error::NotLoopback(options.listen));
        }
        if let Some(address) = options.metrics.filter(|address| !address.ip().is_loopback()) {
            return Err(Error::MetricsNotLoopback(address));
        }
        check_names(&options)?;
        let policy = policy(options.pages.as_deref())?;
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .thread_name("hearith-election")
            .enable_all()
            .build()
            .map_err(Error::Runtime)?;
        let mut server = runtime.block_on(start(options, policy))?;
        server.runtime = Some(runtime);
        Ok(server)
    }

    /// The address on which it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The address that serves metrics.
    pub fn metrics_address(&self) -> Option<SocketAddr> {
        self.metrics_address
    }

    /// The number of entries on the first board at the start.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// The server's metrics.
    pub fn metrics(&self) -> &Metrics {
        &self.metrics
    }

    /// Replaces the certificate for new connections.
    ///
    /// # Errors
    /// An unusable certificate. The previous one then stays in use.
    pub fn replace_tls(&self, tls: &Tls) -> Result<(), Error> {
        Ok(self.tls.as_ref().ok_or(Error::NoTls)?.replace(tls)?)
    }

    /// Stops accepting connections, answers all submitted requests, signs a last head and shuts
    /// down. Returns whether this finished in time.
    pub fn stop(mut self) -> bool {
        let (Some(runtime), Some(serving)) = (self.runtime.take(), self.serving.take()) else { return true };
        self.stop.send_replace(true);
        let shutdown_timeout = self.limits.shutdown_timeout;
        let ended = runtime.block_on(async { tokio::time::timeout(shutdown_timeout, serving).await });
        runtime.shutdown_background();
        matches!(ended, Ok(Ok(())))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

/// The content security policy of the pages: that of the file next to them, which contains the
/// hashes of their scripts, or the default.
fn policy(pages: Option<&Path>) -> Result<HeaderValue, Error> {
    let Some(folder) = pages else { return Ok(HeaderValue::from_static(security::POLICY)) };
    let wrong = || Error::Pages(folder.display().to_string());
    if !folder.join("index.html").is_file() {
        return Err(wrong());
    }
    match fs::read_to_string(folder.join("csp.txt")) {
        Ok(text) if text.starts_with("default-src 'none'") => {
            HeaderValue::from_str(text.trim_end()).map_err(|_| wrong())
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(HeaderValue::from_static(security::POLICY)),
        _ => Err(wrong()),
    }
}

/// Checks that every election has its own path and its own store.
fn check_names(options: &Options) -> Result<(), Error> {
    let mut stores = vec![&options.store];
    for (at, other) in options.others.iter().enumerate() {
        let wrong = |problem| Err(Error::Name(other.name.clone(), problem));
        let known = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
        if !(1..=40).contains(&other.name.len()) || !other.name.bytes().all(known) {
            return wrong("a name must consist of 1 to 40 lower-case letters, digits and hyphens");
        }
        if http::OWN.contains(&other.name.as_str()) {
            return wrong("the server uses this name for its own addresses");
        }
        if options.others[..at].iter().any(|one| one.name == other.name) {
            return wrong("another election has this name");
        }
        if stores.contains(&&other.store) {
            return wrong("another election uses this store");
        }
        stores.push(&other.store);
    }
    Ok(())
}

/// Shared by all elections of a server.
struct Shared {
    policy: KeyPolicy,
    engine: Engine,
    limits: Limits,
    metrics: Arc<Metrics>,
    rates: Option<Arc<RateLimiter<IpAddr>>>,
    requests: Arc<Permits<IpAddr>>,
    proxies: Proxies,
    pages: Option<PathBuf>,
    header: HeaderValue,
    tls: bool,
}

/// An election being served.
struct Opened {
    router: Router,
    size: u64,
    pipeline: Pipeline,
    store: Store,
    audit: Arc<Audit>,
}

impl Shared {
    async fn open(&self, election: Another) -> Result<Opened, Error> {
        let audit = match &election.audit {
            Some(path) => Audit::open(path).map_err(|error| Error::Audit(path.display().to_string(), error))?,
            None => Audit::default(),
        };
        let audit = Arc::new(audit);
        let store = Store::open(&election.store).await?;
        let last = election.last_head.or_else(|| election.store.last_head()).map(LastHead::at);
        let board_log = BoardLog::open(store.clone(), election.board, last, self.policy, self.engine).await?;
        let (board_log, limits, metrics) = (Arc::new(board_log), self.limits, self.metrics.clone());
        let size = board_log.view().size;
        let (intake, pipeline) =
            Intake::open(board_log.clone(), election.organiser, limits, metrics.clone(), audit.clone());
        let files = RecordCache::new(store.clone(), limits.record_bytes);
        let (rates, requests, proxies) = (self.rates.clone(), self.requests.clone(), self.proxies.clone());
        let app = Arc::new(AppState { board_log, intake, files, metrics, limits, rates, requests, proxies });
        let router = http::router(app, self.pages.clone(), self.header.clone(), self.tls);
        audit.note([("started", [("index", size.into())])]);
        Ok(Opened { router, size, pipeline, store, audit })
    }
}

async fn start(options: Options, policy: HeaderValue) -> Result<Server, Error> {
    let tls = options.tls.as_ref().map(|tls| Current::new(tls, &[b"http/1.1"])).transpose()?.map(Arc::new);
    let (metrics, limits) = (Arc::new(Metrics::default()), options.limits);
    let per_second = f64::from(limits.rate);
    let networks = options.proxies.networks.clone();
    let shared = Shared {
        policy: options.policy,
        engine: options.engine,
        limits,
        metrics: metrics.clone(),
        rates: (limits.rate > 0).then(|| Arc::new(RateLimiter::new(per_second, per_second * BURST))),
        requests: Permits::new(),
        proxies: options.proxies,
        pages: options.pages,
        header: policy,
        tls: tls.is_some(),
    };
    let first = Another {
        name: String::new(),
        store: options.store,
        last_head: options.last_head,
        board: options.board,
        organiser: options.organiser,
        audit: options.audit,
    };
    let first = shared.open(first).await?;
    let size = first.size;
    let mut opened = Vec::with_capacity(options.others.len());
    for other in options.others {
        let name = other.name.clone();
        opened.push((name, shared.open(other).await?));
    }
    let routers = opened.iter().map(|(name, one)| (name.clone(), one.router.clone())).collect();
    let router = http::all(first.router.clone(), routers);
    let all: Vec<Opened> = std::iter::once(first).chain(opened.into_iter().map(|(_, one)| one)).collect();

    let (stop, stopping) = watch::channel(false);
    let (listener, address) = bind(options.listen).await?;
    let metrics_address = match options.metrics {
        None => None,
        Some(address) => {
            let (listener, address) = bind(address).await?;
            let (metrics, stopping) = (metrics.clone(), stopping.clone());
            let ready = move || if *stopping.borrow() { Err("shutting down") } else { Ok(()) };
            tokio::spawn(page::serve(listener, move || metrics.text(), ready));
            Some(address)
        }
    };
    let serving = listener::serve(listener, tls.clone(), router, limits, networks, metrics.clone(), stopping);
    let serving = tokio::spawn(async move {
        // When the last connection has closed, the intakes close and then their stages end.
        serving.await;
        for Opened { pipeline, store, audit, router, .. } in all {
            drop(router);
            pipeline.end().await;
            store.close().await;
            audit.note::<0>([("stopped", [])]);
        }
    });
    let serving = Some(serving);
    Ok(Server { runtime: None, address, metrics_address, metrics, size, limits, stop, tls, serving })
}

async fn bind(address: SocketAddr) -> Result<(TcpListener, SocketAddr), Error> {
    gate::bind(address).await.map_err(|error| Error::Listen(address, error))
}
