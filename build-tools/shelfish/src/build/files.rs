//! The files of a new database.

use std::collections::BTreeMap;
use std::fmt;

use indicatif::{HumanBytes, HumanCount};
use serde::Serialize;
use shelfish::source::integrity::Integrity;
use shelfish::table::{Record, WriteError};

use super::BuildError;
use super::write::Written;
use crate::input::remote::Download;

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
    /// Size of each column of the blocks, in bytes.
    #[serde(serialize_with = "crate::terminal::report::as_map")]
    pub columns: Vec<(&'static str, u64)>,
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
    pub fn of<R: Record, S>(
        written: &Written<S>,
        base_positions: u64,
        selection: BTreeMap<String, String>,
        downloads: Vec<Download>,
    ) -> Result<Files, BuildError> {
        let Written {
            manifest,
            columns,
            blocks,
            blocks_kept,
            ..
        } = written;
        let bytes = manifest.to_bytes::<R>();
        let bytes = bytes.map_err(|error| BuildError::Write(WriteError::Json(error)))?;
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

impl Files {
    /// Describes the size for humans.
    pub fn size(&self) -> String {
        let each = self.bytes as f64 / self.positions.max(1) as f64;
        format!("{} ({each:.2} bytes a position)", HumanBytes(self.bytes))
    }
}

/// Formats the lower part of the table for humans.
impl fmt::Display for Files {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let positions = self.positions.max(1) as f64;
        let count = |n| HumanCount(n).to_string();
        writeln!(f, "manifest     {}", self.integrity)?;
        writeln!(
            f,
            "bytes        {:>15}   {:.2} a position",
            count(self.bytes),
            self.bytes as f64 / positions
        )?;
        for (name, bytes) in self.columns.iter().filter(|(_, bytes)| *bytes > 0) {
            writeln!(f, "  {name:<22} {:>22.3}", *bytes as f64 / positions)?;
        }
        if self.base_positions > 0 {
            writeln!(
                f,
                "of bases     {:>15}   positions",
                count(self.base_positions)
            )?;
            writeln!(
                f,
                "blocks       {:>15}   {} as they were",
                count(self.blocks),
                count(self.blocks_kept)
            )?;
        }
        self.downloads
            .iter()
            .try_for_each(|download| writeln!(f, "{download}"))?;
        self.selection
            .iter()
            .try_for_each(|(name, value)| writeln!(f, "selection: {name} {value}"))
    }
}
