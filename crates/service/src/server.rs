//! The server: gRPC with health and reflection, TLS, metrics, and an end that finishes what was
//! accepted.

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

/// How often a silent connection is asked whether it is there, and how long it may take to answer.
const KEEP_ALIVE: Duration = Duration::from_secs(20);
/// What every client of HTTP/2 begins with (RFC 9113, section 3.4).
const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
/// HTTP/1.1 is for those who speak nothing else: they are told that this is gRPC.
const PROTOCOLS: &[&[u8]] = &[b"h2", b"http/1.1"];
/// Streams that one connection may have open.
const STREAMS_A_CLIENT: u32 = 256;
/// Threads that talk to clients: enough for what the cores compute, and on few cores one, since
/// each that is woken costs them time.
const MOST_THREADS: usize = 4;

/// What a server is started with.
#[derive(Debug)]
pub struct Options {
    /// Where to listen; port 0 for any that is free.
    pub listen: SocketAddr,
    /// Where to show metrics, at `/metrics`: an address of the loopback network, since they are not
    /// encrypted.
    pub metrics: Option<SocketAddr>,
    /// Whether that address may be another one.
    pub public_metrics: bool,
    /// An OpenTelemetry collector on this machine, which is sent a span for each request (OTLP over
    /// gRPC).
    pub collector: Option<SocketAddr>,
    /// How connections are protected; without, only the loopback network is listened on.
    pub tls: Option<Tls>,
    /// What clients may do. Unless it is said, everything; but where clients show certificates,
    /// nobody decrypts.
    pub rights: Option<Rights>,
    /// A log of decryptions, none of which is answered before its line is written.
    pub audit: Option<PathBuf>,
    /// The keys to decrypt with.
    pub keys: Vec<PrivateKey>,
    /// Which public keys are taken.
    pub policy: KeyPolicy,
    /// The engine of this CPU.
    pub engine: Engine,
    /// Devices beside it.
    pub devices: Vec<Worker>,
    /// Whether this CPU only does what no device does.
    pub cpu_fallback_only: bool,
    /// How much clients may ask for.
    pub limits: Limits,
}

/// Why a server cannot start, or ended.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Others than this machine could connect, unprotected.
    #[error(
        "{0} can be reached from other machines: that needs TLS and certificates of the clients, since whoever connects can use the \
         keys, and plaintexts go over the network"
    )]
    NotLoopback(SocketAddr),
    /// Metrics would be shown to other machines.
    #[error(
        "{0} can be reached from other machines: metrics are not encrypted, and shown there only with --public-metrics"
    )]
    MetricsNotLoopback(SocketAddr),
    /// Spans would go to another machine.
    #[error("{0} is another machine, and spans are not encrypted: run a collector on this one, which sends them on")]
    CollectorNotLoopback(SocketAddr),
    /// Spans cannot be sent.
    #[error("cannot send spans")]
    Traces(#[from] opentelemetry_otlp::ExporterBuildError),
    /// The address is taken, or none of this machine.
    #[error("cannot listen on {0}")]
    Listen(SocketAddr, #[source] io::Error),
    /// The run-time has no threads.
    #[error("cannot start the server's threads")]
    Runtime(#[source] io::Error),
    /// The log of decryptions cannot be written.
    #[error("{0}")]
    Audit(String, #[source] io::Error),
    /// The certificates, their key or the revocation lists are not usable.
    #[error(transparent)]
    Tls(#[from] tls::Error),
    /// The server has no TLS whose certificates could be replaced.
    #[error("the service was started without TLS")]
    NoTls,
}

/// A server that runs until it is stopped. Dropped without, it breaks off.
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
    /// Starts to listen.
    ///
    /// # Errors
    /// An address that is not to be had, or not without TLS; certificates that are not usable.
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
            .worker_threads((rayon::current_num_threads() / 2).clamp(1, MOST_THREADS))
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

    /// Replaces what clients may do, from their next requests on.
    pub fn replace_rights(&self, rights: Rights) {
        *self.service.rights.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(rights);
    }

    /// Replaces the certificates and revocation lists, for connections that come from now on.
    ///
    /// # Errors
    /// What is wrong with them: then those from before stay in use.
    pub fn replace_tls(&self, tls: &Tls) -> Result<(), Error> {
        Ok(self.tls.as_ref().ok_or(Error::NoTls)?.replace(tls)?)
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
    pub fn quarantined(&self) -> Vec<String> {
        self.service.scheduler.quarantined()
    }

    /// Takes no more requests, finishes what was accepted, and ends; says whether all was finished
    /// in time. With nothing in work it ends at once, whatever connections are open.
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

/// What lets clients in.
fn gate(service: &Service, certificates: bool, tls: Option<Arc<Current>>) -> Arc<Gate> {
    let limits = &service.limits;
    let gate_limits = gate::Limits {
        clients: limits.clients,
        // Without certificates all clients have the same address, this machine's.
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

/// Serves until it is told to stop, and then until every request has its answer.
async fn serve(gate: Arc<Gate>, listener: TcpListener, service: Arc<Service>) {
    let (reporter, health) = tonic_health::server::health_reporter();
    reporter.set_serving::<PaillierServer<Front>>().await;
    tokio::spawn(tell_the_end(reporter, service.stopping.clone()));
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
        // Answers are not: their size would tell how large the decrypted numbers are.
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
    let whose = axum::middleware::map_request(move |mut request: axum::extract::Request| {
        request.extensions_mut().insert(client.clone());
        std::future::ready(request)
    });
    let connection = http2::Builder::new(TokioExecutor::new())
        .timer(TokioTimer::new())
        .keep_alive_interval(KEEP_ALIVE)
        .keep_alive_timeout(KEEP_ALIVE)
        .max_concurrent_streams(STREAMS_A_CLIENT)
        .serve_connection(TokioIo::new(arrival.stream), TowerToHyperService::new(router.layer(whose)));
    lifetime::serve(connection, &work, lifetime, stopping).await;
    drop(arrival.held);
}

/// At the end the whole server and its service are not healthy any more.
async fn tell_the_end(reporter: HealthReporter, mut stopping: watch::Receiver<bool>) {
    // The sender is gone only if the server is.
    let _ = stopping.wait_for(|stopping| *stopping).await;
    reporter.set_service_status("", tonic_health::ServingStatus::NotServing).await;
    reporter.set_not_serving::<PaillierServer<Front>>().await;
    tracing::info!("shutting down");
}

/// Cuts off whoever does not even read why there is no more, ends silent streams, and returns
/// memory.
async fn watch(service: Arc<Service>, streams: Arc<Streams>) {
    let Limits { send_timeout, stream_timeout, .. } = service.limits;
    let every = (send_timeout.min(stream_timeout) / 4).clamp(Duration::from_millis(10), Duration::from_secs(5));
    let mut rounds = tokio::time::interval(every);
    let held = memory::Watch::default();
    loop {
        rounds.tick().await;
        service.unread_buffer.drop_older(send_timeout * 2);
        streams.end_silent(stream_timeout);
        let bytes = service.metrics.queue_bytes.get() + service.metrics.unread_bytes.get();
        if held.is_worth(usize::try_from(bytes).unwrap_or(0)) {
            tokio::task::spawn_blocking(memory::give_back);
        }
    }
}

/// Whose request it is that came with these.
fn client_of(extensions: &axum::http::Extensions) -> Client {
    extensions.get::<Client>().cloned().unwrap_or_default()
}

/// What gRPC calls.
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

    /// Whose request it is. Refuses clients that there is no room for, and everybody at the end.
    fn admit<T>(&self, request: &Request<T>) -> Result<Client, Refusal> {
        let client = request.extensions().get::<Client>().cloned().unwrap_or_default();
        if client.surplus {
            let text = format!("{} clients are connected, and no more are taken", self.service.limits.clients);
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
