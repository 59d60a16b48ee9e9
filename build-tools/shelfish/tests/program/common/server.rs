//! Running `shelfish serve --api`, with its messages, and raw requests to it.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use super::*;

/// Running server, which is killed when dropped.
pub struct Server {
    pub child: Child,
    pub at: SocketAddr,
    /// Lines that the server printed to standard error.
    pub messages: Arc<Mutex<Vec<String>>>,
}

impl Server {
    /// Serves the database `db` of a fixture.
    pub fn of(fixture: &Fixture, options: &[&str]) -> Server {
        let db = fixture.path("db");
        Server::start(command(), &[options, &[db.to_str().unwrap()]].concat())
    }

    /// Serves on a free port.
    pub fn start(mut command: Command, args: &[&str]) -> Server {
        command
            .args(["serve", "--api", "--port", "0"])
            .args(args)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let messages = Arc::new(Mutex::new(Vec::new()));
        let (lines, err) = (
            messages.clone(),
            BufReader::new(child.stderr.take().unwrap()),
        );
        std::thread::spawn(move || {
            err.lines()
                .map_while(Result::ok)
                .for_each(|line| lines.lock().unwrap().push(line))
        });
        let mut url = String::new();
        BufReader::new(child.stdout.take().unwrap())
            .read_line(&mut url)
            .unwrap();
        let at = url
            .trim()
            .trim_start_matches("http://")
            .trim_end_matches('/')
            .parse();
        let at = at.unwrap_or_else(|_| {
            panic!(
                "expected a URL, found {url:?}: {:?}",
                messages.lock().unwrap()
            )
        });
        Server {
            child,
            at,
            messages,
        }
    }

    /// Connects to the server. A read that takes a minute is an error.
    pub fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(self.at).unwrap();
        stream
            .set_read_timeout(Some(Duration::from_secs(60)))
            .unwrap();
        stream
    }

    /// Sends bytes on a new connection and returns all that the server answers until it closes the connection.
    pub fn exchange(&self, bytes: &[u8]) -> String {
        let mut stream = self.connect();
        // The server may close the connection before it has read everything.
        let _ = stream.write_all(bytes);
        rest(&mut stream)
    }

    /// Requests a path and returns the status, and the answer with its head.
    pub fn get(&self, path: &str) -> (u16, String) {
        let answer = self.exchange(
            format!("GET {path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n").as_bytes(),
        );
        (
            status(&answer).unwrap_or_else(|| panic!("{path}: {answer:?}")),
            answer,
        )
    }

    pub fn is_healthy(&self) -> bool {
        self.get("/healthz").0 == 200
    }

    /// Waits for a message with a text, and returns it.
    pub fn message(&self, text: &str) -> String {
        let mut found = None;
        until(text, || {
            found = self
                .messages
                .lock()
                .unwrap()
                .iter()
                .find(|line| line.contains(text))
                .cloned();
            found.is_some()
        });
        found.unwrap()
    }

    /// Sends the process a signal, such as `TERM`.
    pub fn signal(&self, name: &str) {
        let status = Command::new("kill")
            .args([&format!("-{name}"), &self.child.id().to_string()])
            .status();
        assert!(status.unwrap().success());
    }

    /// Waits until the process ends, and returns its exit code.
    pub fn end(&mut self) -> Option<i32> {
        let mut ended = None;
        until("the server ends", || {
            ended = self.child.try_wait().unwrap();
            ended.is_some()
        });
        ended.unwrap().code()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Reads the rest of an answer. A connection that the server reset has no more bytes.
pub fn rest(stream: &mut TcpStream) -> String {
    let mut answer = Vec::new();
    match stream.read_to_end(&mut answer) {
        Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => {
            panic!("the server neither answers nor closes")
        }
        _ => String::from_utf8_lossy(&answer).into_owned(),
    }
}

/// Returns the status of an answer, or `None` if it is none of HTTP.
pub fn status(answer: &str) -> Option<u16> {
    answer.strip_prefix("HTTP/1.")?.get(2..5)?.parse().ok()
}

/// Returns the value of a header of an answer.
pub fn header<'a>(answer: &'a str, name: &str) -> Option<&'a str> {
    let head = answer.split("\r\n\r\n").next()?;
    head.lines().find_map(|line| {
        let (found, value) = line.split_once(':')?;
        found.eq_ignore_ascii_case(name).then(|| value.trim())
    })
}

/// Reads an answer with a length from an open connection. Returns `None` if the server closed the connection.
pub fn read_answer(stream: &mut TcpStream) -> Option<String> {
    let mut answer = Vec::new();
    let mut buffer = [0; 4096];
    loop {
        let text = String::from_utf8_lossy(&answer).into_owned();
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let length: usize = header(head, "content-length").unwrap().parse().unwrap();
            if body.len() >= length {
                return Some(text);
            }
        }
        match stream.read(&mut buffer) {
            Ok(0) => return None,
            Ok(bytes) => answer.extend_from_slice(&buffer[..bytes]),
            Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => {
                panic!("no answer within a minute")
            }
            Err(_) => return None,
        }
    }
}

/// Returns the FENs of a dump, with spaces as in a URL.
pub fn fens(dump: &str) -> Vec<String> {
    let fen = |line: &str| {
        serde_json::from_str::<serde_json::Value>(line).unwrap()["fen"]
            .as_str()
            .unwrap()
            .replace(' ', "%20")
    };
    dump.lines().map(fen).collect()
}
