//! Accuracy of moves and of a side.
//!
//! The formulas are those of <https://lichess.org/page/accuracy> and of lila's `AccuracyPercent`.

use core::ops::Range;

/// Percentage of a side's moves that must be settled for an accuracy. An accuracy of fewer moves says little of the game.
pub const MIN_SETTLED: usize = 75;

/// Returns the accuracy of a move in percent, from the winning chances of its side before and after it, in percent.
///
/// The source is `AccuracyPercent.fromWinPercents` of lila: 103.1668 exp(−0.04354 d) − 3.1669 for a loss of d, plus 1 for
/// uncertainty of the engine. The result is limited to 0 to 100.
///
/// ```
/// use shelfish_analysis::accuracy::of_move;
/// assert_eq!(of_move([50.0, 60.0]), 100.0);
/// assert!((of_move([60.0, 50.0]) - 64.58).abs() < 0.01);
/// assert_eq!(of_move([100.0, 0.0]), 0.0);
/// ```
pub fn of_move([before, after]: [f64; 2]) -> f64 {
    if after >= before {
        return 100.0;
    }
    let raw = 103.166_810_071_164_9 * libm::exp(-0.043_544_153_867_539_51 * (before - after))
        - 3.166_924_740_191_411;
    (raw + 1.0).clamp(0.0, 100.0)
}

/// Returns the number of positions in a window of the volatility: a tenth of the moves, at least 2, at most 8.
fn window(moves: usize) -> usize {
    (moves / 10).clamp(2, 8)
}

/// Returns the weight of each move: the standard deviation of White's chances around it, at least 0.5 and at most 12.
/// `percents` are the chances of the positions. Unknown chances are skipped.
fn weights(percents: &[Option<f64>]) -> impl Iterator<Item = f64> {
    let moves = percents.len().saturating_sub(1);
    let size = window(moves);
    (0..moves).map(move |n| {
        // A window ends after the move. The first moves share the first window.
        let end = (n + 2).max(size).min(percents.len());
        let known: Vec<f64> = percents[end.saturating_sub(size)..end]
            .iter()
            .flatten()
            .copied()
            .collect();
        deviation(&known).clamp(0.5, 12.0)
    })
}

/// Returns the standard deviation of a whole population.
fn deviation(values: &[f64]) -> f64 {
    let count = values.len().max(1) as f64;
    let mean = values.iter().sum::<f64>() / count;
    (values
        .iter()
        .map(|value| (value - mean) * (value - mean))
        .sum::<f64>()
        / count)
        .sqrt()
}

/// Returns the accuracy of a side in some plies of a game, in percent, or `None` if no move of the side has an accuracy there.
///
/// `percents` are White's winning chances in the positions of the game, in percent. `accuracies` are those of its moves. The
/// side played the first, third and so on if it moved `first`, else the second, fourth and so on. A phase has the same formula
/// as the game and the weights of the game, so that a game of a single phase has the accuracy of that phase.
///
/// The source is `AccuracyPercent.gameAccuracy` of lila: the mean of a mean weighted by volatility and a harmonic mean. Unknown
/// values are left out of both means and of the volatility; Lichess has no unknown values.
pub fn of_side(
    percents: &[Option<f64>],
    accuracies: &[Option<f64>],
    plies: Range<usize>,
    first: bool,
) -> Option<f64> {
    let moves = accuracies.iter().zip(weights(percents)).enumerate();
    let known: Vec<(f64, f64)> = moves
        .filter(|(ply, _)| plies.contains(ply) && ply.is_multiple_of(2) == first)
        .filter_map(|(_, (accuracy, weight))| Some(((*accuracy)?, weight)))
        .collect();
    if known.is_empty() {
        return None;
    }
    let total: f64 = known.iter().map(|(_, weight)| weight).sum();
    let weighted = known
        .iter()
        .map(|(accuracy, weight)| accuracy * weight)
        .sum::<f64>()
        / total;
    // `Maths.harmonicMean` of lila, which counts values below 1 as 1.
    let harmonic = known.len() as f64
        / known
            .iter()
            .map(|(accuracy, _)| 1.0 / accuracy.max(1.0))
            .sum::<f64>();
    Some((weighted + harmonic) / 2.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn windows_are_those_of_lichess() {
        assert_eq!(
            [0, 1, 19, 20, 45, 80, 200].map(window),
            [2, 2, 2, 2, 4, 8, 8]
        );
        // 40 moves, windows of 4: the first three moves have the first window, and each later move has the window that ends after it.
        let percents: Vec<Option<f64>> = (0..41)
            .map(|n| Some(if n == 4 { 90.0 } else { 50.0 }))
            .collect();
        let weights: Vec<f64> = weights(&percents).collect();
        assert_eq!(weights.len(), 40);
        assert_eq!(weights[..3], [0.5; 3]);
        assert_eq!(weights[3..7], [12.0; 4]);
        assert_eq!(weights[7..], [0.5; 33]);
    }

    #[test]
    fn a_side_has_the_mean_of_a_weighted_and_a_harmonic_mean() {
        // Two moves of the first side, in windows of two positions: deviations 5 and 1.
        let percents = [50.0, 40.0, 40.0, 38.0, 38.0].map(Some);
        let accuracies = [60.0, 100.0, 90.0, 100.0].map(Some);
        let expected = ((60.0 * 5.0 + 90.0 * 1.0) / 6.0 + 2.0 / (1.0 / 60.0 + 1.0 / 90.0)) / 2.0;
        let found = of_side(&percents, &accuracies, 0..4, true).unwrap_or_default();
        assert!((found - expected).abs() < 1e-9, "{found} {expected}");
        assert_eq!(of_side(&percents, &accuracies, 0..4, false), Some(100.0));
        // A part has the weights of the game.
        let opening = of_side(&percents, &accuracies, 0..2, true);
        assert_eq!(opening, Some(60.0));
    }

    #[test]
    fn unknown_values_are_left_out() {
        let percents = [Some(50.0), Some(40.0), None, Some(38.0), Some(38.0)];
        let accuracies = [Some(60.0), None, None, Some(100.0)];
        assert_eq!(of_side(&percents, &accuracies, 0..4, true), Some(60.0));
        assert_eq!(of_side(&percents, &[None; 4], 0..4, true), None);
        assert_eq!(of_side(&[], &[], 0..0, true), None);
    }

    proptest! {
        #[test]
        fn accuracy_is_a_percentage_and_falls_with_the_loss(before in 0.0..100.0, after in 0.0..100.0, more in 0.0..100.0) {
            let accuracy = of_move([before, after]);
            prop_assert!((0.0..=100.0).contains(&accuracy));
            prop_assert!(of_move([before, after - more]) <= accuracy);
        }

    }
}
