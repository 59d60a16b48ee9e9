//! Redirects from public hosts to private addresses.
//!
//! The tests run in a separate network namespace, in which the machine has public and private addresses.

use std::net::IpAddr;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};

use crate::common::hostile::*;
use crate::common::stores::{Protocol, run};
use crate::common::*;

/// Variable that is set inside of the namespace.
const INSIDE: &str = "SHELFISH_TEST_NAMESPACE";
const PUBLIC: [u8; 4] = [203, 0, 113, 7];
const OTHER_PUBLIC: [u8; 4] = [203, 0, 113, 8];
const PRIVATE: [u8; 4] = [10, 99, 0, 1];
const METADATA: [u8; 4] = [169, 254, 169, 254];

/// Commands that give the machine its addresses and names.
const SETUP: &str = "set -e
ip link set lo up
for address in 203.0.113.7 203.0.113.8 10.99.0.1 169.254.169.254; do ip address add $address/32 dev lo; done
mount --bind \"$1\" /etc/hosts
shift
exec \"$@\"";

/// Returns whether the test runs inside of a namespace. Otherwise runs it in one.
fn is_inside(test: &str) -> bool {
    if std::env::var_os(INSIDE).is_some() {
        return true;
    }
    let unshare = |script: &str| {
        let mut command = Command::new("unshare");
        command.args([
            "--map-root-user",
            "--net",
            "--mount",
            "sh",
            "-c",
            script,
            "sh",
        ]);
        command
    };
    let is_possible = unshare("ip link set lo up")
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success());
    if !is_possible {
        skipped("this system permits no network namespace (unshare, ip)");
        return false;
    }
    let fixture = Fixture::new();
    let hosts = fixture.file(
        "hosts",
        "127.0.0.1 localhost\n203.0.113.7 public.test\n10.99.0.1 private.test\n",
    );
    let mut inside = unshare(SETUP);
    inside
        .arg(&hosts)
        .arg(std::env::current_exe().unwrap())
        .args(["--exact", test, "--nocapture"])
        .env(INSIDE, "1");
    let run = run(&mut inside);
    assert!(
        run.code == 0 && run.out.contains("1 passed"),
        "{}{}",
        run.out,
        run.err
    );
    false
}

/// Host that answers each request with a redirect to the same path of another host.
fn redirecting(from: [u8; 4], to: String) -> HostileHost {
    HostileHost::on(from.into(), move |request, out| {
        send(
            out,
            "307 Temporary Redirect",
            &format!("location: http://{to}{}\r\n", request.path),
            b"",
        )
    })
}

/// Honest host, and the number of its requests.
fn honest(fixture: &Fixture, address: impl Into<IpAddr>) -> (HostileHost, Arc<AtomicU64>) {
    let (folder, asked) = (fixture.path("db"), Arc::new(AtomicU64::new(0)));
    let count = asked.clone();
    let host = HostileHost::on(address.into(), move |request, out| {
        count.fetch_add(1, SeqCst);
        send_file(request, out, &folder)
    });
    (host, asked)
}

/// Commands that read from a host, and from stores with its protocol.
fn commands(host: &HostileHost, fixture: &Fixture) -> Vec<(String, Command)> {
    let at = host.at;
    let url = format!("http://{at}");
    let mut all = Vec::new();
    let mut add = |name: &str, mut command: Command, args: &[&str]| {
        command.args(args);
        all.push((name.to_owned(), command));
    };
    let lookup = ["lookup", "--cache-size", "0", "-d"];
    add(
        "lookup",
        command(),
        &[&lookup[..], &[&format!("{url}/db"), START]].concat(),
    );
    for protocol in [Protocol::S3, Protocol::Google, Protocol::Azure] {
        let store = protocol.url("db");
        add(
            &format!("lookup in {protocol:?}"),
            protocol.command(at),
            &[&lookup[..], &[&store, START]].concat(),
        );
        let db = fixture.path("db");
        let publish = [
            "publish",
            "--quiet",
            "--retries",
            "0",
            db.to_str().unwrap(),
            &store,
        ];
        add(
            &format!("publish to {protocol:?}"),
            protocol.command(at),
            &publish,
        );
    }
    let new = fixture.path("new");
    add(
        "base",
        command(),
        &[
            "build",
            "--quiet",
            "--base",
            &format!("{url}/db"),
            "-o",
            new.to_str().unwrap(),
        ],
    );
    add(
        "dump",
        command(),
        &[
            "build",
            "--quiet",
            &format!("{url}/dump.jsonl"),
            "-o",
            new.to_str().unwrap(),
        ],
    );
    add(
        "dumps",
        command(),
        &["book", "dumps", "--list", &format!("{url}/list.txt")],
    );
    add("verify", command(), &["verify", "-d", &format!("{url}/db")]);
    all
}

#[test]
fn no_command_follows_a_redirect_from_a_public_host_to_a_private_address() {
    if !is_inside(
        "redirects::no_command_follows_a_redirect_from_a_public_host_to_a_private_address",
    ) {
        return;
    }
    let fixture = Fixture::of_sample();
    for (address, name) in [
        (PRIVATE, "10.99.0.1"),
        (PRIVATE, "private.test"),
        (METADATA, "169.254.169.254"),
        ([127, 0, 0, 1], "127.0.0.1"),
        ([127, 0, 0, 1], "localhost"),
        ([127, 0, 0, 1], "[::ffff:127.0.0.1]"),
    ] {
        let (inner, asked) = honest(&fixture, address);
        let public = redirecting(PUBLIC, format!("{name}:{}", inner.at.port()));
        for (what, mut command) in commands(&public, &fixture) {
            let run = run(&mut command);
            assert_eq!(
                (run.code, asked.load(SeqCst)),
                (1, 0),
                "{what} to {name}: {}{}",
                run.out,
                run.err
            );
            let text = run.out + &run.err;
            assert!(
                text.contains("a public host redirects to"),
                "{what} to {name}: {text}"
            );
        }
    }
    assert!(!fixture.path("new").join("manifest.json").exists());
}

#[test]
fn other_redirects_are_followed() {
    if !is_inside("redirects::other_redirects_are_followed") {
        return;
    }
    let fixture = Fixture::of_sample();
    for (from, to) in [
        (PUBLIC, OTHER_PUBLIC),
        (PUBLIC, PUBLIC),
        (PRIVATE, [127, 0, 0, 1]),
        ([127, 0, 0, 1], PRIVATE),
        (PRIVATE, PUBLIC),
    ] {
        let (honest, asked) = honest(&fixture, to);
        let host = redirecting(from, honest.at.to_string());
        for (what, mut command) in commands(&host, &fixture) {
            if what.starts_with("lookup") || what == "verify" || what == "base" {
                let before = asked.load(SeqCst);
                let run = run(&mut command);
                assert_eq!(
                    run.code, 0,
                    "{what} from {from:?} to {to:?}: {}{}",
                    run.out, run.err
                );
                assert!(asked.load(SeqCst) > before, "{what}");
            }
        }
    }
}
