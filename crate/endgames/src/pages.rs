//! Pages of tables in memory.
//!
//! Probes are synchronous. A probe notes the pages that are not in memory. The caller requests these pages and probes again,
//! until no page is missing.

use core::cell::RefCell;
use core::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard};

use shelfish::reader::Lru;

use crate::error::TableError;
use crate::header::{Header, MAX_HEADER};
use crate::index::{Index, PAGE, Table};
use crate::pairs::Stop;
use crate::resolve::{Catalog, Files};

/// Maximum length of header and index that are requested together, in bytes.
const MAX_INDEX_TOGETHER: u64 = 32 << 10;
/// Maximum length of a table that is requested whole, in bytes.
const MAX_WHOLE: u64 = 8 << 10;
/// Maximum number of parsed headers. A position and its moves need some 20 headers of 0.2 MB at most.
const MAX_HEADERS: usize = 40;

/// A page of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct PageId {
    /// Number of the table; [`SUMS`] for the file of checksums.
    pub(crate) file: u16,
    /// Number of the page.
    pub(crate) page: u64,
}

/// Number of the file of checksums.
pub(crate) const SUMS: u16 = u16::MAX;

/// Pages and parsed headers in memory.
pub(crate) struct Pages(Mutex<Contents>);

pub(crate) struct Contents {
    pub(crate) pages: Lru<PageId, Arc<[u8]>>,
    headers: Lru<u16, Arc<Header>>,
}

impl Pages {
    /// Creates an empty memory of at most `capacity` bytes of pages.
    pub(crate) fn new(capacity: usize) -> Pages {
        Pages(Mutex::new(Contents {
            pages: Lru::new(capacity, |id| id.page ^ u64::from(id.file)),
            headers: Lru::new(MAX_HEADERS, |file| u64::from(*file)),
        }))
    }

    /// A panic leaves the pages valid: each page is verified before it is inserted.
    pub(crate) fn contents(&self) -> MutexGuard<'_, Contents> {
        self.0
            .lock()
            .unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    pub(crate) fn get(&self, id: PageId) -> Option<Arc<[u8]>> {
        self.contents().pages.get(&id).cloned()
    }

    /// Keeps a page.
    pub(crate) fn insert(&self, id: PageId, bytes: &[u8]) {
        self.contents().pages.put(id, bytes.into(), bytes.len());
    }

    pub(crate) fn clear(&self) {
        let mut contents = self.contents();
        contents.pages.clear();
        contents.headers.clear();
    }
}

/// Returns the pages to request first: header and index, or the whole of a small table.
fn first_pages(table: &Table) -> Range<u64> {
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

/// The tables of an index during a probe.
pub(crate) struct Attempt<'a> {
    index: &'a Index,
    catalog: &'a Catalog,
    pages: &'a Pages,
    pub(crate) missing: RefCell<Vec<PageId>>,
}

impl<'a> Attempt<'a> {
    pub(crate) fn new(index: &'a Index, catalog: &'a Catalog, pages: &'a Pages) -> Attempt<'a> {
        Attempt {
            index,
            catalog,
            pages,
            missing: RefCell::default(),
        }
    }

    /// Notes the header and the index of a table as missing, unless they are in memory.
    pub(crate) fn note_index(&self, table: usize) {
        let file = table as u16;
        let first = first_pages(&self.index.tables()[table]);
        let header = self.pages.contents().headers.get(&file).cloned();
        let start = header.map_or(0, |header| header.layout.header / PAGE);
        self.note(file, start..first.end);
    }

    /// Notes those of the pages that are not in memory.
    fn note(&self, file: u16, pages: Range<u64>) {
        let mut contents = self.pages.contents();
        let ids = pages.map(|page| PageId { file, page });
        for id in ids.filter(|id| contents.pages.get(id).is_none()) {
            insert(&mut self.missing.borrow_mut(), id);
        }
    }
}

/// Adds a value to a list of different values in order. Sorts and trees would be a large part of the module for browsers.
pub(crate) fn insert<T: Ord>(list: &mut Vec<T>, value: T) {
    if let Err(place) = list.binary_search(&value) {
        list.insert(place, value);
    }
}

impl Files for Attempt<'_> {
    fn catalog(&self) -> &Catalog {
        self.catalog
    }

    fn name(&self, table: usize) -> String {
        self.index.file_name(&self.index.tables()[table].name)
    }

    fn header(&self, number: usize) -> Result<Arc<Header>, Stop> {
        let file = number as u16;
        if let Some(header) = self.pages.contents().headers.get(&file) {
            return Ok(header.clone());
        }
        let Table { name, layout, .. } = &self.index.tables()[number];
        if layout.header > MAX_HEADER {
            return Err(TableError::HEADER.into());
        }
        let mut bytes = vec![0; layout.header as usize];
        self.read(number, 0, &mut bytes)
            .inspect_err(|_| self.note_index(number))?;
        let header = Header::parse(name, layout.length, &bytes)?;
        if header.layout != *layout {
            let found = header.layout;
            return Err(TableError::Header(format!(
                "the index has a header of {} bytes and data from byte {}, but the table has {} and {}",
                layout.header, layout.index, found.header, found.index
            ))
            .into());
        }
        let header = Arc::new(header);
        self.pages.contents().headers.put(file, header.clone(), 1);
        Ok(header)
    }

    fn read(&self, table: usize, at: u64, bytes: &mut [u8]) -> Result<(), Stop> {
        let (file, length) = (table as u16, self.index.tables()[table].layout.length);
        let pages = at / PAGE..(at + bytes.len() as u64).div_ceil(PAGE);
        let get = |page| self.pages.get(PageId { file, page }).ok_or(Stop::Missing);
        copy(length, at, bytes, get).inspect_err(|error| {
            if matches!(error, Stop::Missing) {
                self.note(file, pages);
            }
        })
    }
}

/// Fills `bytes` with the bytes of a table of `length` bytes from a byte on. `get` returns its pages.
pub(crate) fn copy<P: AsRef<[u8]>>(
    length: u64,
    at: u64,
    bytes: &mut [u8],
    get: impl Fn(u64) -> Result<P, Stop>,
) -> Result<(), Stop> {
    let end = at + bytes.len() as u64;
    if end > length {
        return Err(TableError::Data {
            expected: end,
            found: length,
        }
        .into());
    }
    for page in at / PAGE..end.div_ceil(PAGE) {
        let (kept, start) = (get(page)?, page * PAGE);
        // The part of the page that is read.
        let (first, last) = (at.max(start), end.min(start + PAGE));
        let from = kept
            .as_ref()
            .get((first - start) as usize..(last - start) as usize)
            .ok_or(Stop::Missing)?;
        bytes[(first - at) as usize..(last - at) as usize].copy_from_slice(from);
    }
    Ok(())
}
