//! A database in a directory.

use core::ops::Range;
use std::fs::{File, Metadata};
use std::io::{ErrorKind, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use super::{Source, SourceError, SourceErrorKind};

/// Opens a regular file. A named pipe would keep its reader waiting, without a limit.
///
/// # Errors
///
/// Returns an error for other kinds of files, and for files that cannot be opened.
pub fn open(path: &Path) -> std::io::Result<File> {
    check_regular(&std::fs::metadata(path)?)?;
    let file = File::open(path)?;
    check_regular(&file.metadata()?)?;
    Ok(file)
}

fn check_regular(metadata: &Metadata) -> std::io::Result<()> {
    if metadata.is_file() {
        return Ok(());
    }
    let found = if metadata.is_dir() {
        "a directory"
    } else {
        "another kind of file"
    };
    Err(std::io::Error::new(
        ErrorKind::InvalidInput,
        format!("expected a regular file, found {found}"),
    ))
}

/// The files of a directory.
#[derive(Clone, Debug)]
pub struct Directory(PathBuf);

impl Directory {
    /// Reads from `path`, which need not exist until a file is asked for.
    pub fn new(path: impl AsRef<Path>) -> Directory {
        Directory(path.as_ref().to_path_buf())
    }

    fn read(&self, file: &str, from: u64, length: u64) -> Result<Vec<u8>, SourceErrorKind> {
        let mut bytes = Vec::new();
        let mut file = open(&self.0.join(file)).map_err(|error| io(&error))?;
        file.seek(SeekFrom::Start(from))
            .map_err(|error| io(&error))?;
        file.take(length)
            .read_to_end(&mut bytes)
            .map_err(|error| io(&error))?;
        Ok(bytes)
    }
}

fn io(error: &std::io::Error) -> SourceErrorKind {
    match error.kind() {
        ErrorKind::NotFound => SourceErrorKind::Io(ErrorKind::NotFound, "no such file".to_string()),
        kind => SourceErrorKind::Io(kind, error.to_string()),
    }
}

impl Source for Directory {
    async fn range(&self, file: &str, range: Range<u64>) -> Result<Vec<u8>, SourceError> {
        let expected = range.end.saturating_sub(range.start);
        let bytes =
            self.read(file, range.start, expected)
                .and_then(|bytes| match bytes.len() as u64 {
                    found if found < expected => Err(SourceErrorKind::Short { expected, found }),
                    _ => Ok(bytes),
                });
        bytes.map_err(|kind| SourceError::new(self.locate(file), kind))
    }

    async fn whole(&self, file: &str, cap: u64) -> Result<Vec<u8>, SourceError> {
        let bytes =
            self.read(file, 0, cap.saturating_add(1))
                .and_then(|bytes| match bytes.len() as u64 {
                    found if found > cap => Err(SourceErrorKind::Long { expected: cap }),
                    _ => Ok(bytes),
                });
        bytes.map_err(|kind| SourceError::new(self.locate(file), kind))
    }

    fn locate(&self, file: &str) -> String {
        self.0.join(file).display().to_string()
    }
}
