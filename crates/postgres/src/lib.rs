//! A PostgreSQL extension with a type for encrypted numbers. The server computes their sums and
//! multiples without the private key, which it never has.
//!
//! `sql/hearith--VERSION.sql` declares the SQL interface. This crate is its C side:
//!
//! - [`call`]: the calling convention
//! - [`value`]: the type
//! - [`keys`]: the public keys
//! - [`scalar`]: functions of single numbers
//! - [`aggregate`]: sums
//! - [`memory`]: behaviour when memory runs out

mod aggregate;
mod call;
mod fault;
mod kernel;
mod keys;
mod memory;
mod scalar;
mod state;
mod value;

use pgrx::prelude::*;

::pgrx::pg_module_magic!();

/// PostgreSQL calls this when a backend loads the library.
#[pg_guard]
pub extern "C-unwind" fn _PG_init() {
    keys::init();
}

call::functions! {
    pg_finfo_hearith_in, hearith_in => scalar::input;
    pg_finfo_hearith_out, hearith_out => scalar::output;
    pg_finfo_hearith_recv, hearith_recv => scalar::receive;
    pg_finfo_hearith_send, hearith_send => scalar::send;
    pg_finfo_hearith_from_bytea, hearith_from_bytea => scalar::from_bytea;
    pg_finfo_hearith_to_bytea, hearith_to_bytea => scalar::send;
    pg_finfo_hearith_key_id, hearith_key_id => scalar::key_id;
    pg_finfo_hearith_scale, hearith_scale => scalar::scale;
    pg_finfo_hearith_additions, hearith_additions => scalar::additions;
    pg_finfo_hearith_headroom, hearith_headroom => scalar::headroom;
    pg_finfo_hearith_add, hearith_add => scalar::add;
    pg_finfo_hearith_subtract, hearith_subtract => scalar::subtract;
    pg_finfo_hearith_negate, hearith_negate => scalar::negate;
    pg_finfo_hearith_add_smallint, hearith_add_smallint => scalar::add_smallint;
    pg_finfo_hearith_add_integer, hearith_add_integer => scalar::add_integer;
    pg_finfo_hearith_add_bigint, hearith_add_bigint => scalar::add_bigint;
    pg_finfo_hearith_add_numeric, hearith_add_numeric => scalar::add_numeric;
    pg_finfo_hearith_multiply_smallint, hearith_multiply_smallint => scalar::multiply_smallint;
    pg_finfo_hearith_multiply_integer, hearith_multiply_integer => scalar::multiply_integer;
    pg_finfo_hearith_multiply_bigint, hearith_multiply_bigint => scalar::multiply_bigint;
    pg_finfo_hearith_multiply_numeric, hearith_multiply_numeric => scalar::multiply_numeric;
    pg_finfo_hearith_rerandomise, hearith_rerandomise => scalar::rerandomise;
    pg_finfo_hearith_is_not_private, hearith_is_not_private => scalar::is_not_private;
    pg_finfo_hearith_read_key, hearith_read_key => scalar::read_key;
    pg_finfo_hearith_keys_changed, hearith_keys_changed => keys::changed;
    pg_finfo_hearith_sum_step, hearith_sum_step => aggregate::step;
    pg_finfo_hearith_sum_remove, hearith_sum_remove => aggregate::remove;
    pg_finfo_hearith_sum_combine, hearith_sum_combine => aggregate::combine;
    pg_finfo_hearith_sum_serialise, hearith_sum_serialise => aggregate::serialise;
    pg_finfo_hearith_sum_deserialise, hearith_sum_deserialise => aggregate::deserialise;
    pg_finfo_hearith_sum_final, hearith_sum_final => aggregate::sum;
    pg_finfo_hearith_mean_final, hearith_mean_final => aggregate::mean;
}
