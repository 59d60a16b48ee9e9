//! The file of what a build could not use.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufWriter, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use shelfish::eval::PositionEval;
use shelfish_analysis::pgn::PgnError;

use super::BuildError;
use super::spool::Surplus;
use crate::evaluations::record::{Reject, beginning};
use crate::input::dump::Source;
use crate::system::output;

/// Writes rejected lines in the order of the sources, though chunks are parsed in any order.
///
/// Tab-separated: source, line number, reason, fact, beginning of the line. Behind them stand positions of which
/// evaluations were left out when all lines were merged: no source, no line, and the FEN.
pub struct RejectFile {
    path: PathBuf,
    state: Mutex<State>,
}

struct State {
    file: BufWriter<File>,
    next: u64,
    waiting: BTreeMap<u64, String>,
}

impl RejectFile {
    /// Creates the file, its header written.
    ///
    /// # Errors
    ///
    /// The file is one of `sources` or of a database, or cannot be created or written.
    pub fn create(path: &Path, sources: &[Source]) -> Result<RejectFile, BuildError> {
        let create = || {
            output::check(path, sources.iter().filter_map(Source::path))?;
            let mut file = BufWriter::new(File::create(path)?);
            file.write_all(b"source\tline\treason\tfact\tbeginning\n")?;
            Ok(Mutex::new(State { file, next: 0, waiting: BTreeMap::new() }))
        };
        let fault = |error| BuildError::Rejects { path: path.to_owned(), error };
        Ok(RejectFile { path: path.to_owned(), state: create().map_err(fault)? })
    }

    /// Takes the rejects of chunk number `chunk`. Each chunk must come once, also if it has none.
    ///
    /// # Errors
    ///
    /// The file cannot be written.
    pub fn put(&self, chunk: u64, rows: String) -> Result<(), BuildError> {
        self.with(|State { file, next, waiting }| {
            waiting.insert(chunk, rows);
            while let Some(rows) = waiting.remove(next) {
                file.write_all(rows.as_bytes())?;
                *next += 1;
            }
            Ok(())
        })
    }

    /// Appends rows behind those of all chunks.
    ///
    /// # Errors
    ///
    /// The file cannot be written.
    pub fn append(&self, rows: &str) -> Result<(), BuildError> {
        self.with(|state| state.file.write_all(rows.as_bytes()))
    }

    /// How far it is written.
    ///
    /// # Errors
    ///
    /// The file cannot be written.
    pub fn mark(&self) -> Result<u64, BuildError> {
        self.with(|state| state.file.stream_position())
    }

    /// Takes back what was written behind a mark.
    ///
    /// # Errors
    ///
    /// The file cannot be written.
    pub fn rewind(&self, mark: u64) -> Result<(), BuildError> {
        self.with(|state| {
            state.file.seek(SeekFrom::Start(mark))?;
            state.file.get_ref().set_len(mark)
        })
    }

    /// Writes what is buffered.
    ///
    /// # Errors
    ///
    /// The file cannot be written.
    pub fn flush(&self) -> Result<(), BuildError> {
        self.with(|state| state.file.flush())
    }

    fn with<T>(&self, write: impl FnOnce(&mut State) -> io::Result<T>) -> Result<T, BuildError> {
        let state = self.state.lock().map_err(|_| io::Error::other("a worker died"));
        let fault = |error| BuildError::Rejects { path: self.path.clone(), error };
        state.and_then(|mut state| write(&mut state)).map_err(fault)
    }
}

/// The row of a rejected line.
pub fn row(source: &Source, line: u64, reject: &Reject, text: &[u8]) -> String {
    let text = String::from_utf8_lossy(&text[..text.len().min(400)]);
    let fact = beginning(&reject.to_string());
    format!("{source}\t{line}\t{}\t{fact}\t{}\n", Reject::REASONS[reject.reason()], beginning(&text))
}

/// The row of a game with a fault.
pub fn game_row(source: &Source, error: &PgnError, text: &[u8]) -> String {
    let text = String::from_utf8_lossy(&text[..text.len().min(400)]);
    let fact = beginning(&error.fault.to_string());
    format!("{source}\t{}\tgame\t{fact}\t{}\n", error.line, beginning(&text))
}

/// The row of a position that has more than a record has room for.
pub fn crowded_row(eval: &PositionEval, surplus: Surplus) -> String {
    let reason = Reject::REASONS[Reject::TooMuch(String::new()).reason()];
    let Surplus { evaluations, pvs } = surplus;
    let fact =
        format!("the best {} evaluations are kept, {evaluations} with {pvs} PVs left out", eval.evaluations.len());
    format!("\t\t{reason}\t{fact}\t{}\n", eval.position)
}
