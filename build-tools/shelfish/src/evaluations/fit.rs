//! `--max-size`: the cut between evaluations whose database fills a size.
//!
//! A cut keeps all evaluations above a depth, and the evaluations of that depth for a share of the positions. Depths and
//! shares are ordered, so that a lower cut keeps everything that a higher cut keeps. The merged runs and bases are
//! counted by depth, which estimates the size for each cut. Databases are written until a database fills the size; a
//! written size corrects the estimate. The cut depends on the records alone, not on their order or the number of threads.

use std::collections::BTreeMap;
use std::fmt;

use indicatif::{HumanBytes, HumanCount};
use serde::Serialize;
use shelfish::eval::PositionEval;
use shelfish::table::WriteError;

use super::kind::Evaluations;
use super::payload::EvaluationSize;
use super::share::Share;
use crate::build::BuildError;
use crate::build::kind::Kind as _;
use crate::build::write::{Draft, Join, Written};

/// Part of the maximum size that an attempt aims at.
const TARGET: f64 = 0.99;
/// Part of the maximum size from which a database is kept without a further attempt.
const ENOUGH: f64 = 0.97;
/// Approximate size of a manifest without pages, in bytes.
const MANIFEST: f64 = 600.0;
/// Maximum number of attempts.
const MAX_ATTEMPTS: u32 = 8;

/// The lowest evaluations that are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Cut {
    /// Minimum depth.
    pub min_depth: u16,
    /// Share of the positions whose evaluations of this depth are kept; `None` for all positions.
    #[serde(rename = "min_depth_share", skip_serializing_if = "Option::is_none")]
    pub share: Option<Share>,
}

/// The effect of `--max-size`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Fitted {
    /// The maximum size, in bytes.
    pub max_bytes: u64,
    /// The lowest evaluations that were kept.
    #[serde(flatten)]
    pub cut: Cut,
    /// Number of positions without such an evaluation.
    pub positions_left_out: u64,
    /// Number of databases that were begun, including the result.
    pub attempts: u32,
}

/// Formats the effect for humans.
impl fmt::Display for Fitted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let size = HumanBytes(self.max_bytes);
        if self.positions_left_out == 0 && self.cut.share.is_none() {
            return write!(f, "all of it fits in {size}");
        }
        write!(f, "cut at depth {}", self.cut.min_depth)?;
        if let Some(share) = self.cut.share {
            write!(f, ", kept for {share} of the positions,")?;
        }
        write!(
            f,
            " to fit in {size}: {} positions left out",
            HumanCount(self.positions_left_out)
        )
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
    pub fn count(mut join: Join<Evaluations>) -> Result<Depths, BuildError> {
        let mut depths = Depths::default();
        while let Some((draft, _)) = join.next_record()? {
            let sizes = match &draft {
                Draft::Spooled(_, payload) => join.kind.sizes(payload)?,
                Draft::Based(record) => join.kind.sizes(&join.kind.payload(&record.record()?))?,
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

    /// Returns the depths in descending order, each with the estimated size of all greater depths and of the depth.
    fn levels(&self) -> Vec<Level> {
        let mut above = 0.0;
        let mut level = |(depth, (weight, _)): (&u16, &(u64, u64))| {
            let level = Level {
                depth: *depth,
                above,
                bytes: *weight as f64 / 8.0,
            };
            above += level.bytes;
            level
        };
        self.more.iter().rev().map(&mut level).collect()
    }

    /// Returns the number of positions.
    fn positions(&self) -> u64 {
        self.more.values().map(|(_, positions)| positions).sum()
    }

    /// Returns the number of positions that a cut keeps, on average.
    fn positions_of(&self, cut: Cut) -> f64 {
        let above: u64 = self
            .more
            .iter()
            .filter(|(depth, _)| **depth > cut.min_depth)
            .map(|(_, more)| more.1)
            .sum();
        let here = self.more.get(&cut.min_depth).map_or(0, |more| more.1);
        above as f64 + here as f64 * f64::from(share_of(cut)) / f64::from(Share::ALL)
    }

    /// Describes the effect, with the exact number of positions that are left out.
    fn fitted(&self, max_bytes: u64, cut: Cut, attempts: u32, written: &Written) -> Fitted {
        let positions_left_out = self.positions().saturating_sub(written.manifest.positions);
        Fitted {
            max_bytes,
            cut,
            positions_left_out,
            attempts,
        }
    }

    /// Writes as many evaluations as fit. `write` writes a database with a cut and a minimum size; `least` keeps all.
    pub fn fit(
        &self,
        least: Cut,
        max_bytes: u64,
        mut write: impl FnMut(Cut, u64) -> Result<Written, BuildError>,
    ) -> Result<(Written, Fitted), BuildError> {
        let levels = Levels {
            levels: self.levels(),
            least,
        };
        let enough = (max_bytes as f64 * ENOUGH) as u64;
        // A cut that fits, and the estimates between which a better cut is.
        let (mut fits, mut below, mut exceeds) = (None::<Cut>, 0.0, f64::INFINITY);
        let mut attempts = 0;
        let mut full = BuildError::TooLarge {
            max_bytes,
            bytes: 0,
            positions: 0,
        };
        // Size of the shards divided by its estimate.
        let mut ratio = 1.0;
        let target = max_bytes as f64 * TARGET - MANIFEST;
        let mut next = levels.cut_at(target);
        while let Some(cut) = next {
            attempts += 1;
            let estimate = levels.estimate(cut);
            // The lowest cut cannot be filled further.
            let min_bytes = if levels.is_lowest(cut) { 0 } else { enough };
            match write(cut, min_bytes) {
                Ok(written) => {
                    let fitted = self.fitted(max_bytes, cut, attempts, &written);
                    return Ok((written, fitted));
                }
                Err(BuildError::TooSmall { bytes }) => {
                    ratio = (bytes as f64 - MANIFEST).max(1.0) / estimate;
                    (fits, below) = (Some(cut), estimate);
                }
                // A share of few positions may contain no position.
                Err(BuildError::Write(WriteError::Empty)) if min_bytes > 0 => below = estimate,
                Err(error @ BuildError::TooLarge { .. }) => {
                    if let BuildError::TooLarge {
                        bytes, positions, ..
                    } = error
                    {
                        let part = positions as f64 / self.positions_of(cut).max(1.0);
                        ratio = (bytes as f64 - MANIFEST).max(1.0)
                            / (estimate * part.clamp(0.001, 1.0));
                    }
                    exceeds = estimate;
                    full = error;
                }
                Err(error) => return Err(error),
            }
            if attempts >= MAX_ATTEMPTS {
                break;
            }
            let mut wanted = target / ratio;
            if wanted <= below || wanted >= exceeds {
                wanted = if exceeds.is_finite() {
                    below.midpoint(exceeds)
                } else {
                    below * 1.02
                };
            }
            next = levels.cut_at(wanted).filter(|cut| {
                let estimate = levels.estimate(*cut);
                estimate > below && estimate < exceeds
            });
        }
        let Some(cut) = fits else { return Err(full) };
        let written = write(cut, 0)?;
        let fitted = self.fitted(max_bytes, cut, attempts + 1, &written);
        Ok((written, fitted))
    }
}

/// The estimated size of the evaluations of a depth.
#[derive(Clone, Copy, Debug)]
struct Level {
    depth: u16,
    /// Size of the evaluations of greater depths, in bytes.
    above: f64,
    /// Size of the evaluations of this depth, in bytes.
    bytes: f64,
}

/// The depths in descending order.
struct Levels {
    levels: Vec<Level>,
    /// The cut that keeps everything.
    least: Cut,
}

impl Levels {
    /// Returns the lowest cut whose estimated size does not exceed `bytes`, or `None` if there is no such cut.
    fn cut_at(&self, bytes: f64) -> Option<Cut> {
        let level = self
            .levels
            .iter()
            .rev()
            .find(|level| level.above <= bytes)?;
        let all = self.all_of(level.depth);
        let share =
            (f64::from(all) * ((bytes - level.above) / level.bytes.max(1.0)).min(1.0)) as u16;
        let is_last = self
            .levels
            .last()
            .is_some_and(|last| last.depth == level.depth);
        match share {
            0 => self.above(level.depth),
            share if share == all && is_last => Some(self.least),
            share => Some(Cut {
                min_depth: level.depth,
                share: Share::new(share),
            }),
        }
    }

    /// Returns the share of the positions whose evaluations of a depth were counted, in ten-thousandths.
    fn all_of(&self, depth: u16) -> u16 {
        let share = self.least.share.filter(|_| depth == self.least.min_depth);
        share.map_or(Share::ALL, Share::ten_thousandths)
    }

    /// Returns the cut that keeps all evaluations above a depth.
    fn above(&self, depth: u16) -> Option<Cut> {
        let above = self.levels.iter().rev().find(|level| level.depth > depth)?;
        Some(Cut {
            min_depth: above.depth,
            share: None,
        })
    }

    /// Returns the estimated size of a cut, in bytes.
    fn estimate(&self, cut: Cut) -> f64 {
        if self.is_lowest(cut) {
            return self
                .levels
                .last()
                .map_or(0.0, |last| last.above + last.bytes);
        }
        let level = self
            .levels
            .iter()
            .find(|level| level.depth == cut.min_depth);
        let part = |depth| f64::from(share_of(cut)) / f64::from(self.all_of(depth));
        level.map_or(0.0, |level| level.above + level.bytes * part(level.depth))
    }

    /// Returns whether a cut keeps everything.
    fn is_lowest(&self, cut: Cut) -> bool {
        cut == self.least
    }
}

/// Returns the share of a cut, in ten-thousandths.
fn share_of(cut: Cut) -> u16 {
    cut.share.map_or(Share::ALL, Share::ten_thousandths)
}
