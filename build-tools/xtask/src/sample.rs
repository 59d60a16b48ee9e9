//! `cargo xtask sample`: cuts the sample dump of `static-shards` out of a larger dump, which is in the order of games.

use std::{
    collections::HashSet,
    fs::{self, File},
    io::{BufRead, BufReader, Write},
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use anyhow::{Context, Result, bail};

use crate::shell::{relative, root, say, which};

/// Options of `cargo xtask sample`.
#[derive(clap::Args)]
pub struct Args {
    /// Dump to cut, compressed with zstd: openings first, then whole games
    dump: PathBuf,
    /// Minimum number of positions; the cut is between two games
    #[arg(long, default_value_t = 60_000)]
    positions: usize,
    /// Dump with better evaluations, compressed with zstd, whose positions are left out
    #[arg(
        long,
        value_name = "FILE",
        default_value = "static-shards/famous.jsonl.zst"
    )]
    without: PathBuf,
    /// File to write [default: static-shards/sample.jsonl.zst]
    #[arg(short, long, value_name = "FILE", alias = "output")]
    out: Option<PathBuf>,
}

/// Cuts the sample.
pub fn run(args: &Args) -> Result<()> {
    if which(["zstd"]).is_none() {
        bail!(
            "the program zstd was not found; install it (apt-get install zstd, brew install zstd)"
        );
    }
    let better = positions(&root().join(&args.without))?;
    let out = args
        .out
        .clone()
        .unwrap_or_else(|| root().join("static-shards").join("sample.jsonl.zst"));
    let part = out.with_added_extension("part");
    let cut = cut(args, &better, &part).and_then(|positions| {
        fs::rename(&part, &out)?;
        Ok(positions)
    });
    let positions = cut.inspect_err(|_| drop(fs::remove_file(&part)))?;
    say(format!("{positions} positions in {}", relative(&out)));
    Ok(())
}

/// Writes the sample to a file. Returns the number of positions.
fn cut(args: &Args, better: &HashSet<String>, part: &Path) -> Result<usize> {
    let file =
        File::create(part).with_context(|| format!("{} could not be created", part.display()))?;
    let mut reader = Command::new("zstd")
        .args(["-dcq"])
        .arg(&args.dump)
        .stdout(Stdio::piped())
        .spawn()?;
    let mut writer = Command::new("zstd")
        .args(["-cq", "-19"])
        .stdin(Stdio::piped())
        .stdout(file)
        .spawn()?;
    let (Some(lines), Some(mut sample)) = (reader.stdout.take(), writer.stdin.take()) else {
        bail!("zstd was started without pipes");
    };
    let (mut positions, mut before, mut is_cut) = (0, 0, false);
    for line in BufReader::new(lines).lines() {
        let line = line?;
        if fen(&line).is_some_and(|fen| better.contains(fen)) {
            continue;
        }
        let men = men(&line);
        // During a game, pieces only leave the board: more pieces mean that the next game has begun.
        if positions >= args.positions && men > before + 2 {
            is_cut = true;
            break;
        }
        writeln!(sample, "{line}")?;
        (positions, before) = (positions + 1, men);
    }
    // The closed pipe ends the compression.
    drop(sample);
    if is_cut {
        let _ = reader.kill();
    }
    let is_read = reader.wait()?.success();
    if !writer.wait()?.success() {
        bail!("zstd could not write {}", part.display());
    }
    // A reader that was killed reports no success.
    if !is_cut && !is_read {
        bail!("zstd could not read {}", args.dump.display());
    }
    if positions == 0 {
        bail!("{} has no positions for a sample", args.dump.display());
    }
    Ok(positions)
}

/// Reads the positions of a dump.
fn positions(dump: &Path) -> Result<HashSet<String>> {
    let text = Command::new("zstd").args(["-dcq"]).arg(dump).output()?;
    if !text.status.success() {
        bail!("{} could not be read", dump.display());
    }
    Ok(String::from_utf8(text.stdout)?
        .lines()
        .filter_map(fen)
        .map(str::to_owned)
        .collect())
}

/// Returns the position of a line of a dump.
fn fen(line: &str) -> Option<&str> {
    line.split('"').nth(3)
}

/// Returns the number of pieces on the board of a line of a dump.
fn men(line: &str) -> usize {
    let board = fen(line)
        .and_then(|fen| fen.split(' ').next())
        .unwrap_or_default();
    board.chars().filter(char::is_ascii_alphabetic).count()
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test may panic")]
mod tests {
    use super::*;

    #[test]
    fn an_unreadable_or_empty_dump_keeps_the_older_sample() {
        if which(["zstd"]).is_none() {
            eprintln!("SKIPPED: the program zstd was not found");
            return;
        }
        let folder = tempfile::tempdir().unwrap();
        let [empty, sample] = ["empty.zst", "sample.zst"].map(|name| folder.path().join(name));
        let done = Command::new("zstd")
            .arg("-q")
            .arg("-o")
            .arg(&empty)
            .stdin(Stdio::null())
            .status();
        assert!(done.unwrap().success());
        fs::write(&sample, "older").unwrap();
        let famous = root().join("static-shards").join("famous.jsonl.zst");
        for dump in [folder.path().join("no-such.zst"), empty] {
            let args = Args {
                dump,
                positions: 1,
                without: famous.clone(),
                out: Some(sample.clone()),
            };
            assert!(run(&args).is_err());
            assert_eq!(fs::read_to_string(&sample).unwrap(), "older");
        }
        assert_eq!(
            fs::read_dir(folder.path()).unwrap().count(),
            2,
            "no other file is left"
        );
        // The dump of better evaluations is empty: no position is left out.
        let args = Args {
            dump: famous,
            positions: 1,
            without: folder.path().join("empty.zst"),
            out: Some(sample),
        };
        run(&args).unwrap();
        assert!(!positions(args.out.as_ref().unwrap()).unwrap().is_empty());
    }
}
