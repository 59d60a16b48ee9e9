//! Positions on their way to their answers.
//!
//! A position takes the page that covers its key, then the block that the page names. A lookup tells what it wants
//! that is not in memory; whoever drives it gets the bytes, from wherever, and hands them in, until nothing is wanted
//! any more. So all that decides what is asked for, and whether it is right, is here, and knows nothing of requests.

use std::collections::BinaryHeap;
use std::ops::Range;
use std::sync::Arc;

use super::catalog::{Catalog, Piece, Want};
use super::{MAX_REQUEST, ReadError};
use crate::eval::Eval;
use crate::position::{Key, Position};
use crate::table::{Manifest, Record};

/// A lookup of positions that is under way.
#[derive(Debug)]
pub struct Lookup<R: Record = Eval> {
    manifest: Arc<Manifest>,
    /// In the order of keys: what is equal or near is side by side, in the order of the files.
    seeks: Vec<Seek<R>>,
    told: Told,
    is_second: bool,
    is_replaced: bool,
}

/// What was told to be wanted.
#[derive(Debug, Default)]
struct Told {
    /// Each with the number of the request that would fetch it.
    wants: Vec<(Want, usize)>,
    requests: usize,
    /// Where the last request starts.
    start: u64,
}

/// A position and how far it has come.
#[derive(Debug)]
struct Seek<R> {
    /// Its number in the question.
    place: usize,
    position: Position,
    key: Key,
    state: State<R>,
}

#[derive(Debug)]
enum State<R> {
    /// It takes this next.
    Wants(Want),
    /// That it takes it has been told.
    Waits(Want),
    Done(Result<Option<R>, ReadError>),
}

impl<R: Record> Seek<R> {
    fn start(&mut self, manifest: &Manifest) {
        self.state = match manifest.page_of(&self.key) {
            Some(page) => State::Wants(Want::Page(page)),
            None => State::Done(Ok(None)),
        };
    }

    /// Goes on with what it wanted.
    fn go_on(&mut self, catalog: &Catalog<R>, want: &Want, piece: &Piece<R>) {
        self.state = match piece {
            Piece::Page(page) => match page.block_of(&self.key) {
                Some(block) => State::Wants(Want::Block(block)),
                None => State::Done(Ok(None)),
            },
            Piece::Block(block) => {
                State::Done(block.find(&self.position).map_err(|error| catalog.error(want.chunk(), error)))
            }
        };
    }
}

impl<R: Record> Lookup<R> {
    /// Starts to look positions up.
    pub fn new(catalog: &Catalog<R>, positions: Vec<Position>) -> Lookup<R> {
        // A heap sorts in a tenth of the code.
        let keys: BinaryHeap<_> = positions.iter().map(Position::key).zip(0..).collect();
        let seeks = keys.into_sorted_vec().into_iter().map(|(key, place): (_, usize)| Seek {
            place,
            position: positions[place].clone(),
            key,
            state: State::Done(Ok(None)),
        });
        let mut lookup = Lookup {
            manifest: catalog.manifest().clone(),
            seeks: seeks.collect(),
            told: Told::default(),
            is_second: false,
            is_replaced: false,
        };
        lookup.start();
        lookup
    }

    fn start(&mut self) {
        self.seeks.iter_mut().for_each(|seek| seek.start(&self.manifest));
    }

    /// The numbers of what is wanted and was not told before, in the order of the files. When nothing is, and all
    /// that was told has been handed in, there are [answers](Lookup::answers).
    pub fn wants(&mut self, catalog: &mut Catalog<R>) -> Range<usize> {
        let first = self.told.wants.len();
        let mut hit: Option<Want> = None;
        for seek in &mut self.seeks {
            while let State::Wants(want) = &seek.state {
                let want = want.clone();
                let Some(piece) = catalog.held(&want) else {
                    self.told.push(first, &want, catalog.gap);
                    seek.state = State::Waits(want);
                    break;
                };
                seek.go_on(catalog, &want, &piece);
                if want.is_block() && hit.as_ref() != Some(&want) {
                    catalog.hits += 1;
                    hit = Some(want);
                }
            }
        }
        first..self.told.wants.len()
    }

    /// What a number stands for.
    pub fn want(&self, n: usize) -> &Want {
        &self.told.wants[n].0
    }

    /// The number of the request that would fetch it. Parts of one request are near each other, in the order of their
    /// numbers.
    pub fn request(&self, n: usize) -> usize {
        self.told.wants[n].1
    }

    /// Goes on with what is wanted, if it has come to be in memory.
    pub fn recall(&mut self, catalog: &mut Catalog<R>, n: usize) -> bool {
        let piece = catalog.held(self.want(n));
        piece.map(|piece| self.hand(catalog, n, &piece)).is_some()
    }

    /// Goes on with the bytes of what is wanted.
    ///
    /// # Errors
    ///
    /// They are not the bytes of it, which is still wanted.
    pub fn take(&mut self, catalog: &mut Catalog<R>, n: usize, bytes: &[u8]) -> Result<(), ReadError> {
        let piece = catalog.take(self.want(n), bytes)?;
        self.hand(catalog, n, &piece);
        Ok(())
    }

    fn hand(&mut self, catalog: &Catalog<R>, n: usize, piece: &Piece<R>) {
        let (want, seeks) = self.waiting(n);
        seeks.for_each(|seek| seek.go_on(catalog, want, piece));
    }

    /// What a number stands for, and the positions that wait for it. They have keys of its stretch, and so stand side by
    /// side: one among thousands of chunks is not compared with every position.
    fn waiting(&mut self, n: usize) -> (&Want, impl Iterator<Item = &mut Seek<R>>) {
        let want = &self.told.wants[n].0;
        let keys = &want.chunk().keys;
        let start = self.seeks.partition_point(|seek| seek.key.as_bytes() < &keys.from[..]);
        let seeks = self.seeks[start..].iter_mut().take_while(|seek| keys.contains(seek.key.as_bytes()));
        (want, seeks.filter(move |seek| seek.waits(want)))
    }

    /// Goes on without what is wanted, which cannot be had.
    pub fn fail(&mut self, n: usize, error: &ReadError) {
        self.waiting(n).1.for_each(|seek| seek.state = State::Done(Err(error.clone())));
    }

    /// Whether another build may have taken the database's place: read the manifest again and [retry](Lookup::retry).
    /// Once is enough.
    pub fn is_stale(&self) -> bool {
        !self.is_second && self.seeks.iter().any(Seek::is_stale)
    }

    /// Whether the catalog has had a new manifest since the lookup began.
    pub fn is_outdated(&self, catalog: &Catalog<R>) -> bool {
        !Arc::ptr_eq(&self.manifest, catalog.manifest())
    }

    /// Begins anew, by the catalog's manifest, with what another build may have taken the place of.
    pub fn retry(&mut self, catalog: &Catalog<R>) {
        self.is_second = true;
        self.is_replaced = *self.manifest != **catalog.manifest();
        self.manifest = catalog.manifest().clone();
        for seek in self.seeks.iter_mut().filter(|seek| seek.is_stale()) {
            seek.start(&self.manifest);
        }
    }

    /// The answers, in the order of the question: `None` for a position that the database does not have.
    pub fn answers(self) -> Vec<Result<Option<R>, ReadError>> {
        let mut answers: Vec<Result<Option<R>, ReadError>> = self.seeks.iter().map(|_| Ok(None)).collect();
        for seek in self.seeks {
            let is_stale = self.is_replaced && seek.is_stale();
            if let State::Done(answer) = seek.state {
                answers[seek.place] = match answer {
                    Err(error) if is_stale => Err(ReadError::Stale(Box::new(error))),
                    answer => answer,
                };
            }
        }
        answers
    }
}

impl<R> Seek<R> {
    fn waits(&self, want: &Want) -> bool {
        matches!(&self.state, State::Waits(other) if other == want)
    }

    fn is_stale(&self) -> bool {
        matches!(&self.state, State::Done(Err(error)) if error.is_stale())
    }
}

impl Told {
    /// Adds a want to those from `first` on, unless it is the last of them; requests bear gaps of so many bytes.
    fn push(&mut self, first: usize, want: &Want, most: u64) {
        let Range { start, end } = want.chunk().range;
        let last = self.wants[first..].last().map(|(last, _)| last);
        if last == Some(want) {
            return;
        }
        let is_near = last.is_some_and(|last| {
            let last = last.chunk();
            let gap = start.checked_sub(last.range.end);
            let length = end.saturating_sub(self.start);
            last.file == want.chunk().file && gap.is_some_and(|gap| gap <= most) && length <= MAX_REQUEST
        });
        if !is_near {
            self.requests += 1;
            self.start = start;
        }
        self.wants.push((want.clone(), self.requests));
    }
}
