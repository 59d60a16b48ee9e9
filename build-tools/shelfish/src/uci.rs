//! UCI engines in separate processes.

use std::{
    io::{self, BufRead, BufReader, Write},
    process::{Child, ChildStdin, Command, Stdio},
    sync::mpsc::{self, Receiver, RecvTimeoutError},
    thread,
    time::{Duration, Instant},
};

pub use shelfish_engine::UciScore;

/// Timeout of commands other than searches.
const TIMEOUT: Duration = Duration::from_secs(20);

/// Time for an engine to end after `quit`.
const QUIT_TIMEOUT: Duration = Duration::from_secs(5);

/// Program of an engine and its options.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Setup {
    /// Program, followed by its arguments.
    pub command: Vec<String>,
    /// UCI options.
    pub options: Vec<(String, String)>,
}

/// Error of a [`Setup`] without a program.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected a program, for example \"stockfish Hash=16\", found \"{found}\"")]
pub struct SetupError {
    found: String,
}

impl Setup {
    /// Parses `PROGRAM ARGUMENT… [Name=Value…]`. Words with an equals sign are UCI options. In their names, `_` stands
    /// for a space, except in names that begin with `UCI_`.
    ///
    /// ```
    /// let setup = shelfish_cli::uci::Setup::parse("stockfish Skill_Level=5").unwrap();
    /// assert_eq!(setup.options, [("Skill Level".to_owned(), "5".to_owned())]);
    /// let setup = shelfish_cli::uci::Setup::parse("engine UCI_Elo=900");
    /// assert_eq!(setup.unwrap().options[0].0, "UCI_Elo");
    /// ```
    ///
    /// # Errors
    ///
    /// The text contains no program.
    pub fn parse(text: &str) -> Result<Setup, SetupError> {
        let (options, command): (Vec<&str>, Vec<&str>) =
            text.split_whitespace().partition(|word| word.contains('='));
        if command.is_empty() {
            return Err(SetupError {
                found: text.to_owned(),
            });
        }
        let spaced = |name: &str| {
            if name.starts_with("UCI_") {
                name.to_owned()
            } else {
                name.replace('_', " ")
            }
        };
        let option = |word: &str| {
            word.split_once('=')
                .map(|(name, value)| (spaced(name), value.to_owned()))
        };
        Ok(Setup {
            command: command.into_iter().map(str::to_owned).collect(),
            options: options.into_iter().filter_map(option).collect(),
        })
    }
}

/// Reasons why an engine returned no move.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The process could not be started or written to.
    #[error("{0}")]
    Process(io::Error),
    /// The process ended.
    #[error("the engine's process ended")]
    Ended,
    /// The answer did not arrive in time.
    #[error("the engine did not answer within {} ms", .0.as_millis())]
    Late(Duration),
    /// The line cannot be parsed.
    #[error("the engine answered \"{0}\", expected bestmove and a move")]
    Line(String),
}

/// Result of a search.
#[derive(Default, Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// Best move in UCI notation.
    pub best: String,
    /// Last score.
    pub score: Option<UciScore>,
    /// Last score of the second line, and its first move.
    pub second: Option<(UciScore, String)>,
    /// Last depth.
    pub depth: u32,
    /// Last number of nodes.
    pub nodes: u64,
    /// Best line in UCI notation, of the last score.
    pub line: Vec<String>,
}

/// Running engine. Dropping it stops the process.
pub struct Engine {
    child: Child,
    input: ChildStdin,
    lines: Receiver<String>,
}

impl Engine {
    /// Starts an engine and waits until it is ready.
    pub fn start(setup: &Setup) -> Result<Engine, Error> {
        let (program, arguments) = setup.command.split_first().ok_or(Error::Ended)?;
        let mut child = Command::new(program)
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|error| {
                Error::Process(io::Error::new(error.kind(), format!("{program}: {error}")))
            })?;
        let (Some(input), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(Error::Ended);
        };
        let (sender, lines) = mpsc::channel();
        thread::spawn(move || {
            for line in BufReader::new(output).lines().map_while(Result::ok) {
                if sender.send(line).is_err() {
                    break;
                }
            }
        });
        let mut engine = Engine {
            child,
            input,
            lines,
        };
        engine.send("uci")?;
        engine.wait_for("uciok")?;
        for (name, value) in &setup.options {
            engine.send(&format!("setoption name {name} value {value}"))?;
        }
        engine.new_game()?;
        Ok(engine)
    }

    /// Clears the state of the previous game.
    pub fn new_game(&mut self) -> Result<(), Error> {
        self.send("ucinewgame\nisready")?;
        self.wait_for("readyok")
    }

    /// Sets the number of lines of the next searches.
    pub fn set_lines(&mut self, lines: usize) -> Result<(), Error> {
        self.send(&format!("setoption name MultiPV value {lines}"))
    }

    /// Searches `position` with the limits in `go`, for at most `timeout`. Both use the syntax of UCI.
    pub fn search(&mut self, position: &str, go: &str, timeout: Duration) -> Result<Answer, Error> {
        let start = Instant::now();
        self.send(&format!("position {position}\ngo {go}"))?;
        let mut answer = Answer::default();
        loop {
            let line = self.line(start, timeout)?;
            let mut words = line.split_whitespace();
            match words.next() {
                Some("info") => read_info(words, &mut answer),
                Some("bestmove") => {
                    answer.best = words
                        .next()
                        .ok_or_else(|| Error::Line(line.clone()))?
                        .to_owned();
                    return Ok(answer);
                }
                _ => {}
            }
        }
    }

    fn send(&mut self, line: &str) -> Result<(), Error> {
        self.input
            .write_all(format!("{line}\n").as_bytes())
            .and_then(|()| self.input.flush())
            .map_err(Error::Process)
    }

    /// Returns the next line. `timeout` limits the time since `start`, regardless of the number of lines.
    fn line(&mut self, start: Instant, timeout: Duration) -> Result<String, Error> {
        self.lines
            .recv_timeout(timeout.saturating_sub(start.elapsed()))
            .map_err(|error| match error {
                RecvTimeoutError::Timeout => Error::Late(timeout),
                RecvTimeoutError::Disconnected => Error::Ended,
            })
    }

    fn wait_for(&mut self, expected: &str) -> Result<(), Error> {
        let start = Instant::now();
        while self.line(start, TIMEOUT)?.trim() != expected {}
        Ok(())
    }
}

impl Drop for Engine {
    fn drop(&mut self) {
        // The engine may have ended already.
        let _ = self.send("quit");
        // An engine that closes a browser needs time.
        let start = Instant::now();
        while matches!(self.child.try_wait(), Ok(None)) && start.elapsed() < QUIT_TIMEOUT {
            thread::sleep(Duration::from_millis(2));
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Reads an `info` line. Ignores bounds of scores, and all lines of play after the second.
fn read_info<'a>(mut words: impl Iterator<Item = &'a str>, answer: &mut Answer) {
    let (mut score, mut bound, mut rank) = (None, false, Some(1));
    while let Some(word) = words.next() {
        let mut number = || words.next().and_then(|value| value.parse::<i64>().ok());
        match word {
            "string" => return,
            "depth" => answer.depth = number().map_or(answer.depth, |depth| depth as u32),
            "nodes" => answer.nodes = number().map_or(answer.nodes, |nodes| nodes as u64),
            "multipv" => rank = number(),
            "cp" => score = number().map(|cp| UciScore::Cp(cp as i32)),
            "mate" => score = number().map(|moves| UciScore::Mate(moves as i32)),
            "lowerbound" | "upperbound" => bound = true,
            "pv" => break,
            _ => {}
        }
    }
    if bound || score.is_none() {
        return;
    }
    if rank == Some(1) {
        answer.score = score;
        answer.line = words.map(str::to_owned).collect();
        // The search ended before it scored the second line again, which is now the first.
        let best = answer.line.first();
        answer.second.take_if(|(_, second)| Some(&*second) == best);
    } else if rank == Some(2) {
        answer.second = score.zip(words.next().map(str::to_owned));
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test may panic")]
mod tests {
    use super::*;

    fn answer_of(lines: &[&str]) -> Answer {
        let mut answer = Answer::default();
        lines
            .iter()
            .for_each(|line| read_info(line.split_whitespace(), &mut answer));
        answer
    }

    #[test]
    fn the_last_score_of_the_first_line_counts() {
        let answer = answer_of(&[
            "depth 7 seldepth 9 multipv 1 score cp 35 nodes 400 nps 1 pv e2e4",
            "depth 7 multipv 2 score cp 12 nodes 500 pv d2d4",
            "depth 8 multipv 1 score mate -3 nodes 600 pv e2e4 cp",
            "depth 8 multipv 1 score cp 99 lowerbound nodes 600 pv e2e4",
        ]);
        assert_eq!(
            (answer.score, answer.depth, answer.nodes),
            (Some(UciScore::Mate(-3)), 8, 600)
        );
        assert_eq!(answer.line, ["e2e4", "cp"]);
        let second = (UciScore::Cp(12), "d2d4".to_owned());
        assert_eq!(answer.second, Some(second));
        let answer = answer_of(&[
            "depth 7 multipv 1 score cp 35 pv e2e4",
            "depth 7 multipv 2 score cp 12 pv d2d4",
            "depth 8 multipv 1 score cp 50 pv d2d4",
        ]);
        assert_eq!(answer.second, None);
    }

    #[test]
    #[cfg(unix)]
    fn an_engine_that_prints_lines_but_never_answers_times_out() {
        let talk = "echo uciok; echo readyok; while echo info string well; do sleep 0.01; done & \
            while read line && [ \"$line\" != quit ]; do :; done; kill $!";
        let setup = Setup {
            command: ["sh", "-c", talk].map(str::to_owned).to_vec(),
            options: Vec::new(),
        };
        let mut engine = Engine::start(&setup).unwrap();
        let answer = engine.search("startpos", "depth 1", Duration::from_millis(200));
        assert!(matches!(answer, Err(Error::Late(_))), "{answer:?}");
    }

    #[test]
    fn the_error_of_a_missing_program_contains_its_name() {
        let setup = Setup::parse("./no-such-engine").unwrap();
        let error = Engine::start(&setup)
            .err()
            .map(|error| error.to_string())
            .unwrap_or_default();
        assert!(error.contains("no-such-engine"), "{error}");
    }
}
