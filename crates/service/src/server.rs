//! The server: gRPC with health and reflection, TLS and metrics. A shutdown finishes the accepted
//! requests.

use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use hearith_paillier::{Engine, KeyPolicy, PrivateKey};
use hearith_serving::gate::{self, Arrival, Gate, Opening};
use hearith_serving::lifetime::{self, Lifetime};
use hearith_serving::tls::{self, Current};
use hearith_serving::{descriptors, memory, page};
use hyper::server::conn::http2;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::net::TcpListener;
use tokio::runtime::Runtime;
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tonic::codec::CompressionEncoding;
use tonic::service::Routes;
use tonic::{Request, Response, Status, Streaming};
use tonic_health::server::HealthReporter;

use crate::audit::Audit;
use crate::clients::{Client, SharedTalk};
use crate::exchange::{Answers, Service, exchange};
use crate::keys::Keys;
use crate::limits::{Limits, OLD_GRACE};
use crate::metrics::Metrics;
use crate::only_grpc::{answer_http1, only_grpc};
use crate::processor::Cpu;
use crate::proto::paillier_server::{Paillier, PaillierServer};
use crate::proto::{self, ErrorReason};
use crate::quota::Quotas;
use crate::refusal::Refusal;
use crate::request::Exchange;
use crate::rights::{Right, Rights};
use crate::scheduler::{Scheduler, Worker};
use crate::streams::Streams;
use crate::traces::Traces;
use crate::unread::UnreadBuffer;

pub use hearith_serving::tls::Tls;

/// Interval of keep-alive pings on a silent connection, and the timeout for their answers.
const KEEP_ALIVE: Duration = Duration::from_secs(20);
/// The client connection preface of HTTP/2 (RFC 9113, section 3.4).
const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
/// HTTP/1.1 is listed only to tell its clients that this is gRPC.
const PROTOCOLS: &[&[u8]] = &[b"h2", b"http/1.1"];
/// Maximum number of open streams per connection.
const STREAMS_PER_CLIENT: u32 = 256;
/// Maximum number of threads that serve connections. They keep up with the cores' computations.
/// With few cores there is only one, since each woken thread costs computing time.
const MAX_THREADS: usize = 4;

/// Options of a server.
#[derive(Debug)]
pub struct Options {
    /// The address to listen on. Port 0 selects any free port.
    pub listen: SocketAddr,
    /// The address that serves `/metrics`. It must be a loopback address, since metrics are not
    /// encrypted.
    pub metrics: Option<SocketAddr>,
    /// Whether `metrics` may be another address.
    pub public_metrics: bool,
    /// An OpenTelemetry collector on this machine. It receives a span for each request (OTLP over
    /// gRPC).
    pub collector: Option<SocketAddr>,
    /// TLS credentials. Unless they require client certificates, the server listens only on a
    /// loopback address.
    pub tls: Option<Tls>,
    /// Clients' rights. By default clients may do everything, except decrypt if the server requires
    /// client certificates.
    pub rights: Option<Rights>,
    /// A log of decryptions. No decryption is answered before its line is written.
    pub audit: Option<PathBuf>,
    /// The private keys to decrypt with.
    pub keys: Vec<PrivateKey>,
    /// The public keys that are accepted.
    pub policy: KeyPolicy,
    /// This CPU's engine.
    pub engine: Engine,
    /// Devices in addition to this CPU.
    pub devices: Vec<Worker>,
    /// Whether this CPU computes only what no device can.
    pub cpu_fallback_only: bool,
    /// Limits on clients.
    pub limits: Limits,
}

/// The error when a server fails to start or run.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Other machines could connect without showing a certificate.
    #[error(
        "{0} can be reached from other machines: that needs TLS and client certificates, because every client can use \
         the keys, and plaintexts cross the network"
    )]
    NotLoopback(SocketAddr),
    /// Other machines could read the metrics.
    #[error("{0} can be reached from other machines: metrics are not encrypted, so this needs --public-metrics")]
    MetricsNotLoopback(SocketAddr),
    /// Spans would be sent to another machine.
    #[error("{0} is another machine, but spans are not encrypted: run a collector on this machine that forwards them")]
    CollectorNotLoopback(SocketAddr),
    /// Spans cannot be sent.
    #[error("cannot send spans")]
    Traces(#[from] opentelemetry_otlp::ExporterBuildError),
    /// The address is in use, or does not belong to this machine.
    #[error("cannot listen on {0}")]
    Listen(SocketAddr, #[source] io::Error),
    /// The runtime's threads cannot be started.
    #[error("cannot start the server's threads")]
    Runtime(#[source] io::Error),
    /// The log of decryptions cannot be opened.
    #[error("{0}")]
    Audit(String, #[source] io::Error),
    /// The certificates, their key or the revocation lists are unusable.
    #[error(transparent)]
    Tls(#[from] tls::Error),
    /// The server runs without TLS, so there are no certificates to replace.
    #[error("the service was started without TLS")]
    NoTls,
}

/// A server that runs until [`Server::stop`]. Dropping it aborts the requests in progress.
#[derive(Debug)]
pub struct Server {
    runtime: Option<Runtime>,
    service: Arc<Service>,
    address: SocketAddr,
    metrics_address: Option<SocketAddr>,
    stop: watch::Sender<bool>,
    tls: Option<Arc<Current>>,
    serving: Option<JoinHandle<()>>,
}

impl Server {
    /// Starts the server.
    ///
    /// # Errors
    /// The address is unavailable or needs TLS, or the certificates are unusable.
    pub fn start(options: Options) -> Result<Self, Error> {
        let protected = options.tls.as_ref().is_some_and(|tls| tls.clients.is_some());
        if !protected && !options.listen.ip().is_loopback() {
            return Err(Error::NotLoopback(options.listen));
        }
        if let Some(address) = options.metrics.filter(|address| !address.ip().is_loopback() && !options.public_metrics)
        {
            return Err(Error::MetricsNotLoopback(address));
        }
        if let Some(address) = options.collector.filter(|address| !address.ip().is_loopback()) {
            return Err(Error::CollectorNotLoopback(address));
        }
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads((rayon::current_num_threads() / 2).clamp(1, MAX_THREADS))
            .thread_name("hearith-serve")
            .enable_all()
            .build()
            .map_err(Error::Runtime)?;
        let metrics = Arc::new(Metrics::default());
        let (stop, stopping) = watch::channel(false);
        let mut workers = vec![Worker::cpu(Cpu::new(options.engine), options.cpu_fallback_only)];
        workers.extend(options.devices);
        let limits = options.limits;
        let keys = Keys::new(options.keys, limits.keys, options.policy, options.engine);
        let scheduler = Scheduler::start(workers, limits, metrics.clone());
        let talk = SharedTalk::default();
        let unread_buffer = UnreadBuffer::new(limits.unread_bytes, metrics.clone(), talk.clone());
        let stop_page = stopping.clone();
        let undecided = if protected { Rights::Undecided } else { Rights::All };
        let rights = RwLock::new(Arc::new(options.rights.unwrap_or(undecided)));
        let audit = options.audit.as_deref().map(|path| {
            Audit::open(path).map(Arc::new).map_err(|error| Error::Audit(path.display().to_string(), error))
        });
        let audit = audit.transpose()?;
        let quotas = Quotas::default();
        let traces = {
            let _within = runtime.enter();
            options.collector.map(Traces::to).transpose()?
        };
        let service = Service {
            keys,
            scheduler,
            unread_buffer,
            limits,
            metrics: metrics.clone(),
            talk,
            rights,
            quotas,
            audit,
            traces,
            stopping,
        };
        let service = Arc::new(service);

        let tls = options.tls.as_ref().map(|tls| Current::new(tls, PROTOCOLS)).transpose()?.map(Arc::new);
        let bind = async |address| gate::bind(address).await.map_err(|error| Error::Listen(address, error));
        let (listener, address) = runtime.block_on(bind(options.listen))?;
        let metrics_address = match options.metrics {
            None => None,
            Some(address) => {
                let (listener, found) = runtime.block_on(bind(address))?;
                let ready = move || if *stop_page.borrow() { Err("shutting down") } else { Ok(()) };
                runtime.spawn(page::serve(listener, move || metrics.text(), ready));
                Some(found)
            }
        };
        if let Some(tls) = &tls {
            runtime.spawn(tls.clone().watch());
        }
        let gate = gate(&service, protected, tls.clone());
        let serving = Some(runtime.spawn(serve(gate, listener, service.clone())));
        Ok(Self { runtime: Some(runtime), service, address, metrics_address, stop, tls, serving })
    }

    /// Replaces the clients' rights, starting with their next requests.
    pub fn replace_rights(&self, rights: Rights) {
        *self.service.rights.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(rights);
    }

    /// Replaces the certificates and revocation lists for new connections.
    ///
    /// # Errors
    /// They are unusable, or the server runs without TLS. The previous ones then stay in use.
    pub fn replace_tls(&self, tls: &Tls) -> Result<(), Error> {
        Ok(self.tls.as_ref().ok_or(Error::NoTls)?.replace(tls)?)
    }

    /// The address that the server listens on.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The address that serves the metrics.
    pub fn metrics_address(&self) -> Option<SocketAddr> {
        self.metrics_address
    }

    /// The metrics.
    pub fn metrics(&self) -> &Metrics {
        &self.service.metrics
    }

    /// The names of the processors that stalled or failed.
    pub fn quarantined(&self) -> Vec<String> {
        self.service.scheduler.quarantined()
    }

    /// Stops accepting requests, finishes the accepted ones, and ends. Returns whether all finished
    /// within the shutdown timeout.
    ///
    /// Returns at once if no request is in progress, even if connections are open.
    pub fn stop(mut self) -> bool {
        let (runtime, serving) = (self.runtime.take(), self.serving.take());
        let (Some(runtime), Some(serving)) = (runtime, serving) else { return true };
        self.stop.send_replace(true);
        let shutdown_timeout = self.service.limits.shutdown_timeout;
        let ended = runtime.block_on(async { tokio::time::timeout(shutdown_timeout, serving).await });
        if let Some(traces) = &self.service.traces {
            traces.end();
        }
        runtime.shutdown_background();
        let finished = matches!(ended, Ok(Ok(())));
        if !finished {
            self.service.scheduler.abandon();
        }
        finished
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

/// Creates the gate that accepts connections.
fn gate(service: &Service, certificates: bool, tls: Option<Arc<Current>>) -> Arc<Gate> {
    let limits = &service.limits;
    let gate_limits = gate::Limits {
        clients: limits.clients,
        // Without certificates all clients have the same address: this machine's.
        clients_each: if certificates { (limits.clients / 4).max(1) } else { limits.clients },
        surplus: limits.clients,
        handshakes: limits.handshakes,
        handshakes_each: (limits.handshakes / 8).max(1),
        handshake: limits.handshake_timeout,
    };
    let opening = Opening { bytes: PREFACE, otherwise: answer_http1 };
    let descriptors = Some(descriptors::for_connections());
    Gate::new(gate_limits, opening, tls, descriptors, service.metrics.connections.clone(), service.talk.clone())
}

/// Serves until told to stop, then until every request is answered.
async fn serve(gate: Arc<Gate>, listener: TcpListener, service: Arc<Service>) {
    let (reporter, health) = tonic_health::server::health_reporter();
    reporter.set_serving::<PaillierServer<Front>>().await;
    tokio::spawn(report_shutdown(reporter, service.stopping.clone()));
    let reflection = || {
        tonic_reflection::server::Builder::configure()
            .register_encoded_file_descriptor_set(proto::DESCRIPTOR)
            .register_encoded_file_descriptor_set(tonic_health::pb::FILE_DESCRIPTOR_SET)
    };
    let built = "the descriptors were compiled with the program";
    let (older, newer) = (reflection().build_v1alpha().expect(built), reflection().build_v1().expect(built));
    let limits = service.limits;
    let streams = Streams::new(limits.streams, (limits.streams / 2).max(1));
    tokio::spawn(watch(service.clone(), streams.clone()));
    let stopping = service.stopping.clone();
    let unread_buffer = service.unread_buffer.clone();
    let count = move |request: axum::extract::Request, next| {
        unread_buffer.clone().count(client_of(request.extensions()), request, next)
    };
    let paillier = PaillierServer::new(Front { service, streams })
        .max_decoding_message_size(limits.message_bytes)
        // Answers are never compressed: their size would reveal the size of the decrypted numbers.
        .accept_compressed(CompressionEncoding::Gzip)
        .max_encoding_message_size(usize::MAX);
    let routes = Routes::new(health).add_service(newer).add_service(older).add_service(paillier);
    let router = routes.into_axum_router().layer(axum::middleware::from_fn(count));
    let router = router.layer(axum::middleware::from_fn(only_grpc));
    let lifetime = Lifetime { idle: limits.idle_timeout, age: limits.age, grace: OLD_GRACE };
    let ending = stopping.clone();
    gate.run(listener, stopping, move |arrival| connection(arrival, router.clone(), lifetime, ending.clone())).await;
}

/// Serves a connection.
async fn connection(arrival: Arrival, router: axum::Router, lifetime: Lifetime, stopping: watch::Receiver<bool>) {
    let client = Client::of(&arrival);
    let work = client.work.clone();
    let with_client = axum::middleware::map_request(move |mut request: axum::extract::Request| {
        request.extensions_mut().insert(client.clone());
        std::future::ready(request)
    });
    let connection = http2::Builder::new(TokioExecutor::new())
        .timer(TokioTimer::new())
        .keep_alive_interval(KEEP_ALIVE)
        .keep_alive_timeout(KEEP_ALIVE)
        .max_concurrent_streams(STREAMS_PER_CLIENT)
        .serve_connection(TokioIo::new(arrival.stream), TowerToHyperService::new(router.layer(with_client)));
    lifetime::serve(connection, &work, lifetime, stopping).await;
    drop(arrival.held);
}

/// Reports the server and its service as not healthy once the server stops.
async fn report_shutdown(reporter: HealthReporter, mut stopping: watch::Receiver<bool>) {
    // The sender is dropped only together with the server.
    let _ = stopping.wait_for(|stopping| *stopping).await;
    reporter.set_service_status("", tonic_health::ServingStatus::NotServing).await;
    reporter.set_not_serving::<PaillierServer<Front>>().await;
    tracing::info!("shutting down");
}

/// Periodically cuts off clients that do not even read the error about their unread answers, ends
/// silent streams, and returns freed memory.
async fn watch(service: Arc<Service>, streams: Arc<Streams>) {
    let Limits { send_timeout, stream_timeout, .. } = service.limits;
    let every = (send_timeout.min(stream_timeout) / 4).clamp(Duration::from_millis(10), Duration::from_secs(5));
    let mut rounds = tokio::time::interval(every);
    let memory_watch = memory::Watch::default();
    loop {
        rounds.tick().await;
        service.unread_buffer.drop_older(send_timeout * 2);
        streams.end_silent(stream_timeout);
        let bytes = service.metrics.queue_bytes.get() + service.metrics.unread_bytes.get();
        if memory_watch.is_worth(usize::try_from(bytes).unwrap_or(0)) {
            tokio::task::spawn_blocking(memory::give_back);
        }
    }
}

/// Returns the client of a request from its extensions.
fn client_of(extensions: &axum::http::Extensions) -> Client {
    extensions.get::<Client>().cloned().unwrap_or_default()
}

/// The implementation of the gRPC service.
struct Front {
    service: Arc<Service>,
    streams: Arc<Streams>,
}

impl Front {
    fn open<E: Exchange>(&self, request: Request<Streaming<E>>) -> Result<Response<Answers<E::Answer>>, Status> {
        let client = self.admit(&request)?;
        let stream =
            self.streams.open(client.id).inspect_err(|refusal| self.service.tell(&client, E::NAME, refusal))?;
        Ok(exchange(self.service.clone(), request, stream, client))
    }

    /// Returns the client of a request. Rejects clients beyond the limit, and everyone once the
    /// server stops.
    fn admit<T>(&self, request: &Request<T>) -> Result<Client, Refusal> {
        let client = request.extensions().get::<Client>().cloned().unwrap_or_default();
        if client.surplus {
            let text = format!("{} clients are connected, which is the limit", self.service.limits.clients);
            return Err(Refusal::new(ErrorReason::ClientsFull, text));
        }
        match *self.service.stopping.borrow() {
            true => Err(Refusal::shutting_down()),
            false => Ok(client),
        }
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
        let client = self.admit(&request)?;
        let _stream = self.streams.open(client.id)?;
        let _busy = client.work.begin();
        let (service, key) = (self.service.clone(), request.into_inner());
        let registered = tokio::task::spawn_blocking(move || {
            let key = service.keys.register(client.id, &key.n, &key.h, key.exponent_bits)?;
            service.metrics.keys.set(service.keys.registered() as i64);
            Ok::<_, Refusal>(key)
        });
        let failed = |_| Refusal::new(ErrorReason::Failed, "internal error");
        let key = registered.await.map_err(failed)??;
        let max_message_bytes = self.service.limits.message_bytes as u64;
        let allowed = self.service.allows(&client, Right::Decrypt(key.public().id()));
        let (handle, decrypts) = (key.handle().to_string(), allowed && key.private().is_some());
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
