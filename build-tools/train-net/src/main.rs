//! `train-net`: makes the engine's network of evaluation databases and of games.

mod database;
mod games;
mod model;
mod sample;
mod train;

use std::{
    fs,
    path::{Path, PathBuf},
    process::ExitCode,
};

use clap::Parser;
use shelfish_cli::terminal::shown::shown;

type Failure = Box<dyn std::error::Error + Send + Sync>;

/// Trains the engine's network; the same data give the same bytes.
#[derive(Parser)]
#[command(name = "train-net")]
struct Args {
    /// What to learn from: databases (directories or URLs) and files of games, as `arena selfplay` prints them
    #[arg(required = true)]
    data: Vec<String>,
    /// Where the network is written
    #[arg(short, long)]
    output: PathBuf,
    #[command(flatten)]
    plan: train::Plan,
}

fn main() -> ExitCode {
    match run(&Args::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("train-net: {}", shown(&error.to_string()));
            ExitCode::FAILURE
        }
    }
}

fn run(args: &Args) -> Result<(), Failure> {
    let mut samples = Vec::new();
    for name in &args.data {
        let before = samples.len();
        if Path::new(name).is_file() {
            games::read(Path::new(name), &mut samples)?;
        } else {
            database::read(name, &mut samples)?;
        }
        println!("{name}: {} quiet positions", samples.len() - before);
    }
    if let Some(scale) = train::fitting_scale(&samples) {
        println!("results fit a sigmoid of {scale} centipawns");
    }
    let model = train::train(samples, args.plan);
    let bytes = model.to_bytes();
    fs::write(&args.output, &bytes).map_err(|error| format!("{}: {error}", args.output.display()))?;
    println!("{}: {} bytes", args.output.display(), bytes.len());
    Ok(())
}
