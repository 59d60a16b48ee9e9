//! Benchmarks in a headless Chromium over an emulated network, and the cost of hostile data.

pub mod peers;

use std::{
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Result, bail};

use crate::{
    databases, npm,
    shell::{call, command, program, programs, root, say, target_dir},
    site,
    stamp::Stamp,
    tools,
};

const GAMES: &str = "../shared/data/games.pgn.zst";
const EVALS: &str = "../shared/data/evals-tcec.jsonl.zst";

/// Options of `bench-engine`, `bench-page` and `bench-web`.
#[derive(clap::Args)]
pub struct Args {
    /// Evaluation dump to build the database from and to take positions from
    #[arg(long, value_name = "FILE", default_value = EVALS)]
    evals: PathBuf,
    /// File of games
    #[arg(long, value_name = "FILE", default_value = GAMES)]
    games: PathBuf,
    /// Number of visits, or of positions and of games [default: 15 visits, 100 positions]
    #[arg(long, alias = "rounds")]
    count: Option<usize>,
    #[command(flatten)]
    network: Network,
}

/// The emulated network.
#[derive(clap::Args)]
pub struct Network {
    /// Latency of every request, in milliseconds
    #[arg(long, default_value_t = 50)]
    latency_ms: u32,
    /// Bandwidth in Mbit/s
    #[arg(long, default_value_t = 20.0)]
    bandwidth_mbit: f64,
}

impl Network {
    /// Returns the options of the scripts in JavaScript.
    fn options(&self) -> [String; 4] {
        let (latency, mbit) = (self.latency_ms, self.bandwidth_mbit);
        [
            "--latency".into(),
            latency.to_string(),
            "--mbit".into(),
            mbit.to_string(),
        ]
    }
}

/// Measures the engine in a browser and as a native program. Prints a table in Markdown.
pub fn engine(args: &Args) -> Result<()> {
    let mut bench = on_site("bench-engine", args)?;
    let games = root().join(&args.games);
    if games.is_file() {
        bench.arg("--games").arg(games);
    } else {
        say("NOT MEASURED: the analysis of a game, because the file of --games does not exist");
    }
    call(&mut bench)
}

/// Measures how long a visitor of the site waits on a first visit. Prints a table in Markdown.
pub fn page(args: &Args) -> Result<()> {
    let mut bench = on_site("bench-page", args)?;
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
pub fn web(args: &Args) -> Result<()> {
    let (evals, games) = (root().join(&args.evals), root().join(&args.games));
    if let Some(missing) = [&evals, &games].into_iter().find(|path| !path.is_file()) {
        bail!(
            "{} does not exist; name other files with --evals and --games",
            missing.display()
        );
    }
    npm::build()?;
    databases::cli()?;
    let mut bench = measuring("bench", &args.network)?;
    bench
        .arg("--db")
        .arg(database(&evals)?)
        .arg("--evals")
        .arg(evals)
        .arg("--games")
        .arg(games);
    call(bench.args(["--count", &args.count.unwrap_or(100).to_string()]))?;
    let mut cost = command(tools::node()?);
    call(
        cost.arg("tests/npm/game-cost.mjs")
            .env("SHELFISH", program("shelfish")),
    )
}

/// Measures the cost of hostile blocks and manifests for a reader, natively and in WebAssembly. Prints two tables in Markdown.
pub fn attack() -> Result<()> {
    npm::build()?;
    tools::npm_ci("tests")?;
    programs(&["shelfish-attack"])?;
    let attacks = target_dir().join("attacks");
    if attacks.exists() {
        std::fs::remove_dir_all(&attacks)?;
    }
    call(command(program("attack")).arg("write").arg(&attacks))?;
    call(command(program("attack")).arg("measure"))?;
    call(
        command(tools::node()?)
            .arg("tests/npm/attack-cost.mjs")
            .arg(&attacks),
    )
}

/// Returns the command of a benchmark of the site with the sample database.
fn on_site(script: &str, args: &Args) -> Result<Command> {
    // Before the site, which builds the program without optimisation unless a release is there.
    databases::cli()?;
    let site = site::sample()?;
    let mut bench = measuring(script, &args.network)?;
    bench.args(["--rounds", &args.count.unwrap_or(15).to_string()]);
    bench.env("SHELFISH_SITE", site);
    Ok(bench)
}

fn measuring(script: &str, network: &Network) -> Result<Command> {
    tools::npm_ci("tests")?;
    let mut bench = command(tools::node()?);
    bench
        .arg(format!("tests/browser/{script}.mjs"))
        .args(network.options());
    bench
        .env("CHROMIUM", tools::chromium()?)
        .env("SHELFISH", program("shelfish"));
    Ok(bench)
}

/// Builds the database of a dump once.
fn database(evals: &Path) -> Result<PathBuf> {
    let (shelfish, database) = (program("shelfish"), target_dir().join("bench/db"));
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
