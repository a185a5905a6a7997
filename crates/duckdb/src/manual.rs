//! `he_functions()`: what every function does, as a table.
//!
//! DuckDB's C interface gives functions no comments for `duckdb_functions()`, and `COMMENT ON`
//! refuses what extensions register, so the extension brings a table of its own.

use std::ffi::CStr;
use std::sync::atomic::{AtomicUsize, Ordering};

use libduckdb_sys as ffi;

use crate::chunk::Output;
use crate::fault::Fault;
use crate::register::{Registrar, Type, guarded, owned, succeeded};

const NAME: &CStr = c"he_functions";

/// The table's columns.
const COLUMNS: [&CStr; 5] = [c"name", c"arguments", c"result", c"comment", c"alias_of"];

/// A function: name, arguments, result, what it does, and the function that it is another name for.
type Entry = [&'static str; 5];

const ENTRIES: [Entry; 15] = [
    [
        "he_load_key",
        "path VARCHAR",
        "VARCHAR",
        "loads a public key, from a file or as JSON itself, for all connections of the database; its id",
        "",
    ],
    ["he_unload_key", "id VARCHAR", "VARCHAR", "forgets a key; NULL if it was not loaded", ""],
    ["he_key_id", "[c BLOB]", "VARCHAR", "id of the loaded key, or of that which c may be a ciphertext of", ""],
    [
        "he_sum",
        "c BLOB [, key VARCHAR]",
        "BLOB",
        "aggregate: the ciphertext of the sum of all values that are not NULL; not randomised",
        "",
    ],
    [
        "he_avg",
        "c BLOB [, key VARCHAR]",
        "STRUCT(sum BLOB, count BIGINT)",
        "aggregate: the mean, exactly: the ciphertext of the sum, to be decrypted and divided by the count",
        "",
    ],
    ["he_mean", "c BLOB [, key VARCHAR]", "STRUCT(sum BLOB, count BIGINT)", "another name for he_avg", "he_avg"],
    [
        "he_add",
        "a BLOB, b BLOB or integer [, key VARCHAR]",
        "BLOB",
        "the ciphertext of the sum of two, or of one and a plain integer; not randomised",
        "",
    ],
    [
        "he_multiply",
        "c BLOB, k integer or BOOLEAN [, key VARCHAR]",
        "BLOB",
        "the ciphertext of the multiple by an integer, in a time that depends on its type alone; not randomised",
        "",
    ],
    ["he_mul", "c BLOB, k integer or BOOLEAN [, key VARCHAR]", "BLOB", "another name for he_multiply", "he_multiply"],
    ["he_rerandomise", "c BLOB [, key VARCHAR]", "BLOB", "another ciphertext of the same number", ""],
    ["he_rerandomize", "c BLOB [, key VARCHAR]", "BLOB", "another name for he_rerandomise", "he_rerandomise"],
    [
        "he_decrypt",
        "c BLOB",
        "HUGEINT",
        "the integer, with the private key whose file the setting hearith_private_key names",
        "",
    ],
    [
        "he_bfv_sum",
        "files VARCHAR [, key VARCHAR] [, by LIST] [, weight VARCHAR] [, condition VARCHAR]",
        "TABLE",
        "totals of the columns of Parquet files that are encrypted whole, by groups of its plain columns",
        "",
    ],
    [
        "he_bfv_decrypt",
        "t BLOB",
        "HUGEINT",
        "the integer of such a total, with the private key whose file the setting hearith_private_key names",
        "",
    ],
    ["he_functions", "", "TABLE", "this table", ""],
];

impl Registrar {
    /// Registers the table.
    pub(crate) fn manual(&self) -> Result<(), Fault> {
        // SAFETY: every handle is made here and given back once.
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

/// Says which columns there are.
///
/// # Safety
/// DuckDB calls this when a query with the table is bound.
unsafe extern "C" fn bind(info: ffi::duckdb_bind_info) {
    for name in COLUMNS {
        // SAFETY: the call's information lives; the type is made here and given back; DuckDB copies
        // the name.
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
/// DuckDB calls this once a query.
unsafe extern "C" fn init(info: ffi::duckdb_init_info) {
    let (next, dropper) = owned(AtomicUsize::new(0));
    // SAFETY: the call's information lives, and drops the value once.
    unsafe { ffi::duckdb_init_set_init_data(info, next, dropper) }
}

/// Gives all rows at once, and none the second time.
///
/// # Safety
/// DuckDB calls this with a chunk of the columns above to be filled.
unsafe extern "C" fn fill(info: ffi::duckdb_function_info, output: ffi::duckdb_data_chunk) {
    // SAFETY: the query's data are the number that `init` made; the chunk has room for 2048 rows of
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
        guarded(NAME, run, |text| ffi::duckdb_function_set_error(info, text.as_ptr()));
    }
}
