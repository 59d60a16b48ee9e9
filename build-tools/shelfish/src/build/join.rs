//! Sorted runs and bases as one ascending sequence, each position once.

use std::borrow::Cow;
use std::io;

use super::BuildError;
use super::base::{BaseError, BaseReader, BaseRecord};
use super::kind::Kind;
use super::sort::{Merge, Merging};
use super::spool::{self, SpoolError, Surplus};
use crate::system::workspace::Workspace;

/// What can fail on the way.
pub enum JoinError {
    /// A run cannot be read.
    Run(io::Error),
    /// A base cannot be read.
    Base(BaseError),
}

impl JoinError {
    /// As a build says it, whose runs are in its workspace.
    pub fn of(self, workspace: &Workspace) -> BuildError {
        match self {
            JoinError::Run(error) => BuildError::Temporary { path: workspace.dir().to_owned(), error },
            JoinError::Base(error) => BuildError::Base(error),
        }
    }
}

impl From<SpoolError> for JoinError {
    fn from(error: SpoolError) -> JoinError {
        JoinError::Run(error.into())
    }
}

/// A record on its way to a block, still coded.
pub enum Draft<K: Kind> {
    /// Of the runs, or of several places.
    Spooled(Vec<u8>),
    /// Of one base alone.
    Based(BaseRecord<K::Record>),
}

impl<K: Kind> Draft<K> {
    fn spooled(key: &[u8], payload: &[u8]) -> Draft<K> {
        let mut record = Vec::with_capacity(key.len() + payload.len() + 4);
        spool::push_parts(&mut record, key, payload);
        Draft::Spooled(record)
    }

    /// The key of its position.
    pub fn key(&self) -> &[u8] {
        match self {
            Draft::Spooled(record) => spool::take_parts(&mut &record[..]).unwrap_or_default().0,
            Draft::Based(record) => record.key(),
        }
    }

    /// The record, decoded, and what it had no room for.
    ///
    /// # Errors
    ///
    /// What was read is no record.
    pub fn record(&self) -> Result<(K::Record, Surplus), JoinError> {
        match self {
            Draft::Spooled(record) => {
                let (key, payload) = spool::take_parts(&mut &record[..])?;
                Ok(K::decode(key, payload)?)
            }
            Draft::Based(record) => Ok((record.record().map_err(JoinError::Base)?, Surplus::default())),
        }
    }

    /// The base's record that it is, if it is one.
    pub fn based(&self) -> Option<&BaseRecord<K::Record>> {
        match self {
            Draft::Spooled(_) => None,
            Draft::Based(record) => Some(record),
        }
    }
}

/// Records in the order of their keys, each key once.
pub trait Sorted {
    /// The key of the next record, if there is one.
    fn peek(&self) -> Option<&[u8]>;

    /// The next key and its payload.
    ///
    /// # Errors
    ///
    /// It cannot be read.
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

/// Runs and bases, joined.
pub struct Join<K: Kind> {
    /// The runs, or what else is sorted.
    pub runs: Box<dyn Sorted>,
    /// The bases.
    pub bases: Vec<BaseReader<K::Record>>,
    /// Whether the runs win over the bases; if not, all of a position is merged.
    pub replace: bool,
    /// What is wanted.
    pub kind: K,
    /// Positions that were left out.
    pub left_out: u64,
}

impl<K: Kind> Join<K> {
    /// The next record and its weight.
    ///
    /// # Errors
    ///
    /// See [`JoinError`].
    pub fn next_record(&mut self) -> Result<Option<(Draft<K>, usize)>, JoinError> {
        loop {
            let least = self.bases.iter().filter_map(BaseReader::peek).min_by_key(|(key, _)| *key);
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
                    (Cow::Owned(key.as_bytes().to_vec()), Cow::Owned(Vec::new()), records)
                }
                _ => {
                    let Some((key, payload)) = self.runs.next_record().map_err(JoinError::Run)? else {
                        return Ok(None);
                    };
                    let records = take(&mut self.bases, key)?;
                    (key.into(), payload.into(), if self.replace { Vec::new() } else { records })
                }
            };
            let payload = self.kind.fitting(&key, merge(&self.kind, payload, &records)?)?;
            match self.kind.weight(&payload)? {
                Some(weight) => return Ok(Some((Draft::spooled(&key, &payload), weight))),
                None => self.left_out += 1,
            }
        }
    }
}

/// Takes the record of `key` off each base that has one.
fn take<R: shelfish::table::Record + Clone>(
    bases: &mut [BaseReader<R>],
    key: &[u8],
) -> Result<Vec<BaseRecord<R>>, JoinError> {
    let mut records = Vec::new();
    for base in bases {
        if base.peek().is_some_and(|(other, _)| other.as_bytes() == key) {
            records.extend(base.take().map_err(JoinError::Base)?);
        }
    }
    Ok(records)
}

/// The payload of a position, with what bases have of it.
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
