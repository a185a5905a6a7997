//! How long vectors lie in memory and come from it.

use crate::primes::Lanes;

/// So many values, all the default, on huge pages where the system gives them when it is asked: the
/// columns of a long transform lie on another small page at every row, more of them than a core
/// keeps addresses of.
pub(crate) fn zeros<T: Clone + Default>(length: usize) -> Vec<T> {
    let mut room = Vec::with_capacity(length);
    #[cfg(target_os = "linux")]
    ask_for_huge_pages(room.spare_capacity_mut());
    room.resize(length, T::default());
    room
}

/// Bytes of a huge page, or less.
#[cfg(target_os = "linux")]
const HUGE: usize = 1 << 21;

/// What is refused is only slower.
#[cfg(target_os = "linux")]
fn ask_for_huge_pages<T>(room: &mut [std::mem::MaybeUninit<T>]) {
    use rustix::mm::{Advice, madvise};
    let page = rustix::param::page_size();
    let range = room.as_mut_ptr_range();
    let start = range.start.cast::<u8>().align_offset(page);
    let size = size_of_val(room).saturating_sub(start) / page * page;
    if size >= HUGE {
        // SAFETY: whole pages within the room. Advice about the size of pages changes nothing that
        // is in them.
        let _ = unsafe { madvise(range.start.cast::<u8>().add(start).cast(), size, Advice::LinuxHugepage) };
    }
}

/// Vectors that are wanted soon: a loop that has something else to do asks for them a few at a
/// time, so that memory and arithmetic are busy together.
#[derive(Clone, Copy)]
pub(crate) struct Prefetch {
    from: *const Lanes,
    write: bool,
}

impl Prefetch {
    /// To be written, all of them.
    pub(crate) fn for_write(place: &mut [Lanes]) -> Self {
        Prefetch { from: place.as_ptr(), write: true }
    }

    /// To be read: the vectors behind these, whether they are there or not.
    pub(crate) fn after(these: &[Lanes]) -> Self {
        Prefetch { from: these.as_ptr_range().end, write: false }
    }

    /// Asks for some of them.
    #[inline(always)]
    pub(crate) fn request(self, vectors: std::ops::Range<usize>) {
        #[cfg(target_arch = "x86_64")]
        for at in vectors {
            use std::arch::x86_64::{_MM_HINT_ET0, _MM_HINT_T1, _mm_prefetch};
            let at = self.from.wrapping_add(at).cast();
            // SAFETY: nothing is read; any address will do.
            unsafe { if self.write { _mm_prefetch::<_MM_HINT_ET0>(at) } else { _mm_prefetch::<_MM_HINT_T1>(at) } };
        }
        #[cfg(not(target_arch = "x86_64"))]
        let _ = (self, vectors);
    }
}

/// Copies vectors to a place for as many, in memory rather than in a cache.
pub(crate) fn copy_past_caches(from: &[Lanes], to: &mut [Lanes]) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{__m128i, _mm_load_si128, _mm_sfence, _mm_stream_si128};
        for (from, to) in from.iter().zip(to) {
            let (from, to) = ((&raw const *from).cast::<__m128i>(), (&raw mut *to).cast::<__m128i>());
            for quarter in 0..4 {
                // SAFETY: quarters of 64 aligned bytes; every x86-64 has the instructions.
                unsafe { _mm_stream_si128(to.add(quarter), _mm_load_si128(from.add(quarter))) };
            }
        }
        // SAFETY: every x86-64 has it. Other threads see what was written before whatever this one
        // does next.
        unsafe { _mm_sfence() };
    }
    #[cfg(not(target_arch = "x86_64"))]
    to.copy_from_slice(from);
}
