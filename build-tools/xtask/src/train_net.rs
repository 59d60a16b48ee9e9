//! `cargo xtask train-net`: trains the engine's network on evaluations and on games of Stockfish against itself.

use std::{
    fs::{self, File},
    io,
    path::{Path, PathBuf},
    thread,
};

use anyhow::{Result, bail, ensure};

use crate::{
    bench,
    release::sha256,
    shell::{call, command, program, programs, relative, root, say, target_dir},
    tools,
};

/// The network of the repository.
const NETWORK: &str = "crate/engine/network.bin";
/// Evaluations that the network was trained on.
const EVALS: [&str; 2] = [
    "../shared/data/evals-sf.jsonl.zst",
    "../shared/data/evals-tcec.jsonl.zst",
];
/// Real games that Stockfish continues.
const REAL_GAMES: &str = "../shared/data/games.pgn.zst";
/// Nodes of Stockfish for each move of its games.
const NODES: &str = "300";
/// Number of games of each file. The games do not depend on the number of cores.
const SEEDS: u64 = 5_000;
/// Number of files of games with random openings, and seed of their first game.
const RANDOM: (u64, u64) = (36, 10_000);
/// Number of files of games that continue real games, and number of the first real game.
const REAL: (u64, u64) = (36, 1);
/// SHA-256 of the concatenated files, as Stockfish 15.1 plays the games.
const GAMES: &str = "ed5a53d309b52e32ff5b1a9398b5234c6b49faa73f8fb2c91d08a208470df8d9";

/// Options of `cargo xtask train-net`.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  cargo xtask train-net                        # train the network of the repository again, and compare
  cargo xtask train-net --write                # replace the network of the repository
  cargo xtask train-net /data/lichess-evals    # train on this database instead of the evaluations, and on the games
  cargo xtask train-net --games GAMES.pgn.zst  # let Stockfish continue these games instead")]
pub struct Args {
    /// Databases to learn from, folders or URLs, instead of the evaluations that the network was trained on
    databases: Vec<String>,
    /// PGN file of real games that Stockfish continues, instead of the games that the network was trained on
    #[arg(long, value_name = "FILE")]
    games: Option<PathBuf>,
    /// Replace the network of the repository
    #[arg(long)]
    write: bool,
    /// Options of the training; `train-net --help` lists them
    #[arg(last = true)]
    training: Vec<String>,
}

/// Trains the network.
pub fn run(args: &Args) -> Result<()> {
    let home = target_dir().join("train-net");
    fs::create_dir_all(&home)?;
    programs(&["shelfish-cli", "shelfish-arena", "shelfish-train-net"])?;
    let databases = match args.databases.is_empty() {
        true => EVALS
            .iter()
            .map(|evals| database(&root().join(evals), &home))
            .collect::<Result<_>>()?,
        false => args.databases.clone(),
    };
    let real = args
        .games
        .clone()
        .unwrap_or_else(|| root().join(REAL_GAMES));
    ensure!(
        real.is_file(),
        "{} does not exist: name a PGN file of real games with --games",
        real.display()
    );
    let games = games(&home, &real)?;
    let network = home.join("network.bin");
    let mut train = command(program("train-net"));
    train
        .args(&databases)
        .args(&games)
        .arg("--output")
        .arg(&network);
    call(train.args(&args.training))?;

    let (made, kept) = (fs::read(&network)?, fs::read(root().join(NETWORK))?);
    if made == kept {
        say(format!(
            "{} is {NETWORK}, byte for byte",
            relative(&network)
        ));
    } else if args.write {
        fs::write(root().join(NETWORK), made)?;
        say(format!(
            "{NETWORK} is a new network: `arena match` measures whether it plays better"
        ));
    } else if args.databases.is_empty() && args.games.is_none() && args.training.is_empty() {
        bail!(
            "{} differs from {NETWORK}, although the training is reproducible",
            relative(&network)
        );
    } else {
        say(format!(
            "{} is a new network; --write copies it into the repository",
            relative(&network)
        ));
    }
    Ok(())
}

/// Builds the database of a file of evaluations once.
fn database(evals: &Path, home: &Path) -> Result<String> {
    if !evals.is_file() {
        bail!(
            "{} does not exist: name databases to learn from, for example of Lichess' evaluations",
            evals.display()
        );
    }
    let name = evals.file_name().unwrap_or_default().to_string_lossy();
    let database = bench::built(evals, home.join(name.split('.').next().unwrap_or_default()))?;
    Ok(database.display().to_string())
}

/// File of games.
struct Games {
    path: PathBuf,
    /// Seed of the first game.
    first: u64,
    /// Real games that Stockfish continues.
    real: Option<PathBuf>,
}

/// Plays the files of games that do not exist yet. Returns the paths of all files.
fn games(home: &Path, real: &Path) -> Result<Vec<PathBuf>> {
    let (stockfish, version) = tools::stockfish()?;
    // Files of other real games have other names.
    let kind = match real.file_name() {
        Some(name) => format!("games-{}", name.to_string_lossy()),
        None => "games".to_owned(),
    };
    let file = |kind: &str, index, first, real| Games {
        path: home.join(format!("{kind}-{index}.txt")),
        first: first + index * SEEDS,
        real,
    };
    let random = (0..RANDOM.0).map(|index| file("random", index, RANDOM.1, None));
    let continued = (0..REAL.0).map(|index| file(&kind, index, REAL.1, Some(real.to_owned())));
    let files: Vec<Games> = random.chain(continued).collect();
    let missing: Vec<&Games> = files.iter().filter(|games| !games.path.is_file()).collect();
    if !missing.is_empty() {
        say(format!(
            "{version} plays {} files of {SEEDS} games against itself",
            missing.len()
        ));
    }
    let cores = thread::available_parallelism().map_or(1, usize::from);
    for some in missing.chunks(cores) {
        thread::scope(|scope| {
            let played: Vec<_> = some
                .iter()
                .map(|games| scope.spawn(|| play(&stockfish, games)))
                .collect();
            played
                .into_iter()
                .try_for_each(|each| each.join().unwrap_or_else(|_| bail!("a thread panicked")))
        })?;
    }
    let paths: Vec<PathBuf> = files.into_iter().map(|games| games.path).collect();
    let found = sha256(
        &paths
            .iter()
            .map(fs::read)
            .collect::<io::Result<Vec<_>>>()?
            .concat(),
    );
    if found != GAMES {
        say(format!(
            "The games (SHA-256 {found}) differ from the games that the network was trained on"
        ));
    }
    Ok(paths)
}

/// Plays the games of a file. The file gets its name when it is complete.
fn play(stockfish: &Path, games: &Games) -> Result<()> {
    let part = games.path.with_extension("part");
    let mut arena = command(program("arena"));
    arena.args([
        "selfplay",
        "--engine",
        &format!("{} Hash=2", stockfish.display()),
        "--nodes",
        NODES,
    ]);
    arena.args([
        "--first",
        &games.first.to_string(),
        "--games",
        &SEEDS.to_string(),
    ]);
    if let Some(real) = &games.real {
        arena.arg("--continue-games").arg(real);
    }
    let played = arena.stdout(File::create(&part)?).status()?.success();
    ensure!(
        played,
        "the games of {} were interrupted",
        relative(&games.path)
    );
    Ok(fs::rename(part, &games.path)?)
}
