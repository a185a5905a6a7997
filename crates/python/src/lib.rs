//! The Rust half of the Python package `hearith`.
//!
//! Python holds keys, batches of ciphertexts and running totals as opaque objects and passes entire
//! batches: integers as packed little-endian two's complement (`integers`), tables as Arrow record
//! batches (`columns`). Every batch operation releases the interpreter's lock and runs on a thread
//! pool (`threads`). The Python half provides the user interface (arrays, scales, progress).

mod batches;
mod bfv;
mod bfv_columns;
mod columns;
mod dghv;
mod election;
mod errors;
mod integers;
mod keys;
mod memory;
mod ntt;
mod remote;
mod rns;
mod sharing;
mod signing;
mod singles;
mod slots;
mod threads;

use pyo3::prelude::*;

/// The module `hearith._native`.
#[pymodule]
fn _native(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("VERSION", env!("CARGO_PKG_VERSION"))?;
    // Benchmarks must report which build they measured.
    module.add("PROFILE", if cfg!(debug_assertions) { "debug" } else { "release" })?;
    module.add("DEFAULT_BITS", hearith_paillier::DEFAULT_BITS)?;
    module.add("MIN_SECURE_BITS", hearith_paillier::MIN_SECURE_BITS)?;
    module.add_class::<keys::PublicKey>()?;
    module.add_class::<keys::PrivateKey>()?;
    module.add_class::<batches::Plaintexts>()?;
    module.add_class::<batches::Ciphertexts>()?;
    module.add_class::<batches::Gathering>()?;
    module.add_class::<slots::SlotLayout>()?;
    module.add_class::<singles::Singles>()?;
    module.add_class::<columns::Encryptor>()?;
    module.add_class::<columns::Alignment>()?;
    module.add_class::<columns::Aggregator>()?;
    module.add_class::<columns::Decryptor>()?;
    module.add_class::<remote::Service>()?;
    module.add_class::<remote::RemoteKey>()?;
    module.add_class::<sharing::VerificationKeys>()?;
    module.add_class::<sharing::KeyShare>()?;
    module.add_class::<sharing::Shares>()?;
    module.add_class::<sharing::Sharer>()?;
    module.add_class::<sharing::Combiner>()?;
    module.add_function(wrap_pyfunction!(sharing::deal, module)?)?;
    module.add_function(wrap_pyfunction!(sharing::table_digest, module)?)?;
    module.add_class::<signing::SigningKey>()?;
    module.add_class::<signing::VerifyingKey>()?;
    module.add_function(wrap_pyfunction!(signing::verify_table, module)?)?;
    module.add_class::<election::ElectionWorker>()?;
    module.add_class::<election::ElectionCoordinator>()?;
    module.add_class::<dghv::DghvPublicKey>()?;
    module.add_class::<dghv::DghvPrivateKey>()?;
    module.add_class::<dghv::DghvCiphertexts>()?;
    module.add_class::<ntt::NttModulus>()?;
    module.add_function(wrap_pyfunction!(ntt::ntt_product, module)?)?;
    module.add_class::<rns::RnsBasis>()?;
    module.add_class::<bfv::BfvPublicKey>()?;
    module.add_class::<bfv::BfvPrivateKey>()?;
    module.add_class::<bfv::BfvVector>()?;
    module.add_class::<bfv::BfvTotals>()?;
    module.add_class::<bfv_columns::BfvAggregator>()?;
    module.add_function(wrap_pyfunction!(bfv_columns::bfv_encrypt_table, module)?)?;
    module.add_function(wrap_pyfunction!(bfv_columns::bfv_decrypt_table, module)?)?;
    module.add_function(wrap_pyfunction!(threads::threads, module)?)?;
    module.add_function(wrap_pyfunction!(threads::set_threads, module)?)
}
