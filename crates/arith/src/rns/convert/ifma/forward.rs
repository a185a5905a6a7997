//! Numbers to residues.

use super::{NARROW, broadcast, digits, fractions, lanes, limbs_of, scaled, store};
use crate::backend::ifma::lanes::transpose;
use crate::backend::ifma::{Octet, RADIX};
use crate::limbs::bit_length;
use crate::rns::basis::Constants;
use crate::rns::convert::Numbers;
use std::arch::x86_64::{
    __m512i, _mm_cvtsi64_si128, _mm512_madd52hi_epu64, _mm512_madd52lo_epu64, _mm512_mask_storeu_epi64,
    _mm512_maskz_loadu_epi64, _mm512_or_si512, _mm512_setzero_si512, _mm512_sll_epi64, _mm512_srl_epi64,
};
use std::ops::Range;

/// Groups of moduli whose fractions are computed at once: their sixteen sums and twelve digits are what the registers hold.
const ABREAST: usize = 4;

/// Moduli in groups with a product `M`, `4 n M <= 2^104` for numbers of `n` limbs; of each group the fraction of `x / M` is
/// computed once, four IFMA instructions a limb, and of each modulus the residue from it, four more.
pub(super) struct Forward {
    /// `n`, the 52-bit limbs of a number.
    limbs: usize,
    blocks: Vec<Block>,
}

/// Up to [`ABREAST`] groups.
struct Block {
    groups: Vec<Group>,
    /// For [`fractions`]: of `1 / M`.
    digits: Vec<u64>,
}

struct Group {
    /// Which moduli.
    members: Range<usize>,
    /// Whether they are below [`NARROW`]; otherwise there is one alone.
    narrow: bool,
    /// Of each the modulus `q` and `M / q`, in two limbs.
    factors: Vec<[[u64; 2]; 2]>,
}

impl Forward {
    pub(super) fn new(constants: &Constants) -> Self {
        let limbs = bit_length(&constants.product).div_ceil(RADIX) as usize;
        let ranges = group(&constants.moduli, limbs);
        let blocks = ranges.chunks(ABREAST).map(|ranges| Block::new(&constants.moduli, ranges, limbs)).collect();
        Forward { limbs, blocks }
    }

    /// See [`super::Converter::residues`].
    #[target_feature(enable = "avx512f,avx512dq,avx512ifma")]
    pub(super) fn residues(&self, numbers: &Numbers<'_>, columns: &mut [&mut [u64]]) {
        let wide_limbs = numbers.limbs().max(self.limbs).next_multiple_of(8) + 1;
        let mut wide = vec![Octet::default(); wide_limbs];
        let mut x = vec![Octet::default(); self.limbs];
        for start in (0..numbers.len()).step_by(8) {
            let end = (start + 8).min(numbers.len());
            load(&mut wide, numbers, start..end);
            cut(&mut x, &wide);
            for block in &self.blocks {
                block.residues(&x, start..end, columns);
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
        Block { groups, digits }
    }

    #[target_feature(enable = "avx512f,avx512dq,avx512ifma")]
    fn residues(&self, x: &[Octet], lanes: Range<usize>, columns: &mut [&mut [u64]]) {
        match self.groups.len() {
            1 => self.finish(fractions::<1>(x, &self.digits), lanes, columns),
            2 => self.finish(fractions::<2>(x, &self.digits), lanes, columns),
            3 => self.finish(fractions::<3>(x, &self.digits), lanes, columns),
            _ => self.finish(fractions::<ABREAST>(x, &self.digits), lanes, columns),
        }
    }

    #[target_feature(enable = "avx512f,avx512dq,avx512ifma")]
    #[inline]
    fn finish<const G: usize>(&self, fractions: [[__m512i; 2]; G], lanes: Range<usize>, columns: &mut [&mut [u64]]) {
        for (group, fraction) in self.groups.iter().zip(fractions) {
            let columns = &mut columns[group.members.clone()];
            for (column, &[q, cofactor]) in columns.iter_mut().zip(&group.factors) {
                let residue = match group.narrow {
                    true => residue(fraction, q[0], cofactor),
                    false => scaled(fraction, q),
                };
                put(&mut column[lanes.clone()], residue);
            }
        }
    }
}

impl Group {
    fn new(moduli: &[u64], members: Range<usize>) -> Self {
        let product = whole(&moduli[members.clone()]);
        let factors = |&q: &u64| [limbs_of(q.into()), limbs_of(product / u128::from(q))];
        let narrow = moduli[members.start] < NARROW;
        Group { factors: moduli[members.clone()].iter().map(factors).collect(), narrow, members }
    }
}

/// Neighbouring moduli in groups as large as the bound on their product allows: `4 n M <= 2^104`, and all below [`NARROW`] unless it
/// is one alone.
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

/// `x mod q` from the fraction of `x / M`, `q < 2^50`: the fraction of `x / q` is `M / q` times as much, in one limb, and `q` times that is the
/// residue.
///
/// # Bounds
/// Of the product with `M / q`, what lies below `B^-1` is dropped, less than 1 unit, which is added in advance: the fraction is above the
/// true one by `2 n (M / q) / B^2 + B^-1` at most, `q` times that is at most `2 n M / B^2 + q / B <= 1/2 + 1/4`, and the floor is
/// right. Nothing wraps around, as the true fraction is at most `1 - 1 / q`.
#[target_feature(enable = "avx512f,avx512ifma")]
#[inline]
fn residue([upper, lower]: [__m512i; 2], q: u64, cofactor: [u64; 2]) -> __m512i {
    let cofactor = cofactor.map(|limb| broadcast(limb));
    let fraction = _mm512_madd52lo_epu64(broadcast(1), upper, cofactor[0]);
    let fraction = _mm512_madd52hi_epu64(fraction, lower, cofactor[0]);
    let fraction = _mm512_madd52lo_epu64(fraction, lower, cofactor[1]);
    _mm512_madd52hi_epu64(_mm512_setzero_si512(), fraction, broadcast(q))
}

/// Writes as many lanes as there are places.
#[target_feature(enable = "avx512f")]
#[inline]
fn put(places: &mut [u64], value: __m512i) {
    // SAFETY: only the places that are there are written.
    unsafe { _mm512_mask_storeu_epi64(places.as_mut_ptr().cast(), lanes(places.len()), value) }
}

/// Brings the 64-bit limbs of up to eight numbers side by side; `words` beyond the last limb stay as they are, or become zero.
#[target_feature(enable = "avx512f")]
fn load(words: &mut [Octet], numbers: &Numbers<'_>, range: Range<usize>) {
    match numbers {
        Numbers::Rows { words: rows, limbs } => {
            for from in (0..*limbs).step_by(8) {
                let there = lanes(limbs - from);
                let columns = transpose(std::array::from_fn(|lane| {
                    let row = range.start + lane;
                    let present = if row < range.end { there } else { 0 };
                    // An empty slice for a row that is not there.
                    let start = (row * limbs + from).min(rows.len());
                    // SAFETY: only the limbs that are there are read.
                    unsafe { _mm512_maskz_loadu_epi64(present, rows[start..].as_ptr().cast()) }
                }));
                for (word, column) in words[from..from + 8].iter_mut().zip(columns) {
                    store(word, column);
                }
            }
        }
        Numbers::Slices(slices) => {
            for (word, slice) in words.iter_mut().zip(slices) {
                let slice = &slice[range.clone()];
                // SAFETY: only the limbs that are there are read.
                store(word, unsafe { _mm512_maskz_loadu_epi64(lanes(slice.len()), slice.as_ptr().cast()) });
            }
        }
    }
}

/// Cuts limbs of 64 bits into limbs of 52, with whatever lies above them in the upper bits.
#[target_feature(enable = "avx512f")]
fn cut(limbs: &mut [Octet], wide: &[Octet]) {
    for (index, limb) in limbs.iter_mut().enumerate() {
        let position = index * RADIX as usize;
        let (at, shift) = (position / 64, (position % 64) as i64);
        let low = _mm512_srl_epi64(super::load(&wide[at]), _mm_cvtsi64_si128(shift));
        // A shift by 64 gives zero.
        let high = _mm512_sll_epi64(super::load(&wide[at + 1]), _mm_cvtsi64_si128(64 - shift));
        store(limb, _mm512_or_si512(low, high));
    }
}
