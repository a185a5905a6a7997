//! Measures one thread: seconds to encrypt, sum and decrypt a column, as JSON, for
//! `bench/python/compare_lattice.py`.
//!
//! `cargo run --release --package hearith-bfv --example rates -- SET ENGINE ROWS GROUPS`

use hearith_bfv::{Ciphertext, Engine, Error, PrivateKey, Set, Sums, Total};
use std::time::Instant;

/// Number of partial sums of a column, which are then added.
const PARTS: usize = 10;

/// Bits of a plaintext, and the largest number: 20 bits with a budget for more than 2^32 additions,
/// or the limits of the smallest set.
fn plaintexts(set: Set) -> (u32, i128) {
    if set == Set::Degree4096 { (28, 500) } else { (97, 500_000) }
}

/// The result of `work`, and its time in seconds.
fn timed<T>(work: impl FnOnce() -> Result<T, Error>) -> Result<(T, f64), Error> {
    let start = Instant::now();
    let made = work()?;
    Ok((made, start.elapsed().as_secs_f64()))
}

/// An encrypted column, with its groups and weights.
struct Column<'a> {
    key: &'a PrivateKey,
    bits: u32,
    pieces: Vec<Ciphertext>,
    groups: Vec<u32>,
    weights: Vec<i64>,
}

impl Column<'_> {
    /// The sums of some of the pieces by group.
    fn sums(&self, pieces: std::ops::Range<usize>, weighted: bool) -> Result<Vec<Total>, Error> {
        let degree = self.key.public().set().degree();
        let (groups, weights) = (self.groups.chunks(degree), self.weights.chunks(degree));
        let mut sums = Sums::new(self.key.public(), self.bits)?;
        for ((piece, groups), weights) in
            self.pieces.iter().zip(groups).zip(weights).take(pieces.end).skip(pieces.start)
        {
            sums.add(piece, groups, weighted.then_some(weights))?;
        }
        sums.release()
    }

    /// The sums in parts, each released separately, as by separate workers.
    fn parts(&self) -> Result<Vec<Vec<Total>>, Error> {
        let each = self.pieces.len().div_ceil(PARTS);
        (0..PARTS).map(|part| self.sums(part * each..(part + 1) * each, true)).collect()
    }

    /// Adds the parts.
    fn again(&self, parts: &[Vec<Total>]) -> Result<Vec<Total>, Error> {
        let mut sums = Sums::new(self.key.public(), self.bits)?;
        for (group, total) in parts.iter().flat_map(|part| part.iter().enumerate()) {
            sums.add_total(total, group as u32)?;
        }
        sums.release()
    }

    /// Compares totals with the expected sums, and returns the time for decrypting them in seconds.
    fn check(&self, totals: &[Total], values: &[i128], weighted: bool) -> Result<f64, Error> {
        let decrypted =
            || totals.iter().map(|total| self.key.decrypt_total(total)).collect::<Result<Vec<i128>, Error>>();
        let (found, seconds) = timed(decrypted)?;
        let mut expected = vec![0; totals.len()];
        for ((value, &group), &weight) in values.iter().zip(&self.groups).zip(&self.weights) {
            expected[group as usize] += value * if weighted { i128::from(weight) } else { 1 };
        }
        assert_eq!(found, expected);
        Ok(seconds)
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [set, engine, rows, groups] = &arguments[..] else {
        return Err("SET ENGINE ROWS GROUPS".into());
    };
    let (set, engine): (Set, Engine) = (set.parse()?, Engine::named(engine)?);
    let (rows, groups): (usize, usize) = (rows.parse()?, groups.parse()?);
    rayon::ThreadPoolBuilder::new().num_threads(1).build_global()?;
    let key = PrivateKey::generate(set, engine)?;
    let (bits, largest) = plaintexts(set);
    let values: Vec<i128> = (0..rows as i128).map(|i| i * 7919 % (2 * largest + 1) - largest).collect();
    let encrypted = |encrypt: &dyn Fn(&[i128]) -> Result<Ciphertext, Error>| {
        timed(|| values.chunks(set.degree()).map(encrypt).collect::<Result<Vec<Ciphertext>, Error>>())
    };
    let (pieces, encrypt) = encrypted(&|values| key.public().encrypt(values, bits))?;
    let (owned, encrypt_private) = encrypted(&|values| key.encrypt(values, bits))?;
    let column = Column {
        key: &key,
        bits,
        pieces,
        groups: (0..rows).map(|i| (i * 31 % groups) as u32).collect(),
        weights: (0..rows as i64).map(|i| i * 37 % 21 - 10).collect(),
    };

    let pairs = || column.pieces.iter().zip(&owned).map(|(x, y)| key.public().add(x, y)).collect::<Result<Vec<_>, _>>();
    let (added, add) = timed(pairs)?;
    for (sum, values) in added.iter().zip(values.chunks(set.degree())) {
        assert!(key.decrypt(sum)?.iter().zip(values).all(|(sum, value)| *sum == 2 * value));
    }
    let decrypt = || column.pieces.iter().map(|piece| key.decrypt(piece)).collect::<Result<Vec<_>, _>>();
    let (found, decrypt) = timed(decrypt)?;
    assert!(found.iter().zip(values.chunks(set.degree())).all(|(found, values)| **found == values));

    let all = 0..column.pieces.len();
    let (totals, sum) = timed(|| column.sums(all.clone(), false))?;
    let seconds_totals = column.check(&totals, &values, false)?;
    let (weighted, sum_weighted) = timed(|| column.sums(all, true))?;
    column.check(&weighted, &values, true)?;
    let (parts, sum_parts) = timed(|| column.parts())?;
    let (whole, again) = timed(|| column.again(&parts))?;
    column.check(&whole, &values, true)?;

    let bytes = |column: &[Ciphertext]| column.iter().map(|c| c.to_bytes().len()).sum::<usize>() as f64 / rows as f64;
    let least = |totals: &[Total]| totals.iter().map(Total::budget).min().unwrap_or(0);
    println!(
        "{{\"encrypt\":{encrypt},\"encrypt_private\":{encrypt_private},\"decrypt\":{decrypt},\"add\":{add},\"sum\":{sum},\
         \"totals\":{seconds_totals},\"weighted\":{sum_weighted},\"parts\":{sum_parts},\"again\":{again},\"bytes\":{},\"bytes_private\":{},\
         \"bits\":{bits},\"budgets\":{{\"fresh\":{},\"sum\":{},\"weighted\":{},\"again\":{}}}}}",
        bytes(&column.pieces),
        bytes(&owned),
        column.pieces[0].budget(),
        least(&totals),
        least(&weighted),
        least(&whole),
    );
    Ok(())
}
