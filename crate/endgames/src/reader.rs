//! Tables of a source, read by pages.

use core::fmt;
use core::ops::Range;
use core::slice::from_ref;
use std::sync::Arc;

use futures_util::stream::{self, StreamExt as _};
use shakmaty::{Chess, Position as _};
use shelfish::reader::{Cache, Fetched, Keep, Observer, Origin, RequestLimits};
use shelfish::source::Source;
use web_time::Instant;

use crate::error::{EndgameError, check};
use crate::index::{INDEX_FILE, Index, MAX_INDEX, PAGE, SUMS_FILE};
use crate::name::{Material, Metric};
use crate::pages::{Attempt, PageId, Pages, SUMS, insert};
use crate::pairs::Steps;
use crate::probe::{Probe, probe};
use crate::resolve::{Catalog, Resolver, played};

/// Maximum number of requests after each other for a position.
const MAX_WAVES: usize = 12;
/// Maximum number of bytes that a position may request.
const MAX_BYTES: u64 = 4 << 20;
/// Memory for pages in bytes.
const MEMORY: usize = 8 << 20;
/// Limits of a request: three unneeded pages between two pages, 64 pages in total.
const LIMITS: RequestLimits = RequestLimits {
    max_gap: 3 * PAGE,
    max_bytes: 64 * PAGE,
};
/// Maximum number of requests at a time, by default.
const CONCURRENT: usize = 6;

/// Tables of a source `S`.
pub struct Endgames<S> {
    source: S,
    cache: Option<Arc<dyn Cache>>,
    index: Index,
    catalog: Catalog,
    pages: Pages,
    observer: Option<Observer>,
    concurrency: usize,
}

impl<S: fmt::Debug> fmt::Debug for Endgames<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Endgames")
            .field("source", &self.source)
            .finish_non_exhaustive()
    }
}

/// Reads the index of a source.
///
/// # Errors
///
/// Returns an error if the index cannot be read or is damaged.
pub async fn read_index<S: Source>(source: &S) -> Result<Index, EndgameError> {
    let bytes = source.whole(INDEX_FILE, MAX_INDEX).await?;
    Index::decode(&bytes).map_err(|error| EndgameError::Index {
        at: source.locate(INDEX_FILE),
        error,
    })
}

impl<S: Source> Endgames<S> {
    /// Opens the tables of a source: reads its index.
    ///
    /// # Errors
    ///
    /// Returns an error if the index cannot be read or is damaged.
    pub async fn open(source: S) -> Result<Endgames<S>, EndgameError> {
        let index = read_index(&source).await?;
        Ok(Endgames::new(source, index, None))
    }
}

impl<S: Source> Endgames<S> {
    /// Creates a reader of tables whose index is known. The cache outlives the reader.
    pub fn new(source: S, index: Index, cache: Option<Arc<dyn Cache>>) -> Endgames<S> {
        let mut catalog = Catalog::default();
        for (number, table) in index.tables().iter().enumerate() {
            catalog.add(table.name, number);
        }
        Endgames {
            source,
            cache,
            index,
            catalog,
            pages: Pages::new(MEMORY),
            observer: None,
            concurrency: CONCURRENT,
        }
    }

    /// Sets the memory for pages, 8 MiB by default. Less than 1 MiB counts as 1 MiB, because a probe needs its pages together.
    pub fn with_memory(self, bytes: usize) -> Endgames<S> {
        let pages = Pages::new(bytes.max(1 << 20));
        Endgames { pages, ..self }
    }

    /// Sets the maximum number of requests at a time, 6 by default.
    pub fn with_concurrency(self, concurrency: usize) -> Endgames<S> {
        Endgames {
            concurrency: concurrency.max(1),
            ..self
        }
    }

    /// Sets a listener of requests.
    pub fn with_observer(self, observer: Option<Observer>) -> Endgames<S> {
        Endgames { observer, ..self }
    }

    /// The source of the tables.
    pub fn source(&self) -> &S {
        &self.source
    }

    /// The index of the tables.
    pub fn index(&self) -> &Index {
        &self.index
    }

    /// Removes all pages from memory.
    pub fn clear_memory(&self) {
        self.pages.clear();
    }

    /// Returns the result of a position and of all its legal moves.
    ///
    /// # Errors
    ///
    /// Returns an error if the tables do not contain the position, are damaged, or cannot be read.
    pub async fn probe(&self, chess: &Chess) -> Result<Probe, EndgameError> {
        let answer = self.probe_many(from_ref(chess)).await.pop();
        answer.unwrap_or(Err(TOO_MUCH))
    }

    /// Returns the results of positions and of all their legal moves. The positions share requests.
    pub async fn probe_many(&self, positions: &[Chess]) -> Vec<Result<Probe, EndgameError>> {
        let most = self.index.max_pieces();
        let uncovered = |chess| Some(Err(check(chess, most).err()?.into()));
        let mut answers: Vec<Option<Result<Probe, EndgameError>>> =
            positions.iter().map(uncovered).collect();
        let limit = MAX_BYTES * positions.len() as u64;
        // The steps of all attempts count.
        let steps: Vec<Steps> = positions.iter().map(|_| Steps::default()).collect();
        let (mut bytes, mut waves) = (0, 0);
        loop {
            let mut missing = Vec::new();
            for ((chess, steps), answer) in positions.iter().zip(&steps).zip(&mut answers) {
                if answer.is_none() {
                    let (found, wanted) = self.attempt(chess, steps, waves == 0);
                    *answer = wanted.is_empty().then_some(found);
                    wanted.into_iter().for_each(|id| insert(&mut missing, id));
                }
            }
            let fetched = if missing.is_empty() {
                break;
            } else if waves == MAX_WAVES || bytes + missing.len() as u64 * PAGE > limit {
                Err(TOO_MUCH)
            } else {
                self.fetch(missing).await
            };
            match fetched {
                Ok(fetched) => bytes += fetched,
                Err(error) => {
                    for answer in &mut answers {
                        answer.get_or_insert_with(|| Err(error.clone()));
                    }
                }
            }
            waves += 1;
        }
        let answers = answers.into_iter();
        answers
            .map(|answer| answer.unwrap_or(Err(TOO_MUCH)))
            .collect()
    }

    /// Probes a position with the pages in memory. Returns the missing pages; the result counts if no page is missing.
    fn attempt(
        &self,
        chess: &Chess,
        steps: &Steps,
        is_first: bool,
    ) -> (Result<Probe, EndgameError>, Vec<PageId>) {
        let attempt = Attempt::new(&self.index, &self.catalog, &self.pages);
        if is_first {
            self.note_indexes(&attempt, chess);
        }
        let resolver = Resolver::new(&attempt, steps);
        let found = probe(&resolver, chess);
        let is_incomplete = resolver.is_incomplete();
        let missing = attempt.missing.into_inner();
        match found {
            Err(error) if error.is_final() => (Err(error), Vec::new()),
            // Would never end.
            _ if is_incomplete && missing.is_empty() => (Err(TOO_MUCH), missing),
            found => (found, missing),
        }
    }

    /// Notes the indexes of the tables as missing that the position and its moves need.
    fn note_indexes(&self, attempt: &Attempt<'_>, chess: &Chess) {
        let mut materials = vec![Material::of_board(chess.board())];
        for m in chess.legal_moves() {
            if m.is_capture() || m.is_promotion() {
                insert(&mut materials, Material::of_board(played(chess, m).board()));
            }
        }
        for material in materials {
            for metric in [Metric::Wdl, Metric::Dtz] {
                if let Some(number) = self.catalog.find(material, metric) {
                    attempt.note_index(number);
                }
            }
        }
    }

    /// Requests pages and keeps them, after their checksums are verified. Returns the number of received bytes.
    async fn fetch(&self, mut wanted: Vec<PageId>) -> Result<u64, EndgameError> {
        for id in wanted.clone() {
            if let Some((sums, _)) = self.index.sum_at(id)
                && self.pages.get(sums).is_none()
            {
                insert(&mut wanted, sums);
            }
        }
        let mut pages = self.cached(&mut wanted).await;
        let requests = self.requests(&wanted);
        let mut answers = stream::iter(requests.into_iter().map(|run| self.request(run)))
            .buffer_unordered(self.concurrency);
        let mut bytes = 0;
        while let Some(answer) = answers.next().await {
            for (id, page) in answer? {
                bytes += page.len() as u64;
                if let Some(cache) = &self.cache {
                    cache.put(&self.cache_name(id), &page, Keep::Recent);
                }
                pages.push((id, page));
            }
        }
        // Pages of checksums are needed first.
        let (sums, others): (Vec<_>, Vec<_>) =
            pages.into_iter().partition(|(id, _)| id.file == SUMS);
        for (id, page) in sums.into_iter().chain(others) {
            if !self.is_whole(id, &page) {
                return Err(EndgameError::Damaged {
                    at: self.source.locate(&self.file_name(id.file)),
                    byte: id.page * PAGE,
                });
            }
            self.pages.insert(id, &page);
        }
        Ok(bytes)
    }

    /// Takes the pages out of `wanted` that the cache contains. Damaged pages of the cache are requested again.
    async fn cached(&self, wanted: &mut Vec<PageId>) -> Vec<(PageId, Vec<u8>)> {
        let Some(cache) = &self.cache else {
            return Vec::new();
        };
        let start = Instant::now();
        // Pages of checksums have the last number, and are needed first.
        let ids: Vec<PageId> = wanted.iter().rev().copied().collect();
        let names = ids.iter().map(|id| self.cache_name(*id)).collect();
        let found = cache.get(names).await;
        let mut pages = Vec::new();
        for (id, page) in ids.into_iter().zip(found) {
            let Some(page) = page else { continue };
            if self.is_whole(id, &page) {
                wanted.retain(|other| *other != id);
                let (file, range) = (self.file_name(id.file), self.index.page_range(id));
                self.observe(&file, range, 1, Origin::Cache, start, true);
                self.pages.insert(id, &page);
                pages.push((id, page));
            }
        }
        pages
    }

    fn observe(
        &self,
        file: &str,
        range: Range<u64>,
        parts: usize,
        origin: Origin,
        start: Instant,
        is_good: bool,
    ) {
        if let Some(observer) = &self.observer {
            observer(&Fetched {
                file,
                at: self.source.locate(file),
                range,
                parts,
                origin,
                elapsed: start.elapsed(),
                is_good,
            });
        }
    }

    fn file_name(&self, file: u16) -> String {
        match self.index.tables().get(usize::from(file)) {
            Some(table) => self.index.file_name(&table.name),
            None => SUMS_FILE.to_string(),
        }
    }

    fn cache_name(&self, id: PageId) -> String {
        format!("{}@{}", self.file_name(id.file), id.page)
    }

    /// Divides pages into requests.
    fn requests(&self, pages: &[PageId]) -> Vec<Vec<PageId>> {
        let mut requests: Vec<Vec<PageId>> = Vec::new();
        for id in pages {
            let range = |id: &PageId| self.index.page_range(*id);
            let fits = |request: &Vec<PageId>| {
                let (first, last) = (&request[0], &request[request.len() - 1]);
                last.file == id.file && LIMITS.fits_range(&range(first), &range(last), &range(id))
            };
            match requests.last_mut() {
                Some(request) if fits(request) => request.push(*id),
                _ => requests.push(vec![*id]),
            }
        }
        requests
    }

    /// Requests pages of a file that are near each other.
    async fn request(&self, run: Vec<PageId>) -> Result<Vec<(PageId, Vec<u8>)>, EndgameError> {
        let (first, last) = (run[0], run[run.len() - 1]);
        let range = self.index.page_range(first).start..self.index.page_range(last).end;
        let (file, start) = (self.file_name(first.file), Instant::now());
        let bytes = self.source.range(&file, range.clone()).await;
        self.observe(
            &file,
            range,
            run.len(),
            Origin::Source,
            start,
            bytes.is_ok(),
        );
        let bytes = bytes?;
        let pages = (first.page..).zip(bytes.chunks(PAGE as usize));
        let page = |(page, bytes): (u64, &[u8])| (PageId { page, ..first }, bytes.to_vec());
        Ok(pages.map(page).collect())
    }

    /// Whether a page has the length and the checksum that the index demands.
    fn is_whole(&self, id: PageId, bytes: &[u8]) -> bool {
        let sums = self.index.sum_at(id).and_then(|(id, _)| self.pages.get(id));
        self.index.is_whole(id, bytes, sums.as_deref())
    }
}

const TOO_MUCH: EndgameError = EndgameError::TooMuch {
    bytes: MAX_BYTES,
    waves: MAX_WAVES,
};
