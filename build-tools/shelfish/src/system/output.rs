//! Output files that a user names. A file is written whole or not at all, and never over a file that the run reads.

use std::fmt;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use shelfish::table::{Manifest, SHARD_ENDING};
use thiserror::Error;

use super::signals::{self, Cleanup};
use super::workspace::is_same;

/// End of the name of a temporary file. A dot and the name of the file precede it.
const ENDING: &str = ".shelfish";

/// Error of an output file that must not be overwritten.
#[derive(Debug, Error)]
enum Refused {
    /// The run reads the file.
    #[error("{} is read: name another file, it would be overwritten", .0.display())]
    Read(PathBuf),
    /// The file belongs to a database.
    #[error("{} is a file of a database: name another file, it would be overwritten", .0.display())]
    Database(PathBuf),
    /// Another run writes the file.
    #[error("another run writes this file")]
    Busy,
}

impl From<Refused> for io::Error {
    fn from(error: Refused) -> io::Error {
        io::Error::new(io::ErrorKind::InvalidInput, error)
    }
}

/// Returns a function that adds the name of a file to an error.
pub fn named(name: impl fmt::Display + Copy) -> impl Fn(io::Error) -> io::Error + Copy {
    #[derive(Debug, Error)]
    #[error("{name}: {error}")]
    struct NamedError {
        name: String,
        error: io::Error,
    }

    move |error| {
        let name = name.to_string();
        io::Error::new(error.kind(), NamedError { name, error })
    }
}

/// Checks that `path` is neither a file of a database nor one of the files in `read`.
pub fn check<'a>(path: &Path, read: impl IntoIterator<Item = &'a Path>) -> io::Result<()> {
    let Ok(real) = path.canonicalize() else {
        return Ok(());
    };
    if read
        .into_iter()
        .any(|source| source.canonicalize().is_ok_and(|source| source == real))
    {
        return Err(Refused::Read(path.to_owned()).into());
    }
    let is_manifest = real.ends_with(Manifest::FILE);
    let is_shard = real.to_string_lossy().ends_with(SHARD_ENDING);
    if is_manifest || is_shard {
        Err(Refused::Database(path.to_owned()).into())
    } else {
        Ok(())
    }
}

/// Writes a file by `write`. An existing file is replaced once the new file is complete.
///
/// A path that is not a plain file, such as a pipe, is written to directly.
pub fn whole<E: From<io::Error>>(
    path: &Path,
    write: impl FnOnce(&mut Named) -> Result<(), E>,
) -> Result<(), E> {
    check(path, [])?;
    if fs::metadata(path).is_ok_and(|metadata| !metadata.is_file()) {
        let mut out = Named::new(File::create(path).map_err(named(&path.display()))?, path);
        write(&mut out)?;
        return Ok(out.flush()?);
    }
    replace(path, write)
}

/// Writes a file by `write` under a temporary name, and then replaces the file at `path`. An interrupted run leaves the old file.
///
/// Replaces any plain file. [`whole`] refuses the files of a database.
pub fn replace<E: From<io::Error>>(
    path: &Path,
    write: impl FnOnce(&mut Named) -> Result<(), E>,
) -> Result<(), E> {
    let new = Replacement::new(path)?;
    let mut out = Named::new(
        new.file.try_clone().map_err(named(&path.display()))?,
        &new.path,
    );
    write(&mut out)?;
    out.flush()?;
    Ok(new.finish()?)
}

/// Checks that the file at `path` can be replaced.
pub fn check_writable(path: &Path) -> io::Result<()> {
    Replacement::new(path).map(drop)
}

/// New content of a file under a temporary name, which is removed when dropped or interrupted.
///
/// The file is locked as long as its process runs. The next run that writes the same file takes over that of a killed process.
struct Replacement {
    file: File,
    temporary: PathBuf,
    path: PathBuf,
    _cleanup: Cleanup,
}

impl Replacement {
    /// Creates the temporary file in the folder of `path`.
    fn new(path: &Path) -> io::Result<Replacement> {
        let name = path.display();
        let named = named(&name);
        // A link keeps pointing to the file.
        let path = path.canonicalize().unwrap_or_else(|_| path.to_owned());
        let file_name = path.file_name().unwrap_or_default().to_string_lossy();
        let temporary = path.with_file_name(format!(".{file_name}{ENDING}"));
        loop {
            // Only a plain file may be overwritten.
            if fs::symlink_metadata(&temporary).is_ok_and(|metadata| !metadata.is_file()) {
                return Err(named(Refused::Busy.into()));
            }
            let mut options = OpenOptions::new();
            let file = options
                .write(true)
                .create(true)
                .open(&temporary)
                .map_err(named)?;
            match file.try_lock() {
                Err(TryLockError::WouldBlock) => return Err(named(Refused::Busy.into())),
                // The other run has just given the file its final name, or removed it.
                Ok(()) if !is_same(&file, &temporary) => continue,
                // A file system without locks permits one run at a time.
                Ok(()) | Err(TryLockError::Error(_)) => file.set_len(0).map_err(named)?,
            }
            let leftover = temporary.clone();
            let cleanup = signals::on_interruption(move || drop(fs::remove_file(&leftover)));
            return Ok(Replacement {
                file,
                temporary,
                path,
                _cleanup: cleanup.map_err(named)?,
            });
        }
    }

    /// Gives the temporary file its final name.
    fn finish(self) -> io::Result<()> {
        let renamed = self
            .file
            .sync_all()
            .and_then(|()| fs::rename(&self.temporary, &self.path));
        renamed.map_err(named(&self.path.display()))
    }
}

impl Drop for Replacement {
    fn drop(&mut self) {
        if is_same(&self.file, &self.temporary) {
            let _ = fs::remove_file(&self.temporary);
        }
    }
}

/// A buffered file whose errors name its path.
#[derive(Debug)]
pub struct Named {
    file: BufWriter<File>,
    path: PathBuf,
}

impl Named {
    fn new(file: File, path: &Path) -> Named {
        Named {
            file: BufWriter::with_capacity(1 << 20, file),
            path: path.to_owned(),
        }
    }
}

impl Write for Named {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes).map_err(named(&self.path.display()))
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush().map_err(named(&self.path.display()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_replaced_only_when_the_new_file_is_complete() -> io::Result<()> {
        let dir = tempfile::tempdir()?;
        let path = dir.path().join("dump");
        fs::write(&path, "before")?;
        let failed = whole(&path, |out| {
            out.write_all(b"half")?;
            Err(io::Error::other("no more"))
        });
        assert_eq!(
            failed.map_err(|error| error.to_string()),
            Err("no more".to_owned())
        );
        assert_eq!(
            (
                fs::read_to_string(&path)?.as_str(),
                fs::read_dir(dir.path())?.count()
            ),
            ("before", 1)
        );
        whole(&path, |out| out.write_all(b"after"))?;
        assert_eq!(
            (
                fs::read_to_string(&path)?.as_str(),
                fs::read_dir(dir.path())?.count()
            ),
            ("after", 1)
        );
        Ok(())
    }

    #[test]
    fn inputs_and_files_of_a_database_are_never_overwritten() -> io::Result<()> {
        let dir = tempfile::tempdir()?;
        for (name, is_refused) in [
            ("manifest.json", true),
            ("0.silo", true),
            ("own.jsonl", true),
            ("other.tsv", false),
        ] {
            let path = dir.path().join(name);
            fs::write(&path, "")?;
            let read = dir.path().join(".").join("own.jsonl");
            assert_eq!(
                check(&path, [read.as_path()]).is_err(),
                is_refused,
                "{name}"
            );
        }
        check(&dir.path().join("new"), [])
    }

    #[test]
    fn the_file_of_a_killed_process_is_taken_over_and_that_of_a_running_process_is_not()
    -> io::Result<()> {
        let dir = tempfile::tempdir()?;
        let (path, left) = (dir.path().join("dump"), dir.path().join(".dump.shelfish"));
        let running = File::create(&left)?;
        running.lock()?;
        assert!(check_writable(&path).is_err());
        fs::write(&left, "left by a killed process")?;
        drop(running);
        replace(&path, |out| out.write_all(b"new"))?;
        assert_eq!(
            (fs::read_to_string(&path)?.as_str(), left.exists()),
            ("new", false)
        );
        Ok(())
    }
}
