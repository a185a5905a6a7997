//! Log output that never blocks, never fails and never ends the server.
//!
//! A dedicated thread writes the lines. While standard error blocks (a pipe that nobody reads) or
//! fails (a full disk, a closed pipe), lines are dropped and counted. `tracing-appender` has the
//! same design, but prints to standard error itself when it ends, which panics or blocks there.

use std::io::{self, Write};
use std::net::IpAddr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use crate::rate::{RateLimiter, client_prefix};

/// Maximum number of lines that wait to be written. Further lines are dropped.
const QUEUE: usize = 4096;
/// Burst, and rate per second, of log lines about one client.
const BURST: f64 = 10.0;
const A_SECOND: f64 = 1.0;
/// Burst, and rate per second, of log lines about all clients.
const BURST_OF_ALL: f64 = 500.0;
const A_SECOND_OF_ALL: f64 = 50.0;

/// Numbers of lines dropped since the process started.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Dropped {
    /// Dropped because `QUEUE` lines were waiting.
    pub full: u64,
    /// Dropped because writing failed.
    pub failed: u64,
    /// Dropped because one client, or all clients together, caused too many.
    pub limited: u64,
}

static FULL: AtomicU64 = AtomicU64::new(0);
static FAILED: AtomicU64 = AtomicU64::new(0);
static LIMITED: AtomicU64 = AtomicU64::new(0);

/// Returns how many lines this process has dropped.
pub fn dropped() -> Dropped {
    let [full, failed, limited] = [&FULL, &FAILED, &LIMITED].map(|count| count.load(Ordering::Relaxed));
    Dropped { full, failed, limited }
}

/// A writer of whole lines, one per write. A write never blocks and never fails.
#[derive(Clone, Debug)]
pub struct Log {
    lines: SyncSender<Vec<u8>>,
    progress: Arc<Progress>,
}

#[derive(Debug, Default)]
struct Progress {
    sent: AtomicU64,
    done: Mutex<u64>,
    more: Condvar,
}

impl Log {
    /// Starts a thread that writes the lines to `sink`.
    ///
    /// # Errors
    /// The thread cannot be started.
    pub fn start(sink: impl Write + Send + 'static) -> io::Result<Self> {
        let (lines, receiver) = sync_channel(QUEUE);
        let progress = Arc::new(Progress::default());
        let writer = progress.clone();
        thread::Builder::new().name("hearith-log".into()).spawn(move || write_all(&receiver, sink, &writer))?;
        Ok(Self { lines, progress })
    }

    /// Waits until the lines so far are written, but at most for `patience`.
    pub fn flush_within(&self, patience: Duration) {
        let (until, sent) = (Instant::now() + patience, self.progress.sent.load(Ordering::Acquire));
        let mut done = self.progress.done.lock().unwrap_or_else(PoisonError::into_inner);
        while *done < sent {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return;
            }
            done = self.progress.more.wait_timeout(done, left).unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}

fn write_all(lines: &Receiver<Vec<u8>>, mut sink: impl Write, progress: &Progress) {
    for line in lines {
        if sink.write_all(&line).and_then(|()| sink.flush()).is_err() {
            FAILED.fetch_add(1, Ordering::Relaxed);
        }
        *progress.done.lock().unwrap_or_else(PoisonError::into_inner) += 1;
        progress.more.notify_all();
    }
}

impl Write for Log {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        // Counted before it is sent, so `flush_within` misses no line.
        self.progress.sent.fetch_add(1, Ordering::AcqRel);
        if self.lines.try_send(line.to_vec()).is_err() {
            self.progress.sent.fetch_sub(1, Ordering::AcqRel);
            FULL.fetch_add(1, Ordering::Relaxed);
        }
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Limits the log lines that clients cause. No client can fill the disk or hide lines about others.
#[derive(Debug)]
pub struct Talk {
    each: RateLimiter<IpAddr>,
    all: RateLimiter<()>,
}

impl Default for Talk {
    fn default() -> Self {
        Self { each: RateLimiter::new(A_SECOND, BURST), all: RateLimiter::new(A_SECOND_OF_ALL, BURST_OF_ALL) }
    }
}

impl Talk {
    /// Whether a line about the client at this address may be logged. Counts the line as dropped if
    /// not.
    pub fn may(&self, address: IpAddr) -> bool {
        let now = Instant::now();
        let may = self.each.take(client_prefix(address), now).is_ok() && self.all.take((), now).is_ok();
        if !may {
            LIMITED.fetch_add(1, Ordering::Relaxed);
        }
        may
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A sink that blocks until it is released, then fails.
    struct Stuck(Arc<Mutex<()>>);

    impl Write for Stuck {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            let _released = self.0.lock().unwrap();
            Err(io::ErrorKind::BrokenPipe.into())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[derive(Clone, Default)]
    struct Kept(Arc<Mutex<Vec<u8>>>);

    impl Write for Kept {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().extend_from_slice(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn lines_are_dropped_and_counted_and_nobody_waits() {
        let kept = Kept::default();
        let mut log = Log::start(kept.clone()).unwrap();
        let before = dropped();
        for _ in 0..100 {
            log.write_all(b"a line\n").unwrap();
        }
        log.flush_within(Duration::from_secs(60));
        assert_eq!(kept.0.lock().unwrap().len(), 700);
        // Another test changes `limited`.
        let written = |now: Dropped| (now.full, now.failed);
        assert_eq!(written(dropped()), written(before));

        let lock = Arc::new(Mutex::new(()));
        let held = lock.lock().unwrap();
        let mut log = Log::start(Stuck(lock.clone())).unwrap();
        for _ in 0..QUEUE + 100 {
            log.write_all(b"a line\n").unwrap();
        }
        let full = dropped().full - before.full;
        // The thread has removed one line from the queue, or none yet.
        assert!((99..=100).contains(&full), "{full}");
        log.flush_within(Duration::from_millis(10));
        drop(held);
        log.flush_within(Duration::from_secs(60));
        let failed = dropped().failed - before.failed;
        assert_eq!(failed + full, QUEUE as u64 + 100, "every line is counted");
    }

    #[test]
    fn a_client_causes_few_lines_and_hides_no_others() {
        let talk = Talk::default();
        let before = dropped().limited;
        let of = |address: &str| (0..1000).filter(|_| talk.may(address.parse().unwrap())).count();
        assert_eq!((of("192.0.2.1"), of("192.0.2.2")), (10, 10));
        // A /64 network is one client.
        let written = (0..1000).filter(|host| talk.may(format!("2001:db8::{host:x}").parse().unwrap())).count();
        assert_eq!(written, 10);
        assert!(dropped().limited - before >= 2970);
        // The limit holds for any number of addresses.
        let many = (0..u32::from(u16::MAX)).filter(|&address| talk.may(IpAddr::from(address.to_be_bytes()))).count();
        assert!(many < 1000, "{many}");
    }
}
