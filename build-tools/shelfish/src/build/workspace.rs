//! The directory in which a build works: within the database's, one build at a time, gone afterwards.

use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

/// The name of the directory within the database's.
const NAME: &str = ".shelfish-build";
/// Locked for as long as the build lives; the system lets go of it however the build dies.
const LOCK: &str = "lock";

/// A build's own directory, removed when dropped. What a killed build left there is removed by the next.
pub struct Workspace {
    dir: PathBuf,
    /// The database's directory, if it was created here.
    created: Option<PathBuf>,
    _lock: File,
}

impl Workspace {
    /// Makes the workspace of the database in `database`, which is created if it does not exist.
    ///
    /// # Errors
    ///
    /// [`io::ErrorKind::WouldBlock`] if another build is at work there, else what the file system says.
    pub fn open(database: &Path) -> io::Result<Workspace> {
        let created = (!database.exists()).then(|| database.to_owned());
        let dir = database.join(NAME);
        let lock = loop {
            fs::create_dir_all(&dir)?;
            let path = dir.join(LOCK);
            let lock = File::create(&path)?;
            match lock.try_lock() {
                Ok(()) => {}
                Err(TryLockError::WouldBlock) => return Err(io::ErrorKind::WouldBlock.into()),
                Err(TryLockError::Error(error)) => return Err(error),
            }
            // Another build may have ended, and removed the file, between the two calls.
            if is_same(&lock, &path) {
                break lock;
            }
        };
        for entry in fs::read_dir(&dir)? {
            let path = entry?.path();
            if !path.ends_with(LOCK) {
                if path.is_dir() { fs::remove_dir_all(path)? } else { fs::remove_file(path)? }
            }
        }
        Ok(Workspace { dir, created, _lock: lock })
    }

    /// The directory.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// Ends the process on SIGINT and SIGTERM, with 128 and the signal's number as its exit code, this directory
    /// removed.
    ///
    /// # Errors
    ///
    /// The system does not let signals be handled.
    #[cfg(unix)]
    pub fn clean_up_on_signals(&self) -> io::Result<()> {
        use signal_hook::consts::{SIGINT, SIGTERM};

        let mut signals = signal_hook::iterator::Signals::new([SIGINT, SIGTERM])?;
        let (dir, created) = (self.dir.clone(), self.created.clone());
        std::thread::spawn(move || {
            if let Some(signal) = signals.forever().next() {
                IS_ENDING.store(true, Ordering::SeqCst);
                remove(&dir, created.as_deref());
                std::process::exit(128 + signal);
            }
        });
        Ok(())
    }
}

/// Whether a signal is about to end the process, which fails as its files are taken from it.
static IS_ENDING: AtomicBool = AtomicBool::new(false);

/// Waits for the end if a signal is about to bring it.
pub fn wait_if_ending() {
    while IS_ENDING.load(Ordering::SeqCst) {
        std::thread::park();
    }
}

fn remove(dir: &Path, created: Option<&Path>) {
    // When a signal ends the build, its threads still create files meanwhile.
    for _ in 0..100 {
        match fs::remove_dir_all(dir) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {}
            _ => break,
        }
    }
    if let Some(created) = created {
        // Only if it is empty, after a failure.
        let _ = fs::remove_dir(created);
    }
}

impl Drop for Workspace {
    fn drop(&mut self) {
        wait_if_ending();
        remove(&self.dir, self.created.as_deref());
    }
}

#[cfg(unix)]
fn is_same(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let id = |metadata: fs::Metadata| (metadata.dev(), metadata.ino());
    file.metadata().map(id).ok() == fs::metadata(path).map(id).ok()
}

#[cfg(not(unix))]
fn is_same(_: &File, path: &Path) -> bool {
    path.exists()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_second_build_is_turned_away_and_leftovers_of_a_dead_one_are_removed() -> io::Result<()> {
        let root = tempfile::tempdir()?;
        let database = root.path().join("db");
        let first = Workspace::open(&database)?;
        fs::write(first.dir().join("0.run"), "")?;
        assert_eq!(Workspace::open(&database).err().map(|e| e.kind()), Some(io::ErrorKind::WouldBlock));
        assert!(first.dir().join("0.run").exists(), "a live build keeps its files");
        drop(first);
        assert!(!database.exists(), "nothing was built, nothing is left");

        fs::create_dir_all(database.join(NAME).join("shards"))?;
        fs::write(database.join(NAME).join("7.run"), "left by a killed build")?;
        let next = Workspace::open(&database)?;
        assert_eq!(fs::read_dir(next.dir())?.count(), 1, "only the lock");
        Ok(())
    }
}
