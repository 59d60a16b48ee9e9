//! `shelfish refresh`: monthly updates of a site, including recovery from failures.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::common::host::{Behaviour, BreakingHost};
use crate::common::stores::{Protocol, Store, run};
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
fn an_update_on_the_published_base_sends_only_changed_blocks() {
    let fixture = fixture("base = 'published'\nbuild = ['--update']");
    fixture.file("dump.zst", some(0..1570));
    let first = report(refresh(&fixture, &[]));
    fixture.file("dump.zst", some(1570..1574));
    let second = report(refresh(&fixture, &[]));
    let published = |report: &Value, name: &str| report["published"][name].as_u64().unwrap();
    assert_eq!(published(&second, "shards"), 2);
    assert_eq!(published(&second, "sent_shards"), 1);
    assert!(
        published(&second, "sent_bytes") < published(&first, "sent_bytes"),
        "{second}"
    );
    assert_eq!(fixture.export("site").len(), 1574);
    fixture.verify("site").succeeds();
}

#[test]
fn selected_games_and_a_plan_count_as_sources() {
    let fixture = Fixture::new();
    let game = |moves: &str| format!("[Event \"x\"]\n\n{moves} 1-0\n");
    fixture.file("games.pgn", game("1. e4 e5"));
    let whole = fixture.file("whole.pgn", game("1. d4 d5"));
    let text = format!(
        "sources = ['games.pgn']\nto = 'site'\nbook-build = ['--whole', '{}']",
        whole.display()
    );
    fixture.file("refresh.toml", text);
    report(refresh(&fixture, &[]));
    assert_eq!(
        report(refresh(&fixture, &["--dry-run"]))["would"],
        "do nothing: the newest is published"
    );
    fixture.file("whole.pgn", game("1. d4 d5 2. c4"));
    assert_eq!(
        report(refresh(&fixture, &["--dry-run"]))["would"],
        "build, verify and publish"
    );

    fixture.file("dump.zst", zstd(&sample()));
    let plan = fixture.path("plan.json");
    let plan = plan.to_str().unwrap();
    let dump = fixture.path("dump.zst");
    let make_plan = |parts: &str| {
        shelfish([
            "parts",
            "plan",
            "--parts",
            parts,
            "-q",
            "-o",
            plan,
            dump.to_str().unwrap(),
        ])
        .succeeds();
    };
    make_plan("2");
    let text = format!(
        "sources = ['dump.zst']\nto = 'other'\nbuild = ['--plan', '{plan}']\nstate = 'other.json'\n"
    );
    fixture.file("refresh.toml", text + "directory = 'other-evals'");
    report(refresh(&fixture, &[]));
    assert_eq!(
        report(refresh(&fixture, &["--dry-run"]))["would"],
        "do nothing: the newest is published"
    );
    make_plan("3");
    assert_eq!(
        report(refresh(&fixture, &["--dry-run"]))["would"],
        "build, verify and publish"
    );
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
    report(refresh(&fixture, &["--max-loss", "100"]));
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
    fixture.file(
        "refresh.toml",
        "sources = ['dump.zst']\nto = 'site'\nstate = 'no/state.json'",
    );
    refresh(&fixture, &[]).fails(&["state.json", "write a small file"]);
    assert!(!fixture.path("evals").exists());
    fixture.file("refresh.toml", "sources = ['no.zst']\nto = 'site'");
    refresh(&fixture, &[]).fails(&["no.zst"]);
    fixture.file(
        "refresh.toml",
        "sources = ['dump.zst']\nto = 'site'\nbuild = ['--max-disk', '900000G']",
    );
    refresh(&fixture, &[]).fails(&["--max-disk", "free"]);
    assert!(!fixture.path("site").exists());
}

#[test]
fn a_build_respects_its_disk_limit() {
    let fixture = fixture("build = ['--max-disk', '8KiB']");
    refresh(&fixture, &[]).fails(&["--max-disk, 8192 bytes", "--min-depth"]);
    assert!(
        !fixture.path("site").exists() && !fixture.path("evals").exists(),
        "nothing is left"
    );
}

#[test]
fn a_source_that_is_cut_off_does_not_replace_the_published_database() {
    let fixture = fixture("");
    let all = sample().lines().count();
    report(refresh(&fixture, &[]));
    fixture.file("dump.zst", some(0..3));
    for _ in 0..2 {
        let err = refresh(&fixture, &[]).fails(&[
            "site/manifest.json was not replaced",
            "at most 5 %",
            "--max-loss 100",
        ]);
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
    refresh(&fixture, &["--max-loss", "99"]).fails(&["at most 99 %"]);
    let allowed = report(refresh(&fixture, &["--max-loss", "100"]));
    assert_eq!(
        (&allowed["built"], &allowed["changed"]),
        (&Value::Null, &true.into()),
        "the kept build is published"
    );
    assert_eq!(fixture.export("site").len(), 3);

    let publish = |from: &str, more: &[&str]| {
        let paths = [from, "site"].map(|name| fixture.path(name).to_str().unwrap().to_owned());
        shelfish([&["publish", "-q", &*paths[0], &*paths[1]], more].concat())
    };
    fixture
        .build_to("all", &[&fixture.file("all.jsonl", sample())], &[])
        .succeeds();
    publish("all", &["--max-loss", "0"]).succeeds();
    publish("evals", &["--max-loss", "50", "--dry-run"])
        .fails(&["a loss of 99.8 %", "at most 50 %"]);
    publish("evals", &[]).succeeds();
}

#[test]
fn the_configuration_sets_the_share_of_positions_that_may_be_lost() {
    let fixture = fixture("max-loss = 60.5");
    report(refresh(&fixture, &[]));
    fixture.file("dump.zst", some(0..700));
    assert_eq!(report(refresh(&fixture, &[]))["changed"], true);
    fixture.file("dump.zst", some(0..200));
    refresh(&fixture, &[]).fails(&["at most 60.5 %"]);
}

#[test]
fn the_retries_of_a_build_apply_to_the_check_of_its_sources() {
    let failures = Behaviour {
        failures: vec![503; 40],
        ..Behaviour::default()
    };
    for (behaviour, words) in [
        (failures, ["after 2 attempts", "status 503"]),
        (
            Behaviour {
                fails_sums: true,
                ..Behaviour::default()
            },
            ["after 2 attempts", "the checksum"],
        ),
    ] {
        let host = BreakingHost::new(zstd(&sample()), behaviour);
        let fixture = fixture("");
        let text = format!(
            "sources = ['{}']\nto = 'site'\nbuild = ['--retries', '1']",
            host.url("dump.zst")
        );
        fixture.file("refresh.toml", text);
        refresh(&fixture, &[]).fails(&words);
    }
}

#[test]
fn a_dry_run_reports_the_reason() {
    let fixture = fixture("");
    let reason = |options: &[&str]| {
        let report = report(refresh(&fixture, &[&["--dry-run"], options].concat()));
        report["reason"]
            .as_str()
            .map(str::to_owned)
            .unwrap_or_default()
    };
    assert!(
        reason(&[]).contains("refresh.json is missing"),
        "{}",
        reason(&[])
    );
    report(refresh(&fixture, &[]));
    assert_eq!(
        (reason(&[]), reason(&["--force"])),
        (String::new(), "--force was given".to_owned())
    );
    let site = fixture.path("site/manifest.json");
    let published = fs::read(&site).unwrap();
    fs::remove_file(&site).unwrap();
    assert_eq!(reason(&[]), "nothing is published");
    fixture.file("dump.zst", some(0..700));
    assert!(reason(&[]).ends_with("dump.zst changed"), "{}", reason(&[]));
    fs::write(&site, published).unwrap();
    fixture.file(
        "refresh.toml",
        "sources = ['dump.zst']\nto = 'site'\nbuild = ['--best-only']",
    );
    assert_eq!(reason(&[]), "the options of the build changed");
    let config = fixture.path("refresh.toml");
    let text = shelfish(["refresh", "--dry-run", "-q", config.to_str().unwrap()]).succeeds();
    assert_eq!(
        text,
        "would build, verify and publish: the options of the build changed\n"
    );
}

/// Exit codes of errors of the configuration, after which the unit of systemd must not restart the program.
#[test]
fn an_error_of_the_configuration_is_wrong_usage_and_systemd_does_not_repeat_it() {
    let fixture = fixture("");
    let deploy = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../deploy");
    let unit = fs::read_to_string(deploy.join("shelfish-refresh.service")).unwrap();
    let value = |name: &str| {
        unit.lines()
            .find_map(|line| line.strip_prefix(name)?.strip_prefix('='))
            .unwrap()
    };
    for text in [
        "sources = ['dump.zst']\nto = 'site'\nbuild = ['--min-deph', '3']",
        "sources = ['dump.zst']\nto = 'site'\nmax-loss = -1",
        "sources = ['dump.zst']\nto = 'ftp://x'",
        "to = 'site'",
        "to = ",
    ] {
        fixture.file("refresh.toml", text);
        let run = refresh(&fixture, &[]);
        assert_eq!(
            run.code.to_string(),
            value("RestartPreventExitStatus"),
            "{text}: {}",
            run.err
        );
        assert!(run.err.contains("refresh.toml"), "{}", run.err);
    }
    fs::remove_file(fixture.path("refresh.toml")).unwrap();
    assert_eq!(refresh(&fixture, &[]).code, 2);
    // "at most four times a day", after the first start.
    assert!(unit.contains("an hour later, at most four times a day"));
    assert_eq!(
        [
            value("RestartSec"),
            value("StartLimitIntervalSec"),
            value("StartLimitBurst")
        ],
        ["1h", "1d", "5"]
    );
    let (limits, service) = (
        unit.find("StartLimitBurst").unwrap(),
        unit.find("[Service]").unwrap(),
    );
    assert!(
        limits < service,
        "systemd reads the limits in the section [Unit]"
    );
}

/// Returns a command that runs a program as a user without rights, and the number of the user.
#[cfg(unix)]
fn as_other_user(program: &Path) -> Option<(Command, u32)> {
    const USER: &str = "4711";
    let mut command = Command::new("setpriv");
    command.args(["--reuid", USER, "--regid", USER, "--clear-groups"]);
    let works = Command::new("setpriv")
        .args(["--reuid", USER, "--regid", USER, "--clear-groups", "true"])
        .output();
    if !works.is_ok_and(|output| output.status.success()) {
        skipped("only root can run the program as another user, by setpriv");
        return None;
    }
    command.arg(program);
    Some((command, 4711))
}

/// A container runs the program as a user without a home, and a mounted folder may belong to another user.
#[test]
#[cfg(unix)]
fn a_user_without_a_home_can_refresh_an_owned_folder_but_not_a_foreign_folder() {
    use std::os::unix::fs::{PermissionsExt, chown};

    let fixture = fixture("");
    let program = copied_program(&fixture);
    fs::set_permissions(fixture.dir.path(), PermissionsExt::from_mode(0o755)).unwrap();
    let config = fixture.path("refresh.toml");
    let refresh = || {
        let (mut command, user) = as_other_user(&program)?;
        command
            .args(["refresh", "--json", "--quiet", config.to_str().unwrap()])
            .env("HOME", "/nonexistent");
        Some((
            run(command.env_remove("XDG_CACHE_HOME").current_dir("/")),
            user,
        ))
    };
    let Some((foreign, user)) = refresh() else {
        return;
    };
    foreign.fails(&[
        "cannot write",
        "refresh.json",
        "ermission denied",
        "its user must own the mounted folder",
    ]);
    assert!(!fixture.path("evals").exists() && !fixture.path("site").exists());
    chown(fixture.dir.path(), Some(user), Some(user)).unwrap();
    assert_eq!(report(refresh().unwrap().0)["changed"], true);
    assert_eq!(report(refresh().unwrap().0)["changed"], false);
}

/// Returns a step of a workflow: its script, and its variables of the environment with their values.
fn step(workflow: &str, name: &str) -> (String, Vec<(String, String)>) {
    let (_, rest) = workflow
        .split_once(&format!("      - name: {name}\n"))
        .unwrap();
    let step: Vec<&str> = rest
        .lines()
        .take_while(|line| line.starts_with("        "))
        .collect();
    let script = step
        .iter()
        .find_map(|line| line.trim().strip_prefix("run: "))
        .unwrap()
        .to_owned();
    let variables = step
        .iter()
        .filter(|line| line.starts_with("          "))
        .filter_map(|line| line.trim().split_once(": "));
    (
        script,
        variables
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .collect(),
    )
}

/// Runs the steps of the workflow with the documented variables. GitHub sets a variable without a value to the empty text.
#[test]
#[cfg(unix)]
fn the_shipped_workflow_refreshes_a_store_with_the_documented_variables_only() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let workflow = fs::read_to_string(root.join(".github/workflows/refresh.yml")).unwrap();
    let fixture = Fixture::new();
    let (checkout, remote) = (fixture.path("checkout"), fixture.path("remote"));
    let git = |args: &[&str], at: &Path| {
        let quiet = [
            "-c",
            "user.name=t",
            "-c",
            "user.email=t@example.org",
            "-c",
            "init.defaultBranch=main",
        ];
        assert!(
            Command::new("git")
                .args(quiet)
                .args(args)
                .current_dir(at)
                .status()
                .unwrap()
                .success(),
            "{args:?}"
        );
    };
    git(&["init", "--quiet", "--bare", "remote"], fixture.dir.path());
    git(
        &["clone", "--quiet", remote.to_str().unwrap(), "checkout"],
        fixture.dir.path(),
    );
    fs::create_dir_all(checkout.join("target/release")).unwrap();
    fs::create_dir(checkout.join("deploy")).unwrap();
    std::os::unix::fs::symlink(
        env!("CARGO_BIN_EXE_shelfish"),
        checkout.join("target/release/shelfish"),
    )
    .unwrap();
    for file in ["remember.sh", "free-disk.sh"] {
        fs::copy(
            root.join("deploy").join(file),
            checkout.join("deploy").join(file),
        )
        .unwrap();
    }
    // The user edits this file. A small machine has less memory and disk.
    let config = fs::read_to_string(root.join("deploy/refresh.toml")).unwrap();
    let config = config
        .replace(
            "https://database.lichess.org/lichess_db_eval.jsonl.zst",
            "../dump.zst",
        )
        .replace("s3://my-bucket/evals", "s3://shelf/evals")
        .replace("8GiB", "256MiB")
        .replace("12GiB", "1GiB")
        .replace("[\"--prune\"", "[\"--retries\", \"0\", \"--prune\"");
    assert!(
        ["shelf/evals", "dump.zst", "--retries"]
            .iter()
            .all(|text| config.contains(text))
    );
    fs::write(checkout.join("deploy/refresh.toml"), config).unwrap();
    fs::write(checkout.join("dump.zst"), zstd(&sample())).unwrap();
    git(&["add", "deploy"], &checkout);
    git(&["commit", "--quiet", "--message", "Begin"], &checkout);
    git(&["push", "--quiet", "origin", "HEAD"], &checkout);

    let run_step = |name: &str, settings: &[(&str, &str)]| {
        let (script, variables) = step(&workflow, name);
        let mut command = Command::new("bash");
        // The shell as GitHub starts it.
        command
            .args(["--noprofile", "--norc", "-eo", "pipefail", "-c", &script])
            .current_dir(&checkout)
            .env_clear();
        command
            .env("PATH", std::env::var_os("PATH").unwrap())
            .env("HOME", fixture.dir.path());
        command.env("GITHUB_STEP_SUMMARY", fixture.path("summary"));
        for (name, value) in variables {
            // `${{ secrets.NAME }}` or `${{ vars.NAME }}`
            let key = value
                .trim_matches(['$', '{', '}', ' '])
                .rsplit('.')
                .next()
                .unwrap();
            let set = settings
                .iter()
                .find(|(set, _)| *set == key)
                .map(|(_, value)| *value);
            command.env(name, set.unwrap_or_default());
        }
        run(command.stdin(Stdio::null()))
    };
    let keys = [("AWS_ACCESS_KEY_ID", "k"), ("AWS_SECRET_ACCESS_KEY", "s")];
    // Without AWS_ENDPOINT the store is Amazon's, which this machine may not reach.
    let amazon = [&keys[..], &[("AWS_REGION", "test-region-1")]].concat();
    let err = run_step("Refresh", &amazon).fails(&["s3://shelf/evals"]);
    assert!(!err.contains("panicked"), "{err}");

    let Some(store) = Store::start(Protocol::S3) else {
        return;
    };
    let endpoint = format!("http://{}", store.at);
    let compatible = [&keys[..], &[("AWS_ENDPOINT", endpoint.as_str())]].concat();
    let out = run_step("Refresh", &compatible).succeeds();
    assert!(
        out.contains("published") && fs::read_to_string(fixture.path("summary")).unwrap() == out,
        "{out}"
    );
    run_step("Commit the state", &[]).succeeds();
    let log = Command::new("git")
        .args(["log", "--format=%s"])
        .current_dir(&remote)
        .output()
        .unwrap();
    assert!(
        String::from_utf8(log.stdout)
            .unwrap()
            .starts_with("Published sha256-")
    );
    let again = run_step("Refresh", &compatible).succeeds();
    assert!(again.contains("nothing to do"), "{again}");
    run_step("Commit the state", &[]).succeeds();
}

#[test]
#[cfg(unix)]
fn the_step_that_frees_disk_removes_tools_and_nothing_else() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    for name in ["refresh.yml", "refresh-pages.yml"] {
        let workflow = fs::read_to_string(root.join(".github/workflows").join(name)).unwrap();
        let fixture = Fixture::new();
        let (tool, other) = (
            fixture.path("usr/share/dotnet"),
            fixture.path("usr/share/other"),
        );
        for dir in [&tool, &other] {
            fs::create_dir_all(dir).unwrap();
            fs::write(dir.join("file"), vec![0; 1 << 20]).unwrap();
        }
        let (script, _) = step(&workflow, "Free disk");
        run(Command::new(root.join(script)).arg(fixture.dir.path())).succeeds();
        assert!(!tool.exists() && other.join("file").exists(), "{name}");
    }
}
