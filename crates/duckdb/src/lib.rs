//! Sums of encrypted columns in SQL: a DuckDB extension.
//!
//! | function | result |
//! |---|---|
//! | `he_load_key(path)` | loads a public key for the entire database, from a file or as JSON itself; returns its id |
//! | `he_unload_key(id)` | unloads it; returns the id, or `NULL` if it was not loaded |
//! | `he_sum(c)` | aggregate: the ciphertext of the sum; ignores `NULL` values |
//! | `he_avg(c)` | aggregate: the mean as a structure of the ciphertext of the sum, `sum`, and the number of values, `count` |
//! | `he_add(a, b)` | the ciphertext of the sum of two ciphertexts, or of a ciphertext and an integer |
//! | `he_multiply(c, k)` | the ciphertext of the multiple by an integer, not randomised |
//! | `he_rerandomise(c)` | another ciphertext of the same number |
//! | `he_key_id(c)` | id of the loaded key that the ciphertext can belong to, `NULL` if there is none |
//! | `he_key_id()` | id of the loaded key |
//! | `he_functions()` | a table of all functions with their arguments, results and descriptions |
//! | `he_decrypt(c)` | the integer, with the private key file named in the setting `hearith_private_key` |
//! | `he_bfv_sum(file, key := 'public.json', ...)` | table function: totals of the batched columns in a Parquet file |
//! | `he_bfv_decrypt(t)` | the integer of such a total, with the private key file named in `hearith_private_key` |
//!
//! `he_bfv_sum` accepts `by := ['column', ...]` (groups), `weight := 'column'` (an integer factor
//! for each number) and `condition := 'year > 2020'` on unencrypted columns, like
//! `hearith sum --where`. Folders named `NAME=VALUE` in a file's path are unencrypted text columns
//! too. Decrypting its totals reveals only the numbers. The file must be on this machine.
//!
//! A ciphertext is a `BLOB` as `hearith encrypt` writes it, big-endian, and does not identify its
//! key. If exactly one key is loaded, it is used. With several, the functions that compute require
//! the key's id as an additional argument, and fail without it. A key is loaded for all connections
//! of the database until the database closes.
//!
//! `he_sum`, `he_add` and `he_multiply` draw no random numbers. Anyone with the input ciphertexts
//! can determine which of them a result covers. The sum of one row is that row's own ciphertext,
//! and a small factor can be found by trial. `he_rerandomise` hides this.
//!
//! Every input ciphertext must have the key's length and lie in `[1, n^2)`. Whether it is coprime
//! to `n` is checked where this costs nothing per row: for each finished sum, and for everything
//! that is decrypted. A product of numbers is coprime to `n` only if all of them are. `he_multiply`
//! by a negative number fails by itself.
//!
//! `he_sum` keeps one ciphertext per group and thread, for any number of rows. It runs on DuckDB's
//! threads and leaves their number to DuckDB. The other functions spread each vector of rows over
//! all cores (limited by `RAYON_NUM_THREADS`). Their threads belong to the process, so a forked
//! child that opens a database works like its parent.
//!
//! Built against the stable part of DuckDB's C API 1.5.6: loads into that version and later ones.

mod aggregate;
mod bfv_sum;
mod chunk;
mod duckdb_api;
mod extension;
mod fault;
mod function_docs;
mod functions;
mod keys;
mod register;
mod sum;
mod table;
mod threads;
