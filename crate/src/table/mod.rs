//! A table of records by position, as files that a static host can serve.
//!
//! `manifest.json` is the only name whose content changes. It lists *shards*, immutable files named by their content,
//! and in each shard the leaf *pages* of the index; a page lists *blocks*, zstd frames of some hundreds of records each.
//! Records ascend by [`Key`](crate::position::Key); pages and blocks are told apart by separators: the shortest byte strings that lie
//! above the key before and not above the key after.
//!
//! A reader needs three byte ranges for a first record (manifest, page, block) and one for another near by. All of
//! them are untrusted: lengths are capped before anything is allocated, and every range has a checksum.
//!
//! What a record is, a table need not know: see [`Record`].

mod block;
mod chunk;
mod columns;
mod forest;
mod json;
mod manifest;
mod page;
mod record;
#[cfg(all(test, feature = "write"))]
mod tests;
#[cfg(feature = "write")]
mod write;

pub use block::Block;
pub(crate) use block::MAX_TOTAL;
#[cfg(feature = "write")]
pub use block::Sketch;
#[cfg(feature = "write")]
pub use chunk::seal;
pub use chunk::{Chunk, ChunkFault, KeyRange, TableError};
pub use columns::ColumnError;
pub use manifest::{Manifest, Shard};
pub use page::Page;
pub use record::Record;
#[cfg(feature = "write")]
pub use write::{
    Cutter, EncodedBlock, PREVIOUS, TableWriter, WriteError, WriterOptions, encode_block, manifest_in, remove_abandoned,
};

#[cfg(feature = "write")]
pub(crate) use columns::BitWriter;
pub(crate) use columns::{Bits, Columns, Octaves, Values};
