//! The parts of a database in memory: its manifest, and decoded pages and blocks.

use std::sync::Arc;

use super::lru::Lru;
use crate::eval::PositionEval;
use crate::table::{Block, Chunk, ContentHash, Manifest, Page, Record, TableError};

/// A manifest, and pages and blocks in memory, bounded in bytes.
#[derive(Debug)]
pub(super) struct Catalog<R: Record = PositionEval> {
    manifest: Arc<Manifest>,
    memory: Lru<Chunk, Part<R>>,
}

/// A page or a block, decoded, or the hashes of the blocks of a page.
#[derive(Debug)]
pub(super) enum Part<R: Record> {
    Page(Arc<Page>),
    Block(Arc<Block<R>>),
    Hashes(Arc<[u8]>),
}

impl<R: Record> Clone for Part<R> {
    fn clone(&self) -> Part<R> {
        match self {
            Part::Page(page) => Part::Page(page.clone()),
            Part::Block(block) => Part::Block(block.clone()),
            Part::Hashes(list) => Part::Hashes(list.clone()),
        }
    }
}

impl<R: Record> Part<R> {
    /// Returns the approximate size in memory, in bytes.
    fn bytes(&self) -> usize {
        match self {
            Part::Page(page) => page.memory(),
            Part::Block(block) => block.memory(),
            Part::Hashes(list) => list.len(),
        }
    }
}

/// A page, a list of hashes or a block that a lookup needs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Want {
    pub(super) chunk: Chunk,
    /// The expected hash, if the manifest is pinned.
    pub(super) hash: Option<ContentHash>,
    pub(super) kind: Kind,
}

/// The kind of a chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Page,
    Hashes,
    Block,
}

impl Want {
    pub(super) fn is_block(&self) -> bool {
        self.kind == Kind::Block
    }

    /// Decodes the chunk from bytes of a cache or a source, after a comparison of their hash.
    pub(super) fn decode<R: Record>(&self, bytes: &[u8]) -> Result<Part<R>, TableError> {
        if let Some(hash) = self.hash {
            self.chunk.check(bytes, hash)?;
        }
        Ok(match self.kind {
            Kind::Page => Part::Page(Arc::new(Page::parse(bytes, &self.chunk)?)),
            Kind::Hashes => Part::Hashes(bytes.into()),
            Kind::Block => Part::Block(Arc::new(Block::open(bytes, &self.chunk)?)),
        })
    }
}

impl<R: Record> Catalog<R> {
    /// Creates a catalog of a manifest and at most `memory` bytes of pages and blocks.
    pub(super) fn new(manifest: Manifest, memory: usize) -> Catalog<R> {
        Catalog {
            manifest: Arc::new(manifest),
            memory: Lru::new(memory, Chunk::hash),
        }
    }

    pub(super) fn manifest(&self) -> &Arc<Manifest> {
        &self.manifest
    }

    /// Replaces the manifest by that of a new build. Chunks that both builds contain stay in memory. Returns whether the
    /// new manifest is different.
    pub(super) fn renew(&mut self, manifest: Manifest) -> bool {
        let is_different = *self.manifest != manifest;
        self.manifest = Arc::new(manifest);
        is_different
    }

    /// Forgets all pages and blocks.
    pub(super) fn clear(&mut self) {
        self.memory.clear();
    }

    /// Returns a page or block from memory.
    pub(super) fn part(&mut self, chunk: &Chunk) -> Option<Part<R>> {
        self.memory.get(chunk).cloned()
    }

    /// Adds a page or block to the memory.
    pub(super) fn keep(&mut self, chunk: &Chunk, part: Part<R>) {
        let bytes = part.bytes();
        self.memory.put(chunk.clone(), part, bytes);
    }
}
