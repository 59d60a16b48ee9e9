//! Databases whose manifest is pinned: hosts, buckets and caches cannot change an answer.

use std::fs;
use std::process::Command;

use crate::common::stores::{Protocol, Store, http, run};
use crate::common::{Fixture, Host, START, command, line, shelfish};
use shelfish::source::integrity::Integrity;

/// Part of the message about forged bytes.
const FORGED: &str = "not the bytes of this database";

const PGN: &str = "[Result \"1-0\"]\n\n1. e4 e5 1-0\n";

/// Returns the hash of the manifest of a database.
fn pin_of(fixture: &Fixture, db: &str) -> String {
    Integrity::of(&fs::read(fixture.path(db).join("manifest.json")).unwrap()).to_string()
}

/// Writes a database with the manifest and the names of `honest`, and the blocks, lists of hashes and pages of `other`.
fn forge(fixture: &Fixture, honest: &str, other: &str, forged: &str) {
    fs::create_dir_all(fixture.path(forged)).unwrap();
    for ((name, bytes), (_, other)) in fixture.files(honest).into_iter().zip(fixture.files(other)) {
        assert_eq!(bytes.len(), other.len(), "{name}");
        let bytes = if name == "manifest.json" {
            bytes
        } else {
            other
        };
        fs::write(fixture.path(forged).join(name), bytes).unwrap();
    }
}

/// Builds `honest` with depth 24 and `other` with another depth, so that both have the same layout.
fn databases_with_one_layout() -> Fixture {
    let fixture = Fixture::new();
    let build = |db: &str, depth: u16| {
        let dump = fixture.file("dump.jsonl", line(START, 20, "e2e4 e7e5", 500, depth));
        fixture
            .build_to(db, &[&dump], &["--inline-pages", "0B"])
            .succeeds();
        let files = fixture.files(db).into_iter();
        files.map(|(_, bytes)| bytes.len()).collect::<Vec<_>>()
    };
    let honest = build("honest", 24);
    assert!((9..24).any(|depth| build("other", depth) == honest));
    fixture
}

/// Returns a forgery of a database, and the hash of its manifest.
fn forged_database() -> (Fixture, String) {
    let fixture = databases_with_one_layout();
    let games = fixture.file("games.pgn", PGN);
    fixture.book_build_to("book", &[&games], &[]).succeeds();
    forge(&fixture, "honest", "other", "forged");
    let pin = pin_of(&fixture, "honest");
    (fixture, pin)
}

/// Runs all commands that read records of a database. Each command must refuse the forged database.
fn refuse(command: impl Fn() -> Command, url: &str, pin: &str, fixture: &Fixture) {
    let game = fixture.file("game.pgn", PGN);
    let (out, dump) = (fixture.path("out"), fixture.file("more.jsonl", ""));
    let [game, out, dump] = [&game, &out, &dump].map(|path| path.to_str().unwrap());
    for args in [
        &["lookup", START][..],
        &["analyse", game],
        &["extract", "--start", START, "-o", out],
        &["export"],
        &["verify"],
    ] {
        let (name, rest) = args.split_first().unwrap();
        let address = format!("{url}#{pin}");
        let args = [&[*name, "-d", &address][..], rest].concat();
        let mut command = command();
        let run = run(command.args(&args));
        assert!(
            run.err.contains(FORGED) || run.out.contains(FORGED),
            "{args:?}: {} {}",
            run.out,
            run.err
        );
        assert_ne!(run.code, 0, "{args:?}");
    }
    let address = format!("{url}#{pin}");
    let mut building = command();
    run(building.args(["build", "--base", &address, dump, "-o", out])).fails(&[FORGED]);
    let mut exploring = command();
    let book = fixture.path("book");
    run(exploring.args([
        "explore",
        "-d",
        book.to_str().unwrap(),
        "--evals",
        &address,
        START,
    ]))
    .fails(&[FORGED]);
    let mut engine = command();
    let option = format!("setoption name EvalDatabase value {address}");
    let run = run(engine.args(["engine", &option, "position startpos", "go depth 3", "quit"]));
    assert!(
        run.out.contains(FORGED) && run.out.contains("bestmove"),
        "{} {}",
        run.out,
        run.err
    );
}

#[test]
fn no_command_reads_a_forged_block_of_a_pinned_database() {
    let (fixture, pin) = forged_database();
    let folder = fixture.path("forged");
    let host = Host::new(&fixture);
    for url in [folder.to_str().unwrap(), &host.url("forged")] {
        let trusting = shelfish(["lookup", "-d", url, START]).succeeds();
        assert!(
            !trusting.contains("depth 24,"),
            "{url}: the checksums of the forged database are valid"
        );
        refuse(command, url, &pin, &fixture);
    }
    for protocol in [Protocol::S3, Protocol::Google] {
        let Some(store) = Store::start(protocol) else {
            continue;
        };
        for (name, bytes) in fixture.files("forged") {
            store.put(&format!("evals/{name}"), &bytes);
        }
        refuse(|| store.command(), &store.url("evals"), &pin, &fixture);
    }
}

#[test]
fn the_api_answers_no_forged_evaluation_of_a_pinned_database() {
    let (fixture, pin) = forged_database();
    let folder = fixture.path("forged");
    let host = Host::serve(["--api", &format!("{}#{pin}", folder.display())]);
    let path = format!("/api/cloud-eval?fen={}", START.replace(' ', "%20"));
    let (status, _, body) = http(host.at(), "GET", &path, &[], b"");
    assert!(status >= 500, "{status}");
    assert!(!String::from_utf8_lossy(&body).contains("pvs"));
}

#[test]
fn no_command_reads_a_forged_count_of_a_pinned_book() {
    let fixture = Fixture::new();
    let build = |db: &str, results: &[&str]| {
        let games: Vec<String> = results
            .iter()
            .map(|result| PGN.replace("1-0", result))
            .collect();
        let games = fixture.file("games.pgn", games.join("\n"));
        fixture
            .book_build_to(db, &[&games], &["--inline-pages", "0B"])
            .succeeds();
        fixture
            .files(db)
            .iter()
            .map(|(_, bytes)| bytes.len())
            .collect::<Vec<_>>()
    };
    let honest = build("honest", &["1-0", "1-0", "0-1", "1/2-1/2"]);
    let others = [
        ["1-0", "0-1", "0-1", "1/2-1/2"],
        ["1-0", "1-0", "0-1", "0-1"],
        ["1-0", "1/2-1/2", "0-1", "1/2-1/2"],
    ];
    assert!(
        others
            .iter()
            .any(|results| build("other", results) == honest)
    );
    forge(&fixture, "honest", "other", "forged");
    let (pin, folder) = (pin_of(&fixture, "honest"), fixture.path("forged"));
    let folder = folder.to_str().unwrap();
    let trusting = shelfish(["explore", "--json", "-d", folder, START]).succeeds();
    let honest = shelfish([
        "explore",
        "--json",
        "-d",
        fixture.path("honest").to_str().unwrap(),
        START,
    ])
    .succeeds();
    assert_ne!(
        trusting, honest,
        "the checksums of the forged book are valid"
    );
    let address = format!("{folder}#{pin}");
    let pinned = shelfish(["explore", "-d", &address, START]);
    assert!(
        pinned.code != 0 && pinned.err.contains(FORGED),
        "{} {}",
        pinned.out,
        pinned.err
    );
    for args in [
        &["export"][..],
        &["verify"],
        &["extract", "--start", START, "-o", "out"],
    ] {
        let run = shelfish([args, &["-d", &address]].concat());
        assert!(
            run.code != 0 && (run.err.contains(FORGED) || run.out.contains(FORGED)),
            "{args:?}: {}",
            run.err
        );
    }
}
