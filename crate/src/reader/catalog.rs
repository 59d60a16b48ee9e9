//! The parts of a database: decoded pages and blocks.

use core::any::Any;
use std::sync::Arc;

use super::error::ReadError;
use crate::table::{Block, Chunk, ContentHash, Manifest, Page, Record, TableError};

/// The functions of a kind of record. The rest of a reader is compiled once for all kinds.
#[derive(Clone, Copy)]
pub(super) struct Format {
    pub(super) manifest: fn(&[u8]) -> Result<Manifest, TableError>,
    block: fn(&[u8], &Chunk, &str) -> Result<OpenBlock, TableError>,
}

impl Format {
    pub(super) fn of<R: Record>() -> Format {
        Format {
            manifest: Manifest::parse::<R>,
            block: |bytes, chunk, folder| {
                let block = Block::<R>::open(bytes, chunk)?;
                Ok(OpenBlock {
                    at: format!("{folder}{}", chunk.file),
                    bytes: block.memory(),
                    block: Box::new(block),
                })
            },
        }
    }
}

/// A block of any kind of record.
pub(super) struct OpenBlock {
    /// URL or path of its file.
    at: String,
    /// Approximate size in memory.
    bytes: usize,
    block: Box<dyn Any + Send + Sync>,
}

impl OpenBlock {
    /// Returns the record of a position.
    pub(super) fn find<R: Record>(
        &self,
        position: &crate::position::Position,
    ) -> Result<Option<R>, ReadError> {
        let block = self.block.downcast_ref::<Block<R>>();
        let block = block.ok_or(ReadError::Unanswered)?;
        block.find(position).map_err(|error| ReadError::Table {
            at: self.at.clone(),
            error,
        })
    }
}

/// A page or a block, decoded, or the hashes of the blocks of a page.
#[derive(Clone)]
pub(super) enum Part {
    Page(Arc<Page>),
    Block(Arc<OpenBlock>),
    Hashes(Arc<[u8]>),
}

impl Part {
    /// Returns the approximate size in memory, in bytes.
    pub(super) fn bytes(&self) -> usize {
        match self {
            Part::Page(page) => page.memory(),
            Part::Block(block) => block.bytes,
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

    /// Returns the name of the chunk in a cache.
    pub(super) fn name(&self) -> String {
        let Chunk { file, range, .. } = &self.chunk;
        format!("{file}:{}-{}", range.start, range.end)
    }

    /// Decodes the chunk from bytes of a cache or a source, after a comparison of their hash.
    pub(super) fn decode(
        &self,
        bytes: &[u8],
        format: Format,
        folder: &str,
    ) -> Result<Part, TableError> {
        let chunk = &self.chunk;
        if let Some(hash) = self.hash {
            chunk.check(bytes, hash)?;
        }
        Ok(match self.kind {
            Kind::Page => Part::Page(Arc::new(Page::parse(bytes, chunk)?)),
            Kind::Hashes => Part::Hashes(bytes.into()),
            Kind::Block => Part::Block(Arc::new((format.block)(bytes, chunk, folder)?)),
        })
    }
}
