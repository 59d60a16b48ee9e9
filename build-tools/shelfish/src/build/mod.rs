//! `shelfish build`: dumps to a database.
//!
//! A thread reads chunks of whole lines; workers parse them, make positions canonical, play the lines and sort runs
//! ([`record`], [`spool`], [`sort`]); the runs are merged, decoded and cut into blocks, which workers encode.

pub mod command;
pub mod dump;
mod ordered;
mod progress;
pub mod record;
mod rejects;
pub mod sort;
pub mod spool;
mod workspace;

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::mpsc::{Receiver, sync_channel};
use std::sync::{Arc, Mutex};
use std::thread;

use serde::Serialize;
use shelfish::eval::{Eval, Evaluation};

use dump::{Chunk, Dump, MAX_LINE, Source, Text};
use progress::{Progress, Work};
use record::{Reject, parse};
use rejects::RejectFile;
use sort::{Merge, Run, Shelf, Sorter};
use workspace::Workspace;

/// What to build, of what, and how.
#[derive(Clone, Debug)]
pub struct Options {
    /// Dumps; more than one are merged.
    pub sources: Vec<Source>,
    /// The directory of the database.
    pub out: PathBuf,
    /// Memory in bytes, all in all.
    pub max_memory: usize,
    /// Workers.
    pub threads: usize,
    /// What to leave out.
    pub selection: Selection,
    /// Where to write lines that cannot be used.
    pub rejects: Option<PathBuf>,
    /// Whether to keep silent until the end.
    pub quiet: bool,
}

/// What a lighter database leaves out.
#[derive(Clone, Debug, Default)]
pub struct Selection {
    /// Evaluations that are less deep.
    pub min_depth: u16,
    /// All but the first PVs of each evaluation.
    pub max_pvs: Option<usize>,
    /// All but the first moves of each PV.
    pub max_plies: Option<usize>,
    /// All but the best evaluation of each position.
    pub best_only: bool,
}

impl Selection {
    /// Leaves out what can be left out of a part of a position's evaluations.
    fn narrow(&self, evaluations: &mut Vec<Evaluation>) {
        evaluations.retain(|evaluation| evaluation.depth >= self.min_depth);
        if self.best_only {
            // The best is judged by all of its PVs: they go last.
            Eval::normalise(evaluations);
            evaluations.truncate(1);
        } else {
            self.trim(evaluations);
        }
    }

    /// Leaves out what can be left out once all evaluations of a position are together.
    fn settle(&self, evaluations: &mut Vec<Evaluation>) {
        if self.best_only {
            evaluations.truncate(1);
            self.trim(evaluations);
        }
    }

    fn trim(&self, evaluations: &mut [Evaluation]) {
        for evaluation in evaluations {
            evaluation.pvs.truncate(self.max_pvs.unwrap_or(usize::MAX));
            if let Some(max_plies) = self.max_plies {
                evaluation.pvs.iter_mut().for_each(|pv| pv.line.truncate(max_plies));
            }
        }
    }
}

/// What became of the lines of the sources.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Counts {
    /// Lines, blank ones aside.
    pub lines: u64,
    /// Lines that gave a position.
    pub records: u64,
    /// Lines of whose evaluations the selection left nothing.
    pub left_out: u64,
    /// PVs that turn illegal and were kept up to there.
    pub pvs_cut: u64,
    /// PVs of used lines that were dropped because their first move is illegal.
    pub pvs_dropped: u64,
    /// Lines that could not be used, by [`Reject::REASONS`].
    #[serde(serialize_with = "by_reason")]
    pub rejects: [u64; Reject::REASONS.len()],
}

fn by_reason<S: serde::Serializer>(rejects: &[u64; Reject::REASONS.len()], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_map(Reject::REASONS.iter().zip(rejects).filter(|(_, count)| **count > 0))
}

impl Counts {
    /// Lines that could not be used, whatever the reason.
    pub fn rejected(&self) -> u64 {
        self.rejects.iter().sum()
    }

    fn add(&mut self, other: &Counts) {
        self.lines += other.lines;
        self.records += other.records;
        self.left_out += other.left_out;
        self.pvs_cut += other.pvs_cut;
        self.pvs_dropped += other.pvs_dropped;
        self.rejects.iter_mut().zip(other.rejects).for_each(|(sum, count)| *sum += count);
    }
}

/// Why there is no new database. The previous one is as it was.
#[derive(Debug)]
pub enum BuildError {
    /// A source cannot be opened or read to its end.
    Source {
        /// The source.
        source: Source,
        /// What is wrong.
        error: io::Error,
    },
    /// Another build writes to the same database.
    Busy(PathBuf),
    /// Temporary files cannot be written or read.
    Temporary {
        /// Where they are.
        path: PathBuf,
        /// What is wrong.
        error: io::Error,
    },
    /// The file of rejects cannot be written.
    Rejects {
        /// Its path.
        path: PathBuf,
        /// What is wrong.
        error: io::Error,
    },
    /// No line gave a position.
    Empty(Counts),
}

impl fmt::Display for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BuildError::Source { source, error } => write!(f, "cannot read {source}: {error}"),
            BuildError::Busy(path) => write!(f, "another build is writing to {}", path.display()),
            BuildError::Temporary { path, error } => write!(f, "temporary files in {}: {error}", path.display()),
            BuildError::Rejects { path, error } => write!(f, "cannot write rejects to {}: {error}", path.display()),
            BuildError::Empty(counts) => {
                write!(f, "nothing to write: {} lines, {} rejected", counts.lines, counts.rejected())?;
                if counts.left_out > 0 {
                    write!(f, ", {} left out by the selection", counts.left_out)?;
                }
                Ok(())
            }
        }
    }
}

impl std::error::Error for BuildError {}

/// The memory that a build needs beside its arenas: code, stacks, compression, lines on their way.
const BASE_MEMORY: usize = 24 << 20;
/// Beside that, each worker's: the chunk that it parses, one that waits for it, a run's compression.
const WORKER_MEMORY: usize = 4 << 20;
/// The least memory that is worth a try.
pub const MIN_MEMORY: usize = 64 << 20;

/// What a build starts with: numbered chunks, and the file for rejects.
struct Job<'a> {
    options: &'a Options,
    shelf: &'a Shelf,
    arena: usize,
    rejects: Option<RejectFile>,
    /// Set by whoever fails, so that nobody goes on for nothing.
    stop: AtomicBool,
    positions: Arc<AtomicU64>,
}

struct Numbered {
    number: u64,
    source: usize,
    chunk: Chunk,
}

/// Reads all sources into sorted runs.
fn sort(options: &Options, workspace: &Workspace, shelf: &Shelf) -> Result<(Vec<Run>, Counts), BuildError> {
    let read = Arc::new(AtomicU64::new(0));
    let open = |source: &Source| {
        Dump::open(source, read.clone()).map_err(|error| BuildError::Source { source: source.clone(), error })
    };
    let dumps = options.sources.iter().map(open).collect::<Result<Vec<_>, _>>()?;
    let window = dumps.iter().map(|dump| dump.window).max().unwrap_or(0);
    let spare = options.max_memory.max(MIN_MEMORY).saturating_sub(BASE_MEMORY + window);
    let job = Job {
        options,
        shelf,
        arena: (spare / options.threads).saturating_sub(WORKER_MEMORY).max(4 << 20),
        rejects: match &options.rejects {
            Some(path) => {
                Some(RejectFile::create(path).map_err(|error| BuildError::Rejects { path: path.clone(), error })?)
            }
            None => None,
        },
        stop: AtomicBool::new(false),
        positions: Arc::new(AtomicU64::new(0)),
    };
    let total = dumps.iter().map(|dump| dump.size).sum::<Option<u64>>();
    let work = Work { phase: "reading", done: read, total, is_bytes: true, positions: job.positions.clone() };
    let progress = Progress::start(work, options.quiet);

    let (chunks, inbox) = sync_channel(options.threads);
    let inbox = Arc::new(Mutex::new(inbox));
    let (read, worked) = thread::scope(|scope| {
        let job = &job;
        let workers: Vec<_> = (0..options.threads)
            .map(|_| {
                let inbox = inbox.clone();
                scope.spawn(move || work_on(job, &inbox).inspect_err(|_| job.stop.store(true, Relaxed)))
            })
            .collect();
        // The workers alone hold the inbox: when they end, so does the reading.
        drop(inbox);
        let mut number = 0;
        let read = dumps.into_iter().enumerate().try_for_each(|(source, dump)| {
            for chunk in dump.chunks() {
                let chunk = chunk.map_err(|error| {
                    job.stop.store(true, Relaxed);
                    BuildError::Source { source: options.sources[source].clone(), error }
                })?;
                if chunks.send(Numbered { number, source, chunk }).is_err() {
                    break;
                }
                number += 1;
            }
            Ok(())
        });
        drop(chunks);
        let worked: Vec<_> = workers.into_iter().map(|worker| worker.join().expect("a worker died")).collect();
        (read, worked)
    });
    drop(progress);
    read?;
    let mut runs = Vec::new();
    let mut counts = Counts::default();
    for result in worked {
        let (some, count) = result.map_err(|error| error.place(options, workspace))?;
        runs.extend(some);
        counts.add(&count);
    }
    if let (Some(file), Some(path)) = (job.rejects, &options.rejects) {
        file.finish().map_err(|error| BuildError::Rejects { path: path.clone(), error })?;
    }
    Ok((runs, counts))
}

/// What can fail in a worker.
enum WorkError {
    Run(io::Error),
    Rejects(io::Error),
}

impl WorkError {
    fn place(self, options: &Options, workspace: &Workspace) -> BuildError {
        match self {
            WorkError::Run(error) => BuildError::Temporary { path: workspace.dir().to_owned(), error },
            WorkError::Rejects(error) => {
                BuildError::Rejects { path: options.rejects.clone().unwrap_or_default(), error }
            }
        }
    }
}

/// Parses chunks into sorted runs until there are no more.
fn work_on(job: &Job, inbox: &Mutex<Receiver<Numbered>>) -> Result<(Vec<Run>, Counts), WorkError> {
    let mut counts = Counts::default();
    let mut sorter = Sorter::new(job.shelf, job.arena);
    loop {
        let next = inbox.lock().ok().and_then(|inbox| inbox.recv().ok());
        let Some(Numbered { number, source, chunk }) = next else { break };
        if job.stop.load(Relaxed) {
            break;
        }
        let before = counts.records;
        let mut rows = String::new();
        let mut reject = |line: u64, reject: &Reject, text: &[u8], counts: &mut Counts| {
            counts.rejects[reject.reason()] += 1;
            if job.rejects.is_some() {
                rows.push_str(&rejects::row(&job.options.sources[source], line, reject, text));
            }
        };
        match &chunk.text {
            Text::TooLong(beginning) => {
                counts.lines += 1;
                reject(chunk.line, &Reject::TooLong, beginning, &mut counts);
            }
            Text::Lines(lines) => {
                for (line, text) in (chunk.line..).zip(lines.split(|&byte| byte == b'\n')) {
                    let bom: &[u8] = if line == 1 { b"\xef\xbb\xbf" } else { b"" };
                    let text = text.strip_prefix(bom).unwrap_or(text).trim_ascii();
                    if text.is_empty() {
                        continue;
                    }
                    counts.lines += 1;
                    match if text.len() > MAX_LINE { Err(Reject::TooLong) } else { parse(text) } {
                        Err(why) => reject(line, &why, text, &mut counts),
                        Ok(mut record) => {
                            counts.records += 1;
                            counts.pvs_cut += record.cut;
                            counts.pvs_dropped += record.dropped;
                            job.options.selection.narrow(&mut record.evaluations);
                            if record.evaluations.is_empty() {
                                counts.left_out += 1;
                            } else {
                                let key = record.position.key();
                                sorter.push(&key, &record.evaluations).map_err(WorkError::Run)?;
                            }
                        }
                    }
                }
            }
        }
        job.positions.fetch_add(counts.records - before, Relaxed);
        if let Some(file) = &job.rejects {
            file.put(number, rows).map_err(WorkError::Rejects)?;
        }
    }
    Ok((sorter.finish().map_err(WorkError::Run)?, counts))
}

/// Builds a database.
///
/// # Errors
///
/// See [`BuildError`]; the previous database is then as it was.
pub fn build(options: &Options) -> Result<Counts, BuildError> {
    let out = &options.out;
    let at_out = |error: io::Error| match error.kind() {
        io::ErrorKind::WouldBlock => BuildError::Busy(out.clone()),
        _ => BuildError::Temporary { path: out.clone(), error },
    };
    let workspace = Workspace::open(out).map_err(at_out)?;
    let shelf = Shelf::new(workspace.dir());
    let start = std::time::Instant::now();
    let (runs, counts) = sort(options, &workspace, &shelf)?;
    eprintln!("sorted {} runs {:?}", runs.len(), start.elapsed());
    if runs.is_empty() {
        return Err(BuildError::Empty(counts));
    }
    let at_temporary = |error| BuildError::Temporary { path: workspace.dir().to_owned(), error };
    let merge = Merge::new(runs, &shelf, options.max_memory / 2).map_err(at_temporary)?;
    let decode = |batch: io::Result<Vec<u8>>| -> io::Result<Vec<Eval>> {
        let batch = batch?;
        let mut rest = &batch[..];
        let mut evals = Vec::new();
        while !rest.is_empty() {
            evals.push(spool::take(&mut rest)?);
        }
        Ok(evals)
    };
    let mut n = 0;
    for evals in ordered::ordered(merge, options.threads, decode) {
        n += evals.map_err(at_temporary)?.len();
    }
    eprintln!("merged {n} {:?}", start.elapsed());
    Ok(counts)
}
