//! Sequential reading of a whole database.

use std::collections::VecDeque;
use std::io;
use std::ops::Range;
use std::sync::Arc;

use sha2::{Digest, Sha256};
use shelfish::reader::{ReadError, RequestLimits};
use shelfish::source::Source;
use shelfish::table::{
    Chunk, ContentHash, HashList, Manifest, Page, SHARD_ENDING, TableError, shard_name,
};
use tokio::runtime::{Builder, Runtime};

use super::DatabaseSource;

/// Block in encoded form.
#[derive(Clone, Debug)]
pub struct RawBlock {
    /// Location of the block.
    pub at: Chunk,
    /// Unverified bytes of the block.
    pub bytes: Vec<u8>,
}

/// Problem of a file outside of its blocks.
#[derive(Clone, Debug, thiserror::Error)]
pub enum ScanError {
    /// The file cannot be read, or contradicts its manifest or page.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// Some bytes belong to no block or page, or to several blocks or pages.
    #[error("{at}: bytes {}-{} belong to no block or to several blocks", range.start, range.end.saturating_sub(1))]
    Layout {
        /// Path or URL of the shard.
        at: String,
        /// Range of the bytes.
        range: Range<u64>,
    },
    /// An inline page of the manifest, which readers use, differs from the page in the shard.
    #[error("the inline page of the manifest differs from {0}")]
    InlinePage(Chunk),
    /// The name of a shard does not match its content.
    #[error("{at}: the name does not match the content, whose SHA-256 begins with {found}")]
    Name {
        /// Path or URL of the shard.
        at: String,
        /// SHA-256 of the content, truncated to the length of the name.
        found: String,
    },
}

/// Iterator over blocks in ascending order of keys. After an error, the iterator continues with the next readable
/// blocks.
pub struct Scan {
    source: DatabaseSource,
    manifest: Arc<Manifest>,
    runtime: Runtime,
    /// Index of the next shard.
    next: usize,
    shard: Option<OpenShard>,
    ready: VecDeque<Result<RawBlock, ScanError>>,
}

/// Shard that is being read: its pages, and the blocks that they list. Its pages are read a few at a time, because a manifest
/// may name any number of pages.
struct OpenShard {
    file: String,
    /// Index of the shard.
    n: usize,
    /// Offset of the first page, which is the end of the lists of hashes.
    first_page: u64,
    /// Index of the next page to read.
    next_page: usize,
    /// Pages that have been read and not parsed yet.
    pages: VecDeque<(Chunk, Vec<u8>)>,
    /// Blocks that have not been read yet, with their hashes.
    blocks: VecDeque<(Chunk, Option<ContentHash>)>,
    /// End of the last block in the shard.
    blocks_end: u64,
    /// Range of the lists of hashes, as far as they are known.
    lists: Option<Range<u64>>,
    /// Hash of the shard, unless some bytes could not be read in order.
    hash: Option<Sha256>,
    /// Number of hashed bytes.
    at: u64,
}

impl Scan {
    /// Starts with the first shard.
    pub fn new(source: DatabaseSource, manifest: Arc<Manifest>) -> io::Result<Scan> {
        let runtime = Builder::new_current_thread().enable_all().build()?;
        Ok(Scan {
            source,
            manifest,
            runtime,
            next: 0,
            shard: None,
            ready: VecDeque::new(),
        })
    }

    fn range(&self, file: &str, range: Range<u64>) -> Result<Vec<u8>, ScanError> {
        self.runtime
            .block_on(self.source.range(file, range))
            .map_err(|error| ScanError::Read(error.into()))
    }

    fn read_error(&self, chunk: &Chunk, error: TableError) -> ScanError {
        ScanError::Read(ReadError::Table {
            at: self.source.locate(&chunk.file),
            error,
        })
    }

    /// Opens shard `n`.
    fn open(&mut self, n: usize) {
        let shard = &self.manifest.shards()[n];
        self.shard = Some(OpenShard {
            file: shard.file.clone(),
            n,
            first_page: self
                .manifest
                .page_of_shard(n, 0)
                .map_or(shard.bytes, |page| page.range.start),
            next_page: 0,
            pages: VecDeque::new(),
            blocks: VecDeque::new(),
            blocks_end: 0,
            lists: None,
            hash: Some(Sha256::new()),
            at: 0,
        });
    }

    /// Reads the next pages. Returns whether they could be read.
    fn read_pages(&mut self, shard: &mut OpenShard, first: Chunk) -> bool {
        let mut some = vec![first];
        shard.next_page += 1;
        while let Some(next) = self.manifest.page_of_shard(shard.n, shard.next_page)
            && RequestLimits::default().fits(&some[0], &some[some.len() - 1], &next)
        {
            some.push(next);
            shard.next_page += 1;
        }
        let (start, end) = (some[0].range.start, some[some.len() - 1].range.end);
        let bytes = match self.range(&shard.file, start..end) {
            Ok(bytes) => bytes,
            Err(error) => {
                self.ready.push_back(Err(error));
                return false;
            }
        };
        shard.pages.extend(some.into_iter().map(|page| {
            let found = page.within(&bytes, start).to_vec();
            (page, found)
        }));
        true
    }

    /// Adds the blocks of a page, with the hashes of its list.
    fn parse_page(&mut self, shard: &mut OpenShard, at: &Chunk, found: &[u8]) {
        let hash = self.manifest.hash_of(at);
        let page = Page::parse(found, at).and_then(|page| match hash {
            Some(hash) => at.check(found, hash).map(|()| page),
            None => Ok(page),
        });
        match page {
            Ok(page) => {
                let list = self.read_hashes(shard, page.hashes());
                for (n, block) in page.blocks().enumerate() {
                    if block.file == shard.file {
                        if block.range.start != shard.blocks_end {
                            self.layout_error(&shard.file, shard.blocks_end, block.range.start);
                        }
                        shard.blocks_end = block.range.end;
                    }
                    shard.blocks.push_back((block, ContentHash::nth(&list, n)));
                }
            }
            Err(error) => self.ready.push_back(Err(self.read_error(at, error))),
        }
        if self
            .manifest
            .inline_page(at)
            .is_some_and(|inline| inline != found)
        {
            self.ready.push_back(Err(ScanError::InlinePage(at.clone())));
        }
    }

    /// Reads the hashes of the blocks of a page. Returns an empty list after an error.
    fn read_hashes(&mut self, shard: &mut OpenShard, list: &HashList) -> Vec<u8> {
        let Range { start, end } = list.at.range;
        let lists = shard.lists.get_or_insert(start..start);
        let last = lists.end;
        lists.end = end;
        if last != start {
            self.layout_error(&shard.file, last, start);
        }
        let read = self.range(&list.at.file, start..end).and_then(|bytes| {
            list.check(&bytes)
                .map_err(|error| self.read_error(&list.at, error))?;
            Ok(bytes)
        });
        read.unwrap_or_else(|error| {
            self.ready.push_back(Err(error));
            Vec::new()
        })
    }

    /// Checks the ends of the blocks and lists, and the name of the shard.
    fn finish(&mut self, shard: OpenShard) {
        let bytes = self.manifest.shards()[shard.n].bytes;
        // An update has left only blocks of such a shard in use.
        if shard.first_page == bytes {
            return;
        }
        let lists = shard.lists.unwrap_or(shard.first_page..shard.first_page);
        for (one, other) in [
            (shard.blocks_end, lists.start),
            (lists.end, shard.first_page),
        ] {
            if one != other {
                self.layout_error(&shard.file, one, other);
            }
        }
        let Some(mut hash) = shard.hash else { return };
        // The lists and pages are few bytes after the blocks, and are read again.
        let mut at = shard.at;
        while at < bytes {
            let next = bytes.min(at + RequestLimits::default().max_bytes);
            match self.range(&shard.file, at..next) {
                Ok(bytes) => hash.update(&bytes),
                Err(error) => return self.ready.push_back(Err(error)),
            }
            at = next;
        }
        let found = shard_name(&hash.finalize());
        if found != shard.file {
            let found = found.trim_end_matches(SHARD_ENDING).to_owned();
            self.ready.push_back(Err(ScanError::Name {
                at: self.source.locate(&shard.file),
                found,
            }));
        }
    }

    fn layout_error(&mut self, file: &str, one: u64, other: u64) {
        let (at, range) = (self.source.locate(file), one.min(other)..one.max(other));
        self.ready.push_back(Err(ScanError::Layout { at, range }));
    }

    /// Reads some pages or blocks of the open shard, or checks its end.
    fn advance(&mut self, mut shard: OpenShard) {
        if shard.blocks.is_empty() {
            if let Some((page, found)) = shard.pages.pop_front() {
                self.parse_page(&mut shard, &page, &found);
            } else if let Some(page) = self.manifest.page_of_shard(shard.n, shard.next_page) {
                if !self.read_pages(&mut shard, page) {
                    return;
                }
            } else {
                return self.finish(shard);
            }
        } else {
            self.read_blocks(&mut shard);
        }
        self.shard = Some(shard);
    }

    /// Reads the next blocks that follow one another in a file.
    fn read_blocks(&mut self, shard: &mut OpenShard) {
        let limits = RequestLimits {
            max_gap: 0,
            ..RequestLimits::default()
        };
        let mut some: Vec<(Chunk, Option<ContentHash>)> = Vec::new();
        while let Some((next, _)) = shard.blocks.front() {
            if some
                .last()
                .is_some_and(|(last, _)| !limits.fits(&some[0].0, last, next))
            {
                break;
            }
            some.extend(shard.blocks.pop_front());
        }
        let (Some((first, _)), Some((last, _))) = (some.first(), some.last()) else {
            return;
        };
        let (file, start, end) = (first.file.clone(), first.range.start, last.range.end);
        let is_own = file == shard.file;
        match self.range(&file, start..end) {
            Ok(bytes) => {
                if is_own {
                    shard.hash = shard.hash.take().filter(|_| start == shard.at);
                    shard.at = end;
                    if let Some(hash) = &mut shard.hash {
                        hash.update(&bytes);
                    }
                }
                for (at, hash) in some {
                    let block = at.within(&bytes, start).to_vec();
                    let forged = hash.and_then(|hash| at.check(&block, hash).err());
                    // The seal says more about accidental damage.
                    self.ready
                        .push_back(match forged.filter(|_| at.unseal(&block).is_ok()) {
                            Some(error) => Err(self.read_error(&at, error)),
                            None => Ok(RawBlock { at, bytes: block }),
                        });
                }
            }
            Err(error) => {
                if is_own {
                    shard.hash = None;
                }
                self.ready.push_back(Err(error));
            }
        }
    }
}

impl Iterator for Scan {
    type Item = Result<RawBlock, ScanError>;

    fn next(&mut self) -> Option<Result<RawBlock, ScanError>> {
        loop {
            if let Some(ready) = self.ready.pop_front() {
                return Some(ready);
            }
            if let Some(shard) = self.shard.take() {
                self.advance(shard);
            } else if self.next < self.manifest.shards().len() {
                self.next += 1;
                self.open(self.next - 1);
            } else {
                return None;
            }
        }
    }
}
