//! Sums of encrypted columns in SQL: a DuckDB extension.
//!
//! | function | result |
//! |---|---|
//! | `he_load_key(path)` | loads a public key, from a file or as JSON itself, for the whole database; its id |
//! | `he_unload_key(id)` | forgets it; the id, or `NULL` if it was not loaded |
//! | `he_sum(c)` | aggregate: the ciphertext of the sum; `NULL` values are passed over |
//! | `he_avg(c)` | aggregate: the mean as a structure of the ciphertext of the sum, `sum`, and the number of values, `count` |
//! | `he_add(a, b)` | the ciphertext of the sum of two, or of one and an integer |
//! | `he_multiply(c, k)` | the ciphertext of the multiple by an integer, not randomised |
//! | `he_rerandomise(c)` | another ciphertext of the same number |
//! | `he_key_id(c)` | id of the loaded key that the ciphertext can belong to, `NULL` if there is none |
//! | `he_key_id()` | id of the loaded key |
//! | `he_functions()` | a table of all these with their arguments, results and what they do |
//! | `he_decrypt(c)` | the integer, with the private key file named in the setting `hearith_private_key` |
//! | `he_bfv_sum(file, key := 'public.json', ...)` | table function: totals of the columns that are encrypted whole in a Parquet file |
//! | `he_bfv_decrypt(t)` | the integer of such a total, with the private key file named in `hearith_private_key` |
//!
//! `he_bfv_sum` takes `by := ['column', ...]` (groups), `weight := 'column'` (each number times
//! that integer) and `condition := 'year > 2020'` on plain columns, as `hearith sum --where` does.
//! Folders called `NAME=VALUE` in a file's path are plain columns of text too.
//! Whoever decrypts its totals sees the numbers alone. The file is one of this machine.
//!
//! A ciphertext is a `BLOB` as `hearith encrypt` writes it, big-endian, and does not say whose it
//! is. While one key is loaded it is the one meant; with several loaded, the functions that compute
//! take the key's id as one more argument, and refuse to guess without it. A key is loaded for all
//! connections of the database until it closes.
//!
//! `he_sum`, `he_add` and `he_multiply` draw no random numbers: whoever has the ciphertexts that
//! went in can tell what a result is of, the sum of one row is that row's own ciphertext, and a
//! small factor is found by trying. `he_rerandomise` hides it.
//!
//! Every ciphertext that enters is checked to have the key's length and to lie in `[1, n^2)`.
//! Whether it is coprime to `n` is checked where that costs nothing a row: of each sum when it is
//! finished (a product of numbers is coprime to `n` only if all of them are) and of whatever is
//! decrypted. `he_multiply` by a negative number fails on its own account.
//!
//! `he_sum` keeps one ciphertext a group and thread, whatever the number of rows. It works on
//! DuckDB's threads and leaves their number to DuckDB; the other functions spread each vector of
//! rows over all cores (`RAYON_NUM_THREADS` bounds them), on threads that each process has of its
//! own: a forked child that opens a database works as its parent does.
//!
//! Built against the stable part of DuckDB's C API 1.5.6: loads into that version and later ones.

mod aggregate;
mod chunk;
mod extension;
mod fault;
mod functions;
mod host;
mod keys;
mod manual;
mod register;
mod sum;
mod table;
mod threads;
mod whole;
