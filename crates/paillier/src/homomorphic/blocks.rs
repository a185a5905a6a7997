//! Multi-step operations on blocks of rows. Intermediate results stay in the cache, and all threads
//! compute and wipe them.

use hearith_arith::Batch;
use rayon::prelude::*;
use std::ops::Range;

/// Rows per block: enough to fill threads and vectors, and few enough for a core's own cache.
const ROWS: usize = 256;

/// Computes rows of `limbs` limbs by applying `work` to ranges of rows in parallel.
///
/// # Errors
/// The error of the first range that fails.
pub(super) fn by_blocks<E: Send>(
    rows: usize,
    limbs: usize,
    work: impl Fn(Range<usize>) -> Result<Batch, E> + Sync,
) -> Result<Batch, E> {
    if rows <= ROWS {
        return work(0..rows);
    }
    let mut out = Batch::zeros(rows, limbs);
    let blocks = out.as_limbs_mut().par_chunks_mut(ROWS * limbs).enumerate().map(|(block, out_rows)| {
        let start = block * ROWS;
        out_rows.copy_from_slice(work(start..start + out_rows.len() / limbs)?.as_limbs());
        Ok(())
    });
    // Computes all blocks before checking for errors, so the error is the first row's, whichever
    // core was faster.
    blocks.collect::<Vec<_>>().into_iter().collect::<Result<(), E>>()?;
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rows of two limbs that contain their row number.
    fn numbered(rows: Range<usize>) -> Batch {
        let rows: Vec<[u64; 2]> = rows.map(|row| [row as u64, 7]).collect();
        Batch::from_rows(2, rows.iter().map(|row| &row[..]))
    }

    #[test]
    fn every_row_is_where_it_belongs() {
        for rows in [0, 1, ROWS, ROWS + 1, 5 * ROWS - 1] {
            assert_eq!(by_blocks(rows, 2, |range| Ok::<_, ()>(numbered(range))), Ok(numbered(0..rows)), "{rows}");
        }
    }

    #[test]
    fn an_error_of_one_block_is_the_whole_ones() {
        let failing = |range: Range<usize>| if range.contains(&(3 * ROWS)) { Err("here") } else { Ok(numbered(range)) };
        assert_eq!(by_blocks(3 * ROWS, 2, failing), Ok(numbered(0..3 * ROWS)));
        assert_eq!(by_blocks(4 * ROWS, 2, failing), Err("here"));
    }

    #[test]
    fn of_several_errors_the_first_is_told() {
        // The first block fails last.
        let failing = |range: Range<usize>| {
            std::thread::sleep(std::time::Duration::from_millis(if range.start == 0 { 50 } else { 0 }));
            Err(range.start)
        };
        for _ in 0..5 {
            assert_eq!(by_blocks(8 * ROWS, 2, failing), Err(0));
        }
    }
}
