//! Host with hostile answers, for the protocols of all stores and for plain HTTP.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::Run;

/// Content of an endless body.
static NOISE: [u8; 1 << 16] = [b'x'; 1 << 16];

/// Request to the host.
#[derive(Clone, Debug)]
pub struct Request {
    /// Path and query.
    pub path: String,
    /// First and last requested byte.
    pub range: Option<(u64, u64)>,
}

impl Request {
    /// Returns the name of the requested file. Google's client escapes slashes and dots.
    pub fn file(&self) -> String {
        let path = self.path.split('?').next().unwrap_or_default();
        let path = percent_encoding::percent_decode_str(path).decode_utf8_lossy();
        path.rsplit('/').next().unwrap_or_default().to_owned()
    }

    /// Returns whether the request lists the files of a folder.
    pub fn is_listing(&self) -> bool {
        ["list-type=2", "comp=list"]
            .iter()
            .any(|query| self.path.contains(query))
    }

    fn read(stream: &TcpStream) -> io::Result<Request> {
        let mut reader = BufReader::new(stream);
        let mut lines = Vec::new();
        loop {
            let mut line = String::new();
            if reader.read_line(&mut line)? == 0 || line.trim().is_empty() {
                break;
            }
            lines.push(line.trim().to_owned());
        }
        let header = |name: &str| {
            let line = lines
                .iter()
                .find(|line| line.to_ascii_lowercase().starts_with(name))?;
            Some(line[name.len()..].trim().to_owned())
        };
        let length = header("content-length:")
            .and_then(|length| length.parse().ok())
            .unwrap_or(0);
        io::copy(&mut reader.take(length), &mut io::sink())?;
        let range = header("range:").and_then(|range| {
            let (first, last) = range.strip_prefix("bytes=")?.split_once('-')?;
            Some((first.parse().ok()?, last.parse().ok()?))
        });
        let mut words = lines.first().map_or("", String::as_str).split(' ').skip(1);
        let path = words.next().unwrap_or_default().to_owned();
        Ok(Request { path, range })
    }
}

/// Running host.
pub struct HostileHost {
    pub at: SocketAddr,
}

impl HostileHost {
    /// Starts a host that answers each request with `answer`.
    pub fn new(
        answer: impl Fn(&Request, &mut TcpStream) -> io::Result<()> + Send + Sync + 'static,
    ) -> HostileHost {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let at = listener.local_addr().unwrap();
        let answer = Arc::new(answer);
        std::thread::spawn(move || {
            for mut stream in listener.incoming().map_while(Result::ok) {
                let answer = answer.clone();
                // A client may close the connection early.
                std::thread::spawn(move || answer(&Request::read(&stream)?, &mut stream));
            }
        });
        HostileHost { at }
    }
}

/// Headers that all answers with a file need.
pub const FILE: &str =
    "etag: \"e\"\r\nlast-modified: Tue, 03 Nov 2026 10:00:00 GMT\r\nx-goog-generation: 1\r\n";

/// Sends a complete answer.
pub fn send(out: &mut TcpStream, status: &str, headers: &str, body: &[u8]) -> io::Result<()> {
    write!(
        out,
        "HTTP/1.1 {status}\r\n{headers}content-length: {}\r\nconnection: close\r\n\r\n",
        body.len()
    )?;
    out.write_all(body)
}

/// Answers with a file of a folder, as an honest host does.
pub fn send_file(request: &Request, out: &mut TcpStream, folder: &Path) -> io::Result<()> {
    let Ok(file) = std::fs::read(folder.join(request.file())) else {
        return send(out, "404 Not Found", "", b"");
    };
    match request.range {
        None => send(out, "200 OK", FILE, &file),
        Some((first, last)) => {
            let headers = format!(
                "{FILE}content-range: bytes {first}-{last}/{}\r\n",
                file.len()
            );
            send(
                out,
                "206 Partial Content",
                &headers,
                &file[first as usize..=last as usize],
            )
        }
    }
}

/// Sends bytes until the client closes the connection.
pub fn send_endlessly(out: &mut TcpStream, headers: &str) -> io::Result<()> {
    write!(out, "HTTP/1.1 {headers}connection: close\r\n\r\n")?;
    loop {
        out.write_all(&NOISE)?;
    }
}

/// Sends chunks until the client closes the connection.
pub fn send_chunks(out: &mut TcpStream, headers: &str) -> io::Result<()> {
    write!(
        out,
        "HTTP/1.1 {headers}transfer-encoding: chunked\r\nconnection: close\r\n\r\n"
    )?;
    loop {
        write!(out, "{:x}\r\n", NOISE.len())?;
        out.write_all(&NOISE)?;
        out.write_all(b"\r\n")?;
    }
}

/// Sends a byte of a body every 50 ms until the client closes the connection.
pub fn send_slowly(out: &mut TcpStream, headers: &str) -> io::Result<()> {
    write!(out, "HTTP/1.1 {headers}connection: close\r\n\r\n")?;
    loop {
        out.write_all(b"x")?;
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// Returns the same command with at most `memory` bytes of memory for its data. A program that exceeds the limit aborts.
pub fn limited(memory: u64, command: &Command) -> Command {
    let mut limited = Command::new("sh");
    limited.args([
        "-c",
        &format!("ulimit -d {}; exec \"$0\" \"$@\"", memory >> 10),
    ]);
    limited.arg(command.get_program()).args(command.get_args());
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => limited.env(name, value),
            None => limited.env_remove(name),
        };
    }
    limited
}

/// Runs a command with at most `memory` bytes of memory for its data. Returns its results and its peak memory.
pub fn run_within(memory: u64, command: &Command) -> (Run, u64) {
    let mut limited = limited(memory, command);
    let mut child = limited
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let (out, err) = (child.stdout.take().unwrap(), child.stderr.take().unwrap());
    let read = |mut pipe: Box<dyn Read + Send>| {
        std::thread::spawn(move || {
            let mut text = Vec::new();
            pipe.read_to_end(&mut text).unwrap();
            String::from_utf8_lossy(&text).into_owned()
        })
    };
    let (out, err) = (read(Box::new(out)), read(Box::new(err)));
    let start = Instant::now();
    let mut peak = 0;
    let status = loop {
        peak = peak_memory(child.id()).unwrap_or(0).max(peak);
        if let Some(status) = child.try_wait().unwrap() {
            break status;
        }
        if start.elapsed() > Duration::from_secs(120) {
            child.kill().unwrap();
            child.wait().unwrap();
            panic!(
                "no end after two minutes: {}{}",
                out.join().unwrap(),
                err.join().unwrap()
            );
        }
        std::thread::sleep(Duration::from_millis(2));
    };
    let code = status.code().unwrap_or(-1);
    (
        Run {
            code,
            out: out.join().unwrap(),
            err: err.join().unwrap(),
        },
        peak,
    )
}

/// Returns the peak memory of a process in bytes.
pub fn peak_memory(process: u32) -> Option<u64> {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))?;
    Some(line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()? << 10)
}
