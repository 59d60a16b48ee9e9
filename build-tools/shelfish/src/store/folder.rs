//! Folder as a store. Files are written to a temporary directory, synced, and moved into place, as in a build.

use std::fs::{self, File};
use std::io::{self, ErrorKind, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use sha2::{Digest, Sha256};
use shelfish::source::file::open;
use shelfish::table::Manifest;
use tokio::sync::watch;

use super::{Current, StoreError, StoreErrorKind, StoredFile, name_of};
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

    pub(super) fn list(&self, folder: &str) -> Result<Vec<StoredFile>, StoreError> {
        let read = || {
            self.check_within(folder)?;
            let entries = match fs::read_dir(self.dir.join(folder)) {
                Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
                entries => entries?,
            };
            let mut found = Vec::new();
            for entry in entries {
                let entry = entry?;
                let metadata = entry.metadata()?;
                if let (true, Ok(name)) = (metadata.is_file(), entry.file_name().into_string()) {
                    found.push(StoredFile {
                        name,
                        bytes: metadata.len(),
                        modified: metadata.modified()?,
                    });
                }
            }
            Ok(found)
        };
        read().map_err(self.error(folder))
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
        let found = name_of_file(&self.dir.join(shard)).map_err(self.error(shard))?;
        Ok(found == shard)
    }

    pub(super) fn send(
        &self,
        shard: &str,
        from: &Path,
        sent: &AtomicU64,
        stop: &watch::Receiver<bool>,
    ) -> Result<(), StoreError> {
        let scratch = self.workspace.dir().join(shard);
        let copy = || {
            let (file, mut out) = (open(from)?, File::create(&scratch)?);
            while !*stop.borrow() {
                match io::copy(&mut (&file).take(1 << 20), &mut out)? {
                    0 => break,
                    length => sent.fetch_add(length, Ordering::Relaxed),
                };
            }
            out.sync_all()?;
            name_of_file(&scratch)
        };
        let found = copy().map_err(self.error(shard))?;
        if *stop.borrow() {
            return Err(StoreError::new(self.locate(shard), StoreErrorKind::Stopped));
        }
        if found != shard {
            let kind = StoreErrorKind::Content { found };
            return Err(StoreError::new(from.display().to_string(), kind));
        }
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

/// Returns the name of a shard with the content of a file.
fn name_of_file(path: &Path) -> io::Result<String> {
    let (mut file, mut hash, mut buffer) = (open(path)?, Sha256::new(), vec![0; 1 << 20]);
    loop {
        match file.read(&mut buffer)? {
            0 => return Ok(name_of(hash)),
            length => hash.update(&buffer[..length]),
        }
    }
}
