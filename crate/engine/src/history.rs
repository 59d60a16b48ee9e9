//! Statistics that the search collects: the success of quiet moves, and the errors of evaluations.
//!
//! Each update moves a number towards a limit, so that numbers do not overflow and old results fade.

use shakmaty::{Bitboard, Color, Move};

use crate::{Position, margins, packed::parts};

/// A piece and its target square, or [`PieceTo::NONE`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PieceTo(u16);

const PIECE_TO: usize = 12 * 64;

impl PieceTo {
    /// No move: the line begins here, or a side passed.
    pub const NONE: PieceTo = PieceTo(PIECE_TO as u16);

    /// Returns the piece and target of a move of `color`.
    pub fn of(color: Color, m: Move) -> PieceTo {
        let (role, _, to) = parts(m);
        PieceTo((color as u16 * 6 + role as u16 - 1) * 64 + to as u16)
    }

    fn index(self) -> usize {
        usize::from(self.0)
    }
}

/// A quiet move, as the histories distinguish moves.
#[derive(Clone, Copy, Debug)]
pub struct Quiet {
    /// Index by colour, attacks of pawns, origin, and target.
    from_to: u16,
    piece_to: PieceTo,
    pawns: u16,
}

impl Quiet {
    /// Returns the indices of a quiet move of a position.
    pub fn of(position: &Position, m: Move) -> Quiet {
        let color = position.turn();
        Quiet {
            from_to: from_to(color, m, position.pawn_threats()) as u16,
            piece_to: PieceTo::of(color, m),
            pawns: pawns(position) as u16,
        }
    }
}

/// Combinations of an attacked origin and an attacked target.
const THREATS: usize = 4;
/// Captured roles, and no capture; a power of two.
const ROLES: usize = 8;

/// Maximum of a history; its negative is the minimum.
pub const LIMIT: i32 = 16_384;

/// Moves a number towards ±[`LIMIT`].
fn learn(number: &mut i16, bonus: i32) {
    let bonus = bonus.clamp(-LIMIT, LIMIT);
    let old = i32::from(*number);
    *number = (old + bonus - old * bonus.abs() / LIMIT) as i16;
}

/// Returns the bonus of a move that refutes a position at a depth.
pub fn bonus(depth: i32) -> i32 {
    (margins::BONUS * depth - margins::BONUS_LESS).min(margins::MAX_BONUS)
}

/// Structures of pawns that the history of quiet moves distinguishes.
const PAWNS: usize = 512;

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
    /// Success by colour, attacks of pawns on origin and target, origin, and target.
    quiet: Vec<i16>,
    /// Success by piece, target and captured role.
    capture: Vec<i16>,
    /// Success by an earlier move, piece and target. The numbers after [`PieceTo::NONE`] stay 0.
    continuation: Vec<[i16; PIECE_TO]>,
    /// Success by pawns, piece and target.
    pawns: Vec<[i16; PIECE_TO]>,
    correction: Vec<i16>,
}

/// Histories of the quiet moves of a position.
#[derive(Clone, Copy)]
pub struct Success<'a> {
    color: Color,
    /// Squares that pawns of the opponent attack.
    threats: Bitboard,
    quiet: &'a [i16],
    pawns: &'a [i16; PIECE_TO],
    after: [&'a [i16; PIECE_TO]; 3],
}

impl Success<'_> {
    /// Returns the history of a move: its success in any position, with the same pawns, and after the earlier moves.
    pub fn of(&self, m: Move) -> i32 {
        let now = PieceTo::of(self.color, m).index();
        let anywhere = self.quiet[from_to(self.color, m, self.threats)];
        let after = self.after.map(|after| after[now]);
        [anywhere, self.pawns[now]]
            .into_iter()
            .chain(after)
            .map(i32::from)
            .sum()
    }
}

impl Default for Histories {
    fn default() -> Histories {
        Histories {
            quiet: vec![0; 2 * THREATS * 64 * 64],
            capture: vec![0; PIECE_TO * ROLES],
            continuation: vec![[0; PIECE_TO]; PIECE_TO + 1],
            pawns: vec![[0; PIECE_TO]; PAWNS],
            correction: vec![0; CORRECTIONS * 2 * STRUCTURES],
        }
    }
}

impl Histories {
    /// Returns the histories of quiet moves of a position, after the moves played one, two and four plies ago.
    pub fn success(&self, position: &Position, before: &[PieceTo; 3]) -> Success<'_> {
        let color = position.turn();
        Success {
            color,
            threats: position.pawn_threats(),
            quiet: &self.quiet,
            pawns: &self.pawns[pawns(position)],
            after: before.map(|earlier| &self.continuation[earlier.index()]),
        }
    }

    /// Returns the history of a capture or promotion.
    pub fn of_capture(&self, color: Color, m: Move) -> i32 {
        self.capture[capture_index(color, m)].into()
    }

    /// Rewards a capture or promotion, or punishes it with a negative bonus.
    pub fn learn_capture(&mut self, color: Color, m: Move, bonus: i32) {
        learn(&mut self.capture[capture_index(color, m)], bonus);
    }

    /// Rewards a quiet move, or punishes it with a negative bonus.
    pub fn learn_quiet(&mut self, m: Quiet, before: &[PieceTo; 3], bonus: i32) {
        self.learn_anywhere(m, bonus);
        learn(
            &mut self.pawns[usize::from(m.pawns)][m.piece_to.index()],
            bonus,
        );
        self.learn_after(m, before, bonus);
    }

    /// Rewards or punishes a quiet move in any position.
    pub fn learn_anywhere(&mut self, m: Quiet, bonus: i32) {
        learn(&mut self.quiet[usize::from(m.from_to)], bonus);
    }

    /// Rewards or punishes a quiet move after the moves played one, two and four plies ago.
    pub fn learn_after(&mut self, m: Quiet, before: &[PieceTo; 3], bonus: i32) {
        for earlier in before.iter().filter(|earlier| **earlier != PieceTo::NONE) {
            learn(
                &mut self.continuation[earlier.index()][m.piece_to.index()],
                bonus,
            );
        }
    }

    /// Returns by how many centipawns the evaluation of similar positions was too low.
    pub fn correction(&self, position: &Position, before: &[PieceTo; 3]) -> i32 {
        let [pawns, white, black, last] = structures(position, before)
            .map(|at| at.map_or(0, |at| i32::from(self.correction[at])));
        (6 * pawns + 4 * white + 4 * black + 3 * last) / (12 * CORRECTION_UNIT)
    }

    /// Records that a search found `error` centipawns more than the evaluation.
    pub fn learn_correction(
        &mut self,
        position: &Position,
        before: &[PieceTo; 3],
        depth: i32,
        error: i32,
    ) {
        let weight = (depth + 1).min(16);
        for at in structures(position, before).into_iter().flatten() {
            let number = &mut self.correction[at];
            let blended = (i32::from(*number) * (CORRECTION_UNIT - weight)
                + error * CORRECTION_UNIT * weight)
                / CORRECTION_UNIT;
            let limit = LARGEST_CORRECTION * CORRECTION_UNIT;
            *number = blended.clamp(-limit, limit) as i16;
        }
    }
}

fn from_to(color: Color, m: Move, threats: Bitboard) -> usize {
    let (_, from, to) = parts(m);
    let threatened = 2 * usize::from(threats.contains(from)) + usize::from(threats.contains(to));
    ((color as usize * THREATS + threatened) * 64 + from.to_usize()) * 64 + to.to_usize()
}

fn pawns(position: &Position) -> usize {
    position.pawn_key() as usize % PAWNS
}

fn capture_index(color: Color, m: Move) -> usize {
    PieceTo::of(color, m).index() * ROLES + m.capture().map_or(0, |role| role as usize)
}

/// Returns the indices of a position's corrections: by pawns, White's pieces, Black's pieces, last move.
fn structures(position: &Position, before: &[PieceTo; 3]) -> [Option<usize>; 4] {
    let index = |kind: usize, key: usize| {
        (2 * kind + position.turn() as usize) * STRUCTURES + key % STRUCTURES
    };
    [
        Some(index(0, position.pawn_key() as usize)),
        Some(index(1, position.piece_key(Color::White) as usize)),
        Some(index(2, position.piece_key(Color::Black) as usize)),
        Some(before[0])
            .filter(|last| *last != PieceTo::NONE)
            .map(|last| index(3, last.index())),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_history_grows_towards_its_limit_and_not_beyond() {
        let mut number = 0;
        (0..1_000).for_each(|_| learn(&mut number, 2_000));
        assert!(
            i32::from(number) <= LIMIT && i32::from(number) > LIMIT * 9 / 10,
            "{number}"
        );
        (0..10).for_each(|_| learn(&mut number, i32::MIN / 2));
        assert_eq!(i32::from(number), -LIMIT);
    }

    #[test]
    fn an_evaluation_that_is_always_too_low_is_corrected_upwards() {
        let (mut histories, position) = (Histories::default(), Position::default());
        let mut corrected = |error| {
            (0..200).for_each(|_| {
                histories.learn_correction(&position, &[PieceTo::NONE; 3], 10, error)
            });
            histories.correction(&position, &[PieceTo::NONE; 3])
        };
        assert!((35..=50).contains(&corrected(40)));
        assert!((-2 * LARGEST_CORRECTION..=-LARGEST_CORRECTION).contains(&corrected(-30_000)));
    }
}
