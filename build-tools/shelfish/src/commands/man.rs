//! `shelfish man`: manual pages.

use std::io::{self, Write as _};
use std::path::PathBuf;
use std::process::ExitCode;

use clap_mangen::Man;

use crate::Outcome;

/// Print a manual page, or write those of all commands.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:
  shelfish man book build | man -l -
  shelfish man -o ~/.local/share/man/man1

Exit codes: 0 if the pages were written; 1 otherwise; 2 if the usage is wrong.")]
pub struct Args {
    /// Command of the page, such as `book build` [default: the page of `shelfish`]
    #[arg(value_name = "COMMAND")]
    command: Vec<String>,
    /// Write the pages of all commands to this directory, which is created
    #[arg(short, long, value_name = "DIR", conflicts_with = "command")]
    out: Option<PathBuf>,
}

/// Writes the pages of `program`.
pub fn run(args: &Args, mut program: clap::Command) -> Outcome {
    if let Some(dir) = &args.out {
        let named = |error: io::Error| format!("{}: {error}", dir.display());
        std::fs::create_dir_all(dir).map_err(named)?;
        clap_mangen::generate_to(program, dir).map_err(named)?;
        return Ok(ExitCode::SUCCESS);
    }
    program.build();
    let mut command = &program;
    for name in &args.command {
        command = command.find_subcommand(name).ok_or_else(|| {
            let known: Vec<&str> = command
                .get_subcommands()
                .map(clap::Command::get_name)
                .collect();
            format!(
                "{name:?} is not a command of `{}`, expected: {}",
                command.get_name(),
                known.join(", ")
            )
        })?;
    }
    let mut out = io::stdout().lock();
    Man::new(command.clone()).render(&mut out)?;
    out.flush()?;
    Ok(ExitCode::SUCCESS)
}
