//! `cargo xtask bench-explorer`: what an answer of the opening explorer costs in a browser, on two large databases.

use std::path::PathBuf;

use anyhow::Result;

use crate::{
    bench_web,
    network::Network,
    npm,
    shell::{call, command, program, root, say, target_dir},
    site, tools,
};

/// Options of `cargo xtask bench-explorer`.
#[derive(clap::Args)]
pub struct Args {
    /// The games to build the book from and to draw positions from
    #[arg(long, value_name = "FILE", default_value = "../shared/data/games.pgn.zst")]
    games: PathBuf,
    /// The evaluation dump to build the database from
    #[arg(long, value_name = "FILE", default_value = "../shared/data/evals-tcec.jsonl.zst")]
    evals: PathBuf,
    /// How many positions
    #[arg(long, default_value_t = 40)]
    count: usize,
    #[command(flatten)]
    network: Network,
}

/// Measures, and prints a table in Markdown; skips, and says so, without the data.
pub fn run(args: &Args) -> Result<()> {
    let (games, evals) = (root().join(&args.games), root().join(&args.evals));
    if let Some(missing) = [&games, &evals].into_iter().find(|path| !path.is_file()) {
        say(format!("NOT MEASURED: {} is not there; --games and --evals name other files", missing.display()));
        return Ok(());
    }
    let chromium = tools::chromium()?;
    npm::build()?;
    tools::npm_ci("tests")?;
    site::cli()?;
    let book = bench_web::built(&games, target_dir().join("bench/book"))?;
    let db = bench_web::database(&evals)?;
    say("Measuring");
    let mut bench = command(tools::node()?);
    bench
        .arg("tests/browser/bench-explorer.mjs")
        .arg("--book")
        .arg(book)
        .arg("--evals")
        .arg(db)
        .arg("--games")
        .arg(games);
    bench.args(["--count", &args.count.to_string()]).args(args.network.options());
    call(bench.env("CHROMIUM", chromium).env("SHELFISH", program("shelfish")))
}
