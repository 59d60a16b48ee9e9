//! `research`: measurements behind decisions of the design. Users of a database do not need them.

mod bootstrap;
mod orders;
mod report;
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
    /// Compare orders of keys by the number of blocks that games touch
    Orders(orders::Args),
    /// Update a database again and again, and measure the uploads, and the requests of a game afterwards
    Updates(updates::Args),
}

fn main() -> ExitCode {
    let outcome = match Cli::parse().command {
        Command::Orders(args) => orders::run(args),
        Command::Updates(args) => updates::run(&args),
    };
    outcome.unwrap_or_else(|error| {
        eprintln!("research: {}", shown(&error.to_string()));
        ExitCode::FAILURE
    })
}
