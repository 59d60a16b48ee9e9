//! The manifest: the one file whose content changes. It lists all shards and pages.
//!
//! Its checksum is verified before anything else but the format number is read. It is parsed in one pass, and takes at most
//! some four times its text in memory, whatever the text is.

use core::ops::Range;

use super::chunk::{KeyRange, checksum};
use super::json_reader::JsonReader;
use super::shard_name::is_shard_name;
use super::{Chunk, ContentHash, ManifestError, Page, Record, TableError};
use crate::digits;
use crate::position::Key;

/// The totals of a database, and its shards and pages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Manifest {
    /// Number of positions.
    pub positions: u64,
    /// Further totals by name: for evaluations `evaluations` and `pvs`.
    pub totals: Vec<(String, u64)>,
    /// Information about the database by name, such as the filters of the build.
    pub info: Vec<(String, String)>,
    shards: Vec<Shard>,
    pages: Pages,
}

/// An immutable file: blocks, then pages. After an update a file may have no page in use, only blocks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shard {
    /// The file's name: the first 32 hexadecimal digits of the SHA-256 of its content, and `.silo`.
    pub file: String,
    /// The file's length in bytes.
    pub bytes: u64,
    /// Number of positions in its blocks in use.
    pub positions: u64,
    /// Bytes of its blocks in use, if an update has left it without a page in use. A reader does not need them.
    pub live: Option<u64>,
    /// All its pages, one after another, in the manifest of a small database, which spares readers a request; else empty.
    pub(super) inline_pages: Vec<u8>,
    /// The numbers of its pages among those of the manifest.
    pages: Range<usize>,
}

/// A written shard, for the manifest.
#[cfg(feature = "write")]
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WrittenShard {
    /// The file's name.
    pub file: String,
    /// Its length.
    pub bytes: u64,
    /// Number of positions in its blocks in use.
    pub positions: u64,
    /// Bytes of its blocks in use, if an update has left it without a page in use.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub live: Option<u64>,
    /// Its pages in ascending order of keys.
    pub pages: Vec<WrittenPage>,
    /// All its pages, if they may be few enough to be inlined in the manifest.
    pub inline_pages: Vec<u8>,
}

/// A written page, for the manifest.
#[cfg(feature = "write")]
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WrittenPage {
    /// Its separator.
    pub separator: Vec<u8>,
    /// Its length in bytes.
    pub bytes: u64,
    /// Its hash.
    pub hash: ContentHash,
}

/// The leaf pages of all shards in ascending order of keys; a manifest may have a million.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Pages {
    /// All separators, one after another.
    separators: Vec<u8>,
    locations: Vec<PageLocation>,
}

/// The location of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct PageLocation {
    /// End of its separator in `separators`.
    separator: u32,
    /// The number of its shard.
    shard: u32,
    /// Offset in the shard.
    start: u64,
    hash: ContentHash,
}

impl Pages {
    fn separator(&self, n: usize) -> &[u8] {
        let end = |n: usize| self.locations[n].separator as usize;
        &self.separators[n.checked_sub(1).map_or(0, end)..end(n)]
    }

    /// Adds a page. Its start is set when the length of its shard is known.
    fn push(
        &mut self,
        shard: usize,
        separator: &[u8],
        hash: ContentHash,
    ) -> Result<(), ManifestError> {
        let last = self
            .locations
            .len()
            .checked_sub(1)
            .map(|last| self.separator(last));
        if last.map_or(!separator.is_empty(), |last| last >= separator) {
            return Err(ManifestError::Order {
                page: self.locations.len(),
            });
        }
        self.separators.extend_from_slice(separator);
        let separator = self.separators.len() as u32;
        self.locations.push(PageLocation {
            separator,
            shard: shard as u32,
            start: 0,
            hash,
        });
        Ok(())
    }
}

/// The text between the checksummed bytes and the checksum.
const CHECKSUM: &str = ",\"checksum\":\"";

impl Manifest {
    /// The version of the format that this reader and writer know.
    pub const FORMAT: u64 = 2;
    /// The file's name.
    pub const FILE: &str = "manifest.json";
    /// The largest manifest. That of 400 million positions, with some 1,100 pages, has 40 kB.
    pub const MAX_BYTES: usize = 8 << 20;
    /// The most members of `totals`, and of `info`.
    const MAX_MEMBERS: usize = 256;

    /// Returns a member of `info`, by its name.
    pub fn info_of(&self, name: &str) -> Option<&str> {
        self.info
            .iter()
            .find(|(other, _)| other == name)
            .map(|(_, value)| value.as_str())
    }

    /// Reads a manifest.
    ///
    /// # Errors
    ///
    /// Not a manifest, of a later format, of other records, changed since it was written.
    pub fn parse<R: Record>(bytes: &[u8]) -> Result<Manifest, TableError> {
        let format = format_of(bytes)?;
        if format != Manifest::FORMAT {
            return Err(TableError::Version { found: format });
        }
        check(bytes)?;
        let text = core::str::from_utf8(bytes).map_err(ManifestError::Utf8)?;
        let mut json = JsonReader::new(text);
        let mut manifest = Manifest {
            positions: 0,
            totals: Vec::new(),
            info: Vec::new(),
            shards: Vec::new(),
            pages: Pages::default(),
        };
        let mut records = String::new();
        let mut read = || {
            json.object(&mut |json, name| {
                match name {
                    "records" => records = json.text()?.into_owned(),
                    "positions" => manifest.positions = json.number()?,
                    "totals" => manifest.totals = members(json, |json| json.number())?,
                    "info" => {
                        manifest.info =
                            members(json, |json| json.text().map(|text| text.into_owned()))?
                    }
                    "shards" => json.array(&mut |json| manifest.read_shard(json))?,
                    _ => json.skip()?,
                }
                Ok(())
            })?;
            json.finish()
        };
        let read = read();
        // A manifest of another kind of record may have any other content.
        if !records.is_empty() && records != R::KIND {
            return Err(TableError::Kind {
                expected: R::KIND,
                found: records,
            });
        }
        read?;
        let has_no_page = manifest.pages.locations.is_empty();
        for (is_missing, member) in [
            (records.is_empty(), "records"),
            (manifest.shards.is_empty(), "shards"),
            (has_no_page, "pages"),
        ] {
            if is_missing {
                return Err(ManifestError::Missing(member).into());
            }
        }
        Ok(manifest)
    }

    /// Makes a manifest of written shards.
    ///
    /// # Errors
    ///
    /// A reader would refuse it.
    #[cfg(feature = "write")]
    pub(super) fn new(
        positions: u64,
        totals: Vec<(String, u64)>,
        info: Vec<(String, String)>,
        shards: Vec<WrittenShard>,
    ) -> Result<Manifest, ManifestError> {
        let mut manifest = Manifest {
            positions,
            totals,
            info,
            shards: Vec::new(),
            pages: Pages::default(),
        };
        for WrittenShard {
            file,
            bytes,
            positions,
            live,
            pages,
            inline_pages,
        } in shards
        {
            let mut lengths = Vec::new();
            for WrittenPage {
                separator,
                bytes,
                hash,
            } in pages
            {
                manifest
                    .pages
                    .push(manifest.shards.len(), &separator, hash)?;
                lengths.push(page_length(bytes)?);
            }
            let shard = Shard {
                file,
                bytes,
                positions,
                live,
                inline_pages,
                pages: 0..0,
            };
            manifest.add(shard, &lengths)?;
        }
        Ok(manifest)
    }

    fn read_shard(&mut self, json: &mut JsonReader<'_>) -> Result<(), ManifestError> {
        let mut shard = Shard {
            file: String::new(),
            bytes: 0,
            positions: 0,
            live: None,
            inline_pages: Vec::new(),
            pages: 0..0,
        };
        let mut lengths = Vec::new();
        json.object(&mut |json, name| {
            match name {
                "file" => shard.file = json.text()?.into_owned(),
                "bytes" => shard.bytes = json.number()?,
                "positions" => shard.positions = json.number()?,
                "live" => shard.live = Some(json.number()?),
                "pages" => json.array(&mut |json| {
                    let mut page = (None, None, None);
                    json.array(&mut |json| {
                        match page {
                            (None, ..) => page.0 = Some(parse_separator(&json.text()?)?),
                            (_, None, _) => page.1 = Some(json.number()?),
                            (.., None) => page.2 = Some(parse_hash(&json.text()?)?),
                            _ => return Err(ManifestError::PageItems),
                        }
                        Ok(())
                    })?;
                    let (Some(separator), Some(length), Some(hash)) = page else {
                        return Err(ManifestError::PageItems);
                    };
                    self.pages.push(self.shards.len(), &separator, hash)?;
                    lengths.push(page_length(length)?);
                    Ok(())
                })?,
                "carried" => {
                    shard.inline_pages =
                        digits::from_base64(&json.text()?).ok_or(ManifestError::Base64)?
                }
                _ => json.skip()?,
            }
            Ok(())
        })?;
        self.add(shard, &lengths)
    }

    /// Adds a shard, whose pages are the last `lengths.len()` pages that were added.
    fn add(&mut self, shard: Shard, lengths: &[u32]) -> Result<(), ManifestError> {
        let Shard {
            file,
            bytes,
            inline_pages,
            ..
        } = &shard;
        let (file, bytes) = (|| file.clone(), *bytes);
        if !is_shard_name(&shard.file) {
            return Err(ManifestError::ShardName { found: file() });
        }
        let page_bytes = lengths.iter().map(|&length| u64::from(length)).sum();
        let Some(mut start) = bytes.checked_sub(page_bytes) else {
            return Err(ManifestError::ShardLength {
                file: file(),
                expected: page_bytes,
                found: bytes,
            });
        };
        if !inline_pages.is_empty() && inline_pages.len() as u64 != page_bytes {
            return Err(ManifestError::InlinePages {
                file: file(),
                expected: page_bytes,
                found: inline_pages.len(),
            });
        }
        let pages = self.pages.locations.len() - lengths.len()..self.pages.locations.len();
        for (location, &length) in self.pages.locations[pages.clone()].iter_mut().zip(lengths) {
            location.start = start;
            start += u64::from(length);
        }
        self.shards.push(Shard { pages, ..shard });
        Ok(())
    }

    /// Returns the manifest as a file.
    ///
    /// # Errors
    ///
    /// None for a manifest made by this crate.
    #[cfg(feature = "write")]
    pub fn to_bytes<R: Record>(&self) -> Result<Vec<u8>, serde_json::Error> {
        use std::collections::BTreeMap;

        #[derive(serde::Serialize)]
        struct Body<'a> {
            format: u64,
            records: &'static str,
            positions: u64,
            totals: BTreeMap<&'a str, u64>,
            info: BTreeMap<&'a str, &'a str>,
            shards: Vec<ShardBody<'a>>,
        }
        #[derive(serde::Serialize)]
        struct ShardBody<'a> {
            file: &'a str,
            bytes: u64,
            positions: u64,
            #[serde(skip_serializing_if = "Option::is_none")]
            live: Option<u64>,
            pages: Vec<(String, usize, String)>,
            #[serde(skip_serializing_if = "String::is_empty")]
            carried: String,
        }
        let shards = (0..self.shards.len()).map(|n| {
            let Shard {
                file,
                bytes,
                positions,
                live,
                inline_pages,
                ..
            } = &self.shards[n];
            let hashes = self.pages.locations[self.shards[n].pages.clone()]
                .iter()
                .map(|location| location.hash);
            let pages = self.pages_of(n).zip(hashes);
            let pages = pages.map(|(page, hash)| {
                (
                    digits::hex(&page.keys.from),
                    page.len(),
                    digits::base64(&hash.to_bytes()),
                )
            });
            let pages = pages.collect();
            let carried = digits::base64(inline_pages);
            ShardBody {
                file,
                bytes: *bytes,
                positions: *positions,
                live: *live,
                pages,
                carried,
            }
        });
        let body = Body {
            format: Manifest::FORMAT,
            records: R::KIND,
            positions: self.positions,
            totals: self
                .totals
                .iter()
                .map(|(name, total)| (name.as_str(), *total))
                .collect(),
            info: self
                .info
                .iter()
                .map(|(name, text)| (name.as_str(), text.as_str()))
                .collect(),
            shards: shards.collect(),
        };
        let mut text = serde_json::to_string(&body)?;
        // The closing brace gives way to the checksum.
        text.pop();
        let sum = checksum(text.as_bytes());
        text.push_str(&format!("{CHECKSUM}{sum:016x}\"}}\n"));
        Ok(text.into_bytes())
    }

    /// Returns the shards in ascending order of keys.
    pub fn shards(&self) -> &[Shard] {
        &self.shards
    }

    /// Returns the page that lists the block of `key`.
    pub fn page_of(&self, key: &Key) -> Option<Chunk> {
        self.number_of(key.as_bytes()).map(|n| self.page(n))
    }

    /// Returns the page that lists the block of `key`, with its hash.
    pub fn page_and_hash_of(&self, key: &Key) -> Option<(Chunk, ContentHash)> {
        self.number_of(key.as_bytes())
            .map(|n| (self.page(n), self.pages.locations[n].hash))
    }

    /// Returns the number of the last page whose separator is not above `key`.
    fn number_of(&self, key: &[u8]) -> Option<usize> {
        let (mut low, mut high) = (0, self.pages.locations.len());
        while low < high {
            let middle = low.midpoint(high);
            if self.pages.separator(middle) <= key {
                low = middle + 1
            } else {
                high = middle
            }
        }
        low.checked_sub(1)
    }

    fn page(&self, n: usize) -> Chunk {
        let PageLocation { shard, start, .. } = self.pages.locations[n];
        let shard = &self.shards[shard as usize];
        let next = self.pages.locations.get(n + 1);
        let end = if n + 1 < shard.pages.end {
            next.map_or(shard.bytes, |next| next.start)
        } else {
            shard.bytes
        };
        let keys = KeyRange {
            from: self.pages.separator(n).to_vec(),
            until: next.map(|_| self.pages.separator(n + 1).to_vec()),
        };
        Chunk {
            file: shard.file.clone(),
            range: start..end,
            keys,
        }
    }

    /// Returns all pages in ascending order of keys.
    pub fn pages(&self) -> impl ExactSizeIterator<Item = Chunk> + '_ {
        (0..self.pages.locations.len()).map(|n| self.page(n))
    }

    /// Returns the pages of the shard with this number.
    pub fn pages_of(&self, shard: usize) -> impl ExactSizeIterator<Item = Chunk> + '_ {
        self.shards[shard].pages.clone().map(|n| self.page(n))
    }

    /// Returns page `n` of a shard.
    pub fn page_of_shard(&self, shard: usize, n: usize) -> Option<Chunk> {
        let pages = &self.shards.get(shard)?.pages;
        pages
            .start
            .checked_add(n)
            .filter(|n| *n < pages.end)
            .map(|n| self.page(n))
    }

    /// Returns the hash of a page; `None` if the manifest does not list the page.
    pub fn hash_of(&self, page: &Chunk) -> Option<ContentHash> {
        let location = self.pages.locations.get(self.number_of(&page.keys.from)?)?;
        let is_it = location.start == page.range.start
            && self.shards.get(location.shard as usize)?.file == page.file;
        is_it.then_some(location.hash)
    }

    /// Returns the bytes of an inline page, not checked; `None` if there are no inline pages.
    pub fn inline_page(&self, page: &Chunk) -> Option<&[u8]> {
        let location = self.pages.locations.get(self.number_of(&page.keys.from)?)?;
        let shard = self.shards.get(location.shard as usize)?;
        let is_inline = shard.file == page.file && !shard.inline_pages.is_empty();
        is_inline.then(|| {
            page.within(
                &shard.inline_pages,
                shard.bytes.saturating_sub(shard.inline_pages.len() as u64),
            )
        })
    }

    /// Returns the total of this name; 0 if there is no such total.
    pub fn total(&self, name: &str) -> u64 {
        self.totals
            .iter()
            .find(|(other, _)| other == name)
            .map_or(0, |(_, total)| *total)
    }

    /// Returns the size of all shards, in bytes.
    pub fn bytes(&self) -> u64 {
        self.shards
            .iter()
            .map(|shard| shard.bytes)
            .fold(0, u64::saturating_add)
    }
}

/// Reads the members of an object, in their order.
fn members<V>(
    json: &mut JsonReader<'_>,
    value: impl Fn(&mut JsonReader<'_>) -> Result<V, ManifestError>,
) -> Result<Vec<(String, V)>, ManifestError> {
    let mut members = Vec::new();
    json.object(&mut |json, name| {
        if members.len() == Manifest::MAX_MEMBERS {
            return Err(ManifestError::Members {
                most: Manifest::MAX_MEMBERS,
            });
        }
        members.push((name.to_string(), value(json)?));
        Ok(())
    })?;
    Ok(members)
}

/// Reads the number of the format, with which a manifest of any version begins.
fn format_of(bytes: &[u8]) -> Result<u64, ManifestError> {
    if bytes.is_empty() {
        return Err(ManifestError::Empty);
    }
    if bytes.len() > Manifest::MAX_BYTES {
        return Err(ManifestError::TooLarge { found: bytes.len() });
    }
    let number = bytes.strip_prefix(b"{\"format\":").and_then(|rest| {
        let digits = rest
            .iter()
            .take_while(|byte| byte.is_ascii_digit())
            .count()
            .min(20);
        core::str::from_utf8(&rest[..digits]).ok()?.parse().ok()
    });
    number.ok_or_else(|| ManifestError::Beginning {
        found: letters(&bytes[..bytes.len().min(24)]),
    })
}

/// Checks the checksum that ends a manifest.
fn check(bytes: &[u8]) -> Result<(), ManifestError> {
    let start = bytes
        .len()
        .saturating_sub(CHECKSUM.len() + 16 + "\"}\n".len());
    let (before, after) = bytes.split_at(start);
    let after = after
        .strip_prefix(CHECKSUM.as_bytes())
        .ok_or(ManifestError::NoChecksum)?;
    let expected = checksum(before);
    if after.strip_suffix(b"\"}\n") == Some(format!("{expected:016x}").as_bytes()) {
        return Ok(());
    }
    Err(ManifestError::Checksum {
        expected,
        found: letters(after),
    })
}

/// Converts bytes that may be no text to characters, one for each byte.
fn letters(bytes: &[u8]) -> String {
    bytes.iter().map(|&byte| char::from(byte)).collect()
}

/// Returns the length of a page, if a page can have it.
fn page_length(length: u64) -> Result<u32, ManifestError> {
    let fits = u32::try_from(length)
        .ok()
        .filter(|&length| length > 0 && length as usize <= Page::MAX_BYTES);
    fits.ok_or(ManifestError::PageLength { found: length })
}

/// Reads a separator, in hexadecimal.
fn parse_separator(text: &str) -> Result<Vec<u8>, ManifestError> {
    let separator = digits::from_hex(text.as_bytes());
    let separator = separator.filter(|separator| separator.len() <= usize::from(u8::MAX));
    separator.ok_or_else(|| ManifestError::Separator {
        found: text.to_string(),
    })
}

/// Reads a hash, in Base64.
fn parse_hash(text: &str) -> Result<ContentHash, ManifestError> {
    let hash = digits::from_base64(text)
        .as_deref()
        .and_then(ContentHash::from_bytes);
    hash.ok_or_else(|| ManifestError::PageHash {
        found: text.to_string(),
    })
}
