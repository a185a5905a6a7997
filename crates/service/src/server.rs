//! The server: gRPC with health and reflection, TLS, metrics, and an end that finishes what was accepted.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use hearith_paillier::{Engine, KeyPolicy, PrivateKey};
use tokio::net::TcpListener;
use tokio::runtime::Runtime;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};
use tokio::task::JoinHandle;
use tonic::service::Routes;
use tonic::transport::server::TlsConnectInfo;
use tonic::transport::{Certificate, Identity, Server as Transport, ServerTlsConfig};
use tonic::{Extensions, Request, Response, Status, Streaming};

use crate::exchange::{Answers, Service, exchange};
use crate::keys::Keys;
use crate::limits::Limits;
use crate::listener::{self, Client};
use crate::metrics::Metrics;
use crate::processor::Cpu;
use crate::proto::paillier_server::{Paillier, PaillierServer};
use crate::proto::{self, ErrorReason};
use crate::refusal::Refusal;
use crate::request::Exchange;
use crate::scheduler::{Member, Scheduler};
use crate::shelf::Shelf;

/// How often a silent connection is asked whether it is there, and how long it may take to answer.
const KEEP_ALIVE: Duration = Duration::from_secs(20);
/// Streams that one connection may have open.
const STREAMS_A_CLIENT: u32 = 256;
/// Threads that talk to clients: enough for what the cores compute, and on few cores one, since each that is woken costs them time.
const MOST_THREADS: usize = 4;

/// What a server is started with.
#[derive(Debug)]
pub struct Options {
    /// Where to listen; port 0 for any that is free.
    pub listen: SocketAddr,
    /// Where to show metrics, at `/metrics`: an address of the loopback network, since they are not encrypted.
    pub metrics: Option<SocketAddr>,
    /// How connections are protected; without, only the loopback network is listened on.
    pub tls: Option<Tls>,
    /// The keys to decrypt with.
    pub keys: Vec<PrivateKey>,
    /// Which public keys are taken.
    pub policy: KeyPolicy,
    /// The engine of this CPU.
    pub engine: Engine,
    /// Devices beside it.
    pub devices: Vec<Member>,
    /// Whether this CPU only does what no device does.
    pub reserve: bool,
    /// How much clients may ask for.
    pub limits: Limits,
}

/// Certificates and keys, in PEM.
#[derive(Clone)]
pub struct Tls {
    /// The server's certificate, and those that lead to its root.
    pub certificate: String,
    /// Its private key.
    pub key: String,
    /// Roots of the certificates that clients must show; without, anybody may connect, and only from this machine.
    pub clients: Option<String>,
}

/// Shows nothing of the key.
impl std::fmt::Debug for Tls {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Tls").field("clients", &self.clients.is_some()).finish_non_exhaustive()
    }
}

/// Why a server cannot start, or ended.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Others than this machine could connect, unprotected.
    #[error(
        "{0} can be reached from other machines: that takes TLS and certificates of the clients, since whoever connects can use the \
         keys, and plaintexts go over the network"
    )]
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
    /// The certificates or their key are not usable, or serving failed.
    #[error("TLS or transport")]
    Transport(#[from] tonic::transport::Error),
}

/// A server that runs until it is stopped. Dropped without, it breaks off.
#[derive(Debug)]
pub struct Server {
    runtime: Option<Runtime>,
    service: Arc<Service>,
    address: SocketAddr,
    metrics_address: Option<SocketAddr>,
    stop: watch::Sender<bool>,
    serving: Option<JoinHandle<Result<(), tonic::transport::Error>>>,
}

impl Server {
    /// Starts to listen.
    ///
    /// # Errors
    /// An address that is not to be had, or not without TLS; certificates that are not usable.
    pub fn start(options: Options) -> Result<Self, Error> {
        let protected = options.tls.as_ref().is_some_and(|tls| tls.clients.is_some());
        if !protected && !options.listen.ip().is_loopback() {
            return Err(Error::NotLoopback(options.listen));
        }
        if let Some(address) = options.metrics.filter(|address| !address.ip().is_loopback()) {
            return Err(Error::MetricsNotLoopback(address));
        }
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads((rayon::current_num_threads() / 2).clamp(1, MOST_THREADS))
            .thread_name("hearith-serve")
            .enable_all()
            .build()
            .map_err(Error::Runtime)?;
        let metrics = Arc::new(Metrics::default());
        let (stop, stopping) = watch::channel(false);
        let cpu = Cpu::new(options.engine).map_err(|error| Error::Runtime(io::Error::other(error)))?;
        let mut members = vec![Member::cpu(cpu, options.reserve)];
        members.extend(options.devices);
        let limits = options.limits;
        let keys = Keys::new(options.keys, limits.keys, options.policy, options.engine);
        let scheduler = Scheduler::start(members, limits, metrics.clone());
        let shelf = Shelf::new(limits.unread_bytes, metrics.clone());
        let service = Arc::new(Service { keys, scheduler, shelf, limits, metrics: metrics.clone(), stopping });

        let bind = async |address| TcpListener::bind(address).await.map_err(|error| Error::Listen(address, error));
        let listener = runtime.block_on(bind(options.listen))?;
        let address = listener.local_addr().map_err(|error| Error::Listen(options.listen, error))?;
        let metrics_address = match options.metrics {
            None => None,
            Some(address) => {
                let listener = runtime.block_on(bind(address))?;
                let found = listener.local_addr().map_err(|error| Error::Listen(address, error))?;
                runtime.spawn(show_metrics(listener, metrics));
                Some(found)
            }
        };
        let transport = transport(options.tls)?;
        let serving = runtime.spawn(serve(transport, listener, service.clone()));
        Ok(Self { runtime: Some(runtime), service, address, metrics_address, stop, serving: Some(serving) })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Where it shows metrics.
    pub fn metrics_address(&self) -> Option<SocketAddr> {
        self.metrics_address
    }

    /// What it has counted.
    pub fn metrics(&self) -> &Metrics {
        &self.service.metrics
    }

    /// The processors that stalled or failed, by name.
    pub fn set_aside(&self) -> Vec<String> {
        self.service.scheduler.set_aside()
    }

    /// Takes no more requests, finishes what was accepted, and ends; says whether all was finished in time.
    ///
    /// # Errors
    /// Serving had failed before.
    pub fn stop(mut self) -> Result<bool, Error> {
        let (runtime, serving) = (self.runtime.take(), self.serving.take());
        let (Some(runtime), Some(serving)) = (runtime, serving) else { return Ok(true) };
        self.stop.send_replace(true);
        let grace = self.service.limits.grace;
        let ended = runtime.block_on(async { tokio::time::timeout(grace, serving).await });
        runtime.shutdown_background();
        match ended {
            Err(_) | Ok(Err(_)) => {
                self.service.scheduler.abandon();
                Ok(false)
            }
            Ok(Ok(served)) => Ok(served.map(|()| true)?),
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

fn transport(tls: Option<Tls>) -> Result<Transport, Error> {
    let transport = Transport::builder()
        .http2_keepalive_interval(Some(KEEP_ALIVE))
        .http2_keepalive_timeout(Some(KEEP_ALIVE))
        .max_concurrent_streams(STREAMS_A_CLIENT);
    let Some(tls) = tls else { return Ok(transport) };
    let mut config = ServerTlsConfig::new().identity(Identity::from_pem(tls.certificate, tls.key));
    if let Some(clients) = tls.clients {
        config = config.client_ca_root(Certificate::from_pem(clients));
    }
    Ok(transport.tls_config(config)?)
}

/// Serves until it is told to stop and every stream has ended.
async fn serve(
    mut transport: Transport,
    listener: TcpListener,
    service: Arc<Service>,
) -> Result<(), tonic::transport::Error> {
    let (reporter, health) = tonic_health::server::health_reporter();
    reporter.set_serving::<PaillierServer<Front>>().await;
    let mut stopping = service.stopping.clone();
    let stopped = async move {
        // The sender is gone only if the server is.
        let _ = stopping.wait_for(|stopping| *stopping).await;
        reporter.set_not_serving::<PaillierServer<Front>>().await;
        tracing::info!("shutting down");
    };
    let reflection = tonic_reflection::server::Builder::configure()
        .register_encoded_file_descriptor_set(proto::DESCRIPTOR)
        .register_encoded_file_descriptor_set(tonic_health::pb::FILE_DESCRIPTOR_SET)
        .build_v1()
        .expect("the descriptors were compiled with the program");
    let sockets = listener::accept(listener, service.limits.clients, service.metrics.clone());
    let most = service.limits.message_bytes;
    let streams = Arc::new(Semaphore::new(service.limits.streams));
    tokio::spawn(watch_unread(service.shelf.clone(), service.limits.unread));
    let shelf = service.shelf.clone();
    let count = move |request: axum::extract::Request, next| {
        shelf.clone().count(client_of(request.extensions()), request, next)
    };
    let paillier = PaillierServer::new(Front { service, streams })
        .max_decoding_message_size(most)
        .max_encoding_message_size(usize::MAX);
    let routes = Routes::new(health).add_service(reflection).add_service(paillier);
    let routes = routes.into_axum_router().layer(axum::middleware::from_fn(count));
    transport.add_routes(routes.into()).serve_with_incoming_shutdown(sockets, stopped).await
}

/// Cuts off whoever does not even read why there is no more.
async fn watch_unread(shelf: Arc<Shelf>, unread: Duration) {
    let mut rounds = tokio::time::interval((unread / 4).max(Duration::from_millis(10)));
    loop {
        rounds.tick().await;
        shelf.drop_older(unread * 2);
    }
}

/// Whose request it is that came with these.
fn client_of(extensions: &Extensions) -> Client {
    let protected = || extensions.get::<TlsConnectInfo<Client>>().map(TlsConnectInfo::get_ref);
    extensions.get::<Client>().or_else(protected).cloned().unwrap_or_default()
}

/// Shows metrics over HTTP.
async fn show_metrics(listener: TcpListener, metrics: Arc<Metrics>) {
    const TYPE: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";
    let show = move || {
        let text = metrics.text();
        async { ([("content-type", TYPE)], text) }
    };
    let router = axum::Router::new().route("/metrics", axum::routing::get(show));
    if let Err(error) = axum::serve(listener, router).await {
        tracing::error!(%error, "metrics are not shown any more");
    }
}

/// What gRPC calls.
struct Front {
    service: Arc<Service>,
    streams: Arc<Semaphore>,
}

impl Front {
    fn open<E: Exchange>(&self, request: Request<Streaming<E>>) -> Result<Response<Answers<E::Answer>>, Status> {
        let client = self.admit(&request)?;
        let stream = self.stream()?;
        Ok(exchange(self.service.clone(), request, stream, client))
    }

    /// Whose request it is. Refuses clients that there is no room for, and everybody at the end.
    fn admit<T>(&self, request: &Request<T>) -> Result<Client, Refusal> {
        let client = client_of(request.extensions());
        if client.surplus {
            let text = format!("{} clients are connected, and no more are taken", self.service.limits.clients);
            return Err(Refusal::new(ErrorReason::ClientsFull, text));
        }
        match *self.service.stopping.borrow() {
            true => Err(Refusal::new(ErrorReason::ShuttingDown, "the service is shutting down")),
            false => Ok(client),
        }
    }

    fn stream(&self) -> Result<OwnedSemaphorePermit, Refusal> {
        self.streams.clone().try_acquire_owned().map_err(|_| {
            let text = format!("{} streams are open, and no more are taken", self.service.limits.streams);
            Refusal::new(ErrorReason::StreamsFull, text)
        })
    }
}

#[tonic::async_trait]
impl Paillier for Front {
    type EncryptStream = Answers<proto::EncryptResponse>;
    type RerandomiseStream = Answers<proto::RerandomiseResponse>;
    type AddStream = Answers<proto::AddResponse>;
    type MultiplyStream = Answers<proto::MultiplyResponse>;
    type SumGroupsStream = Answers<proto::SumGroupsResponse>;
    type DecryptStream = Answers<proto::DecryptResponse>;

    async fn register_key(
        &self,
        request: Request<proto::RegisterKeyRequest>,
    ) -> Result<Response<proto::RegisterKeyResponse>, Status> {
        self.admit(&request)?;
        let _stream = self.stream()?;
        let (service, key) = (self.service.clone(), request.into_inner());
        let registered = tokio::task::spawn_blocking(move || {
            let key = service.keys.register(&key.n, &key.h)?;
            service.metrics.keys.set(service.keys.registered() as i64);
            Ok::<_, Refusal>(key)
        });
        let failed = |_| Refusal::new(ErrorReason::Failed, "internal error");
        let key = registered.await.map_err(failed)??;
        let max_message_bytes = self.service.limits.message_bytes as u64;
        let (handle, decrypts) = (key.handle().to_string(), key.private().is_some());
        Ok(Response::new(proto::RegisterKeyResponse { key: handle, decrypts, max_message_bytes }))
    }

    async fn encrypt(
        &self,
        request: Request<Streaming<proto::EncryptRequest>>,
    ) -> Result<Response<Self::EncryptStream>, Status> {
        self.open(request)
    }

    async fn rerandomise(
        &self,
        request: Request<Streaming<proto::RerandomiseRequest>>,
    ) -> Result<Response<Self::RerandomiseStream>, Status> {
        self.open(request)
    }

    async fn add(&self, request: Request<Streaming<proto::AddRequest>>) -> Result<Response<Self::AddStream>, Status> {
        self.open(request)
    }

    async fn multiply(
        &self,
        request: Request<Streaming<proto::MultiplyRequest>>,
    ) -> Result<Response<Self::MultiplyStream>, Status> {
        self.open(request)
    }

    async fn sum_groups(
        &self,
        request: Request<Streaming<proto::SumGroupsRequest>>,
    ) -> Result<Response<Self::SumGroupsStream>, Status> {
        self.open(request)
    }

    async fn decrypt(
        &self,
        request: Request<Streaming<proto::DecryptRequest>>,
    ) -> Result<Response<Self::DecryptStream>, Status> {
        self.open(request)
    }
}
