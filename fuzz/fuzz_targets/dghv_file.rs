//! Files of keys and ciphertexts of FHE over the integers: an accepted file is written as it was
//! read. The checksum is corrected, as an attacker could do, to reach the code behind it.
#![no_main]

use hearith_arith::Engine;
use hearith_dghv::format::{CiphertextReader, CiphertextWriter, FormatError, Header};
use hearith_dghv::{Ciphertext, InsecureHistoricalParameters, PrivateKeys, PublicKeys};
use libfuzzer_sys::fuzz_target;
use sha2::{Digest, Sha256};

fuzz_target!(|content: &[u8]| {
    let _ = Header::read(content);
    let mut file = content.to_vec();
    file.extend_from_slice(&Sha256::digest(content));
    if let Ok(keys) = PublicKeys::read_from(&file[..], Engine::Serial, InsecureHistoricalParameters) {
        let mut again = Vec::new();
        keys.write_to(&mut again).expect("a vector takes everything");
        assert_eq!(again, file);
    }
    if let Ok(key) = PrivateKeys::read_from(&file[..], InsecureHistoricalParameters) {
        let mut again = Vec::new();
        key.write_to(&mut again).expect("a vector takes everything");
        assert_eq!(again, file);
    }
    if let Ok((header, rows)) = ciphertexts(&file) {
        let writer = CiphertextWriter::new(Vec::new(), &header.parameters, header.key, rows.len() as u64);
        let mut writer = writer.expect("a vector takes everything");
        writer.write(&rows).expect("a vector takes everything");
        assert_eq!(writer.finish().expect("a vector takes everything"), file);
    }
});

fn ciphertexts(file: &[u8]) -> Result<(Header, Vec<Ciphertext>), FormatError> {
    let mut reader = CiphertextReader::new(file)?;
    let (header, rows) = (reader.header().clone(), reader.read(usize::MAX)?);
    reader.finish()?;
    Ok((header, rows))
}
