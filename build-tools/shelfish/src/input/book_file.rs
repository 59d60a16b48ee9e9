//! Books in a single file, recognised by content or name.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// The first bytes of a SQLite file.
const SQLITE: &[u8] = b"SQLite format 3\0";

/// A book in a single file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BookFile {
    /// A book in Polyglot's format.
    Polyglot(PathBuf),
    /// A learning book.
    Learning(PathBuf),
}

impl BookFile {
    /// Recognises a book by its first bytes or its name. Returns `None` for other files.
    pub fn of(path: &Path) -> io::Result<Option<BookFile>> {
        let mut head = Vec::with_capacity(SQLITE.len());
        File::open(path)?
            .take(SQLITE.len() as u64)
            .read_to_end(&mut head)?;
        Ok(match (head == SQLITE, is_polyglot_name(path)) {
            (true, _) => Some(BookFile::Learning(path.to_owned())),
            (_, true) => Some(BookFile::Polyglot(path.to_owned())),
            _ => None,
        })
    }
}

/// Returns whether a file is named like a Polyglot book, which has no magic number.
pub fn is_polyglot_name(path: &Path) -> bool {
    path.extension()
        .is_some_and(|ending| ending.eq_ignore_ascii_case("bin"))
}
