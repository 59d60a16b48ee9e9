//! The databases of this repository, built from the dumps in `static-shards` by the native program.

use std::{fs, path::PathBuf};

use anyhow::Result;

use crate::{
    shell::{call, command, program, programs, root, say, target_dir},
    stamp::Stamp,
};

/// Start of a game.
const START: &str = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq -";

/// Builds the native program.
pub fn cli() -> Result<()> {
    say("Building the shelfish program");
    programs(&["shelfish-cli"])
}

/// Builds the sample database of the site. Returns its folder.
pub fn sample() -> Result<PathBuf> {
    cli()?;
    let (dumps, database) = (
        root().join("static-shards"),
        target_dir().join("demo").join("db"),
    );
    let [sample, famous] = ["sample.jsonl.zst", "famous.jsonl.zst"].map(|name| dumps.join(name));
    let shelfish = program("shelfish");
    let stamp = Stamp::new(
        "database",
        &database,
        &[sample.clone(), famous.clone(), shelfish.clone()],
    )?;
    if !(stamp.fresh() && database.join("manifest.json").is_file()) {
        say("Building the sample database");
        fs::create_dir_all(&database)?;
        call(
            command(shelfish)
                .arg("build")
                .args([sample, famous])
                .arg("-o")
                .arg(&database),
        )?;
        stamp.set()?;
    }
    Ok(database)
}

/// Cuts the sample database of the npm package out of the sample database of the site: openings and famous games.
pub fn package_sample() -> Result<()> {
    let (sample, database) = (sample()?, root().join("static-shards/package-sample"));
    let games = root().join("static-shards").join("famous.pgn");
    let mut extract = command(program("shelfish"));
    extract
        .arg("extract")
        .arg("-d")
        .arg(sample)
        .args(["--start", START, "--pgn"])
        .arg(games);
    call(
        extract
            .args(["--max-plies", "40", "--max-size", "250KiB", "-o"])
            .arg(database),
    )
}
