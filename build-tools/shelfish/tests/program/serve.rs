//! The program itself: what it prints, where it listens, how it ends.

use std::net::TcpListener;
#[cfg(unix)]
use std::{net::TcpStream, process::Command, thread, time::Duration};

use crate::common::stores::http;
use crate::common::*;

/// A folder with files in it.
const FOLDER: &str = env!("CARGO_MANIFEST_DIR");

#[test]
fn the_url_stands_on_a_line_of_its_own_and_answers() {
    let host = Host::serve([FOLDER]);
    let range = [("range".to_owned(), "bytes=0-8".to_owned())];
    let (status, _, body) = http(host.at(), "GET", "/Cargo.toml", &range, b"");
    assert_eq!((status, &*body), (206, &b"[package]"[..]));
}

#[test]
fn a_taken_port_is_named_with_the_way_out() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    let run = shelfish(["serve", FOLDER, "--port", &port]);
    run.fails(&[&format!("port {port} of 127.0.0.1 is in use"), "--port 0"]);
}

#[cfg(unix)]
#[test]
fn an_interruption_ends_it_well_even_with_a_connection_open() {
    let mut host = Host::serve([FOLDER]);
    let _idle = TcpStream::connect(host.at()).unwrap();
    Command::new("kill").args(["-INT", &host.child.id().to_string()]).status().unwrap();
    let ended = (0..100).find_map(|_| {
        thread::sleep(Duration::from_millis(100));
        host.child.try_wait().unwrap()
    });
    assert_eq!(ended.map(|status| status.code()), Some(Some(0)), "not ended after ten seconds, or not well");
}
