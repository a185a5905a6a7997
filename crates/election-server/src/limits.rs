//! Limits on clients. Whatever they do, the server stays within these bounds or rejects with a
//! specific error.

use std::time::Duration;

/// The limits of a server.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Limits {
    /// Maximum number of connections. Further ones are closed at once.
    pub clients: usize,
    /// Maximum number of connections from one address (or one IPv6 /64 network). Further ones are
    /// closed at once.
    pub clients_an_address: usize,
    /// Maximum number of connections before the end of their handshake: TLS, and the first byte of
    /// a request. A further one replaces the oldest. One address may have an eighth of them.
    pub handshakes: usize,
    /// Requests per second from one address, with bursts of ten seconds' worth. 0 means no limit.
    pub rate: u32,
    /// Ballots and challenges that one voter may send per day, possibly all at once. 0 means no
    /// limit.
    pub ballots: u32,
    /// Ballots with invalid proofs per voter and minute, and invalid shares per trustee and minute.
    /// Further ones are refused without verification.
    pub bad_ballots: u32,
    /// Maximum length of a request body in bytes.
    pub body_bytes: usize,
    /// Maximum number of entries queued for verification or writing. Further ones are refused.
    pub waiting: usize,
    /// Maximum number of entries verified in one batch.
    pub batch: usize,
    /// Maximum size in bytes of the record cache for readers.
    pub record_bytes: usize,
    /// Maximum time to receive the head of a request, and again to receive its body.
    pub request_timeout: Duration,
    /// Maximum time that an entry waits for the store, which may be restarting.
    pub store_timeout: Duration,
    /// Maximum time that a shutdown waits for accepted requests.
    pub shutdown_timeout: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            clients: 4096,
            clients_an_address: 256,
            handshakes: 512,
            rate: 50,
            ballots: 50,
            bad_ballots: 5,
            body_bytes: 1 << 20,
            waiting: 4096,
            batch: 512,
            record_bytes: 128 << 20,
            request_timeout: Duration::from_secs(20),
            store_timeout: Duration::from_secs(30),
            shutdown_timeout: Duration::from_secs(30),
        }
    }
}
