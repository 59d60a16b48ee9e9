//! Which positions a database has, block by block as they are asked for: each page and block is read once, and of a block
//! only what tells its positions apart stays in memory. Its bytes are kept on the disk until records are written.

use std::collections::BTreeMap;
use std::fs::File;
use std::hash::{BuildHasher, RandomState};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::ops::Bound;
use std::sync::Arc;

use futures_util::{StreamExt, TryStreamExt};
use serde::Serialize;
use shelfish::eval::PositionEval;
use shelfish::position::Key;
use shelfish::reader::ReadError;
use shelfish::source::Source;
use shelfish::table::{Block, Chunk, Manifest, Page, RecordWeight, TableError};

use crate::Failure;
use crate::database::Place;
use crate::system::ordered::{cores, ordered};

/// Bytes between two blocks that are read with them, to save a request to a host.
const GAP: u64 = 16 << 10;
/// The most bytes of a request, one block aside.
const REQUEST: u64 = 1 << 20;
/// Requests at a time.
const AT_ONCE: usize = 8;
/// The most bytes that are in memory at a time, one block aside.
const MEMORY: usize = 16 << 20;

/// A move count for positions that were not met.
const NEVER: u16 = u16::MAX;

/// What was read of a database.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct Reads {
    /// Bytes, with those between blocks.
    pub read_bytes: u64,
    /// In so many requests.
    pub requests: u64,
    /// Blocks.
    pub blocks: u64,
    /// Their bytes.
    pub block_bytes: u64,
    /// Of these, blocks with any of the positions that were met.
    pub used_blocks: u64,
    /// Their bytes.
    pub used_block_bytes: u64,
}

/// A block that was read.
struct Known {
    chunk: Chunk,
    /// Where its bytes are in the file that keeps them.
    at: u64,
    /// The fingerprints of its positions, ascending.
    positions: Box<[u64]>,
    /// How many moves each of them is from the beginning.
    plies: Box<[u16]>,
}

/// What has been read of a database.
pub(super) struct Index {
    place: Place,
    manifest: Arc<Manifest>,
    /// By the first separator.
    pages: BTreeMap<Vec<u8>, (Chunk, Page)>,
    blocks: BTreeMap<Vec<u8>, Known>,
    /// Of 64 bits, by a secret of this run. Two positions of one block with the same would take a record along that is not
    /// asked for, and lose none.
    fingerprints: RandomState,
    kept: File,
    kept_bytes: u64,
    /// Positions met, by how many moves they are from the beginning.
    met: Vec<u64>,
    requests: u64,
    bytes: u64,
}

impl Index {
    /// An index of nothing yet, which keeps blocks in a file.
    pub(super) fn new(place: Place, manifest: Arc<Manifest>, kept: File) -> Index {
        Index {
            place,
            manifest,
            pages: BTreeMap::new(),
            blocks: BTreeMap::new(),
            fingerprints: RandomState::new(),
            kept,
            kept_bytes: 0,
            met: Vec::new(),
            requests: 0,
            bytes: 0,
        }
    }

    /// Positions met, by how many moves they are from the beginning.
    pub(super) fn met(&self) -> &[u64] {
        &self.met
    }

    /// How many moves the last of the first `count` positions is from the beginning.
    pub(super) fn plies_of(&self, count: u64) -> u32 {
        self.last_of(count).0.into()
    }

    /// The distance of the last of the first `count` positions, and how many of that distance are among them.
    fn last_of(&self, count: u64) -> (u16, u64) {
        let (mut last, mut left) = (0, count);
        while let Some(met) = self.met.get(usize::from(last)).filter(|met| **met < left) {
            (last, left) = (last + 1, left - met);
        }
        (last, left)
    }

    /// What was read so far.
    pub(super) fn reads(&self) -> Reads {
        let mut reads = Reads { read_bytes: self.bytes, requests: self.requests, ..Reads::default() };
        for block in self.blocks.values() {
            let bytes = block.chunk.len() as u64;
            reads.blocks += 1;
            reads.block_bytes += bytes;
            if block.is_used() {
                reads.used_blocks += 1;
                reads.used_block_bytes += bytes;
            }
        }
        reads
    }

    /// Meets those of some positions, ascending, that the database has and that were not met before. Reads what it takes.
    pub(super) async fn meet(&mut self, keys: &[Key], ply: u32) -> Result<Vec<Key>, Failure> {
        self.load(keys).await?;
        // So far away that only the order in which they would be left out is the same for all that are farther.
        let ply = ply.min(u32::from(NEVER - 1)) as u16;
        let mut met = Vec::new();
        let mut rest = keys;
        while let [key, ..] = rest {
            let Some((_, block)) = self.blocks.range_mut::<[u8], _>(up_to(key)).next_back() else { break };
            let here = rest.partition_point(|key| block.chunk.keys.contains(key.as_bytes())).max(1);
            for key in &rest[..here] {
                let fingerprint = self.fingerprints.hash_one(key.as_bytes());
                if let Ok(n) = block.positions.binary_search(&fingerprint)
                    && block.plies[n] == NEVER
                {
                    block.plies[n] = ply;
                    met.push(*key);
                }
            }
            rest = &rest[here..];
        }
        self.met.resize(self.met.len().max(usize::from(ply) + 1), 0);
        self.met[usize::from(ply)] += met.len() as u64;
        Ok(met)
    }

    /// Reads the blocks in which some positions, ascending, would be.
    async fn load(&mut self, keys: &[Key]) -> Result<(), Failure> {
        let manifest = self.manifest.clone();
        let page_of = |key: &Key| manifest.page_of(key);
        let pages = missing(keys, page_of, |from| self.pages.contains_key(from));
        let (inline, far): (Vec<Chunk>, Vec<Chunk>) =
            pages.into_iter().partition(|page| manifest.inline_page(page).is_some());
        let mut read: Vec<_> =
            inline.into_iter().filter_map(|page| Some((manifest.inline_page(&page)?.to_vec(), page))).collect();
        for some in in_parts(far) {
            read.extend(self.fetch(some).await?);
        }
        for (bytes, at) in read {
            let page = Page::parse(&bytes, &at).map_err(|error| self.error(&at, error))?;
            self.pages.insert(at.keys.from.clone(), (at, page));
        }
        let block_of = |key: &Key| {
            let (_, (_, page)) = self.pages.range::<[u8], _>(up_to(key)).next_back()?;
            page.block_of(key)
        };
        let blocks = missing(keys, block_of, |from| self.blocks.contains_key(from));
        for some in in_parts(blocks) {
            let read = self.fetch(some).await?;
            self.keep(read)?;
        }
        Ok(())
    }

    /// Opens blocks for their positions.
    fn keep(&mut self, read: Vec<(Vec<u8>, Chunk)>) -> Result<(), Failure> {
        let fingerprints = self.fingerprints.clone();
        let open = move |(bytes, at): (Vec<u8>, Chunk)| match Block::<PositionEval>::open(&bytes, &at) {
            Ok(block) => {
                let mut positions: Box<[u64]> = block.keys().map(|key| fingerprints.hash_one(key.as_bytes())).collect();
                positions.sort_unstable();
                Ok((positions, bytes, at))
            }
            Err(error) => Err(Box::new((at, error))),
        };
        for opened in ordered(read.into_iter(), cores(), open) {
            let (positions, bytes, chunk) = opened.map_err(|fault| self.error(&fault.0, fault.1))?;
            self.kept.write_all(&bytes)?;
            let plies = vec![NEVER; positions.len()].into();
            let known = Known { at: self.kept_bytes, positions, plies, chunk };
            self.kept_bytes += bytes.len() as u64;
            self.blocks.insert(known.chunk.keys.from.clone(), known);
        }
        Ok(())
    }

    fn error(&self, at: &Chunk, error: TableError) -> ReadError {
        ReadError::Table { at: self.place.locate(&at.file), error }
    }

    /// Reads chunks in the order of their places, near ones together.
    async fn fetch(&mut self, chunks: Vec<Chunk>) -> Result<Vec<(Vec<u8>, Chunk)>, ReadError> {
        let gap = if self.place.is_directory() { 0 } else { GAP };
        let mut runs: Vec<Vec<Chunk>> = Vec::new();
        for chunk in chunks {
            match runs.last_mut() {
                Some(run) if joins(run, &chunk, gap) => run.push(chunk),
                _ => runs.push(vec![chunk]),
            }
        }
        let place = &self.place;
        let read = |run: Vec<Chunk>| async move {
            let (file, range) = (run[0].file.clone(), run[0].range.start..run[run.len() - 1].range.end);
            let bytes = place.range(&file, range.clone()).await?;
            let parts =
                run.into_iter().map(|chunk| (chunk.within(&bytes, range.start).to_vec(), chunk)).collect::<Vec<_>>();
            Ok::<_, ReadError>((bytes.len() as u64, parts))
        };
        let done: Vec<_> = futures_util::stream::iter(runs).map(read).buffered(AT_ONCE).try_collect().await?;
        self.requests += done.len() as u64;
        self.bytes += done.iter().map(|(bytes, _)| bytes).sum::<u64>();
        Ok(done.into_iter().flat_map(|(_, parts)| parts).collect())
    }

    /// The first `count` of the positions that were met, nearest first and as near in the order of keys; in the order of
    /// keys.
    pub(super) fn records(&mut self, count: u64) -> impl Iterator<Item = Result<Found, Failure>> + '_ {
        let (last, mut left) = self.last_of(count);
        let (place, fingerprints, kept) = (&self.place, self.fingerprints.clone(), &mut self.kept);
        let wanted = self.blocks.values().filter_map(move |block| {
            let plies = block.positions.iter().zip(&block.plies).filter(|(_, ply)| **ply <= last);
            let wanted: Vec<(u64, u16)> = plies.map(|(position, ply)| (*position, *ply)).collect();
            (!wanted.is_empty())
                .then(|| read_at(kept, block.at, block.chunk.len()).map(|bytes| (bytes, block.chunk.clone(), wanted)))
        });
        let open = move |kept: io::Result<Kept>| {
            let (bytes, at, wanted) = kept.map_err(OpenError::Kept)?;
            let block = Block::<PositionEval>::open(&bytes, &at).and_then(|block| Ok((block.record_weights()?, block)));
            let (weights, block) = block.map_err(|error| OpenError::Block(Box::new((at, error))))?;
            let block = Arc::new(block);
            let ply_of = |key: &Key| {
                let fingerprint = fingerprints.hash_one(key.as_bytes());
                wanted.binary_search_by_key(&fingerprint, |(position, _)| *position).ok().map(|n| wanted[n].1)
            };
            let found = weights.into_iter().filter_map(|RecordWeight { key, weight, n }| {
                Some((ply_of(&key)?, Found { key, weight, block: block.clone(), n }))
            });
            Ok(found.collect::<Vec<_>>())
        };
        let found = ordered(wanted, cores(), open).flat_map(move |opened| {
            let opened = opened.map_err(|error| match error {
                OpenError::Kept(error) => error.into(),
                OpenError::Block(fault) => ReadError::Table { at: place.locate(&fault.0.file), error: fault.1 }.into(),
            });
            let (found, error): (Vec<_>, Option<Failure>) =
                opened.map_or_else(|error| (Vec::new(), Some(error)), |found| (found, None));
            error.map(Err).into_iter().chain(found.into_iter().map(Ok))
        });
        found.filter_map(move |found| match found {
            Ok((ply, _)) if ply == last && left == 0 => None,
            Ok((ply, found)) => {
                left -= u64::from(ply == last);
                Some(Ok(found))
            }
            Err(error) => Some(Err(error)),
        })
    }
}

/// A record that was found.
pub(super) struct Found {
    pub(super) key: Key,
    /// For a cutter.
    pub(super) weight: usize,
    block: Arc<Block<PositionEval>>,
    n: usize,
}

impl Found {
    /// The record, decoded.
    pub(super) fn record(&self) -> Result<PositionEval, TableError> {
        self.block.get(self.n)
    }
}

/// The bytes of a block that was read, with the fingerprints of the positions that are wanted of it, and how many moves each
/// is from the beginning.
type Kept = (Vec<u8>, Chunk, Vec<(u64, u16)>);

/// Why a block that was kept cannot be opened.
enum OpenError {
    Kept(io::Error),
    Block(Box<(Chunk, TableError)>),
}

impl Known {
    fn is_used(&self) -> bool {
        self.plies.iter().any(|ply| *ply != NEVER)
    }
}

fn up_to(key: &Key) -> (Bound<&[u8]>, Bound<&[u8]>) {
    (Bound::Unbounded, Bound::Included(key.as_bytes()))
}

/// The chunks of some keys, ascending, that are not known yet.
fn missing(keys: &[Key], chunk_of: impl Fn(&Key) -> Option<Chunk>, is_known: impl Fn(&[u8]) -> bool) -> Vec<Chunk> {
    let mut chunks = Vec::new();
    let mut rest = keys;
    while let [key, ..] = rest {
        let chunk = chunk_of(key);
        let is_within = |key: &Key| chunk.as_ref().is_some_and(|chunk| chunk.keys.contains(key.as_bytes()));
        rest = &rest[rest.partition_point(is_within).max(1)..];
        chunks.extend(chunk.filter(|chunk| !is_known(&chunk.keys.from)));
    }
    chunks
}

/// Chunks, as many at a time as there is memory for.
fn in_parts(chunks: Vec<Chunk>) -> Vec<Vec<Chunk>> {
    let mut parts: Vec<(usize, Vec<Chunk>)> = Vec::new();
    for chunk in chunks {
        match parts.last_mut() {
            Some((bytes, part)) if *bytes + chunk.len() <= MEMORY => {
                *bytes += chunk.len();
                part.push(chunk);
            }
            _ => parts.push((chunk.len(), vec![chunk])),
        }
    }
    parts.into_iter().map(|(_, part)| part).collect()
}

fn read_at(file: &mut File, at: u64, length: usize) -> io::Result<Vec<u8>> {
    let mut bytes = vec![0; length];
    file.seek(SeekFrom::Start(at))?;
    file.read_exact(&mut bytes)?;
    Ok(bytes)
}

/// Whether a chunk is read with those before it.
fn joins(run: &[Chunk], chunk: &Chunk, gap: u64) -> bool {
    let (Some(first), Some(last)) = (run.first(), run.last()) else { return false };
    last.file == chunk.file
        && chunk.range.start >= last.range.end
        && chunk.range.start - last.range.end <= gap
        && chunk.range.end.saturating_sub(first.range.start) <= REQUEST
}
