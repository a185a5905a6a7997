//! Files of keys and ciphertexts, written and read as streams.
//!
//! | bytes | what |
//! | ---: | --- |
//! | 8 | `HEARDGHV` |
//! | 2 | the version of this format: 1, or 2 for a key with a ladder and for keys and ciphertexts on a rung |
//! | 1 | what the file holds: 1 a public key, 2 a private key, 3 ciphertexts |
//! | 1 | the scheme: 1 CMNT, 2 CNT |
//! | 7 x 4 | the parameters' lengths, in the order of [`Lengths`](crate::Lengths) |
//! | 16 | the ID of the key |
//! | 1 | in version 2: the level in a ladder, 0 for the key itself |
//! | | the content, which depends on the kind of file |
//! | 32 | the SHA-256 of everything before it |
//!
//! Integers are little-endian. A natural number of up to `n` bits occupies `ceil(n / 8)` bytes. The
//! checksum detects damage, not tampering: anyone who can write the file can also write the
//! checksum.
//!
//! Readers process a file as a stream. They never allocate memory from a size in the file beyond
//! what the parameters allow.

mod ciphertexts;
mod error;
mod frame;
mod header;
mod keys;
mod published;

pub use ciphertexts::{CiphertextReader, CiphertextWriter, ciphertext_file_bytes};
pub use error::{FormatError, FormatErrorKind};
pub use header::{FileKind, HEADER_BYTES, Header, MOST_HEADER_BYTES, VERSION};
pub use published::{MOST_BYTES as MOST_PUBLISHED_BYTES, Published, PublishedError};
