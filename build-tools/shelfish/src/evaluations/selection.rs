//! Selection of the evaluations of a database, by options and by the limits of a record.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use shelfish::eval::{Evaluation, PositionEval};
use shelfish::position::Position;

use super::share::Share;

/// Selection by the options of a build.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Selection {
    /// Minimum depth of evaluations.
    pub min_depth: u16,
    /// Share of the positions whose evaluations of the minimum depth are kept; `None` for all positions.
    #[serde(skip)]
    pub share: Option<Share>,
    /// Maximum number of PVs of an evaluation.
    pub max_pvs: Option<usize>,
    /// Maximum number of moves of a PV.
    pub max_plies: Option<usize>,
    /// Whether only the best evaluation of each position is kept.
    pub best_only: bool,
}

impl Selection {
    /// Returns the depth from which all evaluations of a position are kept.
    pub fn depth_of(&self, key: &[u8]) -> u16 {
        let is_kept = self.share.is_none_or(|share| share.contains(key));
        if is_kept {
            self.min_depth
        } else {
            self.min_depth.saturating_add(1)
        }
    }

    /// Removes the parts of some evaluations of a position that are left out in any case.
    pub fn narrow(&self, position: &Position, evaluations: &mut Vec<Evaluation>) {
        let min_depth = self.depth_of(position.key().as_bytes());
        evaluations.retain(|evaluation| evaluation.depth >= min_depth);
        if self.best_only {
            // The best evaluation is chosen by all of its PVs, so they are removed later.
            PositionEval::normalise(evaluations);
            evaluations.truncate(1);
        } else {
            self.trim(evaluations);
            PositionEval::normalise(evaluations);
        }
    }

    /// Removes the remaining parts, when all evaluations of a position are known.
    pub fn settle(&self, evaluations: &mut Vec<Evaluation>) {
        if self.best_only {
            evaluations.truncate(1);
            self.trim(evaluations);
        }
    }

    /// Returns the entries of the manifest for the selection; none if everything is kept.
    pub fn describe(&self) -> BTreeMap<String, String> {
        let set = |name: &str, value: Option<usize>| {
            value.map(|value| (name.to_owned(), value.to_string()))
        };
        [
            set(
                "min_depth",
                Some(self.min_depth.into()).filter(|depth| *depth > 0 || self.share.is_some()),
            ),
            set(
                Share::NAME,
                self.share.map(|share| share.ten_thousandths().into()),
            ),
            set("max_pvs", self.max_pvs),
            set("max_plies", self.max_plies),
            self.best_only
                .then(|| ("best_only".to_owned(), "true".to_owned())),
        ]
        .into_iter()
        .flatten()
        .collect()
    }

    /// Parses the entries that [`Selection::describe`] returned.
    pub fn parse(info: &[(String, String)]) -> Result<Selection, (&str, &str)> {
        let mut selection = Selection::default();
        for (name, value) in info {
            let unknown = (name.as_str(), value.as_str());
            match name.as_str() {
                "min_depth" => selection.min_depth = value.parse().map_err(|_| unknown)?,
                Share::NAME => {
                    let share = value.parse().ok().and_then(Share::new);
                    selection.share = Some(share.ok_or(unknown)?);
                }
                "max_pvs" => selection.max_pvs = Some(value.parse().map_err(|_| unknown)?),
                "max_plies" => selection.max_plies = Some(value.parse().map_err(|_| unknown)?),
                "best_only" if value == "true" => selection.best_only = true,
                _ => return Err(unknown),
            }
        }
        Ok(selection)
    }

    /// Combines two selections to a selection that keeps only what both keep.
    pub fn and(&self, other: &Selection) -> Selection {
        let least = |a: Option<usize>, b| [a, b].into_iter().flatten().min();
        let (min_depth, share) = match self.min_depth.cmp(&other.min_depth) {
            Ordering::Less => (other.min_depth, other.share),
            Ordering::Greater => (self.min_depth, self.share),
            Ordering::Equal => (
                self.min_depth,
                [self.share, other.share].into_iter().flatten().min(),
            ),
        };
        Selection {
            min_depth,
            share,
            max_pvs: least(self.max_pvs, other.max_pvs),
            max_plies: least(self.max_plies, other.max_plies),
            best_only: self.best_only || other.best_only,
        }
    }

    fn trim(&self, evaluations: &mut [Evaluation]) {
        for evaluation in evaluations {
            evaluation.pvs.truncate(self.max_pvs.unwrap_or(usize::MAX));
            if let Some(max_plies) = self.max_plies {
                evaluation
                    .pvs
                    .iter_mut()
                    .for_each(|pv| pv.line.truncate(max_plies));
            }
        }
    }
}
