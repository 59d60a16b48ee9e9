//! The legal moves of a position, best guess first.

use shakmaty::{Chess, Color, Move, Position as _};

use super::board::{RelativeBoard, relative_square};
use super::context::PositionContext;
use super::features::{Mover, WEIGHTS};
use super::history::History;
use super::prefix::{LinePrefix, origin};

/// The fitted weights, one signed byte each, table after table. They are frozen, because other weights would be a new format.
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

/// The length of the table: a power of two, so that a mask replaces the bounds check.
const PADDED: usize = WEIGHTS.next_power_of_two();

/// Greater than every sum of weights, one from each table.
const BOUND: i32 = 1 << 14;

/// The legal moves of a position of a line, unsorted, each with its sort key: the likelier a move, the greater its key.
pub(crate) struct MoveOrder(Vec<(u32, Move)>);

impl MoveOrder {
    /// Orders the legal moves. The `barred` ones, which the line cannot continue with, come last.
    pub(super) fn new(
        position: &Chess,
        prefix: &LinePrefix,
        history: &History,
        barred: &[Move],
    ) -> MoveOrder {
        let moves = position.legal_moves();
        let turn = position.turn();
        let board = RelativeBoard::new(position);
        let context = PositionContext::new(&board, turn, prefix);
        let history_here = history.at(turn, prefix);
        // The moves of a piece mostly come one after another.
        let mut piece: Option<(Mover, i32)> = None;
        let mut key = |m: &Move| {
            let (mover, score) = match &mut piece {
                Some(piece) if piece.0.makes(*m) => piece,
                piece => {
                    let mover = Mover::new(&context, *m);
                    let mut score = 0;
                    mover.piece_features(|weight| score += fitted(weight));
                    piece.insert((mover, score))
                }
            };
            let mut score = *score;
            mover.move_features(*m, history_here.of_move(*m), |weight| {
                score += fitted(weight)
            });
            let open = if barred.contains(m) { 0 } else { 2 * BOUND };
            ((open + BOUND + score) as u32) << 16 | u32::from(u16::MAX - tie(*m, turn))
        };
        MoveOrder(moves.iter().map(|m| (key(m), *m)).collect())
    }

    /// Orders the legal moves of a position by itself.
    pub(crate) fn of(position: &Chess) -> MoveOrder {
        MoveOrder::new(position, &LinePrefix::default(), &History::default(), &[])
    }

    /// Returns the rank of a move; `None` if it is illegal.
    #[cfg(any(feature = "write", test))]
    pub(crate) fn rank(&self, m: Move) -> Option<usize> {
        let (key, _) = self.0.iter().find(|(_, legal)| *legal == m)?;
        Some(self.0.iter().filter(|(other, _)| other > key).count())
    }

    /// Returns the number of legal moves.
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// Returns the move of a rank, or the number of legal moves if the rank is beyond them.
    pub(crate) fn pick(&self, rank: usize) -> Result<Move, usize> {
        if rank >= self.len() {
            return Err(self.len());
        }
        // Keys are distinct and ranks are low: select the greatest key, then the next one, and so on.
        let found = (0..=rank).fold(u32::MAX, |last, _| {
            let keys = self.0.iter().map(|(key, _)| *key);
            keys.filter(|key| *key < last).max().unwrap_or_default()
        });
        self.0
            .iter()
            .find(|(key, _)| *key == found)
            .map(|(_, m)| *m)
            .ok_or(self.len())
    }
}

/// Returns the weight at an index.
#[inline]
fn fitted(weight: usize) -> i32 {
    i32::from(FITTED[weight & (PADDED - 1)])
}

/// Breaks ties between moves of equal score, smallest first: origin, target (the rook's square when castling) and
/// promotion, from the point of view of the side to move.
fn tie(m: Move, turn: Color) -> u16 {
    let from = relative_square(origin(m), turn) as u16;
    let to = relative_square(m.to(), turn) as u16;
    let promotion = m.promotion().map_or(0, |role| role as u16);
    from << 9 | to << 3 | promotion
}
