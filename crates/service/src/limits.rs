//! Limits on clients. Whatever they do, the server stays within these bounds or rejects with a
//! specific error.

use std::time::Duration;

/// The bounds of a server.
///
/// Memory: at most `queue_bytes` of requests wait to be computed, and at most `unread_bytes` of
/// answers to be read. Beside them each stream has one request of at most `message_bytes` that it
/// reads, and one that waits for room in the queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Connections whose handshake is done. Twice as many are let in to be told so, any more are
    /// closed at once. Those of one certificate have a quarter of the places.
    pub clients: usize,
    /// Connections whose handshake is not done; for a further one, the oldest is closed. An eighth
    /// may come from one address.
    pub handshakes: usize,
    /// How long a handshake may take: TLS, and the preface of HTTP/2.
    pub handshake_timeout: Duration,
    /// Streams that are open at a time, all clients together. A client has half of them at most,
    /// and a silent stream of a client with more makes way for a client with fewer.
    pub streams: usize,
    /// How long a stream may be silent before it is ended.
    pub stream_timeout: Duration,
    /// How long a connection may have no stream before it is ended.
    pub idle_timeout: Duration,
    /// How long a connection may last. Then it accepts no further stream, and ends [`OLD_GRACE`]
    /// later at the latest.
    pub age: Duration,
    /// Public keys of clients that are resident at a time, beside the service's own. A client has a
    /// quarter of them at most; for a further one, the least recently used of the client with the
    /// most makes way.
    pub keys: usize,
    /// Bytes of a request, as protobuf encodes it.
    pub message_bytes: usize,
    /// Bytes of numbers in the queue; further requests wait.
    pub queue_bytes: usize,
    /// Bytes of answers that wait for their clients; for more, whoever has left one unread longest
    /// is cut off.
    pub unread_bytes: usize,
    /// Requests that wait for room in the queue; further ones are refused.
    pub waiting: usize,
    /// How long a client may leave an answer unread, and then the error that says so, before its
    /// connection is ended.
    pub send_timeout: Duration,
    /// How long a device may take for a batch before it is quarantined.
    pub device_timeout: Duration,
    /// How long a shutdown waits for what was accepted.
    pub shutdown_timeout: Duration,
}

/// Requests of one stream that are computed at a time.
pub const STREAM_WINDOW: usize = 4;
/// How long the streams of a connection that is too old may go on.
pub const OLD_GRACE: Duration = Duration::from_secs(600);

impl Default for Limits {
    fn default() -> Self {
        Self {
            clients: 1024,
            handshakes: 512,
            handshake_timeout: Duration::from_secs(10),
            streams: 2048,
            stream_timeout: Duration::from_secs(600),
            idle_timeout: Duration::from_secs(600),
            age: Duration::from_secs(6 * 3600),
            keys: 256,
            message_bytes: 1 << 20,
            queue_bytes: 256 << 20,
            unread_bytes: 256 << 20,
            waiting: 4096,
            send_timeout: Duration::from_secs(60),
            device_timeout: Duration::from_secs(120),
            shutdown_timeout: Duration::from_secs(30),
        }
    }
}
