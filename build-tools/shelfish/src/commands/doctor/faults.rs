//! Results of checks, and the faults of answers for the manifest and for ranges.

use indicatif::HumanBytes;
use serde::Serialize;
use shelfish::source::SourceErrorKind;
use shelfish::source::http::WHOLE_CAP;
use shelfish::table::{Chunk, Manifest, TableError};

use super::client::Asked;
use super::hosts::Need;
use crate::database::{Kind, parse_manifest};

const PUBLISH: &str = "name the folder that contains manifest.json, or publish the database: shelfish publish FOLDER URL";

/// Result of a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// Nothing needs a change.
    Ok,
    /// Browsers read the database, but less well than they could.
    Warning,
    /// Browsers cannot read the database, or read an old database.
    Problem,
    /// An earlier problem prevented the check.
    NotChecked,
}

/// The solution of a problem.
#[derive(Clone, Debug)]
pub enum Remedy {
    None,
    Advice(String),
    /// A setting, which depends on the host.
    Setting(Need),
}

impl From<&str> for Remedy {
    fn from(advice: &str) -> Remedy {
        Remedy::Advice(advice.to_owned())
    }
}

impl From<Need> for Remedy {
    fn from(need: Need) -> Remedy {
        Remedy::Setting(need)
    }
}

/// A result with its reason.
#[derive(Clone, Debug)]
pub struct Finding {
    pub result: Verdict,
    /// Properties of the host that decided the result.
    pub found: String,
    pub remedy: Remedy,
}

impl Finding {
    /// Creates a result without a problem.
    pub fn ok(found: impl Into<String>) -> Finding {
        Finding {
            result: Verdict::Ok,
            found: found.into(),
            remedy: Remedy::None,
        }
    }

    /// Creates the result of a check that an earlier problem prevented.
    pub fn skipped(found: &str) -> Finding {
        Finding {
            result: Verdict::NotChecked,
            ..Finding::ok(found)
        }
    }

    /// Creates a result that costs browsers time or traffic.
    pub fn warning(found: impl Into<String>, remedy: impl Into<Remedy>) -> Finding {
        Finding {
            result: Verdict::Warning,
            found: found.into(),
            remedy: remedy.into(),
        }
    }

    /// Creates a result that prevents browsers from reading the database.
    pub fn problem(found: impl Into<String>, remedy: impl Into<Remedy>) -> Finding {
        Finding {
            result: Verdict::Problem,
            ..Finding::warning(found, remedy)
        }
    }
}

/// Returns the first page and the bytes of the largest shard with pages. Some hosts treat large files differently.
pub fn largest(manifest: &Manifest) -> Option<(Chunk, u64)> {
    let shards = manifest.shards().iter().enumerate();
    shards
        .filter_map(|(n, shard)| Some((manifest.page_of_shard(n, 0)?, shard.bytes)))
        .max_by_key(|(_, bytes)| *bytes)
}

/// Parses the answer for the manifest.
pub fn manifest_or_fault(asked: &Asked) -> Result<(Manifest, Kind), Finding> {
    let (last, body) = match asked {
        Ok(answer) => (Some(&answer.last), answer.body.as_ref()),
        Err(kind) => (None, Err(kind)),
    };
    let bytes = match body {
        Ok(bytes) => bytes,
        Err(SourceErrorKind::Status(status)) => {
            let pause = last.and_then(|last| last.header("retry-after"));
            let pause = pause.map_or(String::new(), |pause| format!(", Retry-After: {pause}"));
            let found = format!("status {status}{pause}");
            return Err(match status {
                401 | 403 => Finding::problem(
                    found,
                    "let the public read the files: the permissions of the folder or bucket",
                ),
                429 | 503 => Finding::problem(found, Need::Throttled),
                300..=399 => Finding::problem(
                    found,
                    "name the final address, or remove the circle of redirects",
                ),
                _ => Finding::problem(found, PUBLISH),
            });
        }
        Err(error @ SourceErrorKind::Long { .. }) => {
            return Err(Finding::problem(error.to_string(), PUBLISH));
        }
        Err(error @ SourceErrorKind::Io(..)) => {
            return Err(Finding::problem(error.to_string(), Need::Compression));
        }
        Err(error) => {
            let why = "check the name, the port, the certificate and the connection; --timeout allows more time";
            return Err(Finding::problem(error.to_string(), why));
        }
    };
    let text = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    match parse_manifest(bytes) {
        Ok((manifest, _)) if largest(&manifest).is_none() => {
            Err(Finding::problem("a database without positions", PUBLISH))
        }
        Ok(database) => Ok(database),
        Err(_) if text.trim_ascii_start().starts_with(b"<") => Err(Finding::problem(
            "status 200 with a page of HTML",
            "the page is the fallback of an application, or of a network that requires a login; name the folder of the database",
        )),
        Err(error @ TableError::Version { .. }) => Err(Finding::problem(
            error.to_string(),
            "use a newer shelfish and a newer npm package, or build the database again",
        )),
        Err(error) => Err(Finding::problem(
            format!("not a manifest: {error}"),
            PUBLISH,
        )),
    }
}

/// Returns the bytes of a range, or the fault of its answer.
pub fn range_fault(asked: &Asked, shard_bytes: u64, is_redirected: bool) -> Result<&[u8], Finding> {
    let (last, body) = match asked {
        Ok(answer) => (Some(&answer.last), answer.body.as_ref()),
        Err(kind) => (None, Err(kind)),
    };
    let header = |name| last.and_then(|last| last.header(name));
    let error = match body {
        Ok(_) if header("content-range").is_none() => {
            return Err(Finding::problem(
                "status 206 without Content-Range",
                Need::Ranges,
            ));
        }
        Ok(bytes) => return Ok(bytes),
        Err(error) => error,
    };
    Err(match error {
        SourceErrorKind::RangeIgnored { .. } => {
            let shard = HumanBytes(shard_bytes);
            let note = match shard_bytes <= WHOLE_CAP {
                true => "; readers accept whole files of at most 1 MiB, with more traffic",
                false => "",
            };
            let found = format!("status 200 with the whole shard of {shard}");
            match header("content-encoding") {
                Some(coding) => Finding::problem(
                    format!("{found}, compressed as {coding}{note}"),
                    Need::Compression,
                ),
                None => Finding::problem(format!("{found}{note}"), Need::Ranges),
            }
        }
        SourceErrorKind::ContentEncoding(coding) => Finding::problem(
            format!("a range of the file compressed as {coding}"),
            Need::Compression,
        ),
        SourceErrorKind::Status(status @ (429 | 503)) => {
            Finding::problem(format!("status {status}"), Need::Throttled)
        }
        SourceErrorKind::Status(status) if is_redirected => Finding::problem(
            format!("status {status} in the folder to which the manifest is redirected"),
            "do not redirect the manifest, or redirect to a folder that also contains the shards: browsers read shards next to \
             the manifest after its redirects",
        ),
        SourceErrorKind::Status(status) => Finding::problem(
            format!("status {status} for a shard of the manifest"),
            "publish the files again, and the manifest last: shelfish publish FOLDER URL",
        ),
        error if error.is_unreachable() => Finding::problem(
            error.to_string(),
            "repeat the command with a longer --timeout; read the log of the host",
        ),
        error => Finding::problem(error.to_string(), Need::Ranges),
    })
}
