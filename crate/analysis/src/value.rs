//! The value of a position: winning chances, and endings that are drawn although an engine prefers a side.

use shakmaty::{Board, Chess, Color, Position as _, Role};
use shelfish::eval::Score;

/// Limit of scores in centipawns, for accuracy and average centipawn loss (`Eval.Cp.CEILING` of scalachess). A mate counts as
/// the limit.
pub const CEILING: i32 = 1_000;

/// Centipawns of the initial position if it has no evaluation (`WhiteScore.initial` of scalachess).
pub const INITIAL: i32 = 15;

/// Slope of winning chances, fitted to games of Lichess (`WinPercent` of scalachess, <https://lichess.org/page/accuracy>).
const SLOPE: f64 = 0.003_682_08;

/// Returns White's winning chances at a score in centipawns, from −1 (lost) to 1 (won).
///
/// The source is `WinPercent.winningChances` of scalachess: 2 / (1 + exp(−0.00368208 cp)) − 1.
///
/// ```
/// use shelfish_analysis::winning_chances;
/// assert_eq!(winning_chances(0), 0.0);
/// assert!((winning_chances(100) - 0.1821).abs() < 1e-4);
/// assert_eq!(winning_chances(-100), -winning_chances(100));
/// ```
pub fn winning_chances(cp: i32) -> f64 {
    // The magnitude is used, so that the chances of both sides are exactly symmetric. `libm` is equal on all targets.
    let magnitude = 2.0 / (1.0 + libm::exp(-SLOPE * f64::from(cp.unsigned_abs()))) - 1.0;
    if cp < 0 { -magnitude } else { magnitude }
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

    /// Returns the value of a position by its evaluation. A drawn ending counts as 0, unless the score is clearly won.
    pub fn evaluated(position: &Chess, score: Score) -> Value {
        if is_drawn(position.board(), score) {
            Value::Cp(0)
        } else {
            score.into()
        }
    }

    /// Returns centipawns from White's point of view, limited to ±`CEILING`. A mate counts as the limit.
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
    /// ±`CEILING` there.
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

/// Centipawns beyond which an ending is not drawn: a piece is lost, or a mate is near.
const CLEAR: i32 = 300;

/// Maximum number of pieces of a drawn ending, including the kings.
const MAX_PIECES: usize = 5;

/// Returns whether an ending is drawn, although an engine prefers a side.
///
/// Without pawns, a side with at most a minor piece more cannot win by force in most positions: a rook against a rook, a
/// queen against a queen, a rook and a minor piece against a rook, a rook against a minor piece, or minor pieces. Scores of
/// engines fluctuate there by more than an inaccuracy.
fn is_drawn(board: &Board, score: Score) -> bool {
    let is_near = matches!(score, Score::Cp(cp) if cp.abs() <= CLEAR);
    if !is_near || board.occupied().count() > MAX_PIECES || board.pawns().any() {
        return false;
    }
    let [white, black] = Color::ALL.map(|color| {
        [Role::Queen, Role::Rook, Role::Bishop, Role::Knight]
            .map(|role| board.by_piece(role.of(color)).count())
    });
    match (white, black) {
        // Two knights do not mate, a rook against a minor piece does not win.
        ([0, 0, bishops, knights], [0, 0, 0, 0]) | ([0, 0, 0, 0], [0, 0, bishops, knights])
            if bishops + knights == 2 =>
        {
            bishops == 0
        }
        ([0, 1, 0, 0], [0, 0, b, n]) | ([0, 0, b, n], [0, 1, 0, 0]) if b + n == 1 => true,
        ([queens, rooks, bishops, knights], [q, r, b, n]) => {
            (queens, rooks) == (q, r) && (bishops + knights).abs_diff(b + n) <= 1
        }
    }
}

#[cfg(test)]
mod tests {
    use shakmaty::fen::Fen;

    use super::*;

    #[test]
    fn endings_without_pawns_and_with_equal_pieces_are_drawn() {
        for (fen, expected) in [
            ("8/8/4k3/8/2R5/4K3/7r/8 w - - 0 1", true),
            ("8/8/4k3/8/2RB4/4K3/7r/8 w - - 0 1", true),
            ("8/8/4k3/8/2Q5/4K3/7q/8 w - - 0 1", true),
            ("8/8/4k3/8/2R5/4K3/7n/8 w - - 0 1", true),
            ("8/8/4k3/8/2NN4/4K3/8/8 w - - 0 1", true),
            ("8/8/4k3/8/2B5/4K3/7n/8 w - - 0 1", true),
            // A bishop and a knight mate, and so does a queen against a rook.
            ("8/8/4k3/8/2BN4/4K3/8/8 w - - 0 1", false),
            ("8/8/4k3/8/2Q5/4K3/7r/8 w - - 0 1", false),
            ("8/8/4k3/8/2R5/4K3/8/8 w - - 0 1", false),
            ("8/8/4k3/8/2R5/4K3/P6r/8 w - - 0 1", false),
            ("8/8/4k3/8/2RBN3/4K3/6nr/8 w - - 0 1", false),
        ] {
            let fen: Fen = fen.parse().expect("a FEN");
            assert_eq!(
                is_drawn(&fen.as_setup().board, Score::Cp(-CLEAR)),
                expected,
                "{fen}"
            );
        }
    }
}
