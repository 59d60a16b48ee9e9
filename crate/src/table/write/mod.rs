//! Writing a table: records in ascending order are cut into blocks, which are encoded and appended to shards in order.

mod cutter;
mod error;
mod part;
mod shard;

pub use cutter::Cutter;
pub use error::WriteError;
pub use part::Part;
pub use shard::{
    CompleteTable, KeptShard, PREVIOUS, TableWriter, WriterOptions, manifest_in, page_blocks,
    remove_abandoned, separator,
};

use super::columns::{ColumnError, compress};
use super::forest::{self, Node, Written};
use super::{Block, MAX_TOTAL, Record, StoredRecord};
use crate::position::Key;

/// A block ready to be appended to a table.
#[derive(Clone, Debug)]
pub struct EncodedBlock {
    /// The zstd frame.
    pub bytes: Vec<u8>,
    /// Number of records.
    pub positions: u64,
    /// The totals of its records, in the order of [`Record::TOTALS`].
    pub totals: Vec<u64>,
    /// Location of the block in another table, if the block is a copy.
    pub origin: Option<BlockOrigin>,
    pub(super) first: Key,
    pub(super) last: Key,
}

/// The location of a block in another table. An update refers to the location instead of writing the block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlockOrigin {
    /// Name of the shard.
    pub file: String,
    /// Offset in the shard.
    pub start: u64,
}

/// The compression level of zstd.
const LEVEL: i32 = 19;

/// Encodes records in ascending order of keys as one block. This takes most of the time of writing a table. It is a
/// pure function and can be called from several threads.
///
/// # Errors
///
/// Returns an error if records are out of order, too many, or invalid: without evaluations or PVs, with an evaluation
/// deeper than the first, a score out of range, or an illegal move.
pub fn encode_block<R: Record>(records: &[R]) -> Result<EncodedBlock, WriteError> {
    let keys: Vec<Key> = records
        .iter()
        .map(|record| record.position().key())
        .collect();
    encode_block_of(records, &keys, &[])
}

/// Encodes records like [`encode_block`], with the known keys of their positions. The keys are not checked.
///
/// `stored` may contain the [`StoredRecord`] of a record that [`Block::get`] returned, at the same index. The moves of that
/// record are not ranked again. Only the last evaluations, PVs and moves may have been removed from it.
///
/// # Errors
///
/// See [`encode_block`].
pub fn encode_block_of<R: Record>(
    records: &[R],
    keys: &[Key],
    stored: &[Option<StoredRecord<'_, R>>],
) -> Result<EncodedBlock, WriteError> {
    let (&first, &last) = keys.first().zip(keys.last()).ok_or(WriteError::Order)?;
    if keys.len() != records.len() || !keys.is_sorted_by(|a, b| a < b) {
        return Err(WriteError::Order);
    }
    let nodes: Vec<Node> = records
        .iter()
        .map(|record| Node::new(record.position().chess()))
        .collect();
    let mut columns = vec![Vec::new(); forest::COLUMNS + R::COLUMNS];
    let error_of = |error| {
        let fen = |record: Option<&R>| {
            record.map_or_else(String::new, |record| record.position().to_string())
        };
        WriteError::Block {
            first: fen(records.first()),
            last: fen(records.last()),
            error,
        }
    };
    let is_preferred = |n: usize, from, to| records[n].has_step(from, to);
    let Written {
        order,
        parents,
        steps,
    } = forest::encode(&nodes, &is_preferred, &mut columns).map_err(error_of)?;
    let in_order: Vec<&R> = order.iter().map(|&n| &records[n as usize]).collect();
    let stored: Vec<_> = order
        .iter()
        .map(|&n| stored.get(n as usize).and_then(Option::as_ref))
        .collect();
    R::encode(&in_order, &stored, &parents, &|n| steps[n], &mut columns).map_err(error_of)?;
    let least = columns.len() - R::OPTIONAL_COLUMNS;
    if columns[least..].iter().all(Vec::is_empty) {
        columns.truncate(least);
    }
    let bytes = compress(&columns, LEVEL).map_err(error_of)?;
    let mut totals = vec![0; R::TOTALS.len()];
    records.iter().for_each(|record| record.count(&mut totals));
    let too_many = records.len() > forest::MAX_POSITIONS
        || totals.iter().any(|&total| total > MAX_TOTAL as u64);
    if too_many || bytes.len() > Block::<R>::MAX_BYTES {
        return Err(error_of(ColumnError::TooLarge {
            found: bytes.len() as u64,
        }));
    }
    Ok(EncodedBlock {
        bytes,
        positions: records.len() as u64,
        totals,
        origin: None,
        first,
        last,
    })
}
