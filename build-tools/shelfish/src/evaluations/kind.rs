//! Evaluations as a kind of record.

use std::borrow::Cow;
use std::io;

use shelfish::eval::PositionEval;
use shelfish::position::Key;

use super::merged::{self, Merged};
use super::payload::{self, EvaluationSize, Surplus};
use super::record::{Record, Reject, parse, parse_rows};
use super::share::Share;
use super::{Counts, OverLimit, Selection};
use crate::build::base::{Base, BaseError, BaseErrorKind, Narrow};
use crate::build::gather::Parse;
use crate::build::kind::Kind;
use crate::build::rejects;
use crate::build::sort::Sorter;
use crate::build::spool::SpoolError;
use crate::input::lines::{Chunk, MAX_LINE, Text};
use crate::input::{Dump, Input};

/// The kind of a build of evaluations.
#[derive(Clone)]
pub struct Evaluations {
    /// Selection of the result.
    pub selection: Selection,
    /// Depths of the evaluations in the runs.
    gathered: (u16, Option<Share>),
}

impl Evaluations {
    /// Creates the kind of a build whose runs contain the evaluations of the selection.
    pub fn new(selection: Selection) -> Evaluations {
        Evaluations {
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
            gathered: self.gathered,
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
            let weight = kind
                .weight(&kind.payload(&eval))
                .map_err(|error| BaseErrorKind::Io(error.into()))?;
            Ok(weight
                .filter(|_| !eval.evaluations.is_empty())
                .map(|weight| (eval, weight)))
        }))
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
        base.error(BaseErrorKind::Selection {
            name: name.to_owned(),
            value: value.to_owned(),
        })
    })
}

impl Kind for Evaluations {
    type Record = PositionEval;
    type Merging = Merged;
    type Surplus = OverLimit;
    const BLOCK_WEIGHT: usize = PositionEval::BLOCK_WEIGHT;

    fn payload(&self, eval: &PositionEval) -> Vec<u8> {
        payload::encode(&eval.evaluations, Surplus::default())
    }

    fn fitting<'a>(&self, key: &[u8], payload: Cow<'a, [u8]>) -> Result<Cow<'a, [u8]>, SpoolError> {
        let payload = if (self.selection.min_depth, self.selection.share) == self.gathered {
            payload
        } else {
            payload::from_depth(&payload, self.selection.depth_of(key))?.into()
        };
        // A move takes two bytes, so most payloads need not be parsed.
        let is_safe = payload.len() / 2 <= PositionEval::SAFE_PLIES;
        let sizes = if is_safe {
            Vec::new()
        } else {
            payload::evaluation_sizes(&payload, usize::MAX, usize::MAX)?
        };
        if sizes.iter().map(|size| size.plies).sum::<usize>() <= PositionEval::SAFE_PLIES {
            return Ok(payload);
        }
        let (mut eval, mut surplus) = payload::decode(key, &payload)?;
        for evaluation in eval
            .evaluations
            .drain(PositionEval::fit(&eval.position, &eval.evaluations)..)
        {
            surplus.add(evaluation.pvs.len());
        }
        Ok(payload::encode(&eval.evaluations, surplus).into())
    }

    fn weight(&self, payload: &[u8]) -> Result<Option<usize>, SpoolError> {
        let sizes = self.sizes(payload)?;
        if sizes.is_empty() {
            return Ok(None);
        }
        let pvs = sizes.iter().map(|size| size.pvs).sum();
        Ok(Some(PositionEval::weight(
            sizes.len(),
            pvs,
            sizes.iter().map(|size| size.plies).sum(),
        )))
    }

    fn decode(
        &self,
        key: &[u8],
        payload: &[u8],
        over_limit: &mut OverLimit,
        rows: &mut String,
    ) -> Result<PositionEval, SpoolError> {
        let (mut eval, surplus) = payload::decode(key, payload)?;
        self.settle(&mut eval);
        if surplus != Surplus::default() && !self.selection.best_only {
            over_limit.add_position(surplus);
            rows.push_str(&over_limit_row(&eval, surplus));
        }
        Ok(eval)
    }

    fn settle(&self, eval: &mut PositionEval) {
        self.selection.settle(&mut eval.evaluations);
    }
}

/// Returns the row in the file of rejects for a position with more evaluations than a record has room for.
fn over_limit_row(eval: &PositionEval, Surplus { evaluations, pvs }: Surplus) -> String {
    let reason = Reject::REASONS[Reject::TOO_MUCH];
    let fact = format!(
        "the best {} evaluations are kept, {evaluations} with {pvs} PVs left out",
        eval.evaluations.len()
    );
    format!("\t\t{reason}\t{fact}\t{}\n", eval.position)
}

impl Evaluations {
    /// Pushes the records of a chunk to `push`, and the rows of its rejects to `rows`. Skips lines whose number is not
    /// `wanted`.
    pub fn parse_lines(
        &self,
        (input, chunk): (&Input, &Chunk),
        wanted: impl Fn(u64) -> bool,
        counts: &mut Counts,
        mut push: impl FnMut(&Key, &[u8]) -> io::Result<()>,
        rows: &mut String,
    ) -> io::Result<()> {
        let mut take = |line: u64,
                        text: &[u8],
                        parse: &dyn Fn() -> Result<Record, Reject>|
         -> io::Result<()> {
            if !wanted(line) {
                return Ok(());
            }
            counts.lines += 1;
            match parse() {
                Err(reject) => {
                    counts.rejects[reject.reason()] += 1;
                    let name = Reject::REASONS[reject.reason()];
                    rows.push_str(&rejects::row(input, line, name, &reject.to_string(), text));
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
        match &chunk.text {
            Text::TooLong(beginning) => take(chunk.line, beginning, &|| Err(Reject::TooLong))?,
            Text::Lines(lines) => {
                for (line, text) in (chunk.line..).zip(lines.split(|&byte| byte == b'\n')) {
                    let bom: &[u8] = if line == 1 { b"\xef\xbb\xbf" } else { b"" };
                    let text = text.strip_prefix(bom).unwrap_or(text).trim_ascii();
                    if !text.is_empty() {
                        take(line, text, &|| {
                            if text.len() > MAX_LINE {
                                Err(Reject::TooLong)
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
        input: &Input,
        chunk: &Chunk,
        counts: &mut Counts,
        sorter: &mut Sorter<Merged>,
        rows: &mut String,
    ) -> io::Result<u64> {
        let before = counts.records;
        self.parse_lines(
            (input, chunk),
            |_| true,
            counts,
            |key, payload| sorter.push(key, payload),
            rows,
        )?;
        Ok(counts.records - before)
    }
}
