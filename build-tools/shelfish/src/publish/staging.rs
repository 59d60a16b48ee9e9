//! `shelfish build -o s3://…`: built in a folder of this machine, then published.
//!
//! Shards could be sent while others are still encoded, but the disk would not need to be smaller: it is fullest when all is
//! sorted and nothing is encoded yet.

use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};

use indicatif::HumanBytes;

use super::{PublishError, Replaces, publish};
use crate::publish;
use crate::store::{Address, Settings, StoreError, StoreFault};

/// Where a database is built that goes to a store.
pub struct Staging {
    dir: PathBuf,
    to: Address,
    quiet: bool,
    /// What was published when the build began.
    before: Option<String>,
}

/// A database was built but not published. It is kept.
#[derive(Debug)]
pub struct NotPublished {
    dir: PathBuf,
    to: String,
    /// Why not.
    pub error: PublishError,
}

impl fmt::Display for NotPublished {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let NotPublished { dir, to, error } = self;
        let dir = dir.display();
        match error {
            PublishError::Store(StoreError { at, fault: StoreFault::Conflict }) => {
                return write!(
                    f,
                    "{at}: somebody else published meanwhile; what was built does not contain that, and is kept in {dir}. \
                     Build again on what is published now; `shelfish publish {dir} {to}` would replace it"
                );
            }
            PublishError::Interrupted(_) => f.write_str("interrupted; the database that was there is as it was")?,
            error => error.fmt(f)?,
        }
        write!(f, ". What was built is kept: `shelfish publish {dir} {to}` sends it, then remove {dir}")
    }
}

impl std::error::Error for NotPublished {}

impl Staging {
    /// Looks at the place it goes to, so that what is wrong there is told before the work, and chooses a directory, which the
    /// build makes.
    ///
    /// # Errors
    ///
    /// The store does not answer, or not to us, or what is there is no database.
    pub fn new(to: Address, parent: Option<&Path>, quiet: bool) -> Result<Staging, PublishError> {
        let before = publish::current(&to, Settings::default())?;
        let parent = parent.map_or_else(std::env::temp_dir, Path::to_owned);
        if !quiet {
            let free = fs4::available_space(&parent).map(|free| format!(", {} free", HumanBytes(free)));
            eprintln!(
                "shelfish: building in {}{}; it takes some 2.2 times what comes of it (--max-disk, --temp-dir)",
                parent.display(),
                free.unwrap_or_default()
            );
        }
        let dir = parent.join(format!("shelfish-build-{:016x}", fastrand::u64(..)));
        Ok(Staging { dir, to, quiet, before })
    }

    /// The directory.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// Publishes what was built there, and removes it here.
    ///
    /// # Errors
    ///
    /// It was not published, and is kept.
    pub fn publish(self) -> Result<publish::Report, NotPublished> {
        let Staging { dir, to, quiet, before } = self;
        let options = publish::Options {
            replaces: Replaces::Only(before),
            quiet,
            ..publish::Options::new(dir.clone(), to.clone())
        };
        match publish(&options) {
            Err(error) => Err(NotPublished { dir, to: to.url, error }),
            Ok(report) => {
                if let Err(error) = fs::remove_dir_all(&dir) {
                    eprintln!("shelfish: {} is not needed any more, and cannot be removed: {error}", dir.display());
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
    fn who_lost_a_race_is_not_told_to_publish_over_what_the_other_one_published() {
        let told = |fault| {
            let error = PublishError::Store(StoreError { at: "s3://b/x/manifest.json".to_owned(), fault });
            NotPublished { dir: "here".into(), to: "s3://b/x".to_owned(), error }.to_string()
        };
        let lost = told(StoreFault::Conflict);
        assert!(lost.contains("Build again") && !lost.contains("in its place"), "{lost}");
        assert!(told(StoreFault::Missing).ends_with("`shelfish publish here s3://b/x` sends it, then remove here"));
    }
}
