//! Positions of a database, read block by block on demand.
//!
//! Each page and block is read once. Only fingerprints of the positions of a block stay in memory; the bytes of the
//! block wait on the disk until its records are written.

use std::collections::BTreeMap;
use std::fs::File;
use std::hash::{BuildHasher, RandomState};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::marker::PhantomData;
use std::ops::Bound;
use std::sync::Arc;

use futures_util::{StreamExt, TryStreamExt};
use serde::Serialize;
use shelfish::position::Key;
use shelfish::reader::{ReadError, RequestLimits};
use shelfish::source::Source;
use shelfish::table::{
    Block, Chunk, ContentHash, Manifest, Page, Record, RecordWeight, TableError,
};

use crate::BoxError;
use crate::database::DatabaseSource;
use crate::system::ordered::{cores, ordered};

/// Maximum number of parallel requests.
const AT_ONCE: usize = 8;
/// Maximum number of bytes in memory at a time. A single larger block is read whole.
const MEMORY: usize = 16 << 20;
/// Maximum gap in bytes between two blocks of a host that share a request. The blocks in a gap are kept, because the walk
/// needs many of them later.
const GAP: u64 = 64 << 10;

/// Distance of a position that was not visited.
const NEVER: u16 = u16::MAX;

/// Statistics of the reads.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct Reads {
    /// Number of bytes read, including gaps between blocks.
    pub read_bytes: u64,
    /// Number of requests.
    pub requests: u64,
    /// Number of blocks read.
    pub blocks: u64,
    /// Size of the blocks read, in bytes.
    pub block_bytes: u64,
    /// Number of blocks that contain a visited position.
    pub used_blocks: u64,
    /// Size of the blocks that contain a visited position, in bytes.
    pub used_block_bytes: u64,
}

/// Block that was read.
struct IndexedBlock {
    chunk: Chunk,
    /// Offset of the bytes of the block in the temporary file.
    at: u64,
    /// Fingerprints of the positions, ascending.
    positions: Box<[u64]>,
    /// Distance of each position from the nearest start, in plies.
    plies: Box<[u16]>,
}

/// Pages and blocks that were read so far.
pub(super) struct Index<R> {
    source: DatabaseSource,
    manifest: Arc<Manifest>,
    /// Pages by their first separator.
    pages: BTreeMap<Vec<u8>, (Chunk, Page)>,
    blocks: BTreeMap<Vec<u8>, IndexedBlock>,
    /// Expected hashes of the blocks of all pages by their separators, if the manifest is pinned.
    hashes: BTreeMap<Vec<u8>, ContentHash>,
    /// Random hash of 64 bits. If two positions of a block have the same fingerprint, an extra record may be extracted;
    /// no record is lost.
    fingerprints: RandomState,
    kept: File,
    kept_bytes: u64,
    /// Number of visited positions by distance from the nearest start, in plies.
    met: Vec<u64>,
    requests: u64,
    bytes: u64,
    kind: PhantomData<R>,
}

impl<R: Record> Index<R> {
    /// Creates an empty index that keeps blocks in a temporary file.
    pub(super) fn new(source: DatabaseSource, manifest: Arc<Manifest>, kept: File) -> Index<R> {
        Index {
            source,
            manifest,
            pages: BTreeMap::new(),
            blocks: BTreeMap::new(),
            hashes: BTreeMap::new(),
            fingerprints: RandomState::new(),
            kept,
            kept_bytes: 0,
            met: Vec::new(),
            requests: 0,
            bytes: 0,
            kind: PhantomData,
        }
    }

    /// Returns the number of visited positions by distance from the nearest start, in plies.
    pub(super) fn met(&self) -> &[u64] {
        &self.met
    }

    /// Returns the distance of the last of the `count` nearest positions.
    pub(super) fn plies_of(&self, count: u64) -> u32 {
        self.last_of(count).0.into()
    }

    /// Returns the distance of the last of the `count` nearest positions, and how many of the `count` positions have
    /// that distance.
    fn last_of(&self, count: u64) -> (u16, u64) {
        let (mut last, mut left) = (0, count);
        while let Some(met) = self.met.get(usize::from(last)).filter(|met| **met < left) {
            (last, left) = (last + 1, left - met);
        }
        (last, left)
    }

    /// Returns the statistics of all reads so far.
    pub(super) fn reads(&self) -> Reads {
        let mut reads = Reads {
            read_bytes: self.bytes,
            requests: self.requests,
            ..Reads::default()
        };
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

    /// Visits the positions of `keys` that the database contains, and returns those that were not visited before. The
    /// keys must be ascending.
    pub(super) async fn meet(&mut self, keys: &[Key], ply: u32) -> Result<Vec<Key>, BoxError> {
        self.load(keys).await?;
        // More distant positions share one distance. When space runs out, they are left out by key alone.
        let ply = ply.min(u32::from(NEVER - 1)) as u16;
        let mut met = Vec::new();
        let mut rest = keys;
        while let [key, ..] = rest {
            let Some((_, block)) = self.blocks.range_mut::<[u8], _>(up_to(key)).next_back() else {
                break;
            };
            let here = rest
                .partition_point(|key| block.chunk.keys.contains(key.as_bytes()))
                .max(1);
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

    /// Reads the blocks that can contain the positions of `keys`, which must be ascending.
    async fn load(&mut self, keys: &[Key]) -> Result<(), BoxError> {
        let manifest = self.manifest.clone();
        let page_of = |key: &Key| manifest.page_of(key);
        let pages = missing(keys, page_of, |from| self.pages.contains_key(from));
        let (inline, far): (Vec<Chunk>, Vec<Chunk>) = pages
            .into_iter()
            .partition(|page| manifest.inline_page(page).is_some());
        let mut read: Vec<_> = inline
            .into_iter()
            .filter_map(|page| Some((manifest.inline_page(&page)?.to_vec(), page)))
            .collect();
        for batch in batches(far) {
            read.extend(self.fetch(batch).await?);
        }
        let mut pages = Vec::new();
        for (bytes, at) in read {
            let hash = manifest.hash_of(&at).filter(|_| self.source.is_pinned());
            let page = hash
                .map_or(Ok(()), |hash| at.check(&bytes, hash))
                .and_then(|()| Page::parse(&bytes, &at));
            pages.push((page.map_err(|error| self.error(&at, error))?, at));
        }
        if self.source.is_pinned() {
            self.load_hashes(&pages).await?;
        }
        self.pages.extend(
            pages
                .into_iter()
                .map(|(page, at)| (at.keys.from.clone(), (at, page))),
        );
        let block_of = |key: &Key| {
            let (_, (_, page)) = self.pages.range::<[u8], _>(up_to(key)).next_back()?;
            page.block_of(key)
        };
        let blocks = missing(keys, block_of, |from| self.blocks.contains_key(from));
        let runs = self.limits().group(blocks);
        let blocks = runs.into_iter().flat_map(|run| self.filled(run)).collect();
        for batch in batches(blocks) {
            let read = self.fetch(batch).await?;
            self.keep(read)?;
        }
        Ok(())
    }

    /// Returns the limits of a request.
    fn limits(&self) -> RequestLimits {
        let max_gap = if self.source.is_directory() { 0 } else { GAP };
        RequestLimits {
            max_gap,
            ..RequestLimits::default()
        }
    }

    /// Adds the blocks in the gaps of a request, except those that were read before.
    fn filled(&self, run: Vec<Chunk>) -> Vec<Chunk> {
        let [first, .., last] = run.as_slice() else {
            return run;
        };
        let (from, to, range) = (
            &first.keys.from,
            &last.keys.from,
            first.range.start..last.range.end,
        );
        let at_first = self
            .pages
            .range::<[u8], _>((Bound::Unbounded, Bound::Included(from.as_slice())))
            .next_back();
        let after = self.pages.range::<[u8], _>((
            Bound::Excluded(from.as_slice()),
            Bound::Included(to.as_slice()),
        ));
        let blocks = at_first
            .into_iter()
            .chain(after)
            .flat_map(|(_, (_, page))| page.blocks());
        let is_within = |block: &Chunk| {
            block.file == first.file
                && range.start <= block.range.start
                && block.range.end <= range.end
        };
        blocks
            .filter(|block| is_within(block) && !self.blocks.contains_key(&block.keys.from))
            .collect()
    }

    /// Reads the hashes of the blocks of some pages.
    async fn load_hashes(&mut self, pages: &[(Page, Chunk)]) -> Result<(), BoxError> {
        for (page, at) in pages {
            let list = page.hashes();
            for (bytes, _) in self.fetch(vec![list.at.clone()]).await? {
                list.check(&bytes).map_err(|error| self.error(at, error))?;
                let hash_of = |(n, block): (usize, Chunk)| {
                    Some((block.keys.from, ContentHash::nth(&bytes, n)?))
                };
                self.hashes
                    .extend(page.blocks().enumerate().filter_map(hash_of));
            }
        }
        Ok(())
    }

    /// Indexes the positions of blocks and stores their bytes in the temporary file.
    fn keep(&mut self, read: Vec<(Vec<u8>, Chunk)>) -> Result<(), BoxError> {
        let fingerprints = self.fingerprints.clone();
        let expected = |(bytes, at): (Vec<u8>, Chunk)| {
            let hash = self.hashes.get(&at.keys.from).copied();
            (bytes, at, hash)
        };
        let read: Vec<_> = read.into_iter().map(expected).collect();
        let checked = |bytes: &[u8], at: &Chunk, hash: Option<ContentHash>| {
            hash.map_or(Ok(()), |hash| at.check(bytes, hash))?;
            Block::<R>::open(bytes, at)
        };
        let open = move |(bytes, at, hash): (Vec<u8>, Chunk, Option<ContentHash>)| match checked(
            &bytes, &at, hash,
        ) {
            Ok(block) => {
                let mut positions: Box<[u64]> = block
                    .keys()
                    .map(|key| fingerprints.hash_one(key.as_bytes()))
                    .collect();
                positions.sort_unstable();
                Ok((positions, bytes, at))
            }
            Err(error) => Err(Box::new((at, error))),
        };
        for opened in ordered(read.into_iter(), cores(), open) {
            let (positions, bytes, chunk) =
                opened.map_err(|failed| self.error(&failed.0, failed.1))?;
            self.kept.write_all(&bytes)?;
            let plies = vec![NEVER; positions.len()].into();
            let indexed = IndexedBlock {
                at: self.kept_bytes,
                positions,
                plies,
                chunk,
            };
            self.kept_bytes += bytes.len() as u64;
            self.blocks.insert(indexed.chunk.keys.from.clone(), indexed);
        }
        Ok(())
    }

    fn error(&self, at: &Chunk, error: TableError) -> ReadError {
        ReadError::Table {
            at: self.source.locate(&at.file),
            error,
        }
    }

    /// Reads chunks in the order of their offsets. Chunks that are close together share a request.
    async fn fetch(&mut self, chunks: Vec<Chunk>) -> Result<Vec<(Vec<u8>, Chunk)>, ReadError> {
        let runs = self.limits().group(chunks);
        let source = &self.source;
        let read = |run: Vec<Chunk>| async move {
            let (file, range) = (
                run[0].file.clone(),
                run[0].range.start..run[run.len() - 1].range.end,
            );
            let bytes = source.range(&file, range.clone()).await?;
            let parts = run
                .into_iter()
                .map(|chunk| (chunk.within(&bytes, range.start).to_vec(), chunk))
                .collect::<Vec<_>>();
            Ok::<_, ReadError>((bytes.len() as u64, parts))
        };
        let done: Vec<_> = futures_util::stream::iter(runs)
            .map(read)
            .buffered(AT_ONCE)
            .try_collect()
            .await?;
        self.requests += done.len() as u64;
        self.bytes += done.iter().map(|(bytes, _)| bytes).sum::<u64>();
        Ok(done.into_iter().flat_map(|(_, parts)| parts).collect())
    }

    /// Returns the records of the `count` nearest positions in the order of their keys. If several positions are
    /// equally near, those with the lowest keys come first.
    pub(super) fn records(
        &mut self,
        count: u64,
    ) -> impl Iterator<Item = Result<Found<R>, BoxError>> + '_ {
        let (last, mut left) = self.last_of(count);
        let (source, fingerprints, kept) =
            (&self.source, self.fingerprints.clone(), &mut self.kept);
        let wanted = self.blocks.values().filter_map(move |block| {
            let plies = block
                .positions
                .iter()
                .zip(&block.plies)
                .filter(|(_, ply)| **ply <= last);
            let wanted: Vec<(u64, u16)> = plies.map(|(position, ply)| (*position, *ply)).collect();
            (!wanted.is_empty()).then(|| {
                read_at(kept, block.at, block.chunk.len())
                    .map(|bytes| (bytes, block.chunk.clone(), wanted))
            })
        });
        let open = move |kept: io::Result<Kept>| {
            let (bytes, at, wanted) = kept.map_err(OpenError::Kept)?;
            let block = Block::<R>::open(&bytes, &at)
                .and_then(|block| Ok((block.record_weights()?, block)));
            let (weights, block) =
                block.map_err(|error| OpenError::Block(Box::new((at, error))))?;
            let block = Arc::new(block);
            let ply_of = |key: &Key| {
                let fingerprint = fingerprints.hash_one(key.as_bytes());
                wanted
                    .binary_search_by_key(&fingerprint, |(position, _)| *position)
                    .ok()
                    .map(|n| wanted[n].1)
            };
            let found = weights
                .into_iter()
                .filter_map(|RecordWeight { key, weight, n }| {
                    Some((
                        ply_of(&key)?,
                        Found {
                            key,
                            weight,
                            block: block.clone(),
                            n,
                        },
                    ))
                });
            Ok(found.collect::<Vec<_>>())
        };
        let found = ordered(wanted, cores(), open).flat_map(move |opened| {
            let opened = opened.map_err(|error| match error {
                OpenError::Kept(error) => error.into(),
                OpenError::Block(failed) => ReadError::Table {
                    at: source.locate(&failed.0.file),
                    error: failed.1,
                }
                .into(),
            });
            let (found, error): (Vec<_>, Option<BoxError>) =
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

/// Record of a visited position.
pub(super) struct Found<R: Record> {
    pub(super) key: Key,
    /// Weight of the record for [`Cutter`](shelfish::table::Cutter).
    pub(super) weight: usize,
    block: Arc<Block<R>>,
    n: usize,
}

impl<R: Record> Found<R> {
    /// Decodes the record.
    pub(super) fn record(&self) -> Result<R, TableError> {
        self.block.get(self.n)
    }
}

/// Bytes of a block, with the fingerprints of the wanted positions and their distances in plies.
type Kept = (Vec<u8>, Chunk, Vec<(u64, u16)>);

/// Reasons why a block cannot be read back from the temporary file.
enum OpenError {
    Kept(io::Error),
    Block(Box<(Chunk, TableError)>),
}

impl IndexedBlock {
    fn is_used(&self) -> bool {
        self.plies.iter().any(|ply| *ply != NEVER)
    }
}

fn up_to(key: &Key) -> (Bound<&[u8]>, Bound<&[u8]>) {
    (Bound::Unbounded, Bound::Included(key.as_bytes()))
}

/// Returns the chunks of some keys that are not known yet. The keys must be ascending.
fn missing(
    keys: &[Key],
    chunk_of: impl Fn(&Key) -> Option<Chunk>,
    is_known: impl Fn(&[u8]) -> bool,
) -> Vec<Chunk> {
    let mut chunks = Vec::new();
    let mut rest = keys;
    while let [key, ..] = rest {
        let chunk = chunk_of(key);
        let is_within = |key: &Key| {
            chunk
                .as_ref()
                .is_some_and(|chunk| chunk.keys.contains(key.as_bytes()))
        };
        rest = &rest[rest.partition_point(is_within).max(1)..];
        chunks.extend(chunk.filter(|chunk| !is_known(&chunk.keys.from)));
    }
    chunks
}

/// Divides chunks into batches that fit into memory.
fn batches(chunks: Vec<Chunk>) -> Vec<Vec<Chunk>> {
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
