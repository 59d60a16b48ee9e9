//! `--max-size`: the cut between evaluations whose database fills a size.
//!
//! A cut keeps all evaluations above a depth, and the evaluations of that depth for a share of the positions. Depths and
//! shares are ordered, so that a lower cut keeps everything that a higher cut keeps. The merged runs and bases are
//! counted by depth, which estimates the size for each cut. Databases are written until a database fills the size; a
//! written size corrects the estimate. The cut depends on the records alone, not on their order or the number of threads.

use std::collections::BTreeMap;
use std::fmt;

use indicatif::HumanBytes;
use serde::Serialize;
use shelfish::eval::PositionEval;
use shelfish::table::WriteError;

use super::kind::Evaluations;
use super::share::Share;
use crate::build::BuildError;
use crate::build::kind::Kind as _;
use crate::build::write::{Draft, Join, Written};
use crate::terminal::shown::counted;

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
            " to fit in {size}: {} left out",
            counted(self.positions_left_out, "position")
        )
    }
}

/// The amount of evaluations by depth.
pub struct Depths {
    /// The depths in descending order.
    levels: Vec<Level>,
    /// The cut that keeps everything.
    least: Cut,
}

/// The evaluations of a depth.
struct Level {
    depth: u16,
    /// Estimated size of the evaluations of greater depths, in bytes.
    above: f64,
    /// Estimated size of the evaluations of this depth, in bytes.
    bytes: f64,
    /// Number of positions without an evaluation of a greater depth.
    positions: u64,
}

impl Depths {
    /// Counts all evaluations, which the cut `least` keeps.
    pub fn count(mut join: Join<Evaluations>, least: Cut) -> Result<Depths, BuildError> {
        // Weight and number of positions that evaluations of a depth add to those of greater depths.
        let mut more = BTreeMap::<u16, (u64, u64)>::new();
        let none = PositionEval::weight(0, 0, 0);
        while let Some((draft, _)) = join.next_record()? {
            let sizes = match &draft {
                Draft::Spooled(_, payload) => join.kind.sizes(payload)?,
                Draft::Based(record) => join.kind.sizes(&join.kind.payload(&record.record()?))?,
            };
            for size in &sizes {
                let (weight, _) = more.entry(size.depth).or_default();
                *weight += (PositionEval::weight(1, size.pvs, size.plies) - none) as u64;
            }
            if let Some(depth) = sizes.iter().map(|size| size.depth).max() {
                let (weight, positions) = more.entry(depth).or_default();
                *weight += none as u64;
                *positions += 1;
            }
        }
        let mut above = 0.0;
        let levels = more.into_iter().rev().map(|(depth, (weight, positions))| {
            let bytes = weight as f64 / 8.0;
            above += bytes;
            Level {
                depth,
                above: above - bytes,
                bytes,
                positions,
            }
        });
        Ok(Depths {
            levels: levels.collect(),
            least,
        })
    }

    /// Returns the lowest cut whose estimated size does not exceed `bytes`, or `None` if there is no such cut.
    fn cut_at(&self, bytes: f64) -> Option<Cut> {
        let n = self.levels.iter().rposition(|level| level.above <= bytes)?;
        let level = &self.levels[n];
        let all = self.all_of(level.depth);
        let part = ((bytes - level.above) / level.bytes.max(1.0)).min(1.0);
        let (min_depth, share) = match (f64::from(all) * part) as u16 {
            0 => (self.levels[..n].last()?.depth, None),
            share if share == all && n + 1 == self.levels.len() => return Some(self.least),
            share => (level.depth, Share::new(share)),
        };
        Some(Cut { min_depth, share })
    }

    /// Returns the share of the positions whose evaluations of a depth were counted, in ten-thousandths.
    fn all_of(&self, depth: u16) -> u16 {
        let share = self.least.share.filter(|_| depth == self.least.min_depth);
        share.map_or(Share::ALL, Share::ten_thousandths)
    }

    /// Returns the estimated size of a cut in bytes, and the number of positions that it keeps on average.
    fn estimate(&self, cut: Cut) -> (f64, f64) {
        let share = cut.share.map_or(Share::ALL, Share::ten_thousandths);
        let (mut bytes, mut positions) = (0.0, 0.0);
        let levels = self.levels.iter();
        for level in levels.take_while(|level| level.depth >= cut.min_depth) {
            let part = |all: u16| match level.depth == cut.min_depth {
                true => f64::from(share) / f64::from(all),
                false => 1.0,
            };
            bytes += level.bytes * part(self.all_of(level.depth));
            positions += level.positions as f64 * part(Share::ALL);
        }
        (bytes, positions)
    }

    /// Writes as many evaluations as fit. `write` writes a database with a cut and a minimum size.
    pub fn fit(
        &self,
        max_bytes: u64,
        mut write: impl FnMut(Cut, u64) -> Result<Written, BuildError>,
    ) -> Result<(Written, Fitted), BuildError> {
        let all: u64 = self.levels.iter().map(|level| level.positions).sum();
        let fitted = |written: Written, cut, attempts| {
            let fitted = Fitted {
                max_bytes,
                cut,
                positions_left_out: all.saturating_sub(written.manifest.positions),
                attempts,
            };
            Ok((written, fitted))
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
        let mut next = self.cut_at(target);
        while let Some(cut) = next {
            attempts += 1;
            let (estimate, kept) = self.estimate(cut);
            let ratio_of =
                |bytes: u64, part: f64| (bytes as f64 - MANIFEST).max(1.0) / (estimate * part);
            // The lowest cut cannot be filled further.
            let min_bytes = if cut == self.least { 0 } else { enough };
            match write(cut, min_bytes) {
                Ok(written) => return fitted(written, cut, attempts),
                Err(BuildError::TooSmall { bytes }) => {
                    ratio = ratio_of(bytes, 1.0);
                    (fits, below) = (Some(cut), estimate);
                }
                // A share of few positions may contain no position.
                Err(BuildError::Write(WriteError::Empty)) if min_bytes > 0 => below = estimate,
                Err(BuildError::TooLarge {
                    max_bytes,
                    bytes,
                    positions,
                }) => {
                    let part = positions as f64 / kept.max(1.0);
                    ratio = ratio_of(bytes, part.clamp(0.001, 1.0));
                    exceeds = estimate;
                    full = BuildError::TooLarge {
                        max_bytes,
                        bytes,
                        positions,
                    };
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
            next = self.cut_at(wanted).filter(|cut| {
                let (estimate, _) = self.estimate(*cut);
                estimate > below && estimate < exceeds
            });
        }
        let Some(cut) = fits else { return Err(full) };
        fitted(write(cut, 0)?, cut, attempts + 1)
    }
}
