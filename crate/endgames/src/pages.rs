//! Pages of tables in memory.
//!
//! Probes are synchronous. A probe notes the pages that are not in memory. The caller requests these pages and probes again,
//! until no page is missing.

use core::cell::RefCell;
use core::fmt;
use std::sync::{Arc, Mutex, MutexGuard};

use crate::error::EndgameError;
use crate::header::{Header, MAX_HEADER};
use crate::index::{Index, PAGE, Table};
use crate::pairs::Stop;
use crate::resolve::{Catalog, Files};
use crate::table_error::TableError;

/// Maximum length of header and index that are requested together, in bytes.
const MAX_INDEX_TOGETHER: u64 = 32 << 10;
/// Maximum length of a table that is requested whole, in bytes.
const MAX_WHOLE: u64 = 8 << 10;
/// Maximum memory for parsed headers in bytes. A position and its moves need some 20 headers of 0.2 MB at most.
const MAX_HEADERS: usize = 8 << 20;

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

/// A list in the order of its keys. Trees and hash tables would be a large part of the module for browsers.
#[derive(Clone, Debug)]
pub(crate) struct Ordered<K, V>(Vec<(K, V)>);

impl<K, V> Default for Ordered<K, V> {
    fn default() -> Ordered<K, V> {
        Ordered(Vec::new())
    }
}

impl<K: Copy + Ord, V> Ordered<K, V> {
    fn place(&self, key: K) -> Result<usize, usize> {
        self.0.binary_search_by_key(&key, |(key, _)| *key)
    }

    pub(crate) fn get(&self, key: K) -> Option<&V> {
        let place = self.place(key).ok()?;
        Some(&self.0[place].1)
    }

    fn get_mut(&mut self, key: K) -> Option<&mut V> {
        let place = self.place(key).ok()?;
        Some(&mut self.0[place].1)
    }

    /// Inserts a value. Returns the old value.
    pub(crate) fn insert(&mut self, key: K, value: V) -> Option<V> {
        match self.place(key) {
            Ok(place) => Some(core::mem::replace(&mut self.0[place].1, value)),
            Err(place) => {
                self.0.insert(place, (key, value));
                None
            }
        }
    }
}

/// Numbers of pages, in order.
#[derive(Clone, Debug, Default)]
pub(crate) struct PageSet(Ordered<PageId, ()>);

impl PageSet {
    pub(crate) fn insert(&mut self, id: PageId) {
        self.0.insert(id, ());
    }

    pub(crate) fn extend(&mut self, ids: impl IntoIterator<Item = PageId>) {
        ids.into_iter().for_each(|id| self.insert(id));
    }

    pub(crate) fn iter(&self) -> impl DoubleEndedIterator<Item = PageId> {
        self.0.0.iter().map(|(id, ())| *id)
    }

    pub(crate) fn remove(&mut self, id: PageId) {
        self.0.0.retain(|(other, ())| *other != id);
    }

    pub(crate) fn len(&self) -> usize {
        self.0.0.len()
    }
}

/// Pages and parsed headers in memory.
pub(crate) struct Pages(Mutex<State>);

struct State {
    pages: Ordered<PageId, Kept>,
    /// Bytes of all pages.
    bytes: usize,
    /// Maximum number of bytes.
    capacity: usize,
    /// Number of accesses so far.
    clock: u64,
    headers: Ordered<u16, Arc<Header>>,
    /// Bytes of all headers.
    header_bytes: usize,
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
        let (pages, headers) = (Ordered::default(), Ordered::default());
        Pages(Mutex::new(State {
            pages,
            bytes: 0,
            capacity,
            clock: 0,
            headers,
            header_bytes: 0,
        }))
    }

    /// A panic leaves the pages valid: each page is verified before it is inserted.
    fn state(&self) -> MutexGuard<'_, State> {
        self.0
            .lock()
            .unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    pub(crate) fn get(&self, id: PageId) -> Option<Arc<[u8]>> {
        self.state().get(id)
    }

    /// Keeps a page. Pages that were not used for the longest time are removed.
    pub(crate) fn insert(&self, id: PageId, bytes: Vec<u8>) {
        let mut state = self.state();
        state.clock += 1;
        state.bytes += bytes.len();
        let kept = Kept {
            bytes: bytes.into(),
            used: state.clock,
        };
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
        state.pages.0.clear();
        state.bytes = 0;
        state.headers.0.clear();
        state.header_bytes = 0;
    }

    fn header(&self, file: u16) -> Option<Arc<Header>> {
        self.state().headers.get(file).cloned()
    }

    /// Keeps a parsed header. Too many headers are all removed: their pages remain.
    fn keep_header(&self, file: u16, header: Header) -> Arc<Header> {
        let mut state = self.state();
        state.header_bytes += header.memory();
        if state.header_bytes > MAX_HEADERS {
            state.headers.0.clear();
            state.header_bytes = header.memory();
        }
        let header = Arc::new(header);
        state.headers.insert(file, header.clone());
        header
    }
}

impl State {
    fn get(&mut self, id: PageId) -> Option<Arc<[u8]>> {
        self.clock += 1;
        let kept = self.pages.get_mut(id)?;
        kept.used = self.clock;
        Some(kept.bytes.clone())
    }

    /// Removes a quarter of the pages.
    fn shrink(&mut self) {
        let most = self.capacity / 4 * 3;
        // Searches the clock after which the pages fit.
        let (mut from, mut to) = (0, self.clock);
        while from < to {
            let middle = from + (to - from) / 2;
            let kept = self.pages.0.iter().map(|(_, kept)| {
                if kept.used > middle {
                    kept.bytes.len()
                } else {
                    0
                }
            });
            if kept.sum::<usize>() > most {
                from = middle + 1
            } else {
                to = middle
            }
        }
        self.pages.0.retain(|(_, kept)| kept.used > from);
        self.bytes = self.pages.0.iter().map(|(_, kept)| kept.bytes.len()).sum();
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

/// The tables of an index during a probe.
pub(crate) struct Attempt<'a> {
    index: &'a Index,
    catalog: &'a Catalog,
    pages: &'a Pages,
    missing: RefCell<PageSet>,
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

    /// Returns the pages that are missing.
    pub(crate) fn into_missing(self) -> PageSet {
        self.missing.into_inner()
    }

    /// Notes the header and the index of a table as missing, unless they are in memory.
    pub(crate) fn want(&self, table: usize) {
        let file = table as u16;
        let first = first_pages(&self.index.tables()[table]);
        let start = self
            .pages
            .header(file)
            .map_or(0, |header| header.layout.header / PAGE);
        self.note(file, start..first.end);
    }

    /// Notes those of the pages that are not in memory.
    fn note(&self, file: u16, pages: core::ops::Range<u64>) {
        let state = self.pages.state();
        let ids = pages
            .map(|page| PageId { file, page })
            .filter(|id| state.pages.get(*id).is_none());
        self.missing.borrow_mut().extend(ids);
    }
}

impl Files for Attempt<'_> {
    fn catalog(&self) -> &Catalog {
        self.catalog
    }

    fn name(&self, table: usize) -> String {
        self.index.file_name(&self.index.tables()[table].name)
    }

    fn header(&self, number: usize) -> Result<Arc<Header>, Stop<EndgameError>> {
        let file = number as u16;
        if let Some(header) = self.pages.header(file) {
            return Ok(header);
        }
        let Table { name, layout, .. } = &self.index.tables()[number];
        if layout.header > MAX_HEADER {
            return Err(TableError::Header.into());
        }
        let mut bytes = vec![0; layout.header as usize];
        self.read(number, 0, &mut bytes)
            .inspect_err(|_| self.want(number))?;
        let header = Header::parse(name, layout.length, &bytes)?;
        if header.layout != *layout {
            return Err(TableError::Layout {
                expected: *layout,
                found: header.layout,
            }
            .into());
        }
        Ok(self.pages.keep_header(file, header))
    }

    fn read(&self, table: usize, at: u64, bytes: &mut [u8]) -> Result<(), Stop<EndgameError>> {
        let (file, length) = (table as u16, self.index.tables()[table].layout.length);
        let end = at + bytes.len() as u64;
        if end > length {
            return Err(TableError::Data {
                expected: end,
                found: length,
            }
            .into());
        }
        let pages = at / PAGE..end.div_ceil(PAGE);
        let mut state = self.pages.state();
        for page in pages.clone() {
            let Some(kept) = state.get(PageId { file, page }) else {
                drop(state);
                self.note(file, pages);
                return Err(Stop::Missing);
            };
            // The part of the page that is read.
            let start = page * PAGE;
            let (first, last) = (at.max(start), end.min(start + PAGE));
            let from = kept
                .get((first - start) as usize..(last - start) as usize)
                .ok_or(Stop::Missing)?;
            bytes[(first - at) as usize..(last - at) as usize].copy_from_slice(from);
        }
        Ok(())
    }
}
