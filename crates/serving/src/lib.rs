//! Code that Hearith's servers share.
//!
//! - [`gate`] accepts connections: deadlines of handshakes, limits per client, file descriptors.
//! - [`lifetime`] ends connections: idle, old, or because the server stops.
//! - [`certificate`] reads whom a certificate names and when it ends.
//! - [`tls`] reads certificates and replaces them while the server runs.
//! - [`log`] writes log lines without ever blocking the thread that logs.
//! - [`networks`] and [`permits`] know whose connections and requests are counted, and how many.
//! - [`rate`] limits how often a client may do something.
//! - [`page`] answers operators: metrics, liveness, readiness.
//! - [`memory`] returns freed memory to the operating system.

pub mod certificate;
pub mod descriptors;
pub mod gate;
pub mod lifetime;
pub mod log;
pub mod memory;
pub mod metrics;
pub mod networks;
pub mod page;
mod pending;
pub mod permits;
pub mod rate;
pub mod socket;
pub mod tls;
