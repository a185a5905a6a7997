//! Conversion to crypto-bigint.

use crypto_bigint::BoxedUint;

/// Copies a number into a `BoxedUint`. The caller must wipe copies of secrets.
pub(crate) fn to_boxed_uint(number: &[u64]) -> BoxedUint {
    BoxedUint::from_words(number.iter().copied())
}
