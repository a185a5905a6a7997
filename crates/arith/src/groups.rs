//! Distribution of a batch's rows over lanes, and of groups of lanes over cores.

use crate::Batch;
use crate::constants::MontgomeryParams;
use crate::kernel::{Kernel, Lanes};
use crate::ring::{Ring, Workspace};
use rayon::prelude::*;
use std::ops::Range;

/// Maximum number of groups that a core takes at once if a group is only a product or two. It
/// limits how long an idle core waits for a core that is busy, even with other work.
const GROUPS_PER_TASK: usize = 16;

/// The moduli of a batch: one for all rows, or one per row.
#[derive(Clone, Copy)]
pub(crate) enum Moduli<'a> {
    Shared(&'a MontgomeryParams),
    Each(&'a [&'a MontgomeryParams]),
}

impl Moduli<'_> {
    /// The modulus that determines the common shape.
    pub(crate) fn first(&self) -> &MontgomeryParams {
        match self {
            Moduli::Shared(one) => one,
            Moduli::Each(all) => all[0],
        }
    }
}

/// Fills `out` group by group. `job` receives the constants of the lanes, a workspace, the range of
/// rows, and these rows of `out`. Groups run in parallel on rayon's current thread pool. Each
/// workspace serves one core for many groups.
pub(crate) fn for_groups<R: Ring>(
    moduli: Moduli<'_>,
    out: &mut Batch,
    job: impl Fn(&Lanes<R::Kernel>, &mut Workspace<R>, Range<usize>, &mut [u64]) + Sync,
) {
    for_groups_chunked::<R>(GROUPS_PER_TASK, moduli, out, job);
}

/// Like [`for_groups`], for groups of dozens of products or more: cores take one group at a time,
/// so that they finish together.
pub(crate) fn for_long_groups<R: Ring>(
    moduli: Moduli<'_>,
    out: &mut Batch,
    job: impl Fn(&Lanes<R::Kernel>, &mut Workspace<R>, Range<usize>, &mut [u64]) + Sync,
) {
    for_groups_chunked::<R>(1, moduli, out, job);
}

fn for_groups_chunked<R: Ring>(
    taken: usize,
    moduli: Moduli<'_>,
    out: &mut Batch,
    job: impl Fn(&Lanes<R::Kernel>, &mut Workspace<R>, Range<usize>, &mut [u64]) + Sync,
) {
    if out.is_empty() {
        return;
    }
    let (lanes, k) = (R::Kernel::LANES, moduli.first().k);
    let shared = Lanes::<R::Kernel>::new(&[moduli.first()]);
    let size = lanes * out.limbs();
    let limbs = out.limbs();
    let run = |workspace: &mut Workspace<R>, (group, rows): (usize, &mut [u64])| {
        let range = group * lanes..group * lanes + rows.len() / limbs;
        match moduli {
            Moduli::Shared(_) => job(&shared, workspace, range, rows),
            Moduli::Each(all) => {
                let one_modulus = all[range.clone()].iter().all(|one| std::ptr::eq(*one, moduli.first()));
                if one_modulus {
                    job(&shared, workspace, range, rows);
                } else {
                    job(&Lanes::new(&all[range.clone()]), workspace, range, rows);
                }
            }
        }
    };
    // With nothing to parallelise, handing the work to another thread may cost more than the work
    // itself.
    if out.len() <= R::Kernel::ALONE || rayon::current_num_threads() == 1 {
        let mut workspace = Workspace::new(k);
        return out.as_limbs_mut().chunks_mut(size).enumerate().for_each(|group| run(&mut workspace, group));
    }
    let groups = out.as_limbs_mut().par_chunks_mut(size).enumerate();
    groups.with_max_len(taken).for_each_init(|| Workspace::new(k), run);
}

/// The rows of a range, as input for the lanes of a group.
pub(crate) fn rows_of(batch: &Batch, range: Range<usize>) -> Vec<&[u64]> {
    range.map(|row| batch.row(row)).collect()
}
