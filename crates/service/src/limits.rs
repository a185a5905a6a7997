//! Limits on clients. Whatever clients do, the server stays within these limits or rejects the
//! request with a specific error.

use std::time::Duration;

/// The limits of a server.
///
/// Memory: at most `queue_bytes` of requests wait to be computed, and at most `unread_bytes` of
/// answers wait to be read. In addition, each stream may hold one request of at most
/// `message_bytes` that it is reading, and one that waits for space in the queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Maximum number of connections whose handshake is done. As many again are admitted only to be
    /// told so, and further ones are closed at once. One certificate may use a quarter of the
    /// connections.
    pub clients: usize,
    /// Maximum number of unfinished handshakes. One more closes the oldest. One address may have an
    /// eighth.
    pub handshakes: usize,
    /// Deadline of a handshake: TLS and the HTTP/2 preface.
    pub handshake_timeout: Duration,
    /// Maximum number of open streams of all clients. One client may have half of them. If all are
    /// in use, a silent stream of a client with more is closed for a client with fewer.
    pub streams: usize,
    /// Time after which a silent stream is ended.
    pub stream_timeout: Duration,
    /// Time after which a connection without a stream is ended.
    pub idle_timeout: Duration,
    /// Maximum age of a connection. After it, the connection accepts no further stream and ends
    /// within [`OLD_GRACE`].
    pub age: Duration,
    /// Maximum number of resident public keys of clients, not counting the service's own. One
    /// client may have a quarter of them. A further key evicts the least recently used key of the
    /// client with the most.
    pub keys: usize,
    /// Maximum size of a request in bytes, as encoded by protobuf.
    pub message_bytes: usize,
    /// Maximum number of bytes of numbers in the queue. Further requests wait.
    pub queue_bytes: usize,
    /// Maximum number of bytes of unread answers. Beyond it, the client with the oldest unread
    /// answer is disconnected.
    pub unread_bytes: usize,
    /// Maximum number of requests that wait for space in the queue. Further ones are rejected.
    pub waiting: usize,
    /// Time after which an unread answer becomes an error. The connection ends if the client leaves
    /// that error unread for as long.
    pub send_timeout: Duration,
    /// Time after which a device that has not finished a batch is quarantined.
    pub device_timeout: Duration,
    /// How long a shutdown waits for accepted requests.
    pub shutdown_timeout: Duration,
}

/// Maximum number of requests of one stream that are computed concurrently.
pub const STREAM_WINDOW: usize = 4;
/// How long streams may continue on a connection that has reached its maximum age.
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
