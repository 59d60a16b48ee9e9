//! Benchmarks in a headless Chromium over an emulated network.

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Result, bail};

use crate::{
    npm,
    shell::{call, command, program, programs, root, say, target_dir},
    site::{self, build_database},
    stamp, tools,
};

/// Dumps and games next to the repository, and those of the repository.
const LARGE: (&[&str], &str) = (
    &["../shared/data/evals-tcec.jsonl.zst"],
    "../shared/data/games.pgn.zst",
);
const SMALL: (&[&str], &str) = (
    &[
        "static-shards/sample.jsonl.zst",
        "static-shards/famous.jsonl.zst",
    ],
    "static-shards/famous.pgn",
);

/// Options of the benchmarks.
#[derive(clap::Args)]
pub struct Args {
    /// Evaluation dumps to build the databases from; positions are taken from the first dump
    #[arg(long, value_name = "FILE")]
    evals: Vec<PathBuf>,
    /// File of games
    #[arg(long, value_name = "FILE")]
    games: Option<PathBuf>,
    /// Number of visits, or of positions and of games [default: 15 visits, 100 positions, 30 positions of peers]
    #[arg(long, aliases = ["rounds", "positions"])]
    count: Option<usize>,
    /// Latency of every request, in milliseconds
    #[arg(long, default_value_t = 50)]
    latency_ms: u32,
    /// Bandwidth in Mbit/s
    #[arg(long, default_value_t = 20.0)]
    bandwidth_mbit: f64,
    /// Versions of HTTP to measure with, each in a run of its own
    #[arg(long, value_delimiter = ',', default_value = "1.1,2", value_parser = ["1.1", "2"])]
    http: Vec<String>,
}

impl Args {
    /// Returns the files of the options, else the default files.
    fn files(&self) -> Result<(Vec<PathBuf>, PathBuf)> {
        let (evals, games) = match root().join(LARGE.1).is_file() {
            true => LARGE,
            false => SMALL,
        };
        say(format!(
            "The default files are {} and {games}",
            evals.join(" ")
        ));
        let mut dumps: Vec<PathBuf> = self.evals.iter().map(|path| root().join(path)).collect();
        if dumps.is_empty() {
            dumps.extend(evals.iter().map(|path| root().join(path)));
        }
        let games = root().join(self.games.as_deref().unwrap_or(Path::new(games)));
        if let Some(missing) = dumps.iter().chain([&games]).find(|path| !path.is_file()) {
            bail!("{} does not exist", missing.display());
        }
        Ok((dumps, games))
    }

    /// Returns the command of a script with the options of the network and the number of its measurements.
    fn script(&self, path: &str, count: usize) -> Result<Command> {
        tools::npm_ci("tests")?;
        let mut bench = command(tools::node()?);
        bench
            .arg(path)
            .args(["--latency", &self.latency_ms.to_string()])
            .args(["--mbit", &self.bandwidth_mbit.to_string()])
            .args(["--count", &self.count.unwrap_or(count).to_string()]);
        bench
            .env("CHROMIUM", tools::chromium()?)
            .env("SHELFISH", program("shelfish"));
        Ok(bench)
    }

    /// Runs a script with each version of HTTP.
    fn run(&self, bench: &mut Command) -> Result<()> {
        let mut versions = self.http.iter();
        versions.try_for_each(|version| call(bench.args(["--http", version])))
    }

    /// Returns the command of a benchmark of the site with the sample database.
    fn on_site(&self, path: &str) -> Result<Command> {
        // Before the site, which builds the program without optimisation unless a release is there.
        programs(&["shelfish-cli"])?;
        let site = site::sample()?;
        let mut bench = self.script(path, 15)?;
        bench.env("SHELFISH_SITE", site);
        Ok(bench)
    }
}

/// Measures the engine in a browser and as a native program. Prints a table in Markdown.
pub fn engine(args: &Args) -> Result<()> {
    let mut bench = args.on_site("tests/browser/bench-engine.mjs")?;
    call(bench.arg("--games").arg(args.files()?.1))
}

/// Measures how long a visitor of the site waits on a first visit. Prints a table in Markdown.
pub fn page(args: &Args) -> Result<()> {
    let mut bench = args.on_site("tests/browser/bench-page.mjs")?;
    let (evals, games) = args.files()?;
    bench.arg("--db").arg(database(&evals)?);
    args.run(bench.arg("--games").arg(games))
}

/// Measures lookups in a large database and for real games. Prints a table in Markdown.
pub fn web(args: &Args) -> Result<()> {
    let (evals, games) = args.files()?;
    npm::build()?;
    programs(&["shelfish-cli"])?;
    let mut bench = args.script("tests/browser/bench.mjs", 100)?;
    bench.arg("--db").arg(database(&evals)?);
    bench.arg("--evals").arg(&evals[0]);
    args.run(bench.arg("--games").arg(games))
}

/// Compares this product with other ways to answer from static files, which read files in their own formats. Every answer is compared
/// with the dump: a wrong answer fails the run. Prints a table in Markdown, and stores it and all figures next to the databases.
pub fn peers(args: &Args) -> Result<()> {
    let (evals, games) = args.files()?;
    npm::build()?;
    tools::npm_ci("tests/peers")?;
    programs(&["shelfish-cli"])?;
    let mut bench = args.script("tests/peers/bench.mjs", 30)?;
    let files = target_dir().join("bench-peers");
    let scripts = ["files.mjs", "dump.mjs", "package-lock.json"]
        .map(|name| root().join("tests/peers").join(name));
    stamp::make(
        &files.join("made.json"),
        &[&evals[..], &scripts].concat(),
        || {
            say("Building the files of the peers (once, takes minutes)");
            fs::create_dir_all(&files)?;
            let mut build = command(tools::node()?);
            // Node sorts all rows in memory.
            build.args([
                "--max-old-space-size=6000",
                "tests/peers/files.mjs",
                "--out",
            ]);
            call(build.arg(&files).args(&evals))
        },
    )?;
    let tiny = vec![files.join("tiny/tiny.jsonl")];
    for (size, dumps) in [("big", &evals), ("tiny", &tiny)] {
        let folder = files.join(size).join("shelfish");
        let inputs = [&dumps[..], &[program("shelfish")]].concat();
        stamp::make(&folder, &inputs, || build_database(dumps, &folder))?;
    }
    let typed: Vec<String> = env::args().skip(1).collect();
    bench
        .args(["--command", &format!("cargo xtask {}", typed.join(" "))])
        .arg("--files")
        .arg(&files)
        .arg("--games")
        .arg(games)
        .args(evals);
    args.run(&mut bench)
}

/// Builds the database of dumps once.
fn database(evals: &[PathBuf]) -> Result<PathBuf> {
    let folder = target_dir().join("bench/db");
    let inputs = [evals, &[program("shelfish")]].concat();
    stamp::make(&folder, &inputs, || build_database(evals, &folder))?;
    Ok(folder)
}
