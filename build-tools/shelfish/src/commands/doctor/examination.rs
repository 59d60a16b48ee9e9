//! The requests of an examination. The checks judge their answers.

use std::ops::Range;

use reqwest::Url;
use shelfish::eval::PositionEval;
use shelfish::played::Played;
use shelfish::source::SourceErrorKind;
use shelfish::source::http;
use shelfish::table::{Block, Chunk, Manifest, Page, Record, SHARD_ENDING, Shard, TableError};

use super::client::{Answer, Ask, Asked, Client, Step};
use super::sample::{Sample, measure};
use crate::database::{Kind, parse_manifest};

/// Answers of a host.
pub struct Examination {
    /// URL of the manifest.
    pub url: Url,
    /// Origin of the page.
    pub origin: Url,
    /// Answer for the manifest.
    pub manifest: Asked,
    /// The manifest, or the reason why it cannot be read.
    pub database: Result<Database, ManifestFault>,
    /// Answer for the manifest on the condition that it has changed.
    pub again: Option<Asked>,
    /// Answers for ranges of a shard.
    pub ranges: Option<Ranges>,
    /// Answer for a file that does not exist.
    pub missing: Option<Asked>,
    /// Answer to a preflight for a range.
    pub preflight: Option<Asked>,
    /// Times of ranges, if ranges work.
    pub sample: Option<Sample>,
}

/// A manifest that can be read.
pub struct Database {
    /// The manifest.
    pub manifest: Manifest,
    /// Kind of the records.
    pub kind: Kind,
}

/// Reasons why a manifest cannot be read.
#[derive(Debug)]
pub enum ManifestFault {
    /// There is no acceptable answer.
    Answer(SourceErrorKind),
    /// The answer is a page of HTML.
    Html,
    /// The answer is not a manifest of this version.
    Table(TableError),
    /// The manifest lists no shard.
    Empty,
}

/// Answers for ranges of a shard.
pub struct Ranges {
    /// Number of bytes of the shard.
    pub shard_bytes: u64,
    /// Number of bytes of the page that lists the block, unless the manifest contains it.
    pub page_bytes: Option<u64>,
    /// Requested range of the main answer.
    pub range: Range<u64>,
    /// Answer for a block, or for a page if the page cannot be read.
    pub main: Asked,
    /// Whether the bytes are the block that the page lists.
    pub block: Result<(), TableError>,
    /// Answer for a part of the same range, and the range.
    pub overlap: Option<(Range<u64>, Asked)>,
    /// Answer for the same range in the folder of the manifest's URL, if the manifest is redirected and the shard is
    /// missing.
    pub before_redirect: Option<Asked>,
}

impl Ranges {
    /// Returns whether the host answers ranges with the right bytes.
    pub fn fault(&self) -> Option<RangeFault> {
        let bytes = match &self.main {
            Err(kind) => return Some(RangeFault::Answer(kind.clone())),
            Ok(Answer {
                body: Err(kind), ..
            }) => return Some(RangeFault::Answer(kind.clone())),
            Ok(Answer {
                last,
                body: Ok(bytes),
                ..
            }) => {
                if last.header("content-range").is_none() {
                    return Some(RangeFault::NoContentRange);
                }
                bytes
            }
        };
        if let Err(error) = &self.block {
            return Some(RangeFault::Block(error.clone()));
        }
        let (range, asked) = self.overlap.as_ref()?;
        let place = |at: u64| (at - self.range.start) as usize;
        match asked {
            Err(kind)
            | Ok(Answer {
                body: Err(kind), ..
            }) => Some(RangeFault::Answer(kind.clone())),
            Ok(Answer { body: Ok(part), .. }) => {
                let expected = bytes.get(place(range.start)..place(range.end));
                (expected != Some(part)).then_some(RangeFault::Overlap(range.clone()))
            }
        }
    }
}

/// Faults of ranges.
#[derive(Debug)]
pub enum RangeFault {
    /// There is no acceptable answer.
    Answer(SourceErrorKind),
    /// The answer lacks `Content-Range`.
    NoContentRange,
    /// The bytes are not the block that the page lists.
    Block(TableError),
    /// Two overlapping ranges have different bytes.
    Overlap(Range<u64>),
}

/// Name of a shard that no database has.
fn missing_name() -> String {
    format!("{:032x}{SHARD_ENDING}", 0)
}

impl Examination {
    /// Sends all requests.
    pub async fn of(client: &Client, url: Url, origin: Url) -> Examination {
        let manifest = client.ask(&url, &Ask::Manifest).await;
        let database = read_manifest(&manifest);
        let mut examination = Examination {
            url,
            origin,
            manifest,
            database,
            again: None,
            ranges: None,
            missing: None,
            preflight: None,
            sample: None,
        };
        let Ok(answer) = &examination.manifest else {
            return examination;
        };
        if let (Ok(_), Some((name, value))) = (&examination.database, validator(&answer.last)) {
            examination.again = Some(
                client
                    .ask(&answer.last.url, &Ask::ManifestUnless { name, value })
                    .await,
            );
        }
        let Ok(folder) = Url::parse(http::folder(
            examination.url.as_str(),
            answer.last.url.as_str(),
        )) else {
            return examination;
        };
        let locate = |folder: &Url, name: &str| folder.join(name).ok();
        if let Some(url) = locate(&folder, &missing_name()) {
            examination.missing = Some(client.ask(&url, &Ask::Head).await);
        }
        let Ok(database) = &examination.database else {
            return examination;
        };
        let Some((n, shard)) = largest(&database.manifest) else {
            return examination;
        };
        let Some(url) = locate(&folder, &shard.file) else {
            return examination;
        };
        let Some(mut ranges) = read_ranges(client, &url, database, n).await else {
            return examination;
        };
        if !answer.redirects.is_empty()
            && matches!(
                ranges.fault(),
                Some(RangeFault::Answer(SourceErrorKind::Status(400..)))
            )
            && let Some(before) =
                locate(&examination.url, &shard.file).filter(|before| *before != url)
        {
            ranges.before_redirect =
                Some(client.ask(&before, &Ask::Range(ranges.range.clone())).await);
        }
        examination.preflight = Some(client.ask(&url, &Ask::Preflight).await);
        if ranges.fault().is_none() {
            examination.sample = Some(measure(client, &url, shard.bytes).await);
        }
        examination.ranges = Some(ranges);
        examination
    }

    /// Returns the answer for the manifest.
    pub fn manifest(&self) -> Option<&Answer> {
        self.manifest.as_ref().ok()
    }

    /// Returns the answer for a range of a shard, regardless of its status.
    pub fn shard(&self) -> Option<&Answer> {
        self.ranges.as_ref()?.main.as_ref().ok()
    }
}

/// Parses the body of an answer as a manifest.
fn read_manifest(asked: &Asked) -> Result<Database, ManifestFault> {
    let bytes = match asked {
        Err(kind)
        | Ok(Answer {
            body: Err(kind), ..
        }) => return Err(ManifestFault::Answer(kind.clone())),
        Ok(Answer {
            body: Ok(bytes), ..
        }) => bytes,
    };
    let (manifest, kind) = parse_manifest(bytes).map_err(|error| match is_html(bytes) {
        true => ManifestFault::Html,
        false => ManifestFault::Table(error),
    })?;
    if largest(&manifest).is_none() {
        return Err(ManifestFault::Empty);
    }
    Ok(Database { manifest, kind })
}

/// Returns whether bytes begin like a page of HTML or another markup.
fn is_html(bytes: &[u8]) -> bool {
    let text = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    text.trim_ascii_start().starts_with(b"<")
}

/// Returns the header of a request that avoids a second transfer of an unchanged file.
fn validator(step: &Step) -> Option<(&'static str, String)> {
    let etag = step.header("etag").map(|etag| ("if-none-match", etag));
    etag.or_else(|| {
        step.header("last-modified")
            .map(|time| ("if-modified-since", time))
    })
}

/// Returns the largest shard with pages, and its number. Some hosts treat large files differently.
fn largest(manifest: &Manifest) -> Option<(usize, &Shard)> {
    let shards = manifest.shards().iter().enumerate();
    shards
        .filter(|(n, _)| manifest.page_of_shard(*n, 0).is_some())
        .max_by_key(|(_, shard)| shard.bytes)
}

/// Requests a page, a block that the page lists, and a part of the block.
async fn read_ranges(
    client: &Client,
    url: &Url,
    database: &Database,
    shard: usize,
) -> Option<Ranges> {
    let manifest = &database.manifest;
    let at = manifest.page_of_shard(shard, 0)?;
    let inline = manifest.inline_page(&at);
    let mut ranges = Ranges {
        shard_bytes: manifest.shards().get(shard)?.bytes,
        page_bytes: inline.is_none().then_some(at.range.end - at.range.start),
        range: at.range.clone(),
        main: Err(SourceErrorKind::Network("not sent".to_owned())),
        block: Ok(()),
        overlap: None,
        before_redirect: None,
    };
    let page = match inline {
        Some(page) => page.to_vec(),
        None => {
            ranges.main = client.ask(url, &Ask::Range(at.range.clone())).await;
            match &ranges.main {
                Ok(Answer {
                    body: Ok(bytes), ..
                }) => bytes.clone(),
                _ => return Some(ranges),
            }
        }
    };
    let block = match Page::parse(&page, &at) {
        Ok(page) => page.blocks().next()?,
        Err(error) => {
            ranges.block = Err(error);
            return Some(ranges);
        }
    };
    // After an update, the block may be in a different shard.
    let url = &url.join(&block.file).ok()?;
    ranges.shard_bytes = manifest
        .shards()
        .iter()
        .find(|shard| shard.file == block.file)?
        .bytes;
    ranges.range = block.range.clone();
    ranges.main = client.ask(url, &Ask::Range(block.range.clone())).await;
    if let Ok(Answer {
        body: Ok(bytes), ..
    }) = &ranges.main
    {
        ranges.block = match database.kind {
            Kind::Evaluations => check_block::<PositionEval>(bytes, &block),
            Kind::Moves => check_block::<Played>(bytes, &block),
        };
        let third = (block.range.end - block.range.start) / 3;
        let part = block.range.start + third..block.range.end - third;
        let asked = client.ask(url, &Ask::Range(part.clone())).await;
        ranges.overlap = Some((part, asked));
    }
    Some(ranges)
}

/// Checks that bytes are the block that a page lists: by their checksum and by a key.
fn check_block<R: Record>(bytes: &[u8], at: &Chunk) -> Result<(), TableError> {
    Block::<R>::open(bytes, at).map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn html_is_recognised_after_spaces_and_a_byte_order_mark() {
        for page in ["<!doctype html>", "\n <html>", "\u{feff}<!DOCTYPE html>"] {
            assert!(is_html(page.as_bytes()), "{page}");
        }
        assert!(!is_html(b"{\"format\":2}") && !is_html(b""));
    }

    #[test]
    fn the_name_of_the_missing_file_looks_like_the_name_of_a_shard() {
        assert_eq!(missing_name(), "00000000000000000000000000000000.silo");
    }
}
