//! Cache of databases on the disk.

use std::fs;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use crate::common::hostile::run_within;
use crate::common::stores::{Protocol, Store, run};
use crate::common::{Fixture, Host, START, command, line, sample, shelfish};
use serde_json::Value;

/// Positions of the database.
const FENS: [&str; 2] = [
    "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq -",
    "rnbqkbnr/pp1ppppp/8/2p5/4P3/8/PPPP1PPP/RNBQKBNR w KQkq -",
];

/// Looks up positions. Returns the answers without their times, and the number of bytes from the network.
fn look_up(url: &str, cache: &Path, more: &[&str]) -> (Vec<Value>, u64) {
    let args = [
        "lookup",
        "-d",
        url,
        "--json",
        "--timing",
        "--cache-dir",
        cache.to_str().unwrap(),
    ];
    let out = shelfish([&args[..], more, &FENS].concat()).succeeds();
    let mut answers: Vec<Value> = out
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let bytes = |answer: &mut Value| {
        answer.as_object_mut().unwrap().remove("timing").unwrap()["bytes"]
            .as_u64()
            .unwrap()
    };
    let bytes = answers.iter_mut().map(bytes).sum();
    (answers, bytes)
}

fn entries(cache: &Path) -> Vec<PathBuf> {
    let folders = fs::read_dir(cache)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.is_dir());
    folders
        .flat_map(|folder| {
            fs::read_dir(folder)
                .unwrap()
                .map(|entry| entry.unwrap().path())
        })
        .collect()
}

#[test]
fn cached_blocks_serve_without_the_host_and_damaged_blocks_are_fetched_again() {
    let fixture = Fixture::new();
    let dump = fixture.file("dump.jsonl", sample());
    fixture
        .build(&[&dump], &["--inline-pages", "0B"])
        .succeeds();
    let host = Host::new(&fixture);
    let (url, cache) = (host.url("db"), fixture.path("cache"));
    let (first, bytes) = look_up(&url, &cache, &[]);
    assert!(
        first.iter().all(|answer| answer["found"] == true) && bytes > 0,
        "{first:?}"
    );

    let manifest = fs::metadata(fixture.path("db").join("manifest.json"))
        .unwrap()
        .len();
    let again = look_up(&url, &cache, &[]);
    assert_eq!(
        again,
        (first.clone(), manifest),
        "only the manifest is fetched again"
    );

    for entry in entries(&cache) {
        let mut bytes = fs::read(&entry).unwrap();
        let middle = bytes.len() / 2;
        bytes[middle] ^= 1;
        fs::write(entry, bytes).unwrap();
    }
    assert_eq!(
        look_up(&url, &cache, &[]),
        (first.clone(), bytes),
        "damaged blocks are fetched again"
    );
    assert_eq!(
        look_up(&url, &cache, &["--cache-size", "0"]),
        (first.clone(), bytes),
        "no cache"
    );

    drop(host);
    assert_eq!(look_up(&url, &cache, &[]), (first, 0), "without the host");
    let other = url.replace("/db", "/other");
    shelfish([
        "lookup",
        "-d",
        &other,
        "--cache-dir",
        cache.to_str().unwrap(),
        FENS[0],
    ])
    .fails(&["no answer"]);
}

#[test]
fn an_unusable_cache_is_an_error_unless_it_is_the_default_cache() {
    let fixture = Fixture::of_sample();
    let host = Host::new(&fixture);
    let url = host.url("db");
    let file = fixture.file("file", "");
    shelfish([
        "lookup",
        "-d",
        &url,
        "--cache-dir",
        file.to_str().unwrap(),
        FENS[0],
    ])
    .fails(&["file", "--cache-dir"]);
    shelfish(["lookup", "-d", &url, FENS[0]]).succeeds();
}

/// Replaces a file by a named pipe.
#[cfg(unix)]
fn make_pipe(path: &Path) {
    let _ = fs::remove_file(path);
    assert!(
        std::process::Command::new("mkfifo")
            .arg(path)
            .status()
            .unwrap()
            .success()
    );
}

#[test]
#[cfg(unix)]
fn pipes_in_the_cache_are_ignored() {
    let fixture = Fixture::of_sample();
    let host = Host::new(&fixture);
    let (url, cache) = (host.url("db"), fixture.path("cache"));
    let (first, _) = look_up(&url, &cache, &[]);
    let entries = entries(&cache);
    assert!(!entries.is_empty());
    entries.iter().for_each(|entry| make_pipe(entry));
    make_pipe(&cache.join("written"));
    let args = [
        "lookup",
        "-d",
        &url,
        "--json",
        "--cache-dir",
        cache.to_str().unwrap(),
        FENS[0],
        FENS[1],
    ];
    let (run, _) = run_within(1 << 30, command().args(args));
    assert_eq!((run.code, run.out.lines().count()), (0, 2), "{}", run.err);
    assert_eq!(look_up(&url, &cache, &[]).0, first);
}

#[test]
#[cfg(unix)]
fn pipes_in_a_folder_are_an_error() {
    let fixture = Fixture::of_sample();
    let shard = fixture
        .files("db")
        .into_iter()
        .find(|(name, _)| name.ends_with(".silo"))
        .unwrap()
        .0;
    let db = fixture.path("db");
    for name in [&*shard, "manifest.json"] {
        make_pipe(&db.join(name));
        let mut lookup = command();
        let (run, _) = run_within(
            1 << 30,
            lookup.args(["lookup", "-d", db.to_str().unwrap(), FENS[0]]),
        );
        run.fails(&[name, "expected a regular file"]);
    }
}

/// Builds `honest` with depth 24 and `other` with another depth, so that both have the same layout.
pub fn databases_with_one_layout() -> Fixture {
    let fixture = Fixture::new();
    let build = |db: &str, depth: u16| {
        let dump = fixture.file("dump.jsonl", line(START, 20, "e2e4 e7e5", 500, depth));
        fixture
            .build_to(db, &[&dump], &["--inline-pages", "0B"])
            .succeeds();
        fixture.files(db)
    };
    let lengths = |files: &[(String, Vec<u8>)]| {
        files
            .iter()
            .map(|(_, bytes)| bytes.len())
            .collect::<Vec<_>>()
    };
    let honest = build("honest", 24);
    assert!((9..24).any(|depth| lengths(&build("other", depth)) == lengths(&honest)));
    fixture
}

/// Looks up the start position with a shared cache. Returns the depth.
pub fn depth(command: &mut Command, url: &str, cache: &Path) -> u64 {
    let args = [
        "lookup",
        "-d",
        url,
        "--json",
        "--cache-dir",
        cache.to_str().unwrap(),
        START,
    ];
    let answer: Value = serde_json::from_str(&run(command.args(args)).succeeds()).unwrap();
    answer["evaluations"][0]["depth"].as_u64().unwrap()
}

/// Stores the manifest of `honest` with the blocks of `content`.
fn store_blocks_of(store: &Store, fixture: &Fixture, content: &str) {
    for ((name, bytes), (_, other)) in fixture
        .files("honest")
        .into_iter()
        .zip(fixture.files(content))
    {
        store.put(
            &format!("evals/{name}"),
            if name == "manifest.json" {
                &bytes
            } else {
                &other
            },
        );
    }
}

#[test]
fn a_shared_cache_never_answers_for_a_store_at_another_endpoint() {
    let fixture = databases_with_one_layout();
    let (Some(honest), Some(other)) = (Store::start(Protocol::S3), Store::start(Protocol::S3))
    else {
        return;
    };
    store_blocks_of(&honest, &fixture, "honest");
    store_blocks_of(&other, &fixture, "other");
    let (url, cache) = (honest.url("evals"), fixture.path("cache"));
    let wrong = depth(&mut other.command(), &url, &cache);
    assert_ne!(wrong, 24);
    assert_eq!(depth(&mut honest.command(), &url, &cache), 24);
    assert_eq!(depth(&mut other.command(), &url, &cache), wrong);
    let folders = fs::read_dir(&cache)
        .unwrap()
        .filter(|entry| entry.as_ref().unwrap().path().is_dir());
    assert_eq!(folders.count(), 2, "each store has a cache");
}

#[test]
fn a_shared_cache_never_answers_for_another_account_of_a_server() {
    let fixture = databases_with_one_layout();
    // A server of S3's protocol may have a bucket of the same name in each account.
    let (Some(honest), Some(other)) = (Store::start(Protocol::S3), Store::start(Protocol::S3))
    else {
        return;
    };
    store_blocks_of(&honest, &fixture, "honest");
    store_blocks_of(&other, &fixture, "other");
    let (url, cache) = (honest.url("evals"), fixture.path("cache"));
    let accounts = accounts_of_a_store(honest.at, other.at);
    let command = |store: &Store, key: &str| {
        let mut command = store.command_at(accounts);
        command.env("AWS_ACCESS_KEY_ID", key);
        command
    };
    assert_ne!(depth(&mut command(&other, "mallory"), &url, &cache), 24);
    assert_eq!(depth(&mut command(&honest, "alice"), &url, &cache), 24);
    // A user in a URL of HTTP is an account too.
    let host = accounts_over_http(&fixture);
    let lookup = |user: &str| {
        depth(
            &mut self::command(),
            &host.replace("//", &format!("//{user}:pw@")),
            &cache,
        )
    };
    assert_ne!(lookup("mallory"), 24);
    assert_eq!(lookup("alice"), 24);
}

/// Starts a server that forwards the requests of the account `mallory` to the server `other`.
fn accounts_of_a_store(honest: SocketAddr, other: SocketAddr) -> SocketAddr {
    by_account(move |head, mut client| {
        let mut server = TcpStream::connect(if head.contains("mallory") {
            other
        } else {
            honest
        })?;
        let (mut from, mut back) = (server.try_clone()?, client.try_clone()?);
        std::thread::spawn(move || std::io::copy(&mut from, &mut back));
        server.write_all(head.as_bytes())?;
        std::io::copy(&mut client, &mut server).map(drop)
    })
}

/// Serves the manifest of `honest`, and the blocks of `other` to the user `mallory`. Returns the URL.
fn accounts_over_http(fixture: &Fixture) -> String {
    let (honest, other) = (fixture.files("honest"), fixture.files("other"));
    let mallory = "bWFsbG9yeTpwdw==";
    let at = by_account(move |head, mut client| {
        let path = head
            .split(' ')
            .nth(1)
            .unwrap_or_default()
            .trim_start_matches('/');
        let files = if head.contains(mallory) && path != "manifest.json" {
            &other
        } else {
            &honest
        };
        let name = honest.iter().position(|(name, _)| name == path).unwrap();
        let bytes = &files[name].1;
        let head = format!(
            "HTTP/1.1 200 OK\r\ncontent-length: {}\r\nconnection: close\r\n\r\n",
            bytes.len()
        );
        client.write_all(&[head.as_bytes(), bytes].concat())
    });
    format!("http://{at}")
}

/// Starts a server that passes each connection on with the head of its first request.
fn by_account(
    serve: impl Fn(&str, TcpStream) -> std::io::Result<()> + Send + Sync + 'static,
) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let at = listener.local_addr().unwrap();
    let serve = Arc::new(serve);
    std::thread::spawn(move || {
        for mut client in listener.incoming().map_while(Result::ok) {
            let serve = serve.clone();
            std::thread::spawn(move || {
                let (mut head, mut buffer) = (Vec::new(), [0; 1 << 12]);
                while !head.windows(4).any(|four| four == b"\r\n\r\n") {
                    match client.read(&mut buffer) {
                        Ok(length) if length > 0 => head.extend_from_slice(&buffer[..length]),
                        _ => return,
                    }
                }
                let _ = serve(&String::from_utf8_lossy(&head), client);
            });
        }
    });
    at
}
