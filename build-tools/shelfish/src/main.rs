//! `shelfish`: builds, reads, verifies and serves databases of chess evaluations.

use std::process::ExitCode;

use clap::{CommandFactory, Parser, Subcommand};
use shelfish_cli::{build, serve};

/// Takes chess evaluations off the shelf: builds, reads, verifies and serves static databases.
#[derive(Parser)]
#[command(name = "shelfish", version, arg_required_else_help = true)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Build a database of evaluation dumps
    Build(build::command::Args),
    /// Serve a directory over HTTP, for development
    Serve(serve::Args),
    /// Print the completions of a shell
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
}

fn main() -> ExitCode {
    let outcome = match Cli::parse().command {
        Command::Build(args) => build::command::run(args),
        Command::Serve(args) => serve::run(args),
        Command::Completions { shell } => {
            clap_complete::generate(shell, &mut Cli::command(), "shelfish", &mut std::io::stdout());
            Ok(ExitCode::SUCCESS)
        }
    };
    outcome.unwrap_or_else(|error| {
        eprintln!("shelfish: {error}");
        ExitCode::FAILURE
    })
}
