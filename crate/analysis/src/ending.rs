//! Endings of few pieces that are drawn, although an engine prefers a side.
//!
//! Without pawns, a side with at most a minor piece more cannot win by force in most positions: a rook against a rook, a
//! queen against a queen, a rook and a minor piece against a rook, a rook against a minor piece, or minor pieces. Scores of
//! engines fluctuate there by more than an inaccuracy. A score beyond [`CLEAR`] shows that a piece is lost, or that a mate is
//! near.

use shakmaty::{Board, ByColor, Color, Role};
use shelfish::eval::Score;

/// Centipawns beyond which the ending is not drawn.
pub const CLEAR: i32 = 300;

/// Maximum number of pieces, including the kings.
const MAX_PIECES: usize = 5;

/// Returns whether the pieces draw and the score does not contradict that.
///
/// ```
/// use shakmaty::Chess;
/// use shakmaty::fen::Fen;
/// use shelfish_analysis::{Score, ending};
/// let rooks: Fen = "8/8/4k3/8/2R5/4K3/7r/8 w - - 0 1".parse()?;
/// assert!(ending::is_drawn(&rooks.as_setup().board, Score::Cp(80)));
/// assert!(!ending::is_drawn(&rooks.as_setup().board, Score::Cp(500)));
/// assert!(!ending::is_drawn(&rooks.as_setup().board, Score::Mate(4)));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn is_drawn(board: &Board, score: Score) -> bool {
    let is_clear = match score {
        Score::Cp(cp) => cp.abs() > CLEAR,
        Score::Mate(_) => true,
    };
    !is_clear
        && board.occupied().count() <= MAX_PIECES
        && board.pawns().is_empty()
        && is_balanced(board)
}

/// Returns whether no side has more than a minor piece more than the other side.
fn is_balanced(board: &Board) -> bool {
    let count = |color: Color, role: Role| (board.by_color(color) & board.by_role(role)).count();
    let minors = |color| count(color, Role::Knight) + count(color, Role::Bishop);
    let ByColor { black, white } = ByColor::new_with(|color| {
        (
            count(color, Role::Queen),
            count(color, Role::Rook),
            minors(color),
        )
    });
    let knights = |color| count(color, Role::Bishop) == 0 && minors(color) == 2;
    match (white, black) {
        // Two knights do not mate, a rook against a minor piece does not win.
        ((0, 0, 2), (0, 0, 0)) => knights(Color::White),
        ((0, 0, 0), (0, 0, 2)) => knights(Color::Black),
        ((0, 1, 0), (0, 0, 1)) | ((0, 0, 1), (0, 1, 0)) => true,
        ((queens, rooks, white), (other_queens, other_rooks, black)) => {
            (queens, rooks) == (other_queens, other_rooks) && white.abs_diff(black) <= 1
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
