//! The first half of a build: sources to sorted runs.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::mpsc::{Receiver, Sender, channel, sync_channel};
use std::sync::{Arc, Mutex};
use std::thread;

use super::dump::{Chunk, Dump, MAX_LINE, Source, Text};
use super::record::{Record, Reject, parse, parse_rows};
use super::rejects::{self, RejectFile};
use super::sort::{Run, RunFiles, Sorter};
use super::workspace::Workspace;
use super::{BuildError, Counts, MIN_MEMORY, Options};
use crate::progress::{Progress, Work};

/// The memory that a build needs beside its arenas: code, stacks, compression, lines on their way.
const BASE_MEMORY: usize = 36 << 20;
/// Beside that, each worker's: the chunk that it parses, one that waits for it, a run's compression.
const WORKER_MEMORY: usize = 4 << 20;
/// The least that an arena is of use with.
const MIN_ARENA: usize = 4 << 20;

/// What the workers share.
struct Job<'a> {
    options: &'a Options,
    workspace: &'a Workspace,
    run_files: &'a RunFiles,
    arena: usize,
    rejects: Option<&'a RejectFile>,
    /// Set by whoever fails, so that nobody goes on for nothing.
    stop: AtomicBool,
    positions: Arc<AtomicU64>,
}

struct Numbered {
    number: u64,
    source: usize,
    chunk: Chunk,
    /// Dropped when the chunk is done with, if nothing else is to be read before.
    _alone: Option<Sender<()>>,
}

/// A chunk of more bytes, as a very long line makes it, is one at a time: it takes several times as much to parse.
const LARGE: usize = 4 << 20;

/// Reads all sources into sorted runs.
pub fn gather(
    options: &Options,
    workspace: &Workspace,
    run_files: &RunFiles,
    rejects: Option<&RejectFile>,
) -> Result<(Vec<Run>, Counts), BuildError> {
    let read = Arc::new(AtomicU64::new(0));
    let open = |source: &Source| {
        Dump::open(source, read.clone()).map_err(|error| BuildError::Source { source: source.clone(), error })
    };
    let dumps = options.sources.iter().map(open).collect::<Result<Vec<_>, _>>()?;
    let window = dumps.iter().map(|dump| dump.window).max().unwrap_or(0);
    let spare = options.max_memory.max(MIN_MEMORY).saturating_sub(BASE_MEMORY + window);
    // Where memory is short, fewer workers do better than ones without room.
    let workers = (spare / (WORKER_MEMORY + MIN_ARENA)).clamp(1, options.threads);
    let job = Job {
        options,
        workspace,
        run_files,
        arena: (spare / workers).saturating_sub(WORKER_MEMORY).max(MIN_ARENA),
        rejects,
        stop: AtomicBool::new(false),
        positions: Arc::new(AtomicU64::new(0)),
    };
    let total = dumps.iter().map(|dump| dump.size).sum::<Option<u64>>();
    let work = Work { phase: "reading", done: read, total, is_bytes: true, positions: Some(job.positions.clone()) };
    let progress = Progress::start(work, options.quiet);

    let (chunks, inbox) = sync_channel(workers);
    let inbox = Arc::new(Mutex::new(inbox));
    let (read, worked) = thread::scope(|scope| {
        let job = &job;
        let workers: Vec<_> = (0..workers)
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
                let (alone, done) = channel();
                let is_large = chunk.bytes() > LARGE;
                if chunks.send(Numbered { number, source, chunk, _alone: is_large.then_some(alone) }).is_err() {
                    break;
                }
                if is_large {
                    // An error: whoever had it is done with it.
                    let _ = done.recv();
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
        let (some, count) = result?;
        runs.extend(some);
        counts.add(&count);
    }
    Ok((runs, counts))
}

/// Parses chunks into sorted runs until there are no more.
fn work_on(job: &Job, inbox: &Mutex<Receiver<Numbered>>) -> Result<(Vec<Run>, Counts), BuildError> {
    let at_temporary = |error| BuildError::Temporary { path: job.workspace.dir().to_owned(), error };
    let mut counts = Counts::default();
    let mut sorter = Sorter::new(job.run_files, job.arena).map_err(|_| BuildError::Memory(job.arena))?;
    loop {
        let next = inbox.lock().ok().and_then(|inbox| inbox.recv().ok());
        let Some(Numbered { number, source, chunk, _alone }) = next else { break };
        if job.stop.load(Relaxed) {
            break;
        }
        if chunk.bytes() > LARGE {
            sorter.make_room().map_err(at_temporary)?;
        }
        let before = counts.records;
        let mut rows = String::new();
        let mut take = |line: u64, text: &[u8], record: Result<Record, Reject>| {
            counts.lines += 1;
            match record {
                Err(reject) => {
                    counts.rejects[reject.reason()] += 1;
                    if job.rejects.is_some() {
                        rows.push_str(&rejects::row(&job.options.sources[source], line, &reject, text));
                    }
                }
                Ok(mut record) => {
                    counts.records += 1;
                    counts.pvs_cut += record.cut;
                    counts.pvs_dropped += record.dropped;
                    counts.pvs_shortened += record.shortened;
                    job.options.selection.narrow(&mut record.evaluations);
                    if record.evaluations.is_empty() {
                        counts.left_out += 1;
                    } else {
                        let key = record.position.key();
                        sorter.push(&key, &record.evaluations, record.surplus).map_err(at_temporary)?;
                    }
                }
            }
            Ok(())
        };
        match &chunk.text {
            Text::TooLong(beginning) => take(chunk.line, beginning, Err(Reject::TooLong))?,
            Text::Lines(lines) => {
                for (line, text) in (chunk.line..).zip(lines.split(|&byte| byte == b'\n')) {
                    let bom: &[u8] = if line == 1 { b"\xef\xbb\xbf" } else { b"" };
                    let text = text.strip_prefix(bom).unwrap_or(text).trim_ascii();
                    if !text.is_empty() {
                        take(line, text, if text.len() > MAX_LINE { Err(Reject::TooLong) } else { parse(text) })?;
                    }
                }
            }
            Text::Rows(positions) => {
                let mut row = chunk.line;
                for rows in positions {
                    take(row, rows.fen.as_bytes(), parse_rows(rows))?;
                    row += rows.rows.len() as u64;
                }
            }
        }
        job.positions.fetch_add(counts.records - before, Relaxed);
        if let Some(file) = &job.rejects {
            file.put(number, rows)?;
        }
    }
    Ok((sorter.finish().map_err(at_temporary)?, counts))
}
