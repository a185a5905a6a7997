//! The thread pool on which scalar and table functions run.
//!
//! A pool does not survive `fork`: the child has its memory but none of its threads, and would wait
//! for them forever. Each process therefore has its own pool. No lock guards it, because a lock
//! that another thread held during the fork would stay locked.

use std::sync::atomic::AtomicPtr;
use std::sync::atomic::Ordering::{AcqRel, Acquire};

use hearith_paillier::Process;
use rayon::{ThreadPool, ThreadPoolBuilder};

use crate::fault::Fault;

struct Pool {
    process: Process,
    threads: ThreadPool,
}

/// The pool of this process or of its parent before a fork, or null. Never freed.
static POOL: AtomicPtr<Pool> = AtomicPtr::new(std::ptr::null_mut());

/// Runs the body of a callback on the pool, while the callback's own thread waits.
pub(crate) fn spread<T: Send>(function: impl FnOnce() -> Result<T, Fault>) -> Result<T, Fault> {
    /// What DuckDB lends during a callback: handles and vectors that are not bound to a thread.
    struct Lent<F>(F);
    // SAFETY: DuckDB's C interface stores nothing per thread. The thread that borrowed them does
    // not use them during the call.
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
            // SAFETY: as above. The parent's pool is left unchanged, since its threads do not exist
            // here.
            Ok(_) => return Ok(unsafe { &(*new).threads }),
            // SAFETY: created above, and never shared.
            Err(_) => drop(unsafe { Box::from_raw(new) }),
        }
    }
}
