//! Mean and percentiles of samples, used for all reported figures and by `tests/peers`.

use serde::Serialize;

/// Distribution of a sample. All fields of an empty sample are 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Summary {
    /// Number of values.
    pub count: usize,
    /// Sum of the values.
    pub sum: f64,
    /// Mean of the values.
    pub mean: f64,
    /// Minimum.
    pub min: f64,
    /// 5th percentile.
    pub p5: f64,
    /// Median.
    pub median: f64,
    /// 90th percentile.
    pub p90: f64,
    /// 95th percentile.
    pub p95: f64,
    /// Maximum.
    pub max: f64,
}

impl Summary {
    /// Summarizes `values`.
    pub fn of(values: impl IntoIterator<Item = f64>) -> Summary {
        let mut values: Vec<f64> = values.into_iter().collect();
        values.sort_unstable_by(f64::total_cmp);
        let at = |percent| percentile(&values, percent);
        Summary {
            count: values.len(),
            sum: values.iter().sum(),
            mean: mean(&values),
            min: at(0.0),
            p5: at(5.0),
            median: at(50.0),
            p90: at(90.0),
            p95: at(95.0),
            max: at(100.0),
        }
    }
}

/// Returns the mean, or 0 for an empty sample.
pub fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len().max(1) as f64
}

/// Returns a percentile of ascending values, or 0 for an empty sample. Interpolates linearly between neighbouring
/// values (definition 7 of Hyndman and Fan, the default of R and NumPy).
pub fn percentile(ascending: &[f64], percent: f64) -> f64 {
    let place = percent / 100.0 * ascending.len().saturating_sub(1) as f64;
    let at = |n: usize| {
        ascending
            .get(n)
            .or(ascending.last())
            .copied()
            .unwrap_or_default()
    };
    let (below, above) = (at(place.floor() as usize), at(place.ceil() as usize));
    below + (above - below) * place.fract()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_interpolated() {
        let values = [1.0, 2.0, 3.0, 4.0, 10.0];
        for (percent, expected) in [
            (0.0, 1.0),
            (25.0, 2.0),
            (50.0, 3.0),
            (90.0, 7.6),
            (100.0, 10.0),
        ] {
            let found = percentile(&values, percent);
            assert!(
                (found - expected).abs() < 1e-9,
                "{found} at {percent} %, expected {expected}"
            );
        }
        assert_eq!(percentile(&[7.0], 95.0), 7.0);
    }

    #[test]
    fn the_order_of_values_does_not_matter_and_an_empty_sample_has_zeros() {
        assert_eq!(Summary::of([3.0, 1.0, 2.0]), Summary::of([1.0, 2.0, 3.0]));
        assert_eq!(Summary::of([3.0, 1.0, 2.0]).median, 2.0);
        assert_eq!(Summary::of([]), Summary::default());
    }
}
