//! Sums of BFV columns: `he_bfv_sum` over a file, and `he_bfv_decrypt`.

use std::ffi::CStr;
use std::fs;
use std::path::Path;

use arrow_array::cast::AsArray;
use arrow_array::types::{Int64Type, UInt64Type};
use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_cast::cast;
use arrow_schema::{DataType, SchemaRef};
use hearith_bfv::{PrivateKey, PublicKey, Total};
use hearith_columns::lattice::LatticeAggregator;
use hearith_columns::parquet::ParquetReader;
use hearith_columns::{Partitions, Predicate};
use hearith_paillier::{Engine, KeyKind, SecretText};

use crate::chunk::{Chunk, Output};
use crate::duckdb_api::Context;
use crate::fault::Fault;
use crate::functions::{PRIVATE_KEY, opened, present};
use crate::keys::Keys;
use crate::register::Type;

/// The request for a sum.
pub(crate) struct Request {
    pub(crate) path: String,
    pub(crate) key: String,
    pub(crate) by: Vec<String>,
    pub(crate) weight: Option<String>,
    pub(crate) condition: Option<String>,
}

/// A sum over files that is not computed yet.
pub(crate) struct Sum {
    files: Vec<File>,
    totals: LatticeAggregator,
    condition: Option<Predicate>,
}

/// A file, with the columns from its folder names.
struct File {
    path: String,
    source: ParquetReader,
    partitions: Partitions,
}

impl File {
    /// Opens the file, if the database allows the session to read it.
    fn open(context: &Context, path: String) -> Result<Self, Fault> {
        context.check_open(&path)?;
        let opened = fs::File::open(&path).map_err(hearith_columns::Error::from).and_then(ParquetReader::open);
        let source = opened.map_err(|error| table(&path, &error))?;
        let partitions = Partitions::of(Path::new(&path), &source.schema());
        Ok(Self { path, source, partitions })
    }

    fn schema(&self) -> SchemaRef {
        self.partitions.schema(&self.source.schema())
    }
}

/// DuckDB's setting that lets sessions read files.
const EXTERNAL_ACCESS: &CStr = c"enable_external_access";
/// Rows per batch.
const BATCH_ROWS: usize = 1 << 16;

impl Sum {
    /// Opens the files, if the database allows the session to read them.
    pub(crate) fn prepare(context: &Context, engine: Engine, request: Request) -> Result<Self, Fault> {
        let Request { path, key, by, weight, condition } = request;
        let public = public_key(context, engine, key)?;
        let files = matching(context, path)?.into_iter().map(|path| File::open(context, path));
        let files = files.collect::<Result<Vec<_>, _>>()?;
        let first = &files[0];
        let totals = LatticeAggregator::new(&public, &first.schema(), &by, weight.as_deref());
        let totals = totals.map_err(|error| table(&first.path, &error))?;
        let condition = condition.map(|text| text.parse::<Predicate>()).transpose();
        let condition =
            condition.map_err(|error| Fault::Table { path: first.path.clone(), reason: error.to_string() })?;
        Ok(Self { files, totals, condition })
    }

    /// The names and types of the result's columns.
    pub(crate) fn columns(&self) -> Vec<(String, Type)> {
        let schema = self.totals.schema();
        schema.fields().iter().map(|field| (field.name().clone(), type_of(field.data_type()))).collect()
    }

    /// Sums the rows of all files.
    pub(crate) fn compute(self) -> Result<Rows, Fault> {
        let Self { files, mut totals, condition } = self;
        let mut last = String::new();
        for file in files {
            last.clone_from(&file.path);
            add(&mut totals, file, condition.as_ref()).map_err(|error| table(&last, &error))?;
        }
        totals.finish_with(0).and_then(|released| Rows::new(&released.batch)).map_err(|error| table(&last, &error))
    }
}

/// Reads a public key file. Private keys are rejected, because nothing here needs one.
fn public_key(context: &Context, engine: Engine, path: String) -> Result<PublicKey, Fault> {
    let text = context.read_long(&path, hearith_bfv::MAX_KEY_TEXT)?;
    if text.kind() != KeyKind::Public {
        return Err(Fault::PrivateFile { function: "he_bfv_sum", path });
    }
    PublicKey::from_text(text.as_str(), engine).map_err(|error| Fault::LatticeKey { path, error })
}

/// Adds the rows of a file.
fn add(
    totals: &mut LatticeAggregator,
    mut file: File,
    condition: Option<&Predicate>,
) -> Result<(), hearith_columns::Error> {
    let schema = file.schema();
    let bound = condition.map(|condition| condition.bind(&schema)).transpose()?;
    let mut needed = totals.needed(&schema);
    needed.extend(condition.into_iter().flat_map(Predicate::columns).map(str::to_owned));
    totals.begin(&schema)?;
    let mut rows = 0;
    for batch in file.source.batches(BATCH_ROWS, Some(&needed))? {
        let batch = file.partitions.batch(&batch?)?;
        let mask = bound.as_ref().map(|bound| bound.evaluate(&batch)).transpose();
        let mask = mask.map_err(|error| error.offset_rows(rows))?;
        totals.update(&batch, mask.as_ref()).map_err(|error| error.offset_rows(rows))?;
        rows += batch.num_rows() as u64;
    }
    totals.end()
}

/// The files that match a pattern, in ascending order. A name without `*`, `?` and `[` denotes one
/// file.
///
/// If the database denies sessions access to files, the pattern is not expanded, since this would
/// reveal whether a file exists.
fn matching(context: &Context, path: String) -> Result<Vec<String>, Fault> {
    if !path.contains(['*', '?', '[']) || !context.is_on(EXTERNAL_ACCESS) {
        return Ok(vec![path]);
    }
    let fault = |reason: String| Fault::Table { path: path.clone(), reason };
    let mut found = Vec::new();
    for entry in glob::glob(&path).map_err(|error| fault(error.to_string()))? {
        let file = entry.map_err(|error| fault(error.to_string()))?;
        let name = file.into_os_string().into_string();
        found.push(name.map_err(|name| fault(format!("the file name {} is not UTF-8", name.to_string_lossy())))?);
    }
    if found.is_empty() { Err(fault("no file matches".into())) } else { Ok(found) }
}

fn table(path: &str, error: &hearith_columns::Error) -> Fault {
    Fault::Table { path: path.to_owned(), reason: error.to_string() }
}

/// The rows of a result, and the number of rows already returned.
pub(crate) struct Rows {
    columns: Vec<ArrayRef>,
    count: usize,
    next: usize,
}

impl Rows {
    fn new(batch: &RecordBatch) -> Result<Self, hearith_columns::Error> {
        let plain = |array: &ArrayRef| {
            cast(
                array,
                match type_of(array.data_type()) {
                    Type::Blob => &DataType::Binary,
                    Type::BigInt => &DataType::Int64,
                    Type::HugeInt => &DataType::UInt64,
                    _ => &DataType::Utf8,
                },
            )
        };
        let columns = batch.columns().iter().map(plain).collect::<Result<_, _>>()?;
        Ok(Self { columns, count: batch.num_rows(), next: 0 })
    }

    /// Writes up to `capacity` more rows, one vector per column. Returns their number.
    ///
    /// # Safety
    /// The vectors must have the types of [`Sum::columns`] and capacity for `capacity` rows.
    pub(crate) unsafe fn write(&mut self, outputs: &mut [Output<'_>], capacity: usize) -> usize {
        let count = capacity.min(self.count - self.next);
        for (array, output) in self.columns.iter().zip(outputs) {
            for row in 0..count {
                let from = self.next + row;
                if array.is_null(from) {
                    output.set_null(row);
                    continue;
                }
                // SAFETY: guaranteed by the caller; the vector's type matches that of the array.
                unsafe {
                    match array.data_type() {
                        DataType::Binary => output.set_bytes(row, array.as_binary::<i32>().value(from)),
                        DataType::Int64 => output.set_long(row, array.as_primitive::<Int64Type>().value(from)),
                        DataType::UInt64 => {
                            output.set_integer(row, array.as_primitive::<UInt64Type>().value(from).into());
                        }
                        _ => output.set_bytes(row, array.as_string::<i32>().value(from).as_bytes()),
                    }
                }
            }
        }
        self.next += count;
        count
    }
}

/// Integer group columns remain integers. All others become text.
fn type_of(kind: &DataType) -> Type {
    match kind {
        DataType::Binary => Type::Blob,
        DataType::UInt64 => Type::HugeInt,
        kind if kind.is_integer() => Type::BigInt,
        _ => Type::Varchar,
    }
}

/// `he_bfv_decrypt(total)`: fills a column of `HUGEINT`.
pub(crate) fn bfv_decrypt(
    keys: &Keys,
    context: &Context,
    chunk: &Chunk<'_>,
    output: &mut Output<'_>,
) -> Result<(), Fault> {
    let rows = present(chunk, 1, output);
    let values = chunk.column(0).ok_or(Fault::Host("the number of arguments"))?;
    if rows.is_empty() {
        return Ok(());
    }
    let path = context.text(PRIVATE_KEY).ok_or(Fault::NoPrivateKey)?;
    let text: SecretText = opened(context, &path, context.read(&path)?)?;
    if text.kind() == KeyKind::Public {
        return Err(Fault::NoPrivateKey);
    }
    let key = PrivateKey::from_text(text.as_str(), keys.engine()).map_err(|error| Fault::LatticeKey { path, error })?;
    for row in rows {
        let total = Total::from_bytes(values.bytes(row).unwrap_or_default(), key.public())?;
        // SAFETY: the function's result is HUGEINT, with the rows of its arguments.
        unsafe { output.set_integer(row, key.decrypt_total(&total)?) };
    }
    Ok(())
}
