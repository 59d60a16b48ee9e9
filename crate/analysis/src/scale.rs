//! Scale of the engine's centipawns.
//!
//! The thresholds of judgments are winning chances of Stockfish's centipawns. The engine of this project counts small advantages
//! lower and large advantages higher than Stockfish 15.1. The knots are quantiles of both engines' scores of 1,237 positions of
//! games, at 400,000 and 1,000,000 nodes (`lab judgments` prints how well judgments agree).

use shelfish::eval::Score;

/// Centipawns of the engine, and of Stockfish 15.1. The last segment continues beyond the last knot.
const KNOTS: [(i32, i32); 9] = [
    (0, 0),
    (60, 72),
    (120, 150),
    (250, 310),
    (400, 425),
    (565, 526),
    (830, 613),
    (1_500, 800),
    (20_000, 8_500),
];

/// Returns a score of the engine on the scale of Stockfish.
pub fn of_stockfish(score: Score) -> Score {
    let Score::Cp(cp) = score else { return score };
    let found = KNOTS.windows(2).find(|pair| cp.abs() <= pair[1].0);
    let scaled = match found {
        Some(&[(x, y), (next_x, next_y)]) => y + (cp.abs() - x) * (next_y - y) / (next_x - x),
        _ => KNOTS[KNOTS.len() - 1].1,
    };
    Score::Cp(cp.signum() * scaled)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn larger_scores_remain_larger() {
        let scaled = |cp| match of_stockfish(Score::Cp(cp)) {
            Score::Cp(cp) => cp,
            Score::Mate(_) => unreachable!("centipawns remain centipawns"),
        };
        let all: Vec<i32> = (-30_000..30_000).map(scaled).collect();
        assert!(all.is_sorted());
        assert_eq!(
            [0, 60, -120, 40_000, i32::MAX].map(scaled),
            [0, 72, -150, 8_500, 8_500]
        );
        assert_eq!(of_stockfish(Score::Mate(-3)), Score::Mate(-3));
    }
}
