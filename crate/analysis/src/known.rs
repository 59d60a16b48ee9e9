//! Evaluations of positions.

use shakmaty::uci::UciMove;
use shakmaty::{Chess, Color, Position as _};
use shelfish::eval::Score;

use crate::chances::{CEILING, winning_chances};

/// The evaluation of a position.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KnownEval {
    /// Score from White's point of view.
    pub score: Score,
    /// Depth of the search in plies, if it is known.
    pub depth: Option<u16>,
    /// KnownEval part of the best line. Castling may be written either way.
    pub line: Vec<UciMove>,
}

impl KnownEval {
    /// Returns an evaluation in centipawns, without a line.
    pub fn cp(cp: i32, depth: u16) -> KnownEval {
        KnownEval { score: Score::Cp(cp), depth: Some(depth), line: Vec::new() }
    }

    /// Returns an evaluation of a mate in `moves` moves, without a line. Negative numbers are mates by Black.
    pub fn mate(moves: i32, depth: u16) -> KnownEval {
        KnownEval { score: Score::Mate(moves), depth: Some(depth), line: Vec::new() }
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
            Score::Mate(moves) => Value::Mate(if moves > 0 { Color::White } else { Color::Black }),
        }
    }
}
