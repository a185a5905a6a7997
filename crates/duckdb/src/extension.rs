//! The entry point that DuckDB calls when it loads the extension.

use std::ffi::CStr;
use std::sync::Arc;

use libduckdb_sys as ffi;

use crate::aggregate::Outcome;
use crate::bfv_sum::bfv_decrypt;
use crate::fault::Fault;
use crate::functions::{
    ANY_RANDOMISER, INSECURE, PASSPHRASE, PRIVATE_KEY, add, decrypt, key_id, load_key, multiply, rerandomise,
    unload_key,
};
use crate::keys::Keys;
use crate::register::{Body, Registrar, Scalar, Type, catch_panic};

/// The version of the C API whose stable functions are used. Older DuckDB versions reject the
/// extension.
const API_VERSION: &str = "v1.5.6";

use Type::{BigInt, Blob, Boolean, Double, HugeInt, Integer, SmallInt, TinyInt, Varchar};

/// Signatures with a ciphertext, an integer and an optional key.
const WITH_INTEGERS: [&[Type]; 10] = [
    &[Blob, TinyInt],
    &[Blob, SmallInt],
    &[Blob, Integer],
    &[Blob, BigInt],
    &[Blob, HugeInt],
    &[Blob, TinyInt, Varchar],
    &[Blob, SmallInt, Varchar],
    &[Blob, Integer, Varchar],
    &[Blob, BigInt, Varchar],
    &[Blob, HugeInt, Varchar],
];

/// Signatures with two ciphertexts, or a ciphertext and an integer.
const SUMS: [&[Type]; 12] = {
    let mut all: [&[Type]; 12] = [&[Blob, Blob, Varchar]; 12];
    all[0] = &[Blob, Blob];
    let mut index = 0;
    while index < WITH_INTEGERS.len() {
        all[index + 2] = WITH_INTEGERS[index];
        index += 1;
    }
    all
};

/// Signatures with a ciphertext and a factor. DuckDB also converts DECIMAL, FLOAT, UHUGEINT and
/// BIGNUM to DOUBLE; that overload exists to reject them by name.
const PRODUCTS: [&[Type]; 14] = {
    let mut all: [&[Type]; 14] = [&[Blob, Boolean]; 14];
    all[1] = &[Blob, Boolean, Varchar];
    all[2] = &[Blob, Double];
    all[3] = &[Blob, Double, Varchar];
    let mut index = 0;
    while index < WITH_INTEGERS.len() {
        all[index + 4] = WITH_INTEGERS[index];
        index += 1;
    }
    all
};

/// A scalar function of ciphertexts and keys.
const fn function<'a>(
    names: &'a [&'static CStr],
    overloads: &'a [&'a [Type]],
    result: Type,
    body: Body,
    volatile: bool,
) -> Scalar<'a> {
    Scalar { names, overloads, result, body, volatile }
}

const SCALARS: [Scalar<'static>; 8] = [
    function(&[c"he_load_key"], &[&[Varchar]], Varchar, Body::Context(load_key), true),
    function(&[c"he_unload_key"], &[&[Varchar]], Varchar, Body::Keys(unload_key), true),
    function(&[c"he_add"], &SUMS, Blob, Body::Keys(add), false),
    function(&[c"he_multiply", c"he_mul"], &PRODUCTS, Blob, Body::Keys(multiply), false),
    function(
        &[c"he_rerandomise", c"he_rerandomize"],
        &[&[Blob], &[Blob, Varchar]],
        Blob,
        Body::Keys(rerandomise),
        true,
    ),
    // The loaded keys may change between two calls.
    function(&[c"he_key_id"], &[&[], &[Blob]], Varchar, Body::Keys(key_id), true),
    function(&[c"he_bfv_decrypt"], &[&[Blob]], HugeInt, Body::Context(bfv_decrypt), false),
    function(&[c"he_decrypt"], &[&[Blob]], HugeInt, Body::Private(decrypt), false),
];

const AGGREGATES: [(&CStr, Outcome); 3] =
    [(c"he_sum", Outcome::Sum), (c"he_avg", Outcome::SumAndCount), (c"he_mean", Outcome::SumAndCount)];

fn register(database: ffi::duckdb_database) -> Result<(), Fault> {
    let (engine, cards) = hearith_cuda::engine(None).map_err(|error| Fault::Card(Arc::new(error)))?;
    let keys = Keys::new(engine, cards);
    // SAFETY: DuckDB passed this open database to be extended.
    let registrar = unsafe { Registrar::connect(database)? };
    registrar.setting(PRIVATE_KEY, Varchar, c"the private key file that he_decrypt uses")?;
    registrar.setting(
        PASSPHRASE,
        Varchar,
        c"the file whose first line is the passphrase of an encrypted private key",
    )?;
    registrar.setting(INSECURE, Boolean, c"whether he_load_key and he_decrypt accept insecure keys, for tests")?;
    let any = c"whether he_decrypt accepts foreign rows under a subgroup key, which is several times slower";
    registrar.setting(ANY_RANDOMISER, Boolean, any)?;
    SCALARS.iter().try_for_each(|&scalar| registrar.scalar(&keys, scalar))?;
    AGGREGATES.iter().try_for_each(|&(name, outcome)| registrar.aggregate(name, &keys, outcome))?;
    registrar.bfv_sum(&keys)?;
    registrar.function_docs()
}

/// Registers functions and settings. Returns whether this succeeded.
///
/// # Safety
/// DuckDB calls this when it loads the extension, with its own structures.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hearith_init_c_api(
    info: ffi::duckdb_extension_info,
    access: *const ffi::duckdb_extension_access,
) -> bool {
    let mut done = false;
    // SAFETY: guaranteed by DuckDB. The function table is filled before any of its functions is
    // called.
    unsafe {
        let set_error = (*access).set_error;
        let run = || {
            let ready = ffi::duckdb_rs_extension_api_init(info, access, API_VERSION);
            // If the table is missing, DuckDB has recorded the reason.
            if ready != Ok(true) {
                return Ok(());
            }
            let get_database = (*access).get_database.ok_or(Fault::Host("access to the database"))?;
            let database = get_database(info);
            if database.is_null() {
                return Err(Fault::Host("access to the database"));
            }
            register(*database)?;
            done = true;
            Ok(())
        };
        catch_panic(c"hearith", run, |text| {
            if let Some(set_error) = set_error {
                set_error(info, text.as_ptr());
            }
        });
    }
    done
}
