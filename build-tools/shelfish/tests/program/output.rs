//! Output for people and for other programs: summaries of builds, CSV, Parquet of books, manual pages.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::common::*;

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

fn famous() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../static-shards/famous.pgn")
}

/// Exports a database and returns the fields of each line.
fn csv(fixture: &Fixture, db: &str) -> Vec<Vec<String>> {
    let text = shelfish(["export", "--format", "csv", "-d", text(&fixture.path(db))]).succeeds();
    text.lines()
        .map(|line| line.split(',').map(str::to_owned).collect())
        .collect()
}

#[test]
fn evaluations_as_csv_have_a_row_for_each_pv() {
    let fixture = Fixture::of_sample();
    let rows = csv(&fixture, "db");
    assert_eq!(rows[0], ["fen", "line", "depth", "knodes", "cp", "mate"]);
    let mut expected = Vec::new();
    for line in fixture.export("db") {
        let line: Value = serde_json::from_str(&line).unwrap();
        for evaluation in line["evals"].as_array().unwrap() {
            for pv in evaluation["pvs"].as_array().unwrap() {
                let text = |value: &Value| {
                    value
                        .as_str()
                        .map_or_else(|| value.to_string(), str::to_owned)
                };
                let values = [
                    &line["fen"],
                    &pv["line"],
                    &evaluation["depth"],
                    &evaluation["knodes"],
                ];
                let scores = [&pv["cp"], &pv["mate"]]
                    .map(|score| score.as_i64().map_or_else(String::new, |n| n.to_string()));
                expected.push([values.map(text).to_vec(), scores.to_vec()].concat());
            }
        }
    }
    let mut found = rows[1..].to_vec();
    found.sort();
    expected.sort();
    assert!(
        found == expected,
        "{} rows, expected {}",
        found.len(),
        expected.len()
    );
}

/// Results by position and move, as the JSON lines of a book have them. The move of the games that end is empty.
fn results(fixture: &Fixture, db: &str) -> BTreeMap<(String, String), [u64; 3]> {
    let mut results = BTreeMap::new();
    for line in fixture.export(db) {
        let line: Value = serde_json::from_str(&line).unwrap();
        let fen = line["fen"].as_str().unwrap();
        let ended = (String::new(), &line["ended"]);
        let moves = line["moves"]
            .as_object()
            .unwrap()
            .iter()
            .map(|(m, counts)| (m.clone(), counts));
        for (m, counts) in moves.chain([ended]) {
            let counts = [0, 1, 2].map(|n| counts[n].as_u64().unwrap());
            if counts != [0; 3] {
                results.insert((fen.to_owned(), m), counts);
            }
        }
    }
    results
}

#[test]
fn books_as_csv_and_parquet_have_a_row_for_each_move_and_bucket() {
    let fixture = Fixture::new();
    fixture.book_build_to("plain", &[&famous()], &[]).succeeds();
    let details = ["--buckets", "speeds,2000", "--average-ratings"];
    fixture
        .book_build_to("details", &[&famous()], &details)
        .succeeds();
    for db in ["plain", "details"] {
        let rows = csv(&fixture, db);
        assert_eq!(
            rows[0],
            [
                "fen",
                "move",
                "bucket",
                "white",
                "draws",
                "black",
                "rated",
                "rating_sum"
            ]
        );
        let mut found: BTreeMap<(String, String), [u64; 3]> = BTreeMap::new();
        for row in &rows[1..] {
            assert_eq!(row[2].is_empty(), db == "plain", "{row:?}");
            let sum = found.entry((row[0].clone(), row[1].clone())).or_default();
            sum.iter_mut()
                .zip(&row[3..6])
                .for_each(|(sum, count)| *sum += count.parse::<u64>().unwrap());
        }
        assert!(found == results(&fixture, db), "{db}");
        #[cfg(feature = "parquet")]
        assert!(parquet_rows(&fixture, db) == rows[1..], "{db}");
    }
}

/// Exports a database as Parquet and returns its values, as CSV has them.
#[cfg(feature = "parquet")]
fn parquet_rows(fixture: &Fixture, db: &str) -> Vec<Vec<String>> {
    use parquet::file::reader::{FileReader as _, SerializedFileReader};
    use parquet::record::Field;

    let out = fixture.path("export.parquet");
    shelfish([
        "export",
        "--format",
        "parquet",
        "-d",
        text(&fixture.path(db)),
        "-o",
        text(&out),
    ])
    .succeeds();
    let reader = SerializedFileReader::new(fs::File::open(out).unwrap()).unwrap();
    let value = |field: &Field| match field {
        Field::Null => String::new(),
        Field::Str(text) => text.clone(),
        field => field.to_string(),
    };
    let rows = reader.get_row_iter(None).unwrap().map(Result::unwrap);
    rows.map(|row| {
        row.get_column_iter()
            .map(|(_, field)| value(field))
            .collect()
    })
    .collect()
}

#[test]
fn every_command_has_a_manual_page() {
    let fixture = Fixture::new();
    let dir = fixture.path("man1");
    fs::create_dir(&dir).unwrap();
    shelfish(["man", text(&dir)]).succeeds();
    let mut names: Vec<String> = fs::read_dir(&dir)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    let help = shelfish(["--help"]).succeeds();
    let commands = help
        .lines()
        .skip_while(|line| *line != "Commands:")
        .skip(1)
        .take_while(|line| !line.is_empty());
    for command in commands
        .filter_map(|line| line.split_whitespace().next())
        .filter(|command| *command != "help")
    {
        assert!(
            names.contains(&format!("shelfish-{command}.1")),
            "{command}: {names:?}"
        );
    }
    assert!(
        names.contains(&"shelfish.1".to_owned())
            && names.contains(&"shelfish-book-build.1".to_owned())
    );
    let page = fs::read_to_string(dir.join("shelfish-book-build.1")).unwrap();
    for words in [
        ".TH shelfish-book-build 1",
        "Examples:",
        "\\-\\-max\\-plies",
        "Exit codes:",
    ] {
        assert!(page.contains(words), "{words}: {page}");
    }
}

#[test]
fn errors_name_the_thing_the_expected_value_and_the_remedy() {
    let fixture = Fixture::of_sample();
    let db = fixture.path("db");
    for (name, bytes) in [
        ("a.jsonl.xz", &b"\xfd7zXZ\0\0"[..]),
        ("a.zip", b"PK\x03\x04\x14\0\0\0"),
        (
            "both.toml",
            b"to = 'x'\nsources = ['a']\nbuild = []\nbook-build = []",
        ),
    ] {
        fs::write(fixture.path(name), bytes).unwrap();
    }
    let db = text(&db);
    let at = |name: &str| fixture.path(name).to_str().unwrap().to_owned();
    let (xz, zip, both, new) = (at("a.jsonl.xz"), at("a.zip"), at("both.toml"), at("new"));
    let down = "http://127.0.0.1:9/a.zst";
    let cases: &[(&[&str], i32, &[&str])] = &[
        (
            &["extract", "-o", &new],
            2,
            &["<DATABASE>", "<--start <FEN>|--pgn <GAMES>>"],
        ),
        (
            &["serve", &new],
            1,
            &["is not a directory", "URL of a database"],
        ),
        (&["serve", db, "--book", db], 2, &["--api"]),
        (
            &["serve", db, "--bandwidth-mbit", "-1"],
            2,
            &["'-1'", "a number above 0"],
        ),
        (&["refresh", &both], 2, &["remove one of the two"]),
        (
            &["build", down, "-o", &new],
            1,
            &["a.zst: no answer", "check the address"],
        ),
        (&["verify", "http://127.0.0.1:9/db", "-q"], 1, &[]),
        (
            &["build", &xz, "-o", &new],
            1,
            &["a.jsonl.xz", "expected a plain text, zstd", "`xz -d`"],
        ),
        (
            &["book", "build", &zip, "-o", &new],
            1,
            &["a.zip", "`unzip`"],
        ),
        (&["analyse", db, &zip], 1, &["a.zip", "`unzip`"]),
        (&["analyse", db], 2, &["a PGN file after the database"]),
        (&["man", &new], 2, &["an existing directory"]),
        (&["endgames", "index", &new], 1, &["No such file"]),
        (&["stats", ""], 2, &["argument 2 is empty"]),
        (&["build", db, "--out="], 2, &["argument 3 is empty"]),
        (
            &["build", db, "-o", &new, "--threads", "-1"],
            2,
            &["'-1'", "an integer from 1 to 1024"],
        ),
        (
            &["serve", db, "--port", "x"],
            2,
            &["'x'", "an integer from 0 to 65535"],
        ),
        (
            &["build", db, "-o", &new, "--max-memory", "1XB"],
            2,
            &["unknown unit \"xb\"", "GiB"],
        ),
    ];
    for (args, code, words) in cases {
        let run = shelfish(args.iter());
        assert_eq!(run.code, *code, "{args:?}: {}", run.err);
        for word in *words {
            assert!(run.err.contains(word), "{args:?}: {}", run.err);
        }
    }
    let run = stores::run(command().env("SHELFISH_TIMEOUT", "20x").args(["stats", db]));
    assert!(
        run.code == 2
            && run
                .err
                .contains("SHELFISH_TIMEOUT is invalid: unknown unit"),
        "{}",
        run.err
    );
    let out = shelfish(["verify", db]).succeeds();
    assert!(out.contains("blocks of 1 shard,"), "{out}");
}
