//! Summaries of samples: the one definition of mean and percentile behind every figure, here and in `tests/peers`.

use serde::Serialize;

/// How some values are distributed; zeros of none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Summary {
    /// How many.
    pub count: usize,
    /// Their sum.
    pub sum: f64,
    /// The average.
    pub mean: f64,
    /// The smallest.
    pub min: f64,
    /// One in twenty is smaller.
    pub p5: f64,
    /// One in two is larger.
    pub median: f64,
    /// One in ten is larger.
    pub p90: f64,
    /// One in twenty is larger.
    pub p95: f64,
    /// The largest.
    pub max: f64,
}

impl Summary {
    /// The summary of `values`.
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

/// The average; 0 of none.
pub fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len().max(1) as f64
}

/// The value below which `percent` of the ascending values lie, between two of them in proportion (definition 7 of
/// Hyndman and Fan, that of R and NumPy); 0 of none.
pub fn percentile(ascending: &[f64], percent: f64) -> f64 {
    let place = percent / 100.0 * ascending.len().saturating_sub(1) as f64;
    let at = |n: usize| ascending.get(n).or(ascending.last()).copied().unwrap_or_default();
    let (below, above) = (at(place.floor() as usize), at(place.ceil() as usize));
    below + (above - below) * place.fract()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_percentile_between_two_values_lies_between_them_in_proportion() {
        let values = [1.0, 2.0, 3.0, 4.0, 10.0];
        for (percent, expected) in [(0.0, 1.0), (25.0, 2.0), (50.0, 3.0), (90.0, 7.6), (100.0, 10.0)] {
            let found = percentile(&values, percent);
            assert!((found - expected).abs() < 1e-9, "{found} at {percent} %, expected {expected}");
        }
        assert_eq!(percentile(&[7.0], 95.0), 7.0);
    }

    #[test]
    fn the_order_of_values_does_not_matter_and_none_have_zeros() {
        assert_eq!(Summary::of([3.0, 1.0, 2.0]), Summary::of([1.0, 2.0, 3.0]));
        assert_eq!(Summary::of([3.0, 1.0, 2.0]).median, 2.0);
        assert_eq!(Summary::of([]), Summary::default());
    }
}
