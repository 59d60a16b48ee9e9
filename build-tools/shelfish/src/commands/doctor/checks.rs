//! Checks of the answers of a host. Readers in browsers need no exposed header.

use std::net::IpAddr;

use indicatif::{HumanBytes, HumanCount};
use reqwest::Url;
use serde::Serialize;
use shelfish::eval::PositionEval;
use shelfish::played::Played;
use shelfish::source::SourceErrorKind;
use shelfish::source::host::ACCEPTED;
use shelfish::source::http::{self, Requested, WHOLE_CAP};
use shelfish::source::integrity::{Integrity, Pin};
use shelfish::table::{Block, Manifest, Page, SHARD_ENDING, TableError};

use super::client::{Answer, Asked, Client, Step};
use super::remedies::{self, Remedy};
use crate::database::{Kind, parse_manifest};

/// Largest number of redirects of a file that is a warning.
const FEW_REDIRECTS: usize = 3;

/// Longest time in seconds that caches may keep a manifest: an hour without a warning, a day without a problem.
const HOUR: u64 = 60 * 60;
const DAY: u64 = 24 * HOUR;

/// Chromium and Node ask for ranges without compression, as the standard of `fetch` requires.
const UNPACKED: &str = "identity";

/// Result of a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// Nothing needs a change.
    Ok,
    /// Pages of the same origin need no change.
    Note,
    /// Browsers read the database, but less well than they could.
    Warning,
    /// Browsers cannot read the database, or read an old database.
    Problem,
    /// An earlier problem prevented the check.
    NotChecked,
}

/// A result with its reason.
#[derive(Clone, Debug)]
pub struct Finding {
    pub verdict: Verdict,
    /// Properties of the host that decided the result.
    pub found: String,
    pub remedy: Option<Remedy>,
}

fn ok(found: impl Into<String>) -> Finding {
    Finding {
        verdict: Verdict::Ok,
        found: found.into(),
        remedy: None,
    }
}

fn skipped() -> Finding {
    Finding {
        verdict: Verdict::NotChecked,
        ..ok("no answer to judge")
    }
}

fn warning(found: impl Into<String>, remedy: Remedy) -> Finding {
    Finding {
        verdict: Verdict::Warning,
        remedy: Some(remedy),
        ..ok(found)
    }
}

fn problem(found: impl Into<String>, remedy: Remedy) -> Finding {
    Finding {
        verdict: Verdict::Problem,
        ..warning(found, remedy)
    }
}

/// Answers of a host.
pub struct Examination {
    /// URL of the manifest.
    url: Url,
    /// Origin of the page, if it was given.
    origin: Option<Url>,
    /// Answer for the manifest.
    manifest: Asked,
    /// The manifest, or the reason why it cannot be read.
    database: Result<(Manifest, Kind), Finding>,
    /// Answer for the manifest on the condition that it has changed.
    again: Option<Asked>,
    /// The last answer for a range of a shard.
    shard: Option<Asked>,
    /// The fault of the ranges, or the bytes of the shard and the fault for readers that accept compressed ranges.
    ranges: Option<Result<(u64, Option<Finding>), Finding>>,
    /// Answer for a file that does not exist.
    missing: Option<Asked>,
}

/// A name, the properties of a good host, and the check.
type Check = (&'static str, &'static str, fn(&Examination) -> Finding);

/// All checks in the order of the report.
pub const CHECKS: [Check; 8] = [
    ("manifest", "status 200 and a manifest", manifest),
    (
        "ranges",
        "status 206, the same Content-Range, and exactly these bytes",
        ranges,
    ),
    (
        "compression",
        "a range without Content-Encoding",
        compression,
    ),
    (
        "cors",
        "Access-Control-Allow-Origin: * or the origin of the page, for the manifest, ranges and their redirects",
        cors,
    ),
    ("redirects", "none", redirects),
    (
        "caching-manifest",
        "Cache-Control: no-cache, or max-age of some minutes; an ETag",
        caching,
    ),
    ("missing", "status 404, 403 or 410", missing),
    (
        "https",
        "https, and no user or password in the address",
        https,
    ),
];

impl Examination {
    /// Sends the requests of a browser, as far as they make sense.
    pub async fn of(client: &Client, url: Url, origin: Option<Url>) -> Examination {
        let whole = Requested::Whole {
            cap: Manifest::MAX_BYTES as u64,
        };
        let manifest = client.ask(&url, &whole, ACCEPTED, None).await;
        let pin = url.fragment().and_then(|hash| hash.parse().ok());
        let database = database(&manifest, pin);
        let (mut again, mut shard, mut ranges, mut missing) = (None, None, None, None);
        if let Ok(Answer {
            redirects, last, ..
        }) = &manifest
        {
            let etag = last.header("etag").map(|etag| ("if-none-match", etag));
            let time = || Some(("if-modified-since", last.header("last-modified")?));
            if let (Ok(_), Some(condition)) = (&database, etag.or_else(time)) {
                again = Some(
                    client
                        .ask(&last.url, &whole, ACCEPTED, Some(condition))
                        .await,
                );
            }
            // Browsers read shards next to the manifest after its redirects.
            let (folder, query) = http::base(url.as_str(), last.url.as_str());
            let file = |name: &str| Url::parse(&[folder, name, query].concat()).ok();
            if let Some(url) = file(&format!("{:032x}{SHARD_ENDING}", 0)) {
                missing = Some(client.ask(&url, &whole, ACCEPTED, None).await);
            }
            if let Ok(database) = &database {
                let is_redirected = !redirects.is_empty();
                let read = read_block(client, file, database, is_redirected, &mut shard);
                ranges = Some(read.await);
            }
        }
        Examination {
            url,
            origin,
            manifest,
            database,
            again,
            shard,
            ranges,
            missing,
        }
    }

    /// Returns the answers for the manifest and for a range.
    fn answers(&self) -> impl Iterator<Item = (&'static str, &Answer)> {
        let manifest = self.manifest.as_ref().ok();
        let shard = self.shard.as_ref().and_then(|asked| asked.as_ref().ok());
        let named = [("manifest", manifest), ("range", shard)];
        named
            .into_iter()
            .filter_map(|(name, answer)| Some((name, answer?)))
    }

    /// Returns the first answer of the host.
    pub fn first(&self) -> Option<&Step> {
        self.manifest.as_ref().ok()?.steps().next()
    }
}

/// Requests a page and a block of the largest shard, because some hosts treat large files differently. Returns the size of the
/// shard in bytes.
async fn read_block(
    client: &Client,
    file: impl Fn(&str) -> Option<Url>,
    (manifest, kind): &(Manifest, Kind),
    is_redirected: bool,
    last: &mut Option<Asked>,
) -> Result<(u64, Option<Finding>), Finding> {
    let damaged = |error: TableError| problem(error.to_string(), remedies::PUBLISH_AGAIN);
    let ask = async |name: &str, range, codings, asked: &mut Option<Asked>| {
        let url = file(name).ok_or_else(skipped)?;
        let range = Requested::Range(range);
        let asked = asked.insert(client.ask(&url, &range, codings, None).await);
        range_of(asked, is_redirected)
    };
    let shards = manifest.shards().iter().enumerate();
    let (at, bytes) = shards
        .filter_map(|(n, shard)| Some((manifest.page_of_shard(n, 0)?, shard.bytes)))
        .max_by_key(|(_, bytes)| *bytes)
        .ok_or_else(skipped)?;
    let page = match manifest.inline_page(&at) {
        Some(page) => page.to_vec(),
        None => ask(&at.file, at.range.clone(), UNPACKED, last).await?,
    };
    let page = Page::parse(&page, &at).map_err(damaged)?;
    let Some(at) = page.blocks().next() else {
        return Ok((bytes, None));
    };
    let block = ask(&at.file, at.range.clone(), UNPACKED, last).await?;
    let packed = ask(&at.file, at.range.clone(), ACCEPTED, &mut None).await;
    match kind {
        Kind::Evaluations => Block::<PositionEval>::open(&block, &at).map(drop),
        Kind::Moves => Block::<Played>::open(&block, &at).map(drop),
    }
    .map_err(damaged)?;
    Ok((bytes, packed.err()))
}

/// Returns the head and the body of an answer.
fn parts(asked: &Asked) -> (Option<&Step>, Result<&[u8], &SourceErrorKind>) {
    match asked {
        Ok(answer) => (Some(&answer.last), answer.body.as_deref()),
        Err(kind) => (None, Err(kind)),
    }
}

/// Parses the answer for the manifest.
fn database(asked: &Asked, pin: Option<Integrity>) -> Result<(Manifest, Kind), Finding> {
    let (_, body) = parts(asked);
    let bytes = body.map_err(|error| {
        let remedy = match error {
            SourceErrorKind::Status(401 | 403) => remedies::PERMISSIONS,
            SourceErrorKind::Status(429 | 503) => remedies::LIMIT,
            SourceErrorKind::Status(300..=399) => remedies::DIRECT,
            SourceErrorKind::Status(_) | SourceErrorKind::Long { .. } => remedies::PUBLISH,
            SourceErrorKind::Io(..) => remedies::COMPRESSION,
            _ => remedies::CONNECTION,
        };
        problem(error.to_string(), remedy)
    })?;
    if let Some(pin) = pin {
        let checked = Pin::from(pin).check(bytes);
        checked.map_err(|error| problem(error.to_string(), remedies::PUBLISH))?;
    }
    let text = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    parse_manifest(bytes).map_err(|error| {
        if text.trim_ascii_start().starts_with(b"<") {
            return problem("status 200 with a page of HTML", remedies::PUBLISH);
        }
        match error {
            TableError::Version { .. } => problem(error.to_string(), remedies::VERSION),
            error => problem(format!("not a manifest: {error}"), remedies::PUBLISH),
        }
    })
}

/// Returns the bytes of a range, or the fault of its answer.
fn range_of(asked: &Asked, is_redirected: bool) -> Result<Vec<u8>, Finding> {
    let (last, body) = parts(asked);
    let header = |name| last.and_then(|last| last.header(name));
    let error = match body {
        Ok(_) if header("content-range").is_none() => {
            let found = "status 206 without Content-Range";
            return Err(problem(found, remedies::RANGES));
        }
        Ok(bytes) => return Ok(bytes.to_vec()),
        Err(error) => error,
    };
    Err(match error {
        SourceErrorKind::RangeIgnored { length, .. } => {
            let note = match length {
                Some(length) if *length <= WHOLE_CAP => {
                    "; readers accept whole files of at most 1 MiB, with more traffic"
                }
                _ => "",
            };
            let found = format!("status 200 with the whole shard{note}");
            match header("content-encoding") {
                Some(_) => problem(found, remedies::COMPRESSION),
                None => problem(found, remedies::RANGES),
            }
        }
        SourceErrorKind::ContentEncoding(_) => problem(error.to_string(), remedies::COMPRESSION),
        SourceErrorKind::Status(429 | 503) => problem(error.to_string(), remedies::LIMIT),
        SourceErrorKind::Status(_) if is_redirected => {
            let found = format!("{error}, in the folder to which the manifest is redirected");
            problem(found, remedies::SAME_FOLDER)
        }
        SourceErrorKind::Status(_) => {
            let found = format!("{error}, for a shard of the manifest");
            problem(found, remedies::PUBLISH_AGAIN)
        }
        error if error.is_unreachable() => problem(error.to_string(), remedies::CONNECTION),
        error => problem(error.to_string(), remedies::RANGES),
    })
}

fn manifest(examination: &Examination) -> Finding {
    let (manifest, kind) = match &examination.database {
        Ok(database) => database,
        Err(fault) => return fault.clone(),
    };
    let kind = match kind {
        Kind::Evaluations => "evaluations",
        Kind::Moves => "a book",
    };
    let positions = HumanCount(manifest.positions);
    ok(format!(
        "format {}, {kind}, {positions} positions",
        Manifest::FORMAT
    ))
}

fn ranges(examination: &Examination) -> Finding {
    match &examination.ranges {
        None => skipped(),
        Some(Err(fault)) => fault.clone(),
        Some(Ok((bytes, _))) => ok(format!(
            "status 206; a block of a shard of {} has the right checksum",
            HumanBytes(*bytes)
        )),
    }
}

fn compression(examination: &Examination) -> Finding {
    let Some((_, answer)) = examination.answers().find(|(name, _)| *name == "range") else {
        return skipped();
    };
    let coding = answer.last.shown("content-encoding");
    match coding.trim() {
        "" | "none" | "identity" => {}
        coding => return problem(coding, remedies::COMPRESSION),
    }
    match &examination.ranges {
        Some(Ok((_, Some(fault)))) => warning(
            format!(
                "none for Chromium and Node, which ask for none; for readers that accept compression: {}",
                fault.found
            ),
            fault.remedy.unwrap_or(remedies::COMPRESSION),
        ),
        _ => ok("none"),
    }
}

fn missing(examination: &Examination) -> Finding {
    match &examination.missing {
        None => skipped(),
        Some(Err(error)) => warning(error.to_string(), remedies::LOG),
        Some(Ok(Answer { last, .. })) => {
            let found = format!("status {}", last.status);
            match last.status {
                403 | 404 | 410 => ok(found),
                200..=399 => problem(found, remedies::MISSING),
                _ => warning(found, remedies::LOG),
            }
        }
    }
}

fn cors(examination: &Examination) -> Finding {
    let origin = examination.origin.as_ref();
    // If no origin is given, the pages are on the host of the database.
    let page = origin.unwrap_or(&examination.url).origin();
    let (mut found, mut closed, mut is_open) = (Vec::new(), None, false);
    for (name, answer) in examination.answers() {
        for step in answer.steps() {
            let permission = step.shown("access-control-allow-origin");
            let is_same = step.url.origin() == page;
            if permission == "*" || permission == step.origin {
                is_open |= is_same;
            } else if !is_same || origin.is_none() {
                let hidden = match step.origin == "null" {
                    true => ", which a redirect requires to be *",
                    false => "",
                };
                let found = format!("{name}, status {}: {permission}{hidden}", step.status);
                if !is_same {
                    return problem(found, remedies::CORS);
                }
                closed.get_or_insert(found);
            }
            found.push(format!("{name}: {permission}"));
        }
    }
    match closed {
        // Answers that differ are meant for other pages, too.
        Some(found) if is_open => problem(found, remedies::CORS),
        Some(found) => Finding {
            verdict: Verdict::Note,
            ..warning(
                format!("{found}; only pages of this host can read the database"),
                remedies::CORS,
            )
        },
        None if found.is_empty() => skipped(),
        None => ok(found.join(", ")),
    }
}

fn redirects(examination: &Examination) -> Finding {
    let mut worst = ok("none");
    for (name, answer) in examination.answers() {
        let count = answer.redirects.len();
        if count == 0 {
            continue;
        }
        let last = &answer.last.url;
        let found = format!(
            "{name}: {count}, to {last}; each redirect takes a round trip, a signed address expires, and caches use the address \
             before the redirect"
        );
        let finding = if count > FEW_REDIRECTS {
            problem(found, remedies::DIRECT)
        } else {
            warning(found, remedies::DIRECT)
        };
        if finding.verdict > worst.verdict {
            worst = finding;
        }
    }
    worst
}

fn caching(examination: &Examination) -> Finding {
    let (Ok(Answer { last, .. }), Ok(_)) = (&examination.manifest, &examination.database) else {
        return skipped();
    };
    let control = last.shown("cache-control");
    let found = |why: &str| format!("Cache-Control: {control}; {why}");
    let lower = control.to_ascii_lowercase();
    let directives: Vec<&str> = lower.split(',').map(str::trim).collect();
    let (is_checked, is_never_kept) = (
        directives.contains(&"no-cache"),
        directives.contains(&"no-store"),
    );
    // Caches shared by many readers follow `s-maxage`.
    let seconds = |directive: &&str| {
        let (name, value) = directive.split_once('=')?;
        let value = value.trim().trim_matches('"').parse::<u64>().ok();
        value.filter(|_| ["max-age", "s-maxage"].contains(&name.trim()))
    };
    let lifetime = directives.iter().filter_map(seconds).max();
    if !is_checked && !is_never_kept {
        let why = "caches on the way keep the old manifest after a new build";
        match lifetime {
            Some(0..=HOUR) => {}
            Some(..=DAY) => return warning(found(why), remedies::MANIFEST_AGE),
            Some(_) => return problem(found(why), remedies::MANIFEST_AGE),
            None if directives.contains(&"immutable") => {
                return problem(found(why), remedies::MANIFEST_AGE);
            }
            None => {
                return warning(
                    found("caches on the way choose a time"),
                    remedies::MANIFEST_AGE,
                );
            }
        }
    }
    let whole = "the manifest is transferred whole each time";
    if is_never_kept {
        return warning(found(whole), remedies::MANIFEST_AGE);
    }
    match &examination.again {
        Some(Ok(Answer { last, .. })) if last.status == 304 => {
            ok(found("status 304 for an unchanged manifest"))
        }
        Some(Ok(_)) => warning(found(whole), remedies::VALIDATOR),
        Some(Err(error)) => warning(found(&error.to_string()), remedies::LOG),
        None => warning(found("neither ETag nor Last-Modified"), remedies::VALIDATOR),
    }
}

/// Returns whether the host of a URL is the machine of the reader.
fn is_local(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default();
    let address = host.trim_matches(['[', ']']).parse::<IpAddr>();
    host == "localhost"
        || host.ends_with(".localhost")
        || address.is_ok_and(|address| address.is_loopback())
}

fn https(examination: &Examination) -> Finding {
    let url = &examination.url;
    if !url.username().is_empty() || url.password().is_some() {
        let found = "a user or a password in the address, which browsers refuse";
        return problem(found, remedies::NO_USER);
    }
    match url.scheme() {
        "https" => ok("https"),
        _ if is_local(url) => ok("http on this machine"),
        _ => problem("http; pages on https cannot read http", remedies::HTTPS),
    }
}
