//! One heap for all threads, which keeps what it has: for commands whose memory must not grow with
//! what they read.
//!
//! glibc gives every thread a heap of its own. What one thread takes and another frees stays with
//! the first, so blocks that are handed from thread to thread end up in every heap: the
//! verification of a record, whose ballots are read on one thread and verified on another, took a
//! quarter more memory, and the more the longer the record was. And it hands large blocks back to
//! the system at once, which has to clear them for the next batch.

#[cfg(all(target_os = "linux", target_env = "gnu"))]
mod glibc {
    pub(super) const TRIM_THRESHOLD: i32 = -1;
    pub(super) const MMAP_THRESHOLD: i32 = -3;
    pub(super) const ARENA_MAX: i32 = -8;

    // SAFETY: this is the C library's own declaration.
    unsafe extern "C" {
        pub(super) fn mallopt(parameter: i32, value: i32) -> i32;
    }
}

/// Has all threads that are started from now on share the first one's heap, and the heap keep what
/// is freed for the next batch; whether the C library takes that from us.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
pub(crate) fn limit_malloc_arenas() -> bool {
    use glibc::{ARENA_MAX, MMAP_THRESHOLD, TRIM_THRESHOLD, mallopt};
    // SAFETY: mallopt takes two numbers and reads no memory of ours; no other thread of ours runs
    // yet.
    let set = |(parameter, value)| unsafe { mallopt(parameter, value) == 1 };
    [(ARENA_MAX, 1), (TRIM_THRESHOLD, 1 << 30), (MMAP_THRESHOLD, 64 << 20)].into_iter().all(set)
}

/// Other C libraries have one heap, or another way.
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
