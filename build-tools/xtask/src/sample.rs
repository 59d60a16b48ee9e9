//! `cargo xtask sample`: cuts the sample dump of `static-shards` out of a larger dump in game order.

use std::{
    collections::HashSet,
    fs::File,
    io::{BufRead, BufReader, Write},
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use anyhow::{Context, Result, bail};

use crate::shell::{relative, root, say, which};

/// Options of `cargo xtask sample`.
#[derive(clap::Args)]
pub struct Args {
    /// The dump to cut, compressed with zstd: openings first, then whole games
    dump: PathBuf,
    /// Take at least this many positions; the cut falls between two games
    #[arg(long, default_value_t = 60_000)]
    positions: usize,
    /// Leave out the positions of this dump, compressed with zstd, whose evaluations are better
    #[arg(long, value_name = "FILE", default_value = "static-shards/famous.jsonl.zst")]
    without: PathBuf,
    /// Write to this file
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

/// Cuts the sample.
pub fn run(args: &Args) -> Result<()> {
    if which(["zstd"]).is_none() {
        bail!("the program zstd was not found; this chore needs it (apt-get install zstd, brew install zstd)");
    }
    let better = positions(&root().join(&args.without))?;
    let output = args.output.clone().unwrap_or_else(|| root().join("static-shards").join("sample.jsonl.zst"));
    let file = File::create(&output).with_context(|| format!("{} could not be made", output.display()))?;
    let mut reader = Command::new("zstd").args(["-dcq"]).arg(&args.dump).stdout(Stdio::piped()).spawn()?;
    let mut writer = Command::new("zstd").args(["-cq", "-19"]).stdin(Stdio::piped()).stdout(file).spawn()?;
    let (Some(lines), Some(mut sample)) = (reader.stdout.take(), writer.stdin.take()) else {
        bail!("zstd has no pipes");
    };
    let (mut positions, mut before) = (0, 0);
    for line in BufReader::new(lines).lines() {
        let line = line?;
        if fen(&line).is_some_and(|fen| better.contains(fen)) {
            continue;
        }
        let men = men(&line);
        // Men only leave the board during a game: when they are back, the next one has begun.
        if positions >= args.positions && men > before + 2 {
            break;
        }
        writeln!(sample, "{line}")?;
        (positions, before) = (positions + 1, men);
    }
    // Closing our ends lets the one stop and the other finish.
    drop(sample);
    let _ = reader.kill();
    reader.wait()?;
    if !writer.wait()?.success() {
        bail!("zstd could not write {}", output.display());
    }
    say(format!("{positions} positions in {}", relative(&output)));
    Ok(())
}

/// The positions of a dump.
fn positions(dump: &Path) -> Result<HashSet<String>> {
    let text = Command::new("zstd").args(["-dcq"]).arg(dump).output()?;
    if !text.status.success() {
        bail!("{} could not be read", dump.display());
    }
    Ok(String::from_utf8(text.stdout)?.lines().filter_map(fen).map(str::to_owned).collect())
}

/// The position of a line of a dump.
fn fen(line: &str) -> Option<&str> {
    line.split('"').nth(3)
}

/// How many men are on the board of a line of the dump.
fn men(line: &str) -> usize {
    let board = fen(line).and_then(|fen| fen.split(' ').next()).unwrap_or_default();
    board.chars().filter(char::is_ascii_alphabetic).count()
}
