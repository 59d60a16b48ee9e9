//! The disk that a build uses, and may use.

use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Bytes of the disk that a build uses.
#[derive(Debug)]
pub struct Disk {
    used: AtomicU64,
    most: u64,
}

impl Disk {
    /// At most so many, if there is such a limit.
    pub fn new(most: Option<u64>) -> Disk {
        Disk { used: AtomicU64::new(0), most: most.unwrap_or(u64::MAX) }
    }

    /// Counts bytes that were written.
    ///
    /// # Errors
    ///
    /// They are more than there may be.
    pub fn take(&self, bytes: u64) -> io::Result<()> {
        let used = self.used.fetch_add(bytes, Relaxed) + bytes;
        if used <= self.most {
            return Ok(());
        }
        let why = format!(
            "they and the new database take more than --max-disk, {} bytes: leave something out (--min-depth, \
             --best-only, --max-pvs), or find more room",
            self.most
        );
        Err(io::Error::new(io::ErrorKind::StorageFull, why))
    }

    /// Counts bytes that were removed.
    pub fn give(&self, bytes: u64) {
        self.used.fetch_sub(bytes, Relaxed);
    }

    /// Checks that the disk of a directory, which need not be there yet, has so much room.
    ///
    /// # Errors
    ///
    /// It has less.
    pub fn check_room(directory: &Path, most: u64) -> io::Result<()> {
        let absolute = std::path::absolute(directory)?;
        let there = absolute.ancestors().find(|path| path.exists()).unwrap_or(&absolute);
        let free = fs4::available_space(there)?;
        if free >= most {
            return Ok(());
        }
        let why = format!(
            "--max-disk lets the build use {most} bytes, the disk has {free} free: remove something, or allow less"
        );
        Err(io::Error::new(io::ErrorKind::StorageFull, why))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_given_back_can_be_taken_again() {
        let disk = Disk::new(Some(10));
        assert!(disk.take(7).is_ok());
        disk.give(5);
        assert!(disk.take(8).is_ok());
        let error = disk.take(1).map_err(|error| error.to_string());
        assert!(error.is_err_and(|error| error.contains("--max-disk, 10 bytes")));
    }

    #[test]
    fn room_is_that_of_the_disk_that_a_directory_would_be_on() {
        let directory = std::env::temp_dir().join("is/not/there");
        assert!(Disk::check_room(&directory, 1).is_ok());
        assert!(Disk::check_room(&directory, u64::MAX).is_err());
    }
}
