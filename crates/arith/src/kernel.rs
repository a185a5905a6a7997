//! The interface of an engine: the two Montgomery rings on a group of lanes. All code above it is
//! written once.
//!
//! A kernel works on `LANES` independent numbers side by side. One [`Kernel::Word`] holds one limb
//! of every lane, so a number of `k` limbs in each lane is a slice of `k` words, and a *residue* of
//! the kernel is such a slice in the range that the kernel accepts and produces (each kernel states
//! its own: fully reduced, or lazily reduced). With `R = 2^(RADIX_BITS k)`, the residue of a number
//! `x` holds `x R mod m` (Montgomery form).
//!
//! A *dual* residue is two residues one after another, `(a, b)`, for the number `a + b m` modulo
//! `m^2`; it holds `x R mod m^2`. The product is
//!
//! ```text
//! a c = R t - Q m                      t, Q: the Montgomery reduction of a c and its quotient digits
//! (a + b m)(c + d m) / R = t + m (a d + b c - Q) / R        (mod m^2)
//! ```
//!
//! and dividing the second part by `R` modulo `m` is another Montgomery reduction. No arithmetic
//! modulo `m^2` is needed: in products of `k`-limb numbers a squaring costs 3.5 where Montgomery
//! arithmetic on `2k` limbs costs 6.

use crate::constants::{Constants, Pair};
use crate::natural::low_bits;
use zeroize::{DefaultIsZeroes, Zeroize};

/// The Montgomery rings modulo `m` and modulo `m^2` on a group of lanes.
pub(crate) trait Kernel: Sized + Send + Sync + 'static {
    /// One limb of every lane.
    type Word: DefaultIsZeroes + Send + Sync;
    /// Numbers side by side.
    const LANES: usize;
    /// Most rows that are not worth another thread.
    const ALONE: usize = Self::LANES;
    /// Bits of a limb.
    const RADIX_BITS: u32;

    /// Most bits of a window of [`crate::pow`]: as wide as reading the table pays.
    const WINDOW: u32;

    /// Limbs `k` that residues modulo a modulus of `bits` bits take.
    fn limbs(bits: u32) -> usize;

    /// Bits of the pieces into which longer numbers are cut, at most those of `k` limbs; see
    /// [`Kernel::add_chunk`].
    fn chunk_bits(k: usize) -> u32;

    /// Words of scratch space that the products need.
    fn scratch(k: usize) -> usize;

    /// Writes one lane of a word.
    fn set_lane(word: &mut Self::Word, lane: usize, limb: u64);

    /// Reads one lane of a word.
    fn lane(word: &Self::Word, lane: usize) -> u64;

    /// Cuts row `i` into limbs of the kernel's radix, from bit `start` on, into lane `i` of
    /// `words`; zeros beyond a row's end.
    fn load(words: &mut [Self::Word], rows: &[&[u64]], start: usize);

    /// Says that these rows will be loaded soon, so that memory can bring them meanwhile.
    fn prefetch(_rows: &[&[u64]]) {}

    /// Puts the limbs in lane `i` of `words` together to row `i`, of as many 64-bit limbs as the
    /// modulus.
    fn store(words: &[Self::Word], rows: &mut [&mut [u64]]);

    /// Brings a product that is not in Montgomery form, modulo `m` or `m^2`, to the canonical
    /// number or pair in each lane.
    fn canonical(m: &Lanes<Self>, residue: &mut [Self::Word]);

    /// What the sums of a product start from in each ring, for the modulus `m`: nothing, unless the
    /// kernel has use for more.
    fn starts(_m: &[Self::Word]) -> [Vec<Self::Word>; 2] {
        [Vec::new(), Vec::new()]
    }

    /// `out = a b / R mod m` for residues; `a` may also be what [`Kernel::add_chunk`] makes.
    fn mul(m: &Lanes<Self>, out: &mut [Self::Word], a: &[Self::Word], b: &[Self::Word], scratch: &mut [Self::Word]);

    /// `out = a^2 / R mod m`.
    fn sqr(m: &Lanes<Self>, out: &mut [Self::Word], a: &[Self::Word], scratch: &mut [Self::Word]);

    /// `out = a b / R mod m^2` for dual residues; the low part of `a` may also be what
    /// [`Kernel::add_chunk`] makes.
    fn dual_mul(m: &Lanes<Self>, out: &mut [Self::Word], a: &[Self::Word], b: &[Self::Word], s: &mut [Self::Word]);

    /// `out = a^2 / R mod m^2` for dual residues.
    fn dual_sqr(m: &Lanes<Self>, out: &mut [Self::Word], a: &[Self::Word], scratch: &mut [Self::Word]);

    /// `a = a + chunk` for a residue or dual residue `a`, modulo `m` or `m^2`, and a number
    /// `chunk < 2^chunk_bits`, not necessarily reduced: only good as the first factor of a product.
    fn add_chunk(m: &Lanes<Self>, a: &mut [Self::Word], chunk: &[Self::Word]);

    /// `a = a + b` for residues modulo `m`: only good as both factors of a square, or as the first
    /// one of a product.
    fn add(m: &Lanes<Self>, a: &mut [Self::Word], b: &[Self::Word]) {
        Self::add_chunk(m, a, b);
    }

    /// Whether the kernel has what [`crate::barrett`] needs: the four functions that follow.
    const TRUNCATES: bool = false;

    /// `t = a b` in `2 k` columns, of which those from `from` on are complete, but for what carries
    /// from below would bring; those below are undefined.
    fn product_from(_t: &mut [Self::Word], _a: &[Self::Word], _b: &[Self::Word], _from: usize) {
        unreachable!("a kernel that truncates")
    }

    /// `t = a b` in `2 k` columns, of which the lowest `k` are complete; those above are undefined.
    fn product_below(_t: &mut [Self::Word], _a: &[Self::Word], _b: &[Self::Word]) {
        unreachable!("a kernel that truncates")
    }

    /// Carries columns up into limbs. What leaves the last one is dropped.
    fn carry(_columns: &mut [Self::Word]) {
        unreachable!("a kernel that truncates")
    }

    /// `a = a - b mod 2^(RADIX_BITS k)`, and then `a - m` where that is not negative.
    fn remainder(_m: &Lanes<Self>, _a: &mut [Self::Word], _b: &[Self::Word]) {
        unreachable!("a kernel that truncates")
    }

    /// `out` = the entry of `table` (entries of `out.len()` words one after another) that `index`
    /// gives for each lane. Reads the whole table whatever the index.
    fn select(out: &mut [Self::Word], table: &[Self::Word], index: &Self::Word);

    /// As [`Kernel::select`] from one table of [`SHARED_ENTRIES`] for all lanes, in which word `j`
    /// of entry `e` stands at `SHARED_ENTRIES j + e`.
    fn select_shared(out: &mut [Self::Word], table: &[u64], index: &Self::Word);
}

/// Entries of a table that all lanes share.
pub(crate) const SHARED_ENTRIES: usize = 64;

/// The constants of one modulus a lane, spread out as a kernel reads them.
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
    /// `R mod m^2` as a dual residue; here and below the low half is the residue modulo `m`.
    pub(crate) one: Vec<K::Word>,
    /// `R^2 mod m^2`: multiplying by it brings a number into Montgomery form.
    pub(crate) r2: Vec<K::Word>,
    /// `R B mod m^2`, `B = 2^chunk_bits`: multiplying by it shifts a number up by a chunk.
    pub(crate) shift: Vec<K::Word>,
}

impl<K: Kernel> Lanes<K> {
    /// Lane `i` gets the modulus `constants[i]`, further lanes the first one; all must have the
    /// same number of limbs.
    pub(crate) fn new(constants: &[&Constants]) -> Self {
        let (k, limbs) = (constants[0].k, constants[0].limbs());
        assert!(constants.iter().all(|one| one.k == k && one.limbs() == limbs), "moduli of different widths");
        let lane = |index: usize| constants.get(index).copied().unwrap_or(constants[0]);
        let spread = |words: &mut [K::Word], field: &dyn Fn(&Constants) -> &[u64]| {
            let rows: Vec<&[u64]> = (0..K::LANES).map(|index| field(lane(index))).collect();
            K::load(words, &rows, 0);
        };
        // With room for both halves from the start: a vector that grows leaves an unwiped copy
        // behind.
        let pair = |field: &dyn Fn(&Constants) -> &Pair| {
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
