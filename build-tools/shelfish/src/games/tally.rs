//! Played moves as a kind of record, whose results are added up.
//!
//! A payload is a sequence of codes of moves, each with White's wins, draws and Black's wins. Two special codes count
//! the games that end at the position and mark a position that is always kept. If a bit of the code is set, the move
//! has an entry for each bucket of its games, with ratings and references. Only builds read this format.

use shakmaty::Position as _;
use shelfish::leb128;
use shelfish::played::{Bucket, Details, GameRef, Played, PlayedMove, Ratings, Results};
use shelfish::position::Key;

use super::details::{GameDetails, Wanted};
use crate::build::kind::Kind;
use crate::build::sort::Merging;
use crate::build::spool::{SpoolError, move_code, move_of};

/// The code of games that end here. No move goes from a1 to a1.
pub const END: [u8; 2] = [0, 0];

/// Code of a position that is kept for any number of games: a promotion from a1 to a1.
const KEPT: [u8; 2] = [1 << 6, 0];

/// A bit in the second byte of the code of a move with details.
const DETAILED: u8 = 1 << 7;

/// The kind of a build of played moves.
#[derive(Clone, Debug)]
pub struct PlayedMoves {
    /// Minimum number of games of a position.
    pub min_games: u64,
    /// Details in addition to results.
    pub wanted: Wanted,
}

/// The games of a move in a bucket.
#[derive(Clone, Debug, Default)]
struct Entry {
    code: [u8; 2],
    results: Results,
    /// The details, if the book contains them.
    details: Option<Box<EntryDetails>>,
}

#[derive(Clone, Debug, Default)]
struct EntryDetails {
    bucket: usize,
    /// Number of buckets of the book.
    buckets: usize,
    ratings: Ratings,
    /// Maximum number of references of a move.
    most: usize,
    games: Vec<GameRef>,
}

impl Entry {
    fn bucket(&self) -> usize {
        self.details.as_ref().map_or(0, |details| details.bucket)
    }

    fn add(&mut self, other: Entry) {
        // Writing a record fails if it has too many games.
        self.results = add(self.results, other.results);
        if let (Some(details), Some(other)) = (&mut self.details, other.details) {
            details.ratings = details.ratings.and(other.ratings);
            details.games.extend(other.games);
            if details.games.len() > 4 * Details::MAX_REFERENCES {
                GameRef::settle(&mut details.games, details.most);
            }
        }
    }

    fn push(&self, payload: &mut Vec<u8>) {
        let Some(details) = &self.details else {
            return push(payload, self.code, self.results);
        };
        let EntryDetails {
            bucket,
            buckets,
            ratings,
            most,
            games,
        } = &**details;
        push(
            payload,
            [self.code[0], self.code[1] | DETAILED],
            self.results,
        );
        for number in [
            *bucket as u64,
            *buckets as u64,
            ratings.games,
            ratings.sum,
            *most as u64,
            games.len() as u64,
        ] {
            leb128::push(payload, number);
        }
        games
            .iter()
            .for_each(|game| payload.extend_from_slice(&game.to_bits().to_le_bytes()));
    }

    fn take(payload: &mut &[u8]) -> Result<Entry, SpoolError> {
        let (&[low, high], rest) = payload.split_first_chunk().ok_or(SpoolError::Short)?;
        *payload = rest;
        let mut number = || leb128::take(payload).ok_or(SpoolError::Short);
        let results = Results {
            white: number()?,
            draws: number()?,
            black: number()?,
        };
        if high & DETAILED == 0 {
            return Ok(Entry {
                code: [low, high],
                results,
                details: None,
            });
        }
        let (bucket, buckets) = (number()? as usize, number()? as usize);
        let ratings = Ratings {
            games: number()?,
            sum: number()?,
        };
        let (most, count) = (number()? as usize, number()? as usize);
        let mut games = Vec::new();
        for _ in 0..count {
            let (bits, rest) = payload.split_first_chunk().ok_or(SpoolError::Short)?;
            *payload = rest;
            games.extend(GameRef::from_bits(u64::from_le_bytes(*bits)));
        }
        let details = EntryDetails {
            bucket,
            buckets,
            ratings,
            most,
            games,
        };
        Ok(Entry {
            code: [low, high & !DETAILED],
            results,
            details: Some(Box::new(details)),
        })
    }
}

/// Results by move and bucket.
#[derive(Debug, Default)]
pub struct Tally(Vec<Entry>);

fn add(a: Results, b: Results) -> Results {
    Results {
        white: a.white.saturating_add(b.white),
        draws: a.draws.saturating_add(b.draws),
        black: a.black.saturating_add(b.black),
    }
}

impl Merging for Tally {
    // Many positions of games have the same pawns and queens.
    type Start = [u32; 5];

    fn push(&mut self, mut payload: &[u8]) -> Result<(), SpoolError> {
        while !payload.is_empty() {
            let entry = Entry::take(&mut payload)?;
            let is_same =
                |other: &&mut Entry| other.code == entry.code && other.bucket() == entry.bucket();
            match self.0.iter_mut().find(is_same) {
                Some(sum) => sum.add(entry),
                None => self.0.push(entry),
            }
        }
        Ok(())
    }

    fn finish(mut self) -> Result<Vec<u8>, SpoolError> {
        self.0
            .sort_unstable_by_key(|entry| (entry.code, entry.bucket()));
        let mut payload = Vec::new();
        for mut entry in self.0 {
            if let Some(details) = &mut entry.details {
                GameRef::settle(&mut details.games, details.most);
            }
            entry.push(&mut payload);
        }
        Ok(payload)
    }
}

/// Appends a move and its results.
pub fn push(payload: &mut Vec<u8>, code: [u8; 2], results: Results) {
    payload.extend_from_slice(&code);
    for count in [results.white, results.draws, results.black] {
        leb128::push(payload, count);
    }
}

/// Appends the mark of a position that is kept for any number of games.
pub fn push_kept(payload: &mut Vec<u8>) {
    push(payload, KEPT, Results::default());
}

/// Appends a move of one game, with details of the game.
pub fn push_detailed(
    payload: &mut Vec<u8>,
    code: [u8; 2],
    results: Results,
    game: GameDetails,
    wanted: &Wanted,
) {
    let ratings = Ratings {
        games: game.rating.map_or(0, |_| 1),
        sum: game.rating.unwrap_or(0),
    };
    let details = EntryDetails {
        bucket: game.bucket,
        buckets: wanted.buckets(),
        ratings,
        most: wanted.game_ids.into(),
        games: game.reference.into_iter().collect(),
    };
    Entry {
        code,
        results,
        details: Some(Box::new(details)),
    }
    .push(payload);
}

/// Returns the games of each move of a payload. The entries of a move are adjacent.
fn moves(mut payload: &[u8]) -> Result<Vec<([u8; 2], Results, Details)>, SpoolError> {
    let mut moves: Vec<([u8; 2], Results, Details)> = Vec::new();
    while !payload.is_empty() {
        let Entry {
            code,
            results,
            details,
        } = Entry::take(&mut payload)?;
        if code == KEPT {
            continue;
        }
        if moves.last().is_none_or(|(last, ..)| *last != code) {
            moves.push((code, Results::default(), Details::default()));
        }
        let Some((_, sum, sums)) = moves.last_mut() else {
            continue;
        };
        *sum = add(*sum, results);
        if let Some(details) = details {
            let EntryDetails {
                bucket,
                buckets,
                ratings,
                most,
                games,
            } = *details;
            sums.buckets.resize(buckets, Bucket::default());
            if let Some(sum) = sums.buckets.get_mut(bucket) {
                *sum = Bucket { results, ratings };
            }
            sums.games.extend(games);
            GameRef::settle(&mut sums.games, most);
        }
    }
    Ok(moves)
}

impl Kind for PlayedMoves {
    type Record = Played;
    type Merging = Tally;
    type Surplus = ();
    const BLOCK_WEIGHT: usize = Played::BLOCK_WEIGHT;

    fn keeps_bases(&self) -> bool {
        self.min_games <= 1
    }

    fn payload(&self, played: &Played) -> Vec<u8> {
        let mut payload = Vec::new();
        let mut push_all = |code, results: Results, details: &Details| {
            if *details == Details::default() {
                return push(&mut payload, code, results);
            }
            let mut games = details.games.clone();
            let whole = [Bucket {
                results,
                ratings: Ratings::default(),
            }];
            let buckets = if details.buckets.is_empty() {
                &whole
            } else {
                &details.buckets[..]
            };
            for (bucket, &Bucket { results, ratings }) in buckets.iter().enumerate() {
                if results != Results::default() {
                    let (buckets, most) = (details.buckets.len(), self.wanted.game_ids.into());
                    let games = std::mem::take(&mut games);
                    let details = EntryDetails {
                        bucket,
                        buckets,
                        ratings,
                        most,
                        games,
                    };
                    Entry {
                        code,
                        results,
                        details: Some(Box::new(details)),
                    }
                    .push(&mut payload);
                }
            }
        };
        if played.ended != Results::default() {
            push_all(END, played.ended, &played.ended_details);
        }
        played
            .moves
            .iter()
            .for_each(|played| push_all(move_code(played.m), played.results, &played.details));
        payload
    }

    fn weight(&self, payload: &[u8]) -> Result<Option<usize>, SpoolError> {
        let (mut count, mut games, mut references, mut is_kept) = (0, 0u64, 0, false);
        let mut rest = payload;
        while !rest.is_empty() {
            // Most positions have one move, which needs no allocation.
            let Entry {
                code,
                results,
                details,
            } = Entry::take(&mut rest)?;
            is_kept |= code == KEPT;
            count += usize::from(code != END && code != KEPT);
            games = games.saturating_add(results.games());
            references += usize::from(details.is_some());
        }
        if references > 0 {
            let moves = moves(payload)?;
            count = moves.iter().filter(|(code, ..)| *code != END).count();
            references = moves.iter().map(|(.., details)| details.games.len()).sum();
        }
        Ok((is_kept || games >= self.min_games)
            .then(|| Played::weight(count, self.wanted.buckets(), references)))
    }

    fn decode(
        &self,
        key: &[u8],
        payload: &[u8],
        (): &mut (),
        _: &mut String,
    ) -> Result<Played, SpoolError> {
        let position = Key::decode(key).map_err(SpoolError::Key)?;
        let moves = moves(payload)?;
        let buckets = moves
            .iter()
            .map(|(.., details)| details.buckets.len())
            .max()
            .unwrap_or(0);
        let none = Details {
            buckets: vec![Bucket::default(); buckets],
            games: Vec::new(),
        };
        let mut played = Played {
            position,
            ended: Results::default(),
            ended_details: none,
            moves: Vec::new(),
        };
        for (code, results, details) in moves {
            if code == END {
                (played.ended, played.ended_details) = (results, details);
            } else {
                let m =
                    move_of(code, played.position.chess().board()).ok_or(SpoolError::Move(code))?;
                played.moves.push(PlayedMove {
                    m,
                    results,
                    details,
                });
            }
        }
        Played::sort(&mut played.moves);
        Ok(played)
    }
}
