//! Shared code for kernels of the vector engine in this and other crates: words of eight lanes and
//! conversions.
//!
//! A kernel may enable `avx512f`, `avx512dq` and `avx512ifma`, and must only be called through
//! [`dispatch!`](crate::dispatch).

pub use crate::backend::ifma::lanes::{load, store};
pub use crate::backend::ifma::{MASK, Octet, RADIX};
