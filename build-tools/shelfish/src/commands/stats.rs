//! `shelfish stats`: contents of a database.

use std::collections::BTreeMap;
use std::fmt;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use indicatif::HumanCount;
use serde::Serialize;
use shakmaty::Position as _;
use shelfish::eval::{Evaluation, PositionEval};
use shelfish::played::Played;
use shelfish::source::Source as _;
use shelfish::source::integrity::Integrity;
use shelfish::table::{Block, Manifest, Record};

use crate::Outcome;
use crate::database::columns::column_bytes;
use crate::database::scan::{RawBlock, Scan, ScanError};
use crate::database::{self, DatabaseSource, Kind, OpenError};
use crate::statistics::Summary;
use crate::system::ordered::{cores, ordered};
use crate::terminal::progress::{Progress, Work};
use crate::terminal::report;
use crate::terminal::shown::shown;

/// Print the contents of a database: the facts of its manifest, and with --scan the facts of all blocks.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:
  shelfish stats -d https://example.org/evals --json
  shelfish stats -d db --scan

A scan decodes all blocks on all cores, and takes about as long as a build. It adds depths, numbers of pieces, sizes of blocks,
and bytes by column.

Exit codes: 0 if the database could be read; 1 otherwise; 2 if the usage is wrong.")]
pub struct Args {
    #[command(flatten)]
    database: database::Args,
    /// Decode all blocks, and print their contents
    #[arg(long)]
    scan: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Contents of a manifest.
#[derive(Debug, Serialize)]
pub struct ManifestFacts {
    /// Version of the format.
    pub format: u64,
    /// Hash that pins the manifest.
    #[serde(serialize_with = "crate::terminal::report::as_text")]
    pub integrity: Integrity,
    /// Number of positions.
    pub positions: u64,
    /// Other totals by name, for example evaluations and PVs.
    pub totals: BTreeMap<String, u64>,
    /// Values that the build recorded, by name.
    pub info: BTreeMap<String, String>,
    /// Size of all shards, in bytes.
    pub bytes: u64,
    /// Number of shards.
    pub shards: usize,
    /// Number of pages.
    pub pages: usize,
    /// Size of all pages, in bytes.
    pub page_bytes: u64,
    /// Bytes that updates replaced. A build without `--update` removes them.
    pub replaced_bytes: u64,
}

/// Results of a scan.
#[derive(Debug, Default, Serialize)]
pub struct Scanned {
    /// Number of positions.
    pub positions: u64,
    /// Counts of a database of evaluations.
    #[serde(flatten)]
    pub evaluations: Option<Evaluations>,
    /// Number of moves in a book.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub moves: Option<u64>,
    /// Number of positions by number of pieces, including kings and pawns.
    pub pieces: BTreeMap<usize, u64>,
    /// Compressed bytes by column. The empty name counts the headers of frames.
    #[serde(serialize_with = "crate::terminal::report::as_map")]
    pub columns: Vec<(&'static str, u64)>,
    /// Sizes of compressed blocks, in bytes.
    pub block_bytes: Summary,
    /// Number of positions of blocks.
    pub block_positions: Summary,
}

/// Counts of a database of evaluations.
#[derive(Debug, Default, Serialize)]
pub struct Evaluations {
    /// Number of evaluations.
    pub evaluations: u64,
    /// Number of PVs.
    pub pvs: u64,
    /// Number of moves of all PVs.
    pub pv_moves: u64,
    /// Number of evaluations by depth.
    pub depths: BTreeMap<u16, u64>,
}

#[derive(Debug, Serialize)]
struct Stats {
    manifest: ManifestFacts,
    #[serde(skip_serializing_if = "Option::is_none")]
    scan: Option<Scanned>,
}

/// Prints the facts of the manifest, then scans the database if necessary.
pub fn run(args: Args) -> Outcome {
    let source = args.database.source()?;
    let bytes = database::wait(source.whole(Manifest::FILE, Manifest::MAX_BYTES as u64))?
        .map_err(OpenError::from)?;
    let manifest = database::parse_manifest(&bytes);
    let (manifest, kind) =
        manifest.map_err(|error| OpenError::of_table(source.locate(Manifest::FILE), error))?;
    let manifest = Arc::new(manifest);
    let known = ManifestFacts {
        format: Manifest::FORMAT,
        integrity: Integrity::of(&bytes),
        positions: manifest.positions,
        totals: manifest.totals.iter().cloned().collect(),
        info: manifest.info.iter().cloned().collect(),
        bytes: manifest.bytes(),
        shards: manifest.shards().len(),
        pages: manifest.pages().len(),
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
    if !args.json {
        report::print(&known, false)?;
    }
    let scan = match kind {
        _ if !args.scan => None,
        Kind::Moves => Some(scan(source, manifest, moves_of)?),
        Kind::Evaluations => Some(scan(source, manifest, evaluations_of)?),
    };
    report::print(
        &Stats {
            manifest: known,
            scan,
        },
        args.json,
    )?;
    Ok(ExitCode::SUCCESS)
}

/// Counts of one block.
#[derive(Default)]
struct Part {
    bytes: u64,
    columns: Vec<u64>,
    positions: Vec<PositionCounts>,
}

/// Counts of a position.
struct PositionCounts {
    pieces: usize,
    record: RecordCounts,
}

enum RecordCounts {
    Evaluations(Vec<EvaluationCounts>),
    Moves(u64),
}

fn evaluations_of(eval: &PositionEval) -> RecordCounts {
    let counts = |evaluation: &Evaluation| EvaluationCounts {
        depth: evaluation.depth,
        pvs: evaluation.pvs.len() as u64,
        moves: evaluation.pvs.iter().map(|pv| pv.line.len() as u64).sum(),
    };
    RecordCounts::Evaluations(eval.evaluations.iter().map(counts).collect())
}

fn moves_of(played: &Played) -> RecordCounts {
    RecordCounts::Moves(played.moves.len() as u64)
}

/// Counts of an evaluation.
struct EvaluationCounts {
    depth: u16,
    pvs: u64,
    moves: u64,
}

fn scan<R: Record>(
    source: DatabaseSource,
    manifest: Arc<Manifest>,
    counts: fn(&R) -> RecordCounts,
) -> Result<Scanned, Box<dyn std::error::Error + Send + Sync>> {
    let done = Arc::new(AtomicU64::new(0));
    let _progress = Progress::start(
        Work::positions("scanning", &done, Some(manifest.positions)),
        false,
    );
    let mut scanned = Scanned {
        columns: Block::<R>::column_names()
            .chain([""])
            .map(|name| (name, 0))
            .collect(),
        ..Scanned::default()
    };
    let (mut bytes, mut positions) = (Vec::new(), Vec::new());
    for part in ordered(Scan::new(source, manifest)?, cores(), move |block| {
        read(block, counts)
    }) {
        let part = part?;
        bytes.push(part.bytes as f64);
        let count = part.positions.len() as u64;
        positions.push(count as f64);
        done.fetch_add(count, Relaxed);
        scanned.positions += count;
        scanned
            .columns
            .iter_mut()
            .zip(part.columns)
            .for_each(|((_, sum), bytes)| *sum += bytes);
        for PositionCounts { pieces, record } in part.positions {
            *scanned.pieces.entry(pieces).or_default() += 1;
            match record {
                RecordCounts::Moves(moves) => *scanned.moves.get_or_insert_default() += moves,
                RecordCounts::Evaluations(evaluations) => {
                    let sum = scanned.evaluations.get_or_insert_default();
                    for EvaluationCounts { depth, pvs, moves } in evaluations {
                        sum.evaluations += 1;
                        sum.pvs += pvs;
                        sum.pv_moves += moves;
                        *sum.depths.entry(depth).or_default() += 1;
                    }
                }
            }
        }
    }
    scanned.block_bytes = Summary::of(bytes);
    scanned.block_positions = Summary::of(positions);
    Ok(scanned)
}

fn read<R: Record>(
    block: Result<RawBlock, ScanError>,
    counts: fn(&R) -> RecordCounts,
) -> Result<Part, Box<dyn std::error::Error + Send + Sync>> {
    let RawBlock { at, bytes, .. } = block?;
    let mut part = Part {
        bytes: bytes.len() as u64,
        ..Part::default()
    };
    for record in Block::<R>::open(&bytes, &at)?.records() {
        let record = record?;
        let pieces = record.position().chess().board().occupied().count();
        part.positions.push(PositionCounts {
            pieces,
            record: counts(&record),
        });
    }
    part.columns = column_bytes(&bytes, Block::<R>::column_names().count())?;
    Ok(part)
}

impl fmt::Display for ManifestFacts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ManifestFacts {
            format,
            integrity,
            positions,
            totals,
            info,
            bytes,
            shards,
            pages,
            page_bytes,
            replaced_bytes,
        } = self;
        let each = |bytes: u64| bytes as f64 / (*positions).max(1) as f64;
        writeln!(f, "manifest, format {format}")?;
        writeln!(f, "  {integrity}")?;
        writeln!(
            f,
            "  positions   {:>15}",
            HumanCount(*positions).to_string()
        )?;
        for (name, total) in totals {
            writeln!(
                f,
                "  {:<12}{:>15}",
                shown(name),
                HumanCount(*total).to_string()
            )?;
        }
        writeln!(
            f,
            "  bytes       {:>15}   {:.3} a position",
            HumanCount(*bytes).to_string(),
            each(*bytes)
        )?;
        writeln!(
            f,
            "  of it pages {:>15}   {:.3} a position",
            HumanCount(*page_bytes).to_string(),
            each(*page_bytes)
        )?;
        if *replaced_bytes > 0 {
            writeln!(
                f,
                "  replaced    {:>15}   {:.3} a position",
                HumanCount(*replaced_bytes).to_string(),
                each(*replaced_bytes)
            )?;
        }
        writeln!(f, "  {shards} shards, {pages} pages")?;
        info.iter()
            .try_for_each(|(name, value)| writeln!(f, "  {}: {}", shown(name), shown(value)))
    }
}

/// The results after the facts of the manifest, which are printed before the scan.
impl fmt::Display for Stats {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.scan.as_ref().map_or(Ok(()), |scan| scan.fmt(f))
    }
}

impl fmt::Display for Scanned {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "scan")?;
        let evaluations = self.evaluations.iter().flat_map(|found| {
            [
                ("evaluations", found.evaluations),
                ("PV rows", found.pvs),
                ("PV moves", found.pv_moves),
            ]
        });
        let moves = self.moves.map(|moves| ("moves", moves));
        for (name, count) in [("positions", self.positions)]
            .into_iter()
            .chain(evaluations)
            .chain(moves)
        {
            writeln!(f, "  {name:<12}{:>15}", HumanCount(count).to_string())?;
        }
        for (name, summary) in [
            ("bytes", &self.block_bytes),
            ("positions", &self.block_positions),
        ] {
            let Summary {
                count,
                min,
                p5,
                median,
                mean,
                p95,
                max,
                ..
            } = summary;
            writeln!(
                f,
                "  {name} of {count} blocks: min {min}, 5 % {p5:.0}, median {median:.0}, mean {mean:.0}, 95 % {p95:.0}, max {max}"
            )?;
        }
        writeln!(f, "  bytes a position by column")?;
        for (name, bytes) in self.columns.iter().filter(|(_, bytes)| *bytes > 0) {
            let name = if name.is_empty() { "(frames)" } else { name };
            writeln!(
                f,
                "    {name:<22} {:>8.3}",
                *bytes as f64 / self.positions.max(1) as f64
            )?;
        }
        if let Some(Evaluations { depths, .. }) = &self.evaluations {
            writeln!(f, "  evaluations by depth")?;
            histogram(
                f,
                depths
                    .iter()
                    .map(|(&depth, &count)| (depth.to_string(), count)),
            )?;
        }
        writeln!(f, "  positions by number of pieces")?;
        histogram(
            f,
            self.pieces
                .iter()
                .map(|(&pieces, &count)| (pieces.to_string(), count)),
        )
    }
}

fn histogram(
    f: &mut fmt::Formatter<'_>,
    rows: impl Iterator<Item = (String, u64)> + Clone,
) -> fmt::Result {
    let most = rows
        .clone()
        .map(|(_, count)| count)
        .max()
        .unwrap_or(1)
        .max(1);
    for (name, count) in rows {
        let bar = "#".repeat((count * 40).div_ceil(most) as usize);
        writeln!(
            f,
            "    {name:>5} {:>13} {bar}",
            HumanCount(count).to_string()
        )?;
    }
    Ok(())
}
