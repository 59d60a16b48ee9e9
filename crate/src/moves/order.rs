//! The legal moves of a position, best guess first.

use shakmaty::{Chess, Color, Move, MoveList, Position as _};

use super::features::WEIGHTS;
use super::memory::Memory;
use super::scene::Scene;
use super::sight::turned;
use super::trail::{Trail, origin};

/// The fitted weights, one signed byte each, table after table. Frozen: another file is another format.
static FITTED: [i8; PADDED] = {
    let bytes: &[u8; WEIGHTS] = include_bytes!("weights.bin");
    let mut weights = [0; PADDED];
    let mut i = 0;
    while i < WEIGHTS {
        weights[i] = bytes[i] as i8;
        i += 1;
    }
    weights
};

/// A power of two, so that a mask spares the check of bounds.
const PADDED: usize = WEIGHTS.next_power_of_two();

/// Above every sum of weights, one from each table.
const BOUND: i32 = 1 << 14;

/// A position of a line with the keys of its legal moves: the greater the key the better the guess.
pub(super) struct Order {
    moves: MoveList,
    keys: Vec<u32>,
}

impl Order {
    /// Ranks the legal moves. `barred` ones, which a line cannot go on with, come last.
    pub(super) fn new(position: &Chess, trail: &Trail, memory: &Memory, barred: &[Move]) -> Order {
        let moves = position.legal_moves();
        let scene = Scene::new(position, trail);
        let turn = position.turn();
        let hint = memory.hint(turn, trail, barred);
        let key = |m: &Move| {
            let mut score = 0;
            scene.ask(*m, hint.recall(*m), |weight| score += i32::from(FITTED[weight & (PADDED - 1)]));
            let open = if barred.contains(m) { 0 } else { 2 * BOUND };
            ((open + BOUND + score) as u32) << 16 | u32::from(u16::MAX - tie(*m, turn))
        };
        let keys = moves.iter().map(key).collect();
        Order { moves, keys }
    }

    /// How many moves are guessed before `m`, or `None` where it is illegal.
    #[cfg(any(feature = "write", test))]
    pub(super) fn rank(&self, m: Move) -> Option<usize> {
        let at = self.moves.iter().position(|legal| *legal == m)?;
        let key = self.keys[at];
        Some(self.keys.iter().filter(|other| **other > key).count())
    }

    /// The move of a rank, or how many legal moves there are if it is beyond them.
    pub(super) fn pick(&self, rank: usize) -> Result<Move, usize> {
        // Keys are distinct and ranks are low: the greatest, then the greatest below it, and so on.
        let mut bound = u32::MAX;
        let mut found = None;
        for _ in 0..=rank {
            let below = self.keys.iter().zip(&self.moves).filter(|(key, _)| **key < bound);
            let (key, m) = below.max_by_key(|(key, _)| **key).ok_or(self.keys.len())?;
            (bound, found) = (*key, Some(*m));
        }
        found.ok_or(self.keys.len())
    }
}

/// Tells apart moves of equal score, smallest first: origin, target (the rook's square when castling) and promotion
/// as the side to move sees them.
fn tie(m: Move, turn: Color) -> u16 {
    let from = turned(origin(m), turn) as u16;
    let to = turned(m.to(), turn) as u16;
    let promotion = m.promotion().map_or(0, |role| role as u16);
    from << 9 | to << 3 | promotion
}
