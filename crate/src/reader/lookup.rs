//! The state of a lookup of several positions, without input and output.
//!
//! A position needs the page that covers its key, and then the block that the page names. A lookup lists the chunks
//! that are not in memory. The driver gets their bytes and delivers the decoded pages and blocks until the lookup needs
//! no further chunk.

use std::collections::BinaryHeap;
use std::ops::Range;
use std::sync::Arc;

use super::catalog::{Kind, OpenBlock, Part, Want};
use super::error::ReadError;
use super::limits::RequestLimits;
use crate::position::Key;
use crate::table::{Chunk, ContentHash, HashList, Manifest, Page};

/// The only block that may contain a position; `None` if no block may.
pub(super) type Answer = Result<Option<Arc<OpenBlock>>, ReadError>;

/// A lookup of positions.
#[derive(Debug)]
pub(super) struct Lookup {
    /// The manifest that the answers belong to.
    pub(super) manifest: Arc<Manifest>,
    /// Whether the manifest is pinned, so that hashes are compared.
    is_pinned: bool,
    /// Seeks in the order of keys, so that equal and neighbouring positions are contiguous, in the order of the files.
    seeks: Vec<Seek>,
    /// Seeks that need another chunk since the last call of `wants`.
    awake: Vec<usize>,
    wants: Wants,
    /// Answers that have not been returned yet, each with the index of its position.
    answers: Vec<(usize, Answer)>,
    /// Number of times that a block was in memory.
    pub(super) hits: u64,
    is_second: bool,
    is_replaced: bool,
}

/// The chunks that a lookup needs.
#[derive(Debug, Default)]
struct Wants {
    /// Each chunk with the number of its request.
    all: Vec<(Want, usize)>,
    requests: usize,
    /// Index of the first chunk of the last request.
    first: usize,
}

/// A position and the state of its lookup.
#[derive(Debug)]
struct Seek {
    /// Index of the position in the question.
    place: usize,
    key: Key,
    /// The page of the key, while the seek waits for the hashes of its blocks.
    page: Option<Arc<Page>>,
    state: State,
}

#[derive(Debug)]
enum State {
    /// Needs this chunk, which `wants` has not returned.
    Wants(Want),
    /// Needs this chunk, which `wants` returned.
    Waits(Want),
    /// Failed, perhaps because a new build replaced the database.
    Stale(ReadError),
    Answered,
}

impl Lookup {
    /// Starts to look up the positions of some keys.
    pub(super) fn new(
        manifest: Arc<Manifest>,
        is_pinned: bool,
        keys: impl Iterator<Item = Key>,
    ) -> Lookup {
        // A heap sorts in a tenth of the code.
        let keys: BinaryHeap<_> = keys.zip(0..).collect();
        let seeks = keys
            .into_sorted_vec()
            .into_iter()
            .map(|(key, place): (_, usize)| Seek {
                place,
                key,
                page: None,
                state: State::Answered,
            });
        let mut lookup = Lookup {
            manifest,
            is_pinned,
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

    fn answer(&mut self, at: usize, answer: Answer) {
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
    fn proceed(&mut self, at: usize, part: &Part) {
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
            Part::Block(block) => self.answer(at, Ok(Some(block.clone()))),
        }
    }

    /// Returns the indices of the chunks that became necessary since the last call, in the order of the files. If no
    /// chunk became necessary, and all earlier chunks were delivered, all answers are known. `in_memory` returns a page or block from
    /// memory.
    pub(super) fn wants(
        &mut self,
        in_memory: &dyn Fn(&Want) -> Option<Part>,
        limits: &RequestLimits,
    ) -> Range<usize> {
        let first = self.wants.all.len();
        let mut hit: Option<Want> = None;
        // Several pages wake their seeks in any order.
        let awake = BinaryHeap::from(core::mem::take(&mut self.awake)).into_sorted_vec();
        for at in awake {
            while let State::Wants(want) = &self.seeks[at].state {
                let want = want.clone();
                let Some(part) = in_memory(&want) else {
                    self.wants.push(first, &want, limits);
                    self.seeks[at].state = State::Waits(want);
                    break;
                };
                self.proceed(at, &part);
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

    /// Returns the number of the request of a chunk. The chunks of a request are contiguous, except for small gaps.
    pub(super) fn request(&self, n: usize) -> usize {
        self.wants.all[n].1
    }

    /// Delivers a page or block, or the error, to all seeks that wait for it.
    pub(super) fn deliver(&mut self, n: usize, part: Result<&Part, &ReadError>) {
        let want = self.wants.all[n].0.clone();
        // The seeks that wait for the chunk have its range of keys, so they are contiguous.
        let keys = &want.chunk.keys;
        let start = self
            .seeks
            .partition_point(|seek| seek.key.as_bytes() < &keys.from[..]);
        let length = self.seeks[start..].partition_point(|seek| keys.contains(seek.key.as_bytes()));
        for at in start..start + length {
            if matches!(&self.seeks[at].state, State::Waits(other) if *other == want) {
                match part {
                    Ok(part) => self.proceed(at, part),
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

    /// Returns the answers since the last call, each with the index of its position.
    pub(super) fn answers(&mut self) -> Vec<(usize, Answer)> {
        core::mem::take(&mut self.answers)
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
