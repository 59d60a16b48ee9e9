//! `shelfish build`: dumps to a database.
//!
//! Chunks of whole lines ([`dump`]) go to workers that parse them, make positions canonical, play the lines
//! ([`record`]) and sort them, in a compact form ([`spool`]), into runs on disk ([`sort`]). The runs are merged and cut
//! into blocks, which workers encode and the table takes in order.

pub mod base;
pub mod disk;
mod error;
pub mod gather;
pub mod join;
pub mod kind;
pub mod rejects;
pub mod sort;
pub mod spool;
mod summary;
pub mod write;

use std::path::PathBuf;
use std::time::Instant;

use shelfish::eval::PositionEval;
use shelfish::table::{Record, WriteError};

pub use crate::build::error::BuildError;
pub use crate::build::summary::{Counts, Files, Summary, named};
use crate::database;
use crate::evaluations::Selection;
use crate::evaluations::fit::Depths;
use crate::evaluations::kind::{Evaluations, selection_of};
use crate::evaluations::parts::Plan;
use crate::input::dump::{Dumps, How, Source};
use crate::input::frames;
use crate::input::remote::Patience;
use crate::system::workspace::Workspace;

use base::Base;
use disk::Disk;
use rejects::RejectFile;
use sort::RunFiles;

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
    pub plan: Option<Plan>,
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

/// Builds a database of evaluations.
///
/// # Errors
///
/// See [`BuildError`]; the previous database is then as it was.
pub fn build(options: &Options) -> Result<Summary, BuildError> {
    build_of(options, options.open_dumps()?)
}

/// Builds a database of evaluations, its sources opened.
pub fn build_of(options: &Options, dumps: Dumps) -> Result<Summary, BuildError> {
    let start = Instant::now();
    let downloads = dumps.downloads();
    let workspace = open_workspace::<PositionEval>(options)?;
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
    Ok(Summary {
        files: Files::of::<PositionEval>(&written, base_positions, selection.describe(), downloads.told())?,
        evaluations: written.manifest.total("evaluations"),
        pvs: written.manifest.total("pvs"),
        input,
        over_limit: written.over_limit,
        fitted,
        seconds: start.elapsed().as_secs_f64(),
    })
}

/// Opens the workspace of a database, which is cleaned up if the build is interrupted.
pub fn open_workspace<R: Record>(options: &Options) -> Result<Workspace, BuildError> {
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
