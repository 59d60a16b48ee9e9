//! What is particular to a kind of record when a database of it is built.

use std::borrow::Cow;

use shelfish::table::Record;

use super::sort::Merging;
use super::spool::{SpoolError, Surplus};

/// A kind of record, and what is wanted of it.
pub trait Kind: Clone + Send + Sync + 'static {
    /// The record of a position.
    type Record: Record + Clone;
    /// How payloads of a position become one.
    type Merging: Merging;
    /// The weight of a block.
    const BLOCK_WEIGHT: usize;

    /// Whether a record that one base alone has stays as it is. If not, its weight is asked for, as that of all others.
    fn keeps_bases(&self) -> bool {
        true
    }

    /// The payload of a record.
    fn payload(&self, record: &Self::Record) -> Vec<u8>;

    /// What a record has room for of a payload.
    ///
    /// # Errors
    ///
    /// The payload is malformed.
    fn fitting<'a>(&self, _key: &[u8], payload: Cow<'a, [u8]>) -> Result<Cow<'a, [u8]>, SpoolError> {
        Ok(payload)
    }

    /// The weight of the record that is made of a payload; `None` if the position is left out.
    ///
    /// # Errors
    ///
    /// The payload is malformed.
    fn weight(&self, payload: &[u8]) -> Result<Option<usize>, SpoolError>;

    /// Decodes a payload, and tells what it had no room for.
    ///
    /// # Errors
    ///
    /// The payload is malformed.
    fn decode(key: &[u8], payload: &[u8]) -> Result<(Self::Record, Surplus), SpoolError>;

    /// Leaves out what can be left out once all of a position is together. With a surplus that is worth telling of, the row
    /// that the file of rejects has for it.
    fn settle(&self, _record: &mut Self::Record, _surplus: Surplus) -> Option<String> {
        None
    }
}
