//! `cargo xtask bench-peers`: compares this product with other ways to answer from static files.
//!
//! All systems look up the same positions and games, in the same headless Chromium, over the same emulated network. The peers read
//! files in their own formats. Every answer is compared with the dump: a wrong answer fails the run.

use std::{
    env, fs,
    path::{Path, PathBuf},
};

use anyhow::{Result, bail};

use super::Network;
use crate::{
    databases, npm,
    shell::{call, command, program, relative, root, say, target_dir},
    stamp::Stamp,
    tools,
};

/// Dumps and games that are part of the repository.
const SMALL: ([&str; 2], &str) = (
    [
        "static-shards/sample.jsonl.zst",
        "static-shards/famous.jsonl.zst",
    ],
    "static-shards/famous.pgn",
);

/// Options of `cargo xtask bench-peers`.
#[derive(clap::Args)]
pub struct Args {
    /// Evaluation dumps to build the databases from; positions are taken from the first dump
    #[arg(long, value_name = "DUMP")]
    evals: Vec<PathBuf>,
    /// Games to replay
    #[arg(long, value_name = "PGN")]
    games: Option<PathBuf>,
    /// Number of positions to look up; half as many games are replayed
    #[arg(long, default_value_t = 30, value_parser = clap::value_parser!(u32).range(1..))]
    positions: u32,
    #[command(flatten)]
    network: Network,
}

/// Measures, prints a table in Markdown, and stores the table and all figures next to the databases.
pub fn run(args: &Args) -> Result<()> {
    let (evals, games) = sources(args)?;
    let chromium = tools::chromium()?;
    npm::build()?;
    tools::npm_ci("tests")?;
    tools::npm_ci("tests/peers")?;
    databases::cli()?;
    let files = files(&evals)?;
    say("Measuring");
    let mut bench = command(tools::node()?);
    bench
        .arg("tests/peers/bench.mjs")
        .arg("--files")
        .arg(&files)
        .arg("--games")
        .arg(games)
        .args(evals);
    bench
        .args(["--positions", &args.positions.to_string()])
        .args(args.network.options());
    bench.args(["--command", &typed()]);
    call(
        bench
            .env("CHROMIUM", chromium)
            .env("SHELFISH", program("shelfish")),
    )?;
    say(format!(
        "Stored the table and the figures in {}/peers.md and peers.json",
        relative(&files)
    ));
    Ok(())
}

/// Returns the dumps and games to use: those of the options, else the default files, else the sample of the repository.
fn sources(args: &Args) -> Result<(Vec<PathBuf>, PathBuf)> {
    let large = root().join(super::EVALS).is_file() && root().join(super::GAMES).is_file();
    let (evals, games): (&[&str], &str) = match large {
        true => (&[super::EVALS], super::GAMES),
        false => (&SMALL.0, SMALL.1),
    };
    if !large && (args.evals.is_empty() || args.games.is_none()) {
        say(
            "Measuring with the sample, which flatters every system. Name other files with --evals and --games.",
        );
    }
    let evals: Vec<PathBuf> = match args.evals.is_empty() {
        true => evals.iter().map(|path| root().join(path)).collect(),
        false => args.evals.iter().map(|path| root().join(path)).collect(),
    };
    let games = root().join(args.games.as_deref().unwrap_or(Path::new(games)));
    if let Some(missing) = evals.iter().chain([&games]).find(|path| !path.is_file()) {
        bail!("{} does not exist", missing.display());
    }
    Ok((evals, games))
}

/// Builds the databases of all systems once for these dumps.
fn files(evals: &[PathBuf]) -> Result<PathBuf> {
    let name = if evals.len() > 1 {
        "several".into()
    } else {
        stem(&evals[0])
    };
    let files = target_dir().join("bench-peers").join(name);
    fs::create_dir_all(&files)?;
    let scripts = ["files.mjs", "dump.mjs", "package-lock.json"]
        .map(|name| root().join("tests/peers").join(name));
    let peers = Stamp::new("bench-peers", &files, &[evals, &scripts].concat())?;
    if !(peers.fresh() && files.join("made.json").is_file()) {
        say("Building the files of the peers (once, takes minutes)");
        let mut build = command(tools::node()?);
        // Node sorts all rows in memory.
        build
            .arg("--max-old-space-size=6000")
            .arg("tests/peers/files.mjs")
            .arg("--out")
            .arg(&files)
            .args(evals);
        call(&mut build)?;
        peers.set()?;
    }
    let shelfish = program("shelfish");
    let ours = Stamp::new(
        "bench-peers-ours",
        &files,
        &[evals, std::slice::from_ref(&shelfish)].concat(),
    )?;
    let (big, tiny) = (files.join("big/shelfish"), files.join("tiny/shelfish"));
    if !(ours.fresh()
        && big.join("manifest.json").is_file()
        && tiny.join("manifest.json").is_file())
    {
        say("Building the databases of this product");
        fs::create_dir_all(&big)?;
        fs::create_dir_all(&tiny)?;
        call(
            command(&shelfish)
                .arg("build")
                .args(evals)
                .arg("-o")
                .arg(&big),
        )?;
        call(
            command(&shelfish)
                .arg("build")
                .arg(files.join("tiny/tiny.jsonl"))
                .arg("-o")
                .arg(&tiny),
        )?;
        ours.set()?;
    }
    Ok(files)
}

/// Returns the name of a dump without its extensions.
fn stem(path: &Path) -> String {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    name.split('.').next().unwrap_or_default().to_owned()
}

/// Returns the command as it was typed.
fn typed() -> String {
    std::iter::once("cargo xtask".to_owned())
        .chain(env::args().skip(1))
        .collect::<Vec<_>>()
        .join(" ")
}
