//! What is at hand of a database: its manifest, and decoded pages and blocks.

use std::sync::Arc;

use super::lru::Lru;
use super::{GAP, ReadError};
use crate::eval::Eval;
use crate::position::Position;
use crate::table::{Block, Chunk, Manifest, Page, Record, TableError};

/// A manifest, and pages and blocks in memory, bounded in bytes.
#[derive(Debug)]
pub struct Catalog<R: Record = Eval> {
    manifest: Arc<Manifest>,
    folder: String,
    memory: Lru<Chunk, Piece<R>>,
    /// Bytes between two chunks that are fetched with them at most.
    pub(super) gap: u64,
    /// Times that a block was in memory.
    pub(super) hits: u64,
}

/// A part of a database, decoded.
#[derive(Debug)]
pub(super) enum Piece<R: Record> {
    Page(Arc<Page>),
    Block(Arc<Block<R>>),
}

impl<R: Record> Clone for Piece<R> {
    fn clone(&self) -> Piece<R> {
        match self {
            Piece::Page(page) => Piece::Page(page.clone()),
            Piece::Block(block) => Piece::Block(block.clone()),
        }
    }
}

impl<R: Record> Piece<R> {
    /// Bytes that it takes in memory, about.
    fn bytes(&self) -> usize {
        match self {
            Piece::Page(page) => page.memory(),
            Piece::Block(block) => block.memory(),
        }
    }
}

/// A part of a database that a lookup takes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Want {
    /// A leaf page of the index.
    Page(Chunk),
    /// A block of records.
    Block(Chunk),
}

impl Want {
    /// The bytes of it.
    pub fn chunk(&self) -> &Chunk {
        match self {
            Want::Page(chunk) | Want::Block(chunk) => chunk,
        }
    }

    /// Whether it is a block.
    pub fn is_block(&self) -> bool {
        matches!(self, Want::Block(_))
    }

    fn decode<R: Record>(&self, bytes: &[u8]) -> Result<Piece<R>, TableError> {
        match self {
            Want::Page(at) => Page::parse(bytes, at).map(|page| Piece::Page(Arc::new(page))),
            Want::Block(at) => Block::open(bytes, at).map(|block| Piece::Block(Arc::new(block))),
        }
    }
}

impl<R: Record> Catalog<R> {
    /// A catalog of a manifest and of at most `memory` bytes of pages and blocks. What errors name is in `folder`, a
    /// path or URL that ends with a slash.
    pub fn new(manifest: Manifest, folder: String, memory: usize) -> Catalog<R> {
        Catalog { manifest: Arc::new(manifest), folder, memory: Lru::new(memory), gap: GAP, hits: 0 }
    }

    /// The manifest.
    pub fn manifest(&self) -> &Arc<Manifest> {
        &self.manifest
    }

    /// Goes on with the manifest of another build. What both builds share stays in memory.
    pub fn renew(&mut self, manifest: Manifest) {
        self.manifest = Arc::new(manifest);
    }

    /// Times that a block was in memory when a lookup wanted it.
    pub fn hits(&self) -> u64 {
        self.hits
    }

    /// Looks `position` up if what that takes is in memory; `None` if it is not.
    pub fn peek(&mut self, position: &Position) -> Option<Result<Option<R>, ReadError>> {
        let key = position.key();
        let Some(page) = self.manifest.page_of(&key) else { return Some(Ok(None)) };
        let Some(Piece::Page(page)) = self.held(&Want::Page(page)) else { return None };
        let Some(at) = page.block_of(&key) else { return Some(Ok(None)) };
        let Some(Piece::Block(block)) = self.memory.get(&at) else { return None };
        self.hits += 1;
        let answer = block.find(position);
        Some(answer.map_err(|error| self.error(&at, error)))
    }

    /// What is wrong with the file of a chunk.
    pub(super) fn error(&self, chunk: &Chunk, error: TableError) -> ReadError {
        ReadError::Table { at: format!("{}{}", self.folder, chunk.file), error }
    }

    /// What is wanted, if it is in memory or an inline page of the manifest.
    pub(super) fn held(&mut self, want: &Want) -> Option<Piece<R>> {
        if let Some(piece) = self.memory.get(want.chunk()) {
            return Some(piece.clone());
        }
        let manifest = self.manifest.clone();
        self.take(want, manifest.inline_page(want.chunk())?).ok()
    }

    /// What is wanted, decoded from bytes that came from outside unless it is in memory.
    pub(super) fn take(&mut self, want: &Want, bytes: &[u8]) -> Result<Piece<R>, ReadError> {
        if let Some(piece) = self.memory.get(want.chunk()) {
            return Ok(piece.clone());
        }
        let piece = want.decode(bytes).map_err(|error| self.error(want.chunk(), error))?;
        self.memory.put(want.chunk().clone(), piece.clone(), piece.bytes());
        Ok(piece)
    }
}
