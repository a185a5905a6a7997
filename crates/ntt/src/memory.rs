//! Allocation, prefetching and streaming of long vectors.

use crate::primes::Lanes;

/// Allocates `length` default values, on huge pages if the system provides them on request. Every
/// row of a long transform's columns is on another small page, which are more pages than a core
/// caches addresses for.
pub(crate) fn zeros<T: Clone + Default>(length: usize) -> Vec<T> {
    let mut vector = Vec::with_capacity(length);
    #[cfg(target_os = "linux")]
    ask_for_huge_pages(vector.spare_capacity_mut());
    vector.resize(length, T::default());
    vector
}

/// Size in bytes of a huge page, or a lower bound of it.
#[cfg(target_os = "linux")]
const HUGE: usize = 1 << 21;

/// Requests huge pages. A refusal only costs speed.
#[cfg(target_os = "linux")]
fn ask_for_huge_pages<T>(capacity: &mut [std::mem::MaybeUninit<T>]) {
    use rustix::mm::{Advice, madvise};
    let page = rustix::param::page_size();
    let range = capacity.as_mut_ptr_range();
    let start = range.start.cast::<u8>().align_offset(page);
    let size = size_of_val(capacity).saturating_sub(start) / page * page;
    if size >= HUGE {
        // SAFETY: the range consists of whole pages within the allocation. Advice about the page
        // size does not change their content.
        let _ = unsafe { madvise(range.start.cast::<u8>().add(start).cast(), size, Advice::LinuxHugepage) };
    }
}

/// Vectors needed soon. A loop prefetches them a few at a time during its own work, which overlaps
/// memory access and arithmetic.
#[derive(Clone, Copy)]
pub(crate) struct Prefetch {
    from: *const Lanes,
    write: bool,
}

impl Prefetch {
    /// Vectors that will all be overwritten.
    pub(crate) fn for_write(vectors: &mut [Lanes]) -> Self {
        Prefetch { from: vectors.as_ptr(), write: true }
    }

    /// Vectors that will be read: those after the given ones, whether or not they exist.
    pub(crate) fn after(these: &[Lanes]) -> Self {
        Prefetch { from: these.as_ptr_range().end, write: false }
    }

    /// Prefetches some of the vectors.
    #[inline(always)]
    pub(crate) fn request(self, vectors: std::ops::Range<usize>) {
        #[cfg(target_arch = "x86_64")]
        for at in vectors {
            use std::arch::x86_64::{_MM_HINT_ET0, _MM_HINT_T1, _mm_prefetch};
            let at = self.from.wrapping_add(at).cast();
            // SAFETY: nothing is read, and any address is allowed.
            unsafe { if self.write { _mm_prefetch::<_MM_HINT_ET0>(at) } else { _mm_prefetch::<_MM_HINT_T1>(at) } };
        }
        #[cfg(not(target_arch = "x86_64"))]
        let _ = (self, vectors);
    }
}

/// Copies vectors to a destination of the same length, bypassing the caches.
pub(crate) fn copy_past_caches(from: &[Lanes], to: &mut [Lanes]) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{__m128i, _mm_load_si128, _mm_sfence, _mm_stream_si128};
        for (from, to) in from.iter().zip(to) {
            let (from, to) = ((&raw const *from).cast::<__m128i>(), (&raw mut *to).cast::<__m128i>());
            for quarter in 0..4 {
                // SAFETY: these are quarters of 64 aligned bytes, and every x86-64 CPU has the
                // instructions.
                unsafe { _mm_stream_si128(to.add(quarter), _mm_load_si128(from.add(quarter))) };
            }
        }
        // SAFETY: every x86-64 CPU has the instruction. It makes the stores visible to other
        // threads before anything that this thread does next.
        unsafe { _mm_sfence() };
    }
    #[cfg(not(target_arch = "x86_64"))]
    to.copy_from_slice(from);
}
