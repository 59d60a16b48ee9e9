//! Errors of builds.

use std::io;

use shelfish::table::WriteError;

use super::base::BaseError;
use super::spool::SpoolError;
use crate::input::{Input, InputError};
use crate::system::workspace::{Workspace, WorkspaceError};
use crate::system::write_failure;

/// An error of a build. The previous database is unchanged.
#[derive(Debug, thiserror::Error)]
pub enum BuildError {
    /// An input cannot be used.
    #[error(transparent)]
    Input(#[from] InputError),
    /// The workspace cannot be used.
    #[error(transparent)]
    Workspace(#[from] WorkspaceError),
    /// A temporary file, or the lines of a part, cannot be read or written.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// A temporary file, or a line of a part, is not a record.
    #[error(transparent)]
    Spool(#[from] SpoolError),
    /// A base cannot be used.
    #[error(transparent)]
    Base(#[from] BaseError),
    /// The database exceeds the maximum size.
    #[error(
        "--max-size, {max_bytes} bytes, is full after {positions} positions of the greatest depth: leave more out \
         (--best-only, --max-pvs, --max-plies)"
    )]
    TooLarge {
        /// The maximum size in bytes.
        max_bytes: u64,
        /// Number of bytes written before the limit was reached.
        bytes: u64,
        /// Number of positions written before the limit was reached.
        positions: u64,
    },
    /// The database is smaller than requested, so it was discarded.
    #[error("the database has only {bytes} bytes")]
    TooSmall {
        /// Size of its files, in bytes.
        bytes: u64,
    },
    /// The build cannot begin, or has no result; the text says why.
    #[error("{0}")]
    Other(String),
    /// The database cannot be written.
    #[error("{}", write_failure::of_table(.0))]
    Write(#[from] WriteError),
}

impl BuildError {
    /// Returns the error of inputs that contain no evaluation.
    pub fn no_evaluations(inputs: &[Input], lines: u64) -> BuildError {
        let inputs: Vec<_> = inputs.iter().map(ToString::to_string).collect();
        let inputs = inputs.join(", ");
        BuildError::Other(format!(
            "{inputs}: not a Lichess dump and not PGN: none of {lines} lines is an evaluation (--rejects FILE lists the reasons)"
        ))
    }

    /// Adds the path of the workspace to an error of a temporary file.
    pub fn in_workspace(self, workspace: &Workspace) -> BuildError {
        match self {
            BuildError::Io(error) => workspace.error(error).into(),
            BuildError::Spool(error) => workspace.error(error.into()).into(),
            error => error,
        }
    }
}
