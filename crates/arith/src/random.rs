//! Random numbers from the operating system's generator.

use crate::Batch;
use crate::natural::clear_bits_from;
use getrandom::Error;
use rayon::prelude::*;

/// Number of limbs that a thread draws at once.
const CHUNK: usize = 1 << 11;
/// Minimum number of chunks for several threads: the system's generator is slower than memory.
const MANY: usize = 16;

/// Overwrites the limbs with random ones.
///
/// # Errors
/// If the operating system's generator fails.
pub fn fill(limbs: &mut [u64]) -> Result<(), Error> {
    if limbs.len() < MANY * CHUNK {
        return fill_here(limbs);
    }
    limbs.par_chunks_mut(CHUNK).try_for_each(fill_here)
}

/// Draws directly into the limbs, which leaves no copy to wipe.
fn fill_here(limbs: &mut [u64]) -> Result<(), Error> {
    // SAFETY: bytes need no alignment, and any eight bytes are a limb.
    let (_, bytes, _) = unsafe { limbs.align_to_mut::<u8>() };
    getrandom::fill(bytes)
}

/// `len` numbers, uniform below `2^bits`, with `limbs` limbs each.
///
/// # Errors
/// If the operating system's generator fails.
pub fn bits(len: usize, limbs: usize, bits: u32) -> Result<Batch, Error> {
    let mut batch = Batch::zeros(len, limbs);
    fill(batch.as_limbs_mut())?;
    for row in batch.rows_mut() {
        clear_bits_from(row, bits);
    }
    Ok(batch)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_are_as_many_as_asked_for() {
        let batch = bits(400, 3, 70).unwrap();
        let any = batch.rows().fold([0; 3], |any, row| [any[0] | row[0], any[1] | row[1], any[2] | row[2]]);
        assert_eq!(any, [u64::MAX, 63, 0]);
        assert!(bits(5, 2, 0).unwrap().as_limbs().iter().all(|&limb| limb == 0));
    }

    #[test]
    fn long_batches_are_filled_to_the_end() {
        for chunks in [2, MANY, 3 * MANY] {
            let batch = bits(chunks * CHUNK + 3, 1, 64).unwrap();
            assert!(batch.rows().all(|row| row[0] != 0));
        }
    }
}
