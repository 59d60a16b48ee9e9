//! `cargo xtask bench-page`: what a visitor of the site waits for who has nothing cached.

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
    /// The evaluation dump whose database a game is looked up in; without it the sample alone is measured
    #[arg(long, value_name = "FILE", default_value = "../shared/data/evals-tcec.jsonl.zst")]
    evals: PathBuf,
    /// The games to open
    #[arg(long, value_name = "FILE", default_value = "../shared/data/games.pgn.zst")]
    games: PathBuf,
    /// How many visits
    #[arg(long, default_value_t = 15)]
    rounds: usize,
    #[command(flatten)]
    network: Network,
}

/// Measures, and prints a table in Markdown.
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
        say("NOT MEASURED: a game, for --evals or --games is not there");
    }
    call(bench.env("CHROMIUM", chromium).env("SHELFISH", program("shelfish")).env("SHELFISH_SITE", site))
}
