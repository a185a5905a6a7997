//! Secrets that are computed on first use.

use crate::locked::Locked;
use hearith_arith::{ArithError, Memory};
use std::sync::OnceLock;

/// A secret that [`Lazy::get`] computes once and stores in locked memory. Other threads wait for
/// it.
pub(crate) struct Lazy<T>(OnceLock<Result<Locked<T>, ArithError>>);

impl<T: Memory> Lazy<T> {
    pub(crate) const fn new() -> Self {
        Lazy(OnceLock::new())
    }

    /// The value, computed by `make` on first use.
    pub(crate) fn get(&self, make: impl FnOnce() -> Result<T, ArithError>) -> Result<&T, ArithError> {
        let made = self.0.get_or_init(|| make().map(Locked::new));
        made.as_ref().map(|locked| &**locked).map_err(Clone::clone)
    }
}
