//! Limits on clients. Whatever they do, the server stays within these bounds or rejects with a
//! specific error.

use std::time::Duration;

/// The bounds of a server.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Limits {
    /// Connections; further ones are closed at once.
    pub clients: usize,
    /// Connections from one address (or one IPv6 network of 64 bits); further ones are closed at
    /// once.
    pub clients_an_address: usize,
    /// Connections whose handshake is not done: TLS, and the first byte of a request. For a further
    /// one, the oldest is closed. An eighth may come from one address.
    pub handshakes: usize,
    /// Requests a second from one address; as many as in ten seconds may come at once. 0: as many
    /// as come.
    pub rate: u32,
    /// Ballots and challenges that one voter may send in a day; as many may come at once. 0: as
    /// many as come.
    pub ballots: u32,
    /// Ballots whose proofs were wrong that one voter may send in a minute, and shares of one
    /// trustee; further ones are refused unread.
    pub bad_ballots: u32,
    /// Bytes of a request.
    pub body_bytes: usize,
    /// Entries that wait to be verified or written; further ones are refused.
    pub waiting: usize,
    /// Ballots that are verified in one batch.
    pub batch: usize,
    /// Bytes of the record that are kept in memory for readers.
    pub record_bytes: usize,
    /// How long a client may take for a request's head, and again for its body.
    pub request_timeout: Duration,
    /// How long an entry may wait for the store, which may be restarting.
    pub store_timeout: Duration,
    /// How long a shutdown waits for what was accepted.
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
