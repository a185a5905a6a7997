//! HTTP/1.1 connections: their time limits and their shutdown.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::Request;
use axum::middleware::Next;
use axum::response::Response;
use hearith_serving::descriptors;
use hearith_serving::gate::{self, Arrival, Gate, Opening};
use hearith_serving::lifetime::{self, Answer, Lifetime, Work};
use hearith_serving::networks::Networks;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::net::TcpListener;
use tokio::sync::watch;

use crate::limits::Limits;
use crate::metrics::Metrics;
use crate::tls::Current;

/// Maximum duration of a connection, and then of its last answer. A slower reader has to reconnect.
const MAX_AGE: Duration = Duration::from_secs(900);
const LAST_ANSWER: Duration = Duration::from_secs(60);
/// Maximum time that a connection may be idle.
const IDLE: Duration = Duration::from_secs(60);
/// Maximum duration of a handshake.
const HANDSHAKE: Duration = Duration::from_secs(10);

/// The address of the peer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Peer(pub(crate) IpAddr);

/// Serves until told to stop. Then waits until every request is answered, or most of the shutdown
/// timeout has passed.
pub(crate) async fn serve(
    listener: TcpListener,
    tls: Option<Arc<Current>>,
    router: Router,
    limits: Limits,
    proxies: Networks,
    metrics: Arc<Metrics>,
    mut stopping: watch::Receiver<bool>,
) {
    let gate_limits = gate::Limits {
        clients: limits.clients,
        clients_each: limits.clients_an_address,
        surplus: 0,
        handshakes: limits.handshakes,
        handshakes_each: (limits.handshakes / 8).max(1),
        handshake: limits.request_timeout.min(HANDSHAKE),
    };
    let (descriptors, counted) = (Some(descriptors::for_connections()), metrics.connections.clone());
    let gate = Gate::behind(proxies, gate_limits, Opening::ANY, tls, descriptors, counted, Arc::default());
    let (cut, cutting) = watch::channel(false);
    let ending = stopping.clone();
    let serving = gate.run(listener, stopping.clone(), move |arrival| {
        let connection = connection(arrival, router.clone(), limits.request_timeout, ending.clone());
        let mut cutting = cutting.clone();
        async move {
            tokio::select! {
                () = connection => {}
                _ = cutting.wait_for(|cut| *cut) => {}
            }
        }
    });
    let late = async {
        // The sender is dropped only together with the server.
        let _ = stopping.wait_for(|stopping| *stopping).await;
        // Does not wait for endless readers. Submitted entries have their answers long before.
        tokio::time::sleep(limits.shutdown_timeout.mul_f64(0.75)).await;
        cut.send_replace(true);
        std::future::pending().await
    };
    tokio::select! {
        () = serving => {}
        () = late => {}
    }
}

/// Serves a connection.
async fn connection(arrival: Arrival, router: Router, slow: Duration, stopping: watch::Receiver<bool>) {
    let (peer, work) = (Peer(arrival.peer.address), Work::default());
    let requests = work.clone();
    let router = router.layer(axum::middleware::from_fn(move |mut request: Request, next: Next| {
        request.extensions_mut().insert(peer);
        answer(requests.clone(), request, next)
    }));
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(slow)
        .max_buf_size(64 << 10)
        .serve_connection(TokioIo::new(arrival.stream), TowerToHyperService::new(router));
    let lifetime = Lifetime { idle: IDLE, age: MAX_AGE, grace: LAST_ANSWER };
    lifetime::serve(connection, &work, lifetime, stopping).await;
    drop(arrival.held);
}

/// Answers a request, which is in progress until its answer has been received.
async fn answer(work: Work, request: Request, next: Next) -> Response {
    let busy = work.begin();
    let response = next.run(request).await;
    response.map(|body| Body::new(Answer::new(body, busy)))
}
