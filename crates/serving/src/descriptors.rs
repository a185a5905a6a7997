//! File descriptors for connections, up to the system's limit minus a reserve.

use std::sync::Arc;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use tokio::sync::Semaphore;

/// Descriptors reserved for metrics, logs, reloaded certificates and stores.
pub const KEPT: usize = 64;
/// Descriptors assumed to be open if the system does not tell.
const ASSUMED: usize = 64;
/// Minimum number of connections, however few descriptors there are.
const LEAST: usize = 16;
/// Maximum number of connections, since descriptors may be unlimited.
const MOST: usize = 1 << 20;

/// Raises the descriptor limit to the maximum for this process. Returns one permit for each
/// connection that fits.
pub fn for_connections() -> Arc<Semaphore> {
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    if current != maximum {
        // If the system rejects this, the limit stays as it is.
        let _ = setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum });
    }
    let limit = getrlimit(Resource::Nofile).current.and_then(|limit| usize::try_from(limit).ok());
    Arc::new(Semaphore::new(connections(limit.unwrap_or(MOST), open())))
}

fn connections(limit: usize, open: usize) -> usize {
    limit.saturating_sub(open + KEPT).clamp(LEAST, MOST)
}

fn open() -> usize {
    std::fs::read_dir("/proc/self/fd").map_or(ASSUMED, Iterator::count)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn some_are_kept_back() {
        assert_eq!(connections(1024, 24), 1024 - 24 - KEPT);
        assert_eq!(connections(64, 24), LEAST);
        assert_eq!(connections(usize::MAX, 24), MOST);
        assert!(open() >= 3);
        assert!(for_connections().available_permits() >= LEAST);
        let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
        assert_eq!(current, maximum, "the soft limit is the hard one");
    }
}
