//! Real servers of the protocols of stores, and connections to them that break on demand. Each test starts its own
//! servers on free ports.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};

use super::Run;

/// Server of a store.
pub struct Store {
    child: Child,
    pub at: SocketAddr,
    protocol: Protocol,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Protocol {
    S3,
    Google,
}

impl Protocol {
    /// Returns the URL of a folder in the bucket `shelf`.
    pub fn url(self, folder: &str) -> String {
        let scheme = match self {
            Protocol::S3 => "s3",
            Protocol::Google => "gs",
        };
        format!("{scheme}://shelf/{folder}")
    }

    /// Creates a command with the environment for a server at an address.
    pub fn command(self, at: SocketAddr) -> Command {
        let mut command = super::command();
        for name in [
            "AWS_SESSION_TOKEN",
            "AWS_PROFILE",
            "GOOGLE_APPLICATION_CREDENTIALS",
        ] {
            command.env_remove(name);
        }
        match self {
            Protocol::S3 => command
                .env("AWS_ACCESS_KEY_ID", "k")
                .env("AWS_SECRET_ACCESS_KEY", "s")
                .env("AWS_REGION", "us-east-1")
                .env("AWS_ENDPOINT", format!("http://{at}")),
            Protocol::Google => command.env(
                "GOOGLE_SERVICE_ACCOUNT_KEY",
                format!(
                    r#"{{"gcs_base_url":"http://{at}","disable_oauth":true,"client_email":"","private_key":"","private_key_id":""}}"#
                ),
            ),
        };
        command
    }
}

impl Store {
    /// Starts a server with a bucket `shelf`. Reports the test as skipped if the server is not installed.
    pub fn start(protocol: Protocol) -> Option<Store> {
        let tools = Path::new(env!("CARGO_BIN_EXE_shelfish"))
            .ancestors()
            .nth(2)
            .unwrap()
            .join("tools/stores");
        let tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/stores");
        let (program, args): (PathBuf, Vec<String>) = match protocol {
            Protocol::S3 => (
                tools.join("bin/moto_server"),
                ["-H", "127.0.0.1", "-p", "0"].map(String::from).into(),
            ),
            Protocol::Google => (
                tools.join("bin/python"),
                vec![tests.join("google.py").to_str().unwrap().to_owned()],
            ),
        };
        if !program.is_file() {
            let missing = program.display();
            super::skipped(&format!(
                "the server for {protocol:?}, {missing}, is missing; `cargo xtask test` installs it"
            ));
            return None;
        }
        // Python buffers writes to a pipe by default. Either stream can contain the line with the port.
        let mut child = Command::new("sh")
            .args(["-c", "exec \"$0\" \"$@\" 2>&1"])
            .arg(&program)
            .args(args)
            .env("PYTHONUNBUFFERED", "1")
            // Accepts small parts, as the tests use them.
            .env("S3_UPLOAD_PART_MIN_SIZE", "1")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut out = BufReader::new(child.stdout.take().unwrap());
        let mut output = String::new();
        let port = loop {
            let mut line = String::new();
            assert!(
                out.read_line(&mut line).unwrap() > 0,
                "{protocol:?} ended: {output}"
            );
            let port = line
                .split_once("http://127.0.0.1:")
                .map(|(_, rest)| rest.trim_end().to_owned());
            output.push_str(&line);
            let digits = |rest: String| {
                rest.chars()
                    .take_while(char::is_ascii_digit)
                    .collect::<String>()
                    .parse()
                    .ok()
            };
            if let Some(port) = port.and_then(digits) {
                break port;
            }
        };
        // The output is read so that the server never blocks.
        std::thread::spawn(move || std::io::copy(&mut out, &mut std::io::sink()));
        let store = Store {
            child,
            at: SocketAddr::from(([127, 0, 0, 1], port)),
            protocol,
        };
        if protocol == Protocol::S3 {
            assert_eq!(http(store.at, "PUT", "/shelf", &[], b"").0, 200);
        }
        Some(store)
    }

    /// Sends a request for a path of the bucket, without the checks of `shelfish publish`.
    pub fn ask(&self, method: &str, path: &str, body: &[u8]) -> (u16, String, Vec<u8>) {
        let sign = "AWS4-HMAC-SHA256 Credential=k/20260101/us-east-1/s3/aws4_request";
        let sign = ("authorization".to_owned(), sign.to_owned());
        http(self.at, method, &format!("/shelf{path}"), &[sign], body)
    }

    /// Writes a file to the bucket.
    pub fn put(&self, file: &str, bytes: &[u8]) {
        let (status, head, _) = self.ask("PUT", &format!("/{file}"), bytes);
        assert_eq!(status, 200, "{file}: {head}");
    }

    /// Returns the URL of a folder in the bucket.
    pub fn url(&self, folder: &str) -> String {
        self.protocol.url(folder)
    }

    /// Returns the headers of a file.
    pub fn headers(&self, file: &str) -> String {
        let (status, head, _) = self.ask("GET", &format!("/{file}"), b"");
        assert_eq!(status, 200, "{file}: {head}");
        head.to_ascii_lowercase()
    }

    /// Returns the names of the files in the bucket, sorted.
    pub fn names(&self) -> Vec<String> {
        let (status, head, list) = self.ask("GET", "?list-type=2", b"");
        assert_eq!(status, 200, "{head}");
        let list = String::from_utf8(list).unwrap();
        let names = list.split("<Key>").skip(1);
        let mut names: Vec<String> = names
            .map(|rest| rest.split('<').next().unwrap().to_owned())
            .collect();
        names.sort();
        names
    }

    /// Creates a command with the environment for this server.
    pub fn command(&self) -> Command {
        self.command_at(self.at)
    }

    /// Creates a command that reaches this server at another address.
    pub fn command_at(&self, at: SocketAddr) -> Command {
        self.protocol.command(at)
    }

    /// Runs the program with the environment for this server.
    pub fn run(&self, args: &[&str]) -> Run {
        run(self.command().args(args))
    }
}

impl Drop for Store {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Runs a command to its end.
pub fn run(command: &mut Command) -> Run {
    let output = command.stdin(Stdio::null()).output().unwrap();
    Run {
        code: output.status.code().unwrap_or(-1),
        out: String::from_utf8(output.stdout).unwrap(),
        err: String::from_utf8(output.stderr).unwrap(),
    }
}

/// Sends a request and returns status, head and body.
pub fn http(
    at: SocketAddr,
    method: &str,
    path: &str,
    headers: &[(String, String)],
    body: &[u8],
) -> (u16, String, Vec<u8>) {
    let mut stream = TcpStream::connect(at).unwrap();
    let mut head = format!("{method} {path} HTTP/1.1\r\nhost: {at}\r\nconnection: close\r\n");
    head.push_str(&format!("content-length: {}\r\n", body.len()));
    headers
        .iter()
        .for_each(|(name, value)| head.push_str(&format!("{name}: {value}\r\n")));
    stream.write_all(format!("{head}\r\n").as_bytes()).unwrap();
    stream.write_all(body).unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).unwrap();
    let end = answer
        .windows(4)
        .position(|four| four == b"\r\n\r\n")
        .unwrap();
    let head = String::from_utf8_lossy(&answer[..end]).into_owned();
    (
        head.split(' ').nth(1).unwrap().parse().unwrap(),
        head,
        answer[end + 4..].to_vec(),
    )
}

/// Reads the rest of a request whose first bytes are `request`.
fn read_request(client: &mut TcpStream, mut request: Vec<u8>) -> std::io::Result<()> {
    let mut buffer = vec![0; 1 << 14];
    loop {
        if let Some(end) = request.windows(4).position(|four| four == b"\r\n\r\n") {
            let head = String::from_utf8_lossy(&request[..end]).to_ascii_lowercase();
            let length = head
                .lines()
                .find_map(|line| line.strip_prefix("content-length:")?.trim().parse().ok());
            if request.len() - end - 4 >= length.unwrap_or(0) {
                return Ok(());
            }
        }
        match client.read(&mut buffer)? {
            0 => return Ok(()),
            length => request.extend_from_slice(&buffer[..length]),
        }
    }
}

/// Answers a request whose first bytes are `request`.
fn answer(mut client: TcpStream, request: Vec<u8>, status: &str) -> std::io::Result<()> {
    // The whole request is read first. Otherwise the client might lose the answer.
    read_request(&mut client, request)?;
    write!(
        client,
        "HTTP/1.1 {status}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"
    )
}

/// Action of a [`Line`] for a connection.
pub enum Do {
    /// Forwards all bytes.
    Pass,
    /// Answers with this status instead of the server.
    Answer(&'static str),
}

/// Connection to a server through a separate port.
pub struct Line {
    pub at: SocketAddr,
    /// Number of bytes forwarded to the server.
    pub sent: Arc<AtomicU64>,
}

impl Line {
    /// Creates a line. `judge` chooses the action for the first line of a request and the number of earlier
    /// connections.
    pub fn new(to: SocketAddr, judge: impl Fn(&str, u64) -> Do + Send + Sync + 'static) -> Line {
        Line::until(to, judge, u64::MAX, || ())
    }

    /// Creates a line that forwards at most `limit` bytes to the server, and then calls `over`.
    pub fn until(
        to: SocketAddr,
        judge: impl Fn(&str, u64) -> Do + Send + Sync + 'static,
        limit: u64,
        over: impl Fn() + Send + Sync + 'static,
    ) -> Line {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let at = listener.local_addr().unwrap();
        let sent = Arc::new(AtomicU64::new(0));
        let rules = Arc::new(Rules {
            judge: Box::new(judge),
            limit,
            over: Box::new(over),
            sent: sent.clone(),
        });
        let count = AtomicU64::new(0);
        std::thread::spawn(move || {
            for client in listener.incoming().map_while(Result::ok) {
                let (rules, n) = (rules.clone(), count.fetch_add(1, SeqCst));
                std::thread::spawn(move || drop(rules.connection(client, to, n)));
            }
        });
        Line { at, sent }
    }
}

type Judge = dyn Fn(&str, u64) -> Do + Send + Sync;

struct Rules {
    judge: Box<Judge>,
    limit: u64,
    over: Box<dyn Fn() + Send + Sync>,
    sent: Arc<AtomicU64>,
}

impl Rules {
    fn connection(&self, mut client: TcpStream, to: SocketAddr, n: u64) -> std::io::Result<()> {
        let mut buffer = vec![0; 1 << 14];
        let mut length = client.read(&mut buffer)?;
        let first = String::from_utf8_lossy(&buffer[..length]);
        let first = first.lines().next().unwrap_or_default().to_owned();
        if let Do::Answer(status) = (self.judge)(&first, n) {
            return answer(client, buffer[..length].to_vec(), status);
        }
        let mut server = TcpStream::connect(to)?;
        let (mut from, mut back) = (server.try_clone()?, client.try_clone()?);
        std::thread::spawn(move || {
            let _ = std::io::copy(&mut from, &mut back);
            let _ = back.shutdown(Shutdown::Both);
        });
        while length > 0 {
            let before = self.sent.fetch_add(length as u64, SeqCst);
            let most = self.limit.saturating_sub(before).min(length as u64);
            server.write_all(&buffer[..most as usize])?;
            if before + length as u64 >= self.limit {
                (self.over)();
            }
            if most < length as u64 {
                let _ = server.shutdown(Shutdown::Both);
                return client.shutdown(Shutdown::Both);
            }
            length = client.read(&mut buffer)?;
        }
        Ok(())
    }
}
