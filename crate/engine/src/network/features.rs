//! What the network sees: which input stands for a piece, from either side of the board.

use shakmaty::{Board, Color, Role, Square};

/// How many inputs there are: a piece of one's own or of the other side, its role, its square.
pub const INPUTS: usize = 768;

/// How a side sees the board: from its own first rank, and mirrored if its king stands on the files e to h.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Perspective {
    color: Color,
    /// What a square's number is combined with.
    flip: u8,
}

impl Perspective {
    /// Of a colour; `king` is its king's square.
    pub fn new(color: Color, king: Square) -> Perspective {
        let mirror = if king.file() >= shakmaty::File::E { 7 } else { 0 };
        let turn = if color == Color::Black { 56 } else { 0 };
        Perspective { color, flip: mirror ^ turn }
    }

    /// Of a colour on a board; without its king as with one on a1.
    pub fn on(board: &Board, color: Color) -> Perspective {
        Perspective::new(color, board.king_of(color).unwrap_or(Square::A1))
    }

    /// The input of a piece.
    pub fn input(self, color: Color, role: Role, square: Square) -> usize {
        let side = usize::from(color != self.color);
        (side * 6 + role as usize - 1) * 64 + usize::from(square as u8 ^ self.flip)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn every_piece_has_an_input_of_its_own() {
        for (color, king) in [(Color::White, Square::A1), (Color::White, Square::G1), (Color::Black, Square::E8)] {
            let perspective = Perspective::new(color, king);
            let inputs = Color::ALL.into_iter().flat_map(|color| {
                let of = move |role| Square::ALL.map(|square| perspective.input(color, role, square));
                Role::ALL.into_iter().flat_map(of)
            });
            let inputs: HashSet<usize> = inputs.collect();
            assert_eq!(inputs.len(), INPUTS);
            assert!(inputs.iter().all(|&input| input < INPUTS));
        }
    }

    #[test]
    fn the_board_is_mirrored_for_a_king_on_the_other_wing_and_turned_for_black() {
        let white = Perspective::new(Color::White, Square::B1).input(Color::White, Role::Pawn, Square::A2);
        let mirrored = Perspective::new(Color::White, Square::G1).input(Color::White, Role::Pawn, Square::H2);
        let turned = Perspective::new(Color::Black, Square::B8).input(Color::Black, Role::Pawn, Square::A7);
        assert_eq!([mirrored, turned], [white; 2]);
    }
}
