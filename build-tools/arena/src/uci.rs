//! A UCI engine in a process of its own, driven from outside.

use std::{
    fmt,
    io::{self, BufRead, BufReader, Write},
    process::{Child, ChildStdin, Command, Stdio},
    sync::mpsc::{self, Receiver, RecvTimeoutError},
    thread,
    time::{Duration, Instant},
};

/// How long an engine may take for what is no search.
const PATIENCE: Duration = Duration::from_secs(20);

/// How long an engine may take to end.
const FAREWELL: Duration = Duration::from_secs(5);

/// Which program to start, and how to set it up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Setup {
    /// The program, then its arguments.
    pub command: Vec<String>,
    /// Options that are set before the first game.
    pub options: Vec<(String, String)>,
}

impl Setup {
    /// Reads `PROGRAM ARGUMENT… [Name=Value…]`: words with an equals sign are options of UCI, in which `_` stands for a
    /// blank, but for names that begin with `UCI_`.
    ///
    /// ```
    /// let setup = shelfish_arena::uci::Setup::parse("stockfish Skill_Level=5").unwrap();
    /// assert_eq!(setup.options, [("Skill Level".to_owned(), "5".to_owned())]);
    /// let setup = shelfish_arena::uci::Setup::parse("engine UCI_Elo=900");
    /// assert_eq!(setup.unwrap().options[0].0, "UCI_Elo");
    /// ```
    pub fn parse(text: &str) -> Result<Setup, String> {
        let (options, command): (Vec<&str>, Vec<&str>) = text.split_whitespace().partition(|word| word.contains('='));
        if command.is_empty() {
            return Err(format!("\"{text}\" names no program; expected for example \"stockfish Hash=16\""));
        }
        let spaced = |name: &str| if name.starts_with("UCI_") { name.to_owned() } else { name.replace('_', " ") };
        let option = |word: &str| word.split_once('=').map(|(name, value)| (spaced(name), value.to_owned()));
        Ok(Setup {
            command: command.into_iter().map(str::to_owned).collect(),
            options: options.into_iter().filter_map(option).collect(),
        })
    }
}

/// Why an engine gave no move.
#[derive(Debug)]
pub enum Error {
    /// The process could not be started or written to.
    Process(io::Error),
    /// The process ended.
    Ended,
    /// What was waited for did not come in time.
    Late(Duration),
    /// A line that cannot be understood.
    Line(String),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Process(error) => write!(f, "{error}"),
            Error::Ended => write!(f, "the engine's process ended"),
            Error::Late(time) => write!(f, "the engine did not answer within {} ms", time.as_millis()),
            Error::Line(line) => write!(f, "the engine answered \"{line}\", expected bestmove and a move"),
        }
    }
}

impl std::error::Error for Error {}

/// A score as engines tell it, from the point of view of the side to move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Score {
    /// Centipawns.
    Cp(i32),
    /// Mate in so many moves; negative if the side to move is mated.
    Mate(i32),
}

impl Score {
    /// The score in centipawns, a mate as more than any other.
    pub fn centipawns(self) -> i32 {
        match self {
            Score::Cp(cp) => cp.clamp(-20_000, 20_000),
            Score::Mate(moves) => (30_000 - moves.abs().min(5_000)) * if moves > 0 { 1 } else { -1 },
        }
    }
}

/// What came of a search.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// The move, in UCI.
    pub best: String,
    /// The last score that was told.
    pub score: Option<Score>,
    /// The last depth that was told.
    pub depth: u32,
    /// The last number of nodes that was told.
    pub nodes: u64,
    /// How long it took.
    pub time: Duration,
}

/// A running engine. Dropped, it is stopped.
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
            .map_err(|error| Error::Process(io::Error::new(error.kind(), format!("{program}: {error}"))))?;
        let (Some(input), Some(output)) = (child.stdin.take(), child.stdout.take()) else { return Err(Error::Ended) };
        let (sender, lines) = mpsc::channel();
        thread::spawn(move || {
            for line in BufReader::new(output).lines().map_while(Result::ok) {
                if sender.send(line).is_err() {
                    break;
                }
            }
        });
        let mut engine = Engine { child, input, lines };
        engine.say("uci")?;
        engine.wait_for("uciok")?;
        for (name, value) in &setup.options {
            engine.say(&format!("setoption name {name} value {value}"))?;
        }
        engine.new_game()?;
        Ok(engine)
    }

    /// Forgets the game before.
    pub fn new_game(&mut self) -> Result<(), Error> {
        self.say("ucinewgame\nisready")?;
        self.wait_for("readyok")
    }

    /// Searches `position` (what follows that word in UCI) as `go` says, for at most `patience`.
    pub fn search(&mut self, position: &str, go: &str, patience: Duration) -> Result<Answer, Error> {
        let start = Instant::now();
        self.say(&format!("position {position}\ngo {go}"))?;
        let mut answer = Answer { best: String::new(), score: None, depth: 0, nodes: 0, time: Duration::ZERO };
        loop {
            let line = self.line(start, patience)?;
            let mut words = line.split_whitespace();
            match words.next() {
                Some("info") => read_info(words, &mut answer),
                Some("bestmove") => {
                    answer.best = words.next().ok_or_else(|| Error::Line(line.clone()))?.to_owned();
                    answer.time = start.elapsed();
                    return Ok(answer);
                }
                _ => {}
            }
        }
    }

    fn say(&mut self, line: &str) -> Result<(), Error> {
        self.input.write_all(format!("{line}\n").as_bytes()).and_then(|()| self.input.flush()).map_err(Error::Process)
    }

    /// The next line of an answer that may take so long from its start, however many lines it has.
    fn line(&mut self, start: Instant, patience: Duration) -> Result<String, Error> {
        self.lines.recv_timeout(patience.saturating_sub(start.elapsed())).map_err(|error| match error {
            RecvTimeoutError::Timeout => Error::Late(patience),
            RecvTimeoutError::Disconnected => Error::Ended,
        })
    }

    fn wait_for(&mut self, expected: &str) -> Result<(), Error> {
        let start = Instant::now();
        while self.line(start, PATIENCE)?.trim() != expected {}
        Ok(())
    }
}

impl Drop for Engine {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.say("quit");
        // One that has a browser to close takes its time.
        let start = Instant::now();
        while matches!(self.child.try_wait(), Ok(None)) && start.elapsed() < FAREWELL {
            thread::sleep(Duration::from_millis(2));
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Reads what `info` tells of the first line of play; bounds on a score are no scores.
fn read_info<'a>(mut words: impl Iterator<Item = &'a str>, answer: &mut Answer) {
    let (mut score, mut bound, mut first) = (None, false, true);
    while let Some(word) = words.next() {
        let mut number = || words.next().and_then(|value| value.parse::<i64>().ok());
        match word {
            "string" => return,
            "depth" => answer.depth = number().map_or(answer.depth, |depth| depth as u32),
            "nodes" => answer.nodes = number().map_or(answer.nodes, |nodes| nodes as u64),
            "multipv" => first = number() == Some(1),
            "cp" => score = number().map(|cp| Score::Cp(cp as i32)),
            "mate" => score = number().map(|moves| Score::Mate(moves as i32)),
            "lowerbound" | "upperbound" => bound = true,
            "pv" => break,
            _ => {}
        }
    }
    if first && !bound && score.is_some() {
        answer.score = score;
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test may panic")]
mod tests {
    use super::*;

    fn told(lines: &[&str]) -> Answer {
        let mut answer = Answer { best: String::new(), score: None, depth: 0, nodes: 0, time: Duration::ZERO };
        lines.iter().for_each(|line| read_info(line.split_whitespace(), &mut answer));
        answer
    }

    #[test]
    fn the_last_score_of_the_first_line_counts() {
        let answer = told(&[
            "depth 7 seldepth 9 multipv 1 score cp 35 nodes 400 nps 1 pv e2e4",
            "depth 7 multipv 2 score cp 12 nodes 500 pv d2d4",
            "depth 8 multipv 1 score mate -3 nodes 600 pv e2e4 cp",
        ]);
        assert_eq!((answer.score, answer.depth, answer.nodes), (Some(Score::Mate(-3)), 8, 600));
    }

    #[test]
    fn bounds_are_no_scores() {
        let answer = told(&["depth 9 score cp 35 nodes 1 pv e2e4", "depth 10 score cp 99 lowerbound nodes 2 pv e2e4"]);
        assert_eq!(answer.score, Some(Score::Cp(35)));
    }

    #[test]
    fn a_shorter_mate_is_worth_more() {
        assert!(Score::Mate(1).centipawns() > Score::Mate(2).centipawns());
        assert!(Score::Mate(-2).centipawns() > Score::Mate(-1).centipawns());
        assert!(Score::Mate(40).centipawns() > Score::Cp(99_999).centipawns());
    }

    #[test]
    #[cfg(unix)]
    fn an_engine_that_talks_and_never_answers_is_late() {
        let talk = "echo uciok; echo readyok; while echo info string well; do sleep 0.01; done & \
            while read line && [ \"$line\" != quit ]; do :; done; kill $!";
        let setup = Setup { command: ["sh", "-c", talk].map(str::to_owned).to_vec(), options: Vec::new() };
        let mut engine = Engine::start(&setup).unwrap();
        let answer = engine.search("startpos", "depth 1", Duration::from_millis(200));
        assert!(matches!(answer, Err(Error::Late(_))), "{answer:?}");
    }

    #[test]
    fn a_program_that_is_not_there_is_named() {
        let setup = Setup::parse("./no-such-engine").unwrap();
        let error = Engine::start(&setup).err().map(|error| error.to_string()).unwrap_or_default();
        assert!(error.contains("no-such-engine"), "{error}");
    }
}
