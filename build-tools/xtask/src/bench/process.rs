//! Time, memory and disk space of a command.

use std::{
    fs,
    io::Read as _,
    path::Path,
    process::{Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use anyhow::{Context, Result, ensure};

use crate::shell::shown;

/// Interval between two measurements.
const INTERVAL: Duration = Duration::from_millis(200);

/// Measurements of a command that succeeded.
pub struct Measured {
    pub seconds: f64,
    pub usage: Usage,
    /// Largest number of additional bytes in the watched directory.
    pub disk_bytes: u64,
    /// Standard output.
    pub output: Vec<u8>,
}

/// Resources of a process. Zero on systems without `/proc`.
#[derive(Clone, Copy, Default)]
pub struct Usage {
    pub processor_seconds: f64,
    /// Largest resident set.
    pub memory_bytes: u64,
}

impl Usage {
    /// Reads the resources of a running process. Returns `None` after its end.
    pub fn of(process: u32) -> Option<Usage> {
        let status = fs::read_to_string(format!("/proc/{process}/status")).ok()?;
        let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
        let kibibytes: u64 = line.split_whitespace().nth(1)?.parse().ok()?;
        let stat = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
        // The name of the program may contain spaces. The times are in hundredths of a second.
        let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
        let ticks = fields.get(11)?.parse::<u64>().ok()? + fields.get(12)?.parse::<u64>().ok()?;
        Some(Usage {
            processor_seconds: ticks as f64 / 100.0,
            memory_bytes: kibibytes << 10,
        })
    }
}

/// Runs a command and measures it, and the size of a directory.
pub fn measure(command: &mut Command, watched: &Path) -> Result<Measured> {
    let text = shown(command);
    println!("    {text}");
    let (before, started) = (size(watched), Instant::now());
    let mut child = command
        .stdout(Stdio::piped())
        .spawn()
        .with_context(|| format!("could not start `{text}`"))?;
    let mut out = child.stdout.take().context("no output")?;
    let reader = thread::spawn(move || {
        let mut output = Vec::new();
        out.read_to_end(&mut output).map(|_| output)
    });
    let (mut usage, mut disk_bytes) = (Usage::default(), 0);
    let status = loop {
        usage = Usage::of(child.id()).unwrap_or(usage);
        disk_bytes = disk_bytes.max(size(watched).saturating_sub(before));
        match child.try_wait()? {
            Some(status) => break status,
            None => thread::sleep(INTERVAL),
        }
    };
    let seconds = started.elapsed().as_secs_f64();
    let output = reader
        .join()
        .ok()
        .context("the reader of the output ended early")??;
    ensure!(status.success(), "`{text}` failed: {status}");
    Ok(Measured {
        seconds,
        usage,
        disk_bytes,
        output,
    })
}

/// Returns the size of all files in a directory. Ignores files that disappear.
fn size(dir: &Path) -> u64 {
    let entries = fs::read_dir(dir).into_iter().flatten().flatten();
    let sizes = entries.map(|entry| match entry.metadata() {
        Ok(metadata) if metadata.is_dir() => size(&entry.path()),
        metadata => metadata.map_or(0, |metadata| metadata.len()),
    });
    sizes.sum()
}

/// Returns the largest resident set of the running processes whose command line contains `word`, in bytes.
pub fn memory_of(word: &str) -> u64 {
    let processes = fs::read_dir("/proc").into_iter().flatten().flatten();
    let numbers = processes.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    let wanted = numbers.filter(|process| {
        let line = fs::read(format!("/proc/{process}/cmdline")).unwrap_or_default();
        String::from_utf8_lossy(&line).contains(word)
    });
    wanted
        .filter_map(|process| Some(Usage::of(process)?.memory_bytes))
        .max()
        .unwrap_or(0)
}
