//! `lab`: matches of engines, judgments against a reference engine, and the fits of the move model and the network.

mod bench;
mod dump;
mod fit_order;
mod game;
mod judgments;
mod matches;
mod network;
mod rate;
mod real_mix;
mod results;
mod statistics;
mod suite;

#[path = "../../../crate/src/leb128.rs"]
#[allow(dead_code, reason = "the fit only writes numbers")]
mod leb128;

#[path = "../../../crate/src/position/order.rs"]
#[allow(
    dead_code,
    reason = "the fit learns the tree, and asks only its questions"
)]
mod order;

/// Modules of the library, and the fit of their weights.
#[path = "../../../crate/src/moves"]
#[allow(
    dead_code,
    unused_imports,
    reason = "the fit needs a part of these modules"
)]
mod moves {
    mod board;
    mod context;
    mod features;
    mod history;
    mod line;
    mod order;
    mod prefix;
    mod range;
    mod see;
    mod tree;

    #[path = "../../../build-tools/lab/src/fit_moves.rs"]
    pub mod fit_moves;
}

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result};
use clap::Parser;

/// Measure and train the engine, and fit the move model.
#[derive(Parser)]
#[command(
    name = "lab",
    arg_required_else_help = true,
    after_help = "Examples:
  lab match 'shelfish engine' 'stockfish Skill_Level=5' --openings openings/a.tsv --sprt 0,10
  lab rate --minutes 60
  lab suite wac.epd 'shelfish engine' --go 'movetime 100'"
)]
enum Command {
    /// Play two engines against each other
    Match(matches::Args),
    /// Measure the strength of this project's engine against Stockfish at several skill levels
    Rate(rate::Args),
    /// Test how many best moves of given positions an engine finds
    Suite(suite::Args),
    /// Search fixed positions with this project's engine and print nodes, signature and speed
    Bench(bench::Args),
    /// Compare the judgments of `shelfish analyse --engine` with Stockfish
    Judgments(judgments::Args),
    /// Train the engine's network. The same data give the same bytes
    TrainNet(network::Args),
    /// Write evaluations that are distributed like those of Lichess
    RealMix(real_mix::Args),
    /// Print statistics of dumps of evaluations
    Describe(dump::Args),
    /// Fit the weights by which moves are ranked, or validate them
    FitMoves(moves::fit_moves::Args),
    /// Learn the tree that orders positions, or compare it with the order without a tree
    FitOrder(fit_order::Args),
}

fn main() -> ExitCode {
    let done = match Command::parse() {
        Command::Match(args) => matches::run(&args),
        Command::Rate(args) => rate::run(&args),
        Command::Suite(args) => suite::run(&args),
        Command::Bench(args) => bench::run(&args),
        Command::Judgments(args) => judgments::run(&args),
        Command::TrainNet(args) => network::run(&args),
        Command::RealMix(args) => real_mix::run(&args),
        Command::Describe(args) => dump::describe(&args),
        Command::FitMoves(args) => moves::fit_moves::run(&args),
        Command::FitOrder(args) => fit_order::run(&args),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("lab: {error:#}");
            ExitCode::FAILURE
        }
    }
}

/// Returns the root of the repository.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Returns the program `shelfish` next to this program.
fn shelfish() -> Result<PathBuf> {
    let program = std::env::current_exe()?
        .with_file_name(format!("shelfish{}", std::env::consts::EXE_SUFFIX));
    anyhow::ensure!(
        program.is_file(),
        "{} does not exist: build it with `cargo build --release -p shelfish-cli`",
        program.display()
    );
    Ok(program)
}

/// Finds Stockfish. Ratings, scores and games of this project are of version 15.1.
fn stockfish() -> Result<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let stockfish = std::env::split_paths(&path)
        .chain(["/usr/games".into()])
        .map(|folder| folder.join("stockfish"))
        .find(|program| program.is_file())
        .context("stockfish was not found; install it, on Debian by `apt install stockfish`")?;
    let version = std::process::Command::new(&stockfish)
        .arg("quit")
        .output()?
        .stdout;
    if !version.starts_with(b"Stockfish 15.1") {
        eprintln!(
            "lab: expected Stockfish 15.1, found {}",
            String::from_utf8_lossy(&version).trim()
        );
    }
    Ok(stockfish)
}
