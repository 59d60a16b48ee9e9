//! `cargo xtask elo`: measures the strength of the engine.

use anyhow::Result;

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

/// Default limit of a move of Stockfish. A level chooses its move after a fixed depth, but searches on until its time is over. The
/// longer search makes the level stronger: level 4 gains about 270 Elo with 32,000 nodes instead of its depth (`MATCHES.md`). The
/// ratings are of games with 120 seconds and 1 second a move.
const ANCHOR_GO: &str = "movetime 1000";

/// File of results.
const RESULTS: &str = "build-tools/arena/elo.tsv";

/// Options of `cargo xtask elo`.
#[derive(clap::Args)]
pub struct Args {
    /// Skill levels of Stockfish to play against, from 5 to 19
    #[arg(long, value_delimiter = ',', default_value = "10,11,12", value_parser = clap::value_parser!(u32).range(5..=19))]
    levels: Vec<u32>,
    /// Number of games against each level [default: 600, in Chromium 70]
    #[arg(long)]
    games: Option<usize>,
    /// Limit of a move of the engine, as after `go` in UCI; a limit in nodes does not depend on the load of the machine
    /// [default: movetime 100, in Chromium movetime 500]
    #[arg(long)]
    go: Option<String>,
    /// Limit of a move of Stockfish, as after `go` in UCI; a shorter search makes its levels weaker than their ratings
    #[arg(long, value_name = "GO", default_value = ANCHOR_GO)]
    stockfish_go: String,
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

/// Plays and prints a table in Markdown. Each pair of games is written after it was played, and a later run plays the
/// missing pairs. If the signature of the engine (`arena bench`) or the conditions have changed, all pairs are missing.
pub fn run(args: &Args) -> Result<()> {
    let (stockfish, version) = tools::stockfish()?;
    if !version.starts_with("Stockfish 15.1") {
        say(format!(
            "The ratings are of Stockfish 15.1, but the installed version is {version}"
        ));
    }
    programs(&["shelfish-cli", "shelfish-arena"])?;
    let (arena, shelfish) = (program("arena"), program("shelfish"));
    let mut engine = format!("{} engine", shelfish.display());
    if args.tactics {
        call(
            command(&arena)
                .args(["suite", "crate/engine/tests/wac.epd", &engine])
                .current_dir(root()),
        )?;
    }
    let mut rate = command(&arena);
    if args.chromium {
        let package = npm::build()?;
        tools::npm_ci("tests")?;
        engine = format!("{} {}", tools::node()?.display(), "tests/browser/uci.mjs");
        rate.env("CHROMIUM", tools::chromium()?)
            .env("SHELFISH", &shelfish)
            .env("SHELFISH_PACKAGE", package);
    }
    let (games, go) = if args.chromium {
        (70, "movetime 500")
    } else {
        (600, "movetime 100")
    };
    rate.args([
        "rate",
        &engine,
        "--games",
        &args.games.unwrap_or(games).to_string(),
    ]);
    rate.args([
        "--go",
        args.go.as_deref().unwrap_or(go),
        "--concurrency",
        &args.concurrency.to_string(),
    ]);
    rate.args([
        "--own",
        "--results",
        RESULTS,
        "--least-plies",
        "6",
        "--openings",
    ]);
    rate.args(
        ["a", "b", "c", "d", "e"]
            .map(|volume| format!("build-tools/shelfish/openings/{volume}.tsv")),
    );
    if let Some(minutes) = args.minutes {
        rate.args(["--minutes", &minutes.to_string()]);
    }
    for (level, elo) in ANCHORS
        .iter()
        .filter(|(level, _)| args.levels.contains(level))
    {
        rate.args([
            "--anchor",
            &format!(
                "{elo}:{} Skill_Level={level}@{}",
                stockfish.display(),
                args.stockfish_go
            ),
        ]);
    }
    call(&mut rate)
}
