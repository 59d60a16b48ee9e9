//! `cargo xtask bench-engine`: measures the engine in a browser and as a native program.

use std::path::PathBuf;

use anyhow::Result;

use crate::{
    network::Network,
    shell::{call, command, program, root, say},
    site, tools,
};

/// Options of `cargo xtask bench-engine`.
#[derive(clap::Args)]
pub struct Args {
    /// File of games, of which one game of 80 plies is analysed
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
    let games = root().join(&args.games);
    let mut bench = command(tools::node()?);
    bench.arg("tests/browser/bench-engine.mjs").args(["--rounds", &args.rounds.to_string()]);
    bench.args(args.network.options());
    if games.is_file() {
        bench.arg("--games").arg(games);
    } else {
        say("NOT MEASURED: the analysis of a game, because the file of --games does not exist");
    }
    call(bench.env("CHROMIUM", chromium).env("SHELFISH", program("shelfish")).env("SHELFISH_SITE", site))
}
