//! The build of a table: inputs to sorted runs, runs to blocks, blocks to files. It knows neither evaluations nor games.
//!
//! Chunks of the inputs go to workers, which parse them into records ([`gather`]) and sort the records in a compact form
//! ([`spool`]) into runs on disk ([`runs`]). The runs are merged with bases ([`base`]) and cut into blocks, which workers
//! encode and the table writes in order ([`mod@write`]). A [`kind::Kind`] says what a record is.

pub mod base;
mod error;
pub mod gather;
pub mod kind;
pub mod rejects;
pub mod runs;
pub mod spool;
pub mod write;

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use indicatif::HumanBytes;
use serde::Serialize;
use shelfish::source::integrity::Integrity;
use shelfish::table::{KeptShard, Record, Shard, WriteError, WriterOptions, is_shard_name};

pub use error::BuildError;

use crate::database;
use crate::input::remote::Download;
use crate::input::{DumpKind, Dumps, Input};
use crate::system::ordered::cores;
use crate::system::workspace::{Workspace, WorkspaceError};
use base::{Base, BaseError};
use rejects::RejectFile;
use write::Written;

/// Minimum memory of a build, in bytes.
pub const MIN_MEMORY: usize = 64 << 20;

/// Options of the build of a table.
#[derive(Clone, Debug)]
pub struct Options {
    /// The inputs, which are merged.
    pub inputs: Vec<Input>,
    /// Databases that are merged with the inputs.
    pub bases: Vec<database::Args>,
    /// Whether the database refers to unchanged blocks in shards of the bases.
    pub update: bool,
    /// The directory of the database.
    pub out: PathBuf,
    /// Maximum memory, in bytes.
    pub max_memory: usize,
    /// Approximate size of a shard, in bytes.
    pub shard_bytes: u64,
    /// Maximum size of the inline pages in the manifest, in bytes.
    pub inline_page_bytes: usize,
    /// Number of workers.
    pub threads: usize,
    /// Keys at which the table is cut into parts, as if the parts were built separately.
    pub boundaries: Vec<Vec<u8>>,
    /// Approximate number of blocks of a page. If `None`, the build chooses the number.
    pub page_blocks: Option<usize>,
    /// Maximum size of all files, in bytes.
    pub max_bytes: Option<u64>,
    /// The file of rejected lines.
    pub rejects: Option<PathBuf>,
    /// Whether to print nothing before the end.
    pub quiet: bool,
    /// Whether SIGINT and SIGTERM remove the temporary files and end the process.
    pub is_interruptible: bool,
}

impl Options {
    /// Returns the default options for a build of `inputs` in the directory `out`.
    pub fn new(inputs: Vec<Input>, out: &Path) -> Options {
        let defaults = WriterOptions::default();
        Options {
            inputs,
            bases: Vec::new(),
            update: false,
            out: out.to_owned(),
            max_memory: 1 << 30,
            shard_bytes: defaults.shard_bytes,
            inline_page_bytes: defaults.inline_page_bytes,
            threads: cores(),
            boundaries: Vec::new(),
            page_blocks: None,
            max_bytes: None,
            rejects: None,
            quiet: true,
            is_interruptible: false,
        }
    }

    /// Returns the shards of the bases whose blocks are not written again, unless less than a quarter of the shard is in use. Shards
    /// that the directory of the database lacks are copied to the workspace.
    pub fn kept_shards<R: Record + Clone>(
        &self,
        bases: &[Base<R>],
        workspace: &Workspace,
    ) -> Result<Vec<KeptShard>, BaseError> {
        let mut kept = BTreeMap::new();
        for base in bases.iter().filter(|_| self.update) {
            let mut missing = Vec::new();
            for shard in base.shards() {
                let Shard {
                    file, bytes, live, ..
                } = shard;
                let is_worth_keeping = live.is_none_or(|live| live >= bytes.div_ceil(4));
                if !is_worth_keeping
                    || !is_shard_name(file)
                    || kept.insert(file.clone(), *bytes).is_some()
                {
                    continue;
                }
                let found = std::fs::symlink_metadata(self.out.join(file));
                if !found.is_ok_and(|found| found.is_file() && found.len() == *bytes) {
                    missing.push(shard);
                }
            }
            base.copy(&missing, workspace.dir())?;
        }
        let kept = kept.into_iter();
        Ok(kept
            .map(|(file, bytes)| KeptShard { file, bytes })
            .collect())
    }

    /// Opens the inputs and checks that they are of a kind.
    pub fn open_dumps(&self, kind: DumpKind) -> Result<Dumps, BuildError> {
        let dumps = Dumps::open(&self.inputs, self.max_memory)?;
        dumps.expect(&self.inputs, kind)?;
        Ok(dumps)
    }

    /// Creates the workspace of the database.
    pub fn open_workspace<R: Record>(&self) -> Result<Workspace, BuildError> {
        let mut workspace = Workspace::open::<R>(&self.out)?;
        if self.is_interruptible {
            workspace
                .clean_up_on_signals()
                .map_err(|error| WorkspaceError::Temporary {
                    path: self.out.clone(),
                    error,
                })?;
        }
        Ok(workspace)
    }

    /// Creates the file of rejected lines, if it was requested.
    pub fn create_rejects(&self) -> Result<Option<RejectFile>, BuildError> {
        self.rejects
            .as_deref()
            .map(|path| RejectFile::create(path, &self.inputs))
            .transpose()
    }
}

/// The files of a new database, for the summary of its build.
#[derive(Clone, Debug, Serialize)]
pub struct Files {
    /// Number of positions.
    pub positions: u64,
    /// Size of all files except the manifest, in bytes.
    pub bytes: u64,
    /// The hash that pins the manifest.
    #[serde(serialize_with = "crate::terminal::report::as_text")]
    pub integrity: Integrity,
    /// Number of blocks.
    pub blocks: u64,
    /// Number of blocks that were copied from a base.
    pub blocks_kept: u64,
    /// Number of positions in the bases.
    pub base_positions: u64,
    /// Selection of this build and of its bases, by option.
    pub selection: BTreeMap<String, String>,
    /// The downloads of inputs on hosts.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub downloads: Vec<Download>,
}

impl Files {
    /// Describes the written files.
    pub fn of<R: Record>(
        written: &Written,
        base_positions: u64,
        selection: BTreeMap<String, String>,
        downloads: &[Arc<Mutex<Download>>],
    ) -> Result<Files, BuildError> {
        let Written {
            manifest,
            blocks,
            blocks_kept,
            ..
        } = written;
        let bytes = manifest.to_bytes::<R>().map_err(WriteError::Json)?;
        Ok(Files {
            positions: manifest.positions,
            bytes: manifest.bytes(),
            integrity: Integrity::of(&bytes),
            blocks: *blocks,
            blocks_kept: *blocks_kept,
            base_positions,
            selection,
            downloads: downloads
                .iter()
                .filter_map(|download| Some(download.lock().ok()?.clone()))
                .collect(),
        })
    }

    /// Describes the downloads for humans.
    pub fn write_downloads(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut downloads = self.downloads.iter();
        downloads.try_for_each(|download| writeln!(f, "{download}"))
    }

    /// Describes the size for humans.
    pub fn size(&self) -> String {
        let each = self.bytes as f64 / self.positions.max(1) as f64;
        format!("{} ({each:.2} bytes a position)", HumanBytes(self.bytes))
    }
}
