//! A source that writes down what is asked of another.
//!
//! Requests belong to *rounds*: a request is of the round after the last one of which a request had been answered when
//! it was made. Requests of one round did not wait for each other; a later round needs what an earlier one brought. For
//! this a reader must have no bound on its requests in flight: [`Link`](super::link::Link) brings that in afterwards.

use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use shelfish::source::{Source, SourceError};
use shelfish::table::Manifest;

/// What a request is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The manifest.
    Manifest,
    /// A page, or several that touch.
    Pages,
    /// A block, or several that are near each other.
    Blocks,
}

/// A request that was answered.
#[derive(Clone, Debug)]
pub struct Request {
    /// Requests of the same round were in flight together.
    pub round: usize,
    /// What it is for.
    pub kind: Kind,
    /// Bytes of the answer.
    pub bytes: u64,
}

/// A source that counts. Clones share the count.
#[derive(Clone, Debug)]
pub struct Meter<S> {
    source: S,
    /// Where the pages of each shard begin.
    pages: Arc<[(String, u64)]>,
    log: Arc<Mutex<Log>>,
}

#[derive(Debug, Default)]
struct Log {
    requests: Vec<Request>,
    /// Rounds of which a request has been answered.
    answered: usize,
}

impl<S> Meter<S> {
    /// Counts what is asked of `source`, which has the database of `manifest`.
    pub fn new(source: S, manifest: &Manifest) -> Meter<S> {
        let pages = manifest.shards().iter().enumerate().map(|(n, shard)| {
            let start = manifest.pages_of(n).next().map_or(shard.bytes, |page| page.range.start);
            (shard.file.clone(), start)
        });
        Meter { source, pages: pages.collect(), log: Arc::default() }
    }

    /// The requests since the last call.
    pub fn take(&self) -> Vec<Request> {
        std::mem::take(&mut *self.log()).requests
    }

    fn log(&self) -> MutexGuard<'_, Log> {
        self.log.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn kind(&self, file: &str, range: &Range<u64>) -> Kind {
        let is_page = self.pages.iter().any(|(shard, pages)| shard == file && range.start >= *pages);
        if is_page { Kind::Pages } else { Kind::Blocks }
    }

    /// Writes down what becomes of an answer.
    async fn count(
        &self,
        kind: Kind,
        answer: impl Future<Output = Result<Vec<u8>, SourceError>> + Send,
    ) -> Result<Vec<u8>, SourceError> {
        let round = self.log().answered;
        // What is asked for at the same time is asked for before the first answer, however quick the source: a task
        // of its own runs once all who wait for anything have been polled. (To yield does not do: who is waited for
        // by several is polled several times at once.)
        let _ = tokio::spawn(async {}).await;
        let bytes = answer.await?;
        let mut log = self.log();
        log.answered = log.answered.max(round + 1);
        log.requests.push(Request { round, kind, bytes: bytes.len() as u64 });
        Ok(bytes)
    }
}

impl<S: Source> Source for Meter<S> {
    async fn range(&self, file: &str, range: Range<u64>) -> Result<Vec<u8>, SourceError> {
        self.count(self.kind(file, &range), self.source.range(file, range)).await
    }

    async fn whole(&self, file: &str, cap: u64) -> Result<Vec<u8>, SourceError> {
        self.count(Kind::Manifest, self.source.whole(file, cap)).await
    }

    fn locate(&self, file: &str) -> String {
        self.source.locate(file)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every file is zeros.
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
    fn requests_made_together_are_of_one_round_and_those_after_an_answer_of_the_next() -> std::io::Result<()> {
        let pages = Arc::new([("shard".to_owned(), 100)]);
        let meter = Meter { source: Zeros, pages, log: Arc::default() };
        crate::database::wait(async {
            let _ = meter.whole("manifest", 7).await;
            let _ = futures_util::future::join(meter.range("shard", 100..110), meter.range("shard", 110..130)).await;
            let _ = meter.range("shard", 0..50).await;
        })?;
        let seen: Vec<_> = meter.take().iter().map(|request| (request.round, request.kind, request.bytes)).collect();
        assert_eq!(seen, [(0, Kind::Manifest, 7), (1, Kind::Pages, 10), (1, Kind::Pages, 20), (2, Kind::Blocks, 50)]);
        assert!(meter.take().is_empty());
        Ok(())
    }
}
