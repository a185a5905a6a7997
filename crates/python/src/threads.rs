//! The thread pool for batch operations.
//!
//! A pool does not survive `fork`, which Python's `multiprocessing` may use: the child has the
//! pool's memory but none of its threads. The pool is therefore stored with the process that
//! started it, and a child starts its own.

use hearith_paillier::Process;
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

struct Pool {
    process: Process,
    threads: Arc<ThreadPool>,
}

/// The pool, and the requested number of threads (0: one per core).
///
/// Locked only by holders of the interpreter's lock, which `os.fork` also holds. No child therefore
/// inherits it locked.
static POOL: Mutex<(Option<Pool>, usize)> = Mutex::new((None, 0));

/// Runs batch work on the pool, without the interpreter's lock.
pub(crate) fn run<T: Send>(py: Python<'_>, work: impl FnOnce() -> T + Send) -> PyResult<T> {
    let threads = pool()?;
    Ok(py.detach(|| threads.install(work)))
}

/// The longest time that Python waits before it handles Ctrl-C.
const PIECE: Duration = Duration::from_millis(50);

/// Runs work on the pool, on consecutive ranges that cover `count` items. Python can handle Ctrl-C
/// between ranges. The first range has one item per thread. Ranges grow while they take less time
/// than [`PIECE`].
pub(crate) fn pieces<E: Send>(
    py: Python<'_>,
    count: usize,
    mut work: impl FnMut(Range<usize>) -> Result<(), E> + Send,
) -> PyResult<Result<(), E>> {
    let (mut start, least) = (0, threads()?);
    let mut size = least;
    while start < count {
        let stop = count.min(start.saturating_add(size));
        let began = Instant::now();
        let done = run(py, || work(start..stop))?;
        if done.is_err() {
            return Ok(done);
        }
        py.check_signals()?;
        start = stop;
        size = match began.elapsed() {
            taken if taken < PIECE / 2 => 2 * size,
            taken if taken > PIECE => least.max(size / 2),
            _ => size,
        };
    }
    Ok(Ok(()))
}

fn pool() -> PyResult<Arc<ThreadPool>> {
    let mut state = POOL.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(pool) = state.0.take_if(|pool| !pool.process.is_current()) {
        // Its threads exist only in the parent, so there is nothing to join.
        std::mem::forget(pool);
    }
    if let Some(pool) = &state.0 {
        return Ok(pool.threads.clone());
    }
    let built = ThreadPoolBuilder::new().num_threads(state.1).thread_name(|index| format!("hearith-{index}")).build();
    let threads = Arc::new(built.map_err(|error| PyRuntimeError::new_err(error.to_string()))?);
    state.0 = Some(Pool { process: Process::current(), threads: threads.clone() });
    Ok(threads)
}

/// The number of threads for batch operations.
#[pyfunction]
pub(crate) fn threads() -> PyResult<usize> {
    Ok(pool()?.current_num_threads())
}

/// Runs later batches on `count` threads (0: one per core).
#[pyfunction]
pub(crate) fn set_threads(count: usize) -> PyResult<()> {
    const MOST: usize = 4096;
    if count > MOST {
        return Err(PyValueError::new_err(format!("at most {MOST} threads")));
    }
    let mut state = POOL.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(pool) = state.0.take().filter(|pool| !pool.process.is_current()) {
        std::mem::forget(pool);
    }
    state.1 = count;
    Ok(())
}
