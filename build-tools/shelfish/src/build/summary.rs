//! What a build says of a database: of its files, and of evaluations.

use std::collections::BTreeMap;
use std::fmt;

use indicatif::HumanCount;
use serde::Serialize;
use shelfish::source::integrity::Integrity;
use shelfish::table::{Record, WriteError};

use super::BuildError;
use super::write::Written;
use crate::evaluations::fit::Fitted;
use crate::evaluations::record::Reject;
use crate::evaluations::selection::OverLimit;
use crate::input::remote::Download;
use crate::terminal::report::write_counts;

/// The files of a database that was built, whatever its records are.
#[derive(Clone, Debug, Serialize)]
pub struct Files {
    /// Positions.
    pub positions: u64,
    /// Bytes of all files, the manifest's aside.
    pub bytes: u64,
    /// The hash by which the manifest can be pinned.
    #[serde(serialize_with = "crate::commands::stats::as_text")]
    pub integrity: Integrity,
    /// Of these, bytes of each column of the blocks.
    #[serde(serialize_with = "crate::commands::stats::as_map")]
    pub columns: Vec<(&'static str, u64)>,
    /// Blocks.
    pub blocks: u64,
    /// Of these, blocks that are as they were in a base.
    pub blocks_kept: u64,
    /// Positions of the bases.
    pub base_positions: u64,
    /// What was left out, by the options of this build and those of its bases; of games, which and how far.
    pub selection: BTreeMap<String, String>,
    /// Sources that were read of hosts.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub downloads: Vec<Download>,
}

impl Files {
    /// The files that were written, of `base_positions` positions of bases and of sources of which some were `downloads`.
    ///
    /// # Errors
    ///
    /// The manifest has no bytes.
    pub fn of<R: Record>(
        written: &Written,
        base_positions: u64,
        selection: BTreeMap<String, String>,
        downloads: Vec<Download>,
    ) -> Result<Files, BuildError> {
        let Written { manifest, columns, blocks, blocks_kept, .. } = written;
        let bytes = manifest.to_bytes::<R>();
        let bytes = bytes.map_err(|error| BuildError::Write(WriteError::Manifest(error.to_string())))?;
        Ok(Files {
            positions: manifest.positions,
            bytes: manifest.bytes(),
            integrity: Integrity::of(&bytes),
            columns: columns.clone(),
            blocks: *blocks,
            blocks_kept: *blocks_kept,
            base_positions,
            selection,
            downloads,
        })
    }
}

/// The lower part of a table for people.
impl fmt::Display for Files {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let positions = self.positions.max(1) as f64;
        let count = |n| HumanCount(n).to_string();
        writeln!(f, "manifest     {}", self.integrity)?;
        writeln!(f, "bytes        {:>15}   {:.2} a position", count(self.bytes), self.bytes as f64 / positions)?;
        for (name, bytes) in self.columns.iter().filter(|(_, bytes)| *bytes > 0) {
            writeln!(f, "  {name:<22} {:>22.3}", *bytes as f64 / positions)?;
        }
        if self.base_positions > 0 {
            writeln!(f, "of bases     {:>15}   positions", count(self.base_positions))?;
            writeln!(f, "blocks       {:>15}   {} as they were", count(self.blocks), count(self.blocks_kept))?;
        }
        self.downloads.iter().try_for_each(|download| writeln!(f, "{download}"))?;
        self.selection.iter().try_for_each(|(name, value)| writeln!(f, "selection: {name} {value}"))
    }
}

/// A database of evaluations, built.
#[derive(Clone, Debug, Serialize)]
pub struct Summary {
    /// Its files.
    #[serde(flatten)]
    pub files: Files,
    /// Evaluations.
    pub evaluations: u64,
    /// PVs.
    pub pvs: u64,
    /// What became of the lines of the sources.
    pub input: Counts,
    /// What was left out because one position had too much.
    pub over_limit: OverLimit,
    /// What `--max-size` left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fitted: Option<Fitted>,
    /// Seconds that the build took.
    pub seconds: f64,
}

/// A table for people.
impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let count = |n| HumanCount(n).to_string();
        let positions = self.files.positions;
        let rate = count((positions as f64 / self.seconds.max(0.001)) as u64);
        writeln!(f, "positions    {:>15}   {:.1} s, {rate} a second", count(positions), self.seconds)?;
        writeln!(f, "evaluations  {:>15}", count(self.evaluations))?;
        writeln!(f, "PV rows      {:>15}", count(self.pvs))?;
        self.files.fmt(f)?;
        let Counts { lines, left_out, pvs_cut, pvs_dropped, pvs_shortened, .. } = self.input;
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
                ("PVs cut, as their evaluation has too many moves", pvs_shortened),
                ("lines rejected", self.input.rejected()),
            ],
        )?;
        for (reason, n) in named(&Reject::REASONS, &self.input.rejects) {
            writeln!(f, "  {reason}: {}", count(n))?;
        }
        let OverLimit { positions, evaluations, pvs } = self.over_limit;
        if positions > 0 {
            writeln!(f, "positions with more than a record has room for: {}", count(positions))?;
            writeln!(f, "  evaluations left out: {}, with {} PVs", count(evaluations), count(pvs))?;
        }
        Ok(())
    }
}

/// What became of the lines of the sources.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Counts {
    /// Lines, blank ones aside.
    pub lines: u64,
    /// Lines that gave a position.
    pub records: u64,
    /// Lines of whose evaluations the selection left nothing.
    pub left_out: u64,
    /// PVs that turn illegal and were kept up to there.
    pub pvs_cut: u64,
    /// PVs of used lines that were dropped because their first move is illegal.
    pub pvs_dropped: u64,
    /// PVs that were cut because their evaluation has more moves than a record has room for.
    pub pvs_shortened: u64,
    /// Lines that could not be used, by [`Reject::REASONS`].
    #[serde(serialize_with = "by_reason")]
    pub rejects: [u64; Reject::REASONS.len()],
}

fn by_reason<S: serde::Serializer>(rejects: &[u64; Reject::REASONS.len()], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_map(named(&Reject::REASONS, rejects))
}

/// Counts that are not zero, by their names.
pub fn named<'a>(names: &'a [&'static str], counts: &'a [u64]) -> impl Iterator<Item = (&'static str, u64)> + 'a {
    names.iter().copied().zip(counts.iter().copied()).filter(|(_, count)| *count > 0)
}

impl Counts {
    /// Lines that could not be used, whatever the reason.
    pub fn rejected(&self) -> u64 {
        self.rejects.iter().sum()
    }

    /// Adds the counts of another worker.
    pub fn add(&mut self, other: &Counts) {
        self.lines += other.lines;
        self.records += other.records;
        self.left_out += other.left_out;
        self.pvs_cut += other.pvs_cut;
        self.pvs_dropped += other.pvs_dropped;
        self.pvs_shortened += other.pvs_shortened;
        self.rejects.iter_mut().zip(other.rejects).for_each(|(sum, count)| *sum += count);
    }
}
