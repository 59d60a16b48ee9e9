//! The properties of a kind of record that the build of a table needs.

use std::borrow::Cow;

use shelfish::table::Record;

use super::sort::Merging;
use super::spool::SpoolError;

/// Counts that workers gather and that are added up.
pub trait Total: Clone + Default + Send + 'static {
    /// Adds the counts of another worker.
    fn add(&mut self, other: &Self);
}

impl Total for () {
    fn add(&mut self, (): &()) {}
}

/// A kind of record, with the options of its build.
pub trait Kind: Clone + Send + Sync + 'static {
    /// The record of a position.
    type Record: Record + Clone;
    /// Merges the payloads of a position.
    type Merging: Merging;
    /// Counts of evaluations and moves that exceed the limits of a record.
    type Surplus: Total;
    /// The weight of a block.
    const BLOCK_WEIGHT: usize;

    /// Returns whether a record that only one base contains stays unchanged. If not, [`Kind::weight`] decides.
    fn keeps_bases(&self) -> bool {
        true
    }

    /// Encodes a record as a payload.
    fn payload(&self, record: &Self::Record) -> Vec<u8>;

    /// Shortens a payload to the limits of a record.
    fn fitting<'a>(
        &self,
        _key: &[u8],
        payload: Cow<'a, [u8]>,
    ) -> Result<Cow<'a, [u8]>, SpoolError> {
        Ok(payload)
    }

    /// Returns the weight of the record that a payload becomes, or `None` if the position is left out.
    fn weight(&self, payload: &[u8]) -> Result<Option<usize>, SpoolError>;

    /// Decodes the complete payload of a position.
    ///
    /// Adds the counts above the limits of the record to `surplus`, and its row in the file of rejects to `rows`.
    fn decode(
        &self,
        key: &[u8],
        payload: &[u8],
        surplus: &mut Self::Surplus,
        rows: &mut String,
    ) -> Result<Self::Record, SpoolError>;

    /// Removes the parts of a complete record that the options leave out.
    fn settle(&self, _record: &mut Self::Record) {}
}
