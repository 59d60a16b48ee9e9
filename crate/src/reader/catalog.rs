//! The parts of a database in memory: its manifest, and decoded pages and blocks.

use std::sync::Arc;

use super::error::ReadError;
use super::lru::Lru;
use crate::eval::PositionEval;
use crate::position::Position;
use crate::table::{Block, Chunk, Manifest, Page, Record, TableError};

/// A manifest, and pages and blocks in memory, bounded in bytes.
#[derive(Debug)]
pub(super) struct Catalog<R: Record = PositionEval> {
    manifest: Arc<Manifest>,
    folder: String,
    memory: Lru<Chunk, Part<R>>,
    /// Times that a block was in memory when a lookup wanted it.
    pub(super) hits: u64,
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
    /// Bytes that it takes in memory, about.
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

    fn decode<R: Record>(&self, bytes: &[u8]) -> Result<Part<R>, TableError> {
        match self {
            Want::Page(at) => Page::parse(bytes, at).map(|page| Part::Page(Arc::new(page))),
            Want::Block(at) => Block::open(bytes, at).map(|block| Part::Block(Arc::new(block))),
        }
    }
}

impl<R: Record> Catalog<R> {
    /// Creates a catalog of a manifest and at most `memory` bytes of pages and blocks. `folder` is the path or URL of
    /// the files, with a trailing slash, for error messages.
    pub(super) fn new(manifest: Manifest, folder: String, memory: usize) -> Catalog<R> {
        Catalog { manifest: Arc::new(manifest), folder, memory: Lru::new(memory), hits: 0 }
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

    /// The block that `position` is in if it is in any, and if what that takes is in memory; `None` if it is not.
    pub(super) fn peek(&mut self, position: &Position) -> Option<Option<(Chunk, Arc<Block<R>>)>> {
        let key = position.key();
        let Some(page) = self.manifest.page_of(&key) else { return Some(None) };
        let Some(Part::Page(page)) = self.held(&Want::Page(page)) else { return None };
        let Some(at) = page.block_of(&key) else { return Some(None) };
        let Some(Part::Block(block)) = self.memory.get(&at) else { return None };
        self.hits += 1;
        let block = block.clone();
        Some(Some((at, block)))
    }

    /// Adds the location of a chunk to its error.
    pub(super) fn error(&self, chunk: &Chunk, error: TableError) -> ReadError {
        ReadError::Table { at: format!("{}{}", self.folder, chunk.file), error }
    }

    /// Returns a page or block if it is in memory, or is an inline page of the manifest.
    pub(super) fn held(&mut self, want: &Want) -> Option<Part<R>> {
        if let Some(part) = self.memory.get(want.chunk()) {
            return Some(part.clone());
        }
        let manifest = self.manifest.clone();
        self.take(want, manifest.inline_page(want.chunk())?).ok()
    }

    /// Returns a page or block from memory, or decodes it from bytes of a cache or a source.
    pub(super) fn take(&mut self, want: &Want, bytes: &[u8]) -> Result<Part<R>, ReadError> {
        if let Some(part) = self.memory.get(want.chunk()) {
            return Ok(part.clone());
        }
        let part = want.decode(bytes).map_err(|error| self.error(want.chunk(), error))?;
        self.memory.put(want.chunk().clone(), part.clone(), part.bytes());
        Ok(part)
    }
}
