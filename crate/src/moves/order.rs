//! The legal moves of a position, best guess first.

use shakmaty::{Chess, Color, Move, MoveList, Position as _, Role};

use super::features::{Scene, Trail, WEIGHTS};
use super::memory::Memory;
use super::sight::turned;

/// The fitted weights, one signed byte each, table after table. Frozen: another file is another format.
static FITTED: &[u8; WEIGHTS] = include_bytes!("weights.bin");

/// Above every sum of weights, one from each table.
const BOUND: i32 = 1 << 14;

/// A position of a line with the keys of its legal moves: the greater the key the better the guess.
pub(super) struct Order {
    moves: MoveList,
    keys: Vec<u32>,
}

impl Order {
    /// Ranks the legal moves. `barred` ones, which a line cannot go on with, come last.
    pub(super) fn new(position: &Chess, trail: &Trail, memory: &Memory, last: Option<Move>, barred: &[Move]) -> Order {
        let moves = position.legal_moves();
        let scene = Scene::new(position, trail);
        let turn = position.turn();
        let hint = memory.hint(turn, trail.ply, last);
        let key = |m: &Move| {
            let mut score = 0;
            scene.ask(*m, hint.recall(*m), |weight| score += i32::from(FITTED[weight] as i8));
            let open = if barred.contains(m) { 0 } else { 2 * BOUND };
            ((open + BOUND + score) as u32) << 16 | u32::from(u16::MAX - tie(*m, turn))
        };
        let keys = moves.iter().map(key).collect();
        Order { moves, keys }
    }

    /// How many moves are guessed before `m`, or `None` where it is illegal.
    pub(super) fn rank(&self, m: Move) -> Option<usize> {
        let at = self.moves.iter().position(|legal| *legal == m)?;
        let key = self.keys[at];
        Some(self.keys.iter().filter(|other| **other > key).count())
    }

    /// The move of a rank, or how many legal moves there are if it is beyond them.
    pub(super) fn pick(&mut self, rank: usize) -> Result<Move, usize> {
        let mut order: Vec<(u32, Move)> = self.keys.iter().copied().zip(self.moves.iter().copied()).collect();
        if rank >= order.len() {
            return Err(order.len());
        }
        let (_, (_, m), _) = order.select_nth_unstable_by(rank, |a, b| b.0.cmp(&a.0));
        Ok(*m)
    }
}

/// Tells apart moves of equal score, smallest first: origin, target (the rook's square when castling) and promotion
/// as the side to move sees them.
fn tie(m: Move, turn: Color) -> u16 {
    let from = m.from().map_or(0, |square| turned(square, turn) as u16);
    let to = turned(m.to(), turn) as u16;
    let promotion = m.promotion().map_or(0, |role: Role| role as u16);
    from << 9 | to << 3 | promotion
}
