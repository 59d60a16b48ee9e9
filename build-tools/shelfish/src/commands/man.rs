//! `shelfish man`: manual pages.

use std::path::PathBuf;
use std::process::ExitCode;

use crate::Outcome;

/// Write the manual pages of all commands.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:
  shelfish man ~/.local/share/man/man1

Exit codes: 0 if the pages were written; 1 otherwise; 2 if the usage is wrong.")]
pub struct Args {
    /// Directory of the pages
    #[arg(value_parser = existing)]
    dir: PathBuf,
}

fn existing(text: &str) -> Result<PathBuf, &'static str> {
    let why =
        "expected an existing directory for the pages; `shelfish help COMMAND` explains a command";
    Some(PathBuf::from(text))
        .filter(|dir| dir.is_dir())
        .ok_or(why)
}

/// Writes the pages of `program`.
pub fn run(args: &Args, program: clap::Command) -> Outcome {
    let named = |error: std::io::Error| format!("{}: {error}", args.dir.display());
    clap_mangen::generate_to(program, &args.dir).map_err(named)?;
    Ok(ExitCode::SUCCESS)
}
