//! Generation of captures and promotions. Quiescence needs no other moves.

use shakmaty::{Bitboard, Board, Color, Move, Piece, Position as _, Role, Square, attacks};

use crate::Position;

/// Returns whether a move is a capture or a promotion to a queen.
pub fn is_noisy(m: Move) -> bool {
    m.is_capture() || m.promotion() == Some(Role::Queen)
}

/// Calls `add` for each legal capture and promotion to a queen.
pub fn for_each_noisy(position: &Position, mut add: impl FnMut(Move)) {
    let chess = position.chess();
    let (us, board) = (chess.turn(), chess.board());
    let Some(king) = board.king_of(us).filter(|_| !position.in_check()) else {
        return position
            .legal_moves()
            .into_iter()
            .filter(|m| is_noisy(*m))
            .for_each(add);
    };
    let (ours, theirs, occupied) = (board.by_color(us), board.by_color(!us), board.occupied());
    let pinned = pinned(board, us, king);
    let is_legal = |from, to| !pinned.contains(from) || attacks::aligned(from, to, king);
    let capture = |role, from, to, promotion| Move::Normal {
        role,
        from,
        capture: board.role_at(to),
        to,
        promotion,
    };

    for from in ours & board.pawns() {
        for to in attacks::pawn_attacks(us, from) & theirs {
            if !is_legal(from, to) {
                continue;
            }
            if Bitboard::BACKRANKS.contains(to) {
                for role in [Role::Queen, Role::Rook, Role::Bishop, Role::Knight] {
                    add(capture(Role::Pawn, from, to, Some(role)));
                }
            } else {
                add(capture(Role::Pawn, from, to, None));
            }
        }
        if let Some(to) = from.offset(us.fold_wb(8, -8))
            && Bitboard::BACKRANKS.contains(to)
            && !occupied.contains(to)
            && is_legal(from, to)
        {
            add(capture(Role::Pawn, from, to, Some(Role::Queen)));
        }
    }
    if chess.maybe_ep_square().is_some() {
        chess.en_passant_moves().into_iter().for_each(&mut add);
    }
    for role in [Role::Knight, Role::Bishop, Role::Rook, Role::Queen] {
        for from in ours & board.by_role(role) {
            for to in attacks::attacks(from, Piece { color: us, role }, occupied) & theirs {
                if is_legal(from, to) {
                    add(capture(role, from, to, None));
                }
            }
        }
    }
    for to in attacks::king_attacks(king) & theirs {
        if board.attacks_to(to, !us, occupied.without(king)).is_empty() {
            add(capture(Role::King, king, to, None));
        }
    }
}

/// Returns the pieces of `us` that alone stand between their king and a long-range piece that attacks along the line.
fn pinned(board: &Board, us: Color, king: Square) -> Bitboard {
    let straight = attacks::rook_attacks(king, Bitboard::EMPTY) & board.rooks_and_queens();
    let diagonal = attacks::bishop_attacks(king, Bitboard::EMPTY) & board.bishops_and_queens();
    let mut pinned = Bitboard::EMPTY;
    for attacker in (straight | diagonal) & board.by_color(!us) {
        let between = attacks::between(king, attacker) & board.occupied();
        if !between.more_than_one() {
            pinned |= between;
        }
    }
    pinned & board.by_color(us)
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    fn walk(position: &Position, depth: u32) -> usize {
        let (mut found, moves) = (HashSet::new(), position.legal_moves());
        for_each_noisy(position, |m| assert!(found.insert(m)));
        let expected: HashSet<Move> = moves.iter().copied().filter(|m| is_noisy(*m)).collect();
        assert_eq!(found, expected, "{:?}", position.chess());
        let below = |m| {
            if depth > 0 {
                walk(&position.play(m), depth - 1)
            } else {
                0
            }
        };
        expected.len() + moves.into_iter().map(below).sum::<usize>()
    }

    #[test]
    fn captures_and_promotions_are_those_of_shakmaty() {
        for fen in [
            "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1",
            "8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1",
            "n1n5/PPPk4/8/8/8/8/4Kppp/5N1N b - - 0 1",
            "r3k2r/Pppp1ppp/1b3nbN/nP6/BBP1P3/q4N2/Pp1P2PP/R2Q1RK1 w kq - 0 1",
            "8/8/8/K2pP2q/8/8/8/7k w - d6 0 1",
            "4k3/4r3/8/3pP3/8/4K3/8/8 w - d6 0 1",
        ] {
            let position: Position = fen.parse().unwrap();
            assert!(walk(&position, 2) > 0, "{fen}");
        }
    }
}
