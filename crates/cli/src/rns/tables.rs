//! Residues as columns of a table: `r0`, `r1`, ..., one per modulus.

use std::collections::HashMap;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{UInt32Type, UInt64Type};
use arrow_array::{Array, ArrayRef, RecordBatch, UInt32Array, UInt64Array};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use hearith_columns::csv::CellFormatter;
use hearith_rns::Residues;

use crate::failure::CliError;

/// The metadata key of a column's modulus, in decimal.
const MODULUS: &str = "hearith.rns.modulus";

/// The columns for residues: 32 bits wide if the modulus allows it, otherwise 64.
pub(super) fn schema(moduli: &[u64]) -> SchemaRef {
    let field = |(index, &modulus): (usize, &u64)| {
        let kind = if fits(modulus) { DataType::UInt32 } else { DataType::UInt64 };
        let metadata = HashMap::from([(MODULUS.to_owned(), modulus.to_string())]);
        Field::new(format!("r{index}"), kind, false).with_metadata(metadata)
    };
    Arc::new(Schema::new(moduli.iter().enumerate().map(field).collect::<Vec<_>>()))
}

/// Whether residues fit into 32 bits.
fn fits(modulus: u64) -> bool {
    modulus <= 1 << 32
}

/// Converts residues to a batch of the schema.
pub(super) fn batch(schema: SchemaRef, residues: &Residues) -> Result<RecordBatch, CliError> {
    let column = |(&modulus, column): (&u64, &[u64])| -> ArrayRef {
        match fits(modulus) {
            true => Arc::new(UInt32Array::from_iter_values(column.iter().map(|&residue| residue as u32))),
            false => Arc::new(UInt64Array::from_iter_values(column.iter().copied())),
        }
    };
    let columns = residues.moduli().iter().zip(residues.columns()).map(column).collect();
    RecordBatch::try_new(schema, columns).map_err(CliError::new)
}

/// The moduli in a table's metadata, if it has any.
pub(super) fn moduli(name: &str, schema: &Schema) -> Result<Option<Vec<u64>>, CliError> {
    let text = |field: &Arc<Field>| field.metadata().get(MODULUS).cloned();
    if schema.fields().iter().all(|field| text(field).is_none()) {
        return Ok(None);
    }
    let modulus = |field: &Arc<Field>| {
        let modulus = text(field).and_then(|text| text.parse().ok());
        modulus.ok_or_else(|| CliError::at(name, format!("column {}: its metadata names no modulus", field.name())))
    };
    schema.fields().iter().map(modulus).collect::<Result<_, _>>().map(Some)
}

/// Checks that there is one column for each modulus.
pub(super) fn check(name: &str, schema: &Schema, moduli: &[u64]) -> Result<(), CliError> {
    let columns = schema.fields().len();
    if columns != moduli.len() {
        let what = format!("{columns} columns for {} moduli (--primes, or the options that choose them)", moduli.len());
        return Err(CliError::at(name, what));
    }
    let misplaced = schema.fields().iter().enumerate().find(|(index, field)| *field.name() != format!("r{index}"));
    match misplaced {
        None => Ok(()),
        Some((index, field)) => Err(CliError::at(name, format!("column {}: should be r{index}", field.name()))),
    }
}

/// Reads the residues of a table from numbers or text. `first_row` is the number of the first row,
/// from 0.
pub(super) fn residues(name: &str, batch: &RecordBatch, moduli: &[u64], first_row: u64) -> Result<Residues, CliError> {
    let mut words = Vec::with_capacity(moduli.len() * batch.num_rows());
    for ((field, column), &modulus) in batch.schema().fields().iter().zip(batch.columns()).zip(moduli) {
        let wrong = |row: usize, what: String| {
            let row = first_row + row as u64 + 1;
            CliError::at(name, format!("row {row}, column {}: {what}", field.name()))
        };
        if let Some(row) = (0..column.len()).find(|&row| column.is_null(row)) {
            return Err(wrong(row, "the residue is missing".to_owned()));
        }
        let values: Vec<Option<u64>> = match column.data_type() {
            DataType::UInt32 => {
                column.as_primitive::<UInt32Type>().values().iter().map(|&it| Some(it.into())).collect()
            }
            DataType::UInt64 => column.as_primitive::<UInt64Type>().values().iter().map(|&it| Some(it)).collect(),
            _ => {
                let texts = CellFormatter::new(column).map_err(|error| CliError::at(name, error))?;
                let text = |row| texts.text(row).map_err(|error| CliError::at(name, error));
                (0..column.len()).map(|row| Ok(text(row)?.trim().parse().ok())).collect::<Result<_, CliError>>()?
            }
        };
        for (row, value) in values.into_iter().enumerate() {
            match value {
                Some(residue) if residue < modulus => words.push(residue),
                _ => return Err(wrong(row, format!("not a residue modulo {modulus}"))),
            }
        }
    }
    Residues::new(moduli, batch.num_rows(), words).map_err(|error| CliError::at(name, error))
}
