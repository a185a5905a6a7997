//! Encrypted columns as an extension type of Arrow, in files.
//!
//! Programs that read several files as one table take the schema of the first and convert the
//! others to it. Plain binary converts to plain binary whatever the metadata of the fields say, so
//! that integers of different scales, or under different keys, end in one column. Values of one
//! extension type do not convert to another: the type holds the whole description, as the Python
//! package's `hearith.arrow.EncryptedType` writes it, byte by byte.
//!
//! The entries stand in files alone. What is read back is the metadata `hearith.*`
//! ([`metadata`](crate::metadata)).

use std::sync::Arc;

use arrow_schema::extension::{EXTENSION_TYPE_METADATA_KEY, EXTENSION_TYPE_NAME_KEY};
use arrow_schema::{Field, FieldRef, Metadata, Schema, SchemaRef};

use crate::metadata::{Encoding, EncryptedColumn, PAILLIER, Part, values_entry};

/// The name of the extension type.
const NAME: &str = "hearith.paillier";

/// The schema with the extension type on each encrypted column of Paillier.
pub(crate) fn extended(schema: &SchemaRef) -> SchemaRef {
    let fields = schema.fields().iter().map(|field| match EncryptedColumn::from_field(field) {
        Ok(Some(column)) => FieldRef::new(of_type(field, &column)),
        _ => field.clone(),
    });
    let fields: Vec<FieldRef> = fields.collect();
    Arc::new(Schema::new_with_metadata(fields, schema.metadata().clone()))
}

/// The field's metadata without an extension type.
pub(crate) fn without(metadata: &Metadata) -> Metadata {
    let mut metadata = metadata.clone();
    metadata.retain(|key, _| ![EXTENSION_TYPE_NAME_KEY, EXTENSION_TYPE_METADATA_KEY].contains(&key.as_str()));
    metadata
}

fn of_type(field: &Field, column: &EncryptedColumn) -> Field {
    let mut metadata = field.metadata().clone();
    metadata.insert(EXTENSION_TYPE_NAME_KEY.to_owned(), NAME.to_owned());
    metadata.insert(EXTENSION_TYPE_METADATA_KEY.to_owned(), described(column));
    field.clone().with_metadata(metadata)
}

/// The description as JSON, ranges as text, since they exceed what JSON readers take for integers.
fn described(column: &EncryptedColumn) -> String {
    let list = |each: &dyn Fn(&Part) -> String| {
        let items: Vec<String> = column.parts.iter().map(each).collect();
        format!("[{}]", items.join(", "))
    };
    let exponent = match column.encoding {
        Encoding::Base16(exponent) => exponent,
        _ => 0,
    };
    let values = match values_entry(&column.parts) {
        None => "[]".to_owned(),
        Some(_) => list(&|part| text(part.values.as_deref().unwrap_or_default())),
    };
    let entries = [
        ("key", text(&column.key.to_string())),
        ("bits", column.bits.to_string()),
        ("encoding", text(column.encoding.name())),
        ("scales", list(&|part| part.scale.to_string())),
        ("ranges", list(&|part| text(&part.range.to_string()))),
        ("max_additions", column.max_additions.to_string()),
        ("exponent", exponent.to_string()),
        ("scheme", text(PAILLIER)),
        ("columns", list(&|part| text(&part.name))),
        ("additions", list(&|part| text(&part.additions))),
        ("values", values),
    ];
    let entries = entries.map(|(key, value)| format!("{}: {value}", text(key)));
    format!("{{{}}}", entries.join(", "))
}

/// A string in JSON, all of it ASCII.
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
            parts: vec![Part::new("pay", 2, 1 << 80)],
            max_additions: 1 << 32,
        }
    }

    // The expected texts are Python's: json.dumps of the same description.
    #[test]
    fn descriptions_read_as_pythons() {
        let mut packed = column();
        packed.encoding = Encoding::Slots;
        packed.parts = vec![Part::new("pay", 2, 1000), Part::new("Größe \"😀\"\n\u{1}", 0, 7)];
        for part in &mut packed.parts {
            part.values = Some(format!("{}.values", part.name));
        }
        let mut base16 = column();
        base16.encoding = Encoding::Base16(-14);
        base16.parts[0].scale = 0;
        let expected = [
            r#"{"key": "00112233445566778899aabbccddeeff", "bits": 2048, "encoding": "fixed", "scales": [2], "ranges": ["1208925819614629174706176"], "max_additions": 4294967296, "exponent": 0, "scheme": "paillier", "columns": ["pay"], "additions": ["pay.additions"], "values": []}"#,
            r#"{"key": "00112233445566778899aabbccddeeff", "bits": 2048, "encoding": "slots", "scales": [2, 0], "ranges": ["1000", "7"], "max_additions": 4294967296, "exponent": 0, "scheme": "paillier", "columns": ["pay", "Gr\u00f6\u00dfe \"\ud83d\ude00\"\n\u0001"], "additions": ["pay.additions", "Gr\u00f6\u00dfe \"\ud83d\ude00\"\n\u0001.additions"], "values": ["pay.values", "Gr\u00f6\u00dfe \"\ud83d\ude00\"\n\u0001.values"]}"#,
            r#"{"key": "00112233445566778899aabbccddeeff", "bits": 2048, "encoding": "base16", "scales": [0], "ranges": ["1208925819614629174706176"], "max_additions": 4294967296, "exponent": -14, "scheme": "paillier", "columns": ["pay"], "additions": ["pay.additions"], "values": []}"#,
        ];
        assert_eq!([column(), packed, base16].map(|column| described(&column)), expected);
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
