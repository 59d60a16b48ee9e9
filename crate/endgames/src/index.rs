//! The index of a folder of tables: their names, lengths and checksums.
//!
//! A host needs the index so that readers know which tables exist, which bytes to request first, and whether the received
//! bytes are those of the table. The tables themselves have a checksum of the whole file only.

use core::fmt;

use shelfish::leb128;
use shelfish::quoted::Quoted;
use twox_hash::XxHash64;

use crate::layout::Layout;
use crate::name::{NameError, TableName};
use crate::table_error::TableError;

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

/// Checksums of the pages of all tables.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Sums {
    /// Checksums of the pages of all tables.
    Inline(Vec<u32>),
    /// Checksums of the pages of the file that contains the checksums.
    File(Vec<u32>),
}

/// The index of a folder of tables.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Index {
    /// Text at the end of each file name, after the name of the table.
    ending: String,
    tables: Vec<Table>,
    sums: Sums,
}

/// An index that is damaged.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum IndexError {
    /// The first bytes are not those of an index, or of an index of a different version.
    Magic,
    /// The checksum at the end of the index does not match.
    Seal,
    /// The index ends within a field.
    Short,
    /// The index has bytes after the last field.
    Long,
    /// A name is not UTF-8.
    Text,
    /// The ending of the files is not a short text of `.`, lower-case letters and digits.
    Ending {
        /// The ending.
        found: String,
    },
    /// The index lists too many tables.
    TooMany {
        /// Maximum number of tables.
        max: u64,
        /// Number of tables.
        found: u64,
    },
    /// A name is not the name of a table.
    Name(NameError),
    /// The names are not in order, or a name is present twice.
    Order {
        /// The name.
        found: TableName,
    },
    /// The lengths of a table contradict each other.
    Layout {
        /// The table.
        table: TableName,
        /// Its lengths.
        found: Layout,
    },
}

impl fmt::Display for IndexError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            IndexError::Magic => {
                f.write_str("expected an index of endgame tables, version 1; write it by `shelfish endgames index`")
            }
            IndexError::Seal => f.write_str("the checksum does not match: the index is damaged"),
            IndexError::Short => f.write_str("the index ends within a field"),
            IndexError::Text => f.write_str("a name is not UTF-8"),
            IndexError::Long => f.write_str("the index has bytes after its last field"),
            IndexError::Ending { found } => {
                write!(
                    f,
                    "expected an ending of at most {MAX_ENDING} dots, lower-case letters and digits, found {}",
                    Quoted(found)
                )
            }
            IndexError::TooMany { max, found } => write!(f, "expected at most {max} tables, found {found}"),
            IndexError::Name(error) => error.fmt(f),
            IndexError::Order { found } => write!(f, "expected the tables in order, found {found} after a later name"),
            IndexError::Layout { table, found } => write!(
                f,
                "{table}: expected header, index and file of increasing lengths, found {}, {} and {} bytes",
                found.header, found.index, found.length
            ),
        }
    }
}

impl core::error::Error for IndexError {}

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
#[derive(Clone, Debug)]
pub struct IndexBuilder {
    ending: String,
    tables: Vec<(TableName, Layout, Vec<u32>)>,
    max_inline: usize,
}

impl Default for IndexBuilder {
    fn default() -> IndexBuilder {
        IndexBuilder {
            ending: String::new(),
            tables: Vec::new(),
            max_inline: MAX_INLINE,
        }
    }
}

impl IndexBuilder {
    /// Sets the text that the host appends to the names of tables, such as `.silo`. Some hosts compress files with unknown endings,
    /// which breaks ranges.
    ///
    /// # Errors
    ///
    /// Returns an error if the ending has other characters than dots, lower-case letters and digits, or is too long.
    pub fn with_ending(self, ending: &str) -> Result<IndexBuilder, IndexError> {
        Ok(IndexBuilder {
            ending: checked_ending(ending)?,
            ..self
        })
    }

    /// Sets the maximum number of checksums inside the index, 16,384 by default. More checksums are in [`SUMS_FILE`].
    pub fn with_max_inline(self, max_inline: usize) -> IndexBuilder {
        IndexBuilder { max_inline, ..self }
    }

    /// Adds a table. A table that is added again replaces the first.
    ///
    /// # Errors
    ///
    /// Returns an error if the bytes are not a complete table.
    pub fn add(&mut self, name: &TableName, bytes: &[u8]) -> Result<(), TableError> {
        let layout = Layout::of_table(name, bytes)?;
        let sums = bytes.chunks(PAGE as usize).map(sum).collect();
        self.tables.retain(|(other, ..)| other != name);
        self.tables.push((name.clone(), layout, sums));
        Ok(())
    }

    /// Returns the index, and the content of [`SUMS_FILE`] if the folder needs that file.
    pub fn finish(mut self) -> (Index, Option<Vec<u8>>) {
        self.tables.sort_by(|(a, ..), (b, ..)| a.cmp(b));
        let sums: Vec<u32> = self
            .tables
            .iter()
            .flat_map(|(.., sums)| sums)
            .copied()
            .collect();
        let tables = numbered(
            self.tables
                .into_iter()
                .map(|(name, layout, _)| (name, layout)),
        );
        if sums.len() <= self.max_inline {
            return (
                Index {
                    ending: self.ending,
                    tables,
                    sums: Sums::Inline(sums),
                },
                None,
            );
        }
        let file: Vec<u8> = sums.iter().flat_map(|sum| sum.to_le_bytes()).collect();
        let sums = file.chunks(PAGE as usize).map(sum).collect();
        (
            Index {
                ending: self.ending,
                tables,
                sums: Sums::File(sums),
            },
            Some(file),
        )
    }
}

fn checked_ending(ending: &str) -> Result<String, IndexError> {
    let is_valid = |byte: u8| byte == b'.' || byte.is_ascii_lowercase() || byte.is_ascii_digit();
    if ending.len() <= MAX_ENDING && ending.bytes().all(is_valid) {
        return Ok(ending.to_string());
    }
    Err(IndexError::Ending {
        found: ending.chars().take(MAX_ENDING).collect(),
    })
}

/// Counts the pages before each table.
fn numbered(tables: impl Iterator<Item = (TableName, Layout)>) -> Vec<Table> {
    let mut pages = 0;
    let number = |(name, layout)| {
        let table = Table {
            name,
            layout,
            first_page: pages,
        };
        pages += table.pages();
        table
    };
    tables.map(number).collect()
}

/// Where the checksum of a page is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SumAt {
    /// In the index.
    Known(u32),
    /// In a page of the file of checksums, from this byte of the page.
    File {
        /// Number of the page.
        page: u64,
        /// First byte.
        byte: usize,
    },
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
        self.tables
            .binary_search_by(|table| table.name.cmp(name))
            .ok()
    }

    /// Number of pages of all tables.
    fn pages(&self) -> u64 {
        self.tables
            .last()
            .map_or(0, |table| table.first_page + table.pages())
    }

    /// Length of the file of checksums in bytes.
    pub(crate) fn sums_length(&self) -> u64 {
        SUM * self.pages()
    }

    /// Returns the place of the checksum of a page of a table.
    pub(crate) fn sum_at(&self, table: usize, page: u64) -> SumAt {
        let number = self.tables[table].first_page + page;
        match &self.sums {
            Sums::Inline(sums) => SumAt::Known(sums[number as usize]),
            Sums::File(_) => SumAt::File {
                page: SUM * number / PAGE,
                byte: (SUM * number % PAGE) as usize,
            },
        }
    }

    /// Whether the bytes are a page of the file of checksums.
    pub(crate) fn is_sums_page(&self, page: u64, bytes: &[u8]) -> bool {
        match &self.sums {
            Sums::Inline(_) => false,
            Sums::File(sums) => sums.get(page as usize) == Some(&sum(bytes)),
        }
    }

    /// Replaces the checksums of a table by those of other bytes of the same length, as a hostile host can.
    #[doc(hidden)]
    pub fn with_changed(mut self, name: &TableName, bytes: &[u8]) -> Index {
        if let (Some(number), Sums::Inline(sums)) = (self.find(name), &mut self.sums) {
            let first = self.tables[number].first_page as usize;
            for (old, page) in sums[first..].iter_mut().zip(bytes.chunks(PAGE as usize)) {
                *old = sum(page);
            }
        }
        self
    }

    /// Encodes the index.
    pub fn encode(&self) -> Vec<u8> {
        let mut out = MAGIC.to_vec();
        leb128::push(&mut out, self.ending.len() as u64);
        out.extend_from_slice(self.ending.as_bytes());
        leb128::push(&mut out, self.tables.len() as u64);
        for Table { name, layout, .. } in &self.tables {
            let name = name.to_string();
            leb128::push(&mut out, name.len() as u64);
            out.extend_from_slice(name.as_bytes());
            for length in [layout.length, layout.header, layout.index] {
                leb128::push(&mut out, length);
            }
        }
        let (is_file, sums) = match &self.sums {
            Sums::Inline(sums) => (0, sums),
            Sums::File(sums) => (1, sums),
        };
        out.push(is_file);
        out.extend(sums.iter().flat_map(|sum| sum.to_le_bytes()));
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
        let Some(content) = bytes.strip_prefix(MAGIC) else {
            return Err(IndexError::Magic);
        };
        let (sealed, seal) = bytes.split_last_chunk::<SEAL>().ok_or(IndexError::Short)?;
        if XxHash64::oneshot(0, sealed).to_le_bytes() != *seal {
            return Err(IndexError::Seal);
        }
        let mut rest = content
            .get(..content.len().saturating_sub(SEAL))
            .ok_or(IndexError::Short)?;
        let rest = &mut rest;
        let number = |rest: &mut &[u8]| leb128::take(rest).ok_or(IndexError::Short);
        let text = |rest: &mut &[u8]| {
            let length = usize::try_from(number(rest)?).map_err(|_| IndexError::Short)?;
            let (text, after) = rest.split_at_checked(length).ok_or(IndexError::Short)?;
            *rest = after;
            Ok(core::str::from_utf8(text)
                .map_err(|_| IndexError::Text)?
                .to_string())
        };
        let ending = checked_ending(&text(rest)?)?;
        let count = number(rest)?;
        if count > MAX_TABLES {
            return Err(IndexError::TooMany {
                max: MAX_TABLES,
                found: count,
            });
        }
        let mut tables: Vec<(TableName, Layout)> = Vec::new();
        for _ in 0..count {
            let name: TableName = text(rest)?.parse().map_err(IndexError::Name)?;
            if tables.last().is_some_and(|(last, _)| *last >= name) {
                return Err(IndexError::Order { found: name });
            }
            let layout = Layout {
                length: number(rest)?,
                header: number(rest)?,
                index: number(rest)?,
            };
            // The limit keeps sums of lengths within 64 bits.
            if layout.header > layout.index
                || layout.index > layout.length
                || layout.length > 1 << 48
            {
                return Err(IndexError::Layout {
                    table: name,
                    found: layout,
                });
            }
            tables.push((name, layout));
        }
        let tables = numbered(tables.into_iter());
        let (&is_file, sums) = rest.split_first().ok_or(IndexError::Short)?;
        let pages = tables
            .last()
            .map_or(0, |table| table.first_page + table.pages());
        let expected = if is_file == 0 {
            pages
        } else {
            (SUM * pages).div_ceil(PAGE)
        };
        match (sums.len() as u64).cmp(&(SUM * expected)) {
            core::cmp::Ordering::Less => return Err(IndexError::Short),
            core::cmp::Ordering::Greater => return Err(IndexError::Long),
            core::cmp::Ordering::Equal => {}
        }
        let sums = sums
            .as_chunks()
            .0
            .iter()
            .map(|sum| u32::from_le_bytes(*sum))
            .collect();
        Ok(Index {
            ending,
            tables,
            sums: if is_file == 0 {
                Sums::Inline(sums)
            } else {
                Sums::File(sums)
            },
        })
    }
}

/// Whether the bytes of a page have the checksum.
pub(crate) fn has_sum(bytes: &[u8], expected: u32) -> bool {
    sum(bytes) == expected
}
