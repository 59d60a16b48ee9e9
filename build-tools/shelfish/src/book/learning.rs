//! Learning book: an SQLite file with the moves of games and their results.
//!
//! Wins and losses are counted for the side that plays the move. A game is learned once for each side, identified by
//! its hash. The hash is stored in the same transaction as the moves, so an interrupted run can be repeated. Several
//! processes may write alternately.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::{
    Connection, ErrorCode, OpenFlags, OptionalExtension, Transaction, TransactionBehavior, params,
};
use shakmaty::uci::UciMove;
use shakmaty::{CastlingMode, Color, Move};
use shelfish::position::Position;

use super::choice::Candidate;
use crate::input::is_sqlite;

/// Application id of learning books in SQLite files: "SflB".
const APPLICATION: i32 = 0x5366_6c42;
/// Version of the tables.
const VERSION: i32 = 1;
/// Timeout for the lock of another process.
const BUSY: Duration = Duration::from_secs(60);

const TABLES: &str = "
CREATE TABLE moves (
  position TEXT NOT NULL, -- four fields of FEN
  move TEXT NOT NULL, -- as UCI has it, castling as the king's move to its rook
  frequency INTEGER NOT NULL CHECK (frequency > 0), -- also of games without a result
  wins INTEGER NOT NULL CHECK (wins >= 0), -- of the side that moves
  draws INTEGER NOT NULL CHECK (draws >= 0),
  losses INTEGER NOT NULL CHECK (losses >= 0),
  PRIMARY KEY (position, move)
) STRICT, WITHOUT ROWID;
CREATE TABLE games (
  hash BLOB NOT NULL PRIMARY KEY,
  sides INTEGER NOT NULL CHECK (sides BETWEEN 1 AND 3) -- 1: White's moves are learned, 2: Black's
) STRICT, WITHOUT ROWID;";

const ADD: &str = "
INSERT INTO moves VALUES (?1, ?2, 1, ?3, ?4, ?5)
ON CONFLICT DO UPDATE SET frequency = frequency + 1,
  wins = wins + excluded.wins, draws = draws + excluded.draws, losses = losses + excluded.losses";

/// Reasons why a learning book cannot be read or written.
#[derive(Debug, thiserror::Error)]
pub enum LearningError {
    /// The file is not an SQLite file.
    #[error(
        "{}: expected a learning book, which is an SQLite file, found another file: name a new file, or a book that \
         `shelfish book learn` wrote",
        .0.display()
    )]
    NotSqlite(PathBuf),
    /// The SQLite file is not a learning book.
    #[error(
        "{}: an SQLite file, but not a learning book: name a new file, or a book that `shelfish book learn` wrote",
        .0.display()
    )]
    NotABook(PathBuf),
    /// A later version wrote the book.
    #[error(
        "{}: expected a learning book of version {VERSION}, found version {found}: use a newer shelfish",
        path.display()
    )]
    Version {
        /// Path of the file.
        path: PathBuf,
        /// Version of the tables.
        found: i32,
    },
    /// Another process holds the lock for too long.
    #[error("{}: another program held the lock for more than {} s", .0.display(), BUSY.as_secs())]
    Busy(PathBuf),
    /// SQLite cannot open the file, or finds damage.
    #[error("{}: {error}", path.display())]
    Sqlite {
        /// Path of the file.
        path: PathBuf,
        /// Error of SQLite.
        error: rusqlite::Error,
    },
    /// The file cannot be read.
    #[error("{}: {error}", path.display())]
    Read {
        /// Path of the file.
        path: PathBuf,
        /// Error of the system.
        error: io::Error,
    },
}

/// Data of a game to learn.
#[derive(Debug)]
pub struct GameToLearn {
    /// Hash that identifies the game.
    pub hash: [u8; 16],
    /// Sides whose moves are learned, as in the table `games`.
    pub sides: u8,
    /// Positions without repetitions, with the played move.
    pub moves: Vec<(Position, Move)>,
    /// Winner, or `Some(None)` for a draw, or `None` if the result is unknown.
    pub winner: Option<Option<Color>>,
}

/// Counts of a call of [`Learning::learn`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Learned {
    /// Number of games that were new for at least one side.
    pub games: u64,
    /// Number of moves learned from these games.
    pub moves: u64,
    /// Number of these games without a result.
    pub without_result: u64,
}

/// Open learning book.
pub struct Learning {
    connection: Connection,
    path: PathBuf,
}

impl Learning {
    /// Opens a book for reading.
    pub fn open(path: &Path) -> Result<Learning, LearningError> {
        let path_of = || path.to_owned();
        let is_sqlite = is_sqlite(path).map_err(|error| LearningError::Read {
            path: path_of(),
            error,
        })?;
        if !is_sqlite {
            return Err(LearningError::NotSqlite(path_of()));
        }
        let learning = Learning::connect(path, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
        learning.check()?;
        Ok(learning)
    }

    /// Opens a book for writing, and creates it if the file does not exist.
    pub fn create(path: &Path) -> Result<Learning, LearningError> {
        let length = std::fs::metadata(path).map_or(0, |metadata| metadata.len());
        if length > 0 && !is_sqlite(path).unwrap_or(false) {
            return Err(LearningError::NotSqlite(path.to_owned()));
        }
        let mut learning = Learning::connect(
            path,
            OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE,
        )?;
        learning.write(|transaction| {
            let tables: i64 =
                transaction
                    .query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))?;
            if tables == 0 {
                transaction.execute_batch(TABLES)?;
                transaction.pragma_update(None, "application_id", APPLICATION)?;
                transaction.pragma_update(None, "user_version", VERSION)?;
            }
            Ok(())
        })?;
        learning.check()?;
        Ok(learning)
    }

    fn connect(path: &Path, flags: OpenFlags) -> Result<Learning, LearningError> {
        let open = || {
            let flags = flags | OpenFlags::SQLITE_OPEN_NO_MUTEX;
            let connection = Connection::open_with_flags(path, flags)?;
            connection.busy_timeout(BUSY)?;
            // The schema of an untrusted file may contain functions.
            connection.pragma_update(None, "trusted_schema", false)?;
            Ok(Learning {
                connection,
                path: path.to_owned(),
            })
        };
        open().map_err(|error| sqlite_error(path, error))
    }

    /// Checks that the file is a learning book.
    fn check(&self) -> Result<(), LearningError> {
        let (tables, application, version): (i64, i32, i32) = self.read(|book| {
            let number = |pragma: &str| book.pragma_query_value(None, pragma, |row| row.get(0));
            let tables = "SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name IN ('moves', 'games')";
            let tables = book.query_row(tables, [], |row| row.get(0))?;
            Ok((tables, number("application_id")?, number("user_version")?))
        })?;
        if application != APPLICATION || tables != 2 {
            return Err(LearningError::NotABook(self.path.clone()));
        }
        match version {
            VERSION => Ok(()),
            found => Err(LearningError::Version {
                path: self.path.clone(),
                found,
            }),
        }
    }

    fn read<T>(
        &self,
        query: impl FnOnce(&Connection) -> rusqlite::Result<T>,
    ) -> Result<T, LearningError> {
        query(&self.connection).map_err(|error| sqlite_error(&self.path, error))
    }

    /// Runs `work` in an exclusive transaction.
    fn write<T>(
        &mut self,
        work: impl FnOnce(&Transaction) -> rusqlite::Result<T>,
    ) -> Result<T, LearningError> {
        let whole = || {
            let transaction = self
                .connection
                .transaction_with_behavior(TransactionBehavior::Immediate)?;
            let done = work(&transaction)?;
            transaction.commit()?;
            Ok(done)
        };
        whole().map_err(|error| sqlite_error(&self.path, error))
    }

    /// Learns games that are not known yet.
    ///
    /// No game is learned if the file cannot be written.
    pub fn learn(&mut self, games: &[GameToLearn]) -> Result<Learned, LearningError> {
        self.write(|transaction| {
            let mut learned = Learned::default();
            let mut known = transaction.prepare("SELECT sides FROM games WHERE hash = ?1")?;
            let mut remember = transaction.prepare(
                "INSERT INTO games VALUES (?1, ?2) ON CONFLICT DO UPDATE SET sides = sides | excluded.sides",
            )?;
            let mut add = transaction.prepare(ADD)?;
            for GameToLearn { hash, sides, moves, winner } in games {
                let before: Option<u8> = known.query_row([hash], |row| row.get(0)).optional()?;
                let new = sides & !before.unwrap_or(0);
                if new == 0 {
                    continue;
                }
                remember.execute(params![hash, new])?;
                learned.games += 1;
                learned.without_result += u64::from(winner.is_none());
                for (position, m) in moves {
                    let turn = shakmaty::Position::turn(position.chess());
                    if new & turn.fold_wb(1, 2) > 0 {
                        let is = |result: Option<Color>| i64::from(*winner == Some(result));
                        let results = (is(Some(turn)), is(None), is(Some(!turn)));
                        let uci = m.to_uci(CastlingMode::Chess960).to_string();
                        add.execute(params![position.to_string(), uci, results.0, results.1, results.2])?;
                        learned.moves += 1;
                    }
                }
            }
            Ok(learned)
        })
    }

    /// Returns the moves of a position in no particular order. Ignores illegal moves.
    pub fn moves(&self, position: &Position) -> Result<Vec<Candidate>, LearningError> {
        let candidate = |row: &rusqlite::Row| {
            let uci: String = row.get(0)?;
            let uci = uci.parse::<UciMove>().ok();
            let Some(m) = uci.and_then(|uci| uci.to_move(position.chess()).ok()) else {
                return Ok(None);
            };
            Ok(Some(Candidate {
                m,
                frequency: row.get(1)?,
                wins: row.get(2)?,
                draws: row.get(3)?,
                losses: row.get(4)?,
            }))
        };
        let query = "SELECT move, frequency, wins, draws, losses FROM moves WHERE position = ?1";
        self.read(|book| {
            let mut query = book.prepare(query)?;
            let moves = query.query_map([position.to_string()], candidate)?;
            moves.filter_map(Result::transpose).collect()
        })
    }

    /// Returns the number of positions, moves and games.
    pub fn counts(&self) -> Result<[u64; 3], LearningError> {
        let query = "SELECT (SELECT count(DISTINCT position) FROM moves), (SELECT count(*) FROM moves), (SELECT count(*) FROM games)";
        let counts = |row: &rusqlite::Row| Ok([row.get(0)?, row.get(1)?, row.get(2)?]);
        self.read(|book| book.query_row(query, [], counts))
    }
}

fn sqlite_error(path: &Path, error: rusqlite::Error) -> LearningError {
    let path = path.to_owned();
    match error.sqlite_error_code() {
        Some(ErrorCode::DatabaseBusy) => LearningError::Busy(path),
        Some(ErrorCode::NotADatabase) => LearningError::NotSqlite(path),
        _ => LearningError::Sqlite { path, error },
    }
}
