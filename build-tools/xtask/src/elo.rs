//! `cargo xtask elo`: measures the strength of the engine.

use std::path::PathBuf;

use anyhow::{Context, Result};

use crate::{
    npm,
    shell::{call, command, program, programs, root, say},
    tools,
};

/// Skill Levels of Stockfish and their ratings. Its developers measured the ratings in January 2023, weeks after version 15.1.
/// The engine Stash anchors them to the CCRL: <https://github.com/official-stockfish/Stockfish/pull/4341>.
const ANCHORS: [(u32, f64); 15] = [
    (5, 2204.0),
    (6, 2363.0),
    (7, 2500.0),
    (8, 2596.2),
    (9, 2702.8),
    (10, 2788.3),
    (11, 2855.5),
    (12, 2923.1),
    (13, 2972.9),
    (14, 3024.8),
    (15, 3069.5),
    (16, 3111.2),
    (17, 3141.3),
    (18, 3170.3),
    (19, 3191.1),
];

/// File of results.
const RESULTS: &str = "build-tools/arena/elo.tsv";

/// Options of `cargo xtask elo`.
#[derive(clap::Args)]
pub struct Args {
    /// Skill levels of Stockfish to play against, from 5 to 19
    #[arg(long, value_delimiter = ',', default_value = "8,9,10", value_parser = clap::value_parser!(u32).range(5..=19))]
    levels: Vec<u32>,
    /// Number of games against each level [default: 600, in Chromium 70]
    #[arg(long)]
    games: Option<usize>,
    /// Limit of a move, as after `go` in UCI; a limit in nodes does not depend on the load of the machine
    /// [default: movetime 100, in Chromium movetime 500]
    #[arg(long)]
    go: Option<String>,
    /// Number of games at the same time; more games than cores make both players weaker
    #[arg(long, default_value_t = 1)]
    concurrency: usize,
    /// Stop after this number of minutes; the next run continues. 0 only prints the results so far
    #[arg(long)]
    minutes: Option<u64>,
    /// Measure the npm package in a Worker of a headless Chromium, against the native Stockfish
    #[arg(long)]
    chromium: bool,
    /// Also run the suite of tactics
    #[arg(long, conflicts_with = "chromium")]
    tactics: bool,
}

/// Plays games and prints a table in Markdown. Stores each pair of games at its end, and a later run plays the missing games. Starts
/// again if the engine or the conditions have changed.
pub fn run(args: &Args) -> Result<()> {
    let (stockfish, version) = tools::stockfish()?;
    if !version.starts_with("Stockfish 15.1") {
        say(format!("The ratings are of Stockfish 15.1, but the installed version is {version}"));
    }
    programs(&["shelfish-cli", "shelfish-arena"])?;
    let (arena, shelfish) = (program("arena"), program("shelfish"));
    let mut engine = format!("{} engine", shelfish.display());
    if args.tactics {
        call(command(&arena).args(["suite", "crate/engine/tests/wac.epd", &engine]).current_dir(root()))?;
    }
    let mut rate = command(&arena);
    if args.chromium {
        let package = npm::build()?;
        tools::npm_ci("tests")?;
        engine = format!("{} {}", tools::node()?.display(), "tests/browser/uci.mjs");
        rate.env("CHROMIUM", tools::chromium()?).env("SHELFISH", &shelfish).env("SHELFISH_PACKAGE", package);
    }
    let (games, go) = if args.chromium { (70, "movetime 500") } else { (600, "movetime 100") };
    rate.args(["rate", &engine, "--games", &args.games.unwrap_or(games).to_string()]);
    rate.args(["--go", args.go.as_deref().unwrap_or(go), "--concurrency", &args.concurrency.to_string()]);
    rate.args(["--results", RESULTS, "--least-plies", "6", "--openings"]);
    rate.args(["a", "b", "c", "d", "e"].map(|volume| format!("build-tools/shelfish/openings/{volume}.tsv")));
    rate.arg("--consists-of").args(consists_of()?);
    if let Some(minutes) = args.minutes {
        rate.args(["--minutes", &minutes.to_string()]);
    }
    for (level, elo) in ANCHORS.iter().filter(|(level, _)| args.levels.contains(level)) {
        rate.args(["--anchor", &format!("{elo}:{} Skill_Level={level}", stockfish.display())]);
    }
    call(&mut rate)
}

/// Sources that do not affect the moves at full strength.
const UNRELATED: [&str; 2] = ["level.rs", "tests.rs"];

/// Returns the files that decide the engine's moves: the search and the network. Other files may change between two runs.
fn consists_of() -> Result<Vec<PathBuf>> {
    let mut files = vec![root().join("crate/engine/network.bin")];
    let mut folders = vec![root().join("crate/engine/src")];
    while let Some(folder) = folders.pop() {
        for entry in folder.read_dir().with_context(|| folder.display().to_string())? {
            let path = entry?.path();
            if path.is_dir() {
                folders.push(path);
            } else if !UNRELATED.iter().any(|name| path.ends_with(name)) {
                files.push(path);
            }
        }
    }
    files.sort();
    Ok(files)
}
