//! Statistics of matches.
//!
//! Games are counted in pairs: the same opening with reversed colours. The two games of a pair depend on each other, so
//! the variance is computed from pairs (the pentanomial model). This variance is smaller if openings favour a side.

use std::fmt;

use shakmaty::{Color, KnownOutcome};

/// Number of pairs by the points of the first engine: 0, ½, 1, 1½, 2.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pairs(pub [u64; 5]);

/// Half of the width of a 95 % interval, in standard errors.
const Z95: f64 = 1.959_964;

impl Pairs {
    /// Counts a pair: the game in which the first engine is White, and the game in which it is Black.
    pub fn count(&mut self, [as_white, as_black]: [KnownOutcome; 2]) {
        let points = |outcome: KnownOutcome, side| match outcome.winner() {
            None => 1,
            Some(winner) => 2 * usize::from(winner == side),
        };
        self.0[points(as_white, Color::White) + points(as_black, Color::Black)] += 1;
    }

    /// Returns the number of pairs.
    pub fn number(&self) -> u64 {
        self.0.iter().sum()
    }

    /// Returns the mean and the variance of the points of a pair, scaled to 0 to 1.
    fn moments(counts: [f64; 5]) -> (f64, f64) {
        let number: f64 = counts.iter().sum();
        let mean_of = |value: &dyn Fn(f64) -> f64| {
            let points = (0..5).map(|quarter| f64::from(quarter) / 4.0);
            let sum: f64 = counts
                .iter()
                .zip(points)
                .map(|(n, points)| n * value(points))
                .sum();
            sum / number
        };
        let mean = mean_of(&|points| points);
        (mean, mean_of(&|points| (points - mean).powi(2)))
    }

    /// Returns the difference in Elo between the engines, with a 95 % interval.
    pub fn elo(&self) -> Option<Elo> {
        let number = self.number();
        if number == 0 {
            return None;
        }
        let (mean, variance) = Pairs::moments(self.0.map(|count| count as f64));
        let error = Z95 * (variance / number as f64).sqrt();
        Some(Elo {
            value: elo_of(mean),
            low: elo_of(mean - error),
            high: elo_of(mean + error),
        })
    }

    /// Returns the log-likelihood ratio of a difference of `high` Elo to a difference of `low` Elo.
    ///
    /// This is the generalised sequential probability ratio test in normal approximation
    /// (<https://www.chessprogramming.org/Sequential_Probability_Ratio_Test>).
    pub fn log_likelihood_ratio(&self, low: f64, high: f64) -> f64 {
        if self.number() == 0 {
            return 0.0;
        }
        // Small counts avoid a variance of 0 if all results are equal.
        let counts = self.0.map(|count| count as f64 + 1e-3);
        let (mean, variance) = Pairs::moments(counts);
        let (low, high) = (points_of(low), points_of(high));
        let number: f64 = counts.iter().sum();
        number * (high - low) * (2.0 * mean - low - high) / (2.0 * variance)
    }
}

impl fmt::Display for Pairs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.0)
    }
}

/// Difference in Elo.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Elo {
    /// Estimate.
    pub value: f64,
    /// Lower bound of the 95 % interval.
    pub low: f64,
    /// Upper bound of the 95 % interval.
    pub high: f64,
}

impl fmt::Display for Elo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{:+.1} [{:+.1}, {:+.1}]",
            self.value, self.low, self.high
        )
    }
}

/// Returns the expected points per game for a difference in Elo.
pub fn points_of(elo: f64) -> f64 {
    1.0 / (1.0 + 10f64.powf(-elo / 400.0))
}

/// Returns the difference in Elo for the points per game, which is infinite for 0 and 1.
pub fn elo_of(points: f64) -> f64 {
    let points = points.clamp(0.0, 1.0);
    400.0 * (points / (1.0 - points)).log10()
}

/// Sequential test with an error rate of 5 % for each hypothesis.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sprt {
    /// Difference in Elo of the lower hypothesis.
    pub low: f64,
    /// Difference in Elo of the higher hypothesis.
    pub high: f64,
}

impl Sprt {
    /// Ratio at which the test ends: ln(0.95 / 0.05).
    const BOUND: f64 = 2.944_439;

    /// Returns the ratio and its bound as text.
    pub fn shown(&self, pairs: &Pairs) -> String {
        let (bound, Sprt { low, high }) = (Sprt::BOUND, self);
        let ratio = pairs.log_likelihood_ratio(*low, *high);
        format!("LLR {ratio:+.2} of ±{bound:.2} for {high} against {low}")
    }

    /// Returns whether the higher hypothesis holds, or `None` if the test is undecided.
    pub fn decided(&self, pairs: &Pairs) -> Option<bool> {
        let ratio = pairs.log_likelihood_ratio(self.low, self.high);
        (ratio.abs() >= Sprt::BOUND).then_some(ratio > 0.0)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test may panic")]
mod tests {
    use super::*;

    #[test]
    fn an_even_match_has_an_interval_about_zero() {
        let elo = Pairs([10, 20, 40, 20, 10]).elo().unwrap();
        assert!(elo.value.abs() < 1e-9 && (elo.low + elo.high).abs() < 1e-9);
        // Variance of a pair's points: (2·10·½² + 2·20·¼²) / 100 = 0.075; 1.96·√(0.075/100) = 0.0537 of a point.
        assert!((elo.high - elo_of(0.5 + 0.053_676)).abs() < 0.1, "{elo}");
        assert_eq!(Pairs::default().elo(), None);
    }

    #[test]
    fn the_ratio_agrees_with_the_formula_and_has_the_right_sign() {
        let even = Pairs([100, 200, 400, 200, 100]);
        assert!(even.log_likelihood_ratio(0.0, 10.0) < 0.0);
        assert!(even.log_likelihood_ratio(-10.0, 0.0) > 0.0);
        assert!(even.log_likelihood_ratio(-5.0, 5.0).abs() < 1e-6);
        // By hand: 1000·s·(1 − ½ − s1)/(2·0.075), with s1 = points_of(10) and s = s1 − ½.
        let (s1, s0) = (points_of(10.0), 0.5);
        let expected = 1_000.0 * (s1 - s0) * (1.0 - s0 - s1) / (2.0 * 0.075);
        assert!((even.log_likelihood_ratio(0.0, 10.0) - expected).abs() < 0.01);
    }
}
