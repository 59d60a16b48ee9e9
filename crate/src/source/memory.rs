//! A database in memory.

use core::ops::Range;
use std::collections::BTreeMap;

use super::{Source, SourceError, SourceErrorKind};

/// Files by name, for tests and for small databases that are part of a program.
///
/// ```
/// use futures_executor::block_on;
/// use shelfish::source::{Source, memory::Memory};
///
/// let files = Memory::new([("a".to_string(), b"0123456789".to_vec())]);
/// assert_eq!(block_on(files.range("a", 2..5)), Ok(b"234".to_vec()));
/// assert!(block_on(files.range("a", 8..12)).is_err());
/// assert!(block_on(files.whole("b", 100)).is_err());
/// ```
#[derive(Clone, Debug, Default)]
pub struct Memory(BTreeMap<String, Vec<u8>>);

impl Memory {
    /// Creates a source of these files.
    pub fn new(files: impl IntoIterator<Item = (String, Vec<u8>)>) -> Memory {
        Memory(files.into_iter().collect())
    }

    fn file(&self, file: &str) -> Result<&[u8], SourceError> {
        let missing =
            || SourceErrorKind::Io(std::io::ErrorKind::NotFound, "no such file".to_string());
        self.0
            .get(file)
            .map(Vec::as_slice)
            .ok_or_else(|| self.error(file, missing()))
    }

    fn error(&self, file: &str, kind: SourceErrorKind) -> SourceError {
        SourceError::new(self.locate(file), kind)
    }
}

impl Source for Memory {
    async fn range(&self, file: &str, range: Range<u64>) -> Result<Vec<u8>, SourceError> {
        let bytes = self.file(file)?;
        let place = |at: u64| usize::try_from(at).unwrap_or(usize::MAX);
        let part = bytes
            .get(place(range.start)..place(range.end))
            .map(<[u8]>::to_vec);
        part.ok_or_else(|| {
            let found = (bytes.len() as u64).saturating_sub(range.start);
            self.error(
                file,
                SourceErrorKind::Short {
                    expected: range.end.saturating_sub(range.start),
                    found,
                },
            )
        })
    }

    async fn whole(&self, file: &str, cap: u64) -> Result<Vec<u8>, SourceError> {
        let bytes = self.file(file)?;
        let is_long = bytes.len() as u64 > cap;
        if is_long {
            Err(self.error(file, SourceErrorKind::Long { expected: cap }))
        } else {
            Ok(bytes.to_vec())
        }
    }

    fn locate(&self, file: &str) -> String {
        format!("memory:{file}")
    }
}
