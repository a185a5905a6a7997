//! Counts of the post-processing cost of decryption, in the unit of the MESA paper \[HDSST25\].

use std::cell::Cell;

/// The post-processing cost of decryptions in operations on `2 N` bits, where the key has `N` bits.
/// An operation on `N` bits counts as one half, as in section 3.3 of the paper.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Counts {
    /// Modular multiplications, each with the `N`-bit multiplier whatever the modulus.
    pub multiplications: f64,
    /// Comparisons of a result with the modulus, each including its subtraction. The paper calls
    /// them judgements.
    pub comparisons: f64,
}

thread_local! {
    static COUNTS: Cell<Counts> = const { Cell::new(Counts { multiplications: 0.0, comparisons: 0.0 }) };
}

/// Returns and resets the counts of this thread. [`Decryption::Crt`](crate::Decryption::Crt) and
/// [`Decryption::Ecrt`](crate::Decryption::Ecrt) are counted.
///
/// ```
/// # use hearith_golden::{Decryption, PaperKey, count};
/// # use hearith_paillier::{Engine, KeyPolicy, PrivateKey, Variant};
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let private = PrivateKey::generate(512, Variant::Standard, KeyPolicy::AllowInsecure, Engine::best())?;
/// let key = PaperKey::new(&private)?;
/// count::take();
/// key.decrypt(Decryption::Ecrt, &private.public().zero())?;
/// assert_eq!(count::take(), count::Counts { multiplications: 1.0, comparisons: 1.0 });
/// # Ok(())
/// # }
/// ```
pub fn take() -> Counts {
    COUNTS.take()
}

/// Counts a modular multiplication on `quarters` quarters of `2 N` bits.
pub(crate) fn multiplication(quarters: u32) {
    count(|counts| counts.multiplications += f64::from(quarters) / 4.0);
}

/// Counts a comparison of `quarters` quarters of `2 N` bits.
pub(crate) fn comparison(quarters: u32) {
    count(|counts| counts.comparisons += f64::from(quarters) / 4.0);
}

fn count(step: impl FnOnce(&mut Counts)) {
    COUNTS.with(|counts| {
        let mut now = counts.get();
        step(&mut now);
        counts.set(now);
    });
}
