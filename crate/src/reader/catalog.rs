//! The parts of a database in memory: its manifest, and decoded pages and blocks.

use std::sync::Arc;

use super::lru::Lru;
use crate::eval::PositionEval;
use crate::table::{Block, Chunk, Manifest, Page, Record, TableError};

/// A manifest, and pages and blocks in memory, bounded in bytes.
#[derive(Debug)]
pub(super) struct Catalog<R: Record = PositionEval> {
    manifest: Arc<Manifest>,
    memory: Lru<Chunk, Part<R>>,
}

/// A page or a block, decoded.
#[derive(Debug)]
pub(super) enum Part<R: Record> {
    Page(Arc<Page>),
    Block(Arc<Block<R>>),
}

impl<R: Record> Clone for Part<R> {
    fn clone(&self) -> Part<R> {
        match self {
            Part::Page(page) => Part::Page(page.clone()),
            Part::Block(block) => Part::Block(block.clone()),
        }
    }
}

impl<R: Record> Part<R> {
    /// Returns the approximate size in memory, in bytes.
    fn bytes(&self) -> usize {
        match self {
            Part::Page(page) => page.memory(),
            Part::Block(block) => block.memory(),
        }
    }
}

/// The location of a page or a block that a lookup needs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Want {
    Page(Chunk),
    Block(Chunk),
}

impl Want {
    pub(super) fn chunk(&self) -> &Chunk {
        match self {
            Want::Page(chunk) | Want::Block(chunk) => chunk,
        }
    }

    pub(super) fn is_block(&self) -> bool {
        matches!(self, Want::Block(_))
    }

    /// Decodes the chunk from bytes of a cache or a source.
    pub(super) fn decode<R: Record>(&self, bytes: &[u8]) -> Result<Part<R>, TableError> {
        match self {
            Want::Page(at) => Page::parse(bytes, at).map(|page| Part::Page(Arc::new(page))),
            Want::Block(at) => Block::open(bytes, at).map(|block| Part::Block(Arc::new(block))),
        }
    }
}

impl<R: Record> Catalog<R> {
    /// Creates a catalog of a manifest and at most `memory` bytes of pages and blocks.
    pub(super) fn new(manifest: Manifest, memory: usize) -> Catalog<R> {
        Catalog { manifest: Arc::new(manifest), memory: Lru::new(memory, Chunk::hash) }
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
