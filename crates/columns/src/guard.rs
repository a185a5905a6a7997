//! Converts panics of the Parquet decoder on damaged files into errors.
//!
//! The `parquet` crate reports most damage as an error, but asserts some claims of a file. Random
//! changes to small files trigger such a panic about once in four thousand files. This module
//! reports it as an error of the file.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};

thread_local! {
    static GUARDED: Cell<bool> = const { Cell::new(false) };
}

/// Whether a panic of the current thread will become an error about a damaged file. A panic hook
/// can then stay quiet.
pub fn is_guarded() -> bool {
    GUARDED.get()
}

/// Runs the decoder; `None` if it panicked. The decoder's state must then not be used again.
pub(crate) fn catch_panic<T>(decode: impl FnOnce() -> T) -> Option<T> {
    let before = GUARDED.replace(true);
    let result = catch_unwind(AssertUnwindSafe(decode));
    GUARDED.set(before);
    result.ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_becomes_none() {
        assert_eq!(catch_panic(|| 7), Some(7));
        assert!(catch_panic(|| assert!(!is_guarded(), "a panic that is caught")).is_none());
        assert!(!is_guarded());
    }
}
