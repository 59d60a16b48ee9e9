//! The file of rejected lines and games.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use super::BuildError;
use crate::input::Input;
use crate::system::output;
use crate::terminal::shown::excerpt;

/// A file of rejects in the order of the inputs, although chunks are parsed in any order.
///
/// Its tab-separated columns are input, line number, reason, fact and beginning of the line.
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
    /// Creates the file and writes its header.
    pub fn create(path: &Path, inputs: &[Input]) -> Result<RejectFile, BuildError> {
        let create = || {
            output::check(path, inputs.iter().filter_map(Input::path))?;
            let mut file = BufWriter::new(File::create(path)?);
            file.write_all(b"source\tline\treason\tfact\tbeginning\n")?;
            Ok(State {
                file,
                next: 0,
                waiting: BTreeMap::new(),
            })
        };
        let path = path.to_owned();
        match create() {
            Ok(state) => Ok(RejectFile {
                path,
                state: Mutex::new(state),
            }),
            Err(error) => Err(BuildError::Rejects { path, error }),
        }
    }

    /// Adds the rows of chunk number `chunk`. Each chunk must be added once, also without rows.
    pub fn put(&self, chunk: u64, rows: String) -> Result<(), BuildError> {
        self.with(|state| {
            state.waiting.insert(chunk, rows);
            while let Some(rows) = state.waiting.remove(&state.next) {
                state.file.write_all(rows.as_bytes())?;
                state.next += 1;
            }
            Ok(())
        })
    }

    /// Flushes the buffer.
    pub fn flush(&self) -> Result<(), BuildError> {
        self.with(|state| state.file.flush())
    }

    fn with<T>(&self, write: impl FnOnce(&mut State) -> io::Result<T>) -> Result<T, BuildError> {
        let lock = self.state.lock();
        let state = lock.map_err(|_| io::Error::other("a worker died"));
        state
            .and_then(|mut state| write(&mut state))
            .map_err(|error| BuildError::Rejects {
                path: self.path.clone(),
                error,
            })
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
