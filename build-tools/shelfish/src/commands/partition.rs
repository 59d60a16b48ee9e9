//! `shelfish partition`: converts lines of dumps to keyed records, which an engine sorts.

use std::fmt;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::str::FromStr;

use indicatif::HumanCount;

use super::plan::open;
use super::table_args::{Rejects, Workers};
use crate::Outcome;
use crate::build::BuildError;
use crate::build::kind::Total as _;
use crate::build::rejects::RejectFile;
use crate::evaluations::Counts;
use crate::evaluations::kind::Evaluations;
use crate::evaluations::parts::{Plan, lines};
use crate::input::lines::Chunk;
use crate::input::{Input, InputError};
use crate::system::ordered::ordered;
use crate::terminal::shown::json;

/// Number of consecutive lines of a share.
const TOGETHER: u64 = 1_000;

/// Convert dumps to sortable records for `shelfish encode`.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:
  shelfish partition --plan plan.json dump.jsonl.zst | LC_ALL=C sort > sorted
  shelfish partition --plan plan.json --share 3/8 dump.jsonl.zst > records-3
  zstdcat more.jsonl.zst | shelfish partition --plan plan.json - --rejects rejects.tsv > records

A line contains the number of the part in five digits, the key in hexadecimal digits and the record with its checksum in
Base64, separated by tabs. `shelfish encode` needs the lines sorted by their bytes; lines with the same key can have any order.
`shelfish build --help` describes rejected lines.

With --share I/N, the command processes every Nth block of a thousand lines, starting with block I (from 0 to N - 1). N
processes that read the same dump write each record once. Each process decompresses the whole dump, which takes an eightieth
of the processor time of a build.

Exit codes: 0 if all records were written, even with rejected lines; 1 otherwise; 2 if the usage is wrong.")]
pub struct Args {
    /// Dumps of evaluations, as for `shelfish build`
    #[arg(required = true, value_name = "SOURCE")]
    sources: Vec<PathBuf>,
    /// Plan, written by `shelfish plan`
    #[arg(long, value_name = "PLAN")]
    plan: PathBuf,
    /// Process one of N shares of each source
    #[arg(long, value_name = "I/N", default_value = "0/1")]
    share: Share,
    #[command(flatten)]
    workers: Workers,
    #[command(flatten)]
    rejects: Rejects,
    /// Print the summary on standard error as JSON
    #[arg(long)]
    json: bool,
    /// Print nothing
    #[arg(short, long)]
    quiet: bool,
}

/// Share of the lines of a source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Share {
    n: u64,
    of: u64,
}

impl FromStr for Share {
    type Err = ShareError;

    fn from_str(text: &str) -> Result<Share, ShareError> {
        let share = text.split_once('/').and_then(|(n, of)| {
            Some(Share {
                n: n.parse().ok()?,
                of: of.parse().ok()?,
            })
        });
        let share = share.ok_or_else(|| ShareError::Form(text.to_owned()))?;
        if share.n < share.of {
            Ok(share)
        } else {
            Err(ShareError::Number(share))
        }
    }
}

/// An error of a text that is not a share.
#[derive(Debug)]
pub enum ShareError {
    /// The text does not consist of two numbers.
    Form(String),
    /// The number of the share is not below the number of shares.
    Number(Share),
}

impl fmt::Display for ShareError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ShareError::Form(found) => write!(f, "expected I/N such as 0/8, found {found:?}"),
            ShareError::Number(found) => write!(f, "expected I below N, from 0 on, found {found}"),
        }
    }
}

impl std::error::Error for ShareError {}

impl fmt::Display for Share {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.n, self.of)
    }
}

impl Share {
    /// Returns whether a line, numbered from 1, belongs to this share.
    fn has(self, line: u64) -> bool {
        line.saturating_sub(1) / TOGETHER % self.of == self.n
    }
}

/// Partitions dumps and prints a summary on standard error.
pub fn run(args: Args) -> Outcome {
    let plan = Plan::read(&args.plan)?;
    let sources: Vec<Input> = args
        .sources
        .iter()
        .map(|path| Input::from(Path::new(path)))
        .collect();
    let threads = args.workers.count();
    let kind = Evaluations::new(plan.selection.clone());
    let rejects = args
        .rejects
        .file
        .as_deref()
        .map(|path| RejectFile::create(path, &sources))
        .transpose()?;
    let mut sum = Counts::default();
    let mut out = BufWriter::with_capacity(1 << 20, std::io::stdout().lock());
    let mut number = 0;
    for (source, dump) in sources.iter().zip(open(&sources, threads)?.dumps) {
        let (kind, named, plan, share) = (kind.clone(), source.clone(), plan.clone(), args.share);
        let parse = move |chunk: std::io::Result<Chunk>| {
            let (mut text, mut counts, mut rows) =
                (String::new(), Counts::default(), String::new());
            let push = |key: &shelfish::position::Key, payload: &[u8]| {
                lines::push(
                    &mut text,
                    plan.part_of(key.as_bytes()),
                    key.as_bytes(),
                    payload,
                );
                Ok(())
            };
            kind.parse_lines(
                (&named, &chunk?),
                |line| share.has(line),
                &mut counts,
                push,
                &mut rows,
            )?;
            Ok((text, counts, rows))
        };
        for parsed in ordered(dump.chunks(), threads, parse) {
            let (text, counts, rows) = parsed.map_err(|error| InputError::Read {
                input: source.clone(),
                error,
            })?;
            out.write_all(text.as_bytes())?;
            sum.add(&counts);
            if let Some(rejects) = &rejects {
                rejects.put(number, rows)?;
            }
            number += 1;
        }
    }
    out.flush()?;
    if sum.are_foreign() {
        return Err(BuildError::NoEvaluations {
            inputs: sources,
            lines: sum.lines,
        }
        .into());
    }
    rejects.as_ref().map_or(Ok(()), RejectFile::flush)?;
    if args.json {
        eprintln!("{}", json(&sum)?);
    } else if !args.quiet {
        let (records, rejected) = (
            HumanCount(sum.records - sum.left_out),
            HumanCount(sum.rejected()),
        );
        eprintln!(
            "{} lines, {records} records, {rejected} lines rejected",
            HumanCount(sum.lines)
        );
    }
    Ok(ExitCode::SUCCESS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_line_belongs_to_one_share() {
        let shares: Vec<Share> = (0..3)
            .filter_map(|n| format!("{n}/3").parse().ok())
            .collect();
        assert_eq!(shares.len(), 3);
        for line in 1..10_000 {
            assert_eq!(
                shares.iter().filter(|share| share.has(line)).count(),
                1,
                "{line}"
            );
        }
        for text in ["3/3", "0/0", "1", "a/b", "-1/2", "1/2/3"] {
            assert!(text.parse::<Share>().is_err(), "{text}");
        }
    }
}
