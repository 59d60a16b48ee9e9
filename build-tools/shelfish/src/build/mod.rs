//! `shelfish build`: dumps to a database.
//!
//! Chunks of whole lines ([`dump`]) go to workers that parse them, make positions canonical, play the lines
//! ([`record`]) and sort them, in a compact form ([`spool`]), into runs on disk ([`sort`]). The runs are merged and cut
//! into blocks, which workers encode and the table takes in order.

mod base;
pub mod command;
mod disk;
pub mod dump;
mod evaluations;
mod fit;
pub mod frames;
pub mod games;
mod gather;
mod join;
mod kind;
#[cfg(feature = "parquet")]
pub mod parquet;
pub mod parts;
pub mod record;
mod rejects;
pub mod remote;
pub mod rows;
pub mod sort;
mod source;
pub mod spool;
pub mod staging;
pub(crate) mod workspace;
mod write;

use std::collections::BTreeMap;
use std::fmt;
use std::io;
use std::path::PathBuf;
use std::time::Instant;

use indicatif::HumanCount;
use serde::{Deserialize, Serialize};
use shelfish::eval::{Eval, Evaluation};
use shelfish::source::integrity::Integrity;
use shelfish::table::{Record, WriteError};

use crate::database;

use base::{Base, BaseError};
use disk::Disk;
use dump::{Dumps, How, Source};
use evaluations::{Evaluations, selection_of};
use fit::{Depths, Fitted};
use record::Reject;
use rejects::RejectFile;
use remote::{Download, Patience};
use sort::RunFiles;
use spool::Surplus;
use workspace::Workspace;
use write::Written;

/// The least memory that a build is asked to do with.
pub const MIN_MEMORY: usize = 64 << 20;

/// What to build, of what, and how.
#[derive(Clone, Debug)]
pub struct Options {
    /// Dumps; more than one are merged.
    pub sources: Vec<Source>,
    /// Databases whose records are merged with those of the sources.
    pub bases: Vec<database::Args>,
    /// Whether positions of the sources take nothing from the bases.
    pub replace: bool,
    /// The directory of the database.
    pub out: PathBuf,
    /// Memory in bytes, all in all.
    pub max_memory: usize,
    /// Bytes of a shard, about.
    pub shard_bytes: u64,
    /// The most bytes of inline pages in the manifest.
    pub inline_page_bytes: usize,
    /// Workers.
    pub threads: usize,
    /// How hosts are asked that sources are read of.
    pub patience: Patience,
    /// What to leave out.
    pub selection: Selection,
    /// Where the result is cut into parts, as if they were built apart.
    pub plan: Option<parts::Plan>,
    /// The most bytes of all files: the least depths are left out until it fits.
    pub max_bytes: Option<u64>,
    /// The most bytes of the disk to use, what is there already aside.
    pub max_disk: Option<u64>,
    /// Where to write lines that cannot be used.
    pub rejects: Option<PathBuf>,
    /// Whether to keep silent until the end.
    pub quiet: bool,
    /// Whether SIGINT and SIGTERM end the process after what was begun is cleaned up.
    pub is_interruptible: bool,
}

impl Options {
    /// Opens the sources.
    ///
    /// # Errors
    ///
    /// One cannot be opened.
    pub fn open_dumps(&self) -> Result<Dumps, BuildError> {
        let decoders = frames::decoders(self.threads, self.max_memory);
        Dumps::open(&self.sources, How { patience: self.patience, decoders })
    }
}

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
    fn narrow(&self, evaluations: &mut Vec<Evaluation>) {
        evaluations.retain(|evaluation| evaluation.depth >= self.min_depth);
        if self.best_only {
            // The best is judged by all of its PVs: they go last.
            Eval::normalise(evaluations);
            evaluations.truncate(1);
        } else {
            self.trim(evaluations);
            Eval::normalise(evaluations);
        }
    }

    /// Leaves out what can be left out once all evaluations of a position are together.
    fn settle(&self, evaluations: &mut Vec<Evaluation>) {
        if self.best_only {
            evaluations.truncate(1);
            self.trim(evaluations);
        }
    }

    /// What the manifest says of the selection; nothing if all is kept.
    fn describe(&self) -> BTreeMap<String, String> {
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
    fn parse(info: &[(String, String)]) -> Result<Selection, (&str, &str)> {
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
    fn and(&self, other: &Selection) -> Selection {
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
    serializer.collect_map(reasons(rejects))
}

/// The reasons for which lines could not be used, each with how many.
fn reasons(rejects: &[u64; Reject::REASONS.len()]) -> impl Iterator<Item = (&'static str, u64)> {
    Reject::REASONS.into_iter().zip(*rejects).filter(|(_, count)| *count > 0)
}

impl Counts {
    /// Lines that could not be used, whatever the reason.
    pub fn rejected(&self) -> u64 {
        self.rejects.iter().sum()
    }

    fn add(&mut self, other: &Counts) {
        self.lines += other.lines;
        self.records += other.records;
        self.left_out += other.left_out;
        self.pvs_cut += other.pvs_cut;
        self.pvs_dropped += other.pvs_dropped;
        self.pvs_shortened += other.pvs_shortened;
        self.rejects.iter_mut().zip(other.rejects).for_each(|(sum, count)| *sum += count);
    }
}

/// What was left out of positions that have more than a record has room for: see [`Eval::fit`].
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
    fn add(&mut self, surplus: Surplus) {
        *self = self.and(OverLimit { positions: 1, evaluations: surplus.evaluations, pvs: surplus.pvs });
    }

    fn and(self, other: OverLimit) -> OverLimit {
        OverLimit {
            positions: self.positions.saturating_add(other.positions),
            evaluations: self.evaluations.saturating_add(other.evaluations),
            pvs: self.pvs.saturating_add(other.pvs),
        }
    }
}

/// Why there is no new database. The previous one is as it was.
#[derive(Debug)]
pub enum BuildError {
    /// A source cannot be opened or read to its end.
    Source {
        /// The source.
        source: Source,
        /// What is wrong.
        error: io::Error,
    },
    /// Some sources are evaluations, some are games.
    Mixed {
        /// Games.
        games: Source,
        /// Evaluations.
        evaluations: Source,
    },
    /// The games of a source are counted already.
    Again(Source),
    /// A book of an engine cannot be merged with what has results, as it has none.
    Weights(Source),
    /// The moves of a book cannot be chosen by what its games are.
    Counted(Source),
    /// No game of the sources can be used.
    NoGames(Box<games::Counts>),
    /// Another build writes to the same database.
    Busy(PathBuf),
    /// Temporary files cannot be written or read.
    Temporary {
        /// Where they are.
        path: PathBuf,
        /// What is wrong.
        error: io::Error,
    },
    /// The disk has less room than the build may use.
    Disk(PathBuf, io::Error),
    /// A worker cannot have so many bytes of memory.
    Memory(usize),
    /// A base cannot be used.
    Base(BaseError),
    /// The file of rejects cannot be written.
    Rejects {
        /// Its path.
        path: PathBuf,
        /// What is wrong.
        error: io::Error,
    },
    /// There is more than there may be.
    TooLarge {
        /// Bytes that there may be.
        max_bytes: u64,
        /// Positions that had been written by then.
        positions: u64,
    },
    /// No line gave a position, and nothing is left of the bases.
    Empty(Counts),
    /// The database cannot be written.
    Write(WriteError),
}

impl fmt::Display for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BuildError::Source { source, error } => write!(f, "cannot read {source}: {error}"),
            BuildError::Mixed { games, evaluations } => write!(
                f,
                "{games} has games and {evaluations} evaluations: they make databases of two kinds, build them one by one"
            ),
            BuildError::Again(source) => write!(
                f,
                "{source} has the same games as another source, or as one of which a base was built: \
                 --again counts them twice"
            ),
            BuildError::Weights(source) => write!(
                f,
                "{source} is a Polyglot book, with weights in place of games and results: it cannot be added to games, \
                 build it alone"
            ),
            BuildError::Counted(source) => write!(
                f,
                "{source} is a book whose moves are counted already: --ratings, --speeds, --since, --until, --ending, \
                 --no-bots and --max-plies choose from games, build it without"
            ),
            BuildError::NoGames(counts) => {
                let told = counts.to_string();
                let lines = told.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "));
                write!(f, "nothing to write: no position is left; {}", lines.collect::<Vec<_>>().join("; "))
            }
            BuildError::Busy(path) => write!(f, "another build is writing to {}", path.display()),
            BuildError::Temporary { path, error } => write!(f, "temporary files in {}: {error}", path.display()),
            BuildError::Disk(path, error) => write!(f, "{}: {error}", path.display()),
            BuildError::Rejects { path, error } => write!(f, "cannot write rejects to {}: {error}", path.display()),
            BuildError::Memory(bytes) => {
                write!(f, "{bytes} bytes of memory for each worker cannot be had: choose a smaller --max-memory")
            }
            BuildError::Base(error) => error.fmt(f),
            BuildError::Write(error) => error.fmt(f),
            BuildError::TooLarge { max_bytes, positions } => write!(
                f,
                "the positions of the greatest depth alone take more than --max-size, {max_bytes} bytes, which is full \
                 after {positions} of them: leave more out (--best-only, --max-pvs, --max-plies)"
            ),
            BuildError::Empty(counts) => {
                write!(f, "nothing to write: {} lines, {} rejected", counts.lines, counts.rejected())?;
                if counts.left_out > 0 {
                    write!(f, ", {} left out by the selection", counts.left_out)?;
                }
                for (reason, n) in reasons(&counts.rejects) {
                    write!(f, "; {reason}: {n}")?;
                }
                if counts.rejected() > 0 { f.write_str(" (--rejects FILE lists them)") } else { Ok(()) }
            }
        }
    }
}

impl std::error::Error for BuildError {}

/// A database, built.
#[derive(Clone, Debug, Serialize)]
pub struct Summary {
    /// Positions.
    pub positions: u64,
    /// Evaluations.
    pub evaluations: u64,
    /// PVs.
    pub pvs: u64,
    /// Bytes of all files, the manifest's aside.
    pub bytes: u64,
    /// The hash by which the manifest can be pinned.
    #[serde(serialize_with = "crate::stats::as_text")]
    pub integrity: Integrity,
    /// Of these, bytes of each column of the blocks.
    #[serde(serialize_with = "crate::stats::as_map")]
    pub columns: Vec<(&'static str, u64)>,
    /// Blocks.
    pub blocks: u64,
    /// Of these, blocks that are as they were in a base.
    pub blocks_kept: u64,
    /// Positions of the bases.
    pub base_positions: u64,
    /// What was left out, by the options of this build and those of its bases.
    pub selection: BTreeMap<String, String>,
    /// What became of the lines of the sources.
    pub input: Counts,
    /// What was left out because one position had too much.
    pub over_limit: OverLimit,
    /// What `--max-size` left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fitted: Option<Fitted>,
    /// Sources that were read of hosts.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub downloads: Vec<Download>,
    /// Seconds that the build took.
    pub seconds: f64,
}

/// A table for people.
impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let positions = self.positions.max(1) as f64;
        let count = |n| HumanCount(n).to_string();
        let rate = count((positions / self.seconds.max(0.001)) as u64);
        let Counts { lines, left_out, pvs_cut, pvs_dropped, pvs_shortened, .. } = self.input;
        writeln!(f, "positions    {:>15}   {:.1} s, {rate} a second", count(self.positions), self.seconds)?;
        writeln!(f, "evaluations  {:>15}", count(self.evaluations))?;
        writeln!(f, "PV rows      {:>15}", count(self.pvs))?;
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
        writeln!(f, "lines read   {:>15}", count(lines))?;
        for (name, value) in &self.selection {
            writeln!(f, "selection: {name} {value}")?;
        }
        if let Some(fitted) = &self.fitted {
            writeln!(f, "{fitted}")?;
        }
        for (what, n) in [
            ("lines left out by the selection", left_out),
            ("PVs cut at an illegal move", pvs_cut),
            ("PVs dropped, first move illegal", pvs_dropped),
            ("PVs cut, as their evaluation has too many moves", pvs_shortened),
            ("lines rejected", self.input.rejected()),
        ] {
            if n > 0 {
                writeln!(f, "{what}: {}", count(n))?;
            }
        }
        for (reason, n) in reasons(&self.input.rejects) {
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

/// Builds a database of evaluations.
///
/// # Errors
///
/// See [`BuildError`]; the previous database is then as it was.
pub fn build(options: &Options) -> Result<Summary, BuildError> {
    build_of(options, options.open_dumps()?)
}

/// Builds a database of evaluations, its sources opened.
fn build_of(options: &Options, dumps: Dumps) -> Result<Summary, BuildError> {
    let start = Instant::now();
    let downloads = dumps.downloads();
    let workspace = open_workspace::<Eval>(options)?;
    let bases = options.bases.iter().map(Base::open).collect::<Result<Vec<_>, _>>().map_err(BuildError::Base)?;
    let selections = bases.iter().map(selection_of).collect::<Result<Vec<_>, _>>().map_err(BuildError::Base)?;
    // What a base lacks, nobody should look for in the result: it is left out of the sources, too.
    let selection = selections.iter().fold(options.selection.clone(), |all, base| all.and(base));
    let kind = Evaluations { gathered: selection.min_depth, selection: selection.clone() };
    let base_positions = bases.iter().map(Base::positions).sum();
    let run_files = RunFiles::new(workspace.dir(), Disk::new(options.max_disk));
    let rejects = options.rejects.as_deref().map(|path| RejectFile::create(path, &options.sources)).transpose()?;
    let (mut runs, counts) = gather::gather(&kind, options, dumps, &workspace, &run_files, rejects.as_ref())?;
    let mut input = Counts::default();
    counts.iter().for_each(|counts| input.add(counts));
    let mut parts_from = |min_depth| -> Result<_, BuildError> {
        let kind = Evaluations { selection: Selection { min_depth, ..selection.clone() }, ..kind.clone() };
        let each = bases.iter().zip(&selections);
        let each = each.map(|(base, selection)| base.clone().read(kind.narrow(selection), options.threads));
        // What may be written again is kept; else it goes while it is read.
        let runs = if options.max_bytes.is_some() { runs.clone() } else { std::mem::take(&mut runs) };
        Ok(write::Parts {
            runs,
            bases: each.collect::<Result<_, _>>().map_err(BuildError::Base)?,
            base_positions,
            info: kind.selection.describe(),
            max_bytes: options.max_bytes,
            kind,
        })
    };
    let least = selection.min_depth;
    let depths = match options.max_bytes {
        Some(_) => Some(Depths::count(&mut write::join(options, &workspace, &run_files, parts_from(least)?)?)),
        None => None,
    };
    let depths = depths.transpose().map_err(|error| error.of(&workspace))?;
    let mut write_from = |min_depth| {
        let mark = rejects.as_ref().filter(|_| options.max_bytes.is_some()).map(RejectFile::mark).transpose()?;
        let written = write::write(options, &workspace, &run_files, parts_from(min_depth)?, rejects.as_ref());
        if let (Err(BuildError::TooLarge { .. }), Some(rejects), Some(mark)) = (&written, &rejects, mark) {
            rejects.rewind(mark)?;
        }
        written
    };
    let written = match (&depths, options.max_bytes) {
        (Some(depths), Some(max_bytes)) => {
            depths.fit(least, max_bytes, write_from).map(|(written, fitted)| (written, Some(fitted)))
        }
        _ => write_from(least).map(|written| (written, None)),
    };
    let (written, fitted) = written.map_err(|error| match error {
        BuildError::Write(WriteError::Empty) => BuildError::Empty(input.clone()),
        error => error,
    })?;
    let selection = Selection { min_depth: fitted.as_ref().map_or(least, |fitted| fitted.min_depth), ..selection };
    let Written { manifest, columns, blocks, blocks_kept, over_limit, .. } = written;
    Ok(Summary {
        positions: manifest.positions,
        evaluations: manifest.total("evaluations"),
        pvs: manifest.total("pvs"),
        bytes: manifest.bytes(),
        integrity: Integrity::of(
            &manifest.to_bytes::<Eval>().map_err(|error| BuildError::Write(WriteError::Manifest(error.to_string())))?,
        ),
        columns,
        blocks,
        blocks_kept,
        base_positions,
        selection: selection.describe(),
        input,
        over_limit,
        fitted,
        downloads: downloads.told(),
        seconds: start.elapsed().as_secs_f64(),
    })
}

/// Opens the workspace of a database, which is cleaned up if the build is interrupted.
fn open_workspace<R: Record>(options: &Options) -> Result<Workspace, BuildError> {
    if let Some(most) = options.max_disk {
        Disk::check_room(&options.out, most).map_err(|error| BuildError::Disk(options.out.clone(), error))?;
    }
    let workspace = Workspace::open::<R>(&options.out)?;
    if options.is_interruptible {
        #[cfg(unix)]
        workspace.clean_up_on_signals().map_err(|error| BuildError::Temporary { path: options.out.clone(), error })?;
    }
    Ok(workspace)
}
