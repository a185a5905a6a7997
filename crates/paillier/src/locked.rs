//! Key material in pages that the operating system keeps out of swap space, if it allows this.

use hearith_arith::Memory;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::{Deref, Range};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// A secret whose numbers lie in locked pages for its whole lifetime, if the operating system
/// allows it.
pub struct Locked<T> {
    // Dropped first, so the value is wiped before it is unlocked.
    value: T,
    lock: Lock,
}

impl<T: Memory> Locked<T> {
    /// Asks the operating system to lock the pages of `value`.
    pub fn new(value: T) -> Self {
        let mut ranges = Vec::new();
        value.memory(&mut ranges);
        Locked { lock: Lock::new(&ranges), value }
    }

    /// Whether all pages are locked.
    pub fn is_locked(&self) -> bool {
        self.lock.complete
    }
}

impl<T> Deref for Locked<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.value
    }
}

/// Pages that stay locked until this is dropped.
pub(crate) struct Lock {
    pages: Vec<usize>,
    /// Whether all requested pages are locked.
    complete: bool,
}

/// Number of locks per locked page. The system does not count them: one unlock undoes any number of
/// locks, and secrets share pages.
static LOCKED: Mutex<BTreeMap<usize, usize>> = Mutex::new(BTreeMap::new());

fn locked_pages() -> MutexGuard<'static, BTreeMap<usize, usize>> {
    LOCKED.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Lock {
    /// Locks the pages of the given address ranges.
    pub(crate) fn new(ranges: &[Range<usize>]) -> Self {
        let size = system::page_size();
        let within = |range: &Range<usize>| (range.start / size..range.end.div_ceil(size)).map(move |page| page * size);
        let wanted: BTreeSet<usize> = ranges.iter().filter(|range| !range.is_empty()).flat_map(within).collect();
        let mut locked_pages = locked_pages();
        // Locks a page even if it already has a lock, since it may have been unmapped and mapped
        // again in the meantime.
        let pages: Vec<usize> = wanted.iter().copied().filter(|&page| system::lock(page, size)).collect();
        pages.iter().for_each(|&page| *locked_pages.entry(page).or_default() += 1);
        Lock { complete: pages.len() == wanted.len(), pages }
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        let mut locked_pages = locked_pages();
        for &page in &self.pages {
            let left = locked_pages.get(&page).map_or(0, |locks| locks - 1);
            if left == 0 {
                locked_pages.remove(&page);
                system::unlock(page, system::page_size());
            } else {
                locked_pages.insert(page, left);
            }
        }
    }
}

#[cfg(all(unix, not(miri)))]
mod system {
    use std::ptr::without_provenance_mut;

    pub(super) fn page_size() -> usize {
        rustix::param::page_size()
    }

    /// Locks a page and returns whether that succeeded.
    pub(super) fn lock(page: usize, size: usize) -> bool {
        // SAFETY: locking has no effect that the program can observe; an unmapped page gives an
        // error.
        unsafe { rustix::mm::mlock(without_provenance_mut(page), size) }.is_ok()
    }

    pub(super) fn unlock(page: usize, size: usize) {
        // SAFETY: as above. A failure, as for memory that was unmapped, is harmless.
        let _ = unsafe { rustix::mm::munlock(without_provenance_mut(page), size) };
    }
}

/// Fallback for systems that cannot lock pages.
#[cfg(not(all(unix, not(miri))))]
mod system {
    pub(super) fn page_size() -> usize {
        4096
    }

    pub(super) fn lock(_page: usize, _size: usize) -> bool {
        false
    }

    pub(super) fn unlock(_page: usize, _size: usize) {}
}

#[cfg(test)]
mod tests {
    use super::*;
    use zeroize::Zeroizing;

    #[test]
    fn pages_are_counted() {
        let number = Zeroizing::new(vec![7u64; 3000]);
        let mut ranges = Vec::new();
        number.memory(&mut ranges);
        // A page in the middle, which no other allocation shares.
        let page = (ranges[0].start / system::page_size() + 2) * system::page_size();
        let locks = || locked_pages().get(&page).copied().unwrap_or(0);
        let first = Lock::new(&ranges);
        let each = usize::from(first.complete);
        assert_eq!(locks(), each);
        let second = Lock::new(&ranges);
        assert_eq!(locks(), 2 * each);
        drop(first);
        assert_eq!(locks(), each);
        drop(second);
        assert_eq!(locks(), 0);
    }
}
