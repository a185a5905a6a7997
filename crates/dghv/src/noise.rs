//! Bounds on noise, as logarithms to base 2. [`sum`] bounds the sum of two numbers. The bound of a
//! product is the sum of the factors' bounds.

/// Logarithm of the sum of two numbers with these logarithms.
pub(crate) fn sum(a: f64, b: f64) -> f64 {
    let (low, high) = if a < b { (a, b) } else { (b, a) };
    high + (low - high).exp2().ln_1p() / std::f64::consts::LN_2
}

/// How many times a ciphertext can be multiplied by one with the same noise. Each multiplication
/// doubles the bits, from `noise` up to at most `limit`.
pub(crate) fn levels(noise: f64, limit: f64) -> u32 {
    let mut levels = 0;
    let mut grown = noise.max(1.0) * 2.0;
    while grown <= limit {
        grown *= 2.0;
        levels += 1;
    }
    levels
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_are_logarithms_of_sums() {
        for (a, b) in [(3_u32, 5_u32), (1, 1), (1000, 1), (7, 4096)] {
            let expected = f64::from(a + b).log2();
            assert!((sum(f64::from(a).log2(), f64::from(b).log2()) - expected).abs() < 1e-12);
        }
        assert_eq!(sum(900.0, 3.0), 900.0);
    }

    #[test]
    fn levels_are_counted() {
        assert_eq!(
            [levels(169.0, 1086.0), levels(970.0, 986.0), levels(1086.0, 1086.0), levels(0.0, 8.0)],
            [2, 0, 0, 3]
        );
    }
}
