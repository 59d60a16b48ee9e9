//! Endgame tables in directories, on hosts and in buckets.

use std::io;
use std::path::PathBuf;

use shakmaty::Chess;
use shelfish::source::{Source as _, SourceErrorKind};
use shelfish_endgames::{EndgameError, Endgames, Probe, ProbedMove, Tables, read_index};

use super::{DatabaseSource, DatabaseSourceError};

/// Error of tables that cannot be opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenEndgamesError {
    /// The address is invalid, or its source cannot be created.
    #[error(transparent)]
    Source(#[from] DatabaseSourceError),
    /// The directory cannot be read, or a table is incomplete.
    #[error("{}: {error}", path.display())]
    Folder {
        /// Path of the directory.
        path: PathBuf,
        /// The error.
        error: io::Error,
    },
    /// The directory contains no table.
    #[error("{}: found no Syzygy table, expected files like KQvK.rtbw and KQvK.rtbz", .0.display())]
    Empty(PathBuf),
    /// The index of a host is missing.
    #[error("{0}; write the index by `shelfish endgames index`")]
    NoIndex(EndgameError),
    /// The index of a host cannot be read.
    #[error(transparent)]
    Index(EndgameError),
    /// A hash follows the address.
    #[error(
        "found #sha256-... after the address, but endgame tables have no manifest: remove the hash"
    )]
    Pinned,
}

impl From<EndgameError> for OpenEndgamesError {
    fn from(error: EndgameError) -> OpenEndgamesError {
        match &error {
            EndgameError::Source(source)
                if matches!(source.kind, SourceErrorKind::Status(403 | 404)) =>
            {
                OpenEndgamesError::NoIndex(error)
            }
            _ => OpenEndgamesError::Index(error),
        }
    }
}

/// Opens the tables of a directory.
fn folder(path: PathBuf) -> Result<Tables, OpenEndgamesError> {
    match Tables::open(&path) {
        Ok(tables) if tables.count() == 0 => Err(OpenEndgamesError::Empty(path)),
        Ok(tables) => Ok(tables),
        Err(error) => Err(OpenEndgamesError::Folder { path, error }),
    }
}

/// Tables of a directory, or of a source that is read by pages.
#[derive(Debug)]
pub enum EndgameTables {
    /// A directory. It needs no index; with an index, all bytes are checked.
    Folder(Tables),
    /// A host or a bucket.
    Remote(Box<Endgames<DatabaseSource>>),
}

impl EndgameTables {
    /// Opens the tables of several folders, separated as in `PATH`.
    pub fn open_path(path: &str) -> Result<Tables, OpenEndgamesError> {
        let mut folders = std::env::split_paths(path);
        let mut tables = folder(folders.next().unwrap_or_default())?;
        for path in folders {
            tables
                .add(&path)
                .map_err(|error| OpenEndgamesError::Folder { path, error })?;
        }
        Ok(tables)
    }

    /// Opens the tables of an address.
    pub async fn open(address: &str) -> Result<EndgameTables, OpenEndgamesError> {
        let source = super::Args::of(address).source()?;
        if source.is_pinned() {
            return Err(OpenEndgamesError::Pinned);
        }
        if source.is_directory() {
            return folder(source.locate("").into()).map(EndgameTables::Folder);
        }
        let index = read_index(&source).await?;
        Ok(EndgameTables::Remote(Box::new(Endgames::new(
            source, index, None,
        ))))
    }

    /// Returns the result of a position and of all its legal moves.
    pub async fn probe(&self, chess: &Chess) -> Result<Probe, EndgameError> {
        match self {
            EndgameTables::Folder(tables) => tables.probe(chess),
            EndgameTables::Remote(endgames) => endgames.probe(chess).await,
        }
    }

    /// Returns the best moves of both sides until the next capture or pawn move.
    pub async fn line(&self, chess: &Chess) -> Result<Vec<ProbedMove>, EndgameError> {
        shelfish_endgames::line(chess, async |chess: Chess| self.probe(&chess).await).await
    }

    /// Returns the maximum number of pieces of a table.
    pub fn max_pieces(&self) -> usize {
        match self {
            EndgameTables::Folder(tables) => tables.max_pieces(),
            EndgameTables::Remote(endgames) => endgames.index().max_pieces(),
        }
    }
}
