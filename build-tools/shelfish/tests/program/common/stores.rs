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
    Azure,
    Google,
}

impl Protocol {
    /// Returns the URL of a folder in the bucket `shelf`.
    pub fn url(self, folder: &str) -> String {
        let scheme = match self {
            Protocol::S3 => "s3",
            Protocol::Azure => "az",
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
            "AZURE_STORAGE_CONNECTION_STRING",
        ] {
            command.env_remove(name);
        }
        match self {
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
}

/// Account of Azurite, with its public key.
const ACCOUNT: &str = "devstoreaccount1";
const KEY: &str =
    "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==";

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
            Protocol::Azure => (
                tests.join("node_modules/.bin/azurite-blob"),
                [
                    "--blobPort",
                    "0",
                    "--inMemoryPersistence",
                    "--skipApiVersionCheck",
                    "--disableTelemetry",
                ]
                .map(String::from)
                .into(),
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
        match protocol {
            Protocol::S3 => assert_eq!(http(store.at, "PUT", "/shelf", &[], b"").0, 200),
            Protocol::Azure => store.make_container(),
            Protocol::Google => {}
        }
        Some(store)
    }

    fn make_container(&self) {
        let (status, _, body) = self.azure("?restype=container", &[], b"");
        assert_eq!(status, 201, "{}", String::from_utf8_lossy(&body));
    }

    /// Sends a signed request with the method PUT to the container of Azure.
    fn azure(&self, path: &str, headers: &[(&str, &str)], body: &[u8]) -> (u16, String, Vec<u8>) {
        use object_store::azure::{AzureAccessKey, AzureAuthorizer, AzureCredential};

        let credential = AzureCredential::AccessKey(AzureAccessKey::try_new(KEY).unwrap());
        let path = format!("/{ACCOUNT}/shelf{path}");
        let mut request = axum::http::Request::builder()
            .method("PUT")
            .uri(format!("http://{}{path}", self.at))
            .header("content-length", body.len().to_string());
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let mut request = request
            .body(object_store::client::HttpRequestBody::empty())
            .unwrap();
        AzureAuthorizer::new(&credential, ACCOUNT)
            .try_authorize(&mut request)
            .unwrap();
        let headers: Vec<(String, String)> = request
            .headers()
            .iter()
            .filter(|(name, _)| *name != "content-length")
            .map(|(name, value)| (name.to_string(), value.to_str().unwrap().to_owned()))
            .collect();
        http(self.at, "PUT", &path, &headers, body)
    }

    /// Writes a file to the bucket, without the checks of `shelfish publish`.
    pub fn put(&self, file: &str, bytes: &[u8]) {
        let sign = (
            "authorization",
            "AWS4-HMAC-SHA256 Credential=k/20260101/us-east-1/s3/aws4_request",
        );
        let sign = [(sign.0.to_owned(), sign.1.to_owned())];
        let (status, head, _) = match self.protocol {
            Protocol::Azure => self.azure(
                &format!("/{file}"),
                &[("x-ms-blob-type", "BlockBlob")],
                bytes,
            ),
            Protocol::S3 | Protocol::Google => {
                http(self.at, "PUT", &format!("/shelf/{file}"), &sign, bytes)
            }
        };
        assert!([200, 201].contains(&status), "{file}: {head}");
    }

    /// Returns the URL of a folder in the bucket.
    pub fn url(&self, folder: &str) -> String {
        self.protocol.url(folder)
    }

    /// Returns the headers of a file.
    pub fn headers(&self, file: &str) -> String {
        let path = match self.protocol {
            Protocol::Azure => unimplemented!("a container is not public by default"),
            _ => format!("/shelf/{file}"),
        };
        let sign = (
            "authorization".to_owned(),
            "AWS4-HMAC-SHA256 Credential=k/20260101/us-east-1/s3/aws4_request".to_owned(),
        );
        let (status, head, _) = http(self.at, "GET", &path, &[sign], b"");
        assert_eq!(status, 200, "{file}: {head}");
        head.to_ascii_lowercase()
    }

    /// Returns the answer of S3 to a request for the bucket.
    fn bucket(&self, query: &str) -> String {
        let sign = (
            "authorization".to_owned(),
            "AWS4-HMAC-SHA256 Credential=k/20260101/us-east-1/s3/aws4_request".to_owned(),
        );
        let (status, head, body) = http(self.at, "GET", &format!("/shelf?{query}"), &[sign], b"");
        assert_eq!(status, 200, "{head}");
        String::from_utf8(body).unwrap()
    }

    /// Returns the names of the files in the bucket, sorted.
    pub fn names(&self) -> Vec<String> {
        let list = self.bucket("list-type=2");
        let names = list
            .split("<Key>")
            .skip(1)
            .map(|rest| rest.split('<').next().unwrap().to_owned());
        let mut names: Vec<String> = names.collect();
        names.sort();
        names
    }

    /// Returns the number of incomplete uploads.
    pub fn uploads(&self) -> usize {
        self.bucket("uploads=").matches("<Upload>").count()
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
fn answer(
    mut client: TcpStream,
    request: Vec<u8>,
    status: &str,
    body: &str,
) -> std::io::Result<()> {
    // The whole request is read first. Otherwise the client might lose the answer.
    read_request(&mut client, request)?;
    let length = body.len();
    write!(
        client,
        "HTTP/1.1 {status}\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{body}"
    )
}

/// Action of a [`Line`] for a connection.
pub enum Do {
    /// Forwards all bytes.
    Pass,
    /// Answers with this status instead of the server.
    Answer(&'static str),
    /// Answers with this status and body instead of the server.
    AnswerWith(&'static str, String),
    /// Forwards this number of bytes of the request, then closes the connection.
    Cut(u64),
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
        let mut left = match (self.judge)(&first, n) {
            Do::Pass => u64::MAX,
            Do::Cut(bytes) => bytes,
            Do::Answer(status) => return answer(client, buffer[..length].to_vec(), status, ""),
            Do::AnswerWith(status, body) => {
                return answer(client, buffer[..length].to_vec(), status, &body);
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
            let most = left
                .min(self.limit.saturating_sub(before))
                .min(length as u64);
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
