//! HTTP pages for operators: `/metrics`, `/healthz` (the process answers) and `/readyz` (it accepts
//! requests).
//!
//! They use descriptors that client connections cannot use.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::http::{StatusCode, header};
use axum::routing::get;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::net::TcpListener;
use tokio::sync::watch;

use crate::gate::{Arrival, Gate, Limits, Opening};
use crate::lifetime::{self, Lifetime, Work};
use crate::metrics::Connections;

const OPENMETRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";
/// Maximum time for a request's head, and for a connection without one.
const SLOW: Duration = Duration::from_secs(10);
/// Connections and handshakes together use at most half of the reserved descriptors.
const LIMITS: Limits = Limits {
    clients: crate::descriptors::KEPT / 4,
    clients_each: crate::descriptors::KEPT / 4,
    surplus: 0,
    handshakes: crate::descriptors::KEPT / 4,
    handshakes_each: crate::descriptors::KEPT / 4,
    handshake: SLOW,
};
const LIFETIME: Lifetime = Lifetime { idle: SLOW, age: Duration::from_secs(3600), grace: SLOW };

/// Serves the pages until the process ends. `ready` returns an error with the reason if the server
/// does not accept requests.
pub async fn serve<M, R>(listener: TcpListener, metrics: M, ready: R)
where
    M: Fn() -> String + Clone + Send + Sync + 'static,
    R: Fn() -> Result<(), &'static str> + Clone + Send + Sync + 'static,
{
    let metrics = move || {
        let text = metrics();
        async { ([(header::CONTENT_TYPE, OPENMETRICS)], text) }
    };
    let ready = move || {
        let answer = match ready() {
            Ok(()) => (StatusCode::OK, "ready\n".to_owned()),
            Err(why) => (StatusCode::SERVICE_UNAVAILABLE, format!("{why}\n")),
        };
        async { answer }
    };
    let router = Router::new()
        .route("/metrics", get(metrics))
        .route("/healthz", get(async || "alive\n"))
        .route("/readyz", get(ready));
    // Goes on while the server drains, so operators can watch it.
    let (_stop, stopping) = watch::channel(false);
    let gate = Gate::new(LIMITS, Opening::ANY, None, None, Connections::default(), Arc::default());
    let lasting = stopping.clone();
    gate.run(listener, stopping, move |arrival: Arrival| {
        let (router, stopping) = (router.clone(), lasting.clone());
        async move {
            let connection = http1::Builder::new()
                .timer(TokioTimer::new())
                .header_read_timeout(SLOW)
                .serve_connection(TokioIo::new(arrival.stream), TowerToHyperService::new(router));
            // Pages are built at once, so no request is ever in progress for long.
            lifetime::serve(connection, &Work::default(), LIFETIME, stopping).await;
            drop(arrival.held);
        }
    })
    .await;
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicBool, Ordering};
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::TcpStream;

    #[tokio::test]
    async fn operators_see_metrics_liveness_and_readiness() {
        let (listener, address) = crate::gate::bind("127.0.0.1:0".parse().unwrap()).await.unwrap();
        let draining = Arc::new(AtomicBool::new(false));
        let state = draining.clone();
        let ready = move || if state.load(Ordering::Relaxed) { Err("draining") } else { Ok(()) };
        let serving = tokio::spawn(serve(listener, || "# EOF\n".to_owned(), ready));
        let shown = async |path: &str| {
            let mut stream = TcpStream::connect(address).await.unwrap();
            let request = format!("GET {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
            stream.write_all(request.as_bytes()).await.unwrap();
            let mut text = String::new();
            stream.read_to_string(&mut text).await.unwrap();
            text
        };
        let metrics = shown("/metrics").await;
        assert!(metrics.starts_with("HTTP/1.1 200") && metrics.contains("openmetrics-text"), "{metrics}");
        assert!(shown("/healthz").await.starts_with("HTTP/1.1 200"));
        assert!(shown("/readyz").await.ends_with("\r\n\r\nready\n"));
        draining.store(true, Ordering::Relaxed);
        assert!(shown("/readyz").await.starts_with("HTTP/1.1 503"));
        assert!(shown("/healthz").await.starts_with("HTTP/1.1 200"));
        assert!(shown("/else").await.starts_with("HTTP/1.1 404"));
        serving.abort();
    }
}
