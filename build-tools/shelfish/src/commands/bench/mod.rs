//! `shelfish bench`: repeatable measurements of lookups and builds.
//!
//! A measurement is a subcommand and returns the same numbers for the same data, except for times. Each measurement
//! prints a table, Markdown (`--markdown`) or JSON (`--json`).

mod build;
pub mod games;
pub mod link;
mod lookup;
mod meter;
pub mod report;
pub mod traffic;

use clap::Subcommand;

use crate::Outcome;

/// Measure the cost of lookups and builds.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:
  shelfish bench traffic -d db --games games.pgn.zst
  shelfish bench build lichess_db_eval.jsonl.zst -- --max-memory 4GiB
  shelfish bench lookup -d db --markdown

Exit codes: 0 if the measurement succeeded; 1 otherwise; 2 if the usage is wrong.")]
pub struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand, Debug)]
enum Command {
    /// Measure requests, bytes, blocks and cache hits of replayed games, and their time on several networks
    Traffic(traffic::Args),
    /// Measure the time, memory and disk space of a build
    Build(build::Args),
    /// Measure the duration of lookups on this machine
    Lookup(lookup::Args),
}

/// Measures and prints a report.
pub fn run(args: Args) -> Outcome {
    match args.command {
        Command::Traffic(args) => traffic::run(args),
        Command::Build(args) => build::run(args),
        Command::Lookup(args) => lookup::run(args),
    }
}
