//! What is known of a position.

use shakmaty::uci::UciMove;
use shakmaty::{Chess, Color, Position as _};
use shelfish::eval::Score;

use crate::chances::{CEILING, winning_chances};

/// The evaluation of a position.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Known {
    /// From White's point of view.
    pub score: Score,
    /// Depth of the search in plies, if it was told.
    pub depth: Option<u16>,
    /// The best line, as far as it was told. Castling may be written either way.
    pub line: Vec<UciMove>,
}

impl Known {
    /// So many centipawns, without a line.
    pub fn cp(cp: i32, depth: u16) -> Known {
        Known { score: Score::Cp(cp), depth: Some(depth), line: Vec::new() }
    }

    /// A mate in so many moves, without a line; negative if Black mates.
    pub fn mate(moves: i32, depth: u16) -> Known {
        Known { score: Score::Mate(moves), depth: Some(depth), line: Vec::new() }
    }
}

/// What a position is worth: by a search, or by the rules.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Value {
    /// Centipawns from White's point of view.
    Cp(i32),
    /// This side will mate.
    Mate(Color),
    /// This side has mated.
    Mated(Color),
}

impl Value {
    /// What the rules say of a position: checkmate, or a draw by stalemate or for want of material.
    pub fn by_the_rules(position: &Chess) -> Option<Value> {
        if position.is_checkmate() {
            Some(Value::Mated(position.turn().other()))
        } else {
            position.is_game_over().then_some(Value::Cp(0))
        }
    }

    /// Centipawns from White's point of view, not beyond ±[`CEILING`], which a mate counts as.
    pub fn centipawns(self) -> i32 {
        match self {
            Value::Cp(cp) => cp.clamp(-CEILING, CEILING),
            Value::Mate(side) | Value::Mated(side) => side.fold_wb(CEILING, -CEILING),
        }
    }

    /// Winning chances of White, from −1 to 1, of [`Value::centipawns`].
    pub fn chances(self) -> f64 {
        winning_chances(self.centipawns())
    }

    /// Winning chances of White in percent, `WinPercent.fromScore` of scalachess.
    pub fn percent(self) -> f64 {
        50.0 + 50.0 * self.chances()
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
