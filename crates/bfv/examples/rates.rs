//! What one thread does: seconds to encrypt, add up and decrypt a column, as JSON, for `bench/python/compare_tenseal.py`.
//!
//! `cargo run --release --package hearith-bfv --example rates -- SET ENGINE ROWS GROUPS ROUNDS`

use hearith_bfv::{Ciphertext, Engine, Error, PrivateKey, Set, Sums};
use std::time::Instant;

const BITS: u32 = 97;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [set, engine, rows, groups, rounds] = &arguments[..] else {
        return Err("SET ENGINE ROWS GROUPS ROUNDS".into());
    };
    let (set, engine): (Set, Engine) = (set.parse()?, Engine::named(engine)?);
    let (rows, groups, rounds): (usize, usize, usize) = (rows.parse()?, groups.parse()?, rounds.parse()?);
    rayon::ThreadPoolBuilder::new().num_threads(1).build_global()?;
    let key = PrivateKey::generate(set, engine)?;
    let bits = if set == Set::Degree4096 { 40 } else { BITS };
    let values: Vec<i128> = (0..rows as i128).map(|i| i * 7919 % 1_000_003 - 500_000).collect();
    let group_of: Vec<u32> = (0..rows).map(|i| (i * 31 % groups) as u32).collect();
    for _ in 0..rounds {
        let all = |encrypt: &dyn Fn(&[i128]) -> Result<Ciphertext, Error>| {
            let start = Instant::now();
            let column: Result<Vec<Ciphertext>, Error> = values.chunks(set.degree()).map(encrypt).collect();
            column.map(|column| (column, start.elapsed().as_secs_f64()))
        };
        let (column, public) = all(&|values| key.public().encrypt(values, bits))?;
        let (owned, private) = all(&|values| key.encrypt(values, bits))?;
        let bytes =
            |column: &[Ciphertext]| column.iter().map(|c| c.to_bytes().len()).sum::<usize>() as f64 / rows as f64;

        let start = Instant::now();
        for (ciphertext, values) in column.iter().zip(values.chunks(set.degree())) {
            assert_eq!(&**key.decrypt(ciphertext)?, values);
        }
        let decrypt = start.elapsed().as_secs_f64();

        let start = Instant::now();
        let mut sums = Sums::new(key.public(), bits)?;
        for (ciphertext, group_of) in column.iter().zip(group_of.chunks(set.degree())) {
            sums.add(ciphertext, group_of, None)?;
        }
        let totals = sums.release()?;
        let sum = start.elapsed().as_secs_f64();

        let start = Instant::now();
        let found: Result<Vec<i128>, Error> = totals.iter().map(|total| key.decrypt_total(total)).collect();
        let totals = start.elapsed().as_secs_f64();
        let mut expected = vec![0; groups];
        values.iter().zip(&group_of).for_each(|(value, &group)| expected[group as usize] += value);
        assert_eq!(found?, expected);
        println!(
            "{{\"encrypt\":{public},\"encrypt_private\":{private},\"decrypt\":{decrypt},\"sum\":{sum},\"totals\":{totals},\
             \"bytes\":{},\"bytes_private\":{}}}",
            bytes(&column),
            bytes(&owned)
        );
    }
    Ok(())
}
