//! Memory: whether there is enough for an operation, and a little more for reporting that there is
//! not.
//!
//! Where Rust's allocator fails, the process ends, and PostgreSQL ends all other sessions with it.
//! So operations ask first ([`reserve`]), and what is too small to ask for each time (an error's
//! text, a value's bytes) comes out of a part of the library when the system has no more.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::UnsafeCell;
use std::ptr;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

use pgrx::pg_sys;

use crate::fault::Fault;

/// Times the bytes of all operands, what an operation takes at most, and for tables of powers.
const MEMORY_FACTOR: usize = 24;
const MEMORY_MORE: usize = 1 << 18;

/// Bytes that are left when the system has no more. No page of them is taken before.
const SPARE: usize = 1 << 18;

#[global_allocator]
static ALLOCATOR: Allocator =
    Allocator { spare: Spare(UnsafeCell::new([0; SPARE])), used: AtomicUsize::new(0), live: AtomicUsize::new(0) };

/// Fails if the memory for an operation on so many bytes cannot be had.
pub(crate) fn reserve(bytes: usize) -> Result<(), Fault> {
    let wanted = bytes.saturating_mul(MEMORY_FACTOR).saturating_add(MEMORY_MORE);
    let layout = Layout::from_size_align(wanted, 16).map_err(|_| Fault::Memory)?;
    // SAFETY: without memory the result is null; with it, it is given back at once.
    unsafe {
        let probe = System.alloc(layout);
        if probe.is_null() {
            return Err(Fault::Memory);
        }
        // The compiler may leave an allocation out that nobody looks at.
        System.dealloc(std::hint::black_box(probe), layout);
    }
    Ok(())
}

/// Ends the query if somebody has asked for it.
pub(crate) fn check_for_interrupts() {
    // SAFETY: PostgreSQL raises an error, which unwinds through Rust's frames, or returns.
    unsafe {
        if ptr::read_volatile(&raw const pg_sys::InterruptPending) != 0 {
            pg_sys::ProcessInterrupts();
        }
    }
}

/// The system's allocator, and behind it the spare bytes.
struct Allocator {
    spare: Spare,
    /// Bytes of the spare ones that were given out, one allocation behind another.
    used: AtomicUsize,
    /// Allocations among them that were not given back: without any, all bytes are free again.
    live: AtomicUsize,
}

#[repr(align(64))]
struct Spare(UnsafeCell<[u8; SPARE]>);

// SAFETY: a byte is given out once, by an atomic count, until nobody has any.
unsafe impl Sync for Spare {}

impl Allocator {
    fn start(&self) -> *mut u8 {
        self.spare.0.get().cast()
    }

    fn is_spare(&self, place: *mut u8) -> bool {
        (self.start().addr()..self.start().addr() + SPARE).contains(&place.addr())
    }

    /// Spare bytes; null if there are too few.
    fn take(&self, layout: Layout) -> *mut u8 {
        self.live.fetch_add(1, SeqCst);
        let after =
            |used: usize| Some(used.checked_next_multiple_of(layout.align().min(64))?.checked_add(layout.size())?);
        let fits = |used: usize| after(used).filter(|&end| end <= SPARE && layout.align() <= 64);
        match self.used.fetch_update(SeqCst, SeqCst, fits) {
            // SAFETY: the bytes before the new end are within the spare ones.
            Ok(used) => unsafe { self.start().add(used.next_multiple_of(layout.align())) },
            Err(_) => {
                self.give_back();
                ptr::null_mut()
            }
        }
    }

    fn give_back(&self) {
        // A backend has one thread: nobody takes bytes between the two.
        if self.live.fetch_sub(1, SeqCst) == 1 {
            self.used.store(0, SeqCst);
        }
    }
}

// SAFETY: memory is the system's or spare bytes that nobody else has.
unsafe impl GlobalAlloc for Allocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's promise.
        let place = unsafe { System.alloc(layout) };
        if place.is_null() { self.take(layout) } else { place }
    }

    unsafe fn dealloc(&self, place: *mut u8, layout: Layout) {
        if self.is_spare(place) {
            return self.give_back();
        }
        // SAFETY: the caller's promise; the place is the system's.
        unsafe { System.dealloc(place, layout) };
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's promise.
        let mut place = unsafe { System.alloc_zeroed(layout) };
        if place.is_null() {
            place = self.take(layout);
            if !place.is_null() {
                // SAFETY: so many bytes are there.
                unsafe { place.write_bytes(0, layout.size()) };
            }
        }
        place
    }

    unsafe fn realloc(&self, place: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        if !self.is_spare(place) {
            // SAFETY: the caller's promise; the place is the system's.
            let moved = unsafe { System.realloc(place, layout, size) };
            if !moved.is_null() {
                return moved;
            }
        }
        // SAFETY: the size was checked to be one of a layout by the caller; both places have room
        // for what is copied, and the old one is given back once.
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
