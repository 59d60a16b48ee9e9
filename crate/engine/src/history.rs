//! What the search learns of moves while it searches: which were good wherever they were played, and by how much the
//! evaluation errs for a pawn structure.
//!
//! Every number is drawn towards a limit by what is added to it, so that it neither overflows nor forgets at once.

use shakmaty::{Color, Move, Role};

use crate::Position;

/// A moved piece and its target: 12 pieces, 64 squares.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PieceTo(u16);

const PIECE_TO: usize = 12 * 64;

impl PieceTo {
    /// Of a move of `color`.
    pub fn of(color: Color, m: Move) -> PieceTo {
        let piece = color as u16 * 6 + m.role() as u16 - 1;
        PieceTo(piece * 64 + m.to() as u16)
    }

    fn index(self) -> usize {
        usize::from(self.0)
    }
}

/// The most that a history says of a move, and the least.
pub const LIMIT: i32 = 16_384;

/// Moves a number towards ±[`LIMIT`].
fn learn(number: &mut i16, bonus: i32) {
    let bonus = bonus.clamp(-LIMIT, LIMIT);
    let old = i32::from(*number);
    *number = (old + bonus - old * bonus.abs() / LIMIT) as i16;
}

/// How many pawn structures the correction of evaluations tells apart.
const STRUCTURES: usize = 1 << 14;
/// A correction counts in 1/256 of a centipawn.
const CORRECTION_UNIT: i32 = 256;
/// The largest correction, in centipawns.
const LARGEST_CORRECTION: i32 = 96;

/// All histories.
pub struct Histories {
    quiet: Vec<i16>,
    capture: Vec<i16>,
    continuation: Vec<i16>,
    correction: Vec<i32>,
}

impl Default for Histories {
    fn default() -> Histories {
        Histories {
            quiet: vec![0; 2 * 64 * 64],
            capture: vec![0; PIECE_TO * 6],
            continuation: vec![0; PIECE_TO * PIECE_TO],
            correction: vec![0; 2 * STRUCTURES],
        }
    }
}

impl Histories {
    /// Of a quiet move, after the moves of `before` that were played one, two and four plies ago: their sum.
    pub fn quiet(&self, color: Color, m: Move, before: &[Option<PieceTo>; 3]) -> i32 {
        let now = PieceTo::of(color, m).index();
        let follow = before.iter().flatten().map(|earlier| self.continuation[earlier.index() * PIECE_TO + now]);
        i32::from(self.quiet[from_to(color, m)]) + follow.map(i32::from).sum::<i32>()
    }

    /// Learns that a quiet move was good, or with a negative bonus, bad.
    pub fn learn_quiet(&mut self, color: Color, m: Move, before: &[Option<PieceTo>; 3], bonus: i32) {
        learn(&mut self.quiet[from_to(color, m)], bonus);
        let now = PieceTo::of(color, m).index();
        for earlier in before.iter().flatten() {
            learn(&mut self.continuation[earlier.index() * PIECE_TO + now], bonus);
        }
    }

    /// Of a capture.
    pub fn capture(&self, color: Color, m: Move) -> i32 {
        i32::from(self.capture[capture(color, m)])
    }

    /// Learns that a capture was good, or with a negative bonus, bad.
    pub fn learn_capture(&mut self, color: Color, m: Move, bonus: i32) {
        learn(&mut self.capture[capture(color, m)], bonus);
    }

    /// By how many centipawns the evaluation of positions with these pawns was too low.
    pub fn correction(&self, position: &Position) -> i32 {
        self.correction[structure(position)] / CORRECTION_UNIT
    }

    /// Learns that a search of some depth found `error` centipawns more than the evaluation said.
    pub fn learn_correction(&mut self, position: &Position, depth: i32, error: i32) {
        let number = &mut self.correction[structure(position)];
        let weight = (depth + 1).min(16);
        let blended = (*number * (CORRECTION_UNIT - weight) + error * CORRECTION_UNIT * weight) / CORRECTION_UNIT;
        *number = blended.clamp(-LARGEST_CORRECTION * CORRECTION_UNIT, LARGEST_CORRECTION * CORRECTION_UNIT);
    }
}

fn from_to(color: Color, m: Move) -> usize {
    let from = m.from().unwrap_or(m.to());
    (color as usize * 64 + from.to_usize()) * 64 + m.to().to_usize()
}

fn capture(color: Color, m: Move) -> usize {
    let taken = m.capture().unwrap_or(Role::Pawn) as usize - 1;
    PieceTo::of(color, m).index() * 6 + taken
}

fn structure(position: &Position) -> usize {
    position.turn() as usize * STRUCTURES + position.pawn_key() as usize % STRUCTURES
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
        (0..200).for_each(|_| histories.learn_correction(&position, 10, 40));
        assert!((35..=40).contains(&histories.correction(&position)), "{}", histories.correction(&position));
        (0..200).for_each(|_| histories.learn_correction(&position, 10, -30_000));
        assert_eq!(histories.correction(&position), -LARGEST_CORRECTION);
    }
}
