//! Limit of the disk space of a build.

use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Counter of the disk space that a build uses, in bytes.
#[derive(Debug)]
pub struct Disk {
    used: AtomicU64,
    most: u64,
}

impl Disk {
    /// Creates a counter with an optional limit.
    pub fn new(most: Option<u64>) -> Disk {
        Disk {
            used: AtomicU64::new(0),
            most: most.unwrap_or(u64::MAX),
        }
    }

    /// Counts bytes that were written.
    pub fn take(&self, bytes: u64) -> io::Result<()> {
        let used = self.used.fetch_add(bytes, Relaxed) + bytes;
        if used <= self.most {
            return Ok(());
        }
        let why = format!(
            "the temporary files and the new database exceed --max-disk, {} bytes: leave something out (--min-depth, \
             --best-only, --max-pvs), or increase the limit",
            self.most
        );
        Err(io::Error::new(io::ErrorKind::StorageFull, why))
    }

    /// Counts bytes that were removed.
    pub fn give(&self, bytes: u64) {
        self.used.fetch_sub(bytes, Relaxed);
    }

    /// Checks the free space on the disk of a directory, which may not exist yet.
    pub fn check_room(directory: &Path, most: u64) -> io::Result<()> {
        let absolute = std::path::absolute(directory)?;
        let there = absolute
            .ancestors()
            .find(|path| path.exists())
            .unwrap_or(&absolute);
        let free = fs4::available_space(there)?;
        if free >= most {
            return Ok(());
        }
        let why = format!(
            "--max-disk allows {most} bytes, but the disk has {free} free: free some space, or decrease --max-disk"
        );
        Err(io::Error::new(io::ErrorKind::StorageFull, why))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn released_bytes_can_be_used_again() {
        let disk = Disk::new(Some(10));
        assert!(disk.take(7).is_ok());
        disk.give(5);
        assert!(disk.take(8).is_ok());
        let error = disk.take(1).map_err(|error| error.to_string());
        assert!(error.is_err_and(|error| error.contains("--max-disk, 10 bytes")));
    }

    #[test]
    fn a_missing_directory_is_checked_on_its_future_disk() {
        let directory = std::env::temp_dir().join("is/not/there");
        assert!(Disk::check_room(&directory, 1).is_ok());
        assert!(Disk::check_room(&directory, u64::MAX).is_err());
    }
}
