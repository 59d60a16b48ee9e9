//! The moves that were played from one position, which a lookup in a book returns.
//!
//! Results are counted by who won, whoever moves. A position counts once a game, with the last move that the game played
//! from it.

mod codec;
#[cfg(all(test, feature = "write"))]
mod tests;

use core::cmp::Reverse;

use shakmaty::Move;

use crate::position::Position;

/// How games ended.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Results {
    /// Games that White won.
    pub white: u64,
    /// Games that nobody won.
    pub draws: u64,
    /// Games that Black won.
    pub black: u64,
}

impl Results {
    /// The most games of a position: what a floating-point number counts exactly.
    pub const MAX_GAMES: u64 = (1 << 53) - 1;

    /// All games; as many as fit into 64 bits.
    pub fn games(&self) -> u64 {
        self.white.saturating_add(self.draws).saturating_add(self.black)
    }

    /// The sum of both; `None` beyond [`Results::MAX_GAMES`].
    pub fn checked_add(self, other: Results) -> Option<Results> {
        let games = self.games().saturating_add(other.games());
        (games <= Results::MAX_GAMES).then(|| Results {
            white: self.white + other.white,
            draws: self.draws + other.draws,
            black: self.black + other.black,
        })
    }

    fn checked_sub(self, other: Results) -> Option<Results> {
        Some(Results {
            white: self.white.checked_sub(other.white)?,
            draws: self.draws.checked_sub(other.draws)?,
            black: self.black.checked_sub(other.black)?,
        })
    }
}

/// A move that was played.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub struct PlayedMove {
    /// The move, legal.
    pub m: Move,
    /// The results of the games that played it. Never zero.
    pub results: Results,
}

/// The record of one position: what was played from it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Played {
    /// The position, canonical.
    pub position: Position,
    /// The results of the games whose moves end here.
    pub ended: Results,
    /// The moves, most played first; of those played equally often by origin, target (the rook's square when castling) and
    /// promotion.
    pub moves: Vec<PlayedMove>,
}

impl Played {
    /// The weight of a block at which lookups of single positions and of whole games are cheapest together.
    pub const BLOCK_WEIGHT: usize = 4_000 * 8;

    /// The results of all games that reached the position; `None` if there are more than [`Results::MAX_GAMES`].
    pub fn results(&self) -> Option<Results> {
        self.moves.iter().try_fold(self.ended, |sum, played| sum.checked_add(played.results))
    }

    /// The weight of a record when a table is cut into blocks: about its compressed size in bits.
    pub fn weight(moves: usize) -> usize {
        26 + 8 * moves.saturating_sub(1)
    }

    /// Sorts moves into the order of [`Played::moves`].
    pub fn sort(moves: &mut [PlayedMove]) {
        moves.sort_unstable_by_key(|played| {
            let m = played.m;
            let promotion = m.promotion().map_or(0, |role| role as u8);
            (Reverse(played.results.games()), m.from().map_or(64, |from| from as u8), m.to() as u8, promotion)
        });
    }
}
