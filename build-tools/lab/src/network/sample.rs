//! Training samples: positions with scores from the point of view of the side to move.

use shakmaty::{Color, Position as _, Role, Square};
use shelfish_engine::{
    Position,
    network::{Perspective, bucket},
};

/// Position in 32 bytes. The board is turned so that the side to move is White.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Sample {
    occupied: u64,
    /// Four bits per piece in the order of squares: the role, plus 8 for an opponent's piece.
    pieces: [u8; 16],
    /// Score in centipawns from the point of view of the side to move.
    pub score: i16,
    /// Result in half points for the side to move (0, 1 or 2), or [`NO_RESULT`].
    pub result: u8,
    /// Whether the sample is used for tests only.
    pub held_out: bool,
}

/// The result is unknown or unrelated to the position.
pub const NO_RESULT: u8 = 3;
/// Maximum absolute score. Larger scores are clamped.
const MAX_SCORE: i32 = 3_000;

impl Sample {
    /// Creates a sample. `white` is the score and `result` the result in half points, both from White's point of view.
    ///
    /// Returns `None` if the position has more than 32 pieces.
    pub fn new(
        position: &Position,
        white: i32,
        result: Option<u8>,
        held_out: bool,
    ) -> Option<Sample> {
        let board = position.chess().board();
        if board.occupied().count() > 32 {
            return None;
        }
        let turn = position.turn();
        let turned: u8 = if turn == Color::White { 0 } else { 56 };
        let mut all: Vec<(u8, u8)> = board
            .iter()
            .map(|(square, piece)| {
                let theirs = if piece.color == turn { 0 } else { 8 };
                (square as u8 ^ turned, piece.role as u8 | theirs)
            })
            .collect();
        all.sort_unstable();
        let (mut occupied, mut pieces) = (0, [0; 16]);
        for (index, (square, piece)) in all.into_iter().enumerate() {
            occupied |= 1 << square;
            pieces[index / 2] |= piece << (index % 2 * 4);
        }
        let score =
            if turn == Color::White { white } else { -white }.clamp(-MAX_SCORE, MAX_SCORE) as i16;
        let result = result.map_or(NO_RESULT, |half| {
            if turn == Color::White { half } else { 2 - half }
        });
        Some(Sample {
            occupied,
            pieces,
            score,
            result,
            held_out,
        })
    }

    /// Returns the inputs of both perspectives, that of the side to move first, their number and the bucket.
    pub fn inputs(&self) -> ([[u16; 32]; 2], usize, usize) {
        let mut kings = [Square::A1; 2];
        let mut all = [(Color::White, Role::Pawn, Square::A1); 32];
        let (mut rest, mut count) = (self.occupied, 0);
        while rest != 0 {
            let square = Square::new(rest.trailing_zeros());
            rest &= rest - 1;
            let piece = self.pieces[count / 2] >> (count % 2 * 4) & 15;
            let color = Color::from_white(piece & 8 == 0);
            let role = Role::try_from(piece & 7).unwrap_or(Role::Pawn);
            if role == Role::King {
                kings[usize::from(color == Color::Black)] = square;
            }
            all[count] = (color, role, square);
            count += 1;
        }
        let inputs = [(Color::White, kings[0]), (Color::Black, kings[1])].map(|(side, king)| {
            let side = Perspective::new(side, king);
            let input = |(color, role, square)| side.input(color, role, square) as u16;
            let mut inputs = [0; 32];
            for (slot, piece) in inputs.iter_mut().zip(&all[..count]) {
                *slot = input(*piece);
            }
            inputs
        });
        (inputs, count, bucket(count))
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test may panic")]
mod tests {
    use super::*;

    #[test]
    fn scores_and_results_refer_to_the_side_to_move() {
        let position: Position = "8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 b - - 0 1".parse().unwrap();
        let sample = Sample::new(&position, 9_000, Some(2), true).unwrap();
        assert_eq!((sample.score, sample.result), (-3_000, 0));
        assert_eq!(
            Sample::new(&position, 0, None, true).unwrap().result,
            NO_RESULT
        );
    }
}
