//! Connections: how many there are, how long they may take, and their end.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::http::Request;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::{GracefulShutdown, Watcher};
use hyper_util::service::TowerToHyperService;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio_rustls::TlsAcceptor;

use crate::limits::Limits;
use crate::metrics::Metrics;
use crate::rate::household;

/// How long a connection may last: whoever reads slowly for longer comes again.
const LONGEST: Duration = Duration::from_secs(900);

/// The address at the other end of a connection.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Peer(pub(crate) IpAddr);

/// Serves until it is told to stop, and then until every request has its answer or most of the grace is over.
pub(crate) async fn serve(
    listener: TcpListener,
    tls: Option<TlsAcceptor>,
    router: Router,
    limits: Limits,
    metrics: Arc<Metrics>,
    mut stopping: watch::Receiver<bool>,
) {
    let places = Arc::new(Places { all: limits.clients, each: limits.clients_an_address, taken: Mutex::default() });
    let graceful = GracefulShutdown::new();
    let (cut, cutting) = watch::channel(false);
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            // The sender is gone only if the server is.
            _ = stopping.wait_for(|stopping| *stopping) => break,
        };
        let (stream, address) = match accepted {
            Ok((stream, address)) => (stream, address.ip().to_canonical()),
            Err(error) => {
                // Most often too many open files: it passes.
                tracing::warn!(%error, "a connection could not be accepted");
                tokio::time::sleep(Duration::from_millis(50)).await;
                continue;
            }
        };
        let Some(place) = Places::take(&places, household(address)) else {
            metrics.turned_away.inc();
            continue;
        };
        let connection = Connection { router: router.clone(), peer: Peer(address), slow: limits.slow };
        let (tls, watcher, metrics) = (tls.clone(), graceful.watcher(), metrics.clone());
        let mut cutting = cutting.clone();
        tokio::spawn(async move {
            metrics.clients.inc();
            // What goes wrong on a connection is the client's to notice.
            tokio::select! {
                _ = tokio::time::timeout(LONGEST, connection.open(stream, tls, watcher)) => {}
                _ = cutting.wait_for(|cut| *cut) => {}
            }
            metrics.clients.dec();
            drop(place);
        });
    }
    drop(listener);
    // Whoever reads on and on is not waited for: what was sent has its answer long before.
    let _ = tokio::time::timeout(limits.grace.mul_f64(0.75), graceful.shutdown()).await;
    cut.send_replace(true);
}

struct Connection {
    router: Router,
    peer: Peer,
    slow: Duration,
}

impl Connection {
    async fn open(self, stream: TcpStream, tls: Option<TlsAcceptor>, watcher: Watcher) {
        // Without it small answers wait for one another.
        let _ = stream.set_nodelay(true);
        let Some(tls) = tls else { return self.serve(stream, watcher).await };
        if let Ok(Ok(stream)) = tokio::time::timeout(self.slow, tls.accept(stream)).await {
            self.serve(stream, watcher).await;
        }
    }

    async fn serve(self, stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static, watcher: Watcher) {
        let peer = self.peer;
        let router = self.router.layer(axum::middleware::map_request(move |mut request: Request<Body>| {
            request.extensions_mut().insert(peer);
            std::future::ready(request)
        }));
        let service = TowerToHyperService::new(router);
        let connection = http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(self.slow)
            .max_buf_size(64 << 10)
            .serve_connection(TokioIo::new(stream), service);
        let _ = watcher.watch(connection).await;
    }
}

/// Places for connections, all together and for each address.
#[derive(Debug)]
struct Places {
    all: usize,
    each: usize,
    taken: Mutex<HashMap<IpAddr, usize>>,
}

/// A place that is taken until it is dropped.
struct Place {
    places: Arc<Places>,
    whose: IpAddr,
}

impl Places {
    fn take(places: &Arc<Self>, whose: IpAddr) -> Option<Place> {
        let mut taken = places.taken.lock().unwrap_or_else(PoisonError::into_inner);
        let (all, mine) = (taken.values().sum::<usize>(), taken.get(&whose).copied().unwrap_or(0));
        if all >= places.all || mine >= places.each {
            return None;
        }
        taken.insert(whose, mine + 1);
        Some(Place { places: places.clone(), whose })
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut taken = self.places.taken.lock().unwrap_or_else(PoisonError::into_inner);
        match taken.get_mut(&self.whose) {
            Some(count) if *count > 1 => *count -= 1,
            _ => drop(taken.remove(&self.whose)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_given_back() {
        let places = Arc::new(Places { all: 3, each: 2, taken: Mutex::default() });
        let [one, other]: [IpAddr; 2] = ["192.0.2.1", "192.0.2.2"].map(|text| text.parse().unwrap());
        let first = Places::take(&places, one).unwrap();
        let _second = Places::take(&places, one).unwrap();
        assert!(Places::take(&places, one).is_none(), "no more for one address");
        let third = Places::take(&places, other).unwrap();
        assert!(Places::take(&places, other).is_none(), "no more at all");
        drop(first);
        assert!(Places::take(&places, one).is_some());
        drop(third);
        assert_eq!(places.taken.lock().unwrap().len(), 1, "nothing is kept of whoever is gone");
    }
}
