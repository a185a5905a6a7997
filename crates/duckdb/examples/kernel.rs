//! The kernel of `he_sum` alone: sums of ciphertexts by groups, in memory.
//! `bench/python/duckdb_sum.py` runs it.
//!
//! Usage: `kernel KEY FILE GROUPS`, with the key's JSON Web Key and a file of consecutive
//! ciphertexts, of which row `i` is in group `i mod GROUPS`. For each line on standard input, it
//! sums once and prints two times in seconds: with the ciphertexts in memory as numbers, and
//! including reading them from bytes.

use std::error::Error;
use std::io::{BufRead, Write};
use std::time::Instant;

use hearith_paillier::{Engine, KeyPolicy, PublicKey};

fn main() -> Result<(), Box<dyn Error>> {
    let [key, file, groups] = &std::env::args().skip(1).collect::<Vec<_>>()[..] else {
        return Err("usage: kernel KEY FILE GROUPS".into());
    };
    let key = PublicKey::from_jwk(&std::fs::read_to_string(key)?, KeyPolicy::Secure, Engine::from_env()?)?;
    let bytes = std::fs::read(file)?;
    let ciphertexts = key.ciphertexts_from_be(&bytes)?;
    let groups: usize = groups.parse()?;
    let rows = ciphertexts.len();
    let members: Vec<Vec<u32>> =
        (0..groups).map(|group| (group..rows).step_by(groups).map(|row| row as u32).collect()).collect();
    println!("{} {} {}", key.engine(), rayon::current_num_threads(), rows);
    for line in std::io::stdin().lock().lines() {
        line?;
        let start = Instant::now();
        let sums = key.sum_groups(&ciphertexts, &members)?;
        let alone = start.elapsed().as_secs_f64();
        let start = Instant::now();
        let read = key.sum_groups(&key.ciphertexts_from_be(&bytes)?, &members)?;
        let reading = start.elapsed().as_secs_f64();
        assert!(sums == read, "the same sums");
        println!("{alone} {reading}");
        std::io::stdout().flush()?;
    }
    Ok(())
}
