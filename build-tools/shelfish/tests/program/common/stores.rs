//! Real servers of the stores' protocols, each started on a free port by the test that needs it and ended with it; and a
//! line to them that breaks where a test says so.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};

use super::Run;

/// A server that answers like a store.
pub struct Store {
    child: Child,
    pub at: SocketAddr,
    protocol: Protocol,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Protocol {
    S3,
    Azure,
    Google,
}

/// The account that Azurite has, and its key, which is public.
const ACCOUNT: &str = "devstoreaccount1";
const KEY: &str = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==";

impl Store {
    /// Starts a server with a bucket `shelf`. `None`, said loudly, where it is not installed.
    pub fn start(protocol: Protocol) -> Option<Store> {
        let tools = Path::new(env!("CARGO_BIN_EXE_shelfish")).ancestors().nth(2).unwrap().join("tools/stores");
        let tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/stores");
        let (program, args): (PathBuf, Vec<String>) = match protocol {
            Protocol::S3 => (tools.join("bin/moto_server"), ["-H", "127.0.0.1", "-p", "0"].map(String::from).into()),
            Protocol::Google => (tools.join("bin/python"), vec![tests.join("google.py").to_str().unwrap().to_owned()]),
            Protocol::Azure => (
                tests.join("node_modules/.bin/azurite-blob"),
                ["--blobPort", "0", "--inMemoryPersistence", "--skipApiVersionCheck", "--disableTelemetry"]
                    .map(String::from)
                    .into(),
            ),
        };
        if !program.is_file() {
            eprintln!("NOT TESTED with {protocol:?}: {} is missing; `cargo xtask test` installs it", program.display());
            return None;
        }
        // Python writes to a pipe in pieces unless told otherwise; both streams may have the line with the port.
        let mut child = Command::new("sh")
            .args(["-c", "exec \"$0\" \"$@\" 2>&1"])
            .arg(&program)
            .args(args)
            .env("PYTHONUNBUFFERED", "1")
            // As small as those of the tests.
            .env("S3_UPLOAD_PART_MIN_SIZE", "1")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut out = BufReader::new(child.stdout.take().unwrap());
        let mut said = String::new();
        let port = loop {
            let mut line = String::new();
            assert!(out.read_line(&mut line).unwrap() > 0, "{protocol:?} ended: {said}");
            let port = line.split_once("http://127.0.0.1:").map(|(_, rest)| rest.trim_end().to_owned());
            said.push_str(&line);
            let digits = |rest: String| rest.chars().take_while(char::is_ascii_digit).collect::<String>().parse().ok();
            if let Some(port) = port.and_then(digits) {
                break port;
            }
        };
        // What it says is read, so that it never waits.
        std::thread::spawn(move || std::io::copy(&mut out, &mut std::io::sink()));
        let store = Store { child, at: SocketAddr::from(([127, 0, 0, 1], port)), protocol };
        match protocol {
            Protocol::S3 => assert_eq!(http(store.at, "PUT", "/shelf", &[], b"").0, 200),
            Protocol::Azure => store.make_container(),
            Protocol::Google => {}
        }
        Some(store)
    }

    fn make_container(&self) {
        use object_store::azure::{AzureAccessKey, AzureAuthorizer, AzureCredential};

        let credential = AzureCredential::AccessKey(AzureAccessKey::try_new(KEY).unwrap());
        let path = format!("/{ACCOUNT}/shelf?restype=container");
        let mut request = axum::http::Request::builder()
            .method("PUT")
            .uri(format!("http://{}{path}", self.at))
            .header("content-length", "0")
            .body(object_store::client::HttpRequestBody::empty())
            .unwrap();
        AzureAuthorizer::new(&credential, ACCOUNT).try_authorize(&mut request).unwrap();
        let headers: Vec<(String, String)> = request
            .headers()
            .iter()
            .filter(|(name, _)| *name != "content-length")
            .map(|(name, value)| (name.to_string(), value.to_str().unwrap().to_owned()))
            .collect();
        let (status, _, body) = http(self.at, "PUT", &path, &headers, b"");
        assert_eq!(status, 201, "{}", String::from_utf8_lossy(&body));
    }

    /// The URL of a folder in its bucket.
    pub fn url(&self, folder: &str) -> String {
        let scheme = match self.protocol {
            Protocol::S3 => "s3",
            Protocol::Azure => "az",
            Protocol::Google => "gs",
        };
        format!("{scheme}://shelf/{folder}")
    }

    /// The headers with which it serves a file.
    pub fn headers(&self, file: &str) -> String {
        let path = match self.protocol {
            Protocol::Azure => unimplemented!("a container is not public by default"),
            _ => format!("/shelf/{file}"),
        };
        let sign =
            ("authorization".to_owned(), "AWS4-HMAC-SHA256 Credential=k/20260101/us-east-1/s3/aws4_request".to_owned());
        let (status, head, _) = http(self.at, "GET", &path, &[sign], b"");
        assert_eq!(status, 200, "{file}: {head}");
        head.to_ascii_lowercase()
    }

    /// The program with what it takes to find this server.
    pub fn command(&self) -> Command {
        self.command_at(self.at)
    }

    /// The program, to find this server at another address.
    pub fn command_at(&self, at: SocketAddr) -> Command {
        let mut command = super::command();
        for name in
            ["AWS_SESSION_TOKEN", "AWS_PROFILE", "GOOGLE_APPLICATION_CREDENTIALS", "AZURE_STORAGE_CONNECTION_STRING"]
        {
            command.env_remove(name);
        }
        match self.protocol {
            Protocol::S3 => command
                .env("AWS_ACCESS_KEY_ID", "k")
                .env("AWS_SECRET_ACCESS_KEY", "s")
                .env("AWS_REGION", "us-east-1")
                .env("AWS_ENDPOINT", format!("http://{at}")),
            Protocol::Azure => command
                .env("AZURE_STORAGE_USE_EMULATOR", "true")
                .env("AZURITE_BLOB_STORAGE_URL", format!("http://{at}")),
            Protocol::Google => command.env(
                "GOOGLE_SERVICE_ACCOUNT_KEY",
                format!(
                    r#"{{"gcs_base_url":"http://{at}","disable_oauth":true,"client_email":"","private_key":"","private_key_id":""}}"#
                ),
            ),
        };
        command
    }

    /// Runs the program.
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

/// One request by hand: status, head, body.
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
    headers.iter().for_each(|(name, value)| head.push_str(&format!("{name}: {value}\r\n")));
    stream.write_all(format!("{head}\r\n").as_bytes()).unwrap();
    stream.write_all(body).unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).unwrap();
    let end = answer.windows(4).position(|four| four == b"\r\n\r\n").unwrap();
    let head = String::from_utf8_lossy(&answer[..end]).into_owned();
    (head.split(' ').nth(1).unwrap().parse().unwrap(), head, answer[end + 4..].to_vec())
}

/// What a [`Line`] does with a connection, by the first line of its request and how many came before.
pub enum Do {
    /// Passes everything on.
    Pass,
    /// Answers with this status, in place of the server.
    Answer(&'static str),
    /// Passes so many bytes of the request on, then hangs up.
    Cut(u64),
}

/// A line to a server, on a port of its own.
pub struct Line {
    pub at: SocketAddr,
    /// Bytes that were passed on to the server.
    pub sent: Arc<AtomicU64>,
}

impl Line {
    /// A line on which `judge` says what happens to each connection.
    pub fn new(to: SocketAddr, judge: impl Fn(&str, u64) -> Do + Send + Sync + 'static) -> Line {
        Line::until(to, judge, u64::MAX, || ())
    }

    /// A line that passes so many bytes on to the server, then nothing more, after it has called `over`.
    pub fn until(
        to: SocketAddr,
        judge: impl Fn(&str, u64) -> Do + Send + Sync + 'static,
        limit: u64,
        over: impl Fn() + Send + Sync + 'static,
    ) -> Line {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let at = listener.local_addr().unwrap();
        let sent = Arc::new(AtomicU64::new(0));
        let rules = Arc::new(Rules { judge: Box::new(judge), limit, over: Box::new(over), sent: sent.clone() });
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
        let mut left = match (self.judge)(&first, n) {
            Do::Pass => u64::MAX,
            Do::Cut(bytes) => bytes,
            Do::Answer(status) => {
                // The whole request is taken, so that the answer is not lost.
                client.set_read_timeout(Some(std::time::Duration::from_millis(200)))?;
                while client.read(&mut buffer).is_ok_and(|length| length > 0) {}
                let answer = format!("HTTP/1.1 {status}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n");
                return client.write_all(answer.as_bytes());
            }
        };
        let mut server = TcpStream::connect(to)?;
        let (mut from, mut back) = (server.try_clone()?, client.try_clone()?);
        std::thread::spawn(move || {
            let _ = std::io::copy(&mut from, &mut back);
            let _ = back.shutdown(Shutdown::Both);
        });
        while length > 0 {
            let before = self.sent.fetch_add(length as u64, SeqCst);
            let most = left.min(self.limit.saturating_sub(before)).min(length as u64);
            server.write_all(&buffer[..most as usize])?;
            left -= most;
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
