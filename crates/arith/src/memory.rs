//! Locations of secrets in memory.

use crate::constants::MontgomeryParams;
use crate::{Batch, Factor, Modulus, Square};
use std::ops::Range;
use zeroize::Zeroizing;

/// Reports where a value stores numbers on the heap, so that its owner can ask the operating system
/// to keep these pages out of swap space.
pub trait Memory {
    /// Appends the address ranges, which stay valid until the value is changed or dropped.
    fn memory(&self, ranges: &mut Vec<Range<usize>>);
}

impl Memory for [u64] {
    fn memory(&self, ranges: &mut Vec<Range<usize>>) {
        let limbs = self.as_ptr_range();
        ranges.push(limbs.start.addr()..limbs.end.addr());
    }
}

impl Memory for Zeroizing<Vec<u64>> {
    fn memory(&self, ranges: &mut Vec<Range<usize>>) {
        self.as_slice().memory(ranges);
    }
}

impl Memory for Batch {
    fn memory(&self, ranges: &mut Vec<Range<usize>>) {
        self.as_limbs().memory(ranges);
    }
}

impl Memory for Modulus {
    fn memory(&self, ranges: &mut Vec<Range<usize>>) {
        let constants: &MontgomeryParams = &self.0;
        let inside = std::ptr::from_ref(constants).addr();
        ranges.push(inside..inside + size_of::<MontgomeryParams>());
        for number in [&constants.m]
            .into_iter()
            .chain([&constants.one, &constants.r2, &constants.shift].into_iter().flat_map(|(low, high)| [low, high]))
        {
            number.memory(ranges);
        }
    }
}

impl Memory for Square {
    fn memory(&self, ranges: &mut Vec<Range<usize>>) {
        self.root().memory(ranges);
    }
}

impl Memory for Factor {
    fn memory(&self, ranges: &mut Vec<Range<usize>>) {
        self.0.memory(ranges);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Engine;

    #[test]
    fn a_modulus_tells_of_all_its_numbers() {
        let m = Modulus::new(Engine::Serial, &[u64::MAX, 5]).unwrap();
        let mut ranges = Vec::new();
        m.memory(&mut ranges);
        let bytes: Vec<usize> = ranges.iter().map(ExactSizeIterator::len).collect();
        assert_eq!(bytes, [size_of::<MontgomeryParams>(), 16, 16, 16, 16, 16, 16, 16]);
        assert!(ranges.contains(&(m.as_limbs().as_ptr().addr()..m.as_limbs().as_ptr().addr() + 16)));
    }
}
