//! The summary of the build of a database of evaluations.

use std::fmt;

use indicatif::HumanCount;
use serde::Serialize;

use super::OverLimit;
use super::fit::Fitted;
use super::record::Reject;
use crate::build::Files;
use crate::build::kind::Total;
use crate::terminal::report::{Detailed, named, write_counts, write_rejected};

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
            HumanCount(self.files.positions),
            HumanCount(self.evaluations),
        );
        writeln!(
            f,
            "{positions} positions, {evaluations} evaluations, {}, {:.1} s",
            self.files.size(),
            self.seconds
        )?;
        if let Some(fitted) = &self.fitted {
            writeln!(f, "{fitted}")?;
        }
        write_rejected(f, self.input.rejected(), self.input.lines, "lines rejected")?;
        writeln!(f, "{}", self.files.integrity)
    }
}

/// Formats all counts for humans.
impl Detailed for Summary {
    fn write_table(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let count = |n| HumanCount(n).to_string();
        let positions = self.files.positions;
        let rate = count((positions as f64 / self.seconds.max(0.001)) as u64);
        writeln!(
            f,
            "positions    {:>15}   {:.1} s, {rate} a second",
            count(positions),
            self.seconds
        )?;
        writeln!(f, "evaluations  {:>15}", count(self.evaluations))?;
        writeln!(f, "PV rows      {:>15}", count(self.pvs))?;
        write!(f, "{}", self.files)?;
        let Counts {
            lines,
            left_out,
            pvs_cut,
            pvs_dropped,
            pvs_shortened,
            ..
        } = self.input;
        writeln!(f, "lines read   {:>15}", count(lines))?;
        if let Some(fitted) = &self.fitted {
            writeln!(f, "{fitted}")?;
        }
        write_counts(
            f,
            [
                ("lines left out by the selection", left_out),
                ("PVs cut at an illegal move", pvs_cut),
                ("PVs dropped, first move illegal", pvs_dropped),
                (
                    "PVs cut because their evaluation has too many moves",
                    pvs_shortened,
                ),
                ("lines rejected", self.input.rejected()),
            ],
        )?;
        for (reason, n) in named(&Reject::REASONS, &self.input.rejects) {
            writeln!(f, "  {reason}: {}", count(n))?;
        }
        let OverLimit {
            positions,
            evaluations,
            pvs,
        } = self.over_limit;
        if positions > 0 {
            writeln!(
                f,
                "positions with more than a record has room for: {}",
                count(positions)
            )?;
            writeln!(
                f,
                "  evaluations left out: {}, with {} PVs",
                count(evaluations),
                count(pvs)
            )?;
        }
        Ok(())
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
        self.lines > 0 && self.rejects[Reject::JSON] == self.lines
    }

    /// Reports the counts of a build without a result.
    pub fn report_empty(&self) -> String {
        let mut report = format!("{} lines, {} rejected", self.lines, self.rejected());
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

impl Total for Counts {
    fn add(&mut self, other: &Counts) {
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
