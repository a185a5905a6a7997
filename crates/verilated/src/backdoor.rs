//! Variables inside a model, read and written by their place in the hierarchy.
//!
//! The build script names the accessible variables (`Design::memory`). The design's source does not
//! change for it.

use std::ffi::CString;
use std::ptr::NonNull;

use crate::model::{Model, bit_length};

/// A variable: a memory, or a register, which has one word.
struct Variable {
    storage: NonNull<u8>,
    /// Bits of a word.
    width: usize,
    words: usize,
    /// Bytes from one word to the next.
    stride: usize,
}

impl Model {
    /// The number of words of a memory. Its path consists of the instances from the top module
    /// (exclusive) to it and its own name, separated by dots: `gen_lane[0].u_table.words_q`.
    ///
    /// # Panics
    /// If there is no such variable, or the build script does not name it (`Design::memory`).
    pub fn memory_words(&self, path: &str) -> usize {
        self.variable(path).words
    }

    /// A word of a memory or a register (word 0), in as many limbs as its width needs; words count
    /// from the lowest index.
    ///
    /// # Panics
    /// Like [`Model::memory_words`], or if the memory has no such word.
    pub fn peek(&self, path: &str, word: usize) -> Vec<u64> {
        let variable = self.variable(path);
        let from = variable.word(path, word);
        let mut limbs = vec![0; variable.width.div_ceil(64)];
        for byte in 0..variable.stride.min(8 * limbs.len()) {
            // SAFETY: `from` is the storage of a word of this many bytes, and the model is not
            // being evaluated.
            limbs[byte / 8] |= u64::from(unsafe { from.add(byte).read() }) << (8 * (byte % 8));
        }
        limbs
    }

    /// Writes a word, limbs least significant first; missing limbs are 0. Dependent signals follow
    /// at the next evaluation of the model, as with an input.
    ///
    /// # Panics
    /// Like [`Model::peek`], or if the value is wider than the word.
    pub fn poke(&mut self, path: &str, word: usize, limbs: &[u64]) {
        let variable = self.variable(path);
        let to = variable.word(path, word);
        assert!(bit_length(limbs) <= variable.width, "{path} has words of {} bits", variable.width);
        let mut bytes = limbs.iter().flat_map(|limb| limb.to_le_bytes());
        for byte in 0..variable.stride {
            // SAFETY: as in `peek`; `self` is borrowed exclusively.
            unsafe { to.add(byte).write(bytes.next().unwrap_or(0)) };
        }
    }

    fn variable(&self, path: &str) -> Variable {
        let (instance, name) = path.rsplit_once('.').unwrap_or(("", path));
        let name = CString::new(name).expect("a name has no zero byte");
        let mut shape = [0; 3];
        let mut storage = |instance: &str| {
            let instance = CString::new(instance).expect("a name has no zero byte");
            let (binding, own) = (self.binding(), self.instance());
            // SAFETY: the function belongs to this instance; the names end in zero bytes, and the
            // shape has three numbers.
            unsafe { (binding.variable)(own, instance.as_ptr(), name.as_ptr(), shape.as_mut_ptr()) }
        };
        // The elements of generate loops keep their brackets or get Verilator's replacements,
        // depending on its version.
        let found = NonNull::new(storage(instance))
            .or_else(|| NonNull::new(storage(&instance.replace('[', "__BRA__").replace(']', "__KET__"))));
        let design = self.design().name();
        let storage = found.unwrap_or_else(|| panic!("{design} has no {path} that tests can reach"));
        let [width, words, stride] = shape.map(|number| number as usize);
        Variable { storage, width, words, stride }
    }
}

impl Variable {
    /// The storage of a word.
    fn word(&self, path: &str, word: usize) -> NonNull<u8> {
        assert!(word < self.words, "{path} has {} words, no number {word}", self.words);
        // SAFETY: the storage holds `words` words of this stride.
        unsafe { self.storage.add(word * self.stride) }
    }
}
