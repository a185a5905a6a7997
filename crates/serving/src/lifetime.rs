//! Ends connections that are idle or too old, and all of them when the server stops.

use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use axum::body::{Body, Bytes};
use hyper::body::{Frame, SizeHint};
use hyper_util::server::graceful::GracefulConnection;
use tokio::sync::{Notify, watch};
use tokio::time::sleep;

/// Time for a connection without work to close gracefully.
const GOODBYE: Duration = Duration::from_millis(500);

/// How long connections last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lifetime {
    /// Maximum time without a request.
    pub idle: Duration,
    /// Maximum age. After it, no further request is accepted.
    pub age: Duration,
    /// Time for the remaining requests to finish after that.
    pub grace: Duration,
}

/// The requests in progress on a connection.
#[derive(Clone, Debug)]
pub struct Work(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    begun: Instant,
    count: AtomicUsize,
    /// When the last request ended, in milliseconds since `begun`.
    ended: AtomicU64,
    free: Notify,
}

impl Default for Work {
    fn default() -> Self {
        let (count, ended) = (AtomicUsize::new(0), AtomicU64::new(0));
        Self(Arc::new(Inner { begun: Instant::now(), count, ended, free: Notify::new() }))
    }
}

/// A request in progress. Dropping this ends it.
#[derive(Debug)]
pub struct Busy(Work);

impl Work {
    /// Registers a request.
    pub fn begin(&self) -> Busy {
        self.0.count.fetch_add(1, Ordering::AcqRel);
        Busy(self.clone())
    }

    /// Whether no request is in progress.
    pub fn is_none(&self) -> bool {
        self.0.count.load(Ordering::Acquire) == 0
    }

    /// Returns when no request has been in progress for `time`.
    pub async fn idle_for(&self, time: Duration) {
        loop {
            let mut free = pin!(self.0.free.notified());
            free.as_mut().enable();
            if self.is_none() {
                let ended = Duration::from_millis(self.0.ended.load(Ordering::Acquire));
                let idle = self.0.begun.elapsed().saturating_sub(ended);
                match time.checked_sub(idle).filter(|left| !left.is_zero()) {
                    None => return,
                    Some(left) => sleep(left).await,
                }
            } else {
                free.await;
            }
        }
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        let Inner { begun, count, ended, free } = &*self.0.0;
        ended.store(begun.elapsed().as_millis() as u64, Ordering::Release);
        if count.fetch_sub(1, Ordering::AcqRel) == 1 {
            free.notify_waiters();
        }
    }
}

/// The body of an answer, with a value that is kept until the connection has consumed the body.
///
/// The value is, for example, the mark that the request is in progress, or a permit.
#[derive(Debug)]
pub struct Answer<K> {
    body: Body,
    _kept: K,
}

impl<K> Answer<K> {
    /// Combines a body with a value that is dropped with it.
    pub fn new(body: Body, kept: K) -> Self {
        Self { body, _kept: kept }
    }
}

impl<K: Unpin> hyper::body::Body for Answer<K> {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.body).poll_frame(cx)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

/// Serves a connection to its end.
///
/// When the server stops, a connection without work ends at once. Any other ends when its work is
/// done, even if other streams are still open on it.
pub async fn serve<C: GracefulConnection>(
    connection: C,
    work: &Work,
    lifetime: Lifetime,
    mut stopping: watch::Receiver<bool>,
) {
    let mut connection = pin!(connection);
    let grace = tokio::select! {
        // Errors on a connection concern only its client.
        _ = &mut connection => return,
        // The sender is dropped only together with the server.
        _ = stopping.wait_for(|stopping| *stopping) => None,
        () = work.idle_for(lifetime.idle) => None,
        () = sleep(lifetime.age) => Some(lifetime.grace),
    };
    connection.as_mut().graceful_shutdown();
    let over = async {
        match grace {
            Some(grace) => sleep(grace).await,
            None => std::future::pending().await,
        }
    };
    let goodbye = async {
        // The goodbye has its own deadline, however long the connection was idle before.
        sleep(GOODBYE).await;
        work.idle_for(GOODBYE).await;
    };
    tokio::select! {
        _ = &mut connection => {}
        () = goodbye => {}
        () = over => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn it_is_idle_when_nothing_was_in_work_for_a_while() {
        let work = Work::default();
        let (first, second) = (work.begin(), work.begin());
        assert!(!work.is_none());
        let waiting = tokio::spawn({
            let work = work.clone();
            async move { work.idle_for(Duration::from_millis(20)).await }
        });
        drop(first);
        sleep(Duration::from_millis(60)).await;
        assert!(!waiting.is_finished(), "one is in work");
        drop(second);
        waiting.await.unwrap();
        assert!(work.is_none());
        work.idle_for(Duration::ZERO).await;
    }
}
