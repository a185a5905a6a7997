//! What one thread does with the crate `fhe` at its own parameters of 128-bit security: seconds to
//! encrypt, add up and decrypt a column, as JSON, for `bench/python/compare_lattice.py`. Arguments:
//! the degree and rows.

use fhe::bfv::{BfvParameters, Ciphertext, Encoding, Plaintext, PublicKey, SecretKey};
use fhe_traits::{FheDecoder, FheDecrypter, FheEncoder, FheEncrypter, FheParametrized, Serialize};
use std::error::Error;
use std::sync::Arc;
use std::time::Instant;

/// Bits of a plaintext modulus: the column's numbers fit, as they do in TenSEAL's.
const BITS: usize = 20;

/// The column, a ciphertext a piece, and the seconds that it took.
fn encrypted<K>(key: &K, values: &[i64], set: &Arc<BfvParameters>) -> Result<(Vec<Ciphertext>, f64), Box<dyn Error>>
where
    K: FheParametrized<Parameters = BfvParameters> + FheEncrypter<Plaintext, Ciphertext, Error = fhe::Error>,
{
    let mut random = rand::rng();
    let start = Instant::now();
    let column: Result<Vec<Ciphertext>, fhe::Error> = values
        .chunks(set.degree())
        .map(|piece| key.try_encrypt(&Plaintext::try_encode(piece, Encoding::poly(), set)?, &mut random))
        .collect();
    Ok((column?, start.elapsed().as_secs_f64()))
}

/// The numbers of a column.
fn decrypted(key: &SecretKey, column: &[Ciphertext]) -> Result<Vec<Vec<i64>>, fhe::Error> {
    column.iter().map(|piece| Vec::try_decode(&key.try_decrypt(piece)?, Encoding::poly())).collect()
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let mut number = || -> Result<usize, Box<dyn Error>> { Ok(arguments.next().ok_or("DEGREE ROWS")?.parse()?) };
    let (degree, rows) = (number()?, number()?);
    let set =
        BfvParameters::default_parameters_128(BITS)?.find(|set| set.degree() == degree).ok_or("no such degree")?;
    let values: Vec<i64> = (0..rows as i64).map(|i| i * 7919 % 1_000_003 - 500_000).collect();
    let secret = SecretKey::random(&set, &mut rand::rng());
    let public = PublicKey::new(&secret, &mut rand::rng());
    let (column, encrypt) = encrypted(&public, &values, &set)?;
    let (owned, encrypt_private) = encrypted(&secret, &values, &set)?;

    let start = Instant::now();
    let found = decrypted(&secret, &column)?;
    let decrypt = start.elapsed().as_secs_f64();
    assert!(values.chunks(degree).zip(&found).all(|(values, found)| found[..values.len()] == *values));

    let start = Instant::now();
    let sum: Vec<Ciphertext> = column.iter().zip(&owned).map(|(x, y)| x + y).collect();
    let add = start.elapsed().as_secs_f64();
    let t = set.plaintext() as i64;
    for (values, found) in values.chunks(degree).zip(decrypted(&secret, &sum)?) {
        assert!(values.iter().zip(found).all(|(value, found)| (2 * value - found) % t == 0));
    }
    let bytes = |column: &[Ciphertext]| column[0].to_bytes().len() as f64 / degree as f64;
    println!(
        r#"{{"encrypt":{encrypt},"encrypt_private":{encrypt_private},"decrypt":{decrypt},"add":{add},"bytes":{},"bytes_private":{}}}"#,
        bytes(&column),
        bytes(&owned)
    );
    Ok(())
}
