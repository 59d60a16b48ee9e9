//! The directory in which a build works: within the database's, one build at a time, gone afterwards.
//!
//! The database's directory may have been made by somebody else, who put links or files of their own there. So nothing
//! is followed, written over or removed that a build did not make: what else is found stands in the way, and is named.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use shelfish::eval::PositionEval;
use shelfish::played::Played;
use shelfish::table::{Manifest, PREVIOUS, Record, WriteError, manifest_in, remove_abandoned};

use crate::build::BuildError;
use crate::database::parse_manifest;

/// The name of the directory within the database's.
const NAME: &str = ".shelfish-build";
/// Locked for as long as the build lives; the system lets go of it however the build dies.
const LOCK: &str = "lock";
/// What the file of the lock holds, by which a directory is known to be a build's.
const MARK: &[u8] = b"A build of shelfish works in this directory, and removes it.\n";

/// Gives the manifest of the database in a directory, if there is one.
type ManifestIn = fn(&Path) -> Result<Option<Manifest>, WriteError>;

/// A build's own directory, removed when dropped. What a killed build left there is removed by the next.
pub struct Workspace {
    dir: PathBuf,
    /// The database's directory, if it was created here.
    created: Option<PathBuf>,
    lock: File,
}

impl Workspace {
    /// Makes the workspace of the database in `database`, which is created if it does not exist.
    ///
    /// # Errors
    ///
    /// [`BuildError::Busy`] if another build is at work there; [`WriteError::InTheWay`] if the directory holds what no
    /// build made in the place of what one makes; else what the file system says.
    pub fn open<R: Record>(database: &Path) -> Result<Workspace, BuildError> {
        Workspace::open_with(database, manifest_in::<R>)
    }

    /// Makes the workspace of a database of either kind.
    ///
    /// # Errors
    ///
    /// As those of [`Workspace::open`].
    pub fn open_any(database: &Path) -> Result<Workspace, BuildError> {
        Workspace::open_with(database, |dir| match manifest_in::<Played>(dir) {
            Err(WriteError::InTheWay { .. }) => manifest_in::<PositionEval>(dir),
            manifest => manifest,
        })
    }

    fn open_with(database: &Path, manifest_in: ManifestIn) -> Result<Workspace, BuildError> {
        let created = (!database.exists()).then(|| database.to_owned());
        let dir = database.join(NAME);
        let temporary = |error| BuildError::Temporary { path: dir.clone(), error };
        fs::create_dir_all(database).map_err(temporary)?;
        // Before anything is made there.
        manifest_in(database).map_err(BuildError::Write)?;
        let (lock, is_new) = loop {
            match fs::create_dir(&dir) {
                Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(temporary(error)),
                _ => {}
            }
            match fs::symlink_metadata(&dir) {
                Ok(metadata) if metadata.is_dir() => {}
                Ok(_) => return Err(in_the_way(&dir, "builds work in a directory of this name")),
                // Another build has just removed it.
                Err(_) => continue,
            }
            let path = dir.join(LOCK);
            let Some((lock, is_new)) = open_lock(&path)? else { continue };
            match lock.try_lock() {
                Ok(()) => {}
                Err(TryLockError::WouldBlock) => return Err(BuildError::Busy(database.to_owned())),
                Err(TryLockError::Error(error)) => return Err(temporary(error)),
            }
            // Another build may have ended, and removed the file, between the two calls.
            if is_same(&lock, &path) {
                break (lock, is_new);
            }
        };
        for entry in fs::read_dir(&dir).map_err(temporary)? {
            let entry = entry.map_err(temporary)?;
            let (name, is_file) = (entry.file_name(), entry.file_type().is_ok_and(|kind| kind.is_file()));
            // A build leaves nothing without its lock.
            let is_ours = is_file && is_ours(&name.to_string_lossy()) && (!is_new || name == LOCK);
            if !is_ours {
                if is_new {
                    let _ = fs::remove_file(dir.join(LOCK));
                }
                return Err(in_the_way(&entry.path(), "no build made it, and builds remove their directory"));
            }
        }
        let workspace = Workspace { dir, created, lock };
        let dir = workspace.dir();
        // Anew: before the lock was had another build may have published.
        let before = manifest_in(database).map_err(BuildError::Write)?;
        // A build that was killed while it moved its files into place left those that its manifests name.
        for name in [Manifest::FILE, PREVIOUS] {
            if let Some(left) = manifest_of(&dir.join(name)) {
                remove_abandoned(database, &left, before.as_ref());
            }
        }
        clear(dir).map_err(|error| BuildError::Temporary { path: dir.to_owned(), error })?;
        Ok(workspace)
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
        let (dir, lock, created) = (self.dir.clone(), self.lock.try_clone()?, self.created.clone());
        std::thread::spawn(move || {
            if let Some(signal) = signals.forever().find(|_| !ARE_ELSEWHERE.load(Ordering::SeqCst)) {
                IS_ENDING.store(true, Ordering::SeqCst);
                remove(&dir, &lock, created.as_deref());
                std::process::exit(128 + signal);
            }
        });
        Ok(())
    }
}

/// Whether somebody else sees to signals.
static ARE_ELSEWHERE: AtomicBool = AtomicBool::new(false);

/// As long as it lives, signals do not end the process on behalf of a build that is over: its owner sees to them.
pub struct SignalsElsewhere(());

impl SignalsElsewhere {
    /// Takes signals over.
    pub fn new() -> SignalsElsewhere {
        ARE_ELSEWHERE.store(true, Ordering::SeqCst);
        SignalsElsewhere(())
    }
}

impl Drop for SignalsElsewhere {
    fn drop(&mut self) {
        ARE_ELSEWHERE.store(false, Ordering::SeqCst);
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

/// The file of the lock, and whether it was made here; `None` if it went away meanwhile.
fn open_lock(path: &Path) -> Result<Option<(File, bool)>, BuildError> {
    let temporary = |error| BuildError::Temporary { path: path.to_owned(), error };
    match OpenOptions::new().write(true).create_new(true).open(path) {
        Ok(mut file) => {
            file.write_all(MARK).map_err(temporary)?;
            return Ok(Some((file, true)));
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(temporary(error)),
        Err(_) => {}
    }
    let Ok(metadata) = fs::symlink_metadata(path) else { return Ok(None) };
    let mut found = Vec::new();
    if metadata.is_file() {
        let file = match OpenOptions::new().read(true).write(true).open(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            file => file.map_err(temporary)?,
        };
        (&file).take(MARK.len() as u64 + 1).read_to_end(&mut found).map_err(temporary)?;
        // A build may have been killed, or be about to write it.
        if MARK.starts_with(&found) {
            return Ok(Some((file, false)));
        }
    }
    Err(in_the_way(path, "it is not the lock of a build"))
}

fn in_the_way(path: &Path, why: &str) -> BuildError {
    BuildError::Write(WriteError::InTheWay { path: path.to_owned(), why: why.to_owned() })
}

/// Whether a build makes files of this name.
fn is_ours(name: &str) -> bool {
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    [LOCK, Manifest::FILE, PREVIOUS].contains(&name)
        || name.strip_suffix(".run").is_some_and(is_number)
        || name.strip_prefix("shard-").is_some_and(is_number)
        || name.ends_with(shelfish::table::SHARD_ENDING)
}

fn manifest_of(path: &Path) -> Option<Manifest> {
    let mut bytes = Vec::new();
    File::open(path).ok()?.take(Manifest::MAX_BYTES as u64 + 1).read_to_end(&mut bytes).ok()?;
    parse_manifest(&bytes).ok().map(|(manifest, _)| manifest)
}

/// Removes what builds make, the lock aside.
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

/// Removes a build's directory, and the database's if it was made for this build and is empty.
fn remove(dir: &Path, lock: &File, created: Option<&Path>) {
    let path = dir.join(LOCK);
    // When a signal ends the build, its threads still create files meanwhile.
    for _ in 0..100 {
        // Without the lock, or with another one, what is there is another build's.
        if is_same(lock, &path) {
            let is_clear = clear(dir).is_ok() && fs::read_dir(dir).is_ok_and(|entries| entries.count() <= 1);
            if !is_clear {
                continue;
            }
            // It goes last: without it what is left would be nobody's.
            let _ = fs::remove_file(&path);
        }
        let _ = fs::remove_dir(dir);
        break;
    }
    if let Some(created) = created {
        // Only if it is empty, after a failure.
        let _ = fs::remove_dir(created);
    }
}

impl Drop for Workspace {
    fn drop(&mut self) {
        wait_if_ending();
        remove(&self.dir, &self.lock, self.created.as_deref());
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

    type Test = Result<(), Box<dyn std::error::Error>>;

    #[test]
    fn a_second_build_is_turned_away_and_leftovers_of_a_dead_one_are_removed() -> Test {
        let root = tempfile::tempdir()?;
        let database = root.path().join("db");
        let first = Workspace::open::<PositionEval>(&database)?;
        fs::write(first.dir().join("0.run"), "")?;
        assert!(matches!(Workspace::open::<PositionEval>(&database), Err(BuildError::Busy(_))));
        assert!(first.dir().join("0.run").exists(), "a live build keeps its files");
        drop(first);
        assert!(!database.exists(), "nothing was built, nothing is left");

        fs::create_dir_all(database.join(NAME))?;
        fs::write(database.join(NAME).join(LOCK), &MARK[..10])?;
        fs::write(database.join(NAME).join("7.run"), "left by a killed build")?;
        fs::write(database.join(NAME).join("shard-12"), "left by a killed build")?;
        let next = Workspace::open::<PositionEval>(&database)?;
        assert_eq!(fs::read_dir(next.dir())?.count(), 1, "only the lock");
        Ok(())
    }

    /// Prepares a database's directory, has a build turned away from it, and shows that nothing there has changed.
    #[track_caller]
    fn stands_in_the_way(what: &str, prepare: impl FnOnce(&Path, &Path) -> io::Result<()>) -> Test {
        let root = tempfile::tempdir()?;
        let (database, elsewhere) = (root.path().join("db"), root.path().join("elsewhere"));
        fs::create_dir(&database)?;
        fs::create_dir(&elsewhere)?;
        fs::write(elsewhere.join("7.run"), "somebody's")?;
        fs::write(elsewhere.join("letter"), "somebody's")?;
        prepare(&database, &elsewhere)?;
        let before = tree(root.path())?;
        let error = Workspace::open::<PositionEval>(&database).err();
        let is_named = matches!(&error, Some(BuildError::Write(WriteError::InTheWay { .. })));
        assert!(is_named, "{what}: {error:?}");
        assert_eq!(tree(root.path())?, before, "{what}");
        Ok(())
    }

    /// Every path below a directory, with what is there.
    fn tree(dir: &Path) -> io::Result<Vec<(PathBuf, String)>> {
        let mut all = Vec::new();
        for entry in fs::read_dir(dir)? {
            let path = entry?.path();
            let metadata = fs::symlink_metadata(&path)?;
            if metadata.is_dir() {
                all.extend(tree(&path)?);
            }
            let content =
                if metadata.is_file() { fs::read_to_string(&path)? } else { format!("{:?}", metadata.file_type()) };
            all.push((path, content));
        }
        all.sort();
        Ok(all)
    }

    #[test]
    fn what_no_build_made_is_left_as_it_is() -> Test {
        stands_in_the_way("a file in the place of the directory", |db, _| fs::write(db.join(NAME), "a note"))?;
        stands_in_the_way("a lock that is something else", |db, _| {
            fs::create_dir(db.join(NAME))?;
            fs::write(db.join(NAME).join(LOCK), "a poem")
        })?;
        stands_in_the_way("a file of a build's name without a lock", |db, _| {
            fs::create_dir(db.join(NAME))?;
            fs::write(db.join(NAME).join("7.run"), "somebody's")
        })?;
        stands_in_the_way("a foreign file beside the lock", |db, _| {
            fs::create_dir(db.join(NAME))?;
            fs::write(db.join(NAME).join(LOCK), MARK)?;
            fs::write(db.join(NAME).join("letter"), "")
        })?;
        stands_in_the_way("a folder beside the lock", |db, _| {
            fs::create_dir_all(db.join(NAME).join("1.run"))?;
            fs::write(db.join(NAME).join(LOCK), MARK)
        })?;
        stands_in_the_way("a manifest of something else", |db, _| fs::write(db.join(Manifest::FILE), "{\"name\":1}"))?;
        stands_in_the_way("a folder in the place of the manifest", |db, _| fs::create_dir(db.join(Manifest::FILE)))
    }

    #[cfg(unix)]
    #[test]
    fn links_are_not_followed() -> Test {
        use std::os::unix::fs::symlink;

        stands_in_the_way("the directory", |db, elsewhere| symlink(elsewhere, db.join(NAME)))?;
        stands_in_the_way("the lock", |db, elsewhere| {
            fs::create_dir(db.join(NAME))?;
            symlink(elsewhere.join("letter"), db.join(NAME).join(LOCK))
        })?;
        stands_in_the_way("the lock, which leads nowhere", |db, elsewhere| {
            fs::create_dir(db.join(NAME))?;
            symlink(elsewhere.join("nothing"), db.join(NAME).join(LOCK))
        })?;
        stands_in_the_way("a run", |db, elsewhere| {
            fs::create_dir(db.join(NAME))?;
            fs::write(db.join(NAME).join(LOCK), MARK)?;
            symlink(elsewhere, db.join(NAME).join("0.run"))
        })?;
        stands_in_the_way("the manifest", |db, elsewhere| symlink(elsewhere.join("letter"), db.join(Manifest::FILE)))
    }

    #[cfg(unix)]
    #[test]
    fn a_hard_link_in_the_place_of_the_lock_keeps_its_content() -> Test {
        stands_in_the_way("a hard link", |db, elsewhere| {
            fs::create_dir(db.join(NAME))?;
            fs::hard_link(elsewhere.join("letter"), db.join(NAME).join(LOCK))
        })
    }
}
