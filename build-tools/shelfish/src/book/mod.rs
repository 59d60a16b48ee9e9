//! Books that an engine plays from: Polyglot books, learning books and static books.

pub mod choice;
pub mod learning;

use std::io::{self, Read};
use std::path::Path;

use shakmaty::{Chess, Position as _};
use shelfish::played::Played;
use shelfish::polyglot;
use shelfish::position::Position;

use crate::database::blocking::{BlockingError, Database, Deadline};
use crate::input::is_sqlite;
use crate::system::url::scheme;
use choice::Candidate;
use learning::{Learning, LearningError};

/// Maximum size of a Polyglot book, which is loaded into memory: 67 million entries.
pub const MAX_POLYGLOT: u64 = 1 << 30;

/// Reasons why a Polyglot book cannot be opened.
#[derive(Debug, thiserror::Error)]
pub enum PolyglotFileError {
    /// The file cannot be read.
    #[error(transparent)]
    Read(io::Error),
    /// The file is too large for memory.
    #[error("found {0} bytes, expected a Polyglot book of at most {MAX_POLYGLOT} bytes")]
    Large(u64),
    /// The content is not a Polyglot book.
    #[error(transparent)]
    Content(polyglot::PolyglotError),
}

/// Reads a Polyglot book.
pub fn polyglot(path: &Path) -> Result<polyglot::PolyglotBook<Vec<u8>>, PolyglotFileError> {
    let file = shelfish::source::file::open(path).map_err(PolyglotFileError::Read)?;
    let mut bytes = Vec::new();
    file.take(MAX_POLYGLOT + 1)
        .read_to_end(&mut bytes)
        .map_err(PolyglotFileError::Read)?;
    if bytes.len() as u64 > MAX_POLYGLOT {
        return Err(PolyglotFileError::Large(bytes.len() as u64));
    }
    polyglot::PolyglotBook::open(bytes).map_err(PolyglotFileError::Content)
}

/// Reasons why a book cannot be opened.
#[derive(Debug, thiserror::Error)]
pub enum BookError {
    /// The file cannot be read.
    #[error("{0}: {1}")]
    Read(String, io::Error),
    /// The file is not a usable Polyglot book.
    #[error("{0}: {1}")]
    Polyglot(String, PolyglotFileError),
    /// The file is not a usable learning book.
    #[error("{0}: {1}")]
    Learning(String, LearningError),
    /// The database cannot be opened.
    #[error(transparent)]
    Static(BlockingError),
}

/// Reasons why the moves of a position cannot be read from a book.
#[derive(Debug, thiserror::Error)]
pub enum CandidatesError {
    /// The learning book cannot be read.
    #[error(transparent)]
    Learning(LearningError),
    /// The database cannot be read.
    #[error(transparent)]
    Static(BlockingError),
}

/// Book to play from.
pub enum Book {
    /// Polyglot book.
    Polyglot(polyglot::PolyglotBook<Vec<u8>>),
    /// Learning book.
    Learning(Learning),
    /// Database of played moves.
    Static(Box<Database<Played>>),
}

impl Book {
    /// Opens a Polyglot or learning book, or a database in a directory or at a URL.
    pub fn open(name: &str) -> Result<Book, BookError> {
        Book::open_with(name, Database::open)
    }

    /// Opens a Polyglot or learning book, or a database with `open`.
    pub fn open_with(
        name: &str,
        open: fn(&str) -> Result<Database<Played>, BlockingError>,
    ) -> Result<Book, BookError> {
        let path = Path::new(name);
        let is_manifest = path
            .file_name()
            .is_some_and(|name| name == shelfish::table::Manifest::FILE);
        if scheme(name).is_some() || path.is_dir() || is_manifest {
            return open(name)
                .map(|database| Book::Static(Box::new(database)))
                .map_err(BookError::Static);
        }
        let name = || name.to_owned();
        match is_sqlite(path).map_err(|error| BookError::Read(name(), error))? {
            true => Learning::open(path)
                .map(Book::Learning)
                .map_err(|error| BookError::Learning(name(), error)),
            false => polyglot(path)
                .map(Book::Polyglot)
                .map_err(|error| BookError::Polyglot(name(), error)),
        }
    }

    /// Returns the moves of a position in no particular order.
    pub fn candidates(
        &self,
        chess: &Chess,
        deadline: &Deadline,
    ) -> Result<Vec<Candidate>, CandidatesError> {
        match self {
            Book::Polyglot(book) => {
                let of_weight = |(m, weight): (_, u32)| Candidate {
                    m,
                    frequency: weight.into(),
                    wins: 0,
                    draws: 0,
                    losses: 0,
                };
                Ok(book.moves(chess).into_iter().map(of_weight).collect())
            }
            Book::Learning(book) => book
                .moves(&Position::from_chess(chess))
                .map_err(CandidatesError::Learning),
            Book::Static(book) => {
                let found = book
                    .lookup(chess, deadline)
                    .map_err(CandidatesError::Static)?;
                let played = found.map(|played| played.moves).unwrap_or_default();
                Ok(played
                    .into_iter()
                    .map(|played| candidate(chess, played))
                    .collect())
            }
        }
    }
}

/// Converts a played move to the point of view of the side that plays it.
fn candidate(chess: &Chess, played: shelfish::played::PlayedMove) -> Candidate {
    let results = played.results;
    let (wins, losses) = chess.turn().fold_wb(
        (results.white, results.black),
        (results.black, results.white),
    );
    Candidate {
        m: played.m,
        frequency: results.games(),
        wins,
        draws: results.draws,
        losses,
    }
}
