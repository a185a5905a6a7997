//! Conversion of numbers to residues.

use super::{NARROW, broadcast, digits, fractions, lanes, limbs_of, scaled, store};
use crate::basis::System;
use crate::convert::Numbers;
use hearith_arith::ifma::{Octet, RADIX};
use hearith_arith::natural::bit_length;
use std::arch::x86_64::{
    __m512i, _mm_cvtsi64_si128, _mm512_i64gather_epi64, _mm512_madd52hi_epu64, _mm512_madd52lo_epu64,
    _mm512_mask_storeu_epi64, _mm512_maskz_loadu_epi64, _mm512_min_epi64, _mm512_mullo_epi64, _mm512_or_si512,
    _mm512_set_epi64, _mm512_setzero_si512, _mm512_sll_epi64, _mm512_srl_epi64,
};
use std::ops::Range;

/// Number of groups whose fractions are computed at once: their sixteen sums and twelve digits fit
/// the registers.
const ABREAST: usize = 4;
/// Number of groups of eight numbers that a block processes in turn, which limits how many columns
/// are written at a time.
const TILE: usize = 4;

/// Moduli in groups with product `M`, where `4 n M <= 2^104` for numbers of `n` limbs. The fraction
/// of `x / M` is computed once per group, with four IFMA instructions per limb. Four more give the
/// residue for each modulus.
pub(super) struct Forward {
    /// `n`, the number of 52-bit limbs of a number.
    limbs: usize,
    blocks: Vec<Block>,
}

/// Up to [`ABREAST`] groups.
struct Block {
    groups: Vec<Group>,
    /// The index range of the moduli.
    members: Range<usize>,
    /// The factors, if every group consists of three narrow moduli: the usual case, whose loops are
    /// unrolled.
    triples: Option<Vec<[Factor; 3]>>,
    /// The digits of `1 / M` for [`fractions`].
    digits: Vec<u64>,
}

struct Group {
    /// The index range of the moduli.
    members: Range<usize>,
    /// Whether they are below [`NARROW`]. A wide modulus is alone in its group.
    narrow: bool,
    factors: Vec<Factor>,
}

/// A modulus `q` and its `M / q`, in two limbs each.
#[derive(Clone, Copy)]
struct Factor {
    q: [u64; 2],
    cofactor: [u64; 2],
}

impl Forward {
    pub(super) fn new(system: &System) -> Self {
        let limbs = bit_length(&system.product).div_ceil(RADIX) as usize;
        let ranges = group(&system.moduli, limbs);
        let blocks = ranges.chunks(ABREAST).map(|ranges| Block::new(&system.moduli, ranges, limbs)).collect();
        Forward { limbs, blocks }
    }

    /// The number of IFMA instructions for eight numbers.
    pub(super) fn instructions(&self) -> u64 {
        let of_group = |group: &Group| 4 * self.limbs + if group.narrow { 4 * group.factors.len() } else { 7 };
        self.blocks.iter().flat_map(|block| &block.groups).map(|group| of_group(group) as u64).sum()
    }

    /// See [`super::ResidueKernel::residues`].
    #[target_feature(enable = "avx512f,avx512dq,avx512ifma")]
    pub(super) fn residues(&self, numbers: &Numbers<'_>, columns: &mut [&mut [u64]]) {
        let mut tile = vec![Octet::default(); TILE * self.limbs];
        for start in (0..numbers.len()).step_by(8 * TILE) {
            let end = (start + 8 * TILE).min(numbers.len());
            let octets = (end - start).div_ceil(8);
            let tile = &mut tile[..octets * self.limbs];
            for (octet, x) in tile.chunks_exact_mut(self.limbs).enumerate() {
                let first = start + 8 * octet;
                load(x, numbers, first..(first + 8).min(end));
            }
            for block in &self.blocks {
                block.residues(tile, self.limbs, start..end, columns);
            }
        }
    }
}

impl Block {
    fn new(moduli: &[u64], ranges: &[Range<usize>], limbs: usize) -> Self {
        let groups: Vec<Group> = ranges.iter().map(|range| Group::new(moduli, range.clone())).collect();
        let of_each: Vec<Vec<u64>> =
            ranges.iter().map(|range| digits(1, whole(&moduli[range.clone()]), limbs + 2)).collect();
        let digits = (0..limbs + 2).flat_map(|k| of_each.iter().map(move |digits| digits[k])).collect();
        let triple = |group: &Group| match (group.narrow, &group.factors[..]) {
            (true, &[p, q, r]) => Some([p, q, r]),
            _ => None,
        };
        let triples = groups.iter().map(triple).collect();
        let members = ranges[0].start..ranges[ranges.len() - 1].end;
        Block { groups, members, triples, digits }
    }

    /// Computes the residues of the numbers in a tile, of `limbs` limbs each, and writes them to
    /// `range` of the columns.
    #[target_feature(enable = "avx512f,avx512dq,avx512ifma")]
    fn residues(&self, tile: &[Octet], limbs: usize, range: Range<usize>, columns: &mut [&mut [u64]]) {
        match self.groups.len() {
            1 => self.tile::<1>(tile, limbs, range, columns),
            2 => self.tile::<2>(tile, limbs, range, columns),
            3 => self.tile::<3>(tile, limbs, range, columns),
            _ => self.tile::<ABREAST>(tile, limbs, range, columns),
        }
    }

    #[target_feature(enable = "avx512f,avx512ifma")]
    fn tile<const G: usize>(&self, tile: &[Octet], limbs: usize, range: Range<usize>, columns: &mut [&mut [u64]]) {
        for (octet, x) in tile.chunks_exact(limbs).enumerate() {
            let first = range.start + 8 * octet;
            let count = range.len().min(8 * octet + 8) - 8 * octet;
            let places = Places { first, count, mask: lanes(count) };
            let fractions = fractions::<G>(x, &self.digits);
            match &self.triples {
                Some(triples) => {
                    let (triples, columns) = (&triples[..G], &mut columns[self.members.clone()][..3 * G]);
                    for g in 0..G {
                        for (i, factor) in triples[g].iter().enumerate() {
                            put(columns[3 * g + i], places, residue(fractions[g], factor));
                        }
                    }
                }
                None => {
                    for (group, fraction) in self.groups.iter().zip(fractions) {
                        group.finish(fraction, places, columns);
                    }
                }
            }
        }
    }
}

/// Up to eight places of a column.
#[derive(Clone, Copy)]
struct Places {
    first: usize,
    count: usize,
    /// The mask [`lanes`] of the count.
    mask: u8,
}

impl Group {
    fn new(moduli: &[u64], members: Range<usize>) -> Self {
        let product = whole(&moduli[members.clone()]);
        let factor = |&q: &u64| Factor { q: limbs_of(q.into()), cofactor: limbs_of(product / u128::from(q)) };
        let narrow = moduli[members.start] < NARROW;
        Group { factors: moduli[members.clone()].iter().map(factor).collect(), narrow, members }
    }

    /// Computes the residues from a group's fraction and writes them to its columns.
    #[target_feature(enable = "avx512f,avx512ifma")]
    #[inline]
    fn finish(&self, fraction: [__m512i; 2], places: Places, columns: &mut [&mut [u64]]) {
        let members = columns[self.members.clone()].iter_mut().zip(&self.factors);
        for (column, factor) in members {
            let residue = if self.narrow { residue(fraction, factor) } else { scaled(fraction, factor.q) };
            put(column, places, residue);
        }
    }
}

/// Groups neighbouring moduli, as many as the bound on their product allows: `4 n M <= 2^104`. All
/// are below [`NARROW`] except those alone in a group.
fn group(moduli: &[u64], limbs: usize) -> Vec<Range<usize>> {
    let most = (1 << (2 * RADIX)) / (4 * limbs as u128);
    let mut groups: Vec<Range<usize>> = Vec::new();
    let mut product: u128 = most + 1;
    for (index, &modulus) in moduli.iter().enumerate() {
        let joined = product.saturating_mul(modulus.into());
        match groups.last_mut() {
            Some(last) if joined <= most && modulus < NARROW => {
                (last.end, product) = (index + 1, joined);
            }
            _ => {
                groups.push(index..index + 1);
                product = if modulus < NARROW { modulus.into() } else { most + 1 };
            }
        }
    }
    groups
}

fn whole(moduli: &[u64]) -> u128 {
    moduli.iter().map(|&modulus| u128::from(modulus)).product()
}

/// `x mod q` from the fraction of `x / M`, for `q < 2^50`. The fraction of `x / q` is `M / q` times
/// as large, in one limb. Its product with `q` gives the residue.
///
/// # Bounds
/// The product with `M / q` drops the part below `B^-1`, less than 1 unit, which is added in
/// advance. So the fraction exceeds the true one by at most `2 n (M / q) / B^2 + B^-1`. Multiplied
/// by `q` this is at most `2 n M / B^2 + q / B <= 1/2 + 1/4`, so the floor is right. Nothing wraps
/// around, as the true fraction is at most `1 - 1 / q`.
///
/// Proved: `residue_correct` in formal/coq/fractions.v.
#[target_feature(enable = "avx512f,avx512ifma")]
#[inline]
fn residue([upper, lower]: [__m512i; 2], factor: &Factor) -> __m512i {
    let cofactor = factor.cofactor.map(|limb| broadcast(limb));
    let fraction = _mm512_madd52lo_epu64(broadcast(1), upper, cofactor[0]);
    let fraction = _mm512_madd52hi_epu64(fraction, lower, cofactor[0]);
    let fraction = _mm512_madd52lo_epu64(fraction, lower, cofactor[1]);
    _mm512_madd52hi_epu64(_mm512_setzero_si512(), fraction, broadcast(factor.q[0]))
}

/// Writes as many lanes as there are places.
#[target_feature(enable = "avx512f")]
#[inline]
fn put(column: &mut [u64], places: Places, value: __m512i) {
    let target = &mut column[places.first..][..places.count];
    // SAFETY: the mask covers exactly the places in `target`.
    unsafe { _mm512_mask_storeu_epi64(target.as_mut_ptr().cast(), places.mask, value) }
}

/// Loads up to eight numbers side by side and splits them into limbs of 52 bits. The upper bits of
/// limbs and unused lanes have arbitrary content.
#[target_feature(enable = "avx512f,avx512dq")]
#[inline]
fn load(x: &mut [Octet], numbers: &Numbers<'_>, range: Range<usize>) {
    match numbers {
        Numbers::Rows { words, limbs } => load_rows(x, &words[range.start * limbs..range.end * limbs], *limbs),
        Numbers::Slices(slices) => load_slices(x, slices, range),
    }
}

/// A limb starts at a multiple of four bits, so eight bytes of the row contain it. At the end of
/// the row these are its last eight.
#[target_feature(enable = "avx512f,avx512dq")]
#[inline]
fn load_rows(x: &mut [Octet], rows: &[u64], limbs: usize) {
    let (count, width) = (rows.len() / limbs, 8 * limbs);
    // A lane without its own row reads the last one.
    let lane = _mm512_min_epi64(_mm512_set_epi64(7, 6, 5, 4, 3, 2, 1, 0), super::broadcast(count as u64 - 1));
    let starts = _mm512_mullo_epi64(lane, super::broadcast(width as u64));
    for (index, limb) in x.iter_mut().enumerate() {
        let position = RADIX as usize * index;
        let byte = (position / 8).min(width - 8);
        // SAFETY: the eight bytes from `byte` on are within each row.
        let words = unsafe { _mm512_i64gather_epi64::<1>(starts, rows.as_ptr().cast::<u8>().add(byte).cast()) };
        // A shift by 64 or more gives zero.
        store(limb, _mm512_srl_epi64(words, _mm_cvtsi64_si128((position - 8 * byte) as i64)));
    }
}

#[target_feature(enable = "avx512f")]
#[inline]
fn load_slices(x: &mut [Octet], slices: &[&[u64]], range: Range<usize>) {
    for (index, limb) in x.iter_mut().enumerate() {
        let position = RADIX as usize * index;
        let (at, shift) = (position / 64, (position % 64) as i64);
        let low = _mm512_srl_epi64(eight(slices, at, range.clone()), _mm_cvtsi64_si128(shift));
        // A shift by 64 gives zero.
        let high = _mm512_sll_epi64(eight(slices, at + 1, range.clone()), _mm_cvtsi64_si128(64 - shift));
        store(limb, _mm512_or_si512(low, high));
    }
}

/// Loads limb `at` of up to eight numbers. It is zero beyond the last limb.
#[target_feature(enable = "avx512f")]
#[inline]
fn eight(slices: &[&[u64]], at: usize, range: Range<usize>) -> __m512i {
    let slice = if at < slices.len() { &slices[at][range] } else { &[] };
    // SAFETY: the mask restricts the read to existing limbs.
    unsafe { _mm512_maskz_loadu_epi64(lanes(slice.len()), slice.as_ptr().cast()) }
}
