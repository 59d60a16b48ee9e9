//! `arena`: matches of UCI engines, and games for the training of the network.

use std::process::ExitCode;

use clap::{Parser, Subcommand};
use shelfish_arena::{bench, contest, engine, judgments, marks, rating, selfplay, suite};

/// Play matches of UCI engines, and games for the training of the network.
#[derive(Parser)]
#[command(
    name = "arena",
    arg_required_else_help = true,
    after_help = "Examples:
  arena match 'shelfish engine' 'stockfish Skill_Level=5' --openings openings/a.tsv --sprt 0,10
  arena rate 'shelfish engine' --anchor '2596:stockfish Skill_Level=8' --openings openings/a.tsv --results elo.tsv
  arena selfplay --games 1000 --nodes 1000 > games.txt
  arena suite wac.epd 'shelfish engine' --go 'movetime 100'"
)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Play two engines against each other
    Match(contest::Args),
    /// Play an engine against engines with known ratings
    Rate(rating::Args),
    /// Play an engine against itself and print the games with their scores
    Selfplay(selfplay::Args),
    /// Run a minimal UCI engine with parts of the search turned off
    Engine(engine::Args),
    /// Test how many best moves of given positions an engine finds
    Suite(suite::Args),
    /// Search fixed positions with this project's engine and print nodes, signature and speed
    Bench(bench::Args),
    /// Compare the judgments of `shelfish analyse --engine` with a reference engine
    Judgments(judgments::Args),
    /// Compare the only moves and great moves of `shelfish analyse --engine` with a reference engine
    Marks(marks::Args),
}

fn main() -> ExitCode {
    let outcome = match Cli::parse().command {
        Command::Match(args) => contest::run(&args),
        Command::Rate(args) => rating::run(&args),
        Command::Selfplay(args) => selfplay::run(&args),
        Command::Engine(args) => engine::run(&args),
        Command::Suite(args) => suite::run(&args),
        Command::Bench(args) => bench::run(&args),
        Command::Judgments(args) => judgments::run(&args),
        Command::Marks(args) => marks::run(&args),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("arena: {error}");
            ExitCode::FAILURE
        }
    }
}
