//! Memory: checks that an operation has enough, and keeps a reserve for reporting that it does not.
//!
//! If Rust's allocator fails, the process ends, and PostgreSQL then ends all other sessions.
//! Operations therefore check first with [`reserve`]. Allocations too small for a check each time
//! (an error's text, a value's bytes) use a static reserve when the system has no more memory.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::UnsafeCell;
use std::ptr;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

use pgrx::pg_sys;

use crate::fault::Fault;

/// Upper bound on an operation's memory: this factor times the bytes of all operands, plus
/// `MEMORY_MORE` for tables of powers.
const MEMORY_FACTOR: usize = 24;
const MEMORY_MORE: usize = 1 << 18;

/// Bytes of the reserve for when the system has no more memory. Its pages are untouched until then.
const SPARE: usize = 1 << 18;

#[global_allocator]
static ALLOCATOR: Allocator =
    Allocator { spare: Spare(UnsafeCell::new([0; SPARE])), used: AtomicUsize::new(0), live: AtomicUsize::new(0) };

/// Fails if the memory for an operation on `bytes` bytes is not available.
pub(crate) fn reserve(bytes: usize) -> Result<(), Fault> {
    let wanted = bytes.saturating_mul(MEMORY_FACTOR).saturating_add(MEMORY_MORE);
    let layout = Layout::from_size_align(wanted, 16).map_err(|_| Fault::Memory)?;
    // SAFETY: without enough memory, the result is null. Otherwise it is freed immediately.
    unsafe {
        let probe = System.alloc(layout);
        if probe.is_null() {
            return Err(Fault::Memory);
        }
        // Without this, the compiler may remove an unused allocation.
        System.dealloc(std::hint::black_box(probe), layout);
    }
    Ok(())
}

/// Ends the query if an interrupt is pending.
pub(crate) fn check_for_interrupts() {
    // SAFETY: PostgreSQL raises an error, which unwinds through Rust's frames, or returns.
    unsafe {
        if ptr::read_volatile(&raw const pg_sys::InterruptPending) != 0 {
            pg_sys::ProcessInterrupts();
        }
    }
}

/// The system's allocator, with a reserve of spare bytes.
struct Allocator {
    spare: Spare,
    /// Spare bytes in use, allocated consecutively.
    used: AtomicUsize,
    /// Allocations in the spare bytes that were not freed. At zero, all spare bytes are free again.
    live: AtomicUsize,
}

#[repr(align(64))]
struct Spare(UnsafeCell<[u8; SPARE]>);

// SAFETY: an atomic counter hands out each byte once, until no allocation is left.
unsafe impl Sync for Spare {}

impl Allocator {
    fn start(&self) -> *mut u8 {
        self.spare.0.get().cast()
    }

    fn is_spare(&self, place: *mut u8) -> bool {
        (self.start().addr()..self.start().addr() + SPARE).contains(&place.addr())
    }

    /// Allocates spare bytes; null if there are too few.
    fn take(&self, layout: Layout) -> *mut u8 {
        self.live.fetch_add(1, SeqCst);
        let after =
            |used: usize| Some(used.checked_next_multiple_of(layout.align().min(64))?.checked_add(layout.size())?);
        let fits = |used: usize| after(used).filter(|&end| end <= SPARE && layout.align() <= 64);
        match self.used.fetch_update(SeqCst, SeqCst, fits) {
            // SAFETY: the bytes before the new end are within the spare bytes.
            Ok(used) => unsafe { self.start().add(used.next_multiple_of(layout.align())) },
            Err(_) => {
                self.give_back();
                ptr::null_mut()
            }
        }
    }

    fn give_back(&self) {
        // A backend has one thread, so no allocation comes between the two steps.
        if self.live.fetch_sub(1, SeqCst) == 1 {
            self.used.store(0, SeqCst);
        }
    }
}

// SAFETY: memory is from the system, or consists of spare bytes with no other user.
unsafe impl GlobalAlloc for Allocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: guaranteed by the caller.
        let place = unsafe { System.alloc(layout) };
        if place.is_null() { self.take(layout) } else { place }
    }

    unsafe fn dealloc(&self, place: *mut u8, layout: Layout) {
        if self.is_spare(place) {
            return self.give_back();
        }
        // SAFETY: guaranteed by the caller; the memory is from the system.
        unsafe { System.dealloc(place, layout) };
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: guaranteed by the caller.
        let mut place = unsafe { System.alloc_zeroed(layout) };
        if place.is_null() {
            place = self.take(layout);
            if !place.is_null() {
                // SAFETY: the allocation has this size.
                unsafe { place.write_bytes(0, layout.size()) };
            }
        }
        place
    }

    unsafe fn realloc(&self, place: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        if !self.is_spare(place) {
            // SAFETY: guaranteed by the caller; the memory is from the system.
            let moved = unsafe { System.realloc(place, layout, size) };
            if !moved.is_null() {
                return moved;
            }
        }
        // SAFETY: the caller guarantees a valid size for a layout. Both allocations are large
        // enough for the copy, and the old one is freed once.
        unsafe {
            let moved = self.alloc(Layout::from_size_align_unchecked(size, layout.align()));
            if !moved.is_null() {
                moved.copy_from_nonoverlapping(place, layout.size().min(size));
                self.dealloc(place, layout);
            }
            moved
        }
    }
}
