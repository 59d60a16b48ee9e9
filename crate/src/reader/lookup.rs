//! The state of a lookup of several positions, without input and output.
//!
//! A position needs the page that covers its key, and then the block that the page names. A lookup lists the chunks
//! that are not in memory. The driver gets their bytes and delivers the decoded pages and blocks until the lookup needs
//! no further chunk.

use std::collections::BinaryHeap;
use std::ops::Range;
use std::sync::Arc;

use super::catalog::{Kind, Part, Want};
use super::error::{ReadError, table_error};
use super::limits::RequestLimits;
use crate::position::{Key, Position};
use crate::table::{Chunk, ContentHash, HashList, Manifest, Page, Record};

/// An answer, as [`Reader`](super::Reader) gives it.
pub(super) type Answer<R> = Result<Option<R>, ReadError>;

/// A lookup of positions that is under way.
#[derive(Debug)]
pub(super) struct Lookup<R: Record> {
    manifest: Arc<Manifest>,
    /// Whether the manifest is pinned, so that hashes are compared.
    is_pinned: bool,
    /// Path or URL of the files, with a trailing slash, for error messages.
    folder: Arc<str>,
    /// Seeks in the order of keys, so that equal and neighbouring positions follow each other, in the order of the files.
    seeks: Vec<Seek>,
    /// Seeks whose next want the caller may not know yet.
    awake: Vec<usize>,
    wants: Wants,
    /// Answers that have not been returned yet, each with the index of its position.
    answers: Vec<(usize, Answer<R>)>,
    /// Number of times that a block was in memory.
    pub(super) hits: u64,
    is_second: bool,
    is_replaced: bool,
}

/// The chunks that a lookup has asked for.
#[derive(Debug, Default)]
struct Wants {
    /// Each chunk with the number of its request.
    all: Vec<(Want, usize)>,
    requests: usize,
    /// Index of the first chunk of the last request.
    first: usize,
}

/// A position and how far it has come.
#[derive(Debug)]
struct Seek {
    /// Its number in the question.
    place: usize,
    position: Position,
    key: Key,
    /// The page of the key, while the seek waits for the hashes of its blocks.
    page: Option<Arc<Page>>,
    state: State,
}

#[derive(Debug)]
enum State {
    /// It takes this next.
    Wants(Want),
    /// Waits for this chunk, which the caller knows.
    Waits(Want),
    /// Another build may have taken the database's place.
    Stale(ReadError),
    Answered,
}

impl<R: Record> Lookup<R> {
    /// Starts to look positions up.
    pub(super) fn new(
        manifest: Arc<Manifest>,
        is_pinned: bool,
        folder: Arc<str>,
        positions: Vec<Position>,
    ) -> Lookup<R> {
        // A heap sorts in a tenth of the code.
        let keys: BinaryHeap<_> = positions.iter().map(Position::key).zip(0..).collect();
        let seeks = keys
            .into_sorted_vec()
            .into_iter()
            .map(|(key, place): (_, usize)| Seek {
                place,
                position: positions[place].clone(),
                key,
                page: None,
                state: State::Answered,
            });
        let mut lookup = Lookup {
            manifest,
            is_pinned,
            folder,
            seeks: seeks.collect(),
            awake: Vec::new(),
            wants: Wants::default(),
            answers: Vec::new(),
            hits: 0,
            is_second: false,
            is_replaced: false,
        };
        (0..lookup.seeks.len()).for_each(|at| lookup.start(at));
        lookup
    }

    fn start(&mut self, at: usize) {
        match self.manifest.page_and_hash_of(&self.seeks[at].key) {
            Some((page, hash)) => self.want(at, Kind::Page, page, self.is_pinned.then_some(hash)),
            None => self.answer(at, Ok(None)),
        }
    }

    fn want(&mut self, at: usize, kind: Kind, chunk: Chunk, hash: Option<ContentHash>) {
        self.seeks[at].state = State::Wants(Want { chunk, hash, kind });
        self.awake.push(at);
    }

    fn answer(&mut self, at: usize, answer: Answer<R>) {
        let seek = &mut self.seeks[at];
        let answer = match answer {
            Err(error) if error.is_stale() && !self.is_second => {
                seek.state = State::Stale(error);
                return;
            }
            Err(error) if error.is_stale() && self.is_replaced => {
                Err(ReadError::Stale(Box::new(error)))
            }
            answer => answer,
        };
        seek.state = State::Answered;
        self.answers.push((seek.place, answer));
    }

    /// Continues a seek with the page, hashes or block that it needed.
    fn proceed(&mut self, at: usize, want: &Want, part: &Part<R>) {
        let seek = &mut self.seeks[at];
        match part {
            Part::Page(page) if self.is_pinned => {
                seek.page = Some(page.clone());
                let HashList { at: list, hash } = page.hashes().clone();
                self.want(at, Kind::Hashes, list, Some(hash));
            }
            Part::Page(page) => match page.block_of(&seek.key) {
                Some(block) => self.want(at, Kind::Block, block, None),
                None => self.answer(at, Ok(None)),
            },
            Part::Hashes(hashes) => match seek
                .page
                .take()
                .and_then(|page| page.block_and_hash_of(&seek.key, hashes))
            {
                Some((block, hash)) => self.want(at, Kind::Block, block, Some(hash)),
                None => self.answer(at, Ok(None)),
            },
            Part::Block(block) => {
                let answer = block
                    .find(&seek.position)
                    .map_err(|error| table_error(&self.folder, &want.chunk, error));
                self.answer(at, answer);
            }
        }
    }

    /// Returns the indices of the chunks that became necessary since the last call, in the order of the files. If no
    /// chunk became necessary, and all earlier chunks were delivered, all answers are known. `in_memory` returns a page or block from
    /// memory.
    pub(super) fn wants(
        &mut self,
        in_memory: &dyn Fn(&Want) -> Option<Part<R>>,
        limits: &RequestLimits,
    ) -> Range<usize> {
        let first = self.wants.all.len();
        let mut hit: Option<Want> = None;
        // Seeks woken by one page are in order, those woken by several are not.
        let awake = BinaryHeap::from(core::mem::take(&mut self.awake)).into_sorted_vec();
        for at in awake {
            while let State::Wants(want) = &self.seeks[at].state {
                let want = want.clone();
                let Some(part) = in_memory(&want) else {
                    self.wants.push(first, &want, limits);
                    self.seeks[at].state = State::Waits(want);
                    break;
                };
                self.proceed(at, &want, &part);
                if want.is_block() && hit.as_ref() != Some(&want) {
                    self.hits += 1;
                    hit = Some(want);
                }
            }
        }
        // Each seek continued at once, or waits.
        self.awake.clear();
        first..self.wants.all.len()
    }

    /// Returns the chunk of an index.
    pub(super) fn wanted(&self, n: usize) -> &Want {
        &self.wants.all[n].0
    }

    /// Returns the number of the request that would fetch it. Parts of one request are near each other, in the order of
    /// their numbers.
    pub(super) fn request(&self, n: usize) -> usize {
        self.wants.all[n].1
    }

    /// Delivers a page or block, or the error, to all seeks that wait for it.
    pub(super) fn deliver(&mut self, n: usize, part: Result<&Part<R>, &ReadError>) {
        let want = self.wants.all[n].0.clone();
        // Those who wait have keys of its stretch, and so stand side by side.
        let keys = &want.chunk.keys;
        let start = self
            .seeks
            .partition_point(|seek| seek.key.as_bytes() < &keys.from[..]);
        let length = self.seeks[start..].partition_point(|seek| keys.contains(seek.key.as_bytes()));
        for at in start..start + length {
            if matches!(&self.seeks[at].state, State::Waits(other) if *other == want) {
                match part {
                    Ok(part) => self.proceed(at, &want, part),
                    Err(error) => self.answer(at, Err(error.clone())),
                }
            }
        }
    }

    /// Returns whether another build may have replaced the database: read the manifest again, then
    /// [retry](Lookup::retry).
    pub(super) fn is_stale(&self) -> bool {
        self.seeks
            .iter()
            .any(|seek| matches!(seek.state, State::Stale(_)))
    }

    /// Returns whether the manifest was read again since the lookup began. `current` is the manifest in use.
    pub(super) fn is_outdated(&self, current: &Arc<Manifest>) -> bool {
        !Arc::ptr_eq(&self.manifest, current)
    }

    /// Repeats the stale seeks with a manifest. A second failure becomes the answer.
    pub(super) fn retry(&mut self, manifest: Arc<Manifest>) {
        self.is_second = true;
        self.is_replaced = *self.manifest != *manifest;
        self.manifest = manifest;
        for at in 0..self.seeks.len() {
            if matches!(self.seeks[at].state, State::Stale(_)) {
                self.start(at);
            }
        }
    }

    /// Replaces the errors of stale seeks by their cause.
    pub(super) fn replace_errors(&mut self, cause: &ReadError) {
        for seek in &mut self.seeks {
            if let State::Stale(error) = &mut seek.state {
                *error = cause.clone();
            }
        }
    }

    /// Answers all remaining seeks: stale seeks with their error, and the remaining seeks with [`ReadError::Unanswered`],
    /// because a requested chunk was never delivered.
    pub(super) fn answer_rest(&mut self) {
        self.is_second = true;
        for at in 0..self.seeks.len() {
            let error = match &self.seeks[at].state {
                State::Answered => continue,
                State::Stale(error) => error.clone(),
                State::Wants(_) | State::Waits(_) => ReadError::Unanswered,
            };
            self.answer(at, Err(error));
        }
    }

    /// Returns the answers since the last call, each with its position's number in the question; `None` for
    /// a position that the database does not have.
    pub(super) fn answers(&mut self) -> impl Iterator<Item = (usize, Answer<R>)> {
        self.answers.drain(..)
    }
}

impl Wants {
    /// Adds a want to the batch that begins at index `batch`, unless it is the last want of the batch.
    fn push(&mut self, batch: usize, want: &Want, limits: &RequestLimits) {
        let last = self.all[batch..].last().map(|(last, _)| last);
        if last == Some(want) {
            return;
        }
        let fits =
            |last: &Want| limits.fits(&self.all[self.first].0.chunk, &last.chunk, &want.chunk);
        if !last.is_some_and(fits) {
            self.requests += 1;
            self.first = self.all.len();
        }
        self.all.push((want.clone(), self.requests));
    }
}
