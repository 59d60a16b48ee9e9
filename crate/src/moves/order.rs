//! The legal moves of a position, best guess first.

use shakmaty::{Chess, Color, Move, Position as _};

use super::features::{Mover, WEIGHTS};
use super::memory::Memory;
use super::scene::Scene;
use super::sight::{Sight, turned};
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

/// The legal moves of a position of a line, each after its key: the greater the key the better the guess.
pub(super) struct Order(Vec<(u32, Move)>);

impl Order {
    /// Ranks the legal moves. `barred` ones, which a line cannot go on with, come last.
    pub(super) fn new(position: &Chess, trail: &Trail, memory: &Memory, barred: &[Move]) -> Order {
        let moves = position.legal_moves();
        let turn = position.turn();
        let sight = Sight::new(position);
        let scene = Scene::new(&sight, turn, trail);
        let hint = memory.hint(turn, trail);
        // The moves of a piece mostly come one after another.
        let mut piece: Option<(Mover, i32)> = None;
        let mut key = |m: &Move| {
            let (mover, score) = match &mut piece {
                Some(piece) if piece.0.makes(*m) => piece,
                piece => {
                    let mover = Mover::new(&scene, *m);
                    let mut score = 0;
                    mover.introduce(|weight| score += fitted(weight));
                    piece.insert((mover, score))
                }
            };
            let mut score = *score;
            mover.ask(*m, hint.recall(*m), |weight| score += fitted(weight));
            let open = if barred.contains(m) { 0 } else { 2 * BOUND };
            ((open + BOUND + score) as u32) << 16 | u32::from(u16::MAX - tie(*m, turn))
        };
        Order(moves.iter().map(|m| (key(m), *m)).collect())
    }

    /// How many moves are guessed before `m`, or `None` where it is illegal.
    #[cfg(any(feature = "write", test))]
    pub(super) fn rank(&self, m: Move) -> Option<usize> {
        let (key, _) = self.0.iter().find(|(_, legal)| *legal == m)?;
        Some(self.0.iter().filter(|(other, _)| other > key).count())
    }

    /// How many legal moves there are.
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// The move of a rank, or how many legal moves there are if it is beyond them.
    pub(super) fn pick(&self, rank: usize) -> Result<Move, usize> {
        if rank >= self.len() {
            return Err(self.len());
        }
        let keys = || self.0.iter().map(|(key, _)| *key);
        let mut found = u32::MAX;
        if rank < 32 {
            // Keys are distinct and ranks are low: the greatest, then the greatest below it, and so on.
            for _ in 0..=rank {
                found = keys().filter(|key| *key < found).max().unwrap_or_default();
            }
        } else {
            // The least number that no more keys than these exceed.
            let mut below = 0;
            while below < found {
                let middle = below.midpoint(found);
                if keys().filter(|key| *key > middle).count() > rank { below = middle + 1 } else { found = middle }
            }
        }
        self.0.iter().find(|(key, _)| *key == found).map(|(_, m)| *m).ok_or(self.len())
    }
}

/// The weight of a number.
#[inline]
fn fitted(weight: usize) -> i32 {
    i32::from(FITTED[weight & (PADDED - 1)])
}

/// Tells apart moves of equal score, smallest first: origin, target (the rook's square when castling) and promotion
/// as the side to move sees them.
fn tie(m: Move, turn: Color) -> u16 {
    let from = turned(origin(m), turn) as u16;
    let to = turned(m.to(), turn) as u16;
    let promotion = m.promotion().map_or(0, |role| role as u16);
    from << 9 | to << 3 | promotion
}
