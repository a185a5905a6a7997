//! Numbers modulo `2^N - 1`: the public interface of the transforms.

use crate::NttError;
use crate::engine::{self, Target};
use crate::memory::zeros;
use crate::plan::TransformPlan;
use crate::primes::Lanes;
use crate::transform::{Factor, Transforms};
use hearith_arith::Engine;
use rayon::prelude::*;
use std::fmt;
use std::sync::{Mutex, PoisonError};

/// Integers modulo `2^N - 1`, prepared for an engine: products of 10^4 to 10^9 bits.
///
/// `N` is at least the requested length. The product of numbers that together have at most the
/// requested limbs is therefore the exact product. Numbers are slices of 64-bit limbs, least
/// significant first, and results go to the caller's buffers. All engines give the same results.
/// Nothing is constant time: carries propagate through whole limbs of ones. Buffers for transforms
/// are kept for the next product and not wiped.
///
/// A single product spreads over the cores of rayon's current pool, and so does a batch.
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
    plan: TransformPlan,
    terms: usize,
    transforms: Box<dyn Transforms>,
    transform_buffers: Mutex<Vec<Vec<Lanes>>>,
    buffers: Mutex<Vec<Vec<u64>>>,
}

/// The transform of a number, computed by [`Ring::transform`].
#[derive(Clone)]
pub struct Transformed {
    of: (Engine, TransformPlan),
    values: Vec<Lanes>,
}

/// A sum of products of transforms, started by [`Ring::sum`].
#[derive(Clone)]
pub struct Sum {
    of: (Engine, TransformPlan),
    values: Vec<Lanes>,
    terms: usize,
}

impl Ring {
    /// Prepares for products of up to `limbs` 64-bit limbs.
    ///
    /// # Errors
    /// [`NttError::Size`] above about 11 * 10^9 bits, and
    /// [`ArithError::EngineUnavailable`](hearith_arith::ArithError::EngineUnavailable).
    pub fn new(engine: Engine, limbs: usize) -> Result<Self, NttError> {
        Self::with_terms(engine, limbs, 1)
    }

    /// Prepares like [`Ring::new`], and for sums of up to `terms` products.
    ///
    /// # Errors
    /// As [`Ring::new`], and [`NttError::Size`] also for too many terms or none.
    pub fn with_terms(engine: Engine, limbs: usize, terms: usize) -> Result<Self, NttError> {
        let available = engine.available()?;
        let plan = TransformPlan::of(limbs, terms).filter(|_| terms > 0).ok_or(NttError::Size { limbs, terms })?;
        let transforms = engine::transforms(available, plan);
        Ok(Ring { engine, plan, terms, transforms, transform_buffers: Mutex::default(), buffers: Mutex::default() })
    }

    /// The engine.
    pub fn engine(&self) -> Engine {
        self.engine
    }

    /// `N / 64`.
    pub fn limbs(&self) -> usize {
        self.plan.limbs()
    }

    /// Maximum number of products in a sum.
    pub fn terms(&self) -> usize {
        self.terms
    }

    /// The chosen plan: coefficients of a leaf, levels of the transform, and bits of a
    /// coefficient.
    pub fn plan(&self) -> (usize, u32, usize) {
        (self.plan.degree, self.plan.levels, self.plan.coefficient_bits())
    }

    /// The number of IFMA instructions in a product, on the engine that uses them.
    ///
    /// A transform needs three for each level and two coefficients, for both factors and the
    /// inverse. Residues, leaves and recombination add further terms. Divided by
    /// [`peak_rate`](hearith_arith::cost::peak_rate), the number gives the multiplication limit of
    /// the machine.
    pub fn instructions(&self) -> u64 {
        let (degree, levels) = (self.plan.degree as u64, u64::from(self.plan.levels));
        let transforms = 3 * levels * 3 / 2;
        let leaves = 3 * 3 + 2 * degree + 2;
        // Two factors' residues; then scale, fraction and sum of the coefficients, and the multiple
        // subtracted.
        let ways = 2 * 8 + 3 + 1 + 16 + 2;
        (self.plan.length() as u64) * (transforms + leaves + ways)
    }

    /// Number of bytes that a product of two numbers moves between a core's own caches and the
    /// memory behind them, in rayon's current pool.
    ///
    /// Both transforms are written, read and written again, and the product's is read. Zero if the
    /// product is computed in one piece.
    pub fn bytes(&self) -> u64 {
        let passes = if self.transforms.is_divided() { 2 * 3 + 1 } else { 0 };
        (passes * self.plan.length() * size_of::<Lanes>()) as u64
    }

    /// Computes `a b`, or its lower part if `out` is shorter. Zeros fill a longer buffer.
    ///
    /// # Errors
    /// [`NttError::TooLong`] if the factors together have more limbs than the ring.
    pub fn product(&self, a: &[u64], b: &[u64], out: &mut [u64]) -> Result<(), NttError> {
        self.fits(a.len() + b.len())?;
        self.multiply(a, Some(Second::Number(b)), |full| copy(full, out));
        Ok(())
    }

    /// Computes `a^2`, like [`Ring::product`].
    ///
    /// # Errors
    /// As [`Ring::product`].
    pub fn square(&self, a: &[u64], out: &mut [u64]) -> Result<(), NttError> {
        self.fits(2 * a.len())?;
        self.multiply(a, None, |full| copy(full, out));
        Ok(())
    }

    /// Computes limbs `from..` of `a b`, as many as `out` has. Limbs above the product are zero.
    ///
    /// # Errors
    /// As [`Ring::product`].
    pub fn product_from(&self, a: &[u64], b: &[u64], from: usize, out: &mut [u64]) -> Result<(), NttError> {
        self.fits(a.len() + b.len())?;
        self.multiply(a, Some(Second::Number(b)), |full| copy(full.get(from..).unwrap_or(&[]), out));
        Ok(())
    }

    /// Computes limbs `from..` of the product of `a` and a transformed number, modulo `2^N - 1`.
    ///
    /// If the product is short enough, this is the exact product. With `from = 0` and a buffer of
    /// [`Ring::limbs`] limbs it is the cyclic product, where all ones may represent zero.
    ///
    /// # Errors
    /// [`NttError::TooLong`] if `a` has more limbs than the ring, [`NttError::OtherRing`].
    pub fn product_with(&self, a: &[u64], b: &Transformed, from: usize, out: &mut [u64]) -> Result<(), NttError> {
        self.fits(a.len())?;
        self.belongs(b.of)?;
        self.multiply(a, Some(Second::Transformed(&b.values)), |full| copy(full.get(from..).unwrap_or(&[]), out));
        Ok(())
    }

    /// Computes `a b` modulo `2^N - 1` into a buffer of [`Ring::limbs`] limbs. All ones may
    /// represent zero.
    ///
    /// # Errors
    /// [`NttError::TooLong`] if a factor has more limbs than the ring, [`NttError::Place`].
    pub fn cyclic_product(&self, a: &[u64], b: &[u64], out: &mut [u64]) -> Result<(), NttError> {
        self.fits(a.len().max(b.len()))?;
        self.whole(out)?;
        self.multiply(a, Some(Second::Number(b)), |full| out.copy_from_slice(full));
        Ok(())
    }

    /// Transforms a number.
    ///
    /// # Errors
    /// [`NttError::TooLong`].
    pub fn transform(&self, number: &[u64]) -> Result<Transformed, NttError> {
        self.fits(number.len())?;
        let mut values = zeros(self.plan.length());
        self.transforms.transform(number, &mut values);
        Ok(Transformed { of: (self.engine, self.plan), values })
    }

    /// Transforms a number into an existing transform of this ring.
    ///
    /// # Errors
    /// [`NttError::TooLong`], [`NttError::OtherRing`].
    pub fn transform_into(&self, number: &[u64], out: &mut Transformed) -> Result<(), NttError> {
        self.fits(number.len())?;
        self.belongs(out.of)?;
        self.transforms.transform(number, &mut out.values);
        Ok(())
    }

    /// An empty sum.
    pub fn sum(&self) -> Sum {
        Sum { of: (self.engine, self.plan), values: zeros(self.plan.length()), terms: 0 }
    }

    /// Adds the product of two transforms.
    ///
    /// # Errors
    /// [`NttError::OtherRing`], [`NttError::TooManyTerms`]. The sum then stays unchanged.
    pub fn add_product(&self, sum: &mut Sum, a: &Transformed, b: &Transformed) -> Result<(), NttError> {
        [sum.of, a.of, b.of].into_iter().try_for_each(|of| self.belongs(of))?;
        if sum.terms == self.terms {
            return Err(NttError::TooManyTerms { terms: self.terms });
        }
        sum.terms += 1;
        self.transforms.multiply(Target::Add(&mut sum.values), &a.values, &b.values);
        Ok(())
    }

    /// Computes the lower limbs of a sum modulo `2^N - 1`, as many as `out` has.
    ///
    /// If the sum is short enough, this is the exact sum. In a buffer of [`Ring::limbs`] limbs all
    /// ones may represent zero.
    ///
    /// # Errors
    /// [`NttError::OtherRing`].
    pub fn number(&self, mut sum: Sum, out: &mut [u64]) -> Result<(), NttError> {
        self.belongs(sum.of)?;
        self.with_buffer(|full| {
            self.transforms.number(&mut sum.values, full);
            copy(full, out);
        });
        Ok(())
    }

    /// Multiplies each pair like [`Ring::product`].
    ///
    /// # Errors
    /// As [`Ring::product`], and [`NttError::Places`]. In this case buffers of other pairs may have
    /// been written.
    pub fn products(&self, pairs: &[(&[u64], &[u64])], out: &mut [&mut [u64]]) -> Result<(), NttError> {
        check_buffer_count(pairs.len(), out.len())?;
        pairs.par_iter().zip(out).try_for_each(|(&(a, b), out)| self.product(a, b, out))
    }

    /// Multiplies each number like [`Ring::product_with`], from the lowest limb on.
    ///
    /// # Errors
    /// As [`Ring::product_with`], and [`NttError::Places`]. In this case buffers of other numbers
    /// may have been written.
    pub fn products_with(&self, numbers: &[&[u64]], b: &Transformed, out: &mut [&mut [u64]]) -> Result<(), NttError> {
        check_buffer_count(numbers.len(), out.len())?;
        numbers.par_iter().zip(out).try_for_each(|(a, out)| self.product_with(a, b, 0, out))
    }

    fn multiply(&self, a: &[u64], b: Option<Second<'_>>, take: impl FnOnce(&mut [u64])) {
        let mut buffer = self.transform_buffer();
        self.with_buffer(|full| {
            match b {
                None => self.transforms.product(a, Factor::Same, &mut buffer, full),
                Some(Second::Transformed(b)) => {
                    self.transforms.product(a, Factor::Transformed(b), &mut buffer, full);
                }
                Some(Second::Number(b)) => {
                    let mut more = self.transform_buffer();
                    self.transforms.product(a, Factor::Number(b, &mut more), &mut buffer, full);
                    lock(&self.transform_buffers).push(more);
                }
            }
            take(full);
        });
        lock(&self.transform_buffers).push(buffer);
    }

    /// A buffer for a transform, reused from an earlier product if possible.
    fn transform_buffer(&self) -> Vec<Lanes> {
        let buffer = lock(&self.transform_buffers).pop();
        buffer.unwrap_or_else(|| zeros(self.plan.length()))
    }

    fn with_buffer(&self, work: impl FnOnce(&mut [u64])) {
        let mut buffer = self.take_buffer();
        work(&mut buffer);
        self.return_buffer(buffer);
    }

    /// A buffer of [`Ring::limbs`] limbs with arbitrary content.
    pub(crate) fn take_buffer(&self) -> Vec<u64> {
        let buffer = lock(&self.buffers).pop();
        buffer.unwrap_or_else(|| zeros(self.limbs()))
    }

    /// Keeps a buffer for reuse.
    pub(crate) fn return_buffer(&self, buffer: Vec<u64>) {
        lock(&self.buffers).push(buffer);
    }

    fn fits(&self, limbs: usize) -> Result<(), NttError> {
        let most = self.limbs();
        if limbs <= most { Ok(()) } else { Err(NttError::TooLong { limbs, most }) }
    }

    fn whole(&self, out: &[u64]) -> Result<(), NttError> {
        let (limbs, needed) = (out.len(), self.limbs());
        if limbs == needed { Ok(()) } else { Err(NttError::Place { limbs, needed }) }
    }

    fn belongs(&self, of: (Engine, TransformPlan)) -> Result<(), NttError> {
        if of == (self.engine, self.plan) { Ok(()) } else { Err(NttError::OtherRing) }
    }
}

/// The second factor.
enum Second<'a> {
    Number(&'a [u64]),
    Transformed(&'a [Lanes]),
}

impl Transformed {
    /// Size in bytes of the transform in memory.
    pub fn bytes(&self) -> usize {
        size_of_val(self.values.as_slice())
    }
}

impl Sum {
    /// The number of products added so far.
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

/// Checks that there is a buffer for every result.
pub(crate) fn check_buffer_count(results: usize, buffers: usize) -> Result<(), NttError> {
    if results == buffers { Ok(()) } else { Err(NttError::Places { places: buffers, results }) }
}

/// Copies the lower limbs, or all of them followed by zeros.
fn copy(from: &[u64], to: &mut [u64]) {
    let limbs = from.len().min(to.len());
    to[..limbs].copy_from_slice(&from[..limbs]);
    to[limbs..].fill(0);
}

/// Locks a list of buffers. A panic while it was locked cannot have corrupted it.
fn lock<T>(list: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    list.lock().unwrap_or_else(PoisonError::into_inner)
}
