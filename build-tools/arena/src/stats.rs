//! What the results of a match say, and when they say enough.
//!
//! Games are counted in pairs: the same opening with colours changed. The two games of a pair are not independent, so
//! the variance is that of pairs (the pentanomial model), which is the smaller one where openings are uneven.

use std::fmt;

use crate::game::Outcome;

/// Pairs by the points of the first engine: 0, ½, 1, 1½, 2.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pairs(pub [u64; 5]);

/// A 95 % interval is so many standard errors wide to either side.
const Z95: f64 = 1.959_964;

impl Pairs {
    /// Counts a pair: the game in which the first engine was White, and the other one.
    pub fn count(&mut self, as_white: Outcome, as_black: Outcome) {
        let points = |outcome, win| match outcome {
            Outcome::Draw => 1,
            _ if outcome == win => 2,
            _ => 0,
        };
        self.0[points(as_white, Outcome::White) + points(as_black, Outcome::Black)] += 1;
    }

    /// How many pairs there are.
    pub fn number(&self) -> u64 {
        self.0.iter().sum()
    }

    /// The mean of a pair's score, from 0 to 1, and its variance.
    fn moments(&self, counts: [f64; 5]) -> (f64, f64) {
        let number: f64 = counts.iter().sum();
        let score = |index: usize| index as f64 / 4.0;
        let mean = counts.iter().enumerate().map(|(i, n)| n * score(i)).sum::<f64>() / number;
        let variance = counts.iter().enumerate().map(|(i, n)| n * (score(i) - mean).powi(2)).sum::<f64>() / number;
        (mean, variance)
    }

    /// Elo of the first engine above the second, with the bounds of a 95 % interval.
    pub fn elo(&self) -> Option<Elo> {
        let number = self.number();
        if number == 0 {
            return None;
        }
        let (mean, variance) = self.moments(self.0.map(|count| count as f64));
        let error = Z95 * (variance / number as f64).sqrt();
        Some(Elo { value: elo_of(mean), low: elo_of(mean - error), high: elo_of(mean + error) })
    }

    /// The logarithm of how much likelier the results are if the first engine is `high` Elo better than if it is `low`
    /// better: the generalised sequential probability ratio test, by normal approximation
    /// (<https://www.chessprogramming.org/Sequential_Probability_Ratio_Test>).
    pub fn log_likelihood_ratio(&self, low: f64, high: f64) -> f64 {
        if self.number() == 0 {
            return 0.0;
        }
        // A little of everything, so that a run of equal results is not taken as certainty.
        let counts = self.0.map(|count| count as f64 + 1e-3);
        let (mean, variance) = self.moments(counts);
        let (low, high) = (score_of(low), score_of(high));
        let number: f64 = counts.iter().sum();
        number * (high - low) * (2.0 * mean - low - high) / (2.0 * variance)
    }
}

impl fmt::Display for Pairs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.0)
    }
}

/// A difference in Elo.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Elo {
    /// The estimate.
    pub value: f64,
    /// 2.5 % lie below.
    pub low: f64,
    /// 2.5 % lie above.
    pub high: f64,
}

impl Elo {
    /// The rating of an engine that is so much better than one of rating `other`.
    pub fn above(self, other: f64) -> Elo {
        Elo { value: other + self.value, low: other + self.low, high: other + self.high }
    }
}

impl fmt::Display for Elo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:+.1} [{:+.1}, {:+.1}]", self.value, self.low, self.high)
    }
}

/// The score that a difference in Elo gives.
pub fn score_of(elo: f64) -> f64 {
    1.0 / (1.0 + 10f64.powf(-elo / 400.0))
}

/// The difference in Elo that gives a score; infinite if everything is won or lost.
pub fn elo_of(score: f64) -> f64 {
    let score = score.clamp(0.0, 1.0);
    400.0 * (score / (1.0 - score)).log10()
}

/// A test that ends as soon as it is decided, with 5 % of wrong decisions to either side.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sprt {
    /// The first engine is no better than this.
    pub low: f64,
    /// The first engine is at least this much better.
    pub high: f64,
}

impl Sprt {
    /// ln(0.95 / 0.05): the ratio at which the test ends.
    pub const BOUND: f64 = 2.944_439;

    /// Whether the higher hypothesis holds, or the lower one; nothing as long as it is open.
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
    fn pairs_are_counted_by_points() {
        let mut pairs = Pairs::default();
        pairs.count(Outcome::White, Outcome::Black);
        pairs.count(Outcome::White, Outcome::White);
        pairs.count(Outcome::Draw, Outcome::Black);
        pairs.count(Outcome::Black, Outcome::White);
        pairs.count(Outcome::Draw, Outcome::White);
        assert_eq!(pairs, Pairs([1, 1, 1, 1, 1]));
    }

    #[test]
    fn elo_and_scores_are_inverse() {
        for elo in [-300.0, -1.0, 0.0, 64.0, 400.0] {
            assert!((elo_of(score_of(elo)) - elo).abs() < 1e-9);
        }
        assert!((score_of(400.0) - 10.0 / 11.0).abs() < 1e-12);
        assert_eq!(elo_of(1.0), f64::INFINITY);
    }

    #[test]
    fn an_even_match_has_an_interval_about_zero() {
        let elo = Pairs([10, 20, 40, 20, 10]).elo().unwrap();
        assert!(elo.value.abs() < 1e-9 && (elo.low + elo.high).abs() < 1e-9);
        // Variance of a pair's score: (2·10·½² + 2·20·¼²) / 100 = 0.075; 1.96·√(0.075/100) = 0.0537 of a point.
        assert!((elo.high - elo_of(0.5 + 0.053_676)).abs() < 0.1, "{elo}");
        assert_eq!(Pairs::default().elo(), None);
    }

    #[test]
    fn the_ratio_is_that_of_the_formula_and_has_the_right_sign() {
        let even = Pairs([100, 200, 400, 200, 100]);
        assert!(even.log_likelihood_ratio(0.0, 10.0) < 0.0);
        assert!(even.log_likelihood_ratio(-10.0, 0.0) > 0.0);
        assert!(even.log_likelihood_ratio(-5.0, 5.0).abs() < 1e-6);
        // By hand: 1000·s·(1 − ½ − s1)/(2·0.075), with s1 = score_of(10) and s = s1 − ½.
        let (s1, s0) = (score_of(10.0), 0.5);
        let expected = 1_000.0 * (s1 - s0) * (1.0 - s0 - s1) / (2.0 * 0.075);
        assert!((even.log_likelihood_ratio(0.0, 10.0) - expected).abs() < 0.01);
    }

    /// Simulated matches of a known difference: the test errs about as rarely as it says.
    #[test]
    fn the_test_decides_rightly_nineteen_times_of_twenty() {
        let sprt = Sprt { low: 0.0, high: 20.0 };
        let mut random = fastrand::Rng::with_seed(7);
        for (elo, right) in [(0.0, false), (20.0, true)] {
            let mut wrong = 0;
            for _ in 0..400 {
                let mut pairs = Pairs::default();
                let decision = loop {
                    let mut play = |win: Outcome, loss: Outcome| {
                        // 40 % draws; the rest by the expected score.
                        let chance = random.f64();
                        let win_chance = score_of(elo) - 0.2;
                        if chance < 0.4 {
                            Outcome::Draw
                        } else if chance < 0.4 + win_chance {
                            win
                        } else {
                            loss
                        }
                    };
                    let (a, b) = (play(Outcome::White, Outcome::Black), play(Outcome::Black, Outcome::White));
                    pairs.count(a, b);
                    if pairs.number() > 20
                        && let Some(decision) = sprt.decided(&pairs)
                    {
                        break decision;
                    }
                };
                wrong += u32::from(decision != right);
            }
            assert!(wrong <= 34, "{wrong} of 400 wrong at {elo} Elo");
        }
    }
}
