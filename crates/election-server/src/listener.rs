//! Connections over HTTP/1.1: how long they may take, and their end.

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

/// How long a connection may last, and then its last answer: whoever reads slowly for longer comes
/// again.
const LONGEST: Duration = Duration::from_secs(900);
const LAST_ANSWER: Duration = Duration::from_secs(60);
/// How long a connection may have no request.
const IDLE: Duration = Duration::from_secs(60);
/// The longest handshake.
const HANDSHAKE: Duration = Duration::from_secs(10);

/// The address at the other end of a connection.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Peer(pub(crate) IpAddr);

/// Serves until it is told to stop, and then until every request has its answer or most of the
/// shutdown timeout is over.
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
        // The sender is gone only if the server is.
        let _ = stopping.wait_for(|stopping| *stopping).await;
        // Whoever reads on and on is not waited for: what was sent has its answer long before.
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
    let lifetime = Lifetime { idle: IDLE, age: LONGEST, grace: LAST_ANSWER };
    lifetime::serve(connection, &work, lifetime, stopping).await;
    drop(arrival.held);
}

/// Answers a request, which is in work until its answer was taken.
async fn answer(work: Work, request: Request, next: Next) -> Response {
    let busy = work.begin();
    let response = next.run(request).await;
    response.map(|body| Body::new(Answer::new(body, busy)))
}
