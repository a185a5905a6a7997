//! Parquet files, their footers and the descriptions of encrypted columns: read, summed and
//! decrypted, or rejected.
#![no_main]

use hearith_columns::csv::CsvWriter;
use hearith_columns::parquet::ParquetReader;
use hearith_columns::{Aggregator, Decryptor, encrypted_columns};
use hearith_fuzz::key;
use libfuzzer_sys::{Corpus, fuzz_target};
use std::io::{Seek, Write};

const BATCH_ROWS: usize = 64;
/// A few bytes can represent any number of equal rows.
const BATCHES: usize = 4;

fuzz_target!(init: hearith_fuzz::allow_guarded_panics(), |bytes: &[u8]| -> Corpus {
    let mut file = tempfile::tempfile().expect("a temporary file");
    file.write_all(bytes).and_then(|()| file.rewind()).expect("a temporary file");
    let Ok(source) = ParquetReader::open(file) else { return Corpus::Keep };
    let schema = source.schema();
    let _ = encrypted_columns(&schema);
    let mut totals = Aggregator::new(key().public(), &schema, &[]).ok();
    let decryptor = Decryptor::new(key(), &schema).ok();
    let Ok(batches) = source.batches(BATCH_ROWS, None) else { return Corpus::Keep };
    for batch in batches.take(BATCHES) {
        let Ok(batch) = batch else { break };
        if let Ok(mut sink) = CsvWriter::new(Vec::new(), batch.schema_ref()) {
            let _ = sink.write(&batch);
        }
        totals = totals.and_then(|mut totals| totals.update(&batch).is_ok().then_some(totals));
        if let Some(Ok(decrypted)) = decryptor.as_ref().map(|decryptor| decryptor.decrypt(&batch)) {
            let _ = (decrypted.to_batch(), decrypted.to_text());
        }
    }
    if let Some(totals) = totals {
        let totals = totals.finish().expect("the totals of what was taken");
        let decryptor = Decryptor::new(key(), &totals.schema()).expect("totals are described as their table was");
        let _ = decryptor.decrypt(&totals);
    }
    Corpus::Keep
});
