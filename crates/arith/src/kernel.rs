//! The interface of an engine: the two Montgomery rings on a group of lanes. All code above it is
//! written once.
//!
//! A kernel processes `LANES` independent numbers in parallel. One [`Kernel::Word`] holds one limb
//! of every lane, so `k` words hold a number of `k` limbs per lane. A *residue* is such a slice in
//! the range that the kernel accepts and produces, which each kernel defines: fully or lazily
//! reduced. With `R = 2^(RADIX_BITS k)`, the residue of a number `x` holds `x R mod m` (Montgomery
//! form).
//!
//! A *dual* residue is two consecutive residues `(a, b)` for the number `a + b m` modulo `m^2`; it
//! holds `x R mod m^2`. The product is
//!
//! ```text
//! a c = R t - Q m                      t, Q: the Montgomery reduction of a c and its quotient digits
//! (a + b m)(c + d m) / R = t + m (a d + b c - Q) / R        (mod m^2)
//! ```
//!
//! Another Montgomery reduction divides the second part by `R` modulo `m`. No arithmetic modulo
//! `m^2` is needed: in products of `k`-limb numbers, a squaring costs 3.5, compared with 6 for
//! Montgomery arithmetic on `2k` limbs.

use crate::constants::{MontgomeryParams, Pair};
use crate::natural::low_bits;
use zeroize::{DefaultIsZeroes, Zeroize};

/// The Montgomery rings modulo `m` and modulo `m^2` on a group of lanes.
pub(crate) trait Kernel: Sized + Send + Sync + 'static {
    /// One limb of every lane.
    type Word: DefaultIsZeroes + Send + Sync;
    /// Numbers processed in parallel.
    const LANES: usize;
    /// Maximum number of rows for which another thread does not pay off.
    const ALONE: usize = Self::LANES;
    /// Bits of a limb.
    const RADIX_BITS: u32;

    /// Maximum window width in [`crate::pow`] in bits, limited by the cost of reading the table.
    const WINDOW: u32;

    /// Number of limbs `k` of residues modulo a modulus of `bits` bits.
    fn limbs(bits: u32) -> usize;

    /// Bits of the chunks into which longer numbers are split, at most those of `k` limbs; see
    /// [`Kernel::add_chunk`].
    fn chunk_bits(k: usize) -> u32;

    /// Words of scratch space for the products.
    fn scratch(k: usize) -> usize;

    /// Writes one lane of a word.
    fn set_lane(word: &mut Self::Word, lane: usize, limb: u64);

    /// Reads one lane of a word.
    fn lane(word: &Self::Word, lane: usize) -> u64;

    /// Splits row `i`, from bit `start` on, into limbs of the kernel's radix in lane `i` of
    /// `words`; zeros beyond the end of a row.
    fn load(words: &mut [Self::Word], rows: &[&[u64]], start: usize);

    /// Prefetches rows that will be loaded soon.
    fn prefetch(_rows: &[&[u64]]) {}

    /// Combines the limbs in lane `i` of `words` into row `i`, with as many 64-bit limbs as the
    /// modulus.
    fn store(words: &[Self::Word], rows: &mut [&mut [u64]]);

    /// Reduces a product that is not in Montgomery form to the canonical number modulo `m` or pair
    /// modulo `m^2` in each lane.
    fn canonical(m: &Lanes<Self>, residue: &mut [Self::Word]);

    /// Initial values of a product's sums in each ring, for the modulus `m`; empty unless the
    /// kernel uses them.
    fn starts(_m: &[Self::Word]) -> [Vec<Self::Word>; 2] {
        [Vec::new(), Vec::new()]
    }

    /// `out = a b / R mod m` for residues. `a` may also be a result of [`Kernel::add_chunk`].
    fn mul(m: &Lanes<Self>, out: &mut [Self::Word], a: &[Self::Word], b: &[Self::Word], scratch: &mut [Self::Word]);

    /// `out = a^2 / R mod m`.
    fn sqr(m: &Lanes<Self>, out: &mut [Self::Word], a: &[Self::Word], scratch: &mut [Self::Word]);

    /// `out = a b / R mod m^2` for dual residues. The low part of `a` may also be a result of
    /// [`Kernel::add_chunk`].
    fn dual_mul(m: &Lanes<Self>, out: &mut [Self::Word], a: &[Self::Word], b: &[Self::Word], s: &mut [Self::Word]);

    /// `out = a^2 / R mod m^2` for dual residues.
    fn dual_sqr(m: &Lanes<Self>, out: &mut [Self::Word], a: &[Self::Word], scratch: &mut [Self::Word]);

    /// `a = a + chunk` for a residue or dual residue `a` modulo `m` or `m^2`, and a number
    /// `chunk < 2^chunk_bits`. Not necessarily reduced: valid only as the first factor of a
    /// product.
    fn add_chunk(m: &Lanes<Self>, a: &mut [Self::Word], chunk: &[Self::Word]);

    /// `a = a + b` for residues modulo `m`. Valid only as both factors of a square or as the first
    /// factor of a product.
    fn add(m: &Lanes<Self>, a: &mut [Self::Word], b: &[Self::Word]) {
        Self::add_chunk(m, a, b);
    }

    /// Whether the kernel implements the next four functions, which [`crate::barrett`] needs.
    const TRUNCATES: bool = false;

    /// `t = a b` in `2 k` columns. The columns from `from` on are complete except for carries from
    /// below; the lower ones are undefined.
    fn product_from(_t: &mut [Self::Word], _a: &[Self::Word], _b: &[Self::Word], _from: usize) {
        unreachable!("a kernel that truncates")
    }

    /// `t = a b` in `2 k` columns. The lowest `k` are complete; the upper ones are undefined.
    fn product_below(_t: &mut [Self::Word], _a: &[Self::Word], _b: &[Self::Word]) {
        unreachable!("a kernel that truncates")
    }

    /// Propagates carries, which turns columns into limbs. The carry out of the last one is
    /// dropped.
    fn carry(_columns: &mut [Self::Word]) {
        unreachable!("a kernel that truncates")
    }

    /// `a = a - b mod 2^(RADIX_BITS k)`, followed by `a = a - m` if that is not negative.
    fn remainder(_m: &Lanes<Self>, _a: &mut [Self::Word], _b: &[Self::Word]) {
        unreachable!("a kernel that truncates")
    }

    /// `out` = the entry of `table` (consecutive entries of `out.len()` words) that `index` selects
    /// in each lane. Reads the whole table for every index.
    fn select(out: &mut [Self::Word], table: &[Self::Word], index: &Self::Word);

    /// Like [`Kernel::select`], from one table of [`SHARED_ENTRIES`] entries for all lanes, in
    /// which word `j` of entry `e` is at `SHARED_ENTRIES j + e`.
    fn select_shared(out: &mut [Self::Word], table: &[u64], index: &Self::Word);
}

/// Number of entries of a table that all lanes share.
pub(crate) const SHARED_ENTRIES: usize = 64;

/// The constants of one modulus per lane, in the kernel's layout.
pub(crate) struct Lanes<K: Kernel> {
    /// Limbs of a residue.
    pub(crate) k: usize,
    /// 64-bit limbs of the modulus.
    pub(crate) limbs: usize,
    /// The modulus.
    pub(crate) m: Vec<K::Word>,
    /// `-m^-1 mod 2^RADIX_BITS`.
    pub(crate) neg_inverse: K::Word,
    /// [`Kernel::starts`].
    pub(crate) starts: [Vec<K::Word>; 2],
    /// `R mod m^2` as a dual residue. Here and below, the low half is the residue modulo `m`.
    pub(crate) one: Vec<K::Word>,
    /// `R^2 mod m^2`, the factor that converts a number into Montgomery form.
    pub(crate) r2: Vec<K::Word>,
    /// `R B mod m^2` with `B = 2^chunk_bits`, the factor that shifts a number up by a chunk.
    pub(crate) shift: Vec<K::Word>,
}

impl<K: Kernel> Lanes<K> {
    /// Lane `i` gets the modulus `constants[i]`, and further lanes the first one. All must have the
    /// same number of limbs.
    pub(crate) fn new(constants: &[&MontgomeryParams]) -> Self {
        let (k, limbs) = (constants[0].k, constants[0].limbs());
        assert!(constants.iter().all(|one| one.k == k && one.limbs() == limbs), "moduli of different widths");
        let lane = |index: usize| constants.get(index).copied().unwrap_or(constants[0]);
        let spread = |words: &mut [K::Word], field: &dyn Fn(&MontgomeryParams) -> &[u64]| {
            let rows: Vec<&[u64]> = (0..K::LANES).map(|index| field(lane(index))).collect();
            K::load(words, &rows, 0);
        };
        // Allocate both halves from the start: a growing vector leaves an unwiped copy behind.
        let pair = |field: &dyn Fn(&MontgomeryParams) -> &Pair| {
            let mut words = vec![K::Word::default(); 2 * k];
            let (low, high) = words.split_at_mut(k);
            spread(low, &|c| &field(c).0);
            spread(high, &|c| &field(c).1);
            words
        };
        let mut neg_inverse = K::Word::default();
        for index in 0..K::LANES {
            K::set_lane(&mut neg_inverse, index, lane(index).neg_inverse & low_bits(K::RADIX_BITS));
        }
        let mut m = vec![K::Word::default(); k];
        spread(&mut m, &|c| &c.m);
        Lanes {
            k,
            limbs,
            starts: K::starts(&m),
            m,
            neg_inverse,
            one: pair(&|c| &c.one),
            r2: pair(&|c| &c.r2),
            shift: pair(&|c| &c.shift),
        }
    }
}

impl<K: Kernel> Drop for Lanes<K> {
    fn drop(&mut self) {
        self.starts.iter_mut().for_each(Zeroize::zeroize);
        for words in [&mut self.m, &mut self.one, &mut self.r2, &mut self.shift] {
            words.zeroize();
        }
        self.neg_inverse.zeroize();
    }
}

/// Words that are wiped when dropped.
pub(crate) struct Space<K: Kernel>(Vec<K::Word>);

impl<K: Kernel> Space<K> {
    /// `words` zero words.
    pub(crate) fn new(words: usize) -> Self {
        Space(vec![K::Word::default(); words])
    }
}

impl<K: Kernel> std::ops::Deref for Space<K> {
    type Target = [K::Word];

    fn deref(&self) -> &[K::Word] {
        &self.0
    }
}

impl<K: Kernel> std::ops::DerefMut for Space<K> {
    fn deref_mut(&mut self) -> &mut [K::Word] {
        &mut self.0
    }
}

impl<K: Kernel> Drop for Space<K> {
    fn drop(&mut self) {
        self.0.as_mut_slice().zeroize();
    }
}
