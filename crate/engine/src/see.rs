//! Static exchange evaluation: the material that a move wins or loses if both sides go on capturing on its square, the
//! cheapest piece first.

use shakmaty::{Bitboard, Board, Color, Move, Position as _, Role, Square, attacks};

use crate::Position;

/// Returns the value of a role in an exchange, in centipawns.
pub fn value(role: Role) -> i32 {
    [100, 320, 330, 500, 950, 0][role as usize - 1]
}

/// Returns whether a move wins at least `threshold` centipawns.
// Not inlined, for a small module.
#[inline(never)]
pub fn wins(position: &Position, m: Move, threshold: i32) -> bool {
    let board = position.chess().board();
    let (from, to, moved, taken) = match m {
        Move::Normal {
            role,
            from,
            capture,
            to,
            promotion,
        } => {
            let gain = promotion.map_or(0, |promoted| value(promoted) - value(Role::Pawn));
            (
                from,
                to,
                promotion.unwrap_or(role),
                capture.map_or(0, value) + gain,
            )
        }
        Move::EnPassant { from, to } => (from, to, Role::Pawn, value(Role::Pawn)),
        Move::Castle { .. } | Move::Put { .. } => return threshold <= 0,
    };
    // Balance of the side that captured last, relative to the threshold: first if nobody recaptures, then if the opponent
    // recaptures.
    let mut balance = taken - threshold;
    if balance < 0 {
        return false;
    }
    balance -= value(moved);
    if balance >= 0 {
        return true;
    }

    let mut occupied = board.occupied().without(from).with(to);
    if let Move::EnPassant { from, to } = m {
        occupied.discard(Square::from_coords(to.file(), from.rank()));
    }
    let diagonal = board.bishops() | board.queens();
    let straight = board.rooks() | board.queens();
    let mut attackers = attackers(board, to, occupied);
    let mut side = !position.turn();
    loop {
        attackers &= occupied;
        let ours = attackers & board.by_color(side);
        let Some((square, role)) = cheapest(board, ours) else {
            break;
        };
        // A king may not capture a defended piece.
        if role == Role::King && (attackers & board.by_color(!side)).any() {
            break;
        }
        side = !side;
        balance = -balance - 1 - value(role);
        if balance >= 0 {
            break;
        }
        occupied.discard(square);
        if matches!(role, Role::Pawn | Role::Bishop | Role::Queen) {
            attackers |= attacks::bishop_attacks(to, occupied) & diagonal;
        }
        if matches!(role, Role::Rook | Role::Queen) {
            attackers |= attacks::rook_attacks(to, occupied) & straight;
        }
    }
    side != position.turn()
}

fn attackers(board: &Board, to: Square, occupied: Bitboard) -> Bitboard {
    board.attacks_to(to, Color::White, occupied) | board.attacks_to(to, Color::Black, occupied)
}

fn cheapest(board: &Board, pieces: Bitboard) -> Option<(Square, Role)> {
    Role::ALL.into_iter().find_map(|role| {
        (pieces & board.by_role(role))
            .first()
            .map(|square| (square, role))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each line of the data: FEN, move, centipawns that the exchange wins.
    #[test]
    fn exchanges_win_the_expected_material() {
        for line in include_str!("../tests/see.tsv")
            .lines()
            .filter(|line| !line.starts_with('#'))
        {
            let fields: Vec<&str> = line.split('\t').collect();
            let [fen, uci, expected] = fields[..] else {
                panic!("three fields expected: {line}")
            };
            let position: Position = fen.parse().unwrap();
            let m = uci
                .parse::<shakmaty::uci::UciMove>()
                .unwrap()
                .to_move(position.chess())
                .unwrap();
            let expected: i32 = expected.parse().unwrap();
            assert!(wins(&position, m, expected), "{line}");
            assert!(!wins(&position, m, expected + 1), "{line}");
        }
    }
}
