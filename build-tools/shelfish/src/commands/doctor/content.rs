//! Checks of the content of answers: the manifest, ranges, compression and missing files.

use indicatif::{HumanBytes, HumanCount};
use shelfish::source::SourceErrorKind;
use shelfish::source::http::WHOLE_CAP;
use shelfish::table::{Manifest, TableError};

use super::check::Check;
use super::client::Answer;
use super::examination::{Database, Examination, ManifestFault, RangeFault};
use super::remedy::{Need, remedy};
use super::server::Server;
use crate::database::Kind;

/// Reason why checks of shards are impossible.
pub const NO_MANIFEST: &str = "without a manifest no shard is known";

/// Checks that the manifest can be read.
pub fn manifest(examination: &Examination, server: Server) -> Check {
    let expected = format!("status 200 and a manifest of format {}", Manifest::FORMAT);
    let check = |found: String| Check::ok("manifest", "manifest", found, expected.clone());
    let fault = match &examination.database {
        Ok(Database { manifest, kind }) => {
            let kind = match kind {
                Kind::Evaluations => "evaluations",
                Kind::Moves => "a book",
            };
            let bytes = examination
                .manifest()
                .and_then(|answer| answer.body.as_ref().ok())
                .map_or(0, Vec::len);
            return check(format!(
                "format {}, {kind}, {} positions in {} shard{}; the manifest has {}",
                Manifest::FORMAT,
                HumanCount(manifest.positions),
                HumanCount(manifest.shards().len() as u64),
                if manifest.shards().len() == 1 {
                    ""
                } else {
                    "s"
                },
                HumanBytes(bytes as u64)
            ));
        }
        Err(fault) => fault,
    };
    let publish = "name the folder that contains manifest.json, or publish the database: shelfish publish FOLDER URL";
    match fault {
        ManifestFault::Answer(SourceErrorKind::Status(status)) => {
            let answer = examination.manifest().map(|answer| &answer.last);
            let pause = answer.and_then(|last| last.header("retry-after"));
            let found =
                format!("status {status}{}", pause.map_or(String::new(), |pause| format!(", Retry-After: {pause}")));
            match status {
                401 | 403 => {
                    check(found).fail("let the public read the files: the permissions of the folder or bucket")
                }
                429 | 503 => check(found).fail(remedy(server, Need::Throttled, &examination.url)),
                300..=399 => check(found).fail("name the final address, or remove the circle of redirects"),
                _ => check(found).fail(publish),
            }
        }
        ManifestFault::Answer(error @ SourceErrorKind::Long { .. }) => check(error.to_string()).fail(publish),
        ManifestFault::Answer(error @ SourceErrorKind::Io(..)) => {
            check(error.to_string()).fail(remedy(server, Need::Compression, &examination.url))
        }
        ManifestFault::Answer(error) => check(error.to_string())
            .fail("check the name, the port, the certificate and the connection; --timeout allows more time"),
        ManifestFault::Html => check("status 200 with a page of HTML".to_owned()).fail(format!(
            "the page is the fallback of an application, or of a network that requires a login\n{publish}\n{}",
            remedy(server, Need::Missing, &examination.url)
        )),
        ManifestFault::Table(error @ TableError::Version { .. }) => {
            check(error.to_string()).fail("use a newer shelfish and a newer npm package, or build the database again")
        }
        ManifestFault::Table(error) => check(format!("not a manifest: {error}")).fail(publish),
        ManifestFault::Empty => check("a database without positions".to_owned()).fail(publish),
    }
}

/// Checks that ranges are answered with exactly their bytes.
pub fn ranges(examination: &Examination, server: Server) -> Check {
    let expected = "status 206, the same Content-Range, and exactly these bytes";
    let (id, title) = ("ranges", "ranges");
    let Some(ranges) = &examination.ranges else {
        return Check::skipped(id, title, NO_MANIFEST, expected);
    };
    let check = |found: String| Check::ok(id, title, found, expected);
    let shard = HumanBytes(ranges.shard_bytes);
    let setting = || remedy(server, Need::Ranges, &examination.url);
    match ranges.fault() {
        None => check(format!("status 206; a block of a shard of {shard} has the right checksum")),
        Some(RangeFault::Answer(SourceErrorKind::RangeIgnored { .. })) => {
            let found = format!("status 200 with the whole shard of {shard}");
            let is_small = ranges.shard_bytes <= WHOLE_CAP;
            let note = if is_small { "; readers accept whole files of at most 1 MiB, with more traffic" } else { "" };
            let cause = examination.shard().and_then(|answer| answer.last.header("content-encoding"));
            match cause {
                Some(coding) => check(format!("{found}, compressed as {coding}{note}"))
                    .fail(remedy(server, Need::Compression, &examination.url)),
                None => check(format!("{found}{note}")).fail(setting()),
            }
        }
        Some(RangeFault::Answer(SourceErrorKind::ContentEncoding(coding))) => {
            check(format!("a range of the file compressed as {coding}"))
                .fail(remedy(server, Need::Compression, &examination.url))
        }
        Some(RangeFault::Answer(SourceErrorKind::Status(status))) => match &ranges.before_redirect {
            Some(Ok(Answer { body: Ok(_), .. })) => {
                check(format!("status {status} in the folder to which the manifest is redirected")).fail(
                    "do not redirect the manifest, or redirect to a folder that also contains the shards: browsers read shards \
                     next to the manifest after its redirects",
                )
            }
            _ if matches!(status, 429 | 503) => {
                check(format!("status {status}")).fail(remedy(server, Need::Throttled, &examination.url))
            }
            _ => check(format!("status {status} for a shard of the manifest"))
                .fail("publish the files again, and the manifest last: shelfish publish FOLDER URL"),
        },
        Some(RangeFault::Answer(error)) if error.is_unreachable() => {
            check(error.to_string()).fail("repeat the command with a longer --timeout; read the log of the host")
        }
        Some(RangeFault::Answer(error)) => check(error.to_string()).fail(setting()),
        Some(RangeFault::NoContentRange) => check("status 206 without Content-Range".to_owned()).fail(setting()),
        Some(RangeFault::Block(error)) => check(error.to_string()).fail(format!(
            "publish the files again: shelfish publish FOLDER URL; if the checksum is still wrong, the host changes bytes\n{}",
            remedy(server, Need::Compression, &examination.url)
        )),
        Some(RangeFault::Overlap(range)) => {
            check(format!("bytes {}-{} differ in two overlapping ranges", range.start, range.end - 1)).fail(setting())
        }
    }
}

/// Checks that ranges are not compressed.
pub fn compression(examination: &Examination, server: Server) -> Check {
    let (id, title, expected) = (
        "compression",
        "compression",
        "a range without Content-Encoding",
    );
    let Some(answer) = examination.shard() else {
        let why = if examination.ranges.is_some() {
            "no answer for a range"
        } else {
            NO_MANIFEST
        };
        return Check::skipped(id, title, why, expected);
    };
    let coding = |answer: &Answer| {
        answer
            .last
            .header("content-encoding")
            .filter(|coding| !coding.trim().is_empty())
    };
    let manifest = examination
        .manifest()
        .and_then(coding)
        .unwrap_or_else(|| "none".to_owned());
    match coding(answer).filter(|coding| !coding.trim().eq_ignore_ascii_case("identity")) {
        None => Check::ok(
            id,
            title,
            format!("range: none, manifest: {manifest}"),
            expected,
        ),
        Some(range) => Check::ok(
            id,
            title,
            format!("range: {range}, manifest: {manifest}"),
            expected,
        )
        .fail(remedy(server, Need::Compression, &examination.url)),
    }
}

/// Checks that a missing file is not answered with a page.
pub fn missing(examination: &Examination, server: Server) -> Check {
    let (id, title, expected) = ("missing", "missing files", "status 404, 403 or 410");
    let check = |found: String| Check::ok(id, title, found, expected);
    match &examination.missing {
        None => Check::skipped(id, title, "no answer for the manifest", expected),
        Some(Err(error)) => check(error.to_string()).warn("read the log of the host"),
        Some(Ok(Answer { last, .. })) => {
            let check = check(format!("status {}", last.status));
            match last.status {
                403 | 404 | 410 => check,
                200..=399 => check.fail(remedy(server, Need::Missing, &examination.url)),
                _ => check.warn("read the log of the host"),
            }
        }
    }
}
