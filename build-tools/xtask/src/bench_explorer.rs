//! `cargo xtask bench-explorer`: measures answers of the opening explorer in a browser, from two large databases.

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
    /// Games to build the book from and to take positions from
    #[arg(long, value_name = "FILE", default_value = "../shared/data/games.pgn.zst")]
    games: PathBuf,
    /// Evaluation dump to build the database from
    #[arg(long, value_name = "FILE", default_value = "../shared/data/evals-tcec.jsonl.zst")]
    evals: PathBuf,
    /// Number of positions
    #[arg(long, default_value_t = 40)]
    count: usize,
    #[command(flatten)]
    network: Network,
}

/// Measures and prints a table in Markdown. Only prints a remark if the data are missing.
pub fn run(args: &Args) -> Result<()> {
    let (games, evals) = (root().join(&args.games), root().join(&args.evals));
    if let Some(missing) = [&games, &evals].into_iter().find(|path| !path.is_file()) {
        say(format!("NOT MEASURED: {} does not exist; name other files with --games and --evals", missing.display()));
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
