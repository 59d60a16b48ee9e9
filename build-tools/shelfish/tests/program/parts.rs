//! `shelfish parts plan`, `partition`, `encode` and `seal` in separate processes, compared with `shelfish build --plan`.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::common::stores::{Protocol, Store};
use crate::common::{Fixture, Run, command, sample, shelfish, shelfish_with, sorted, until};
use serde_json::Value;

const PARTS: usize = 3;

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

/// Two files of a dump with repeated positions and an invalid line, and a plan for them.
struct Parts {
    fixture: Fixture,
    sources: [PathBuf; 2],
    plan: PathBuf,
}

impl Parts {
    fn new(options: &[&str]) -> Parts {
        let fixture = Fixture::new();
        let lines: Vec<String> = sample().lines().map(str::to_owned).collect();
        let again: Vec<String> = lines
            .iter()
            .step_by(7)
            .map(|line| line.replace("\"depth\":", "\"depth\":1"))
            .collect();
        let one = fixture.file(
            "one.jsonl",
            lines[..1200].join("\n") + "\nno line of a dump\n",
        );
        let two = fixture.file(
            "two.jsonl.zst",
            crate::common::zstd(&[&lines[900..], &again[..]].concat().join("\n")),
        );
        let plan = fixture.path("plan.json");
        let sources = [one, two];
        let named = [text(&sources[0]), text(&sources[1])];
        let args = [
            &["parts", "plan", "--parts", "3", "-q", "-o", text(&plan)],
            options,
            &named,
        ]
        .concat();
        shelfish(args).succeeds();
        Parts {
            sources,
            plan,
            fixture,
        }
    }

    /// Runs a command with the plan.
    fn verb(&self, verb: &str, args: &[&str]) -> Run {
        self.verb_with(verb, args, "")
    }

    fn verb_with(&self, verb: &str, args: &[&str], input: &str) -> Run {
        shelfish_with(
            [&["parts", verb, "--plan", text(&self.plan)], args].concat(),
            input.as_bytes(),
        )
    }

    /// Returns all records, sorted by `sort`.
    fn sorted(&self) -> String {
        let mut lines = String::new();
        for share in ["0/2", "1/2"] {
            let named = self.sources.each_ref().map(|source| text(source));
            lines.push_str(
                &self
                    .verb(
                        "partition",
                        &[&["-q", "--share", share], &named[..]].concat(),
                    )
                    .succeeds(),
            );
        }
        let file = self.fixture.file("lines", lines);
        let sort = Command::new("sort")
            .env("LC_ALL", "C")
            .arg(&file)
            .stderr(Stdio::inherit())
            .output()
            .unwrap();
        assert!(sort.status.success());
        String::from_utf8(sort.stdout).unwrap()
    }

    fn encode(&self, lines: &str, part: usize, out: &str) -> Run {
        let prefix = format!("{part:05}\t");
        let lines: String = lines
            .split_inclusive('\n')
            .filter(|line| line.starts_with(&prefix))
            .collect();
        self.verb_with(
            "encode",
            &["--part", &part.to_string(), "-o", out, "--json"],
            &lines,
        )
    }

    /// Encodes all parts into a directory.
    fn encode_all(&self, out: &str) {
        let (lines, out) = (self.sorted(), self.fixture.path(out));
        for part in (0..PARTS).rev() {
            let report: Value =
                serde_json::from_str(&self.encode(&lines, part, text(&out)).succeeds()).unwrap();
            assert_eq!(report["part"], part);
            assert!(
                report["positions"].as_u64().unwrap() > 300,
                "parts are even: {report}"
            );
        }
    }

    fn seal(&self, out: &str) -> Run {
        let out = self.fixture.path(out);
        self.verb("seal", &["-q", "--json", text(&out)])
    }

    /// Returns the fragment of a part.
    fn fragment(&self, out: &str, part: usize) -> PathBuf {
        let folders = fs::read_dir(self.fixture.path(out))
            .unwrap()
            .map(|entry| entry.unwrap().path());
        let folder = folders.into_iter().find(|path| path.is_dir()).unwrap();
        folder.join(format!("{part:05}.json"))
    }

    /// Returns the files of a database without fragments.
    fn files(&self, db: &str) -> Vec<(String, Vec<u8>)> {
        self.fixture.files_beside_folders(db)
    }

    fn build(&self, db: &str) {
        let sources = self.sources.each_ref().map(PathBuf::as_path);
        self.fixture
            .build_to(db, &sources, &["--plan", text(&self.plan)])
            .succeeds();
    }
}

#[test]
fn separately_encoded_parts_give_the_database_of_a_build_with_the_plan() {
    for options in [
        &[][..],
        &[
            "--best-only",
            "--max-pvs",
            "1",
            "--inline-pages",
            "0B",
            "--shard-size",
            "1MiB",
        ],
    ] {
        let parts = Parts::new(options);
        parts.build("db");
        parts.encode_all("apart");
        let report: Value = serde_json::from_str(&parts.seal("apart").succeeds()).unwrap();
        assert_eq!(parts.files("apart"), parts.files("db"), "{options:?}");
        assert_eq!(
            parts.files("db").len(),
            PARTS + 1,
            "a file a part, and the manifest"
        );
        assert_eq!(report["parts"], PARTS);
        parts.fixture.verify("apart").succeeds();

        // The same fields as a build without a plan, and no others.
        let whole = options
            .iter()
            .copied()
            .filter(|option| !option.is_empty())
            .collect::<Vec<_>>();
        let sources = parts.sources.each_ref().map(PathBuf::as_path);
        parts.fixture.build_to("whole", &sources, &whole).succeeds();
        assert_eq!(parts.fixture.export("apart"), parts.fixture.export("whole"));

        // Repeating commands changes nothing.
        let before = parts.files("apart");
        parts
            .encode(&parts.sorted(), 1, text(&parts.fixture.path("apart")))
            .succeeds();
        parts.seal("apart").succeeds();
        assert_eq!(parts.files("apart"), before);
    }
}

#[test]
fn the_error_names_the_invalid_part_and_nothing_is_sealed() {
    let parts = Parts::new(&[]);
    parts.encode_all("db");
    parts.seal("db").succeeds();
    let before = parts.files("db");
    let path = parts.fragment("db", 1);
    let fragment = fs::read(&path).unwrap();
    let name = "00001.json";

    fs::write(&path, &fragment[..100]).unwrap();
    parts.seal("db").fails(&[name, "the fragment is damaged"]);

    fs::remove_file(&path).unwrap();
    fs::remove_file(parts.fragment("db", 2)).unwrap();
    parts
        .seal("db")
        .fails(&["2 of 3 parts are not encoded yet: 1, 2"]);
    assert_eq!(
        parts.files("db"),
        before,
        "the database that was there stays"
    );

    // Encoding the parts again repairs the database.
    let lines = parts.sorted();
    let db = parts.fixture.path("db");
    for part in [1, 2] {
        parts.encode(&lines, part, text(&db)).succeeds();
    }
    parts.seal("db").succeeds();
    assert_eq!(parts.files("db"), before);

    let shard = before
        .iter()
        .find(|(name, _)| name.ends_with(".silo"))
        .unwrap();
    fs::write(db.join(&shard.0), &shard.1[1..]).unwrap();
    parts.seal("db").fails(&[&shard.0, "bytes, expected"]);
    fs::remove_file(db.join(&shard.0)).unwrap();
    parts.seal("db").fails(&[&shard.0, "is missing"]);
}

#[test]
fn records_of_another_part_are_reported_by_line_number() {
    let parts = Parts::new(&[]);
    let lines = parts.sorted();
    let of = |part: &str| {
        lines
            .split_inclusive('\n')
            .filter(|line| line.starts_with(part))
            .collect::<Vec<_>>()
    };
    let (first, second) = (of("00000"), of("00001"));
    let out = parts.fixture.path("db");
    let fails = |lines: &[&str], words: &[&str]| {
        parts
            .verb_with(
                "encode",
                &["--part", "0", "-q", "-o", text(&out)],
                &lines.concat(),
            )
            .fails(words);
    };
    fails(&[first[0], first[5], first[1]], &["line 3", "below"]);
    fails(&[first[0], second[0]], &["line 2", "found part 1"]);
    // A forged record with a valid checksum.
    let forged = |payload: &[u8]| {
        use shelfish_cli::evaluations::parts::lines;
        let (part, key, _) = lines::parse(first[0].trim_end().as_bytes()).unwrap();
        let mut line = String::new();
        lines::push(&mut line, part, &key, payload);
        line
    };
    fails(&[&forged(b"")], &["line 1", "outside the limits"]);
    fails(&[&forged(&[1; 1 << 20])], &["line 1", "more than"]);
    parts
        .verb("encode", &["--part", "3", "-o", text(&out)])
        .fails(&["the plan has 3 parts, from 0 on"]);
    // No files are left.
    assert!(parts.files("db").is_empty());
    assert_eq!(
        fs::read_dir(parts.fragment("db", 0).parent().unwrap())
            .unwrap()
            .count(),
        0
    );
}

/// A killed process leaves nothing that looks like a part, and its files are removed later.
#[test]
fn a_killed_part_is_missing_and_can_be_encoded_again() {
    let parts = Parts::new(&[]);
    parts.build("db");
    let lines = parts.sorted();
    let out = parts.fixture.path("apart");
    for part in 0..2 {
        parts.encode(&lines, part, text(&out)).succeeds();
    }
    let args = [
        "parts",
        "encode",
        "--plan",
        text(&parts.plan),
        "--part",
        "2",
        "-o",
        text(&out),
        "-q",
    ];
    let mut child = command().args(args).stdin(Stdio::piped()).spawn().unwrap();
    // The encoder has started when its directory exists. It waits for a line.
    let folder = parts.fragment("apart", 0).parent().unwrap().to_owned();
    let leftovers = || {
        fs::read_dir(&folder)
            .unwrap()
            .filter(|entry| entry.as_ref().unwrap().path().is_dir())
            .count()
    };
    until("the encoder has created its directory", || leftovers() > 0);
    child.kill().unwrap();
    child.wait().unwrap();
    parts
        .seal("apart")
        .fails(&["1 of 3 parts are not encoded yet: 2"]);
    parts.encode(&lines, 2, text(&out)).succeeds();
    parts.seal("apart").succeeds();
    assert_eq!((parts.files("apart"), leftovers()), (parts.files("db"), 0));
}

#[test]
fn an_incomplete_input_is_not_a_part() {
    let parts = Parts::new(&[]);
    let lines = parts.sorted();
    let lines: Vec<&str> = lines
        .split_inclusive('\n')
        .filter(|line| line.starts_with("00001"))
        .collect();
    let encode = |out: &str, lines: &[&str], end: &str| {
        let out = parts.fixture.path(out);
        let args = ["--part", "1", "-q", "--ended", "-o", text(&out)];
        parts.verb_with("encode", &args, &(lines.concat() + end))
    };
    for count in [lines.len(), 2, 0] {
        let line = format!("line {}: the input is incomplete", count + 1);
        encode("broken", &lines[..count], "").fails(&["standard input", &line]);
    }
    assert!(!parts.fragment("broken", 1).exists() && parts.files("broken").is_empty());
    encode("whole", &lines, "\n").succeeds();
    encode("empty", &[], "\n").succeeds();
    parts
        .encode(&lines.concat(), 1, text(&parts.fixture.path("file")))
        .succeeds();
    assert_eq!(parts.files("whole"), parts.files("file"));
}

#[test]
fn parts_can_be_written_to_a_bucket() {
    let Some(store) = Store::start(Protocol::S3) else {
        return;
    };
    let parts = Parts::new(&[]);
    parts.build("db");
    let lines = parts.sorted();
    let url = store.url("evals");
    let run = |args: &[&str], input: &str| {
        let mut child = store
            .command()
            .args(args)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        std::io::Write::write_all(&mut child.stdin.take().unwrap(), input.as_bytes()).unwrap();
        assert!(
            child.wait_with_output().unwrap().status.success(),
            "{args:?}"
        );
    };
    for part in 0..PARTS {
        let prefix = format!("{part:05}\t");
        let lines: String = lines
            .split_inclusive('\n')
            .filter(|line| line.starts_with(&prefix))
            .collect();
        run(
            &[
                "parts",
                "encode",
                "--plan",
                text(&parts.plan),
                "--part",
                &part.to_string(),
                "-q",
                "-o",
                &url,
            ],
            &lines,
        );
    }
    run(
        &["parts", "seal", "--plan", text(&parts.plan), "-q", &url],
        "",
    );
    let export = store
        .command()
        .args(["export", "-d", &url])
        .output()
        .unwrap();
    assert_eq!(
        sorted(&String::from_utf8(export.stdout).unwrap()),
        parts.fixture.export("db")
    );
}
