//! `shelfish refresh`: monthly updates of a site, including recovery from failures.

use std::fs;

use crate::common::host::{Behaviour, BreakingHost};
use crate::common::stores::{Protocol, Store};
use crate::common::*;
use serde_json::Value;

fn refresh(fixture: &Fixture, options: &[&str]) -> Run {
    let config = fixture.path("refresh.toml");
    let args = ["refresh", "--json", "--quiet", config.to_str().unwrap()];
    shelfish(args.iter().chain(options))
}

fn report(run: Run) -> Value {
    serde_json::from_str(&run.succeeds()).unwrap()
}

/// Creates a folder whose configuration refreshes from a file to a folder.
fn fixture(more: &str) -> Fixture {
    let fixture = Fixture::new();
    fixture.file("refresh.toml", format!("sources = ['dump.zst']\nto = 'site'\n{more}"));
    fixture.file("dump.zst", zstd(&sample()));
    fixture
}

/// Returns some lines of the sample.
fn some(lines: std::ops::Range<usize>) -> Vec<u8> {
    let sample = sample();
    zstd(&sample.lines().collect::<Vec<_>>()[lines].join("\n"))
}

#[test]
fn the_first_run_builds_and_publishes_and_the_next_run_does_nothing() {
    let fixture = fixture("build = ['--max-memory', '256MiB']");
    assert_eq!(report(refresh(&fixture, &["--dry-run"]))["would"], "build, verify and publish");
    assert!(!fixture.path("site").exists() && !fixture.path("evals").exists());
    let first = report(refresh(&fixture, &[]));
    assert_eq!((&first["changed"], &first["verified"]["ok"]), (&true.into(), &true.into()));
    assert_eq!(first["built"]["positions"], sample().lines().count());
    assert_eq!(first["published"]["integrity"], first["integrity"]);
    assert_eq!(fixture.export("site"), sorted(&sample()));
    let second = report(refresh(&fixture, &[]));
    assert_eq!(
        (&second["changed"], &second["built"], &second["published"]),
        (&false.into(), &Value::Null, &Value::Null)
    );
    assert_eq!(second["integrity"], first["integrity"]);
    assert_eq!(report(refresh(&fixture, &["--dry-run"]))["would"], "do nothing: the newest is published");
    let forced = report(refresh(&fixture, &["--force"]));
    assert!(forced["built"].is_object() && forced["changed"] == false);
    fs::remove_file(fixture.path("refresh.json")).unwrap();
    assert!(report(refresh(&fixture, &[]))["built"].is_object(), "without a record, the database is built again");
}

#[test]
fn a_newer_dump_is_published_optionally_on_the_published_base() {
    for (base, expected) in [("", 800), ("base = 'published'", 1200)] {
        let fixture = fixture(base);
        fixture.file("dump.zst", some(0..700));
        report(refresh(&fixture, &[]));
        // The database is published on a host, and another machine builds.
        fs::remove_dir_all(fixture.path("evals")).unwrap();
        fixture.file("dump.zst", some(400..1200));
        let second = report(refresh(&fixture, &[]));
        assert_eq!(second["changed"], true);
        assert_eq!(fixture.export("site").len(), expected, "{base}");
    }
}

#[test]
fn selected_games_and_a_plan_count_as_sources() {
    let fixture = Fixture::new();
    let game = |moves: &str| format!("[Event \"x\"]\n\n{moves} 1-0\n");
    fixture.file("games.pgn", game("1. e4 e5"));
    let whole = fixture.file("whole.pgn", game("1. d4 d5"));
    let text = format!("sources = ['games.pgn']\nto = 'site'\nbook-build = ['--whole', '{}']", whole.display());
    fixture.file("refresh.toml", text);
    report(refresh(&fixture, &[]));
    assert_eq!(report(refresh(&fixture, &["--dry-run"]))["would"], "do nothing: the newest is published");
    fixture.file("whole.pgn", game("1. d4 d5 2. c4"));
    assert_eq!(report(refresh(&fixture, &["--dry-run"]))["would"], "build, verify and publish");

    fixture.file("dump.zst", zstd(&sample()));
    let plan = fixture.path("plan.json");
    let plan = plan.to_str().unwrap();
    let dump = fixture.path("dump.zst");
    let make_plan = |parts: &str| {
        shelfish(["plan", "--parts", parts, "-q", "-o", plan, dump.to_str().unwrap()]).succeeds();
    };
    make_plan("2");
    let text = format!("sources = ['dump.zst']\nto = 'other'\nbuild = ['--plan', '{plan}']\nstate = 'other.json'\n");
    fixture.file("refresh.toml", text + "directory = 'other-evals'");
    report(refresh(&fixture, &[]));
    assert_eq!(report(refresh(&fixture, &["--dry-run"]))["would"], "do nothing: the newest is published");
    make_plan("3");
    assert_eq!(report(refresh(&fixture, &["--dry-run"]))["would"], "build, verify and publish");
}

#[test]
fn an_interrupted_refresh_is_continued() {
    let fixture = fixture("publish = ['--pages', '--prune', '--grace', '0s', '--keep', '1']");
    fs::create_dir(fixture.path("site")).unwrap();
    // The file is sparse.
    let large = fixture.file("site/film", "");
    fs::OpenOptions::new().write(true).open(&large).unwrap().set_len(1_000_000_000).unwrap();
    refresh(&fixture, &[]).fails(&["GitHub Pages does not take it"]);
    assert!(fixture.path("evals/manifest.json").exists() && !fixture.path("site/manifest.json").exists());
    fs::remove_file(large).unwrap();
    assert_eq!(report(refresh(&fixture, &["--dry-run"]))["would"], "publish what is built");
    let second = report(refresh(&fixture, &[]));
    assert_eq!((&second["built"], &second["changed"]), (&Value::Null, &true.into()));
    fixture.file("dump.zst", some(0..300));
    report(refresh(&fixture, &[]));
    let shards = fs::read_dir(fixture.path("site")).unwrap().flatten().filter(|entry| entry.path().is_file());
    assert_eq!(shards.count(), 2, "the manifest and a shard, as the old one is pruned");
    fixture.file("dump.zst", "rubbish");
    let before = fixture.export("site");
    refresh(&fixture, &[]).fails(&["not a Lichess dump"]);
    assert_eq!(fixture.export("site"), before);
}

#[test]
fn a_build_on_a_replaced_base_is_repeated() {
    let fixture = fixture("base = 'published'\npublish = ['--pages']");
    fixture.file("dump.zst", some(0..700));
    report(refresh(&fixture, &[]));
    // The database is built, but not published.
    let film = fixture.file("site/film", "");
    fs::OpenOptions::new().write(true).open(&film).unwrap().set_len(1_000_000_000).unwrap();
    fixture.file("dump.zst", some(700..800));
    refresh(&fixture, &[]).fails(&["GitHub Pages does not take it"]);
    fs::remove_file(film).unwrap();
    assert_eq!(report(refresh(&fixture, &["--dry-run"]))["would"], "publish what is built");
    let more = fixture.file("more.zst", some(800..900));
    let base = fixture.path("site").to_str().unwrap().to_owned();
    fixture.build_to("site", &[&more], &["--base", &base]).succeeds();
    let third = report(refresh(&fixture, &[]));
    assert!(third["built"].is_object());
    assert_eq!(fixture.export("site").len(), 900);
}

#[test]
fn an_unchanged_dump_on_a_host_is_recognised_by_checksum_or_etag() {
    use sha2::{Digest, Sha256};

    let file = zstd(&sample());
    let sum: String = Sha256::digest(&file).iter().map(|byte| format!("{byte:02x}")).collect();
    for sums in [String::new(), format!("{sum}  dump.zst\n")] {
        let host = BreakingHost::new(file.clone(), Behaviour { sums: sums.clone(), ..Behaviour::default() });
        let fixture = fixture("");
        fixture.file("refresh.toml", format!("sources = ['{}']\nto = 'site'", host.url("dump.zst")));
        let first = report(refresh(&fixture, &[]));
        assert_eq!(first["built"]["downloads"][0]["published"], !sums.is_empty());
        assert_eq!(report(refresh(&fixture, &[]))["built"], Value::Null, "{sums}");
        let state = fs::read_to_string(fixture.path("refresh.json")).unwrap();
        assert!(state.contains(if sums.is_empty() { "\\\"old\\\"" } else { &sum }), "{state}");
    }
}

#[test]
fn a_store_can_be_refreshed() {
    let Some(store) = Store::start(Protocol::S3) else { return };
    let fixture = fixture("");
    let text = format!("sources = ['dump.zst']\nto = '{}'\nbase = 'published'", store.url("evals"));
    fixture.file("refresh.toml", text);
    let config = fixture.path("refresh.toml");
    let run = || report(store.run(&["refresh", "--json", "--quiet", config.to_str().unwrap()]));
    assert_eq!(run()["changed"], true);
    assert_eq!(run()["built"], Value::Null);
    fs::remove_dir_all(fixture.path("evals")).unwrap();
    fixture.file("dump.zst", zstd(&line("8/8/8/4k3/8/4K3/4P3/8 w - -", 7, "e3d3", 9, 99)));
    let third = run();
    assert_eq!(
        (&third["changed"], &third["built"]["base_positions"]),
        (&true.into(), &sample().lines().count().into())
    );
}

#[test]
fn errors_of_the_configuration_are_reported_before_the_build() {
    let fixture = fixture("");
    fixture.file("refresh.json", "[]");
    refresh(&fixture, &[]).fails(&["refresh.json", "remove it"]);
    fs::remove_file(fixture.path("refresh.json")).unwrap();
    fs::create_dir(fixture.path("site")).unwrap();
    let foreign = fixture.file("site/manifest.json", "{\"a site's own\": true}");
    refresh(&fixture, &[]).fails(&["manifest.json", "is in the way"]);
    fs::remove_file(foreign).unwrap();
    fs::remove_dir(fixture.path("site")).unwrap();
    fixture.file("refresh.toml", "sources = ['dump.zst']\nto = 'site'\nstate = 'no/state.json'");
    refresh(&fixture, &[]).fails(&["state.json", "write a small file"]);
    assert!(!fixture.path("evals").exists());
    fixture.file("refresh.toml", "sources = ['no.zst']\nto = 'site'");
    refresh(&fixture, &[]).fails(&["no.zst"]);
    fixture.file("refresh.toml", "sources = ['dump.zst']\nto = 'site'\nbuild = ['--max-disk', '900000G']");
    refresh(&fixture, &[]).fails(&["--max-disk", "free"]);
    assert!(!fixture.path("site").exists());
}

#[test]
fn a_build_respects_its_disk_limit() {
    let fixture = fixture("build = ['--max-disk', '8KiB']");
    refresh(&fixture, &[]).fails(&["--max-disk, 8192 bytes", "--min-depth"]);
    assert!(!fixture.path("site").exists() && !fixture.path("evals").exists(), "nothing is left");
}
