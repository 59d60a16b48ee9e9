//! Disk cache of databases that are read over the network.
//!
//! An entry is a file in a folder. Hashes of the requested data and of the database name the file and the folder. The
//! reader verifies cached data like data from a host, so processes need no locks: a rename publishes a complete file,
//! and invalid entries are fetched again. Each run records the number of bytes before it writes them, so that a run that is
//! killed counts too. When the total reaches an eighth of the maximum size, the least recently used files are removed.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::mpsc::{Sender, channel};
use std::thread::{self, JoinHandle};
use std::time::SystemTime;

use sha2::{Digest, Sha256};
use shelfish::reader::{Cache, Entries, Keep};
use shelfish::source::file::open;

use super::DatabaseSource;
use crate::system::size;
use crate::terminal::shown::hexadecimal;

/// Maximum size of an entry in bytes. It exceeds every part of a database.
const MAX_ENTRY: u64 = 9 << 20;
/// Approximate disk space of a file in addition to its content, in bytes.
const BLOCK: u64 = 4096;
/// Maximum size of the entries that wait for the disk, in bytes.
const MAX_PENDING: u64 = 32 << 20;
/// File with the number of bytes recorded since the last cleanup.
const NOTES: &str = "written";
/// Prefix of the names of manifests, which are removed last.
const MANIFEST: &str = "m-";

/// Options for the cache of databases that are read over the network.
#[derive(clap::Args, Clone, Debug, Default)]
#[group(id = "cache_args")]
pub struct Args {
    /// Directory of the cache [default: shelfish in $XDG_CACHE_HOME or ~/.cache]
    #[arg(long, value_name = "DIR")]
    cache_dir: Option<PathBuf>,
    /// Limit the size of the cache for all databases, in MiB if SIZE has no unit; 0 disables the cache
    #[arg(long, value_name = "SIZE", default_value = "256MiB", value_parser = size::zero_or_at_least(1 << 20))]
    cache_size: u64,
}

impl Args {
    /// Opens the cache of a database. Local directories are not cached.
    ///
    /// An unusable default directory only disables the cache.
    pub fn open(&self, source: &DatabaseSource) -> io::Result<Option<Arc<dyn Cache>>> {
        let shared = |cache| -> Arc<dyn Cache> { Arc::new(cache) };
        if self.cache_size == 0 || source.is_directory() {
            return Ok(None);
        }
        let origin = source.origin();
        match &self.cache_dir {
            Some(dir) => DiskCache::open(dir, origin, self.cache_size)
                .map(|cache| Some(shared(cache)))
                .map_err(|error| {
                    io::Error::new(
                        error.kind(),
                        format!("{}: {error}; name another --cache-dir", dir.display()),
                    )
                }),
            None => Ok(usual()
                .and_then(|dir| DiskCache::open(&dir, origin, self.cache_size).ok())
                .map(shared)),
        }
    }
}

/// Returns the default directory of caches.
fn usual() -> Option<PathBuf> {
    let named = |name: &str| {
        std::env::var_os(name)
            .map(PathBuf::from)
            .filter(|dir| dir.is_absolute())
    };
    let dir = named("XDG_CACHE_HOME");
    let dir = if cfg!(windows) {
        dir.or_else(|| named("LOCALAPPDATA"))
    } else {
        dir
    };
    Some(
        dir.or_else(|| Some(named("HOME")?.join(".cache")))?
            .join("shelfish"),
    )
}

/// Cache of one database. A separate thread writes the entries, because a slow disk must not delay lookups.
#[derive(Debug)]
pub struct DiskCache {
    folder: Arc<Folder>,
    /// Entries for the thread; `None` while the cache is dropped.
    changes: Option<Sender<Change>>,
    /// Size of the entries that are not written yet, in bytes.
    pending: Arc<AtomicU64>,
    writer: Option<JoinHandle<()>>,
}

/// Change of an entry.
#[derive(Debug)]
enum Change {
    Write(String, Vec<u8>),
    Remove(String),
}

/// Folder of the entries of one database.
#[derive(Debug)]
struct Folder {
    /// Folder of the caches of all databases.
    root: PathBuf,
    /// Folder of the cache of this database.
    dir: PathBuf,
    room: u64,
    /// Number of bytes that are recorded and not written yet.
    recorded: AtomicU64,
    /// Counter for the names of temporary files.
    next: AtomicU64,
}

impl DiskCache {
    /// Opens the cache of the database with the origin `origin` in the folder `root`.
    pub fn open(root: &Path, origin: &str, room: u64) -> io::Result<DiskCache> {
        let dir = root.join(hex(origin));
        let mut builder = fs::DirBuilder::new();
        builder.recursive(true);
        // The folder is private, because it reveals the positions that a user looked up.
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        builder.create(&dir)?;
        let (recorded, next) = (AtomicU64::new(0), AtomicU64::new(0));
        let folder = Arc::new(Folder {
            root: root.to_owned(),
            dir,
            room,
            recorded,
            next,
        });
        let (changes, received) = channel();
        let pending = Arc::<AtomicU64>::default();
        let (to, left) = (folder.clone(), pending.clone());
        let writer = thread::Builder::new()
            .name("cache".to_owned())
            .spawn(move || {
                for change in received {
                    match change {
                        Change::Write(name, bytes) => {
                            // A full disk only disables the cache.
                            let _ = to.write(&name, &bytes);
                            left.fetch_sub(bytes.len() as u64, Relaxed);
                        }
                        Change::Remove(name) => drop(fs::remove_file(to.path(&name))),
                    }
                }
            })?;
        Ok(DiskCache {
            folder,
            changes: Some(changes),
            pending,
            writer: Some(writer),
        })
    }

    fn send(&self, change: Change) {
        if let Some(changes) = &self.changes {
            // The thread ends only when the cache is dropped.
            let _ = changes.send(change);
        }
    }
}

impl Folder {
    fn path(&self, name: &str) -> PathBuf {
        let kind = if name == shelfish::table::Manifest::FILE {
            MANIFEST
        } else {
            ""
        };
        self.dir.join(format!("{kind}{}", hex(name)))
    }

    fn read(&self, name: &str) -> io::Result<Vec<u8>> {
        let file = open(&self.path(name))?;
        let mut bytes = Vec::new();
        (&file).take(MAX_ENTRY + 1).read_to_end(&mut bytes)?;
        // The modification time is the time of the last use.
        let _ = file.set_modified(SystemTime::now());
        Ok(bytes)
    }

    fn write(&self, name: &str, bytes: &[u8]) -> io::Result<()> {
        if !self.record(taken(bytes.len() as u64))? {
            return Ok(());
        }
        let temporary = self.dir.join(format!(
            "t-{}-{}",
            std::process::id(),
            self.next.fetch_add(1, Relaxed)
        ));
        let written = File::create_new(&temporary).and_then(|mut file| file.write_all(bytes));
        let moved = written.and_then(|()| fs::rename(&temporary, self.path(name)));
        if moved.is_err() {
            let _ = fs::remove_file(&temporary);
        }
        moved
    }

    /// Records bytes before they are written, and removes files if necessary. Returns whether there is room for them.
    fn record(&self, bytes: u64) -> io::Result<bool> {
        // A cleanup for a larger entry would remove most of the others.
        if bytes > self.room / 2 {
            return Ok(false);
        }
        let before = self.recorded.load(Relaxed);
        if bytes <= before {
            self.recorded.store(before - bytes, Relaxed);
            return Ok(true);
        }
        // Records are rare, because they cost time, and small, because a run may end without using them.
        let more = bytes + self.room / 1024;
        let path = self.root.join(NOTES);
        let mut notes = OpenOptions::new()
            .create(true)
            .append(true)
            .read(true)
            .open(&path)?;
        let mut all = Vec::new();
        open(&path)?.take(1 << 20).read_to_end(&mut all)?;
        notes.write_all(&more.to_le_bytes())?;
        all.extend_from_slice(&more.to_le_bytes());
        let number = |eight: &[u8]| eight.try_into().map_or(0, u64::from_le_bytes);
        let sum = all.chunks_exact(8).map(number).fold(0, u64::saturating_add);
        if sum > self.room / 8 || all.len() >= 1 << 20 {
            let room = self.room - self.room / 8 - bytes;
            if make_room(&self.root, room)? > room {
                return Ok(false);
            }
            notes.set_len(0)?;
        }
        self.recorded.store(before + more - bytes, Relaxed);
        Ok(true)
    }
}

impl Drop for DiskCache {
    fn drop(&mut self) {
        self.changes = None;
        if let Some(writer) = self.writer.take() {
            let _ = writer.join();
        }
    }
}

impl Cache for DiskCache {
    fn get(&self, names: Vec<String>) -> Entries<'_> {
        Box::pin(async move {
            names
                .iter()
                .map(|name| self.folder.read(name).ok())
                .collect()
        })
    }

    fn put(&self, name: &str, bytes: &[u8], _: Keep) {
        let size = bytes.len() as u64;
        if self.pending.fetch_add(size, Relaxed) + size > MAX_PENDING {
            // The disk is slower than the network. An entry that is not cached is only read again.
            self.pending.fetch_sub(size, Relaxed);
            return;
        }
        self.send(Change::Write(name.to_owned(), bytes.to_vec()));
    }

    fn remove(&self, name: &str) {
        self.send(Change::Remove(name.to_owned()));
    }
}

/// Returns the disk space of a file.
fn taken(bytes: u64) -> u64 {
    bytes.next_multiple_of(BLOCK)
}

/// Removes entries until the rest fits: the least recently used entries first, manifests last. Returns the size of the rest.
fn make_room(root: &Path, room: u64) -> io::Result<u64> {
    let (mut entries, mut sum) = (Vec::new(), 0);
    for dir in fs::read_dir(root)?.flatten() {
        // Ignores everything except for folders that are named by a hash.
        if !dir.file_type()?.is_dir() || !is_hex(&dir.file_name().to_string_lossy()) {
            continue;
        }
        for entry in fs::read_dir(dir.path()).into_iter().flatten().flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            let is_ours = name.starts_with("t-") || is_hex(name.trim_start_matches(MANIFEST));
            // Another process may have removed the file.
            if let (true, Ok(metadata)) = (is_ours, entry.metadata()) {
                sum += taken(metadata.len());
                let modified = metadata.modified().unwrap_or(SystemTime::UNIX_EPOCH);
                entries.push((
                    name.starts_with(MANIFEST),
                    modified,
                    taken(metadata.len()),
                    entry.path(),
                ));
            }
        }
    }
    entries.sort_unstable();
    for (_, _, bytes, path) in entries {
        if sum <= room {
            break;
        }
        if fs::remove_file(path).is_ok() {
            sum -= bytes;
        }
    }
    Ok(sum)
}

/// Returns the first 32 digits of the SHA-256 of a name.
fn hex(name: &str) -> String {
    hexadecimal(&Sha256::digest(name)[..16])
}

fn is_hex(name: &str) -> bool {
    name.len() == 32
        && name
            .bytes()
            .all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

#[cfg(test)]
mod tests {
    use super::*;

    type Test = Result<(), Box<dyn std::error::Error>>;

    fn size_of(root: &Path) -> io::Result<u64> {
        let mut sum = 0;
        for dir in fs::read_dir(root)?
            .flatten()
            .filter(|entry| entry.path().is_dir())
        {
            for entry in fs::read_dir(dir.path())?.flatten() {
                sum += taken(entry.metadata()?.len());
            }
        }
        Ok(sum)
    }

    fn get(cache: &DiskCache, name: &str) -> io::Result<Option<Vec<u8>>> {
        Ok(crate::database::wait(cache.get(vec![name.to_owned()]))?
            .pop()
            .flatten())
    }

    #[test]
    fn cached_data_is_found_for_the_same_source_only() -> Test {
        let root = tempfile::tempdir()?;
        let open = |source: &str| DiskCache::open(root.path(), source, 1 << 20);
        open("https://a/")?.put("x.silo:0-3", b"abc", Keep::Recent);
        assert_eq!(
            get(&open("https://a/")?, "x.silo:0-3")?.as_deref(),
            Some(&b"abc"[..])
        );
        assert_eq!(get(&open("https://a/")?, "x.silo:0-4")?, None);
        assert_eq!(get(&open("https://b/")?, "x.silo:0-3")?, None);
        let cache = open("https://a/")?;
        cache.remove("x.silo:0-3");
        drop(cache);
        assert_eq!(get(&open("https://a/")?, "x.silo:0-3")?, None);
        Ok(())
    }

    #[test]
    fn entries_are_written_by_another_thread_in_order_and_before_the_cache_is_dropped() -> Test {
        let root = tempfile::tempdir()?;
        let cache = DiskCache::open(root.path(), "https://a/", 1 << 30)?;
        // More than may wait for the disk.
        for n in 0..2 * MAX_PENDING / (1 << 20) {
            cache.put("large", &vec![n as u8; 1 << 20], Keep::Recent);
            assert!(cache.pending.load(Relaxed) <= MAX_PENDING);
        }
        while cache.pending.load(Relaxed) > 0 {
            thread::yield_now();
        }
        cache.put("x", b"1", Keep::Recent);
        cache.remove("x");
        cache.put("y", b"1", Keep::Recent);
        cache.put("y", b"2", Keep::Recent);
        drop(cache);
        let cache = DiskCache::open(root.path(), "https://a/", 1 << 30)?;
        assert!(get(&cache, "large")?.is_some_and(|bytes| bytes.len() == 1 << 20));
        assert_eq!(
            [get(&cache, "x")?, get(&cache, "y")?],
            [None, Some(b"2".to_vec())]
        );
        Ok(())
    }

    #[test]
    fn the_size_limit_holds_and_manifests_are_removed_last() -> Test {
        let (root, room) = (tempfile::tempdir()?, 1 << 20);
        for run in 0..60 {
            let cache = DiskCache::open(root.path(), &format!("https://{}/", run % 3), room)?;
            cache.put("manifest.json", b"{}", Keep::Longest);
            for n in 0..if run == 0 { 1_000 } else { 10 } {
                cache.put(&format!("{run}.silo:{n}"), &[7; 5_000], Keep::Recent);
            }
            drop(cache);
            assert!(
                size_of(root.path())? <= room,
                "after run {run}: {} of {room}",
                size_of(root.path())?
            );
        }
        let cache = DiskCache::open(root.path(), "https://0/", room)?;
        assert!(get(&cache, "manifest.json")?.is_some());
        assert!(get(&cache, "59.silo:9")?.is_none() && get(&cache, "57.silo:9")?.is_some());
        Ok(())
    }

    #[test]
    fn entries_of_any_size_leave_the_folder_within_the_limit_at_all_times() -> Test {
        let (root, room) = (tempfile::tempdir()?, 1 << 20);
        let mut random = fastrand::Rng::with_seed(7);
        for run in 0..40 {
            let cache = DiskCache::open(root.path(), "https://hostile/", room)?;
            let folder = cache.folder.clone();
            for n in 0..50 {
                let size = match random.u8(..4) {
                    0 => random.usize(..10),
                    1 => random.usize(..20_000),
                    2 => random.usize(..room as usize),
                    _ => MAX_ENTRY as usize,
                };
                folder.write(&format!("{run}:{n}"), &vec![7; size])?;
                let found = size_of(root.path())?;
                assert!(
                    found <= room,
                    "{found} of {room} bytes after an entry of {size}"
                );
            }
            // As a process that is killed.
            std::mem::forget(cache);
        }
        Ok(())
    }

    #[test]
    fn runs_that_are_killed_after_a_few_bytes_leave_the_folder_within_the_limit() -> Test {
        let (root, room) = (tempfile::tempdir()?, 1 << 20);
        for run in 0..1_000 {
            let cache = DiskCache::open(root.path(), &format!("https://{}/", run % 7), room)?;
            cache.folder.write(&format!("{run}"), &[7; 3_000])?;
            std::mem::forget(cache);
            assert!(
                run % 50 > 0 || size_of(root.path())? <= room,
                "after {run} runs"
            );
        }
        assert!(size_of(root.path())? <= room);
        Ok(())
    }

    #[test]
    fn concurrent_processes_do_not_damage_the_cache() -> Test {
        let root = tempfile::tempdir()?;
        let caches: Vec<DiskCache> = (0..4)
            .map(|_| DiskCache::open(root.path(), "s3://b/", 1 << 20))
            .collect::<io::Result<_>>()?;
        std::thread::scope(|scope| {
            for (n, cache) in caches.iter().enumerate() {
                // Each process has its own counter.
                cache.folder.next.store(n as u64 * 1_000_000, Relaxed);
                scope.spawn(move || {
                    for round in 0..200u64 {
                        let byte = (round % 7) as u8;
                        cache.put(&format!("x:{byte}"), &[byte; 20_000], Keep::Recent);
                        let found = get(cache, &format!("x:{}", (byte + 3) % 7)).ok().flatten();
                        assert!(found.is_none_or(|found| found == [(byte + 3) % 7; 20_000]));
                    }
                });
            }
        });
        Ok(())
    }
}
