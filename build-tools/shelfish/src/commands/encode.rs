//! `shelfish encode`: encodes the sorted records of a part to shards and a fragment of the manifest.

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

use super::table_args::Workers;
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
use crate::publish::staging;
use crate::store::{Address, Settings, Store};
use crate::system::named_error::named;
use crate::system::workspace::Workspace;
use crate::terminal::progress::{Progress, Work};
use crate::{BoxError, Outcome, database};

/// Encode the sorted records of a part of a database.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:
  grep ^00003 sorted | shelfish encode --plan plan.json --part 3 -o db
  shelfish encode --plan plan.json --part 3 -o s3://my-bucket/evals part-3
  shelfish encode --plan plan.json --part 3 -o db < part-3

The input contains the lines of `shelfish partition` for this part only, sorted by their bytes (`LC_ALL=C sort`). Records of a
position are merged as in `shelfish build`. Parts without records must be encoded too, because `shelfish seal` needs all parts.
If the input is a pipe and its writer may be killed, write an empty line at the end and use `--ended`.

Files are named by their content and appear atomically. The fragment, in the folder `parts-` plus the name of the plan, is
written last. Therefore a part can be encoded again at any time, even concurrently. `shelfish seal` removes the directories of
killed processes. Readers use the parts only after `shelfish seal` has written the manifest. Credentials of buckets come from
the environment (see `shelfish publish --help`).

Exit codes: 0 if the part was encoded; 1 otherwise; 2 if the usage is wrong.")]
pub struct Args {
    /// Sorted lines of the part; `-` reads standard input
    #[arg(default_value = "-", value_name = "FILE")]
    lines: PathBuf,
    #[command(flatten)]
    verb: Verb,
    /// Number of the part, from 0
    #[arg(long, value_name = "I")]
    part: u32,
    /// Database: a directory or a folder of a bucket, the same for all parts
    #[arg(short, long, value_name = "DIR_OR_URL", value_parser = Address::parse)]
    out: Address,
    /// Require an empty last line, otherwise the input is incomplete; necessary for pipes, which do not show whether
    /// their writer was killed
    #[arg(long)]
    ended: bool,
    #[command(flatten)]
    workers: Workers,
}

/// Summary of an encoded part.
#[derive(Debug, Serialize)]
pub struct Report {
    /// Number of the part.
    pub part: usize,
    /// Number of lines read.
    pub lines: u64,
    /// Number of positions.
    pub positions: u64,
    /// Number of shards.
    pub shards: u64,
    /// Size of the shards in bytes.
    pub bytes: u64,
    /// Counts of evaluations that exceeded the limits of a record.
    pub over_limit: OverLimit,
    /// Duration in seconds.
    pub seconds: f64,
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Report {
            part,
            shards,
            seconds,
            ..
        } = self;
        let (lines, positions, bytes) = (
            HumanCount(self.lines),
            HumanCount(self.positions),
            HumanBytes(self.bytes),
        );
        write!(
            f,
            "part {part}: {positions} positions of {lines} lines, {shards} files, {bytes}, {seconds:.1} s"
        )
    }
}

/// Error of a part that the plan does not have.
#[derive(Debug)]
struct NoSuchPart {
    /// Number of `--part`.
    part: usize,
    /// Number of parts of the plan.
    parts: usize,
}

impl fmt::Display for NoSuchPart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "--part {}: the plan has {} parts, from 0 on",
            self.part, self.parts
        )
    }
}

impl std::error::Error for NoSuchPart {}

/// Encodes a part and prints a summary.
pub fn run(args: Args) -> Outcome {
    args.verb.print_report(&encode(&args)?)?;
    Ok(ExitCode::SUCCESS)
}

fn encode(args: &Args) -> Result<Report, BoxError> {
    let start = std::time::Instant::now();
    let plan = Plan::read(&args.verb.plan)?;
    let part = args.part as usize;
    if part >= plan.parts() {
        return Err(NoSuchPart {
            part,
            parts: plan.parts(),
        }
        .into());
    }
    let is_stdin = args.lines.as_os_str() == "-";
    let name = if is_stdin {
        "standard input".to_owned()
    } else {
        args.lines.display().to_string()
    };
    let reader: Box<dyn Read> = if is_stdin {
        Box::new(io::stdin())
    } else {
        Box::new(File::open(&args.lines).map_err(named(&name))?)
    };
    let target = Target::open(&args.out, &plan, part)?;
    let positions = Arc::new(AtomicU64::new(0));
    let count = Some(positions.clone());
    let work = Work {
        phase: "encoding",
        done: positions.clone(),
        total: None,
        is_bytes: false,
        positions: count,
    };
    let progress = Progress::start(work, args.verb.quiet);

    let kind = Evaluations::new(plan.selection.clone());
    let threads = args.workers.count();
    let keys = plan.keys_of(part);
    let lines_read = Arc::new(AtomicU64::new(0));
    let reader = BufReader::with_capacity(1 << 18, reader);
    let lines = Lines::<_, Merged>::new(
        reader,
        name,
        (part, keys.clone()),
        args.ended,
        lines_read.clone(),
    )?;
    let join = Join {
        runs: Box::new(lines),
        bases: Vec::new(),
        replace: false,
        kind: kind.clone(),
        left_out: 0,
    };
    let mut writer = TableWriter::<PositionEval>::create(
        target.scratch(),
        target.scratch(),
        plan.writer_options(),
    );
    let mut over_limit = OverLimit::default();
    if part > 0 {
        writer.begin_part(&keys.from)?;
    }
    let (blocks, left_out) = encoded(join, &[], threads, kind);
    for block in blocks {
        let Encoded { block, surplus, .. } = block.map_err(|error| -> BoxError {
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
    if table
        .shards
        .iter()
        .map(|shard| shard.inline_pages.len())
        .sum::<usize>()
        > plan.inline_page_bytes
    {
        table
            .shards
            .iter_mut()
            .for_each(|shard| shard.inline_pages.clear());
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

/// Destination of the files of a part. Several processes may write to the same destination.
enum Target {
    /// Directory. Files are written to a temporary subdirectory and then moved.
    Folder {
        dir: PathBuf,
        scratch: tempfile::TempDir,
    },
    /// Bucket. Files are written to a temporary directory and then sent.
    Bucket {
        store: Box<Store>,
        scratch: Workspace,
    },
}

impl Target {
    fn open(address: &Address, plan: &Plan, part: usize) -> Result<Target, BoxError> {
        let Some(dir) = address.folder() else {
            let store = Store::open(address, Settings::default())?;
            return Ok(Target::Bucket {
                store: Box::new(store),
                scratch: staging::scratch()?,
            });
        };
        let name = dir.display();
        let at_dir = named(&name);
        let folder = dir.join(plan.folder());
        fs::create_dir_all(&folder).map_err(at_dir)?;
        let scratch = tempfile::Builder::new()
            .prefix(&format!("{part:05}-"))
            .suffix(".tmp")
            .tempdir_in(&folder);
        Ok(Target::Folder {
            dir: dir.to_owned(),
            scratch: scratch.map_err(at_dir)?,
        })
    }

    fn scratch(&self) -> &Path {
        match self {
            Target::Folder { scratch, .. } => scratch.path(),
            Target::Bucket { scratch, .. } => scratch.dir(),
        }
    }

    /// Publishes the shards and then the fragment, each atomically.
    fn put(&self, shards: &[&str], name: &str, fragment: &[u8]) -> Result<(), BoxError> {
        match self {
            Target::Folder { dir, scratch } => {
                for shard in shards {
                    let path = dir.join(shard);
                    fs::rename(scratch.path().join(shard), &path)
                        .map_err(named(&path.display()))?;
                }
                let (path, new) = (dir.join(name), scratch.path().join("fragment.json"));
                let write = || {
                    fs::write(&new, fragment)?;
                    File::open(&new)?.sync_all()?;
                    fs::rename(&new, &path)
                };
                Ok(write().map_err(named(&path.display()))?)
            }
            Target::Bucket { store, scratch } => Ok(database::wait(async {
                let (_keep, never) = watch::channel(false);
                for shard in shards {
                    store
                        .send(
                            shard,
                            &scratch.dir().join(shard),
                            &AtomicU64::new(0),
                            never.clone(),
                        )
                        .await?;
                }
                store.write(name, fragment).await
            })??),
        }
    }
}
