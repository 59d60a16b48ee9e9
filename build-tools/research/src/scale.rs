//! `research scale`: costs that grow with the size of a database, measured with synthetic positions.

use std::fs::File;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use serde::Serialize;
use shelfish::reader;
use shelfish_cli::Outcome;
use shelfish_cli::commands::bench::games::Games;
use shelfish_cli::commands::bench::report::{Finding, Report, Style, Table, figure};
use shelfish_cli::commands::bench::traffic;
use shelfish_cli::commands::bench::traffic::{Mode, Traffic};
use shelfish_cli::database;
use shelfish_cli::evaluations;
use shelfish_cli::input::Input;

use crate::synthetic::Generator;

/// Build databases of growing sizes from synthetic positions, and measure the requests of a game.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:
  cargo run --release -p shelfish-research -- scale
  cargo run --release -p shelfish-research -- scale --positions 4000000 --apart --markdown

The positions come from synthetic games, which are drawn from the sample of this repository and a seed. The replayed games are
drawn later, so the databases do not contain them. A larger database contains the positions of the smaller databases. See
src/synthetic.rs for the method. Times are computed as in `shelfish bench traffic`.")]
pub struct Args {
    /// Number of positions of each database, ascending
    #[arg(long, value_name = "N,...", value_delimiter = ',', default_values_t = [100_000, 400_000, 1_600_000],
        value_parser = clap::value_parser!(u32).range(1..))]
    positions: Vec<u32>,
    /// Replay N games
    #[arg(long, value_name = "N", default_value_t = 500, value_parser = clap::value_parser!(u32).range(1..))]
    games: u32,
    /// Store the pages of the index outside of the manifest, as in a large database
    #[arg(long)]
    apart: bool,
    /// Seed of the games
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// Draw openings from this dump [default: sample of this repository]
    #[arg(long, value_name = "FILE")]
    sample: Option<PathBuf>,
    #[command(flatten)]
    style: Style,
}

/// Measurements of databases of growing size.
#[derive(Debug, Serialize)]
struct Scale {
    seed: u64,
    databases: Vec<Traffic>,
}

/// Generates games, builds and measures databases, and prints the results.
pub fn run(args: &Args) -> Outcome {
    if !args.positions.is_sorted() {
        return Err("--positions: expected ascending numbers".into());
    }
    let sample = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../static-shards/sample.jsonl.zst");
    let mut generator = Generator::new(args.sample.as_deref().unwrap_or(&sample), args.seed)?;
    let dir = tempfile::tempdir()?;
    // Each dump continues the previous dump.
    let (mut dumps, mut written) = (Vec::new(), 0);
    for (n, &positions) in args.positions.iter().enumerate() {
        let path = dir.path().join(format!("{n}.jsonl.zst"));
        let mut out = zstd::Encoder::new(File::create(&path)?, 1)?;
        generator.write((positions - written) as usize, &mut out)?;
        out.finish()?.flush()?;
        (dumps, written) = ([dumps, vec![Input::File(path)]].concat(), positions);
    }
    let games: Vec<_> = (0..args.games).map(|_| generator.game()).collect();
    let mut databases = Vec::new();
    for n in 1..=dumps.len() {
        let out = dir.path().join("db");
        evaluations::build(&options(&dumps[..n], &out, args.apart))?;
        let place = database::Args::of(&out.to_string_lossy()).source()?;
        let modes = [Mode {
            at_once: true,
            warm: false,
        }];
        let games = Games::of(games.clone());
        let measured = traffic::measure(place, games, &modes, reader::Options::default(), true);
        databases.push(database::wait(measured)??);
        std::fs::remove_dir_all(&out)?;
    }
    args.style.print(&Scale {
        seed: args.seed,
        databases,
    })?;
    Ok(ExitCode::SUCCESS)
}

fn options(sources: &[Input], out: &Path, apart: bool) -> evaluations::Options {
    let mut options = evaluations::Options::new(sources.to_vec(), out);
    if apart {
        options.table.inline_page_bytes = 0;
    }
    options
}

/// Name and value of a row of the table.
type Row = (&'static str, fn(&Traffic) -> String);

const ROWS: [Row; 8] = [
    ("bytes a position", |found| {
        figure(found.database.bytes as f64 / found.database.positions as f64)
    }),
    ("shards; pages, bytes", |found| {
        let traffic::Database {
            shards,
            pages,
            page_bytes,
            ..
        } = found.database;
        format!("{shards}; {pages}, {}", kilobytes(page_bytes as f64))
    }),
    ("manifest, bytes", |found| {
        kilobytes(found.database.manifest_bytes as f64)
    }),
    ("requests for blocks, bytes", |found| {
        requests(found, "requests for blocks", "bytes of blocks")
    }),
    ("requests for pages, bytes", |found| {
        requests(found, "requests for pages", "bytes of pages")
    }),
    ("nothing cached: requests, bytes", |found| {
        requests(found, "requests", "bytes")
    }),
    ("50 ms, 20 Mbit/s: nothing cached, median", |found| {
        milliseconds(found, |time| time.all.median)
    }),
    ("the same, indexes cached", |found| {
        milliseconds(found, |time| time.blocks_only.median)
    }),
];

fn kilobytes(bytes: f64) -> String {
    format!("{} kB", figure(bytes / 1000.0))
}

fn requests(found: &Traffic, requests: &str, bytes: &str) -> String {
    let mean = |name| {
        found.replays[0]
            .games
            .get(name)
            .map_or(0.0, |summary| summary.mean)
    };
    format!("{}, {}", figure(mean(requests)), kilobytes(mean(bytes)))
}

fn milliseconds(found: &Traffic, of: fn(&traffic::Time) -> f64) -> String {
    let mut times = found.replays[0].times.iter();
    let time = times.find(|time| (time.link.round_trip, time.link.mbit) == (50.0, 20.0));
    time.map_or_else(String::new, |time| format!("{} ms", figure(of(time))))
}

impl Finding for Scale {
    fn report(&self) -> Report {
        let mut report = Report::default();
        report
            .notes
            .push(format!("synthetic positions and games, seed {}", self.seed));
        if let Some(Traffic { games, .. }) = self.databases.first() {
            report
                .notes
                .push(format!("{games}, each looked up at once by a new reader"));
            let hits = self
                .databases
                .iter()
                .map(|found| 100.0 * found.replays[0].hits as f64 / games.positions as f64);
            let hits: Vec<String> = hits.map(|share| format!("{share:.1} %")).collect();
            report.notes.push(format!(
                "share of their positions in the databases: {}",
                hits.join(", ")
            ));
        }
        let columns: Vec<String> = self
            .databases
            .iter()
            .map(|found| figure(found.database.positions as f64))
            .collect();
        let mut table = Table::new("a game, means", columns);
        for (name, cell) in ROWS {
            table.row(name, self.databases.iter().map(cell));
        }
        report.tables.push(table);
        report
    }
}
