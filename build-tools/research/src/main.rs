//! `research`: the measurements behind decisions, for those who would decide again. Nobody who uses a database needs it.

mod bootstrap;
mod orders;
mod scale;
mod synthetic;

use std::process::ExitCode;

use clap::{Parser, Subcommand};
use shelfish_cli::terminal::shown::shown;

/// Measures what the design of Shelfish was decided by.
#[derive(Parser)]
#[command(name = "research", arg_required_else_help = true)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Compare orders of keys by the blocks that games touch
    Orders(orders::Args),
    /// Build databases of growing numbers of synthetic positions, and measure what a game asks of each
    Scale(scale::Args),
}

fn main() -> ExitCode {
    let outcome = match Cli::parse().command {
        Command::Orders(args) => orders::run(args),
        Command::Scale(args) => scale::run(&args),
    };
    outcome.unwrap_or_else(|error| {
        eprintln!("research: {}", shown(&error.to_string()));
        ExitCode::FAILURE
    })
}
