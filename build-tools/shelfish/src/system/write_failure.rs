//! Errors of files that cannot be written, with the remedy.

use std::fmt;
use std::io::{self, ErrorKind};
use std::path::Path;

/// An error of writing to a folder.
#[derive(Debug)]
pub struct WriteFailure<'a> {
    /// The folder that the user named.
    pub folder: &'a Path,
    /// The file or folder that cannot be written.
    pub path: &'a Path,
    /// The error of the system.
    pub error: &'a io::Error,
}

impl<'a> WriteFailure<'a> {
    /// Creates the error of a file in the folder of a database, or in its temporary directory.
    pub fn of(path: &'a Path, error: &'a io::Error) -> WriteFailure<'a> {
        let folder = super::workspace::database_of(path);
        WriteFailure {
            folder,
            path,
            error,
        }
    }

    /// Returns the reason and the remedy, if the error is known.
    fn remedy(&self) -> Option<(&'static str, &'static str)> {
        // Errors without a number have their own text and remedy.
        self.error.raw_os_error()?;
        Some(match self.error.kind() {
            ErrorKind::PermissionDenied => ("permission denied", "choose another folder"),
            ErrorKind::ReadOnlyFilesystem => ("read-only file system", "choose another folder"),
            ErrorKind::NotADirectory | ErrorKind::AlreadyExists => {
                ("a file has this name", "choose another folder")
            }
            ErrorKind::StorageFull => (
                "the disk is full",
                "free some space, or choose a folder on another disk",
            ),
            ErrorKind::QuotaExceeded => (
                "the quota is used up",
                "free some space, or choose a folder on another disk",
            ),
            _ => return None,
        })
    }
}

impl fmt::Display for WriteFailure<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (folder, path, error) = (self.folder.display(), self.path.display(), self.error);
        match self.remedy() {
            Some((why, remedy)) => {
                write!(f, "cannot write to {folder} ({why}): {remedy} with `--out`")
            }
            None => write!(f, "{path}: {error}"),
        }
    }
}
