//! Integer multiples of Lagrange coefficients, because the inverses of their denominators require
//! the factors of `n`.

/// Maximum number of trustees that share a key, limited by a factorial that fits in a word.
pub const MAX_TRUSTEES: u32 = 20;

/// `D = l!`, which makes every coefficient an integer.
pub(crate) fn factorial(trustees: u32) -> u64 {
    (1..=u64::from(trustees)).product()
}

/// For each trustee of a set, `D` times its Lagrange coefficient at 0: `D prod j / (j - i)` over
/// all other trustees `j`.
///
/// Below `2^96`: `D` has at most 62 bits, and the product is at most that of `j / |j - i|` over `j`
/// from 1 to 20, which is below `2^34`.
///
/// Proved: `coefficients_correct` in formal/coq/lagrange.v.
/// Proved: `shares_correct` in formal/coq/lagrange.v.
pub(crate) fn coefficients(trustees: u32, set: &[u32]) -> Vec<i128> {
    let others = |i: u32| set.iter().copied().filter(move |&j| j != i);
    let coefficient = |&i: &u32| {
        let over: i128 = others(i).map(i128::from).product();
        let under: i128 = others(i).map(|j| i128::from(j) - i128::from(i)).product();
        // Both are below 20!. Their product with D would overflow, so the common factor is removed
        // first.
        let common = gcd(over, under);
        let (over, under) = (over / common, under / common);
        i128::from(factorial(trustees)) / under * over
    };
    set.iter().map(coefficient).collect()
}

fn gcd(a: i128, b: i128) -> i128 {
    if b == 0 { a.abs() } else { gcd(b, a % b) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rug::Integer;

    #[test]
    fn coefficients_are_lagranges_times_the_factorial() {
        let mut largest = 0;
        for (trustees, sets) in [(1, 1..2_u32), (3, 1..8), (5, 1..32), (20, (1 << 20) - 300..1 << 20)] {
            for set in sets {
                let set: Vec<u32> = (1..=trustees).filter(|i| set >> (i - 1) & 1 == 1).collect();
                let found = coefficients(trustees, &set);
                for (&i, &found) in set.iter().zip(&found) {
                    let others = || set.iter().filter(|&&j| j != i);
                    let over: Integer = others().map(|&j| Integer::from(j)).product();
                    let under: Integer = others().map(|&j| Integer::from(j) - i).product();
                    assert_eq!(under * found, over * Integer::from(Integer::factorial(trustees)), "{i} of {set:?}");
                    largest = largest.max(found.unsigned_abs());
                }
            }
        }
        assert!(largest < 1 << 96);
    }

    #[test]
    fn no_set_of_trustees_has_longer_coefficients() {
        // Of all factors j / |j - i|, only those above 1.
        let longest = (1..=20_u32).map(|i| {
            let others = (1..=20).filter(|&j| j != i).map(|j| f64::from(j) / f64::from(j.abs_diff(i)));
            others.filter(|&factor| factor > 1.0).map(f64::log2).sum::<f64>()
        });
        let longest = longest.fold(0.0, f64::max) + (factorial(20) as f64).log2();
        assert!(longest < 95.0, "{longest}");
    }
}
