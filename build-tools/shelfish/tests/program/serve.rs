//! Output, address and shutdown of `shelfish serve`.

#[cfg(unix)]
use std::net::TcpStream;

use crate::common::stores::http;
use crate::common::*;

/// Creates a folder with files.
const FOLDER: &str = env!("CARGO_MANIFEST_DIR");

#[test]
fn the_url_is_printed_on_a_separate_line_and_answers() {
    let host = Host::serve([FOLDER]);
    let range = [("range".to_owned(), "bytes=0-8".to_owned())];
    let (status, _, body) = http(host.at(), "GET", "/Cargo.toml", &range, b"");
    assert_eq!((status, &*body), (206, &b"[package]"[..]));
}

#[cfg(unix)]
#[test]
fn an_interruption_stops_the_server_despite_an_open_connection() {
    let mut host = Host::serve([FOLDER]);
    let _idle = TcpStream::connect(host.at()).unwrap();
    signal(&host, "INT");
    let mut ended = None;
    until("the server ends", || {
        ended = host.child.try_wait().unwrap();
        ended.is_some()
    });
    assert_eq!(ended.unwrap().code(), Some(0));
}
