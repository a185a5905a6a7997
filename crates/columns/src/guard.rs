//! Damaged files that break the decoder of Parquet become errors.
//!
//! The `parquet` crate reports most damage as an error, but asserts some of what a file claims
//! (seen with random changes to small files: about one in four thousand). Such a panic, too, is an
//! error about the file here.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};

thread_local! {
    static GUARDED: Cell<bool> = const { Cell::new(false) };
}

/// Whether a panic of the current thread will become an error about a damaged file, so that a panic
/// hook may keep quiet.
pub fn is_guarded() -> bool {
    GUARDED.get()
}

/// Runs the decoder; `None` if it panicked. What it worked on must not be used again then.
pub(crate) fn guarded<T>(decode: impl FnOnce() -> T) -> Option<T> {
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
        assert_eq!(guarded(|| 7), Some(7));
        assert!(guarded(|| assert!(!is_guarded(), "a panic that is caught")).is_none());
        assert!(!is_guarded());
    }
}
