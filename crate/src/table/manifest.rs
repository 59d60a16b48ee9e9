//! The manifest: the one file whose content changes. It lists all shards and pages.
//!
//! Its checksum is verified before anything else but the format number is read. It is parsed in one pass, and takes at most
//! some six times its text in memory, whatever the text is.

use super::chunk::{KeyRange, checksum};
use super::json_reader::JsonReader;
use super::shard_name::is_shard_name;
use super::{Chunk, ContentHash, ManifestError, Page, Record, TableError};
#[cfg(feature = "write")]
use crate::digits::{base64, hex};
use crate::digits::{from_base64, from_hex};
use crate::position::Key;

/// The totals of a database, and its shards and pages.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Manifest {
    /// Number of positions.
    pub positions: u64,
    /// Further totals by name: for evaluations `evaluations` and `pvs`.
    pub totals: Vec<(String, u64)>,
    /// Information about the database by name, such as the filters of the build.
    pub info: Vec<(String, String)>,
    shards: Vec<Shard>,
}

/// An immutable file: blocks, then pages. After an update a file may have no page in use, only blocks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(
    feature = "write",
    derive(serde::Serialize, serde::Deserialize),
    serde(deny_unknown_fields)
)]
pub struct Shard {
    /// The file's name: the first 32 hexadecimal digits of the SHA-256 of its content, and `.silo`.
    pub file: String,
    /// The file's length in bytes.
    pub bytes: u64,
    /// Number of positions in its blocks in use.
    pub positions: u64,
    /// Bytes of its blocks in use, if an update has left it without a page in use. A reader does not need them.
    #[cfg_attr(
        feature = "write",
        serde(default, skip_serializing_if = "Option::is_none")
    )]
    pub live: Option<u64>,
    /// Its pages in ascending order of keys.
    pub pages: Vec<ListedPage>,
}

/// A page of a shard, as the manifest lists it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(
    feature = "write",
    derive(serde::Serialize, serde::Deserialize),
    serde(into = "(String, u64, String)", try_from = "(String, u64, String)")
)]
pub struct ListedPage {
    /// Its separator.
    pub separator: Vec<u8>,
    /// Its length in bytes.
    pub bytes: u64,
    /// Its hash.
    pub hash: ContentHash,
    /// The page, if it is an inline page, which spares readers a request; else empty.
    pub content: Vec<u8>,
    /// Its offset in the shard, in a checked manifest.
    pub(super) start: u64,
}

#[cfg(feature = "write")]
impl From<ListedPage> for (String, u64, String) {
    fn from(page: ListedPage) -> (String, u64, String) {
        let content = match &page.content[..] {
            [] => base64(&page.hash.to_bytes()),
            content => base64(content),
        };
        (hex(&page.separator), page.bytes, content)
    }
}

impl TryFrom<(String, u64, String)> for ListedPage {
    type Error = ManifestError;

    fn try_from(
        (separator, bytes, text): (String, u64, String),
    ) -> Result<ListedPage, ManifestError> {
        let of_hex = from_hex(separator.as_bytes());
        let mut content = from_base64(&text).unwrap_or_default();
        let hash = match ContentHash::from_bytes(&content) {
            Some(hash) => {
                content.clear();
                Some(hash)
            }
            None => (content.len() as u64 == bytes).then(|| ContentHash::of(&content)),
        };
        Ok(ListedPage {
            separator: of_hex
                .filter(|separator| separator.len() <= usize::from(u8::MAX))
                .ok_or(ManifestError::Text {
                    expected: "a separator",
                    found: separator,
                })?,
            bytes,
            hash: hash.ok_or(ManifestError::Text {
                expected: "a page, or the 16 bytes of its hash, in Base64",
                found: text,
            })?,
            content,
            start: 0,
        })
    }
}

/// The text between the checksummed bytes and the checksum.
const CHECKSUM: &str = ",\"checksum\":\"";

impl Manifest {
    /// The version of the format that this reader and writer know.
    pub const FORMAT: u64 = 3;
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
        let mut manifest = Manifest::default();
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
                    "shards" => json.array(&mut |json| {
                        manifest.shards.push(read_shard(json)?);
                        Ok(())
                    })?,
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
        for (is_missing, member) in [
            (records.is_empty(), "records"),
            (manifest.shards.is_empty(), "shards"),
            (manifest.pages().next().is_none(), "pages"),
        ] {
            if is_missing {
                return Err(ManifestError::Missing(member).into());
            }
        }
        Ok(manifest.checked()?)
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
        shards: Vec<Shard>,
    ) -> Result<Manifest, ManifestError> {
        let manifest = Manifest {
            positions,
            totals,
            info,
            shards,
        };
        manifest.checked()
    }

    /// Checks the names, lengths and order of the shards and pages, and sets the offsets of the pages.
    fn checked(mut self) -> Result<Manifest, ManifestError> {
        let (mut count, mut last): (_, Option<&[u8]>) = (0, None);
        for shard in &mut self.shards {
            if !is_shard_name(&shard.file) {
                return Err(ManifestError::Text {
                    expected: "the name of a shard",
                    found: shard.file.clone(),
                });
            }
            let expected = shard.page_bytes();
            let Some(mut start) = shard.bytes.checked_sub(expected) else {
                return Err(ManifestError::ShardLength {
                    file: shard.file.clone(),
                    expected,
                    found: shard.bytes,
                });
            };
            for page in &mut shard.pages {
                // A text of 16 bytes is a hash.
                let lengths = ContentHash::BYTES as u64 + 1..=Page::MAX_BYTES as u64;
                if !lengths.contains(&page.bytes) {
                    return Err(ManifestError::PageLength { found: page.bytes });
                }
                let separator = &page.separator[..];
                if last.map_or(!separator.is_empty(), |last| last >= separator) {
                    return Err(ManifestError::Order { page: count });
                }
                count += 1;
                page.start = start;
                start += page.bytes;
                last = Some(&page.separator);
            }
        }
        Ok(self)
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
            totals: BTreeMap<&'a String, u64>,
            info: BTreeMap<&'a String, &'a String>,
            shards: &'a [Shard],
        }
        let body = Body {
            format: Manifest::FORMAT,
            records: R::KIND,
            positions: self.positions,
            totals: self
                .totals
                .iter()
                .map(|(name, total)| (name, *total))
                .collect(),
            info: self.info.iter().map(|(name, text)| (name, text)).collect(),
            shards: &self.shards,
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

    /// Returns the page that lists the block of `key`, with its hash.
    pub fn page_of(&self, key: &Key) -> Option<(Chunk, ContentHash)> {
        let (shard, page) = self.place_of(key.as_bytes())?;
        let hash = self.shards[shard].pages[page].hash;
        Some((self.page_of_shard(shard, page)?, hash))
    }

    /// Returns the numbers of a shard and of its page, the last whose separator is not above `key`.
    fn place_of(&self, key: &[u8]) -> Option<(usize, usize)> {
        let is_before = |page: &ListedPage| *page.separator <= *key;
        let shard = self
            .shards
            .iter()
            .rposition(|shard| shard.pages.first().is_some_and(is_before))?;
        let pages = self.shards[shard].pages.partition_point(is_before);
        Some((shard, pages - 1))
    }

    /// Returns all pages in ascending order of keys.
    pub fn pages(&self) -> impl Iterator<Item = Chunk> + '_ {
        (0..self.shards.len()).flat_map(|shard| self.pages_of(shard))
    }

    /// Returns the pages of the shard with this number.
    pub fn pages_of(&self, shard: usize) -> impl Iterator<Item = Chunk> + '_ {
        (0..).map_while(move |n| self.page_of_shard(shard, n))
    }

    /// Returns page `n` of a shard.
    pub fn page_of_shard(&self, shard: usize, n: usize) -> Option<Chunk> {
        let (shard, later) = self.shards.get(shard..)?.split_first()?;
        let page = shard.pages.get(n)?;
        let next = shard.pages.get(n + 1);
        let next = next.or_else(|| later.iter().find_map(|shard| shard.pages.first()));
        let keys = KeyRange {
            from: page.separator.clone(),
            until: next.map(|next| next.separator.clone()),
        };
        Some(Chunk {
            file: shard.file.clone(),
            range: page.start..page.start + page.bytes,
            keys,
        })
    }

    /// Returns the shard and the page that a chunk stands for; `None` if the manifest does not list it.
    fn listed(&self, chunk: &Chunk) -> Option<(&Shard, &ListedPage)> {
        let (shard, page) = self.place_of(&chunk.keys.from)?;
        let (shard, page) = (&self.shards[shard], &self.shards[shard].pages[page]);
        (shard.file == chunk.file && page.start == chunk.range.start).then_some((shard, page))
    }

    /// Returns the hash of a page; `None` if the manifest does not list the page.
    pub fn hash_of(&self, page: &Chunk) -> Option<ContentHash> {
        self.listed(page).map(|(_, page)| page.hash)
    }

    /// Returns the bytes of an inline page, not checked; `None` if the page is not inline.
    pub fn inline_page(&self, page: &Chunk) -> Option<&[u8]> {
        let (_, page) = self.listed(page)?;
        (!page.content.is_empty()).then_some(&page.content)
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

impl Shard {
    /// Returns the length of all pages, in bytes.
    pub(super) fn page_bytes(&self) -> u64 {
        let lengths = self.pages.iter().map(|page| page.bytes);
        lengths.fold(0, u64::saturating_add)
    }
}

fn read_shard(json: &mut JsonReader<'_>) -> Result<Shard, ManifestError> {
    let mut shard = Shard::default();
    json.object(&mut |json, name| {
        match name {
            "file" => shard.file = json.text()?.into_owned(),
            "bytes" => shard.bytes = json.number()?,
            "positions" => shard.positions = json.number()?,
            "live" => shard.live = Some(json.number()?),
            "pages" => json.array(&mut |json| {
                json.expect(b'[', "array")?;
                let separator = json.text()?.into_owned();
                json.expect(b',', "comma")?;
                let bytes = json.number()?;
                json.expect(b',', "comma")?;
                let content = json.text()?.into_owned();
                json.expect(b']', "end of list")?;
                shard.pages.push((separator, bytes, content).try_into()?);
                Ok(())
            })?,
            _ => json.skip()?,
        }
        Ok(())
    })?;
    Ok(shard)
}
