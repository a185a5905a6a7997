//! Memory that was freed, returned to the operating system.
//!
//! glibc keeps it. `free` gives back only what lies at the top of the main heap; freed memory
//! within a heap, and in the heaps of other threads, stays with the process. Large buffers do not
//! help: after the first one is freed, glibc takes others of its size from the heaps, too (the
//! threshold of `mmap` rises to 32 MiB). After a burst of answers that nobody reads, hundreds of
//! megabytes therefore stay resident. `malloc_trim` returns every free page of all heaps.

use std::sync::Mutex;
use std::sync::PoisonError;

/// Bytes that must have been freed since the last time for it to be worth the walk over all heaps.
const WORTH: usize = 32 << 20;

/// Watches how many bytes a server holds, and returns what it has freed.
#[derive(Debug, Default)]
pub struct Watch {
    /// The most that was held since memory was last returned.
    peak: Mutex<usize>,
}

impl Watch {
    /// Takes note of the bytes that are held now. Says whether so many were freed that
    /// [`give_back`] is worth its time, which may be some ten milliseconds.
    pub fn is_worth(&self, held: usize) -> bool {
        let mut peak = self.peak.lock().unwrap_or_else(PoisonError::into_inner);
        *peak = (*peak).max(held);
        let worth = *peak - held >= WORTH;
        if worth {
            *peak = held;
        }
        worth
    }
}

/// Returns freed memory to the operating system, where the allocator keeps it.
pub fn give_back() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    {
        unsafe extern "C" {
            fn malloc_trim(pad: usize) -> std::ffi::c_int;
        }
        // SAFETY: it may be called at any time from any thread, and touches free memory only.
        unsafe { malloc_trim(0) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_worth_it_after_much_was_freed_and_once() {
        let watch = Watch::default();
        let asked = [0, WORTH / 2, 0, WORTH, WORTH + 5, 6, 5, 5, 0, WORTH, 0, 0];
        let worth: Vec<bool> = asked.iter().map(|&held| watch.is_worth(held)).collect();
        let expected = [false, false, false, false, false, false, true, false, false, false, true, false];
        assert_eq!(worth, expected);
        give_back();
    }
}
