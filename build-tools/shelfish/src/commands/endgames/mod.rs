//! `shelfish endgames`: exact results from Syzygy tables.

mod index;
mod probe;

use crate::Outcome;

/// Commands for endgame tables.
#[derive(clap::Subcommand, Debug)]
pub enum Command {
    /// Look up the results of positions and of their moves
    Probe(probe::Args),
    /// Write the index that a host needs next to the tables
    Index(index::Args),
}

/// Runs a command.
pub fn run(command: Command) -> Outcome {
    match command {
        Command::Probe(args) => probe::run(&args),
        Command::Index(args) => index::run(&args),
    }
}
