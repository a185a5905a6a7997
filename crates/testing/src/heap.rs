//! Searching the heap for secrets: every block is kept when it is freed, and searched afterwards.
//! And counting what is on it.
//!
//! A test program makes [`Recorder`] its allocator. It keeps a copy of every block that is freed
//! (or moved, where it grows) while [`freed_by`] runs something, and hands out zeroed memory, so
//! that whatever the copies hold was put there by the code that is tested. [`Secrets`] are then
//! looked for, at every byte.
//!
//! Blocks are recorded whatever thread frees them, so such a program has a single test. One that
//! has [`Counter`] for its allocator asks how many bytes are [`live`].

use std::alloc::{GlobalAlloc, Layout, System};
use std::collections::HashMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// The allocator: the system's, with a copy of what is freed.
#[derive(Debug)]
pub struct Recorder;

static RECORDING: AtomicBool = AtomicBool::new(false);
static FREED: Mutex<Copies> = Mutex::new(Copies { start: std::ptr::null_mut(), length: 0, room: 0 });

/// Copies of freed blocks one after another, in memory of its own.
struct Copies {
    start: *mut u8,
    length: usize,
    room: usize,
}

// SAFETY: the memory belongs to the value alone.
unsafe impl Send for Copies {}

impl Copies {
    const ALIGN: usize = 64;

    /// Appends a block, and zeros so that no word reaches from one block into the next.
    ///
    /// # Safety
    /// `block` is valid for reading `size` bytes.
    unsafe fn push(&mut self, block: *const u8, size: usize) {
        let length = (self.length + size + 8).next_multiple_of(8);
        if length > self.room {
            let room = (2 * length).max(1 << 24);
            // SAFETY: the sizes are those of the layouts; the old copies move to larger zeroed
            // memory.
            unsafe {
                let larger = System.alloc_zeroed(Layout::from_size_align_unchecked(room, Self::ALIGN));
                assert!(!larger.is_null(), "no memory for the copies");
                std::ptr::copy_nonoverlapping(self.start, larger, self.length);
                if self.room > 0 {
                    System.dealloc(self.start, Layout::from_size_align_unchecked(self.room, Self::ALIGN));
                }
                (self.start, self.room) = (larger, room);
            }
        }
        // SAFETY: there is room now.
        unsafe { std::ptr::copy_nonoverlapping(block, self.start.add(self.length), size) };
        self.length = length;
    }

    fn take(&mut self) -> Vec<u8> {
        if self.length == 0 {
            return Vec::new();
        }
        // SAFETY: so many bytes were written, or zeroed when they were allocated.
        let bytes = unsafe { std::slice::from_raw_parts_mut(self.start, self.length) };
        let copies = bytes.to_vec();
        bytes.fill(0);
        self.length = 0;
        copies
    }
}

// SAFETY: everything is handed on to the system's allocator. `realloc` is the provided one, which
// allocates, copies and frees.
unsafe impl GlobalAlloc for Recorder {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's obligations are ours.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        if RECORDING.load(Ordering::SeqCst) {
            let mut freed = FREED.lock().unwrap();
            // SAFETY: the block is whole until it is freed below.
            unsafe { freed.push(block, layout.size()) };
        }
        // SAFETY: the caller's obligations are ours.
        unsafe { System.dealloc(block, layout) }
    }
}

/// What was freed while `work` ran, and its result, which is still there.
pub fn freed_by<T>(work: impl FnOnce() -> T) -> (T, Vec<u8>) {
    RECORDING.store(true, Ordering::SeqCst);
    let result = work();
    RECORDING.store(false, Ordering::SeqCst);
    (result, FREED.lock().unwrap().take())
}

/// The system's allocator, counting.
#[derive(Debug)]
pub struct Counter;

static LIVE: AtomicUsize = AtomicUsize::new(0);

/// Bytes that are taken and not freed, with [`Counter`] for an allocator.
pub fn live() -> usize {
    LIVE.load(Ordering::SeqCst)
}

// SAFETY: everything is handed on to the system's allocator. `realloc` is the provided one, which
// allocates, copies and frees.
unsafe impl GlobalAlloc for Counter {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        LIVE.fetch_add(layout.size(), Ordering::SeqCst);
        // SAFETY: the caller's obligations are ours.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        LIVE.fetch_sub(layout.size(), Ordering::SeqCst);
        // SAFETY: the caller's obligations are ours.
        unsafe { System.dealloc(block, layout) }
    }
}

/// Byte strings to be found nowhere.
#[derive(Debug)]
pub struct Secrets {
    /// What follows the first eight bytes of each, with the name of what it is part of, by these
    /// eight bytes.
    parts: HashMap<u64, Vec<(Vec<u8>, String)>>,
    /// A bit for the hash of every key: nearly all of memory is passed over without a look into the
    /// map.
    hashes: Vec<bool>,
}

impl Default for Secrets {
    fn default() -> Self {
        Secrets { parts: HashMap::new(), hashes: vec![false; 1 << 20] }
    }
}

impl Secrets {
    fn hash(head: u64) -> usize {
        (head.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 44) as usize
    }

    /// Some bytes, eight or more.
    ///
    /// # Panics
    /// If there are fewer.
    pub fn part(&mut self, name: &str, bytes: &[u8]) {
        let (head, rest) = bytes.split_first_chunk().expect("eight bytes or more");
        let head = u64::from_le_bytes(*head);
        self.hashes[Self::hash(head)] = true;
        self.parts.entry(head).or_default().push((rest.to_vec(), name.to_owned()));
    }

    /// A word, unless it is so small that chance brings it about.
    pub fn word(&mut self, name: &str, word: u64) {
        if word.count_ones() > 8 && word.count_zeros() > 8 && word.leading_zeros() < 24 {
            self.part(name, &word.to_le_bytes());
        }
    }

    /// A number, limbs least significant first, in every form: limbs of 64 bits in both orders of
    /// bytes, and digits of 52 and of 48 bits, as vector engines hold it.
    pub fn number(&mut self, name: &str, limbs: &[u64]) {
        for &limb in limbs {
            self.word(name, limb);
            self.word(name, limb.swap_bytes());
        }
        for width in [52, 48] {
            for position in (0..64 * limbs.len()).step_by(width) {
                let limb = |index: usize| u128::from(limbs.get(index).copied().unwrap_or(0));
                let two = limb(position / 64) | limb(position / 64 + 1) << 64;
                self.word(name, (two >> (position % 64)) as u64 & ((1 << width) - 1));
            }
        }
    }

    /// A text of at least sixteen characters.
    pub fn text(&mut self, name: &str, text: &str) {
        for piece in text.as_bytes().chunks_exact(16) {
            self.part(name, piece);
        }
    }

    /// The names of all that is in there, each once, with how often.
    pub fn within(&self, memory: &[u8]) -> Vec<(String, usize)> {
        let mut found: HashMap<&str, usize> = HashMap::new();
        for at in 0..memory.len().saturating_sub(7) {
            let (head, rest) = memory[at..].split_first_chunk().unwrap();
            let head = u64::from_le_bytes(*head);
            if !self.hashes[Self::hash(head)] {
                continue;
            }
            for (tail, name) in self.parts.get(&head).into_iter().flatten() {
                if rest.starts_with(tail) {
                    *found.entry(name).or_default() += 1;
                }
            }
        }
        let mut found: Vec<(String, usize)> = found.into_iter().map(|(name, times)| (name.to_owned(), times)).collect();
        found.sort();
        found
    }
}
