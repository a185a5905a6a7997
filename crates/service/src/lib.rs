//! The Paillier cryptosystem as a network service.
//!
//! A server ([`server`]) computes for many clients with different keys at once: it fills what they
//! send with the same key into one batch, since a vector engine takes as long for one row as for
//! eight, and shares the batches out among this CPU and devices ([`scheduler`]). A client
//! ([`client`]) stands in for a key's own operations. Between them is the protocol of
//! `proto/hearith/v1/paillier.proto` over gRPC ([`proto`]).
//!
//! # Who sees what
//! Whoever runs the server sees the plaintexts that it encrypts and decrypts, and draws the
//! randomisers. Additions, multiplications by plain numbers and re-randomisation show it
//! ciphertexts and factors only. What this crate copies of plaintexts is wiped; the buffers of
//! HTTP/2 and TLS are not: on both ends plaintexts may stay in freed memory, unlike within the
//! other crates of the project.

#[cfg(feature = "server")]
mod audit;
#[cfg(feature = "client")]
pub mod client;
#[cfg(feature = "server")]
pub mod clients;
#[cfg(feature = "server")]
mod exchange;
#[cfg(feature = "server")]
pub mod keys;
#[cfg(feature = "server")]
pub mod limits;
#[cfg(feature = "server")]
pub mod metrics;
#[cfg(feature = "server")]
mod only_grpc;
#[cfg(feature = "server")]
pub mod processor;
pub mod proto;
#[cfg(feature = "server")]
mod quota;
#[cfg(feature = "server")]
pub mod refusal;
#[cfg(feature = "server")]
pub mod request;
#[cfg(feature = "server")]
pub mod rights;
#[cfg(feature = "server")]
pub mod scheduler;
#[cfg(feature = "server")]
pub mod server;
#[cfg(feature = "server")]
mod streams;
#[cfg(feature = "server")]
mod traces;
#[cfg(feature = "server")]
mod unread;
#[cfg(feature = "server")]
pub mod work;
