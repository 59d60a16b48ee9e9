//! A table of records by position, as files for a static host.
//!
//! `manifest.json` is the only file whose content changes. It lists *shards*, immutable files named by their content,
//! and the leaf *pages* of the index in each shard. A page lists *blocks*, zstd frames of some hundreds of records
//! each. Records are in ascending order of their [`Key`](crate::position::Key)s. Separators locate the page and block
//! of a key. A separator is the shortest byte string above the previous key and not above the next key.
//!
//! A reader needs the manifest and two byte ranges (page, block) for a first record, and one byte range (block) for
//! another record near it. The bytes are not trusted: lengths are checked before memory is allocated, and every range
//! has a checksum.
//!
//! A table contains records of one kind that implements [`Record`].

mod block;
mod chunk;
mod columns;
mod forest;
mod hash;
mod json_reader;
mod manifest;
mod manifest_error;
mod page;
mod record;
mod shard_name;
#[cfg(all(test, feature = "write"))]
mod tests;
#[cfg(feature = "write")]
mod write;

pub use block::Block;
pub(crate) use block::MAX_TOTAL;
// Items of the writer that only the program `shelfish` uses. They are not part of the public API.
pub use crate::moves::LineError;
#[cfg(feature = "write")]
#[doc(hidden)]
pub use block::{RecordWeight, StoredRecord};
#[cfg(feature = "write")]
#[doc(hidden)]
pub use chunk::seal;
pub use chunk::{Chunk, ChunkErrorKind, KeyRange, TableError};
pub use columns::ColumnError;
pub use hash::{ContentHash, HashList};
pub use manifest::{ListedPage, Manifest, Shard};
pub use manifest_error::ManifestError;
pub use page::Page;
pub(crate) use record::sealed::Sealed;
pub use record::{Record, RecordError};
pub use shard_name::{SHARD_ENDING, is_shard_name, shard_name};
#[cfg(feature = "write")]
pub use write::{
    BlockOrigin, CompleteTable, Cutter, EncodedBlock, KeptShard, TableWriter, WriteError,
    WriterOptions, encode_block, page_blocks,
};
#[cfg(feature = "write")]
#[doc(hidden)]
pub use write::{PREVIOUS, Part, encode_block_of, manifest_in, remove_abandoned, separator};

pub(crate) use columns::{Coder, Columns, Octaves, out_of_range, unzigzag, zigzag};
