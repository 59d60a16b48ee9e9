//! `shelfish build`: dumps to a database.
//!
//! Chunks of whole lines ([`dump`]) go to workers that parse them, make positions canonical, play the lines
//! ([`record`]) and sort them, in a compact form ([`spool`]), into runs on disk ([`sort`]). The runs are merged and cut
//! into blocks, which workers encode and the table takes in order.

mod base;
pub mod command;
mod disk;
pub mod dump;
mod error;
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
mod summary;
pub(crate) mod workspace;
mod write;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Instant;

use serde::{Deserialize, Serialize};
use shelfish::eval::{Eval, Evaluation};
use shelfish::source::integrity::Integrity;
use shelfish::table::{Record, WriteError};

use crate::database;

pub use error::BuildError;
pub use summary::{Counts, OverLimit, Summary};

use base::Base;
use disk::Disk;
use dump::{Dumps, How, Source};
use evaluations::{Evaluations, selection_of};
use fit::Depths;
use rejects::RejectFile;
use remote::Patience;
use sort::RunFiles;
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
