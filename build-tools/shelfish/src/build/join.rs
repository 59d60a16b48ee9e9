//! Joins sorted runs and bases into one ascending sequence without duplicate positions.

use std::borrow::Cow;
use std::io;

use super::BuildError;
use super::base::{BaseError, BaseReader, BaseRecord};
use super::kind::Kind;
use super::merge::Merge;
use super::sort::Merging;
use super::spool::{self, SpoolError};
use crate::system::workspace::Workspace;

/// An error of reading runs or bases.
pub enum JoinError {
    /// A run cannot be read.
    Run(io::Error),
    /// A base cannot be read.
    Base(BaseError),
}

impl JoinError {
    /// Returns the error of a build whose runs are in `workspace`.
    pub fn of(self, workspace: &Workspace) -> BuildError {
        match self {
            JoinError::Run(error) => BuildError::temporary(workspace, error),
            JoinError::Base(error) => BuildError::Base(error),
        }
    }
}

impl From<SpoolError> for JoinError {
    fn from(error: SpoolError) -> JoinError {
        JoinError::Run(error.into())
    }
}

/// An encoded record on its way to a block.
pub enum Draft<K: Kind> {
    /// A record of the runs, or of several inputs.
    Spooled(Vec<u8>),
    /// A record that only one base contains.
    Based(BaseRecord<K::Record>),
}

impl<K: Kind> Draft<K> {
    fn spooled(key: &[u8], payload: &[u8]) -> Draft<K> {
        let mut record = Vec::with_capacity(key.len() + payload.len() + 4);
        spool::push_parts(&mut record, key, payload);
        Draft::Spooled(record)
    }

    /// Returns the key of the position.
    pub fn key(&self) -> &[u8] {
        match self {
            Draft::Spooled(record) => spool::take_parts(&mut &record[..]).unwrap_or_default().0,
            Draft::Based(record) => record.key(),
        }
    }

    /// Returns the record, if only one base contains it.
    pub fn based(&self) -> Option<&BaseRecord<K::Record>> {
        match self {
            Draft::Spooled(_) => None,
            Draft::Based(record) => Some(record),
        }
    }
}

/// Records in ascending order of keys, without duplicate keys.
pub trait Sorted {
    /// Returns the key of the next record.
    fn peek(&self) -> Option<&[u8]>;

    /// Returns the next key and its payload.
    fn next_record(&mut self) -> io::Result<Option<(&[u8], &[u8])>>;
}

impl<M: Merging> Sorted for Merge<M> {
    fn peek(&self) -> Option<&[u8]> {
        Merge::peek(self)
    }

    fn next_record(&mut self) -> io::Result<Option<(&[u8], &[u8])>> {
        Merge::next_record(self)
    }
}

/// Iterates over the records of runs and bases.
pub struct Join<K: Kind> {
    /// The runs, or another sorted sequence.
    pub runs: Box<dyn Sorted>,
    /// The bases.
    pub bases: Vec<BaseReader<K::Record>>,
    /// Whether records of the runs replace those of the bases instead of being merged.
    pub replace: bool,
    /// The kind of record.
    pub kind: K,
    /// Number of positions that were left out.
    pub left_out: u64,
}

impl<K: Kind> Join<K> {
    /// Returns the next record and its weight.
    pub fn next_record(&mut self) -> Result<Option<(Draft<K>, usize)>, JoinError> {
        loop {
            let least = self
                .bases
                .iter()
                .filter_map(BaseReader::peek)
                .min_by_key(|(key, _)| *key);
            let least = least.map(|(key, weight)| (*key, weight));
            let (key, payload, records) = match (self.runs.peek(), least) {
                (None, None) => return Ok(None),
                (run, Some((key, weight))) if run.is_none_or(|run| run > key.as_bytes()) => {
                    let records = take(&mut self.bases, key.as_bytes())?;
                    if self.kind.keeps_bases()
                        && let [record] = &records[..]
                    {
                        return Ok(Some((Draft::Based(record.clone()), weight)));
                    }
                    (
                        Cow::Owned(key.as_bytes().to_vec()),
                        Cow::Owned(Vec::new()),
                        records,
                    )
                }
                _ => {
                    let Some((key, payload)) = self.runs.next_record().map_err(JoinError::Run)?
                    else {
                        return Ok(None);
                    };
                    let records = take(&mut self.bases, key)?;
                    (
                        key.into(),
                        payload.into(),
                        if self.replace { Vec::new() } else { records },
                    )
                }
            };
            let payload = self
                .kind
                .fitting(&key, merge(&self.kind, payload, &records)?)?;
            match self.kind.weight(&payload)? {
                Some(weight) => return Ok(Some((Draft::spooled(&key, &payload), weight))),
                None => self.left_out += 1,
            }
        }
    }
}

/// Takes the record of `key` from each base that contains it.
fn take<R: shelfish::table::Record + Clone>(
    bases: &mut [BaseReader<R>],
    key: &[u8],
) -> Result<Vec<BaseRecord<R>>, JoinError> {
    let mut records = Vec::new();
    for base in bases {
        if base
            .peek()
            .is_some_and(|(other, _)| other.as_bytes() == key)
        {
            records.extend(base.take().map_err(JoinError::Base)?);
        }
    }
    Ok(records)
}

/// Merges the payload of a position with the records of bases.
fn merge<'a, K: Kind>(
    kind: &K,
    payload: Cow<'a, [u8]>,
    records: &[BaseRecord<K::Record>],
) -> Result<Cow<'a, [u8]>, JoinError> {
    if records.is_empty() {
        return Ok(payload);
    }
    let mut merged = K::Merging::default();
    merged.push(&payload)?;
    for record in records {
        merged.push(&kind.payload(&record.record().map_err(JoinError::Base)?))?;
    }
    Ok(merged.finish()?.into())
}
