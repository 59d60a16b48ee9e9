//! Errors of options and of input files.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitStatus;

use shakmaty::fen::ParseFenError;
use shakmaty::san::{ParseSanError, San, SanError};
use shakmaty::{Chess, PositionError};
use shelfish_engine::parts::Part;

/// Reasons why the value of an option is invalid.
#[derive(Debug, PartialEq)]
pub enum OptionError {
    /// The text has another form.
    Form {
        /// Description of valid values.
        expected: &'static str,
        /// Text of the option.
        found: String,
    },
    /// The first number of a range is not the smaller number.
    Range {
        /// First number.
        low: f64,
        /// Second number.
        high: f64,
    },
    /// The engine has no part of this name.
    Part(String),
}

impl OptionError {
    /// Returns the error of a text that has another form than the expected form.
    pub fn form(expected: &'static str, found: &str) -> OptionError {
        OptionError::Form {
            expected,
            found: found.to_owned(),
        }
    }
}

impl fmt::Display for OptionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            OptionError::Form { expected, found } => {
                write!(f, "expected {expected}, found \"{found}\"")
            }
            OptionError::Range { low, high } => {
                write!(
                    f,
                    "expected a smaller number before a larger number, found {low},{high}"
                )
            }
            OptionError::Part(found) => {
                write!(f, "expected one of {:?}, found \"{found}\"", Part::ALL)
            }
        }
    }
}

impl std::error::Error for OptionError {}

/// Reasons why a FEN, a move or an operation of EPD is invalid.
#[derive(Debug)]
pub enum NotationError {
    /// The FEN cannot be parsed.
    Fen(String, ParseFenError),
    /// The FEN describes an impossible position.
    Position(String, Box<PositionError<Chess>>),
    /// The word is not a move.
    Move(String, ParseSanError),
    /// The move is not possible in the position.
    Illegal {
        /// Move.
        san: San,
        /// FEN of the position.
        fen: String,
        /// Reason of the rules.
        error: SanError,
    },
    /// The line of EPD has neither `bm` nor `am`.
    NoOperation,
}

impl fmt::Display for NotationError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NotationError::Fen(fen, error) => write!(f, "\"{fen}\": {error}"),
            NotationError::Position(fen, error) => write!(f, "\"{fen}\": {error}"),
            NotationError::Move(word, error) => {
                write!(f, "expected a move, found \"{word}\": {error}")
            }
            NotationError::Illegal { san, fen, error } => {
                write!(f, "\"{san}\" is not legal in \"{fen}\": {error}")
            }
            NotationError::NoOperation => {
                f.write_str("expected an operation bm or am, as in \"bm Qg6;\"")
            }
        }
    }
}

impl std::error::Error for NotationError {}

/// Invalid line of a text.
#[derive(Debug)]
pub struct LineError {
    /// Number of the line, from 1.
    pub line: usize,
    /// Fault of the line.
    pub error: NotationError,
}

impl fmt::Display for LineError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.error)
    }
}

impl std::error::Error for LineError {}

/// Reasons why a command failed, apart from errors of an engine.
#[derive(Debug)]
pub enum ArenaError {
    /// A file cannot be read, written or run.
    File(PathBuf, io::Error),
    /// A line of a file is invalid.
    Line(PathBuf, LineError),
    /// The files of `--openings` contain no opening.
    NoOpening {
        /// Minimum number of plies, of `--least-plies`.
        least_plies: usize,
    },
    /// The program `shelfish` ended with an error.
    Program {
        /// Program.
        program: PathBuf,
        /// Exit status.
        status: ExitStatus,
    },
    /// A report of `shelfish analyse` is not JSON.
    Report(serde_json::Error),
    /// The reference ended a search without a score.
    NoScore,
    /// This build does not have the feature `parts`.
    NoParts,
}

impl ArenaError {
    /// Returns a function that adds a path to an error of input or output.
    pub fn file(path: &Path) -> impl Fn(io::Error) -> ArenaError {
        move |error| ArenaError::File(path.to_owned(), error)
    }
}

impl fmt::Display for ArenaError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ArenaError::File(path, error) => write!(f, "{}: {error}", path.display()),
            ArenaError::Line(path, error) => write!(f, "{}: {error}", path.display()),
            ArenaError::NoOpening { least_plies } => {
                write!(
                    f,
                    "expected at least one opening of {least_plies} plies or more in --openings, found none"
                )
            }
            ArenaError::Program { program, status } => {
                write!(f, "{} analyse: {status}", program.display())
            }
            ArenaError::Report(error) => {
                write!(f, "expected a report of shelfish analyse in JSON: {error}")
            }
            ArenaError::NoScore => f.write_str("the reference found no score"),
            ArenaError::NoParts => f.write_str(
                "this build cannot turn off parts; build the arena with `--features parts`",
            ),
        }
    }
}

impl std::error::Error for ArenaError {}
