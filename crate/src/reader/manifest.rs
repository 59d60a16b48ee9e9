//! Requests for the manifest.

use web_time::Instant;

use super::error::ReadError;
use super::fetched::{Fetched, Observer, Origin};
use crate::source::integrity::Pin;
use crate::source::{Source, SourceError, Whole};
use crate::table::Manifest;

use super::catalog::Format;

/// The last requests for the manifest.
#[derive(Default)]
pub(super) struct Checked {
    /// Entity tag of the manifest in use.
    pub(super) etag: Option<String>,
    /// Time when the source last sent or confirmed the manifest in use; `None` if the manifest is the cache's.
    pub(super) confirmed: Option<Instant>,
    /// Time of the last request.
    pub(super) requested: Option<Instant>,
}

/// Parses a manifest and compares its hash with the pin.
pub(super) fn parse(
    format: Format,
    source: &impl Source,
    pin: Option<&Pin>,
    bytes: &[u8],
) -> Result<Manifest, ReadError> {
    let at = source.locate(Manifest::FILE);
    match pin.map_or(Ok(()), |pin| pin.check(bytes)) {
        Ok(()) => (format.manifest)(bytes).map_err(|error| ReadError::Table { at, error }),
        Err(kind) => Err(SourceError::new(at, kind).into()),
    }
}

/// Reads the manifest, unless it has the entity tag `etag`.
pub(super) async fn fetch_manifest(
    format: Format,
    source: &impl Source,
    pin: Option<&Pin>,
    observer: Option<&Observer>,
    etag: Option<&str>,
) -> Result<Option<(Manifest, Whole)>, ReadError> {
    let started = Instant::now();
    let whole = source
        .whole_unless(Manifest::FILE, Manifest::MAX_BYTES as u64, etag)
        .await;
    if let Some(observer) = observer {
        let range = 0..whole
            .iter()
            .flatten()
            .map(|whole| whole.bytes.len() as u64)
            .sum();
        let (at, elapsed, is_good) = (
            source.locate(Manifest::FILE),
            started.elapsed(),
            whole.is_ok(),
        );
        observer(&Fetched {
            file: Manifest::FILE,
            at,
            range,
            parts: 0,
            origin: Origin::Source,
            elapsed,
            is_good,
        });
    }
    let Some(whole) = whole? else { return Ok(None) };
    Ok(Some((parse(format, source, pin, &whole.bytes)?, whole)))
}
