//! `shelfish stats`: facts about a database.

use std::collections::BTreeMap;
use std::fmt;
use std::process::ExitCode;

use indicatif::HumanCount;
use serde::Serialize;
use shelfish::source::Source as _;
use shelfish::source::integrity::Integrity;
use shelfish::table::Manifest;

use crate::Outcome;
use crate::database::{self, OpenError};
use crate::terminal::report;
use crate::terminal::shown::{counted, shown};

/// Print the facts of the manifest of a database.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:
  shelfish stats https://example.org/evals --json

Exit codes: 0 if the database could be read; 1 otherwise; 2 if the usage is wrong.")]
pub struct Args {
    #[command(flatten)]
    database: database::Args,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Contents of a manifest.
#[derive(Debug, Serialize)]
struct ManifestFacts {
    /// Version of the format.
    format: u64,
    /// Hash that pins the manifest.
    #[serde(serialize_with = "crate::terminal::report::as_text")]
    integrity: Integrity,
    /// Number of positions.
    positions: u64,
    /// Other totals by name, for example evaluations and PVs.
    totals: BTreeMap<String, u64>,
    /// Values that the build recorded, by name.
    info: BTreeMap<String, String>,
    /// Size of all shards, in bytes.
    bytes: u64,
    /// Number of shards.
    shards: usize,
    /// Number of pages.
    pages: usize,
    /// Size of all pages, in bytes.
    page_bytes: u64,
    /// Bytes that updates replaced. A build without `--update` removes them.
    replaced_bytes: u64,
}

/// Prints the facts of the manifest.
pub fn run(args: Args) -> Outcome {
    let source = args.database.source()?;
    let bytes = database::wait(source.whole(Manifest::FILE, Manifest::MAX_BYTES as u64))?
        .map_err(OpenError::from)?;
    let manifest = database::parse_manifest(&bytes);
    let (manifest, _) =
        manifest.map_err(|error| OpenError::of_table(source.locate(Manifest::FILE), error))?;
    let manifest = ManifestFacts {
        format: Manifest::FORMAT,
        integrity: Integrity::of(&bytes),
        positions: manifest.positions,
        totals: manifest.totals.iter().cloned().collect(),
        info: manifest.info.iter().cloned().collect(),
        bytes: manifest.bytes(),
        shards: manifest.shards().len(),
        pages: manifest.pages().count(),
        page_bytes: manifest.pages().map(|page| page.len() as u64).sum(),
        replaced_bytes: manifest
            .shards()
            .iter()
            .map(|shard| {
                shard
                    .bytes
                    .saturating_sub(shard.live.unwrap_or(shard.bytes))
            })
            .fold(0, u64::saturating_add),
    };
    report::print(&Stats { manifest }, args.json)?;
    Ok(ExitCode::SUCCESS)
}

/// The facts, below a name for later additions.
#[derive(Serialize)]
struct Stats {
    manifest: ManifestFacts,
}

impl fmt::Display for Stats {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let facts = &self.manifest;
        let number = |n: u64| HumanCount(n).to_string();
        writeln!(
            f,
            "manifest, format {}\n  {}",
            facts.format, facts.integrity
        )?;
        writeln!(f, "  positions   {:>15}", number(facts.positions))?;
        for (name, total) in &facts.totals {
            writeln!(f, "  {:<12}{:>15}", shown(name), number(*total))?;
        }
        for (name, bytes) in [
            ("bytes", facts.bytes),
            ("of it pages", facts.page_bytes),
            ("replaced", facts.replaced_bytes),
        ] {
            if bytes > 0 || name != "replaced" {
                let each = bytes as f64 / facts.positions.max(1) as f64;
                writeln!(
                    f,
                    "  {name:<12}{:>15}   {each:.3} a position",
                    number(bytes)
                )?;
            }
        }
        writeln!(
            f,
            "  {}, {}",
            counted(facts.shards as u64, "shard"),
            counted(facts.pages as u64, "page")
        )?;
        let mut info = facts.info.iter();
        info.try_for_each(|(name, value)| writeln!(f, "  {}: {}", shown(name), shown(value)))
    }
}
