//! The index of a folder of tables: their names, lengths and checksums.
//!
//! A host needs the index so that readers know which tables exist, which bytes to request first, and whether the received
//! bytes are those of the table. A folder with an index is checked in the same way. The tables themselves have a checksum of the whole file only.

use core::ops::Range;

use shelfish::leb128;
use shelfish::quoted::Quoted;
use twox_hash::XxHash64;

use crate::error::{IndexError, TableError};
use crate::header::{Header, Layout};
use crate::name::TableName;
use crate::pages::{PageId, SUMS};

/// File name of the index.
pub const INDEX_FILE: &str = "endgames.index";
/// File name of the checksums of an index that does not contain them.
pub const SUMS_FILE: &str = "endgames.sums";
/// Maximum length of an index in bytes.
pub const MAX_INDEX: u64 = 1 << 20;
/// Bytes of a page: the unit of requests, checksums and caches.
pub const PAGE: u64 = 4096;

/// Maximum number of tables of an index. All tables of up to seven pieces are 3,022.
const MAX_TABLES: u64 = 4096;
/// Maximum number of checksums inside the index, by default.
const MAX_INLINE: usize = 16 << 10;
/// First bytes of an index, with the version.
const MAGIC: &[u8] = b"endgames1";
/// Maximum length of the ending of files.
const MAX_ENDING: usize = 16;
/// Bytes of the checksum at the end of the index.
const SEAL: usize = 8;
/// Bytes of the checksum of a page.
const SUM: u64 = 4;

/// Returns the checksum of a page: the lower 32 bits of XXH64.
fn sum(bytes: &[u8]) -> u32 {
    XxHash64::oneshot(0, bytes) as u32
}

/// A table of a folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Table {
    /// The name, which is also the file name.
    pub name: TableName,
    /// Lengths of the parts.
    pub layout: Layout,
    /// Number of pages of all tables before this table.
    first_page: u64,
}

impl Table {
    /// Number of pages.
    pub fn pages(&self) -> u64 {
        self.layout.length.div_ceil(PAGE)
    }
}

/// The index of a folder of tables.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Index {
    /// Text at the end of each file name, after the name of the table.
    ending: String,
    tables: Vec<Table>,
    /// Checksums of the pages of all tables, or of the pages of the file that contains these checksums.
    sums: Vec<u32>,
    /// Whether the index contains the checksums of the tables.
    is_inline: bool,
}

/// Makes the index of a folder from its tables, one table after the other.
///
/// ```
/// use shelfish_endgames::{Index, IndexBuilder};
///
/// let mut builder = IndexBuilder::default();
/// let table = [&[0x71, 0xe8, 0x23, 0x5d, 1, 0, 0x66, 0x33, 0xee, 0, 0x80, 2, 0x80, 2][..], &[0; 66]].concat();
/// builder.add(&"KBvK.rtbw".parse()?, &table)?;
/// let (index, sums) = builder.finish();
/// assert_eq!((index.tables().len(), sums), (1, None));
/// assert_eq!(Index::decode(&index.encode())?, index);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct IndexBuilder {
    ending: String,
    tables: Vec<(TableName, Layout, Vec<u32>)>,
    /// Maximum number of checksums inside the index, 16,384 by default. More checksums are in [`SUMS_FILE`].
    pub max_inline: Option<usize>,
}

impl IndexBuilder {
    /// Sets the text that the host appends to the names of tables, such as `.silo`. Some hosts compress files with unknown endings,
    /// which breaks ranges.
    ///
    /// # Errors
    ///
    /// Returns an error if the ending has other characters than dots, lower-case letters and digits, or is too long.
    pub fn with_ending(self, ending: &str) -> Result<IndexBuilder, IndexError> {
        let ending = checked_ending(ending)?;
        Ok(IndexBuilder { ending, ..self })
    }

    /// Adds a table. A table that is added again replaces the first.
    ///
    /// # Errors
    ///
    /// Returns an error if the bytes are not a complete table.
    pub fn add(&mut self, name: &TableName, bytes: &[u8]) -> Result<(), TableError> {
        let layout = Header::parse(name, bytes.len() as u64, bytes)?.layout;
        let sums = bytes.chunks(PAGE as usize).map(sum).collect();
        self.tables.retain(|(other, ..)| other != name);
        self.tables.push((*name, layout, sums));
        Ok(())
    }

    /// Returns the index, and the content of [`SUMS_FILE`] if the folder needs that file.
    pub fn finish(mut self) -> (Index, Option<Vec<u8>>) {
        self.tables.sort_by_key(|(name, ..)| name.to_string());
        let (mut tables, mut sums) = (Vec::new(), Vec::new());
        for (name, layout, pages) in self.tables {
            push(&mut tables, name, layout);
            sums.extend(pages);
        }
        let mut file = None;
        if sums.len() > self.max_inline.unwrap_or(MAX_INLINE) {
            let bytes: Vec<u8> = sums.iter().flat_map(|sum| sum.to_le_bytes()).collect();
            sums = bytes.chunks(PAGE as usize).map(sum).collect();
            file = Some(bytes);
        }
        let (ending, is_inline) = (self.ending, file.is_none());
        let index = Index {
            ending,
            tables,
            sums,
            is_inline,
        };
        (index, file)
    }
}

fn damaged(problem: String) -> IndexError {
    IndexError::Damaged(problem.into())
}

fn checked_ending(ending: &str) -> Result<String, IndexError> {
    let is_valid = |byte: u8| byte == b'.' || byte.is_ascii_lowercase() || byte.is_ascii_digit();
    if ending.len() <= MAX_ENDING && ending.bytes().all(is_valid) {
        return Ok(ending.to_string());
    }
    let found: String = ending.chars().take(MAX_ENDING).collect();
    Err(damaged(format!(
        "expected an ending of at most {MAX_ENDING} dots, lower-case letters and digits, found {}",
        Quoted(&found)
    )))
}

/// Adds a table after the pages of the tables before it.
fn push(tables: &mut Vec<Table>, name: TableName, layout: Layout) {
    let first_page = pages(tables);
    tables.push(Table {
        name,
        layout,
        first_page,
    });
}

/// Returns the number of pages of all tables.
fn pages(tables: &[Table]) -> u64 {
    tables
        .last()
        .map_or(0, |table| table.first_page + table.pages())
}

impl Index {
    /// The tables, in the order of their names.
    pub fn tables(&self) -> &[Table] {
        &self.tables
    }

    /// Returns the file name of a table on the host.
    pub fn file_name(&self, table: &TableName) -> String {
        format!("{table}{}", self.ending)
    }

    /// Maximum number of pieces of a table.
    pub fn max_pieces(&self) -> usize {
        self.tables
            .iter()
            .map(|table| table.name.pieces())
            .max()
            .unwrap_or(0)
    }

    /// Returns the number of a table.
    pub fn find(&self, name: &TableName) -> Option<usize> {
        self.tables.iter().position(|table| table.name == *name)
    }

    /// Text at the end of the names of files.
    #[cfg(not(target_arch = "wasm32"))]
    pub(crate) fn ending(&self) -> &str {
        &self.ending
    }

    /// Returns the bytes of a page in its file.
    pub(crate) fn page_range(&self, id: PageId) -> Range<u64> {
        let table = self.tables.get(usize::from(id.file));
        let length = table.map_or(SUM * pages(&self.tables), |table| table.layout.length);
        (id.page * PAGE).min(length)..((id.page + 1) * PAGE).min(length)
    }

    /// Returns the page of the file of checksums that has the checksum of a page, and its byte there. `None` if the index has the
    /// checksum.
    pub(crate) fn sum_at(&self, id: PageId) -> Option<(PageId, usize)> {
        let table = self.tables.get(usize::from(id.file))?;
        let at = SUM * (table.first_page + id.page);
        let (file, page) = (SUMS, at / PAGE);
        (!self.is_inline).then_some((PageId { file, page }, (at % PAGE) as usize))
    }

    /// Whether a page has its length and its checksum. `sums` is the page of [`Index::sum_at`].
    pub(crate) fn is_whole(&self, id: PageId, bytes: &[u8], sums: Option<&[u8]>) -> bool {
        let range = self.page_range(id);
        let expected = match self.sum_at(id) {
            Some((_, byte)) => sums
                .and_then(|sums| sums.get(byte..)?.first_chunk().copied())
                .map(u32::from_le_bytes),
            None => {
                let table = self.tables.get(usize::from(id.file));
                let first = table.map_or(0, |table| table.first_page);
                self.sums.get((first + id.page) as usize).copied()
            }
        };
        bytes.len() as u64 == range.end - range.start && expected == Some(sum(bytes))
    }

    /// Encodes the index.
    pub fn encode(&self) -> Vec<u8> {
        let mut out = MAGIC.to_vec();
        let text = |out: &mut Vec<u8>, text: &str| {
            leb128::push(out, text.len() as u64);
            out.extend_from_slice(text.as_bytes());
        };
        text(&mut out, &self.ending);
        leb128::push(&mut out, self.tables.len() as u64);
        for Table { name, layout, .. } in &self.tables {
            text(&mut out, &name.to_string());
            for length in [layout.length, layout.header, layout.index] {
                leb128::push(&mut out, length);
            }
        }
        out.push((!self.is_inline).into());
        out.extend(self.sums.iter().flat_map(|sum| sum.to_le_bytes()));
        let seal = XxHash64::oneshot(0, &out);
        out.extend(seal.to_le_bytes());
        out
    }

    /// Decodes an index.
    ///
    /// # Errors
    ///
    /// Returns an error if the index is damaged.
    pub fn decode(bytes: &[u8]) -> Result<Index, IndexError> {
        let content = bytes.strip_prefix(MAGIC).ok_or(IndexError::Magic)?;
        let (mut rest, seal) = content
            .split_last_chunk::<SEAL>()
            .ok_or(IndexError::SHORT)?;
        if XxHash64::oneshot(0, &bytes[..bytes.len() - SEAL]).to_le_bytes() != *seal {
            return Err(IndexError::SEAL);
        }
        let rest = &mut rest;
        let number = |rest: &mut &[u8]| leb128::take(rest).ok_or(IndexError::SHORT);
        let text = |rest: &mut &[u8]| -> Result<String, IndexError> {
            let length = usize::try_from(number(rest)?).map_err(|_| IndexError::SHORT)?;
            let text = rest.split_off(..length).ok_or(IndexError::SHORT)?;
            Ok(core::str::from_utf8(text)
                .map_err(|_| IndexError::TEXT)?
                .to_string())
        };
        let ending = checked_ending(&text(rest)?)?;
        let found = number(rest)?;
        if found > MAX_TABLES {
            return Err(damaged(format!(
                "expected at most {MAX_TABLES} tables, found {found}"
            )));
        }
        let (mut tables, mut last) = (Vec::new(), String::new());
        for _ in 0..found {
            let next = text(rest)?;
            let name: TableName = next.parse()?;
            if last >= next {
                return Err(damaged(format!(
                    "expected the tables in order, found {name} after a later name"
                )));
            }
            last = next;
            let layout = Layout {
                length: number(rest)?,
                header: number(rest)?,
                index: number(rest)?,
            };
            let lengths = [layout.header, layout.index, layout.length];
            // The limit keeps sums of lengths within 64 bits.
            if !lengths.is_sorted() || layout.length > 1 << 48 {
                return Err(damaged(format!(
                    "{name}: expected header, index and file of increasing lengths, found {}, {} and {} bytes",
                    layout.header, layout.index, layout.length
                )));
            }
            push(&mut tables, name, layout);
        }
        let is_inline = *rest.split_off_first().ok_or(IndexError::SHORT)? == 0;
        let expected = match pages(&tables) {
            pages if is_inline => SUM * pages,
            pages => SUM * (SUM * pages).div_ceil(PAGE),
        };
        match (rest.len() as u64).cmp(&expected) {
            core::cmp::Ordering::Less => return Err(IndexError::SHORT),
            core::cmp::Ordering::Greater => return Err(IndexError::LONG),
            core::cmp::Ordering::Equal => {}
        }
        let sums = rest
            .as_chunks()
            .0
            .iter()
            .map(|sum| u32::from_le_bytes(*sum))
            .collect();
        Ok(Index {
            ending,
            tables,
            sums,
            is_inline,
        })
    }
}
