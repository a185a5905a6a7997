//! The cost model of the vector engine: the number of IFMA instructions per operation, and the rate
//! at which a core executes them.
//!
//! One IFMA instruction adds the low or the high half of eight products of 52-bit limbs to eight
//! sums, so a product of limbs takes two. The counts cover the arithmetic of the algorithms for
//! eight parallel operations. Loads, carries, table reads and conversions are excluded. An
//! operation's count at the peak rate gives its physical limit; dividing that time by the measured
//! time gives the utilisation.

use crate::pow::{VECTOR_WINDOW, window_width};
use crate::sliding::sliding_width;

/// IFMA instructions for eight parallel operations modulo numbers of one size.
///
/// ```
/// let cost = hearith_arith::cost::Cost::of(1024);
/// assert_eq!((cost.limbs, cost.mul, cost.sqr, cost.dual_sqr), (20, 1600, 1220, 2820));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cost {
    /// Number of 52-bit limbs `k`.
    pub limbs: u64,
    /// A Montgomery multiplication: `4 k^2`, half for the product and half for the reduction.
    pub mul: u64,
    /// A Montgomery squaring: `k (k + 1)` for the square and `2 k^2` for the reduction.
    pub sqr: u64,
    /// A multiplication of dual numbers: three products and two reductions, `10 k^2`.
    pub dual_mul: u64,
    /// A squaring of a dual number: a square, a product and two reductions, `k (k + 1) + 6 k^2`.
    pub dual_sqr: u64,
}

impl Cost {
    /// The counts for a modulus of `bits` bits. For dual numbers this is the modulus that is
    /// squared.
    pub fn of(bits: u32) -> Self {
        let k = u64::from((bits + 8).div_ceil(52).next_multiple_of(10));
        let (square, product) = (k * (k + 1), 2 * k * k);
        Cost {
            limbs: k,
            mul: 2 * product,
            sqr: square + product,
            dual_mul: 5 * product,
            dual_sqr: square + 3 * product,
        }
    }

    /// A power modulo `m` with a secret exponent of `exponent_bits` bits.
    pub fn pow(&self, exponent_bits: u32) -> u64 {
        fixed_window(exponent_bits, self.mul, self.sqr)
    }

    /// A power modulo `m^2`, in dual numbers, with a secret exponent of `exponent_bits` bits.
    pub fn dual_pow(&self, exponent_bits: u32) -> u64 {
        fixed_window(exponent_bits, self.dual_mul, self.dual_sqr)
    }

    /// A power modulo `m^2`, in dual numbers, with a public exponent of `exponent_bits` bits, half
    /// of which are set.
    pub fn dual_pow_public(&self, exponent_bits: u32) -> u64 {
        let (bits, width) = (u64::from(exponent_bits), sliding_width(exponent_bits));
        let products = (1 << (width - 1)) + bits / u64::from(width + 1);
        bits * self.dual_sqr + products * self.dual_mul
    }

    /// A power of a fixed base modulo `m^2`, in dual numbers, with a secret exponent of
    /// `exponent_bits` bits.
    pub fn comb(&self, exponent_bits: u32) -> u64 {
        let (columns, squarings) = crate::fixed_base::shape_of(exponent_bits);
        columns * self.dual_mul + squarings * self.dual_sqr
    }
}

/// Counts the IFMA instructions, by the model, of all products that kernels perform on this thread
/// during `run`. Tests compare the model with it.
///
/// Each product counts once for all lanes of the engine. Products on other threads are not counted,
/// so run it in a pool with one thread. Returns `None` if the crate was built without debug
/// assertions.
pub fn counted(run: impl FnOnce()) -> Option<u64> {
    #[cfg(debug_assertions)]
    {
        COUNTED.set(Some(0));
        run();
        COUNTED.take()
    }
    #[cfg(not(debug_assertions))]
    {
        run();
        None
    }
}

#[cfg(debug_assertions)]
thread_local! {
    /// The current count while a count is in progress.
    static COUNTED: std::cell::Cell<Option<u64>> = const { std::cell::Cell::new(None) };
}

/// Counts a product modulo a number of `_limbs` 64-bit limbs, or modulo its square.
#[inline(always)]
pub(crate) fn note(_limbs: usize, _instructions: impl Fn(&Cost) -> u64) {
    #[cfg(debug_assertions)]
    if let Some(sum) = COUNTED.get() {
        COUNTED.set(Some(sum + _instructions(&Cost::of(64 * _limbs as u32))));
    }
}

fn fixed_window(bits: u32, mul: u64, sqr: u64) -> u64 {
    let width = window_width(bits, VECTOR_WINDOW);
    let table = (1 << width) - 2;
    let windows = u64::from(bits.div_ceil(width));
    windows.saturating_sub(1) * (u64::from(width) * sqr + mul) + table / 2 * (mul + sqr)
}

/// IFMA instructions per nanosecond and core, measured by this call; `None` if the CPU does not
/// support IFMA.
pub fn peak_rate() -> Option<f64> {
    #[cfg(target_arch = "x86_64")]
    if crate::Engine::Ifma.is_available() {
        return Some(crate::backend::ifma::peak_rate());
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Batch, Engine, Exponents, FixedBase, Modulus, Square};

    /// The engines with the window width of the model, and their numbers of lanes.
    fn engines() -> impl Iterator<Item = (Engine, usize)> {
        let vector = [Engine::Avx2, Engine::Ifma].into_iter();
        let there = vector.filter(|engine| hearith_testing::has(engine.name(), engine.is_available()));
        there.map(|engine| (engine, engine.lanes()))
    }

    fn modulus(limbs: usize) -> Vec<u64> {
        let mut m: Vec<u64> = (1..=limbs as u64).map(|limb| limb.wrapping_mul(0x9e37_79b9_7f4a_7c15)).collect();
        m[0] |= 1;
        m[limbs - 1] |= 1 << 63;
        m
    }

    /// Counts in a pool with one thread.
    fn count(run: impl FnOnce() + Send) -> u64 {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
        pool.install(|| counted(run)).expect("tests are built with debug assertions")
    }

    #[test]
    fn the_model_is_what_kernels_are_asked_for() {
        for ((engine, lanes), limbs) in engines().flat_map(|engine| [8, 16].map(|limbs| (engine, limbs))) {
            let m = modulus(limbs);
            let (plain, square) = (Modulus::new(engine, &m).unwrap(), Square::new(engine, &m).unwrap());
            let cost = Cost::of(64 * limbs as u32);
            let bases = Batch::repeat(&m[..limbs - 1], lanes).resize(limbs);
            let exponent: Vec<u64> = m.iter().chain(&m).map(|limb| limb.rotate_left(7)).collect();
            // A one-bit exponent only takes the conversions into and out of Montgomery form.
            let shared = |bits| Exponents::Shared(&exponent, bits);
            let ways = (count(|| drop(plain.pow(&bases, shared(1)))), count(|| drop(square.pow(&bases, shared(1)))));
            for bits in [2, 161, 257, 289, 512, 1024] {
                let found = count(|| drop(plain.pow(&bases, shared(bits)))) - ways.0;
                assert_eq!(found, cost.pow(bits), "{engine}, {bits} bits");
                let found = count(|| drop(square.pow(&bases, shared(bits)))) - ways.1;
                assert_eq!(found, cost.dual_pow(bits), "{engine}, {bits} bits, dual");
                let comb = FixedBase::new(&square, &m[1..], bits);
                let exponents = Batch::repeat(&exponent[..limbs], lanes);
                let found = count(|| drop(comb.pow(&exponents)));
                assert_eq!(found, cost.comb(bits) + cost.dual_mul, "{engine}, {bits} bits, comb and the way out");
            }
            // The model assumes an average public exponent.
            let found = count(|| drop(square.pow(&bases, Exponents::Public(&exponent)))) - ways.1;
            let model = cost.dual_pow_public(128 * limbs as u32);
            assert!(found.abs_diff(model) < model / 50, "{engine}: {found} and {model}");
        }
    }

    #[test]
    fn nothing_is_counted_unasked() {
        let m = modulus(4);
        let square = Square::new(Engine::Serial, &m).unwrap();
        let power = || drop(square.pow(&Batch::repeat(&[3], 1).resize(4), Exponents::Shared(&[1 << 40], 41)));
        power();
        assert_eq!(count(|| ()), 0);
        assert!(count(power) > 0);
    }
}
