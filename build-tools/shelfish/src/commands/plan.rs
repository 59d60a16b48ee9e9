//! `shelfish plan`: chooses the boundaries of parts that take about the same work.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use indicatif::HumanCount;
use shelfish::table::{WriterOptions, separator};
use twox_hash::XxHash64;

use super::build::SelectionArgs;
use super::table_args::{FileArgs, Workers};
use crate::build::BuildError;
use crate::build::kind::{Kind as _, Total as _};
use crate::evaluations::Counts;
use crate::evaluations::Selection;
use crate::evaluations::kind::Evaluations;
use crate::evaluations::parts::{MAX_PARTS, Plan};
use crate::input::frames;
use crate::input::lines::Chunk;
use crate::input::{DumpKind, DumpOptions, Dumps, Input, InputError};
use crate::system::ordered::ordered;
use crate::terminal::progress::{Progress, Work};
use crate::{BoxError, Outcome};

/// Approximate memory for decoding, in bytes.
const MEMORY: usize = 512 << 20;

/// Choose the boundaries of parts, to build a database on several machines.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:
  shelfish plan lichess_db_eval.jsonl.zst --parts 64 -o plan.json
  shelfish plan january.jsonl.zst february.jsonl.zst --parts 8 --best-only --max-pvs 1 -o plan.json

All steps in a shell; a cluster uses its own sort and its own machines:
  shelfish plan dump.jsonl.zst --parts 4 -o plan.json
  shelfish partition --plan plan.json dump.jsonl.zst | LC_ALL=C sort > sorted
  for i in 0 1 2 3; do grep ^0000$i sorted | shelfish encode --plan plan.json --part $i -o db; done
  shelfish seal --plan plan.json db

The boundaries come from a sample of keys. The sample contains the keys with the smallest hashes, so the plan does not depend
on the order of the sources. Keep the plan: with it, parts can be encoded again with the same bytes, and `shelfish build
--plan` makes the same files on one machine. A plan can also be used for other sources, such as a newer dump, but the sizes of
its parts may differ more.

Exit codes: 0 if the plan was made; 1 otherwise; 2 if the usage is wrong.")]
pub struct Args {
    /// Dumps, as for `shelfish build`; a representative part of the dumps suffices
    #[arg(required = true, value_name = "SOURCE")]
    sources: Vec<PathBuf>,
    /// Number of parts
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=MAX_PARTS as i64))]
    parts: u32,
    /// Write the plan to FILE [default: standard output]
    #[arg(short, long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Number of positions of the sample; each position takes about 150 bytes of memory
    #[arg(long, value_name = "N", default_value_t = 200_000, value_parser = clap::value_parser!(u32).range(1..))]
    sample: u32,
    #[command(flatten)]
    selection: SelectionArgs,
    #[command(flatten)]
    files: FileArgs,
    #[command(flatten)]
    workers: Workers,
    /// Print nothing
    #[arg(short, long)]
    quiet: bool,
}

/// Makes and writes the plan.
pub fn run(args: Args) -> Outcome {
    let selection = args.selection.selection();
    let sources: Vec<Input> = args
        .sources
        .iter()
        .map(|path| Input::from(Path::new(path)))
        .collect();
    let threads = args.workers.count();
    let sample = sample(
        &sources,
        &selection,
        args.sample as usize,
        threads,
        args.quiet,
    )?;
    if sample.counts.are_foreign() {
        return Err(BuildError::NoEvaluations {
            inputs: sources,
            lines: sample.counts.lines,
        }
        .into());
    }
    let boundaries = boundaries(&sample.weights(), args.parts as usize).ok_or_else(|| {
        let (parts, found) = (args.parts, sample.known.len());
        format!("{parts} parts take at least {parts} positions in the sample, found {found}: make fewer parts, or --sample more")
    })?;
    let options = WriterOptions::default()
        .with_shard_bytes(args.files.shard_size)
        .with_inline_page_bytes(args.files.inline_pages as usize);
    let plan = Plan::new(boundaries, sample.positions(), selection, &options);
    let text = serde_json::to_string_pretty(&plan)? + "\n";
    match &args.out {
        Some(path) => {
            crate::system::output::check(path, args.sources.iter().map(PathBuf::as_path))?;
            crate::system::output::whole(path, |out| out.write_all(text.as_bytes()))?;
        }
        None => std::io::stdout().lock().write_all(text.as_bytes())?,
    }
    if !args.quiet {
        let positions = HumanCount(plan.positions);
        eprintln!(
            "some {positions} positions in {} parts; the plan is {}",
            plan.parts(),
            plan.id()
        );
    }
    Ok(ExitCode::SUCCESS)
}

/// Opens inputs, which must contain evaluations.
pub(super) fn open(inputs: &[Input], threads: usize) -> Result<Dumps, BoxError> {
    let options = DumpOptions {
        decoders: frames::decoders(threads, MEMORY),
        ..DumpOptions::default()
    };
    let dumps = Dumps::open(inputs, options)?;
    dumps.expect(inputs, DumpKind::Evaluations)?;
    Ok(dumps)
}

/// Sample of the positions whose keys have the smallest hashes.
struct Sample {
    most: usize,
    hashes: BTreeSet<(u64, Vec<u8>)>,
    /// Counts of the lines of the sources.
    counts: Counts,
    /// Weight of each position by its hash and key.
    known: BTreeMap<Vec<u8>, usize>,
    /// Upper bound of the hashes of the sample, once the sample is full.
    below: Arc<AtomicU64>,
}

impl Sample {
    fn add(&mut self, hash: u64, key: Vec<u8>, weight: usize) {
        if self.hashes.insert((hash, key.clone())) {
            self.known.insert(key, weight);
        } else if let Some(known) = self.known.get_mut(&key) {
            *known = weight.max(*known);
        }
        while self.hashes.len() > self.most {
            if let Some((hash, key)) = self.hashes.pop_last() {
                self.known.remove(&key);
                // A late hash may exceed the bound by far.
                self.below.fetch_min(hash, Relaxed);
            }
        }
    }

    /// Estimates the number of positions, assuming that the hashes are evenly distributed.
    fn positions(&self) -> u64 {
        match self.below.load(Relaxed) {
            u64::MAX => self.known.len() as u64,
            below => (self.known.len() as f64 / (below as f64 / u64::MAX as f64)) as u64,
        }
    }

    fn weights(&self) -> Vec<(&[u8], usize)> {
        self.known
            .iter()
            .map(|(key, weight)| (&key[..], *weight))
            .collect()
    }
}

fn sample(
    sources: &[Input],
    selection: &Selection,
    most: usize,
    threads: usize,
    quiet: bool,
) -> Result<Sample, BoxError> {
    let below = Arc::new(AtomicU64::new(u64::MAX));
    let mut sample = Sample {
        most,
        hashes: BTreeSet::new(),
        counts: Counts::default(),
        known: BTreeMap::new(),
        below,
    };
    let dumps = open(sources, threads)?;
    let total = dumps
        .dumps
        .iter()
        .map(|dump| dump.size)
        .sum::<Option<u64>>();
    let work = Work {
        phase: "sampling",
        done: dumps.read,
        total,
        is_bytes: true,
        positions: None,
    };
    let _progress = Progress::start(work, quiet);
    let kind = Evaluations::new(selection.clone());
    for (source, dump) in sources.iter().zip(dumps.dumps) {
        let (kind, named, below) = (kind.clone(), source.clone(), sample.below.clone());
        let parse = move |chunk: std::io::Result<Chunk>| {
            let chunk = chunk?;
            let mut found: Vec<(u64, Vec<u8>, usize)> = Vec::new();
            let push = |key: &shelfish::position::Key, payload: &[u8]| {
                let hash = XxHash64::oneshot(2, key.as_bytes());
                if hash <= below.load(Relaxed)
                    && let Some(weight) = kind.weight(payload)?
                {
                    found.push((hash, key.as_bytes().to_vec(), weight));
                }
                Ok(())
            };
            let mut counts = Counts::default();
            kind.parse_lines(
                (&named, &chunk),
                |_| true,
                &mut counts,
                push,
                &mut String::new(),
            )?;
            Ok((found, counts))
        };
        for found in ordered(dump.chunks(), threads, parse) {
            let found = found.map_err(|error| InputError::Read {
                input: source.clone(),
                error,
            });
            let (found, counts) = found?;
            sample.counts.add(&counts);
            found
                .into_iter()
                .for_each(|(hash, key, weight)| sample.add(hash, key, weight));
        }
    }
    Ok(sample)
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
        let target = |tenths: u64| {
            (u128::from(total) * (10 * part as u128 + u128::from(tenths) - 1)
                / (10 * parts as u128)) as u64
        };
        let index = |sum: u64| sums.partition_point(|before| *before < sum);
        // Each remaining part needs at least one key.
        let (least, most) = (last + 1, sample.len().checked_sub(parts - part)?);
        let window = index(target(0)).clamp(least, most.max(least))
            ..=index(target(2)).clamp(least, most.max(least));
        // A boundary between dissimilar neighbours is rarely crossed by games, as in blocks.
        let place = |n: usize| separator(sample[n - 1].0, sample[n].0);
        let best = window
            .filter(|n| *n <= most && *n < sample.len())
            .min_by_key(|n| (place(*n).len(), *n))?;
        boundaries.push(place(best));
        last = best;
    }
    Some(boundaries)
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
                boundaries.is_sorted() && boundaries.iter().all(|boundary| boundary.len() == 1),
                "{boundaries:?}"
            );
            let mut counts = vec![0; parts];
            sample
                .iter()
                .for_each(|(key, _)| counts[boundaries.partition_point(|b| &b[..] <= *key)] += 1);
            assert!(
                counts
                    .iter()
                    .all(|count| (count * parts).abs_diff(1000) <= 250),
                "{counts:?}"
            );
        }
        assert_eq!(
            boundaries(&sample[..5], 5).map(|boundaries| boundaries.len()),
            Some(4)
        );
        assert_eq!(boundaries(&sample[..4], 5), None);
    }
}
