//! Returns freed memory to the operating system.
//!
//! glibc keeps freed memory. `free` returns only memory at the top of the main heap. Freed memory
//! within a heap, and in the heaps of other threads, stays with the process. Large buffers do not
//! help: after the first one is freed, glibc allocates others of its size from the heaps too (the
//! `mmap` threshold rises up to 32 MiB). After a burst of answers that nobody reads, hundreds of
//! megabytes therefore stay resident. `malloc_trim` returns every free page of all heaps.

use std::sync::Mutex;
use std::sync::PoisonError;

/// Freed bytes since the last trim that justify walking all heaps.
const WORTH: usize = 32 << 20;

/// Tracks how many bytes a server holds, to decide when to trim.
#[derive(Debug, Default)]
pub struct Watch {
    /// The peak since memory was last returned.
    peak: Mutex<usize>,
}

impl Watch {
    /// Records the bytes held now. Returns whether enough was freed for [`give_back`], which may
    /// cost some ten milliseconds.
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

/// Returns freed memory to the operating system if the allocator (glibc) retains it.
pub fn give_back() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    {
        unsafe extern "C" {
            fn malloc_trim(pad: usize) -> std::ffi::c_int;
        }
        // SAFETY: `malloc_trim` may be called at any time from any thread, and touches only free
        // memory.
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
