//! Checks of the answers of a host.
//!
//! Readers in browsers need no exposed header. If a header is hidden, they count the bytes and compare the checksum.
//! `Content-Range` shows a wrong range before its bytes arrive. `Content-Length` is never hidden in current browsers.

use std::net::IpAddr;

use indicatif::{HumanBytes, HumanCount};
use reqwest::{Url, Version};
use shelfish::table::Manifest;

use super::client::{Answer, Step};
use super::examination::Examination;
use super::faults::{Finding, Remedy};
use super::hosts::Need;
use crate::database::Kind;

/// Largest number of redirects of a file that is a warning.
const FEW_REDIRECTS: usize = 3;

/// Longest time in seconds that caches may keep a manifest: an hour without a warning, a day without a problem.
const HOUR: u64 = 60 * 60;
const DAY: u64 = 24 * HOUR;

/// Parameters of addresses that expire.
const SIGNATURES: [&str; 7] = [
    "signature",
    "sig",
    "x-amz-signature",
    "x-goog-signature",
    "token",
    "policy",
    "expires",
];

const READ_LOG: &str = "read the log of the host";
const DIRECT: &str = "name the final address, without redirects";

/// The name of a check for programs, its name for people, the properties of a good host, and the check.
pub type Judge = (
    &'static str,
    &'static str,
    &'static str,
    fn(&Examination) -> Finding,
);

/// All checks in the order of the report.
pub const ALL: [Judge; 14] = [
    (
        "manifest",
        "manifest",
        "status 200 and a manifest",
        manifest,
    ),
    (
        "ranges",
        "ranges",
        "status 206, the same Content-Range, and exactly these bytes",
        ranges,
    ),
    (
        "compression",
        "compression",
        "a range without Content-Encoding",
        compression,
    ),
    (
        "cors",
        "CORS",
        "Access-Control-Allow-Origin: * or the origin of the page, for the manifest, ranges and their redirects",
        origins,
    ),
    (
        "cors-exposed",
        "CORS, headers",
        "Access-Control-Expose-Headers: Content-Length, Content-Range, ETag, Retry-After (useful, not necessary)",
        exposed,
    ),
    (
        "cors-errors",
        "CORS, errors",
        "Access-Control-Allow-Origin also for status 404, so that readers see that a file was replaced",
        errors,
    ),
    (
        "preflight",
        "preflight",
        "status 200 or 204, Access-Control-Allow-Headers: Range (browsers before Chrome 99, Firefox 117 and Safari 16 ask)",
        preflight,
    ),
    ("redirects", "redirects", "none", redirects),
    (
        "caching-manifest",
        "caching, manifest",
        "Cache-Control: no-cache, or max-age of some minutes; an ETag",
        manifest_caching,
    ),
    (
        "caching-shards",
        "caching, shards",
        "Cache-Control: public, max-age=31536000, immutable",
        shard_caching,
    ),
    (
        "missing",
        "missing files",
        "status 404, 403 or 410",
        missing,
    ),
    (
        "https",
        "HTTPS",
        "https, and no user or password in the address",
        https,
    ),
    (
        "http-version",
        "HTTP version",
        "HTTP/2 or HTTP/3 (useful, not necessary)",
        http_version,
    ),
    ("speed", "speed", "every request is answered", speed),
];

fn manifest(examination: &Examination) -> Finding {
    let (manifest, kind) = match &examination.database {
        Ok(database) => database,
        Err(fault) => return fault.clone(),
    };
    let kind = match kind {
        Kind::Evaluations => "evaluations",
        Kind::Moves => "a book",
    };
    Finding::ok(format!(
        "format {}, {kind}, {} positions, shards: {}",
        Manifest::FORMAT,
        HumanCount(manifest.positions),
        HumanCount(manifest.shards().len() as u64),
    ))
}

fn ranges(examination: &Examination) -> Finding {
    match &examination.ranges {
        None => Finding::skipped(NO_MANIFEST),
        Some(ranges) => ranges.fault.clone().unwrap_or_else(|| {
            let shard = HumanBytes(ranges.shard_bytes);
            Finding::ok(format!(
                "status 206; a block of a shard of {shard} has the right checksum"
            ))
        }),
    }
}

/// Reason why checks of shards are impossible.
const NO_MANIFEST: &str = "without a manifest no shard is known";

fn compression(examination: &Examination) -> Finding {
    let Some(answer) = examination.shard() else {
        return Finding::skipped("no answer for a range");
    };
    let coding = |answer: &Answer| {
        let coding = answer.last.header("content-encoding");
        coding.filter(|coding| !coding.trim().is_empty() && coding != "identity")
    };
    let manifest = examination.manifest.as_ref().ok().and_then(coding);
    let manifest = manifest.unwrap_or_else(|| "none".to_owned());
    match coding(answer) {
        None => Finding::ok(format!("range: none, manifest: {manifest}")),
        Some(range) => Finding::problem(
            format!("range: {range}, manifest: {manifest}"),
            Need::Compression,
        ),
    }
}

fn missing(examination: &Examination) -> Finding {
    match &examination.missing {
        None => Finding::skipped("no answer for the manifest"),
        Some(Err(error)) => Finding::warning(error.to_string(), READ_LOG),
        Some(Ok(Answer { last, .. })) => {
            let found = format!("status {}", last.status);
            match last.status {
                403 | 404 | 410 => Finding::ok(found),
                200..=399 => Finding::problem(found, Need::Missing),
                _ => Finding::warning(found, READ_LOG),
            }
        }
    }
}

/// Returns whether an answer may be read by the page that sent its `Origin`.
fn allows(step: &Step) -> bool {
    let allowed = step.header("access-control-allow-origin");
    allowed.is_some_and(|allowed| allowed == "*" || allowed == step.origin)
}

/// Returns a header of an answer, or `none`.
fn shown(step: &Step, name: &str) -> String {
    step.header(name).unwrap_or_else(|| "none".to_owned())
}

/// Returns whether a list in a header contains a name.
fn lists(step: &Step, header: &str, name: &str) -> bool {
    let list = step.header(header).unwrap_or_default();
    let mut words = list.split(',').map(str::trim);
    words.any(|word| word == "*" || word.eq_ignore_ascii_case(name))
}

/// Returns a finding if no request is sent to another origin than that of the page, so that no permission is necessary.
fn same_origin(examination: &Examination) -> Option<Finding> {
    let origin = examination.origin.origin();
    let answers = [examination.manifest.as_ref().ok(), examination.shard()];
    let mut steps = answers.into_iter().flatten().flat_map(Answer::steps);
    let is_same = steps.all(|step| step.url.origin() == origin);
    (is_same && examination.url.origin() == origin)
        .then(|| Finding::ok("not necessary, because the page has the same origin"))
}

fn origins(examination: &Examination) -> Finding {
    let Ok(manifest) = &examination.manifest else {
        return Finding::skipped("no answer for the manifest");
    };
    same_origin(examination).unwrap_or_else(|| {
        let mut found = Vec::new();
        for (name, answer) in [("manifest", Some(manifest)), ("range", examination.shard())] {
            for step in answer.into_iter().flat_map(Answer::steps) {
                let permission = shown(step, "access-control-allow-origin");
                if !allows(step) {
                    let hidden = match step.origin == "null" {
                        true => ", which a redirect requires to be *",
                        false => "",
                    };
                    let status = step.status;
                    let found = format!("{name}, status {status}: {permission}{hidden}");
                    return Finding::problem(found, Need::Cors);
                }
                found.push(format!("{name}: {permission}"));
            }
        }
        Finding::ok(found.join(", "))
    })
}

fn exposed(examination: &Examination) -> Finding {
    let Some(Answer { last, .. }) = examination.shard() else {
        return Finding::skipped(NO_MANIFEST);
    };
    same_origin(examination).unwrap_or_else(|| {
        let header = "access-control-expose-headers";
        let found = shown(last, header);
        match lists(last, header, "content-range") {
            true => Finding::ok(found),
            false => Finding::warning(
                format!("{found}; Content-Range is hidden from pages"),
                Need::Exposed,
            ),
        }
    })
}

fn errors(examination: &Examination) -> Finding {
    let Some(Ok(answer)) = &examination.missing else {
        return Finding::skipped("no answer for a missing file");
    };
    same_origin(examination).unwrap_or_else(|| {
        let permission = shown(&answer.last, "access-control-allow-origin");
        let found = format!("status {}: {permission}", answer.last.status);
        match answer.steps().all(allows) {
            true => Finding::ok(found),
            false => Finding::warning(found, Need::Cors),
        }
    })
}

fn preflight(examination: &Examination) -> Finding {
    let Some(asked) = &examination.preflight else {
        return Finding::skipped(NO_MANIFEST);
    };
    same_origin(examination).unwrap_or_else(|| {
        let (found, is_allowed) = match asked {
            Err(error) => (error.to_string(), false),
            Ok(Answer { last, .. }) => {
                let origin = shown(last, "access-control-allow-origin");
                let headers = shown(last, "access-control-allow-headers");
                let is_allowed = (200..=299).contains(&last.status)
                    && allows(last)
                    && lists(last, "access-control-allow-headers", "range");
                let status = last.status;
                let found = format!("status {status}, origin: {origin}, headers: {headers}");
                (found, is_allowed)
            }
        };
        match is_allowed {
            true => Finding::ok(found),
            false => Finding::warning(
                format!("{found}; current browsers do not ask"),
                Need::Preflight,
            ),
        }
    })
}

fn redirects(examination: &Examination) -> Finding {
    let Ok(manifest) = &examination.manifest else {
        return Finding::skipped("no answer for the manifest");
    };
    let mut worst = Finding::ok("none");
    for (name, answer) in [("manifest", Some(manifest)), ("range", examination.shard())] {
        let Some(answer) = answer.filter(|answer| !answer.redirects.is_empty()) else {
            continue;
        };
        let urls: Vec<&Url> = answer.steps().map(|step| &step.url).collect();
        let leads = |is_wrong: fn(&Url, &Url) -> bool| {
            let mut pairs = urls.windows(2);
            pairs.any(|pair| is_wrong(pair[0], pair[1]))
        };
        let (count, last) = (answer.redirects.len(), &answer.last.url);
        let is_signed = last
            .query_pairs()
            .any(|(name, _)| SIGNATURES.contains(&&*name.to_ascii_lowercase()));
        let found = |why: &str| format!("{name}: {count}, to {last}; {why}");
        let finding = if leads(|from, to| from.scheme() == "https" && to.scheme() == "http") {
            Finding::problem(
                found("pages on https cannot read http"),
                "redirect to https, or not at all",
            )
        } else if count > FEW_REDIRECTS {
            Finding::problem(found("each redirect takes a round trip"), DIRECT)
        } else if is_signed {
            Finding::warning(
                found(
                    "the address is signed and expires, and the caches of readers use the address before the redirect",
                ),
                "serve the files themselves at a stable address, without signatures",
            )
        } else if leads(|from, to| from.origin() != to.origin()) {
            Finding::warning(
                found(
                    "a page needs the permission of both origins, and caches use the address before the redirect",
                ),
                DIRECT,
            )
        } else if name == "range" {
            Finding::warning(found("each range takes another round trip"), DIRECT)
        } else {
            Finding::ok(found("the manifest takes another round trip"))
        };
        if finding.result > worst.result || matches!(worst.remedy, Remedy::None) {
            worst = finding;
        }
    }
    worst
}

/// The directives of `Cache-Control`.
#[derive(Debug, Default, PartialEq)]
struct CacheControl {
    /// Longest time in seconds that a cache may use the answer without asking.
    lifetime: Option<u64>,
    no_cache: bool,
    no_store: bool,
    immutable: bool,
}

impl CacheControl {
    fn of(step: &Step) -> CacheControl {
        let mut parsed = CacheControl::default();
        let header = step.header("cache-control").unwrap_or_default();
        for directive in header.to_ascii_lowercase().split(',') {
            let (name, value) = directive.split_once('=').unwrap_or((directive, ""));
            match name.trim() {
                // Caches shared by many readers follow `s-maxage`.
                "max-age" | "s-maxage" => {
                    let seconds = value.trim().trim_matches('"').parse().ok();
                    parsed.lifetime = parsed.lifetime.max(seconds);
                }
                "no-cache" => parsed.no_cache = true,
                "no-store" => parsed.no_store = true,
                "immutable" => parsed.immutable = true,
                _ => {}
            }
        }
        parsed
    }
}

fn manifest_caching(examination: &Examination) -> Finding {
    let (Ok(Answer { last, .. }), Ok(_)) = (&examination.manifest, &examination.database) else {
        return Finding::skipped("no manifest");
    };
    let found = format!("Cache-Control: {}", shown(last, "cache-control"));
    let control = CacheControl::of(last);
    let lifetime = control
        .lifetime
        .filter(|_| !control.no_cache && !control.no_store);
    let age = |why: &str| Finding::warning(format!("{found}; {why}"), Need::ManifestAge);
    if (control.immutable && !control.no_cache) || lifetime.is_some_and(|seconds| seconds > DAY) {
        let why = "caches on the way keep the old manifest after a new build";
        return Finding::problem(format!("{found}; {why}"), Need::ManifestAge);
    }
    if lifetime.is_some_and(|seconds| seconds > HOUR) {
        return age("caches on the way keep the old manifest for hours");
    }
    if control.no_store {
        return age("the manifest is transferred whole each time");
    }
    if control == CacheControl::default() {
        return age("caches on the way choose a time");
    }
    let again = |why: String| Finding::warning(format!("{found}, {why}"), Need::Validator);
    match &examination.again {
        None => again(
            "neither ETag nor Last-Modified; the manifest is transferred whole each time"
                .to_owned(),
        ),
        Some(Ok(Answer { last, .. })) if last.status == 304 => {
            Finding::ok(format!("{found}, and status 304 for an unchanged manifest"))
        }
        Some(Ok(Answer { last, .. })) => again(format!(
            "but status {} instead of 304 for an unchanged manifest",
            last.status
        )),
        Some(Err(error)) => Finding::warning(
            format!("{found}; the unchanged manifest: {error}"),
            READ_LOG,
        ),
    }
}

fn shard_caching(examination: &Examination) -> Finding {
    let Some(Answer { last, .. }) = examination.shard() else {
        return Finding::skipped(NO_MANIFEST);
    };
    let found = format!("Cache-Control: {}", shown(last, "cache-control"));
    match CacheControl::of(last) {
        CacheControl { no_store: true, .. } => Finding::warning(
            format!("{found}; networks in front of the host cannot keep shards"),
            Need::ShardAge,
        ),
        control if control.immutable || control.lifetime >= Some(DAY) => Finding::ok(found),
        _ => Finding::ok(format!(
            "{found}; a year would be possible, because the name of a shard is the hash of its content"
        )),
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
        return Finding::problem(
            "a user or a password in the address, which browsers refuse",
            "an address without a user and a password",
        );
    }
    if url.scheme() == "https" {
        return Finding::ok("https");
    }
    if is_local(url) {
        return Finding::ok("http on this machine");
    }
    let manifest = examination.manifest.as_ref();
    if manifest.is_ok_and(|answer| answer.last.url.scheme() == "https") {
        return Finding::problem(
            "http, redirected to https; pages on https cannot send the first request",
            "name the address with https://",
        );
    }
    let found = "http; pages on https cannot read http";
    match examination.origin.scheme() {
        "http" => Finding::warning(found, Need::Https),
        _ => Finding::problem(found, Need::Https),
    }
}

fn http_version(examination: &Examination) -> Finding {
    let manifest = || examination.manifest.as_ref().ok();
    let Some(answer) = examination.shard().or_else(manifest) else {
        return Finding::skipped("no answer for the manifest");
    };
    let version = answer.last.version;
    Finding::ok(match version >= Version::HTTP_2 {
        true => format!("{version:?}"),
        false => format!("{version:?}; browsers send 6 requests at a time"),
    })
}

fn speed(examination: &Examination) -> Finding {
    if let Some(Err(fault)) = &examination.times {
        return fault.clone();
    }
    match examination.speed() {
        Some(speed) => Finding::ok(format!(
            "{:.0} ms a request; a first lookup takes about {:.0} ms in {} requests",
            speed.request_ms, speed.first_lookup_ms, speed.first_lookup_requests
        )),
        None if examination
            .ranges
            .as_ref()
            .is_some_and(|ranges| ranges.fault.is_none()) =>
        {
            Finding::skipped("too many redirects")
        }
        None => Finding::skipped("ranges do not work"),
    }
}
