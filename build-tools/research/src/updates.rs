//! `research updates`: the bytes that updates of a database upload, and the requests of a game afterwards.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{BufRead as _, BufReader, BufWriter, Read, Write as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

use serde::Serialize;
use shelfish_cli::Outcome;
use shelfish_cli::commands::bench::{QUANTITIES, Sample, measure};
use shelfish_cli::database;
use shelfish_cli::evaluations::{self, Options};
use shelfish_cli::input::Input;

use crate::report::{Finding, Report, Style, Table, figure};

/// Build a database of the beginning of a dump, update it with the rest, and measure uploads and the requests of a game.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:
  cargo run --release -p shelfish-research -- updates evals.jsonl.zst --games games.pgn.zst --every 500
  cargo run --release -p shelfish-research -- updates evals.jsonl.zst --games games.pgn.zst --every 500 --share 3 --markdown

The dump must be in the order of games, so that its end has the positions of the last games. The requests are those of games that
are looked up at once by a new reader, in the updated database and in a database that was built at once.")]
pub struct Args {
    /// Dump of evaluations, plain or compressed with zstd
    dump: PathBuf,
    /// Share of the positions of an update, in percent
    #[arg(long, value_name = "PERCENT", default_value_t = 0.13)]
    share: f64,
    /// Number of updates
    #[arg(long, value_name = "N", default_value_t = 12)]
    updates: usize,
    /// Approximate size of a shard in bytes
    #[arg(long, value_name = "BYTES", default_value_t = 2 << 20)]
    shard_bytes: u64,
    #[command(flatten)]
    games: Sample,
    #[command(flatten)]
    style: Style,
}

/// Files of a database by name, with their sizes.
type Files = BTreeMap<String, u64>;

/// Measurements of an update.
#[derive(Debug, Serialize)]
struct Update {
    /// Size of new files and the manifest, in bytes.
    upload_bytes: u64,
    /// Size of all files before the update, in bytes.
    bytes_before: u64,
    /// Size of all files after the update, in bytes.
    bytes: u64,
    blocks: u64,
    blocks_kept: u64,
    seconds: f64,
}

#[derive(Debug, Serialize)]
struct Updates {
    share: f64,
    updates: Vec<Update>,
    /// Duration of a build of all positions at once, in seconds.
    full_seconds: f64,
    games: usize,
    /// Means of a game, in the order of [`QUANTITIES`].
    updated: [f64; QUANTITIES.len()],
    full: [f64; QUANTITIES.len()],
}

/// Builds, updates and measures databases, and prints the results.
pub fn run(args: &Args) -> Outcome {
    let dir = tempfile::tempdir()?;
    let lines = open(&args.dump)?
        .lines()
        .try_fold(0usize, |count, line| line.map(|_| count + 1))?;
    let size = ((lines as f64 * args.share / 100.0) as usize).max(1);
    let first = lines
        .checked_sub(args.updates * size)
        .filter(|first| *first > 0);
    let first =
        first.ok_or_else(|| format!("{} lines are too few for {} updates", lines, args.updates))?;
    let mut input = open(&args.dump)?;
    let mut part = |name: String, count: usize| -> std::io::Result<Input> {
        let path = dir.path().join(name);
        let mut out = BufWriter::new(File::create(&path)?);
        let mut line = Vec::new();
        for _ in 0..count {
            line.clear();
            input.read_until(b'\n', &mut line)?;
            out.write_all(&line)?;
        }
        out.flush()?;
        Ok(Input::File(path))
    };
    let db = dir.path().join("db");
    let options = |inputs: Vec<Input>, out: &Path| {
        let mut options = Options::new(inputs, out);
        options.table.shard_bytes = args.shard_bytes;
        options
    };
    evaluations::build(&options(vec![part("base".to_owned(), first)?], &db))?;
    let mut updates = Vec::new();
    for n in 0..args.updates {
        let before = files(&db)?;
        let mut options = options(vec![part(format!("update-{n}"), size)?], &db);
        options.table.bases = vec![database::Args::of(&db.to_string_lossy())];
        options.table.update = true;
        let started = Instant::now();
        let summary = evaluations::build(&options)?;
        let seconds = started.elapsed().as_secs_f64();
        let after = files(&db)?;
        let is_new =
            |(name, _): &(&String, &u64)| !before.contains_key(*name) || !name.ends_with(".silo");
        updates.push(Update {
            upload_bytes: after.iter().filter(is_new).map(|(_, bytes)| bytes).sum(),
            bytes_before: before.values().sum(),
            bytes: after.values().sum(),
            blocks: summary.files.blocks,
            blocks_kept: summary.files.blocks_kept,
            seconds,
        });
    }
    let full = dir.path().join("full");
    let started = Instant::now();
    evaluations::build(&options(vec![Input::File(args.dump.clone())], &full))?;
    let full_seconds = started.elapsed().as_secs_f64();
    let games = args.games.read()?;
    let measured = |db: &Path| {
        let source = database::Args::of(&db.to_string_lossy()).source()?;
        database::wait(measure(&source, &games, false))?
    };
    let (updated, full) = (measured(&db)?, measured(&full)?);
    args.style.print(&Updates {
        share: args.share,
        updates,
        full_seconds,
        games: games.len(),
        updated,
        full,
    })?;
    Ok(ExitCode::SUCCESS)
}

fn open(path: &Path) -> std::io::Result<BufReader<Box<dyn Read>>> {
    let file = File::open(path)?;
    let is_zstd = path.extension().is_some_and(|extension| extension == "zst");
    Ok(BufReader::new(if is_zstd {
        Box::new(zstd::Decoder::new(file)?)
    } else {
        Box::new(file)
    }))
}

fn files(db: &Path) -> std::io::Result<Files> {
    let entry = |entry: std::io::Result<fs::DirEntry>| {
        let entry = entry?;
        Ok((
            entry.file_name().to_string_lossy().into_owned(),
            entry.metadata()?.len(),
        ))
    };
    fs::read_dir(db)?.map(entry).collect()
}

impl Finding for Updates {
    fn report(&self) -> Report {
        let mut report = Report::default();
        report.notes.push(format!(
            "updates of {} % of the positions; a build at once takes {:.1} s",
            self.share, self.full_seconds
        ));
        report.notes.push(format!("{} games", self.games));
        let columns = [
            "upload, kB",
            "% of all files",
            "all files, kB",
            "blocks kept",
            "% of a build's time",
        ];
        let mut table = Table::new("update", columns.map(str::to_owned).to_vec());
        for (n, update) in self.updates.iter().enumerate() {
            let kilobytes = |bytes: u64| figure(bytes as f64 / 1e3);
            table.row(
                (n + 1).to_string(),
                [
                    kilobytes(update.upload_bytes),
                    format!(
                        "{:.1}",
                        100.0 * update.upload_bytes as f64 / update.bytes_before as f64
                    ),
                    kilobytes(update.bytes),
                    format!("{} of {}", update.blocks_kept, update.blocks),
                    figure(100.0 * update.seconds / self.full_seconds),
                ],
            );
        }
        report.tables.push(table);
        let mut table = Table::new(
            "a game, means",
            vec!["updated".to_owned(), "built at once".to_owned()],
        );
        for (n, name) in QUANTITIES.into_iter().enumerate() {
            table.row(name, [self.updated[n], self.full[n]].map(figure));
        }
        report.tables.push(table);
        report
    }
}
