//! Test suites in EPD: positions with known best moves.

use std::{fs, path::PathBuf, time::Duration};

use anyhow::{Context, Result, ensure};
use shakmaty::{Move, san::San};
use shelfish_analysis::pgn::find_move;
use shelfish_cli::uci::{Engine, Setup};

use crate::game::Game;

/// Options of `lab suite`.
#[derive(clap::Args)]
pub struct Args {
    /// Positions in EPD with `bm` (best moves) or `am` (moves to avoid)
    suite: PathBuf,
    /// Engine: a program, its arguments, and UCI options as NAME=VALUE, with _ for a space
    engine: String,
    /// Limit of a search, in the syntax of UCI's `go`
    #[arg(long, default_value = "movetime 1000")]
    go: String,
}

/// Time that an engine may take beyond its limit.
const TIMEOUT: Duration = Duration::from_secs(60);

/// Runs the suite and prints the unsolved positions.
pub fn run(args: &Args) -> Result<()> {
    let path = || args.suite.display().to_string();
    let text = fs::read_to_string(&args.suite).with_context(path)?;
    let mut engine = Engine::start(&Setup::parse(&args.engine)?)?;
    let (mut solved, mut count) = (0, 0);
    for (index, line) in text.lines().enumerate() {
        if line.trim().is_empty() || line.starts_with('#') {
            continue;
        }
        let read = problem(line).with_context(|| format!("{}: line {}", path(), index + 1));
        let (game, wanted) = read?;
        engine.new_game()?;
        let answer = engine.search(&game.uci(), &args.go, TIMEOUT)?;
        let found = game.legal(&answer.best);
        count += 1;
        if found.is_some_and(|m| is_solved(&wanted, m)) {
            solved += 1;
            continue;
        }
        let text = |m: Move| San::from_move(game.position(), m).to_string();
        let words: Vec<String> = wanted
            .iter()
            .map(|(m, is_best)| [if *is_best { "" } else { "not " }, &text(*m)].concat())
            .collect();
        let found = found.map_or(answer.best, text);
        println!("{line}: {found}, wanted {}", words.join(" or "));
    }
    println!("{solved} of {count} solved, {}", args.go);
    Ok(())
}

/// Returns whether a move is the best move, or no move to avoid.
fn is_solved(wanted: &[(Move, bool)], m: Move) -> bool {
    let named = wanted.iter().find(|(other, _)| *other == m);
    named.map_or(
        wanted.iter().all(|(_, is_best)| !is_best),
        |(_, is_best)| *is_best,
    )
}

/// Parses a line of EPD. Returns the position and its moves, each with whether it is a best move or a move to avoid.
fn problem(line: &str) -> Result<(Game, Vec<(Move, bool)>)> {
    let mut words = line.trim().splitn(5, ' ');
    let fields: Vec<&str> = words.by_ref().take(4).collect();
    let game = Game::from_fen(&format!("{} 0 1", fields.join(" ")))?;
    let mut wanted = Vec::new();
    for operation in words.next().unwrap_or_default().split(';') {
        let mut words = operation.split_whitespace();
        if let Some(code @ ("bm" | "am")) = words.next() {
            for word in words {
                let m = find_move(game.position(), word)
                    .with_context(|| format!("\"{word}\" is not a legal move"))?;
                wanted.push((m, code == "bm"));
            }
        }
    }
    ensure!(
        !wanted.is_empty(),
        "expected an operation bm or am, as in \"bm Qg6;\""
    );
    Ok((game, wanted))
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test may panic")]
mod tests {
    use super::*;

    #[test]
    fn a_problem_has_moves_to_find_and_to_avoid() {
        let line = "8/1p6/p5R1/k7/Prpp4/K7/1NP5/8 w - - am Rd6; bm Rb6 Rg5+; id \"WAC.274\";";
        let (game, wanted) = problem(line).unwrap();
        let solved = |san: &str| is_solved(&wanted, find_move(game.position(), san).unwrap());
        assert_eq!(
            ["Rb6", "Rg5+", "Rd6", "c3"].map(solved),
            [true, true, false, false]
        );
        for line in include_str!("../../../crate/engine/tests/wac.epd").lines() {
            assert!(line.starts_with('#') || problem(line).is_ok(), "{line}");
        }
        assert!(problem("4k3/8/8/8/8/8/4P3/4K3 w - - bm e5;").is_err());
    }
}
