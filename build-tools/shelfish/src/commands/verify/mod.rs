//! `shelfish verify`: checks of the integrity and the contents of a database.

mod problem;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::fs;
use std::io::{self, Read as _};
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Instant;

use serde::Serialize;
use shelfish::eval::{Evaluation, PositionEval};
use shelfish::played::Played;
use shelfish::position::Key;
use shelfish::source::Source;
use shelfish::source::file::open;
use shelfish::table::{Block, Chunk, Manifest, Record};

use crate::Outcome;
use crate::database::scan::{RawBlock, Scan, ScanError};
use crate::database::{self, DatabaseSource, Kind, OpenError, parse_manifest};
use crate::games::{DetailFacts, InfoError};
use crate::publish::SUPERSEDED;
use crate::system::ordered::{cores, ordered};
use crate::system::output::named;
use crate::terminal::progress::{Progress, Work};
use crate::terminal::report;
use crate::terminal::shown::{counted, shown};

pub use problem::Problem;

/// Check every byte of a database that is in use.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:
  shelfish verify db
  shelfish verify https://example.org/evals --json

The command checks the names of shards against their content, the checksums of the manifest, pages and blocks, the order and
uniqueness of positions, the legality of moves, and all totals. For a book, it also checks buckets, ratings and references
to games.

Exit codes: 0 if no problem was found; 1 otherwise; 2 if the usage is wrong.")]
pub struct Args {
    #[command(flatten)]
    database: database::Args,
    #[command(flatten)]
    output: report::Output,
}

/// Results of a verification.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Report {
    /// Whether there are no problems.
    pub ok: bool,
    /// Number of positions.
    pub positions: u64,
    /// Other totals by name: evaluations and PVs, or moves.
    #[serde(flatten)]
    pub totals: BTreeMap<&'static str, u64>,
    /// Number of blocks.
    pub blocks: u64,
    /// Number of shards in the manifest.
    pub shards: u64,
    /// Size of all blocks, in bytes.
    pub block_bytes: u64,
    /// Problems in the order of the files.
    pub problems: Vec<Problem>,
    /// Duration in seconds.
    pub seconds: f64,
}

/// Verifies a database and prints the results.
///
/// Problems of the database are results, not errors.
pub fn run(args: Args) -> Outcome {
    let report = verify(&args.database.source()?, args.output.quiet)?;
    match report.ok {
        true => args.output.print(&report)?,
        // Problems are errors.
        false => report::print(&report, args.output.json)?,
    }
    Ok(if report.ok {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Report {
            positions,
            totals,
            blocks,
            shards,
            problems,
            seconds,
            ..
        } = self;
        for Problem { file, bytes, what } in problems {
            let (file, text) = (shown(file), shown(what));
            match bytes {
                Some((first, last)) => writeln!(f, "{file} bytes {first}-{last}: {text}")?,
                None => writeln!(f, "{file}: {text}")?,
            }
        }
        write!(f, "{}", counted(*positions, "position"))?;
        for (name, total) in totals {
            let noun = if *name == "pvs" {
                "PV row"
            } else {
                name.trim_end_matches('s')
            };
            write!(f, ", {}", counted(*total, noun))?;
        }
        let verdict = match problems.len() {
            0 => "all is well".to_owned(),
            count => counted(count as u64, "problem"),
        };
        let (blocks, shards) = (counted(*blocks, "block"), counted(*shards, "shard"));
        writeln!(f, " in {blocks} of {shards}, {seconds:.1} s: {verdict}")
    }
}

/// Reads and checks a whole database.
pub fn verify(source: &DatabaseSource, quiet: bool) -> io::Result<Report> {
    let start = Instant::now();
    let mut report = Report::default();
    match database::kind(source)? {
        Kind::Evaluations => verify_as(source, &mut report, quiet, check_evaluations)?,
        Kind::Moves => verify_as(source, &mut report, quiet, check_moves)?,
    }
    report.ok = report.problems.is_empty();
    report.seconds = start.elapsed().as_secs_f64();
    Ok(report)
}

/// Returns the problem of a record that a reader does not find.
type Check<R> = Box<dyn Fn(&R) -> Option<&'static str> + Send + Sync>;

fn check_evaluations(_: &Manifest) -> Result<Check<PositionEval>, InfoError> {
    Ok(Box::new(|eval| {
        (!is_normal(&eval.evaluations)).then_some("its evaluations are not in order")
    }))
}

fn check_moves(manifest: &Manifest) -> Result<Check<Played>, InfoError> {
    let facts = DetailFacts::of(manifest)?;
    Ok(Box::new(move |played| {
        if played.results().is_none() {
            return Some("it has too many games");
        }
        let moves = played.moves.iter().map(|played| &played.details);
        moves
            .chain([&played.ended_details])
            .find_map(|details| facts.contradiction(details))
    }))
}

fn verify_as<R: Record>(
    source: &DatabaseSource,
    report: &mut Report,
    quiet: bool,
    check: fn(&Manifest) -> Result<Check<R>, InfoError>,
) -> io::Result<()> {
    match database::wait(database::manifest::<R>(source))? {
        Ok(manifest) => read_all(source, Arc::new(manifest), report, quiet, check),
        Err(error) => {
            report.problems.push(match error {
                OpenError::Read(error) => Problem::of_read(&error, Manifest::FILE),
                error => Problem::of_file(Manifest::FILE, error),
            });
            Ok(())
        }
    }
}

fn read_all<R: Record>(
    source: &DatabaseSource,
    manifest: Arc<Manifest>,
    report: &mut Report,
    quiet: bool,
    check_of: fn(&Manifest) -> Result<Check<R>, InfoError>,
) -> io::Result<()> {
    let done = Arc::new(AtomicU64::new(0));
    let progress = Progress::start(
        Work::positions("verifying", &done, Some(manifest.positions)),
        quiet,
    );
    report.shards = manifest.shards().len() as u64;
    let problem = match check_of(&manifest) {
        Ok(problem) => problem,
        Err(error) => {
            report
                .problems
                .push(Problem::of_file(Manifest::FILE, error));
            return Ok(());
        }
    };
    let check = move |block: Result<RawBlock, ScanError>| block.map(|block| check(block, &problem));
    let mut last: Option<Key> = None;
    let mut by_shard: BTreeMap<String, u64> = BTreeMap::new();
    for checked in ordered(Scan::new(source.clone(), manifest.clone())?, cores(), check) {
        let checked = match checked {
            Ok(checked) => checked,
            Err(error) => {
                report.problems.push(Problem::of_scan(&error));
                continue;
            }
        };
        report.blocks += 1;
        report.block_bytes += checked.chunk.len() as u64;
        report.positions += checked.positions;
        *by_shard.entry(checked.chunk.file.clone()).or_default() += checked.positions;
        for (name, total) in R::TOTALS.iter().zip(&checked.totals) {
            *report.totals.entry(name).or_default() += total;
        }
        done.fetch_add(checked.positions, Relaxed);
        if let (Some(last), Some(first)) = (&last, &checked.first)
            && last >= first
        {
            report.problems.push(Problem::of_chunk(
                &checked.chunk,
                "its positions are not above those of the block before",
            ));
        }
        last = checked.last.or(last);
        report.problems.extend(checked.problem);
    }
    drop(progress);
    // Totals of a database with unreadable blocks are meaningless.
    if report.problems.is_empty() {
        let totals = report
            .totals
            .iter()
            .map(|(name, found)| (*name, manifest.total(name), *found));
        let totals: Vec<_> = totals
            .chain([("positions", manifest.positions, report.positions)])
            .collect();
        for (name, expected, found) in totals {
            if expected != found {
                let name = if name == "pvs" { "PV rows" } else { name };
                report.problems.push(Problem::of_file(
                    Manifest::FILE,
                    format_args!("the manifest says {expected} {name}, the shards contain {found}"),
                ));
            }
        }
        for shard in manifest.shards() {
            let found = by_shard.get(&shard.file).copied().unwrap_or_default();
            if shard.positions != found {
                let expected = shard.positions;
                report.problems.push(Problem::of_file(
                    &shard.file,
                    format_args!("the manifest says {expected} positions, found {found}"),
                ));
            }
        }
    }
    for shard in manifest.shards() {
        let behind = database::wait(source.range(&shard.file, shard.bytes..shard.bytes + 1))?;
        if behind.is_ok() {
            report.problems.push(Problem::of_file(
                &shard.file,
                format_args!("longer than the {} bytes in the manifest", shard.bytes),
            ));
        }
    }
    // A host does not list its files.
    if source.is_directory() {
        report
            .problems
            .extend(foreign(Path::new(&source.locate("")), &manifest)?);
    }
    Ok(())
}

/// Lists shards that are missing from the manifest, and from the manifests that publications replaced and kept.
fn foreign(dir: &Path, manifest: &Manifest) -> io::Result<Vec<Problem>> {
    let mut problems = Vec::new();
    let past = fs::read_dir(dir.join(SUPERSEDED))
        .into_iter()
        .flatten()
        .flatten();
    let past = past.filter_map(|entry| {
        let mut bytes = Vec::new();
        let file = open(&entry.path()).ok()?;
        file.take(Manifest::MAX_BYTES as u64)
            .read_to_end(&mut bytes)
            .ok()?;
        Some(parse_manifest(&bytes).ok()?.0)
    });
    let mut known = BTreeSet::new();
    for manifest in past.chain([manifest.clone()]) {
        known.extend(manifest.shards().iter().map(|shard| shard.file.clone()));
    }
    let name = dir.display();
    for entry in fs::read_dir(dir).map_err(named(&name))? {
        let file = entry
            .map_err(named(&name))?
            .file_name()
            .to_string_lossy()
            .into_owned();
        if file.ends_with(shelfish::table::SHARD_ENDING) && !known.contains(&file) {
            problems.push(Problem::of_file(
                &file,
                "foreign: the manifest does not name it",
            ));
        }
    }
    problems.sort_by(|a, b| a.file.cmp(&b.file));
    Ok(problems)
}

/// Results for one block.
struct CheckedBlock {
    chunk: Chunk,
    positions: u64,
    /// Totals in the order of [`Record::TOTALS`].
    totals: Vec<u64>,
    first: Option<Key>,
    last: Option<Key>,
    /// First problem. The rest of the block is not checked.
    problem: Option<Problem>,
}

fn check<R: Record>(RawBlock { at, bytes }: RawBlock, problem: &Check<R>) -> CheckedBlock {
    let totals = vec![0; R::TOTALS.len()];
    let mut checked = CheckedBlock {
        chunk: at.clone(),
        positions: 0,
        totals,
        first: None,
        last: None,
        problem: None,
    };
    let mut read = || -> Result<(), Problem> {
        let of_table = |error| Problem::of_table(&error, &at.file);
        let block = Block::<R>::open(&bytes, &at).map_err(of_table)?;
        for record in block.records() {
            let record = record.map_err(of_table)?;
            let (position, key) = (record.position(), record.position().key());
            let is_in_place =
                at.keys.contains(key.as_bytes()) && checked.last.is_none_or(|last| last < key);
            if !is_in_place {
                let what = format_args!("no lookup can find {position} at this source");
                return Err(Problem::of_chunk(&at, what));
            }
            if let Some(contradiction) = problem(&record) {
                let what = format_args!("{position}: {contradiction}");
                return Err(Problem::of_chunk(&at, what));
            }
            checked.first.get_or_insert(key);
            checked.last = Some(key);
            checked.positions += 1;
            record.count(&mut checked.totals);
        }
        Ok(())
    };
    checked.problem = read().err();
    checked
}

fn is_normal(evaluations: &[Evaluation]) -> bool {
    let is_ordered = || {
        let mut normal = evaluations.to_vec();
        PositionEval::normalise(&mut normal);
        normal == evaluations
    };
    let has_pvs = evaluations
        .iter()
        .all(|evaluation| !evaluation.pvs.is_empty());
    !evaluations.is_empty() && has_pvs && (evaluations.len() == 1 || is_ordered())
}
