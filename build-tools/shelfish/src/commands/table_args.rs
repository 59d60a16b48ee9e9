//! The options that `shelfish build` and `shelfish book build` share.

use std::fmt;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use serde::Serialize;
use shelfish::source::integrity::Integrity;

use super::{book, build};
use crate::build::{MIN_MEMORY, Options};
use crate::input::Input;
use crate::system::ordered::cores;
use crate::system::quantity;
use crate::system::url::scheme;
use crate::terminal::report;
use crate::{BoxError, Outcome, database};

/// Minimum size of a shard, about 200 blocks.
const MIN_SHARD: u64 = 1 << 20;

/// Options of the build of any table.
#[derive(clap::Args, Debug)]
pub struct TableArgs {
    /// Merge the positions of this database, a directory or URL, with those of the inputs; it may be DIR itself. Repeatable
    #[arg(long, value_name = "DIR_OR_URL", value_parser = database::address)]
    base: Vec<String>,
    /// Write only changed blocks, to new files. Unchanged blocks stay in the files of the base, which are copied if DIR lacks them. The
    /// next update empties a file if less than a quarter of it is in use. A build without this option compacts the database
    #[arg(long)]
    update: bool,
    /// Write the database to this directory. An existing database is replaced when the new one is complete
    #[arg(short, long, value_name = "DIR", value_parser = directory)]
    out: PathBuf,
    /// Memory to use, such as 512MiB or 4GiB. A number alone counts MiB
    #[arg(long, value_name = "SIZE", default_value = "1GiB", value_parser = quantity::size(MIN_MEMORY as u64))]
    max_memory: u64,
    /// Options of the files.
    #[command(flatten)]
    pub files: FileArgs,
    #[command(flatten)]
    workers: Workers,
    #[command(flatten)]
    rejects: Rejects,
    #[command(flatten)]
    output: report::Output,
}

/// Parses the path of a directory of this machine.
fn directory(text: &str) -> Result<PathBuf, String> {
    match scheme(text) {
        None => Ok(text.into()),
        Some(_) => {
            Err("expected a directory; `shelfish publish` sends its database to a store".to_owned())
        }
    }
}

/// Option of commands with worker threads.
#[derive(clap::Args, Clone, Debug)]
pub struct Workers {
    /// Number of worker threads [default: one per core]
    #[arg(long, value_name = "N", value_parser = quantity::integer(1_u16, 1024))]
    threads: Option<u16>,
}

impl Workers {
    /// Returns the number of threads.
    pub fn count(&self) -> usize {
        self.threads.map_or_else(cores, usize::from)
    }
}

/// Option of commands that parse inputs.
#[derive(clap::Args, Clone, Debug)]
pub struct Rejects {
    /// Write rejected lines and games to FILE, tab-separated: input, line number, reason, fact, beginning
    #[arg(long = "rejects", value_name = "FILE")]
    pub file: Option<PathBuf>,
}

/// Returns the inputs that were named on the command line.
pub fn inputs(sources: &[PathBuf]) -> Vec<Input> {
    sources
        .iter()
        .map(|path| Input::from(path.as_path()))
        .collect()
}

/// Options of the files of a table.
#[derive(clap::Args, Clone, Debug)]
pub struct FileArgs {
    /// Approximate size of a file of the database, at least 1MiB; a number alone counts MiB. Later changes are uploaded in whole files
    #[arg(long, value_name = "SIZE", default_value = "64MiB", value_parser = quantity::size(MIN_SHARD))]
    pub shard_size: u64,
    /// Include the pages of the index in the manifest if they are not larger than this. If they are larger, include
    /// only the pages of openings, up to a fifth of this. It saves a request of each first lookup there; 0: never, a number alone counts MiB
    #[arg(long, value_name = "SIZE", default_value = "26000B", value_parser = quantity::size(0))]
    pub inline_pages: u64,
}

impl TableArgs {
    /// Returns the options of the table for a build of `inputs` in the directory `out`.
    pub fn options(&self, inputs: Vec<Input>, out: PathBuf, quiet: bool) -> Options {
        Options {
            bases: self
                .base
                .iter()
                .map(|database| database::Args::of(database))
                .collect(),
            update: self.update,
            max_memory: self.max_memory as usize,
            shard_bytes: self.files.shard_size,
            inline_page_bytes: self.files.inline_pages as usize,
            threads: self.workers.count(),
            rejects: self.rejects.file.clone(),
            quiet,
            is_interruptible: true,
            ..Options::new(inputs, &out)
        }
    }
}

/// The arguments of a build of either kind.
pub enum BuildArgs {
    /// The arguments of `shelfish build`.
    Evaluations(Box<build::Args>),
    /// The arguments of `shelfish book build`.
    Games(Box<book::build::Args>),
}

impl BuildArgs {
    /// Returns the shared options.
    fn table(&self) -> &TableArgs {
        match self {
            BuildArgs::Evaluations(args) => &args.table,
            BuildArgs::Games(args) => &args.table,
        }
    }

    /// Returns the inputs that were named on the command line.
    fn sources(&self) -> &[PathBuf] {
        match self {
            BuildArgs::Evaluations(args) => &args.sources,
            BuildArgs::Games(args) => &args.sources,
        }
    }

    /// Returns the files and URLs that the build reads, except bases and months.
    pub fn reads(&self) -> Vec<&Path> {
        let more = match self {
            BuildArgs::Evaluations(args) => args.plan.as_slice(),
            BuildArgs::Games(args) => &args.whole,
        };
        let all = self.sources().iter().chain(more);
        all.map(PathBuf::as_path).collect()
    }

    /// Returns whether a base was given, and whether the build is an update.
    pub fn base_and_update(&self) -> (bool, bool) {
        (!self.table().base.is_empty(), self.table().update)
    }

    /// Builds in the directory `out`, regardless of `--out`.
    pub fn build_in(self, out: PathBuf, quiet: bool) -> Result<Built, BoxError> {
        match self {
            BuildArgs::Evaluations(args) => args.build_in(out, quiet),
            BuildArgs::Games(args) => args.build_in(out, quiet),
        }
    }

    /// Builds the database and prints a summary.
    pub fn run(self) -> Outcome {
        let table = self.table();
        let (output, out) = (table.output, table.out.clone());
        let is_stdin = |source: &&PathBuf| source.as_os_str() == "-";
        if self.sources().iter().filter(is_stdin).count() > 1 {
            self.wrong_usage("standard input (`-`) can be read once, it is named twice");
        }
        if self.base_and_update() == (false, true) {
            self.wrong_usage("--update writes the changes of a base: name the database by --base");
        }
        output.print(&self.build_in(out, output.quiet)?)?;
        Ok(ExitCode::SUCCESS)
    }

    /// Reports wrong usage and ends the process with exit code 2.
    fn wrong_usage(&self, why: &str) -> ! {
        let name = match self {
            BuildArgs::Evaluations(_) => "shelfish build",
            BuildArgs::Games(_) => "shelfish book build",
        };
        clap::Command::new(name)
            .error(clap::error::ErrorKind::ArgumentConflict, format!("{why}\n"))
            .exit()
    }
}

/// The summary of a build of either kind.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub enum Built {
    /// The summary of a database of evaluations.
    Evaluations(Box<crate::evaluations::Summary>),
    /// The summary of a database of games.
    Games(Box<crate::games::Summary>),
}

impl Built {
    /// Returns the hash that pins the manifest.
    pub fn integrity(&self) -> &Integrity {
        match self {
            Built::Evaluations(summary) => &summary.files.integrity,
            Built::Games(summary) => &summary.files.integrity,
        }
    }
}

impl fmt::Display for Built {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Built::Evaluations(summary) => summary.fmt(f),
            Built::Games(summary) => summary.fmt(f),
        }
    }
}
