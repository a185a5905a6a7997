//! The way to crypto-bigint.

use crypto_bigint::BoxedUint;

/// For crypto-bigint. Copies of secrets must be wiped by the caller.
pub(crate) fn boxed(number: &[u64]) -> BoxedUint {
    BoxedUint::from_words(number.iter().copied())
}
