//! The properties of a kind of record that the build of a table needs.

use std::io;
use std::ops::AddAssign;

use shelfish::position::Key;
use shelfish::table::Record;

use super::spool::{OverLimit, SpoolError};
use crate::input::{Dump, Input};

/// A kind of record, with the options of its build.
///
/// Inputs are parsed into *payloads*, the compact form of records in temporary files. The payloads of a position are merged,
/// and then decoded to its record.
pub trait Kind: Clone + Send + Sync + 'static {
    /// The record of a position.
    type Record: Record + Clone;
    /// A part of an input.
    type Chunk: Send;
    /// Counts of the parsed items.
    type Counts: AddAssign + Default + Send;

    /// Returns the parts of a dump.
    fn chunks(&self, dump: Dump) -> Box<dyn Iterator<Item = io::Result<Self::Chunk>>>;

    /// Returns the size of a part, in bytes.
    fn bytes(chunk: &Self::Chunk) -> usize;

    /// Passes the payloads of a part to `push`, and the rows of its rejects to `rows`. Returns the number of positions.
    fn parse(
        &self,
        input: &Input,
        chunk: &Self::Chunk,
        counts: &mut Self::Counts,
        push: &mut dyn FnMut(&Key, &[u8]) -> io::Result<()>,
        rows: &mut String,
    ) -> io::Result<u64>;

    /// Merges concatenated payloads of a position. The result does not depend on their order.
    fn merge(&self, payloads: &[u8]) -> Result<Vec<u8>, SpoolError>;

    /// Encodes a record as a payload.
    fn payload(&self, record: &Self::Record) -> Vec<u8>;

    /// Returns whether a record that only one base contains stays unchanged. If not, [`Kind::fit`] decides.
    fn keeps_bases(&self) -> bool {
        true
    }

    /// Shortens a complete payload to the limits of a record, and returns it with the weight of the record, or `None` if the
    /// position is left out.
    fn fit(&self, key: &[u8], payload: Vec<u8>) -> Result<Option<(Vec<u8>, usize)>, SpoolError>;

    /// Decodes the complete payload of a position, and adds the counts above the limits of the record to `over_limit`.
    fn decode(
        &self,
        key: &[u8],
        payload: &[u8],
        over_limit: &mut OverLimit,
    ) -> Result<Self::Record, SpoolError>;

    /// Removes the parts of a complete record that the options leave out.
    fn settle(&self, _record: &mut Self::Record) {}
}

/// Size of the payloads of a position that are gathered before they are merged, in bytes.
const BATCH: usize = 1 << 20;

/// Adds a payload to payloads of the same position, which are merged if they are large.
pub fn gather_payload(
    kind: &impl Kind,
    payloads: &mut Vec<u8>,
    payload: &[u8],
) -> Result<(), SpoolError> {
    payloads.extend_from_slice(payload);
    if payloads.len() > BATCH {
        *payloads = kind.merge(payloads)?;
    }
    Ok(())
}
