//! Books that an engine plays from: Polyglot books, learning books and static books.

pub mod choice;
pub mod learning;

use std::io::Read;
use std::path::Path;

use shakmaty::{Chess, Position as _};
use shelfish::played::Played;
use shelfish::polyglot;
use shelfish::position::Position;

use crate::BoxError;
use crate::database::blocking::{BlockingError, Database, Deadline};
use crate::database::split_pin;
use crate::input::is_sqlite;
use crate::system::url::scheme;
use choice::Candidate;
use learning::Learning;

/// Maximum size of a Polyglot book, which is loaded into memory: 67 million entries.
const MAX_POLYGLOT: u64 = 1 << 30;

/// Reads a Polyglot book.
fn polyglot(path: &Path) -> Result<polyglot::PolyglotBook, BoxError> {
    let mut bytes = Vec::new();
    let file = shelfish::source::file::open(path)?;
    file.take(MAX_POLYGLOT + 1).read_to_end(&mut bytes)?;
    let found = bytes.len() as u64;
    if found > MAX_POLYGLOT {
        return Err(PolyglotTooLarge(found).into());
    }
    Ok(polyglot::PolyglotBook::open(&bytes)?)
}

/// Error of a Polyglot book that is too large for memory.
#[derive(Debug, thiserror::Error)]
#[error("found {0} bytes, expected a Polyglot book of at most {MAX_POLYGLOT} bytes")]
struct PolyglotTooLarge(u64);

/// Book to play from.
pub enum Book {
    /// Polyglot book.
    Polyglot(polyglot::PolyglotBook),
    /// Learning book.
    Learning(Learning),
    /// Database of played moves.
    Static(Box<Database<Played>>),
}

impl Book {
    /// Opens a Polyglot or learning book, or a database with `open`.
    pub fn open(
        name: &str,
        open: fn(&str) -> Result<Database<Played>, BlockingError>,
    ) -> Result<Book, BoxError> {
        let (database, pin) = split_pin(name)?;
        let path = Path::new(database);
        let is_manifest = path
            .file_name()
            .is_some_and(|name| name == shelfish::table::Manifest::FILE);
        if scheme(name).is_some() || path.is_dir() || is_manifest || pin.is_some() {
            return Ok(Book::Static(Box::new(open(name)?)));
        }
        let open = || -> Result<Book, BoxError> {
            Ok(match is_sqlite(path)? {
                true => Book::Learning(Learning::open(path)?),
                false => Book::Polyglot(polyglot(path)?),
            })
        };
        open().map_err(|error| format!("{name}: {error}").into())
    }

    /// Returns the moves of a position in no particular order.
    pub fn candidates(
        &self,
        chess: &Chess,
        deadline: &Deadline,
    ) -> Result<Vec<Candidate>, BoxError> {
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
            Book::Learning(book) => Ok(book.moves(&Position::from_chess(chess))?),
            Book::Static(book) => {
                let played = book.lookup(chess, deadline)?.into_iter();
                let moves = played.flat_map(|played| played.moves);
                Ok(moves.map(|played| candidate(chess, played)).collect())
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
