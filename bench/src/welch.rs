//! Welch's t-test on cropped measurements, as in dudect \[RBV17\].
//!
//! The times of two classes of input are compared as they are, and again without those above each
//! of several percentiles, where the machine's noise dominates. The largest |t| counts.

/// From this value on, the running time distinguishes the classes.
pub const LEAK: f64 = 10.0;
/// From this value on, it may.
pub const DOUBT: f64 = 4.5;

const PERCENTILES: [f64; 6] = [1.0, 0.99, 0.95, 0.9, 0.75, 0.5];

/// The largest |t| of two classes of times over all croppings.
pub fn largest_t(times: &[Vec<f64>; 2]) -> f64 {
    let mut pooled: Vec<f64> = times.iter().flatten().copied().collect();
    pooled.sort_by(f64::total_cmp);
    let crop = |percentile: f64| {
        let limit = pooled[((pooled.len() as f64 * percentile).ceil() as usize).clamp(1, pooled.len()) - 1];
        let [a, b] = times.each_ref().map(|class| Moments::of(class.iter().copied().filter(|&time| time <= limit)));
        t(&a, &b).abs()
    };
    PERCENTILES.into_iter().map(crop).fold(0.0, f64::max)
}

struct Moments {
    count: f64,
    mean: f64,
    variance: f64,
}

impl Moments {
    /// Computes the moments by Welford's recurrence.
    fn of(values: impl Iterator<Item = f64>) -> Self {
        let (mut count, mut mean, mut squares) = (0.0, 0.0, 0.0);
        for value in values {
            count += 1.0;
            let distance = value - mean;
            mean += distance / count;
            squares += distance * (value - mean);
        }
        Moments { count, mean, variance: squares / (count - 1.0) }
    }
}

/// Welch's statistic. A class of fewer than two values cannot be judged; the result is then 0.
fn t(a: &Moments, b: &Moments) -> f64 {
    if a.count < 2.0 || b.count < 2.0 {
        return 0.0;
    }
    let difference = a.mean - b.mean;
    let error = (a.variance / a.count + b.variance / b.count).sqrt();
    if difference == 0.0 { 0.0 } else { difference / error }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Values with mean `centre`, spread evenly by 50 in both directions.
    fn times(centre: f64) -> Vec<f64> {
        (0..1001).map(|step| centre + f64::from(step * 37 % 101) - 50.0).collect()
    }

    #[test]
    fn equal_classes_are_not_told_apart() {
        assert!(largest_t(&[times(1000.0), times(1000.0)]) < 0.1);
    }

    #[test]
    fn shifted_classes_are() {
        assert!(largest_t(&[times(1000.0), times(1020.0)]) > LEAK);
    }

    #[test]
    fn a_shift_under_outliers_is_found_by_cropping() {
        let mut noisy = [times(1000.0), times(1020.0)];
        for class in &mut noisy {
            class.extend((1..=20).map(|step| 1e6 * f64::from(step)));
        }
        assert!(largest_t(&noisy) > LEAK);
    }

    #[test]
    fn known_value() {
        // Means 2 and 4, variances 1 and 4, three values each: t = -2 / sqrt(5 / 3).
        let [a, b] = [[1.0, 2.0, 3.0], [2.0, 4.0, 6.0]].map(|class| Moments::of(class.into_iter()));
        assert!((t(&a, &b) + 2.0 / (5.0f64 / 3.0).sqrt()).abs() < 1e-12);
    }
}
