//! Values that are made when they are first needed.

use hearith_arith::ArithError;
use std::sync::OnceLock;

/// A value that [`Lazy::get`] makes once; threads that come meanwhile wait for it.
pub(crate) struct Lazy<T>(OnceLock<Result<T, ArithError>>);

impl<T> Lazy<T> {
    pub(crate) const fn new() -> Self {
        Lazy(OnceLock::new())
    }

    /// The value, made by `make` if it is not there yet.
    pub(crate) fn get(&self, make: impl FnOnce() -> Result<T, ArithError>) -> Result<&T, ArithError> {
        self.0.get_or_init(make).as_ref().map_err(Clone::clone)
    }
}
