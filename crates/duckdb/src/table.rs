//! Registration of the table function `he_bfv_sum` with DuckDB, and the callbacks that call
//! [`Sum`].

use std::ffi::{CStr, CString};
use std::sync::{Mutex, PoisonError};

use libduckdb_sys as ffi;

use crate::bfv_sum::{Request, Rows, Sum};
use crate::chunk::Output;
use crate::duckdb_api::{Context, Value};
use crate::fault::Fault;
use crate::keys::Keys;
use crate::register::{Registrar, Type, catch_panic, owned, succeeded};
use crate::threads::spread;

const NAME: &CStr = c"he_bfv_sum";
const KEY: &CStr = c"key";
const BY: &CStr = c"by";
const WEIGHT: &CStr = c"weight";
const CONDITION: &CStr = c"condition";

/// The state of the callbacks: the request until the query runs, then its rows.
struct State(Mutex<Option<Sum>>);

impl Registrar {
    /// Registers `he_bfv_sum`.
    pub(crate) fn bfv_sum(&self, keys: &Keys) -> Result<(), Fault> {
        // SAFETY: every handle is created here and destroyed once.
        let state = unsafe {
            let mut function = ffi::duckdb_create_table_function();
            ffi::duckdb_table_function_set_name(function, NAME.as_ptr());
            let mut text = Type::Varchar.create();
            let mut texts = ffi::duckdb_create_list_type(text);
            ffi::duckdb_table_function_add_parameter(function, text);
            for (name, kind) in [(KEY, text), (BY, texts), (WEIGHT, text), (CONDITION, text)] {
                ffi::duckdb_table_function_add_named_parameter(function, name.as_ptr(), kind);
            }
            ffi::duckdb_destroy_logical_type(&mut texts);
            ffi::duckdb_destroy_logical_type(&mut text);
            let (extra, dropper) = owned(keys.clone());
            ffi::duckdb_table_function_set_extra_info(function, extra, dropper);
            ffi::duckdb_table_function_set_bind(function, Some(bind));
            ffi::duckdb_table_function_set_init(function, Some(init));
            ffi::duckdb_table_function_set_function(function, Some(fill));
            let state = ffi::duckdb_register_table_function(self.0, function);
            ffi::duckdb_destroy_table_function(&mut function);
            state
        };
        succeeded(state, "the table function he_bfv_sum")
    }
}

/// Reads the arguments and the file's description.
///
/// # Safety
/// DuckDB calls this with the data of one query of the function registered above.
unsafe extern "C" fn bind(info: ffi::duckdb_bind_info) {
    // SAFETY: the extra information is `Keys`. The context, the arguments and the types are owned
    // here and destroyed.
    unsafe {
        let run = || {
            let keys = &*ffi::duckdb_bind_get_extra_info(info).cast::<Keys>();
            let mut context = std::ptr::null_mut();
            ffi::duckdb_table_function_get_client_context(info, &mut context);
            if context.is_null() {
                return Err(Fault::Host("access to the session"));
            }
            let context = Context::new(context);
            let named = |name: &CStr| Value::new(ffi::duckdb_bind_get_named_parameter(info, name.as_ptr()));
            let text = |name: &CStr| named(name).and_then(|value| value.text());
            let path = Value::new(ffi::duckdb_bind_get_parameter(info, 0)).and_then(|value| value.text());
            let request = Request {
                path: path.ok_or(Fault::NoArgument("a file"))?,
                key: text(KEY).ok_or(Fault::NoArgument("key := 'public.json'"))?,
                by: named(BY).map(|value| value.texts()).unwrap_or_default(),
                weight: text(WEIGHT),
                condition: text(CONDITION),
            };
            let sum = spread(|| Sum::prepare(&context, keys.engine(), request))?;
            for (name, kind) in sum.columns() {
                let name = CString::new(name).map_err(|_| Fault::Host("a column whose name holds a zero"))?;
                let mut kind = kind.create();
                ffi::duckdb_bind_add_result_column(info, name.as_ptr(), kind);
                ffi::duckdb_destroy_logical_type(&mut kind);
            }
            let (state, dropper) = owned(State(Mutex::new(Some(sum))));
            ffi::duckdb_bind_set_bind_data(info, state, dropper);
            Ok(())
        };
        catch_panic(NAME, run, |text| ffi::duckdb_bind_set_error(info, text.as_ptr()));
    }
}

/// Computes the sums.
///
/// # Safety
/// DuckDB calls this once per query, after [`bind`].
unsafe extern "C" fn init(info: ffi::duckdb_init_info) {
    // SAFETY: the bind data is a `State`.
    unsafe {
        let run = || {
            let state = &*ffi::duckdb_init_get_bind_data(info).cast::<State>();
            let sum = state.0.lock().unwrap_or_else(PoisonError::into_inner).take();
            let sum = sum.ok_or(Fault::Host("a query that runs again"))?;
            let rows = spread(|| sum.compute())?;
            ffi::duckdb_init_set_max_threads(info, 1);
            let (rows, dropper) = owned(Mutex::new(rows));
            ffi::duckdb_init_set_init_data(info, rows, dropper);
            Ok(())
        };
        catch_panic(NAME, run, |text| ffi::duckdb_init_set_error(info, text.as_ptr()));
    }
}

/// Returns the next rows, or none at the end.
///
/// # Safety
/// DuckDB calls this after [`init`], with a chunk of the columns that [`bind`] declared.
unsafe extern "C" fn fill(info: ffi::duckdb_function_info, chunk: ffi::duckdb_data_chunk) {
    // SAFETY: the initial state is a `Mutex<Rows>`. The chunk's vectors outlive the call.
    unsafe {
        let run = || {
            let rows = &*ffi::duckdb_function_get_init_data(info).cast::<Mutex<Rows>>();
            let columns = ffi::duckdb_data_chunk_get_column_count(chunk);
            let output = |column| Output::new(ffi::duckdb_data_chunk_get_vector(chunk, column), 0);
            let mut outputs: Vec<Output<'_>> = (0..columns).map(output).collect();
            let capacity = ffi::duckdb_vector_size() as usize;
            let count = rows.lock().unwrap_or_else(PoisonError::into_inner).write(&mut outputs, capacity);
            ffi::duckdb_data_chunk_set_size(chunk, count as ffi::idx_t);
            Ok(())
        };
        catch_panic(NAME, run, |text| ffi::duckdb_function_set_error(info, text.as_ptr()));
    }
}
