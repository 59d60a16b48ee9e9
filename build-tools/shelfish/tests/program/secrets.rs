//! Secrets in URLs and in the environment never appear in output and in files.

use std::ffi::OsStr;
use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Command, Stdio};

use crate::common::stores::{Protocol, Store, http};
use crate::common::*;

/// Text of every secret.
const MARK: &str = "MARKofSecret";

/// Creates a command with the environment of a store.
type Make = Box<dyn Fn() -> Command>;

/// Runs commands and searches everything that they write for the secret.
struct Search<'a> {
    fixture: &'a Fixture,
    found: Vec<String>,
}

impl Search<'_> {
    /// Runs a command in the folder of the fixture.
    fn run(&mut self, command: &mut Command, args: &[&str]) {
        let command = self.home(command).args(args).stdin(Stdio::null());
        let output = command.output().unwrap();
        let text = [output.stdout, output.stderr]
            .map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
            .join("");
        assert!(!text.contains("panicked"), "{args:?}: {text}");
        self.check(&args.join(" ").replace(MARK, "*"), &text);
    }

    fn home<'c>(&self, command: &'c mut Command) -> &'c mut Command {
        let dir = self.fixture.dir.path();
        let folders = ["HOME", "TMPDIR"].map(|name| (name, dir.as_os_str()));
        command
            .current_dir(dir)
            .envs(folders)
            .env("SHELFISH_TIMEOUT", "1")
    }

    fn check(&mut self, what: &str, text: &str) {
        for line in text.lines().filter(|line| line.contains(MARK)) {
            self.found.push(format!("{what}: {line}"));
        }
    }

    fn check_files(&mut self, dir: &Path) {
        for entry in fs::read_dir(dir).unwrap().map(Result::unwrap) {
            let path = entry.path();
            self.check("name of a file", &path.display().to_string());
            if path.is_dir() {
                self.check_files(&path);
            } else if path.file_name() != Some(OsStr::new("refresh.toml")) {
                // The user wrote the configuration.
                let content = String::from_utf8_lossy(&fs::read(&path).unwrap()).into_owned();
                self.check(&path.display().to_string(), &content);
            }
        }
    }
}

/// Returns a fixture with a database, a book, a dump, a dump with errors and games.
fn fixture() -> Fixture {
    let fixture = Fixture::of_sample();
    fixture.file("dump.zst", zstd(&(sample() + "\nrubbish\n")));
    let games = fixture.file("games.pgn", "[Event \"x\"]\n\n1. e4 e5 2. Nf3 1-0\n");
    fixture.book_build_to("book", &[&games], &[]).succeeds();
    fixture
}

#[test]
fn secrets_in_urls_are_not_printed_and_not_stored() {
    let fixture = fixture();
    let host = Host::new(&fixture);
    let mut search = Search {
        fixture: &fixture,
        found: Vec::new(),
    };
    let user = format!("//me:{MARK}@");
    let closed = format!("http:{user}127.0.0.1:1/db");
    let unescaped = format!("http://me:{MARK}/{MARK}@127.0.0.1:1/db");
    for url in [
        host.url("db").replace("//", &user),
        host.url("none").replace("//", &user),
        closed,
        unescaped,
    ] {
        for args in [
            vec!["lookup", "-d", &url, "--json", START],
            vec!["lookup", "-d", &url, START, "rubbish"],
            vec!["explore", "-d", &url, START],
            vec!["stats", "-d", &url],
            vec!["stats", "-d", &url, "--json"],
            vec!["verify", "-d", &url],
            vec!["verify", "-d", &url, "--json"],
            vec!["export", "-d", &url, "-o", "export.jsonl"],
            vec!["extract", "-d", &url, "--start", START, "-o", "extract"],
            vec!["analyse", "-d", &url, "games.pgn"],
            vec!["analyse", "-d", &url, "games.pgn", "--json"],
            vec!["bench", "-d", &url, "--games", "games.pgn"],
            vec!["build", "dump.zst", "--base", &url, "-o", "based", "--json"],
            vec!["publish", "db", &url],
            vec!["lookup", "-d", &url, "--bad", &url],
        ] {
            search.run(&mut command(), &args);
        }
    }
    for command_name in [&["build"][..], &["book", "build"]] {
        let url = host.url("none").replace("//", &user);
        let args = [command_name, &[&url, "-o", "no"]].concat();
        search.run(&mut command(), &args);
    }
    // The signature of a store in a query, and a user.
    let signed = |path: &str| {
        host.url(path).replace("//", &user) + "?X-Amz-Signature=" + MARK + "&sig=" + MARK
    };
    let dump = signed("dump.zst");
    for args in [
        vec!["build", &dump, "-o", "built"],
        vec![
            "build",
            &dump,
            "-o",
            "built",
            "--json",
            "--rejects",
            "rejects.tsv",
        ],
        vec!["build", &dump, "--format", MARK],
        vec!["parts", "plan", &dump, "--parts", "2", "-o", "plan.json"],
        vec!["parts", "partition", &dump, "--plan", "plan.json", "-q"],
        vec!["book", "build", &dump, "-o", "no", "--json"],
        vec!["analyse", "-d", "db", &signed("games.pgn")],
        vec![
            "extract",
            "-d",
            "db",
            "--pgn",
            &signed("games.pgn"),
            "-o",
            "extracted",
        ],
        vec!["book", "dumps", "--list", &dump],
        vec!["lookup", "-d", &signed("db"), START],
    ] {
        search.run(&mut command(), &args);
    }
    fixture.file(
        "refresh.toml",
        format!("sources = [\"{dump}\"]\nto = 'site'\nbuild = ['--base', '{dump}']"),
    );
    search.run(&mut command(), &["refresh", "refresh.toml"]);
    fixture.file(
        "refresh.toml",
        format!("sources = [\"{dump}\"]\nto = 'site'"),
    );
    for args in [
        vec!["refresh", "refresh.toml"],
        vec!["refresh", "refresh.toml", "--dry-run", "--json"],
    ] {
        search.run(&mut command(), &args);
    }
    assert!(fixture.path("refresh.json").exists() && fixture.path("rejects.tsv").exists());
    for url in [
        format!("https://me:{MARK}@0.r2.cloudflarestorage.com/b/x"),
        format!("gs://c/x?sig={MARK}/{MARK}"),
        format!("s3://key:{MARK}@b/x"),
        format!("ftp://me:{MARK}@x/y"),
    ] {
        for args in [
            vec!["publish", "db", &url],
            vec!["stats", "-d", &url],
            vec!["build", "dump.zst", "-o", &url],
        ] {
            search.run(&mut command(), &args);
        }
    }
    search.check_files(fixture.dir.path());
    assert!(
        search.found.is_empty(),
        "{} lines:\n{}",
        search.found.len(),
        search.found.join("\n")
    );
}

#[test]
fn secrets_of_stores_are_not_printed_and_not_stored() {
    let fixture = fixture();
    let mut search = Search {
        fixture: &fixture,
        found: Vec::new(),
    };
    let running = Store::start(Protocol::S3).map(|store| store.at.to_string());
    let s3 = |at: &str| {
        let mut command = command();
        let endpoint = format!("http://{MARK}:{MARK}@{at}");
        command.envs([
            ("AWS_ENDPOINT", &*endpoint),
            ("AWS_ACCESS_KEY_ID", "k"),
            ("AWS_SECRET_ACCESS_KEY", MARK),
        ]);
        command
    };
    let google = || {
        let mut command = command();
        let key = format!(
            r#"{{"gcs_base_url":"http://me:{MARK}@127.0.0.1:1","disable_oauth":true,"client_email":"","private_key":"{MARK}","private_key_id":""}}"#
        );
        command.env("GOOGLE_SERVICE_ACCOUNT_KEY", key);
        command
    };
    let mut commands: Vec<(&str, Make)> = vec![
        ("s3", Box::new(move || s3("127.0.0.1:1"))),
        ("gs", Box::new(google)),
    ];
    if let Some(at) = running {
        commands.push(("s3", Box::new(move || s3(&at))));
    }
    for (scheme, command) in commands {
        let url = format!("{scheme}://shelf/evals");
        for args in [
            vec!["publish", "db", &url, "--cors"],
            vec!["lookup", "-d", &url, START],
            vec!["stats", "-d", &url, "--json"],
            vec!["build", "dump.zst", "--base", &url, "-o", "based"],
        ] {
            search.run(&mut command(), &args);
        }
    }
    // Malformed values.
    for endpoint in [
        format!("me:{MARK}@x"),
        format!("http://me:{MARK}@/"),
        format!("https://x/?sig={MARK}"),
    ] {
        search.run(
            command().env("AWS_ENDPOINT", endpoint),
            &["stats", "-d", "s3://shelf/evals"],
        );
    }
    search.check_files(fixture.dir.path());
    assert!(
        search.found.is_empty(),
        "{} lines:\n{}",
        search.found.len(),
        search.found.join("\n")
    );
}

#[test]
fn secrets_do_not_appear_in_the_log_the_metrics_and_the_answers_of_the_api() {
    let fixture = fixture();
    let host = Host::new(&fixture);
    let mut search = Search {
        fixture: &fixture,
        found: Vec::new(),
    };
    let url = host.url("db").replace("//", &format!("//me:{MARK}@"));
    let mut serve = command();
    search
        .home(&mut serve)
        .args(["serve", "--api", "--port", "0", "--log", &url]);
    let mut child = serve
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let first = BufReader::new(child.stdout.take().unwrap())
        .lines()
        .next()
        .unwrap()
        .unwrap();
    let at = first
        .trim_start_matches("http://")
        .trim_end_matches('/')
        .parse()
        .unwrap();
    drop(host);
    let mut text = first;
    for (path, expected) in [
        (
            format!("/api/cloud-eval?fen={}", START.replace(' ', "%20")),
            502,
        ),
        ("/api/cloud-eval?fen=x".to_owned(), 400),
        ("/metrics".to_owned(), 200),
    ] {
        let (status, head, body) = http(at, "GET", &path, &[], b"");
        assert_eq!(status, expected, "{path}: {head}");
        text += &(head + &String::from_utf8_lossy(&body));
    }
    child.kill().unwrap();
    let mut log = String::new();
    child
        .stderr
        .take()
        .unwrap()
        .read_to_string(&mut log)
        .unwrap();
    child.wait().unwrap();
    assert!(
        log.contains("no answer") && log.contains(".silo"),
        "the log contains the error: {log}"
    );
    search.check("the API", &(text + &log));
    search.check_files(fixture.dir.path());
    assert!(search.found.is_empty(), "{}", search.found.join("\n"));
}
