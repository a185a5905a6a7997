//! Memory for secrets.

use crate::constants::Constants;
use crate::{Batch, Factor, Modulus, Square};
use std::ops::Range;
use zeroize::Zeroizing;

/// What keeps numbers on the heap and can tell where, so that whoever owns it can have the
/// operating system keep these pages out of swap space.
pub trait Memory {
    /// Adds the ranges of addresses. They stay as they are until the value is changed or dropped.
    fn memory(&self, ranges: &mut Vec<Range<usize>>);
}

impl Memory for [u64] {
    fn memory(&self, ranges: &mut Vec<Range<usize>>) {
        let place = self.as_ptr_range();
        ranges.push(place.start.addr()..place.end.addr());
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
        let constants: &Constants = &self.0;
        let inside = std::ptr::from_ref(constants).addr();
        ranges.push(inside..inside + size_of::<Constants>());
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
        assert_eq!(bytes, [size_of::<Constants>(), 16, 16, 16, 16, 16, 16, 16]);
        assert!(ranges.contains(&(m.as_limbs().as_ptr().addr()..m.as_limbs().as_ptr().addr() + 16)));
    }
}
