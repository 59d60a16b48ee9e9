//! Evaluations as a kind of record that is built.

use std::borrow::Cow;
use std::io;

use shelfish::eval::PositionEval;
use shelfish::position::Key;

use super::Selection;
use super::record::{Record, Reject, parse, parse_rows};
use crate::build::base::{Base, BaseError, BaseFault, Narrow};
use crate::build::gather::Parse;
use crate::build::kind::Kind;
use crate::build::sort::Sorter;
use crate::build::spool::{self, EvaluationSize, Merged, SpoolError, Surplus};
use crate::build::{Counts, rejects};
use crate::input::dump::{Chunk, Dump, MAX_LINE, Source, Text};

/// Evaluations, and what a selection leaves of them.
#[derive(Clone)]
pub struct Evaluations {
    /// What will be left of each position.
    pub selection: Selection,
    /// The least depth of what is in the runs.
    pub gathered: u16,
}

impl Evaluations {
    /// Leaves out of a base what it may have beyond the selection.
    pub fn narrow(&self, base: &Selection) -> Option<Narrow<PositionEval>> {
        // What was selected once is as it would be selected again.
        if *base == self.selection {
            return None;
        }
        let kind = self.clone();
        Some(Box::new(move |mut eval: PositionEval| {
            kind.selection.narrow(&mut eval.evaluations);
            let weight = kind.weight(&kind.payload(&eval)).map_err(|error| BaseFault::Io(error.into()))?;
            Ok(weight.filter(|_| !eval.evaluations.is_empty()).map(|weight| (eval, weight)))
        }))
    }
}

impl Evaluations {
    /// The sizes of what will be left of a payload.
    ///
    /// # Errors
    ///
    /// The payload is malformed.
    pub fn sizes(&self, payload: &[u8]) -> Result<Vec<EvaluationSize>, SpoolError> {
        let Selection { best_only, max_pvs, max_plies, .. } = self.selection;
        let best;
        let payload = if best_only {
            best = spool::best(payload)?;
            &best
        } else {
            payload
        };
        spool::evaluation_sizes(payload, max_pvs.unwrap_or(usize::MAX), max_plies.unwrap_or(usize::MAX))
    }
}

/// What was left out of a base.
///
/// # Errors
///
/// Its manifest tells of a selection that nobody knows.
pub fn selection_of(base: &Base<PositionEval>) -> Result<Selection, BaseError> {
    Selection::parse(base.info())
        .map_err(|(name, value)| base.error(BaseFault::Selection { name: name.to_owned(), value: value.to_owned() }))
}

impl Kind for Evaluations {
    type Record = PositionEval;
    type Merging = Merged;
    const BLOCK_WEIGHT: usize = PositionEval::BLOCK_WEIGHT;

    fn payload(&self, eval: &PositionEval) -> Vec<u8> {
        spool::payload(&eval.evaluations, Surplus::default())
    }

    fn fitting<'a>(&self, key: &[u8], payload: Cow<'a, [u8]>) -> Result<Cow<'a, [u8]>, SpoolError> {
        let payload = match self.selection.min_depth {
            min_depth if min_depth > self.gathered => spool::from_depth(&payload, min_depth)?.into(),
            _ => payload,
        };
        // A move takes two bytes, so that most payloads need not be looked into.
        let is_safe = payload.len() / 2 <= PositionEval::SAFE_PLIES;
        let sizes = if is_safe { Vec::new() } else { spool::evaluation_sizes(&payload, usize::MAX, usize::MAX)? };
        if sizes.iter().map(|size| size.plies).sum::<usize>() <= PositionEval::SAFE_PLIES {
            return Ok(payload);
        }
        let (mut eval, mut surplus) = spool::decode(key, &payload)?;
        for evaluation in eval.evaluations.drain(PositionEval::fit(&eval.position, &eval.evaluations)..) {
            surplus.add(evaluation.pvs.len());
        }
        Ok(spool::payload(&eval.evaluations, surplus).into())
    }

    fn weight(&self, payload: &[u8]) -> Result<Option<usize>, SpoolError> {
        let sizes = self.sizes(payload)?;
        if sizes.is_empty() {
            return Ok(None);
        }
        let pvs = sizes.iter().map(|size| size.pvs).sum();
        Ok(Some(PositionEval::weight(sizes.len(), pvs, sizes.iter().map(|size| size.plies).sum())))
    }

    fn decode(key: &[u8], payload: &[u8]) -> Result<(PositionEval, Surplus), SpoolError> {
        spool::decode(key, payload)
    }

    fn settle(&self, eval: &mut PositionEval, surplus: Surplus) -> Option<String> {
        self.selection.settle(&mut eval.evaluations);
        let is_worth_telling = surplus != Surplus::default() && !self.selection.best_only;
        is_worth_telling.then(|| rejects::crowded_row(eval, surplus))
    }
}

impl Evaluations {
    /// Gives the records of those lines of a part that are `wanted`, by their numbers, to `push`, and the rows of its rejects to
    /// `rows`.
    ///
    /// # Errors
    ///
    /// Those of `push`.
    pub fn parse_lines(
        &self,
        (source, chunk): (&Source, &Chunk),
        wanted: impl Fn(u64) -> bool,
        counts: &mut Counts,
        mut push: impl FnMut(&Key, &[u8]) -> io::Result<()>,
        rows: &mut String,
    ) -> io::Result<()> {
        let mut take = |line: u64, text: &[u8], parse: &dyn Fn() -> Result<Record, Reject>| -> io::Result<()> {
            if !wanted(line) {
                return Ok(());
            }
            counts.lines += 1;
            match parse() {
                Err(reject) => {
                    counts.rejects[reject.reason()] += 1;
                    rows.push_str(&rejects::row(source, line, &reject, text));
                }
                Ok(mut record) => {
                    counts.records += 1;
                    counts.pvs_cut += record.cut;
                    counts.pvs_dropped += record.dropped;
                    counts.pvs_shortened += record.shortened;
                    self.selection.narrow(&mut record.evaluations);
                    if record.evaluations.is_empty() {
                        counts.left_out += 1;
                    } else {
                        let payload = spool::payload(&record.evaluations, record.surplus);
                        push(&record.position.key(), &payload)?;
                    }
                }
            }
            Ok(())
        };
        match &chunk.text {
            Text::TooLong(beginning) => take(chunk.line, beginning, &|| Err(Reject::TooLong))?,
            Text::Lines(lines) => {
                for (line, text) in (chunk.line..).zip(lines.split(|&byte| byte == b'\n')) {
                    let bom: &[u8] = if line == 1 { b"\xef\xbb\xbf" } else { b"" };
                    let text = text.strip_prefix(bom).unwrap_or(text).trim_ascii();
                    if !text.is_empty() {
                        take(line, text, &|| if text.len() > MAX_LINE { Err(Reject::TooLong) } else { parse(text) })?;
                    }
                }
            }
            Text::Rows(positions) => {
                let mut row = chunk.line;
                for rows in positions {
                    take(row, rows.fen.as_bytes(), &|| parse_rows(rows))?;
                    row += rows.rows.len() as u64;
                }
            }
        }
        Ok(())
    }
}

impl Parse for Evaluations {
    type Chunk = Chunk;
    type Counts = Counts;
    type Merging = Merged;

    fn chunks(&self, dump: Dump) -> Box<dyn Iterator<Item = io::Result<Chunk>>> {
        dump.chunks()
    }

    fn bytes(chunk: &Chunk) -> usize {
        chunk.bytes()
    }

    fn parse(
        &self,
        source: &Source,
        chunk: &Chunk,
        counts: &mut Counts,
        sorter: &mut Sorter<Merged>,
        rows: &mut String,
    ) -> io::Result<u64> {
        let before = counts.records;
        self.parse_lines((source, chunk), |_| true, counts, |key, payload| sorter.push(key, payload), rows)?;
        Ok(counts.records - before)
    }
}
