//! Encrypted columns as an Arrow extension type, in files.
//!
//! Programs that read several files as one table use the schema of the first and convert the others
//! to it. Plain binary converts to plain binary regardless of field metadata, which would mix
//! integers of different scales or keys in one column. Values of one extension type do not convert
//! to another. The type therefore holds the entire description, byte for byte as the Python
//! package's `hearith.arrow.EncryptedType` writes it.
//!
//! The entries exist only in files. Readers use the metadata `hearith.*`
//! ([`metadata`](crate::metadata)).

use std::sync::Arc;

use arrow_schema::extension::{EXTENSION_TYPE_METADATA_KEY, EXTENSION_TYPE_NAME_KEY};
use arrow_schema::{Field, FieldRef, Metadata, Schema, SchemaRef};

use crate::metadata::{Encoding, EncryptedColumn, PAILLIER, SourceColumn, values_entry};

/// The name of the extension type.
const NAME: &str = "hearith.paillier";

/// The schema with the extension type on each Paillier-encrypted column.
pub(crate) fn extended(schema: &SchemaRef) -> SchemaRef {
    let fields = schema.fields().iter().map(|field| match EncryptedColumn::from_field(field) {
        Ok(Some(column)) => FieldRef::new(of_type(field, &column)),
        _ => field.clone(),
    });
    let fields: Vec<FieldRef> = fields.collect();
    Arc::new(Schema::new_with_metadata(fields, schema.metadata().clone()))
}

/// The metadata without an extension type.
pub(crate) fn without(metadata: &Metadata) -> Metadata {
    let mut metadata = metadata.clone();
    metadata.retain(|key, _| ![EXTENSION_TYPE_NAME_KEY, EXTENSION_TYPE_METADATA_KEY].contains(&key.as_str()));
    metadata
}

fn of_type(field: &Field, column: &EncryptedColumn) -> Field {
    let mut metadata = field.metadata().clone();
    metadata.insert(EXTENSION_TYPE_NAME_KEY.to_owned(), NAME.to_owned());
    metadata.insert(EXTENSION_TYPE_METADATA_KEY.to_owned(), description(column));
    field.clone().with_metadata(metadata)
}

/// The description as JSON. Ranges are text, since they exceed the integers of JSON readers.
fn description(column: &EncryptedColumn) -> String {
    let list = |each: &dyn Fn(&SourceColumn) -> String| {
        let items: Vec<String> = column.sources.iter().map(each).collect();
        format!("[{}]", items.join(", "))
    };
    let exponent = match column.encoding {
        Encoding::Base16(exponent) => exponent,
        _ => 0,
    };
    let values = match values_entry(&column.sources) {
        None => "[]".to_owned(),
        Some(_) => list(&|source| text(source.values.as_deref().unwrap_or_default())),
    };
    let entries = [
        ("key", text(&column.key.to_string())),
        ("bits", column.bits.to_string()),
        ("encoding", text(column.encoding.name())),
        ("scales", list(&|source| source.scale.to_string())),
        ("ranges", list(&|source| text(&source.range.to_string()))),
        ("max_additions", column.max_additions.to_string()),
        ("exponent", exponent.to_string()),
        ("scheme", text(PAILLIER)),
        ("columns", list(&|source| text(&source.name))),
        ("additions", list(&|source| text(&source.additions))),
        ("values", values),
    ];
    let entries = entries.map(|(key, value)| format!("{}: {value}", text(key)));
    format!("{{{}}}", entries.join(", "))
}

/// A JSON string in ASCII.
fn text(string: &str) -> String {
    let quoted = serde_json::Value::from(string).to_string();
    let mut ascii = String::with_capacity(quoted.len());
    for character in quoted.chars() {
        match character.is_ascii() {
            true => ascii.push(character),
            false => ascii.extend(character.encode_utf16(&mut [0; 2]).iter().map(|unit| format!("\\u{unit:04x}"))),
        }
    }
    ascii
}

#[cfg(test)]
mod tests {
    use super::*;

    fn column() -> EncryptedColumn {
        EncryptedColumn {
            name: "pay".to_owned(),
            key: "00112233445566778899aabbccddeeff".parse().unwrap(),
            bits: 2048,
            encoding: Encoding::Fixed,
            sources: vec![SourceColumn::new("pay", 2, 1 << 80)],
            max_additions: 1 << 32,
        }
    }

    // The expected texts are from Python: `json.dumps` of the same description.
    #[test]
    fn descriptions_read_as_pythons() {
        let mut packed = column();
        packed.encoding = Encoding::Slots;
        packed.sources = vec![SourceColumn::new("pay", 2, 1000), SourceColumn::new("Größe \"😀\"\n\u{1}", 0, 7)];
        for source in &mut packed.sources {
            source.values = Some(format!("{}.values", source.name));
        }
        let mut base16 = column();
        base16.encoding = Encoding::Base16(-14);
        base16.sources[0].scale = 0;
        let expected = [
            r#"{"key": "00112233445566778899aabbccddeeff", "bits": 2048, "encoding": "fixed", "scales": [2], "ranges": ["1208925819614629174706176"], "max_additions": 4294967296, "exponent": 0, "scheme": "paillier", "columns": ["pay"], "additions": ["pay.additions"], "values": []}"#,
            r#"{"key": "00112233445566778899aabbccddeeff", "bits": 2048, "encoding": "slots", "scales": [2, 0], "ranges": ["1000", "7"], "max_additions": 4294967296, "exponent": 0, "scheme": "paillier", "columns": ["pay", "Gr\u00f6\u00dfe \"\ud83d\ude00\"\n\u0001"], "additions": ["pay.additions", "Gr\u00f6\u00dfe \"\ud83d\ude00\"\n\u0001.additions"], "values": ["pay.values", "Gr\u00f6\u00dfe \"\ud83d\ude00\"\n\u0001.values"]}"#,
            r#"{"key": "00112233445566778899aabbccddeeff", "bits": 2048, "encoding": "base16", "scales": [0], "ranges": ["1208925819614629174706176"], "max_additions": 4294967296, "exponent": -14, "scheme": "paillier", "columns": ["pay"], "additions": ["pay.additions"], "values": []}"#,
        ];
        assert_eq!([column(), packed, base16].map(|column| description(&column)), expected);
    }

    #[test]
    fn encrypted_columns_alone_have_the_type() {
        let plain = Field::new("x", arrow_schema::DataType::Int64, true);
        let schema = Arc::new(Schema::new(vec![plain.clone(), column().field()]));
        let written = extended(&schema);
        assert_eq!(written.field(0), &plain);
        assert_eq!(written.field(1).extension_type_name(), Some(NAME));
        assert_eq!(without(written.field(1).metadata()), *schema.field(1).metadata());
        assert_eq!(EncryptedColumn::from_field(written.field(1)).unwrap(), Some(column()));
    }
}
