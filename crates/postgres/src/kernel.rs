//! The arithmetic inside of a backend: on its one thread, with memory that is known to be there.

use std::cell::OnceCell;

use hearith_paillier::encoding::Signed;
use hearith_paillier::{Ciphertexts, Error, PublicKey};
use pgrx::pg_sys;
use rayon::{ThreadPool, ThreadPoolBuilder};

use crate::fault::Fault;

/// Times the bytes of all operands, what an operation takes at most, and for tables of powers.
const MEMORY_FACTOR: usize = 24;
const MEMORY_MORE: usize = 1 << 18;

/// Runs an operation on this thread alone: parallelism is PostgreSQL's.
pub(crate) fn inline<T: Send>(operation: impl FnOnce() -> T + Send) -> T {
    thread_local! {
        static POOL: OnceCell<Option<ThreadPool>> = const { OnceCell::new() };
    }
    POOL.with(|pool| {
        let pool = pool.get_or_init(|| ThreadPoolBuilder::new().num_threads(1).use_current_thread().build().ok());
        match pool {
            Some(pool) => pool.install(operation),
            None => operation(),
        }
    })
}

/// Fails if the memory for an operation on so many bytes cannot be had. Rust's allocator would end
/// the backend instead.
pub(crate) fn reserve(bytes: usize) -> Result<(), Fault> {
    let wanted = bytes.saturating_mul(MEMORY_FACTOR).saturating_add(MEMORY_MORE);
    // SAFETY: without memory the result is null; with it, it is given back at once.
    unsafe {
        let flags = (pg_sys::MCXT_ALLOC_HUGE | pg_sys::MCXT_ALLOC_NO_OOM) as i32;
        let probe = pg_sys::MemoryContextAllocExtended(pg_sys::CurrentMemoryContext, wanted, flags);
        if probe.is_null() {
            return Err(Fault::Memory);
        }
        pg_sys::pfree(probe);
    }
    Ok(())
}

/// Ciphertexts of a key out of values.
pub(crate) fn ciphertexts(key: &PublicKey, rows: &[&[u8]]) -> Result<Ciphertexts, Fault> {
    reserve(rows.len() * key.ciphertext_bytes())?;
    key.ciphertexts_from_be_rows(rows).map_err(|fault| Fault::Ciphertext { key: key.id(), fault })
}

/// The result of an operation, whose failure is one of the values.
pub(crate) fn computed(
    key: &PublicKey,
    operation: impl FnOnce() -> Result<Ciphertexts, Error> + Send,
) -> Result<Vec<u8>, Fault> {
    let result = inline(operation).map_err(|fault| match fault.kind().is_bad_ciphertext() {
        true => Fault::Ciphertext { key: key.id(), fault },
        false => fault.into(),
    })?;
    Ok(result.to_be_bytes())
}

/// Ten to a power, which ciphertexts are raised to so that their scale grows by as many digits.
pub(crate) fn power_of_ten(digits: u32) -> Signed {
    // A description has at most 38 digits.
    Signed::from(10_i128.pow(digits.min(38)))
}
