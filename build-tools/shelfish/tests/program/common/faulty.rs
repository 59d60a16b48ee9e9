//! Host of a database that answers correctly unless a test changes its answers.

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex};

use super::Fixture;

/// Request without a body.
#[derive(Clone, Debug, Default)]
pub struct Request {
    pub method: String,
    pub path: String,
    /// Headers by lower-case name.
    pub headers: HashMap<String, String>,
}

impl Request {
    pub fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", String::as_str)
    }

    pub fn is_range(&self) -> bool {
        self.headers.contains_key("range")
    }

    pub fn is_manifest(&self) -> bool {
        self.path.ends_with("/manifest.json")
    }

    /// Returns the requested range without its end.
    fn range(&self) -> Option<(usize, usize)> {
        let (first, last) = self
            .header("range")
            .strip_prefix("bytes=")?
            .split_once('-')?;
        Some((first.parse().ok()?, last.parse::<usize>().ok()? + 1))
    }
}

/// Answer to a request.
#[derive(Clone, Debug, Default)]
pub struct Reply {
    pub status: u16,
    pub headers: Vec<(&'static str, String)>,
    pub body: Vec<u8>,
}

impl Reply {
    /// Replaces a header. An empty value removes the header.
    pub fn set(&mut self, name: &'static str, value: &str) {
        self.headers.retain(|(other, _)| *other != name);
        if !value.is_empty() {
            self.headers.push((name, value.to_owned()));
        }
    }

    /// Replaces the answer by a redirect.
    pub fn redirect(&mut self, to: &str) {
        self.status = 302;
        self.body.clear();
        self.set("location", to);
    }
}

/// Running host. Its thread ends with the test program.
pub struct FaultyHost {
    pub at: SocketAddr,
    /// Requests in their order.
    pub requests: Arc<Mutex<Vec<Request>>>,
}

impl FaultyHost {
    /// Serves the database `db` of a fixture. `fault` changes the answer to a request. It also receives the number of
    /// earlier requests.
    pub fn new(
        fixture: &Fixture,
        fault: impl Fn(&Request, &mut Reply, &Files, usize) + Send + Sync + 'static,
    ) -> FaultyHost {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let at = listener.local_addr().unwrap();
        let requests = Arc::new(Mutex::new(Vec::new()));
        let files: Arc<Files> = Arc::new(fixture.files("db").into_iter().collect());
        let (fault, log, count) = (
            Arc::new(fault),
            requests.clone(),
            Arc::new(AtomicUsize::new(0)),
        );
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let (files, fault, log, count) =
                    (files.clone(), fault.clone(), log.clone(), count.clone());
                // A client may close the connection early.
                std::thread::spawn(move || {
                    let mut reader = BufReader::new(&stream);
                    while let Some(request) = read_request(&mut reader) {
                        log.lock().unwrap().push(request.clone());
                        let mut reply = correct(&request, &files);
                        fault(&request, &mut reply, &files, count.fetch_add(1, Relaxed));
                        if write_reply(&stream, &reply).is_err() {
                            break;
                        }
                    }
                });
            }
        });
        FaultyHost { at, requests }
    }

    pub fn url(&self) -> String {
        format!("http://{}/db", self.at)
    }
}

/// Files by name.
pub type Files = HashMap<String, Vec<u8>>;

fn read_request(reader: &mut BufReader<&TcpStream>) -> Option<Request> {
    let mut lines = Vec::new();
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).ok()? == 0 {
            return None;
        }
        if line.trim().is_empty() {
            break;
        }
        lines.push(line.trim().to_owned());
    }
    let mut words = lines.first()?.split(' ');
    let (method, path) = (words.next()?.to_owned(), words.next()?.to_owned());
    let headers = lines.iter().skip(1).filter_map(|line| line.split_once(':'));
    let headers = headers
        .map(|(name, value)| (name.to_ascii_lowercase(), value.trim().to_owned()))
        .collect();
    Some(Request {
        method,
        path,
        headers,
    })
}

/// Returns the answer of a good host.
fn correct(request: &Request, files: &Files) -> Reply {
    let mut reply = Reply {
        status: 200,
        ..Reply::default()
    };
    reply.set("access-control-allow-origin", "*");
    reply.set("access-control-expose-headers", "Content-Range, ETag");
    reply.set("connection", "keep-alive");
    if request.method == "OPTIONS" {
        reply.status = 204;
        reply.set("access-control-allow-headers", "Range");
        return reply;
    }
    let name = request
        .path
        .split('?')
        .next()
        .unwrap()
        .rsplit('/')
        .next()
        .unwrap();
    let Some(file) = files.get(name) else {
        reply.status = 404;
        return reply;
    };
    let is_manifest = request.is_manifest();
    reply.set("etag", "\"v1\"");
    reply.set(
        "cache-control",
        if is_manifest {
            "no-cache"
        } else {
            "public, max-age=31536000, immutable"
        },
    );
    match request.range() {
        Some((start, end)) => {
            reply.status = 206;
            reply.set(
                "content-range",
                &format!("bytes {start}-{}/{}", end - 1, file.len()),
            );
            reply.body = file[start..end].to_vec();
        }
        None if request.header("if-none-match") == "\"v1\"" => reply.status = 304,
        None => reply.body = file.clone(),
    }
    reply
}

fn write_reply(mut stream: &TcpStream, reply: &Reply) -> std::io::Result<()> {
    let mut head = format!("HTTP/1.1 {} X\r\n", reply.status);
    if reply.status != 304 && reply.status != 204 {
        head.push_str(&format!("content-length: {}\r\n", reply.body.len()));
    }
    reply
        .headers
        .iter()
        .for_each(|(name, value)| head.push_str(&format!("{name}: {value}\r\n")));
    stream.write_all(&[format!("{head}\r\n").as_bytes(), &reply.body].concat())
}
