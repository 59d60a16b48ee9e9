//! `cargo xtask bench-api`: measures by wrk how many requests per second `shelfish serve --api` answers.
//!
//! With `--store`, the server reads its database from an S3 store, and has read nothing of it before. The store is
//! `shelfish serve`, which answers S3's requests for files after a chosen latency.

use std::{
    fs,
    io::{BufRead, BufReader, Read, Write},
    net::TcpStream,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
};

use anyhow::{Context, Result, bail, ensure};

use crate::{
    shell::{call, command, program, programs, root, say, target_dir, watch, which},
    stamp::Stamp,
};

/// Options of `cargo xtask bench-api`.
#[derive(clap::Args)]
pub struct Args {
    /// Evaluation dump to build the database from and to take positions from
    #[arg(
        long,
        value_name = "FILE",
        default_value = "static-shards/sample.jsonl.zst"
    )]
    evals: PathBuf,
    /// Number of different positions to request
    #[arg(long, default_value_t = 5000)]
    positions: usize,
    /// Number of connections at the same time
    #[arg(long, default_value_t = 32)]
    connections: u32,
    /// Duration in seconds, after a warm-up of three seconds
    #[arg(long, default_value_t = 20)]
    seconds: u32,
    /// Read the database from an S3 store, without a cache on the disk and without a warm-up; answers with 503 are counted
    #[arg(long)]
    store: bool,
    /// Latency of the store in milliseconds
    #[arg(long, value_name = "MS", default_value = "20", requires = "store")]
    latency_ms: String,
    /// More options of the server, separated by spaces
    #[arg(
        long,
        value_name = "OPTIONS",
        default_value = "",
        allow_hyphen_values = true
    )]
    server: String,
}

/// Step between the positions that are requested from a store, so that neighbours in a block are not asked in turn.
const STRIDE: usize = 7_919;

/// Script of wrk, which requests each position in turn.
const SCRIPT: &str = r#"
local paths = {}
for path in io.lines(os.getenv("PATHS")) do paths[#paths + 1] = path end
local n = 0
request = function()
  n = n % #paths + 1
  return wrk.format("GET", paths[n])
end
"#;

/// The server, which ends when this value is dropped.
struct Server(Child);

impl Server {
    /// Starts the server of a command. Returns its URL without the last slash.
    fn start(command: &mut Command) -> Result<(Server, String)> {
        let mut server = Server(
            command
                .stdout(Stdio::piped())
                .stderr(Stdio::null())
                .spawn()?,
        );
        let mut url = String::new();
        BufReader::new(server.0.stdout.take().context("no output")?).read_line(&mut url)?;
        Ok((server, url.trim().trim_end_matches('/').to_owned()))
    }

    /// Returns a line of the state of the process.
    fn memory(&self, name: &str) -> String {
        let status =
            fs::read_to_string(format!("/proc/{}/status", self.0.id())).unwrap_or_default();
        status
            .lines()
            .find(|line| line.starts_with(name))
            .unwrap_or("unknown memory")
            .to_owned()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Measures and prints the report of wrk.
pub fn run(args: &Args) -> Result<()> {
    let Some(wrk) = which(["wrk"]) else {
        bail!("wrk was not found; install it, on Debian by `apt install wrk`")
    };
    programs(&["shelfish-cli"])?;
    let (evals, folder) = (root().join(&args.evals), target_dir().join("bench-api"));
    let db = folder.join("bucket/db");
    fs::create_dir_all(folder.join("bucket"))?;
    let stamp = Stamp::new("bench-api", &db, &[evals.clone(), program("shelfish")])?;
    if !stamp.fresh() {
        call(
            command(program("shelfish"))
                .arg("build")
                .arg(&evals)
                .arg("-o")
                .arg(&db),
        )?;
        stamp.set()?;
    }
    let (paths, script) = (folder.join("paths"), folder.join("ask.lua"));
    fs::write(&script, SCRIPT)?;
    write_paths(
        &db,
        &paths,
        args.positions,
        if args.store { STRIDE } else { 1 },
    )?;

    let mut store = None;
    let mut serve = command(program("shelfish"));
    serve
        .args(["serve", "--api", "--port", "0"])
        .args(args.server.split_whitespace());
    if args.store {
        let mut bucket = command(program("shelfish"));
        bucket
            .arg("serve")
            .arg(&folder)
            .args(["--port", "0", "--latency-ms", &args.latency_ms]);
        let (server, url) = Server::start(&mut bucket)?;
        store = Some(server);
        serve
            .args(["--cache-size", "0", "s3://bucket/db"])
            .env("AWS_ENDPOINT", url)
            .env("AWS_SKIP_SIGNATURE", "true");
    } else {
        serve.arg(&db);
    }
    let (server, url) = Server::start(&mut serve)?;
    say(format!(
        "before any load the server has {}",
        server.memory("VmRSS")
    ));
    let warm_up = (!args.store).then_some(3);
    for seconds in warm_up.into_iter().chain([args.seconds]) {
        let mut load = Command::new(&wrk);
        // wrk leaves answers after its timeout out of the percentiles.
        load.args([
            "-t1",
            "--latency",
            "--timeout",
            "30s",
            &format!("-c{}", args.connections),
        ]);
        load.args([&format!("-d{seconds}s"), "-s"]);
        let mut errors = None;
        let done = watch(load.arg(&script).arg(&url).env("PATHS", &paths), |line| {
            // Questions beyond the limit of a server with a store are answered with 503.
            let is_error = |error: &str| line.trim_start().starts_with(error);
            if is_error("Socket errors") || (is_error("Non-2xx") && !args.store) {
                errors = Some(line.trim().to_owned());
            }
        })?;
        ensure!(
            done && errors.is_none(),
            "some requests failed: {}",
            errors.unwrap_or_default()
        );
        let (memory, peak) = (server.memory("VmRSS"), server.memory("VmHWM"));
        say(format!(
            "after {seconds} s of load the server has {memory}, {peak}"
        ));
    }
    let metrics = get(&url, "metrics")?;
    let is_shown = |line: &&str| line.contains("{outcome=") || line.starts_with("shelfish_source");
    metrics
        .lines()
        .filter(is_shown)
        .for_each(|line| println!("{line}"));
    drop(store);
    Ok(())
}

/// Returns the answer of the server, including the header.
fn get(url: &str, path: &str) -> Result<String> {
    let host = url.trim_start_matches("http://").trim_end_matches('/');
    let mut stream = TcpStream::connect(host).with_context(|| url.to_owned())?;
    write!(
        stream,
        "GET /{path} HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\n\r\n"
    )?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer)?;
    Ok(answer)
}

/// Writes the paths to request, for positions from all parts of the database. `stride` is the step from one to the next.
fn write_paths(db: &Path, to: &Path, count: usize, stride: usize) -> Result<()> {
    let mut export = command(program("shelfish"));
    let mut export = export
        .args(["export", "-d"])
        .arg(db)
        .stdout(Stdio::piped())
        .spawn()?;
    let lines = BufReader::new(export.stdout.take().context("no output")?)
        .lines()
        .collect::<std::io::Result<Vec<_>>>()?;
    ensure!(export.wait()?.success(), "`shelfish export` failed");
    let mut file = std::io::BufWriter::new(fs::File::create(to)?);
    let chosen: Vec<&String> = lines
        .iter()
        .step_by((lines.len() / count.max(1)).max(1))
        .collect();
    for number in 0..chosen.len() {
        let line = chosen[number * stride % chosen.len()];
        let fen = line
            .split('"')
            .nth(3)
            .unwrap_or_default()
            .replace(' ', "%20");
        writeln!(file, "/api/cloud-eval?multiPv=3&fen={fen}")?;
    }
    Ok(file.flush()?)
}
