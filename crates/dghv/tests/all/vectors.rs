//! Tests of the vectors in `tests/vectors`, which an independent reader also reads
//! (`crates/python/tests/test_dghv_files.py`). Keys and encrypted bits must decode correctly and be
//! written back unchanged.

use std::path::{Path, PathBuf};

use hearith_arith::Engine;
use hearith_dghv::format::{CiphertextReader, CiphertextWriter};
use hearith_dghv::{InsecureHistoricalParameters, PrivateKeys, PublicKeys};

const INSECURE: InsecureHistoricalParameters = InsecureHistoricalParameters;
const BITS: [bool; 5] = [true, false, true, true, false];

fn file(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/vectors").join(name)
}

fn bytes(name: &str) -> Vec<u8> {
    std::fs::read(file(name)).unwrap()
}

#[test]
fn vectors_are_read_and_written_as_they_are() {
    for (name, rows) in [("cmnt", &["bits"][..]), ("cnt", &["bits"]), ("ladder", &["bits", "bits1"])] {
        let (public, private) = (bytes(&format!("{name}/public.dghv")), bytes(&format!("{name}/private.dghv")));
        let keys = PublicKeys::read_from(&public[..], Engine::best(), INSECURE).unwrap();
        let secrets = PrivateKeys::read_from(&private[..], INSECURE).unwrap();
        let (mut written, mut secret) = (Vec::new(), Vec::new());
        keys.write_to(&mut written).unwrap();
        secrets.write_to(&mut secret).unwrap();
        assert!(written == public && secret == private, "{name}");
        secrets.key.check(&keys.key).unwrap();
        for rows in rows {
            let content = bytes(&format!("{name}/{rows}.dghv"));
            let mut reader = CiphertextReader::new(&content[..]).unwrap();
            let header = reader.header().clone();
            let ciphertexts = reader.read(usize::MAX).unwrap();
            reader.finish().unwrap();
            assert_eq!(secrets.decrypt(&ciphertexts).unwrap(), BITS, "{name} {rows}");
            let mut writer =
                CiphertextWriter::new(Vec::new(), &header.parameters, header.key, ciphertexts.len() as u64).unwrap();
            writer.write(&ciphertexts).unwrap();
            assert!(writer.finish().unwrap() == content, "{name} {rows}");
        }
    }
}
