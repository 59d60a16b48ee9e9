//! Tables of a folder on this computer.

use std::fmt;
use std::path::Path;

use shakmaty::{Chess, Position as _};
use shakmaty_syzygy::{SyzygyError, Tablebase};

use crate::error::{EndgameError, check};
use crate::probe::{Outcome, Probe, Verdict, outcome, probe, verdict};

/// The tables of a folder, for synchronous reads.
///
/// ```no_run
/// use shakmaty::{CastlingMode, Chess, fen::Fen};
/// use shelfish_endgames::{Outcome, Tables};
///
/// let tables = Tables::open("syzygy")?;
/// let chess: Chess = "8/8/8/8/3k4/8/3P4/3K4 w - - 0 1".parse::<Fen>()?.into_position(CastlingMode::Standard)?;
/// assert_eq!(tables.verdict(&chess)?.outcome, Outcome::Draw);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Tables {
    tables: Tablebase<Chess>,
    /// Number of tables.
    count: usize,
}

impl fmt::Debug for Tables {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tables").field("count", &self.count).finish_non_exhaustive()
    }
}

impl Tables {
    /// Finds the tables of a folder. Tables are read when a position needs them.
    ///
    /// # Errors
    ///
    /// Returns an error if the folder cannot be read, or if the length of a table is wrong.
    pub fn open(folder: impl AsRef<Path>) -> std::io::Result<Tables> {
        let mut tables = Tables { tables: Tablebase::new(), count: 0 };
        tables.add(folder)?;
        Ok(tables)
    }

    /// Adds the tables of another folder. Returns their number.
    ///
    /// # Errors
    ///
    /// Returns an error if the folder cannot be read, or if the length of a table is wrong.
    pub fn add(&mut self, folder: impl AsRef<Path>) -> std::io::Result<usize> {
        let added = self.tables.add_directory(folder)?;
        self.count += added;
        Ok(added)
    }

    /// Number of tables.
    pub fn count(&self) -> usize {
        self.count
    }

    /// Maximum number of pieces of a table.
    pub fn max_pieces(&self) -> usize {
        self.tables.max_pieces()
    }

    fn read<T>(
        &self,
        chess: &Chess,
        read: fn(&Tablebase<Chess>, &Chess) -> Result<T, SyzygyError>,
    ) -> Result<T, EndgameError> {
        let max = self.max_pieces();
        check(chess, max).map_err(EndgameError::Uncovered)?;
        read(&self.tables, chess).map_err(|error| EndgameError::of_probe(&error, max, chess.board().occupied().count()))
    }

    /// Returns win, draw or loss of a position for the side to move, as if its half-move clock was zero. Reads no distances, so
    /// that a search can call it often.
    ///
    /// ```no_run
    /// use shelfish_endgames::{Outcome, Tables, parse_fen};
    ///
    /// let tables = Tables::open("syzygy")?;
    /// assert_eq!(tables.outcome(&parse_fen("8/8/8/4k3/8/8/8/1Q2K3 w - - 70 99")?)?, Outcome::Win);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Returns an error if the tables do not contain the position or are damaged.
    pub fn outcome(&self, chess: &Chess) -> Result<Outcome, EndgameError> {
        self.read(chess, outcome)
    }

    /// Returns the result of a position for the side to move.
    ///
    /// # Errors
    ///
    /// Returns an error if the tables do not contain the position or are damaged.
    pub fn verdict(&self, chess: &Chess) -> Result<Verdict, EndgameError> {
        self.read(chess, verdict)
    }

    /// Returns the result of a position and of all its legal moves.
    ///
    /// # Errors
    ///
    /// Returns an error if the tables do not contain the position or are damaged.
    pub fn probe(&self, chess: &Chess) -> Result<Probe, EndgameError> {
        self.read(chess, probe)
    }
}
