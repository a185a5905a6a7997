//! The board of an election as a server, and its client.
//!
//! A [server] takes ballots over HTTP, verifies them in batches as `hearith-election` has it, and
//! enters them in a [store]: SQLite in a file, or PostgreSQL, over which several servers work at
//! the same time. The server sends a receipt only when the entry is on disk. What counts is the
//! record's lines; whatever else the store holds is made from them, and a [backup] is the record
//! itself, which anybody can verify. `docs/how-to/election-server.md` says how to run it.

mod audit;
mod authors;
pub mod backup;
pub mod client;
pub mod clients;
mod groups;
mod http;
mod intake;
mod last_head;
mod ledger;
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

pub use ledger::Error as LedgerError;

/// An error and its causes, on one line, each said once.
fn said(error: &dyn std::error::Error) -> String {
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
