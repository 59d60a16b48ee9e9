//! Tables of a folder on this computer.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use shakmaty::Chess;
use shelfish::source::{SourceError, SourceErrorKind};

use crate::error::{EndgameError, check};
use crate::header::{Header, MAX_HEADER};
use crate::name::TableName;
use crate::pairs::{Steps, Stop};
use crate::probe::{Outcome, Probe, Verdict, outcome, probe, verdict};
use crate::resolve::{Catalog, Files, Resolver};

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
#[derive(Debug, Default)]
pub struct Tables {
    tables: Vec<Table>,
    catalog: Catalog,
    /// Maximum number of pieces of a table.
    max_pieces: usize,
}

/// A table of a folder. It is opened when a position needs it.
#[derive(Debug)]
struct Table {
    name: TableName,
    path: PathBuf,
    open: OnceLock<Open>,
}

#[derive(Debug)]
struct Open {
    file: File,
    header: Arc<Header>,
}

impl Table {
    fn open(&self) -> Result<&Open, Stop> {
        if let Some(open) = self.open.get() {
            return Ok(open);
        }
        let open = || {
            let file = shelfish::source::file::open(&self.path)?;
            let length = file.metadata()?.len();
            let mut bytes = vec![0; length.min(MAX_HEADER) as usize];
            read_exact_at(&file, &mut bytes, 0)?;
            Ok((file, length, bytes))
        };
        let (file, length, bytes) = open().map_err(|error| self.failed(&error))?;
        let header = Arc::new(Header::parse(&self.name, length, &bytes)?);
        Ok(self.open.get_or_init(|| Open { file, header }))
    }

    fn failed(&self, error: &io::Error) -> Stop {
        let kind = SourceErrorKind::Io(error.kind(), error.to_string());
        Stop::Failed(SourceError::new(self.path.display().to_string(), kind).into())
    }
}

/// Fills `bytes` with the bytes of a file from a byte on.
fn read_exact_at(file: &File, bytes: &mut [u8], at: u64) -> io::Result<()> {
    #[cfg(unix)]
    return std::os::unix::fs::FileExt::read_exact_at(file, bytes, at);
    #[cfg(windows)]
    {
        let mut read = 0;
        while read < bytes.len() {
            match std::os::windows::fs::FileExt::seek_read(
                file,
                &mut bytes[read..],
                at + read as u64,
            )? {
                0 => return Err(io::ErrorKind::UnexpectedEof.into()),
                count => read += count,
            }
        }
        Ok(())
    }
}

impl Files for Tables {
    fn catalog(&self) -> &Catalog {
        &self.catalog
    }

    fn name(&self, table: usize) -> String {
        self.tables[table].path.display().to_string()
    }

    fn header(&self, table: usize) -> Result<Arc<Header>, Stop> {
        Ok(self.tables[table].open()?.header.clone())
    }

    fn read(&self, table: usize, at: u64, bytes: &mut [u8]) -> Result<(), Stop> {
        let table = &self.tables[table];
        read_exact_at(&table.open()?.file, bytes, at).map_err(|error| table.failed(&error))
    }
}

impl Tables {
    /// Finds the tables of a folder. Tables are read when a position needs them.
    ///
    /// # Errors
    ///
    /// Returns an error if the folder cannot be read, or if the length of a table is wrong.
    pub fn open(folder: impl AsRef<Path>) -> io::Result<Tables> {
        let mut tables = Tables::default();
        tables.add(folder)?;
        Ok(tables)
    }

    /// Adds the tables of another folder. Returns their number.
    ///
    /// # Errors
    ///
    /// Returns an error if the folder cannot be read, or if the length of a table is wrong.
    pub fn add(&mut self, folder: impl AsRef<Path>) -> io::Result<usize> {
        let before = self.tables.len();
        for entry in std::fs::read_dir(folder)? {
            let path = entry?.path();
            let name = path
                .file_name()
                .and_then(|name| name.to_str()?.parse::<TableName>().ok());
            let Some(name) = name.filter(|_| path.is_file()) else {
                continue;
            };
            Header::check_length(path.metadata()?.len()).map_err(|error| {
                io::Error::new(io::ErrorKind::InvalidData, format!("{name}: {error}"))
            })?;
            self.catalog.add(name, self.tables.len());
            self.max_pieces = self.max_pieces.max(name.pieces());
            self.tables.push(Table {
                name,
                path,
                open: OnceLock::new(),
            });
        }
        Ok(self.tables.len() - before)
    }

    /// Number of tables.
    pub fn count(&self) -> usize {
        self.tables.len()
    }

    /// Maximum number of pieces of a table.
    pub fn max_pieces(&self) -> usize {
        self.max_pieces
    }

    fn read<T>(
        &self,
        chess: &Chess,
        read: fn(&Resolver<'_>, &Chess) -> Result<T, EndgameError>,
    ) -> Result<T, EndgameError> {
        check(chess, self.max_pieces)?;
        read(&Resolver::new(self, &Steps::default()), chess)
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
