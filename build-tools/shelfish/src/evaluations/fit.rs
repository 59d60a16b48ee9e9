//! `--max-size`: the least depth of evaluations whose database keeps to a limit of bytes.
//!
//! What the runs and the bases hold is counted by depth, merged. A database is written from the least depth that may fit
//! on, and given up as soon as it is too large; then the next depth is tried. So what is written is, byte for byte, what
//! `--min-depth` with that depth makes.

use std::collections::BTreeMap;
use std::fmt;

use indicatif::{HumanBytes, HumanCount};
use serde::Serialize;
use shelfish::eval::PositionEval;

use super::kind::Evaluations;
use crate::build::join::{Draft, Join, JoinError};
use crate::build::kind::Kind as _;
use crate::build::write::Written;
use crate::build::{BuildError, spool};

/// Weights are bits, and good to a fifth: what is estimated to be larger than the limit by this is not tried.
const SURELY: f64 = 1.25;

/// What `--max-size` left out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Fitted {
    /// The limit.
    pub max_bytes: u64,
    /// The least depth of evaluations that were kept.
    pub min_depth: u16,
    /// Positions that have no evaluation of this depth.
    pub positions_left_out: u64,
    /// Databases that were begun, the one that fits counted.
    pub attempts: u32,
}

/// For people.
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

/// What there is of each depth.
#[derive(Debug, Default)]
pub struct Depths {
    /// Weight and positions that come on top where evaluations of this depth are taken, too.
    more: BTreeMap<u16, (u64, u64)>,
}

impl Depths {
    /// Counts all of it.
    ///
    /// # Errors
    ///
    /// A run or a base cannot be read.
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
    fn add(&mut self, sizes: &[spool::EvaluationSize]) {
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

    /// The depths, greatest first, each with the bytes of what is at least so deep, about.
    fn bytes(&self) -> impl Iterator<Item = (u16, f64)> + '_ {
        let add = |sum: &mut f64, (depth, (weight, _)): (&u16, &(u64, u64))| {
            *sum += *weight as f64 / 8.0;
            Some((*depth, *sum))
        };
        self.more.iter().rev().scan(0.0, add)
    }

    /// All positions.
    fn positions(&self) -> u64 {
        self.more.values().map(|(_, positions)| positions).sum()
    }

    /// Writes the most that fits. `write` writes from a depth on; `least` is the depth from which on there is anything.
    ///
    /// # Errors
    ///
    /// What is deepest does not fit by itself, or what `write` says.
    pub fn fit(
        &self,
        least: u16,
        max_bytes: u64,
        mut write: impl FnMut(u16) -> Result<Written, BuildError>,
    ) -> Result<(Written, Fitted), BuildError> {
        let may_fit = |bytes: f64| bytes <= max_bytes as f64 * SURELY;
        let mut depths: Vec<u16> =
            self.bytes().take_while(|(_, bytes)| may_fit(*bytes)).map(|(depth, _)| depth).collect();
        if depths.is_empty() {
            depths.extend(self.more.keys().next_back());
        }
        if depths.len() == self.more.len() {
            // Where nothing is left out, nothing is said to be.
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
