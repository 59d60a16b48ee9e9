//! `shelfish encode`: the sorted records of a part to shards and a fragment of the manifest.

use std::fmt;
use std::fs::{self, File};
use std::io::{self, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use indicatif::{HumanBytes, HumanCount};
use serde::Serialize;
use shelfish::eval::PositionEval;
use shelfish::table::TableWriter;
use tokio::sync::watch;

use crate::build::BuildError;
use crate::build::join::{Join, JoinError};
use crate::build::kind::Total;
use crate::build::write::{EncodeError, Encoded, encoded};
use crate::evaluations::OverLimit;
use crate::evaluations::kind::Evaluations;
use crate::evaluations::merged::Merged;
use crate::evaluations::parts::fragment::Fragment;
use crate::evaluations::parts::lines::Lines;
use crate::evaluations::parts::{Plan, Verb};
use crate::store::{Address, Settings, Store};
use crate::terminal::progress::{Progress, Work};
use crate::{Failure, Outcome, database};

/// Make the files of one part of a database of its sorted records.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:
  grep ^00003 sorted | shelfish encode --plan plan.json --part 3 -o db
  shelfish encode --plan plan.json --part 3 -o s3://my-bucket/evals part-3
  shelfish encode --plan plan.json --part 3 -o db < part-3

Records are lines of `shelfish partition`, those of this part alone, sorted by their bytes (`LC_ALL=C sort`); those of a
position become one, as in `shelfish build`. A part without records is encoded, too: `shelfish seal` asks for each. What
writes to a pipe and may be killed should write an empty line last and give `--ended`: a pipe ends alike in both cases.

Files are named by their content, and appear whole or not at all; the fragment, in the folder `parts-` and the plan's name,
comes last. So a part may be encoded twice, even at the same time, and again after a failure. What a killed process left in a
directory `shelfish seal` removes. Nobody reads a part before `shelfish seal` wrote the manifest. Credentials of buckets come
from the environment, see `shelfish publish --help`.

Exit codes: 0 if the part was made; 1 if not; 2 for wrong usage.")]
pub struct Args {
    /// The sorted lines of the part; `-` is standard input
    #[arg(default_value = "-", value_name = "FILE")]
    lines: PathBuf,
    #[command(flatten)]
    verb: Verb,
    /// The part, from 0
    #[arg(long, value_name = "I")]
    part: u32,
    /// The database: a directory or a folder of a bucket, the same for all parts
    #[arg(short, long, value_name = "DIR_OR_URL", value_parser = Address::parse)]
    out: Address,
    /// Expect an empty last line; without it the input counts as cut off. For pipes, which end alike when their writer is
    /// done and when it was killed
    #[arg(long)]
    ended: bool,
    /// Worker threads [default: one a core]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: Option<u16>,
}

/// What was made of a part.
#[derive(Debug, Serialize)]
pub struct Report {
    /// Its number.
    pub part: usize,
    /// Lines read.
    pub lines: u64,
    /// Positions.
    pub positions: u64,
    /// Shards.
    pub shards: u64,
    /// Their bytes.
    pub bytes: u64,
    /// What was left out because one position had too much.
    pub over_limit: OverLimit,
    /// Seconds taken.
    pub seconds: f64,
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Report { part, shards, seconds, .. } = self;
        let (lines, positions, bytes) = (HumanCount(self.lines), HumanCount(self.positions), HumanBytes(self.bytes));
        write!(f, "part {part}: {positions} positions of {lines} lines, {shards} files, {bytes}, {seconds:.1} s")
    }
}

/// Encodes a part, and prints a summary.
///
/// # Errors
///
/// The records are not as they should be, or nothing can be written.
pub fn run(args: Args) -> Outcome {
    args.verb.tell(&encode(&args)?)?;
    Ok(ExitCode::SUCCESS)
}

fn encode(args: &Args) -> Result<Report, Failure> {
    let start = std::time::Instant::now();
    let plan = Plan::read(&args.verb.plan)?;
    let part = args.part as usize;
    if part >= plan.parts() {
        return Err(format!("--part {part}: the plan has {} parts, from 0 on", plan.parts()).into());
    }
    let is_stdin = args.lines.as_os_str() == "-";
    let name = if is_stdin { "standard input".to_owned() } else { args.lines.display().to_string() };
    let reader: Box<dyn Read> = if is_stdin {
        Box::new(io::stdin())
    } else {
        Box::new(File::open(&args.lines).map_err(|error| format!("{name}: {error}"))?)
    };
    let target = Target::open(&args.out, &plan, part)?;
    let positions = Arc::new(AtomicU64::new(0));
    let count = Some(positions.clone());
    let work = Work { phase: "encoding", done: positions.clone(), total: None, is_bytes: false, positions: count };
    let progress = Progress::start(work, args.verb.quiet);

    let kind = Evaluations { selection: plan.selection.clone(), gathered: plan.selection.min_depth };
    let threads = args.threads.map_or_else(crate::system::ordered::cores, usize::from);
    let keys = plan.keys_of(part);
    let lines_read = Arc::new(AtomicU64::new(0));
    let reader = BufReader::with_capacity(1 << 18, reader);
    let lines = Lines::<_, Merged>::new(reader, name, (part, keys.clone()), args.ended, lines_read.clone())?;
    let join = Join { runs: Box::new(lines), bases: Vec::new(), replace: false, kind: kind.clone(), left_out: 0 };
    let mut writer = TableWriter::<PositionEval>::create(target.scratch(), target.scratch(), plan.writer_options());
    let mut over_limit = OverLimit::default();
    if part > 0 {
        writer.begin_part(&keys.from)?;
    }
    let (blocks, left_out) = encoded(join, &[], threads, kind);
    for block in blocks {
        let Encoded { block, surplus, .. } = block.map_err(|error| -> Failure {
            match error {
                EncodeError::Join(JoinError::Run(error)) => error.into(),
                EncodeError::Join(JoinError::Base(error)) => error.into(),
                EncodeError::Write(error) => BuildError::Write(error).into(),
            }
        })?;
        over_limit.add(&surplus);
        writer.append(&block)?;
        positions.fetch_add(block.positions, Relaxed);
    }
    drop(progress);
    let mut table = writer.finish_part()?;
    if table.shards.iter().map(|shard| shard.inline_pages.len()).sum::<usize>() > plan.inline_page_bytes {
        table.shards.iter_mut().for_each(|shard| shard.inline_pages.clear());
    }
    let fragment = Fragment::new(&plan, part, table, over_limit, left_out.load(Relaxed));
    let shards = &fragment.table.shards;
    let names: Vec<&str> = shards.iter().map(|shard| shard.file.as_str()).collect();
    target.put(&names, &plan.fragment_name(part), &fragment.to_bytes()?)?;
    Ok(Report {
        part,
        lines: lines_read.load(Relaxed),
        positions: fragment.table.positions,
        shards: shards.len() as u64,
        bytes: shards.iter().map(|shard| shard.bytes).sum(),
        over_limit,
        seconds: start.elapsed().as_secs_f64(),
    })
}

/// Where the files of a part go. Several processes may write to the same place.
enum Target {
    /// A directory; files are gathered in one within, and moved.
    Folder { dir: PathBuf, scratch: tempfile::TempDir },
    /// A bucket; files are gathered in a temporary directory, and sent.
    Bucket { store: Store, scratch: tempfile::TempDir },
}

impl Target {
    fn open(address: &Address, plan: &Plan, part: usize) -> Result<Target, Failure> {
        let Some(dir) = address.folder() else {
            let store = Store::open(address, Settings::default())?;
            return Ok(Target::Bucket { store, scratch: tempfile::tempdir()? });
        };
        let fault = |error: io::Error| format!("{}: {error}", dir.display());
        let folder = dir.join(plan.folder());
        fs::create_dir_all(&folder).map_err(fault)?;
        let scratch = tempfile::Builder::new().prefix(&format!("{part:05}-")).suffix(".tmp").tempdir_in(&folder);
        Ok(Target::Folder { dir: dir.to_owned(), scratch: scratch.map_err(fault)? })
    }

    fn scratch(&self) -> &Path {
        match self {
            Target::Folder { scratch, .. } | Target::Bucket { scratch, .. } => scratch.path(),
        }
    }

    /// Puts shards and then the fragment where they belong, each whole.
    fn put(&self, shards: &[&str], name: &str, fragment: &[u8]) -> Result<(), Failure> {
        match self {
            Target::Folder { dir, scratch } => {
                let fault = |path: &Path, error: io::Error| format!("{}: {error}", path.display());
                for shard in shards {
                    let path = dir.join(shard);
                    fs::rename(scratch.path().join(shard), &path).map_err(|error| fault(&path, error))?;
                }
                let (path, new) = (dir.join(name), scratch.path().join("fragment.json"));
                let write = || {
                    fs::write(&new, fragment)?;
                    File::open(&new)?.sync_all()?;
                    fs::rename(&new, &path)
                };
                write().map_err(|error| fault(&path, error))?;
                Ok(())
            }
            Target::Bucket { store, scratch } => Ok(database::wait(async {
                let (_keep, never) = watch::channel(false);
                for shard in shards {
                    store.send(shard, &scratch.path().join(shard), &AtomicU64::new(0), never.clone()).await?;
                }
                store.write(name, fragment).await
            })??),
        }
    }
}
