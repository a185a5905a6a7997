//! Unrolled Karatsuba multiplication: products of polynomials with `2^l` coefficients from `3^l`
//! products of numbers.

/// Maximum number of unrolled levels.
pub(super) const LEVELS: u32 = 3;
/// Number of products for the maximum number of levels.
pub(super) const SEQUENCES: usize = 27;

/// Computes the factors. Every level replaces a polynomial by its lower half, its upper half and
/// their sum. The first `2^levels` values are the coefficients. `put` receives the `3^levels`
/// results, each a sum of up to `2^levels` coefficients.
#[inline(always)]
pub(super) fn expand<T: Copy>(
    levels: u32,
    values: &[T; 8],
    add: impl Fn(T, T) -> T + Copy,
    mut put: impl FnMut(usize, T),
) {
    match levels {
        0 => put(0, values[0]),
        1 => one_level([values[0], values[1]], 0, add, &mut put),
        2 => two_levels([values[0], values[1], values[2], values[3]], 0, add, &mut put),
        _ => {
            let [a, b, c, d, e, f, g, h] = *values;
            two_levels([a, b, c, d], 0, add, &mut put);
            two_levels([e, f, g, h], 9, add, &mut put);
            two_levels([add(a, e), add(b, f), add(c, g), add(d, h)], 18, add, &mut put);
        }
    }
}

#[inline(always)]
fn two_levels<T: Copy>(
    [a, b, c, d]: [T; 4],
    at: usize,
    add: impl Fn(T, T) -> T + Copy,
    put: &mut impl FnMut(usize, T),
) {
    one_level([a, b], at, add, put);
    one_level([c, d], at + 3, add, put);
    one_level([add(a, c), add(b, d)], at + 6, add, put);
}

#[inline(always)]
fn one_level<T: Copy>([a, b]: [T; 2], at: usize, add: impl Fn(T, T) -> T, put: &mut impl FnMut(usize, T)) {
    put(at, a);
    put(at + 1, b);
    put(at + 2, add(a, b));
}

/// The `2^(levels + 1) - 1` coefficients of the product, from the `3^levels` products.
pub(super) fn interpolate(levels: u32, products: &[i128]) -> [i128; 15] {
    let mut out = [0; 15];
    match levels {
        0 => out[0] = products[0],
        1 => out[..3].copy_from_slice(&one_product(products)),
        2 => out[..7].copy_from_slice(&two_products(products)),
        _ => {
            let [low, high, sum] = [0, 9, 18].map(|at| two_products(&products[at..]));
            out = combined(low, high, sum);
        }
    }
    out
}

#[inline(always)]
fn two_products(products: &[i128]) -> [i128; 7] {
    let [low, high, sum] = [0, 3, 6].map(|at| one_product(&products[at..]));
    combined(low, high, sum)
}

#[inline(always)]
fn one_product(products: &[i128]) -> [i128; 3] {
    [products[0], products[2] - products[0] - products[1], products[1]]
}

/// Undoes one level: the product, from those of the lower halves, of the upper halves and of their
/// sums.
#[inline(always)]
fn combined<const N: usize, const M: usize>(low: [i128; N], high: [i128; N], sum: [i128; N]) -> [i128; M] {
    let mut out = [0; M];
    let half = N.div_ceil(2);
    for i in 0..N {
        out[i] += low[i];
        out[half + i] += sum[i] - low[i] - high[i];
        out[2 * half + i] += high[i];
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_are_those_of_the_schoolbook() {
        for levels in 0..=LEVELS {
            let (length, products) = (1 << levels, 3_usize.pow(levels));
            let value = |i: usize, salt: usize| ((i + 2) * (i + salt) % 23) as i128;
            let factor = |salt| {
                let mut values = [0; SEQUENCES];
                expand(
                    levels,
                    &std::array::from_fn(|i| value(i, salt)),
                    |a, b| a + b,
                    |index, value| values[index] = value,
                );
                values
            };
            let (a, b) = (factor(3), factor(8));
            let pointwise: Vec<i128> = (0..products).map(|i| a[i] * b[i]).collect();
            let mut expected = [0; 15];
            for (i, j) in (0..length).flat_map(|i| (0..length).map(move |j| (i, j))) {
                expected[i + j] += value(i, 3) * value(j, 8);
            }
            assert_eq!(interpolate(levels, &pointwise), expected);
        }
    }
}
