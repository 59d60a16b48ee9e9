//! Host of one file whose connections break on demand.

use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

/// Behaviour of the host for its file.
#[derive(Clone, Debug)]
pub struct Behaviour {
    /// Number of bytes of a body before the connection breaks.
    pub breaks_after: usize,
    /// Whether the host supports ranges. Without ranges, only the first connection breaks.
    pub ranges: bool,
    /// Offset error of the second and later answers, in bytes.
    pub shift: usize,
    /// Whether the second and later answers contain another file.
    pub changes: bool,
    /// The file of the second and later answers, if it is another file.
    pub next: Option<Vec<u8>>,
    /// Headers that identify the version of the file. If `None`, a strong tag.
    pub validator: Option<&'static str>,
    /// Whether answers contain the length of the file.
    pub sends_length: bool,
    /// Status codes of the first answers.
    pub failures: Vec<u16>,
    /// Content of `sha256sums.txt`, or empty if the file is missing.
    pub sums: String,
}

impl Default for Behaviour {
    fn default() -> Behaviour {
        Behaviour {
            breaks_after: usize::MAX,
            ranges: true,
            shift: 0,
            changes: false,
            next: None,
            validator: None,
            sends_length: true,
            failures: Vec::new(),
            sums: String::new(),
        }
    }
}

/// Running host.
pub struct BreakingHost {
    at: SocketAddr,
    /// First byte of each answer with the file.
    pub asked: Arc<Mutex<Vec<usize>>>,
}

impl BreakingHost {
    pub fn new(file: Vec<u8>, behaviour: Behaviour) -> BreakingHost {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let at = listener.local_addr().unwrap();
        let asked = Arc::new(Mutex::new(Vec::new()));
        let (file, behaviour, state) = (
            Arc::new(file),
            Arc::new(Mutex::new(behaviour)),
            asked.clone(),
        );
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let (file, behaviour, state) = (file.clone(), behaviour.clone(), state.clone());
                // A client may hang up early.
                std::thread::spawn(move || drop(answer(&stream, &file, &behaviour, &state)));
            }
        });
        BreakingHost { at, asked }
    }

    pub fn url(&self, name: &str) -> String {
        format!("http://{}/dumps/{name}", self.at)
    }
}

fn answer(
    stream: &TcpStream,
    file: &[u8],
    behaviour: &Mutex<Behaviour>,
    asked: &Mutex<Vec<usize>>,
) -> std::io::Result<()> {
    let mut reader = BufReader::new(stream);
    let mut head = Vec::new();
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line)? == 0 || line.trim().is_empty() {
            break;
        }
        head.push(line.trim().to_ascii_lowercase());
    }
    let mut out = stream;
    let path = head
        .first()
        .and_then(|line| line.split(' ').nth(1))
        .unwrap_or_default();
    let mut now = behaviour.lock().unwrap();
    if path.ends_with("/sha256sums.txt") {
        let status = if now.sums.is_empty() {
            "404 Not Found"
        } else {
            "200 OK"
        };
        let sums = now.sums.clone();
        drop(now);
        return write!(
            out,
            "HTTP/1.1 {status}\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{sums}",
            sums.len()
        );
    }
    if !now.failures.is_empty() {
        let status = now.failures.remove(0);
        return write!(
            out,
            "HTTP/1.1 {status} No\r\ncontent-length: 0\r\nretry-after: 0\r\nconnection: close\r\n\r\n"
        );
    }
    let behaviour = now.clone();
    let range = head.iter().find_map(|line| {
        line.strip_prefix("range: bytes=")?
            .strip_suffix('-')?
            .parse::<usize>()
            .ok()
    });
    let condition = head.iter().find_map(|line| line.strip_prefix("if-range: "));
    let number = asked.lock().unwrap().len();
    let e_tag = if behaviour.changes && number > 0 {
        "\"new\""
    } else {
        "\"old\""
    };
    let range = range.filter(|_| {
        behaviour.ranges
            && condition.is_none_or(|tag| tag == e_tag || behaviour.validator.is_some())
    });
    let from = range.map_or(0, |range| {
        range + if number > 0 { behaviour.shift } else { 0 }
    });
    asked.lock().unwrap().push(from);
    drop(now);
    let file = behaviour
        .next
        .as_deref()
        .filter(|_| number > 0)
        .unwrap_or(file);
    let body = &file[from.min(file.len())..];
    match range {
        Some(_) => write!(
            out,
            "HTTP/1.1 206 Partial Content\r\ncontent-range: bytes {from}-{}/{}\r\n",
            file.len() - 1,
            file.len()
        )?,
        None => write!(out, "HTTP/1.1 200 OK\r\n")?,
    }
    if behaviour.sends_length {
        write!(out, "content-length: {}\r\n", body.len())?;
    }
    match behaviour.validator {
        Some(headers) => write!(out, "{headers}")?,
        None => write!(out, "etag: {e_tag}\r\n")?,
    }
    write!(out, "connection: close\r\n\r\n")?;
    let breaks_after = if behaviour.ranges || number == 0 {
        behaviour.breaks_after
    } else {
        usize::MAX
    };
    out.write_all(&body[..body.len().min(breaks_after)])?;
    out.flush()?;
    Ok(())
}
