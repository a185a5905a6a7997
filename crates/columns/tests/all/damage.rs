//! Damaged Parquet files yield an error or a result, wherever the damage is, but never a panic.

use std::collections::HashSet;
use std::fs::File;
use std::io::{Seek, Write};
use std::sync::Arc;

use arrow_array::{ArrayRef, Int64Array, RecordBatch, StringArray};
use hearith_columns::csv::CsvWriter;
use hearith_columns::parquet::{ParquetReader, ParquetWriter};
use hearith_columns::{Aggregator, ColumnSpec, Decryptor, EncryptOptions, EncryptionKey, Encryptor, Error};
use hearith_paillier::{Engine, KeyPolicy, PrivateKey, Variant};

/// Number of files. Random changes made the decoder panic about once in four thousand files.
const TRIES: usize = 20_000;

fn encrypted_file(key: &PrivateKey) -> Vec<u8> {
    let dept: ArrayRef = Arc::new(StringArray::from(vec![Some("lab"), None, Some("shop"), Some("lab")]));
    let pay: ArrayRef = Arc::new(Int64Array::from(vec![Some(5), Some(-7), None, Some(1 << 40)]));
    let batch = RecordBatch::try_from_iter_with_nullable([("dept", dept, true), ("pay", pay, true)]).unwrap();
    let options = EncryptOptions::new(vec![ColumnSpec { name: "pay".into(), ..Default::default() }]);
    let encryptor = Encryptor::new(EncryptionKey::Owner(key), &batch.schema(), &options).unwrap();
    let mut sink = ParquetWriter::new(Vec::new(), encryptor.schema()).unwrap();
    sink.write(&encryptor.encrypt(&batch).unwrap()).unwrap();
    sink.finish().unwrap()
}

fn file_of(bytes: &[u8]) -> File {
    let mut file = tempfile::tempfile().unwrap();
    file.write_all(bytes).unwrap();
    file.rewind().unwrap();
    file
}

/// Every operation that a user can apply to the file.
fn use_all(key: &PrivateKey, file: File) -> Result<(), Error> {
    let source = ParquetReader::open(file)?;
    let schema = source.schema();
    let decryptor = Decryptor::new(key, &schema)?;
    let mut totals = Aggregator::new(key.public(), &schema, &["dept".to_owned()])?;
    let only: HashSet<String> = schema.fields().iter().map(|field| field.name().clone()).collect();
    for batch in source.batches(3, Some(&only))?.take(10) {
        let batch = batch?;
        let mut sink = CsvWriter::new(Vec::new(), &decryptor.schema()).unwrap();
        let _ = sink.write(&decryptor.decrypt(&batch)?.to_text()?);
        totals.update(&batch)?;
    }
    totals.finish().map(drop)
}

#[test]
fn no_damage_panics() {
    let key = PrivateKey::generate(256, Variant::Standard, KeyPolicy::AllowInsecure, Engine::best()).unwrap();
    let whole = encrypted_file(&key);
    use_all(&key, file_of(&whole)).unwrap();
    let usual = std::panic::take_hook();
    // Other tests of the process still report their panics.
    std::panic::set_hook(Box::new(move |panic| {
        if !hearith_columns::guard::is_guarded() {
            usual(panic);
        }
    }));
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut random = |below: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % below
    };
    let mut refused = 0;
    for _ in 0..TRIES {
        let mut damaged = whole.clone();
        for _ in 0..1 + random(3) {
            // Half of the changes are in the footer, which describes the file.
            let at = if random(2) == 0 { random(whole.len()) } else { whole.len() - 1 - random(whole.len() / 3) };
            damaged[at] = [damaged[at] ^ (1 << random(8)), random(256) as u8, 0, 0x7f, 0x80, 0xff][random(6)];
        }
        refused += usize::from(use_all(&key, file_of(&damaged)).is_err());
    }
    let _ = std::panic::take_hook();
    assert!(refused > TRIES / 2, "{refused}");
}

#[test]
fn no_shorter_file_passes() {
    let key = PrivateKey::generate(256, Variant::Standard, KeyPolicy::AllowInsecure, Engine::best()).unwrap();
    let whole = encrypted_file(&key);
    for length in 0..whole.len() {
        assert!(ParquetReader::open(file_of(&whole[..length])).is_err(), "{length} of {} bytes", whole.len());
    }
}
