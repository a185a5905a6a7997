//! Counts of the modular multiplications that this thread has carried out, by the limbs of the modulus. With the
//! feature `count` off, counting compiles to nothing.

#[cfg(feature = "count")]
mod counters {
    use std::cell::RefCell;
    use std::collections::BTreeMap;

    thread_local! {
        static COUNTS: RefCell<BTreeMap<usize, u64>> = const { RefCell::new(BTreeMap::new()) };
    }

    /// Montgomery multiplications and squarings of this thread since the last call, by 64-bit limbs of the modulus, in
    /// lanes filled or not. Dual products are not counted.
    pub fn take() -> BTreeMap<usize, u64> {
        COUNTS.with_borrow_mut(std::mem::take)
    }

    pub(crate) fn multiplication(limbs: usize) {
        COUNTS.with_borrow_mut(|counts| *counts.entry(limbs).or_default() += 1);
    }
}

#[cfg(feature = "count")]
pub(crate) use counters::multiplication;
#[cfg(feature = "count")]
pub use counters::take;

#[cfg(not(feature = "count"))]
#[inline(always)]
pub(crate) fn multiplication(_: usize) {}
