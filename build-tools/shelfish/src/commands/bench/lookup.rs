//! `shelfish bench lookup`: duration of lookups on this machine, without the network.
//!
//! A *cold* reader was just opened: it reads a page and a block, checks and decodes them, and finds the record. A
//! *warm* reader has all data in memory. Each time has a baseline. The baseline of a cold lookup reads and decompresses
//! the same bytes. The baseline of a warm lookup is a hash map of records.

use std::collections::HashMap;
use std::fs;
use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

use indicatif::HumanCount;
use serde::Serialize;
use shelfish::eval::PositionEval;
use shelfish::position::Position;
use shelfish::reader::{NoCache, Options};
use shelfish::source::Source;
use shelfish::table::{Block, Chunk, Manifest, Page};

use super::games::{Args as GamesArgs, Sample};
use super::report::{Finding, Report, SUMMARY_COLUMNS, Style, Table, figure, summary_cells};
use crate::database::{self, DatabaseSource};
use crate::statistics::Summary;
use crate::system::named_error::named;
use crate::{BoxError, Outcome};

/// Number of warm lookups that are timed together, because a single lookup is too short for the clock.
const REPETITIONS: u32 = 16;

/// Measure the duration of lookups on this machine.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:
  shelfish bench lookup -d db
  shelfish bench lookup -d db --count 5000 --json
  shelfish bench lookup -d db --games games.pgn.zst --limit 100
  shelfish bench lookup -d db --fens fens.txt --markdown

Without --games and --fens, the command looks up positions from evenly spaced blocks of the database.

Exit codes: 0 if the lookups were measured; 1 otherwise; 2 if the usage is wrong.")]
pub struct Args {
    #[command(flatten)]
    database: database::Args,
    /// Look up at most N positions
    #[arg(long, value_name = "N", default_value_t = 1000, value_parser = clap::value_parser!(u32).range(1..))]
    count: u32,
    /// Look up the positions of the games in a PGN file, plain or compressed
    #[arg(long, value_name = "FILE", conflicts_with = "fens")]
    games: Option<PathBuf>,
    #[command(flatten)]
    sample: Sample,
    /// Look up the positions of a file with one FEN per line
    #[arg(long, value_name = "FILE")]
    fens: Option<PathBuf>,
    #[command(flatten)]
    style: Style,
}

/// Durations of lookups, in microseconds.
#[derive(Debug, Serialize)]
struct Lookup {
    /// Number of positions looked up.
    positions: usize,
    /// Number of positions found.
    hits: usize,
    /// Opening a reader: reading, checking and parsing the manifest.
    #[serde(rename = "open_microseconds")]
    open: Summary,
    /// First lookup of a reader.
    #[serde(rename = "cold_microseconds")]
    cold: Summary,
    /// Reading and decompressing the same page and block.
    #[serde(rename = "cold_baseline_microseconds")]
    cold_baseline: Summary,
    /// Repeated lookup.
    #[serde(rename = "warm_microseconds")]
    warm: Summary,
    /// Reading the same record from a hash map.
    #[serde(rename = "warm_baseline_microseconds")]
    warm_baseline: Summary,
}

/// Measures lookups and prints the results.
pub fn run(args: Args) -> Outcome {
    let source = args.database.source()?;
    let finding = database::wait(measure(&source, &args))??;
    args.style.print(&finding)?;
    Ok(ExitCode::SUCCESS)
}

async fn measure(source: &DatabaseSource, args: &Args) -> Result<Lookup, BoxError> {
    let manifest = database::manifest::<PositionEval>(source).await?;
    let mut positions = match (&args.games, &args.fens) {
        (Some(games), _) => args.games(games)?,
        (_, Some(fens)) => parse(fens)?,
        _ => sample(source, &manifest, args.count as usize).await?,
    };
    positions.truncate(args.count as usize);
    if positions.is_empty() {
        let file = args
            .games
            .as_ref()
            .or(args.fens.as_ref())
            .map_or("the database".into(), |file| file.display().to_string());
        return Err(format!("{file}: no position to look up").into());
    }
    let [
        mut open,
        mut cold,
        mut warm,
        mut cold_baseline,
        mut warm_baseline,
    ] = [const { Vec::new() }; 5];
    let mut records: HashMap<Position, PositionEval> = HashMap::new();
    for position in &positions {
        let started = Instant::now();
        let reader = source
            .clone()
            .reader::<PositionEval, _>(Options::default(), NoCache)
            .await?;
        open.push(microseconds(started));
        let started = Instant::now();
        let found = black_box(reader.lookup(position).await?);
        cold.push(microseconds(started));
        let started = Instant::now();
        for _ in 0..REPETITIONS {
            black_box(reader.lookup(black_box(position)).await?);
        }
        warm.push(microseconds(started) / f64::from(REPETITIONS));
        if let Some(at) = block_of(source, &manifest, position).await? {
            cold_baseline.push(decompress(source, &manifest, position, &at).await?);
        }
        records.extend(found.map(|record| (position.clone(), record)));
    }
    for position in &positions {
        let started = Instant::now();
        for _ in 0..REPETITIONS {
            black_box(records.get(black_box(position)).cloned());
        }
        warm_baseline.push(microseconds(started) / f64::from(REPETITIONS));
    }
    let hits = positions
        .iter()
        .filter(|position| records.contains_key(position))
        .count();
    let [open, cold, cold_baseline, warm, warm_baseline] =
        [open, cold, cold_baseline, warm, warm_baseline].map(Summary::of);
    Ok(Lookup {
        positions: positions.len(),
        hits,
        open,
        cold,
        cold_baseline,
        warm,
        warm_baseline,
    })
}

fn microseconds(started: Instant) -> f64 {
    started.elapsed().as_secs_f64() * 1e6
}

impl Args {
    fn games(&self, path: &Path) -> std::io::Result<Vec<Position>> {
        let games = GamesArgs {
            games: path.to_owned(),
            sample: self.sample.clone(),
        }
        .read()?;
        Ok(games.games.into_iter().flatten().collect())
    }
}

/// Reads the positions of a file with one FEN per line.
fn parse(path: &Path) -> Result<Vec<Position>, BoxError> {
    let text = fs::read_to_string(path).map_err(named(&path.display()))?;
    let lines = (1..)
        .zip(text.lines())
        .filter(|(_, line)| !line.trim().is_empty());
    let positions = lines.map(|(n, line)| {
        line.trim()
            .parse()
            .map_err(|error| format!("{}, line {n}: {error}", path.display()))
    });
    Ok(positions.collect::<Result<_, _>>()?)
}

/// Returns positions from evenly spaced blocks, and evenly spaced positions of each block.
async fn sample(
    source: &DatabaseSource,
    manifest: &Manifest,
    count: usize,
) -> Result<Vec<Position>, BoxError> {
    let mut blocks: Vec<Chunk> = Vec::new();
    for at in manifest.pages() {
        let bytes = source.range(&at.file, at.range.clone()).await?;
        blocks.extend(Page::parse(&bytes, &at)?.blocks());
    }
    let each = count.div_ceil(blocks.len().max(1));
    let some = count.div_ceil(each);
    let mut positions = Vec::new();
    for at in (0..some).map(|n| &blocks[n * blocks.len() / some]) {
        let bytes = source.range(&at.file, at.range.clone()).await?;
        let block = Block::<PositionEval>::open(&bytes, at)?;
        let step = (block.len() / each).max(1);
        for position in block.positions().skip(step / 2).step_by(step).take(each) {
            positions.push(position?);
        }
    }
    Ok(positions)
}

/// Returns the block that can contain a position.
async fn block_of(
    source: &DatabaseSource,
    manifest: &Manifest,
    position: &Position,
) -> Result<Option<Chunk>, BoxError> {
    let key = position.key();
    let Some(at) = manifest.page_of(&key) else {
        return Ok(None);
    };
    let bytes = source.range(&at.file, at.range.clone()).await?;
    Ok(Page::parse(&bytes, &at)?.block_of(&key))
}

/// Measures reading and decompressing the page and the block of a position, in microseconds.
async fn decompress(
    source: &DatabaseSource,
    manifest: &Manifest,
    position: &Position,
    block: &Chunk,
) -> Result<f64, BoxError> {
    let started = Instant::now();
    for chunk in manifest.page_of(&position.key()).iter().chain([block]) {
        let bytes = source.range(&chunk.file, chunk.range.clone()).await?;
        black_box(zstd::decode_all(chunk.unseal(&bytes)?)?);
    }
    Ok(microseconds(started))
}

impl Finding for Lookup {
    fn report(&self) -> Report {
        let mut report = Report::default();
        let (positions, hits) = (
            HumanCount(self.positions as u64),
            HumanCount(self.hits as u64),
        );
        report.notes.push(format!(
            "{positions} positions, {hits} of them in the database"
        ));
        let columns = SUMMARY_COLUMNS.into_iter().chain(["× baseline"]);
        let mut table = Table::new("microseconds", columns);
        let mut row = |name: &str, summary: &Summary, baseline: Option<&Summary>| {
            let ratio = baseline.map_or_else(String::new, |baseline| {
                figure(summary.median / baseline.median)
            });
            table.row(name, summary_cells(summary).into_iter().chain([ratio]));
        };
        row("open a reader", &self.open, None);
        row(
            "cold: page and block from files",
            &self.cold,
            Some(&self.cold_baseline),
        );
        row(
            "baseline: read and decompress the same",
            &self.cold_baseline,
            None,
        );
        row(
            "warm: page and block in memory",
            &self.warm,
            Some(&self.warm_baseline),
        );
        row("baseline: hash map of records", &self.warm_baseline, None);
        report.tables.push(table);
        report.notes.push("ratios compare medians".to_owned());
        report
    }
}
