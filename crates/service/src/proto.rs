//! The messages, client and server of `proto/hearith/v1/paillier.proto`, which documents them.

#![allow(missing_docs, clippy::all)]

tonic::include_proto!("hearith.v1");

/// The domain of the protocol's `google.rpc.ErrorInfo`.
pub const DOMAIN: &str = "hearith";
/// The metadata key with the invalid row.
pub const ROW: &str = "row";

/// The protocol's encoded file descriptor set, for the reflection service.
pub const DESCRIPTOR: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/hearith.bin"));

impl ErrorReason {
    /// Its name in `google.rpc.ErrorInfo`.
    pub fn name(self) -> &'static str {
        self.as_str_name().trim_start_matches("ERROR_REASON_")
    }

    /// Returns the reason with this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::from_str_name(&format!("ERROR_REASON_{name}"))
    }
}
