//! Times of range requests on an open connection.

use std::iter;
use std::time::Duration;

use reqwest::Url;
use shelfish::source::SourceErrorKind;

use super::client::{Answer, Ask, Client, MAX_REDIRECTS, MAX_REQUESTS};

/// Number of small requests.
const SMALL_REQUESTS: u64 = 8;

/// Size of a small range in bytes, about that of a block.
const SMALL: u64 = 5_000;

/// Maximum size of the large range in bytes.
const LARGE: u64 = 256 << 10;

/// Times of range requests.
pub struct Sample {
    /// Times of small requests.
    pub small: Vec<Duration>,
    /// Size of the large range, and its time after the head of the answer.
    pub large: Option<(u64, Duration)>,
    /// The first failure: its message, and whether the host asks for fewer requests.
    pub failure: Option<(String, bool)>,
}

/// Requests small ranges of a shard, then a large range. Ends after a failure.
pub async fn measure(client: &Client, url: &Url, shard_bytes: u64) -> Sample {
    let mut sample = Sample {
        small: Vec::new(),
        large: None,
        failure: None,
    };
    let small = SMALL.min(shard_bytes);
    let large = LARGE.min(shard_bytes);
    let starts = (0..SMALL_REQUESTS).map(|n| (shard_bytes - small) / SMALL_REQUESTS * n);
    let ranges = starts
        .map(|start| start..start + small)
        .chain(iter::once(0..large));
    for (n, range) in ranges.enumerate() {
        // A host with many redirects may exhaust the requests of an examination, which is no fault of the range.
        if client.requests() + MAX_REDIRECTS >= MAX_REQUESTS {
            return sample;
        }
        let size = range.end - range.start;
        match client.ask(url, &Ask::Range(range)).await {
            Ok(answer @ Answer { body: Ok(_), .. }) if n < SMALL_REQUESTS as usize => {
                sample.small.push(answer.time)
            }
            Ok(answer @ Answer { body: Ok(_), .. }) => {
                sample.large = Some((size, answer.time.saturating_sub(answer.head_time)));
            }
            Ok(Answer {
                last,
                body: Err(kind),
                ..
            }) => {
                sample.failure = Some((
                    failure(&kind, last.header("retry-after")),
                    last.is_throttled(),
                ));
                return sample;
            }
            Err(kind) => {
                sample.failure = Some((failure(&kind, None), false));
                return sample;
            }
        }
    }
    sample
}

fn failure(kind: &SourceErrorKind, retry_after: Option<String>) -> String {
    match retry_after {
        Some(pause) => format!("{kind}, Retry-After: {pause}"),
        None => kind.to_string(),
    }
}
