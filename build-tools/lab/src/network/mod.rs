//! `lab train-net`: trains the engine's network on evaluations and on games of Stockfish against itself.

mod data;
mod model;
mod sample;
mod selfplay;
mod training;

use std::{
    fs,
    path::{Path, PathBuf},
    thread,
};

use anyhow::{Result, bail};
use sha2::{Digest, Sha256};
use shelfish::digits::hex;
use shelfish_cli::uci::Setup;

use crate::{root, stockfish};

/// The network of the repository.
const NETWORK: &str = "crate/engine/network.bin";
/// Evaluations that the network was trained on.
const EVALS: [&str; 2] = [
    "../shared/data/evals-sf.jsonl.zst",
    "../shared/data/evals-tcec.jsonl.zst",
];
/// PGN file of real games that Stockfish continues.
const REAL: &str = "../shared/data/games.pgn.zst";
/// Number of games of each file. The games do not depend on the number of cores.
const SEEDS: u64 = 5_000;
/// Number of files of games with random openings, and of files that continue real games.
const FILES: u64 = 36;
/// Seed of the first game with a random opening.
const RANDOM: u64 = 10_000;
/// SHA-256 of the concatenated files, as Stockfish 15.1 plays the games.
const GAMES: &str = "ed5a53d309b52e32ff5b1a9398b5234c6b49faa73f8fb2c91d08a208470df8d9";

/// Options of `lab train-net`.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  lab train-net                          # train the network of the repository again, and compare
  lab train-net --write                  # replace the network of the repository
  lab train-net lichess_db_eval.jsonl.zst    # train on this dump instead of the evaluations, and on the games")]
pub struct Args {
    /// Dumps to learn from instead of the evaluations that the network was trained on
    evals: Vec<PathBuf>,
    /// Replace the network of the repository
    #[arg(long)]
    write: bool,
}

/// Trains the network.
pub fn run(args: &Args) -> Result<()> {
    let home = root().join("target/train-net");
    fs::create_dir_all(&home)?;
    let games = games(&home)?;
    let mut samples = Vec::new();
    let evals: Vec<PathBuf> = match args.evals.is_empty() {
        true => EVALS.iter().map(|evals| root().join(evals)).collect(),
        false => args.evals.clone(),
    };
    for path in &evals {
        data::read_evaluations(path, &mut samples)?;
    }
    for path in &games {
        data::read_games(path, &mut samples)?;
    }
    println!("{} quiet positions", samples.len());
    let made = training::train(samples, training::EPOCHS).to_bytes();
    let (network, kept) = (home.join("network.bin"), root().join(NETWORK));
    fs::write(&network, &made)?;
    if made == fs::read(&kept)? {
        println!("{} is {NETWORK}, byte for byte", network.display());
    } else if args.write {
        fs::write(kept, made)?;
        println!("{NETWORK} is a new network: `lab match` measures whether it plays better");
    } else {
        println!(
            "{} differs from {NETWORK}; --write replaces it",
            network.display()
        );
    }
    Ok(())
}

/// Plays the files of games that do not exist yet. Returns the paths of all files.
fn games(home: &Path) -> Result<Vec<PathBuf>> {
    let real = &root().join(REAL);
    let random = (0..FILES).map(|n| (format!("random-{n}.txt"), RANDOM + n * SEEDS, None));
    let continued = (0..FILES).map(|n| (format!("games-{n}.txt"), 1 + n * SEEDS, Some(real)));
    let files: Vec<_> = random.chain(continued).collect();
    let engine = &Setup::parse(&format!("{} Hash=2", stockfish()?.display()))?;
    let cores = thread::available_parallelism().map_or(1, usize::from);
    for some in files.chunks(cores) {
        thread::scope(|scope| {
            let missing = some.iter().filter(|(name, ..)| !home.join(name).is_file());
            let played: Vec<_> = missing
                .map(|(name, first, real)| {
                    println!("Stockfish plays {SEEDS} games against itself: {name}");
                    let play = move || {
                        let real = real.map(PathBuf::as_path);
                        selfplay::play(engine, *first..first + SEEDS, real, &home.join(name))
                    };
                    scope.spawn(play)
                })
                .collect();
            played
                .into_iter()
                .try_for_each(|each| each.join().unwrap_or_else(|_| bail!("a thread panicked")))
        })?;
    }
    let paths: Vec<PathBuf> = files.iter().map(|(name, ..)| home.join(name)).collect();
    let mut hash = Sha256::new();
    for path in &paths {
        hash.update(fs::read(path)?);
    }
    let found = hex(&hash.finalize());
    if found != GAMES {
        println!(
            "The games (SHA-256 {found}) differ from the games that the network was trained on"
        );
    }
    Ok(paths)
}
