//! The legal moves of a position, best guess first.

use shakmaty::{Chess, Color, Move, Position as _};

use super::board::{RelativeBoard, relative_square};
use super::context::PositionContext;
use super::features::{Mover, WEIGHTS};
use super::history::History;
use super::prefix::{LinePrefix, origin};
use super::range::RangeReader;
#[cfg(any(feature = "write", test))]
use super::range::RangeWriter;

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
const BOUND: i32 = 1 << 13;
/// Scores of moves that are not barred are above this.
const OPEN: u32 = 1 << 15;

/// The frequencies of scores that are 0 to 7 below the best one. Eight more halve a frequency.
const FREQUENCIES: [u32; 8] = [4096, 3756, 3444, 3158, 2896, 2656, 2435, 2233];

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
            let open = if barred.contains(m) { 0 } else { OPEN };
            (open + (BOUND + score) as u32) << 16 | u32::from(u16::MAX - tie(*m, turn))
        };
        MoveOrder(moves.iter().map(|m| (key(m), *m)).collect())
    }

    /// Orders the legal moves of a position by itself.
    pub(crate) fn of(position: &Chess) -> MoveOrder {
        MoveOrder::new(position, &LinePrefix::default(), &History::default(), &[])
    }

    /// Returns the rank of a move; `None` if it is illegal.
    #[cfg(feature = "write")]
    pub(crate) fn rank(&self, m: Move) -> Option<usize> {
        Some(self.before(m)?.1.count())
    }

    /// Returns the key of a move and the greater keys; `None` if it is illegal.
    #[cfg(any(feature = "write", test))]
    fn before(&self, m: Move) -> Option<(u32, impl Iterator<Item = u32> + '_)> {
        let (key, _) = *self.0.iter().find(|(_, legal)| *legal == m)?;
        let keys = self.0.iter().map(|(key, _)| *key);
        Some((key, keys.filter(move |other| *other > key)))
    }

    /// Returns the number of legal moves.
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// Returns the move of a rank, or the number of legal moves if the rank is beyond them.
    pub(crate) fn pick(&self, rank: u32) -> Result<Move, usize> {
        let (m, ..) = self.at(rank, |_| 1).ok_or(self.len())?;
        Ok(m)
    }

    /// Gives each move as many numbers as `size` says for its key, best move first. Returns the move of a number, its
    /// first number, and how many it has.
    fn at(&self, number: u32, size: impl Fn(u32) -> u32) -> Option<(Move, u32, u32)> {
        // Keys are distinct and ranks are low: select the greatest key, then the next one, and so on.
        let (mut last, mut start) = (u32::MAX, 0);
        loop {
            let lower = self.0.iter().filter(|(key, _)| *key < last);
            let (key, m) = *lower.max_by_key(|(key, _)| *key)?;
            let size = size(key);
            if number - start < size {
                return Some((m, start, size));
            }
            start += size;
            last = key;
        }
    }

    /// Returns the frequency of a key, and the sum of the frequencies of all moves.
    fn frequencies(&self) -> (impl Fn(u32) -> u32 + use<>, u32) {
        let keys = || self.0.iter().map(|(key, _)| *key >> 16);
        let best = keys().max().unwrap_or_default();
        let frequency = move |score: u32| {
            let below = best - score;
            let halved = FREQUENCIES[below as usize % 8].checked_shr(below / 8);
            match score {
                ..OPEN => 0,
                _ => halved.unwrap_or_default().max(1),
            }
        };
        let total = keys().map(frequency).sum();
        (move |key: u32| frequency(key >> 16), total)
    }

    /// Reads a move that is not barred; `None` if the stream has none here.
    pub(super) fn read(&self, stream: &mut RangeReader<'_>) -> Option<Move> {
        let (frequency, total) = self.frequencies();
        let (m, start, size) = self.at(stream.point(total)?, frequency)?;
        stream.accept(start, size, total);
        Some(m)
    }

    /// Writes a move; `None` if it is illegal or barred.
    #[cfg(any(feature = "write", test))]
    pub(super) fn write(&self, m: Move, stream: &mut RangeWriter) -> Option<()> {
        let (frequency, total) = self.frequencies();
        let (key, before) = self.before(m)?;
        let size = Some(frequency(key)).filter(|size| *size > 0)?;
        stream.push(before.map(frequency).sum(), size, total);
        Some(())
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
