//! Errors of files that cannot be written, with the remedy.

use std::io::{self, ErrorKind};
use std::path::Path;

use shelfish::table::WriteError;

use super::workspace::database_of;

/// Describes an error of a table that cannot be written.
pub fn of_table(error: &WriteError) -> String {
    match error {
        WriteError::Io { path, error } => of_file(path, error),
        error => error.to_string(),
    }
}

/// Describes an error of a file in the folder of a database, or in its temporary directory.
pub fn of_file(path: &Path, error: &io::Error) -> String {
    // Errors without a number have their own text and remedy.
    let kind = error.raw_os_error().map(|_| error.kind());
    let (why, remedy) = match kind {
        Some(ErrorKind::PermissionDenied) => ("permission denied", "choose another folder"),
        Some(ErrorKind::ReadOnlyFilesystem) => ("read-only file system", "choose another folder"),
        Some(ErrorKind::NotADirectory | ErrorKind::AlreadyExists) => {
            ("a file has this name", "choose another folder")
        }
        Some(ErrorKind::StorageFull) => (
            "the disk is full",
            "free some space, or choose a folder on another disk",
        ),
        Some(ErrorKind::QuotaExceeded) => (
            "the quota is used up",
            "free some space, or choose a folder on another disk",
        ),
        _ => return format!("{}: {error}", path.display()),
    };
    let folder = database_of(path).display();
    format!("cannot write to {folder} ({why}): {remedy}")
}
