//! `shelfish publish` with real servers of the protocols, including kills, errors and concurrent publishers.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant, SystemTime};

use crate::common::stores::{Do, Line, Protocol, Store, run};
use crate::common::{Fixture, is_long, reshard, sample, shelfish, until};
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

/// Returns the manifests that a store may contain.
fn manifests(fixture: &Fixture) -> [Vec<u8>; 2] {
    ["old", "new"].map(|db| fs::read(fixture.path(db).join("manifest.json")).unwrap())
}

/// Verifies the database of a store, and returns its number of positions.
#[track_caller]
fn positions(store: &Store, url: &str) -> u64 {
    let verified = report(
        &store
            .run(&["verify", "--quiet", "--json", "-d", url])
            .succeeds(),
    );
    verified["positions"].as_u64().unwrap()
}

/// Tests that apply to all protocols.
fn publishes(protocol: Protocol) {
    let Some(store) = Store::start(protocol) else {
        return;
    };
    let fixture = databases();
    let (old, new, url) = (
        fixture.path("old"),
        fixture.path("new"),
        store.url("evals/monthly"),
    );
    // Uploads in several parts if the server supports this.
    let part = if protocol == Protocol::Google {
        "8MiB"
    } else {
        "4KiB"
    };
    let publish = |db: &Path, more: &[&str]| {
        let args = [
            &[
                "publish",
                text(db),
                &url,
                "--json",
                "--quiet",
                "--part-size",
                part,
            ],
            more,
        ]
        .concat();
        report(&store.run(&args).succeeds())
    };
    let shards = fixture.files("old").len() as u64 - 1;
    let planned = publish(&old, &["--dry-run"]);
    assert_eq!(
        (
            planned["sent_shards"].as_u64(),
            planned["changed"].as_bool()
        ),
        (Some(shards), Some(true))
    );
    assert!(planned["cost"]["requests_usd"].as_f64().unwrap() > 0.0);
    store
        .run(&["stats", "-d", &url])
        .fails(&["no database in", "manifest.json"]);

    let first = publish(&old, &[]);
    for field in ["sent_shards", "sent_bytes", "requests", "bytes"] {
        assert_eq!(
            first[field], planned[field],
            "{field}: the plan agrees with the upload"
        );
    }
    assert_eq!(positions(&store, &url), 1_571);
    let again = publish(&old, &[]);
    assert_eq!(
        (again["sent_bytes"].as_u64(), again["changed"].as_bool()),
        (Some(0), Some(false))
    );

    let second = publish(&new, &["--prune"]);
    let sent = second["sent_shards"].as_u64().unwrap();
    assert!(
        sent > 0 && sent < second["shards"].as_u64().unwrap(),
        "existing shards are not sent: {second}"
    );
    assert_eq!(second["removed_files"], 0, "the previous database is kept");
    assert_eq!(positions(&store, &url), 1_574);
    // A lookup in the published database.
    let fen = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq -";
    store.run(&["lookup", "-d", &url, fen]).succeeds();

    let pruned = publish(&new, &["--prune", "--keep", "1", "--grace", "0s"]);
    assert_eq!(
        pruned["removed_files"].as_u64().unwrap(),
        sent,
        "as many shards as were replaced"
    );
    assert_eq!(positions(&store, &url), 1_574);
    // Publishing the old database again sends the removed shards again.
    assert_eq!(publish(&old, &[])["sent_shards"].as_u64().unwrap(), sent);
    assert_eq!(positions(&store, &url), 1_571);
}

#[test]
fn a_database_is_published_to_s3_and_read() {
    publishes(Protocol::S3);
}

#[test]
fn a_database_is_published_to_azure_and_read() {
    publishes(Protocol::Azure);
}

#[test]
fn a_database_is_published_to_google_and_read() {
    publishes(Protocol::Google);
}

#[test]
fn files_have_their_content_types_and_other_sites_may_read_them() {
    let Some(store) = Store::start(Protocol::S3) else {
        return;
    };
    let fixture = databases();
    let (db, url) = (fixture.path("new"), store.url("evals"));
    let output = store
        .run(&["publish", text(&db), &url, "--cors"])
        .succeeds();
    assert!(
        output.contains("pages of every site may read the bucket shelf"),
        "{output}"
    );
    let output = store
        .run(&["publish", text(&db), &url, "--cors"])
        .succeeds();
    assert!(
        output.contains("pages of every site") && output.contains("0 of "),
        "{output}"
    );
    let manifest = store.headers("evals/manifest.json");
    assert!(
        manifest.contains("content-type: application/json") && manifest.contains("max-age=60"),
        "{manifest}"
    );
    let (shard, _) = fixture
        .files("new")
        .into_iter()
        .find(|(name, _)| name.ends_with(".silo"))
        .unwrap();
    let shard = store.headers(&format!("evals/{shard}"));
    assert!(
        shard.contains("content-type: model/mesh") && shard.contains("immutable"),
        "{shard}"
    );
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
        command
            .args([
                "publish",
                text(db),
                &url,
                "--jobs",
                "1",
                "--part-size",
                "4KiB",
            ])
            .args(options);
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
    let (mut left, mut uploads, start) = (BTreeMap::new(), 0, Instant::now());
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
        *left.entry(found == *before).or_insert(0) += 1;
        uploads += store.uploads();
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
        assert_eq!(
            store.uploads(),
            0,
            "killed after {limit} bytes: no incomplete upload is left"
        );
    }
    let seconds = start.elapsed().as_secs_f64();
    println!(
        "{kills} kills in {seconds:.0} s; the replaced database was left: {left:?}; {uploads} uploads were incomplete"
    );
    assert!(
        left.contains_key(&true) && uploads > 0,
        "{left:?}, {uploads} incomplete uploads"
    );
}

#[test]
fn pruning_removes_incomplete_uploads_of_other_databases_after_the_grace() {
    let Some(store) = Store::start(Protocol::S3) else {
        return;
    };
    let fixture = databases();
    let (old, new, url) = (fixture.path("old"), fixture.path("new"), store.url("evals"));
    store.run(&["publish", text(&old), &url, "-q"]).succeeds();
    let child: Arc<Mutex<Option<Child>>> = Arc::default();
    let victim = child.clone();
    let line = Line::until(
        store.at,
        |_, _| Do::Pass,
        20_000,
        move || {
            if let Some(child) = &mut *victim.lock().unwrap() {
                let _ = child.kill();
            }
        },
    );
    let mut command = store.command_at(line.at);
    command.args([
        "publish",
        text(&new),
        &url,
        "-q",
        "--jobs",
        "1",
        "--part-size",
        "4KiB",
    ]);
    *child.lock().unwrap() = Some(command.stderr(Stdio::null()).spawn().unwrap());
    end_of(&child);
    assert_eq!(store.uploads(), 1);
    let prune = |more: &[&str]| {
        store
            .run(&[&["publish", text(&old), &url, "-q", "--prune"], more].concat())
            .succeeds()
    };
    prune(&["--dry-run", "--grace", "0s"]);
    // The emulator says that each upload began in 2010.
    prune(&["--grace", "1000000h"]);
    assert_eq!(store.uploads(), 1, "another run may still send it");
    prune(&["--grace", "0s"]);
    assert_eq!(store.uploads(), 0);
    assert_eq!(positions(&store, &url), 1_571);
}

#[test]
fn two_publishers_that_send_the_same_shards_both_succeed() {
    let Some(store) = Store::start(Protocol::S3) else {
        return;
    };
    let fixture = databases();
    let (new, url) = (fixture.path("new"), store.url("evals"));
    let mut other = store.command();
    other.args(["publish", text(&new), &url, "-q", "--part-size", "4KiB"]);
    let other = Mutex::new(Some(other));
    // The other publisher sends everything before the first upload of this publisher ends.
    let line = Line::new(store.at, move |first, _| {
        if first.starts_with("POST")
            && first.contains("uploadId=")
            && let Some(mut other) = other.lock().unwrap().take()
        {
            assert!(other.stdout(Stdio::null()).status().unwrap().success());
            // The answer of S3. The emulator answers with 500.
            return Do::AnswerWith(
                "404 Not Found",
                "<Error><Code>NoSuchUpload</Code></Error>".to_owned(),
            );
        }
        Do::Pass
    });
    let publish = [
        "publish",
        text(&new),
        &url,
        "-q",
        "--jobs",
        "1",
        "--part-size",
        "4KiB",
        "--unconditional",
    ];
    run(store.command_at(line.at).args(publish)).succeeds();
    assert_eq!(positions(&store, &url), 1_574);
    assert_eq!(store.uploads(), 0);
}

/// Builds to a store, with an explicit folder for temporary files.
fn build_to(
    command: &mut Command,
    fixture: &Fixture,
    url: &str,
    source: &Path,
    more: &[&str],
) -> crate::common::Run {
    let temporary = fixture.path("temporary");
    run(command
        .args([
            "build",
            "-q",
            "--json",
            text(source),
            "-o",
            url,
            "--temp-dir",
            text(&temporary),
        ])
        .args(more))
}

/// Lists the content of the folder for temporary files.
fn kept(fixture: &Fixture) -> Vec<PathBuf> {
    fs::read_dir(fixture.path("temporary"))
        .into_iter()
        .flatten()
        .map(|entry| entry.unwrap().path())
        .collect()
}

#[test]
fn a_build_to_a_store_leaves_no_local_files() {
    for protocol in [Protocol::S3, Protocol::Azure, Protocol::Google] {
        let Some(store) = Store::start(protocol) else {
            continue;
        };
        let fixture = databases();
        let url = store.url("built");
        let old = fixture.path("old.jsonl");
        let first = report(
            &build_to(
                &mut store.command(),
                &fixture,
                &url,
                &old,
                &["--max-disk", "1GiB"],
            )
            .succeeds(),
        );
        assert_eq!(first["positions"], 1_571);
        assert_eq!(
            (
                &first["published"]["integrity"],
                &first["published"]["sent_shards"]
            ),
            (&first["integrity"], &1.into())
        );
        assert_eq!(positions(&store, &url), 1_571);
        // A build on the published database.
        let new = fixture.path("new.jsonl");
        let second = report(
            &build_to(
                &mut store.command(),
                &fixture,
                &url,
                &new,
                &["--base", &url],
            )
            .succeeds(),
        );
        assert_eq!(
            (&second["positions"], &second["base_positions"]),
            (&1_574.into(), &1_571.into())
        );
        assert_eq!(positions(&store, &url), 1_574);
        assert_eq!(kept(&fixture), Vec::<PathBuf>::new(), "{protocol:?}");
    }
}

#[test]
fn a_build_removes_leftovers_of_killed_builds_and_does_not_affect_running_builds() {
    let Some(store) = Store::start(Protocol::S3) else {
        return;
    };
    let fixture = databases();
    let url = store.url("built");
    let begin = || {
        let mut command = store.command();
        command.args([
            "build",
            "-",
            "-q",
            "-o",
            &url,
            "--temp-dir",
            text(&fixture.path("temporary")),
        ]);
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        // A build begins when it knows the kind of its input.
        child
            .stdin
            .as_mut()
            .unwrap()
            .write_all(&sample().as_bytes()[..32 << 10])
            .unwrap();
        child
    };
    let locks = || {
        kept(&fixture)
            .iter()
            .filter(|dir| dir.join(".shelfish-build/lock").is_file())
            .count()
    };
    fs::create_dir(fixture.path("temporary")).unwrap();
    let mut killed = begin();
    until("a build has begun", || locks() == 1);
    killed.kill().unwrap();
    killed.wait().unwrap();
    let left = kept(&fixture);
    assert_eq!(left.len(), 1);
    let foreign = fixture.path("temporary/shelfish-build-0123456789abcdef");
    fs::create_dir(&foreign).unwrap();
    fs::write(foreign.join("letter"), "of another program").unwrap();

    let mut running = begin();
    until("the next build has begun", || {
        locks() == 1 && !left[0].exists()
    });
    let old = fixture.path("old.jsonl");
    build_to(&mut store.command(), &fixture, &url, &old, &[]).succeeds();
    assert_eq!(
        (locks(), kept(&fixture).len()),
        (1, 2),
        "a running build and a foreign folder stay"
    );
    running.kill().unwrap();
    running.wait().unwrap();
    build_to(
        &mut store.command(),
        &fixture,
        &url,
        &fixture.path("new.jsonl"),
        &[],
    )
    .succeeds();
    assert_eq!(kept(&fixture), [foreign]);
}

#[test]
fn a_build_with_a_failed_upload_is_kept_and_can_be_published_later() {
    let Some(store) = Store::start(Protocol::S3) else {
        return;
    };
    let fixture = databases();
    let url = store.url("built");
    store
        .run(&["publish", text(&fixture.path("old")), &url, "-q"])
        .succeeds();
    let source = fixture.path("new.jsonl");
    let is_write = |first: &str| first.starts_with("PUT") && first.contains(".silo");
    let refuse = move |first: &str, _| {
        if is_write(first) {
            Do::Answer("403 Forbidden")
        } else {
            Do::Pass
        }
    };
    let line = Line::new(store.at, refuse);
    let output = build_to(&mut store.command_at(line.at), &fixture, &url, &source, &[])
        .fails(&["denies access", "is kept"]);
    assert_eq!(positions(&store, &url), 1_571);
    let [dir] = &kept(&fixture)[..] else {
        panic!("{output}")
    };
    assert!(
        output.contains(&format!("`shelfish publish {} {url}`", dir.display())),
        "{output}"
    );
    store.run(&["publish", text(dir), &url, "-q"]).succeeds();
    assert_eq!(positions(&store, &url), 1_574);
    fs::remove_dir_all(dir).unwrap();

    // Another publisher replaces the database during the build or the upload. Its database stays.
    let (old, to) = (fixture.path("old"), store.url("built"));
    let mut other = store.command();
    other.args(["publish", text(&old), &to, "-q"]);
    let other = Mutex::new(Some(other));
    let meanwhile = move |first: &str, _| {
        if first.starts_with("GET")
            && first.contains("list-type")
            && let Some(mut other) = other.lock().unwrap().take()
        {
            assert!(other.stdout(Stdio::null()).status().unwrap().success());
        }
        Do::Pass
    };
    let line = Line::new(store.at, meanwhile);
    let two = fixture.file(
        "two.jsonl",
        sample().lines().take(2).collect::<Vec<_>>().join("\n"),
    );
    build_to(&mut store.command_at(line.at), &fixture, &url, &two, &[])
        .fails(&["is kept", "Build again"]);
    assert_eq!(positions(&store, &url), 1_571);
}

#[test]
fn errors_of_a_store_are_reported_before_the_build() {
    let Some(store) = Store::start(Protocol::S3) else {
        return;
    };
    let fixture = databases();
    let source = fixture.path("new.jsonl");
    let build =
        |url: &str, more: &[&str]| build_to(&mut store.command(), &fixture, url, &source, more);
    build("s3://nobody/x", &[]).fails(&["s3://nobody/x", "bucket"]);
    build(&store.url("built"), &["--max-disk", "900000G"]).fails(&["--max-disk", "free"]);
    assert_eq!(kept(&fixture), Vec::<PathBuf>::new());
    assert_eq!(build("ftp://x/y", &[]).code, 2);
    let run = build(text(&fixture.path("here")), &[]);
    assert!(
        run.code == 2 && run.err.contains("--temp-dir"),
        "{}",
        run.err
    );
    // A `file:` URL is a folder.
    let url = format!("file://{}", fixture.path("by-url").display());
    shelfish(["build", "-q", text(&source), "-o", &url]).succeeds();
    shelfish(["verify", "-q", "-d", &url]).succeeds();
    shelfish([
        "publish",
        "-q",
        text(&fixture.path("by-url")),
        &format!("{url}-too"),
    ])
    .succeeds();
    fixture.verify("by-url-too").succeeds();
}

#[test]
#[cfg(unix)]
fn an_interrupted_build_to_a_store_leaves_no_local_files_and_keeps_the_published_database() {
    let Some(store) = Store::start(Protocol::S3) else {
        return;
    };
    let fixture = databases();
    let url = store.url("built");
    store
        .run(&["publish", text(&fixture.path("old")), &url, "-q"])
        .succeeds();
    let temporary = fixture.path("temporary");
    let mut child = store
        .command()
        .args([
            "build",
            "-q",
            "-",
            "-o",
            &url,
            "--temp-dir",
            text(&temporary),
        ])
        .stdin(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    // The build starts after it has read some lines, and waits for more.
    let mut lines = child.stdin.take().unwrap();
    std::io::Write::write_all(&mut lines, sample().as_bytes()).unwrap();
    until("the build has locked its directory", || {
        kept(&fixture)
            .iter()
            .any(|dir| dir.join(".shelfish-build/lock").exists())
    });
    // The lock is taken before signal handlers are installed. In between, a signal ends the process without cleaning
    // up.
    let status = Command::new("kill")
        .args(["-TERM", &child.id().to_string()])
        .status()
        .unwrap();
    assert!(status.success());
    let code = child.wait().unwrap().code();
    drop(lines);
    assert!([Some(143), None].contains(&code), "{code:?}");
    if code.is_some() {
        assert_eq!(kept(&fixture), Vec::<PathBuf>::new());
    }
    assert_eq!(positions(&store, &url), 1_571);
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
        .args(["publish", text(&db), &url, "-q", "--jobs", "1"])
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
fn broken_connections_and_a_busy_store_are_retried() {
    let Some(store) = Store::start(Protocol::S3) else {
        return;
    };
    let fixture = databases();
    let (db, url) = (fixture.path("new"), store.url("evals"));
    let line = Line::new(store.at, |_, n| match n % 4 {
        1 => Do::Answer("503 Slow Down"),
        2 => Do::Cut(700),
        _ => Do::Pass,
    });
    run(store
        .command_at(line.at)
        .args(["publish", text(&db), &url, "-q"]))
    .succeeds();
    assert_eq!(positions(&store, &url), 1_574);
}

#[test]
fn a_full_store_keeps_its_database() {
    let Some(store) = Store::start(Protocol::S3) else {
        return;
    };
    let fixture = databases();
    let url = store.url("evals");
    store
        .run(&["publish", text(&fixture.path("old")), &url, "-q"])
        .succeeds();
    let is_write = |first: &str| first.starts_with("PUT") && first.contains(".silo");
    let line = Line::new(store.at, move |first, _| {
        if is_write(first) {
            Do::Answer("507 Insufficient Storage")
        } else {
            Do::Pass
        }
    });
    let new = fixture.path("new");
    let args = ["publish", text(&new), &url, "-q", "--retries", "0"];
    run(store.command_at(line.at).args(args)).fails(&["507", ".silo"]);
    assert_eq!(positions(&store, &url), 1_571);
}

/// Publishes `old`, and `new` immediately before the manifest of `old` arrives.
fn publish_side_by_side(
    store: &Store,
    fixture: &Fixture,
    url: &str,
    options: &[&str],
) -> crate::common::Run {
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
        .args(["publish", text(&old), url, "-q"])
        .args(options))
}

#[test]
fn the_second_of_two_publishers_fails_and_the_databases_are_not_mixed() {
    let Some(store) = Store::start(Protocol::S3) else {
        return;
    };
    let fixture = databases();
    let url = store.url("evals");
    publish_side_by_side(&store, &fixture, &url, &[])
        .fails(&["somebody else published in the meantime"]);
    assert_eq!(positions(&store, &url), 1_574);
    // Publishing again overwrites the other database.
    store
        .run(&["publish", text(&fixture.path("old")), &url, "-q"])
        .succeeds();
    assert_eq!(positions(&store, &url), 1_571);
}

#[test]
fn an_unconditional_publisher_overwrites_a_concurrent_publication() {
    let Some(store) = Store::start(Protocol::S3) else {
        return;
    };
    let fixture = databases();
    let url = store.url("evals");
    publish_side_by_side(&store, &fixture, &url, &["--unconditional"]).succeeds();
    assert_eq!(positions(&store, &url), 1_571);
}

#[test]
fn if_cors_rules_cannot_be_set_the_commands_are_printed() {
    let fixture = databases();
    let db = fixture.path("new");
    let output = shelfish(["publish", text(&db), text(&fixture.path("site")), "--cors"]).succeeds();
    assert!(
        output.contains("Access-Control-Allow-Origin: *"),
        "{output}"
    );
    for (protocol, words) in [
        (
            Protocol::Google,
            "gcloud storage buckets update gs://shelf --cors-file=cors.json",
        ),
        (
            Protocol::Azure,
            "az storage cors add --services b --origins '*'",
        ),
    ] {
        let Some(store) = Store::start(protocol) else {
            continue;
        };
        let output = store
            .run(&["publish", text(&db), &store.url("evals"), "--cors"])
            .succeeds();
        assert!(output.contains(words), "{output}");
    }
}

#[test]
fn a_lost_answer_is_not_a_conflict() {
    let Some(store) = Store::start(Protocol::S3) else {
        return;
    };
    let fixture = databases();
    let (db, url, at) = (fixture.path("new"), store.url("evals"), store.at);
    let manifest = manifests(&fixture)[1].clone();
    // The store accepts the manifest, but the publisher receives an error.
    let line = Line::new(at, move |first, _| {
        if first.starts_with("PUT") && first.contains("/evals/manifest.json") {
            let sign = (
                "authorization",
                "AWS4-HMAC-SHA256 Credential=k/20260101/us-east-1/s3/aws4_request",
            );
            let sign = [(sign.0.to_owned(), sign.1.to_owned())];
            crate::common::stores::http(at, "PUT", "/shelf/evals/manifest.json", &sign, &manifest);
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
    let (db, url) = (fixture.path("new"), store.url("app"));
    let sign = (
        "authorization",
        "AWS4-HMAC-SHA256 Credential=k/20260101/us-east-1/s3/aws4_request",
    );
    let sign = [(sign.0.to_owned(), sign.1.to_owned())];
    crate::common::stores::http(
        store.at,
        "PUT",
        "/shelf/app/manifest.json",
        &sign,
        br#"{"name":"an app"}"#,
    );
    store
        .run(&["publish", text(&db), &url, "-q"])
        .fails(&["app/manifest.json is in the way"]);
    let (_, _, left) =
        crate::common::stores::http(store.at, "GET", "/shelf/app/manifest.json", &sign, b"");
    assert_eq!(left, br#"{"name":"an app"}"#);
    store
        .run(&["publish", text(&db), "s3://nobody/x", "-q"])
        .fails(&["s3://nobody/x", "bucket"]);
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

/// Creates a database whose first shard has a size of `bytes`. The file is sparse.
fn with_a_large_file(fixture: &Fixture, bytes: u64) -> PathBuf {
    let dir = fixture.path("large");
    fs::create_dir(&dir).unwrap();
    for (name, content) in fixture.files("new") {
        fs::write(dir.join(name), content).unwrap();
    }
    let manifest = fs::read_to_string(dir.join("manifest.json")).unwrap();
    let (head, rest) = manifest.split_once("\"bytes\":").unwrap();
    let (_, tail) = rest.split_once(',').unwrap();
    let (tail, _) = tail.split_once(",\"checksum\"").unwrap();
    let name = head.rsplit('"').nth(1).unwrap();
    fs::File::options()
        .write(true)
        .open(dir.join(name))
        .unwrap()
        .set_len(bytes)
        .unwrap();
    let text = format!("{head}\"bytes\":{bytes},{tail}");
    let sum = twox_hash::XxHash64::oneshot(0, text.as_bytes());
    fs::write(
        dir.join("manifest.json"),
        format!("{text},\"checksum\":\"{sum:016x}\"}}\n"),
    )
    .unwrap();
    dir
}

#[test]
fn a_database_can_be_published_to_a_folder() {
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
    let large = with_a_large_file(&fixture, 100_000_001);
    shelfish(["publish", text(&large), text(&to), "--pages"])
        .fails(&["GitHub Pages does not take it", "--shard-size"]);
    assert_eq!(fixture.files("site"), fixture.files("old"));
    assert_eq!(publish(&old, &[])["sent_shards"], 0);
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

#[test]
fn a_full_disk_keeps_the_published_database() {
    let fixture = databases();
    let (old, new, to) = (
        fixture.path("old"),
        fixture.path("new"),
        fixture.path("site"),
    );
    shelfish(["publish", text(&old), text(&to), "-q"]).succeeds();
    // `ulimit` limits files to 4 blocks of 512 bytes. Writing fails because SIGXFSZ is ignored.
    let mut command = std::process::Command::new("sh");
    command
        .args(["-c", "trap '' XFSZ; ulimit -f 4; exec \"$0\" \"$@\""])
        .arg(env!("CARGO_BIN_EXE_shelfish"));
    run(command.args(["publish", text(&new), text(&to), "-q"])).fails(&[".silo"]);
    fixture.verify("site").succeeds();
    assert_eq!(fixture.export("site").len(), 1_571);
}

#[test]
fn errors_of_invalid_addresses_contain_the_expected_form() {
    let fixture = Fixture::new();
    for (url, words) in [
        ("ftp://x/y", "expected s3://"),
        ("s3://", "name of a bucket"),
        ("https://x.org/y", "found https://"),
    ] {
        let run = shelfish(["publish", text(fixture.dir.path()), url]);
        assert_eq!(run.code, 2);
        assert!(run.err.contains(words), "{}", run.err);
    }
}
