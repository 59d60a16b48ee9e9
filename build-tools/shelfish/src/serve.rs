//! `shelfish serve`: a static file server for development.

use std::path::PathBuf;

use crate::Outcome;

/// What to serve, and where.
#[derive(clap::Args, Debug)]
pub struct Args {
    /// The directory to serve
    dir: PathBuf,
}

/// Serves until interrupted.
///
/// # Errors
///
/// The address is taken, or the directory does not exist.
pub fn run(args: Args) -> Outcome {
    Err(format!("serving {} is not there yet", args.dir.display()).into())
}
