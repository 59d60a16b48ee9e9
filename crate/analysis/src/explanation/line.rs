//! Lines of moves that prove a claim.

use shakmaty::{Chess, Move, Position as _};

use super::Draw;
use crate::known::KnownEval;

/// Maximum number of moves of a line that are read.
const MAX_LINE: usize = 24;

/// Maximum number of moves of a line that proves a claim.
pub(super) const MAX_PROOF: usize = 9;

/// Maximum number of moves of a line that is not complete.
pub(super) const MAX_CUT: usize = 5;

/// A line of legal moves.
pub(super) struct Line {
    /// The positions before the first move and after each move.
    pub positions: Vec<Chess>,
    pub moves: Vec<Move>,
}

impl Line {
    /// Returns the legal beginning of the line of an evaluation.
    pub fn new(start: Chess, known: Option<&KnownEval>) -> Line {
        let mut line = Line {
            positions: vec![start],
            moves: Vec::new(),
        };
        for m in known
            .map(|known| &known.line[..])
            .unwrap_or_default()
            .iter()
            .take(MAX_LINE)
        {
            let Ok(m) = m.to_move(line.end()) else { break };
            line.push(m);
        }
        line
    }

    /// Plays a legal move at the end.
    pub fn push(&mut self, m: Move) {
        let mut next = self.end().clone();
        next.play_unchecked(m);
        self.positions.push(next);
        self.moves.push(m);
    }

    /// Returns the last position.
    pub fn end(&self) -> &Chess {
        &self.positions[self.moves.len()]
    }
}

/// Returns the reason why a position is drawn by the rules, except for repetitions and counts of moves.
pub(super) fn draw(position: &Chess) -> Option<Draw> {
    if position.is_stalemate() {
        Some(Draw::Stalemate)
    } else {
        position
            .is_insufficient_material()
            .then_some(Draw::InsufficientMaterial)
    }
}

/// Returns the number of moves that show a mate in `moves` moves. Returns `None` if the line contradicts the mate.
pub(super) fn mating(line: &Line, moves: u32) -> Option<usize> {
    let (plies, count) = ((2 * moves as usize).checked_sub(1)?, line.moves.len());
    let is_complete = count >= plies;
    let agrees = if is_complete {
        line.positions[plies].is_checkmate()
    } else {
        !line.end().is_game_over()
    };
    agrees.then(|| {
        if is_complete && plies <= MAX_PROOF {
            plies
        } else {
            count.min(MAX_CUT)
        }
    })
}
