//! Fits the weights of the move model to one half of evaluation dumps and validates them on the other half.
//!
//! The frozen weights came from four epochs over halves of three dumps, 2.27 million moves in total: `fit-moves --fit
//! --epochs 4 evals-sf.jsonl.zst evals-tcec.jsonl.zst@150000 evals-lichess-seed.jsonl`. Without `--fit`, the program
//! validates the built-in weights with the line codec.

mod data;

/// Modules of the library. The fitted model is the model that the library uses.
#[path = "../../../crate/src/moves"]
#[allow(dead_code, unused_imports)]
mod moves {
    pub(crate) mod board;
    pub(crate) mod context;
    pub(crate) mod features;
    pub(crate) mod history;
    pub(crate) mod line;
    pub(crate) mod order;
    pub(crate) mod prefix;
    pub(crate) mod see;
    pub(crate) mod tree;

    #[path = "../../../build-tools/fit-moves/src/fit.rs"]
    pub(crate) mod fit;
    #[path = "../../../build-tools/fit-moves/src/validate.rs"]
    pub(crate) mod validate;
}

use std::error::Error;
use std::path::PathBuf;

fn main() -> Result<(), Box<dyn Error>> {
    let mut fit = false;
    let mut without = Vec::new();
    let mut epochs = 4;
    let mut sources = Vec::new();
    let mut weights = PathBuf::from("crate/src/moves/weights.bin");
    let mut args = std::env::args().skip(1);
    while let Some(arg) = args.next() {
        match arg.as_str() {
            "--fit" => fit = true,
            "--epochs" => epochs = args.next().ok_or("--epochs N")?.parse()?,
            "--without" => without.push(args.next().ok_or("--without TABLE")?),
            "--weights" => weights = args.next().ok_or("--weights FILE")?.into(),
            source => {
                let (path, max) = source.split_once('@').unwrap_or((source, "1000000000"));
                sources.push((PathBuf::from(path), max.parse::<usize>()?));
            }
        }
    }
    if sources.is_empty() {
        return Err(
            "usage: fit-moves [--fit] [--epochs N] [--without TABLE]... [--weights FILE] DUMP[@RECORDS]...".into()
        );
    }
    let mut train = Vec::new();
    let mut held_out = Vec::new();
    for (path, max) in &sources {
        let (fitted, held) = data::read(path, *max)?;
        eprintln!(
            "{}: {} records to fit, {} to validate",
            path.display(),
            fitted.len(),
            held.len()
        );
        train.extend(fitted);
        held_out.push((path, held));
    }
    if fit {
        let bytes = moves::fit::fit(&train, epochs, &without);
        std::fs::write(&weights, &bytes)?;
        for (path, held) in &held_out {
            println!(
                "{}: {}",
                path.display(),
                moves::validate::estimate(held, &bytes)
            );
        }
    } else {
        for (path, held) in &held_out {
            println!("{}: {}", path.display(), moves::validate::validate(held));
        }
    }
    Ok(())
}
