//! Errors of builds.

use std::fmt;
use std::io;
use std::path::PathBuf;

use shelfish::table::WriteError;

use super::base::BaseError;
use crate::input::{Input, InputError};
use crate::system::workspace::{Workspace, WorkspaceError, database_of};
use crate::system::write_failure::WriteFailure;

/// An error of a build. The previous database is unchanged.
#[derive(Debug)]
pub enum BuildError {
    /// An input cannot be used.
    Input(InputError),
    /// The workspace cannot be used.
    Workspace(WorkspaceError),
    /// The disk has less room than the build may use.
    Disk(PathBuf, io::Error),
    /// The memory of a worker cannot be allocated; its size in bytes.
    Memory(usize),
    /// A base cannot be used.
    Base(BaseError),
    /// The file of rejected lines cannot be written.
    Rejects {
        /// The path of the file.
        path: PathBuf,
        /// The error.
        error: io::Error,
    },
    /// The database exceeds the maximum size.
    TooLarge {
        /// The maximum size in bytes.
        max_bytes: u64,
        /// Number of bytes written before the limit was reached.
        bytes: u64,
        /// Number of positions written before the limit was reached.
        positions: u64,
    },
    /// The database is smaller than requested, so it was discarded.
    TooSmall {
        /// Size of its files, in bytes.
        bytes: u64,
    },
    /// No line of the inputs is an evaluation.
    NoEvaluations {
        /// The inputs.
        inputs: Vec<Input>,
        /// Number of their lines.
        lines: u64,
    },
    /// No position is left. The text reports what became of the inputs.
    Empty(String),
    /// The database cannot be written.
    Write(WriteError),
}

impl BuildError {
    /// Returns the error for a temporary file in a workspace.
    pub fn temporary(workspace: &Workspace, error: io::Error) -> BuildError {
        BuildError::Workspace(workspace.error(error))
    }
}

impl fmt::Display for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BuildError::Input(error) => error.fmt(f),
            BuildError::Workspace(error) => error.fmt(f),
            BuildError::Disk(path, error) => write!(f, "{}: {error}", path.display()),
            BuildError::Rejects { path, error } => {
                write!(f, "cannot write rejects to {}: {error}", path.display())
            }
            BuildError::Memory(bytes) => {
                write!(
                    f,
                    "cannot allocate {bytes} bytes of memory for each worker: choose a smaller --max-memory"
                )
            }
            BuildError::Base(error) => error.fmt(f),
            BuildError::Write(WriteError::Io { path, error }) => WriteFailure {
                folder: database_of(path),
                path,
                error,
            }
            .fmt(f),
            BuildError::Write(error) => error.fmt(f),
            BuildError::NoEvaluations { inputs, lines } => {
                let names: Vec<String> = inputs.iter().map(ToString::to_string).collect();
                write!(
                    f,
                    "{}: not a Lichess dump and not PGN: none of {lines} lines is an evaluation (--rejects FILE lists the \
                     reasons)",
                    names.join(", ")
                )
            }
            BuildError::TooLarge {
                max_bytes,
                positions,
                ..
            } => write!(
                f,
                "--max-size, {max_bytes} bytes, is full after {positions} positions of the greatest depth: leave more out \
                 (--best-only, --max-pvs, --max-plies)"
            ),
            BuildError::TooSmall { bytes } => write!(f, "the database has only {bytes} bytes"),
            BuildError::Empty(counts) => write!(f, "nothing to write: {counts}"),
        }
    }
}

impl std::error::Error for BuildError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            BuildError::Base(error) => Some(error),
            _ => None,
        }
    }
}

impl From<InputError> for BuildError {
    fn from(error: InputError) -> BuildError {
        BuildError::Input(error)
    }
}

impl From<WorkspaceError> for BuildError {
    fn from(error: WorkspaceError) -> BuildError {
        BuildError::Workspace(error)
    }
}

impl From<BaseError> for BuildError {
    fn from(error: BaseError) -> BuildError {
        BuildError::Base(error)
    }
}
