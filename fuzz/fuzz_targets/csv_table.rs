//! CSV tables: an encrypted table decrypts to its original numbers.
#![no_main]

use arrow_array::cast::AsArray;
use hearith_columns::csv::{CsvReader, CsvWriter};
use hearith_columns::{ColumnSpec, Decryptor, EncryptOptions, EncryptionKey, Encryptor};
use hearith_fuzz::key;
use hearith_paillier::encoding::{format_decimal, parse_decimal};
use libfuzzer_sys::fuzz_target;

const BATCH_ROWS: usize = 8;

fuzz_target!(|input: (u8, &[u8])| {
    let (choice, bytes) = input;
    let (scale, pack) = (u32::from(choice % 40), choice >= 128);
    let Ok(source) = CsvReader::open(bytes, BATCH_ROWS) else { return };
    let schema = source.schema();
    let columns = schema.fields().iter().take(2);
    let columns = columns
        .map(|field| ColumnSpec { name: field.name().clone(), scale: Some(scale), ..Default::default() })
        .collect();
    let options = EncryptOptions { pack, ..EncryptOptions::new(columns) };
    let Ok(encryptor) = Encryptor::new(EncryptionKey::Owner(key()), &schema, &options) else { return };
    let decryptor = Decryptor::new(key(), &encryptor.schema()).expect("a table just described");
    for batch in source {
        let Ok(batch) = batch else { return };
        let Ok(encrypted) = encryptor.encrypt(&batch) else { return };
        let decrypted = decryptor.decrypt(&encrypted).expect("ciphertexts just made");
        let text = decrypted.to_text().expect("numbers have a text");
        for column in &options.columns {
            let before = batch.column_by_name(&column.name).expect("a column of the table").as_string::<i32>();
            let after = text.column_by_name(&column.name).expect("the same columns").as_string::<i32>();
            for (before, after) in before.iter().zip(after) {
                assert_eq!(before.is_some(), after.is_some());
                let Some((before, after)) = before.zip(after) else { continue };
                assert!(same_number(before.trim(), after, scale), "{before:?} came back as {after:?}");
            }
        }
        CsvWriter::new(Vec::new(), text.schema_ref()).and_then(|mut sink| sink.write(&text)).expect("text is written");
    }
});

/// Whether a cell came back as its original number. No other exact reader here handles exponents,
/// so such a cell is compared as a float.
fn same_number(before: &str, after: &str, scale: u32) -> bool {
    match parse_decimal(before, scale) {
        Ok(value) => format_decimal(value, scale) == after,
        Err(_) => {
            let [before, after]: [f64; 2] = [before, after].map(|cell| cell.parse().expect("a number"));
            (before - after).abs() <= before.abs() * 1e-12
        }
    }
}
