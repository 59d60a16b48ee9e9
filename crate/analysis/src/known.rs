//! Evaluations of positions.

use serde::Serialize;
use shakmaty::uci::UciMove;
use shakmaty::{Chess, Color, Position as _};
use shelfish::eval::Score;

use crate::chances::{CEILING, winning_chances};
use crate::{ending, scale};

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
pub const MIN_DEPTH: u16 = 16;

/// Thousands of nodes below which a search is shallow. Stockfish has a mean error of winning chances of 0.037 at 100,000 nodes
/// (median depth 15), and of 0.060 at 10,000, against its own million. The engine of a review has 0.053 at 400,000 nodes.
pub const MIN_KNODES: u64 = 100;

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
        self.score = scale::of_stockfish(self.score);
        self.second = self.second.map(scale::of_stockfish);
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

/// Value of a position, by a search or by the rules.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Value {
    /// Centipawns from White's point of view.
    Cp(i32),
    /// The side that will mate.
    Mate(Color),
    /// The side that has mated.
    Mated(Color),
}

impl Value {
    /// Returns the value of a position that is over: checkmate, or a draw by stalemate or insufficient material.
    pub fn by_the_rules(position: &Chess) -> Option<Value> {
        if position.is_checkmate() {
            Some(Value::Mated(position.turn().other()))
        } else {
            position.is_game_over().then_some(Value::Cp(0))
        }
    }

    /// Returns the value of a position by its evaluation. A drawn ending counts as 0, unless the score is clearly won: see
    /// [`ending`].
    pub fn evaluated(position: &Chess, score: Score) -> Value {
        if ending::is_drawn(position.board(), score) {
            Value::Cp(0)
        } else {
            score.into()
        }
    }

    /// Returns centipawns from White's point of view, limited to ±[`CEILING`]. A mate counts as the limit.
    pub fn centipawns(self) -> i32 {
        match self {
            Value::Cp(cp) => cp.clamp(-CEILING, CEILING),
            Value::Mate(side) | Value::Mated(side) => side.fold_wb(CEILING, -CEILING),
        }
    }

    /// Returns White's winning chances, from −1 to 1. A mate counts as ±1, centipawns as [`Value::centipawns`].
    pub fn chances(self) -> f64 {
        match self {
            Value::Cp(_) => winning_chances(self.centipawns()),
            Value::Mate(side) | Value::Mated(side) => side.fold_wb(1.0, -1.0),
        }
    }

    /// Returns White's winning chances in percent for accuracy (`WinPercent.fromScore` of scalachess). A mate counts as
    /// ±[`CEILING`] there.
    pub fn percent(self) -> f64 {
        50.0 + 50.0 * winning_chances(self.centipawns())
    }
}

impl From<Score> for Value {
    fn from(score: Score) -> Value {
        match score {
            Score::Cp(cp) => Value::Cp(cp),
            Score::Mate(moves) => Value::Mate(if moves > 0 {
                Color::White
            } else {
                Color::Black
            }),
        }
    }
}
