//! Played moves of a position.

use core::cmp::Reverse;

use shakmaty::Move;

use super::game_ref::{GameId, GameRef};
use super::results::{Bucket, Ratings, Results};
use crate::position::Position;

/// Details of games besides their results.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Details {
    /// The games by bucket; empty if the book has one bucket and no ratings.
    pub buckets: Vec<Bucket>,
    /// Some of the games, the greatest references first; none if the book has no references.
    pub games: Vec<GameRef>,
}

impl Details {
    /// The most references to games that a move may have.
    pub const MAX_REFERENCES: usize = 16;

    /// Returns the ratings of all games.
    pub fn ratings(&self) -> Ratings {
        self.buckets
            .iter()
            .fold(Ratings::default(), |sum, bucket| sum.and(bucket.ratings))
    }
}

/// A move that was played.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct PlayedMove {
    /// The move, legal.
    pub m: Move,
    /// The results of the games that played it. Never zero.
    pub results: Results,
    /// Details of these games.
    pub details: Details,
}

impl PlayedMove {
    /// Returns the only game that played the move, if the game is on Lichess.
    pub fn only_game(&self) -> Option<GameRef> {
        let game = self
            .details
            .games
            .first()
            .copied()
            .filter(|_| self.results.games() == 1)?;
        matches!(game.id(), GameId::Lichess(_)).then_some(game)
    }
}

/// The record of one position: the moves played from it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Played {
    /// The position, canonical.
    pub position: Position,
    /// The results of the games whose moves end here.
    pub ended: Results,
    /// Details of the games that end here.
    pub ended_details: Details,
    /// The moves, most played first. Ties are ordered by origin, target (the rook's square for castling) and promotion.
    pub moves: Vec<PlayedMove>,
}

impl Played {
    /// Maximum number of games of [`Played::top_games`].
    pub const MAX_TOP_GAMES: usize = 15;

    /// Returns the results of all games that reached the position; `None` if there are more than
    /// [`Results::MAX_GAMES`].
    pub fn results(&self) -> Option<Results> {
        self.moves
            .iter()
            .try_fold(self.ended, |sum, played| sum.checked_add(played.results))
    }

    /// Returns the games on Lichess with the highest ratings, with their moves: at most [`Played::MAX_TOP_GAMES`].
    pub fn top_games(&self) -> Vec<(Move, GameRef)> {
        let is_lichess = |game: &GameRef| matches!(game.id(), GameId::Lichess(_));
        let mut top: Vec<(Move, GameRef)> = Vec::new();
        for played in &self.moves {
            for game in played.details.games.iter().copied().filter(is_lichess) {
                let mut place = top.len();
                top.push((played.m, game));
                while place > 0 && top[place - 1].1 < game {
                    top.swap(place - 1, place);
                    place -= 1;
                }
                top.truncate(Played::MAX_TOP_GAMES);
            }
        }
        top
    }

    /// Returns the games of the position by bucket; empty if the book has one bucket and no ratings.
    pub fn buckets(&self) -> Vec<Bucket> {
        let mut sums = self.ended_details.buckets.clone();
        for played in &self.moves {
            for (sum, bucket) in sums.iter_mut().zip(&played.details.buckets) {
                *sum = sum.checked_add(*bucket).unwrap_or(*sum);
            }
        }
        sums
    }

    /// Returns the record without the games of the other buckets. References have no bucket, so the remaining moves
    /// keep all their references.
    #[must_use]
    pub fn of_buckets(&self, is_chosen: impl Fn(usize) -> bool) -> Played {
        let left = |details: &Details| {
            let keep = |(n, bucket): (usize, &Bucket)| {
                if is_chosen(n) {
                    *bucket
                } else {
                    Bucket::default()
                }
            };
            let buckets: Vec<Bucket> = details.buckets.iter().enumerate().map(keep).collect();
            let sum = buckets.iter().fold(Results::default(), |sum, bucket| {
                sum.checked_add(bucket.results).unwrap_or(sum)
            });
            (
                sum,
                Details {
                    buckets,
                    games: details.games.clone(),
                },
            )
        };
        let (ended, ended_details) = left(&self.ended_details);
        let moves = self.moves.iter().map(|played| {
            let (results, details) = left(&played.details);
            PlayedMove {
                m: played.m,
                results,
                details,
            }
        });
        let mut moves: Vec<PlayedMove> =
            moves.filter(|played| played.results.games() > 0).collect();
        Played::sort(&mut moves);
        Played {
            position: self.position.clone(),
            ended,
            ended_details,
            moves,
        }
    }

    /// Returns the weight of a record for cutting a table into blocks: approximately its compressed size in bits.
    /// `buckets` is the number of buckets, `references` the number of references of all moves and ended games.
    pub fn weight(moves: usize, buckets: usize, references: usize) -> usize {
        let each = if buckets > 0 { 20 } else { 8 };
        26 + each * moves.saturating_sub(1) + 40 * references.saturating_sub(moves.max(1))
    }

    /// Sorts moves into the order of [`Played::moves`].
    pub fn sort(moves: &mut [PlayedMove]) {
        let place = |played: &PlayedMove| {
            let m = played.m;
            let promotion = m.promotion().map_or(0, |role| role as u8);
            (
                Reverse(played.results.games()),
                m.from().map_or(64, |from| from as u8),
                m.to() as u8,
                promotion,
            )
        };
        // By insertion: there are few, and nearly in order. The sorts of the standard library are 5 % of a module's code.
        for n in 1..moves.len() {
            let mut at = n;
            while at > 0 && place(&moves[at]) < place(&moves[at - 1]) {
                moves.swap(at, at - 1);
                at -= 1;
            }
        }
    }
}
