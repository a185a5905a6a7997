//! The arguments of a kernel: `kernels/job.h` in Rust, member by member.

/// The one argument of every kernel. Addresses are those of the card.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Job {
    pub(crate) rows: u64,
    pub(crate) input: u64,
    pub(crate) second: u64,
    pub(crate) output: u64,
    pub(crate) scratch: u64,
    pub(crate) key: u64,
    pub(crate) exponents: u64,
    pub(crate) index: u64,
    pub(crate) digits: u32,
    pub(crate) chunks: u32,
    pub(crate) blocks: u32,
    pub(crate) block: u32,
    pub(crate) words: u32,
    pub(crate) limbs: u32,
}

// There is no padding, so both compilers use the same layout.
const _: () = assert!(size_of::<Job>() == 88);
