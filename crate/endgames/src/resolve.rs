//! Results of positions from the values of tables.
//!
//! A table does not know en passant. It may also contain any lower value for a position with a winning capture, whichever is
//! shortest to write. A table of distances has one side to move, and any values for positions with a winning capture or pawn
//! move. The captures, pawn moves and replies of a position complete its values.

use core::cell::Cell;
use std::sync::Arc;

use shakmaty::{Chess, Move, Position as _, Role};

use crate::error::{EndgameError, TableError, Uncovered};
use crate::header::{Header, Place};
use crate::name::{Material, Metric, TableName};
use crate::pages::insert;
use crate::pairs::{Steps, Stop};
use crate::probe::Outcome;

/// Names of tables with the stronger side first, and the number of each table, in order.
#[derive(Clone, Debug, Default)]
pub(crate) struct Catalog(Vec<(TableName, usize)>);

impl Catalog {
    /// Adds a table. The last table of the same pieces counts.
    pub(crate) fn add(&mut self, name: TableName, number: usize) {
        insert(&mut self.0, (table_of(name.material, name.metric), number));
    }

    /// Returns the number of a table, whichever side is White.
    pub(crate) fn find(&self, material: Material, metric: Metric) -> Option<usize> {
        let name = table_of(material, metric);
        let after = self.0.partition_point(|(other, _)| *other <= name);
        let (found, number) = self.0[..after].last()?;
        (*found == name).then_some(*number)
    }
}

/// Returns the name of the table of pieces.
fn table_of(material: Material, metric: Metric) -> TableName {
    let material = material.stronger_first();
    TableName { material, metric }
}

/// Tables whose bytes can be read, now or later.
pub(crate) trait Files {
    fn catalog(&self) -> &Catalog;

    /// Returns the name of a table.
    fn name(&self, table: usize) -> String;

    /// Returns the header of a table.
    fn header(&self, table: usize) -> Result<Arc<Header>, Stop>;

    /// Fills `bytes` with the bytes of a table from a byte on.
    fn read(&self, table: usize, at: u64, bytes: &mut [u8]) -> Result<(), Stop>;
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

/// The result of a position without its half-move clock, and whether a capture is the best move and reaches it.
#[derive(Clone, Copy)]
struct Resolved(Outcome, bool);

/// Returns the position after a move.
pub(crate) fn played(chess: &Chess, m: Move) -> Chess {
    let mut after = chess.clone();
    after.play_unchecked(m);
    after
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
        self.resolved(chess).map(|resolved| resolved.0)
    }

    /// Returns the distance of a position.
    pub(crate) fn distance(&self, chess: &Chess) -> Result<Distance, EndgameError> {
        self.distance_of(chess, self.resolved(chess)?, true)
    }

    fn resolved(&self, chess: &Chess) -> Result<Resolved, EndgameError> {
        let (mut best_capture, mut best_en_passant) = (Outcome::Loss, Outcome::Loss);
        let moves = chess.legal_moves();
        let mut en_passant = 0;
        for m in moves.iter().filter(|m| m.is_capture()) {
            let after = played(chess, *m);
            let outcome = self.after_capture(&after, Outcome::Loss, best_capture.reversed())?;
            let outcome = outcome.reversed();
            if outcome == Outcome::Win {
                return Ok(Resolved(outcome, true));
            }
            let best = match m.is_en_passant() {
                true => &mut best_en_passant,
                false => &mut best_capture,
            };
            *best = outcome.max(*best);
            en_passant += usize::from(m.is_en_passant());
        }
        let own = self.own_outcome(chess)?;
        let best = best_capture.max(best_en_passant);
        // The table does not know the captures en passant, and takes the position for stalemate if all moves are such captures.
        let is_stalemate = own == Outcome::Draw && en_passant > 0 && en_passant == moves.len();
        Ok(match best_en_passant > own.max(best_capture) {
            true => Resolved(best_en_passant, true),
            false if best >= own => Resolved(best, best > Outcome::Draw),
            false if is_stalemate => Resolved(best_en_passant, true),
            false => Resolved(own, false),
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
            let after = played(chess, m);
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
        Resolved(outcome, is_zeroing): Resolved,
        may_search: bool,
    ) -> Result<Distance, EndgameError> {
        let zeroing = Distance::before_zeroing(outcome);
        if outcome == Outcome::Draw || is_zeroing {
            return Ok(zeroing);
        }
        let is_win = outcome > Outcome::Draw;
        let moves = chess.legal_moves();
        if is_win {
            for m in moves
                .iter()
                .filter(|m| !m.is_capture() && m.role() == Role::Pawn)
            {
                let after = played(chess, *m);
                if self.outcome(&after)?.reversed() == outcome {
                    return Ok(zeroing);
                }
            }
        }
        if let Some(plies) = self.own_plies(chess, outcome)? {
            return Ok(Distance {
                is_rounded: plies.is_rounded,
                ..zeroing.later(plies.plies)
            });
        }
        if !may_search {
            return Err(self.contradiction(chess));
        }
        // The table has the distances of the other side, after each move that is not zeroing.
        let mut best = if is_win { None } else { Some(zeroing) };
        for m in moves.iter().filter(|m| !m.is_zeroing()) {
            let after = played(chess, *m);
            if after.is_checkmate() {
                return Ok(Distance::before_zeroing(Outcome::Win));
            }
            let reply = self
                .distance_of(&after, self.resolved(&after)?, false)?
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
        let table = table_of(Material::of_board(chess.board()), Metric::Dtz).to_string();
        let error = TableError::DISTANCES;
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
            let read = |at, bytes: &mut [u8]| self.files.read(table, at, bytes);
            match place.outcome(self.steps, &read) {
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
    fn own_plies(&self, chess: &Chess, outcome: Outcome) -> Result<Option<Distance>, EndgameError> {
        let found = self.at(chess, Metric::Dtz, |place, table| {
            let read = |at, bytes: &mut [u8]| self.files.read(table, at, bytes);
            let plies = || place.plies(outcome, self.steps, &read);
            place.has_side.then(plies).transpose()
        })?;
        // The estimate of a distance that is not in memory is of no consequence.
        Ok(found.unwrap_or(Some(Distance {
            plies: 0,
            is_rounded: true,
        })))
    }

    /// Reads a value of a position's table. `None` if bytes are not in memory.
    fn at<T>(
        &self,
        chess: &Chess,
        metric: Metric,
        read: impl FnOnce(Place<'_>, usize) -> Result<T, Stop>,
    ) -> Result<Option<T>, EndgameError> {
        let material = Material::of_board(chess.board());
        let number = self.files.catalog().find(material, metric);
        let number = number.ok_or_else(|| Uncovered::MissingTable {
            table: table_of(material, metric),
        })?;
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
            Err(Stop::Damaged(error)) => {
                let table = self.files.name(number);
                Err(EndgameError::Table { table, error })
            }
        }
    }
}
