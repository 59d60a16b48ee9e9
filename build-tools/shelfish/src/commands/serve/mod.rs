//! `shelfish serve`: a static file server for development, as a good static host would serve a database.
//!
//! Single ranges (206 with `Content-Range`, 416 beyond the end), strong ETags and 304, every origin welcome, text
//! compressed and shards whole, `no-cache` so that a rebuilt file is seen at once. It can be as slow as a given network,
//! for measuring. With `--api` it answers positions, too.

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
    time::Duration,
};

use axum::Router;
use axum::extract::Request;
use axum::http::header::RANGE;
use axum::middleware::{self, Next};
use axum::response::Response;
use axum::serve::ListenerExt;
use tokio::{net::TcpListener, runtime::Runtime};

use self::network::Network;
use self::site::{base_path, router};
use crate::terminal::shown::shown;
use crate::{Failure, Outcome};

/// How long answers under way may take once the server was told to stop.
const PATIENCE: Duration = Duration::from_secs(2);

/// What to serve, and where.
#[derive(clap::Args, Clone, Debug)]
#[command(after_help = "Examples:
  shelfish serve site
  shelfish serve site --latency-ms 50 --bandwidth-mbit 20
  shelfish serve evals --api --host 0.0.0.0 --port 8080
  shelfish serve s3://my-bucket/evals --api --cache-size 8GiB --memory 1GiB
  curl 'http://127.0.0.1:8000/api/cloud-eval?fen=8/8/8/4k3/8/4K3/4P3/8%20w%20-%20-&multiPv=3'

Ctrl-C or SIGTERM: answers under way have two seconds more.

Exit codes: 0 when it was stopped; 1 if it could not serve; 2 for wrong usage.")]
pub struct Args {
    /// The directory to serve; with --api also the URL of a database
    dir: PathBuf,
    /// The port; 0 takes any that is free
    #[arg(short, long, default_value_t = 8000)]
    port: u16,
    /// The address to listen on; 0.0.0.0 lets other machines in
    #[arg(long, default_value = "127.0.0.1")]
    host: String,
    /// Serve under this path instead of `/`, as project pages do
    #[arg(long, default_value = "/", value_name = "PATH")]
    base_path: String,
    /// Print every request to standard error
    #[arg(long)]
    log: bool,
    /// Answer every request this much later, to measure as on a network
    #[arg(long, default_value_t = 0, value_name = "MS")]
    latency_ms: u64,
    /// Send no faster than this, all answers together
    #[arg(long, value_name = "MBIT")]
    bandwidth_mbit: Option<f64>,
    #[command(flatten)]
    api: api::Args,
}

/// Why nothing is served.
#[derive(Debug)]
pub enum ServeError {
    /// There is no such directory.
    NoDirectory(PathBuf),
    /// The base path has other characters than a plain path.
    BasePath(String),
    /// The bandwidth is not a number above zero.
    Bandwidth(f64),
    /// Another program listens there.
    Taken {
        /// The address asked for.
        host: String,
        /// The port asked for.
        port: u16,
    },
    /// The address cannot be listened on.
    Listen {
        /// The address asked for.
        host: String,
        /// The port asked for.
        port: u16,
        /// What the system says.
        source: io::Error,
    },
}

impl fmt::Display for ServeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ServeError::NoDirectory(dir) => write!(f, "{} is not a directory", dir.display()),
            ServeError::BasePath(path) => {
                write!(f, "--base-path {path}: a path of letters, digits and `-._~/` is needed, such as /shelfish/")
            }
            ServeError::Bandwidth(mbit) => write!(f, "--bandwidth-mbit {mbit}: a number above 0 is needed"),
            ServeError::Taken { host, port } => {
                write!(f, "port {port} of {host} is taken: choose another with --port, or --port 0 for any free one")
            }
            ServeError::Listen { host, port, source } => write!(f, "cannot listen on {host}, port {port}: {source}"),
        }
    }
}

impl std::error::Error for ServeError {}

/// Serves until interrupted; prints the URL on a line of its own.
///
/// # Errors
///
/// The directory does not exist, the address is taken or not ours, an option makes no sense.
pub fn run(args: Args) -> Outcome {
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
        // Before the URL is out: who reads it may stop the server at once.
        let interrupted = interruption()?;
        eprintln!("Serving {}, Ctrl-C stops", shown(&args.dir.display().to_string()));
        println!("{url}");
        io::stdout().flush()?;

        // A head and a short body must not wait for each other's acknowledgement.
        let listener = listener.tap_io(|stream| drop(stream.set_nodelay(true)));

        let (told, mut stop) = tokio::sync::watch::channel(());
        let server = axum::serve(listener, app).with_graceful_shutdown(async move {
            interrupted.await;
            drop(told);
        });
        let overdue = async move {
            // An error: the sender is gone, we were told to stop.
            while stop.changed().await.is_ok() {}
            tokio::time::sleep(PATIENCE).await;
        };
        tokio::select! {
            done = server => done?,
            () = overdue => {}
        }
        Ok(ExitCode::SUCCESS)
    })
}

/// What is answered: files, and the API if it is asked for.
async fn app(args: &Args) -> Result<Router, Failure> {
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

/// A server behind the network and the log that are asked for.
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

/// One line a request: status, method, path, range.
async fn log(request: Request, next: Next) -> Response {
    let range = request.headers().get(RANGE).and_then(|range| range.to_str().ok()).unwrap_or("-").to_owned();
    let (method, path) = (request.method().clone(), request.uri().path().to_owned());
    let response = next.run(request).await;
    eprintln!("{} {method} {} {}", response.status().as_u16(), shown(&path), shown(&range));
    response
}

/// Ctrl-C, or the polite signal of a supervisor; noticed from the call on, not only when it is waited for.
#[cfg(unix)]
fn interruption() -> io::Result<impl Future<Output = ()>> {
    use tokio::signal::unix::{SignalKind, signal};
    let (mut interrupt, mut terminate) = (signal(SignalKind::interrupt())?, signal(SignalKind::terminate())?);
    Ok(async move {
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
        }
    })
}

/// Ctrl-C.
#[cfg(windows)]
fn interruption() -> io::Result<impl Future<Output = ()>> {
    let mut interrupt = tokio::signal::windows::ctrl_c()?;
    Ok(async move {
        let _ = interrupt.recv().await;
    })
}

fn url(address: SocketAddr, base: &str) -> String {
    match address.ip().is_unspecified() {
        true => format!("http://localhost:{}{base}/", address.port()),
        false => format!("http://{address}{base}/"),
    }
}
