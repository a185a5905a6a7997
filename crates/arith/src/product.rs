//! Products of many residues in groups, for sums of ciphertexts.

use crate::Batch;
use crate::backend::with_kernel_for;
use crate::constants::{MontgomeryParams, Pair};
use crate::groups::{Moduli, for_groups, for_long_groups, rows_of};
use crate::kernel::{Kernel, Lanes, Space};
use crate::natural::{Secret, resized};
use crate::ring::{Plain, Ring, Word, Workspace};
use std::iter::repeat_n;
use std::sync::Arc;
use zeroize::Zeroizing;

/// Maximum length of a chain of factors in one lane.
const LONGEST: usize = 64;
/// Assumed chain length for estimating how many lanes the chains fill, which selects the kernel.
const FULL: usize = 16;

/// For each group, the product of the listed rows of `factors`. Every row is a canonical number.
///
/// Groups are cut into chains, one per lane, sorted by decreasing length so that neighbouring lanes
/// finish together. The products of the chains are the factors of the next pass, which has fewer
/// chains and may use another kernel. A chain of `t` factors loses a factor of `R^(t-1)`, which is
/// restored at its end. Shorter chains in the same group of lanes are padded with the number 1, so
/// all lanes lose the same factor.
pub(crate) fn products_of_groups(
    constants: &MontgomeryParams,
    factors: &Batch,
    groups: &[impl AsRef<[u32]> + Sync],
) -> Batch {
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

/// Like [`products_of_groups`], for a given ring, with canonical numbers or pairs.
pub(crate) fn products<R: Ring>(
    constants: &MontgomeryParams,
    factors: &Batch,
    groups: &[impl AsRef<[u32]> + Sync],
) -> Batch {
    products_in::<R>(Form::Plain, constants, factors, groups)
}

/// Number of lanes that the chains of these groups fill.
fn chains_of(groups: &[impl AsRef<[u32]>]) -> usize {
    groups.iter().map(|group| group.as_ref().len().div_ceil(FULL)).sum()
}

/// How numbers are represented.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// As themselves.
    Plain,
    /// Multiplied by `R`, as [`Workspace::canonicalise`] leaves them. Chains of such numbers lose
    /// no factor.
    Montgomery,
}

/// Like [`products`], for factors and products in either form.
pub(crate) fn products_in<R: Ring>(
    form: Form,
    constants: &MontgomeryParams,
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
    /// Whether every group has at most one row.
    fn is_whole(&self) -> bool {
        self.groups.iter().all(|group| group.len() <= 1)
    }

    /// The rows in the order of the groups; `one` for an empty group.
    fn into_products(self, one: &[u64]) -> Batch {
        let row = |group: &Vec<u32>| group.first().map_or(one, |&row| self.rows.row(row as usize));
        Batch::from_rows(one.len(), self.groups.iter().map(row))
    }
}

/// The number 1 in the given form.
fn one_of<R: Ring>(form: Form, constants: &MontgomeryParams) -> Secret {
    match form {
        Form::Plain => resized(&[1], R::PARTS * constants.limbs()),
        Form::Montgomery => row_of::<R>(&constants.one),
    }
}

/// Cuts groups into chains and multiplies each chain.
fn pass<R: Ring>(
    form: Form,
    constants: &MontgomeryParams,
    factors: &Batch,
    groups: &[impl AsRef<[u32]> + Sync],
) -> Partial {
    let rows: usize = groups.iter().map(|group| group.as_ref().len()).sum();
    let workers = R::Kernel::LANES * rayon::current_num_threads();
    // A chain's end costs about two products, so chains have at least as many factors as a kernel
    // has lanes.
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

/// The product of each chain. Shorter ones are padded with `one`.
fn chain_products<R: Ring>(
    form: Form,
    constants: &MontgomeryParams,
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
        // The group that this core will probably process next.
        let next = &chains[range.end..chains.len().min(range.end + R::Kernel::LANES)];
        let chains = &chains[range];
        let mut lanes = Vec::with_capacity(chains.len());
        let mut load = |words: &mut [Word<R>], step: usize| {
            let row = |chain: &[u32]| chain.get(step).map_or(one, |&row| factors.row(row as usize));
            load_parts::<R>(m, words, chains.iter().map(|chain| row(chain)), &mut lanes);
        };
        let longest = chains[0].len();
        // Rows are scattered over more memory than fits in a cache.
        let mut ahead = Vec::with_capacity(chains.len());
        let mut prefetch = |step: usize| {
            let (chains, step) = if step < longest { (chains, step) } else { (next, step - longest) };
            ahead.clear();
            ahead.extend(chains.iter().filter_map(|chain| chain.get(step)).map(|&row| factors.row(row as usize)));
            R::Kernel::prefetch(&ahead);
        };
        // Two steps ahead, because the first product of a chain immediately follows its first two
        // factors.
        load(&mut product, 0);
        prefetch(2);
        for step in 1..longest {
            load(&mut factor, step);
            prefetch(step + 2);
            work.mul_assign(m, &mut product, &factor);
        }
        let rows = rows.chunks_exact_mut(limbs);
        let Some(power) = powers.get(longest - 1) else { return work.canonicalise(m, rows, &product) };
        load_parts::<R>(m, &mut factor, repeat_n(&power[..], R::Kernel::LANES), &mut lanes);
        work.mul_to_canonical(m, rows, &product, &factor);
    });
    out
}

/// Loads rows of canonical numbers or pairs (low part, then high part) into lanes. `lanes` is a
/// reusable buffer.
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

/// At least `most` of the powers `R, R^2, ...`, which restore the factor that Montgomery products
/// lose: `t - 1` products and the restoring product itself lose `R^t`.
fn powers<R: Ring>(constants: &MontgomeryParams, most: usize) -> Arc<Vec<Secret>> {
    constants.powers(R::PARTS, most, |powers| more_powers::<R>(constants, powers, most))
}

/// Extends the powers. The Montgomery products of `s` powers with the last one give `s - 1` more,
/// in parallel lanes.
fn more_powers<R: Ring>(constants: &MontgomeryParams, powers: &mut Vec<Secret>, most: usize) {
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
            work.mul_to_canonical(&m, next.iter_mut().map(|row| &mut row[..]), &a, &b);
            powers.append(&mut next);
        }
    }
}

/// A constant as a row.
fn row_of<R: Ring>((low, high): &Pair) -> Secret {
    Zeroizing::new([&low[..], &high[..]][..R::PARTS].concat())
}

/// The canonical Montgomery residues of numbers of any width: factors of [`Form::Montgomery`].
pub(crate) fn to_montgomery<R: Ring>(constants: &MontgomeryParams, numbers: &Batch) -> Batch {
    let mut out = Batch::zeros(numbers.len(), R::PARTS * constants.limbs());
    for_groups::<R>(Moduli::Shared(constants), &mut out, |m, work, range, rows| {
        let mut residues = Space::<R::Kernel>::new(R::width(m));
        work.enter(m, &mut residues, &rows_of(numbers, range));
        work.canonicalise(m, rows.chunks_exact_mut(R::PARTS * m.limbs), &residues);
    });
    out
}
