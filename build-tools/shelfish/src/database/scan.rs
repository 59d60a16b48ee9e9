//! Sequential reading of a whole database.

use std::collections::VecDeque;
use std::fmt;
use std::io;
use std::ops::Range;
use std::sync::Arc;

use sha2::{Digest, Sha256};
use shelfish::reader::{ReadError, RequestLimits};
use shelfish::source::Source;
use shelfish::table::{Chunk, Manifest, Page, SHARD_ENDING, shard_name};
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
#[derive(Clone, Debug)]
pub enum ScanError {
    /// The file cannot be read, or contradicts its manifest or page.
    Read(ReadError),
    /// Some bytes belong to no block or page, or to several blocks or pages.
    Layout {
        /// Path or URL of the shard.
        at: String,
        /// Range of the bytes.
        range: Range<u64>,
    },
    /// An inline page of the manifest, which readers use, differs from the page in the shard.
    InlinePage(Chunk),
    /// The name of a shard does not match its content.
    Name {
        /// Path or URL of the shard.
        at: String,
        /// SHA-256 of the content, truncated to the length of the name.
        found: String,
    },
}

impl fmt::Display for ScanError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ScanError::Read(error) => error.fmt(f),
            ScanError::Layout { at, range } => {
                write!(
                    f,
                    "{at}: bytes {}-{} belong to no block or to several blocks",
                    range.start,
                    range.end.saturating_sub(1)
                )
            }
            ScanError::InlinePage(page) => write!(f, "the inline page of the manifest differs from {page}"),
            ScanError::Name { at, found } => {
                write!(f, "{at}: the name does not match the content, whose SHA-256 begins with {found}")
            }
        }
    }
}

impl std::error::Error for ScanError {}

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

/// Maximum size of the pages of a shard that are kept for the hash of the shard, in bytes. More are read again.
const MAX_KEPT: usize = 4 << 20;

/// Shard that is being read. Its pages are read a few at a time, because a manifest may name any number of pages.
struct OpenShard {
    file: String,
    /// Index of the shard.
    n: usize,
    /// Offset of the first page, which is the end of the blocks.
    first_page: u64,
    /// Index of the next page to read.
    next_page: usize,
    /// Pages that have been read and not parsed yet.
    pages: VecDeque<(Chunk, Vec<u8>)>,
    /// Blocks that have not been read yet.
    blocks: VecDeque<Chunk>,
    /// End of the last block of the parsed pages.
    blocks_end: u64,
    /// Bytes of all pages read, if they are few.
    kept: Option<Vec<u8>>,
    /// Hash of the shard, unless some bytes could not be read in order.
    hash: Option<Sha256>,
    /// Number of hashed bytes.
    at: u64,
}

impl Scan {
    /// Starts with the first shard.
    pub fn new(source: DatabaseSource, manifest: Arc<Manifest>) -> io::Result<Scan> {
        let runtime = Builder::new_current_thread().enable_all().build()?;
        Ok(Scan { source, manifest, runtime, next: 0, shard: None, ready: VecDeque::new() })
    }

    fn range(&self, file: &str, range: Range<u64>) -> Result<Vec<u8>, ScanError> {
        self.runtime.block_on(self.source.range(file, range)).map_err(|error| ScanError::Read(error.into()))
    }

    fn read_error(&self, chunk: &Chunk, error: shelfish::table::TableError) -> ScanError {
        ScanError::Read(ReadError::Table { at: self.source.locate(&chunk.file), error })
    }

    /// Opens shard `n`.
    fn open(&mut self, n: usize) {
        let shard = &self.manifest.shards()[n];
        self.shard = Some(OpenShard {
            file: shard.file.clone(),
            n,
            first_page: self.manifest.page_of_shard(n, 0).map_or(shard.bytes, |page| page.range.start),
            next_page: 0,
            pages: VecDeque::new(),
            blocks: VecDeque::new(),
            blocks_end: 0,
            kept: Some(Vec::new()),
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
        shard.kept = shard.kept.take().filter(|kept| kept.len() + bytes.len() <= MAX_KEPT).map(|mut kept| {
            kept.extend_from_slice(&bytes);
            kept
        });
        shard.pages.extend(some.into_iter().map(|page| {
            let found = page.within(&bytes, start).to_vec();
            (page, found)
        }));
        true
    }

    /// Adds the blocks of a page.
    fn parse_page(&mut self, shard: &mut OpenShard, page: &Chunk, found: &[u8]) {
        match Page::parse(found, page) {
            Ok(page) => {
                for block in page.blocks() {
                    if block.range.start != shard.blocks_end {
                        self.layout_error(&shard.file, shard.blocks_end, block.range.start);
                    }
                    shard.blocks_end = block.range.end;
                    shard.blocks.push_back(block);
                }
            }
            Err(error) => self.ready.push_back(Err(self.read_error(page, error))),
        }
        if self.manifest.inline_page(page).is_some_and(|inline| inline != found) {
            self.ready.push_back(Err(ScanError::InlinePage(page.clone())));
        }
    }

    /// Checks the end of the blocks and the name of the shard.
    fn finish(&mut self, shard: OpenShard) {
        if shard.blocks_end != shard.first_page {
            self.layout_error(&shard.file, shard.blocks_end, shard.first_page);
        }
        let Some(mut hash) = shard.hash else { return };
        match shard.kept {
            Some(kept) => hash.update(&kept),
            None => {
                let (mut at, end) = (shard.first_page, self.manifest.shards()[shard.n].bytes);
                while at < end {
                    let next = end.min(at + RequestLimits::default().max_bytes);
                    match self.range(&shard.file, at..next) {
                        Ok(bytes) => hash.update(&bytes),
                        Err(error) => return self.ready.push_back(Err(error)),
                    }
                    at = next;
                }
            }
        }
        let found = shard_name(&hash.finalize());
        if found != shard.file {
            let found = found.trim_end_matches(SHARD_ENDING).to_owned();
            self.ready.push_back(Err(ScanError::Name { at: self.source.locate(&shard.file), found }));
        }
    }

    fn layout_error(&mut self, file: &str, one: u64, other: u64) {
        let (at, range) = (self.source.locate(file), one.min(other)..one.max(other));
        self.ready.push_back(Err(ScanError::Layout { at, range }));
    }

    /// Reads some pages or blocks of the open shard, or checks its end.
    fn advance(&mut self, mut shard: OpenShard) {
        let Some(first) = shard.blocks.front() else {
            if let Some((page, found)) = shard.pages.pop_front() {
                self.parse_page(&mut shard, &page, &found);
            } else if let Some(page) = self.manifest.page_of_shard(shard.n, shard.next_page) {
                if !self.read_pages(&mut shard, page) {
                    return;
                }
            } else {
                return self.finish(shard);
            }
            self.shard = Some(shard);
            return;
        };
        let start = first.range.start;
        let mut end = start;
        let limits = RequestLimits { max_gap: 0, ..RequestLimits::default() };
        let mut some: Vec<Chunk> = Vec::new();
        while let Some(next) = shard.blocks.front() {
            if some.last().is_some_and(|last| !limits.fits(&some[0], last, next)) {
                break;
            }
            end = next.range.end;
            some.extend(shard.blocks.pop_front());
        }
        match self.range(&shard.file, start..end) {
            Ok(bytes) => {
                shard.hash = shard.hash.filter(|_| start == shard.at);
                shard.at = end;
                if let Some(hash) = &mut shard.hash {
                    hash.update(&bytes);
                }
                let cut = |at: Chunk| Ok(RawBlock { bytes: at.within(&bytes, start).to_vec(), at });
                self.ready.extend(some.into_iter().map(cut));
            }
            Err(error) => {
                shard.hash = None;
                self.ready.push_back(Err(error));
            }
        }
        self.shard = Some(shard);
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
