//! Products of many residues, in groups: sums of ciphertexts.

use crate::Batch;
use crate::backend::with_kernel_for;
use crate::constants::{Constants, Pair};
use crate::groups::{Moduli, for_groups, for_long_groups, rows_of};
use crate::kernel::{Kernel, Lanes, Space};
use crate::natural::{Secret, resized};
use crate::ring::{Plain, Ring, Word, Workspace};
use std::iter::repeat_n;
use std::sync::Arc;
use zeroize::Zeroizing;

/// Longest chain of factors that one lane multiplies up.
const LONGEST: usize = 64;
/// Chains of so many factors fill as many lanes as it takes for a kernel of many to be the sooner.
const FULL: usize = 16;

/// For each group the product of the rows of `factors` that it lists; every row is a canonical
/// number.
///
/// Groups are cut into chains, one a lane, longest first so that neighbouring lanes end together;
/// the chains' products are the factors of the next pass, which may have another kernel: it has
/// fewer chains. A chain of `t` factors loses `R^(t-1)`, given back at its end; shorter chains
/// beside it are filled up with the number 1, so that all lanes lose the same.
pub(crate) fn products_of_groups(constants: &Constants, factors: &Batch, groups: &[impl AsRef<[u32]> + Sync]) -> Batch {
    let mut partial = with_kernel_for!(constants, chains_of(groups), K => {
        pass::<Plain<K>>(Form::Plain, constants, factors, groups)
    });
    while !partial.is_whole() {
        let Partial { rows, groups } = partial;
        partial = with_kernel_for!(constants, chains_of(&groups), K => {
            pass::<Plain<K>>(Form::Plain, constants, &rows, &groups)
        });
    }
    partial.into_products(&resized(&[1], constants.limbs()))
}

/// The same in a ring of one's own choice, of canonical numbers or pairs.
pub(crate) fn products<R: Ring>(constants: &Constants, factors: &Batch, groups: &[impl AsRef<[u32]> + Sync]) -> Batch {
    products_in::<R>(Form::Plain, constants, factors, groups)
}

/// How many lanes the chains of so short groups fill.
fn chains_of(groups: &[impl AsRef<[u32]>]) -> usize {
    groups.iter().map(|group| group.as_ref().len().div_ceil(FULL)).sum()
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
    let mut partial = pass::<R>(form, constants, factors, groups);
    while !partial.is_whole() {
        let Partial { rows, groups } = partial;
        partial = pass::<R>(form, constants, &rows, &groups);
    }
    partial.into_products(&one_of::<R>(form, constants))
}

/// The products of the chains of each group.
struct Partial {
    rows: Batch,
    groups: Vec<Vec<u32>>,
}

impl Partial {
    /// Whether no group has more than one row.
    fn is_whole(&self) -> bool {
        self.groups.iter().all(|group| group.len() <= 1)
    }

    /// The rows in the groups' order; a group without any is `one`.
    fn into_products(self, one: &[u64]) -> Batch {
        let row = |group: &Vec<u32>| group.first().map_or(one, |&row| self.rows.row(row as usize));
        Batch::from_rows(one.len(), self.groups.iter().map(row))
    }
}

/// The number 1 in a form.
fn one_of<R: Ring>(form: Form, constants: &Constants) -> Secret {
    match form {
        Form::Plain => resized(&[1], R::PARTS * constants.limbs()),
        Form::Montgomery => row_of::<R>(&constants.one),
    }
}

/// Cuts groups into chains and multiplies each up.
fn pass<R: Ring>(form: Form, constants: &Constants, factors: &Batch, groups: &[impl AsRef<[u32]> + Sync]) -> Partial {
    let rows: usize = groups.iter().map(|group| group.as_ref().len()).sum();
    let workers = R::Kernel::LANES * rayon::current_num_threads();
    // A chain's end costs about two products, so chains are not shorter than a kernel has lanes.
    let longest = rows.div_ceil(workers).clamp(R::Kernel::LANES.max(2), LONGEST);
    let chains: Vec<&[u32]> = groups.iter().flat_map(|group| group.as_ref().chunks(longest)).collect();
    let mut order: Vec<usize> = (0..chains.len()).collect();
    order.sort_by_key(|&chain| std::cmp::Reverse(chains[chain].len()));
    let sorted: Vec<&[u32]> = order.iter().map(|&chain| chains[chain]).collect();
    let rows = chain_products::<R>(form, constants, factors, &sorted, &one_of::<R>(form, constants));

    let mut row_of_chain = vec![0; chains.len()];
    order.iter().enumerate().for_each(|(row, &chain)| row_of_chain[chain] = row as u32);
    let mut left = &row_of_chain[..];
    let groups = groups.iter().map(|group| {
        let (own, others) = left.split_at(group.as_ref().len().div_ceil(longest));
        left = others;
        own.to_vec()
    });
    Partial { rows, groups: groups.collect() }
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
        Form::Montgomery => Arc::default(),
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
fn powers<R: Ring>(constants: &Constants, most: usize) -> Arc<Vec<Secret>> {
    constants.powers(R::PARTS, most, |powers| more_powers::<R>(constants, powers, most))
}

/// Of `s` powers, the Montgomery products with the last one are `s - 1` more, side by side in
/// lanes.
fn more_powers<R: Ring>(constants: &Constants, powers: &mut Vec<Secret>, most: usize) {
    if powers.is_empty() {
        powers.extend([row_of::<R>(&constants.one), row_of::<R>(&constants.r2)]);
    }
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
}

/// A constant as a row.
fn row_of<R: Ring>((low, high): &Pair) -> Secret {
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
