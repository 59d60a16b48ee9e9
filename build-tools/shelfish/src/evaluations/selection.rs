//! What is left out of a database: by choice, or for want of room.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use shelfish::eval::{Evaluation, PositionEval};

use crate::build::spool::Surplus;

/// What a lighter database leaves out.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Selection {
    /// Evaluations that are less deep.
    pub min_depth: u16,
    /// All but the first PVs of each evaluation.
    pub max_pvs: Option<usize>,
    /// All but the first moves of each PV.
    pub max_plies: Option<usize>,
    /// All but the best evaluation of each position.
    pub best_only: bool,
}

impl Selection {
    /// Leaves out what can be left out of a part of a position's evaluations.
    pub fn narrow(&self, evaluations: &mut Vec<Evaluation>) {
        evaluations.retain(|evaluation| evaluation.depth >= self.min_depth);
        if self.best_only {
            // The best is judged by all of its PVs: they go last.
            PositionEval::normalise(evaluations);
            evaluations.truncate(1);
        } else {
            self.trim(evaluations);
            PositionEval::normalise(evaluations);
        }
    }

    /// Leaves out what can be left out once all evaluations of a position are together.
    pub fn settle(&self, evaluations: &mut Vec<Evaluation>) {
        if self.best_only {
            evaluations.truncate(1);
            self.trim(evaluations);
        }
    }

    /// What the manifest says of the selection; nothing if all is kept.
    pub fn describe(&self) -> BTreeMap<String, String> {
        let set = |name: &str, value: Option<usize>| value.map(|value| (name.to_owned(), value.to_string()));
        [
            set("min_depth", Some(self.min_depth.into()).filter(|depth| *depth > 0)),
            set("max_pvs", self.max_pvs),
            set("max_plies", self.max_plies),
            self.best_only.then(|| ("best_only".to_owned(), "true".to_owned())),
        ]
        .into_iter()
        .flatten()
        .collect()
    }

    /// Reads what [`Selection::describe`] said in a manifest.
    ///
    /// # Errors
    ///
    /// A name and a value that it did not say.
    pub fn parse(info: &[(String, String)]) -> Result<Selection, (&str, &str)> {
        let mut selection = Selection::default();
        for (name, value) in info {
            let unknown = (name.as_str(), value.as_str());
            match name.as_str() {
                "min_depth" => selection.min_depth = value.parse().map_err(|_| unknown)?,
                "max_pvs" => selection.max_pvs = Some(value.parse().map_err(|_| unknown)?),
                "max_plies" => selection.max_plies = Some(value.parse().map_err(|_| unknown)?),
                "best_only" if value == "true" => selection.best_only = true,
                _ => return Err(unknown),
            }
        }
        Ok(selection)
    }

    /// Leaves out what either leaves out.
    pub fn and(&self, other: &Selection) -> Selection {
        let least = |a: Option<usize>, b| [a, b].into_iter().flatten().min();
        Selection {
            min_depth: self.min_depth.max(other.min_depth),
            max_pvs: least(self.max_pvs, other.max_pvs),
            max_plies: least(self.max_plies, other.max_plies),
            best_only: self.best_only || other.best_only,
        }
    }

    fn trim(&self, evaluations: &mut [Evaluation]) {
        for evaluation in evaluations {
            evaluation.pvs.truncate(self.max_pvs.unwrap_or(usize::MAX));
            if let Some(max_plies) = self.max_plies {
                evaluation.pvs.iter_mut().for_each(|pv| pv.line.truncate(max_plies));
            }
        }
    }
}

/// What was left out of positions that have more than a record has room for: see [`PositionEval::fit`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct OverLimit {
    /// Such positions.
    pub positions: u64,
    /// Evaluations beyond their best. What several lines have alike may count several times.
    pub evaluations: u64,
    /// PVs of these.
    pub pvs: u64,
}

impl OverLimit {
    /// Adds what was left out of a position.
    pub fn add(&mut self, surplus: Surplus) {
        *self = self.and(OverLimit { positions: 1, evaluations: surplus.evaluations, pvs: surplus.pvs });
    }

    /// Adds the counts of another block.
    pub fn and(self, other: OverLimit) -> OverLimit {
        OverLimit {
            positions: self.positions.saturating_add(other.positions),
            evaluations: self.evaluations.saturating_add(other.evaluations),
            pvs: self.pvs.saturating_add(other.pvs),
        }
    }
}
