//! Identification of the process, which distinguishes a child of `fork` from its parent.
//!
//! Process IDs are not sufficient: they are reused, and each namespace has its own, so a parent and
//! its child may both have ID 1. This module increments a counter in every child. Two mechanisms
//! detect the copy of a parent's memory: `fork` calls handlers (`pthread_atfork`), and Linux (4.14
//! and later) wipes a page in every copy (`MADV_WIPEONFORK`), even for direct system calls. Other
//! copies of memory are not detected: machines that are resumed twice from one snapshot count as
//! the same process.

use std::sync::atomic::AtomicPtr;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed, Ordering::SeqCst};

/// A process, as identified by its own memory.
///
/// Data that must not be shared with a parent process is stored with the process that created it
/// and is not used in any other.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Process(u64);

/// Number of IDs assigned so far by this process and its ancestors. A child's IDs are above all
/// those that it inherits.
static GIVEN: AtomicU64 = AtomicU64::new(0);

/// Points to this process's ID, or to 0 if it has none yet. The ID is in a page that is wiped in
/// children, or in [`STAMP`].
static LOCATION: AtomicPtr<AtomicU64> = AtomicPtr::new(std::ptr::null_mut());

/// The ID on systems that cannot wipe a page; only the handler resets it.
static STAMP: AtomicU64 = AtomicU64::new(0);

impl Process {
    /// The current process.
    pub fn current() -> Self {
        let stamp = stamp();
        let known = stamp.load(SeqCst);
        if known != 0 {
            return Self(known);
        }
        // The first of several threads decides.
        let new = next();
        Self(stamp.compare_exchange(0, new, SeqCst, SeqCst).map_or_else(|other| other, |_| new))
    }

    /// Whether this is the current process.
    pub fn is_current(self) -> bool {
        self == Self::current()
    }
}

fn next() -> u64 {
    GIVEN.fetch_add(1, Relaxed) + 1
}

/// The location of this process's ID. It takes no lock, because a thread that does not exist in the
/// child could hold it.
fn stamp() -> &'static AtomicU64 {
    let mut location = LOCATION.load(SeqCst);
    if location.is_null() {
        // Register before the location is visible. Two threads may both get here: calling the
        // handler twice is harmless.
        #[cfg(unix)]
        watch_forks();
        let new = wiped_page().unwrap_or(&raw const STAMP as *mut AtomicU64);
        location = match LOCATION.compare_exchange(std::ptr::null_mut(), new, SeqCst, SeqCst) {
            Ok(_) => new,
            Err(other) => other,
        };
    }
    // SAFETY: a static or a page that is never unmapped; zeros are a valid number.
    unsafe { &*location }
}

/// Resets the ID in every child of `fork`.
#[cfg(unix)]
fn watch_forks() {
    extern "C" fn in_child() {
        let location = LOCATION.load(SeqCst);
        if !location.is_null() {
            // SAFETY: as in `stamp`. The handler only performs a store, which is safe after a fork
            // of a multi-threaded process.
            unsafe { &*location }.store(0, SeqCst);
        }
    }
    // SAFETY: the handler may be called at any time. If there is no memory for it, the wiped page
    // still works.
    unsafe { libc::pthread_atfork(None, None, Some(in_child)) };
}

/// A page of zeros that is reset to zeros in every child.
#[cfg(all(target_os = "linux", not(miri)))]
fn wiped_page() -> Option<*mut AtomicU64> {
    let length = size_of::<AtomicU64>();
    // SAFETY: a new mapping, which the kernel rounds up to a whole page.
    unsafe {
        let protection = libc::PROT_READ | libc::PROT_WRITE;
        let page = libc::mmap(std::ptr::null_mut(), length, protection, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS, -1, 0);
        if page == libc::MAP_FAILED {
            return None;
        }
        if libc::madvise(page, length, libc::MADV_WIPEONFORK) != 0 {
            libc::munmap(page, length);
            return None;
        }
        Some(page.cast())
    }
}

#[cfg(not(all(target_os = "linux", not(miri))))]
fn wiped_page() -> Option<*mut AtomicU64> {
    None
}
