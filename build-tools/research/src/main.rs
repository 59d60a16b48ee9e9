//! `research`: measurements behind decisions of the design. Users of a database do not need them.

mod bootstrap;
mod dumps;
mod orders;
mod scale;
mod synthetic;
mod updates;

use std::process::ExitCode;

use clap::{Parser, Subcommand};
use shelfish_cli::terminal::shown::shown;

/// Repeat the measurements behind the design of Shelfish.
#[derive(Parser)]
#[command(name = "research", arg_required_else_help = true)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Write large dumps of evaluations, from real games and variations of their moves
    Dumps(dumps::Args),
    /// Compare orders of keys by the number of blocks that games touch
    Orders(orders::Args),
    /// Build databases of growing sizes from synthetic positions, and measure the requests of a game
    Scale(scale::Args),
    /// Update a database again and again, and measure the uploads, and the requests of a game afterwards
    Updates(updates::Args),
}

fn main() -> ExitCode {
    let outcome = match Cli::parse().command {
        Command::Dumps(args) => dumps::run(&args),
        Command::Orders(args) => orders::run(args),
        Command::Scale(args) => scale::run(&args),
        Command::Updates(args) => updates::run(&args),
    };
    outcome.unwrap_or_else(|error| {
        eprintln!("research: {}", shown(&error.to_string()));
        ExitCode::FAILURE
    })
}
