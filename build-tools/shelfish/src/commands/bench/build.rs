//! `shelfish bench build`: what a build takes, of a process of its own, into a directory that is thrown away.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

use indicatif::HumanCount;
use serde::{Deserialize, Serialize};

use super::report::{Finding, Report, Style, Table, figure};
use crate::Outcome;

/// Between two looks at the directory.
const LOOK: Duration = Duration::from_millis(100);

/// Build a database and throw it away: time, memory, disk.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:
  shelfish bench build lichess_db_eval.jsonl.zst
  shelfish bench build https://example.org/dump.jsonl.zst
  shelfish bench build january.jsonl.zst february.jsonl.zst --dir /mnt/scratch -- --max-memory 4GiB --max-pvs 1
  shelfish bench build dump.jsonl.zst --json -- --threads 1 --max-memory 64MiB

The build is a process of its own, `shelfish build`, with the options after `--`. Processor time and memory are what the
system says of it (getrusage); disk is the largest sum of the lengths of its files, looked at ten times a second.

Exit codes: 0 if it could be measured; 1 if not, or that of a build that failed; 2 for wrong usage.")]
pub struct Args {
    /// Dumps or games, as for `shelfish build`
    #[arg(required = true, value_name = "SOURCE")]
    sources: Vec<PathBuf>,
    /// Make the temporary directory in DIR [default: the system's]
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
    /// Options of `shelfish build`
    #[arg(last = true, value_name = "OPTION")]
    options: Vec<OsString>,
    #[command(flatten)]
    style: Style,
}

/// What a build takes.
#[derive(Debug, Serialize)]
struct Build {
    positions: u64,
    /// Evaluations and PVs, which a book has none of.
    #[serde(skip_serializing_if = "Option::is_none")]
    evaluations: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pvs: Option<u64>,
    /// Seconds from beginning to end.
    seconds: f64,
    /// Positions a second.
    rate: f64,
    /// Bytes of the sources, compressed as they are; none for standard input.
    source_bytes: u64,
    /// Bytes of the database.
    bytes: u64,
    /// The same, a position.
    bytes_a_position: f64,
    /// The largest sum of the lengths of all files at a time, those of the database included.
    peak_disk_bytes: u64,
    #[serde(flatten)]
    usage: Option<Usage>,
}

/// What the system says of a process that has ended.
#[derive(Debug, Serialize)]
struct Usage {
    /// Seconds of processor time, the system's included.
    processor_seconds: f64,
    /// Largest resident set in bytes.
    peak_memory_bytes: u64,
}

/// What `shelfish build --json` says.
#[derive(Deserialize)]
struct Summary {
    positions: u64,
    evaluations: Option<u64>,
    pvs: Option<u64>,
}

/// Builds and prints.
///
/// # Errors
///
/// The build fails.
pub fn run(args: Args) -> Outcome {
    let dir = match &args.dir {
        Some(dir) => tempfile::tempdir_in(dir),
        None => tempfile::tempdir(),
    }?;
    // SIGINT comes to the build as well, which ends; then the directory is removed.
    #[cfg(unix)]
    for signal in [signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM] {
        signal_hook::flag::register(signal, std::sync::Arc::<std::sync::atomic::AtomicBool>::default())?;
    }
    let database = dir.path().join("db");
    let mut build = Command::new(std::env::current_exe()?);
    build.arg("build").args(&args.options).args(["--json", "--quiet", "--out"]).arg(&database).arg("--");
    build.args(&args.sources).stdout(Stdio::piped());

    let started = Instant::now();
    let (output, peak_disk_bytes) = watched(dir.path(), || build.spawn()?.wait_with_output())?;
    let seconds = started.elapsed().as_secs_f64();
    if !output.status.success() {
        return Ok(output.status.code().and_then(|code| u8::try_from(code).ok()).map_or(ExitCode::FAILURE, Into::into));
    }
    let Summary { positions, evaluations, pvs } = serde_json::from_slice(&output.stdout)?;
    let bytes = size(&database);
    args.style.print(&Build {
        positions,
        evaluations,
        pvs,
        seconds,
        rate: positions as f64 / seconds,
        source_bytes: args.sources.iter().filter_map(|path| fs::metadata(path).ok()).map(|file| file.len()).sum(),
        bytes,
        bytes_a_position: bytes as f64 / positions.max(1) as f64,
        peak_disk_bytes,
        usage: usage()?,
    })?;
    Ok(ExitCode::SUCCESS)
}

/// Does `work` and says how large `dir` was at most meanwhile, in bytes.
fn watched<T>(dir: &Path, work: impl FnOnce() -> io::Result<T>) -> io::Result<(T, u64)> {
    let peak = AtomicU64::new(0);
    let done = thread::scope(|scope| {
        let (stop, stopped) = channel::<()>();
        let peak = &peak;
        scope.spawn(move || {
            while let Err(RecvTimeoutError::Timeout) = stopped.recv_timeout(LOOK) {
                peak.fetch_max(size(dir), Relaxed);
            }
        });
        let done = work();
        drop(stop);
        done
    })?;
    Ok((done, peak.into_inner().max(size(dir))))
}

/// Bytes of all files in `dir` and below; files come and go meanwhile.
fn size(dir: &Path) -> u64 {
    let entries = fs::read_dir(dir).into_iter().flatten().flatten();
    let bytes = entries.map(|entry| match entry.metadata() {
        Ok(metadata) if metadata.is_dir() => size(&entry.path()),
        metadata => metadata.map_or(0, |metadata| metadata.len()),
    });
    bytes.sum()
}

/// What the system says of the build, the one child that there was.
#[cfg(unix)]
fn usage() -> io::Result<Option<Usage>> {
    use nix::sys::resource::{UsageWho, getrusage};
    use nix::sys::time::TimeVal;

    let usage = getrusage(UsageWho::RUSAGE_CHILDREN)?;
    let seconds = |time: TimeVal| time.tv_sec() as f64 + time.tv_usec() as f64 * 1e-6;
    // In kibibytes, but by Apple in bytes.
    let unit = if cfg!(target_vendor = "apple") { 1 } else { 1 << 10 };
    Ok(Some(Usage {
        processor_seconds: seconds(usage.user_time()) + seconds(usage.system_time()),
        peak_memory_bytes: u64::try_from(usage.max_rss()).unwrap_or_default() * unit,
    }))
}

#[cfg(not(unix))]
fn usage() -> io::Result<Option<Usage>> {
    Ok(None)
}

impl Finding for Build {
    fn report(&self) -> Report {
        let mut table = Table::new("a build", ["in all", "a position"]);
        let mut row = |name: &str, all: String, each: Option<f64>| {
            table.row(name, [all, each.map_or_else(String::new, figure)]);
        };
        let positions = self.positions.max(1) as f64;
        let count = |n: u64| HumanCount(n).to_string();
        row("positions", count(self.positions), None);
        if let Some(pvs) = self.pvs {
            row("PV rows", count(pvs), Some(pvs as f64 / positions));
        }
        row("seconds, microseconds", figure(self.seconds), Some(1e6 * self.seconds / positions));
        row("positions a second", figure(self.rate), None);
        if let Some(Usage { processor_seconds, peak_memory_bytes }) = self.usage {
            let each = Some(1e6 * processor_seconds / positions);
            row("seconds, microseconds of processor time", figure(processor_seconds), each);
            row("bytes of memory at most", count(peak_memory_bytes), None);
        }
        row("bytes of disk at most", count(self.peak_disk_bytes), Some(self.peak_disk_bytes as f64 / positions));
        row("bytes of the sources", count(self.source_bytes), Some(self.source_bytes as f64 / positions));
        row("bytes of the database", count(self.bytes), Some(self.bytes_a_position));
        Report { notes: Vec::new(), tables: vec![table] }
    }
}
