//! The file of lines that a build could not use.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::sync::Mutex;

use super::dump::Source;
use super::record::{Reject, beginning};

/// Writes rejected lines in the order of the sources, though chunks are parsed in any order.
///
/// Tab-separated: source, line number, reason, fact, beginning of the line.
pub struct RejectFile(Mutex<State>);

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
    /// The file cannot be created or written.
    pub fn create(path: &Path) -> io::Result<RejectFile> {
        let mut file = BufWriter::new(File::create(path)?);
        file.write_all(b"source\tline\treason\tfact\tbeginning\n")?;
        Ok(RejectFile(Mutex::new(State { file, next: 0, waiting: BTreeMap::new() })))
    }

    /// Takes the rejects of chunk number `chunk`. Each chunk must come once, also if it has none.
    ///
    /// # Errors
    ///
    /// The file cannot be written.
    pub fn put(&self, chunk: u64, rows: String) -> io::Result<()> {
        let mut state = self.0.lock().map_err(|_| io::Error::other("a worker died"))?;
        let State { file, next, waiting } = &mut *state;
        waiting.insert(chunk, rows);
        while let Some(rows) = waiting.remove(next) {
            file.write_all(rows.as_bytes())?;
            *next += 1;
        }
        Ok(())
    }

    /// Writes what is buffered.
    ///
    /// # Errors
    ///
    /// The file cannot be written.
    pub fn finish(self) -> io::Result<()> {
        self.0.into_inner().map_err(|_| io::Error::other("a worker died"))?.file.flush()
    }
}

/// The row of a rejected line.
pub fn row(source: &Source, line: u64, reject: &Reject, text: &[u8]) -> String {
    let text = String::from_utf8_lossy(&text[..text.len().min(400)]);
    let fact = beginning(&reject.to_string());
    format!("{source}\t{line}\t{}\t{fact}\t{}\n", Reject::REASONS[reject.reason()], beginning(&text))
}
