//! Why there is no new database.

use std::fmt;
use std::io;
use std::path::PathBuf;

use shelfish::table::WriteError;

use super::base::BaseError;
use super::summary::{Counts, named};
use crate::evaluations::record::Reject;
use crate::games;
use crate::input::dump::Source;

/// Why there is no new database. The previous one is as it was.
#[derive(Debug)]
pub enum BuildError {
    /// A source cannot be opened or read to its end.
    Source {
        /// The source.
        source: Source,
        /// What is wrong.
        error: io::Error,
    },
    /// Some sources are evaluations, some are games.
    Mixed {
        /// Games.
        games: Source,
        /// Evaluations.
        evaluations: Source,
    },
    /// The games of a source are counted already.
    Again(Source),
    /// A book of an engine cannot be merged with what has results, as it has none.
    Weights(Source),
    /// The moves of a book cannot be chosen by what its games are.
    Counted(Source),
    /// No game of the sources can be used.
    NoGames(Box<games::Counts>),
    /// Another build writes to the same database.
    Busy(PathBuf),
    /// Temporary files cannot be written or read.
    Temporary {
        /// Where they are.
        path: PathBuf,
        /// What is wrong.
        error: io::Error,
    },
    /// The disk has less room than the build may use.
    Disk(PathBuf, io::Error),
    /// A worker cannot have so many bytes of memory.
    Memory(usize),
    /// A base cannot be used.
    Base(BaseError),
    /// The file of rejects cannot be written.
    Rejects {
        /// Its path.
        path: PathBuf,
        /// What is wrong.
        error: io::Error,
    },
    /// There is more than there may be.
    TooLarge {
        /// Bytes that there may be.
        max_bytes: u64,
        /// Positions that had been written by then.
        positions: u64,
    },
    /// No line gave a position, and nothing is left of the bases.
    Empty(Counts),
    /// The database cannot be written.
    Write(WriteError),
}

impl fmt::Display for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BuildError::Source { source, error } => write!(f, "cannot read {source}: {error}"),
            BuildError::Mixed { games, evaluations } => write!(
                f,
                "{games} has games and {evaluations} evaluations: they make databases of two kinds, build them one by one"
            ),
            BuildError::Again(source) => write!(
                f,
                "{source} has the same games as another source, or as one of which a base was built: \
                 --again counts them twice"
            ),
            BuildError::Weights(source) => write!(
                f,
                "{source} is a Polyglot book, with weights in place of games and results: it cannot be added to games, \
                 build it alone"
            ),
            BuildError::Counted(source) => write!(
                f,
                "{source} is a book whose moves are counted already: --ratings, --speeds, --since, --until, --ending, \
                 --no-bots, --max-plies and --whole choose from games, build it without"
            ),
            BuildError::NoGames(counts) => {
                let told = counts.to_string();
                let lines = told.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "));
                write!(f, "nothing to write: no position is left; {}", lines.collect::<Vec<_>>().join("; "))
            }
            BuildError::Busy(path) => write!(f, "another build is writing to {}", path.display()),
            BuildError::Temporary { path, error } => write!(f, "temporary files in {}: {error}", path.display()),
            BuildError::Disk(path, error) => write!(f, "{}: {error}", path.display()),
            BuildError::Rejects { path, error } => write!(f, "cannot write rejects to {}: {error}", path.display()),
            BuildError::Memory(bytes) => {
                write!(f, "{bytes} bytes of memory for each worker cannot be had: choose a smaller --max-memory")
            }
            BuildError::Base(error) => error.fmt(f),
            BuildError::Write(error) => error.fmt(f),
            BuildError::TooLarge { max_bytes, positions } => write!(
                f,
                "the positions of the greatest depth alone take more than --max-size, {max_bytes} bytes, which is full \
                 after {positions} of them: leave more out (--best-only, --max-pvs, --max-plies)"
            ),
            BuildError::Empty(counts) => {
                write!(f, "nothing to write: {} lines, {} rejected", counts.lines, counts.rejected())?;
                if counts.left_out > 0 {
                    write!(f, ", {} left out by the selection", counts.left_out)?;
                }
                for (reason, n) in named(&Reject::REASONS, &counts.rejects) {
                    write!(f, "; {reason}: {n}")?;
                }
                if counts.rejected() > 0 { f.write_str(" (--rejects FILE lists them)") } else { Ok(()) }
            }
        }
    }
}

impl std::error::Error for BuildError {}
