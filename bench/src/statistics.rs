//! Medians and spreads of paired ratios.

use serde::Serialize;

/// The median with the minimum and the maximum.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Spread {
    /// The median.
    pub median: f64,
    /// The minimum.
    pub min: f64,
    /// The maximum.
    pub max: f64,
}

impl Spread {
    /// The spread of at least one value.
    pub fn of(values: impl IntoIterator<Item = f64>) -> Self {
        let mut values: Vec<f64> = values.into_iter().collect();
        values.sort_by(f64::total_cmp);
        let middle = values.len() / 2;
        let median = if values.len() % 2 == 1 { values[middle] } else { (values[middle - 1] + values[middle]) / 2.0 };
        Spread { median, min: values[0], max: values[values.len() - 1] }
    }

    /// The spread of `theirs / ours` by round: how many times faster ours was.
    pub fn of_ratios(theirs: &[f64], ours: &[f64]) -> Self {
        Spread::of(theirs.iter().zip(ours).map(|(theirs, ours)| theirs / ours))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn medians_and_ends() {
        let odd = Spread::of([3.0, 1.0, 2.0]);
        assert_eq!((odd.median, odd.min, odd.max), (2.0, 1.0, 3.0));
        assert_eq!(Spread::of([4.0, 1.0, 2.0, 3.0]).median, 2.5);
        assert_eq!(Spread::of_ratios(&[6.0, 4.0], &[2.0, 4.0]).max, 3.0);
    }
}
