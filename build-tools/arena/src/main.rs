//! `arena`: plays matches of UCI engines, and the games that the network is trained on.

use std::process::ExitCode;

use clap::{Parser, Subcommand};
use shelfish_arena::{contest, engine, rating, selfplay, suite};

/// Plays matches of UCI engines, and the games that the network is trained on.
#[derive(Parser)]
#[command(name = "arena", arg_required_else_help = true)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Play two engines against each other
    Match(contest::Args),
    /// Play an engine against others whose rating is known
    Rate(rating::Args),
    /// Play an engine against itself and print the games with their scores
    Selfplay(selfplay::Args),
    /// Be the engine itself: so much of UCI as matches at fixed nodes take, with parts of the search turned off
    Engine(engine::Args),
    /// Let an engine look for the best moves of positions
    Suite(suite::Args),
}

fn main() -> ExitCode {
    let outcome = match Cli::parse().command {
        Command::Match(args) => contest::run(&args),
        Command::Rate(args) => rating::run(&args),
        Command::Selfplay(args) => selfplay::run(&args),
        Command::Engine(args) => engine::run(&args),
        Command::Suite(args) => suite::run(&args),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("arena: {error}");
            ExitCode::FAILURE
        }
    }
}
