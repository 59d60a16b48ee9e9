//! `shelfish bench build`: time, memory and disk space of a build in a separate process.

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
use crate::system::signals;

/// Interval between two measurements of the directory.
const SAMPLE_INTERVAL: Duration = Duration::from_millis(100);

/// Measure the time, memory and disk space of a build.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:
  shelfish bench build lichess_db_eval.jsonl.zst
  shelfish bench build https://example.org/dump.jsonl.zst
  shelfish bench build january.jsonl.zst february.jsonl.zst --dir /mnt/scratch -- --max-memory 4GiB --max-pvs 1
  shelfish bench build dump.jsonl.zst --json -- --threads 1 --max-memory 64MiB

The command runs `shelfish build` with the options after `--` and deletes the database. The system reports processor time and
memory (getrusage). Disk space is the largest total size of the files; it is measured ten times a second.

Exit codes: 0 if the build was measured; 1 otherwise, or the exit code of a build that failed; 2 if the usage is wrong.")]
pub struct Args {
    /// Dumps or games, as for `shelfish build`
    #[arg(required = true, value_name = "SOURCE")]
    sources: Vec<PathBuf>,
    /// Run `shelfish book build`, for games
    #[arg(long)]
    book: bool,
    /// Create the temporary directory in DIR [default: directory of the system]
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
    /// Options of `shelfish build` or `shelfish book build`
    #[arg(last = true, value_name = "OPTION")]
    options: Vec<OsString>,
    #[command(flatten)]
    style: Style,
}

/// Results of the measurement.
#[derive(Debug, Serialize)]
struct Build {
    positions: u64,
    /// Number of evaluations, except for books. The number of PVs is similar.
    #[serde(skip_serializing_if = "Option::is_none")]
    evaluations: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pvs: Option<u64>,
    /// Duration of the build in seconds.
    seconds: f64,
    /// Positions per second.
    rate: f64,
    /// Size of the sources in bytes, or 0 for standard input.
    source_bytes: u64,
    /// Size of the database in bytes.
    bytes: u64,
    bytes_a_position: f64,
    /// Largest total size of all files during the build, in bytes, including the database.
    peak_disk_bytes: u64,
    #[serde(flatten)]
    usage: Option<Usage>,
}

/// Resources of a finished process, as the system reports them.
#[derive(Debug, Serialize)]
struct Usage {
    /// Processor time in seconds, including the time of the system.
    processor_seconds: f64,
    /// Largest resident set in bytes.
    peak_memory_bytes: u64,
}

/// Output of `shelfish build --json`.
#[derive(Deserialize)]
struct Summary {
    positions: u64,
    evaluations: Option<u64>,
    pvs: Option<u64>,
}

/// Runs the build and prints the results.
pub fn run(args: Args) -> Outcome {
    let dir = match &args.dir {
        Some(dir) => tempfile::tempdir_in(dir),
        None => tempfile::tempdir(),
    }?;
    // The build receives SIGINT too and ends. Then this process removes the directory.
    let _ignored = signals::ignored()?;
    let database = dir.path().join("db");
    let mut build = Command::new(std::env::current_exe()?);
    build
        .args(args.book.then_some("book"))
        .arg("build")
        .args(&args.options)
        .args(["--json", "--quiet", "--out"])
        .arg(&database)
        .arg("--");
    build.args(&args.sources).stdout(Stdio::piped());

    let started = Instant::now();
    let (output, peak_disk_bytes) =
        with_peak_size(dir.path(), || build.spawn()?.wait_with_output())?;
    let seconds = started.elapsed().as_secs_f64();
    if !output.status.success() {
        return Ok(output
            .status
            .code()
            .and_then(|code| u8::try_from(code).ok())
            .map_or(ExitCode::FAILURE, Into::into));
    }
    let Summary {
        positions,
        evaluations,
        pvs,
    } = serde_json::from_slice(&output.stdout)?;
    let bytes = size(&database);
    args.style.print(&Build {
        positions,
        evaluations,
        pvs,
        seconds,
        rate: positions as f64 / seconds,
        source_bytes: args
            .sources
            .iter()
            .filter_map(|path| fs::metadata(path).ok())
            .map(|file| file.len())
            .sum(),
        bytes,
        bytes_a_position: bytes as f64 / positions.max(1) as f64,
        peak_disk_bytes,
        usage: usage()?,
    })?;
    Ok(ExitCode::SUCCESS)
}

/// Runs `work`, and returns the largest size of `dir` during that time, in bytes.
fn with_peak_size<T>(dir: &Path, work: impl FnOnce() -> io::Result<T>) -> io::Result<(T, u64)> {
    let peak = AtomicU64::new(0);
    let done = thread::scope(|scope| {
        let (stop, stopped) = channel::<()>();
        let peak = &peak;
        scope.spawn(move || {
            while let Err(RecvTimeoutError::Timeout) = stopped.recv_timeout(SAMPLE_INTERVAL) {
                peak.fetch_max(size(dir), Relaxed);
            }
        });
        let done = work();
        drop(stop);
        done
    })?;
    Ok((done, peak.into_inner().max(size(dir))))
}

/// Returns the size of all files in `dir` and its subdirectories. Ignores files that disappear.
fn size(dir: &Path) -> u64 {
    let entries = fs::read_dir(dir).into_iter().flatten().flatten();
    let bytes = entries.map(|entry| match entry.metadata() {
        Ok(metadata) if metadata.is_dir() => size(&entry.path()),
        metadata => metadata.map_or(0, |metadata| metadata.len()),
    });
    bytes.sum()
}

/// Returns the resources of the build, which is the only child process.
#[cfg(unix)]
fn usage() -> io::Result<Option<Usage>> {
    use nix::sys::resource::{UsageWho, getrusage};
    use nix::sys::time::TimeVal;

    let usage = getrusage(UsageWho::RUSAGE_CHILDREN)?;
    let seconds = |time: TimeVal| time.tv_sec() as f64 + time.tv_usec() as f64 * 1e-6;
    // The unit is KiB, except on Apple's systems.
    let unit = if cfg!(target_vendor = "apple") {
        1
    } else {
        1 << 10
    };
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
        row(
            "seconds, microseconds",
            figure(self.seconds),
            Some(1e6 * self.seconds / positions),
        );
        row("positions a second", figure(self.rate), None);
        if let Some(Usage {
            processor_seconds,
            peak_memory_bytes,
        }) = self.usage
        {
            let each = Some(1e6 * processor_seconds / positions);
            row(
                "seconds, microseconds of processor time",
                figure(processor_seconds),
                each,
            );
            row("bytes of memory at most", count(peak_memory_bytes), None);
        }
        row(
            "bytes of disk at most",
            count(self.peak_disk_bytes),
            Some(self.peak_disk_bytes as f64 / positions),
        );
        row(
            "bytes of the sources",
            count(self.source_bytes),
            Some(self.source_bytes as f64 / positions),
        );
        row(
            "bytes of the database",
            count(self.bytes),
            Some(self.bytes_a_position),
        );
        Report {
            notes: Vec::new(),
            tables: vec![table],
        }
    }
}
