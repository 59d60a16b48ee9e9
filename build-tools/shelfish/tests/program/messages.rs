//! Messages of errors that users meet: each names the cause and the remedy.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use crate::common::*;

/// Returns a database or a book whose bytes are committed.
fn committed(name: &str) -> String {
    let data = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../tests/data")
        .join(name);
    data.join("db").to_str().unwrap().to_owned()
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

/// Returns games in PGN.
fn games(fixture: &Fixture) -> PathBuf {
    fixture.file("games.pgn", "1. e4 e5 1-0\n")
}

#[test]
fn the_error_of_a_book_opened_as_evaluations_contains_the_right_command() {
    let fixture = Fixture::new();
    let (book, games) = (committed("book"), games(&fixture));
    for args in [
        &["lookup", START][..],
        &["analyse", text(&games)],
        &["bench", "--games", text(&games)],
        &["serve", "--api"],
    ] {
        let database: &[&str] = if args[0] == "serve" {
            &[&book]
        } else {
            &["-d", &book]
        };
        shelfish([args, database].concat()).fails(&[
            &book,
            "is a book of played moves",
            "`shelfish explore`",
        ]);
    }
    let out = fixture.path("out");
    let dump = fixture.file("dump", sample());
    shelfish(["build", text(&dump), "--base", &book, "-o", text(&out)])
        .fails(&["`shelfish book build`"]);
    let evaluations = committed("database");
    let words = [
        &evaluations[..],
        "is a database of evaluations",
        "`shelfish lookup`",
    ];
    shelfish(["explore", "-d", &evaluations, START]).fails(&words);
    shelfish(["book", "pick", START, "--book", &evaluations]).fails(&words);
    let base = [
        "book",
        "build",
        text(&games),
        "--base",
        &evaluations,
        "-o",
        text(&out),
    ];
    shelfish(base).fails(&["`shelfish build`"]);
}

#[test]
fn the_error_of_a_folder_without_a_database_contains_the_folder() {
    let fixture = Fixture::new();
    let www = fixture.path("www");
    fs::create_dir(&www).unwrap();
    let (www, games) = (text(&www), games(&fixture));
    let words = [&format!("no database in {www}: name the folder that contains manifest.json")[..]];
    for args in [
        &["lookup", START, "-d", www][..],
        &["explore", START, "-d", www],
        &["stats", "-d", www],
        &["export", "-d", www],
        &["extract", "--start", START, "-o", "never", "-d", www],
        &["analyse", text(&games), "-d", www],
        &["serve", "--api", www],
        &["publish", www, "elsewhere"],
        &["book", "pick", START, "--book", www],
    ] {
        shelfish(args).fails(&words);
    }
    let verify = shelfish(["verify", "-d", www]);
    assert!(
        verify.code == 1 && verify.out.contains(words[0]),
        "{}",
        verify.out
    );
    let host = Host::new(&fixture);
    let url = host.url("www");
    shelfish(["lookup", START, "-d", &url]).fails(&[
        "no database in",
        &url,
        "status 404",
        "manifest.json",
    ]);
    shelfish(["lookup", START, "-d", text(&fixture.path("missing"))]).fails(&["no database in"]);
}

#[test]
fn the_error_of_another_format_version_contains_the_remedy() {
    let fixture = Fixture::new();
    for (format, words) in [
        (0, "build it again from its dump"),
        (1, "build it again from its dump"),
        (3, "use a newer shelfish"),
    ] {
        fixture.file(
            "manifest.json",
            format!("{{\"format\":{format},\"records\":\"evaluations\"}}\n"),
        );
        shelfish([
            "stats".as_ref(),
            "-d".as_ref(),
            fixture.dir.path().as_os_str(),
        ])
        .fails(&[&format!("format {format}"), words]);
    }
}

/// Returns the program for a user without the rights of root.
#[cfg(unix)]
fn unprivileged(fixture: &Fixture) -> std::process::Command {
    use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
    use std::os::unix::process::CommandExt as _;

    let home = fixture.dir.path();
    if fs::metadata(home).unwrap().uid() != 0 {
        return command();
    }
    fs::set_permissions(home, fs::Permissions::from_mode(0o755)).unwrap();
    let mut command = std::process::Command::new(copied_program(fixture));
    command.env("XDG_CACHE_HOME", "/dev/null/none").uid(65_534);
    command
}

#[cfg(unix)]
#[test]
fn the_error_of_an_unwritable_folder_contains_the_remedy() {
    use std::os::unix::fs::PermissionsExt as _;

    let fixture = Fixture::new();
    let (dump, out) = (fixture.file("dump", sample()), fixture.path("x"));
    fs::create_dir(&out).unwrap();
    fs::set_permissions(&out, fs::Permissions::from_mode(0o555)).unwrap();
    let output = unprivileged(&fixture)
        .args(["build", text(&dump), "-o", text(&out)])
        .output()
        .unwrap();
    let found = String::from_utf8(output.stderr).unwrap();
    let expected = format!(
        "cannot write to {} (permission denied): choose another folder with `--out`",
        out.display()
    );
    assert!(
        output.status.code() == Some(1) && found.contains(&expected),
        "{found}"
    );
    let file = fixture.file("file", "");
    shelfish(["build", text(&dump), "-o", text(&file)]).fails(&[
        "cannot write to",
        text(&file),
        "--out",
    ]);
}

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

#[test]
fn the_error_of_a_file_that_is_not_a_dump_contains_the_reason() {
    let fixture = Fixture::new();
    let passwd = fixture.file(
        "passwd",
        "root:x:0:0:root:/root:/bin/bash\nbin:x:1:1:bin:/bin:/usr/sbin/nologin\n",
    );
    let words = [
        text(&passwd),
        "not a Lichess dump and not PGN: none of 2 lines is an evaluation",
    ];
    fixture.build(&[&passwd], &[]).fails(&words);
    shelfish(["parts", "plan", "--parts", "2", text(&passwd)]).fails(&words);
    let plan = fixture.path("plan.json");
    let dump = fixture.file("dump", sample());
    shelfish([
        "parts",
        "plan",
        "--parts",
        "2",
        "-q",
        "-o",
        text(&plan),
        text(&dump),
    ])
    .succeeds();
    shelfish(["parts", "partition", "--plan", text(&plan), text(&passwd)]).fails(&words);
    fixture
        .book_build(&[&passwd], &[])
        .fails(&[text(&passwd), "neither games in PGN"]);
    fixture
        .book_build(&[&dump], &[])
        .fails(&["contains evaluations, expected games"]);
}

#[test]
fn the_error_of_an_option_before_the_command_contains_the_correct_order() {
    let usage = |args: &[&str], words: &str| {
        let run = shelfish(args);
        assert!(run.code == 2 && run.err.contains(words), "{}", run.err);
    };
    usage(
        &["-d", "db", "lookup", START],
        "options follow the command: `shelfish lookup -d …`",
    );
    usage(
        &["--json", "stats"],
        "options follow the command: `shelfish stats --json …`",
    );
    usage(
        &["book", "-o", "db", "build"],
        "options follow the command: `shelfish book build -o …`",
    );
    usage(
        &["-x"],
        "options follow the command: `shelfish COMMAND -x …`",
    );
    usage(
        &["lookup", "-x", "-d", "db", START],
        "unexpected argument '-x'",
    );
}

#[test]
fn publish_seal_and_serve_also_take_the_database_after_an_option() {
    let fixture = Fixture::of_sample();
    let (db, to) = (fixture.path("db"), fixture.path("to"));
    for args in [
        &["publish", text(&db), text(&to)][..],
        &["publish", "-d", text(&db), text(&to)],
    ] {
        let _ = fs::remove_dir_all(&to);
        shelfish(args).succeeds();
        assert_eq!(fixture.files_beside_folders("to"), fixture.files("db"));
    }
    let wrong = |args: &[&str], words: &str| {
        let run = shelfish(args);
        assert!(
            run.code == 2 && run.err.contains(words),
            "{args:?}: {}",
            run.err
        );
    };
    wrong(&["publish", text(&db)], "<URL");
    wrong(&["publish", "-d", text(&db)], "DIR");
    wrong(
        &["publish", "-d", text(&db), text(&db), text(&to)],
        "cannot be used with",
    );
    wrong(&["publish", "-d", text(&db), "ftp://x"], "found ftp://");
    wrong(&["serve"], "<DIR");
    wrong(
        &["serve", text(&db), "-d", text(&db)],
        "cannot be used with",
    );
    wrong(&["parts", "seal", "--plan", "plan.json"], "DIR_OR_URL");
    let dump = fixture.file("dump", sample());
    let (plan, sorted) = (fixture.path("plan.json"), fixture.path("parts"));
    shelfish([
        "parts",
        "plan",
        "--parts",
        "1",
        "-q",
        "-o",
        text(&plan),
        text(&dump),
    ])
    .succeeds();
    let lines = shelfish([
        "parts",
        "partition",
        "-q",
        "--plan",
        text(&plan),
        text(&dump),
    ])
    .succeeds();
    let lines = crate::common::sorted(&lines).join("\n") + "\n";
    shelfish_with(
        [
            "parts",
            "encode",
            "-q",
            "--plan",
            text(&plan),
            "--part",
            "0",
            "-o",
            text(&sorted),
        ],
        lines.as_bytes(),
    )
    .succeeds();
    shelfish(["parts", "seal", "--plan", text(&plan), text(&sorted)]).succeeds();
    let host = Host::serve(["--api", "-d", text(&db)]);
    let run = shelfish(["stats", "-d", &host.url(""), "-q"]);
    assert_eq!(
        run.succeeds(),
        shelfish(["stats", "-d", text(&db), "-q"]).succeeds()
    );
}
