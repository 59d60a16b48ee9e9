//! Scale of centipawns.
//!
//! The search counts small advantages lower and large advantages higher than Stockfish 15.1. Readers compare scores with
//! evaluations of databases, and the thresholds of judgments are winning chances of Stockfish's centipawns. Scores of lines are
//! therefore converted. The knots are quantiles of the scores of both engines of 1,237 positions of games, at 400,000 and
//! 1,000,000 nodes (`cargo xtask judgments` prints how well judgments agree).

/// Centipawns of the search, and of Stockfish 15.1. The last segment ends at the largest evaluation.
const KNOTS: [(i32, i32); 9] =
    [(0, 0), (60, 72), (120, 150), (250, 310), (400, 425), (565, 526), (830, 613), (1_500, 800), (20_000, 8_500)];

/// Converts centipawns of the search to the scale of Stockfish.
pub fn to_stockfish(cp: i32) -> i32 {
    convert(cp, KNOTS)
}

/// Inverse of [`to_stockfish`], up to rounding.
pub fn from_stockfish(cp: i32) -> i32 {
    convert(cp, KNOTS.map(|(search, stockfish)| (stockfish, search)))
}

fn convert(cp: i32, knots: [(i32, i32); 9]) -> i32 {
    let size = cp.saturating_abs();
    let segment = knots.windows(2).find(|pair| size <= pair[1].0);
    let converted = match segment {
        Some(&[(from, to), (next_from, next_to)]) => to + (size - from) * (next_to - to) / (next_from - from),
        _ => knots[knots.len() - 1].1,
    };
    cp.signum() * converted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn larger_scores_remain_larger() {
        let all: Vec<i32> = (-30_000..30_000).map(to_stockfish).collect();
        assert!(all.is_sorted());
        assert_eq!([0, 60, -120, 20_000, i32::MAX, i32::MIN].map(to_stockfish), [0, 72, -150, 8_500, 8_500, -8_500]);
    }

    #[test]
    fn the_inverse_differs_by_rounding_only() {
        for cp in -8_500..=8_500 {
            assert!((to_stockfish(from_stockfish(cp)) - cp).abs() <= 2, "{cp}");
        }
    }
}
