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
    /// Some bytes belong to no block or page, or to several of them.
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

/// Shard whose pages have been read.
struct OpenShard {
    file: String,
    /// Blocks that have not been read yet.
    blocks: VecDeque<Chunk>,
    pages: Vec<u8>,
    /// Hash of the shard, unless some bytes could not be read in order.
    hash: Option<Sha256>,
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

    /// Reads the pages of shard `n`.
    fn open(&mut self, n: usize) {
        let manifest = self.manifest.clone();
        let shard = &manifest.shards()[n];
        let pages: Vec<Chunk> = manifest.pages_of(n).collect();
        let start = pages.first().map_or(shard.bytes, |page| page.range.start);
        let bytes = match self.range(&shard.file, start..shard.bytes) {
            Ok(bytes) => bytes,
            Err(error) => return self.ready.push_back(Err(error)),
        };
        let mut blocks: VecDeque<Chunk> = VecDeque::new();
        for page in &pages {
            let found = page.within(&bytes, start);
            match Page::parse(found, page) {
                Ok(page) => blocks.extend(page.blocks()),
                Err(error) => self.ready.push_back(Err(self.read_error(page, error))),
            }
            if manifest.inline_page(page).is_some_and(|inline| inline != found) {
                self.ready.push_back(Err(ScanError::InlinePage(page.clone())));
            }
        }
        let mut at = 0;
        for Chunk { range, .. } in &blocks {
            if range.start != at {
                self.layout_error(&shard.file, at.min(range.start)..at.max(range.start));
            }
            at = range.end;
        }
        if at != start {
            self.layout_error(&shard.file, at.min(start)..at.max(start));
        }
        self.shard =
            Some(OpenShard { file: shard.file.clone(), blocks, pages: bytes, hash: Some(Sha256::new()), at: 0 });
    }

    fn layout_error(&mut self, file: &str, range: Range<u64>) {
        let at = self.source.locate(file);
        self.ready.push_back(Err(ScanError::Layout { at, range }));
    }

    /// Reads some blocks of the open shard. Checks the name of the shard at its end.
    fn advance(&mut self, mut shard: OpenShard) {
        let Some(first) = shard.blocks.front() else {
            if let Some(mut hash) = shard.hash {
                hash.update(&shard.pages);
                let found = shard_name(&hash.finalize());
                if found != shard.file {
                    let found = found.trim_end_matches(SHARD_ENDING).to_owned();
                    self.ready.push_back(Err(ScanError::Name { at: self.source.locate(&shard.file), found }));
                }
            }
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
