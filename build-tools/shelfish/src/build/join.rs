//! Sorted runs and bases as one ascending sequence, each position once.

use std::cmp::Reverse;
use std::io;

use shelfish::eval::Eval;

use super::Selection;
use super::base::{BaseError, BaseReader, BaseRecord};
use super::record::MAX_EVALUATIONS;
use super::sort::Merge;
use super::spool::{self, SpoolError};

/// What can fail on the way.
pub enum JoinError {
    /// A run cannot be read.
    Run(io::Error),
    /// A base cannot be read.
    Base(BaseError),
}

impl From<SpoolError> for JoinError {
    fn from(error: SpoolError) -> JoinError {
        JoinError::Run(error.into())
    }
}

/// A record on its way to a block, still coded.
pub enum Draft {
    /// Of the runs, or of several places.
    Spooled(Vec<u8>),
    /// Of one base alone.
    Based(BaseRecord),
}

impl Draft {
    fn spooled(key: &[u8], payload: &[u8]) -> Draft {
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

    /// The record, decoded.
    ///
    /// # Errors
    ///
    /// What was read is no record.
    pub fn eval(&self) -> Result<Eval, JoinError> {
        match self {
            Draft::Spooled(record) => Ok(spool::take(&mut &record[..])?),
            Draft::Based(record) => record.eval().map_err(JoinError::Base),
        }
    }

    /// The base's record that it is, if it is one.
    pub fn based(&self) -> Option<&BaseRecord> {
        match self {
            Draft::Spooled(_) => None,
            Draft::Based(record) => Some(record),
        }
    }
}

/// Runs and bases, joined.
pub struct Join {
    /// The runs.
    pub runs: Merge,
    /// The bases.
    pub bases: Vec<BaseReader>,
    /// Whether the runs win over the bases; if not, all evaluations of a position are kept.
    pub replace: bool,
    /// What will be left of each position.
    pub selection: Selection,
}

impl Join {
    /// The next record and its weight.
    ///
    /// # Errors
    ///
    /// See [`JoinError`].
    pub fn next_record(&mut self) -> Result<Option<(Draft, usize)>, JoinError> {
        let least = self.bases.iter().filter_map(BaseReader::peek).min_by_key(|(key, _)| *key);
        let least = least.map(|(key, weight)| (*key, weight));
        match (self.runs.peek(), least) {
            (Some(run), Some((base, _))) if run <= base.as_bytes() => self.next_of_runs(),
            (_, Some((key, weight))) => {
                let records = take(&mut self.bases, key.as_bytes())?;
                match &records[..] {
                    [record] => Ok(Some((Draft::Based(record.clone()), weight))),
                    _ => {
                        let payload = merge(&[], &records)?;
                        let weight = weight_of(key.as_bytes(), &payload, &self.selection)?;
                        Ok(Some((Draft::spooled(key.as_bytes(), &payload), weight)))
                    }
                }
            }
            (_, None) => self.next_of_runs(),
        }
    }

    fn next_of_runs(&mut self) -> Result<Option<(Draft, usize)>, JoinError> {
        let Some((key, payload)) = self.runs.next_record().map_err(JoinError::Run)? else { return Ok(None) };
        let records = take(&mut self.bases, key)?;
        let merged;
        let payload = if records.is_empty() || self.replace {
            payload
        } else {
            merged = merge(payload, &records)?;
            &merged
        };
        Ok(Some((Draft::spooled(key, payload), weight_of(key, payload, &self.selection)?)))
    }
}

/// Takes the record of `key` off each base that has one.
fn take(bases: &mut [BaseReader], key: &[u8]) -> Result<Vec<BaseRecord>, JoinError> {
    let mut records = Vec::new();
    for base in bases {
        if base.peek().is_some_and(|(other, _)| other.as_bytes() == key) {
            records.extend(base.take().map_err(JoinError::Base)?);
        }
    }
    Ok(records)
}

/// The payload of a position that bases have, too.
fn merge(payload: &[u8], records: &[BaseRecord]) -> Result<Vec<u8>, JoinError> {
    let mut payloads = payload.to_vec();
    for record in records {
        payloads.extend(spool::payload(&record.eval().map_err(JoinError::Base)?.evaluations));
    }
    Ok(spool::merge(&payloads)?)
}

/// The weight of what a selection will leave of a record.
pub fn weight_of(key: &[u8], payload: &[u8], selection: &Selection) -> Result<usize, SpoolError> {
    let (max_pvs, max_plies) = (selection.max_pvs.unwrap_or(usize::MAX), selection.max_plies.unwrap_or(usize::MAX));
    let mut outlines = spool::outlines(payload, max_pvs, max_plies)?;
    let count = if selection.best_only { 1 } else { MAX_EVALUATIONS };
    if outlines.len() > count {
        outlines.sort_by_key(|outline| Reverse(outline.rank()));
        if outlines[count - 1].rank() == outlines[count].rank() {
            // Scores and moves tell which of them is better.
            let mut record = Vec::new();
            spool::push_parts(&mut record, key, payload);
            let mut evaluations = spool::take(&mut &record[..])?.evaluations;
            selection.settle(&mut evaluations);
            evaluations.truncate(MAX_EVALUATIONS);
            outlines = spool::outlines(&spool::payload(&evaluations), max_pvs, max_plies)?;
        }
        outlines.truncate(count);
    }
    let pvs = outlines.iter().map(|outline| outline.pvs.min(max_pvs)).sum();
    Ok(Eval::weight(outlines.len(), pvs, outlines.iter().map(|outline| outline.plies).sum()))
}
