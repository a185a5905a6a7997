//! Searches freed heap blocks for secrets, and counts live bytes on the heap.
//!
//! A test program makes [`Recorder`] its allocator. While [`freed_by`] runs something, it keeps a
//! copy of every block that is freed (or moved when it grows). It returns zeroed memory, so the
//! copies hold only data of the tested code. The copies are then searched for [`Secrets`] at every
//! byte.
//!
//! Blocks freed by any thread are recorded, so such a program has a single test. A program with
//! [`Counter`] as its allocator can query the number of [`live`] bytes.

use std::alloc::{GlobalAlloc, Layout, System};
use std::collections::HashMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// The system's allocator, plus a copy of every freed block.
#[derive(Debug)]
pub struct Recorder;

static RECORDING: AtomicBool = AtomicBool::new(false);
static FREED: Mutex<Copies> = Mutex::new(Copies { start: std::ptr::null_mut(), length: 0, room: 0 });

/// Copies of freed blocks one after another, in separate memory.
struct Copies {
    start: *mut u8,
    length: usize,
    room: usize,
}

// SAFETY: this value alone owns the memory.
unsafe impl Send for Copies {}

impl Copies {
    const ALIGN: usize = 64;

    /// Appends a block, and zeros that keep words from spanning two blocks.
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
        // SAFETY: the capacity is sufficient now.
        unsafe { std::ptr::copy_nonoverlapping(block, self.start.add(self.length), size) };
        self.length = length;
    }

    fn take(&mut self) -> Vec<u8> {
        if self.length == 0 {
            return Vec::new();
        }
        // SAFETY: this many bytes were written, or zeroed when they were allocated.
        let bytes = unsafe { std::slice::from_raw_parts_mut(self.start, self.length) };
        let copies = bytes.to_vec();
        bytes.fill(0);
        self.length = 0;
        copies
    }
}

// SAFETY: everything is forwarded to the system's allocator. `realloc` is the provided one, which
// allocates, copies and frees.
unsafe impl GlobalAlloc for Recorder {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller guarantees the same conditions.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        if RECORDING.load(Ordering::SeqCst) {
            let mut freed = FREED.lock().unwrap();
            // SAFETY: the block is valid until it is freed below.
            unsafe { freed.push(block, layout.size()) };
        }
        // SAFETY: the caller guarantees the same conditions.
        unsafe { System.dealloc(block, layout) }
    }
}

/// Runs `work` and returns its result, together with copies of the blocks freed meanwhile.
pub fn freed_by<T>(work: impl FnOnce() -> T) -> (T, Vec<u8>) {
    RECORDING.store(true, Ordering::SeqCst);
    let result = work();
    RECORDING.store(false, Ordering::SeqCst);
    (result, FREED.lock().unwrap().take())
}

/// The system's allocator, with a count of live bytes.
#[derive(Debug)]
pub struct Counter;

static LIVE: AtomicUsize = AtomicUsize::new(0);

/// Allocated bytes that are not freed yet, with [`Counter`] as the allocator.
pub fn live() -> usize {
    LIVE.load(Ordering::SeqCst)
}

// SAFETY: everything is forwarded to the system's allocator. `realloc` is the provided one, which
// allocates, copies and frees.
unsafe impl GlobalAlloc for Counter {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        LIVE.fetch_add(layout.size(), Ordering::SeqCst);
        // SAFETY: the caller guarantees the same conditions.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        LIVE.fetch_sub(layout.size(), Ordering::SeqCst);
        // SAFETY: the caller guarantees the same conditions.
        unsafe { System.dealloc(block, layout) }
    }
}

/// Byte strings that must not occur in memory.
#[derive(Debug)]
pub struct Secrets {
    /// By the first eight bytes of each string: its other bytes, and the name of the secret that it
    /// belongs to.
    parts: HashMap<u64, Vec<(Vec<u8>, String)>>,
    /// A bit per hash of a key, so that nearly all of memory is skipped without a look-up in the
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

    /// Adds a byte string of at least eight bytes.
    ///
    /// # Panics
    /// If there are fewer.
    pub fn part(&mut self, name: &str, bytes: &[u8]) {
        let (head, rest) = bytes.split_first_chunk().expect("eight bytes or more");
        let head = u64::from_le_bytes(*head);
        self.hashes[Self::hash(head)] = true;
        self.parts.entry(head).or_default().push((rest.to_vec(), name.to_owned()));
    }

    /// Adds a word, unless it is so simple that it may occur by chance.
    pub fn word(&mut self, name: &str, word: u64) {
        if word.count_ones() > 8 && word.count_zeros() > 8 && word.leading_zeros() < 24 {
            self.part(name, &word.to_le_bytes());
        }
    }

    /// Adds a number, limbs least significant first, in every form: limbs of 64 bits in both byte
    /// orders, and digits of 52 and 48 bits, as in vector engines.
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

    /// Adds a text of at least sixteen characters.
    pub fn text(&mut self, name: &str, text: &str) {
        for piece in text.as_bytes().chunks_exact(16) {
            self.part(name, piece);
        }
    }

    /// The name of every secret found in `memory`, with its number of occurrences.
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
