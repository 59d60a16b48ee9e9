//! The manifest: the one file whose content changes, from which everything else is found.

use super::chunk::{KeyRange, checksum};
use super::json::{Json, JsonError};
use super::{Chunk, Page, Record, TableError};
use crate::position::Key;
use crate::quoted::Quoted;

/// What a database holds and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Manifest {
    /// Number of positions.
    pub positions: u64,
    /// Further totals by name: for evaluations `evaluations` and `pvs`.
    pub totals: Vec<(String, u64)>,
    /// How the database was made, by name: filters of the build and the like.
    pub info: Vec<(String, String)>,
    /// The shards in ascending order of keys.
    pub shards: Vec<Shard>,
    pages: Vec<Chunk>,
}

/// An immutable file: blocks, then the pages that list them.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "write", derive(serde::Serialize))]
pub struct Shard {
    /// The file's name: the first 32 hexadecimal digits of the SHA-256 of its content, and `.silo`.
    pub file: String,
    /// The file's length in bytes.
    pub bytes: u64,
    /// Number of positions.
    pub positions: u64,
    /// Pages in ascending order of keys, the last of which ends the file: separator in hexadecimal, length in bytes.
    pub pages: Vec<(String, u64)>,
    /// All its pages, if the manifest carries them, to spare the readers of a small database a request; else nothing.
    #[cfg_attr(feature = "write", serde(skip_serializing_if = "Vec::is_empty", serialize_with = "as_base64"))]
    pub carried: Vec<u8>,
}

/// What stands before the checksum, which is that of all bytes before this.
const CHECKSUM: &str = ",\"checksum\":\"";

impl Manifest {
    /// The version of the format that this reader and writer know.
    pub const FORMAT: u64 = 1;
    /// The file's name.
    pub const FILE: &str = "manifest.json";
    /// No manifest is larger: some 1,100 pages, as 400 million positions have them, take 40 kB.
    pub const MAX_BYTES: usize = 16 << 20;
    /// Ending of the name of a shard. Its media type in mime-db, model/mesh, is one of few that static hosts neither
    /// compress nor transform, which they do with unknown endings.
    pub const SHARD_ENDING: &str = ".silo";

    /// Reads a manifest.
    ///
    /// # Errors
    ///
    /// Not a manifest, of a later format, of other records, changed since it was written.
    pub fn parse<R: Record>(bytes: &[u8]) -> Result<Manifest, TableError> {
        let fault = |why: String| TableError::Manifest(why);
        if bytes.is_empty() {
            return Err(fault("the file is empty".into()));
        }
        let text = core::str::from_utf8(bytes).map_err(|error| fault(error.to_string()))?;
        let json = Json::parse(text).map_err(|error: JsonError| fault(error.to_string()))?;
        let number = |name| json.get(name).and_then(Json::number).ok_or_else(|| fault(format!("it has no {name}")));
        let format = number("format")?;
        if format != Manifest::FORMAT {
            return Err(TableError::Version { found: format });
        }
        let start = text.len().saturating_sub(CHECKSUM.len() + 16 + "\"}\n".len());
        let (before, after) = text.split_at_checked(start).unwrap_or_default();
        let after = after.strip_prefix(CHECKSUM).ok_or_else(|| fault("it has no checksum".into()))?;
        let found = format!("{:016x}", checksum(before.as_bytes()));
        if after.strip_suffix("\"}\n") != Some(&found) {
            return Err(fault(format!("its checksum is {found}, it ends {}: the bytes were changed", Quoted(after))));
        }
        let records = json.get("records").and_then(Json::text).unwrap_or_default();
        if records != R::KIND {
            return Err(TableError::Kind { expected: R::KIND, found: records.to_string() });
        }
        let totals = members(json.get("totals"), |value| value.number());
        let info = members(json.get("info"), |value| value.text().map(str::to_string));
        let shards = json.get("shards").and_then(|shards| shards.items()?.iter().map(Shard::read).collect());
        match (totals, info, shards) {
            (Some(totals), Some(info), Some(shards)) => {
                Manifest::new(number("positions")?, totals, info, shards).map_err(fault)
            }
            _ => Err(fault("its totals, info or shards are not those of a manifest".to_string())),
        }
    }

    /// Puts a manifest together and finds its pages.
    pub(super) fn new(
        positions: u64,
        totals: Vec<(String, u64)>,
        info: Vec<(String, String)>,
        shards: Vec<Shard>,
    ) -> Result<Manifest, String> {
        let mut pages: Vec<Chunk> = Vec::new();
        for shard in &shards {
            if !is_shard_name(&shard.file) {
                return Err(format!("{} is not the name of a shard", Quoted(&shard.file)));
            }
            let start = shard.page_bytes().and_then(|bytes| shard.bytes.checked_sub(bytes));
            let mut start = start.ok_or_else(|| format!("the pages of {} are longer than it", shard.file))?;
            for (separator, length) in &shard.pages {
                let from = parse_hex(separator).ok_or_else(|| format!("{} is not a separator", Quoted(separator)))?;
                if *length == 0 || *length > Page::MAX_BYTES as u64 {
                    return Err(format!("page of {length} bytes, expected at most {}", Page::MAX_BYTES));
                }
                if pages.last().map_or(!from.is_empty(), |last| last.keys.from >= from) {
                    return Err(format!("separator {} of {} stands out of order", Quoted(separator), shard.file));
                }
                if let Some(last) = pages.last_mut() {
                    last.keys.until = Some(from.clone());
                }
                let keys = KeyRange { from, until: None };
                pages.push(Chunk { file: shard.file.clone(), range: start..start + length, keys });
                start += length;
            }
        }
        Ok(Manifest { positions, totals, info, shards, pages })
    }

    /// The manifest as a file.
    ///
    /// # Errors
    ///
    /// None that a manifest of this crate gives rise to.
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
            shards: &'a [Shard],
        }
        let body = Body {
            format: Manifest::FORMAT,
            records: R::KIND,
            positions: self.positions,
            totals: self.totals.iter().map(|(name, total)| (name.as_str(), *total)).collect(),
            info: self.info.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect(),
            shards: &self.shards,
        };
        let mut text = serde_json::to_string(&body)?;
        // The closing brace gives way to the checksum.
        text.pop();
        let sum = checksum(text.as_bytes());
        text.push_str(&format!("{CHECKSUM}{sum:016x}\"}}\n"));
        Ok(text.into_bytes())
    }

    /// The page that lists the block of `key`.
    pub fn page_of(&self, key: &Key) -> Option<&Chunk> {
        let after = self.pages.partition_point(|page| *page.keys.from <= *key.as_bytes());
        self.pages.get(after.checked_sub(1)?)
    }

    /// All pages in ascending order of keys.
    pub fn pages(&self) -> &[Chunk] {
        &self.pages
    }

    /// The bytes of a page, if the manifest carries them; not checked.
    pub fn carried(&self, page: &Chunk) -> Option<&[u8]> {
        let shard = self.shards.iter().find(|shard| shard.file == page.file && !shard.carried.is_empty())?;
        Some(page.within(&shard.carried, shard.bytes.saturating_sub(shard.carried.len() as u64)))
    }

    /// The total of this name, 0 if there is none.
    pub fn total(&self, name: &str) -> u64 {
        self.totals.iter().find(|(other, _)| other == name).map_or(0, |(_, total)| *total)
    }

    /// Bytes of all shards.
    pub fn bytes(&self) -> u64 {
        self.shards.iter().map(|shard| shard.bytes).fold(0, u64::saturating_add)
    }
}

impl Shard {
    fn read(json: &Json) -> Option<Shard> {
        let page = |page: &Json| match page.items()? {
            [separator, length] => Some((separator.text()?.to_string(), length.number()?)),
            _ => None,
        };
        let shard = Shard {
            file: json.get("file")?.text()?.to_string(),
            bytes: json.get("bytes")?.number()?,
            positions: json.get("positions")?.number()?,
            pages: json.get("pages")?.items()?.iter().map(page).collect::<Option<_>>()?,
            carried: json.get("carried").map_or(Some(Vec::new()), |text| parse_base64(text.text()?))?,
        };
        let is_whole = shard.carried.is_empty() || shard.page_bytes() == Some(shard.carried.len() as u64);
        is_whole.then_some(shard)
    }

    /// Bytes of all its pages; nothing if no number has room for them.
    fn page_bytes(&self) -> Option<u64> {
        self.pages.iter().try_fold(0u64, |sum, (_, length)| sum.checked_add(*length))
    }
}

/// The members of an object, none if it is absent.
fn members<V>(object: Option<&Json>, value: impl Fn(&Json) -> Option<V>) -> Option<Vec<(String, V)>> {
    let members = object.map_or(Some(&[][..]), Json::members)?;
    members.iter().map(|(name, json)| Some((name.clone(), value(json)?))).collect()
}

/// Whether a name is one that a writer gives to a shard, and so cannot lead out of the database's folder.
pub(super) fn is_shard_name(name: &str) -> bool {
    let digits = name.strip_suffix(Manifest::SHARD_ENDING);
    digits.is_some_and(|digits| digits.len() == 32 && digits.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f')))
}

fn parse_hex(text: &str) -> Option<Vec<u8>> {
    if !text.is_ascii() || text.len() > 2 * usize::from(u8::MAX) {
        return None;
    }
    let pairs = text.as_bytes().chunks(2).map(|pair| core::str::from_utf8(pair).ok());
    pairs.map(|pair| u8::from_str_radix(pair.filter(|pair| pair.len() == 2)?, 16).ok()).collect()
}

/// Reads Base64 (RFC 4648) without padding.
fn parse_base64(text: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(text.len() * 3 / 4);
    let (mut bits, mut count) = (0u32, 0);
    for digit in text.bytes() {
        let value = match digit {
            b'A'..=b'Z' => digit - b'A',
            b'a'..=b'z' => digit - b'a' + 26,
            b'0'..=b'9' => digit - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            _ => return None,
        };
        (bits, count) = (bits << 6 | u32::from(value), count + 6);
        if count >= 8 {
            count -= 8;
            bytes.push((bits >> count) as u8);
        }
    }
    Some(bytes)
}

#[cfg(feature = "write")]
fn as_base64<S: serde::Serializer>(bytes: &[u8], serializer: S) -> Result<S::Ok, S::Error> {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::new();
    for three in bytes.chunks(3) {
        let bits = three.iter().fold(0, |bits, &byte| bits << 8 | u32::from(byte)) << (8 * (3 - three.len()));
        let digits = (0..=three.len()).map(|n| char::from(DIGITS[(bits >> (18 - 6 * n) & 63) as usize]));
        text.extend(digits);
    }
    serializer.serialize_str(&text)
}

#[cfg(feature = "write")]
pub(super) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
