//! The cost model of the vector engine: how many IFMA instructions an operation needs, and how many
//! the core can do.
//!
//! One IFMA instruction adds the low or the high half of eight products of 52-bit limbs to eight
//! sums, so a product of limbs takes two. The counts are of what the algorithms need, for eight
//! operations side by side; loads, carries, table reads and conversions are not in them. An
//! operation's count at the peak rate is its physical limit, and the quotient of that time and the
//! measured one is the share of the limit that it reaches.

use crate::pow::{VECTOR_WINDOW, window_width};
use crate::sliding::sliding_width;

/// IFMA instructions for eight operations modulo numbers of one size.
///
/// ```
/// let cost = hearith_arith::cost::Cost::of(1024);
/// assert_eq!((cost.limbs, cost.mul, cost.sqr, cost.dual_sqr), (20, 1600, 1220, 2820));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cost {
    /// Limbs `k` of 52 bits that the numbers take.
    pub limbs: u64,
    /// A Montgomery multiplication: `4 k^2`, half of it for the product, half for the reduction.
    pub mul: u64,
    /// A Montgomery squaring: `k (k + 1)` and `2 k^2`.
    pub sqr: u64,
    /// A multiplication of dual numbers: three products and two reductions, `10 k^2`.
    pub dual_mul: u64,
    /// A squaring of a dual number: a square, a product and two reductions, `k (k + 1) + 6 k^2`.
    pub dual_sqr: u64,
}

impl Cost {
    /// The counts for a modulus of `bits` bits (for dual numbers: the modulus that is squared).
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

    /// A power modulo `m` with a secret exponent of so many bits.
    pub fn pow(&self, exponent_bits: u32) -> u64 {
        fixed_window(exponent_bits, self.mul, self.sqr)
    }

    /// A power modulo `m^2`, in dual numbers, with a secret exponent of so many bits.
    pub fn dual_pow(&self, exponent_bits: u32) -> u64 {
        fixed_window(exponent_bits, self.dual_mul, self.dual_sqr)
    }

    /// A power modulo `m^2`, in dual numbers, with a public exponent of so many bits, half of them
    /// set.
    pub fn dual_pow_public(&self, exponent_bits: u32) -> u64 {
        let (bits, width) = (u64::from(exponent_bits), sliding_width(exponent_bits));
        let products = (1 << (width - 1)) + bits / u64::from(width + 1);
        bits * self.dual_sqr + products * self.dual_mul
    }

    /// A power of a fixed base modulo `m^2`, in dual numbers, with a secret exponent of so many
    /// bits.
    pub fn comb(&self, exponent_bits: u32) -> u64 {
        let (columns, squarings) = crate::fixed_base::shape_of(exponent_bits);
        columns * self.dual_mul + squarings * self.dual_sqr
    }
}

/// IFMA instructions of all products that the kernels carry out on this thread meanwhile, counted
/// one by one as they are asked for, each for as many operations side by side as the engine has
/// lanes: what the model is held against in tests. `None` where the crate was built without debug
/// assertions, and does not count.
///
/// Products on other threads are not seen: run it in a pool of one.
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
    /// What was counted so far, while somebody counts.
    static COUNTED: std::cell::Cell<Option<u64>> = const { std::cell::Cell::new(None) };
}

/// Counts a product modulo a number of so many 64-bit limbs, or its square.
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

/// IFMA instructions that a core carries out in a nanosecond, measured now; `None` where it has
/// none.
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

    /// Operations side by side in the engines whose windows the model has.
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

    /// In a thread of its own, as the count wants it.
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
            // An exponent of one bit takes the way into Montgomery form and out of it, and no
            // product else.
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
            // Of a public exponent the model knows the average.
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
