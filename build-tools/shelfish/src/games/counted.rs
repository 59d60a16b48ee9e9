//! Polyglot and learning books as inputs of a build. Their moves are counted already.

use std::fmt;
use std::io;
use std::ops::AddAssign;
use std::sync::{Arc, Mutex};

use serde::Serialize;
use sha2::{Digest, Sha256};
use shakmaty::uci::UciMove;
use shakmaty::{Chess, Move, Position as _};
use shelfish::played::{Details, PlayedMove, Results};
use shelfish::polyglot::{self, Walk};
use shelfish::position::Position;

use crate::book::learning::{Learning, LearningError, Row};
use crate::input::BookFile;
use crate::terminal::report::write_counts;
use crate::terminal::shown::hexadecimal;

/// Number of positions that a worker processes at a time.
const CHUNK: usize = 4_096;

/// Counts of the moves of books.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct BookCounts {
    /// Number of all moves.
    pub moves: u64,
    /// Number of moves at positions that the walk did not reach.
    pub unreached: u64,
    /// Number of illegal moves, and of moves at invalid positions.
    pub illegal: u64,
    /// Number of moves without a weight or a game with a result.
    pub without_result: u64,
}

impl BookCounts {
    /// Returns whether no book was read.
    pub fn is_empty(&self) -> bool {
        *self == BookCounts::default()
    }
}

impl AddAssign for BookCounts {
    fn add_assign(&mut self, other: BookCounts) {
        self.moves += other.moves;
        self.unreached += other.unreached;
        self.illegal += other.illegal;
        self.without_result += other.without_result;
    }
}

impl fmt::Display for BookCounts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_counts(
            f,
            [
                ("moves of books", self.moves),
                (
                    "  not reached from the positions to start from (--start), not used",
                    self.unreached,
                ),
                ("  not legal, not used", self.illegal),
                ("  without weight or result, not used", self.without_result),
            ],
        )
    }
}

/// Some positions of a book.
#[derive(Debug, Default)]
pub struct Counted {
    /// Positions with their moves. Each move was played at least once.
    pub positions: Vec<(Position, Vec<PlayedMove>)>,
    /// Counts of the moves that were read for these positions.
    pub counts: BookCounts,
    /// Number of games in the book.
    pub games: u64,
}

type Chunks = Box<dyn Iterator<Item = io::Result<Counted>>>;

/// Iterates over the positions of a book. At the end, adds the hash of the contents to `hashes`.
pub fn chunks(book: &BookFile, starts: &[Position], hashes: Arc<Mutex<Vec<String>>>) -> Chunks {
    let push = move |hash: Sha256| {
        if let Ok(mut hashes) = hashes.lock() {
            hashes.push(hexadecimal(&hash.finalize()[..16]));
        }
    };
    let chunks: io::Result<Chunks> = match book {
        BookFile::Polyglot(path) => {
            crate::book::polyglot(path)
                .map_err(io::Error::other)
                .map(|book| {
                    push(Sha256::new_with_prefix(book.bytes()));
                    walk(book, starts)
                })
        }
        BookFile::Learning(path) => Learning::open(path)
            .map_err(io::Error::other)
            .map(|book| rows(book, push)),
    };
    chunks.unwrap_or_else(|error| Box::new(core::iter::once(Err(error))))
}

/// Walks through a Polyglot book, whose weights count as draws.
fn walk(book: polyglot::PolyglotBook<Vec<u8>>, starts: &[Position]) -> Chunks {
    let initial = [Position::from_chess(&Chess::default())];
    let mut walk = Some(Walk::new(
        book,
        if starts.is_empty() { &initial } else { starts },
    ));
    Box::new(core::iter::from_fn(move || {
        let going = walk.as_mut()?;
        let mut counted = Counted::default();
        for (position, moves) in going.by_ref().take(CHUNK) {
            let played = |(m, weight): (Move, u32)| {
                let results = Results {
                    draws: weight.into(),
                    ..Results::default()
                };
                (weight > 0).then_some(PlayedMove {
                    m,
                    results,
                    details: Details::default(),
                })
            };
            let all = moves.len();
            let moves: Vec<PlayedMove> = moves.into_iter().filter_map(played).collect();
            counted.counts.without_result += (all - moves.len()) as u64;
            counted.positions.push((position, moves));
        }
        if counted.positions.len() < CHUNK {
            counted.counts.moves = going.total() as u64;
            counted.counts.unreached = (going.total() - going.entries()) as u64;
            counted.counts.illegal = going.illegal() as u64;
            walk = None;
        }
        Some(Ok(counted))
    }))
}

/// Reads the rows of a learning book.
fn rows(book: Learning, push: impl FnOnce(Sha256) + 'static) -> Chunks {
    let mut at = Some((String::new(), String::new()));
    let (mut hash, mut push) = (Sha256::new(), Some(push));
    let mut next = move || -> Result<Option<Counted>, LearningError> {
        let Some((position, m)) = &at else {
            return Ok(None);
        };
        let found = book.rows_behind(position, m, CHUNK)?;
        let mut counted = Counted::default();
        at = found
            .last()
            .filter(|_| found.len() == CHUNK)
            .map(|row| (row.position.clone(), row.m.clone()));
        for row in found {
            hash.update(row.to_bytes());
            counted.counts.moves += 1;
            match played(&row) {
                None => counted.counts.illegal += 1,
                Some((_, played)) if played.results.games() == 0 => {
                    counted.counts.without_result += 1
                }
                Some((position, played)) => counted.positions.push((position, vec![played])),
            }
        }
        if at.is_none() {
            counted.games = book.counts()?[2];
            if let Some(push) = push.take() {
                push(core::mem::take(&mut hash));
            }
        }
        Ok(Some(counted))
    };
    Box::new(core::iter::from_fn(move || {
        next().map_err(io::Error::other).transpose()
    }))
}

/// Converts a row to White's point of view.
fn played(row: &Row) -> Option<(Position, PlayedMove)> {
    let position: Position = row.position.parse().ok()?;
    let m = row
        .m
        .parse::<UciMove>()
        .ok()?
        .to_move(position.chess())
        .ok()?;
    let (white, black) = position
        .chess()
        .turn()
        .fold_wb((row.wins, row.losses), (row.losses, row.wins));
    Some((
        position,
        PlayedMove {
            m,
            results: Results {
                white,
                draws: row.draws,
                black,
            },
            details: Details::default(),
        },
    ))
}
