//! Products of many residues, in groups: what a sum of ciphertexts is.

use crate::Batch;
use crate::constants::{Constants, Pair};
use crate::groups::{Moduli, for_groups, for_long_groups, rows_of};
use crate::kernel::{Kernel, Lanes, Space};
use crate::natural::resized;
use crate::ring::{Ring, Word, Workspace};
use std::iter::repeat_n;
use zeroize::Zeroizing;

/// Longest chain of factors that one lane multiplies up.
const LONGEST: usize = 64;
/// Shortest chain worth a lane of its own.
const SHORTEST: usize = 16;

/// For each group the product of the rows of `factors` that it lists; every row is a canonical
/// number or pair.
///
/// Groups are cut into chains, one a lane, longest first so that neighbouring lanes end together;
/// the chains' products are the factors of the next pass. A chain of `t` factors loses `R^(t-1)`,
/// given back at its end; shorter chains beside it are filled up with the number 1, so that all
/// lanes lose the same.
pub(crate) fn products<R: Ring>(constants: &Constants, factors: &Batch, groups: &[impl AsRef<[u32]> + Sync]) -> Batch {
    products_in::<R>(Form::Plain, constants, factors, groups)
}

/// How many lanes the chains of so short groups fill.
pub(crate) fn chains_of(groups: &[impl AsRef<[u32]>]) -> usize {
    groups.iter().map(|group| group.as_ref().len().div_ceil(SHORTEST)).sum()
}

/// What numbers stand for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// Themselves.
    Plain,
    /// Their `R`-th part, as [`Workspace::settle`] leaves it: of such chains nothing is lost.
    Montgomery,
}

/// The same for factors and products in either form.
pub(crate) fn products_in<R: Ring>(
    form: Form,
    constants: &Constants,
    factors: &Batch,
    groups: &[impl AsRef<[u32]> + Sync],
) -> Batch {
    let limbs = R::PARTS * constants.limbs();
    let rows: usize = groups.iter().map(|group| group.as_ref().len()).sum();
    let workers = R::Kernel::LANES * rayon::current_num_threads();
    let longest = (rows / workers).clamp(SHORTEST, LONGEST);
    let (mut chains, mut ends) = (Vec::new(), Vec::with_capacity(groups.len()));
    for group in groups {
        chains.extend(group.as_ref().chunks(longest));
        ends.push(chains.len());
    }
    let mut order: Vec<usize> = (0..chains.len()).collect();
    order.sort_by_key(|&chain| std::cmp::Reverse(chains[chain].len()));
    let one = match form {
        Form::Plain => resized(&[1], limbs),
        Form::Montgomery => row_of::<R>(&constants.one),
    };
    let sorted: Vec<&[u32]> = order.iter().map(|&chain| chains[chain]).collect();
    let partial = chain_products::<R>(form, constants, factors, &sorted, &one);

    let mut rows_of_chains = vec![0; chains.len()];
    order.iter().enumerate().for_each(|(row, &chain)| rows_of_chains[chain] = row as u32);
    let begins = std::iter::once(0).chain(ends.iter().copied());
    let lists: Vec<&[u32]> = begins.zip(&ends).map(|(begin, &end)| &rows_of_chains[begin..end]).collect();
    if lists.iter().any(|list| list.len() > 1) {
        return products_in::<R>(form, constants, &partial, &lists);
    }
    Batch::from_rows(limbs, lists.iter().map(|list| list.first().map_or(&one[..], |&row| partial.row(row as usize))))
}

/// The product of each chain; shorter ones are filled up with `one`.
fn chain_products<R: Ring>(
    form: Form,
    constants: &Constants,
    factors: &Batch,
    chains: &[&[u32]],
    one: &[u64],
) -> Batch {
    let limbs = one.len();
    let mut out = Batch::zeros(chains.len(), limbs);
    let moduli = Moduli::Shared(constants);
    let powers = match form {
        Form::Plain => powers::<R>(constants, chains.first().map_or(0, |chain| chain.len())),
        Form::Montgomery => Vec::new(),
    };
    for_long_groups::<R>(moduli, &mut out, |m, work, range, rows| {
        let width = R::width(m);
        let (mut product, mut factor) = (Space::<R::Kernel>::new(width), Space::<R::Kernel>::new(width));
        // The group that this core is likely to take next.
        let next = &chains[range.end..chains.len().min(range.end + R::Kernel::LANES)];
        let chains = &chains[range];
        let mut lanes = Vec::with_capacity(chains.len());
        let mut load = |words: &mut [Word<R>], step: usize| {
            let row = |chain: &[u32]| chain.get(step).map_or(one, |&row| factors.row(row as usize));
            load_parts::<R>(m, words, chains.iter().map(|chain| row(chain)), &mut lanes);
        };
        let longest = chains[0].len();
        // Rows lie anywhere in more memory than a cache holds.
        let mut ahead = Vec::with_capacity(chains.len());
        let mut prefetch = |step: usize| {
            let (chains, step) = if step < longest { (chains, step) } else { (next, step - longest) };
            ahead.clear();
            ahead.extend(chains.iter().filter_map(|chain| chain.get(step)).map(|&row| factors.row(row as usize)));
            R::Kernel::prefetch(&ahead);
        };
        // Two steps ahead: the first product of a chain follows its first two factors at once.
        load(&mut product, 0);
        prefetch(2);
        for step in 1..longest {
            load(&mut factor, step);
            prefetch(step + 2);
            work.mul_assign(m, &mut product, &factor);
        }
        let rows = rows.chunks_exact_mut(limbs);
        let Some(power) = powers.get(longest - 1) else { return work.settle(m, rows, &product) };
        load_parts::<R>(m, &mut factor, repeat_n(&power[..], R::Kernel::LANES), &mut lanes);
        work.finish(m, rows, &product, &factor);
    });
    out
}

/// Brings rows of canonical numbers or pairs, a low part and a high part, into lanes; `lanes` is
/// room for them.
pub(crate) fn load_parts<'a, R: Ring>(
    m: &Lanes<R::Kernel>,
    words: &mut [Word<R>],
    rows: impl Iterator<Item = &'a [u64]> + Clone,
    lanes: &mut Vec<&'a [u64]>,
) {
    for (part, words) in words.chunks_exact_mut(m.k).enumerate() {
        lanes.clear();
        lanes.extend(rows.clone().map(|row| &row[part * m.limbs..][..m.limbs]));
        R::Kernel::load(words, lanes, 0);
    }
}

/// The powers `R, R^2, ...`, at least `most` of them, which give back what Montgomery products
/// lost: `t - 1` of them and the one that gives back lose `R^t`.
///
/// Of `s` powers, the Montgomery products with the last one are `s - 1` more, side by side in
/// lanes.
fn powers<R: Ring>(constants: &Constants, most: usize) -> Vec<Zeroizing<Vec<u64>>> {
    let mut powers = vec![row_of::<R>(&constants.one), row_of::<R>(&constants.r2)];
    let m = Lanes::<R::Kernel>::new(&[constants]);
    let mut work = Workspace::<R>::new(m.k);
    let (mut a, mut b) = (Space::<R::Kernel>::new(R::width(&m)), Space::<R::Kernel>::new(R::width(&m)));
    while powers.len() < most {
        let known = powers.len();
        load_parts::<R>(&m, &mut b, repeat_n(&powers[known - 1][..], R::Kernel::LANES), &mut Vec::new());
        for first in (1..known.min(most - known + 1)).step_by(R::Kernel::LANES) {
            let rows = &powers[first..known.min(first + R::Kernel::LANES)];
            load_parts::<R>(&m, &mut a, rows.iter().map(|row| &row[..]), &mut Vec::new());
            let mut next = vec![Zeroizing::new(vec![0; powers[0].len()]); rows.len()];
            work.finish(&m, next.iter_mut().map(|row| &mut row[..]), &a, &b);
            powers.append(&mut next);
        }
    }
    powers
}

/// A constant as a row.
fn row_of<R: Ring>((low, high): &Pair) -> Zeroizing<Vec<u64>> {
    Zeroizing::new([&low[..], &high[..]][..R::PARTS].concat())
}

/// The Montgomery residues of numbers of any width, canonical: factors of [`Form::Montgomery`].
pub(crate) fn entered<R: Ring>(constants: &Constants, numbers: &Batch) -> Batch {
    let mut out = Batch::zeros(numbers.len(), R::PARTS * constants.limbs());
    for_groups::<R>(Moduli::Shared(constants), &mut out, |m, work, range, rows| {
        let mut residues = Space::<R::Kernel>::new(R::width(m));
        work.enter(m, &mut residues, &rows_of(numbers, range));
        work.settle(m, rows.chunks_exact_mut(R::PARTS * m.limbs), &residues);
    });
    out
}
