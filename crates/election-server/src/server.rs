//! The server: a store, the queue of entries before it, and HTTP in front, from start to end.

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
use crate::clients::Proxies;
use crate::http::{self, AppState};
use crate::intake::{Intake, Pipeline};
use crate::last_head::LastHead;
use crate::ledger::{self, Ledger};
use crate::limits::Limits;
use crate::listener;
use crate::metrics::Metrics;
use crate::record::RecordCache;
use crate::security;
use crate::store::{self, Location, Store};
use crate::tls::{self, Current, Tls};

/// Seconds' worth of requests that may come at once.
const BURST: f64 = 10.0;

/// What a server is started with.
#[derive(Debug)]
pub struct Options {
    /// Where the board is kept.
    pub store: Location,
    /// Where to listen; port 0 for any that is free.
    pub listen: SocketAddr,
    /// Where to show metrics, at `/metrics`: an address of the loopback network, since they are not
    /// encrypted.
    pub metrics: Option<SocketAddr>,
    /// How connections are protected; without, only the loopback network is listened on.
    pub tls: Option<Tls>,
    /// The proxies that clients come through, whose connections are not limited each by each.
    pub proxies: Proxies,
    /// Where the last head is kept; [`Location::last_head`] if nothing is said. A store that has
    /// less is not served.
    pub last_head: Option<PathBuf>,
    /// What heads and receipts are signed with.
    pub board: Signer,
    /// Whose election may begin on an empty store.
    pub organiser: Option<Bytes>,
    /// The folder of the pages.
    pub pages: Option<PathBuf>,
    /// The file of the audit log.
    pub audit: Option<PathBuf>,
    /// Which keys are taken.
    pub policy: KeyPolicy,
    /// What proofs are verified with.
    pub engine: Engine,
    /// How much clients may ask for.
    pub limits: Limits,
    /// Other elections on the same server, each below an address of its own.
    pub others: Vec<Another>,
}

/// Another election on a server: its board is below `/NAME/`.
#[derive(Debug)]
pub struct Another {
    /// The first part of its addresses: small letters, digits and hyphens, 40 at most, and none of
    /// the server's own.
    pub name: String,
    /// Where the board is kept.
    pub store: Location,
    /// Where the last head is kept; [`Location::last_head`] if nothing is said.
    pub last_head: Option<PathBuf>,
    /// What heads and receipts are signed with.
    pub board: Signer,
    /// Whose election may begin on an empty store.
    pub organiser: Option<Bytes>,
    /// The file of the audit log.
    pub audit: Option<PathBuf>,
}

/// Why a server cannot start.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Others than this machine could connect, unprotected.
    #[error("{0} can be reached from other machines: that needs TLS, here or in a proxy on this machine")]
    NotLoopback(SocketAddr),
    /// Metrics would be shown to other machines.
    #[error(
        "{0} can be reached from other machines: metrics are shown on the loopback address only, since they are not encrypted"
    )]
    MetricsNotLoopback(SocketAddr),
    /// The address is taken, or none of this machine.
    #[error("cannot listen on {0}")]
    Listen(SocketAddr, #[source] io::Error),
    /// The run-time has no threads.
    #[error("cannot start the server's threads")]
    Runtime(#[source] io::Error),
    /// The certificate or its key is not usable.
    #[error(transparent)]
    Tls(#[from] tls::Error),
    /// The server has no TLS whose certificate could be replaced.
    #[error("the server was started without TLS")]
    NoTls,
    /// The audit log cannot be written.
    #[error("{0}")]
    Audit(String, #[source] io::Error),
    /// There are no pages, or their policy is none.
    #[error("{0} has no index.html, or a csp.txt that is no policy of one line")]
    Pages(String),
    /// An election has a name that no address can have, or the name or the store of another one.
    #[error("election '{0}': {1}")]
    Name(String, &'static str),
    /// The store is not to be had.
    #[error(transparent)]
    Store(#[from] store::Error),
    /// What is in the store is no board of this server's.
    #[error(transparent)]
    Ledger(#[from] ledger::Error),
}

/// A server that runs until it is stopped. Dropped without, it breaks off.
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
    /// Starts to listen, when all that is in the store is folded.
    ///
    /// # Errors
    /// A store that is not to be had, or with another board; an address that is not, or not without
    /// TLS; a certificate that is not usable.
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

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Where it shows metrics.
    pub fn metrics_address(&self) -> Option<SocketAddr> {
        self.metrics_address
    }

    /// Entries that were on the first board when it started.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// What it has counted.
    pub fn metrics(&self) -> &Metrics {
        &self.metrics
    }

    /// Replaces the certificate, for connections that come from now on.
    ///
    /// # Errors
    /// What is wrong with it: then the one from before stays in use.
    pub fn replace_tls(&self, tls: &Tls) -> Result<(), Error> {
        Ok(self.tls.as_ref().ok_or(Error::NoTls)?.replace(tls)?)
    }

    /// Takes no more connections, answers what was sent, signs a last head, and ends; says whether
    /// all was done in time.
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

/// What pages may do: as the file beside them says, if they have one, since it knows the hashes of
/// what they carry.
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

/// Checks that every election has an address of its own, and a store of its own.
fn check_names(options: &Options) -> Result<(), Error> {
    let mut stores = vec![&options.store];
    for (at, other) in options.others.iter().enumerate() {
        let wrong = |problem| Err(Error::Name(other.name.clone(), problem));
        let known = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
        if !(1..=40).contains(&other.name.len()) || !other.name.bytes().all(known) {
            return wrong("a name has small letters, digits and hyphens, 40 at most");
        }
        if http::OWN.contains(&other.name.as_str()) {
            return wrong("the server has addresses of this name itself");
        }
        if options.others[..at].iter().any(|one| one.name == other.name) {
            return wrong("there is another one of this name");
        }
        if stores.contains(&&other.store) {
            return wrong("another election has this store");
        }
        stores.push(&other.store);
    }
    Ok(())
}

/// What all elections of a server share.
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

/// An election that is served.
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
        let ledger = Ledger::open(store.clone(), election.board, last, self.policy, self.engine).await?;
        let (ledger, limits, metrics) = (Arc::new(ledger), self.limits, self.metrics.clone());
        let size = ledger.view().size;
        let (intake, pipeline) =
            Intake::open(ledger.clone(), election.organiser, limits, metrics.clone(), audit.clone());
        let files = RecordCache::new(store.clone(), limits.record_bytes);
        let (rates, requests, proxies) = (self.rates.clone(), self.requests.clone(), self.proxies.clone());
        let app = Arc::new(AppState { ledger, intake, files, metrics, limits, rates, requests, proxies });
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
        // With the last connection the desks close, and then their stages end.
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
