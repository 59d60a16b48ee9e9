//! Which positions a database has, block by block as they are asked for: each page and block is read and opened once.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use futures_util::{StreamExt, TryStreamExt};
use shelfish::eval::Eval;
use shelfish::position::Key;
use shelfish::reader::ReadError;
use shelfish::source::Source;
use shelfish::table::{Block, Chunk, Manifest, Page, TableError};

use crate::database::Place;

/// Bytes between two blocks that are read with them, to save a request.
const GAP: u64 = 16 << 10;
/// The most bytes of a request, one block aside.
const REQUEST: u64 = 1 << 20;
/// Requests at a time.
const AT_ONCE: usize = 8;

/// A record: its block and its number in it, and its weight for a cutter.
#[derive(Clone, Copy, Debug)]
pub(super) struct Spot {
    pub(super) block: u32,
    pub(super) n: u32,
    pub(super) weight: usize,
}

/// What has been read of a database.
pub(super) struct Index {
    place: Place,
    manifest: Arc<Manifest>,
    pages: HashMap<(String, u64), Page>,
    /// Blocks that have been read, by file and start.
    known: HashSet<(String, u64)>,
    pub(super) blocks: Vec<Arc<Block<Eval>>>,
    records: HashMap<Key, Spot>,
    /// Bytes and requests so far.
    pub(super) bytes: u64,
    pub(super) requests: u64,
}

impl Index {
    pub(super) fn new(place: Place, manifest: Arc<Manifest>) -> Index {
        Index {
            place,
            manifest,
            pages: HashMap::new(),
            known: HashSet::new(),
            blocks: Vec::new(),
            records: HashMap::new(),
            bytes: 0,
            requests: 0,
        }
    }

    /// Where the record of a position is; it must have been asked for by [`Index::load`].
    pub(super) fn find(&self, key: &Key) -> Option<Spot> {
        self.records.get(key).copied()
    }

    /// Reads what tells whether these positions are there.
    pub(super) async fn load(&mut self, keys: &[Key]) -> Result<(), ReadError> {
        let pages: BTreeMap<(String, u64), Chunk> = keys
            .iter()
            .filter_map(|key| self.manifest.page_of(key))
            .map(|page| ((page.file.clone(), page.range.start), page))
            .filter(|(at, _)| !self.pages.contains_key(at))
            .collect();
        let (inline, far): (Vec<Chunk>, Vec<Chunk>) =
            pages.into_values().partition(|page| self.manifest.inline_page(page).is_some());
        let mut read = self.fetch(far).await?;
        let manifest = self.manifest.clone();
        read.extend(inline.into_iter().filter_map(|page| Some((manifest.inline_page(&page)?.to_vec(), page))));
        for (bytes, at) in read {
            let page = Page::parse(&bytes, &at).map_err(|error| self.error(&at, error))?;
            self.pages.insert((at.file, at.range.start), page);
        }

        let block_of = |key: &Key| {
            let page = self.manifest.page_of(key)?;
            self.pages.get(&(page.file, page.range.start))?.block_of(key)
        };
        let blocks: BTreeMap<(String, u64), Chunk> = keys
            .iter()
            .filter_map(block_of)
            .map(|block| ((block.file.clone(), block.range.start), block))
            .filter(|(at, _)| !self.known.contains(at))
            .collect();
        self.known.extend(blocks.keys().cloned());
        let read = self.fetch(blocks.into_values().collect()).await?;
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        let open = |(bytes, at): (Vec<u8>, Chunk)| {
            let opened = Block::<Eval>::open(&bytes, &at).and_then(|block| Ok((block.record_weights()?, block)));
            opened.map_err(|error| Box::new((at, error)))
        };
        for opened in crate::ordered::ordered(read.into_iter(), threads, open) {
            let (weights, block) = opened.map_err(|fault| self.error(&fault.0, fault.1))?;
            let number = self.blocks.len() as u32;
            let place = |n: usize, weight| Spot { block: number, n: n as u32, weight };
            self.records.extend(weights.iter().map(|record| (record.key, place(record.n, record.weight))));
            self.blocks.push(Arc::new(block));
        }
        Ok(())
    }

    fn error(&self, at: &Chunk, error: TableError) -> ReadError {
        ReadError::Table { at: self.place.locate(&at.file), error }
    }

    /// Reads chunks in the order of their places, near ones together.
    async fn fetch(&mut self, chunks: Vec<Chunk>) -> Result<Vec<(Vec<u8>, Chunk)>, ReadError> {
        let mut runs: Vec<Vec<Chunk>> = Vec::new();
        for chunk in chunks {
            match runs.last_mut() {
                Some(run) if joins(run, &chunk) => run.push(chunk),
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
}

/// Whether a chunk is read with those before it.
fn joins(run: &[Chunk], chunk: &Chunk) -> bool {
    let (Some(first), Some(last)) = (run.first(), run.last()) else { return false };
    last.file == chunk.file
        && chunk.range.start.saturating_sub(last.range.end) <= GAP
        && chunk.range.end.saturating_sub(first.range.start) <= REQUEST
}
