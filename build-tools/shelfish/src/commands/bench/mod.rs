//! `shelfish bench`: what lookups and builds cost, measured so that anyone can measure it again.
//!
//! Each measurement is a sub-command and gives the same figures whenever it is given the same data, but for those that
//! are times. All of them print a table for people, `--markdown` for a document, `--json` for a program.

mod build;
pub mod games;
pub mod link;
mod lookup;
mod meter;
pub mod report;
pub mod traffic;

use clap::Subcommand;

use crate::Outcome;

/// Measure what lookups and builds cost.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:
  shelfish bench traffic -d db --games games.pgn.zst
  shelfish bench build lichess_db_eval.jsonl.zst -- --max-memory 4GiB
  shelfish bench lookup -d db --markdown

Exit codes: 0 if it could be measured; 1 if not; 2 for wrong usage.")]
pub struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand, Debug)]
enum Command {
    /// Replay games against a database: requests, bytes, blocks, cache hits, and what they take on some networks
    Traffic(traffic::Args),
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
        Command::Build(args) => build::run(args),
        Command::Lookup(args) => lookup::run(args),
    }
}
