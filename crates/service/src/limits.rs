//! How much clients may ask for. Whatever they do, the server stays within these bounds or refuses with an error of its own.

use std::time::Duration;

/// The bounds of a server.
///
/// Memory: at most `queue_bytes` of requests wait to be computed, and at most `unread_bytes` of answers to be read. Beside them each
/// stream has one request of at most `message_bytes` that it reads, and one that waits for room in the queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Connections. Twice as many are let in to be told so, any more are closed at once.
    pub clients: usize,
    /// Streams that are open at a time, all clients together.
    pub streams: usize,
    /// Public keys that are in use at a time. One that was not used for [`IDLE_KEY`] makes way for another.
    pub keys: usize,
    /// Bytes of a request, as protobuf encodes it.
    pub message_bytes: usize,
    /// Bytes of numbers in the queue; further requests wait.
    pub queue_bytes: usize,
    /// Bytes of answers that wait for their clients; for more, whoever has left one unread longest is cut off.
    pub unread_bytes: usize,
    /// Requests that wait for room in the queue; further ones are refused.
    pub waiting: usize,
    /// How long a client may leave an answer unread, and then the error that says so, before its connection is ended.
    pub unread: Duration,
    /// How long a device may take for a batch before it is set aside.
    pub patience: Duration,
    /// How long a shutdown waits for what was accepted.
    pub grace: Duration,
}

/// Requests of one stream that are computed at a time.
pub const STREAM_WINDOW: usize = 4;
/// How long a key must be unused to make way for another.
pub const IDLE_KEY: Duration = Duration::from_secs(60);

impl Default for Limits {
    fn default() -> Self {
        Self {
            clients: 1024,
            streams: 2048,
            keys: 256,
            message_bytes: 1 << 20,
            queue_bytes: 256 << 20,
            unread_bytes: 256 << 20,
            waiting: 4096,
            unread: Duration::from_secs(60),
            patience: Duration::from_secs(120),
            grace: Duration::from_secs(30),
        }
    }
}
