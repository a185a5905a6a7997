//! Columns encrypted whole, by a lattice scheme: [BFV](hearith_bfv).
//!
//! The plain columns of a table stay row by row; a column `X` that is encrypted is `Binary`, and
//! its rows are encrypted `N` at a time. The first row of each `N` holds the *chunk*, the
//! ciphertext of all of them, and the others are null. `X.additions` (`UInt64`) says row by row
//! whether there is a number: 1, or 0 where the column was null. Row groups end where chunks end,
//! so they can be read ([`batches_of`](crate::parquet::ParquetSource::batches_of)) and added up
//! apart ([`LatticeTotals::begin_part`]). `crates/bfv/README.md` has the form of the files
//! in full.
//!
//! A chunk is `HBK2`, the table's random id (16 bytes), the number of its first row (8 bytes,
//! little end first), a SHA-256 of the column's name, id, row and ciphertext, and the ciphertext
//! ([`hearith_bfv::Ciphertext::to_bytes`]). So a chunk that was altered, cut, moved, left out or
//! repeated is told, and so are rows that were left out or added. That is against accidents:
//! whoever wants to deceive can write another file.
//!
//! Totals have one row a group as those of Paillier do; a cell is a [`hearith_bfv::Total`], some
//! 200 kB, and null where nothing was added. A field's metadata describe the column as Paillier's
//! do ([`metadata`](crate::metadata)), with `hearith.scheme` = `bfv`, `hearith.set`, bits of a
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
pub use totals::LatticeTotals;
