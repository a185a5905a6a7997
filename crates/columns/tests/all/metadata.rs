//! The description of an encrypted column. Everything that can be written is read back, and nothing
//! else.

use arrow_schema::{DataType, Field, Metadata};
use hearith_columns::{Encoding, EncryptedColumn, MetadataError, SourceColumn};
use proptest::prelude::*;

const KEY: &str = "0123456789abcdef0123456789abcdef";

fn column(bits: u32, encoding: Encoding, sources: Vec<SourceColumn>) -> EncryptedColumn {
    let (name, key) = ("salary".to_owned(), KEY.parse().unwrap());
    EncryptedColumn { name, key, bits, encoding, sources, max_additions: 1 << 32 }
}

fn usual() -> EncryptedColumn {
    column(512, Encoding::Fixed, vec![SourceColumn::new("salary", 2, 1_000_000)])
}

fn read(field: &Field) -> Result<Option<EncryptedColumn>, MetadataError> {
    EncryptedColumn::from_field(field)
}

/// The usual field with one entry changed or removed.
fn changed(key: &str, value: Option<&str>) -> Field {
    let field = usual().field();
    let mut metadata = field.metadata().clone();
    match value {
        Some(value) => metadata.insert(key, value),
        None => metadata.remove(key),
    };
    field.with_metadata(metadata)
}

#[test]
fn the_field_is_as_documented() {
    let slots = vec![
        SourceColumn::new("a", 0, 7),
        SourceColumn { additions: "n".into(), ..SourceColumn::new("b,\"c\"", 3, 9) },
    ];
    let column = EncryptedColumn { name: "a+b".into(), ..column(514, Encoding::Slots, slots) };
    let field = column.field();
    assert_eq!(*field.data_type(), DataType::FixedSizeBinary(2 * 65));
    assert!(field.is_nullable());
    let expected = [
        ("hearith.scheme", "paillier"),
        ("hearith.version", "2"),
        ("hearith.key", KEY),
        ("hearith.bits", "514"),
        ("hearith.encoding", "slots"),
        ("hearith.columns", r#"["a","b,\"c\""]"#),
        ("hearith.additions", r#"["a.additions","n"]"#),
        ("hearith.scale", "0,3"),
        ("hearith.range", "7,9"),
        ("hearith.max_additions", "4294967296"),
        ("hearith.slots", "2"),
    ];
    assert_eq!(*field.metadata(), Metadata::from(expected));
    assert_eq!(read(&field), Ok(Some(column.clone())));
    let companions: Vec<Field> = column.companion_fields().collect();
    assert_eq!(companions[1], Field::new("n", DataType::UInt64, false));
}

#[test]
fn fields_of_others_are_not_encrypted() {
    assert_eq!(read(&Field::new("x", DataType::FixedSizeBinary(128), true)), Ok(None));
    let other = Field::new("x", DataType::Int64, true).with_metadata([("hearith.role", "rows")]);
    assert_eq!(read(&other), Ok(None));
}

#[test]
fn a_missing_entry_is_named() {
    for key in ["key", "bits", "encoding", "columns", "additions", "scale", "range", "max_additions"] {
        let key = format!("hearith.{key}");
        let error = read(&changed(&key, None)).unwrap_err();
        assert!(matches!(error, MetadataError::Missing(name) if name == key), "{error}");
    }
}

#[test]
fn entries_that_cannot_be_are_refused() {
    let wrong = [
        ("scheme", "elgamal"),
        ("key", "0123"),
        ("key", "zz23456789abcdef0123456789abcdef"),
        ("bits", "511"),
        ("bits", "0"),
        ("bits", "16386"),
        ("bits", "+512"),
        ("bits", " 512"),
        ("encoding", "float"),
        ("encoding", "integer"),
        ("encoding", "base16"),
        ("columns", "[]"),
        ("columns", "salary"),
        ("columns", r#"["a","b"]"#),
        ("columns", r#"["a","a"]"#),
        ("columns", "[1]"),
        ("additions", "[]"),
        ("additions", r#"["a","b"]"#),
        ("scale", "39"),
        ("scale", "-1"),
        ("scale", "02"),
        ("scale", "2,2"),
        ("scale", ""),
        ("range", "0"),
        ("range", "-5"),
        ("range", "1e6"),
        ("range", "170141183460469231731687303715884105728"),
        ("max_additions", "0"),
        ("max_additions", "18446744073709551616"),
    ];
    for (key, value) in wrong {
        let field = changed(&format!("hearith.{key}"), Some(value));
        assert!(read(&field).is_err(), "{key} = {value}");
    }
}

#[test]
fn the_type_must_be_the_ciphertexts() {
    let metadata = usual().field().metadata().clone();
    for kind in [DataType::Binary, DataType::FixedSizeBinary(127), DataType::Int64] {
        let error = read(&Field::new("salary", kind, true).with_metadata(metadata.clone()));
        assert!(matches!(error, Err(MetadataError::Type { expected: 128, .. })), "{error:?}");
    }
}

#[test]
fn what_does_not_fit_the_key_is_refused() {
    let wide = column(512, Encoding::Integer, vec![SourceColumn::new("x", 0, i128::MAX as u128)]);
    assert!(read(&wide.field()).is_ok());
    let narrow = EncryptedColumn { bits: 128, ..wide.clone() };
    assert_eq!(read(&narrow.field()), Err(MetadataError::DoesNotFit { bits: 128 }));
    // With 127 bits of range, 32 of additions and the sign, 4 * 80 bits of fraction fit 512 bits,
    // but 4 * 90 do not.
    let deep = EncryptedColumn { encoding: Encoding::Base16(-80), ..wide.clone() };
    assert!(read(&deep.field()).is_ok());
    let deeper = EncryptedColumn { encoding: Encoding::Base16(-90), ..wide };
    assert_eq!(read(&deeper.field()), Err(MetadataError::DoesNotFit { bits: 512 }));
}

#[test]
fn only_columns_that_agree_add_up() {
    let first = usual();
    first.check_compatible(&first).unwrap();
    let other_scale = column(512, Encoding::Fixed, vec![SourceColumn::new("salary", 3, 1_000_000)]);
    let error = other_scale.check_compatible(&first).unwrap_err().to_string();
    assert_eq!(error, "column salary: the scale is 3, not 2 as before");
    let other_range = column(512, Encoding::Fixed, vec![SourceColumn::new("salary", 2, 1_000)]);
    assert!(other_range.check_compatible(&first).unwrap_err().to_string().contains("the range"));
    let other_limit = EncryptedColumn { max_additions: 5, ..first.clone() };
    assert!(other_limit.check_compatible(&first).is_err());
}

fn any_column() -> impl Strategy<Value = EncryptedColumn> {
    let source = (0_u32..=38, 1_u128..=i128::MAX as u128, "\\PC{0,12}");
    let sources = proptest::collection::vec(source, 1..5);
    (sources, 0_u32..4, 1..=u64::MAX, 0..=64_i32).prop_map(|(sources, kind, max_additions, depth)| {
        let named = sources.into_iter().enumerate();
        // Distinct for any text, because the number of the source column starts the name.
        let mut sources: Vec<SourceColumn> = named
            .map(|(index, (scale, range, text))| SourceColumn::new(&format!("{index}{text}"), scale, range))
            .collect();
        let encoding = match kind {
            0 => Encoding::Integer,
            1 => Encoding::Fixed,
            2 => Encoding::Base16(-depth),
            _ => Encoding::Slots,
        };
        if encoding != Encoding::Slots {
            sources.truncate(1);
        }
        if !matches!(encoding, Encoding::Slots | Encoding::Fixed) {
            sources[0].scale = 0;
        }
        EncryptedColumn { max_additions, ..column(2048, encoding, sources) }
    })
}

proptest! {
    #[test]
    fn what_is_written_is_read_back(column in any_column()) {
        prop_assert_eq!(read(&column.field()), Ok(Some(column)));
    }

    #[test]
    fn no_metadata_panic(entries in proptest::collection::vec(("[a-z_]{1,13}", "\\PC{0,20}"), 0..6)) {
        let names = ["key", "bits", "encoding", "columns", "additions", "scale", "range", "max_additions", "slots", "exponent"];
        let field = usual().field();
        let mut metadata = field.metadata().clone();
        for (index, (name, value)) in entries.into_iter().enumerate() {
            metadata.insert(format!("hearith.{}", names.get(name.len() - index % 2).unwrap_or(&"bits")), value);
        }
        let _ = read(&field.with_metadata(metadata));
    }

    #[test]
    fn numbers_of_any_size_do_not_panic(bits in any::<u32>(), exponent in any::<i32>(), slots in any::<u64>()) {
        let field = usual().field();
        let metadata = field.metadata().clone()
            .with("hearith.bits", bits.to_string())
            .with("hearith.encoding", "base16")
            .with("hearith.scale", "0")
            .with("hearith.exponent", exponent.to_string())
            .with("hearith.slots", slots.to_string());
        let _ = read(&field.with_metadata(metadata));
    }
}
