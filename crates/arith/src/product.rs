//! Products of many residues, in groups: what a sum of ciphertexts is.

use crate::Batch;
use crate::constants::Constants;
use crate::groups::{Moduli, for_groups};
use crate::kernel::{Kernel, Lanes, Space};
use crate::ring::{Ring, Workspace};

/// Longest chain of factors that one lane multiplies up.
const LONGEST: usize = 64;
/// Shortest chain worth a lane of its own.
const SHORTEST: usize = 16;

/// For each group the product of the rows of `factors` that it lists; every row is a canonical number or pair.
///
/// Groups are cut into chains, one a lane, longest first so that neighbouring lanes end together; the chains' products
/// are the factors of the next pass. A chain of `t` Montgomery products loses `R^(t-1)`, given back at its end; shorter
/// chains beside it are filled up with the number 1, so that all lanes lose the same.
pub(crate) fn products<R: Ring>(constants: &Constants, factors: &Batch, groups: &[impl AsRef<[u32]> + Sync]) -> Batch {
    let limbs = R::PARTS * constants.limbs();
    let rows: usize = groups.iter().map(|group| group.as_ref().len()).sum();
    let workers = R::Kernel::LANES * rayon::current_num_threads();
    let longest = (rows / workers).clamp(SHORTEST, LONGEST);
    let mut chains: Vec<(usize, &[u32])> = Vec::new();
    for (group, rows) in groups.iter().enumerate() {
        chains.extend(rows.as_ref().chunks(longest).map(|chain| (group, chain)));
    }
    chains.sort_by_key(|(_, chain)| std::cmp::Reverse(chain.len()));
    let partial = chain_products::<R>(constants, factors, &chains, limbs);

    let mut lists = vec![Vec::new(); groups.len()];
    for (row, (group, _)) in chains.iter().enumerate() {
        lists[*group].push(row as u32);
    }
    if lists.iter().any(|list| list.len() > 1) {
        return products::<R>(constants, &partial, &lists);
    }
    let mut one = vec![0; limbs];
    one[0] = 1;
    Batch::from_rows(limbs, lists.iter().map(|list| list.first().map_or(&one[..], |&row| partial.row(row as usize))))
}

/// The product of each chain.
fn chain_products<R: Ring>(constants: &Constants, factors: &Batch, chains: &[(usize, &[u32])], limbs: usize) -> Batch {
    let mut out = Batch::zeros(chains.len(), limbs);
    let moduli = Moduli::Shared(constants);
    let restore = Restore::<R>::new(constants, chains.first().map_or(0, |(_, chain)| chain.len()));
    let mut one = vec![0; limbs];
    one[0] = 1;
    for_groups::<R>(moduli, &mut out, |m, work, range, rows| {
        let width = R::width(m);
        let (mut product, mut factor) = (Space::<R::Kernel>::new(width), Space::<R::Kernel>::new(width));
        let chains = &chains[range];
        let mut lanes = Vec::with_capacity(chains.len());
        product.copy_from_slice(R::one(m));
        for step in 0..chains[0].1.len() {
            let row = |chain: &[u32]| chain.get(step).map_or(&one[..], |&row| factors.row(row as usize));
            // A pair's low and high part, or a number as a whole.
            for (part, words) in factor.chunks_exact_mut(m.k).enumerate() {
                lanes.clear();
                lanes.extend(chains.iter().map(|(_, chain)| &row(chain)[part * m.limbs..][..m.limbs]));
                R::Kernel::load(words, &lanes, 0);
            }
            work.mul_assign(m, &mut product, &factor);
        }
        work.finish(m, rows.chunks_exact_mut(limbs), &product, restore.after(chains[0].1.len()));
    });
    out
}

/// The powers `R^t`, `t = 0, 1, ...`, that give back what `t` Montgomery products lost.
struct Restore<R: Ring> {
    width: usize,
    powers: Space<R::Kernel>,
}

impl<R: Ring> Restore<R> {
    fn new(constants: &Constants, most: usize) -> Self {
        let m = Lanes::<R::Kernel>::new(&[constants]);
        let width = R::width(&m);
        let mut work = Workspace::<R>::new(m.k);
        let mut powers = Space::<R::Kernel>::new((most + 1) * width);
        // R^0 is the unit; a product by the residue of R moves up by one power.
        powers[..width].copy_from_slice(work.unit());
        for power in 1..=most {
            let (done, next) = powers.split_at_mut(power * width);
            let before = &done[(power - 1) * width..];
            R::mul(&m, &mut next[..width], before, &m.r2[..width], &mut work.scratch);
        }
        Restore { width, powers }
    }

    /// The factor for a chain of `products` products, the first of which is by the residue of 1.
    fn after(&self, products: usize) -> &[<R::Kernel as Kernel>::Word] {
        &self.powers[products * self.width..][..self.width]
    }
}
