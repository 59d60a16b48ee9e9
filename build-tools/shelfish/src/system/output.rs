//! Output files that a user names. A file is written whole or not at all, and never over a file that the run reads.

use std::fmt;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use shelfish::table::{Manifest, SHARD_ENDING};

use super::named_error::named;
use super::signals::{self, Cleanup};
use super::workspace::is_same;

/// Beginning of the names of temporary files. Sixteen hexadecimal digits follow.
const PREFIX: &str = ".shelfish-";

/// Error of an output file that must not be overwritten.
#[derive(Debug)]
enum Refused {
    /// The run reads the file.
    Read(PathBuf),
    /// The file belongs to a database.
    Database(PathBuf),
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (path, reason) = match self {
            Refused::Read(path) => (path, "is read"),
            Refused::Database(path) => (path, "is a file of a database"),
        };
        write!(
            f,
            "{} {reason}: name another file, it would be overwritten",
            path.display()
        )
    }
}

impl std::error::Error for Refused {}

impl From<Refused> for io::Error {
    fn from(error: Refused) -> io::Error {
        io::Error::new(io::ErrorKind::InvalidInput, error)
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
        new.temporary
            .as_file()
            .try_clone()
            .map_err(named(&path.display()))?,
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
/// The file is locked as long as its process runs. The next replacement in the folder removes the files of killed processes.
struct Replacement {
    temporary: tempfile::NamedTempFile,
    path: PathBuf,
    _cleanup: Cleanup,
}

/// Returns whether a name is the name of a temporary file.
fn is_temporary(name: &str) -> bool {
    let digits = name.strip_prefix(PREFIX);
    digits.is_some_and(|digits| {
        digits.len() == 16 && digits.bytes().all(|byte| byte.is_ascii_hexdigit())
    })
}

/// Removes the temporary files of killed processes from a folder. Files that cannot be opened or removed stay.
fn remove_leftovers(folder: &Path) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let is_file = entry.file_type().is_ok_and(|kind| kind.is_file());
        if !is_file || !is_temporary(&entry.file_name().to_string_lossy()) {
            continue;
        }
        let path = entry.path();
        let Ok(file) = OpenOptions::new().read(true).write(true).open(&path) else {
            continue;
        };
        // A running process holds the lock.
        if file.try_lock().is_ok() && is_same(&file, &path) {
            let _ = fs::remove_file(&path);
        }
    }
}

impl Replacement {
    /// Creates the temporary file in the folder of `path`.
    fn new(path: &Path) -> io::Result<Replacement> {
        let name = path.display();
        let named = named(&name);
        // A link keeps pointing to the file.
        let path = path.canonicalize().unwrap_or_else(|_| path.to_owned());
        let folder = path
            .parent()
            .filter(|folder| !folder.as_os_str().is_empty())
            .unwrap_or(Path::new("."));
        remove_leftovers(folder);
        loop {
            let hidden = format!("{PREFIX}{:016x}", fastrand::u64(..));
            let leftover = folder.join(&hidden);
            let cleanup = signals::on_interruption(move || drop(fs::remove_file(&leftover)))
                .map_err(named)?;
            let mut builder = tempfile::Builder::new();
            builder.prefix(&hidden).rand_bytes(0);
            #[cfg(unix)]
            builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
            let temporary = builder.tempfile_in(folder).map_err(named)?;
            // Another process may lock and remove the file before it is locked here.
            match temporary.as_file().try_lock() {
                Ok(()) if !is_same(temporary.as_file(), temporary.path()) => {}
                Err(TryLockError::WouldBlock) => {}
                // A file system without locks keeps the files of killed processes.
                Ok(()) | Err(TryLockError::Error(_)) => {
                    return Ok(Replacement {
                        temporary,
                        path,
                        _cleanup: cleanup,
                    });
                }
            }
        }
    }

    /// Gives the temporary file its final name.
    fn finish(self) -> io::Result<()> {
        let name = self.path.display();
        self.temporary.as_file().sync_all().map_err(named(&name))?;
        self.temporary
            .persist(&self.path)
            .map_err(|error| named(&name)(error.error))
            .map(drop)
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
    fn files_of_killed_processes_are_removed_and_files_of_running_processes_stay() -> io::Result<()>
    {
        let dir = tempfile::tempdir()?;
        let names = [
            ".shelfish-0123456789abcdef",
            ".shelfish-fedcba9876543210",
            ".shelfish-notes",
            ".shelfish-0123",
        ];
        for name in names {
            fs::write(dir.path().join(name), "text")?;
        }
        let running = OpenOptions::new()
            .write(true)
            .open(dir.path().join(names[1]))?;
        running.lock()?;
        replace(&dir.path().join("new"), |out| out.write_all(b"text"))?;
        let is_left = |name: &&str| dir.path().join(name).exists();
        assert_eq!(
            names
                .iter()
                .filter(|name| is_left(name))
                .collect::<Vec<_>>(),
            names[1..].iter().collect::<Vec<_>>()
        );
        drop(running);
        check_writable(&dir.path().join("new"))?;
        assert!(!is_left(&names[1]));
        Ok(())
    }

    #[test]
    fn copies_of_endgame_tables_may_end_like_shards() -> io::Result<()> {
        let dir = tempfile::tempdir()?;
        let path = dir.path().join("KQvK.rtbw.silo");
        for text in ["before", "after"] {
            replace(&path, |out| out.write_all(text.as_bytes()))?;
            assert_eq!(fs::read_to_string(&path)?, text);
        }
        check_writable(&path)?;
        assert_eq!(fs::read_dir(dir.path())?.count(), 1);
        Ok(())
    }
}
