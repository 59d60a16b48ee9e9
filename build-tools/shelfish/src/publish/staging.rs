//! `shelfish build -o s3://…`: a local build followed by a publication.
//!
//! Sending shards during the build would not save disk space: the build needs the most space after sorting, before the
//! first shard is encoded.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use indicatif::HumanBytes;
use shelfish::table::{Manifest, is_shard_name};
use thiserror::Error;

use super::{PublishError, Replaces, publish};
use crate::publish;
use crate::store::{Address, Settings, StoreError, StoreErrorKind};
use crate::system::workspace::{Workspace, WorkspaceError};
use crate::terminal::shown::shown;

/// Beginning of the name of the directory of a build.
const PREFIX: &str = "shelfish-build-";
/// End of the name of a directory whose database is published. The directory is being removed.
const PUBLISHED: &str = "-published";

/// Removes the directories of builds that were killed, and names the databases that earlier builds did not publish.
///
/// The lock of a running build protects its directory. A directory with other files is left alone.
fn clean_up(parent: &Path, quiet: bool) {
    for entry in fs::read_dir(parent).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let Some(rest) = name.to_str().and_then(|name| name.strip_prefix(PREFIX)) else {
            continue;
        };
        let digits = rest.strip_suffix(PUBLISHED);
        let is_ours = |digits: &str| digits.len() == 16 && u64::from_str_radix(digits, 16).is_ok();
        if !is_ours(digits.unwrap_or(rest)) || !entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            continue;
        }
        let dir = entry.path();
        if digits.is_some() {
            let _ = remove_database(&dir);
            continue;
        }
        match Workspace::is_left_in(&dir).then(|| Workspace::open_any(&dir)) {
            Some(Ok(workspace)) => drop(workspace),
            // A running build, or files of other programs.
            Some(Err(_)) => continue,
            None => {}
        }
        // Fails if the directory contains a database.
        let _ = fs::remove_dir(&dir);
        if !quiet && dir.join(Manifest::FILE).is_file() {
            let dir = shown(&dir.display().to_string());
            eprintln!(
                "shelfish: {dir} contains a database that an earlier build did not publish: publish or remove it"
            );
        }
    }
}

/// Chooses the path of a directory that a later run removes if this process is killed.
fn new_directory(parent: &Path) -> PathBuf {
    parent.join(format!("{PREFIX}{:016x}", fastrand::u64(..)))
}

/// Opens a temporary directory, and removes the directories of processes that were killed.
pub fn scratch() -> Result<Workspace, WorkspaceError> {
    let parent = std::env::temp_dir();
    clean_up(&parent, true);
    Workspace::open_any(&new_directory(&parent))
}

/// Removes the files of a database and its directory. Fails if the directory contains other files.
fn remove_database(dir: &Path) -> io::Result<()> {
    for entry in fs::read_dir(dir)? {
        let entry = entry?;
        let name = entry.file_name();
        if name == Manifest::FILE || name.to_str().is_some_and(is_shard_name) {
            fs::remove_file(entry.path())?;
        }
    }
    fs::remove_dir(dir)
}

/// Local directory of a build for a store.
pub struct Staging {
    dir: PathBuf,
    to: Address,
    quiet: bool,
    /// Manifest that was published when the build began.
    before: Option<String>,
}

/// Error of a database that was built but not published. The database is kept.
#[derive(Debug, Error)]
#[error("{}", self.text())]
pub struct NotPublished {
    dir: PathBuf,
    to: String,
    /// Reason for the failure.
    pub error: Box<PublishError>,
}

impl NotPublished {
    fn text(&self) -> String {
        let NotPublished { dir, to, error } = self;
        let dir = dir.display();
        let why = match &**error {
            PublishError::Store(StoreError {
                at,
                kind: StoreErrorKind::Conflict,
            }) => {
                return format!(
                    "{at}: somebody else published in the meantime; the new database does not contain that, and is kept in \
                     {dir}. Build again on the published database, or replace it with `shelfish publish {dir} {to}`"
                );
            }
            PublishError::Interrupted(_) => {
                "interrupted; the published database is unchanged".to_owned()
            }
            error => error.to_string(),
        };
        format!(
            "{why}. The database is kept: send it with `shelfish publish {dir} {to}`, then remove {dir}"
        )
    }
}

impl Staging {
    /// Checks the destination before the build, and chooses a directory. The build creates the directory.
    pub fn new(to: Address, parent: Option<&Path>, quiet: bool) -> Result<Staging, PublishError> {
        let before = publish::current(&to, Settings::default())?;
        let parent = parent.map_or_else(std::env::temp_dir, Path::to_owned);
        clean_up(&parent, quiet);
        if !quiet {
            let free =
                fs4::available_space(&parent).map(|free| format!(", {} free", HumanBytes(free)));
            eprintln!(
                "shelfish: building in {}{}; this takes about 2.2 times the size of the database (--max-disk, --temp-dir)",
                parent.display(),
                free.unwrap_or_default()
            );
        }
        Ok(Staging {
            dir: new_directory(&parent),
            to,
            quiet,
            before,
        })
    }

    /// Returns the directory.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// Publishes the database and removes the directory.
    ///
    /// The directory is kept if the database was not published.
    pub fn publish(self) -> Result<publish::Report, NotPublished> {
        let Staging {
            dir,
            to,
            quiet,
            before,
        } = self;
        let options = publish::Options {
            replaces: Replaces::Only(before),
            quiet,
            ..publish::Options::new(dir.clone(), to.clone())
        };
        match publish(&options) {
            Err(error) => Err(NotPublished {
                dir,
                to: to.url,
                error: Box::new(error),
            }),
            Ok(report) => {
                // The next build removes a directory of this name, if this process is killed.
                let mut published = dir.clone().into_os_string();
                published.push(PUBLISHED);
                let published = PathBuf::from(published);
                if let Err(error) =
                    fs::rename(&dir, &published).and_then(|()| remove_database(&published))
                {
                    let dir = if published.exists() { published } else { dir };
                    eprintln!(
                        "shelfish: cannot remove {}, which is no longer needed: {error}",
                        dir.display()
                    );
                }
                Ok(report)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_directories_of_killed_builds_are_removed() -> io::Result<()> {
        let parent = tempfile::tempdir()?;
        let dir = |name: &str| parent.path().join(name);
        let shard = shelfish::table::shard_name(&[7; 32]);
        let [empty, published] = [1, 2].map(|n| {
            dir(&format!(
                "{PREFIX}{n:016x}{}",
                if n == 2 { PUBLISHED } else { "" }
            ))
        });
        let [kept, foreign] = [
            dir(&format!("{PREFIX}{:016x}", 3)),
            dir(&format!("{PREFIX}{:016x}{PUBLISHED}", 4)),
        ];
        for dir in [&empty, &published, &kept, &foreign] {
            fs::create_dir(dir)?;
        }
        fs::write(published.join(&shard), "")?;
        fs::write(kept.join(&shard), "")?;
        fs::write(foreign.join("letter"), "")?;
        fs::write(dir("shelfish-build-notes"), "")?;
        clean_up(parent.path(), true);
        assert_eq!(
            [&empty, &published, &kept, &foreign].map(|dir| dir.exists()),
            [false, false, true, true]
        );
        assert!(foreign.join("letter").exists() && dir("shelfish-build-notes").exists());
        Ok(())
    }
}
