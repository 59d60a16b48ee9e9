//! Evaluations of positions.

use serde::Serialize;
use shakmaty::Color;
use shakmaty::uci::UciMove;
use shelfish::eval::Score;

/// Origin of an evaluation.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Origin {
    /// A database.
    #[default]
    Database,
    /// A comment of a PGN.
    Pgn,
    /// The engine of Shelfish.
    Engine,
    /// Another engine, such as Stockfish.
    Uci,
    /// Endgame tables, which are exact.
    Endgames,
}

/// Depth in plies below which a search is shallow.
const MIN_DEPTH: u16 = 16;

/// Thousands of nodes below which a search is shallow. Stockfish has a mean error of winning chances of 0.037 at 100,000 nodes
/// (median depth 15), and of 0.060 at 10,000, against its own million. The engine of a review has 0.053 at 400,000 nodes.
const MIN_KNODES: u64 = 100;

/// Centipawns of an ending that tables call won, as Stockfish shows them.
pub const TABLE_WIN: i32 = 20_000;

/// The evaluation of a position.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KnownEval {
    /// Score from White's point of view.
    pub score: Score,
    /// Depth of the search in plies, if it is known.
    pub depth: Option<u16>,
    /// Thousands of nodes of the search, if they are known.
    pub knodes: Option<u64>,
    /// Known part of the best line. Castling may be written either way.
    pub line: Vec<UciMove>,
    /// Score of the second line of the same search: the best of all other moves. `None` after a search of one line.
    pub second: Option<Score>,
    /// Origin of the evaluation.
    pub origin: Origin,
}

impl KnownEval {
    /// Returns an evaluation of a database, without nodes and without a line.
    pub fn new(score: Score, depth: Option<u16>) -> KnownEval {
        KnownEval {
            score,
            depth,
            knodes: None,
            line: Vec::new(),
            second: None,
            origin: Origin::Database,
        }
    }

    /// Returns an evaluation in centipawns, without a line.
    pub fn cp(cp: i32, depth: u16) -> KnownEval {
        KnownEval::new(Score::Cp(cp), Some(depth))
    }

    /// Returns an evaluation of a mate in `moves` moves, without a line. Negative numbers are mates by Black.
    pub fn mate(moves: i32, depth: u16) -> KnownEval {
        KnownEval::new(Score::Mate(moves), Some(depth))
    }

    /// Returns the result of endgame tables: the side that wins, or `None` for a draw. A win that the 50-move rule prevents is a
    /// draw. The score is ±[`TABLE_WIN`] or 0.
    pub fn of_endgame(winner: Option<Color>) -> KnownEval {
        let cp = winner.map_or(0, |winner| winner.fold_wb(TABLE_WIN, -TABLE_WIN));
        KnownEval {
            origin: Origin::Endgames,
            ..KnownEval::new(Score::Cp(cp), None)
        }
    }

    /// Returns whether the evaluation is the exact result of the position.
    pub fn is_exact(&self) -> bool {
        self.origin == Origin::Endgames
    }

    /// Converts the scores of this project's engine to the scale of Stockfish, on which the thresholds of judgments are defined.
    pub fn scaled(mut self) -> KnownEval {
        self.score = on_scale_of_stockfish(self.score);
        self.second = self.second.map(on_scale_of_stockfish);
        self
    }

    /// Returns whether this evaluation of a position counts, and not another evaluation: endgame tables count over a search, a
    /// deep search over a shallow search, then more nodes, then more depth.
    pub fn counts_over(&self, other: &KnownEval) -> bool {
        let rank = |known: &KnownEval| {
            (
                known.is_exact(),
                !known.is_shallow(),
                known.knodes,
                known.depth,
            )
        };
        rank(self) > rank(other)
    }

    /// Returns whether the search was so short that the score is only a hint. Unknown depths and nodes are not short, and a
    /// mate is no hint.
    pub fn is_shallow(&self) -> bool {
        if matches!(self.score, Score::Mate(_)) {
            return false;
        }
        self.depth.is_some_and(|depth| depth < MIN_DEPTH)
            || self.knodes.is_some_and(|knodes| knodes < MIN_KNODES)
    }
}

/// Centipawns of the engine, and of Stockfish 15.1, whose winning chances the thresholds of judgments are. The engine counts small
/// advantages lower and large advantages higher. The knots are quantiles of both engines' scores of 1,237 positions of games, at
/// 400,000 and 1,000,000 nodes (`lab judgments` prints how well judgments agree).
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
fn on_scale_of_stockfish(score: Score) -> Score {
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
        let scaled = |cp| match on_scale_of_stockfish(Score::Cp(cp)) {
            Score::Cp(cp) => cp,
            Score::Mate(_) => unreachable!("centipawns remain centipawns"),
        };
        let all: Vec<i32> = (-30_000..30_000).map(scaled).collect();
        assert!(all.is_sorted());
        assert_eq!(
            [0, 60, -120, 40_000, i32::MAX].map(scaled),
            [0, 72, -150, 8_500, 8_500]
        );
        assert_eq!(on_scale_of_stockfish(Score::Mate(-3)), Score::Mate(-3));
    }
}
