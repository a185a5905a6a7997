//! `he_functions()`: a table that documents every function.
//!
//! DuckDB's C interface cannot attach comments for `duckdb_functions()`, and `COMMENT ON` rejects
//! functions of extensions. The extension therefore provides its own table.

use std::ffi::CStr;
use std::sync::atomic::{AtomicUsize, Ordering};

use libduckdb_sys as ffi;

use crate::chunk::Output;
use crate::fault::Fault;
use crate::register::{Registrar, Type, catch_panic, owned, succeeded};

const NAME: &CStr = c"he_functions";

/// The table's columns.
const COLUMNS: [&CStr; 5] = [c"name", c"arguments", c"result", c"comment", c"alias_of"];

/// A function: its name, arguments, result and description, and the function that it is an alias
/// of.
type Entry = [&'static str; 5];

const ENTRIES: [Entry; 15] = [
    [
        "he_load_key",
        "path VARCHAR",
        "VARCHAR",
        "loads a public key, from a file or as JSON, for all connections of the database; returns its id",
        "",
    ],
    ["he_unload_key", "id VARCHAR", "VARCHAR", "unloads a key; returns NULL if it was not loaded", ""],
    [
        "he_key_id",
        "[c BLOB]",
        "VARCHAR",
        "the id of the loaded key; with c, of the loaded key under which c could be a ciphertext",
        "",
    ],
    [
        "he_sum",
        "c BLOB [, key VARCHAR]",
        "BLOB",
        "aggregate: the ciphertext of the sum of all non-NULL values; not randomised",
        "",
    ],
    [
        "he_avg",
        "c BLOB [, key VARCHAR]",
        "STRUCT(sum BLOB, count BIGINT)",
        "aggregate: the exact mean: the ciphertext of the sum, and the count to divide it by after decryption",
        "",
    ],
    ["he_mean", "c BLOB [, key VARCHAR]", "STRUCT(sum BLOB, count BIGINT)", "another name for he_avg", "he_avg"],
    [
        "he_add",
        "a BLOB, b BLOB or integer [, key VARCHAR]",
        "BLOB",
        "the ciphertext of the sum of two ciphertexts, or of a ciphertext and an integer; not randomised",
        "",
    ],
    [
        "he_multiply",
        "c BLOB, k integer or BOOLEAN [, key VARCHAR]",
        "BLOB",
        "the ciphertext of the product with an integer; its time depends only on the integer's type; not randomised",
        "",
    ],
    ["he_mul", "c BLOB, k integer or BOOLEAN [, key VARCHAR]", "BLOB", "another name for he_multiply", "he_multiply"],
    ["he_rerandomise", "c BLOB [, key VARCHAR]", "BLOB", "another ciphertext of the same number", ""],
    ["he_rerandomize", "c BLOB [, key VARCHAR]", "BLOB", "another name for he_rerandomise", "he_rerandomise"],
    [
        "he_decrypt",
        "c BLOB",
        "HUGEINT",
        "the integer, decrypted with the private key file in the setting hearith_private_key",
        "",
    ],
    [
        "he_bfv_sum",
        "files VARCHAR [, key VARCHAR] [, by LIST] [, weight VARCHAR] [, condition VARCHAR]",
        "TABLE",
        "totals of the BFV columns of Parquet files, grouped by unencrypted columns",
        "",
    ],
    [
        "he_bfv_decrypt",
        "t BLOB",
        "HUGEINT",
        "the integer of a total of he_bfv_sum, decrypted with the private key file in the setting hearith_private_key",
        "",
    ],
    ["he_functions", "", "TABLE", "this table", ""],
];

impl Registrar {
    /// Registers the table.
    pub(crate) fn function_docs(&self) -> Result<(), Fault> {
        // SAFETY: every handle is created here and destroyed once.
        let state = unsafe {
            let mut function = ffi::duckdb_create_table_function();
            ffi::duckdb_table_function_set_name(function, NAME.as_ptr());
            ffi::duckdb_table_function_set_bind(function, Some(bind));
            ffi::duckdb_table_function_set_init(function, Some(init));
            ffi::duckdb_table_function_set_function(function, Some(fill));
            let state = ffi::duckdb_register_table_function(self.0, function);
            ffi::duckdb_destroy_table_function(&mut function);
            state
        };
        succeeded(state, "a table function")
    }
}

/// Declares the columns.
///
/// # Safety
/// DuckDB calls this when it binds a query with the table.
unsafe extern "C" fn bind(info: ffi::duckdb_bind_info) {
    for name in COLUMNS {
        // SAFETY: the call's information is alive. The type is created and destroyed here, and
        // DuckDB copies the name.
        unsafe {
            let mut kind = Type::Varchar.create();
            ffi::duckdb_bind_add_result_column(info, name.as_ptr(), kind);
            ffi::duckdb_destroy_logical_type(&mut kind);
        }
    }
}

/// Starts at the first row.
///
/// # Safety
/// DuckDB calls this once per query.
unsafe extern "C" fn init(info: ffi::duckdb_init_info) {
    let (next, dropper) = owned(AtomicUsize::new(0));
    // SAFETY: the call's information is alive, and drops the value once.
    unsafe { ffi::duckdb_init_set_init_data(info, next, dropper) }
}

/// Returns all rows in the first call, and none in the second.
///
/// # Safety
/// DuckDB calls this with a chunk of the declared columns to fill.
unsafe extern "C" fn fill(info: ffi::duckdb_function_info, output: ffi::duckdb_data_chunk) {
    // SAFETY: the query's data is the counter that `init` created. The chunk can hold 2048 rows of
    // each column.
    unsafe {
        let run = || {
            let next = &*ffi::duckdb_function_get_init_data(info).cast::<AtomicUsize>();
            let rows = if next.fetch_add(1, Ordering::Relaxed) == 0 { &ENTRIES[..] } else { &[] };
            for column in 0..COLUMNS.len() {
                let mut vector = Output::new(ffi::duckdb_data_chunk_get_vector(output, column as ffi::idx_t), 0);
                for (row, entry) in rows.iter().enumerate() {
                    match entry[column] {
                        "" if COLUMNS[column] == c"alias_of" => vector.set_null(row),
                        text => vector.set_bytes(row, text.as_bytes()),
                    }
                }
            }
            ffi::duckdb_data_chunk_set_size(output, rows.len() as ffi::idx_t);
            Ok(())
        };
        catch_panic(NAME, run, |text| ffi::duckdb_function_set_error(info, text.as_ptr()));
    }
}
