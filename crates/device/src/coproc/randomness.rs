//! Random numbers for encryption, from the operating system's generator.

use hearith_arith::{Batch, natural};
use hearith_paillier::ErrorKind as SchemeErrorKind;
use zeroize::Zeroizing;

use crate::{Error, ErrorKind};

/// Rows uniform below `2^bits`.
pub(super) fn bits(len: usize, limbs: usize, bits: u32) -> Result<Batch, Error> {
    let mut batch = Batch::zeros(len, limbs);
    batch.rows_mut().try_for_each(|row| draw(row, bits))?;
    Ok(batch)
}

/// Rows uniform in `[1, n)`. A row outside is drawn again, which reveals nothing about the row that
/// is kept. A row may share a factor with `n`, but the probability is not worth a check except for
/// keys of test sizes.
pub(super) fn residues(len: usize, n: &[u64]) -> Result<Batch, Error> {
    let length = natural::bit_length(n);
    let mut batch = Batch::zeros(len, n.len());
    for row in batch.rows_mut() {
        loop {
            draw(row, length)?;
            if natural::less(row, n) & (1 ^ natural::is_zero(row)) == 1 {
                break;
            }
        }
    }
    Ok(batch)
}

/// Selects `count` distinct rows below `len`, at most `len`, unpredictably. The result is public.
pub(super) fn sample(len: usize, count: usize) -> Result<Vec<usize>, Error> {
    let mut rows: Vec<usize> = (0..len).collect();
    let chosen = count.min(len);
    for at in 0..chosen {
        let mut word = [0];
        draw(&mut word, 64)?;
        // The bias of a 64-bit remainder is negligible here.
        rows.swap(at, at + (word[0] % (len - at) as u64) as usize);
    }
    rows.truncate(chosen);
    Ok(rows)
}

fn draw(row: &mut [u64], bits: u32) -> Result<(), Error> {
    let mut bytes = Zeroizing::new(vec![0; 8 * row.len()]);
    getrandom::fill(&mut bytes).map_err(|error| ErrorKind::Scheme(SchemeErrorKind::Randomness(error)))?;
    for (limb, bytes) in row.iter_mut().zip(bytes.chunks_exact(8)) {
        *limb = bytes.iter().fold(0, |value, &byte| value << 8 | u64::from(byte));
    }
    natural::clear_bits_from(row, bits);
    Ok(())
}
