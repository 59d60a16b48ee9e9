//! `shelfish`: builds, reads, verifies and serves databases of chess evaluations and of played moves.

use std::process::ExitCode;

use clap::{CommandFactory, Parser, Subcommand};
use shelfish_cli::commands::table_args::BuildCommand as _;
use shelfish_cli::commands::{
    analyse, bench, book, build, dumps, encode, engine, explore, export, extract, lookup, partition, plan, publish,
    refresh, seal, serve, stats, verify,
};
use shelfish_cli::publish::PublishError;
use shelfish_cli::publish::staging::NotPublished;
use shelfish_cli::terminal::shown::shown;

/// Takes chess evaluations off the shelf: builds, reads, verifies and serves static databases.
#[derive(Parser)]
#[command(name = "shelfish", version, arg_required_else_help = true)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Build a database of evaluations from dumps
    Build(Box<build::Args>),
    /// List the months of games that can be had of Lichess
    Dumps(dumps::Args),
    /// Say where a database is cut into parts, to build them on several machines
    Plan(plan::Args),
    /// Write the records of dumps as lines that can be sorted, for `shelfish encode`
    Partition(partition::Args),
    /// Make the files of one part of a database of its sorted records
    Encode(encode::Args),
    /// Make the parts of a database one database, by its manifest
    Seal(seal::Args),
    /// Look positions up
    Lookup(lookup::Args),
    /// Say what was played from positions, and how games went on
    Explore(explore::Args),
    /// Make a book that learns of games, and choose moves from books
    #[command(subcommand)]
    Book(book::Command),
    /// Report on games: mistakes, accuracy, average centipawn loss
    Analyse(analyse::Args),
    /// Say what a database holds
    Stats(stats::Args),
    /// Read every byte of a database and check it
    Verify(verify::Args),
    /// Write a database as a dump
    Export(export::Args),
    /// Make a small database of an opening, a repertoire or games
    Extract(extract::Args),
    /// Send a database to S3, R2, Google Cloud Storage, Azure or a folder
    Publish(publish::Args),
    /// Build of the newest dump, verify, publish and prune, if there is anything new
    Refresh(refresh::command::Args),
    /// Play and analyse chess, by the UCI protocol
    Engine(engine::Args),
    /// Serve a directory over HTTP, for development
    Serve(serve::Args),
    /// Measure what lookups and builds cost
    Bench(bench::Args),
    /// Print the completions of a shell
    #[command(after_help = "Examples:
  shelfish completions bash > ~/.local/share/bash-completion/completions/shelfish
  shelfish completions zsh > ~/.zfunc/_shelfish
  shelfish completions fish > ~/.config/fish/completions/shelfish.fish")]
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
}

fn main() -> ExitCode {
    let outcome = match Cli::parse().command {
        Command::Build(args) => args.run(),
        Command::Dumps(args) => dumps::run(&args),
        Command::Plan(args) => plan::run(args),
        Command::Partition(args) => partition::run(args),
        Command::Encode(args) => encode::run(args),
        Command::Seal(args) => seal::run(args),
        Command::Lookup(args) => lookup::run(args),
        Command::Explore(args) => explore::run(args),
        Command::Book(command) => book::run(command),
        Command::Analyse(args) => analyse::run(args),
        Command::Stats(args) => stats::run(args),
        Command::Verify(args) => verify::run(args),
        Command::Export(args) => export::run(args),
        Command::Extract(args) => extract::run(args),
        Command::Publish(args) => publish::run(args),
        Command::Refresh(args) => refresh::command::run(&args),
        Command::Engine(args) => engine::run(&args),
        Command::Serve(args) => serve::run(args),
        Command::Bench(args) => bench::run(args),
        Command::Completions { shell } => {
            clap_complete::generate(shell, &mut Cli::command(), "shelfish", &mut std::io::stdout());
            Ok(ExitCode::SUCCESS)
        }
    };
    outcome.unwrap_or_else(|error| {
        // Whoever read the output has seen enough of it.
        let is_pipe = |error: &std::io::Error| error.kind() == std::io::ErrorKind::BrokenPipe;
        if !error.downcast_ref().is_some_and(is_pipe) {
            eprintln!("shelfish: {}", shown(&error.to_string()));
        }
        let kept = error.downcast_ref().map(|NotPublished { error, .. }| error);
        match kept.or(error.downcast_ref()) {
            Some(PublishError::Interrupted(signal)) => ExitCode::from(128 + signal),
            _ => ExitCode::FAILURE,
        }
    })
}
