//! `shelfish serve`: a static file server for development, which behaves like a good static host.
//!
//! The server answers single ranges (206 with `Content-Range`, 416 beyond the end). It sends strong ETags and answers
//! 304. It allows all origins and compresses text. `no-cache` makes a rebuilt file visible at once. The server can
//! simulate a slow network for measurements. With `--api`, it also answers lookups.

mod api;
mod compress;
mod connections;
mod limits;
mod network;
mod request_id;
mod site;
#[cfg(test)]
mod tests;

use std::{
    fmt,
    io::{self, Write},
    net::SocketAddr,
    path::PathBuf,
    process::ExitCode,
    time::{Instant, SystemTime},
};

use axum::Router;
use axum::extract::{ConnectInfo, Request};
use axum::http::header::RANGE;
use axum::middleware::{self, Next};
use axum::response::Response;
use tokio::{
    net::{TcpListener, TcpSocket},
    runtime::Runtime,
    sync::watch,
};

use self::connections::serve;
use self::network::Network;
use self::request_id::identify;
use self::site::{base_path, router};
use crate::system::{signals, utc};
use crate::terminal::shown::{beginning, json, shown};
use crate::{BoxError, Outcome};

/// Maximum number of connections to `--metrics-address`.
const METRICS_CONNECTIONS: usize = 64;

/// Number of connections that wait to be accepted. Tokio's 128 are too few: of a thousand clients at once, some were reset.
const BACKLOG: u32 = 4_096;

/// Serve a directory over HTTP as a static host does.
#[derive(clap::Args, Clone, Debug)]
#[command(after_help = "Examples:
  shelfish serve site
  shelfish serve site --latency-ms 50 --bandwidth-mbit 20
  shelfish serve evals --api --host 0.0.0.0 --port 8080
  shelfish serve s3://my-bucket/evals --api --cache-size 8GiB --memory 1GiB
  shelfish serve evals --api --host 0.0.0.0 --metrics-address 127.0.0.1:9100 --max-connections 2000
  shelfish serve evals --api --book book --player-books 'players/{player}-{color}' --endgames syzygy
  curl 'http://127.0.0.1:8000/api/cloud-eval?fen=8/8/8/4k3/8/4K3/4P3/8%20w%20-%20-&multiPv=3'

The explorer answers the parameters fen, play, moves, topGames and variant of Lichess. speeds, ratings, since and until choose
buckets of the book. The header Shelfish-Inexact names the parameters that the answer does not follow exactly.

With --api, a new database is in use after at most --revalidate. If the manifest cannot be read again, the old database stays
in use: /metrics shows shelfish_manifest_age_seconds and shelfish_revalidations_total. Clients may keep an answer for an hour.

Requests need no body: a request with a body is answered with 413, a URL beyond --max-url with 414. A client that is too slow
to send a request (--head-timeout) or to read an answer (--answer-timeout) is disconnected. Each answer has the header
X-Request-Id, which the log and the messages of errors contain: that of the request if it has at most 64 letters, digits,
`-`, `_` and `.`, otherwise a new one.

Ctrl-C and SIGTERM stop the server: it refuses new connections, and pending answers have --stop-timeout to finish.

Exit codes: 0 after a stop; 1 if the server cannot start; 2 if the usage is wrong.")]
pub struct Args {
    /// Directory to serve; with --api also the URL of a database
    #[arg(
        required_unless_present = "database",
        conflicts_with = "database",
        default_value = ".",
        hide_default_value = true
    )]
    dir: PathBuf,
    /// The same as DIR
    #[arg(short, long, value_name = "DIR_OR_URL")]
    database: Option<PathBuf>,
    /// Port; 0 chooses a free port
    #[arg(short, long, default_value_t = 8000)]
    port: u16,
    /// Address to listen on; 0.0.0.0 accepts other machines
    #[arg(long, default_value = "127.0.0.1")]
    host: String,
    /// Serve under this path instead of `/`, as project pages do
    #[arg(long, default_value = "/", value_name = "PATH")]
    base_path: String,
    /// Print a line per request to standard error: time, client, status, method, path, range, duration,
    /// request id, FEN
    #[arg(long)]
    log: bool,
    /// Delay every answer to simulate the latency of a network
    #[arg(long, default_value_t = 0, value_name = "MS")]
    latency_ms: u64,
    /// Limit the bandwidth of all answers together
    #[arg(long, value_name = "MBIT")]
    bandwidth_mbit: Option<f64>,
    #[command(flatten)]
    limits: limits::Args,
    #[command(flatten)]
    api: api::Args,
}

/// Reasons why the server cannot start.
#[derive(Debug)]
pub enum ServeError {
    /// The directory does not exist.
    NoDirectory(PathBuf),
    /// The base path contains forbidden characters.
    BasePath(String),
    /// The bandwidth is not a number above zero.
    Bandwidth(f64),
    /// Another program uses the port.
    Taken {
        /// Requested address.
        host: String,
        /// Requested port.
        port: u16,
    },
    /// The server cannot listen on the address.
    Listen {
        /// Requested address.
        host: String,
        /// Requested port.
        port: u16,
        /// Error of the system.
        source: io::Error,
    },
}

impl fmt::Display for ServeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ServeError::NoDirectory(dir) => write!(f, "{} is not a directory", dir.display()),
            ServeError::BasePath(path) => {
                write!(
                    f,
                    "--base-path {path}: expected a path of letters, digits and `-._~/`, such as /shelfish/"
                )
            }
            ServeError::Bandwidth(mbit) => {
                write!(f, "--bandwidth-mbit {mbit}: expected a number above 0")
            }
            ServeError::Taken { host, port } => {
                write!(
                    f,
                    "port {port} of {host} is in use: choose another --port, or 0 for a free port"
                )
            }
            ServeError::Listen { host, port, source } => {
                write!(f, "cannot listen on {host}, port {port}: {source}")
            }
        }
    }
}

impl std::error::Error for ServeError {}

/// Prints the URL on a separate line and serves until interrupted.
pub fn run(mut args: Args) -> Outcome {
    if let Some(database) = args.database.take() {
        args.dir = database;
    }
    let runtime = Runtime::new()?;
    let done = runtime.block_on(async {
        let limits = &args.limits;
        let (app, metrics) = apps(&args).await?;
        let listener = listen(&args.host, args.port).await?;
        let url = url(listener.local_addr()?, &base_path(&args.base_path)?);
        let mut servers = Vec::new();
        let (stopped, stop) = watch::channel(false);
        if let (Some(at), Some(metrics)) = (args.api.metrics_address, metrics) {
            let listener = listen(&at.ip().to_string(), at.port()).await?;
            eprintln!("Metrics at http://{}/metrics", listener.local_addr()?);
            let app = limits.before(metrics);
            servers.push(tokio::spawn(serve(
                listener,
                app,
                limits.clone(),
                METRICS_CONNECTIONS,
                stop.clone(),
            )));
        }
        // The signal handlers are ready before the URL is printed, because a reader may stop the server at once.
        let interrupted = signals::interruption()?;
        eprintln!(
            "Serving {}, Ctrl-C stops",
            shown(&args.dir.display().to_string())
        );
        println!("{url}");
        io::stdout().flush()?;
        let most = limits.connections();
        servers.push(tokio::spawn(serve(
            listener,
            limits.before(app),
            limits.clone(),
            most,
            stop,
        )));
        interrupted.await;
        stopped.send_replace(true);
        let pending = async {
            for server in servers {
                let _ = server.await;
            }
        };
        // Answers that are still pending are given up.
        let _ = tokio::time::timeout(limits.stop_timeout, pending).await;
        Ok(ExitCode::SUCCESS)
    });
    // A request for the name of a host must not delay the end.
    runtime.shutdown_background();
    done
}

/// Listens on an address.
async fn listen(host: &str, port: u16) -> Result<TcpListener, ServeError> {
    let listener = async {
        let mut result = Err(io::ErrorKind::AddrNotAvailable.into());
        for address in tokio::net::lookup_host((host, port)).await? {
            result = listen_at(address);
            if result.is_ok() {
                break;
            }
        }
        result
    };
    listener.await.map_err(|source| {
        let host = host.to_owned();
        match source.kind() {
            io::ErrorKind::AddrInUse => ServeError::Taken { host, port },
            _ => ServeError::Listen { host, port, source },
        }
    })
}

fn listen_at(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = if address.is_ipv4() {
        TcpSocket::new_v4()?
    } else {
        TcpSocket::new_v6()?
    };
    // On Windows, this option would permit two servers on one port.
    #[cfg(not(windows))]
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    socket.listen(BACKLOG)
}

/// Builds the routes: files, and the API with `--api`. The second routes are those of `--metrics-address`.
async fn apps(args: &Args) -> Result<(Router, Option<Router>), BoxError> {
    if !args.api.api {
        return Ok((observed(args, router(args)?)?, None));
    }
    let base = base_path(&args.base_path)?;
    let database = args
        .dir
        .to_str()
        .ok_or_else(|| ServeError::NoDirectory(args.dir.clone()))?;
    let api::Routers { api, metrics } = api::routers(&args.api, database).await?;
    let api = if base.is_empty() {
        api
    } else {
        Router::new().nest(&base, api)
    };
    let app = if args.dir.is_dir() {
        api.fallback_service(router(args)?)
    } else {
        api
    };
    Ok((observed(args, app)?, metrics))
}

/// Adds the simulated network, the log, and the numbers of requests.
fn observed(args: &Args, mut app: Router) -> Result<Router, ServeError> {
    if args.latency_ms > 0 || args.bandwidth_mbit.is_some() {
        let mbit = args.bandwidth_mbit.unwrap_or(f64::INFINITY);
        if mbit.is_nan() || mbit <= 0.0 {
            return Err(ServeError::Bandwidth(mbit));
        }
        app = Network::new(args.latency_ms, mbit).before(app);
    }
    if args.log {
        app = app.layer(middleware::from_fn(log));
    }
    Ok(app.layer(middleware::from_fn(identify)))
}

/// Prints a line per request: time, client, status, method, path, range, duration until the answer began, number, FEN.
///
/// A line contains only the FEN of the query. Other parameters and headers may be secrets.
async fn log(request: Request, next: Next) -> Response {
    let (start, time) = (Instant::now(), utc::rfc3339(SystemTime::now()));
    let client = request
        .extensions()
        .get()
        .map(|ConnectInfo::<SocketAddr>(address)| address.ip().to_string());
    let range = request
        .headers()
        .get(RANGE)
        .and_then(|range| range.to_str().ok())
        .map(field);
    let (method, path) = (request.method().to_string(), field(request.uri().path()));
    let fen = request
        .uri()
        .query()
        .filter(|_| path.ends_with("/api/cloud-eval"))
        .and_then(api::fen_of);
    let response = next.run(request).await;
    let [client, range, fen] =
        [client, range, fen.as_deref().map(field)].map(|text| text.unwrap_or("-".to_owned()));
    let (status, milliseconds) = (
        response.status().as_u16(),
        start.elapsed().as_secs_f64() * 1e3,
    );
    let (method, id) = (field(&method), request_id::current());
    eprintln!("{time} {client} {status} {method} {path} {range} {milliseconds:.3}ms {id} {fen}");
    response
}

/// Returns a text of a client as a field of the log, shortened. A text with spaces, quotes or other characters that could
/// look like several fields is a JSON string.
fn field(text: &str) -> String {
    let text = beginning(text);
    let is_plain = |c: char| c.is_ascii_graphic() && !matches!(c, '"' | '\\');
    if !text.is_empty() && text.chars().all(is_plain) {
        return text;
    }
    // A text is always valid JSON.
    json(&text).unwrap_or_default()
}

fn url(address: SocketAddr, base: &str) -> String {
    match address.ip().is_unspecified() {
        true => format!("http://localhost:{}{base}/", address.port()),
        false => format!("http://{address}{base}/"),
    }
}
