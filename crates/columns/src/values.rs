//! Encrypted columns as text whose cells describe themselves ([`hearith_paillier::described`]).
//! This is the form in which databases accept single encrypted numbers.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, RecordBatch, StringArray, UInt64Array};
use arrow_buffer::NullBuffer;
use arrow_schema::{DataType, Field, FieldRef, Schema, SchemaRef};
use hearith_paillier::described::{Described, Description};
use hearith_paillier::{Ciphertexts, PublicKey};

use crate::ciphers::{self, NonNullCiphertexts};
use crate::contents;
use crate::error::{Error, ErrorKind};
use crate::metadata::{self, Encoding, EncryptedColumn, SourceColumn, encrypted_columns};

/// Writes tables with text instead of ciphertexts and their counts.
#[derive(Clone, Debug)]
pub struct ValueWriter {
    key: PublicKey,
    columns: Vec<EncryptedColumn>,
    schema: SchemaRef,
}

impl ValueWriter {
    /// Prepares a table with this schema.
    ///
    /// # Errors
    /// When a column is packed, is under another key, or has a damaged description.
    pub fn new(key: &PublicKey, schema: &Schema) -> Result<Self, Error> {
        let columns = encrypted_columns(schema)?;
        for column in &columns {
            column.check_key(key)?;
            if !matches!(column.encoding, Encoding::Integer | Encoding::Fixed) {
                return Err(ErrorKind::NotSingle.in_column(&column.name));
            }
        }
        let counts =
            |name: &str| columns.iter().any(|column| column.companion_fields().any(|field| field.name() == name));
        let text = |field: &FieldRef| match columns.iter().any(|column| column.name == *field.name()) {
            true => Arc::new(Field::new(field.name(), DataType::Utf8, true)),
            false => field.clone(),
        };
        let fields: Vec<FieldRef> = schema.fields().iter().filter(|field| !counts(field.name())).map(text).collect();
        Ok(Self { key: key.clone(), columns, schema: Arc::new(Schema::new(fields)) })
    }

    /// The schema of the written table.
    pub fn schema(&self) -> SchemaRef {
        self.schema.clone()
    }

    /// Writes a batch as text.
    ///
    /// # Errors
    /// Reports the first ciphertext that does not belong to the key or exceeds its headroom.
    pub fn write(&self, batch: &RecordBatch) -> Result<RecordBatch, Error> {
        let arrays = self.schema.fields().iter().map(|field| {
            match self.columns.iter().find(|column| column.name == *field.name()) {
                Some(column) => self.texts(column, batch),
                None => Ok(batch
                    .column_by_name(field.name())
                    .cloned()
                    .unwrap_or_else(|| arrow_array::new_null_array(field.data_type(), batch.num_rows()))),
            }
        });
        Ok(RecordBatch::try_new(self.schema.clone(), arrays.collect::<Result<_, _>>()?)?)
    }

    fn texts(&self, column: &EncryptedColumn, batch: &RecordBatch) -> Result<ArrayRef, Error> {
        let present = NonNullCiphertexts::read(&self.key, column, batch)?;
        present.check_coprime(&self.key, column)?;
        let additions = ciphers::companions(column, batch)?;
        let bytes = present.ciphertexts.to_be_bytes();
        let mut texts = vec![None; batch.num_rows()];
        for (ciphertext, &row) in bytes.chunks_exact(column.ciphertext_bytes()).zip(&present.rows) {
            let source = &column.sources[0];
            let (range, headroom, count) = (source.range, column.max_additions, additions[0].value(row));
            let value = Description::new(column.key, column.bits, source.scale, range, headroom, count)
                .and_then(|description| Described::new(description, ciphertext));
            let value = value.map_err(|error| ErrorKind::Paillier(error.kind().clone()).at(row, &column.name))?;
            texts[row] = Some(value.to_string());
        }
        Ok(Arc::new(StringArray::from(texts)))
    }
}

/// Reads columns of such text into encrypted columns. It needs two passes over the cells, the first
/// to find their common description.
#[derive(Clone, Debug)]
pub struct ValueReader {
    key: PublicKey,
    columns: Vec<(String, Option<Description>)>,
    rows: u64,
}

impl ValueReader {
    /// Prepares to read the columns with these names.
    pub fn new(key: &PublicKey, columns: &[String]) -> Self {
        let columns = columns.iter().map(|name| (name.clone(), None)).collect();
        Self { key: key.clone(), columns, rows: 0 }
    }

    /// First pass: merges the descriptions of the values in a batch.
    ///
    /// # Errors
    /// When a column is missing, a cell is not a value of the key, or the values have no common
    /// description.
    pub fn survey(&mut self, batch: &RecordBatch) -> Result<(), Error> {
        let Self { key, columns, .. } = self;
        for (name, common) in columns {
            for (row, value) in cells(name, batch)?.enumerate().filter_map(|(row, cell)| Some((row, cell?))) {
                let at = |error: hearith_paillier::Error| {
                    ErrorKind::Paillier(error.kind().clone()).at(row, name).offset_rows(self.rows)
                };
                let found = *value.map_err(at)?.description();
                if found.key() != key.id() {
                    let (found, given) = (found.key().to_string(), key.id().to_string());
                    return Err(ErrorKind::WrongKey { found, given }.at(row, name).offset_rows(self.rows));
                }
                *common = Some(common.map_or(Ok(found), |before| before.common(&found)).map_err(at)?);
            }
        }
        self.rows += batch.num_rows() as u64;
        Ok(())
    }

    /// Ends the first pass, and prepares to read tables with this schema.
    ///
    /// # Errors
    /// [`ErrorKind::NoValues`] for a column without values.
    pub fn finish(self, schema: &Schema) -> Result<ValueTable, Error> {
        let table = contents::hex(&contents::new_id()?);
        let mut columns = Vec::new();
        for (name, common) in self.columns {
            let common = common.ok_or_else(|| ErrorKind::NoValues.in_column(&name))?;
            columns.push(EncryptedColumn {
                key: self.key.id(),
                bits: self.key.bits(),
                encoding: if common.scale() == 0 { Encoding::Integer } else { Encoding::Fixed },
                sources: vec![SourceColumn::new(&name, common.scale(), common.range())],
                max_additions: common.headroom(),
                name,
            });
        }
        let mut fields = Vec::new();
        for field in schema.fields() {
            match columns.iter().find(|column| column.name == *field.name()) {
                None => fields.push(field.clone()),
                Some(column) => {
                    fields.push(Arc::new(metadata::of_table(column.field(), &table)));
                    fields.extend(column.companion_fields().map(Arc::new));
                }
            }
        }
        Ok(ValueTable { key: self.key, columns, schema: Arc::new(Schema::new(fields)) })
    }
}

/// Converts batches of text to encrypted batches.
#[derive(Clone, Debug)]
pub struct ValueTable {
    key: PublicKey,
    columns: Vec<EncryptedColumn>,
    schema: SchemaRef,
}

impl ValueTable {
    /// The schema of the encrypted table.
    pub fn schema(&self) -> SchemaRef {
        self.schema.clone()
    }

    /// Reads an encrypted batch.
    ///
    /// # Errors
    /// Reports the first cell that is not a ciphertext of the key.
    pub fn read(&self, batch: &RecordBatch) -> Result<RecordBatch, Error> {
        let mut arrays: Vec<ArrayRef> = Vec::new();
        for (field, array) in batch.schema_ref().fields().iter().zip(batch.columns()) {
            match self.columns.iter().find(|column| column.name == *field.name()) {
                None => arrays.push(array.clone()),
                Some(column) => arrays.extend(self.column(column, batch)?),
            }
        }
        Ok(RecordBatch::try_new(self.schema.clone(), arrays)?)
    }

    fn column(&self, column: &EncryptedColumn, batch: &RecordBatch) -> Result<[ArrayRef; 2], Error> {
        let values: Vec<Option<Described>> = cells(&column.name, batch)?
            .enumerate()
            .map(|(row, cell)| {
                cell.transpose().map_err(|error| ErrorKind::Paillier(error.kind().clone()).at(row, &column.name))
            })
            .collect::<Result<_, _>>()?;
        let rows: Vec<usize> = (0..values.len()).filter(|&row| values[row].is_some()).collect();
        let present: Vec<&Described> = values.iter().flatten().collect();
        let fault = |error| ciphers::to_column_error(column, &rows, error);
        let bytes: Vec<&[u8]> = present.iter().map(|value| value.ciphertext()).collect();
        let ciphertexts = self.key.ciphertexts_from_be_rows(&bytes).map_err(fault)?;
        self.key.check_coprime(&ciphertexts).map_err(fault)?;
        let ciphertexts = self.aligned(column, &ciphertexts, &present).map_err(fault)?;
        let nulls = NullBuffer::from_iter(values.iter().map(Option::is_some));
        let additions = values.iter().map(|value| value.as_ref().map_or(0, |value| value.description().additions()));
        let additions: ArrayRef = Arc::new(UInt64Array::from_iter_values(additions));
        Ok([ciphers::write(column, &ciphertexts, Some(&nulls))?, additions])
    }

    /// Rescales the ciphertexts to the column's scale, the largest of all. Scales are public.
    fn aligned(
        &self,
        column: &EncryptedColumn,
        ciphertexts: &Ciphertexts,
        values: &[&Described],
    ) -> Result<Ciphertexts, hearith_paillier::Error> {
        let digits = |value: &&Described| column.sources[0].scale - value.description().scale();
        if values.iter().all(|value| digits(value) == 0) {
            return Ok(ciphertexts.clone());
        }
        let factors: Vec<i128> = values.iter().map(|value| 10_i128.pow(digits(value))).collect();
        self.key.multiply_deterministic(ciphertexts, &factors, i128::BITS)
    }
}

/// The cells of a text column; nulls are `None`.
fn cells<'a>(
    name: &str,
    batch: &'a RecordBatch,
) -> Result<impl Iterator<Item = Option<Result<Described, hearith_paillier::Error>>> + 'a, Error> {
    let array = batch.column_by_name(name).and_then(|array| array.as_string_opt::<i32>());
    let array = array.ok_or_else(|| {
        let available = batch.schema_ref().fields().iter().map(|field| field.name().clone()).collect();
        ErrorKind::NoSuchColumn { available }.in_column(name)
    })?;
    Ok((0..array.len()).map(|row| (!array.is_null(row)).then(|| array.value(row).parse())))
}

#[cfg(test)]
mod tests {
    use arrow_array::Int64Array;
    use hearith_paillier::{Engine, KeyPolicy, PrivateKey, Variant};

    use super::*;
    use crate::{Aggregator, ColumnSpec, Decryptor, EncryptOptions, EncryptionKey, Encryptor};

    fn key() -> PrivateKey {
        PrivateKey::generate(256, Variant::Standard, KeyPolicy::AllowInsecure, Engine::best()).unwrap()
    }

    fn encrypted(key: &PrivateKey, scale: u32) -> RecordBatch {
        let dept: ArrayRef = Arc::new(StringArray::from(vec!["a", "b", "a"]));
        let pay: ArrayRef = Arc::new(Int64Array::from(vec![Some(15), None, Some(-2)]));
        let table = RecordBatch::try_from_iter([("dept", dept), ("pay", pay)]).unwrap();
        let column = ColumnSpec { name: "pay".into(), scale: Some(scale), ..Default::default() };
        let options = EncryptOptions::new(vec![column]);
        Encryptor::new(EncryptionKey::Public(key.public()), &table.schema(), &options).unwrap().encrypt(&table).unwrap()
    }

    fn texts(key: &PrivateKey, batch: &RecordBatch) -> RecordBatch {
        ValueWriter::new(key.public(), &batch.schema()).unwrap().write(batch).unwrap()
    }

    fn read(key: &PrivateKey, batches: &[RecordBatch]) -> Result<Vec<RecordBatch>, Error> {
        let mut reader = ValueReader::new(key.public(), &["pay".to_owned()]);
        batches.iter().try_for_each(|batch| reader.survey(batch))?;
        let table = reader.finish(&batches[0].schema())?;
        batches.iter().map(|batch| table.read(batch)).collect()
    }

    #[test]
    fn what_was_written_is_read_and_adds_up() {
        let key = key();
        // Tables of two scales, in one text.
        let texts = [texts(&key, &encrypted(&key, 0)), texts(&key, &encrypted(&key, 2))];
        assert_eq!(
            texts[0].schema().fields().iter().map(|field| field.name().as_str()).collect::<Vec<_>>(),
            ["dept", "pay"]
        );
        let batches = read(&key, &texts).unwrap();
        let mut totals = Aggregator::new(key.public(), &batches[0].schema(), &["dept".to_owned()]).unwrap();
        batches.iter().for_each(|batch| totals.update(batch).unwrap());
        let totals = totals.finish().unwrap();
        let decrypted = Decryptor::new(&key, &totals.schema()).unwrap().decrypt(&totals).unwrap().to_text().unwrap();
        let expected: ArrayRef = Arc::new(StringArray::from(vec![Some("26.00"), None]));
        assert_eq!(decrypted.column_by_name("pay").unwrap(), &expected);
    }

    #[test]
    fn what_is_no_value_is_named() {
        let (key, other) = (key(), key());
        let good = texts(&key, &encrypted(&key, 0));
        let refused = read(&other, std::slice::from_ref(&good)).unwrap_err();
        assert!(matches!(refused.kind(), ErrorKind::WrongKey { .. }), "{refused}");
        let pay = |cells: Vec<Option<&str>>| {
            RecordBatch::try_from_iter([("pay", Arc::new(StringArray::from(cells)) as ArrayRef)]).unwrap()
        };
        let text = good.column(1).as_string::<i32>().value(0).to_owned();
        let refused = read(&key, &[pay(vec![None, Some(&text), Some("12")])]).unwrap_err();
        assert_eq!((refused.row(), refused.column()), (Some(2), Some("pay")), "{refused}");
        assert!(matches!(read(&key, &[pay(vec![None])]).unwrap_err().kind(), ErrorKind::NoValues));
        let refused = ValueReader::new(key.public(), &["pay".to_owned()])
            .survey(&RecordBatch::new_empty(Arc::new(Schema::empty())));
        assert!(matches!(refused.unwrap_err().kind(), ErrorKind::NoSuchColumn { .. }));
    }
}
