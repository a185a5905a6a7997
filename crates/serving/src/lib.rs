//! Code that Hearith's servers share.
//!
//! - [`gate`] accepts connections and enforces handshake deadlines, limits per client and file
//!   descriptor limits.
//! - [`lifetime`] ends connections that are idle or too old, and all of them when the server stops.
//! - [`certificate`] reads a certificate's names and expiry.
//! - [`tls`] reads certificates and replaces them while the server runs.
//! - [`log`] writes log lines without ever blocking the thread that logs.
//! - [`networks`] holds address ranges. [`permits`] counts connections and requests in total and
//!   per client.
//! - [`rate`] limits the rate of each client.
//! - [`page`] serves metrics, liveness and readiness to operators.
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
