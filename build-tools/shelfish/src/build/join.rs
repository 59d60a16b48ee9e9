//! Sorted runs and bases as one ascending sequence, each position once.

use std::borrow::Cow;
use std::io;

use shelfish::eval::Eval;

use super::Selection;
use super::base::{BaseError, BaseReader, BaseRecord};
use super::sort::Merge;
use super::spool::{self, Merged, SpoolError, Surplus};

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

    /// The record, decoded, and what it had no room for.
    ///
    /// # Errors
    ///
    /// What was read is no record.
    pub fn eval(&self) -> Result<(Eval, Surplus), JoinError> {
        match self {
            Draft::Spooled(record) => Ok(spool::take(&mut &record[..])?),
            Draft::Based(record) => Ok((record.eval().map_err(JoinError::Base)?, Surplus::default())),
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
                        let payload = merge(key.as_bytes(), &[], &records)?;
                        let weight = weight_of(&payload, &self.selection)?;
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
        let records = if self.replace { Vec::new() } else { records };
        let payload = merge(key, payload, &records)?;
        Ok(Some((Draft::spooled(key, &payload), weight_of(&payload, &self.selection)?)))
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

/// The payload of a position, with what bases have of it, as far as a record has room.
fn merge<'a>(key: &[u8], payload: &'a [u8], records: &[BaseRecord]) -> Result<Cow<'a, [u8]>, JoinError> {
    let mut payload = Cow::Borrowed(payload);
    if !records.is_empty() {
        let mut merged = Merged::default();
        merged.push(&payload)?;
        for record in records {
            let evaluations = record.eval().map_err(JoinError::Base)?.evaluations;
            merged.push(&spool::payload(&evaluations, Surplus::default()))?;
        }
        payload = merged.finish()?.into();
    }
    // A move takes two bytes, so that most payloads need not be looked into.
    let is_safe = payload.len() / 2 <= Eval::SAFE_PLIES;
    let sizes = if is_safe { Vec::new() } else { spool::evaluation_sizes(&payload, usize::MAX, usize::MAX)? };
    if sizes.iter().map(|size| size.plies).sum::<usize>() > Eval::SAFE_PLIES {
        let mut record = Vec::new();
        spool::push_parts(&mut record, key, &payload);
        let (mut eval, mut surplus) = spool::take(&mut &record[..])?;
        for evaluation in eval.evaluations.drain(Eval::fit(&eval.position, &eval.evaluations)..) {
            surplus.add(evaluation.pvs.len());
        }
        payload = spool::payload(&eval.evaluations, surplus).into();
    }
    Ok(payload)
}

/// The weight of what a selection will leave of a record.
pub fn weight_of(payload: &[u8], selection: &Selection) -> Result<usize, SpoolError> {
    let best;
    let payload = if selection.best_only {
        best = spool::best(payload)?;
        &best
    } else {
        payload
    };
    let (max_pvs, max_plies) = (selection.max_pvs.unwrap_or(usize::MAX), selection.max_plies.unwrap_or(usize::MAX));
    let sizes = spool::evaluation_sizes(payload, max_pvs, max_plies)?;
    let pvs = sizes.iter().map(|size| size.pvs).sum();
    Ok(Eval::weight(sizes.len(), pvs, sizes.iter().map(|size| size.plies).sum()))
}
