//! Answers positions from a [`Source`], with a [`Cache`] beside it and decoded pages and blocks in memory.
//!
//! A lookup needs the page that covers its key, then the block that the page names. What several lookups need at the
//! same time is fetched once: a request in flight is shared by all who wait for it and is given up when the last of
//! them is dropped. Blocks that touch in a file share a request.
//!
//! Nothing that comes from outside is trusted. A damaged entry of the cache is deleted and fetched again. When a host
//! no longer has a file, or has other bytes than the manifest says, another build may have taken the database's place:
//! the manifest is read again, once, and the lookup repeated.

use core::cell::{Cell, RefCell};
use core::fmt;
use core::future::poll_fn;
use core::ops::Range;
use core::pin::Pin;
use core::task::Poll;
use std::collections::{BinaryHeap, VecDeque};
use std::rc::Rc;

use futures_channel::oneshot;
use futures_util::future::{FutureExt, LocalBoxFuture, Shared, WeakShared, maybe_done};

use crate::cache::{Cache, Keep, Lru};
use crate::eval::Eval;
use crate::position::Position;
use crate::source::{Source, SourceError};
use crate::table::{Block, BlockRef, Chunk, Manifest, Page, PageRef, Record, TableError};

/// The most bytes that touching blocks are fetched in one request.
const MAX_REQUEST: u64 = 1 << 20;

/// How a [`Reader`] works.
#[derive(Clone, Debug)]
pub struct Options {
    /// Bytes of decoded pages and blocks to keep in memory.
    pub memory: usize,
    /// Requests in flight at most.
    pub concurrency: usize,
}

impl Default for Options {
    fn default() -> Options {
        Options { memory: 16 << 20, concurrency: 6 }
    }
}

/// What a [`Reader`] has done since it was opened.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Stats {
    /// Requests to the source, those for the manifest included.
    pub requests: u64,
    /// Bytes that the source handed out.
    pub bytes: u64,
    /// Blocks that were in memory.
    pub memory_hits: u64,
    /// Blocks that came from the cache.
    pub cache_hits: u64,
    /// Blocks that came from the source.
    pub network_blocks: u64,
    /// Positions looked up.
    pub lookups: u64,
    /// Time from question to answer, summed over calls, in milliseconds.
    pub milliseconds: f64,
}

/// Why a position could not be looked up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReadError {
    /// The source failed.
    Source(SourceError),
    /// What the source handed out is not what the manifest says.
    Table {
        /// URL or path of the file.
        at: String,
        /// What is wrong with it.
        error: TableError,
    },
    /// The database was replaced while it was open, and the new one cannot be read either.
    Stale(Box<ReadError>),
}

impl ReadError {
    /// Whether another build may have taken the database's place.
    fn is_stale(&self) -> bool {
        match self {
            ReadError::Source(error) => error.fault.is_stale(),
            ReadError::Table { error, .. } => matches!(error, TableError::Length { .. } | TableError::Checksum { .. }),
            ReadError::Stale(_) => false,
        }
    }
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ReadError::Source(error) => error.fmt(f),
            ReadError::Table { at, error } => write!(f, "{at}: {error}"),
            ReadError::Stale(error) => {
                write!(f, "the database was replaced while it was open and the new one cannot be read: {error}")
            }
        }
    }
}

impl core::error::Error for ReadError {
    fn source(&self) -> Option<&(dyn core::error::Error + 'static)> {
        match self {
            ReadError::Source(error) => Some(error),
            ReadError::Table { error, .. } => Some(error),
            ReadError::Stale(error) => Some(error),
        }
    }
}

impl From<SourceError> for ReadError {
    fn from(error: SourceError) -> ReadError {
        ReadError::Source(error)
    }
}

/// A database of records `R` that is open for lookups. Clones share everything.
pub struct Reader<S, C, R: Record = Eval>(Rc<Inner<S, C, R>>);

impl<S, C, R: Record> Clone for Reader<S, C, R> {
    fn clone(&self) -> Reader<S, C, R> {
        Reader(self.0.clone())
    }
}

impl<S: fmt::Debug, C, R: Record> fmt::Debug for Reader<S, C, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reader").field("source", &self.0.source).finish_non_exhaustive()
    }
}

struct Inner<S, C, R: Record> {
    source: S,
    cache: C,
    gate: Rc<Gate>,
    manifest: RefCell<Rc<Manifest>>,
    reload: RefCell<Option<WeakShared<Run<R>>>>,
    memory: RefCell<Lru<Chunk, Piece<R>>>,
    running: RefCell<Vec<Running<R>>>,
    stats: Cell<Stats>,
}

/// A request for chunks that touch, and what they were decoded to.
type Run<R> = LocalBoxFuture<'static, Rc<[Result<Piece<R>, ReadError>]>>;

/// The chunks of a request in flight, and the request.
type Running<R> = (Rc<[Chunk]>, WeakShared<Run<R>>);

enum Piece<R: Record> {
    Page(Rc<Page>),
    Block(Rc<Block<R>>),
}

impl<R: Record> Clone for Piece<R> {
    fn clone(&self) -> Piece<R> {
        match self {
            Piece::Page(page) => Piece::Page(page.clone()),
            Piece::Block(block) => Piece::Block(block.clone()),
        }
    }
}

#[derive(Clone, Debug)]
enum Want {
    Page(PageRef),
    Block(BlockRef),
}

impl Want {
    fn chunk(&self) -> &Chunk {
        match self {
            Want::Page(page) => &page.chunk,
            Want::Block(block) => &block.chunk,
        }
    }

    /// The name under which a cache keeps it: that of an immutable file, and the bytes.
    fn name(&self) -> String {
        let Chunk { file, range, .. } = self.chunk();
        format!("{file}:{}-{}", range.start, range.end)
    }

    /// Decodes bytes that came from outside.
    fn decode<R: Record>(&self, bytes: &[u8]) -> Result<Piece<R>, TableError> {
        match self {
            Want::Page(at) => Page::parse(bytes, at).map(|page| Piece::Page(Rc::new(page))),
            Want::Block(at) => Block::open(bytes, at).map(|block| Piece::Block(Rc::new(block))),
        }
    }
}

impl<R: Record> Piece<R> {
    fn page(&self) -> Option<&Rc<Page>> {
        match self {
            Piece::Page(page) => Some(page),
            Piece::Block(_) => None,
        }
    }

    fn block(&self) -> Option<&Rc<Block<R>>> {
        match self {
            Piece::Block(block) => Some(block),
            Piece::Page(_) => None,
        }
    }

    fn bytes(&self) -> usize {
        match self {
            // A separator and the name of a file are on the heap.
            Piece::Page(page) => page.blocks().len() * (size_of::<BlockRef>() + 64),
            Piece::Block(block) => block.memory(),
        }
    }
}

impl<S: Source + 'static, C: Cache + 'static, R: Record + 'static> Reader<S, C, R> {
    /// Opens the database of a source: reads its manifest or, when the source cannot be reached, the last good one
    /// that the cache has.
    ///
    /// # Errors
    ///
    /// The manifest cannot be had, or it is not one that this reader can read.
    pub async fn open(source: S, cache: C, options: Options) -> Result<Reader<S, C, R>, ReadError> {
        let kept = async || {
            let kept = cache.get(&[source.locate(Manifest::FILE)]).await.pop().flatten();
            kept.and_then(|bytes| Manifest::parse::<R>(&bytes).ok())
        };
        let mut stats = Stats::default();
        // Offline the last manifest serves without asking.
        let last = if source.is_offline() { kept().await } else { None };
        let manifest = match last {
            Some(manifest) => manifest,
            None => {
                stats.requests = 1;
                match fetch_manifest::<R>(&source, &cache).await {
                    Ok((manifest, bytes)) => {
                        stats.bytes = bytes;
                        manifest
                    }
                    Err(ReadError::Source(error)) if error.fault.is_unreachable() => {
                        kept().await.ok_or(ReadError::Source(error))?
                    }
                    Err(error) => return Err(error),
                }
            }
        };
        Ok(Reader(Rc::new(Inner {
            source,
            cache,
            gate: Gate::new(options.concurrency),
            manifest: RefCell::new(Rc::new(manifest)),
            reload: RefCell::new(None),
            memory: RefCell::new(Lru::new(options.memory)),
            running: RefCell::new(Vec::new()),
            stats: Cell::new(stats),
        })))
    }

    /// The manifest; another one once the database was seen to be replaced.
    pub fn manifest(&self) -> Rc<Manifest> {
        self.0.manifest.borrow().clone()
    }

    /// What the reader has done so far.
    pub fn stats(&self) -> Stats {
        self.0.stats.get()
    }

    /// Looks `position` up if what that takes is in memory; `None` if it is not.
    pub fn peek(&self, position: &Position) -> Option<Result<Option<R>, ReadError>> {
        let started = now();
        let answer = self.0.peek(position)?;
        self.0.count(|stats| {
            stats.lookups += 1;
            stats.milliseconds += now() - started;
        });
        Some(answer)
    }

    /// Looks `position` up; `None` if the database does not have it.
    ///
    /// # Errors
    ///
    /// What it takes could not be read.
    pub async fn lookup(&self, position: &Position) -> Result<Option<R>, ReadError> {
        if let Some(answer) = self.peek(position) {
            return answer;
        }
        self.lookup_many(core::slice::from_ref(position)).await.pop().unwrap_or(Ok(None))
    }

    /// Looks positions up, answers in the same order. Each page and block is read once, what touches in one request.
    pub async fn lookup_many(&self, positions: &[Position]) -> Vec<Result<Option<R>, ReadError>> {
        let started = now();
        let manifest = self.manifest();
        let mut answers = self.0.attempt(&manifest, positions).await;
        let is_stale = |answer: &Result<_, ReadError>| answer.as_ref().is_err_and(ReadError::is_stale);
        let stale: Vec<usize> = (0..answers.len()).filter(|&n| is_stale(&answers[n])).collect();
        if !stale.is_empty()
            && let Some(new) = self.reload(&manifest).await
        {
            let again: Vec<Position> = stale.iter().map(|&n| positions[n].clone()).collect();
            let replaced = *new != *manifest;
            for (n, answer) in stale.into_iter().zip(self.0.attempt(&new, &again).await) {
                answers[n] = match answer {
                    Err(error) if replaced && error.is_stale() => Err(ReadError::Stale(Box::new(error))),
                    answer => answer,
                };
            }
        }
        self.0.count(|stats| {
            stats.lookups += positions.len() as u64;
            stats.milliseconds += now() - started;
        });
        answers
    }

    /// The manifest that is to take the place of `former`, which was seen to be wrong; `None` if it cannot be had.
    async fn reload(&self, former: &Rc<Manifest>) -> Option<Rc<Manifest>> {
        let current = self.manifest();
        if !Rc::ptr_eq(&current, former) {
            return Some(current);
        }
        let running = self.0.reload.borrow().as_ref().and_then(WeakShared::upgrade);
        let reload = running.unwrap_or_else(|| {
            let inner = self.0.clone();
            let reload = async move { inner.reload().await }.boxed_local().shared();
            self.0.reload.replace(reload.downgrade());
            reload
        });
        let pieces = reload.await;
        pieces.iter().all(Result::is_ok).then(|| self.manifest())
    }
}

async fn fetch_manifest<R: Record>(source: &impl Source, cache: &impl Cache) -> Result<(Manifest, u64), ReadError> {
    let bytes = source.whole(Manifest::FILE, Manifest::MAX_BYTES as u64).await?;
    let at = source.locate(Manifest::FILE);
    let manifest = Manifest::parse::<R>(&bytes).map_err(|error| ReadError::Table { at: at.clone(), error })?;
    cache.put(&at, &bytes, Keep::Longest);
    Ok((manifest, bytes.len() as u64))
}

impl<S: Source + 'static, C: Cache + 'static, R: Record + 'static> Inner<S, C, R> {
    fn count(&self, change: impl FnOnce(&mut Stats)) {
        let mut stats = self.stats.get();
        change(&mut stats);
        self.stats.set(stats);
    }

    fn error(&self, chunk: &Chunk, error: TableError) -> ReadError {
        ReadError::Table { at: self.source.locate(&chunk.file), error }
    }

    /// Reads the manifest again. It has no pieces, but may fail.
    async fn reload(&self) -> Rc<[Result<Piece<R>, ReadError>]> {
        self.count(|stats| stats.requests += 1);
        match fetch_manifest::<R>(&self.source, &self.cache).await {
            Ok((manifest, bytes)) => {
                self.count(|stats| stats.bytes += bytes);
                self.manifest.replace(Rc::new(manifest));
                Rc::new([])
            }
            Err(error) => Rc::new([Err(error)]),
        }
    }

    fn peek(&self, position: &Position) -> Option<Result<Option<R>, ReadError>> {
        let key = position.key();
        let manifest = self.manifest.borrow();
        let Some(page) = manifest.page_of(&key) else { return Some(Ok(None)) };
        let mut memory = self.memory.borrow_mut();
        let page = memory.get(&page.chunk)?.page()?.clone();
        let Some(at) = page.block_of(&key) else { return Some(Ok(None)) };
        let block = memory.get(&at.chunk)?.block()?;
        self.count(|stats| stats.memory_hits += 1);
        Some(block.find(position).map_err(|error| self.error(&at.chunk, error)))
    }

    /// Looks positions up by one manifest.
    async fn attempt(
        self: &Rc<Self>,
        manifest: &Manifest,
        positions: &[Position],
    ) -> Vec<Result<Option<R>, ReadError>> {
        // In the order of keys, pages and blocks come in the order of the files, what is equal or touches side by side.
        let keys: Vec<_> = positions.iter().map(Position::key).collect();
        // A heap sorts in a tenth of the code.
        let order: BinaryHeap<_> = keys.iter().zip(0..).collect();
        let order = order.into_sorted_vec().into_iter().map(|(_, n)| n);

        let mut answers: Vec<Result<Option<R>, ReadError>> = positions.iter().map(|_| Ok(None)).collect();
        let pages = self
            .gather(order.filter_map(|n: usize| Some((n, Want::Page(manifest.page_of(&keys[n])?.clone())))).collect())
            .await;
        let mut wants = Vec::new();
        for (n, _, page) in pages {
            match page {
                Ok(page) => {
                    if let Some(block) = page.page().and_then(|page| page.block_of(&keys[n])) {
                        wants.push((n, Want::Block(block.clone())));
                    }
                }
                Err(error) => answers[n] = Err(error),
            }
        }
        for (n, want, block) in self.gather(wants).await {
            answers[n] = block.and_then(|block| match block.block() {
                Some(block) => block.find(&positions[n]).map_err(|error| self.error(want.chunk(), error)),
                None => Ok(None),
            });
        }
        answers
    }

    /// Gets what each position wants; equal wants stand side by side.
    async fn gather(self: &Rc<Self>, wants: Vec<(usize, Want)>) -> Vec<(usize, Want, Result<Piece<R>, ReadError>)> {
        let mut distinct: Vec<Want> = Vec::new();
        for (_, want) in &wants {
            if distinct.last().is_none_or(|last| last.chunk() != want.chunk()) {
                distinct.push(want.clone());
            }
        }
        let pieces = self.pieces(&distinct).await;
        let mut at = 0;
        let mut gathered = Vec::with_capacity(wants.len());
        for (n, want) in wants {
            if distinct[at].chunk() != want.chunk() {
                at += 1;
            }
            gathered.push((n, want, pieces[at].clone()));
        }
        gathered
    }

    /// Gets distinct pieces in the order of the files: from memory, else from the cache, else from the source.
    async fn pieces(self: &Rc<Self>, wants: &[Want]) -> Vec<Result<Piece<R>, ReadError>> {
        let mut pieces: Vec<Option<Result<Piece<R>, ReadError>>> = wants.iter().map(|want| self.held(want)).collect();

        let missing = |pieces: &[Option<_>]| (0..wants.len()).filter(|&n| pieces[n].is_none()).collect::<Vec<_>>();
        let elsewhere: Vec<usize> =
            missing(&pieces).into_iter().filter(|&n| self.running(wants[n].chunk()).is_none()).collect();
        if !elsewhere.is_empty() {
            let names: Vec<String> = elsewhere.iter().map(|&n| wants[n].name()).collect();
            let kept = self.cache.get(&names).await;
            for ((n, name), bytes) in elsewhere.into_iter().zip(names).zip(kept) {
                let Some(bytes) = bytes else { continue };
                match wants[n].decode(&bytes) {
                    Ok(piece) => {
                        self.hold(&wants[n], &piece);
                        self.count(|stats| stats.cache_hits += u64::from(piece.block().is_some()));
                        pieces[n] = Some(Ok(piece));
                    }
                    Err(_) => self.cache.remove(&name),
                }
            }
        }

        // No await between here and the start of the last request: what one lookup starts, the next one finds running.
        let mut waits = Vec::new();
        let mut touching: Vec<usize> = Vec::new();
        for n in missing(&pieces) {
            if let Some(piece) = self.held(&wants[n]) {
                pieces[n] = Some(piece);
            } else if let Some((run, place)) = self.running(wants[n].chunk()) {
                waits.push((n, place, run));
            } else {
                let start = touching.first().map_or(0, |&first| wants[first].chunk().range.start);
                let touches = touching.last().is_some_and(|&last| {
                    let (last, next) = (wants[last].chunk(), wants[n].chunk());
                    last.file == next.file
                        && last.range.end == next.range.start
                        && next.range.end.saturating_sub(start) <= MAX_REQUEST
                });
                if !touches {
                    self.start(&mut touching, wants, &mut waits);
                }
                touching.push(n);
            }
        }
        self.start(&mut touching, wants, &mut waits);

        let runs = all(waits.iter().map(|(_, _, run)| run.clone())).await;
        for ((n, place, _), run) in waits.into_iter().zip(runs) {
            pieces[n] = run.get(place).cloned();
        }
        // Every want is held, running or started, and a run answers each of its chunks.
        pieces.into_iter().flatten().collect()
    }

    /// Starts one request for wants that touch.
    fn start(
        self: &Rc<Self>,
        touching: &mut Vec<usize>,
        wants: &[Want],
        waits: &mut Vec<(usize, usize, Shared<Run<R>>)>,
    ) {
        if touching.is_empty() {
            return;
        }
        let touching = core::mem::take(touching);
        let parts: Vec<Want> = touching.iter().map(|&n| wants[n].clone()).collect();
        let chunks: Rc<[Chunk]> = parts.iter().map(|part| part.chunk().clone()).collect();
        let inner = self.clone();
        let run = async move { inner.run(parts).await }.boxed_local().shared();
        let mut running = self.running.borrow_mut();
        running.retain(|(_, run)| run.upgrade().is_some_and(|run| run.peek().is_none()));
        running.extend(run.downgrade().map(|run| (chunks, run)));
        waits.extend(touching.into_iter().enumerate().map(|(place, n)| (n, place, run.clone())));
    }

    async fn run(&self, parts: Vec<Want>) -> Rc<[Result<Piece<R>, ReadError>]> {
        let (Some(first), Some(last)) = (parts.first(), parts.last()) else { return Rc::new([]) };
        let range = first.chunk().range.start..last.chunk().range.end;
        let _permit = self.gate.pass().await;
        self.count(|stats| stats.requests += 1);
        let bytes = match self.source.range(&first.chunk().file, range.clone()).await {
            Ok(bytes) => bytes,
            Err(error) => return parts.iter().map(|_| Err(error.clone().into())).collect(),
        };
        self.count(|stats| stats.bytes += bytes.len() as u64);
        let decode = |part: &Want| {
            let bytes = slice(&bytes, &part.chunk().range, range.start);
            let piece = part.decode(bytes).map_err(|error| self.error(part.chunk(), error))?;
            self.cache.put(&part.name(), bytes, Keep::WhileUsed);
            self.hold(part, &piece);
            self.count(|stats| stats.network_blocks += u64::from(piece.block().is_some()));
            Ok(piece)
        };
        parts.iter().map(decode).collect()
    }

    fn running(&self, chunk: &Chunk) -> Option<(Shared<Run<R>>, usize)> {
        self.running.borrow().iter().find_map(|(chunks, run)| {
            let place = chunks.iter().position(|running| running == chunk)?;
            Some((run.upgrade()?, place))
        })
    }

    fn held(&self, want: &Want) -> Option<Result<Piece<R>, ReadError>> {
        let piece = self.memory.borrow_mut().get(want.chunk()).cloned()?;
        self.count(|stats| stats.memory_hits += u64::from(piece.block().is_some()));
        Some(Ok(piece))
    }

    fn hold(&self, want: &Want, piece: &Piece<R>) {
        self.memory.borrow_mut().put(want.chunk().clone(), piece.clone(), piece.bytes());
    }
}

/// The bytes `range` of what begins at `start`; none where there are none, which no checksum passes.
fn slice<'a>(bytes: &'a [u8], range: &Range<u64>, start: u64) -> &'a [u8] {
    let place = |at: u64| usize::try_from(at.saturating_sub(start)).unwrap_or(usize::MAX);
    bytes.get(place(range.start)..place(range.end)).unwrap_or_default()
}

/// The outcomes of futures that run at the same time.
async fn all<F: Future + Unpin>(futures: impl Iterator<Item = F>) -> Vec<F::Output> {
    let mut all: Vec<_> = futures.map(maybe_done).collect();
    poll_fn(|context| {
        let pending = all.iter_mut().filter_map(|one| one.poll_unpin(context).is_pending().then_some(())).count();
        if pending > 0 { Poll::Pending } else { Poll::Ready(()) }
    })
    .await;
    all.iter_mut().filter_map(|one| Pin::new(one).take_output()).collect()
}

/// Lets so many through at a time.
#[derive(Debug)]
struct Gate {
    free: Cell<usize>,
    waiting: RefCell<VecDeque<oneshot::Sender<Permit>>>,
}

/// Leave to be past a [`Gate`]; dropped, it goes to the next one who waits.
#[derive(Debug)]
struct Permit(Rc<Gate>);

impl Gate {
    fn new(at_a_time: usize) -> Rc<Gate> {
        Rc::new(Gate { free: Cell::new(at_a_time.max(1)), waiting: RefCell::new(VecDeque::new()) })
    }

    async fn pass(self: &Rc<Self>) -> Option<Permit> {
        if let Some(free) = self.free.get().checked_sub(1) {
            self.free.set(free);
            return Some(Permit(self.clone()));
        }
        let (send, permit) = oneshot::channel();
        self.waiting.borrow_mut().push_back(send);
        permit.await.ok()
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        let next = self.0.waiting.borrow_mut().pop_front();
        match next {
            // To one who left, it comes back, is dropped and goes on to the next.
            Some(next) => drop(next.send(Permit(self.0.clone()))),
            None => self.0.free.set(self.0.free.get() + 1),
        }
    }
}

/// Milliseconds by a clock that only goes forward.
#[cfg(not(target_arch = "wasm32"))]
fn now() -> f64 {
    use std::sync::LazyLock;
    use std::time::Instant;
    static START: LazyLock<Instant> = LazyLock::new(Instant::now);
    START.elapsed().as_secs_f64() * 1e3
}

#[cfg(target_arch = "wasm32")]
use crate::web::now;

#[cfg(all(test, feature = "write"))]
mod tests;
