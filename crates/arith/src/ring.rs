//! The two rings of a kernel behind one interface, so that exponentiation is written once for both.

use crate::cost::note;
use crate::kernel::{Kernel, Lanes, Space};
use crate::natural::low_bits;
use std::marker::PhantomData;

/// The words of a ring's kernel.
pub(crate) type Word<R> = <<R as Ring>::Kernel as Kernel>::Word;
/// The constants of a ring's kernel.
pub(crate) type LanesOf<R> = Lanes<<R as Ring>::Kernel>;

/// A ring of residues in Montgomery form on a group of lanes.
pub(crate) trait Ring: Sync {
    /// The kernel that implements the ring.
    type Kernel: Kernel;
    /// Number of parts of a residue, of `k` words each.
    const PARTS: usize;

    /// `out = a b`.
    fn mul(m: &LanesOf<Self>, out: &mut [Word<Self>], a: &[Word<Self>], b: &[Word<Self>], scratch: &mut [Word<Self>]);

    /// `out = a^2`.
    fn sqr(m: &LanesOf<Self>, out: &mut [Word<Self>], a: &[Word<Self>], scratch: &mut [Word<Self>]);

    /// Words of a residue.
    fn width(m: &LanesOf<Self>) -> usize {
        Self::PARTS * m.k
    }

    /// The residue of 1.
    fn one(m: &LanesOf<Self>) -> &[Word<Self>] {
        &m.one[..Self::width(m)]
    }
}

/// The ring modulo `m`.
pub(crate) struct Plain<K>(PhantomData<K>);

/// The ring modulo `m^2`, in dual residues.
pub(crate) struct Dual<K>(PhantomData<K>);

impl<K: Kernel> Ring for Plain<K> {
    type Kernel = K;
    const PARTS: usize = 1;

    fn mul(m: &Lanes<K>, out: &mut [K::Word], a: &[K::Word], b: &[K::Word], scratch: &mut [K::Word]) {
        note(m.limbs, |cost| cost.mul);
        K::mul(m, out, a, b, scratch);
    }

    fn sqr(m: &Lanes<K>, out: &mut [K::Word], a: &[K::Word], scratch: &mut [K::Word]) {
        note(m.limbs, |cost| cost.sqr);
        K::sqr(m, out, a, scratch);
    }
}

impl<K: Kernel> Ring for Dual<K> {
    type Kernel = K;
    const PARTS: usize = 2;

    fn mul(m: &Lanes<K>, out: &mut [K::Word], a: &[K::Word], b: &[K::Word], scratch: &mut [K::Word]) {
        note(m.limbs, |cost| cost.dual_mul);
        K::dual_mul(m, out, a, b, scratch);
    }

    fn sqr(m: &Lanes<K>, out: &mut [K::Word], a: &[K::Word], scratch: &mut [K::Word]) {
        note(m.limbs, |cost| cost.dual_sqr);
        K::dual_sqr(m, out, a, scratch);
    }
}

/// Either ring, for any kernel: for work whose parts use different kernels.
pub(crate) trait RingFamily {
    /// The ring of a kernel.
    type Of<K: Kernel>: Ring<Kernel = K>;
}

/// [`Plain`] rings.
pub(crate) struct PlainRings;

/// [`Dual`] rings.
pub(crate) struct DualRings;

impl RingFamily for PlainRings {
    type Of<K: Kernel> = Plain<K>;
}

impl RingFamily for DualRings {
    type Of<K: Kernel> = Dual<K>;
}

/// The working memory of one group of lanes. Wiped when dropped.
pub(crate) struct Workspace<R: Ring> {
    /// Scratch space for the kernel's products.
    pub(crate) scratch: Space<R::Kernel>,
    /// One residue.
    pub(crate) spare: Space<R::Kernel>,
    chunk: Space<R::Kernel>,
    unit: Space<R::Kernel>,
}

impl<R: Ring> Workspace<R> {
    /// Working memory for residues of `k` limbs.
    pub(crate) fn new(k: usize) -> Self {
        let mut unit = Space::new(R::PARTS * k);
        (0..R::Kernel::LANES).for_each(|lane| R::Kernel::set_lane(&mut unit[0], lane, 1));
        Workspace {
            scratch: Space::new(R::Kernel::scratch(k)),
            spare: Space::new(R::PARTS * k),
            chunk: Space::new(k),
            unit,
        }
    }

    /// `a = a b`.
    pub(crate) fn mul_assign(&mut self, m: &LanesOf<R>, a: &mut [Word<R>], b: &[Word<R>]) {
        R::mul(m, &mut self.spare, a, b, &mut self.scratch);
        a.copy_from_slice(&self.spare);
    }

    /// `a = a^(2^times)`.
    pub(crate) fn sqr_assign(&mut self, m: &LanesOf<R>, a: &mut [Word<R>], times: usize) {
        for _ in 0..times / 2 {
            R::sqr(m, &mut self.spare, a, &mut self.scratch);
            R::sqr(m, a, &self.spare, &mut self.scratch);
        }
        if times % 2 == 1 {
            R::sqr(m, &mut self.spare, a, &mut self.scratch);
            a.copy_from_slice(&self.spare);
        }
    }

    /// Reduces the numbers in `rows`, one per lane and of any length, without converting them to
    /// Montgomery form. The result is valid as the first factor of a product. Uses Horner's rule
    /// over chunks from the top, with one product per chunk after the first.
    ///
    /// Proved: `horner_correct` in formal/coq/dual.v.
    pub(crate) fn reduce(&mut self, m: &LanesOf<R>, out: &mut [Word<R>], rows: &[&[u64]]) {
        let bits = R::Kernel::chunk_bits(m.k) as usize;
        let longest = rows.iter().map(|row| 64 * row.len()).max().unwrap_or(0);
        let top = longest.div_ceil(bits).saturating_sub(1);
        out.fill(Default::default());
        load_chunk::<R::Kernel>(&mut out[..m.k], rows, top * bits);
        for index in (0..top).rev() {
            self.mul_assign(m, out, &m.shift[..R::width(m)]);
            load_chunk::<R::Kernel>(&mut self.chunk, rows, index * bits);
            R::Kernel::add_chunk(m, out, &self.chunk);
        }
    }

    /// The Montgomery residues of the numbers in `rows`, one per lane and of any length.
    ///
    /// Proved: `enter_correct` in formal/coq/dual.v.
    pub(crate) fn enter(&mut self, m: &LanesOf<R>, out: &mut [Word<R>], rows: &[&[u64]]) {
        self.reduce(m, out, rows);
        self.mul_assign(m, out, &m.r2[..R::width(m)]);
    }

    /// Converts residues from Montgomery form to canonical numbers or pairs, one per row of `rows`.
    ///
    /// Proved: `exit_correct` in formal/coq/dual.v.
    pub(crate) fn exit<'a>(&mut self, m: &LanesOf<R>, rows: impl Iterator<Item = &'a mut [u64]>, residues: &[Word<R>]) {
        R::mul(m, &mut self.spare, residues, &self.unit, &mut self.scratch);
        self.canonical(m, rows);
    }

    /// The canonical numbers or pairs `a b / R`, where `a` is a result of [`Workspace::reduce`] and
    /// `b` is canonical or, modulo `m`, a residue.
    pub(crate) fn mul_to_canonical<'a>(
        &mut self,
        m: &LanesOf<R>,
        rows: impl Iterator<Item = &'a mut [u64]>,
        a: &[Word<R>],
        b: &[Word<R>],
    ) {
        R::mul(m, &mut self.spare, a, b, &mut self.scratch);
        self.canonical(m, rows);
    }

    /// Makes residues canonical without leaving Montgomery form.
    pub(crate) fn canonicalise<'a>(
        &mut self,
        m: &LanesOf<R>,
        rows: impl Iterator<Item = &'a mut [u64]>,
        a: &[Word<R>],
    ) {
        self.spare.copy_from_slice(a);
        self.canonical(m, rows);
    }

    fn canonical<'a>(&mut self, m: &LanesOf<R>, rows: impl Iterator<Item = &'a mut [u64]>) {
        R::Kernel::canonical(m, &mut self.spare);
        let mut rows: Vec<_> = rows.collect();
        for part in self.spare.chunks_exact(m.k) {
            let mut heads: Vec<_> =
                rows.iter_mut().map(|row| row.split_off_mut(..m.limbs).expect("a whole number")).collect();
            R::Kernel::store(part, &mut heads);
        }
    }
}

/// Loads the chunk of each row that starts at bit `start`.
fn load_chunk<K: Kernel>(words: &mut [K::Word], rows: &[&[u64]], start: usize) {
    K::load(words, rows, start);
    let mut bits = K::chunk_bits(words.len());
    for word in words {
        let here = bits.min(K::RADIX_BITS);
        if here < K::RADIX_BITS {
            (0..K::LANES).for_each(|lane| K::set_lane(word, lane, K::lane(word, lane) & low_bits(here)));
        }
        bits -= here;
    }
}
