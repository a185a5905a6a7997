//! Exact numbers: `mantissa * 10^ten * 2^two`, so integers, decimals and doubles compare without
//! rounding.

use std::cmp::Ordering;

use num_bigint::BigInt;

/// Largest exponent of a literal: beyond every double, yet small enough to compute with.
const LARGEST_EXPONENT: i32 = 400;

/// A number or a special double. NaN is the largest, as in `--by`.
#[derive(Clone, Debug)]
pub(super) enum Real {
    /// Negative infinity, below all numbers.
    Low,
    /// A number.
    Finite(Exact),
    /// Infinity, above all numbers.
    High,
    /// Above infinity, equal to itself.
    Nan,
}

/// `mantissa * 10^ten * 2^two`.
#[derive(Clone, Debug)]
pub(super) struct Exact {
    mantissa: BigInt,
    ten: i32,
    two: i32,
}

impl Exact {
    pub(super) fn decimal(mantissa: BigInt, scale: i32) -> Self {
        Self { mantissa, ten: -scale, two: 0 }
    }

    /// Parses a decimal number with an optional exponent, without spaces or separators.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let (number, exponent) = match text.split_once(['e', 'E']) {
            Some((number, exponent)) => (number, exponent.parse::<i32>().ok()?),
            None => (text, 0),
        };
        if exponent.unsigned_abs() > LARGEST_EXPONENT.unsigned_abs() {
            return None;
        }
        let digits = number.strip_prefix(['+', '-']).unwrap_or(number);
        let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
        let all = format!("{whole}{fraction}");
        if all.is_empty() || !all.bytes().all(|byte| byte.is_ascii_digit()) {
            return None;
        }
        let mantissa: BigInt = all.parse().ok()?;
        let mantissa = if number.starts_with('-') { -mantissa } else { mantissa };
        Some(Self { mantissa, ten: exponent - i32::try_from(fraction.len()).ok()?, two: 0 })
    }

    /// The sum of this decimal number and an integer.
    pub(super) fn plus(self, integer: i64) -> Self {
        let ten = self.ten.min(0);
        let power = |by: i32| BigInt::from(10).pow(by.unsigned_abs());
        let mantissa = self.mantissa * power(self.ten - ten) + BigInt::from(integer) * power(ten);
        Self { mantissa, ten, two: 0 }
    }

    /// The number times `10^scale`, if the product is an integer.
    pub(super) fn scaled(&self, scale: i32) -> Option<BigInt> {
        let (ten, two) = (self.ten + scale, self.two);
        let power = |ten: i32, two: i32| BigInt::from(10).pow(ten.max(0).unsigned_abs()) << two.max(0).unsigned_abs();
        let (above, below) = (&self.mantissa * power(ten, two), power(-ten, -two));
        (&above % &below == BigInt::ZERO).then(|| above / below)
    }

    /// The nearest double, infinite beyond the largest.
    pub(super) fn to_f64(&self) -> f64 {
        match self.two {
            0 => format!("{}e{}", self.mantissa, self.ten).parse().unwrap_or(f64::NAN),
            // Only doubles have a power of two, and they have no power of ten.
            _ => self.mantissa.to_string().parse::<f64>().unwrap_or(f64::NAN) * power_of_two(self.two),
        }
    }

    /// The nearest single-precision number, infinite beyond the largest.
    pub(super) fn to_f32(&self) -> f32 {
        match self.two {
            0 => format!("{}e{}", self.mantissa, self.ten).parse().unwrap_or(f32::NAN),
            _ => self.to_f64() as f32,
        }
    }

    pub(super) fn negated(self) -> Self {
        Self { mantissa: -self.mantissa, ..self }
    }
}

/// `2^exponent` for the exponents of doubles.
fn power_of_two(exponent: i32) -> f64 {
    f64::from_bits(match exponent {
        -1074..=-1023 => 1 << (exponent + 1074),
        _ => ((exponent + 1023) as u64) << 52,
    })
}

impl From<f64> for Real {
    fn from(value: f64) -> Self {
        const FRACTION: u64 = (1 << 52) - 1;
        let (bits, negative) = (value.to_bits(), value.is_sign_negative());
        let (exponent, fraction) = ((bits >> 52 & 0x7ff) as i32, bits & FRACTION);
        match (exponent, fraction, negative) {
            (0x7ff, 0, true) => Real::Low,
            (0x7ff, 0, false) => Real::High,
            (0x7ff, ..) => Real::Nan,
            _ => {
                let (mantissa, two) =
                    if exponent == 0 { (fraction, -1074) } else { (fraction | 1 << 52, exponent - 1075) };
                let mantissa = BigInt::from(mantissa);
                Real::Finite(Exact { mantissa: if negative { -mantissa } else { mantissa }, ten: 0, two })
            }
        }
    }
}

impl Ord for Exact {
    fn cmp(&self, other: &Self) -> Ordering {
        let (ten, two) = (self.ten.min(other.ten), self.two.min(other.two));
        let aligned = |number: &Self| {
            let power = BigInt::from(10).pow((number.ten - ten).unsigned_abs());
            (&number.mantissa * power) << (number.two - two).unsigned_abs()
        };
        aligned(self).cmp(&aligned(other))
    }
}

impl Ord for Real {
    fn cmp(&self, other: &Self) -> Ordering {
        let rank = |real: &Self| match real {
            Real::Low => 0,
            Real::Finite(_) => 1,
            Real::High => 2,
            Real::Nan => 3,
        };
        match (self, other) {
            (Real::Finite(a), Real::Finite(b)) => a.cmp(b),
            _ => rank(self).cmp(&rank(other)),
        }
    }
}

macro_rules! ordered {
    ($($kind:ty),*) => {$(
        impl PartialOrd for $kind {
            fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
                Some(self.cmp(other))
            }
        }
        impl PartialEq for $kind {
            fn eq(&self, other: &Self) -> bool {
                self.cmp(other).is_eq()
            }
        }
        impl Eq for $kind {}
    )*};
}
ordered!(Exact, Real);

#[cfg(test)]
mod tests {
    use super::*;

    fn exact(text: &str) -> Exact {
        Exact::parse(text).unwrap()
    }

    #[test]
    fn decimals_compare_with_every_digit() {
        assert!(exact("12345678901234567.891") > exact("12345678901234567.89"));
        assert_eq!(exact("1.50"), exact("15e-1"));
        assert_eq!(exact("-0"), exact("0"));
        assert!(exact("1e76") > exact("9999999999999999999999"));
        for text in ["", ".", "1_000", "10k", "1e", "1e401", " 1", "0x1", "1.2.3", "--1"] {
            assert!(Exact::parse(text).is_none(), "{text}");
        }
    }

    #[test]
    fn doubles_are_the_numbers_that_they_are() {
        assert!(Real::from(0.1) > Real::Finite(exact("0.1")));
        assert!(Real::from(0.3) < Real::Finite(exact("0.3")));
        assert_eq!(Real::from(0.5), Real::Finite(exact("0.5")));
        assert_eq!(Real::from(-0.0), Real::from(0.0));
        assert!(Real::from(9007199254740992.0) < Real::Finite(exact("9007199254740993")));
        assert!(Real::from(5e-324) > Real::Finite(exact("0")));
        for value in [5e-324, 1.5e-310, -0.1, 1.0 / 3.0, f64::MAX, 1e22, f64::MIN_POSITIVE] {
            let Real::Finite(exact) = Real::from(value) else { panic!("{value} is finite") };
            assert_eq!(exact.to_f64(), value);
        }
        assert!(Real::from(f64::NAN) > Real::from(f64::INFINITY));
        assert_eq!(Real::from(f64::NAN), Real::from(-f64::NAN));
    }
}
