//! A host of one file whose connections break where a test says so.

use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

/// What the host does with the answers for its file.
#[derive(Clone, Debug)]
pub struct Habits {
    /// Bytes of a body before the connection breaks.
    pub breaks_after: usize,
    /// Whether ranges are sent. A host that sends none breaks once.
    pub ranges: bool,
    /// From the second answer on, the first byte that is sent is so many later than the one asked for.
    pub shift: usize,
    /// The file from the second answer on is another one.
    pub changes: bool,
    /// Whether its length is told.
    pub tells_length: bool,
    /// Statuses before the first answer.
    pub refusals: Vec<u16>,
    /// Whether bodies stop without an end, from the second answer on, after so many answers that do.
    pub silent: usize,
    /// What `sha256sums.txt` has; none if empty.
    pub sums: String,
    /// Whether it answers with status 503 to who asks for that file.
    pub refuses_sums: bool,
}

impl Default for Habits {
    fn default() -> Habits {
        Habits {
            breaks_after: usize::MAX,
            ranges: true,
            shift: 0,
            changes: false,
            tells_length: true,
            refusals: Vec::new(),
            silent: 0,
            sums: String::new(),
            refuses_sums: false,
        }
    }
}

/// A host, which lives as long as the test.
pub struct BreakingHost {
    at: SocketAddr,
    /// The first byte of each answer with the file.
    pub asked: Arc<Mutex<Vec<usize>>>,
}

impl BreakingHost {
    pub fn new(file: Vec<u8>, habits: Habits) -> BreakingHost {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let at = listener.local_addr().unwrap();
        let asked = Arc::new(Mutex::new(Vec::new()));
        let (file, habits, state) = (Arc::new(file), Arc::new(Mutex::new(habits)), asked.clone());
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let (file, habits, state) = (file.clone(), habits.clone(), state.clone());
                // A client that hangs up has what it wants.
                std::thread::spawn(move || drop(answer(&stream, &file, &habits, &state)));
            }
        });
        BreakingHost { at, asked }
    }

    pub fn url(&self, name: &str) -> String {
        format!("http://{}/dumps/{name}", self.at)
    }
}

fn answer(stream: &TcpStream, file: &[u8], habits: &Mutex<Habits>, asked: &Mutex<Vec<usize>>) -> std::io::Result<()> {
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
    let path = head.first().and_then(|line| line.split(' ').nth(1)).unwrap_or_default();
    let mut now = habits.lock().unwrap();
    if path.ends_with("/sha256sums.txt") {
        let status = match (now.refuses_sums, now.sums.is_empty()) {
            (true, _) => "503 No",
            (_, true) => "404 Not Found",
            _ => "200 OK",
        };
        let sums = now.sums.clone();
        drop(now);
        return write!(out, "HTTP/1.1 {status}\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{sums}", sums.len());
    }
    if !now.refusals.is_empty() {
        let status = now.refusals.remove(0);
        return write!(out, "HTTP/1.1 {status} No\r\ncontent-length: 0\r\nretry-after: 0\r\nconnection: close\r\n\r\n");
    }
    let habits = now.clone();
    let range =
        head.iter().find_map(|line| line.strip_prefix("range: bytes=")?.strip_suffix('-')?.parse::<usize>().ok());
    let condition = head.iter().find_map(|line| line.strip_prefix("if-range: "));
    let number = asked.lock().unwrap().len();
    let e_tag = if habits.changes && number > 0 { "\"new\"" } else { "\"old\"" };
    let range = range.filter(|_| habits.ranges && condition.is_none_or(|tag| tag == e_tag));
    let from = range.map_or(0, |range| range + if number > 0 { habits.shift } else { 0 });
    asked.lock().unwrap().push(from);
    let is_silent = number > 0 && habits.silent > 0;
    if is_silent {
        now.silent -= 1;
    }
    drop(now);
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
    if habits.tells_length {
        write!(out, "content-length: {}\r\n", body.len())?;
    }
    write!(out, "etag: {e_tag}\r\nconnection: close\r\n\r\n")?;
    let breaks_after = if habits.ranges || number == 0 { habits.breaks_after } else { usize::MAX };
    out.write_all(&body[..body.len().min(breaks_after)])?;
    out.flush()?;
    if is_silent {
        // Until the client hangs up.
        reader.read_line(&mut String::new())?;
    }
    Ok(())
}
