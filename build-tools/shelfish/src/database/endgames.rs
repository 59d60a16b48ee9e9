//! Endgame tables in directories, on hosts and in buckets.

use std::fmt::Display;
use std::path::{Path, PathBuf};

use shakmaty::Chess;
use shelfish::source::{Source as _, SourceErrorKind};
use shelfish_endgames::{EndgameError, Endgames, Probe, ProbedMove, Tables, read_index};

use super::DatabaseSource;
use crate::BoxError;

/// Adds the remedy to the error of an index that a host lacks.
fn without_index(error: EndgameError) -> BoxError {
    match &error {
        EndgameError::Source(source)
            if matches!(source.kind, SourceErrorKind::Status(403 | 404)) =>
        {
            format!("{error}; write the index by `shelfish endgames index`").into()
        }
        _ => error.into(),
    }
}

fn named(path: &Path, why: impl Display) -> BoxError {
    format!("{}: {why}", path.display()).into()
}

/// Opens the tables of a directory.
fn folder(path: PathBuf) -> Result<Tables, BoxError> {
    let tables = Tables::open(&path).map_err(|error| named(&path, error))?;
    if tables.count() == 0 {
        let why = "found no Syzygy table, expected files like KQvK.rtbw and KQvK.rtbz";
        return Err(named(&path, why));
    }
    Ok(tables)
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
    pub fn open_path(path: &str) -> Result<Tables, BoxError> {
        let mut folders = std::env::split_paths(path);
        let mut tables = folder(folders.next().unwrap_or_default())?;
        for path in folders {
            tables.add(&path).map_err(|error| named(&path, error))?;
        }
        Ok(tables)
    }

    /// Opens the tables of an address.
    pub async fn open(address: &str) -> Result<EndgameTables, BoxError> {
        let source = super::Args::of(address).source()?;
        if source.is_pinned() {
            return Err(
                "found #sha256-... after the address, but endgame tables have no manifest: remove the hash"
                    .into(),
            );
        }
        if source.is_directory() {
            return folder(source.locate("").into()).map(EndgameTables::Folder);
        }
        let index = read_index(&source).await.map_err(without_index)?;
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
