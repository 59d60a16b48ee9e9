//! The file of rejected lines and games.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use super::BuildError;
use crate::input::Input;
use crate::system::output;
use crate::terminal::shown::excerpt;

/// A file of rejects in the order of the inputs, although chunks are parsed in any order.
///
/// Its tab-separated columns are input, line number, reason, fact and beginning of the line.
pub struct RejectFile {
    path: PathBuf,
    file: BufWriter<File>,
    next: u64,
    waiting: BTreeMap<u64, String>,
}

impl RejectFile {
    /// Creates the file and writes its header.
    pub fn create(path: &Path, inputs: &[Input]) -> Result<RejectFile, BuildError> {
        let create = || {
            output::check(path, inputs.iter().filter_map(Input::path))?;
            let mut file = BufWriter::new(File::create(path)?);
            file.write_all(b"source\tline\treason\tfact\tbeginning\n")?;
            Ok(file)
        };
        Ok(RejectFile {
            file: create().map_err(failed(path))?,
            path: path.to_owned(),
            next: 0,
            waiting: BTreeMap::new(),
        })
    }

    /// Adds the rows of chunk number `chunk`. Each chunk must be added once, also without rows.
    pub fn put(&mut self, chunk: u64, rows: String) -> Result<(), BuildError> {
        self.waiting.insert(chunk, rows);
        while let Some(rows) = self.waiting.remove(&self.next) {
            let written = self.file.write_all(rows.as_bytes());
            written.map_err(failed(&self.path))?;
            self.next += 1;
        }
        Ok(())
    }

    /// Flushes the buffer.
    pub fn flush(mut self) -> Result<(), BuildError> {
        self.file.flush().map_err(failed(&self.path))
    }
}

fn failed(path: &Path) -> impl Fn(io::Error) -> BuildError {
    move |error| {
        let path = path.display();
        BuildError::Other(format!("cannot write rejects to {path}: {error}"))
    }
}

/// Returns a row of the file.
pub fn row(input: &Input, line: u64, reason: &str, fact: &str, text: &[u8]) -> String {
    let text = String::from_utf8_lossy(&text[..text.len().min(400)]);
    format!(
        "{input}\t{line}\t{reason}\t{}\t{}\n",
        excerpt(fact),
        excerpt(&text)
    )
}
