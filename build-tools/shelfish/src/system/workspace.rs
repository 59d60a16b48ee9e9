//! The temporary directory of a build, inside the directory of the database.
//!
//! One build uses it at a time and removes it at the end. The directory of the database may contain links or files of
//! other owners. A build removes and overwrites only files with the names of its shards, which are hashes, and its manifest.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use shelfish::eval::PositionEval;
use shelfish::played::Played;
use shelfish::table::{Manifest, PREVIOUS, Record, WriteError, manifest_in, remove_abandoned};
use thiserror::Error;

use super::manifest::parse_manifest;
use super::signals::{self, Cleanup};
use super::write_failure;

/// Name of the directory.
const NAME: &str = ".shelfish-build";
/// Name of a file that is locked while the build runs. The system releases the lock when the process ends.
const LOCK: &str = "lock";

/// Reads the manifest of the database in a directory, if the directory has one.
type ManifestIn = fn(&Path) -> Result<Option<Manifest>, WriteError>;

/// An error that prevents a build from working in a directory.
#[derive(Debug, Error)]
pub enum WorkspaceError {
    /// Another build writes to the same database.
    #[error("another build is writing to {}", .0.display())]
    Busy(PathBuf),
    /// A temporary file cannot be read or written.
    #[error("{}", write_failure::of_file(.path, .error))]
    Temporary {
        /// The path of the file or its directory.
        path: PathBuf,
        /// The error of the system.
        error: io::Error,
    },
    /// A file is in the way that no build created.
    #[error("{} is in the way: {reason}; move it elsewhere, or build into another folder", .path.display())]
    InTheWay {
        /// The path of the file.
        path: PathBuf,
        /// The reason.
        reason: NotOurs,
    },
    /// A file of the database is in the way, or the manifest cannot be read.
    #[error("{}", write_failure::of_table(.0))]
    Write(WriteError),
}

/// Reasons why a file is not a file of builds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum NotOurs {
    /// A file or link has the name of the temporary directory.
    #[error("builds work in a directory of this name")]
    Directory,
    /// A folder has the name of the manifest.
    #[error("builds write a file of this name")]
    Manifest,
    /// A file in the temporary directory has another name or kind than the files of builds.
    #[error("no build made it, and builds remove their directory")]
    Entry,
}

/// The temporary directory of a build, removed when dropped. The next build removes the files of a killed build.
pub struct Workspace {
    dir: PathBuf,
    /// The database's directory, if this build created it.
    created: Option<PathBuf>,
    lock: File,
    cleanup: Option<Cleanup>,
}

impl Workspace {
    /// Creates the workspace of the database in the directory `database`, and the directory if it does not exist.
    pub fn open<R: Record>(database: &Path) -> Result<Workspace, WorkspaceError> {
        Workspace::open_with(database, manifest_in::<R>)
    }

    /// Creates the workspace of a database of either kind.
    pub fn open_any(database: &Path) -> Result<Workspace, WorkspaceError> {
        Workspace::open_with(database, |dir| match manifest_in::<Played>(dir) {
            Err(WriteError::InTheWay { .. }) => manifest_in::<PositionEval>(dir),
            manifest => manifest,
        })
    }

    fn open_with(database: &Path, manifest_in: ManifestIn) -> Result<Workspace, WorkspaceError> {
        let created = (!database.exists()).then(|| database.to_owned());
        let dir = database.join(NAME);
        let temporary = |error| WorkspaceError::Temporary {
            path: dir.clone(),
            error,
        };
        fs::create_dir_all(database).map_err(temporary)?;
        // Checked before any file is created.
        let manifest = database.join(Manifest::FILE);
        if manifest.is_dir() {
            return Err(in_the_way(&manifest, NotOurs::Manifest));
        }
        manifest_in(database).map_err(WorkspaceError::Write)?;
        let lock = loop {
            match fs::create_dir(&dir) {
                // Another build removed the empty directory of the database just now.
                Err(error) if error.kind() == io::ErrorKind::NotFound => {
                    fs::create_dir_all(database).map_err(temporary)?;
                    continue;
                }
                Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
                    return Err(temporary(error));
                }
                _ => {}
            }
            match fs::symlink_metadata(&dir) {
                Ok(metadata) if metadata.is_dir() => {}
                Ok(_) => return Err(in_the_way(&dir, NotOurs::Directory)),
                // Another build removed it just now.
                Err(_) => continue,
            }
            // Checked before the lock is created.
            for entry in fs::read_dir(&dir).into_iter().flatten() {
                let entry = entry.map_err(temporary)?;
                let is_other = entry.file_type().is_ok_and(|kind| !kind.is_file());
                if is_other || !is_ours(&entry.file_name().to_string_lossy()) {
                    return Err(in_the_way(&entry.path(), NotOurs::Entry));
                }
            }
            let path = dir.join(LOCK);
            let mut options = OpenOptions::new();
            options.write(true).create(true).truncate(false);
            let lock = match options.open(&path) {
                // Another build removed the directory just now.
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                lock => lock.map_err(temporary)?,
            };
            match lock.try_lock() {
                Ok(()) => {}
                Err(TryLockError::WouldBlock) => {
                    return Err(WorkspaceError::Busy(database.to_owned()));
                }
                Err(TryLockError::Error(error)) => return Err(temporary(error)),
            }
            // Another build may have removed the file between the two calls.
            if is_same(&lock, &path) {
                break lock;
            }
        };
        let workspace = Workspace {
            dir,
            created,
            lock,
            cleanup: None,
        };
        let dir = workspace.dir();
        // Read again: another build may have published before the lock was taken.
        let before = manifest_in(database).map_err(WorkspaceError::Write)?;
        // A build that was killed while it moved its files left the files that its manifests name.
        for name in [Manifest::FILE, PREVIOUS] {
            if let Some(left) = manifest_of(&dir.join(name)) {
                remove_abandoned(database, &left, before.as_ref());
            }
        }
        clear(dir).map_err(|error| WorkspaceError::Temporary {
            path: dir.to_owned(),
            error,
        })?;
        Ok(workspace)
    }

    /// Returns the path of the directory.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// Returns the error of a temporary file.
    pub fn error(&self, error: io::Error) -> WorkspaceError {
        WorkspaceError::Temporary {
            path: self.dir.clone(),
            error,
        }
    }

    /// Removes this directory if SIGINT or SIGTERM ends the process.
    pub fn clean_up_on_signals(&mut self) -> io::Result<()> {
        let (dir, lock, created) = (
            self.dir.clone(),
            self.lock.try_clone()?,
            self.created.clone(),
        );
        self.cleanup = Some(signals::on_interruption(move || {
            remove(&dir, &lock, created.as_deref())
        })?);
        Ok(())
    }
}

/// Returns the directory of the database for a path that may be in its temporary directory.
pub fn database_of(path: &Path) -> &Path {
    let temporary = path.ancestors().find(|ancestor| ancestor.ends_with(NAME));
    temporary.and_then(Path::parent).unwrap_or(path)
}

fn in_the_way(path: &Path, reason: NotOurs) -> WorkspaceError {
    WorkspaceError::InTheWay {
        path: path.to_owned(),
        reason,
    }
}

/// Returns whether builds create files of this name.
fn is_ours(name: &str) -> bool {
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    [LOCK, Manifest::FILE, PREVIOUS].contains(&name)
        || name.strip_suffix(".run").is_some_and(is_number)
        || name.strip_prefix("shard-").is_some_and(is_number)
        || name.ends_with(shelfish::table::SHARD_ENDING)
}

fn manifest_of(path: &Path) -> Option<Manifest> {
    let mut bytes = Vec::new();
    shelfish::source::file::open(path)
        .ok()?
        .take(Manifest::MAX_BYTES as u64 + 1)
        .read_to_end(&mut bytes)
        .ok()?;
    parse_manifest(&bytes).ok().map(|(manifest, _)| manifest)
}

/// Removes the files of builds, except the lock.
fn clear(dir: &Path) -> io::Result<()> {
    for entry in fs::read_dir(dir)? {
        let entry = entry?;
        let name = entry.file_name();
        if name != LOCK && is_ours(&name.to_string_lossy()) {
            fs::remove_file(entry.path())?;
        }
    }
    Ok(())
}

/// Removes the temporary directory, and the directory of the database if this build created it and it is empty.
fn remove(dir: &Path, lock: &File, created: Option<&Path>) {
    let path = dir.join(LOCK);
    // The threads of an interrupted build may still create files.
    for _ in 0..100 {
        // With another lock, the files are another build's.
        if is_same(lock, &path) {
            let is_clear =
                clear(dir).is_ok() && fs::read_dir(dir).is_ok_and(|entries| entries.count() <= 1);
            if !is_clear {
                continue;
            }
            // The lock is removed last: without it, later builds would not recognise the other files.
            let _ = fs::remove_file(&path);
        }
        let _ = fs::remove_dir(dir);
        break;
    }
    if let Some(created) = created {
        // Fails unless the directory is empty.
        let _ = fs::remove_dir(created);
    }
}

impl Drop for Workspace {
    fn drop(&mut self) {
        self.cleanup = None;
        remove(&self.dir, &self.lock, self.created.as_deref());
    }
}

/// Returns whether an open file is the file at `path`.
#[cfg(unix)]
pub(super) fn is_same(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let id = |metadata: fs::Metadata| (metadata.dev(), metadata.ino());
    file.metadata().map(id).ok() == fs::metadata(path).map(id).ok()
}

/// Returns whether a file is at `path`.
#[cfg(not(unix))]
pub(super) fn is_same(_: &File, path: &Path) -> bool {
    path.exists()
}

#[cfg(test)]
mod tests {
    use super::*;

    type Test = Result<(), Box<dyn std::error::Error>>;

    #[test]
    fn a_second_build_fails_and_leftovers_of_a_killed_build_are_removed() -> Test {
        let root = tempfile::tempdir()?;
        let database = root.path().join("db");
        let first = Workspace::open::<PositionEval>(&database)?;
        fs::write(first.dir().join("0.run"), "")?;
        assert!(matches!(
            Workspace::open::<PositionEval>(&database),
            Err(WorkspaceError::Busy(_))
        ));
        assert!(
            first.dir().join("0.run").exists(),
            "a live build keeps its files"
        );
        drop(first);
        assert!(!database.exists(), "nothing was built, nothing is left");

        fs::create_dir_all(database.join(NAME))?;
        fs::write(database.join(NAME).join(LOCK), "")?;
        fs::write(database.join(NAME).join("7.run"), "left by a killed build")?;
        fs::write(
            database.join(NAME).join("shard-12"),
            "left by a killed build",
        )?;
        let next = Workspace::open::<PositionEval>(&database)?;
        assert_eq!(fs::read_dir(next.dir())?.count(), 1, "only the lock");
        Ok(())
    }

    /// Prepares a database's directory, then checks that a build fails there and changes nothing.
    #[track_caller]
    fn is_in_the_way(what: &str, prepare: impl FnOnce(&Path, &Path) -> io::Result<()>) -> Test {
        let root = tempfile::tempdir()?;
        let (database, elsewhere) = (root.path().join("db"), root.path().join("elsewhere"));
        fs::create_dir(&database)?;
        fs::create_dir(&elsewhere)?;
        fs::write(elsewhere.join("7.run"), "somebody's")?;
        fs::write(elsewhere.join("letter"), "somebody's")?;
        prepare(&database, &elsewhere)?;
        let before = tree(root.path())?;
        let error = Workspace::open::<PositionEval>(&database).err();
        let is_named = matches!(
            &error,
            Some(
                WorkspaceError::InTheWay { .. }
                    | WorkspaceError::Write(WriteError::InTheWay { .. })
            )
        );
        assert!(is_named, "{what}: {error:?}");
        assert_eq!(tree(root.path())?, before, "{what}");
        Ok(())
    }

    /// Returns every path below a directory with its content.
    fn tree(dir: &Path) -> io::Result<Vec<(PathBuf, String)>> {
        let mut all = Vec::new();
        for entry in fs::read_dir(dir)? {
            let path = entry?.path();
            let metadata = fs::symlink_metadata(&path)?;
            if metadata.is_dir() {
                all.extend(tree(&path)?);
            }
            let content = if metadata.is_file() {
                fs::read_to_string(&path)?
            } else {
                format!("{:?}", metadata.file_type())
            };
            all.push((path, content));
        }
        all.sort();
        Ok(all)
    }

    #[test]
    fn files_that_no_build_created_are_left_unchanged() -> Test {
        is_in_the_way("a file named like the directory", |db, _| {
            fs::write(db.join(NAME), "a note")
        })?;
        is_in_the_way("a foreign file next to the lock", |db, _| {
            fs::create_dir(db.join(NAME))?;
            fs::write(db.join(NAME).join(LOCK), "")?;
            fs::write(db.join(NAME).join("letter"), "")
        })?;
        is_in_the_way("a folder next to the lock", |db, _| {
            fs::create_dir_all(db.join(NAME).join("1.run"))?;
            fs::write(db.join(NAME).join(LOCK), "")
        })?;
        is_in_the_way("a manifest of something else", |db, _| {
            fs::write(db.join(Manifest::FILE), "{\"name\":1}")
        })?;
        is_in_the_way("a folder named like the manifest", |db, _| {
            fs::create_dir(db.join(Manifest::FILE))
        })
    }

    #[cfg(unix)]
    #[test]
    fn links_are_not_followed() -> Test {
        use std::os::unix::fs::symlink;

        is_in_the_way("the directory", |db, elsewhere| {
            symlink(elsewhere, db.join(NAME))
        })?;
        is_in_the_way("the lock", |db, elsewhere| {
            fs::create_dir(db.join(NAME))?;
            symlink(elsewhere.join("letter"), db.join(NAME).join(LOCK))
        })?;
        is_in_the_way("the lock, a broken link", |db, elsewhere| {
            fs::create_dir(db.join(NAME))?;
            symlink(elsewhere.join("nothing"), db.join(NAME).join(LOCK))
        })?;
        is_in_the_way("a run", |db, elsewhere| {
            fs::create_dir(db.join(NAME))?;
            fs::write(db.join(NAME).join(LOCK), "")?;
            symlink(elsewhere, db.join(NAME).join("0.run"))
        })?;
        is_in_the_way("the manifest", |db, elsewhere| {
            symlink(elsewhere.join("letter"), db.join(Manifest::FILE))
        })
    }
}
