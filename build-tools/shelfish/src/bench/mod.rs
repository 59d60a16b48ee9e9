//! `shelfish bench`: what lookups, orders of keys and builds cost, measured so that anyone can measure it again.
//!
//! Each measurement is a sub-command and gives the same figures whenever it is given the same data, but for those that
//! are times. All of them print a table for people, `--markdown` for a document, `--json` for a program.

mod build;
mod games;
mod link;
mod lookup;
mod meter;
mod order;
mod report;
mod resample;
mod traffic;

use clap::Subcommand;

use crate::Outcome;

/// Measure what lookups, orders of keys and builds cost.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:
  shelfish bench traffic -d db --games games.pgn.zst
  shelfish bench order lichess_db_eval.jsonl.zst --games games.pgn.zst
  shelfish bench build lichess_db_eval.jsonl.zst -- --max-memory 4GiB
  shelfish bench lookup -d db --markdown")]
pub struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand, Debug)]
enum Command {
    /// Replay games against a database: requests, bytes, blocks, cache hits, and what they take on some networks
    Traffic(traffic::Args),
    /// Compare orders of keys by the blocks that games touch
    Order(order::Args),
    /// Build a database and throw it away: time, memory, disk
    Build(build::Args),
    /// Time lookups on this machine
    Lookup(lookup::Args),
}

/// Measures, and prints a report.
///
/// # Errors
///
/// What is to be measured cannot be read.
pub fn run(args: Args) -> Outcome {
    match args.command {
        Command::Traffic(args) => traffic::run(args),
        Command::Order(args) => order::run(args),
        Command::Build(args) => build::run(args),
        Command::Lookup(args) => lookup::run(args),
    }
}
