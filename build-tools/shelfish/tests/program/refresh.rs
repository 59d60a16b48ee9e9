//! `shelfish refresh`: monthly updates of a site, including recovery from failures.

use std::fs;
use std::path::Path;

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
    fixture.file(
        "refresh.toml",
        format!("sources = ['dump.zst']\nto = 'site'\n{more}"),
    );
    fixture.file("dump.zst", zstd(&sample()));
    fixture
}

/// Allows the next publication to lose any number of positions.
fn allow_loss(fixture: &Fixture) {
    let text = fs::read_to_string(fixture.path("refresh.toml")).unwrap();
    fixture.file(
        "refresh.toml",
        text + "
max-loss = 100",
    );
}

/// Returns some lines of the sample.
fn some(lines: std::ops::Range<usize>) -> Vec<u8> {
    let sample = sample();
    zstd(&sample.lines().collect::<Vec<_>>()[lines].join("\n"))
}

#[test]
fn the_first_run_builds_and_publishes_and_the_next_run_does_nothing() {
    let fixture = fixture("build = ['--max-memory', '256MiB']");
    assert_eq!(
        report(refresh(&fixture, &["--dry-run"]))["would"],
        "build, verify and publish"
    );
    assert!(!fixture.path("site").exists() && !fixture.path("evals").exists());
    let first = report(refresh(&fixture, &[]));
    assert_eq!(
        (&first["changed"], &first["verified"]["ok"]),
        (&true.into(), &true.into())
    );
    assert_eq!(first["built"]["positions"], sample().lines().count());
    assert_eq!(first["published"]["integrity"], first["integrity"]);
    assert_eq!(fixture.export("site"), sorted(&sample()));
    let second = report(refresh(&fixture, &[]));
    assert_eq!(
        (&second["changed"], &second["built"], &second["published"]),
        (&false.into(), &Value::Null, &Value::Null)
    );
    assert_eq!(second["integrity"], first["integrity"]);
    assert_eq!(
        report(refresh(&fixture, &["--dry-run"]))["would"],
        "do nothing: the newest is published"
    );
    let forced = report(refresh(&fixture, &["--force"]));
    assert!(forced["built"].is_object() && forced["changed"] == false);
    fs::remove_file(fixture.path("refresh.json")).unwrap();
    assert!(
        report(refresh(&fixture, &[]))["built"].is_object(),
        "without a record, the database is built again"
    );
}

#[test]
fn a_publication_that_ended_before_the_removal_of_old_files_is_completed() {
    let fixture = fixture("");
    fixture.file("dump.zst", some(0..700));
    report(refresh(&fixture, &[]));
    fixture.file("dump.zst", some(0..800));
    report(refresh(&fixture, &[]));
    // The state after a kill: the new database is published, and the old files are not removed.
    let prune = "publish = ['--prune', '--keep', '1', '--grace', '0s']";
    fixture.file(
        "refresh.toml",
        format!("sources = ['dump.zst']\nto = 'site'\n{prune}"),
    );
    let state = fs::read_to_string(fixture.path("refresh.json")).unwrap();
    let open = state.trim_end().strip_suffix('}').unwrap().trim_end();
    fixture.file("refresh.json", format!("{open},\"is_unfinished\":true}}"));
    let dry = report(refresh(&fixture, &["--dry-run"]));
    assert_eq!(
        (&dry["would"], &dry["reason"]),
        (
            &"publish what is built".into(),
            &"the last publication did not end".into()
        )
    );
    let second = report(refresh(&fixture, &[]));
    assert_eq!(
        (&second["built"], &second["changed"]),
        (&Value::Null, &false.into())
    );
    assert_eq!(second["published"]["removed_files"], 1);
    assert_eq!(
        report(refresh(&fixture, &["--dry-run"]))["would"],
        "do nothing: the newest is published"
    );
    assert_eq!(
        fs::read_to_string(fixture.path("refresh.json")).unwrap(),
        state
    );
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
fn an_update_on_a_machine_without_the_last_build_sends_the_changes_only() {
    let fixture = fixture("base = 'published'\nbuild = ['--update']");
    fixture.file("dump.zst", some(0..1200));
    report(refresh(&fixture, &[]));
    fs::remove_dir_all(fixture.path("evals")).unwrap();
    fixture.file("dump.zst", some(1200..1202));
    let published = &report(refresh(&fixture, &[]))["published"];
    let [sent, all] = ["sent_bytes", "bytes"].map(|name| published[name].as_u64().unwrap());
    assert!(2 * sent < all, "{sent} of {all} bytes");
    assert_eq!(fixture.export("site").len(), 1202);
    fixture.verify("site").succeeds();
}

#[test]
fn an_interrupted_refresh_is_continued() {
    let fixture = fixture("publish = ['--pages', '--prune', '--grace', '0s', '--keep', '1']");
    fs::create_dir(fixture.path("site")).unwrap();
    // The file is sparse.
    let large = fixture.file("site/film", "");
    fs::OpenOptions::new()
        .write(true)
        .open(&large)
        .unwrap()
        .set_len(1_000_000_000)
        .unwrap();
    refresh(&fixture, &[]).fails(&["GitHub Pages does not take it"]);
    assert!(
        fixture.path("evals/manifest.json").exists()
            && !fixture.path("site/manifest.json").exists()
    );
    fs::remove_file(large).unwrap();
    assert_eq!(
        report(refresh(&fixture, &["--dry-run"]))["would"],
        "publish what is built"
    );
    let second = report(refresh(&fixture, &[]));
    assert_eq!(
        (&second["built"], &second["changed"]),
        (&Value::Null, &true.into())
    );
    fixture.file("dump.zst", some(0..300));
    allow_loss(&fixture);
    report(refresh(&fixture, &[]));
    let shards = fs::read_dir(fixture.path("site"))
        .unwrap()
        .flatten()
        .filter(|entry| entry.path().is_file());
    assert_eq!(
        shards.count(),
        2,
        "the manifest and a shard, as the old one is pruned"
    );
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
    fs::OpenOptions::new()
        .write(true)
        .open(&film)
        .unwrap()
        .set_len(1_000_000_000)
        .unwrap();
    fixture.file("dump.zst", some(700..800));
    refresh(&fixture, &[]).fails(&["GitHub Pages does not take it"]);
    fs::remove_file(film).unwrap();
    assert_eq!(
        report(refresh(&fixture, &["--dry-run"]))["would"],
        "publish what is built"
    );
    let more = fixture.file("more.zst", some(800..900));
    let base = fixture.path("site").to_str().unwrap().to_owned();
    fixture
        .build_to("site", &[&more], &["--base", &base])
        .succeeds();
    let third = report(refresh(&fixture, &[]));
    assert!(third["built"].is_object());
    assert_eq!(fixture.export("site").len(), 900);
}

#[test]
fn an_unchanged_dump_on_a_host_is_recognised_by_checksum_or_etag() {
    use sha2::{Digest, Sha256};

    let file = zstd(&sample());
    let sum: String = Sha256::digest(&file)
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect();
    for sums in [String::new(), format!("{sum}  dump.zst\n")] {
        let host = BreakingHost::new(
            file.clone(),
            Behaviour {
                sums: sums.clone(),
                ..Behaviour::default()
            },
        );
        let fixture = fixture("");
        fixture.file(
            "refresh.toml",
            format!("sources = ['{}']\nto = 'site'", host.url("dump.zst")),
        );
        let first = report(refresh(&fixture, &[]));
        assert_eq!(
            first["built"]["downloads"][0]["published"],
            !sums.is_empty()
        );
        assert_eq!(
            report(refresh(&fixture, &[]))["built"],
            Value::Null,
            "{sums}"
        );
        let state = fs::read_to_string(fixture.path("refresh.json")).unwrap();
        assert!(
            state.contains(if sums.is_empty() { "\\\"old\\\"" } else { &sum }),
            "{state}"
        );
    }
}

#[test]
fn a_store_can_be_refreshed() {
    let Some(store) = Store::start(Protocol::S3) else {
        return;
    };
    let fixture = fixture("");
    let text = format!(
        "sources = ['dump.zst']\nto = '{}'\nbase = 'published'",
        store.url("evals")
    );
    fixture.file("refresh.toml", text);
    let config = fixture.path("refresh.toml");
    let run = || report(store.run(&["refresh", "--json", "--quiet", config.to_str().unwrap()]));
    assert_eq!(run()["changed"], true);
    assert_eq!(run()["built"], Value::Null);
    fs::remove_dir_all(fixture.path("evals")).unwrap();
    fixture.file(
        "dump.zst",
        zstd(&line("8/8/8/4k3/8/4K3/4P3/8 w - -", 7, "e3d3", 9, 99)),
    );
    let third = run();
    assert_eq!(
        (&third["changed"], &third["built"]["base_positions"]),
        (&true.into(), &sample().lines().count().into())
    );
}

#[test]
fn a_source_that_is_cut_off_does_not_replace_the_published_database() {
    let fixture = fixture("");
    let all = sample().lines().count();
    report(refresh(&fixture, &[]));
    fixture.file("dump.zst", some(0..3));
    for _ in 0..2 {
        let err =
            refresh(&fixture, &[]).fails(&["site/manifest.json was not replaced", "at most 5 %"]);
        assert!(
            err.contains("the new database has 3, a loss of 99.8 %"),
            "{err}"
        );
        assert_eq!(fixture.export("site").len(), all);
    }
    // A small loss is normal, and any loss can be allowed.
    fixture.file("dump.zst", some(0..all - 20));
    assert_eq!(report(refresh(&fixture, &[]))["changed"], true);
    fixture.file("dump.zst", some(0..3));
    refresh(&fixture, &[]).fails(&["at most 5 %"]);
    allow_loss(&fixture);
    let allowed = report(refresh(&fixture, &[]));
    assert_eq!(
        (&allowed["built"], &allowed["changed"]),
        (&Value::Null, &true.into()),
        "the kept build is published"
    );
    assert_eq!(fixture.export("site").len(), 3);
}

/// Exit codes of errors of the configuration, after which the unit of systemd must not restart the program.
#[test]
fn an_error_of_the_configuration_is_wrong_usage_and_systemd_does_not_repeat_it() {
    let fixture = fixture("");
    let deploy = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../deploy");
    let unit = fs::read_to_string(deploy.join("shelfish-refresh.service")).unwrap();
    assert!(unit.contains("\nRestartPreventExitStatus=2\n"));
    for text in [
        "sources = ['dump.zst']\nto = 'site'\nbuild = ['--min-deph', '3']",
        "sources = ['dump.zst']\nto = 'site'\nmax-loss = -1",
        "to = ",
    ] {
        fixture.file("refresh.toml", text);
        let run = refresh(&fixture, &[]);
        assert!(
            run.code == 2 && run.err.contains("refresh.toml"),
            "{text}: {}",
            run.err
        );
    }
}
