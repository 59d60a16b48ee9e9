//! Test suites in EPD: positions with known best moves.

use std::{
    fs,
    path::PathBuf,
    sync::{Mutex, PoisonError, atomic::AtomicUsize, atomic::Ordering},
    thread,
    time::Duration,
};

use shakmaty::{Chess, Move, san::San};

use shelfish_uci::{Engine, Error, Setup};

use crate::error::{ArenaError, LineError, NotationError};
use crate::game::{Game, san};

/// Options of `arena suite`.
#[derive(clap::Args)]
pub struct Args {
    /// Positions in EPD with `bm` (best moves) or `am` (moves to avoid)
    suite: PathBuf,
    /// Engine: a program, its arguments, and UCI options as NAME=VALUE, with _ for a space
    engine: String,
    /// Limit of a search, in the syntax of UCI's `go`
    #[arg(long, default_value = "movetime 1000")]
    go: String,
    /// Number of parallel searches
    #[arg(long, default_value_t = 1)]
    concurrency: usize,
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
pub fn run(args: &Args) -> Result<(), Box<dyn std::error::Error>> {
    let setup = Setup::parse(&args.engine)?;
    let text = fs::read_to_string(&args.suite).map_err(ArenaError::file(&args.suite))?;
    let problems = read(&text).map_err(|error| ArenaError::Line(args.suite.clone(), error))?;
    let next = AtomicUsize::new(0);
    let found = Mutex::new(vec![None; problems.len()]);
    let failures: Vec<Error> = thread::scope(|scope| {
        let searches: Vec<_> = (0..args.concurrency.clamp(1, 64))
            .map(|_| {
                scope.spawn(|| -> Result<(), Error> {
                    let mut engine = Engine::start(&setup)?;
                    loop {
                        let index = next.fetch_add(1, Ordering::Relaxed);
                        let Some(problem) = problems.get(index) else {
                            return Ok(());
                        };
                        engine.new_game()?;
                        let answer =
                            engine.search(&format!("fen {}", problem.fen), &args.go, TIMEOUT)?;
                        found.lock().unwrap_or_else(PoisonError::into_inner)[index] =
                            Some(answer.best);
                    }
                })
            })
            .collect();
        searches
            .into_iter()
            .filter_map(|search| search.join().ok()?.err())
            .collect()
    });
    let found = found.into_inner().unwrap_or_else(PoisonError::into_inner);
    let mut solved = 0;
    for (problem, found) in problems.iter().zip(found) {
        let found = found.unwrap_or_default();
        let m = found
            .parse::<shakmaty::uci::UciMove>()
            .ok()
            .and_then(|m| m.to_move(&problem.position).ok());
        if m.is_some_and(|m| problem.is_solved_by(m)) {
            solved += 1;
        } else {
            let text = |m: &Move| San::from_move(&problem.position, *m).to_string();
            let found = m.map_or(found, |m| text(&m));
            let not = problem.avoid.iter().map(|m| format!("not {}", text(m)));
            let wanted = problem
                .best
                .iter()
                .map(text)
                .chain(not)
                .collect::<Vec<_>>()
                .join(" or ");
            println!(
                "{}: {found}, wanted {wanted}: {}",
                problem.name, problem.fen
            );
        }
    }
    println!("{solved} of {} solved, {}", problems.len(), args.go);
    match failures.into_iter().next() {
        Some(failure) => Err(failure.into()),
        None => Ok(()),
    }
}

/// Parses EPD.
fn read(text: &str) -> Result<Vec<Problem>, LineError> {
    let lines = text
        .lines()
        .enumerate()
        .filter(|(_, line)| !line.trim().is_empty() && !line.starts_with('#'));
    lines
        .map(|(index, line)| {
            problem(line, index + 1).map_err(|error| LineError {
                line: index + 1,
                error,
            })
        })
        .collect()
}

/// Parses a line of EPD.
fn problem(line: &str, number: usize) -> Result<Problem, NotationError> {
    let (mut fields, mut operations) = (Vec::new(), line.trim());
    for _ in 0..4 {
        let (field, rest) = operations
            .split_once(char::is_whitespace)
            .unwrap_or((operations, ""));
        fields.push(field);
        operations = rest.trim_start();
    }
    let fen = format!("{} 0 1", fields.join(" "));
    let position = Game::from_fen(&fen)?.position().clone();
    let (mut best, mut avoid, mut name) = (Vec::new(), Vec::new(), format!("line {number}"));
    for operation in operations.split(';') {
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
    if best.is_empty() && avoid.is_empty() {
        return Err(NotationError::NoOperation);
    }
    Ok(Problem {
        name,
        position,
        fen,
        best,
        avoid,
    })
}

/// Parses the moves of an operation.
fn moves<'a>(
    position: &Chess,
    words: impl Iterator<Item = &'a str>,
) -> Result<Vec<Move>, NotationError> {
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
            let error = read(&format!("\n{line}")).unwrap_err().to_string();
            assert!(error.contains(says), "{error}");
        }
    }

    #[test]
    fn the_suite_of_this_repository_is_complete() {
        let problems = read(include_str!("../../../crate/engine/tests/wac.epd")).unwrap();
        assert_eq!(problems.len(), 300);
    }
}
