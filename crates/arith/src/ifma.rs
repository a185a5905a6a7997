//! Code that kernels of the vector engine share, in this crate and in others: words of eight lanes,
//! and conversion to them and back.
//!
//! A kernel may enable `avx512f`, `avx512dq` and `avx512ifma`, and must be reached by
//! [`dispatch!`](crate::dispatch) only.

pub use crate::backend::ifma::lanes::{load, store};
pub use crate::backend::ifma::{MASK, Octet, RADIX};
