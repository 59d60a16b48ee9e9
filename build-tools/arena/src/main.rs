//! `arena`: plays matches of UCI engines, and the games that the network is trained on.

use std::process::ExitCode;

use clap::{Parser, Subcommand};
use shelfish_arena::{contest, selfplay};

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
    /// Play an engine against itself and print the games with their scores
    Selfplay(selfplay::Args),
}

fn main() -> ExitCode {
    let outcome = match Cli::parse().command {
        Command::Match(args) => contest::run(&args),
        Command::Selfplay(args) => selfplay::run(&args),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("arena: {error}");
            ExitCode::FAILURE
        }
    }
}
