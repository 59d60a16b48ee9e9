//! Marks of good moves: only moves and great moves.
//!
//! A mark follows from one search of the position before the move, with two lines. The first move of its best line was played. The
//! second line shows the best of all other legal moves. A move without a second line has no mark.
//!
//! - An *only move*: every other legal move loses at least [`LOSS`] winning chances, as a mistake does.
//! - A *great move*: an only move that keeps the result. Every other legal move turns a win into a draw or a loss, or a draw into a
//!   loss. [`WIN`] bounds the results.
//!
//! Obvious moves have no mark: a move out of check, a move of a man that the last move attacked, a capture that does not give more
//! than it takes, and the only legal move. The evidence must exceed the bounds by [`MARGIN`], because another search differs by
//! some winning chances.

use serde::Serialize;
use shakmaty::{Chess, Color, Move, Position as _, Role};

use crate::explanation::value;
use crate::known::KnownEval;
use crate::value::Value;

/// Loss of winning chances by every other move.
pub const LOSS: f64 = 0.2;

/// Winning chances from which a position is a win for a side: 3 pawns. Between the wins of both sides it is a draw.
pub const WIN: f64 = 0.5;

/// Winning chances by which the evidence exceeds the bounds.
pub const MARGIN: f64 = 0.1;

/// Mark of a good move.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Mark {
    /// Every other move loses at least [`LOSS`].
    Only,
    /// The only move that keeps the result.
    Great,
}

impl Mark {
    /// Returns `□` or `!`.
    pub fn glyph(self) -> &'static str {
        match self {
            Mark::Only => "□",
            Mark::Great => "!",
        }
    }

    /// Returns the numeric annotation glyph of PGN: 7 or 1.
    pub fn nag(self) -> u8 {
        match self {
            Mark::Only => 7,
            Mark::Great => 1,
        }
    }
}

/// Result of a position for a side by its winning chances.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum GameResult {
    Loss,
    Draw,
    Win,
}

/// Returns the result at the winning chances of a side.
fn result_of(chances: f64) -> GameResult {
    match chances {
        chances if chances >= WIN => GameResult::Win,
        chances if chances > -WIN => GameResult::Draw,
        _ => GameResult::Loss,
    }
}

/// Returns whether a player may overlook a move, so that it may have a mark.
pub(crate) fn is_eligible(position: &Chess, played: Move, previous: Option<Move>) -> bool {
    let (board, enemy) = (position.board(), position.turn().other());
    let is_attack = |previous: Move| {
        played
            .from()
            .is_some_and(|from| board.attacks_from(previous.to()).contains(from))
    };
    // A capture is not obvious if it gives more than it takes.
    let is_sacrifice = |captured: Role| {
        let occupied = board
            .occupied()
            .without(played.from().unwrap_or(played.to()));
        let defenders = board.attacks_to(played.to(), enemy, occupied);
        value(captured) < value(played.role()) && defenders.any()
    };
    !position.is_check()
        && !previous.is_some_and(is_attack)
        && played.capture().is_none_or(is_sacrifice)
        && position.legal_moves().len() > 1
}

/// Returns the winning chances of the best and of the second line for `mover`. Returns `None` if the evaluation has no second
/// line, or if its best move is not `played`.
fn chances(position: &Chess, known: &KnownEval, played: Move) -> Option<[f64; 2]> {
    let best = known.line.first()?.to_move(position).ok()?;
    let own =
        |score| position.turn().fold_wb(1.0, -1.0) * Value::evaluated(position, score).chances();
    (best == played).then_some([own(known.score), own(known.second?)])
}

/// Marks a move by the evaluation before it and by the value after it. `excess` is added to the bounds.
pub(crate) fn mark(
    position: &Chess,
    played: Move,
    known: &KnownEval,
    after: Value,
    excess: f64,
) -> Option<Mark> {
    let [best, second] = chances(position, known, played)?;
    let sign = position.turn().fold_wb(1.0, -1.0);
    // The milder of two values counts, as for judgments.
    let best = best.min(sign * after.chances());
    if best - second < LOSS + excess {
        return None;
    }
    let keeps = result_of(best - excess) > result_of(second + excess);
    Some(if keeps { Mark::Great } else { Mark::Only })
}

/// Returns whether another move could be worse by the loss of an only move: the mover is not lost.
pub(crate) fn has_room(value: Value, mover: Color) -> bool {
    mover.fold_wb(1.0, -1.0) * value.chances() >= LOSS + MARGIN - 1.0
}

#[cfg(test)]
mod tests {
    use shakmaty::uci::UciMove;
    use shelfish::eval::Score;

    use super::*;

    /// Marks a first move of White. The best line of the search begins with e2e4.
    fn marked(played: &str, first: Score, second: Option<Score>, after: Value) -> Option<Mark> {
        let position = Chess::default();
        let known = KnownEval {
            line: vec![UciMove::from_ascii(b"e2e4").expect("a move")],
            second,
            ..KnownEval::new(first, Some(30))
        };
        let played = played.parse::<UciMove>().expect("a move");
        let played = played.to_move(&position).expect("a legal move");
        mark(&position, played, &known, after, MARGIN)
    }

    #[test]
    fn an_only_move_and_a_great_move_need_a_margin() {
        for (first, second, after, expected, why) in [
            (0, -150, 0, None, "0.27 is less than 0.2 and the margin"),
            (0, -180, 0, Some(Mark::Only), "a draw in either case"),
            (0, -500, 0, Some(Mark::Great), "the draw is kept"),
            (500, 100, 500, Some(Mark::Great), "the win is kept"),
            (330, 100, 330, Some(Mark::Only), "the win is too near"),
            (-600, -1_000, -600, None, "lost in either case"),
            (500, 100, 120, None, "the position after does not confirm"),
        ] {
            let (first, second) = (Score::Cp(first), Some(Score::Cp(second)));
            let found = marked("e2e4", first, second, Value::Cp(after));
            assert_eq!(found, expected, "{why}");
        }
        let mates = |second| {
            let after = Value::Mate(Color::White);
            marked("e2e4", Score::Mate(2), Some(second), after)
        };
        assert_eq!(mates(Score::Cp(100)), Some(Mark::Great));
        assert_eq!(mates(Score::Mate(5)), None);
        assert_eq!(mates(Score::Mate(-5)), Some(Mark::Great));
    }

    #[test]
    fn only_the_best_move_of_a_search_with_two_lines_has_a_mark() {
        let of = |played, second| marked(played, Score::Cp(0), second, Value::Cp(0));
        let second = Some(Score::Cp(-800));
        let found = [of("d2d4", second), of("e2e4", second), of("e2e4", None)];
        assert_eq!(found, [None, Some(Mark::Great), None]);
    }

    #[test]
    fn obvious_moves_have_no_mark() {
        let eligible = |moves: &str| {
            let game = crate::Game::from_uci(None, moves.split(' ')).expect("a game");
            let positions: Vec<Chess> = game.positions().collect();
            let moves = game.moves();
            let n = moves.len() - 1;
            is_eligible(&positions[n], moves[n], n.checked_sub(1).map(|n| moves[n]))
        };
        for (moves, expected, why) in [
            ("e2e4", true, "a first move"),
            ("e2e4 d7d5 e4d5", false, "the capture of a pawn by a pawn"),
            ("e2e4 d7d5 e4d5 d8d5", false, "a recapture"),
            (
                "e2e4 d7d5 e4d5 d8d5 b1c3 d5d8",
                false,
                "the queen was attacked",
            ),
            (
                "e2e4 d7d5 e4d5 d8d5 b1c3 c8g4",
                true,
                "the queen stays attacked",
            ),
            ("e2e4 f7f6 d1h5 g7g6", false, "the king was in check"),
            (
                "e2e4 e7e5 f1c4 b8c6 c4f7",
                true,
                "a bishop for a defended pawn",
            ),
            (
                "e2e4 e7e5 g1f3 g8f6 f3e5",
                false,
                "the pawn was not defended",
            ),
        ] {
            assert_eq!(eligible(moves), expected, "{why}: {moves}");
        }
    }
}
