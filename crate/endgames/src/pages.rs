//! Pages of tables in memory, as files for the probing code.
//!
//! The probing code is synchronous. A read of a page that is not in memory is noted as missing. The caller requests the
//! missing pages and probes again, until no page is missing.

use core::fmt;
use std::collections::{BTreeSet, HashMap};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard};

use shakmaty_syzygy::filesystem::{Filesystem, RandomAccessFile, ReadHint};

use crate::index::{Index, PAGE, Table};

/// Maximum length of header and index that are requested together, in bytes.
const MAX_INDEX_TOGETHER: u64 = 32 << 10;
/// Maximum length of a table that is requested whole, in bytes.
const MAX_WHOLE: u64 = 8 << 10;
/// Maximum number of reads of a probe of one position and its moves. A header of a large table takes some 30,000 reads.
const MAX_READS: u32 = 1 << 20;

/// A page of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct PageId {
    /// Number of the table; [`SUMS`] for the file of checksums.
    pub(crate) file: u16,
    /// Number of the page.
    pub(crate) page: u64,
}

/// Number of the file of checksums.
pub(crate) const SUMS: u16 = u16::MAX;

/// Pages in memory, and the pages that a probe missed.
pub(crate) struct Pages(Mutex<State>);

struct State {
    pages: HashMap<PageId, Kept>,
    /// Bytes of all pages.
    bytes: usize,
    /// Maximum number of bytes.
    capacity: usize,
    /// Number of accesses so far.
    clock: u64,
    missing: BTreeSet<PageId>,
    reads: u32,
}

struct Kept {
    bytes: Arc<[u8]>,
    /// Clock of the last access.
    used: u64,
}

impl fmt::Debug for Pages {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pages").finish_non_exhaustive()
    }
}

impl Pages {
    pub(crate) fn new(capacity: usize) -> Pages {
        let (pages, missing) = (HashMap::new(), BTreeSet::new());
        Pages(Mutex::new(State { pages, bytes: 0, capacity, clock: 0, missing, reads: 0 }))
    }

    /// A panic leaves the pages valid: each page is verified before it is inserted.
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    pub(crate) fn get(&self, id: PageId) -> Option<Arc<[u8]>> {
        self.state().get(id)
    }

    /// Keeps a page. Pages that were not used for the longest time are removed.
    pub(crate) fn insert(&self, id: PageId, bytes: Vec<u8>) {
        let mut state = self.state();
        state.clock += 1;
        state.bytes += bytes.len();
        let kept = Kept { bytes: bytes.into(), used: state.clock };
        if let Some(old) = state.pages.insert(id, kept) {
            state.bytes -= old.bytes.len();
        }
        if state.bytes > state.capacity {
            state.shrink();
        }
    }

    pub(crate) fn set_capacity(&self, capacity: usize) {
        self.state().capacity = capacity;
    }

    pub(crate) fn clear(&self) {
        let mut state = self.state();
        state.pages.clear();
        state.bytes = 0;
    }

    /// Begins a probe: no page is missing yet.
    pub(crate) fn begin(&self) {
        let mut state = self.state();
        state.missing.clear();
        state.reads = 0;
    }

    /// Returns the pages that were missing since the begin of the probe.
    pub(crate) fn missing(&self) -> BTreeSet<PageId> {
        core::mem::take(&mut self.state().missing)
    }

    /// Notes the header and the index of a table as missing, unless they are in memory.
    pub(crate) fn want(&self, file: u16, table: &Table) {
        let mut state = self.state();
        for page in first_pages(table) {
            let id = PageId { file, page };
            if !state.pages.contains_key(&id) {
                state.missing.insert(id);
            }
        }
    }
}

impl State {
    fn get(&mut self, id: PageId) -> Option<Arc<[u8]>> {
        self.clock += 1;
        let kept = self.pages.get_mut(&id)?;
        kept.used = self.clock;
        Some(kept.bytes.clone())
    }

    /// Removes a quarter of the pages.
    fn shrink(&mut self) {
        let mut ids: Vec<(u64, PageId)> = self.pages.iter().map(|(id, kept)| (kept.used, *id)).collect();
        ids.sort_unstable();
        for (_, id) in ids {
            if self.bytes <= self.capacity / 4 * 3 {
                break;
            }
            if let Some(kept) = self.pages.remove(&id) {
                self.bytes -= kept.bytes.len();
            }
        }
    }
}

/// Returns the pages to request first: header and index, or the whole of a small table.
fn first_pages(table: &Table) -> core::ops::Range<u64> {
    let layout = table.layout;
    let end = if layout.length <= MAX_WHOLE {
        layout.length
    } else if layout.index <= MAX_INDEX_TOGETHER {
        layout.index
    } else {
        layout.header
    };
    0..end.div_ceil(PAGE)
}

/// The tables of an index as a file system.
pub(crate) struct PagedFiles {
    pub(crate) index: Arc<Index>,
    pub(crate) pages: Arc<Pages>,
}

impl PagedFiles {
    fn find(&self, path: &Path) -> io::Result<usize> {
        let name = path.to_str().and_then(|name| name.parse().ok());
        name.and_then(|name| self.index.find(&name)).ok_or_else(|| io::ErrorKind::NotFound.into())
    }
}

impl Filesystem for PagedFiles {
    fn regular_file_size(&self, path: &Path) -> io::Result<u64> {
        Ok(self.index.tables()[self.find(path)?].layout.length)
    }

    fn read_dir(&self, _: &Path) -> io::Result<Vec<PathBuf>> {
        Ok(self.index.tables().iter().map(|table| PathBuf::from(table.name.to_string())).collect())
    }

    fn open(&self, path: &Path) -> io::Result<Box<dyn RandomAccessFile>> {
        let number = self.find(path)?;
        let table = self.index.tables()[number].clone();
        Ok(Box::new(PagedFile { file: number as u16, table, pages: self.pages.clone() }))
    }
}

/// A table of an index as a file.
struct PagedFile {
    file: u16,
    table: Table,
    pages: Arc<Pages>,
}

impl RandomAccessFile for PagedFile {
    fn read_at(&self, buf: &mut [u8], offset: u64, hint: ReadHint) -> io::Result<usize> {
        let mut state = self.pages.state();
        state.reads += 1;
        if state.reads > MAX_READS {
            return Err(io::Error::other("the table takes too many reads: it is damaged"));
        }
        if buf.is_empty() || offset >= self.table.layout.length {
            return Ok(0);
        }
        let id = PageId { file: self.file, page: offset / PAGE };
        if let Some(page) = state.get(id) {
            let bytes = page.get((offset % PAGE) as usize..).unwrap_or_default();
            let length = bytes.len().min(buf.len());
            buf[..length].copy_from_slice(&bytes[..length]);
            return Ok(length);
        }
        let first = first_pages(&self.table);
        let last = (offset + buf.len() as u64 - 1).min(self.table.layout.length - 1) / PAGE;
        let wanted = if first.contains(&id.page) { first } else { id.page..last + 1 };
        let missing: Vec<PageId> =
            wanted.map(|page| PageId { page, ..id }).filter(|id| !state.pages.contains_key(id)).collect();
        state.missing.extend(missing);
        match hint {
            // The probe continues with a value that may be wrong, so that it finds more of the missing pages. Its result
            // does not count. Bits that are all set are a valid code.
            ReadHint::Data => {
                buf.fill(0xff);
                Ok(buf.len())
            }
            _ => Err(io::ErrorKind::WouldBlock.into()),
        }
    }
}
