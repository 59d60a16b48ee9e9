//! `shelfish serve`: a static file server for development, which behaves like a good static host.
//!
//! The server answers single ranges (206 with `Content-Range`, 416 beyond the end). It sends strong ETags and answers
//! 304. It allows all origins and compresses text. `no-cache` makes a rebuilt file visible at once. The server can
//! simulate a slow network for measurements. With `--api`, it also answers lookups.

mod api;
mod compress;
mod network;
mod site;
#[cfg(test)]
mod tests;

use std::{
    fmt,
    io::{self, Write},
    net::SocketAddr,
    path::PathBuf,
    process::ExitCode,
    time::{Duration, Instant, SystemTime},
};

use axum::Router;
use axum::extract::{ConnectInfo, Request};
use axum::http::header::RANGE;
use axum::middleware::{self, Next};
use axum::response::Response;
use axum::serve::ListenerExt;
use tokio::{net::TcpListener, runtime::Runtime};

use self::network::Network;
use self::site::{base_path, router};
use crate::system::{signals, utc};
use crate::terminal::shown::{beginning, json, shown};
use crate::{BoxError, Outcome};

/// Time for pending answers after the server was stopped.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(2);

/// Serve a directory over HTTP as a static host does.
#[derive(clap::Args, Clone, Debug)]
#[command(after_help = "Examples:
  shelfish serve site
  shelfish serve site --latency-ms 50 --bandwidth-mbit 20
  shelfish serve evals --api --host 0.0.0.0 --port 8080
  shelfish serve s3://my-bucket/evals --api --cache-size 8GiB --memory 1GiB
  shelfish serve evals --api --book book --player-books 'players/{player}-{color}' --endgames syzygy
  curl 'http://127.0.0.1:8000/api/cloud-eval?fen=8/8/8/4k3/8/4K3/4P3/8%20w%20-%20-&multiPv=3'

The explorer answers the parameters fen, play, moves, topGames and variant of Lichess. speeds, ratings, since and until choose
buckets of the book. The header Shelfish-Inexact names the parameters that the answer does not follow exactly.

With --api, a new database is in use after at most --revalidate. If the manifest cannot be read again, the old database stays
in use: /metrics shows shelfish_manifest_age_seconds and shelfish_revalidations_total. Clients may keep an answer for an hour.

Ctrl-C and SIGTERM stop the server. Pending answers have two seconds to finish.

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
    /// Print a line per request to standard error: time, client, status, method, path, range, duration, FEN
    #[arg(long)]
    log: bool,
    /// Delay every answer to simulate the latency of a network
    #[arg(long, default_value_t = 0, value_name = "MS")]
    latency_ms: u64,
    /// Limit the bandwidth of all answers together
    #[arg(long, value_name = "MBIT")]
    bandwidth_mbit: Option<f64>,
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
                write!(f, "--base-path {path}: expected a path of letters, digits and `-._~/`, such as /shelfish/")
            }
            ServeError::Bandwidth(mbit) => write!(f, "--bandwidth-mbit {mbit}: expected a number above 0"),
            ServeError::Taken { host, port } => {
                write!(f, "port {port} of {host} is in use: choose another --port, or 0 for a free port")
            }
            ServeError::Listen { host, port, source } => write!(f, "cannot listen on {host}, port {port}: {source}"),
        }
    }
}

impl std::error::Error for ServeError {}

/// Prints the URL on a separate line and serves until interrupted.
pub fn run(mut args: Args) -> Outcome {
    if let Some(database) = args.database.take() {
        args.dir = database;
    }
    Runtime::new()?.block_on(async {
        let app = app(&args).await?;
        let listener = TcpListener::bind((args.host.as_str(), args.port)).await.map_err(|source| {
            let (host, port) = (args.host.clone(), args.port);
            match source.kind() {
                io::ErrorKind::AddrInUse => ServeError::Taken { host, port },
                _ => ServeError::Listen { host, port, source },
            }
        })?;
        let url = url(listener.local_addr()?, &base_path(&args.base_path)?);
        // The signal handlers are ready before the URL is printed, because a reader may stop the server at once.
        let interrupted = signals::interruption()?;
        eprintln!("Serving {}, Ctrl-C stops", shown(&args.dir.display().to_string()));
        println!("{url}");
        io::stdout().flush()?;

        // Disables Nagle's algorithm: a head and a short body must not wait for an acknowledgement.
        let listener = listener.tap_io(|stream| drop(stream.set_nodelay(true)));

        let (stopped, mut stop) = tokio::sync::watch::channel(());
        let app = app.into_make_service_with_connect_info::<SocketAddr>();
        let server = axum::serve(listener, app).with_graceful_shutdown(async move {
            interrupted.await;
            drop(stopped);
        });
        let overdue = async move {
            // The channel closes when the server is stopped.
            while stop.changed().await.is_ok() {}
            tokio::time::sleep(SHUTDOWN_TIMEOUT).await;
        };
        tokio::select! {
            done = server => done?,
            () = overdue => {}
        }
        Ok(ExitCode::SUCCESS)
    })
}

/// Builds the routes: files, and the API with `--api`.
async fn app(args: &Args) -> Result<Router, BoxError> {
    if !args.api.api {
        return Ok(observed(args, router(args)?)?);
    }
    let base = base_path(&args.base_path)?;
    let database = args.dir.to_str().ok_or_else(|| ServeError::NoDirectory(args.dir.clone()))?;
    let api = api::router(&args.api, database).await?;
    let api = if base.is_empty() { api } else { Router::new().nest(&base, api) };
    let app = if args.dir.is_dir() { api.fallback_service(router(args)?) } else { api };
    Ok(observed(args, app)?)
}

/// Adds the simulated network and the log.
fn observed(args: &Args, mut app: Router) -> Result<Router, ServeError> {
    if args.latency_ms > 0 || args.bandwidth_mbit.is_some() {
        let mbit = args.bandwidth_mbit.unwrap_or(f64::INFINITY);
        if mbit.is_nan() || mbit <= 0.0 {
            return Err(ServeError::Bandwidth(mbit));
        }
        app = Network::new(args.latency_ms, mbit).before(app);
    }
    Ok(if args.log { app.layer(middleware::from_fn(log)) } else { app })
}

/// Prints a line per request: time, client, status, method, path, range, duration until the answer began, FEN.
///
/// A line contains only the FEN of the query. Other parameters and headers may be secrets.
async fn log(request: Request, next: Next) -> Response {
    let (start, time) = (Instant::now(), utc::rfc3339(SystemTime::now()));
    let client = request.extensions().get().map(|ConnectInfo::<SocketAddr>(address)| address.ip().to_string());
    let range = request.headers().get(RANGE).and_then(|range| range.to_str().ok()).map(field);
    let (method, path) = (request.method().to_string(), field(request.uri().path()));
    let fen = request.uri().query().filter(|_| path.ends_with("/api/cloud-eval")).and_then(api::fen_of);
    let response = next.run(request).await;
    let [client, range, fen] = [client, range, fen.as_deref().map(field)].map(|text| text.unwrap_or("-".to_owned()));
    let (status, milliseconds) = (response.status().as_u16(), start.elapsed().as_secs_f64() * 1e3);
    eprintln!("{time} {client} {status} {} {path} {range} {milliseconds:.3}ms {fen}", field(&method));
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
