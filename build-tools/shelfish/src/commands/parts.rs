//! `shelfish parts`: a database that is built in parts, on any number of machines.

use std::collections::BTreeMap;
use std::fmt;
use std::fs::{self, File};
use std::io::{self, BufReader, BufWriter, Read, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Instant;

use futures_util::StreamExt;
use indicatif::{HumanBytes, HumanCount};
use serde::Serialize;
use shelfish::eval::PositionEval;
use shelfish::position::Key;
use shelfish::source::integrity::Integrity;
use shelfish::table::{Manifest, Part, Shard, TableWriter, WriterOptions, separator};
use tokio::sync::watch;
use twox_hash::XxHash64;

use super::build::SelectionArgs;
use super::table_args::{FileArgs, Workers, inputs};
use crate::build::BuildError;
use crate::build::kind::Kind as _;
use crate::build::write::{Join, encoded};
use crate::evaluations::Counts;
use crate::evaluations::kind::Evaluations;
use crate::evaluations::parts::fragment::Fragment;
use crate::evaluations::parts::lines::{self, LineShare, Lines};
use crate::evaluations::parts::{MAX_PARTS, Plan};
use crate::input::lines::Chunk;
use crate::input::{DumpKind, Dumps, Input, InputError, MEMORY};
use crate::store::{Address, Store};
use crate::system::ordered::ordered;
use crate::system::output::{self, named};
use crate::system::quantity;
use crate::terminal::progress::{Progress, Work};
use crate::terminal::report;
use crate::terminal::shown::{counted, json};
use crate::{BoxError, Outcome, database, publish};

/// Number of positions of the sample of a plan. Each position takes about 150 bytes of memory.
const SAMPLE: usize = 200_000;
/// Maximum number of fragments that are read in parallel.
const AT_ONCE: usize = 16;
/// Maximum size of all fragments in bytes. It exceeds the size of a manifest with as many shards.
const MAX_BYTES: usize = 32 * Manifest::MAX_BYTES;
/// Maximum number of parts in an error message.
const NAMED: usize = 20;
/// Name of a fragment that is written to a folder.
const NEW: &str = "fragment.json";

/// Commands that build a database in parts.
#[derive(clap::Subcommand, Debug)]
pub enum Command {
    /// Choose the boundaries of parts that take about the same work
    Plan(PlanArgs),
    /// Convert dumps to sortable records for `shelfish parts encode`
    Partition(PartitionArgs),
    /// Encode the sorted records of a part
    Encode(EncodeArgs),
    /// Merge the parts into a database
    Seal(SealArgs),
}

/// Choose the boundaries of parts that take about the same work.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:
  shelfish parts plan lichess_db_eval.jsonl.zst --parts 64 -o plan.json
  shelfish parts plan january.jsonl.zst february.jsonl.zst --parts 8 --best-only --max-pvs 1 -o plan.json

All steps in a shell; a cluster uses its own sort and its own machines:
  shelfish parts plan dump.jsonl.zst --parts 4 -o plan.json
  shelfish parts partition --plan plan.json dump.jsonl.zst | LC_ALL=C sort > sorted
  for i in 0 1 2 3; do grep ^0000$i sorted | shelfish parts encode --plan plan.json --part $i -o db; done
  shelfish parts seal --plan plan.json db

The boundaries come from a sample of keys. The sample contains the keys with the smallest hashes, so the plan does not depend
on the order of the sources. Keep the plan: with it, parts can be encoded again with the same bytes, and `shelfish build
--plan` makes the same files on one machine. A plan can also be used for other sources, such as a newer dump, but the sizes of
its parts may differ more.

Exit codes: 0 if the plan was made; 1 otherwise; 2 if the usage is wrong.")]
pub struct PlanArgs {
    /// Dumps, as for `shelfish build`; a representative part of the dumps suffices
    #[arg(required = true, value_name = "SOURCE")]
    sources: Vec<PathBuf>,
    /// Number of parts
    #[arg(long, value_name = "N", value_parser = quantity::integer(1, MAX_PARTS as u32))]
    parts: u32,
    /// Write the plan to FILE [default: standard output]
    #[arg(short, long, value_name = "FILE")]
    out: Option<PathBuf>,
    #[command(flatten)]
    selection: SelectionArgs,
    #[command(flatten)]
    files: FileArgs,
    #[command(flatten)]
    workers: Workers,
    /// Print no progress and no summary, only errors
    #[arg(short, long)]
    quiet: bool,
}

/// Convert dumps to sortable records for `shelfish parts encode`.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:
  shelfish parts partition --plan plan.json dump.jsonl.zst | LC_ALL=C sort > sorted
  shelfish parts partition --plan plan.json --share 3/8 dump.jsonl.zst > records-3
  zstdcat more.jsonl.zst | shelfish parts partition --plan plan.json - > records

A line contains the number of the part in five digits, the key in hexadecimal digits and the record with its checksum in
Base64, separated by tabs. `shelfish parts encode` needs the lines sorted by their bytes; lines with the same key can have any
order. The summary is printed on standard error. `shelfish build --help` describes rejected lines.

With --share I/N, the command processes every Nth block of a thousand lines, starting with block I (from 0 to N - 1). N
processes that read the same dump write each record once. Each process decompresses the whole dump, which takes an eightieth
of the processor time of a build.

Exit codes: 0 if all records were written, even with rejected lines; 1 otherwise; 2 if the usage is wrong.")]
pub struct PartitionArgs {
    /// Dumps of evaluations, as for `shelfish build`
    #[arg(required = true, value_name = "SOURCE")]
    sources: Vec<PathBuf>,
    /// Process one of N shares of each source
    #[arg(long, value_name = "I/N", default_value = "0/1", value_parser = LineShare::parse)]
    share: LineShare,
    #[command(flatten)]
    workers: Workers,
    #[command(flatten)]
    common: CommonArgs,
}

/// Encode the sorted records of a part.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:
  grep ^00003 sorted | shelfish parts encode --plan plan.json --part 3 -o db
  shelfish parts encode --plan plan.json --part 3 -o s3://my-bucket/evals part-3
  shelfish parts encode --plan plan.json --part 3 -o db < part-3

The input contains the lines of `shelfish parts partition` for this part only, sorted by their bytes (`LC_ALL=C sort`). Records
of a position are merged as in `shelfish build`. Parts without records must be encoded too, because `shelfish parts seal` needs
all parts. If the input is a pipe and its writer may be killed, write an empty line at the end and use `--ended`.

Files are named by their content and appear atomically. The fragment, in the folder `parts-` plus the name of the plan, is
written last. Therefore a part can be encoded again at any time, even concurrently. `shelfish parts seal` removes the
directories of killed processes. Readers use the parts only after `shelfish parts seal` has written the manifest. Credentials of
buckets come from the environment (see `shelfish publish --help`).

Exit codes: 0 if the part was encoded; 1 otherwise; 2 if the usage is wrong.")]
pub struct EncodeArgs {
    /// Sorted lines of the part; `-` reads standard input
    #[arg(default_value = "-", value_name = "FILE")]
    lines: PathBuf,
    /// Number of the part, from 0
    #[arg(long, value_name = "I", value_parser = quantity::integer(0, MAX_PARTS as u32 - 1))]
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
    #[command(flatten)]
    common: CommonArgs,
}

/// Merge the parts into a database.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:
  shelfish parts seal --plan plan.json db
  shelfish parts seal --plan plan.json s3://my-bucket/evals

All parts of the plan must exist. The command checks that each fragment is complete and belongs to the plan and its part, and
that each file exists with the right length. It reports the problems of all parts at once and keeps the old database in this
case. The manifest is replaced atomically; the old manifest is kept in `superseded` for `shelfish publish --prune`. Directories
of killed `shelfish parts encode` processes are removed. Use `shelfish verify` to check every byte.

Exit codes: 0 if the database was sealed; 1 otherwise; 2 if the usage is wrong.")]
pub struct SealArgs {
    /// Database: the directory or folder of a bucket that contains the parts
    #[arg(value_name = "DIR_OR_URL", value_parser = Address::parse)]
    database: Address,
    #[command(flatten)]
    common: CommonArgs,
}

/// Options of the commands that use a plan.
#[derive(clap::Args, Debug)]
struct CommonArgs {
    /// Plan, written by `shelfish parts plan`
    #[arg(long, value_name = "PLAN")]
    plan: PathBuf,
    #[command(flatten)]
    output: report::Output,
}

/// Runs a command.
pub fn run(command: Command) -> Outcome {
    match command {
        Command::Plan(args) => plan(&args)?,
        Command::Partition(args) => partition(&args)?,
        Command::Encode(args) => args.common.output.print(&encode(&args)?)?,
        Command::Seal(args) => args.common.output.print(&seal(&args)?)?,
    }
    Ok(ExitCode::SUCCESS)
}

/// Parses the chunks of dumps in parallel, gathers their records by `push` and passes the results to `take` in order. Returns the counts of the lines.
fn parse_dumps<T: Default + Send + 'static>(
    sources: &[Input],
    threads: usize,
    phase: Option<&'static str>,
    kind: Evaluations,
    push: impl Fn(&mut T, &Key, &[u8]) -> io::Result<()> + Clone + Send + Sync + 'static,
    mut take: impl FnMut(T) -> io::Result<()>,
) -> Result<Counts, BoxError> {
    let dumps = Dumps::open(sources, MEMORY)?;
    dumps.expect(sources, DumpKind::Evaluations)?;
    let work = Work {
        phase: phase.unwrap_or_default(),
        done: dumps.read,
        total: dumps.dumps.iter().map(|dump| dump.size).sum(),
        is_bytes: true,
        positions: None,
    };
    let _progress = Progress::start(work, phase.is_none());
    let mut sum = Counts::default();
    for (source, dump) in sources.iter().zip(dumps.dumps) {
        let (kind, push, input) = (kind.clone(), push.clone(), source.clone());
        let parse = move |chunk: io::Result<Chunk>| {
            let (mut all, mut counts) = (T::default(), Counts::default());
            let mut push = |key: &_, payload: &_| push(&mut all, key, payload);
            let mut rejects = String::new();
            kind.parse(&input, &chunk?, &mut counts, &mut push, &mut rejects)?;
            Ok((all, counts))
        };
        for parsed in ordered(dump.chunks(), threads, parse) {
            let (parsed, counts) = parsed.map_err(InputError::read(source))?;
            sum += counts;
            take(parsed)?;
        }
    }
    if sum.are_foreign() {
        return Err(BuildError::no_evaluations(sources, sum.lines).into());
    }
    Ok(sum)
}

/// Makes and writes a plan.
fn plan(args: &PlanArgs) -> Result<(), BoxError> {
    let selection = args.selection.selection();
    let mut sample = Sample::default();
    let kind = Evaluations::new(selection.clone());
    let weights = kind.clone();
    let push = move |found: &mut Vec<_>, key: &Key, payload: &[u8]| {
        let weight = weights.weight(payload)?;
        found.extend(weight.map(|weight| (key.as_bytes().to_vec(), weight)));
        Ok(())
    };
    let phase = (!args.quiet).then_some("sampling");
    parse_dumps(
        &inputs(&args.sources),
        args.workers.count(),
        phase,
        kind,
        push,
        |found| {
            found
                .into_iter()
                .for_each(|(key, weight)| sample.add(key, weight));
            Ok(())
        },
    )?;
    let (parts, found) = (args.parts as usize, sample.weights.len());
    let boundaries = boundaries(&sample.sorted(), parts).ok_or_else(|| {
        format!(
            "{parts} parts take at least {parts} positions in the sample, found {found}: make fewer parts"
        )
    })?;
    let options = WriterOptions {
        shard_bytes: args.files.shard_size,
        inline_page_bytes: args.files.inline_pages as usize,
        ..WriterOptions::default()
    };
    let plan = Plan::new(boundaries, sample.positions(), selection, &options);
    let text = serde_json::to_string_pretty(&plan)? + "\n";
    match &args.out {
        Some(path) => {
            output::check(path, args.sources.iter().map(PathBuf::as_path))?;
            output::whole(path, |out| out.write_all(text.as_bytes()))?;
        }
        None => io::stdout().lock().write_all(text.as_bytes())?,
    }
    if !args.quiet {
        let positions = HumanCount(plan.positions);
        eprintln!(
            "some {positions} positions in {parts} parts; the plan is {}",
            plan.id()
        );
    }
    Ok(())
}

/// Sample of the positions whose keys have the smallest hashes.
#[derive(Default)]
struct Sample {
    /// Weight of each position by its hash and key.
    weights: BTreeMap<(u64, Vec<u8>), usize>,
    /// Lowest hash that was removed, once the sample is full.
    full: Option<u64>,
}

impl Sample {
    fn add(&mut self, key: Vec<u8>, weight: usize) {
        let hash = XxHash64::oneshot(2, &key);
        if self.full.is_some_and(|full| hash >= full) {
            return;
        }
        let known = self.weights.entry((hash, key)).or_default();
        *known = weight.max(*known);
        while self.weights.len() > SAMPLE
            && let Some(((hash, _), _)) = self.weights.pop_last()
        {
            self.full = Some(hash);
        }
    }

    /// Estimates the number of positions, assuming that the hashes are evenly distributed.
    fn positions(&self) -> u64 {
        let count = self.weights.len();
        self.full.map_or(count as u64, |full| {
            (count as f64 / (full as f64 / u64::MAX as f64)) as u64
        })
    }

    /// Returns the weights by key.
    fn sorted(&self) -> Vec<(&[u8], usize)> {
        let weights = self.weights.iter();
        let mut sorted: Vec<_> = weights
            .map(|((_, key), weight)| (&key[..], *weight))
            .collect();
        sorted.sort_unstable();
        sorted
    }
}

/// Returns the lower bounds of parts of similar weight, except for the first part. Returns `None` if there are fewer
/// keys than parts.
fn boundaries(sample: &[(&[u8], usize)], parts: usize) -> Option<Vec<Vec<u8>>> {
    let total: u64 = sample.iter().map(|(_, weight)| *weight as u64).sum();
    let before = |sum: &mut u64, (_, weight): &(&[u8], usize)| {
        *sum += *weight as u64;
        Some(*sum - *weight as u64)
    };
    let sums: Vec<u64> = sample.iter().scan(0, before).collect();
    let (mut last, mut boundaries) = (0, Vec::new());
    for part in 1..parts {
        // Each remaining part needs at least one key.
        let (least, most) = (last + 1, sample.len().checked_sub(parts - part)?);
        let index = |tenths: u64| {
            let target = u128::from(total) * (10 * part as u128 + u128::from(tenths) - 1)
                / (10 * parts as u128);
            let index = sums.partition_point(|before| u128::from(*before) < target);
            index.clamp(least, most.max(least))
        };
        // A boundary between dissimilar neighbours is rarely crossed by games, as in blocks.
        let place = |n: usize| separator(sample[n - 1].0, sample[n].0);
        let best = (index(0)..=index(2))
            .filter(|n| *n <= most && *n < sample.len())
            .min_by_key(|n| (place(*n).len(), *n))?;
        boundaries.push(place(best));
        last = best;
    }
    Some(boundaries)
}

/// Writes the records of dumps as lines, and prints a summary on standard error.
fn partition(args: &PartitionArgs) -> Result<(), BoxError> {
    let plan = Plan::read(&args.common.plan)?;
    let mut kind = Evaluations::new(plan.selection.clone());
    kind.lines = args.share;
    let push = move |text: &mut String, key: &Key, payload: &[u8]| {
        let key = key.as_bytes();
        lines::push(text, plan.part_of(key), key, payload);
        Ok(())
    };
    let mut out = BufWriter::with_capacity(1 << 20, io::stdout().lock());
    let counts = parse_dumps(
        &inputs(&args.sources),
        args.workers.count(),
        None,
        kind,
        push,
        |text: String| out.write_all(text.as_bytes()),
    )?;
    out.flush()?;
    if args.common.output.json {
        eprintln!("{}", json(&counts)?);
    } else if !args.common.output.quiet {
        let numbers = [
            counts.lines,
            counts.records - counts.left_out,
            counts.rejected(),
        ];
        let [lines, records, rejected] = numbers;
        let (lines, records) = (counted(lines, "line"), counted(records, "record"));
        eprintln!("{lines}, {records}, {} rejected", counted(rejected, "line"));
    }
    Ok(())
}

/// Summary of an encoded part.
#[derive(Debug, Serialize)]
struct EncodedPart {
    part: usize,
    /// Number of lines read.
    lines: u64,
    positions: u64,
    shards: usize,
    /// Size of the shards in bytes.
    bytes: u64,
    seconds: f64,
}

impl fmt::Display for EncodedPart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [lines, positions, shards] = [
            (self.lines, "line"),
            (self.positions, "position"),
            (self.shards as u64, "file"),
        ]
        .map(|(count, noun)| counted(count, noun));
        let (part, bytes, seconds) = (self.part, HumanBytes(self.bytes), self.seconds);
        writeln!(
            f,
            "part {part}: {positions} of {lines}, {shards}, {bytes}, {seconds:.1} s"
        )
    }
}

/// Encodes the records of a part to shards and a fragment of the manifest.
fn encode(args: &EncodeArgs) -> Result<EncodedPart, BoxError> {
    let start = Instant::now();
    let plan = Plan::read(&args.common.plan)?;
    let (part, parts) = (args.part as usize, plan.parts());
    if part >= parts {
        return Err(format!("--part {part}: the plan has {parts} parts, from 0 on").into());
    }
    let (name, reader): (_, Box<dyn Read>) = if args.lines.as_os_str() == "-" {
        ("standard input".to_owned(), Box::new(io::stdin()))
    } else {
        let name = args.lines.display().to_string();
        let file = File::open(&args.lines).map_err(named(&name))?;
        (name, Box::new(file))
    };
    // Several processes may write to the same folder.
    let mut scratch = tempfile::Builder::new();
    let (scratch, store) = match args.out.folder() {
        Some(dir) => {
            let (name, folder) = (dir.display(), dir.join(plan.folder()));
            fs::create_dir_all(&folder).map_err(named(&name))?;
            let prefix = format!("{part:05}-");
            let scratch = scratch.prefix(&prefix).suffix(".tmp").tempdir_in(&folder);
            (scratch.map_err(named(&name))?, None)
        }
        None => (scratch.tempdir()?, Some(Store::open(&args.out)?)),
    };
    let positions = Arc::new(AtomicU64::new(0));
    let progress = Progress::start(
        Work::positions("encoding", &positions, None),
        args.common.output.quiet,
    );

    let kind = Evaluations::new(plan.selection.clone());
    let keys = plan.keys_of(part);
    let lines_read = Arc::new(AtomicU64::new(0));
    let lines = Lines {
        reader: BufReader::with_capacity(1 << 18, reader),
        name,
        part,
        keys: keys.clone(),
        ended: args.ended,
        read: lines_read.clone(),
        last: Default::default(),
    };
    let join = Join::of(kind, Box::new(lines));
    let scratch = scratch.path();
    let mut writer = TableWriter::<PositionEval>::create(scratch, scratch, plan.writer_options());
    if part > 0 {
        writer.begin_part(&keys.from)?;
    }
    let (blocks, _) = encoded(join, &[], args.workers.count());
    for block in blocks {
        let block = block?.block;
        writer.append(&block)?;
        positions.fetch_add(block.positions, Relaxed);
    }
    drop(progress);
    let table = writer.finish_part()?;
    let fragment = Fragment::new(&plan, part, table);
    let shards = &fragment.table.shards;
    // The shards appear before the fragment, each atomically.
    let (name, text) = (plan.fragment_name(part), fragment.to_bytes()?);
    match &store {
        Some(store) => database::wait(async {
            let (_keep, never) = watch::channel(false);
            for Shard { file, .. } in shards {
                let (path, sent) = (scratch.join(file), AtomicU64::new(0));
                store.send(file, &path, &sent, never.clone()).await?;
            }
            store.write(&name, &text).await
        })??,
        None => {
            let place = |from: &str, to: &str| {
                let to = args.out.locate(to);
                fs::rename(scratch.join(from), &to).map_err(named(&to.as_str()))
            };
            for Shard { file, .. } in shards {
                place(file, file)?;
            }
            let new = scratch.join(NEW);
            let written = fs::write(&new, &text).and_then(|()| File::open(&new)?.sync_all());
            written.map_err(named(&new.display()))?;
            place(NEW, &name)?;
        }
    }
    Ok(EncodedPart {
        part,
        lines: lines_read.load(Relaxed),
        positions: fragment.table.positions,
        shards: shards.len(),
        bytes: shards.iter().map(|shard| shard.bytes).sum(),
        seconds: start.elapsed().as_secs_f64(),
    })
}

/// Summary of a sealed database.
#[derive(Debug, Serialize)]
struct Sealed {
    /// URL or path of the manifest.
    manifest: String,
    /// Hash that pins the manifest.
    integrity: String,
    positions: u64,
    /// Size of the files in bytes.
    bytes: u64,
    parts: usize,
}

impl fmt::Display for Sealed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Sealed {
            manifest,
            integrity,
            parts,
            ..
        } = self;
        let (positions, bytes) = (HumanCount(self.positions), HumanBytes(self.bytes));
        writeln!(
            f,
            "{manifest}: {positions} positions of {parts} parts, {bytes}, {integrity}"
        )
    }
}

/// Merges the fragments of all parts into the manifest.
fn seal(args: &SealArgs) -> Result<Sealed, BoxError> {
    let plan = Plan::read(&args.common.plan)?;
    let store = Store::open(&args.database)?;
    let sealed = database::wait(write_manifest(&store, &plan))??;
    if let Some(dir) = args.database.folder() {
        remove_leftovers(&dir.join(plan.folder()));
    }
    Ok(sealed)
}

async fn write_manifest(store: &Store, plan: &Plan) -> Result<Sealed, BoxError> {
    let there = store.list("").await?.into_iter();
    let there: BTreeMap<String, u64> = there.map(|entry| (entry.name, entry.bytes)).collect();
    let read = |part: usize| async move { store.read(&plan.fragment_name(part)).await };
    let mut found = futures_util::stream::iter(0..plan.parts())
        .map(read)
        .buffered(AT_ONCE)
        .enumerate();
    let (mut fragments, mut missing, mut wrong) = (Vec::new(), Vec::new(), Vec::new());
    let mut bytes = 0;
    while let Some((part, found)) = found.next().await {
        let Some(found) = found? else {
            missing.push(part.to_string());
            continue;
        };
        bytes += found.bytes.len();
        if bytes > MAX_BYTES {
            let at = store.locate(&plan.folder());
            return Err(format!(
                "{at}: the fragments have more than {MAX_BYTES} bytes, too many for a manifest"
            )
            .into());
        }
        let fragment = match Fragment::parse(&found.bytes, plan, part) {
            Ok(fragment) => fragment,
            Err(error) => {
                wrong.push(format!(
                    "{}: {error}",
                    store.locate(&plan.fragment_name(part))
                ));
                continue;
            }
        };
        for shard in &fragment.table.shards {
            let at = format!("{}, of part {part},", store.locate(&shard.file));
            match there.get(&shard.file) {
                None => wrong.push(format!("{at} is missing: encode this part again")),
                Some(bytes) if *bytes != shard.bytes => wrong.push(format!(
                    "{at} has {bytes} bytes, expected {}: encode this part again",
                    shard.bytes
                )),
                Some(_) => {}
            }
        }
        fragments.push(fragment);
    }
    if !missing.is_empty() {
        let (count, all) = (missing.len(), plan.parts());
        let more = if count > NAMED { ", …" } else { "" };
        let named = missing[..count.min(NAMED)].join(", ");
        wrong.insert(
            0,
            format!("{count} of {all} parts are not encoded yet: {named}{more}"),
        );
    }
    if !wrong.is_empty() {
        wrong.truncate(NAMED);
        return Err(wrong.join("; ").into());
    }
    let tables = fragments.into_iter().map(|fragment| fragment.table);
    let manifest = Part::join::<PositionEval>(tables, &plan.writer_options())?;
    let bytes = manifest.to_bytes::<PositionEval>()?;
    publish::replace_manifest(store, &bytes).await?;
    Ok(Sealed {
        manifest: store.locate(Manifest::FILE),
        integrity: Integrity::of(&bytes).to_string(),
        positions: manifest.positions,
        bytes: manifest.bytes(),
        parts: plan.parts(),
    })
}

/// Removes the directories of killed processes. The results of running processes are no longer needed.
fn remove_leftovers(folder: &Path) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let is_left = entry.file_name().to_string_lossy().ends_with(".tmp");
        if is_left && entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            // A remaining directory does no harm.
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_weigh_about_the_same_and_begin_at_short_separators() {
        let keys: Vec<[u8; 3]> = (0..1000u32)
            .map(|n| [(n / 10) as u8, (n % 10) as u8, 9])
            .collect();
        let sample: Vec<(&[u8], usize)> = keys.iter().map(|key| (&key[..], 10)).collect();
        for parts in [1, 2, 4, 7] {
            let boundaries = boundaries(&sample, parts).unwrap_or_default();
            assert_eq!(boundaries.len(), parts - 1);
            assert!(
                boundaries.is_sorted() && boundaries.iter().all(|boundary| boundary.len() == 1)
            );
            let mut counts = vec![0; parts];
            let part_of = |key: &[u8]| boundaries.partition_point(|boundary| &boundary[..] <= key);
            sample.iter().for_each(|(key, _)| counts[part_of(key)] += 1);
            let is_even = |count: &usize| (count * parts).abs_diff(1000) <= 250;
            assert!(counts.iter().all(is_even), "{counts:?}");
        }
        assert_eq!(boundaries(&sample[..4], 5), None);
    }
}
