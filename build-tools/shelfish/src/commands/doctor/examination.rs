//! The requests of an examination. The checks judge their answers.

use std::time::Duration;

use reqwest::Url;
use serde::Serialize;
use shelfish::eval::PositionEval;
use shelfish::played::Played;
use shelfish::source::{SourceErrorKind, http};
use shelfish::table::{Block, Chunk, Manifest, Page, SHARD_ENDING, TableError};

use super::client::{Answer, Ask, Asked, Client, MAX_REDIRECTS, MAX_REQUESTS};
use super::faults::{Finding, largest, manifest_or_fault, range_fault};
use super::hosts::Need;
use crate::database::Kind;

/// Number of requests that measure the speed, and their size in bytes, about that of a block.
const TIMED_REQUESTS: u64 = 8;
const TIMED_BYTES: u64 = 5_000;

/// Answers of a host.
pub struct Examination {
    /// URL of the manifest.
    pub url: Url,
    /// Origin of the page.
    pub origin: Url,
    /// Answer for the manifest.
    pub manifest: Asked,
    /// The manifest, or the reason why it cannot be read.
    pub database: Result<(Manifest, Kind), Finding>,
    /// Answer for the manifest on the condition that it has changed.
    pub again: Option<Asked>,
    /// Answers for ranges of a shard.
    pub ranges: Option<Ranges>,
    /// Answer for a file that does not exist.
    pub missing: Option<Asked>,
    /// Answer to a preflight for a range.
    pub preflight: Option<Asked>,
    /// Times of ranges, if ranges work, or the first failure.
    pub times: Option<Result<Vec<Duration>, Finding>>,
}

/// Answers for ranges of a shard.
pub struct Ranges {
    /// Number of bytes of the shard.
    pub shard_bytes: u64,
    /// Number of requests for a block: two, unless the manifest contains the page that lists the block.
    pub requests: u32,
    /// Answer for a block, or for a page if the page cannot be read.
    pub main: Asked,
    /// The first fault of the answers.
    pub fault: Option<Finding>,
}

/// Measured times of a host.
#[derive(Serialize)]
pub struct Speed {
    /// Median time of a small range, in milliseconds.
    pub request_ms: f64,
    /// Predicted time of the first lookup of a page, in milliseconds.
    pub first_lookup_ms: f64,
    /// Number of requests of the first lookup.
    pub first_lookup_requests: u32,
}

impl Examination {
    /// Sends all requests.
    pub async fn of(client: &Client, url: Url, origin: Url) -> Examination {
        let manifest = client.ask(&url, &Ask::Manifest).await;
        let mut examination = Examination {
            database: manifest_or_fault(&manifest),
            url,
            origin,
            manifest,
            again: None,
            ranges: None,
            missing: None,
            preflight: None,
            times: None,
        };
        examination.send(client).await;
        examination
    }

    /// Sends the requests after that for the manifest, as far as they make sense. Returns `None` at the end.
    async fn send(&mut self, client: &Client) -> Option<()> {
        let Answer {
            redirects, last, ..
        } = self.manifest.as_ref().ok()?;
        let etag = last.header("etag").map(|etag| ("if-none-match", etag));
        let time = || Some(("if-modified-since", last.header("last-modified")?));
        if let (Ok(_), Some((name, value))) = (&self.database, etag.or_else(time)) {
            let again = Ask::ManifestUnless(name, value);
            self.again = Some(client.ask(&last.url, &again).await);
        }
        // Browsers read shards next to the manifest after its redirects.
        let folder = Url::parse(http::folder(self.url.as_str(), last.url.as_str())).ok()?;
        let missing = folder.join(&format!("{:032x}{SHARD_ENDING}", 0)).ok()?;
        self.missing = Some(client.ask(&missing, &Ask::Head).await);
        let database = self.database.as_ref().ok()?;
        let (page, bytes) = largest(&database.0)?;
        let url = folder.join(&page.file).ok()?;
        let mut ranges = Ranges {
            shard_bytes: bytes,
            requests: 1,
            main: Err(SourceErrorKind::Network("not sent".to_owned())),
            fault: None,
        };
        let is_redirected = !redirects.is_empty();
        let read = ranges.read(client, &url, database, &page, is_redirected);
        ranges.fault = read.await.err();
        self.preflight = Some(client.ask(&url, &Ask::Preflight).await);
        if ranges.fault.is_none() {
            self.times = measure(client, &url, bytes).await;
        }
        self.ranges = Some(ranges);
        None
    }

    /// Returns the answer for a range of a shard, regardless of its status.
    pub fn shard(&self) -> Option<&Answer> {
        self.ranges.as_ref()?.main.as_ref().ok()
    }

    /// Computes the speed from the times.
    pub fn speed(&self) -> Option<Speed> {
        let mut times = self.times.as_ref()?.as_ref().ok()?.clone();
        times.sort();
        let request = *times.get(times.len() / 2)?;
        let requests = self.ranges.as_ref()?.requests;
        // The manifest came by a new connection.
        let first = self.manifest.as_ref().ok()?.time + requests * request;
        Some(Speed {
            request_ms: request.as_secs_f64() * 1e3,
            first_lookup_ms: first.as_secs_f64() * 1e3,
            first_lookup_requests: requests + 1,
        })
    }
}

impl Ranges {
    /// Requests a page, a block that the page lists, and a part of the block.
    async fn read(
        &mut self,
        client: &Client,
        url: &Url,
        (manifest, kind): &(Manifest, Kind),
        at: &Chunk,
        is_redirected: bool,
    ) -> Result<(), Finding> {
        let damaged = |error: TableError| {
            let why = "publish the files again: shelfish publish FOLDER URL; if the checksum is still wrong, the host changes bytes";
            Finding::problem(error.to_string(), why)
        };
        let page = match manifest.inline_page(at) {
            Some(page) => page,
            None => {
                self.requests += 1;
                self.main = client.ask(url, &Ask::Range(at.range.clone())).await;
                range_fault(&self.main, self.shard_bytes, is_redirected)?
            }
        };
        let page = Page::parse(page, at).map_err(damaged)?;
        let Some(block) = page.blocks().next() else {
            return Ok(());
        };
        // After an update, the block may be in a different shard.
        let url = &url.join(&block.file).unwrap_or_else(|_| url.clone());
        let mut shards = manifest.shards().iter();
        let shard = shards.find(|shard| shard.file == block.file);
        self.shard_bytes = shard.map_or(self.shard_bytes, |shard| shard.bytes);
        self.main = client.ask(url, &Ask::Range(block.range.clone())).await;
        let bytes = range_fault(&self.main, self.shard_bytes, is_redirected)?;
        match kind {
            Kind::Evaluations => Block::<PositionEval>::open(bytes, &block).map(drop),
            Kind::Moves => Block::<Played>::open(bytes, &block).map(drop),
        }
        .map_err(damaged)?;
        let third = bytes.len() / 3;
        let (first, last) = (third, bytes.len() - third);
        let range = block.range.start + first as u64..block.range.start + last as u64;
        let part = client.ask(url, &Ask::Range(range.clone())).await;
        if bytes.get(first..last) == Some(range_fault(&part, self.shard_bytes, is_redirected)?) {
            return Ok(());
        }
        let (first, last) = (range.start, range.end - 1);
        let found = format!("bytes {first}-{last} differ in two overlapping ranges");
        Err(Finding::problem(found, Need::Ranges))
    }
}

/// Requests small ranges of a shard. Returns `None` if a host with many redirects exhausts the requests of an examination.
async fn measure(
    client: &Client,
    url: &Url,
    shard_bytes: u64,
) -> Option<Result<Vec<Duration>, Finding>> {
    let mut times = Vec::new();
    let bytes = TIMED_BYTES.min(shard_bytes);
    for n in 0..TIMED_REQUESTS {
        if client.requests() + MAX_REDIRECTS >= MAX_REQUESTS {
            return None;
        }
        let start = (shard_bytes - bytes) / TIMED_REQUESTS * n;
        let log = "repeat the command; if it fails again, read the log of the host";
        match client.ask(url, &Ask::Range(start..start + bytes)).await {
            Err(kind) => return Some(Err(Finding::problem(kind.to_string(), log))),
            Ok(Answer {
                last, body, time, ..
            }) => match body {
                Ok(_) => times.push(time),
                Err(kind) if last.is_throttled() => {
                    let pause = last.header("retry-after").unwrap_or("none".to_owned());
                    let found = format!("{kind}, Retry-After: {pause}");
                    return Some(Err(Finding::problem(found, Need::Throttled)));
                }
                Err(kind) => return Some(Err(Finding::problem(kind.to_string(), log))),
            },
        }
    }
    Some(Ok(times))
}
