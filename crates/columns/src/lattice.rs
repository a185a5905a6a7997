//! Batched columns, encrypted by a lattice scheme: [BFV](hearith_bfv).
//!
//! Unencrypted columns of a table remain row by row. An encrypted column `X` has type `Binary`, and
//! its rows are encrypted `N` at a time. The first row of each `N` holds the *chunk*, the
//! ciphertext of all of them, and the others are null. `X.additions` (`UInt64`) is 1 for a row with
//! a number, and 0 for a null. Row groups end at chunk boundaries, so they can be read
//! ([`batches_of`](crate::parquet::ParquetReader::batches_of)) and summed separately
//! ([`LatticeAggregator::begin_part`]). `crates/bfv/README.md` specifies the file format in full.
//!
//! A chunk consists of `HBK2`, the table's random id (16 bytes), the number of its first row (8
//! bytes, little-endian), a SHA-256 of the column's name, the id, the row and the ciphertext, and
//! the ciphertext itself ([`hearith_bfv::Ciphertext::to_bytes`]). This detects chunks that were
//! altered, truncated, moved, left out or repeated, and rows that were left out or added. It
//! protects against accidents only: an attacker can write another file.
//!
//! Totals have one row per group, as in Paillier tables. A cell is a [`hearith_bfv::Total`] of
//! about 200 kB, or null where nothing was added. Field metadata describe the column as in Paillier
//! tables ([`metadata`](crate::metadata)), with `hearith.scheme` = `bfv`, `hearith.set`, bits of a
//! plaintext in `hearith.bits`, `hearith.form` = `chunks` or `totals`, and the id in
//! `hearith.table`.

mod chunk;
mod column;
mod decrypt;
mod encrypt;
mod totals;
mod values;

pub use chunk::check_chunk;
pub use column::{Form, LatticeColumn, lattice_columns};
pub use decrypt::LatticeDecryptor;
pub use encrypt::{LatticeEncryptor, LatticeKey};
pub use totals::LatticeAggregator;
