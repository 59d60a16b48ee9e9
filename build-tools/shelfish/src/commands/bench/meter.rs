//! Source that records the requests to another source.
//!
//! Requests belong to *rounds*. When a request is made, its round follows the last round that has an answered request.
//! Requests of a round do not wait for each other; a later round depends on an earlier round. The reader must not limit
//! its requests in flight: [`Link`](super::link::Link) models the limit later.

use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use shelfish::source::{Source, SourceError};
use shelfish::table::Manifest;

/// Purpose of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The manifest.
    Manifest,
    /// Adjacent pages.
    Pages,
    /// Blocks that are close together.
    Blocks,
}

/// Request that was answered.
#[derive(Clone, Debug)]
pub struct Request {
    /// Number of the round.
    pub round: usize,
    /// Purpose of the request.
    pub kind: Kind,
    /// Size of the answer in bytes.
    pub bytes: u64,
}

/// Source that counts requests. Clones share the counts.
#[derive(Clone, Debug)]
pub struct Meter<S> {
    source: S,
    /// Offset of the first page of each shard.
    pages: Arc<[(String, u64)]>,
    log: Arc<Mutex<Log>>,
}

#[derive(Debug, Default)]
struct Log {
    requests: Vec<Request>,
    /// Number of rounds with an answered request.
    answered: usize,
}

impl<S> Meter<S> {
    /// Wraps `source`, which contains the database of `manifest`.
    pub fn new(source: S, manifest: &Manifest) -> Meter<S> {
        let pages = manifest.shards().iter().enumerate().map(|(n, shard)| {
            let start = manifest
                .pages_of(n)
                .next()
                .map_or(shard.bytes, |page| page.range.start);
            (shard.file.clone(), start)
        });
        Meter {
            source,
            pages: pages.collect(),
            log: Arc::default(),
        }
    }

    /// Returns the requests since the last call.
    pub fn take(&self) -> Vec<Request> {
        std::mem::take(&mut *self.log()).requests
    }

    fn log(&self) -> MutexGuard<'_, Log> {
        self.log.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn kind(&self, file: &str, range: &Range<u64>) -> Kind {
        let is_page = self
            .pages
            .iter()
            .any(|(shard, pages)| shard == file && range.start >= *pages);
        if is_page { Kind::Pages } else { Kind::Blocks }
    }

    /// Records an answer.
    async fn count(
        &self,
        kind: Kind,
        answer: impl Future<Output = Result<Vec<u8>, SourceError>> + Send,
    ) -> Result<Vec<u8>, SourceError> {
        let round = self.log().answered;
        // Even if the source is fast, all simultaneous requests must be counted before the first answer. A spawned task
        // runs after all waiting futures have been polled. Yielding does not suffice, because a shared future is polled
        // several times per round.
        let _ = tokio::spawn(async {}).await;
        let bytes = answer.await?;
        let mut log = self.log();
        log.answered = log.answered.max(round + 1);
        log.requests.push(Request {
            round,
            kind,
            bytes: bytes.len() as u64,
        });
        Ok(bytes)
    }
}

impl<S: Source> Source for Meter<S> {
    async fn range(&self, file: &str, range: Range<u64>) -> Result<Vec<u8>, SourceError> {
        self.count(self.kind(file, &range), self.source.range(file, range))
            .await
    }

    async fn whole(&self, file: &str, cap: u64) -> Result<Vec<u8>, SourceError> {
        self.count(Kind::Manifest, self.source.whole(file, cap))
            .await
    }

    fn locate(&self, file: &str) -> String {
        self.source.locate(file)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Source whose files contain only zeros.
    struct Zeros;

    impl Source for Zeros {
        async fn range(&self, _: &str, range: Range<u64>) -> Result<Vec<u8>, SourceError> {
            Ok(vec![0; (range.end - range.start) as usize])
        }

        async fn whole(&self, _: &str, cap: u64) -> Result<Vec<u8>, SourceError> {
            Ok(vec![0; cap as usize])
        }

        fn locate(&self, file: &str) -> String {
            file.to_owned()
        }
    }

    #[test]
    fn simultaneous_requests_share_a_round_and_later_requests_belong_to_the_next_round()
    -> std::io::Result<()> {
        let pages = Arc::new([("shard".to_owned(), 100)]);
        let meter = Meter {
            source: Zeros,
            pages,
            log: Arc::default(),
        };
        crate::database::wait(async {
            let _ = meter.whole("manifest", 7).await;
            let _ = futures_util::future::join(
                meter.range("shard", 100..110),
                meter.range("shard", 110..130),
            )
            .await;
            let _ = meter.range("shard", 0..50).await;
        })?;
        let seen: Vec<_> = meter
            .take()
            .iter()
            .map(|request| (request.round, request.kind, request.bytes))
            .collect();
        assert_eq!(
            seen,
            [
                (0, Kind::Manifest, 7),
                (1, Kind::Pages, 10),
                (1, Kind::Pages, 20),
                (2, Kind::Blocks, 50)
            ]
        );
        assert!(meter.take().is_empty());
        Ok(())
    }
}
