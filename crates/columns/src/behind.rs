//! Columns appended to a table: computed columns, and columns from folder names.

use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::{FieldRef, Schema, SchemaRef};

use crate::encrypt::batch_of;
use crate::error::Error;

/// Columns appended to the batches of a table. Batches that share a schema get the same new schema.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Behind {
    fields: Vec<FieldRef>,
    /// The schema of the last batch, with and without the appended columns.
    schemas: Option<(SchemaRef, SchemaRef)>,
}

impl Behind {
    /// Appends columns with these names and types.
    pub fn new(fields: Vec<FieldRef>) -> Self {
        Self { fields, schemas: None }
    }

    /// The schema with the appended columns.
    pub fn schema(&self, schema: &SchemaRef) -> SchemaRef {
        if self.fields.is_empty() {
            return schema.clone();
        }
        let fields: Vec<FieldRef> = schema.fields().iter().chain(&self.fields).cloned().collect();
        Arc::new(Schema::new_with_metadata(fields, schema.metadata().clone()))
    }

    /// The batch with the appended columns, one array of `more` per column.
    ///
    /// # Errors
    /// When the types or lengths of the arrays do not match the columns and the batch.
    pub fn batch(&mut self, batch: &RecordBatch, more: Vec<ArrayRef>) -> Result<RecordBatch, Error> {
        let to = match &self.schemas {
            Some((from, to)) if Arc::ptr_eq(from, batch.schema_ref()) => to.clone(),
            _ => self.schema(batch.schema_ref()),
        };
        self.schemas = Some((batch.schema(), to.clone()));
        batch_of(&to, batch.columns().iter().cloned().chain(more).collect())
    }
}
