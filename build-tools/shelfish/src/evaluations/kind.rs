//! Evaluations as a kind of record.

use std::io;

use shelfish::eval::PositionEval;
use shelfish::position::Key;

use super::merged;
use super::parts::lines::LineShare;
use super::payload::{self, EvaluationSize, Surplus};
use super::record::{Reason, Record, Reject, parse, parse_rows};
use super::share::Share;
use super::{Counts, Selection};
use crate::build::base::{Base, BaseError, Narrow};
use crate::build::kind::Kind;
use crate::build::rejects;
use crate::build::spool::{OverLimit, SpoolError};
use crate::input::lines::{Chunk, MAX_LINE, Text};
use crate::input::{Dump, Input};

/// The kind of a build of evaluations.
#[derive(Clone)]
pub struct Evaluations {
    /// Selection of the result.
    pub selection: Selection,
    /// The lines that are parsed.
    pub lines: LineShare,
    /// Depths of the evaluations in the runs.
    gathered: (u16, Option<Share>),
}

impl Evaluations {
    /// Creates the kind of a build whose runs contain the evaluations of the selection.
    pub fn new(selection: Selection) -> Evaluations {
        Evaluations {
            lines: LineShare::ALL,
            gathered: (selection.min_depth, selection.share),
            selection,
        }
    }

    /// Returns the kind of a database that keeps only some depths of the runs.
    pub fn from_depth(&self, min_depth: u16, share: Option<Share>) -> Evaluations {
        Evaluations {
            selection: Selection {
                min_depth,
                share,
                ..self.selection.clone()
            },
            ..*self
        }
    }

    /// Returns the function that reduces the records of a base to the selection, or `None` if the base needs no change.
    pub fn narrow(&self, base: &Selection) -> Option<Narrow<PositionEval>> {
        // Selecting twice gives the same result as selecting once.
        if *base == self.selection {
            return None;
        }
        let kind = self.clone();
        Some(Box::new(move |mut eval: PositionEval| {
            kind.selection.narrow(&eval.position, &mut eval.evaluations);
            let weight = kind.weight(&kind.payload(&eval))?;
            Ok(weight.map(|weight| (eval, weight)))
        }))
    }

    /// Returns the weight of the record that a payload becomes, or `None` if the position is left out.
    pub fn weight(&self, payload: &[u8]) -> Result<Option<usize>, SpoolError> {
        let sizes = self.sizes(payload)?;
        let pvs = sizes.iter().map(|size| size.pvs).sum();
        let plies = sizes.iter().map(|size| size.plies).sum();
        Ok((!sizes.is_empty()).then(|| PositionEval::weight(sizes.len(), pvs, plies)))
    }

    /// Returns the sizes of the evaluations that the selection keeps of a payload.
    pub fn sizes(&self, payload: &[u8]) -> Result<Vec<EvaluationSize>, SpoolError> {
        let Selection {
            best_only,
            max_pvs,
            max_plies,
            ..
        } = self.selection;
        let best;
        let payload = if best_only {
            best = merged::best(payload)?;
            &best
        } else {
            payload
        };
        payload::evaluation_sizes(
            payload,
            max_pvs.unwrap_or(usize::MAX),
            max_plies.unwrap_or(usize::MAX),
        )
    }
}

/// Returns the selection of a base.
pub fn selection_of(base: &Base<PositionEval>) -> Result<Selection, BaseError> {
    Selection::parse(base.info()).map_err(|(name, value)| {
        base.error(format!(
            "its manifest says {name} = {value:?}, which this shelfish does not know: use a newer one, or build of its export"
        ))
    })
}

impl Kind for Evaluations {
    type Record = PositionEval;
    type Chunk = Chunk;
    type Counts = Counts;

    fn chunks(&self, dump: Dump) -> Box<dyn Iterator<Item = io::Result<Chunk>>> {
        dump.chunks()
    }

    fn bytes(chunk: &Chunk) -> usize {
        chunk.bytes()
    }

    fn parse(
        &self,
        input: &Input,
        chunk: &Chunk,
        counts: &mut Counts,
        push: &mut dyn FnMut(&Key, &[u8]) -> io::Result<()>,
        rows: &mut String,
    ) -> io::Result<u64> {
        let before = counts.records;
        let mut take = |line: u64,
                        text: &[u8],
                        parse: &dyn Fn() -> Result<Record, Reject>|
         -> io::Result<()> {
            if !self.lines.has(line) {
                return Ok(());
            }
            counts.lines += 1;
            match parse() {
                Err(reject) => {
                    let reason = reject.reason as usize;
                    counts.rejects[reason] += 1;
                    let name = Reject::REASONS[reason];
                    rows.push_str(&rejects::row(input, line, name, &reject.fact, text));
                }
                Ok(mut record) => {
                    counts.records += 1;
                    counts.pvs_cut += record.cut;
                    counts.pvs_dropped += record.dropped;
                    counts.pvs_shortened += record.shortened;
                    self.selection
                        .narrow(&record.position, &mut record.evaluations);
                    if record.evaluations.is_empty() {
                        counts.left_out += 1;
                    } else {
                        let payload = payload::encode(&record.evaluations, record.surplus);
                        push(&record.position.key(), &payload)?;
                    }
                }
            }
            Ok(())
        };
        let too_long = || Err(Reject::new(Reason::TooLong, ""));
        match &chunk.text {
            Text::TooLong(beginning) => take(chunk.line, beginning, &too_long)?,
            Text::Lines(lines) => {
                for (line, text) in (chunk.line..).zip(lines.split(|&byte| byte == b'\n')) {
                    let bom: &[u8] = if line == 1 { b"\xef\xbb\xbf" } else { b"" };
                    let text = text.strip_prefix(bom).unwrap_or(text).trim_ascii();
                    if !text.is_empty() {
                        take(line, text, &|| {
                            if text.len() > MAX_LINE {
                                too_long()
                            } else {
                                parse(text)
                            }
                        })?;
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
        Ok(counts.records - before)
    }

    fn merge(&self, payloads: &[u8]) -> Result<Vec<u8>, SpoolError> {
        merged::merge(payloads)
    }

    fn payload(&self, eval: &PositionEval) -> Vec<u8> {
        payload::encode(&eval.evaluations, Surplus::default())
    }

    fn fit(&self, key: &[u8], payload: Vec<u8>) -> Result<Option<(Vec<u8>, usize)>, SpoolError> {
        let mut payload = if (self.selection.min_depth, self.selection.share) == self.gathered {
            payload
        } else {
            payload::from_depth(&payload, self.selection.depth_of(key))?
        };
        // A move takes two bytes, so most payloads need not be decoded.
        if payload.len() / 2 > PositionEval::SAFE_PLIES {
            let (mut eval, mut surplus) = payload::decode(key, &payload)?;
            let fit = PositionEval::fit(&eval.position, &eval.evaluations);
            for evaluation in eval.evaluations.drain(fit..) {
                surplus.add(evaluation.pvs.len());
            }
            payload = payload::encode(&eval.evaluations, surplus);
        }
        Ok(self.weight(&payload)?.map(|weight| (payload, weight)))
    }

    fn decode(
        &self,
        key: &[u8],
        payload: &[u8],
        over_limit: &mut OverLimit,
    ) -> Result<PositionEval, SpoolError> {
        let (eval, Surplus { evaluations, pvs }) = payload::decode(key, payload)?;
        if evaluations > 0 && !self.selection.best_only {
            *over_limit += OverLimit {
                positions: 1,
                evaluations,
                pvs,
            };
        }
        Ok(eval)
    }

    fn settle(&self, eval: &mut PositionEval) {
        self.selection.settle(&mut eval.evaluations);
    }
}
