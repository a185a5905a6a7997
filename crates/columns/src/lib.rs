//! Encrypted columns in Arrow tables.
//!
//! This crate is the common kernel of everything that handles encrypted tables. Its input and
//! output are Arrow [`RecordBatch`](arrow_array::RecordBatch)es:
//!
//! - [`Encryptor`] turns a batch of numbers into a batch of ciphertexts.
//! - [`Aggregator`] sums encrypted batches by groups, without the private key.
//! - [`Decryptor`] decrypts totals or single values.
//! - [`parquet`] and [`csv`] read and write streams of batches.
//!
//! For each original column `X`, an encrypted table has a companion column `X.additions`
//! (`UInt64`). It counts the numbers that were added into each ciphertext, or into one slot of it.
//! With this count, a sum rejects additions beyond its headroom, and decryption rejects a total
//! that exceeded it. [`EncryptedColumn`] describes a column and documents how the description is
//! stored.
//!
//! ```
//! use std::sync::Arc;
//! use arrow_array::{ArrayRef, Int64Array, RecordBatch, StringArray};
//! use hearith_columns::{
//!     ColumnSpec, Decryptor, EncryptOptions, EncryptionKey, Encryptor, Aggregator,
//! };
//! use hearith_paillier::{Engine, KeyPolicy, PrivateKey, Variant};
//!
//! let dept: ArrayRef = Arc::new(StringArray::from(vec!["lab", "shop", "lab"]));
//! let salary: ArrayRef = Arc::new(Int64Array::from(vec![Some(1500), None, Some(-20)]));
//! let table = RecordBatch::try_from_iter([("dept", dept), ("salary", salary)])?;
//!
//! // Far too small a key for anything but an example.
//! let (policy, engine) = (KeyPolicy::AllowInsecure, Engine::best());
//! let key = PrivateKey::generate(256, Variant::Standard, policy, engine)?;
//! let column = ColumnSpec { name: "salary".into(), ..Default::default() };
//! let options = EncryptOptions::new(vec![column]);
//! let public = EncryptionKey::Public(key.public());
//! let encrypted = Encryptor::new(public, &table.schema(), &options)?.encrypt(&table)?;
//!
//! let by = ["dept".to_owned()];
//! let mut totals = Aggregator::new(key.public(), &encrypted.schema(), &by)?;
//! totals.update(&encrypted)?;
//! let totals = totals.finish()?;
//!
//! let decrypted = Decryptor::new(&key, &totals.schema())?.decrypt(&totals)?.to_text()?;
//! let salary = decrypted.column_by_name("salary").unwrap();
//! let expected: ArrayRef = Arc::new(StringArray::from(vec![Some("1480"), None]));
//! assert_eq!(salary, &expected);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod align;
mod behind;
mod ciphers;
mod contents;
pub mod csv;
mod decrypt;
mod describe;
mod described;
mod digest;
mod encrypt;
mod error;
mod expression;
mod extension;
mod groups;
pub mod guard;
pub mod lattice;
pub mod limits;
mod means;
pub mod metadata;
mod numbers;
mod openings;
pub mod parquet;
mod partitions;
pub mod phe;
mod shares;
mod signature;
mod totals;
mod typed;
pub mod values;
mod wipe;

pub use align::Alignment;
pub use behind::Behind;
pub use contents::{Contents, TableId};
pub use csv::CsvFault;
pub use decrypt::{Decrypted, Decryptor, OVERFLOW, narrowed};
pub use describe::Describer;
pub use described::{Described, described};
pub use digest::{Digest, TableDigest};
pub use encrypt::{ColumnSpec, EncryptOptions, EncryptionKey, Encryptor};
pub use error::{CompanionFault, Error, ErrorKind, ParquetFault, Source};
pub use expression::{BoundComputed, BoundPredicate, Computed, Predicate, PredicateError, listed};
pub use means::Means;
pub use metadata::{Encoding, EncryptedColumn, MetadataError, SourceColumn, encrypted_columns};
pub use numbers::Rounding;
pub use openings::{Checker, Opener};
pub use partitions::Partitions;
pub use shares::{Combined, Combiner, Sharer};
pub use signature::{
    SIGNATURE, SIGNER, SignatureCheck, SigningKey, SigningKeyError, TableSignature, TableSigner, VerifyingKey,
    is_signing_key,
};
pub use totals::{Aggregates, Aggregator, FinishOptions, Withheld};
pub use typed::{TypedColumn, is_number, type_name};

/// The examples of the README, compiled and run as doctests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
