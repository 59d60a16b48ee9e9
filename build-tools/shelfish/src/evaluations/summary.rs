//! The summary of the build of a database of evaluations.

use std::fmt;
use std::ops::AddAssign;

use serde::Serialize;

use super::OverLimit;
use super::fit::Fitted;
use super::record::{Reason, Reject};
use crate::build::Files;
use crate::terminal::report::{named, write_rejected};
use crate::terminal::shown::counted;

/// The summary of the build of a database of evaluations.
#[derive(Clone, Debug, Serialize)]
pub struct Summary {
    /// The files.
    #[serde(flatten)]
    pub files: Files,
    /// Number of evaluations.
    pub evaluations: u64,
    /// Number of PVs.
    pub pvs: u64,
    /// Counts of the lines of the inputs.
    pub input: Counts,
    /// Counts that were left out because a position had too many evaluations.
    pub over_limit: OverLimit,
    /// Counts that `--max-size` left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fitted: Option<Fitted>,
    /// Duration of the build, in seconds.
    pub seconds: f64,
}

/// Formats the most important counts for humans.
impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (positions, evaluations) = (
            counted(self.files.positions, "position"),
            counted(self.evaluations, "evaluation"),
        );
        writeln!(
            f,
            "{positions}, {evaluations}, {}, {:.1} s",
            self.files.size(),
            self.seconds
        )?;
        if let Some(fitted) = &self.fitted {
            writeln!(f, "{fitted}")?;
        }
        write_rejected(f, self.input.rejected(), self.input.lines, "lines rejected")?;
        self.files.write_downloads(f)?;
        writeln!(f, "{}", self.files.integrity)
    }
}

/// Counts of the lines of the inputs.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Counts {
    /// Number of lines that are not blank.
    pub lines: u64,
    /// Number of lines that were used.
    pub records: u64,
    /// Number of lines that the selection left out.
    pub left_out: u64,
    /// Number of PVs that were cut at an illegal move.
    pub pvs_cut: u64,
    /// Number of PVs that were dropped because their first move is illegal.
    pub pvs_dropped: u64,
    /// Number of PVs that were cut because their evaluation has too many moves.
    pub pvs_shortened: u64,
    /// Numbers of rejected lines, in the order of [`Reject::REASONS`].
    #[serde(serialize_with = "by_reason")]
    pub rejects: [u64; Reject::REASONS.len()],
}

fn by_reason<S: serde::Serializer>(
    rejects: &[u64; Reject::REASONS.len()],
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.collect_map(named(&Reject::REASONS, rejects))
}

impl Counts {
    /// Returns the number of rejected lines.
    pub fn rejected(&self) -> u64 {
        self.rejects.iter().sum()
    }

    /// Returns whether there are lines, and no line is a JSON object of an evaluation.
    pub fn are_foreign(&self) -> bool {
        self.lines > 0 && self.rejects[Reason::Json as usize] == self.lines
    }

    /// Reports the counts of a build without a result.
    pub fn report_empty(&self) -> String {
        let mut report = format!(
            "{}, {} rejected",
            counted(self.lines, "line"),
            self.rejected()
        );
        if self.left_out > 0 {
            report += &format!(", {} left out by the selection", self.left_out);
        }
        for (reason, n) in named(&Reject::REASONS, &self.rejects) {
            report += &format!("; {reason}: {n}");
        }
        if self.rejected() > 0 {
            report + " (--rejects FILE lists them)"
        } else {
            report
        }
    }
}

impl AddAssign for Counts {
    fn add_assign(&mut self, other: Counts) {
        self.lines += other.lines;
        self.records += other.records;
        self.left_out += other.left_out;
        self.pvs_cut += other.pvs_cut;
        self.pvs_dropped += other.pvs_dropped;
        self.pvs_shortened += other.pvs_shortened;
        self.rejects
            .iter_mut()
            .zip(other.rejects)
            .for_each(|(sum, count)| *sum += count);
    }
}
