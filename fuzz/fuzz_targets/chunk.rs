//! Chunks, ciphertexts and totals of the lattice scheme. An accepted input is written back
//! unchanged, and decrypts or is rejected. Input: a chunk, whose digest is corrected; the data
//! after it is also tried as a total.
#![no_main]

use hearith_bfv::{Ciphertext, Engine, PrivateKey, Total};
use hearith_columns::SourceColumn;
use hearith_columns::lattice::{Form, LatticeColumn, check_chunk};
use libfuzzer_sys::fuzz_target;
use sha2::{Digest, Sha256};
use std::sync::OnceLock;

/// Bytes before the ciphertext; the digest is the last 32 of them and covers the bytes from 4.
const HEADER: usize = 60;

fn key() -> &'static PrivateKey {
    static KEY: OnceLock<PrivateKey> = OnceLock::new();
    KEY.get_or_init(|| {
        let text = include_str!("../key/lattice.json");
        PrivateKey::from_text(text, Engine::Serial).expect("the key of the fuzz targets")
    })
}

fuzz_target!(|bytes: &[u8]| {
    let public = key().public();
    let Some((header, ciphertext)) = bytes.split_at_checked(HEADER) else { return };
    let mut table = [0; 16];
    table.copy_from_slice(&header[4..20]);
    let column = LatticeColumn {
        name: "salary".into(),
        key: public.id().to_string(),
        set: public.set(),
        bits: 31,
        source: SourceColumn::new("salary", 0, 1_000_000),
        max_additions: 1000,
        form: Form::Chunks { table },
        index: Some("hearith.row".into()),
        rarest: None,
    };
    let name = Sha256::digest("salary");
    let digest = Sha256::new().chain_update(name).chain_update(&header[4..28]).chain_update(ciphertext).finalize();
    let whole = [&header[..28], &digest[..], ciphertext].concat();
    let checked = check_chunk(&whole, public, &column);

    let read = Ciphertext::from_bytes(ciphertext, public);
    assert!(read.is_ok() || checked.is_err(), "a chunk holds a ciphertext");
    if let Ok(read) = read {
        assert_eq!(read.to_bytes(), ciphertext);
        if let Ok(numbers) = key().decrypt(&read) {
            assert_eq!(numbers.len(), read.count());
        }
        assert!(public.add(&read, &read).is_ok() || !read.is_fresh());
    }
    if let Ok(total) = Total::from_bytes(ciphertext, public) {
        assert_eq!(total.to_bytes(), ciphertext);
        let _ = key().decrypt_total(&total);
    }
});
