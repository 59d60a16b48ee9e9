//! `shelfish publish` with real servers of the protocols, including a folder, kills, errors and concurrent publishers.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

use crate::common::stores::{Do, Line, Protocol, Store, run};
use crate::common::{Fixture, START, is_long, reshard, sample, shelfish, until};
use serde_json::Value;

/// Returns two databases with several files: `new` with all positions, `old` without some positions.
fn databases() -> Fixture {
    Fixture::shared("published", build_databases)
}

fn build_databases(fixture: &Fixture) {
    let lines = sample();
    let fewer: String = lines
        .lines()
        .enumerate()
        .filter(|(n, _)| n % 700 != 3)
        .map(|(_, line)| format!("{line}\n"))
        .collect();
    for (name, lines) in [("new", &lines), ("old", &fewer)] {
        let dump = fixture.file(&format!("{name}.jsonl"), lines);
        fixture
            .build_to(&format!("{name}-whole"), &[&dump], &[])
            .succeeds();
        reshard(
            &fixture.path(&format!("{name}-whole")),
            &fixture.path(name),
            6_000,
        );
    }
    let names = |db: &str| {
        fixture
            .files(db)
            .into_iter()
            .map(|(name, _)| name)
            .collect::<BTreeSet<_>>()
    };
    let (new, old) = (names("new"), names("old"));
    assert!(
        new.len() > 4 && new.intersection(&old).count() > 1 && new.difference(&old).count() > 1,
        "{new:?} {old:?}"
    );
}

/// Waits for the end of a process that another thread may signal or kill.
fn end_of(child: &Mutex<Option<Child>>) -> ExitStatus {
    let mut status = None;
    until("the process ends", || {
        status = child.lock().unwrap().as_mut().unwrap().try_wait().unwrap();
        status.is_some()
    });
    status.unwrap()
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

fn report(out: &str) -> Value {
    serde_json::from_str(out).unwrap()
}

/// Verifies a database, and returns its number of positions.
#[track_caller]
fn positions_of(mut command: Command, url: &str) -> u64 {
    let verify = ["verify", "--quiet", "--json", "-d", url];
    let verified = report(&run(command.args(verify)).out);
    assert_eq!(verified["ok"], true, "{verified}");
    verified["positions"].as_u64().unwrap()
}

/// Verifies the database of a store, and returns its number of positions.
#[track_caller]
fn positions(store: &Store, url: &str) -> u64 {
    positions_of(store.command(), url)
}

/// Tests that apply to all stores, with a command in the environment of a store and the URL of a folder.
fn publishes(command: impl Fn() -> Command, url: &str) {
    let fixture = databases();
    let (old, new) = (fixture.path("old"), fixture.path("new"));
    let publish = |db: &Path, more: &[&str]| {
        let options = ["publish", text(db), url, "--json", "-q"];
        report(&run(command().args(options).args(more)).succeeds())
    };
    let shards = fixture.files("old").len() as u64 - 1;
    let planned = publish(&old, &["--dry-run"]);
    assert_eq!(
        (&planned["sent_shards"], &planned["changed"]),
        (&shards.into(), &true.into())
    );
    run(command().args(["stats", "-d", url])).fails(&["no database in", "manifest.json"]);

    let first = publish(&old, &[]);
    for field in ["sent_shards", "sent_bytes", "bytes"] {
        assert_eq!(
            first[field], planned[field],
            "{field}: the plan agrees with the upload"
        );
    }
    assert_eq!(positions_of(command(), url), 1_571);
    let again = publish(&old, &[]);
    assert_eq!(
        (&again["sent_bytes"], &again["changed"]),
        (&0.into(), &false.into())
    );

    let second = publish(&new, &["--prune"]);
    let sent = second["sent_shards"].as_u64().unwrap();
    assert!(
        sent > 0 && sent < second["shards"].as_u64().unwrap(),
        "existing shards are not sent: {second}"
    );
    assert_eq!(second["removed_files"], 0, "the previous database is kept");
    assert_eq!(positions_of(command(), url), 1_574);
    run(command().args(["lookup", "-d", url, START])).succeeds();

    let pruned = publish(&new, &["--prune", "--keep", "1", "--grace", "0s"]);
    assert_eq!(
        pruned["removed_files"], sent,
        "as many shards as were replaced"
    );
    assert_eq!(positions_of(command(), url), 1_574);
    // Publishing the old database again sends the removed shards again.
    assert_eq!(publish(&old, &[])["sent_shards"], sent);
    assert_eq!(positions_of(command(), url), 1_571);
}

#[test]
fn a_database_is_published_to_every_store_and_read() {
    let fixture = Fixture::new();
    publishes(crate::common::command, text(&fixture.path("site")));
    for protocol in [Protocol::S3, Protocol::Google] {
        if let Some(store) = Store::start(protocol) {
            publishes(|| store.command(), &store.url("evals/monthly"));
        }
    }
}

#[test]
fn files_have_their_content_types() {
    let Some(store) = Store::start(Protocol::S3) else {
        return;
    };
    let fixture = databases();
    let (db, url) = (fixture.path("new"), store.url("evals"));
    store.run(&["publish", text(&db), &url, "-q"]).succeeds();
    let shard = store
        .names()
        .into_iter()
        .find(|name| name.ends_with(".silo"));
    for (file, content_type, control) in [
        ("evals/manifest.json", "application/json", "max-age=60"),
        (&*shard.unwrap(), "model/mesh", "immutable"),
    ] {
        let head = store.headers(file);
        assert!(
            head.contains(&format!("content-type: {content_type}")) && head.contains(control),
            "{head}"
        );
    }
}

#[test]
fn an_upload_killed_at_any_byte_leaves_a_complete_database() {
    let Some(store) = Store::start(Protocol::S3) else {
        return;
    };
    let fixture = databases();
    let url = store.url("evals");
    let databases = [(fixture.path("old"), 1_571), (fixture.path("new"), 1_574)];
    let pass = |_: &str, _: u64| Do::Pass;
    // The upload also removes the replaced database, so that some kills happen during the removal.
    let options = ["-q", "--json", "--prune", "--keep", "1", "--grace", "0s"];
    let upload = |db: &Path, mut command: Command| {
        command.args(["publish", text(db), &url]).args(options);
        command
    };
    store
        .run(&["publish", text(&databases[0].0), &url, "-q"])
        .succeeds();
    // Number of bytes of a complete upload that replaces the other database, by database.
    let sizes = [1, 0].map(|n| {
        let line = Line::new(store.at, pass);
        run(&mut upload(&databases[n].0, store.command_at(line.at))).succeeds();
        line.sent.load(std::sync::atomic::Ordering::SeqCst)
    });
    let sizes = [sizes[1], sizes[0]];
    assert!(sizes.iter().all(|bytes| *bytes > 10_000), "{sizes:?}");
    let kills = if is_long() { 200 } else { 6 };
    let mut left = BTreeSet::new();
    let mut random = fastrand::Rng::with_seed(kills);
    for n in 0..kills {
        // Each upload replaces the database of the upload before.
        let (db, expected) = &databases[(n as usize + 1) % 2];
        let (_, before) = &databases[n as usize % 2];
        let bytes = sizes[(n as usize + 1) % 2];
        let child: Arc<Mutex<Option<Child>>> = Arc::default();
        let victim = child.clone();
        // A random byte in each of `kills` equal ranges.
        let limit = random.u64(1 + bytes * n / kills..=(bytes * (n + 1) / kills).min(bytes - 1));
        let line = Line::until(store.at, pass, limit, move || {
            if let Some(child) = &mut *victim.lock().unwrap() {
                let _ = child.kill();
            }
        });
        {
            let mut child = child.lock().unwrap();
            let mut command = upload(db, store.command_at(line.at));
            *child = Some(
                command
                    .stdout(Stdio::null())
                    .stderr(Stdio::null())
                    .spawn()
                    .unwrap(),
            );
        }
        end_of(&child);
        let found = positions(&store, &url);
        assert!(
            [*before, *expected].contains(&found),
            "{found} positions after a kill after {limit} bytes"
        );
        left.insert(found == *before);
        let done = report(&run(&mut upload(db, store.command())).succeeds());
        assert_eq!(
            positions(&store, &url),
            *expected,
            "killed after {limit} bytes, then run again: {done}"
        );
        let again = report(&run(&mut upload(db, store.command())).succeeds());
        assert_eq!(
            again["removed_files"], 0,
            "nothing is left of the replaced database"
        );
        let name = db.file_name().unwrap().to_str().unwrap();
        let names: Vec<String> = fixture
            .files(name)
            .into_iter()
            .map(|(name, _)| format!("evals/{name}"))
            .collect();
        assert_eq!(
            store.names(),
            names,
            "killed after {limit} bytes: nothing else is in the bucket"
        );
    }
    assert!(left.contains(&true), "{left:?}");
}

#[test]
fn an_interrupted_upload_can_be_continued() {
    let Some(store) = Store::start(Protocol::S3) else {
        return;
    };
    let fixture = databases();
    let (db, url) = (fixture.path("new"), store.url("evals"));
    let child: Arc<Mutex<Option<Child>>> = Arc::default();
    let victim = child.clone();
    let line = Line::until(
        store.at,
        |_, _| Do::Pass,
        30_000,
        move || {
            if let Some(child) = &*victim.lock().unwrap() {
                let pid = child.id().to_string();
                let _ = std::process::Command::new("kill")
                    .args(["-INT", &pid])
                    .status();
            }
        },
    );
    let mut command = store.command_at(line.at);
    command
        .args(["publish", text(&db), &url, "-q"])
        .stdout(Stdio::null())
        .stderr(Stdio::piped());
    *child.lock().unwrap() = Some(command.spawn().unwrap());
    let status = end_of(&child);
    let mut output = String::new();
    std::io::Read::read_to_string(
        &mut child
            .lock()
            .unwrap()
            .as_mut()
            .unwrap()
            .stderr
            .take()
            .unwrap(),
        &mut output,
    )
    .unwrap();
    assert_eq!(status.code(), Some(130), "{output}");
    assert!(
        output.contains("Run the command again to continue"),
        "{output}"
    );
    let rest = report(
        &store
            .run(&["publish", text(&db), &url, "-q", "--json"])
            .succeeds(),
    );
    let (sent, all) = (
        rest["sent_shards"].as_u64().unwrap(),
        rest["shards"].as_u64().unwrap(),
    );
    assert!(
        sent > 0 && sent < all,
        "sent shards are not sent again: {rest}"
    );
    assert_eq!(positions(&store, &url), 1_574);
}

#[test]
fn the_second_of_two_publishers_fails() {
    let Some(store) = Store::start(Protocol::S3) else {
        return;
    };
    let fixture = databases();
    let url = &store.url("evals");
    // `new` is published immediately before the manifest of `old` arrives.
    let (old, new) = (fixture.path("old"), fixture.path("new"));
    let mut other = store.command();
    other.args(["publish", text(&new), url, "-q"]);
    let other = Mutex::new(Some(other));
    let line = Line::new(store.at, move |first, _| {
        if first.starts_with("PUT")
            && first.contains("/evals/manifest.json")
            && let Some(mut other) = other.lock().unwrap().take()
        {
            assert!(other.stdout(Stdio::null()).status().unwrap().success());
        }
        Do::Pass
    });
    run(store
        .command_at(line.at)
        .args(["publish", text(&old), url, "-q"]))
    .fails(&["somebody else published in the meantime"]);
    assert_eq!(positions(&store, url), 1_574, "the databases are not mixed");
}

#[test]
fn a_lost_answer_is_not_a_conflict() {
    let Some(store) = Store::start(Protocol::S3) else {
        return;
    };
    let fixture = databases();
    let (db, url, store) = (fixture.path("new"), store.url("evals"), Arc::new(store));
    let manifest = fs::read(db.join("manifest.json")).unwrap();
    // The store accepts the manifest, but the publisher receives an error.
    let real = store.clone();
    let line = Line::new(store.at, move |first, _| {
        if first.starts_with("PUT") && first.contains("/evals/manifest.json") {
            real.put("evals/manifest.json", &manifest);
            return Do::Answer("412 Precondition Failed");
        }
        Do::Pass
    });
    run(store
        .command_at(line.at)
        .args(["publish", text(&db), &url, "-q"]))
    .succeeds();
    assert_eq!(positions(&store, &url), 1_574);
}

#[test]
fn a_foreign_manifest_is_an_error_and_is_kept() {
    let Some(store) = Store::start(Protocol::S3) else {
        return;
    };
    let fixture = databases();
    let (db, foreign) = (fixture.path("new"), br#"{"name":"an app"}"#);
    store.put("app/manifest.json", foreign);
    store
        .run(&["publish", text(&db), &store.url("app"), "-q"])
        .fails(&["app/manifest.json is in the way"]);
    assert_eq!(store.ask("GET", "/app/manifest.json", b"").2, foreign);
}

#[test]
fn a_damaged_file_is_not_published() {
    let fixture = databases();
    let (db, to) = (fixture.path("new"), fixture.path("site"));
    let (shard, mut bytes) = fixture
        .files("new")
        .into_iter()
        .find(|(name, _)| name.ends_with(".silo"))
        .unwrap();
    bytes[100] ^= 1;
    fs::write(db.join(&shard), bytes).unwrap();
    shelfish(["publish", text(&db), text(&to), "-q"]).fails(&[&shard, "damaged"]);
    assert!(!to.join("manifest.json").exists());
    fs::write(db.join(&shard), b"short").unwrap();
    shelfish(["publish", text(&db), text(&to), "-q"]).fails(&[&shard, "it has 5 bytes"]);
}

#[test]
fn a_folder_keeps_other_files_and_its_damaged_files_are_replaced() {
    let fixture = databases();
    let (old, new, to) = (
        fixture.path("old"),
        fixture.path("new"),
        fixture.path("site"),
    );
    let publish = |db: &Path, more: &[&str]| {
        let args = [&["publish", text(db), text(&to), "--json", "-q"], more].concat();
        report(&shelfish(args).succeeds())
    };
    publish(&old, &["--pages"]);
    assert_eq!(fixture.files("site"), fixture.files("old"));
    // The size of the site includes other files. This file is sparse.
    let film = to.join("film");
    fs::File::create(&film)
        .unwrap()
        .set_len(1_000_000_000)
        .unwrap();
    shelfish(["publish", text(&new), text(&to), "--pages"])
        .fails(&["GitHub Pages does not take it", "1000000000"]);
    fs::remove_file(film).unwrap();
    assert_eq!(fixture.files("site"), fixture.files("old"));
    fs::write(to.join("notes.txt"), "somebody's").unwrap();
    publish(&new, &["--prune"]);
    let pruned = publish(&new, &["--prune", "--keep", "1", "--grace", "0s"]);
    assert!(pruned["removed_files"].as_u64().unwrap() > 0);
    fixture.verify("site").succeeds();
    assert_eq!(
        fs::read_to_string(to.join("notes.txt")).unwrap(),
        "somebody's"
    );

    // A damaged file is replaced. An old file that another run may be removing is sent again.
    let (shard, bytes) = fixture
        .files("new")
        .into_iter()
        .find(|(name, _)| name.ends_with(".silo"))
        .unwrap();
    fs::write(to.join(&shard), vec![7; bytes.len()]).unwrap();
    assert_eq!(publish(&new, &[])["sent_shards"], 1);
    fixture.verify("site").succeeds();
    let names = |db: &str| {
        fixture
            .files(db)
            .into_iter()
            .map(|(name, _)| name)
            .collect::<BTreeSet<_>>()
    };
    let foreign = names("old")
        .difference(&names("new"))
        .next()
        .unwrap()
        .clone();
    fs::copy(old.join(&foreign), to.join(&foreign)).unwrap();
    let sent = publish(&old, &["--dry-run"])["sent_shards"]
        .as_u64()
        .unwrap();
    let long_ago = SystemTime::now() - Duration::from_secs(3 * 24 * 60 * 60);
    fs::File::options()
        .write(true)
        .open(to.join(&foreign))
        .unwrap()
        .set_modified(long_ago)
        .unwrap();
    assert_eq!(
        publish(&old, &["--dry-run"])["sent_shards"]
            .as_u64()
            .unwrap(),
        sent + 1
    );

    shelfish(["publish", text(&to), text(&to)]).fails(&["is the database itself"]);
    shelfish(["publish", text(&fixture.path("nothing")), text(&to)])
        .fails(&["no database in", "manifest.json"]);
}
