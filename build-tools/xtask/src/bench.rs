//! Benchmarks in a headless Chromium over an emulated network.

pub mod api;
pub mod attack;
mod network;
pub mod parts;
pub mod peers;
mod process;
pub mod scale;

use std::{
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Result, bail};

use crate::{
    databases, npm,
    shell::{call, command, program, root, say, target_dir},
    site,
    stamp::Stamp,
    tools,
};
use network::Network;

const GAMES: &str = "../shared/data/games.pgn.zst";
const EVALS: &str = "../shared/data/evals-tcec.jsonl.zst";

/// Options of `cargo xtask bench-engine`.
#[derive(clap::Args)]
pub struct EngineArgs {
    /// File of games. The command analyses a game of 80 plies
    #[arg(long, value_name = "FILE", default_value = GAMES)]
    games: PathBuf,
    /// Number of visits
    #[arg(long, default_value_t = 15)]
    rounds: usize,
    #[command(flatten)]
    network: Network,
}

/// Options of `cargo xtask bench-explorer`.
#[derive(clap::Args)]
pub struct ExplorerArgs {
    /// Games to build the book from and to take positions from
    #[arg(long, value_name = "FILE", default_value = GAMES)]
    games: PathBuf,
    /// Evaluation dump to build the database from
    #[arg(long, value_name = "FILE", default_value = EVALS)]
    evals: PathBuf,
    /// Number of positions
    #[arg(long, default_value_t = 40)]
    count: usize,
    #[command(flatten)]
    network: Network,
}

/// Options of `cargo xtask bench-page`.
#[derive(clap::Args)]
pub struct PageArgs {
    /// Evaluation dump for the database in which a game is looked up; if it does not exist, only the sample is measured
    #[arg(long, value_name = "FILE", default_value = EVALS)]
    evals: PathBuf,
    /// Games to open
    #[arg(long, value_name = "FILE", default_value = GAMES)]
    games: PathBuf,
    /// Number of visits
    #[arg(long, default_value_t = 15)]
    rounds: usize,
    #[command(flatten)]
    network: Network,
}

/// Options of `cargo xtask bench-web`.
#[derive(clap::Args)]
pub struct WebArgs {
    /// Evaluation dump to build the database from and to take positions from
    #[arg(long, value_name = "FILE", default_value = EVALS)]
    evals: PathBuf,
    /// Games to replay
    #[arg(long, value_name = "FILE", default_value = GAMES)]
    games: PathBuf,
    /// Database to measure, instead of a database built from the dump
    #[arg(long, value_name = "DIR")]
    db: Option<PathBuf>,
    /// Number of positions, and number of games
    #[arg(long, default_value_t = 100)]
    count: usize,
    #[command(flatten)]
    network: Network,
}

/// Measures the engine in a browser and as a native program. Prints a table in Markdown.
pub fn engine(args: &EngineArgs) -> Result<()> {
    let mut bench = on_site("bench-engine", &args.network)?;
    bench.args(["--rounds", &args.rounds.to_string()]);
    let games = root().join(&args.games);
    if games.is_file() {
        bench.arg("--games").arg(games);
    } else {
        say("NOT MEASURED: the analysis of a game, because the file of --games does not exist");
    }
    call(&mut bench)
}

/// Measures answers of the opening explorer from two large databases. Prints a table in Markdown.
pub fn explorer(args: &ExplorerArgs) -> Result<()> {
    let [games, evals] = existing([&args.games, &args.evals])?;
    let mut bench = on_package("bench-explorer", &args.network)?;
    let book = built(&games, target_dir().join("bench/book"))?;
    bench
        .arg("--book")
        .arg(book)
        .arg("--evals")
        .arg(database(&evals)?)
        .arg("--games")
        .arg(games);
    call(bench.args(["--count", &args.count.to_string()]))
}

/// Measures how long a visitor of the site waits on a first visit. Prints a table in Markdown.
pub fn page(args: &PageArgs) -> Result<()> {
    let mut bench = on_site("bench-page", &args.network)?;
    bench.args(["--rounds", &args.rounds.to_string()]);
    let (evals, games) = (root().join(&args.evals), root().join(&args.games));
    if evals.is_file() && games.is_file() {
        bench
            .arg("--db")
            .arg(database(&evals)?)
            .arg("--games")
            .arg(games);
    } else {
        say(
            "NOT MEASURED: the lookup of a game, because a file of --evals or --games does not exist",
        );
    }
    call(&mut bench)
}

/// Measures lookups in a large database and for real games. Prints a table in Markdown.
pub fn web(args: &WebArgs) -> Result<()> {
    let [evals, games] = existing([&args.evals, &args.games])?;
    let mut bench = on_package("bench", &args.network)?;
    let db = args
        .db
        .as_ref()
        .map_or_else(|| database(&evals), |db| Ok(root().join(db)))?;
    bench
        .arg("--db")
        .arg(db)
        .arg("--evals")
        .arg(evals)
        .arg("--games")
        .arg(games);
    call(bench.args(["--count", &args.count.to_string()]))?;
    call(
        command(tools::node()?)
            .arg("tests/npm/game-cost.mjs")
            .env("SHELFISH", program("shelfish")),
    )
}

/// Returns the command of a benchmark of the site with the sample database.
fn on_site(script: &str, network: &Network) -> Result<Command> {
    let site = site::sample(&site::default_out())?;
    let mut bench = measuring(script, network)?;
    bench.env("SHELFISH_SITE", site);
    Ok(bench)
}

/// Returns the command of a benchmark of the npm package.
fn on_package(script: &str, network: &Network) -> Result<Command> {
    npm::build()?;
    databases::cli()?;
    measuring(script, network)
}

fn measuring(script: &str, network: &Network) -> Result<Command> {
    let chromium = tools::chromium()?;
    tools::npm_ci("tests")?;
    let mut bench = command(tools::node()?);
    bench
        .arg(format!("tests/browser/{script}.mjs"))
        .args(network.options());
    bench
        .env("CHROMIUM", chromium)
        .env("SHELFISH", program("shelfish"));
    Ok(bench)
}

/// Returns the paths of files. Fails if a file does not exist.
fn existing<const N: usize>(files: [&PathBuf; N]) -> Result<[PathBuf; N]> {
    let files = files.map(|file| root().join(file));
    if let Some(missing) = files.iter().find(|path| !path.is_file()) {
        bail!(
            "{} does not exist; name other files with --evals and --games",
            missing.display()
        );
    }
    Ok(files)
}

/// Returns the database of a dump to measure.
fn database(evals: &Path) -> Result<PathBuf> {
    built(evals, target_dir().join("bench").join("db"))
}

/// Builds the database of a dump once.
pub fn built(evals: &Path, database: PathBuf) -> Result<PathBuf> {
    let shelfish = program("shelfish");
    let stamp = Stamp::new("bench", &database, &[evals.to_path_buf(), shelfish.clone()])?;
    if !(stamp.fresh() && database.join("manifest.json").is_file()) {
        say(format!("Building a database of {}", evals.display()));
        std::fs::create_dir_all(&database)?;
        call(
            command(shelfish)
                .arg("build")
                .arg(evals)
                .arg("-o")
                .arg(&database),
        )?;
        stamp.set()?;
    }
    Ok(database)
}
