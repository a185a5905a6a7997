//! Tables as JSON: an array of one object per row, one row per line.

use std::io::Write;

use arrow_array::{Array, RecordBatch};
use arrow_schema::{DataType, Schema};
use hearith_columns::csv::CellFormatter;
use hearith_columns::parquet::WriteError;
use serde::de::IgnoredAny;

/// A table being written.
pub(crate) struct JsonSink<W> {
    output: W,
    /// The column names, as JSON strings.
    names: Vec<String>,
    /// Whether the column's values are numbers or booleans, even if batches contain them as text.
    bare: Vec<bool>,
    rows: u64,
}

impl<W: Write> JsonSink<W> {
    /// Begins a table with these columns.
    pub(crate) fn new(mut output: W, schema: &Schema) -> Result<Self, WriteError> {
        let names = schema.fields().iter().map(|field| quoted(field.name())).collect();
        let is_bare = |kind: &DataType| kind.is_numeric() || *kind == DataType::Boolean;
        let bare = schema.fields().iter().map(|field| is_bare(field.data_type())).collect();
        output.write_all(b"[")?;
        Ok(Self { output, names, bare, rows: 0 })
    }

    /// Writes a batch. Numbers keep all their digits. Values that JSON numbers cannot represent
    /// (infinities) become strings.
    pub(crate) fn write(&mut self, batch: &RecordBatch) -> Result<(), WriteError> {
        let columns = batch.columns();
        let texts = columns.iter().map(|column| CellFormatter::new(column)).collect::<Result<Vec<_>, _>>()?;
        let nulls: Vec<_> = columns.iter().map(|column| column.logical_nulls()).collect();
        for row in 0..batch.num_rows() {
            self.output.write_all(if self.rows == 0 { b"\n{" } else { b",\n{" })?;
            for (index, nulls) in nulls.iter().enumerate() {
                let comma = if index == 0 { "" } else { "," };
                write!(self.output, "{comma}{}:", self.names[index])?;
                let value = match nulls.as_ref().is_some_and(|nulls| nulls.is_null(row)) {
                    true => "null".to_owned(),
                    false => value(texts[index].text(row)?, self.bare[index]),
                };
                self.output.write_all(value.as_bytes())?;
            }
            self.output.write_all(b"}")?;
            self.rows += 1;
        }
        Ok(())
    }

    /// Writes the end.
    pub(crate) fn finish(mut self) -> Result<W, WriteError> {
        self.output.write_all(b"\n]\n")?;
        self.output.flush()?;
        Ok(self.output)
    }
}

fn value(text: String, bare: bool) -> String {
    match bare && serde_json::from_str::<IgnoredAny>(&text).is_ok() {
        true => text,
        false => quoted(&text),
    }
}

fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow_array::{ArrayRef, BooleanArray, Decimal128Array, Float64Array, Int64Array, StringArray};
    use serde_json::json;

    use super::*;

    #[test]
    fn rows_are_objects_that_keep_every_digit() {
        let long = 12_345_678_901_234_567_890_123_456_i128;
        let columns: [(&str, ArrayRef); 5] = [
            ("de\"pt", Arc::new(StringArray::from(vec![Some("a\n\"b\""), None, Some("")]))),
            ("rows", Arc::new(Int64Array::from(vec![1, -2, 3]))),
            (
                "pay",
                Arc::new(
                    Decimal128Array::from(vec![Some(long), None, Some(-5)]).with_precision_and_scale(38, 2).unwrap(),
                ),
            ),
            ("ok", Arc::new(BooleanArray::from(vec![true, false, true]))),
            ("x", Arc::new(Float64Array::from(vec![0.5, f64::NAN, f64::INFINITY]))),
        ];
        let batch = RecordBatch::try_from_iter_with_nullable(columns.map(|(name, array)| (name, array, true))).unwrap();
        let mut sink = JsonSink::new(Vec::new(), &batch.schema()).unwrap();
        sink.write(&batch.slice(0, 1)).unwrap();
        sink.write(&batch.slice(1, 2)).unwrap();
        let text = String::from_utf8(sink.finish().unwrap()).unwrap();
        assert!(text.contains("\"pay\":123456789012345678901234.56,"), "{text}");
        let read: serde_json::Value = serde_json::from_str(&text).unwrap();
        assert_eq!(read[1], json!({"de\"pt": null, "rows": -2, "pay": null, "ok": false, "x": "NaN"}));
        assert_eq!(read[2], json!({"de\"pt": "", "rows": 3, "pay": -0.05, "ok": true, "x": "inf"}));
        assert_eq!(read[0]["de\"pt"], "a\n\"b\"");
    }

    #[test]
    fn a_table_without_rows_is_an_empty_array() {
        let schema = Schema::empty();
        let text = JsonSink::new(Vec::new(), &schema).unwrap().finish().unwrap();
        assert_eq!(serde_json::from_slice::<serde_json::Value>(&text).unwrap(), json!([]));
    }
}
