//! Minimal UCI engine, for matches that measure the parts of the search.
//!
//! The engine uses no database, book or threads, and supports only the commands that `arena match` sends.

use std::{
    io::{BufRead, Write},
    time::{Duration, Instant},
};

use shakmaty::{CastlingMode, uci::UciMove};
use shelfish_engine::{
    Control, Game, Histories, Limits, Line, Position, Table, parts::Part, search,
};

use crate::error::{ArenaError, OptionError};

/// Options of `arena engine`.
#[derive(clap::Args)]
pub struct Args {
    /// Parts of the search to turn off, named as in `shelfish_engine::parts`; needs the feature `parts`
    #[arg(long, value_delimiter = ',', value_parser = part)]
    without: Vec<Part>,
}

/// Finds the part of a name, which may be upper or lower case.
fn part(name: &str) -> Result<Part, OptionError> {
    let known = |part: &&Part| format!("{part:?}").eq_ignore_ascii_case(name);
    Part::ALL
        .iter()
        .find(known)
        .copied()
        .ok_or_else(|| OptionError::Part(name.to_owned()))
}

/// Default size of the transposition table of `shelfish engine`.
const HASH: usize = 16 << 20;

/// Answers commands until `quit` or the end of the input.
pub fn run(args: &Args) -> Result<(), Box<dyn std::error::Error>> {
    turn_off(&args.without)?;
    let (table, mut histories) = (Table::new(HASH), Histories::default());
    let mut game = Game::new(Position::default());
    let mut out = std::io::stdout().lock();
    for line in std::io::stdin().lock().lines() {
        let line = line?;
        let words: Vec<&str> = line.split_ascii_whitespace().collect();
        match words[..] {
            ["uci"] => writeln!(out, "id name Shelfish\nuciok")?,
            ["isready"] => writeln!(out, "readyok")?,
            ["ucinewgame"] => {
                table.clear();
                histories = Histories::default();
            }
            ["position", ..] => game = read(&words)?,
            ["go", ref limits @ ..] => {
                let mut last = LastInfo {
                    start: Instant::now(),
                    info: String::new(),
                };
                let lines = search(
                    &game,
                    &table,
                    &mut histories,
                    &read_limits(limits)?,
                    &mut last,
                );
                let best = lines.first().and_then(|line| line.moves.first());
                let best = best.map_or("0000".to_owned(), |m| {
                    m.to_uci(CastlingMode::Standard).to_string()
                });
                writeln!(out, "{}bestmove {best}", last.info)?;
            }
            ["quit"] => return Ok(()),
            _ => {}
        }
        out.flush()?;
    }
    Ok(())
}

#[cfg(feature = "parts")]
fn turn_off(parts: &[Part]) -> Result<(), ArenaError> {
    shelfish_engine::parts::turn_off(parts);
    Ok(())
}

#[cfg(not(feature = "parts"))]
fn turn_off(parts: &[Part]) -> Result<(), ArenaError> {
    if parts.is_empty() {
        Ok(())
    } else {
        Err(ArenaError::NoParts)
    }
}

/// Parses `position …`.
fn read(words: &[&str]) -> Result<Game, Box<dyn std::error::Error>> {
    let moves = words
        .iter()
        .position(|word| *word == "moves")
        .unwrap_or(words.len());
    let start = match words[1..moves] {
        ["fen", ref fields @ ..] => fields.join(" ").parse()?,
        _ => Position::default(),
    };
    let mut game = Game::new(start);
    for word in words.iter().skip(moves + 1) {
        let m = word.parse::<UciMove>()?.to_move(game.position().chess())?;
        game.play(m);
    }
    Ok(game)
}

/// Parses the limits after `go`.
fn read_limits(words: &[&str]) -> Result<Limits, Box<dyn std::error::Error>> {
    let mut limits = Limits::default();
    for pair in words.chunks(2) {
        match *pair {
            ["nodes", number] => limits.nodes = Some(number.parse()?),
            ["depth", number] => limits.depth = Some(number.parse()?),
            ["movetime", number] => limits.deadline = Some(Duration::from_millis(number.parse()?)),
            _ => {
                return Err(format!(
                    "go {}: expected nodes, depth or movetime, and a number",
                    words.join(" ")
                )
                .into());
            }
        }
    }
    Ok(limits)
}

/// Control that keeps the last `info` line.
struct LastInfo {
    start: Instant,
    info: String,
}

impl Control for LastInfo {
    fn elapsed(&self) -> Duration {
        self.start.elapsed()
    }

    fn found(&mut self, lines: &[Line]) {
        let Some(line) = lines.first() else { return };
        self.info = format!(
            "info depth {} nodes {} score {}\n",
            line.depth, line.nodes, line.score
        );
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test may panic")]
mod tests {
    use shakmaty::Position as _;

    use super::*;

    #[test]
    fn a_game_is_parsed_with_its_moves() {
        let words: Vec<&str> = "position startpos moves e2e4 e7e5".split(' ').collect();
        assert_eq!(
            read(&words).unwrap().position().chess().fullmoves().get(),
            2
        );
        let words: Vec<&str> = "position fen 4k3/8/8/8/8/8/8/4K2R w K - 0 1 moves e1g1"
            .split(' ')
            .collect();
        assert!(
            read(&words)
                .unwrap()
                .position()
                .chess()
                .board()
                .rooks()
                .contains(shakmaty::Square::F1)
        );
    }

    #[test]
    fn limits_are_nodes_depth_or_time() {
        assert_eq!(read_limits(&["nodes", "5000"]).unwrap().nodes, Some(5_000));
        assert!(
            read_limits(&["wtime", "1"])
                .unwrap_err()
                .to_string()
                .contains("wtime")
        );
    }

    #[test]
    fn names_of_parts_ignore_case() {
        assert_eq!(part("nullmove"), Ok(Part::NullMove));
        assert!(part("magic").unwrap_err().to_string().contains("NullMove"));
    }
}
