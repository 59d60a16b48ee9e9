//! Tables of a folder on this computer.

use core::fmt::Display;
use std::fs::File;
use std::io::{self, ErrorKind, Read as _};
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use shakmaty::Chess;
use shelfish::source::{SourceError, SourceErrorKind, file};

use crate::error::{EndgameError, check};
use crate::header::{Header, MAX_HEADER};
use crate::index::{INDEX_FILE, Index, MAX_INDEX, SUMS_FILE};
use crate::name::TableName;
use crate::pages::{PageId, copy};
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
    /// The checksums of the folder, and the number of the table in its index.
    sums: Option<(Arc<Sums>, u16)>,
    open: OnceLock<Open>,
}

/// The checksums of a folder with an index.
#[derive(Debug)]
struct Sums {
    index: Index,
    path: PathBuf,
    /// The file of checksums, if the index does not contain them.
    file: Option<File>,
}

#[derive(Debug)]
struct Open {
    file: File,
    length: u64,
    header: Arc<Header>,
}

impl Sums {
    /// Opens the index of a folder. A folder need not have an index.
    fn open(folder: &Path) -> io::Result<Option<Sums>> {
        let mut bytes = Vec::new();
        match file::open(&folder.join(INDEX_FILE)) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            file => file?.take(MAX_INDEX).read_to_end(&mut bytes)?,
        };
        let index = Index::decode(&bytes).map_err(|error| invalid(INDEX_FILE, error))?;
        let (path, id) = (folder.join(SUMS_FILE), PageId { file: 0, page: 0 });
        let file = index.sum_at(id).map(|_| file::open(&path)).transpose();
        let file = file.map_err(|error| invalid(SUMS_FILE, error))?;
        Ok(Some(Sums { index, path, file }))
    }

    /// Reads a page of an open file and compares it with its checksum.
    fn page(&self, path: &Path, file: &File, id: PageId) -> Result<Vec<u8>, Stop> {
        let sums = match (&self.file, self.index.sum_at(id)) {
            (Some(file), Some((id, _))) => Some(self.page(&self.path, file, id)?),
            _ => None,
        };
        let range = self.index.page_range(id);
        let mut page = vec![0; (range.end - range.start) as usize];
        read_exact_at(file, &mut page, range.start).map_err(|error| failed(path, &error))?;
        if self.index.is_whole(id, &page, sums.as_deref()) {
            return Ok(page);
        }
        Err(Stop::Failed(EndgameError::Damaged {
            at: path.display().to_string(),
            byte: range.start,
        }))
    }
}

impl Table {
    fn open(&self) -> Result<&Open, Stop> {
        if let Some(open) = self.open.get() {
            return Ok(open);
        }
        let open = || {
            let file = file::open(&self.path)?;
            let length = file.metadata()?.len();
            Ok((file, length))
        };
        let (file, length) = open().map_err(|error| failed(&self.path, &error))?;
        let mut bytes = vec![0; length.min(MAX_HEADER) as usize];
        self.read(&file, length, 0, &mut bytes)?;
        let header = Arc::new(Header::parse(&self.name, length, &bytes)?);
        let open = || Open {
            file,
            length,
            header,
        };
        Ok(self.open.get_or_init(open))
    }

    /// Fills `bytes` with the bytes of the open table from a byte on. Compares them with the checksums of the folder, if it has any.
    fn read(&self, file: &File, length: u64, at: u64, bytes: &mut [u8]) -> Result<(), Stop> {
        let Some((sums, number)) = &self.sums else {
            return read_exact_at(file, bytes, at).map_err(|error| failed(&self.path, &error));
        };
        let id = |page| PageId {
            file: *number,
            page,
        };
        copy(length, at, bytes, |page| {
            sums.page(&self.path, file, id(page))
        })
    }
}

fn failed(path: &Path, error: &io::Error) -> Stop {
    let kind = SourceErrorKind::Io(error.kind(), error.to_string());
    Stop::Failed(SourceError::new(path.display().to_string(), kind).into())
}

fn invalid(name: impl Display, error: impl Display) -> io::Error {
    io::Error::new(ErrorKind::InvalidData, format!("{name}: {error}"))
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
        let open = table.open()?;
        table.read(&open.file, open.length, at, bytes)
    }
}

impl Tables {
    /// Finds the tables of a folder. Tables are read when a position needs them. If the folder has an index, all bytes are compared
    /// with its checksums.
    ///
    /// # Errors
    ///
    /// Returns an error if the folder or its index cannot be read, if the length of a table is wrong, or if the index lacks a table.
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
        let sums = Sums::open(folder.as_ref())?.map(Arc::new);
        let ending = sums.as_ref().map_or("", |sums| sums.index.ending());
        for entry in std::fs::read_dir(folder)? {
            let path = entry?.path();
            let name = path.file_name().and_then(|name| {
                let name = name.to_str()?;
                name.strip_suffix(ending).unwrap_or(name).parse().ok()
            });
            let Some(name): Option<TableName> = name.filter(|_| path.is_file()) else {
                continue;
            };
            let length = path.metadata()?.len();
            Header::check_length(length).map_err(|error| invalid(name, error))?;
            let listed = |sums: &Arc<Sums>| {
                let number = sums.index.find(&name).ok_or_else(|| {
                    let other = "the table is not in endgames.index; write the index again by `shelfish endgames index`";
                    invalid(name, other)
                })?;
                let expected = sums.index.tables()[number].layout.length;
                if expected != length {
                    let other = format!(
                        "expected {expected} bytes by endgames.index, found {length}; copy the file again"
                    );
                    return Err(invalid(name, other));
                }
                Ok((sums.clone(), number as u16))
            };
            let sums = sums.as_ref().map(listed).transpose()?;
            self.catalog.add(name, self.tables.len());
            self.max_pieces = self.max_pieces.max(name.pieces());
            self.tables.push(Table {
                name,
                path,
                sums,
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
