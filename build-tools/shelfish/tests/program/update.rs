//! `shelfish build --update`: changed blocks go to new files, and unchanged blocks stay where they are.

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::common::*;

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

/// Returns the names of the shards in a folder.
fn shards(fixture: &Fixture, db: &str) -> Vec<String> {
    fixture
        .files(db)
        .into_iter()
        .map(|(name, _)| name)
        .filter(|name| name.ends_with(".silo"))
        .collect()
}

/// Divides the sample into a database of several small shards, and dumps of a few positions each.
fn fixture_with_updates(updates: usize) -> (Fixture, Vec<std::path::PathBuf>) {
    let fixture = Fixture::new();
    let text = sample();
    let lines: Vec<&str> = text.lines().collect();
    let (most, few) = lines.split_at(lines.len() - 4 * updates);
    let dump = fixture.file("dump", most.join("\n"));
    fixture.build_to("large", &[&dump], &[]).succeeds();
    reshard(&fixture.path("large"), &fixture.path("db"), 8_000);
    let dumps = few
        .chunks(4)
        .enumerate()
        .map(|(n, lines)| fixture.file(&format!("update-{n}"), lines.join("\n")));
    let dumps = dumps.collect();
    (fixture, dumps)
}

fn update(fixture: &Fixture, dumps: &[&Path]) -> Value {
    let db = fixture.path("db");
    json(
        &fixture
            .build(
                dumps,
                &["--base", db.to_str().unwrap(), "--update", "--json"],
            )
            .succeeds(),
    )
}

#[test]
fn an_update_writes_the_changed_blocks_and_keeps_the_other_blocks_in_their_files() {
    let (fixture, dumps) = fixture_with_updates(1);
    let before = shards(&fixture, "db");
    assert!(before.len() > 2, "{before:?}");
    let contents = fixture.files("db");
    let summary = update(&fixture, &[&dumps[0]]);
    let [blocks, kept] = ["blocks", "blocks_kept"].map(|name| summary[name].as_u64().unwrap());
    assert!(0 < kept && kept < blocks, "{kept} of {blocks}");
    let after = shards(&fixture, "db");
    let new: Vec<_> = after.iter().filter(|name| !before.contains(name)).collect();
    assert_eq!(new.len(), 1, "{before:?} {after:?}");
    for (name, bytes) in contents.iter().filter(|(name, _)| after.contains(name)) {
        assert!(
            fs::read(fixture.path("db").join(name)).unwrap() == *bytes,
            "{name}"
        );
    }
    fixture.verify("db").succeeds();
    let stats = shelfish([
        "stats",
        "--json",
        "-d",
        fixture.path("db").to_str().unwrap(),
    ])
    .succeeds();
    assert!(json(&stats)["manifest"]["replaced_bytes"].as_u64().unwrap() > 0);
    fixture
        .build_to("at-once", &[&fixture.path("dump"), &dumps[0]], &[])
        .succeeds();
    assert_eq!(fixture.export("db"), fixture.export("at-once"));
}

#[test]
fn an_update_in_a_new_folder_has_the_files_of_its_base() {
    let (fixture, dumps) = fixture_with_updates(1);
    let host = Host::new(&fixture);
    let base = fixture.path("db");
    let without = fixture.build_to("none", &[&dumps[0]], &["--update"]);
    assert_eq!(without.code, 2);
    assert!(without.err.contains("--base"), "{}", without.err);
    for (folder, base) in [
        ("copied", base.to_str().unwrap()),
        ("downloaded", &*host.url("db")),
    ] {
        fixture
            .build_to(folder, &[&dumps[0]], &["--base", base, "--update"])
            .succeeds();
    }
    let before = shards(&fixture, "db");
    update(&fixture, &[&dumps[0]]);
    for folder in ["copied", "downloaded"] {
        assert!(fixture.files(folder) == fixture.files("db"), "{folder}");
        fixture.verify(folder).succeeds();
        let kept = shards(&fixture, folder);
        assert!(kept.iter().filter(|name| before.contains(name)).count() > 1);
    }
}

#[test]
fn a_build_without_the_option_compacts_an_updated_database_to_the_bytes_of_a_single_build() {
    let (fixture, dumps) = fixture_with_updates(6);
    for dump in &dumps {
        update(&fixture, &[dump]);
        fixture.verify("db").succeeds();
    }
    let sources: Vec<_> = std::iter::once(fixture.path("dump")).chain(dumps).collect();
    fixture
        .build_to(
            "at-once",
            &sources.iter().map(AsRef::as_ref).collect::<Vec<_>>(),
            &[],
        )
        .succeeds();
    assert_eq!(fixture.export("db"), fixture.export("at-once"));
    let db = fixture.path("db");
    fixture
        .build(&[], &["--base", db.to_str().unwrap()])
        .succeeds();
    assert!(fixture.files("db") == fixture.files("at-once"));
}

#[test]
fn files_whose_blocks_are_mostly_replaced_are_emptied_by_the_next_update() {
    let (fixture, dumps) = fixture_with_updates(2);
    let live = |file: &str| {
        let manifest = json(&fs::read_to_string(fixture.path("db/manifest.json")).unwrap());
        let shard = manifest["shards"]
            .as_array()
            .unwrap()
            .iter()
            .find(|shard| shard["file"] == file)?
            .clone();
        Some((shard["live"].as_u64(), shard["bytes"].as_u64().unwrap()))
    };
    let before = shards(&fixture, "db");
    // Every position has new evaluations, except for those of a few blocks at the end of the order.
    let text = sample().replace("\"depth\":17", "\"depth\":22");
    let most = text
        .lines()
        .filter(|line| line.contains('p'))
        .take(900)
        .collect::<Vec<_>>()
        .join("\n");
    update(&fixture, &[&fixture.file("most", most)]);
    fixture.verify("db").succeeds();
    let small: Vec<&String> = before
        .iter()
        .filter(|file| matches!(live(file), Some((Some(live), bytes)) if 2 * live < bytes))
        .collect();
    update(&fixture, &[&dumps[0]]);
    fixture.verify("db").succeeds();
    for file in small {
        assert_eq!(live(file), None, "{file}");
        assert!(!fixture.path("db").join(file).exists());
    }
}

#[test]
fn an_update_of_a_book_counts_as_a_single_build() {
    let fixture = Fixture::new();
    let games = |first: usize| {
        let moves = ["1. e4 e5", "1. d4 d5", "1. c4 c5", "1. Nf3 Nf6"];
        let all: Vec<String> = (first..first + 3)
            .map(|n| {
                format!(
                    "[Round \"{n}\"]\n[Result \"1-0\"]\n\n{} 1-0\n",
                    moves[n % 4]
                )
            })
            .collect();
        all.join("\n")
    };
    let [one, two] = [0, 3].map(|first| fixture.file(&format!("{first}.pgn"), games(first)));
    fixture
        .book_build_to("at-once", &[&one, &two], &[])
        .succeeds();
    fixture.book_build(&[&one], &[]).succeeds();
    let db = fixture.path("db");
    fixture
        .book_build(&[&two], &["--base", db.to_str().unwrap(), "--update"])
        .succeeds();
    fixture.verify("db").succeeds();
    assert_eq!(fixture.export("db"), fixture.export("at-once"));
}
