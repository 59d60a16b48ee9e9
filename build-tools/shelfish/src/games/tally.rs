//! The payload of a position of a book: its moves with their results and details.
//!
//! A payload is a sequence of entries, one for each move and bucket: the code of the move, White's wins, draws and Black's wins,
//! the bucket, the ratings and the references to games. Two special codes count the games that end at the position and mark a
//! position that is always kept. Only builds read this format.

use shelfish::leb128;
use shelfish::played::{Bucket, Details, GameRef, Played, Ratings, Results};

use super::details::Wanted;
use crate::build::spool::{SpoolError, move_code, take_number};

/// The code of games that end here. No move goes from a1 to a1.
pub const END: [u8; 2] = [0, 0];

/// Code of a position that is kept for any number of games: a promotion from a1 to a1.
pub const KEPT: [u8; 2] = [1 << 6, 0];

/// The games of a move in a bucket.
#[derive(Clone, Debug, Default)]
pub struct Entry {
    /// The code of the move.
    pub code: [u8; 2],
    /// Number of the bucket.
    pub bucket: usize,
    /// Results of the games.
    pub results: Results,
    /// Ratings of the games, if the book contains them.
    pub ratings: Ratings,
    /// References to games, if the book contains them.
    pub games: Vec<GameRef>,
}

impl Entry {
    /// Appends the entry to a payload.
    pub fn push(&self, payload: &mut Vec<u8>) {
        payload.extend_from_slice(&self.code);
        for number in [
            self.results.white,
            self.results.draws,
            self.results.black,
            self.bucket as u64,
            self.ratings.games,
            self.ratings.sum,
            self.games.len() as u64,
        ] {
            leb128::push(payload, number);
        }
        for game in &self.games {
            payload.extend_from_slice(&game.to_bits().to_le_bytes());
        }
    }

    fn take(payload: &mut &[u8]) -> Result<Entry, SpoolError> {
        let (code, rest) = payload.split_first_chunk().ok_or(SpoolError::Short)?;
        *payload = rest;
        let mut number = || take_number(payload);
        let results = Results {
            white: number()?,
            draws: number()?,
            black: number()?,
        };
        let bucket = number()? as usize;
        let ratings = Ratings {
            games: number()?,
            sum: number()?,
        };
        let mut games = Vec::new();
        for _ in 0..number()? {
            let (bits, rest) = payload.split_first_chunk().ok_or(SpoolError::Short)?;
            *payload = rest;
            games.extend(GameRef::from_bits(u64::from_le_bytes(*bits)));
        }
        Ok(Entry {
            code: *code,
            bucket,
            results,
            ratings,
            games,
        })
    }
}

fn add(a: Results, b: Results) -> Results {
    // Writing a record fails if it has too many games.
    Results {
        white: a.white.saturating_add(b.white),
        draws: a.draws.saturating_add(b.draws),
        black: a.black.saturating_add(b.black),
    }
}

/// Adds up the entries of concatenated payloads by move and bucket.
pub fn merge(mut payloads: &[u8], wanted: &Wanted) -> Result<Vec<u8>, SpoolError> {
    let mut sums: Vec<Entry> = Vec::new();
    while !payloads.is_empty() {
        let entry = Entry::take(&mut payloads)?;
        let same = |sum: &&mut Entry| (sum.code, sum.bucket) == (entry.code, entry.bucket);
        let Some(sum) = sums.iter_mut().find(same) else {
            sums.push(entry);
            continue;
        };
        sum.results = add(sum.results, entry.results);
        sum.ratings = sum.ratings.and(entry.ratings);
        sum.games.extend(entry.games);
        if sum.games.len() > 4 * Details::MAX_REFERENCES {
            GameRef::settle(&mut sum.games, wanted.game_ids.into());
        }
    }
    sums.sort_unstable_by_key(|sum| (sum.code, sum.bucket));
    let mut merged = Vec::new();
    for mut sum in sums {
        GameRef::settle(&mut sum.games, wanted.game_ids.into());
        sum.push(&mut merged);
    }
    Ok(merged)
}

/// The games of a move.
pub struct MoveSum {
    /// The code of the move.
    pub code: [u8; 2],
    /// Results of its games.
    pub results: Results,
    /// Details of its games.
    pub details: Details,
}

/// Returns the games of each move of a payload. The entries of a move are adjacent.
pub fn moves(mut payload: &[u8], wanted: &Wanted) -> Result<Vec<MoveSum>, SpoolError> {
    let mut moves: Vec<MoveSum> = Vec::new();
    while !payload.is_empty() {
        let entry = Entry::take(&mut payload)?;
        if entry.code == KEPT {
            continue;
        }
        if moves.last().is_none_or(|last| last.code != entry.code) {
            moves.push(MoveSum {
                code: entry.code,
                results: Results::default(),
                details: wanted.no_games(),
            });
        }
        if let Some(MoveSum {
            results, details, ..
        }) = moves.last_mut()
        {
            *results = add(*results, entry.results);
            if let Some(bucket) = details.buckets.get_mut(entry.bucket) {
                (bucket.results, bucket.ratings) = (entry.results, entry.ratings);
            }
            details.games.extend(entry.games);
            GameRef::settle(&mut details.games, wanted.game_ids.into());
        }
    }
    Ok(moves)
}

/// Returns the weight of the record that a payload becomes, or `None` if fewer than `min_games` games reached the position.
pub fn weight(
    payload: &[u8],
    wanted: &Wanted,
    min_games: u64,
) -> Result<Option<usize>, SpoolError> {
    let (mut count, mut games, mut is_kept) = (0, 0u64, false);
    let mut rest = payload;
    while !rest.is_empty() {
        let Entry { code, results, .. } = Entry::take(&mut rest)?;
        is_kept |= code == KEPT;
        count += usize::from(code != END && code != KEPT);
        games = games.saturating_add(results.games());
    }
    let mut references = 0;
    if *wanted != Wanted::default() {
        let moves = moves(payload, wanted)?;
        count = moves.iter().filter(|sum| sum.code != END).count();
        references = moves.iter().map(|sum| sum.details.games.len()).sum();
    }
    let weight = || Played::weight(count, wanted.buckets(), references);
    Ok((is_kept || games >= min_games).then(weight))
}

/// Encodes a record as a payload.
pub fn payload(played: &Played) -> Vec<u8> {
    let mut payload = Vec::new();
    let mut push = |code, results: Results, details: &Details| {
        let mut games = details.games.clone();
        let whole = [Bucket {
            results,
            ratings: Ratings::default(),
        }];
        let buckets = match &details.buckets[..] {
            [] => &whole,
            buckets => buckets,
        };
        for (bucket, &Bucket { results, ratings }) in buckets.iter().enumerate() {
            if results != Results::default() {
                let games = std::mem::take(&mut games);
                Entry {
                    code,
                    bucket,
                    results,
                    ratings,
                    games,
                }
                .push(&mut payload);
            }
        }
    };
    push(END, played.ended, &played.ended_details);
    for played in &played.moves {
        push(move_code(played.m), played.results, &played.details);
    }
    payload
}
