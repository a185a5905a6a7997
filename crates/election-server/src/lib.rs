//! The bulletin board of an election as a server, and its client.
//!
//! A [server] accepts ballots over HTTP and verifies them in batches with `hearith-election`. It
//! writes them to a [store]: SQLite in a file, or PostgreSQL, which several servers can share. The
//! server sends a receipt only when the entry is on disk. Only the lines of the record are
//! authoritative. The rest of the store is derived from them, and a [backup] is the record itself,
//! which anyone can verify. `docs/how-to/election-server.md` describes operation.

mod audit;
mod authors;
pub mod backup;
mod board_log;
pub mod client;
pub mod clients;
mod groups;
mod http;
mod intake;
mod last_head;
pub mod limits;
mod listener;
pub mod metrics;
mod proofs;
mod record;
pub mod refusal;
mod security;
pub mod server;
pub mod store;
pub mod tls;

pub use board_log::Error as BoardLogError;

/// An error with its causes on one line, without repetition.
fn with_causes(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let more = error.to_string();
        if !text.contains(&more) {
            text = format!("{text}: {more}");
        }
        cause = error.source();
    }
    text.replace(['\n', '\r'], " ")
}
