//! One heap for all threads that retains freed memory, for commands whose memory must not grow with
//! their input.
//!
//! glibc gives every thread its own heap. Memory that one thread allocates and another frees stays
//! in the first one's heap. Blocks that are passed between threads therefore end up in every heap.
//! The verification of a record, which reads ballots on one thread and verifies them on another,
//! needed a quarter more memory, and more for longer records. glibc also returns large blocks to
//! the system at once, which then has to clear them for the next batch.

#[cfg(all(target_os = "linux", target_env = "gnu"))]
mod glibc {
    pub(super) const TRIM_THRESHOLD: i32 = -1;
    pub(super) const MMAP_THRESHOLD: i32 = -3;
    pub(super) const ARENA_MAX: i32 = -8;

    // SAFETY: this matches the C library's declaration.
    unsafe extern "C" {
        pub(super) fn mallopt(parameter: i32, value: i32) -> i32;
    }
}

/// Makes all threads started from now on share the first one's heap, and the heap keep freed memory
/// for the next batch. Returns whether the C library accepted the settings.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
pub(crate) fn limit_malloc_arenas() -> bool {
    use glibc::{ARENA_MAX, MMAP_THRESHOLD, TRIM_THRESHOLD, mallopt};
    // SAFETY: `mallopt` takes two numbers and reads none of our memory. No other thread of ours is
    // running yet.
    let set = |(parameter, value)| unsafe { mallopt(parameter, value) == 1 };
    [(ARENA_MAX, 1), (TRIM_THRESHOLD, 1 << 30), (MMAP_THRESHOLD, 64 << 20)].into_iter().all(set)
}

/// Other C libraries have a single heap, or other settings.
#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
pub(crate) fn limit_malloc_arenas() -> bool {
    false
}

#[cfg(test)]
mod tests {
    #[test]
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    fn the_c_library_takes_it() {
        assert!(super::limit_malloc_arenas());
    }
}
