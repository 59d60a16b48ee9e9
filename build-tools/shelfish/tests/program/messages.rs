//! Messages of errors that users meet: each names the cause and the remedy.

use std::fs;
use std::io::Write as _;
use std::path::Path;

use crate::common::*;

#[cfg(target_os = "linux")]
#[test]
fn the_error_of_a_full_disk_contains_the_remedy() {
    let fixture = Fixture::new();
    let dump = fixture.file("dump", sample());
    fs::create_dir(fixture.path("small")).unwrap();
    let script =
        "mount -t tmpfs -o size=40k none \"$1\" || exit 77; exec \"$2\" build \"$3\" -o \"$1\"";
    let mut command = std::process::Command::new("unshare");
    command.args([
        "--user",
        "--map-root-user",
        "--mount",
        "sh",
        "-c",
        script,
        "sh",
    ]);
    command
        .arg(fixture.path("small"))
        .arg(env!("CARGO_BIN_EXE_shelfish"))
        .arg(&dump);
    let Ok(output) = command.output() else {
        return skipped("unshare is not installed");
    };
    let found = String::from_utf8(output.stderr).unwrap();
    if !found.contains("shelfish:") {
        return skipped(&format!("no file system can be mounted here: {found}"));
    }
    assert!(output.status.code() == Some(1), "{found}");
    let small = fixture.path("small");
    assert!(
        found.contains(&format!("cannot write to {}", small.display())),
        "{found}"
    );
    assert!(
        found.contains("(the disk is full): free some space"),
        "{found}"
    );
}

/// Formats texts as `pzstd` does: each frame after a skippable frame with its length.
fn pzstd(texts: &[&str]) -> Vec<u8> {
    let frames = texts.iter().map(|text| zstd(text));
    frames
        .flat_map(|frame| {
            let length = (frame.len() as u32).to_le_bytes();
            [&[0x50, 0x2a, 0x4d, 0x18, 4, 0, 0, 0][..], &length, &frame].concat()
        })
        .collect()
}

#[test]
fn the_error_of_a_truncated_file_contains_the_remedy() {
    let fixture = Fixture::new();
    let sample = sample();
    let mut bzip2 = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::default());
    bzip2.write_all(sample.as_bytes()).unwrap();
    let half = sample.len() / 2;
    let (first, second) = sample.split_at(sample[..half].rfind('\n').unwrap() + 1);
    let mut files = vec![
        ("dump.zst", zstd(&sample)),
        ("dump.gz", gzip(&sample)),
        ("dump.bz2", bzip2.finish().unwrap()),
        ("dump.pzst", pzstd(&[first, second])),
    ];
    if cfg!(feature = "parquet") {
        let path = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("../../tests/data/parquet/pyarrow-gzip.parquet");
        files.push(("dump.parquet", fs::read(path).unwrap()));
    }
    for (name, bytes) in files {
        for length in [bytes.len() / 2, bytes.len() - 3] {
            let path = fixture.file(name, &bytes[..length]);
            for threads in ["1", "4"] {
                let run = fixture.build(&[&path], &["--threads", threads]);
                run.fails(&[name, "the file is cut off", "download it again"]);
            }
        }
    }
    let games = fixture.file("games.pgn.zst", &zstd("1. e4 e5 1-0\n")[..12]);
    fixture.book_build(&[&games], &[]).fails(&[
        "games.pgn.zst",
        "the file is cut off",
        "download it again",
    ]);
}
