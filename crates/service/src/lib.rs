//! The Paillier cryptosystem as a network service.
//!
//! A [`server`] computes for many clients with different keys at once. It combines rows under the
//! same key into one batch, because a vector engine needs as much time for one row as for eight.
//! The [`scheduler`] distributes the batches among this CPU and devices. A [`client`] replaces a
//! key's own operations. They speak the protocol of `proto/hearith/v1/paillier.proto` over gRPC
//! ([`proto`]).
//!
//! # Who sees what
//! The server's operator sees the plaintexts that it encrypts and decrypts, and the server draws
//! the randomisers. Additions, multiplications by plaintext integers and re-randomisation reveal
//! only ciphertexts and factors to it. This crate wipes its copies of plaintexts, but HTTP/2 and
//! TLS do not wipe their buffers. On both ends, plaintexts may therefore remain in freed memory,
//! unlike in the project's other crates.

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
