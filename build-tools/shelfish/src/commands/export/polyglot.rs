//! Export of a book in the format of Polyglot.

use std::cmp::Reverse;
use std::fmt;
use std::io::Write;

use indicatif::HumanCount;
use shakmaty::Position as _;
use shelfish::played::Played;
use shelfish::polyglot::{Entry, code, keys};

use super::{Args, BoxError, blocks};
use crate::database::{self, Kind};

/// Meaning of the weights of moves.
#[derive(clap::ValueEnum, Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Weights {
    /// Number of games
    #[default]
    Frequency,
    /// Two for each win of the side to move, one for each draw, as Polyglot computes weights
    Score,
}

/// Reasons why a database does not become a Polyglot book.
#[derive(Debug)]
enum PolyglotError {
    /// The database contains evaluations.
    Evaluations,
    /// No move was played often enough.
    NoMoves {
        /// Minimum number of games of a move.
        min_games: u64,
    },
}

impl fmt::Display for PolyglotError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PolyglotError::Evaluations => f.write_str(
                "the database contains evaluations; --format polyglot needs a book, which `shelfish book build` makes of \
                 games",
            ),
            PolyglotError::NoMoves { min_games } => {
                write!(f, "nothing to write: no move was played in {min_games} games; decrease --min-games")
            }
        }
    }
}

impl std::error::Error for PolyglotError {}

/// Hashes of a position, with its moves.
struct Position {
    keys: Vec<u64>,
    moves: Vec<MoveCounts>,
}

/// Move with the numbers from which weights are computed.
struct MoveCounts {
    code: u16,
    games: u64,
    score: u64,
}

/// Writes the moves that at least `min_games` games played. The entries are sorted in memory.
pub fn write(
    args: &Args,
    weights: Weights,
    min_games: u64,
    out: &mut impl Write,
) -> Result<(), BoxError> {
    if database::kind(&args.database.source()?)? == Kind::Evaluations {
        return Err(PolyglotError::Evaluations.into());
    }
    let (mut entries, mut positions, mut left_out) = (Vec::new(), 0u64, 0u64);
    for block in blocks(args, |records: &[Played]| {
        records.iter().map(move_counts).collect::<Vec<Position>>()
    })? {
        for Position { keys, mut moves } in block? {
            let all = moves.len();
            moves.retain(|counted| counted.games >= min_games);
            left_out += (all - moves.len()) as u64;
            positions += u64::from(!moves.is_empty());
            let value = |counted: &MoveCounts| match weights {
                Weights::Frequency => counted.games,
                Weights::Score => counted.score,
            };
            let most = moves.iter().map(value).max().unwrap_or(0);
            for key in keys {
                let entry = |counted: &MoveCounts| {
                    let weight = scaled(value(counted), most);
                    Entry {
                        key,
                        code: counted.code,
                        weight,
                        learn: 0,
                    }
                };
                entries.extend(moves.iter().map(entry));
            }
        }
    }
    if entries.is_empty() {
        return Err(PolyglotError::NoMoves { min_games }.into());
    }
    entries.sort_unstable_by_key(|entry| (entry.key, Reverse(entry.weight), entry.code));
    for entry in &entries {
        out.write_all(&entry.to_bytes())?;
    }
    let count = |n| HumanCount(n);
    eprintln!(
        "{} entries of {} positions",
        count(entries.len() as u64),
        count(positions)
    );
    if left_out > 0 {
        eprintln!(
            "moves of fewer than {min_games} games left out: {}",
            count(left_out)
        );
    }
    Ok(())
}

fn move_counts(played: &Played) -> Position {
    let turn = played.position.chess().turn();
    let moves = played.moves.iter().map(|played| {
        let results = played.results;
        let score = turn
            .fold_wb(results.white, results.black)
            .saturating_mul(2)
            .saturating_add(results.draws);
        MoveCounts {
            code: code(played.m),
            games: results.games(),
            score,
        }
    });
    Position {
        keys: keys(&played.position),
        moves: moves.collect(),
    }
}

/// Scales a weight to 16 bits if `most`, the largest weight of the position, does not fit. A positive weight stays
/// positive.
fn scaled(value: u64, most: u64) -> u16 {
    let full = u64::from(u16::MAX);
    if most <= full {
        return value as u16;
    }
    let scaled = (u128::from(value) * u128::from(full) / u128::from(most)) as u16;
    scaled.max(u16::from(value > 0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_are_scaled_to_16_bits_and_stay_positive() {
        for (value, most, weight) in [
            (0, 0, 0),
            (7, 65_535, 7),
            (65_535, 65_535, 65_535),
            (65_536, 65_536, 65_535),
            (1, 10_000_000, 1),
            (0, 10_000_000, 0),
            (5_000_000, 10_000_000, 32_767),
            (u64::MAX, u64::MAX, 65_535),
        ] {
            assert_eq!(scaled(value, most), weight, "{value} of {most}");
        }
    }
}
