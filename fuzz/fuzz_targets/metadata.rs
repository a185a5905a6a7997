//! The description of an encrypted column in a field's metadata: an accepted one is written and
//! read back as the same. Input: lines `key=value`, `key` without its prefix `hearith.`.
#![no_main]

use arrow_schema::{DataType, Field};
use hearith_columns::EncryptedColumn;
use libfuzzer_sys::fuzz_target;
use std::collections::HashMap;

fuzz_target!(|text: &str| {
    let entries = text.lines().filter_map(|line| line.split_once('='));
    let entries: HashMap<String, String> =
        entries.map(|(key, value)| (format!("hearith.{key}"), value.to_owned())).collect();
    // The column's width follows the key size in the description, so that descriptions pass that
    // check.
    let bits: u32 = entries.get("hearith.bits").and_then(|bits| bits.parse().ok()).unwrap_or(0);
    let width = bits.div_ceil(8).saturating_mul(2).min(4096) as i32;
    let field = Field::new("column", DataType::FixedSizeBinary(width), true).with_metadata(entries);
    if let Ok(Some(column)) = EncryptedColumn::from_field(&field) {
        assert_eq!(EncryptedColumn::from_field(&column.field()), Ok(Some(column.clone())));
        let _ = column.layout();
        let _ = column.companion_fields().count();
    }
});
