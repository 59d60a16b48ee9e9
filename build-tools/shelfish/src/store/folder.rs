//! Folder as a store. Files are written to a temporary directory, synced, and moved into place, as in a build.

use std::fs::{self, File};
use std::io::{self, ErrorKind, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use sha2::{Digest, Sha256};
use shelfish::source::file::open;
use shelfish::table::Manifest;
use tokio::sync::watch;

use super::{Current, Entry, StoreError, StoreErrorKind, name_of};
use crate::system::workspace::Workspace;

/// Folder with an exclusive lock.
pub(super) struct Folder {
    dir: PathBuf,
    workspace: Workspace,
}

impl Folder {
    pub(super) fn open(dir: &Path) -> Result<Folder, StoreError> {
        let error_of = |error| StoreErrorKind::Folder(Box::new(error));
        let workspace = Workspace::open_any(dir)
            .map_err(|error| StoreError::new(dir.display().to_string(), error_of(error)))?;
        Ok(Folder {
            dir: dir.to_owned(),
            workspace,
        })
    }

    pub(super) fn locate(&self, name: &str) -> String {
        self.dir.join(name).display().to_string()
    }

    fn error(&self, name: &str) -> impl Fn(io::Error) -> StoreError + use<> {
        let at = self.locate(name);
        move |error| StoreError::new(&at, StoreErrorKind::Io(error))
    }

    pub(super) fn list(&self, folder: &str) -> Result<Vec<Entry>, StoreError> {
        let error_of = self.error(folder);
        self.check_within(folder).map_err(&error_of)?;
        let entries = match fs::read_dir(self.dir.join(folder)) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
            entries => entries.map_err(&error_of)?,
        };
        let mut found = Vec::new();
        for entry in entries {
            let entry = entry.map_err(&error_of)?;
            let metadata = fs::symlink_metadata(entry.path()).map_err(&error_of)?;
            if let (true, Ok(name)) = (metadata.is_file(), entry.file_name().into_string()) {
                let modified = metadata.modified().map_err(&error_of)?;
                found.push(Entry {
                    name,
                    bytes: metadata.len(),
                    modified,
                });
            }
        }
        Ok(found)
    }

    /// Returns an error if `folder` is a link, because its target may belong to another program or user.
    fn check_within(&self, folder: &str) -> io::Result<()> {
        match fs::symlink_metadata(self.dir.join(folder)) {
            Ok(metadata) if !folder.is_empty() && !metadata.is_dir() => Err(io::Error::new(
                ErrorKind::AlreadyExists,
                "expected a folder, found another kind of file",
            )),
            _ => Ok(()),
        }
    }

    pub(super) fn read(&self, name: &str) -> Result<Option<Current>, StoreError> {
        let path = self.dir.join(name);
        let mut bytes = Vec::new();
        match open(&path).and_then(|file| {
            file.take(Manifest::MAX_BYTES as u64 + 1)
                .read_to_end(&mut bytes)
        }) {
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(self.error(name)(error)),
            Ok(_) => Ok(Some(Current {
                bytes,
                version: object_store::UpdateVersion {
                    e_tag: None,
                    version: None,
                },
            })),
        }
    }

    pub(super) fn holds(&self, shard: &str) -> Result<bool, StoreError> {
        let mut hash = Sha256::new();
        let copied = open(&self.dir.join(shard))
            .and_then(|mut file| io::copy(&mut file, &mut HashOnly(&mut hash)));
        copied.map_err(self.error(shard))?;
        Ok(name_of(hash) == shard)
    }

    pub(super) fn send(
        &self,
        shard: &str,
        from: &Path,
        sent: &AtomicU64,
        stop: &watch::Receiver<bool>,
    ) -> Result<(), StoreError> {
        let at_source = |kind| StoreError::new(from.display().to_string(), kind);
        let here = |error| at_source(StoreErrorKind::Io(error));
        let scratch = self.workspace.dir().join(shard);
        let (mut file, mut out) = (
            open(from).map_err(here)?,
            File::create(&scratch).map_err(self.error(shard))?,
        );
        let (mut hash, mut buffer) = (Sha256::new(), vec![0; 1 << 20]);
        loop {
            if *stop.borrow() {
                return Err(StoreError::new(self.locate(shard), StoreErrorKind::Stopped));
            }
            let length = file.read(&mut buffer).map_err(here)?;
            if length == 0 {
                break;
            }
            hash.update(&buffer[..length]);
            out.write_all(&buffer[..length])
                .map_err(self.error(shard))?;
            sent.fetch_add(length as u64, Ordering::Relaxed);
        }
        let found = name_of(hash);
        if found != shard {
            return Err(at_source(StoreErrorKind::Content { found }));
        }
        out.sync_all().map_err(self.error(shard))?;
        self.place(&scratch, shard)
    }

    pub(super) fn write(&self, name: &str, bytes: &[u8]) -> Result<(), StoreError> {
        // The workspace cleans up files with the name of a manifest.
        let scratch = self.workspace.dir().join(Manifest::FILE);
        let written = File::create(&scratch)
            .and_then(|mut file| file.write_all(bytes).and_then(|()| file.sync_all()));
        written.map_err(self.error(name))?;
        self.place(&scratch, name)
    }

    /// Moves a file to its final name and syncs the directory.
    fn place(&self, scratch: &Path, name: &str) -> Result<(), StoreError> {
        let path = self.dir.join(name);
        let move_there = || {
            // Only a plain file may be replaced.
            match fs::symlink_metadata(&path) {
                Ok(metadata) if !metadata.is_file() => {
                    return Err(io::Error::new(
                        ErrorKind::AlreadyExists,
                        "expected a plain file, found another kind of file",
                    ));
                }
                _ => {}
            }
            let folder = path.parent().unwrap_or(&self.dir);
            if let Some((within, _)) = name.rsplit_once('/') {
                self.check_within(within)?;
            }
            fs::create_dir_all(folder)?;
            fs::rename(scratch, &path)?;
            if cfg!(unix) {
                File::open(folder)?.sync_all()
            } else {
                Ok(())
            }
        };
        move_there().map_err(self.error(name))
    }

    pub(super) fn remove(&self, name: &str) -> Result<(), StoreError> {
        match fs::remove_file(self.dir.join(name)) {
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
            removed => removed.map_err(self.error(name)),
        }
    }
}

struct HashOnly<'a>(&'a mut Sha256);

impl Write for HashOnly<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.update(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
