//! `train-net`: trains the engine's network on evaluation databases and games.

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

type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// Train the engine's network. The same data give the same bytes.
#[derive(Parser)]
#[command(
    name = "train-net",
    after_help = "Examples:
  train-net db games.txt.zst -o network.bin
  train-net https://example.org/evals --epochs 10 --result 0 -o network.bin"
)]
struct Args {
    /// Training data: databases (directories or URLs) and files of games in the format of `arena selfplay`
    #[arg(required = true)]
    data: Vec<String>,
    /// File to write
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

fn run(args: &Args) -> Result<(), BoxError> {
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
    fs::write(&args.output, &bytes)
        .map_err(|error| format!("{}: {error}", args.output.display()))?;
    println!("{}: {} bytes", args.output.display(), bytes.len());
    Ok(())
}
