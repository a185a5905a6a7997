//! Arithmetic in a backend: on its single thread, after checking that memory is available.

use std::cell::OnceCell;

use hearith_paillier::encoding::Signed;
use hearith_paillier::{Ciphertexts, Error, PublicKey};
use rayon::{ThreadPool, ThreadPoolBuilder};

use crate::fault::Fault;
use crate::memory::{check_for_interrupts, reserve};

/// Runs an operation on this thread alone, because PostgreSQL provides the parallelism.
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

/// Reads ciphertexts of a key from values.
pub(crate) fn ciphertexts(key: &PublicKey, rows: &[&[u8]]) -> Result<Ciphertexts, Fault> {
    reserve(rows.len() * key.ciphertext_bytes())?;
    key.ciphertexts_from_be_rows(rows).map_err(|fault| Fault::Ciphertext { key: key.id(), fault })
}

/// Runs an operation, and attributes bad ciphertexts to the values.
pub(crate) fn computed(
    key: &PublicKey,
    operation: impl FnOnce() -> Result<Ciphertexts, Error> + Send,
) -> Result<Vec<u8>, Fault> {
    // Check between operations, of which a row or expression may need many.
    check_for_interrupts();
    let result = inline(operation).map_err(|fault| match fault.kind().is_bad_ciphertext() {
        true => Fault::Ciphertext { key: key.id(), fault },
        false => fault.into(),
    })?;
    Ok(result.to_be_bytes())
}

/// Ten to a power. A ciphertext raised to it gains that many digits of scale.
pub(crate) fn power_of_ten(digits: u32) -> Signed {
    // A description has at most 38 digits.
    Signed::from(10_i128.pow(digits.min(38)))
}
