//! `shelfish serve`: a static file server, and with `--api` a server of lookups.
//!
//! A public server is expected behind a proxy, which limits each client and terminates TLS.

mod api;
mod explorer;
mod question;
mod site;
#[cfg(test)]
mod tests;

use std::io::{self, Write};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Duration, Instant, SystemTime};

use axum::Router;
use axum::body::Body;
use axum::extract::{ConnectInfo, Request};
use axum::http::header::RANGE;
use axum::middleware::{self, Next};
use axum::response::Response;
use axum::serve::Listener;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use tokio::net::TcpListener;
use tokio::runtime::Runtime;
use tokio::sync::Semaphore;
use tower::Service;

use shelfish::source::redaction::redacted;

use crate::system::{quantity, signals};
use crate::terminal::shown::{beginning, shown};
use crate::{BoxError, Outcome};

/// Maximum number of open connections. Further clients wait.
const CONNECTIONS: usize = 512;

/// Places of connections that are not open.
static PLACES: Semaphore = Semaphore::const_new(CONNECTIONS);

/// Time for the head of a request, which includes the time that an open connection waits for a request.
const HEAD_TIMEOUT: Duration = Duration::from_secs(30);

/// Maximum size of the head of a request, in bytes.
const MAX_HEAD: usize = 32 << 10;

/// Time for pending answers after the server was stopped.
const STOP_TIMEOUT: Duration = Duration::from_secs(10);

/// Serve a directory over HTTP as a static host does.
#[derive(clap::Args, Clone, Debug)]
#[command(after_help = "Examples:
  shelfish serve site
  shelfish serve site --latency 50ms --bandwidth-mbit 20
  shelfish serve s3://my-bucket/evals --api
  shelfish serve evals --api --book book --endgames syzygy
  curl 'http://127.0.0.1:8000/api/cloud-eval?fen=8/8/8/4k3/8/4K3/4P3/8%20w%20-%20-&multiPv=3'

A file NAME.br, NAME.gz or NAME.zst is sent instead of NAME to clients that accept its compression.

The explorer answers the parameters fen, play, moves, topGames and variant of Lichess. speeds and ratings choose
buckets of the book. The header Shelfish-Inexact names the parameters that the answer does not follow exactly.

With --api, a new database is in use after at most --revalidate. If the manifest cannot be read again, the old database stays
in use: /metrics shows shelfish_manifest_age_seconds and shelfish_revalidations_total. /healthz answers 503 after three times in
which no manifest could be read. Clients may keep an answer for an hour.

Put a proxy in front of a public server: it limits each client, and terminates TLS. Ctrl-C and SIGTERM stop the server, and
pending answers have 10 s to finish.

Exit codes: 0 after a stop; 1 if the server cannot start; 2 if the usage is wrong.")]
pub struct Args {
    /// Directory to serve; with --api also the URL of a database
    dir: PathBuf,
    /// Port; 0 chooses a free port
    #[arg(short, long, default_value_t = 8000, value_parser = quantity::integer(0_u16, u16::MAX))]
    port: u16,
    /// Address to listen on; 0.0.0.0 accepts other machines
    #[arg(long, default_value = "127.0.0.1")]
    host: String,
    /// Print a line per request to standard error: time, client, status, method, path, range, duration, FEN
    #[arg(long)]
    log: bool,
    /// Delay every answer to simulate the latency of a network; a number alone counts milliseconds
    #[arg(long, alias = "latency-ms", default_value = "0", value_name = "TIME", value_parser = quantity::milliseconds)]
    latency: Duration,
    /// Limit the bandwidth of all answers together
    #[arg(long, value_name = "MBIT", value_parser = positive)]
    bandwidth_mbit: Option<f64>,
    #[command(flatten)]
    api: api::Args,
}

/// Reasons why the server cannot start.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// The directory does not exist.
    #[error("{} is not a directory; expected an existing one, or with --api the URL of a database", redacted(&.0.display().to_string()))]
    NoDirectory(PathBuf),
    /// Another program uses the port.
    #[error("port {port} of {host} is in use: choose another --port, or 0 for a free port")]
    Taken {
        /// Requested address.
        host: String,
        /// Requested port.
        port: u16,
    },
    /// The server cannot listen on the address.
    #[error("cannot listen on {host}, port {port}: {error}")]
    Listen {
        /// Requested address.
        host: String,
        /// Requested port.
        port: u16,
        /// Error of the system.
        error: io::Error,
    },
}

fn positive(text: &str) -> Result<f64, &'static str> {
    let number = text.parse().ok().filter(|number| *number > 0.0);
    number.ok_or("expected a number above 0")
}

/// Prints the URL on a separate line and serves until interrupted.
pub fn run(args: Args) -> Outcome {
    let runtime = Runtime::new()?;
    let done = runtime.block_on(async {
        let app = app(&args).await?;
        let listener = listen(&args.host, args.port).await?;
        let address = listener.local_addr()?;
        // The signal handlers are ready before the URL is printed, because a reader may stop the server at once.
        let interrupted = signals::interruption()?;
        eprintln!(
            "Serving {}, Ctrl-C stops",
            shown(&args.dir.display().to_string())
        );
        match address.ip().is_unspecified() {
            true => println!("http://localhost:{}/", address.port()),
            false => println!("http://{address}/"),
        }
        io::stdout().flush()?;
        serve(listener, app, interrupted).await;
        Ok(ExitCode::SUCCESS)
    });
    // A request for the name of a host must not delay the end.
    runtime.shutdown_background();
    done
}

/// Listens on an address.
async fn listen(host: &str, port: u16) -> Result<TcpListener, ServeError> {
    TcpListener::bind((host, port)).await.map_err(|error| {
        let host = host.to_owned();
        match error.kind() {
            io::ErrorKind::AddrInUse => ServeError::Taken { host, port },
            _ => ServeError::Listen { host, port, error },
        }
    })
}

/// Serves at most [`CONNECTIONS`] connections at a time until `stop` is ready. Then refuses new connections and waits for pending
/// answers. axum's server has no limits of connections and heads, so this function uses hyper's.
async fn serve(mut listener: TcpListener, app: Router, stop: impl Future) {
    let mut protocol = http1::Builder::new();
    protocol
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_TIMEOUT)
        .max_buf_size(MAX_HEAD);
    let graceful = GracefulShutdown::new();
    let accept = async {
        loop {
            let (stream, client) = Listener::accept(&mut listener).await;
            let Ok(place) = PLACES.acquire().await else {
                return;
            };
            // Without Nagle's algorithm, a head and a short body do not wait for an acknowledgement.
            let _ = stream.set_nodelay(true);
            let app = app.clone();
            let service = hyper::service::service_fn(move |request: hyper::Request<Incoming>| {
                let mut request = request.map(Body::new);
                request.extensions_mut().insert(ConnectInfo(client));
                app.clone().call(request)
            });
            let connection = protocol.serve_connection(TokioIo::new(stream), service);
            let served = graceful.watch(connection);
            tokio::spawn(async move {
                // An error concerns one client only.
                let _ = served.await;
                drop(place);
            });
        }
    };
    tokio::select! {
        () = accept => {}
        _ = stop => {}
    }
    drop(listener);
    let _ = tokio::time::timeout(STOP_TIMEOUT, graceful.shutdown()).await;
}

/// Builds the routes: files, the API with `--api`, the simulated network and the log.
async fn app(args: &Args) -> Result<Router, BoxError> {
    let mut app = Router::new();
    if args.api.api {
        let database = args
            .dir
            .to_str()
            .ok_or_else(|| ServeError::NoDirectory(args.dir.clone()))?;
        app = api::router(&args.api, database).await?;
    }
    if !args.api.api || args.dir.is_dir() {
        app = app.fallback_service(site::router(args)?);
    }
    app = site::network(args, app)?;
    if args.log {
        app = app.layer(middleware::from_fn(log));
    }
    Ok(app)
}

/// Prints a line per request. A line contains only the FEN of the query, because other parameters and headers may be secrets.
async fn log(request: Request, next: Next) -> Response {
    let (start, time) = (
        Instant::now(),
        humantime::format_rfc3339_millis(SystemTime::now()).to_string(),
    );
    let client = request
        .extensions()
        .get()
        .map(|ConnectInfo::<SocketAddr>(address)| address.ip().to_string());
    let range = request.headers().get(RANGE);
    let range = range.and_then(|range| range.to_str().ok()).map(field);
    let (method, path) = (request.method().to_string(), field(request.uri().path()));
    let fen = request.uri().query().and_then(question::fen_of);
    let response = next.run(request).await;
    let [client, range, fen] =
        [client, range, fen.as_deref().map(field)].map(|text| text.unwrap_or("-".to_owned()));
    let (status, ms) = (
        response.status().as_u16(),
        start.elapsed().as_secs_f64() * 1e3,
    );
    eprintln!("{time} {client} {status} {method} {path} {range} {ms:.3}ms {fen}");
    response
}

/// Returns a text of a client as one field of the log, shortened.
fn field(text: &str) -> String {
    shown(&beginning(text)).replace(char::is_whitespace, "_")
}
