//! Inputs of the network: one input for each piece on each square, from either side of the board.

use shakmaty::{Board, Color, Role, Square};

/// Number of inputs: two sides, six roles, 64 squares.
pub const INPUTS: usize = 768;

/// The board from a side's first rank, mirrored if its king is on the files e to h.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Perspective {
    color: Color,
    /// Mask that a square's index is combined with by XOR.
    flip: u8,
}

impl Perspective {
    /// Creates the perspective of a colour; `king` is the square of its king.
    pub fn new(color: Color, king: Square) -> Perspective {
        let mirror = if king.file() >= shakmaty::File::E {
            7
        } else {
            0
        };
        let turn = if color == Color::Black { 56 } else { 0 };
        Perspective {
            color,
            flip: mirror ^ turn,
        }
    }

    /// Creates the perspective of a colour on a board. A missing king counts as a king on a1.
    pub fn on(board: &Board, color: Color) -> Perspective {
        Perspective::new(color, board.king_of(color).unwrap_or(Square::A1))
    }

    /// Returns the input of a piece.
    pub fn input(self, color: Color, role: Role, square: Square) -> usize {
        let side = usize::from(color != self.color);
        (side * 6 + role as usize - 1) * 64 + usize::from(square as u8 ^ self.flip)
    }
}
