//! The pool of threads that scalar and table functions run on.
//!
//! A pool does not survive `fork`: the child has its memory but none of its threads, and would wait
//! for them for ever. So each process has its own. No lock guards it: one that another thread held
//! at the time of the fork would stay closed.

use std::sync::atomic::AtomicPtr;
use std::sync::atomic::Ordering::{AcqRel, Acquire};

use hearith_paillier::Process;
use rayon::{ThreadPool, ThreadPoolBuilder};

use crate::fault::Fault;

struct Pool {
    process: Process,
    threads: ThreadPool,
}

/// The pool of this process, of the one that it was forked from, or none yet. Never freed.
static POOL: AtomicPtr<Pool> = AtomicPtr::new(std::ptr::null_mut());

/// Runs what a callback does on the pool, while the callback's own thread waits.
pub(crate) fn spread<T: Send>(function: impl FnOnce() -> Result<T, Fault>) -> Result<T, Fault> {
    /// What DuckDB lends for the time of a callback: handles and vectors of no particular thread.
    struct Lent<F>(F);
    // SAFETY: DuckDB's C interface keeps nothing by thread, and the thread that it lent them to
    // does not use them meanwhile.
    unsafe impl<F> Send for Lent<F> {}
    impl<T, F: FnOnce() -> T> Lent<F> {
        fn run(self) -> T {
            self.0()
        }
    }
    let lent = Lent(function);
    pool()?.install(|| lent.run())
}

fn pool() -> Result<&'static ThreadPool, Fault> {
    loop {
        let there = POOL.load(Acquire);
        // SAFETY: null, or a box that is never freed.
        if let Some(pool) = unsafe { there.as_ref() }.filter(|pool| pool.process.is_current()) {
            return Ok(&pool.threads);
        }
        let threads = ThreadPoolBuilder::new().thread_name(|index| format!("hearith-{index}")).build();
        let threads = threads.map_err(|_| Fault::Host("threads"))?;
        let new = Box::into_raw(Box::new(Pool { process: Process::current(), threads }));
        match POOL.compare_exchange(there, new, AcqRel, Acquire) {
            // SAFETY: as above. The parent's pool is left as it is: there are no threads here to
            // end.
            Ok(_) => return Ok(unsafe { &(*new).threads }),
            // SAFETY: made above, and seen by nobody.
            Err(_) => drop(unsafe { Box::from_raw(new) }),
        }
    }
}
