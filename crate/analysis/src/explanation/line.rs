//! Lines of moves that prove a claim, and the material that they win.

use shakmaty::{Board, Chess, Color, Move, Position as _, Role};

use crate::known::KnownEval;

/// Maximum number of moves of a line that are read.
const MAX_LINE: usize = 24;

/// Maximum number of moves of a line that proves a claim.
pub(super) const MAX_PROOF: usize = 11;

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

/// Returns why a position is drawn by the rules, except for repetitions and counts of moves.
pub(super) fn draw(position: &Chess) -> Option<&'static str> {
    if position.is_stalemate() {
        return Some("draws by stalemate");
    }
    let is_insufficient = position.is_insufficient_material();
    is_insufficient.then_some("draws, as no side can mate")
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

/// Maximum number of positions of the searches of captures for an explanation.
const MAX_NODES: u32 = 2_000;

/// Material that no side can win, for a checkmate.
pub const MATE: i32 = 1_000;

/// Returns the value of a role in pawns.
pub fn value(role: Role) -> i32 {
    [1, 3, 3, 5, 9, 0][role as usize - 1]
}

/// Returns the material of a side minus the material of its opponent.
pub fn balance(board: &Board, side: Color) -> i32 {
    let of = |color: Color| -> i32 {
        Role::ALL
            .iter()
            .map(|role| {
                value(*role) * (board.by_role(*role) & board.by_color(color)).count() as i32
            })
            .sum()
    };
    of(side) - of(side.other())
}

/// A search of captures and promotions. Unlike a static exchange evaluation, it plays legal moves: a pinned piece does not
/// recapture, and captures on several squares count.
#[derive(Debug)]
pub struct Exchanges {
    nodes: u32,
}

impl Exchanges {
    pub fn new() -> Exchanges {
        Exchanges { nodes: MAX_NODES }
    }

    /// Returns the balance of the side to move after the best captures of both sides. A side may stop to capture at any time,
    /// but must leave a check. Returns `None` if the position has too many captures.
    pub fn resolve(&mut self, position: &Chess) -> Option<i32> {
        self.search(position, -MATE, MATE)
    }

    fn search(&mut self, position: &Chess, mut least: i32, most: i32) -> Option<i32> {
        self.nodes = self.nodes.checked_sub(1)?;
        let mut moves = position.legal_moves();
        if !position.is_check() {
            least = least.max(balance(position.board(), position.turn()));
            moves.retain(|m| m.is_capture() || m.promotion() == Some(Role::Queen));
        }
        // The largest gain first, then the least valuable piece. The module does not contain the sorts of the standard library.
        let gain = |m: &Move| {
            10 * (m.capture().map_or(0, value) + m.promotion().map_or(0, value)) - value(m.role())
        };
        while least < most
            && let Some(next) = (0..moves.len()).max_by_key(|next| gain(&moves[*next]))
        {
            let mut after = position.clone();
            after.play_unchecked(moves.swap_remove(next));
            least = least.max(-self.search(&after, -most, -least)?);
        }
        Some(least)
    }
}

#[cfg(test)]
mod tests {
    use shelfish::position::Position;

    use super::*;

    #[test]
    fn captures_are_resolved_by_legal_moves() {
        for (fen, expected, why) in [
            ("4k3/8/8/3p4/4P3/8/8/4K3 w - -", 1, "a pawn is taken"),
            (
                "4k3/8/2p5/3p4/4P3/8/8/4K3 w - -",
                -1,
                "an exchange of pawns",
            ),
            (
                "4k3/8/2p5/3p4/8/4N3/8/4K3 w - -",
                1,
                "a defended pawn is not taken by a knight",
            ),
            (
                "4r1k1/8/4p3/3n4/4B3/8/8/4K3 w - -",
                -6,
                "the bishop is pinned and takes nothing",
            ),
            (
                "2k5/8/4p3/3b4/8/5N2/8/3RK2q w - -",
                -8,
                "White leaves the check",
            ),
            ("8/P6k/8/8/8/8/8/K7 w - -", 9, "a pawn promotes"),
            ("1r5k/P7/8/8/8/8/8/K7 w - -", 9, "a pawn takes and promotes"),
            ("8/8/8/3pP2k/8/8/8/K7 w - d6", 1, "en passant"),
            (
                "6rk/6pp/8/4q3/8/8/8/K3R3 w - -",
                5 - 7,
                "the queen is taken",
            ),
        ] {
            let position: Position = fen.parse().expect("a FEN");
            assert_eq!(
                Exchanges::new().resolve(position.chess()),
                Some(expected),
                "{why}: {fen}"
            );
        }
    }

    #[test]
    fn a_position_with_very_many_captures_has_no_result() {
        let fen = "qqqqkqqq/qqqqqqqq/8/8/8/8/QQQQQQQQ/QQQQKQQQ w - -";
        let position: Position = fen.parse().expect("a FEN");
        assert_eq!(Exchanges::new().resolve(position.chess()), None);
    }
}
