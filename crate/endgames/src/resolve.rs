//! Results of positions from the values of tables.
//!
//! A table does not know en passant. It may also contain any lower value for a position with a winning capture, whichever is
//! shortest to write. A table of distances has one side to move, and any values for positions with a winning capture or pawn
//! move. The captures, pawn moves and replies of a position complete its values.

use core::cell::Cell;
use std::sync::Arc;

use shakmaty::{Chess, Position as _, Role};

use crate::error::{EndgameError, Uncovered};
use crate::header::{Header, Place, Plies};
use crate::material::Material;
use crate::name::{Metric, TableName};
use crate::outcome::Outcome;
use crate::pairs::{Steps, Stop};
use crate::table_error::TableError;

/// Tables by their pieces.
#[derive(Clone, Debug, Default)]
pub(crate) struct Catalog {
    /// Pieces with the stronger side first, metric and number of each table, in order.
    tables: Vec<(Material, Metric, usize)>,
}

impl Catalog {
    /// Adds a table. A table of the same pieces is replaced.
    pub(crate) fn add(&mut self, name: &TableName, number: usize) {
        let material = Material::of_name(name.material()).stronger_first();
        match self.place(material, name.metric()) {
            Ok(place) => self.tables[place].2 = number,
            Err(place) => self.tables.insert(place, (material, name.metric(), number)),
        }
    }

    fn place(&self, material: Material, metric: Metric) -> Result<usize, usize> {
        self.tables
            .binary_search_by_key(&(material, metric), |(material, metric, _)| {
                (*material, *metric)
            })
    }

    /// Returns the number of a table, whichever side is White.
    pub(crate) fn find(&self, material: Material, metric: Metric) -> Option<usize> {
        let place = self.place(material.stronger_first(), metric).ok()?;
        Some(self.tables[place].2)
    }
}

/// Tables whose bytes can be read, now or later.
pub(crate) trait Files {
    fn catalog(&self) -> &Catalog;

    /// Returns the name of a table.
    fn name(&self, table: usize) -> String;

    /// Returns the header of a table.
    fn header(&self, table: usize) -> Result<Arc<Header>, Stop<EndgameError>>;

    /// Fills `bytes` with the bytes of a table from a byte on.
    fn read(&self, table: usize, at: u64, bytes: &mut [u8]) -> Result<(), Stop<EndgameError>>;
}

/// Plies until the next capture or pawn move of the side that wins: negative for a loss, 0 for a draw.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Distance {
    pub(crate) plies: i32,
    /// Whether the distance may be one ply more.
    pub(crate) is_rounded: bool,
}

/// Plies that the distance of a draw by the 50-move rule has in addition.
const CURSED: i32 = 100;

impl Distance {
    /// Returns the distance of a position whose best move is a capture or pawn move.
    fn before_zeroing(outcome: Outcome) -> Distance {
        let plies = match outcome {
            Outcome::Loss | Outcome::MaybeLoss => -1,
            Outcome::BlessedLoss => -1 - CURSED,
            Outcome::Draw => 0,
            Outcome::CursedWin => 1 + CURSED,
            Outcome::Win | Outcome::MaybeWin => 1,
        };
        Distance {
            plies,
            is_rounded: false,
        }
    }

    /// Returns the distance with more plies. A draw has no more plies.
    fn later(self, plies: i32) -> Distance {
        Distance {
            plies: self.plies + plies * self.plies.signum(),
            ..self
        }
    }

    fn reversed(self) -> Distance {
        Distance {
            plies: -self.plies,
            ..self
        }
    }
}

/// The result of a position without its half-move clock.
#[derive(Clone, Copy)]
struct Entry {
    outcome: Outcome,
    /// Whether a capture is the best move and reaches the outcome.
    is_zeroing: bool,
}

/// A probe of a position and its moves.
pub(crate) struct Resolver<'a> {
    files: &'a dyn Files,
    steps: &'a Steps,
    /// Whether a value was not in memory. The results are then estimates.
    is_incomplete: Cell<bool>,
}

impl<'a> Resolver<'a> {
    /// Begins a probe that may take `steps`.
    pub(crate) fn new(files: &'a dyn Files, steps: &'a Steps) -> Resolver<'a> {
        Resolver {
            files,
            steps,
            is_incomplete: Cell::new(false),
        }
    }

    /// Whether a value was not in memory, so that the results do not count.
    pub(crate) fn is_incomplete(&self) -> bool {
        self.is_incomplete.get()
    }

    /// Returns the result of a position as if its half-move clock was zero: one of the five results of tables.
    pub(crate) fn outcome(&self, chess: &Chess) -> Result<Outcome, EndgameError> {
        self.entry(chess).map(|entry| entry.outcome)
    }

    /// Returns the distance of a position.
    pub(crate) fn distance(&self, chess: &Chess) -> Result<Distance, EndgameError> {
        self.distance_of(chess, self.entry(chess)?, true)
    }

    fn entry(&self, chess: &Chess) -> Result<Entry, EndgameError> {
        let (mut best_capture, mut best_en_passant) = (Outcome::Loss, Outcome::Loss);
        let moves = chess.legal_moves();
        let mut en_passant = 0;
        for m in moves.iter().filter(|m| m.is_capture()) {
            let mut after = chess.clone();
            after.play_unchecked(*m);
            let outcome = self
                .after_capture(&after, Outcome::Loss, best_capture.reversed())?
                .reversed();
            if outcome == Outcome::Win {
                return Ok(Entry {
                    outcome,
                    is_zeroing: true,
                });
            }
            let best = if m.is_en_passant() {
                &mut best_en_passant
            } else {
                &mut best_capture
            };
            *best = outcome.max(*best);
            en_passant += usize::from(m.is_en_passant());
        }
        let own = self.own_outcome(chess)?;
        // The table does not know the captures en passant.
        if best_en_passant > own.max(best_capture) {
            return Ok(Entry {
                outcome: best_en_passant,
                is_zeroing: true,
            });
        }
        let best = best_capture.max(best_en_passant);
        if best >= own {
            return Ok(Entry {
                outcome: best,
                is_zeroing: best > Outcome::Draw,
            });
        }
        // The table takes the position for stalemate if all moves are captures en passant.
        if own == Outcome::Draw && en_passant > 0 && en_passant == moves.len() {
            return Ok(Entry {
                outcome: best_en_passant,
                is_zeroing: true,
            });
        }
        Ok(Entry {
            outcome: own,
            is_zeroing: false,
        })
    }

    /// Returns the result of a position after a capture, by alpha-beta search of further captures.
    fn after_capture(
        &self,
        chess: &Chess,
        mut alpha: Outcome,
        beta: Outcome,
    ) -> Result<Outcome, EndgameError> {
        for m in chess.capture_moves() {
            let mut after = chess.clone();
            after.play_unchecked(m);
            let outcome = self
                .after_capture(&after, beta.reversed(), alpha.reversed())?
                .reversed();
            if outcome >= beta {
                return Ok(outcome);
            }
            alpha = alpha.max(outcome);
        }
        Ok(alpha.max(self.own_outcome(chess)?))
    }

    /// Returns the distance of a position with a result. `may_search` allows the search of its moves.
    fn distance_of(
        &self,
        chess: &Chess,
        entry: Entry,
        may_search: bool,
    ) -> Result<Distance, EndgameError> {
        let outcome = entry.outcome;
        let zeroing = Distance::before_zeroing(outcome);
        if outcome == Outcome::Draw || entry.is_zeroing {
            return Ok(zeroing);
        }
        let is_win = outcome > Outcome::Draw;
        let moves = chess.legal_moves();
        if is_win {
            for m in moves
                .iter()
                .filter(|m| !m.is_capture() && m.role() == Role::Pawn)
            {
                let mut after = chess.clone();
                after.play_unchecked(*m);
                if self.outcome(&after)?.reversed() == outcome {
                    return Ok(zeroing);
                }
            }
        }
        if let Some(plies) = self.own_plies(chess, outcome)? {
            let later = zeroing.later(plies.count.cast_signed());
            return Ok(Distance {
                is_rounded: plies.is_rounded,
                ..later
            });
        }
        if !may_search {
            return Err(self.contradiction(chess));
        }
        // The table has the distances of the other side, after each move that is not zeroing.
        let mut best = if is_win { None } else { Some(zeroing) };
        for m in moves.iter().filter(|m| !m.is_zeroing()) {
            let mut after = chess.clone();
            after.play_unchecked(*m);
            if after.is_checkmate() {
                return Ok(Distance::before_zeroing(Outcome::Win));
            }
            let reply = self
                .distance_of(&after, self.entry(&after)?, false)?
                .reversed();
            if reply.plies.signum() == zeroing.plies.signum() {
                let reply = reply.later(1);
                best = best
                    .filter(|best| best.plies <= reply.plies)
                    .or(Some(reply));
            }
        }
        best.ok_or_else(|| self.contradiction(chess))
    }

    /// Returns the error of a table of distances that does not fit the table of results.
    fn contradiction(&self, chess: &Chess) -> EndgameError {
        let table = Material::of_board(chess.board()).stronger_first();
        self.damaged(file_name(table, Metric::Dtz), TableError::Distances)
    }

    fn damaged(&self, table: String, error: TableError) -> EndgameError {
        EndgameError::Table { table, error }
    }

    /// Returns the result that the table has for a position.
    ///
    /// If the result is not in memory, a frequent result is the estimate. The search then continues and finds more of the
    /// values that it will need, so that they are requested together.
    fn own_outcome(&self, chess: &Chess) -> Result<Outcome, EndgameError> {
        // There is no table of the two kings.
        if chess.board().occupied().count() == 2 {
            return Ok(Outcome::Draw);
        }
        let found = self.at(chess, Metric::Wdl, |place, table| {
            match place.outcome(self.steps, |at, bytes| self.files.read(table, at, bytes)) {
                Err(Stop::Missing) => {
                    self.is_incomplete.set(true);
                    Ok(place.usual_outcome())
                }
                found => found,
            }
        })?;
        Ok(found.unwrap_or(Outcome::Draw))
    }

    /// Returns the distance that the table has for a position. `None` if the table has the other side to move.
    fn own_plies(&self, chess: &Chess, outcome: Outcome) -> Result<Option<Plies>, EndgameError> {
        let found = self.at(chess, Metric::Dtz, |place, table| {
            if !place.has_side {
                return Ok(None);
            }
            place
                .plies(outcome, self.steps, |at, bytes| {
                    self.files.read(table, at, bytes)
                })
                .map(Some)
        })?;
        // The estimate of a distance that is not in memory is of no consequence.
        Ok(found.unwrap_or(Some(Plies {
            count: 0,
            is_rounded: true,
        })))
    }

    /// Reads a value of a position's table. `None` if bytes are not in memory.
    fn at<T>(
        &self,
        chess: &Chess,
        metric: Metric,
        read: impl FnOnce(Place<'_>, usize) -> Result<T, Stop<EndgameError>>,
    ) -> Result<Option<T>, EndgameError> {
        let material = Material::of_board(chess.board());
        let missing = || Uncovered::MissingTable {
            table: file_name(material.stronger_first(), metric),
        };
        let catalog = self.files.catalog();
        let number = catalog
            .find(material, metric)
            .ok_or_else(|| EndgameError::Uncovered(missing()))?;
        let found = self
            .files
            .header(number)
            .and_then(|header| read(header.place(chess)?, number));
        match found {
            Ok(value) => Ok(Some(value)),
            Err(Stop::Missing) => {
                self.is_incomplete.set(true);
                Ok(None)
            }
            Err(Stop::Failed(error)) => Err(error),
            Err(Stop::Damaged(error)) => Err(self.damaged(self.files.name(number), error)),
        }
    }
}

/// Returns the file name of a table.
fn file_name(material: Material, metric: Metric) -> String {
    format!("{material}.{}", metric.ending())
}
