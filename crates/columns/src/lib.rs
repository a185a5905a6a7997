//! Encrypted columns in Arrow tables.
//!
//! One kernel, Arrow in and Arrow out, under everything that handles encrypted tables: a
//! [`RecordBatch`](arrow_array::RecordBatch) of numbers becomes one of ciphertexts ([`Encryptor`]),
//! encrypted batches are added up by groups without the private key ([`Totals`]), and totals or
//! single values are decrypted ([`Decryptor`]). [`parquet`] and [`csv`] are streams of batches.
//!
//! Beside each original column `X` an encrypted table has a companion `X.additions` (`UInt64`):
//! how many numbers were added into that ciphertext, or slot of one. That is what lets
//! a sum refuse to exceed its headroom and a decryption refuse a total that did.
//! [`EncryptedColumn`] describes a column and says how the description is kept.
//!
//! ```
//! use std::sync::Arc;
//! use arrow_array::{ArrayRef, Int64Array, RecordBatch, StringArray};
//! use hearith_columns::{
//!     ColumnSpec, Decryptor, EncryptOptions, EncryptionKey, Encryptor, Totals,
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
//! let mut totals = Totals::new(key.public(), &encrypted.schema(), &by)?;
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
mod parts;
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
pub use digest::{Digest, TableDigest};
pub use encrypt::{ColumnSpec, EncryptOptions, EncryptionKey, Encryptor};
pub use error::{CompanionFault, Error, ErrorKind, ParquetFault, Source};
pub use expression::{BoundComputed, BoundPredicate, Computed, Predicate, PredicateError, listed};
pub use means::Means;
pub use metadata::{Encoding, EncryptedColumn, MetadataError, Part, encrypted_columns};
pub use numbers::Rounding;
pub use openings::{Checker, Opener};
pub use partitions::Partitions;
pub use parts::{Described, described};
pub use shares::{Combined, Combiner, Sharer};
pub use signature::{
    SIGNATURE, SIGNER, SignatureCheck, SigningKey, SigningKeyError, TableSignature, TableSigner, VerifyingKey,
    is_signing_key,
};
pub use totals::{Release, Released, Totals, Withheld};
pub use typed::{TypedColumn, is_number, type_name};

/// The examples of the README, compiled and run with the others.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
