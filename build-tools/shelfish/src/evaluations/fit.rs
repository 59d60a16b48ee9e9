//! `--max-size`: the minimum depth of evaluations whose database does not exceed a size.
//!
//! The merged runs and bases are counted by depth. A database is written from the least depth that may fit, and discarded
//! when it exceeds the limit; then the next depth is tried. So the result is, byte for byte, that of `--min-depth` with
//! that depth.

use std::collections::BTreeMap;
use std::fmt;

use indicatif::{HumanBytes, HumanCount};
use serde::Serialize;
use shelfish::eval::PositionEval;

use super::OverLimit;
use super::kind::Evaluations;
use super::payload::EvaluationSize;
use crate::build::join::{Draft, Join, JoinError};
use crate::build::kind::Kind as _;
use crate::build::write::Written;
use crate::build::{BuildError, spool};

/// The weights estimate the size to a fifth. Depths whose estimate exceeds the limit by this factor are not tried.
const MARGIN: f64 = 1.25;

/// The effect of `--max-size`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Fitted {
    /// The maximum size, in bytes.
    pub max_bytes: u64,
    /// Minimum depth of the evaluations that were kept.
    pub min_depth: u16,
    /// Number of positions without an evaluation of this depth.
    pub positions_left_out: u64,
    /// Number of databases that were begun, including the result.
    pub attempts: u32,
}

/// Formats the effect for humans.
impl fmt::Display for Fitted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let size = HumanBytes(self.max_bytes);
        if self.attempts == 1 && self.positions_left_out == 0 {
            return write!(f, "all of it fits in {size}");
        }
        let count = HumanCount(self.positions_left_out);
        write!(f, "cut at depth {} to fit in {size}: {count} positions left out", self.min_depth)
    }
}

/// The amount of evaluations by depth.
#[derive(Debug, Default)]
pub struct Depths {
    /// Weight and number of positions that evaluations of this depth add to those of greater depths.
    more: BTreeMap<u16, (u64, u64)>,
}

impl Depths {
    /// Counts all evaluations.
    pub fn count(join: &mut Join<Evaluations>) -> Result<Depths, JoinError> {
        let mut depths = Depths::default();
        while let Some((draft, _)) = join.next_record()? {
            let sizes = match &draft {
                Draft::Spooled(record) => join.kind.sizes(spool::take_parts(&mut &record[..])?.1)?,
                Draft::Based(record) => {
                    join.kind.sizes(&join.kind.payload(&record.record().map_err(JoinError::Base)?))?
                }
            };
            depths.add(&sizes);
        }
        Ok(depths)
    }

    /// Adds the evaluations of a position.
    fn add(&mut self, sizes: &[EvaluationSize]) {
        let none = PositionEval::weight(0, 0, 0);
        let deepest = sizes.iter().map(|size| size.depth).max();
        for size in sizes {
            let (weight, _) = self.more.entry(size.depth).or_default();
            *weight += (PositionEval::weight(1, size.pvs, size.plies) - none) as u64;
        }
        if let Some(depth) = deepest {
            let (weight, positions) = self.more.entry(depth).or_default();
            *weight += none as u64;
            *positions += 1;
        }
    }

    /// Returns the depths in descending order, with the approximate size of the evaluations from that depth on.
    fn bytes(&self) -> impl Iterator<Item = (u16, f64)> + '_ {
        let add = |sum: &mut f64, (depth, (weight, _)): (&u16, &(u64, u64))| {
            *sum += *weight as f64 / 8.0;
            Some((*depth, *sum))
        };
        self.more.iter().rev().scan(0.0, add)
    }

    /// Returns the number of positions.
    fn positions(&self) -> u64 {
        self.more.values().map(|(_, positions)| positions).sum()
    }

    /// Writes as many depths as fit. `write` writes a database with a minimum depth; `least` is the depth that keeps all.
    pub fn fit(
        &self,
        least: u16,
        max_bytes: u64,
        mut write: impl FnMut(u16) -> Result<Written<OverLimit>, BuildError>,
    ) -> Result<(Written<OverLimit>, Fitted), BuildError> {
        let may_fit = |bytes: f64| bytes <= max_bytes as f64 * MARGIN;
        let mut depths: Vec<u16> =
            self.bytes().take_while(|(_, bytes)| may_fit(*bytes)).map(|(depth, _)| depth).collect();
        if depths.is_empty() {
            depths.extend(self.more.keys().next_back());
        }
        if depths.len() == self.more.len() {
            // The manifest must not name a depth if nothing is left out.
            depths.pop();
            depths.push(least);
        }
        let (mut attempts, mut full) = (0, BuildError::TooLarge { max_bytes, positions: 0 });
        for min_depth in depths.into_iter().rev() {
            attempts += 1;
            match write(min_depth) {
                Ok(written) => {
                    let positions_left_out = self.positions().saturating_sub(written.manifest.positions);
                    return Ok((written, Fitted { max_bytes, min_depth, positions_left_out, attempts }));
                }
                Err(error @ BuildError::TooLarge { .. }) => full = error,
                Err(error) => return Err(error),
            }
        }
        Err(full)
    }
}
