//! `cargo xtask bench-page`: measures how long a visitor of the site waits on a first visit.

use std::path::PathBuf;

use anyhow::Result;

use crate::{
    bench_web,
    network::Network,
    shell::{call, command, program, root, say},
    site, tools,
};

/// Options of `cargo xtask bench-page`.
#[derive(clap::Args)]
pub struct Args {
    /// Evaluation dump for the database in which a game is looked up; if it does not exist, only the sample is measured
    #[arg(long, value_name = "FILE", default_value = "../shared/data/evals-tcec.jsonl.zst")]
    evals: PathBuf,
    /// Games to open
    #[arg(long, value_name = "FILE", default_value = "../shared/data/games.pgn.zst")]
    games: PathBuf,
    /// Number of visits
    #[arg(long, default_value_t = 15)]
    rounds: usize,
    #[command(flatten)]
    network: Network,
}

/// Measures and prints a table in Markdown.
pub fn run(args: &Args) -> Result<()> {
    let chromium = tools::chromium()?;
    tools::npm_ci("tests")?;
    let site = site::sample(&site::default_out())?;
    let (evals, games) = (root().join(&args.evals), root().join(&args.games));
    let mut bench = command(tools::node()?);
    bench.arg("tests/browser/bench-page.mjs").args(["--rounds", &args.rounds.to_string()]);
    bench.args(args.network.options());
    if evals.is_file() && games.is_file() {
        bench.arg("--db").arg(bench_web::database(&evals)?).arg("--games").arg(games);
    } else {
        say("NOT MEASURED: the lookup of a game, because a file of --evals or --games does not exist");
    }
    call(bench.env("CHROMIUM", chromium).env("SHELFISH", program("shelfish")).env("SHELFISH_SITE", site))
}
