//! `cargo xtask elo`: how strong the engine is.

use anyhow::{Context, Result};

use crate::shell::{call, command, output, program, programs, root, say, which};

/// Stockfish by Skill Level, from 5, and the rating that its developers measured for the master branch of January 2023,
/// weeks after 15.1, anchored to the CCRL by the engine Stash:
/// <https://github.com/official-stockfish/Stockfish/pull/4341>.
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

/// Options of `cargo xtask elo`.
#[derive(clap::Args)]
pub struct Args {
    /// The skill levels of Stockfish to play against, from 5 to 19
    #[arg(long, value_delimiter = ',', default_value = "7,8,9", value_parser = clap::value_parser!(u32).range(5..=19))]
    levels: Vec<u32>,
    /// Games against each
    #[arg(long, default_value_t = 600)]
    games: usize,
    /// What bounds a move, as after `go` in UCI; of nodes, the load of the machine does not matter
    #[arg(long, default_value = "movetime 100")]
    go: String,
    /// Games at the same time
    #[arg(long, default_value_t = 2)]
    concurrency: usize,
    /// Run the suite of tactics, too
    #[arg(long)]
    tactics: bool,
}

/// Plays and prints a table in Markdown.
pub fn run(args: &Args) -> Result<()> {
    let stockfish = which(["stockfish", "/usr/games/stockfish"])
        .context("stockfish is not there; install it, on Debian by `apt install stockfish`")?;
    let version = output(command(&stockfish).arg("quit")).context("stockfish does not start")?;
    if !version.starts_with("Stockfish 15.1") {
        say(format!("The anchors are those of Stockfish 15.1, and this is {}", version.trim()));
    }
    programs(&["shelfish-cli", "shelfish-arena"])?;
    let engine = format!("{} engine", program("shelfish").display());
    let arena = program("arena");
    if args.tactics {
        call(command(&arena).args(["suite", "crate/engine/tests/wac.epd", &engine]).current_dir(root()))?;
    }
    let mut rate = command(&arena);
    rate.args(["rate", &engine, "--go", &args.go, "--games", &args.games.to_string()]);
    rate.args(["--concurrency", &args.concurrency.to_string(), "--least-plies", "6", "--openings"]);
    rate.args(["a", "b", "c", "d", "e"].map(|volume| root().join(format!("www/data/eco/{volume}.tsv"))));
    for (level, elo) in ANCHORS.iter().filter(|(level, _)| args.levels.contains(level)) {
        rate.args(["--anchor", &format!("{elo}:{} Skill_Level={level}", stockfish.display())]);
    }
    call(&mut rate)
}
