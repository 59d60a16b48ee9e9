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
const EVALS: [&str; 2] = ["../shared/data/evals-sf.jsonl.zst", "../shared/data/evals-tcec.jsonl.zst"];
/// Number of files of games, seed of the first game, and number of seeds for each file. The games do not depend on the number
/// of cores.
const FILES: u64 = 14;
const FIRST: u64 = 10_000;
const SEEDS: u64 = 2_500;
/// SHA-256 of the concatenated files, as Stockfish 15.1 plays the games.
const GAMES: &str = "51b2217933a31ae92d347476e1d417a9054888661ba641ed84fec5e69dd925be";

/// Options of `cargo xtask train-net`.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  cargo xtask train-net                        # train the network of the repository again, and compare
  cargo xtask train-net --write                # replace the network of the repository
  cargo xtask train-net /data/lichess-evals    # train on this database instead of the evaluations, and on the games")]
pub struct Args {
    /// Databases to learn from, folders or URLs, instead of the evaluations that the network was trained on
    databases: Vec<String>,
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
        true => EVALS.iter().map(|evals| database(&root().join(evals), &home)).collect::<Result<_>>()?,
        false => args.databases.clone(),
    };
    let games = games(&home)?;
    let network = home.join("network.bin");
    let mut train = command(program("train-net"));
    train.args(&databases).args(&games).arg("--output").arg(&network);
    call(train.args(&args.training))?;

    let (made, kept) = (fs::read(&network)?, fs::read(root().join(NETWORK))?);
    if made == kept {
        say(format!("{} is {NETWORK}, byte for byte", relative(&network)));
    } else if args.write {
        fs::write(root().join(NETWORK), made)?;
        say(format!("{NETWORK} is a new network: `arena match` measures whether it plays better"));
    } else if args.databases.is_empty() && args.training.is_empty() {
        bail!("{} differs from {NETWORK}, although the training is reproducible", relative(&network));
    } else {
        say(format!("{} is a new network; --write copies it into the repository", relative(&network)));
    }
    Ok(())
}

/// Builds the database of a file of evaluations once.
fn database(evals: &Path, home: &Path) -> Result<String> {
    if !evals.is_file() {
        bail!("{} does not exist: name databases to learn from, for example of Lichess' evaluations", evals.display());
    }
    let name = evals.file_name().unwrap_or_default().to_string_lossy();
    let database = bench::built(evals, home.join(name.split('.').next().unwrap_or_default()))?;
    Ok(database.display().to_string())
}

/// Plays the files of games that do not exist yet. Returns the paths of all files.
fn games(home: &Path) -> Result<Vec<PathBuf>> {
    let (stockfish, version) = tools::stockfish()?;
    let files: Vec<PathBuf> = (0..FILES).map(|index| home.join(format!("games-{index}.txt"))).collect();
    let missing: Vec<(u64, &PathBuf)> = (0..).zip(&files).filter(|(_, file)| !file.is_file()).collect();
    if !missing.is_empty() {
        say(format!("Playing {} games of {} against itself", missing.len() as u64 * SEEDS, version));
    }
    let cores = thread::available_parallelism().map_or(1, usize::from);
    for some in missing.chunks(cores) {
        thread::scope(|scope| {
            let start = |(index, file): &(u64, &PathBuf)| {
                let (stockfish, first, file) = (stockfish.clone(), FIRST + index * SEEDS, file.to_path_buf());
                scope.spawn(move || play(&stockfish, first, &file))
            };
            let played: Vec<_> = some.iter().map(start).collect();
            played.into_iter().try_for_each(|each| each.join().unwrap_or_else(|_| bail!("a thread panicked")))
        })?;
    }
    let found = sha256(&files.iter().map(fs::read).collect::<io::Result<Vec<_>>>()?.concat());
    if found != GAMES {
        say(format!(
            "The games (SHA-256 {found}) differ from the games of Stockfish 15.1 that the network was trained on"
        ));
    }
    Ok(files)
}

/// Plays the games of a file. The file gets its name when it is complete.
fn play(stockfish: &Path, first: u64, file: &Path) -> Result<()> {
    let part = file.with_extension("part");
    let mut arena = command(program("arena"));
    arena.args(["selfplay", "--engine", &format!("{} Hash=8", stockfish.display())]);
    arena.args(["--first", &first.to_string(), "--games", &SEEDS.to_string()]);
    ensure!(arena.stdout(File::create(&part)?).status()?.success(), "the games of {} were interrupted", relative(file));
    Ok(fs::rename(part, file)?)
}
