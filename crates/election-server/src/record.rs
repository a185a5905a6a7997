//! The files of the record, as readers fetch them: a thousand entries each, cached in memory while
//! in use.
//!
//! Readers share the cache. A full file never changes. The newest file is extended by new entries
//! at most once a second, and also whenever a published head covers more entries than it has. So a
//! client that reads the heads first finds all entries that they cover.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use axum::body::Bytes;
use hearith_election::SignedTreeHead;

use crate::store::{Error, Store};

/// Entries in a file.
pub(crate) const LINES: u64 = hearith_election::FILE_ENTRIES;
/// Maximum age of the newest file.
const REFRESH_INTERVAL: Duration = Duration::from_secs(1);

/// The cache of the files in a store.
#[derive(Debug)]
pub(crate) struct RecordCache {
    store: Store,
    max_bytes: usize,
    cached: Mutex<HashMap<u64, CachedFile>>,
    heads: tokio::sync::Mutex<Heads>,
    /// The number of entries covered by a published head.
    covered: AtomicU64,
}

#[derive(Debug, Default)]
struct Heads {
    text: Bytes,
    /// The number of entries that the newest head covers.
    size: u64,
    fetched: Option<Instant>,
}

#[derive(Debug)]
struct CachedFile {
    file: Arc<tokio::sync::Mutex<File>>,
    used: Instant,
    bytes: usize,
}

/// A file, complete or growing.
#[derive(Clone, Debug, Default)]
pub(crate) struct File {
    /// The number of lines.
    pub(crate) lines: u64,
    /// Its text.
    pub(crate) text: Bytes,
    fetched: Option<Instant>,
}

impl RecordCache {
    /// A cache for a store that keeps at most `max_bytes` bytes, and in any case the file
    /// requested last.
    pub(crate) fn new(store: Store, max_bytes: usize) -> Self {
        let (heads, covered) = (tokio::sync::Mutex::default(), AtomicU64::default());
        Self { store, max_bytes, cached: Mutex::default(), heads, covered }
    }

    /// The file of heads, at most one second old, or current if `now` is set.
    pub(crate) async fn heads(&self, now: bool) -> Result<Bytes, Error> {
        let mut heads = self.heads.lock().await;
        if now || heads.fetched.is_none_or(|fetched| fetched.elapsed() >= REFRESH_INTERVAL) {
            let lines = self.store.heads(heads.size).await?;
            if let Some(newest) = lines.last().and_then(|line| SignedTreeHead::from_line(line).ok()) {
                heads.size = newest.size;
                heads.text = extended(&heads.text, &lines);
            }
            heads.fetched = Some(Instant::now());
            self.covered.fetch_max(heads.size, Ordering::AcqRel);
        }
        Ok(heads.text.clone())
    }

    /// The file that begins with entry `first`, if a board of `size` entries has it.
    pub(crate) async fn file(&self, first: u64, size: u64) -> Result<Option<File>, Error> {
        let covered = self.covered.load(Ordering::Acquire);
        let size = size.max(covered);
        if !first.is_multiple_of(LINES) || first >= size {
            return Ok(None);
        }
        let shared = self.cached().entry(first).or_insert_with(CachedFile::new).file.clone();
        // Concurrent requests wait here and then find the fetched file.
        let mut file = shared.lock().await;
        let fresh = file.fetched.is_some_and(|fetched| fetched.elapsed() < REFRESH_INTERVAL);
        let known = |size: u64| LINES.min(size.saturating_sub(first));
        if file.lines < known(covered) || (file.lines < known(size) && !fresh) {
            *file = self.extended(first, &file).await?;
        }
        let found = file.clone();
        drop(file);
        self.touch(first, found.text.len());
        Ok(Some(found))
    }

    async fn extended(&self, first: u64, file: &File) -> Result<File, Error> {
        let lines = self.store.lines(first + file.lines, LINES - file.lines).await?;
        let text = extended(&file.text, &lines);
        Ok(File { lines: file.lines + lines.len() as u64, text, fetched: Some(Instant::now()) })
    }

    fn cached(&self) -> MutexGuard<'_, HashMap<u64, CachedFile>> {
        self.cached.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Marks a file as used, and evicts the least recently used ones.
    fn touch(&self, first: u64, bytes: usize) {
        let mut cached = self.cached();
        if let Some(file) = cached.get_mut(&first) {
            (file.used, file.bytes) = (Instant::now(), bytes);
        }
        while cached.values().map(|file| file.bytes).sum::<usize>() > self.max_bytes && cached.len() > 1 {
            let oldest = cached.iter().filter(|(at, _)| **at != first).min_by_key(|(_, file)| file.used);
            let Some((&oldest, _)) = oldest else { return };
            cached.remove(&oldest);
        }
    }
}

/// A text with lines appended.
fn extended(text: &Bytes, lines: &[String]) -> Bytes {
    let more: usize = lines.iter().map(|line| line.len() + 1).sum();
    let mut extended = Vec::with_capacity(text.len() + more);
    extended.extend_from_slice(text);
    for line in lines {
        extended.extend_from_slice(line.as_bytes());
        extended.push(b'\n');
    }
    extended.into()
}

impl CachedFile {
    fn new() -> Self {
        Self { file: Arc::default(), used: Instant::now(), bytes: 0 }
    }
}
