//! Test suites in EPD: positions with known best moves.

use std::{fs, path::PathBuf, time::Duration};

use anyhow::{Context, Result, ensure};
use shakmaty::{Chess, Move, san::San, uci::UciMove};
use shelfish_cli::uci::{Engine, Setup};

use crate::game::{Game, san};

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

/// Position of a suite.
#[derive(Debug)]
struct Problem {
    /// Operand of `id`, or the line number.
    name: String,
    position: Chess,
    fen: String,
    best: Vec<Move>,
    avoid: Vec<Move>,
}

impl Problem {
    fn is_solved_by(&self, m: Move) -> bool {
        !self.avoid.contains(&m) && (self.best.is_empty() || self.best.contains(&m))
    }
}

/// Runs the suite and prints the unsolved positions.
pub fn run(args: &Args) -> Result<()> {
    let path = || args.suite.display().to_string();
    let problems = read(&fs::read_to_string(&args.suite).with_context(path)?).with_context(path)?;
    let mut engine = Engine::start(&Setup::parse(&args.engine)?)?;
    let mut solved = 0;
    for problem in &problems {
        engine.new_game()?;
        let answer = engine.search(&format!("fen {}", problem.fen), &args.go, TIMEOUT)?;
        let found = answer.best.parse::<UciMove>().ok();
        let found = found.and_then(|found| found.to_move(&problem.position).ok());
        if found.is_some_and(|m| problem.is_solved_by(m)) {
            solved += 1;
        } else {
            let text = |m: &Move| San::from_move(&problem.position, *m).to_string();
            let not = problem.avoid.iter().map(|m| format!("not {}", text(m)));
            let wanted: Vec<String> = problem.best.iter().map(text).chain(not).collect();
            let found = found.map_or(answer.best, |m| text(&m));
            println!(
                "{}: {found}, wanted {}: {}",
                problem.name,
                wanted.join(" or "),
                problem.fen
            );
        }
    }
    println!("{solved} of {} solved, {}", problems.len(), args.go);
    Ok(())
}

/// Parses EPD.
fn read(text: &str) -> Result<Vec<Problem>> {
    let lines = text
        .lines()
        .enumerate()
        .filter(|(_, line)| !line.trim().is_empty() && !line.starts_with('#'));
    lines
        .map(|(index, line)| {
            problem(line, index + 1).with_context(|| format!("line {}", index + 1))
        })
        .collect()
}

/// Parses a line of EPD.
fn problem(line: &str, number: usize) -> Result<Problem> {
    let mut words = line.trim().splitn(5, ' ');
    let fields: Vec<&str> = words.by_ref().take(4).collect();
    let fen = format!("{} 0 1", fields.join(" "));
    let position = Game::from_fen(&fen)?.position().clone();
    let (mut best, mut avoid, mut name) = (Vec::new(), Vec::new(), format!("line {number}"));
    for operation in words.next().unwrap_or_default().split(';') {
        let mut words = operation.split_whitespace();
        match words.next() {
            Some("bm") => best = moves(&position, words)?,
            Some("am") => avoid = moves(&position, words)?,
            Some("id") => {
                name = words
                    .collect::<Vec<_>>()
                    .join(" ")
                    .trim_matches('"')
                    .to_owned()
            }
            _ => {}
        }
    }
    ensure!(
        best.len() + avoid.len() > 0,
        "expected an operation bm or am, as in \"bm Qg6;\""
    );
    Ok(Problem {
        name,
        position,
        fen,
        best,
        avoid,
    })
}

/// Parses the moves of an operation.
fn moves<'a>(position: &Chess, words: impl Iterator<Item = &'a str>) -> Result<Vec<Move>> {
    words.map(|word| san(position, word)).collect()
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test may panic")]
mod tests {
    use super::*;

    #[test]
    fn a_problem_has_moves_to_find_and_to_avoid() {
        let text =
            "# a suite\n8/1p6/p5R1/k7/Prpp4/K7/1NP5/8 w - - am Rd6; bm Rb6 Rg5+; id \"WAC.274\";\n";
        let [problem] = &read(text).unwrap()[..] else {
            panic!("one problem")
        };
        assert_eq!(problem.name, "WAC.274");
        let solved = |san: &str| {
            problem.is_solved_by(moves(&problem.position, [san].into_iter()).unwrap()[0])
        };
        assert_eq!(
            [solved("Rb6"), solved("Rg5+"), solved("Rd6"), solved("c3")],
            [true, true, false, false]
        );
    }

    #[test]
    fn an_error_contains_the_line_number() {
        for (line, says) in [
            ("8/8/8/8/8/8/8/8 w - - bm e4;", "line 2"),
            ("4k3/8/8/8/8/8/4P3/4K3 w - - bm e5;", "\"e5\" is not legal"),
            (
                "4k3/8/8/8/8/8/4P3/4K3 w - - id \"x\";",
                "expected an operation bm",
            ),
            ("4k3/8", "line 2"),
        ] {
            let error = format!("{:#}", read(&format!("\n{line}")).err().unwrap());
            assert!(error.contains(says), "{error}");
        }
    }

    #[test]
    fn the_suite_of_this_repository_is_complete() {
        let problems = read(include_str!("../../../crate/engine/tests/wac.epd")).unwrap();
        assert_eq!(problems.len(), 300);
    }
}
