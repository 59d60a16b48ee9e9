//! Books that an engine plays from: Polyglot's, one that learns, or a static one; and `shelfish book`.

pub mod choice;
pub mod learning;

use std::fmt;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use shakmaty::{Chess, Position as _};
use shelfish::played::Played;
use shelfish::polyglot;
use shelfish::position::Position;

use crate::database::blocking::{Database, Deadline};
use crate::input::BookFile;
use crate::system::url::scheme;
use choice::Candidate;
use learning::Learning;

/// The most bytes of a book of Polyglot, which is held in memory: 67 million entries.
pub const MAX_POLYGLOT: u64 = 1 << 30;

/// Why there is no book of Polyglot.
#[derive(Debug)]
pub enum PolyglotFileError {
    /// It cannot be read.
    Read(io::Error),
    /// It has more bytes than are held in memory.
    Large(u64),
    /// Its bytes are not those of a Polyglot book.
    Content(polyglot::PolyglotError),
}

impl fmt::Display for PolyglotFileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PolyglotFileError::Read(error) => error.fmt(f),
            PolyglotFileError::Large(bytes) => {
                write!(f, "it has {bytes} bytes, a Polyglot book of at most {MAX_POLYGLOT} was expected")
            }
            PolyglotFileError::Content(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for PolyglotFileError {}

/// Reads a book of Polyglot.
///
/// # Errors
///
/// There is none.
pub fn polyglot(path: &Path) -> Result<polyglot::PolyglotBook<Vec<u8>>, PolyglotFileError> {
    let file = File::open(path).map_err(PolyglotFileError::Read)?;
    let mut bytes = Vec::new();
    file.take(MAX_POLYGLOT + 1).read_to_end(&mut bytes).map_err(PolyglotFileError::Read)?;
    if bytes.len() as u64 > MAX_POLYGLOT {
        return Err(PolyglotFileError::Large(bytes.len() as u64));
    }
    polyglot::PolyglotBook::open(bytes).map_err(PolyglotFileError::Content)
}

/// A book to play from.
pub enum Book {
    /// In Polyglot's format.
    Polyglot(polyglot::PolyglotBook<Vec<u8>>),
    /// One that learns.
    Learning(Learning),
    /// A database of played moves.
    Static(Box<Database<Played>>),
}

impl Book {
    /// Opens a file of either kind, or the directory or URL of a database.
    ///
    /// # Errors
    ///
    /// Why it is no book.
    pub fn open(name: &str) -> Result<Book, String> {
        Book::open_with(name, Database::open)
    }

    /// Opens a file of either kind, or a database in the given way.
    ///
    /// # Errors
    ///
    /// Why it is no book.
    pub fn open_with(name: &str, open: fn(&str) -> Result<Database<Played>, String>) -> Result<Book, String> {
        let path = Path::new(name);
        let is_manifest = path.file_name().is_some_and(|name| name == shelfish::table::Manifest::FILE);
        if scheme(name).is_some() || path.is_dir() || is_manifest {
            return open(name).map(|database| Book::Static(Box::new(database)));
        }
        let told = |error: &dyn fmt::Display| format!("{name}: {error}");
        match BookFile::of(path).map_err(|error| told(&error))? {
            Some(BookFile::Learning(path)) => Learning::open(&path).map(Book::Learning).map_err(|error| told(&error)),
            _ => polyglot(path).map(Book::Polyglot).map_err(|error| told(&error)),
        }
    }

    /// The moves to a position, in no order.
    ///
    /// # Errors
    ///
    /// Why the book does not answer.
    pub fn candidates(&self, chess: &Chess, deadline: &Deadline) -> Result<Vec<Candidate>, String> {
        match self {
            Book::Polyglot(book) => {
                let of_weight =
                    |(m, weight): (_, u32)| Candidate { m, frequency: weight.into(), wins: 0, draws: 0, losses: 0 };
                Ok(book.moves(chess).into_iter().map(of_weight).collect())
            }
            Book::Learning(book) => book.moves(&Position::from_chess(chess)).map_err(|error| error.to_string()),
            Book::Static(book) => {
                let played = book.lookup(chess, deadline)?.map(|played| played.moves).unwrap_or_default();
                Ok(played.into_iter().map(|played| candidate(chess, played)).collect())
            }
        }
    }
}

/// A played move as the side that plays it sees it.
fn candidate(chess: &Chess, played: shelfish::played::PlayedMove) -> Candidate {
    let results = played.results;
    let (wins, losses) = chess.turn().fold_wb((results.white, results.black), (results.black, results.white));
    Candidate { m: played.m, frequency: results.games(), wins, draws: results.draws, losses }
}
