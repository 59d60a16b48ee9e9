//! The speed of a host, and the predicted time of a lookup.

use std::time::Duration;

use serde::Serialize;

use super::check::Check;
use super::examination::Examination;
use super::remedy::{Need, remedy};
use super::server::Server;

/// Measured times of a host.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Speed {
    /// Median time of a small range, in milliseconds.
    pub request_ms: f64,
    /// Throughput of a large range, in Mbit/s. A range that arrived with its head counts as 1,000.
    pub mbit: f64,
    /// Time to open a connection, in milliseconds.
    pub connection_ms: f64,
    /// Predicted time of the first lookup of a page, in milliseconds.
    pub first_lookup_ms: f64,
    /// Number of requests of the first lookup.
    pub first_lookup_requests: usize,
}

/// Returns the median of durations in milliseconds.
fn median(times: &[Duration]) -> Option<f64> {
    let mut times = times.to_vec();
    times.sort();
    Some(times.get(times.len() / 2)?.as_secs_f64() * 1e3)
}

impl Speed {
    /// Computes the speed from the times of an examination.
    pub fn of(examination: &Examination) -> Option<Speed> {
        let sample = examination
            .sample
            .as_ref()
            .filter(|sample| sample.failure.is_none())?;
        let ranges = examination.ranges.as_ref()?;
        let request_ms = median(&sample.small)?;
        let (bytes, time) = sample.large?;
        let mbit = (bytes as f64 * 8e-6 / time.as_secs_f64().max(1e-9)).min(1_000.0);
        let manifest = examination.manifest()?;
        let connection_ms = (manifest.head_time.as_secs_f64() * 1e3 - request_ms).max(0.0);
        let manifest_bytes = manifest
            .last
            .header("content-length")
            .and_then(|length| length.trim().parse().ok());
        let manifest_bytes =
            manifest_bytes.or_else(|| manifest.body.as_ref().ok().map(|body| body.len() as u64))?;
        let block = ranges.range.end - ranges.range.start;
        let sizes = [Some(manifest_bytes), ranges.page_bytes, Some(block)];
        let times = sizes
            .iter()
            .flatten()
            .map(|bytes| request_ms + *bytes as f64 / (mbit * 125.0));
        Some(Speed {
            request_ms,
            mbit,
            connection_ms,
            first_lookup_ms: connection_ms + times.clone().sum::<f64>(),
            first_lookup_requests: times.count(),
        })
    }
}

/// Checks that a host answers several requests in a row. Times are information.
pub fn check(examination: &Examination, server: Server, speed: Option<&Speed>) -> Check {
    let (id, title, expected) = ("speed", "speed", "every request is answered");
    if let Some((why, is_throttled)) = examination
        .sample
        .as_ref()
        .and_then(|sample| sample.failure.as_ref())
    {
        let remedy = match is_throttled {
            true => remedy(server, Need::Throttled, &examination.url),
            false => "repeat the command; if it fails again, read the log of the host".to_owned(),
        };
        return Check::ok(id, title, why.clone(), expected).fail(remedy);
    }
    let Some(speed) = speed else {
        let why = if examination.sample.is_some() {
            "too many redirects"
        } else {
            "ranges do not work"
        };
        return Check::skipped(id, title, why, expected);
    };
    let found = format!(
        "{:.0} ms a request, {:.0} Mbit/s, {:.0} ms to connect; a first lookup takes about {:.0} ms in {} requests",
        speed.request_ms,
        speed.mbit,
        speed.connection_ms,
        speed.first_lookup_ms,
        speed.first_lookup_requests
    );
    Check::ok(id, title, found, expected)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_ignores_the_slowest_request() {
        let times = [5, 900, 1, 3, 4].map(Duration::from_millis);
        assert_eq!(median(&times), Some(4.0));
        assert_eq!(median(&[]), None);
    }
}
