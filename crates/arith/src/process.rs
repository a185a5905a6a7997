//! Identifies the process: a child of `fork` differs from its parent.
//!
//! Ids of processes do not tell: they are used again, and each namespace counts for itself, so that
//! a parent and its child may both be number 1. Here a counter goes up in every child, along two
//! ways that a process comes by its parent's memory: `fork` calls handlers (`pthread_atfork`), and
//! under Linux (4.14 and later) the kernel wipes a page of every copy (`MADV_WIPEONFORK`), also
//! where the system call is made directly. No other copy of a memory is seen: machines resumed
//! twice from one snapshot are the same process.

use std::sync::atomic::AtomicPtr;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed, Ordering::SeqCst};

/// A process, as its own memory sees it.
///
/// What a process must not share with its parent is kept together with the process that made it,
/// and left alone in any other.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Process(u64);

/// Numbers given out so far, by this process and those that it comes from. A child's are above all
/// that it inherits.
static GIVEN: AtomicU64 = AtomicU64::new(0);

/// This process's number; 0 where it has none yet. In a page that children find wiped, or in
/// [`STAMP`].
static PLACE: AtomicPtr<AtomicU64> = AtomicPtr::new(std::ptr::null_mut());

/// For systems that wipe no page: the handler alone renews it.
static STAMP: AtomicU64 = AtomicU64::new(0);

impl Process {
    /// This process.
    pub fn current() -> Self {
        let stamp = stamp();
        let known = stamp.load(SeqCst);
        if known != 0 {
            return Self(known);
        }
        // Of several threads one decides.
        let new = next();
        Self(stamp.compare_exchange(0, new, SeqCst, SeqCst).map_or_else(|other| other, |_| new))
    }

    /// Whether this is the process.
    pub fn is_current(self) -> bool {
        self == Self::current()
    }
}

fn next() -> u64 {
    GIVEN.fetch_add(1, Relaxed) + 1
}

/// Where this process's number lies. Nothing here waits: a thread that a child does not have could
/// hold its lock.
fn stamp() -> &'static AtomicU64 {
    let mut place = PLACE.load(SeqCst);
    if place.is_null() {
        // Before the place is seen by anybody. Two threads may both get here: a handler that is
        // called twice does no harm.
        #[cfg(unix)]
        watch_forks();
        let new = wiped_page().unwrap_or(&raw const STAMP as *mut AtomicU64);
        place = match PLACE.compare_exchange(std::ptr::null_mut(), new, SeqCst, SeqCst) {
            Ok(_) => new,
            Err(other) => other,
        };
    }
    // SAFETY: a static or a page that is never unmapped; zeros are a valid number.
    unsafe { &*place }
}

/// Has every child of `fork` begin without a number.
#[cfg(unix)]
fn watch_forks() {
    extern "C" fn in_child() {
        let place = PLACE.load(SeqCst);
        if !place.is_null() {
            // SAFETY: as in `stamp`. A store is all that happens here: it is safe after a fork of a
            // process with threads.
            unsafe { &*place }.store(0, SeqCst);
        }
    }
    // SAFETY: the handler may be called at any time. Where there is no memory for it, the page
    // remains.
    unsafe { libc::pthread_atfork(None, None, Some(in_child)) };
}

/// A page of zeros that is zeros again in every child.
#[cfg(all(target_os = "linux", not(miri)))]
fn wiped_page() -> Option<*mut AtomicU64> {
    let length = size_of::<AtomicU64>();
    // SAFETY: a new mapping, of which the kernel makes a whole page.
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
