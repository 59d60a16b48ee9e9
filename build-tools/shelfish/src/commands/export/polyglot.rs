//! Export of a book in the format of Polyglot.

use std::cmp::Reverse;
use std::io::Write;

use indicatif::HumanCount;
use shelfish::played::Played;
use shelfish::polyglot::{Entry, code, keys};

use super::{Args, BoxError, blocks};
use crate::database::{self, Kind};
use crate::terminal::shown::counted;

/// Writes the moves that at least `min_games` games played. The entries are sorted in memory.
pub fn write(args: &Args, min_games: u64, out: &mut impl Write) -> Result<(), BoxError> {
    if database::kind(&args.database.source()?)? == Kind::Evaluations {
        return Err(
            "the database contains evaluations; --format polyglot needs a book, which `shelfish book build` makes of games".into(),
        );
    }
    let (mut entries, mut positions, mut left_out) = (Vec::new(), 0u64, 0u64);
    let counts = |played: &Played| {
        let moves = played.moves.iter();
        let moves = moves.map(|played| (code(played.m), played.results.games()));
        (keys(&played.position), moves.collect::<Vec<_>>())
    };
    for block in blocks(args, move |records: &[Played]| {
        records.iter().map(counts).collect::<Vec<_>>()
    })? {
        for (keys, mut moves) in block? {
            let all = moves.len();
            moves.retain(|(_, games)| *games >= min_games);
            left_out += (all - moves.len()) as u64;
            positions += u64::from(!moves.is_empty());
            let most = moves.iter().map(|(_, games)| *games).max().unwrap_or(0);
            for key in keys {
                entries.extend(moves.iter().map(|(code, games)| Entry {
                    key,
                    code: *code,
                    weight: scaled(*games, most),
                    learn: 0,
                }));
            }
        }
    }
    if entries.is_empty() {
        return Err(format!(
            "nothing to write: no move was played in {min_games} games; decrease --min-games"
        )
        .into());
    }
    entries.sort_unstable_by_key(|entry| (entry.key, Reverse(entry.weight), entry.code));
    for entry in &entries {
        out.write_all(&entry.to_bytes())?;
    }
    let (moves, positions) = (
        counted(entries.len() as u64, "move"),
        counted(positions, "position"),
    );
    eprintln!("{moves} of {positions}");
    let left = HumanCount(left_out);
    if left_out > 0 {
        eprintln!("moves of fewer than {min_games} games left out: {left}");
    }
    Ok(())
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
