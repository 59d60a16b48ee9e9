//! Confidence intervals of means and their ratios, by a bootstrap over games.
//!
//! A draw takes as many games as there are, with replacement. The 2.5th and the 97.5th percentile of [`DRAWS`] draws
//! bound an interval of 95 %. A ratio compares means of the *same* draw (paired), because a draw of long games affects
//! both means. The draws follow from a fixed seed.

use serde::Serialize;

use shelfish_cli::statistics::{mean, percentile};

use crate::report::figure;

/// Number of draws.
pub const DRAWS: usize = 10_000;

/// Fixed seed. Its value does not matter.
const SEED: u64 = 0x5e1f;

/// Estimate with a confidence interval of 95 %.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Estimate {
    /// Estimated value.
    pub value: f64,
    /// Lower bound.
    pub low: f64,
    /// Upper bound.
    pub high: f64,
}

impl Estimate {
    fn of(value: f64, mut draws: Vec<f64>) -> Estimate {
        draws.sort_unstable_by(f64::total_cmp);
        Estimate {
            value,
            low: percentile(&draws, 2.5),
            high: percentile(&draws, 97.5),
        }
    }
}

/// Formats the value and its interval.
impl std::fmt::Display for Estimate {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "{} ({}–{})",
            figure(self.value),
            figure(self.low),
            figure(self.high)
        )
    }
}

/// Means of series over draws of games. All series use the same draws.
pub struct Resample {
    means: Vec<f64>,
    /// Means by series, then by draw.
    draws: Vec<Vec<f64>>,
}

impl Resample {
    /// Draws from series that contain a value per game, in the same order of games.
    pub fn new(series: &[Vec<f64>]) -> Resample {
        let games = series.iter().map(Vec::len).min().unwrap_or_default();
        let mut random = fastrand::Rng::with_seed(SEED);
        let mut draws = vec![Vec::with_capacity(DRAWS); series.len()];
        for _ in 0..DRAWS {
            let drawn: Vec<usize> = (0..games).map(|_| random.usize(..games)).collect();
            for (draws, values) in draws.iter_mut().zip(series) {
                draws.push(
                    drawn.iter().map(|&game| values[game]).sum::<f64>() / games.max(1) as f64,
                );
            }
        }
        Resample {
            means: series.iter().map(|values| mean(&values[..games])).collect(),
            draws,
        }
    }

    /// Returns the mean of a series.
    pub fn mean(&self, series: usize) -> Estimate {
        Estimate::of(self.means[series], self.draws[series].clone())
    }

    /// Returns the ratio of the means of two series.
    pub fn ratio(&self, series: usize, other: usize) -> Estimate {
        let draws = self.draws[series]
            .iter()
            .zip(&self.draws[other])
            .map(|(mean, other)| mean / other);
        Estimate::of(self.means[series] / self.means[other], draws.collect())
    }

    /// Returns the difference of the means of two series.
    pub fn difference(&self, series: usize, other: usize) -> Estimate {
        let draws = self.draws[series]
            .iter()
            .zip(&self.draws[other])
            .map(|(mean, other)| mean - other);
        Estimate::of(self.means[series] - self.means[other], draws.collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns values with noise.
    fn series(count: usize, seed: u64, centre: f64) -> Vec<f64> {
        let mut random = fastrand::Rng::with_seed(seed);
        (0..count).map(|_| centre + random.f64() - 0.5).collect()
    }

    #[test]
    fn the_interval_of_a_mean_agrees_with_theory() {
        let values = series(400, 1, 10.0);
        let Estimate { value, low, high } = Resample::new(&[values]).mean(0);
        // The standard deviation of a uniform value is 1 / sqrt(12).
        let expected = 2.0 * 1.96 / 12f64.sqrt() / 20.0;
        assert!((value - 10.0).abs() < 0.05, "{value}");
        assert!(
            ((high - low) / expected - 1.0).abs() < 0.1,
            "{low} to {high}, expected a width of {expected}"
        );
    }

    #[test]
    fn differences_between_games_do_not_widen_the_interval_of_a_ratio() {
        let long_and_short: Vec<f64> = (0..200)
            .map(|n| if n % 2 == 0 { 10.0 } else { 100.0 })
            .collect();
        let half_more = long_and_short.iter().map(|value| 1.5 * value).collect();
        let resample = Resample::new(&[long_and_short, half_more]);
        let Estimate { value, low, high } = resample.ratio(1, 0);
        assert!(
            [value, low, high]
                .iter()
                .all(|ratio| (ratio - 1.5).abs() < 1e-9),
            "{low} to {high}"
        );
        let mean = resample.mean(0);
        assert!(mean.high - mean.low > 10.0, "{mean}");
    }

    #[test]
    fn the_same_values_give_the_same_interval() {
        let once = Resample::new(&[series(50, 2, 1.0), series(50, 3, 2.0)]);
        let again = Resample::new(&[series(50, 2, 1.0), series(50, 3, 2.0)]);
        assert_eq!(once.ratio(0, 1), again.ratio(0, 1));
        assert_eq!(once.difference(0, 1), again.difference(0, 1));
    }
}
