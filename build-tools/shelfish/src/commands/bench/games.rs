//! Positions of games from a PGN file, plain or compressed.
//!
//! The sample contains the games with the numbers `skip`, `skip + every`, `skip + 2 * every` and so on, counted from 0.
//! Unusable games are skipped and counted: games of variants other than chess and Chess960, games without moves and
//! games with an illegal move. Variations are ignored.

use std::io;
use std::path::PathBuf;

use serde::Serialize;
use shelfish::position::Position;
use shelfish_analysis::pgn;

use crate::input::game_texts::{GameText, GameTexts, decoded};
use crate::input::{Dump, Input};
use crate::system::named_error::named;

/// Options for games.
#[derive(clap::Args, Debug)]
#[group(id = "games_args")]
pub struct Args {
    /// PGN file with games to replay, plain or compressed with zstd, gzip or bzip2
    #[arg(long, value_name = "FILE")]
    pub games: PathBuf,
    /// Options for the sample.
    #[command(flatten)]
    pub sample: Sample,
}

/// Options for a sample of the games of a file.
#[derive(clap::Args, Clone, Debug)]
pub struct Sample {
    /// Use at most N games
    #[arg(long, value_name = "N", default_value_t = 500, value_parser = clap::value_parser!(u32).range(1..))]
    limit: u32,
    /// Use every K-th game; the sample is the same each time
    #[arg(long, value_name = "K", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    every: u32,
    /// Skip the first N games
    #[arg(long, value_name = "N", default_value_t = 0)]
    skip: u64,
}

/// Sample of games.
#[derive(Debug, Default, Serialize)]
pub struct Games {
    /// Positions of each game in order, including the first and the last. No game is empty.
    #[serde(skip)]
    pub games: Vec<Vec<Position>>,
    /// Number of games.
    pub count: usize,
    /// Number of positions of all games.
    pub positions: usize,
    /// Number of selected games that cannot be replayed.
    pub unusable: usize,
}

impl std::fmt::Display for Games {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mean = self.positions as f64 / self.count.max(1) as f64;
        write!(f, "{} games of {mean:.1} positions on average", self.count)?;
        if self.unusable > 0 {
            write!(f, " ({} skipped)", self.unusable)
        } else {
            Ok(())
        }
    }
}

impl Args {
    /// Reads the games.
    pub fn read(&self) -> io::Result<Games> {
        let name = self.games.display();
        let named = named(&name);
        let text = Dump::text_of(&Input::from(self.games.as_path()));
        let games = text
            .and_then(|text| self.sample.read(text))
            .map_err(named)?;
        if games.count == 0 {
            let why = format!("no game can be replayed ({} games cannot)", games.unusable);
            return Err(named(io::Error::new(io::ErrorKind::InvalidData, why)));
        }
        Ok(games)
    }
}

impl Games {
    /// Wraps games that were already read.
    pub fn of(games: Vec<Vec<Position>>) -> Games {
        let positions = games.iter().map(Vec::len).sum();
        Games {
            count: games.len(),
            positions,
            unusable: 0,
            games,
        }
    }
}

impl Sample {
    fn read(&self, pgn: impl io::Read) -> io::Result<Games> {
        let mut games = Games::default();
        for text in GameTexts::new(pgn) {
            let text = text?;
            let number = text.number - 1;
            if number < self.skip || !(number - self.skip).is_multiple_of(self.every.into()) {
                continue;
            }
            match positions(&text) {
                Some(positions) => {
                    games.count += 1;
                    games.positions += positions.len();
                    games.games.push(positions);
                }
                None => games.unusable += 1,
            }
            if games.count == self.limit as usize {
                break;
            }
        }
        Ok(games)
    }
}

/// Replays a game. Returns `None` if the game is unusable.
fn positions(GameText { line, text, .. }: &GameText) -> Option<Vec<Position>> {
    let main_line = pgn::read_main_line(&decoded(text), *line);
    if main_line.error.is_some() {
        return None;
    }
    let positions: Vec<_> = main_line
        .game
        .positions()
        .map(|chess| Position::from_chess(&chess))
        .collect();
    (positions.len() > 1).then_some(positions)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use shakmaty::Chess;

    use super::*;

    const PGN: &str = r#"[Event "one"]

1. e4 e5 (1... c5 2. Nf3) 2. Nf3 $1 {a comment} *

[Event "two"]
[Variant "Atomic"]

1. e4 *

[Event "three"]

1. e4 Ke4 *

[Event "four"]
[FEN "8/8/8/4k3/8/4K3/4P3/8 w - - 0 1"]

1. Kd3 *

[Event "five"]

*
"#;

    fn read(limit: u32, every: u32, skip: u64) -> Games {
        Sample { limit, every, skip }.read(PGN.as_bytes()).unwrap()
    }

    #[test]
    fn positions_include_the_first_and_the_last_of_the_main_line() {
        let games = read(1, 1, 0).games;
        let fens: Vec<String> = games[0].iter().map(Position::to_string).collect();
        assert_eq!(fens.len(), 4);
        assert_eq!(fens[0], Position::from_chess(&Chess::default()).to_string());
        assert_eq!(
            fens[3],
            "rnbqkbnr/pppp1ppp/8/4p3/4P3/5N2/PPPP1PPP/RNBQKB1R b KQkq -"
        );
    }

    #[test]
    fn unusable_games_are_skipped_and_counted() {
        let games = read(9, 1, 0);
        assert_eq!((games.count, games.positions, games.unusable), (2, 6, 3));
        assert_eq!(games.games[1][0].to_string(), "8/8/8/4k3/8/4K3/4P3/8 w - -");
    }

    #[test]
    fn every_third_game_after_some_is_the_same_each_time() {
        let games = read(9, 3, 0);
        assert_eq!((games.games[0].len(), games.games[1].len()), (4, 2));
        assert_eq!(read(9, 1, 3).games[0].len(), 2);
        assert_eq!(read(9, 1, 99).count, 0);
    }
}
