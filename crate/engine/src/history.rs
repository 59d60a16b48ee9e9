//! Statistics that the search collects: the success of quiet moves, and the errors of evaluations.
//!
//! Each update moves a number towards a limit, so that numbers do not overflow and old results fade.

use shakmaty::{Color, Move};

use crate::{
    Position,
    parts::{Part, on},
};

/// A piece and its target square.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PieceTo(u16);

const PIECE_TO: usize = 12 * 64;

impl PieceTo {
    /// Returns the piece and target of a move of `color`.
    pub fn of(color: Color, m: Move) -> PieceTo {
        let piece = color as u16 * 6 + m.role() as u16 - 1;
        PieceTo(piece * 64 + m.to() as u16)
    }

    fn index(self) -> usize {
        usize::from(self.0)
    }
}

/// Maximum of a history; its negative is the minimum.
pub const LIMIT: i32 = 16_384;

/// Moves a number towards ±[`LIMIT`].
fn learn(number: &mut i16, bonus: i32) {
    let bonus = bonus.clamp(-LIMIT, LIMIT);
    let old = i32::from(*number);
    *number = (old + bonus - old * bonus.abs() / LIMIT) as i16;
}

/// Kinds of corrections: by pawns, White's pieces, Black's pieces, last move.
const CORRECTIONS: usize = 4;
/// Entries of each kind.
const STRUCTURES: usize = 1 << 14;
/// Units of a correction in a centipawn.
const CORRECTION_UNIT: i32 = 256;
/// Maximum correction, in centipawns.
const LARGEST_CORRECTION: i32 = 96;

/// The statistics of a search.
pub struct Histories {
    quiet: Vec<i16>,
    continuation: Vec<i16>,
    correction: Vec<i32>,
}

impl Default for Histories {
    fn default() -> Histories {
        Histories {
            quiet: vec![0; 2 * 64 * 64],
            continuation: vec![0; PIECE_TO * PIECE_TO],
            correction: vec![0; CORRECTIONS * 2 * STRUCTURES],
        }
    }
}

impl Histories {
    /// Returns the history of a quiet move: its success in any position and after the moves played one, two and four plies
    /// ago.
    pub fn quiet(&self, color: Color, m: Move, before: &[Option<PieceTo>; 3]) -> i32 {
        let now = PieceTo::of(color, m).index();
        let anywhere = if on(Part::Butterfly) { self.quiet[from_to(color, m)].into() } else { 0 };
        let before = before.iter().flatten().filter(|_| on(Part::Continuation));
        let after = before.map(|earlier| i32::from(self.continuation[earlier.index() * PIECE_TO + now]));
        anywhere + after.sum::<i32>()
    }

    /// Rewards a quiet move, or punishes it with a negative bonus.
    pub fn learn_quiet(&mut self, color: Color, m: Move, before: &[Option<PieceTo>; 3], bonus: i32) {
        learn(&mut self.quiet[from_to(color, m)], bonus);
        let now = PieceTo::of(color, m).index();
        for earlier in before.iter().flatten() {
            learn(&mut self.continuation[earlier.index() * PIECE_TO + now], bonus);
        }
    }

    /// Returns by how many centipawns the evaluation of similar positions was too low.
    pub fn correction(&self, position: &Position, before: &[Option<PieceTo>; 3]) -> i32 {
        let [pawns, white, black, last] = structures(position, before).map(|at| at.map_or(0, |at| self.correction[at]));
        if on(Part::PieceCorrection) {
            (6 * pawns + 4 * white + 4 * black + 3 * last) / (12 * CORRECTION_UNIT)
        } else {
            pawns / CORRECTION_UNIT
        }
    }

    /// Records that a search found `error` centipawns more than the evaluation.
    pub fn learn_correction(&mut self, position: &Position, before: &[Option<PieceTo>; 3], depth: i32, error: i32) {
        let weight = (depth + 1).min(16);
        for at in structures(position, before).into_iter().flatten() {
            let number = &mut self.correction[at];
            let blended = (*number * (CORRECTION_UNIT - weight) + error * CORRECTION_UNIT * weight) / CORRECTION_UNIT;
            *number = blended.clamp(-LARGEST_CORRECTION * CORRECTION_UNIT, LARGEST_CORRECTION * CORRECTION_UNIT);
        }
    }
}

fn from_to(color: Color, m: Move) -> usize {
    let from = m.from().unwrap_or(m.to());
    (color as usize * 64 + from.to_usize()) * 64 + m.to().to_usize()
}

/// Returns the indices of a position's corrections: by pawns, White's pieces, Black's pieces, last move.
fn structures(position: &Position, before: &[Option<PieceTo>; 3]) -> [Option<usize>; 4] {
    let index = |kind: usize, key: usize| (2 * kind + position.turn() as usize) * STRUCTURES + key % STRUCTURES;
    [
        Some(index(0, position.pawn_key() as usize)),
        Some(index(1, position.piece_key(Color::White) as usize)),
        Some(index(2, position.piece_key(Color::Black) as usize)),
        before[0].map(|last| index(3, last.index())),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_history_grows_towards_its_limit_and_not_beyond() {
        let mut number = 0;
        (0..1_000).for_each(|_| learn(&mut number, 2_000));
        assert!(i32::from(number) <= LIMIT && i32::from(number) > LIMIT * 9 / 10, "{number}");
        (0..10).for_each(|_| learn(&mut number, i32::MIN / 2));
        assert_eq!(i32::from(number), -LIMIT);
    }

    #[test]
    fn an_evaluation_that_is_always_too_low_is_corrected_upwards() {
        let (mut histories, position) = (Histories::default(), Position::default());
        let mut corrected = |error| {
            (0..200).for_each(|_| histories.learn_correction(&position, &[None; 3], 10, error));
            histories.correction(&position, &[None; 3])
        };
        assert!((35..=50).contains(&corrected(40)));
        assert!((-2 * LARGEST_CORRECTION..=-LARGEST_CORRECTION).contains(&corrected(-30_000)));
    }
}
