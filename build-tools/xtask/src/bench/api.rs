//! `cargo xtask bench-api`: measures by wrk how many requests per second `shelfish serve --api` answers.

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
    #[arg(long, value_name = "FILE", default_value = "static-shards/sample.jsonl.zst")]
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
}

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

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Measures and prints the report of wrk.
pub fn run(args: &Args) -> Result<()> {
    let Some(wrk) = which(["wrk"]) else { bail!("wrk was not found; install it, on Debian by `apt install wrk`") };
    programs(&["shelfish-cli"])?;
    let (evals, folder) = (root().join(&args.evals), target_dir().join("bench-api"));
    let db = folder.join("db");
    fs::create_dir_all(&folder)?;
    let stamp = Stamp::new("bench-api", &db, &[evals.clone(), program("shelfish")])?;
    if !stamp.fresh() {
        call(command(program("shelfish")).arg("build").arg(&evals).arg("-o").arg(&db))?;
        stamp.set()?;
    }
    let (paths, script) = (folder.join("paths"), folder.join("ask.lua"));
    fs::write(&script, SCRIPT)?;
    write_paths(&db, &paths, args.positions)?;

    let mut serve = command(program("shelfish"));
    let serve = serve.arg("serve").arg(&db).args(["--api", "--port", "0"]).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut server = Server(serve.spawn()?);
    let mut url = String::new();
    BufReader::new(server.0.stdout.take().context("no output")?).read_line(&mut url)?;
    let url = url.trim();
    for seconds in [3, args.seconds] {
        let mut load = Command::new(&wrk);
        load.args(["-t1", "--latency", &format!("-c{}", args.connections), &format!("-d{seconds}s"), "-s"]);
        let mut errors = None;
        let done = watch(load.arg(&script).arg(url).env("PATHS", &paths), |line| {
            if ["Non-2xx", "Socket errors"].iter().any(|error| line.trim_start().starts_with(error)) {
                errors = Some(line.trim().to_owned());
            }
        })?;
        ensure!(done && errors.is_none(), "some requests failed: {}", errors.unwrap_or_default());
        let memory = fs::read_to_string(format!("/proc/{}/status", server.0.id())).unwrap_or_default();
        let memory = memory.lines().find(|line| line.starts_with("VmRSS")).unwrap_or("VmRSS: unknown on this system");
        say(format!("after {seconds} s of load the server has {memory}"));
    }
    let metrics = get(url, "metrics")?;
    metrics.lines().filter(|line| line.contains("{outcome=")).for_each(|line| println!("{line}"));
    Ok(())
}

/// Returns the answer of the server, including the header.
fn get(url: &str, path: &str) -> Result<String> {
    let host = url.trim_start_matches("http://").trim_end_matches('/');
    let mut stream = TcpStream::connect(host).with_context(|| url.to_owned())?;
    write!(stream, "GET /{path} HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\n\r\n")?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer)?;
    Ok(answer)
}

/// Writes the paths to request, for positions from all parts of the database.
fn write_paths(db: &Path, to: &Path, count: usize) -> Result<()> {
    let mut export = command(program("shelfish"));
    let mut export = export.args(["export", "-d"]).arg(db).stdout(Stdio::piped()).spawn()?;
    let lines =
        BufReader::new(export.stdout.take().context("no output")?).lines().collect::<std::io::Result<Vec<_>>>()?;
    ensure!(export.wait()?.success(), "`shelfish export` failed");
    let mut file = std::io::BufWriter::new(fs::File::create(to)?);
    for line in lines.iter().step_by((lines.len() / count.max(1)).max(1)) {
        let fen = line.split('"').nth(3).unwrap_or_default().replace(' ', "%20");
        writeln!(file, "/api/cloud-eval?multiPv=3&fen={fen}")?;
    }
    Ok(file.flush()?)
}
