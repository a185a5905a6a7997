//! Numbers modulo `2^N - 1`: what a scheme sees of the transforms.

use crate::NttError;
use crate::engine::{self, Target};
use crate::memory::zeros;
use crate::primes::Lanes;
use crate::shape::Shape;
use crate::transform::{Factor, Transforms};
use hearith_arith::Engine;
use rayon::prelude::*;
use std::fmt;
use std::sync::{Mutex, PoisonError};

/// Integers modulo `2^N - 1`, prepared for an engine: products of 10^4 to 10^9 bits.
///
/// `N` is at least what is asked for, so a product of numbers that have together no more limbs than
/// asked is the product itself. Numbers are slices of 64-bit limbs, little end first, and results
/// go to places that the caller has. All engines give the same results. Nothing is constant time:
/// carries go on through whole limbs of ones. Rooms for transforms are kept for the next product
/// and not wiped.
///
/// One product spreads over the cores of rayon's current pool, and so does a batch.
///
/// ```
/// use hearith_arith::Engine;
/// use hearith_ntt::Ring;
/// let ring = Ring::new(Engine::best(), 500)?;
/// let (a, b) = ([u64::MAX; 300], [u64::MAX; 200]);
/// let mut product = [0; 500];
/// ring.product(&a, &b, &mut product)?;
/// assert_eq!((product[0], product[199], product[200], product[299], product[300], product[499]), (1, 0, u64::MAX, u64::MAX,
///     u64::MAX - 1, u64::MAX));
///
/// // A factor that comes again is transformed once, and sums go back once.
/// let ring = Ring::with_terms(Engine::best(), 500, 2)?;
/// let (x, y) = (ring.transform(&[3; 200])?, ring.transform(&[5; 300])?);
/// let mut sum = ring.sum();
/// ring.add_product(&mut sum, &x, &y)?;
/// ring.add_product(&mut sum, &x, &x)?;
/// ring.number(sum, &mut product)?;
/// assert_eq!(product[0], 3 * 5 + 3 * 3);
/// # Ok::<(), hearith_ntt::NttError>(())
/// ```
pub struct Ring {
    engine: Engine,
    shape: Shape,
    terms: usize,
    transforms: Box<dyn Transforms>,
    transform_buffers: Mutex<Vec<Vec<Lanes>>>,
    buffers: Mutex<Vec<Vec<u64>>>,
}

/// The transform of a number, made by [`Ring::transform`].
#[derive(Clone)]
pub struct Transformed {
    of: (Engine, Shape),
    values: Vec<Lanes>,
}

/// A sum of products of transforms, made by [`Ring::sum`].
#[derive(Clone)]
pub struct Sum {
    of: (Engine, Shape),
    values: Vec<Lanes>,
    terms: usize,
}

impl Ring {
    /// Prepares for products of up to so many 64-bit limbs.
    ///
    /// # Errors
    /// [`NttError::Size`] above some 11 * 10^9 bits, and
    /// [`ArithError::EngineUnavailable`](hearith_arith::ArithError::EngineUnavailable).
    pub fn new(engine: Engine, limbs: usize) -> Result<Self, NttError> {
        Self::with_terms(engine, limbs, 1)
    }

    /// As [`Ring::new`], and for sums of up to so many products.
    ///
    /// # Errors
    /// As [`Ring::new`]; [`NttError::Size`] if there are too many terms, or none, too.
    pub fn with_terms(engine: Engine, limbs: usize, terms: usize) -> Result<Self, NttError> {
        let available = engine.available()?;
        let shape = Shape::of(limbs, terms).filter(|_| terms > 0).ok_or(NttError::Size { limbs, terms })?;
        let transforms = engine::transforms(available, shape);
        Ok(Ring { engine, shape, terms, transforms, transform_buffers: Mutex::default(), buffers: Mutex::default() })
    }

    /// The engine.
    pub fn engine(&self) -> Engine {
        self.engine
    }

    /// `N / 64`.
    pub fn limbs(&self) -> usize {
        self.shape.limbs()
    }

    /// Most products of a sum.
    pub fn terms(&self) -> usize {
        self.terms
    }

    /// What the choice by size was: coefficients of a leaf, levels of the transform, bits of a
    /// coefficient.
    pub fn shape(&self) -> (usize, u32, usize) {
        (self.shape.degree, self.shape.levels, self.shape.coefficient_bits())
    }

    /// IFMA instructions that a product takes, on the engine that uses them: three for each factor
    /// that is transformed, level and two coefficients and as many on the way back, and so on for
    /// the rest. Divided by [`peak_rate`](hearith_arith::cost::peak_rate) they are the
    /// multiplication limit of the machine.
    pub fn instructions(&self) -> u64 {
        let (degree, levels) = (self.shape.degree as u64, u64::from(self.shape.levels));
        let transforms = 3 * levels * 3 / 2;
        let leaves = 3 * 3 + 2 * degree + 2;
        // Two factors' residues; the coefficients' scale, fraction, sum, and the multiple taken
        // away.
        let ways = 2 * 8 + 3 + 1 + 16 + 2;
        (self.shape.length() as u64) * (transforms + leaves + ways)
    }

    /// Bytes that a product of two numbers moves between a core's own caches and what is behind
    /// them, in rayon's current pool: both transforms are written, read and written again, and the
    /// product's is read. None where all is done in one piece.
    pub fn bytes(&self) -> u64 {
        let passes = if self.transforms.is_divided() { 2 * 3 + 1 } else { 0 };
        (passes * self.shape.length() * size_of::<Lanes>()) as u64
    }

    /// `a b`, or its lower part if `out` is shorter; zeros fill a longer place.
    ///
    /// # Errors
    /// [`NttError::TooLong`] if the factors have together more limbs than the ring.
    pub fn product(&self, a: &[u64], b: &[u64], out: &mut [u64]) -> Result<(), NttError> {
        self.fits(a.len() + b.len())?;
        self.multiply(a, Some(Second::Number(b)), |full| copy(full, out));
        Ok(())
    }

    /// `a^2`, as [`Ring::product`].
    ///
    /// # Errors
    /// As [`Ring::product`].
    pub fn square(&self, a: &[u64], out: &mut [u64]) -> Result<(), NttError> {
        self.fits(2 * a.len())?;
        self.multiply(a, None, |full| copy(full, out));
        Ok(())
    }

    /// Limbs `from ..` of `a b`, as many as the place has; zeros above the product.
    ///
    /// # Errors
    /// As [`Ring::product`].
    pub fn product_from(&self, a: &[u64], b: &[u64], from: usize, out: &mut [u64]) -> Result<(), NttError> {
        self.fits(a.len() + b.len())?;
        self.multiply(a, Some(Second::Number(b)), |full| copy(full.get(from..).unwrap_or(&[]), out));
        Ok(())
    }

    /// Limbs `from ..` of the product of `a` and a number that was transformed, modulo `2^N - 1`.
    /// With `from = 0` and a place of [`Ring::limbs`] that is the cyclic product, where all ones
    /// may stand for zero; the product itself if it is short enough.
    ///
    /// # Errors
    /// [`NttError::TooLong`] if `a` has more limbs than the ring, [`NttError::OtherRing`].
    pub fn product_with(&self, a: &[u64], b: &Transformed, from: usize, out: &mut [u64]) -> Result<(), NttError> {
        self.fits(a.len())?;
        self.belongs(b.of)?;
        self.multiply(a, Some(Second::Transformed(&b.values)), |full| copy(full.get(from..).unwrap_or(&[]), out));
        Ok(())
    }

    /// `a b` modulo `2^N - 1`, into a place of [`Ring::limbs`] limbs; all ones may stand for zero.
    ///
    /// # Errors
    /// [`NttError::TooLong`] if a factor has more limbs than the ring, [`NttError::Place`].
    pub fn cyclic_product(&self, a: &[u64], b: &[u64], out: &mut [u64]) -> Result<(), NttError> {
        self.fits(a.len().max(b.len()))?;
        self.whole(out)?;
        self.multiply(a, Some(Second::Number(b)), |full| out.copy_from_slice(full));
        Ok(())
    }

    /// The transform of a number.
    ///
    /// # Errors
    /// [`NttError::TooLong`].
    pub fn transform(&self, number: &[u64]) -> Result<Transformed, NttError> {
        self.fits(number.len())?;
        let mut values = zeros(self.shape.length());
        self.transforms.transform(number, &mut values);
        Ok(Transformed { of: (self.engine, self.shape), values })
    }

    /// The same into a transform that is there, of this ring.
    ///
    /// # Errors
    /// [`NttError::TooLong`], [`NttError::OtherRing`].
    pub fn transform_into(&self, number: &[u64], out: &mut Transformed) -> Result<(), NttError> {
        self.fits(number.len())?;
        self.belongs(out.of)?;
        self.transforms.transform(number, &mut out.values);
        Ok(())
    }

    /// A sum of no products yet.
    pub fn sum(&self) -> Sum {
        Sum { of: (self.engine, self.shape), values: zeros(self.shape.length()), terms: 0 }
    }

    /// Adds the product of two transforms.
    ///
    /// # Errors
    /// [`NttError::OtherRing`], [`NttError::TooManyTerms`]; the sum stays as it is.
    pub fn add_product(&self, sum: &mut Sum, a: &Transformed, b: &Transformed) -> Result<(), NttError> {
        [sum.of, a.of, b.of].into_iter().try_for_each(|of| self.belongs(of))?;
        if sum.terms == self.terms {
            return Err(NttError::TooManyTerms { terms: self.terms });
        }
        sum.terms += 1;
        self.transforms.multiply(Target::Add(&mut sum.values), &a.values, &b.values);
        Ok(())
    }

    /// The lower limbs of a sum modulo `2^N - 1`, as many as the place has; of the sum itself if it
    /// is short enough. All ones in a place of [`Ring::limbs`] may stand for zero.
    ///
    /// # Errors
    /// [`NttError::OtherRing`].
    pub fn number(&self, mut sum: Sum, out: &mut [u64]) -> Result<(), NttError> {
        self.belongs(sum.of)?;
        self.with_place(|full| {
            self.transforms.number(&mut sum.values, full);
            copy(full, out);
        });
        Ok(())
    }

    /// As [`Ring::product`] for each pair.
    ///
    /// # Errors
    /// As [`Ring::product`], and [`NttError::Places`]; places of other pairs may be written then.
    pub fn products(&self, pairs: &[(&[u64], &[u64])], out: &mut [&mut [u64]]) -> Result<(), NttError> {
        places(pairs.len(), out.len())?;
        pairs.par_iter().zip(out).try_for_each(|(&(a, b), out)| self.product(a, b, out))
    }

    /// As [`Ring::product_with`] for each number, from the lowest limb on.
    ///
    /// # Errors
    /// As [`Ring::product_with`], and [`NttError::Places`]; places of other numbers may be written
    /// then.
    pub fn products_with(&self, numbers: &[&[u64]], b: &Transformed, out: &mut [&mut [u64]]) -> Result<(), NttError> {
        places(numbers.len(), out.len())?;
        numbers.par_iter().zip(out).try_for_each(|(a, out)| self.product_with(a, b, 0, out))
    }

    fn multiply(&self, a: &[u64], b: Option<Second<'_>>, take: impl FnOnce(&mut [u64])) {
        let mut room = self.transform_buffer();
        self.with_place(|full| {
            match b {
                None => self.transforms.product(a, Factor::Same, &mut room, full),
                Some(Second::Transformed(b)) => {
                    self.transforms.product(a, Factor::Transformed(b), &mut room, full);
                }
                Some(Second::Number(b)) => {
                    let mut more = self.transform_buffer();
                    self.transforms.product(a, Factor::Number(b, &mut more), &mut room, full);
                    lock(&self.transform_buffers).push(more);
                }
            }
            take(full);
        });
        lock(&self.transform_buffers).push(room);
    }

    /// Room for a transform: what an earlier product used, if there is one.
    fn transform_buffer(&self) -> Vec<Lanes> {
        let room = lock(&self.transform_buffers).pop();
        room.unwrap_or_else(|| zeros(self.shape.length()))
    }

    fn with_place(&self, work: impl FnOnce(&mut [u64])) {
        let mut place = self.take_buffer();
        work(&mut place);
        self.return_buffer(place);
    }

    /// A place of [`Ring::limbs`] limbs, with whatever is in it.
    pub(crate) fn take_buffer(&self) -> Vec<u64> {
        let place = lock(&self.buffers).pop();
        place.unwrap_or_else(|| zeros(self.limbs()))
    }

    /// Keeps a place for the next.
    pub(crate) fn return_buffer(&self, place: Vec<u64>) {
        lock(&self.buffers).push(place);
    }

    fn fits(&self, limbs: usize) -> Result<(), NttError> {
        let most = self.limbs();
        if limbs <= most { Ok(()) } else { Err(NttError::TooLong { limbs, most }) }
    }

    fn whole(&self, out: &[u64]) -> Result<(), NttError> {
        let (limbs, needed) = (out.len(), self.limbs());
        if limbs == needed { Ok(()) } else { Err(NttError::Place { limbs, needed }) }
    }

    fn belongs(&self, of: (Engine, Shape)) -> Result<(), NttError> {
        if of == (self.engine, self.shape) { Ok(()) } else { Err(NttError::OtherRing) }
    }
}

/// The second factor.
enum Second<'a> {
    Number(&'a [u64]),
    Transformed(&'a [Lanes]),
}

impl Transformed {
    /// Bytes of memory that it takes.
    pub fn bytes(&self) -> usize {
        size_of_val(self.values.as_slice())
    }
}

impl Sum {
    /// Products that were added.
    pub fn terms(&self) -> usize {
        self.terms
    }
}

impl fmt::Debug for Ring {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Ring({} limbs, {} terms, {})", self.limbs(), self.terms, self.engine)
    }
}

impl fmt::Debug for Transformed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Transformed({} bytes)", self.bytes())
    }
}

impl fmt::Debug for Sum {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Sum({} products)", self.terms)
    }
}

/// Whether there is a place for every result.
pub(crate) fn places(results: usize, places: usize) -> Result<(), NttError> {
    if results == places { Ok(()) } else { Err(NttError::Places { places, results }) }
}

/// The lower limbs, or all of them and zeros.
fn copy(from: &[u64], to: &mut [u64]) {
    let limbs = from.len().min(to.len());
    to[..limbs].copy_from_slice(&from[..limbs]);
    to[limbs..].fill(0);
}

/// A list of vectors is whole whatever panicked while it was locked.
fn lock<T>(list: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    list.lock().unwrap_or_else(PoisonError::into_inner)
}
