//! `cargo xtask bench-web`: measures lookups in a browser, in a large database and for real games.

use std::path::{Path, PathBuf};

use anyhow::{Result, bail};

use crate::{
    network::Network,
    npm,
    shell::{call, command, program, root, say, target_dir},
    site,
    stamp::Stamp,
    tools,
};

/// Options of `cargo xtask bench-web`.
#[derive(clap::Args)]
pub struct Args {
    /// Evaluation dump to build the database from and to take positions from
    #[arg(long, value_name = "FILE", default_value = "../shared/data/evals-tcec.jsonl.zst")]
    evals: PathBuf,
    /// Games to replay
    #[arg(long, value_name = "FILE", default_value = "../shared/data/games.pgn.zst")]
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

/// Measures and prints a table in Markdown.
pub fn run(args: &Args) -> Result<()> {
    let (evals, games) = (root().join(&args.evals), root().join(&args.games));
    if let Some(missing) = [&evals, &games].into_iter().find(|path| !path.is_file()) {
        bail!("{} does not exist; name other files with --evals and --games", missing.display());
    }
    let chromium = tools::chromium()?;
    npm::build()?;
    tools::npm_ci("tests")?;
    site::cli()?;
    let db = match &args.db {
        Some(db) => root().join(db),
        None => database(&evals)?,
    };
    say("Measuring");
    let mut bench = command(tools::node()?);
    bench.arg("tests/browser/bench.mjs").arg("--db").arg(db).arg("--evals").arg(evals).arg("--games").arg(games);
    bench.args(["--count", &args.count.to_string()]).args(args.network.options());
    call(bench.env("CHROMIUM", chromium).env("SHELFISH", program("shelfish")))?;
    call(command(tools::node()?).arg("tests/npm/game-cost.mjs").env("SHELFISH", program("shelfish")))
}

/// Returns the database of a dump to measure.
pub fn database(evals: &Path) -> Result<PathBuf> {
    built(evals, target_dir().join("bench").join("db"))
}

/// Builds the database of a dump once.
pub fn built(evals: &Path, database: PathBuf) -> Result<PathBuf> {
    let shelfish = program("shelfish");
    let stamp = Stamp::new("bench", &database, &[evals.to_path_buf(), shelfish.clone()])?;
    if !(stamp.fresh() && database.join("manifest.json").is_file()) {
        say(format!("Building a database of {}", evals.display()));
        std::fs::create_dir_all(&database)?;
        call(command(shelfish).arg("build").arg(evals).arg("-o").arg(&database))?;
        stamp.set()?;
    }
    Ok(database)
}
