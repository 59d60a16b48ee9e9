//! `cargo xtask judgments`: compares the reports of games with a reference engine.

use anyhow::Result;

use crate::shell::{call, command, program, programs, root, say};
use crate::tools;

/// Files of games next to the checkout, and the distance of the chosen games.
const GAMES: [&str; 2] = [
    "../shared/data/games.pgn.zst:13000",
    "../shared/data/games-lichess.pgn.zst:85",
];

/// File of the reference's scores.
const REFERENCE: &str = "build-tools/arena/judgments.tsv";

/// Options of `cargo xtask judgments`.
#[derive(clap::Args)]
pub struct Args {
    /// Games of each file
    #[arg(long, default_value_t = 20)]
    count: usize,
    /// Games to skip: other games than those that the report was tuned on
    #[arg(long, default_value_t = 0)]
    offset: usize,
    /// PGN files and the distance of the chosen games in them
    #[arg(long, value_name = "FILE:STEP", default_values = GAMES)]
    games: Vec<String>,
    /// Stop the reference after this number of minutes; the next run continues
    #[arg(long)]
    minutes: Option<u64>,
}

/// Analyses games and prints a table in Markdown.
pub fn run(args: &Args) -> Result<()> {
    let (stockfish, version) = tools::stockfish()?;
    if !version.starts_with("Stockfish 15.1") {
        say(format!(
            "The scores in {REFERENCE} are of Stockfish 15.1, but the installed version is {version}"
        ));
    }
    programs(&["shelfish-cli", "shelfish-arena"])?;
    let mut arena = command(program("arena"));
    arena
        .arg("judgments")
        .arg("--program")
        .arg(program("shelfish"))
        .args(["--reference", REFERENCE]);
    arena.args(["--engine", &format!("{} Hash=64", stockfish.display())]);
    arena.args(args.games.iter().flat_map(|games| ["--games", games]));
    arena.args([
        "--count",
        &args.count.to_string(),
        "--offset",
        &args.offset.to_string(),
    ]);
    if let Some(minutes) = args.minutes {
        arena.args(["--minutes", &minutes.to_string()]);
    }
    call(arena.current_dir(root()))
}
