//! Threats of moves.

use shakmaty::{Chess, Move, Position as _, Role};

use super::Piece;
use super::line::{Exchanges, balance, value};

/// Minimum gain of a threat in pawns.
const MIN_GAIN: i32 = 2;

/// Returns what a quiet move threatens: see [`threat`]. Returns `None` if its side mates or wins material at once without the
/// move, if the other side answers by a capture that wins material, or if another move, which is perhaps illegal, has the same
/// threat or carries it out.
pub(super) fn new_threat(
    (position, m): (&Chess, Move),
    (other, instead): (&Chess, Move),
) -> Option<Piece> {
    let wins = |position: &Chess| {
        let outcome = Exchanges::new().resolve(position);
        outcome.is_none_or(|outcome| outcome > balance(position.board(), position.turn()))
    };
    if m.is_capture()
        || m.is_promotion()
        || mate(position).is_some()
        || wins(position)
        || wins(&after(position, m))
    {
        return None;
    }
    let piece = threat(position, m, None)?;
    let is_carried_out = Some(instead.to()) == piece.square;
    let is_same = || other.is_legal(instead) && threat(other, instead, Some(piece)).is_some();
    (!is_carried_out && !is_same()).then_some(piece)
}

/// Returns the piece that a move threatens to take, or the king if it threatens to mate: the side of the move does so if the
/// other side passes. A check is no threat. With a target, returns the target unless it is certain that the move does not
/// threaten it.
fn threat(position: &Chess, m: Move, target: Option<Piece>) -> Option<Piece> {
    let Ok(next) = after(position, m).swap_turn() else {
        return target;
    };
    if target.is_none_or(|target| target.square.is_none())
        && let Some(king) = mate(&next)
    {
        return Some(king);
    }
    let least = balance(next.board(), next.turn()) + MIN_GAIN;
    let mut best = (least - 1, None);
    for m in next.legal_moves() {
        let Some(role) = m.capture().filter(|role| value(*role) >= MIN_GAIN) else {
            continue;
        };
        if target.is_some_and(|target| target.square != Some(m.to())) {
            continue;
        }
        let end = after(&next, m);
        // Captures elsewhere do not pay for the capturing piece.
        let is_retaken = end.legal_moves().iter().any(|answer| answer.to() == m.to());
        let price = if is_retaken && target.is_none() {
            value(m.role())
        } else {
            0
        };
        let Some(outcome) = Exchanges::new().resolve(&end).map(|outcome| -outcome) else {
            return target;
        };
        if outcome > best.0 && value(role) - price >= MIN_GAIN {
            let square = Some(m.to());
            best = (outcome, Some(Piece { role, square }));
        }
    }
    best.1
}

/// Returns the king that the side to move mates in one move.
fn mate(position: &Chess) -> Option<Piece> {
    let is_mate = |m: &Move| after(position, *m).is_checkmate();
    position.legal_moves().iter().any(is_mate).then_some(Piece {
        role: Role::King,
        square: None,
    })
}

fn after(position: &Chess, m: Move) -> Chess {
    let mut after = position.clone();
    after.play_unchecked(m);
    after
}
