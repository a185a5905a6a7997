//! Unread answers, limited in bytes, in the service and in the transport's buffers. Beyond the
//! limit, the client with the oldest unread answer is disconnected.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use axum::extract::Request;
use axum::middleware::Next;
use axum::response::Response;
use http_body_util::BodyExt;
use prost::bytes::Bytes;

use crate::clients::{Client, SharedTalk};
use crate::metrics::Metrics;
use hearith_serving::lifetime::Busy;

/// All answers that were computed but not yet read.
#[derive(Debug)]
pub(crate) struct UnreadBuffer {
    most: usize,
    state: Mutex<State>,
    metrics: Arc<Metrics>,
    talk: SharedTalk,
}

#[derive(Debug, Default)]
struct State {
    bytes: usize,
    added: u64,
    /// By order of arrival, oldest first.
    answers: BTreeMap<u64, Answer>,
}

#[derive(Debug)]
struct Answer {
    bytes: usize,
    client: Client,
    since: Instant,
}

/// An answer's share of the buffer. Dropping it returns the share.
#[derive(Debug)]
pub(crate) struct BufferPermit {
    buffer: Arc<UnreadBuffer>,
    number: u64,
    _busy: Busy,
}

impl UnreadBuffer {
    /// Creates a buffer of `most` bytes.
    pub(crate) fn new(most: usize, metrics: Arc<Metrics>, talk: SharedTalk) -> Arc<Self> {
        Arc::new(Self { most, state: Mutex::default(), metrics, talk })
    }

    /// Counts an answer to a client. Evicts older answers if needed. A single answer may exceed the
    /// limit.
    pub(crate) fn add(self: &Arc<Self>, bytes: usize, client: &Client) -> BufferPermit {
        let mut state = self.state();
        let number = state.added;
        state.added += 1;
        while state.bytes + bytes > self.most && self.drop_oldest(&mut state) {}
        state.bytes += bytes;
        self.metrics.unread_bytes.inc_by(bytes as i64);
        state.answers.insert(number, Answer { bytes, client: client.clone(), since: Instant::now() });
        BufferPermit { buffer: self.clone(), number, _busy: client.work.begin() }
    }

    /// Disconnects clients that have left an answer unread for `age`.
    pub(crate) fn drop_older(&self, age: Duration) {
        let mut state = self.state();
        let late = |state: &State| state.answers.values().next().is_some_and(|answer| answer.since.elapsed() >= age);
        while late(&state) {
            self.drop_oldest(&mut state);
        }
    }

    /// Disconnects the client with the oldest answer. Returns `false` if there is no answer.
    fn drop_oldest(&self, state: &mut State) -> bool {
        let Some((_, answer)) = state.answers.pop_first() else { return false };
        state.bytes -= answer.bytes;
        self.metrics.unread_bytes.dec_by(answer.bytes as i64);
        answer.client.cut_off(&self.metrics, &self.talk);
        true
    }

    /// Counts a response's bytes in the transport until they are sent.
    pub(crate) async fn count(self: Arc<Self>, client: Client, request: Request, next: Next) -> Response {
        let response = next.run(request).await;
        let counted = move |bytes: Bytes| {
            let permit = self.add(bytes.len(), &client);
            Bytes::from_owner(CountedBytes { bytes, _permit: permit })
        };
        response.map(|body| axum::body::Body::new(body.map_frame(move |frame| frame.map_data(&counted))))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Bytes that count as unread until dropped.
struct CountedBytes {
    bytes: Bytes,
    _permit: BufferPermit,
}

impl AsRef<[u8]> for CountedBytes {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

impl Drop for BufferPermit {
    fn drop(&mut self) {
        let mut state = self.buffer.state();
        if let Some(answer) = state.answers.remove(&self.number) {
            state.bytes -= answer.bytes;
            self.buffer.metrics.unread_bytes.dec_by(answer.bytes as i64);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_make_way() {
        let metrics = Arc::new(Metrics::default());
        let buffer = UnreadBuffer::new(100, metrics.clone(), SharedTalk::default());
        let clients: Vec<Client> = (0..4).map(|_| Client::default()).collect();
        let cut = || clients.iter().map(Client::is_cut_off).collect::<Vec<_>>();
        let (first, second) = (buffer.add(40, &clients[0]), buffer.add(40, &clients[1]));
        drop(first);
        let third = buffer.add(60, &clients[2]);
        assert_eq!(cut(), [false; 4], "what was taken leaves room");
        let _fourth = buffer.add(50, &clients[3]);
        assert_eq!(cut(), [false, true, true, false]);
        // The answers of disconnected clients were already removed.
        drop((second, third));
        assert_eq!((buffer.state().bytes, metrics.unread_bytes.get()), (50, 50));
        // Larger than the whole buffer.
        let fifth = buffer.add(1000, &clients[0]);
        assert_eq!(cut(), [false, true, true, true]);
        buffer.drop_older(Duration::from_secs(3600));
        assert!(!clients[0].is_cut_off());
        buffer.drop_older(Duration::ZERO);
        assert!(clients[0].is_cut_off());
        drop(fifth);
        assert_eq!((buffer.state().bytes, metrics.unread_bytes.get(), metrics.cut_off.get()), (0, 0, 4));
    }
}
