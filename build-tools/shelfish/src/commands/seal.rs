//! `shelfish seal`: merges the fragments of all parts into the manifest of the database.

use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::process::ExitCode;

use futures_util::StreamExt;
use indicatif::{HumanBytes, HumanCount};
use serde::Serialize;
use shelfish::eval::PositionEval;
use shelfish::source::integrity::Integrity;
use shelfish::table::{Manifest, Part};

use crate::build::kind::Total as _;
use crate::evaluations::OverLimit;
use crate::evaluations::parts::fragment::Fragment;
use crate::evaluations::parts::{Plan, Verb};
use crate::store::{Address, Settings, Store};
use crate::{BoxError, Outcome, database, publish};

/// Maximum number of fragments that are read in parallel.
const AT_ONCE: usize = 16;
/// Maximum size of all fragments in bytes. It exceeds the size of a manifest with as many shards.
const MAX_BYTES: usize = 32 * Manifest::MAX_BYTES;
/// Maximum number of parts in an error message.
const NAMED: usize = 20;

/// Merge the parts of a database.
#[derive(clap::Args, Debug)]
#[group(id = "sealed", required = true, multiple = false, args = ["folder", "database"])]
#[command(after_help = "Examples:
  shelfish seal --plan plan.json db
  shelfish seal --plan plan.json s3://my-bucket/evals

All parts of the plan must exist. The command checks that each fragment is complete and belongs to the plan and its part, and
that each file exists with the right length. It reports the problems of all parts at once and keeps the old database in this
case. The manifest is replaced atomically; the old manifest is kept in `superseded` for `shelfish publish --prune`. Directories
of killed `shelfish encode` processes are removed. Use `shelfish verify` to check every byte.

Exit codes: 0 if the database was sealed; 1 otherwise; 2 if the usage is wrong.")]
pub struct Args {
    /// Database: the directory or folder of a bucket that contains the parts
    #[arg(value_name = "DIR_OR_URL", value_parser = Address::parse)]
    folder: Option<Address>,
    /// The same as DIR_OR_URL
    #[arg(short, long, value_name = "DIR_OR_URL", value_parser = Address::parse)]
    database: Option<Address>,
    #[command(flatten)]
    verb: Verb,
    /// Replace the manifest without a condition, for stores without conditional writes
    #[arg(long)]
    unconditional: bool,
}

/// Summary of a sealed database.
#[derive(Debug, Serialize)]
pub struct Report {
    /// URL or path of the manifest.
    pub manifest: String,
    /// Hash that pins the manifest.
    pub integrity: String,
    /// Number of positions.
    pub positions: u64,
    /// Size of the files in bytes.
    pub bytes: u64,
    /// Number of parts.
    pub parts: usize,
    /// Counts of evaluations that exceeded the limits of a record.
    pub over_limit: OverLimit,
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Report {
            manifest,
            integrity,
            parts,
            ..
        } = self;
        let (positions, bytes) = (HumanCount(self.positions), HumanBytes(self.bytes));
        write!(
            f,
            "{manifest}: {positions} positions of {parts} parts, {bytes}, {integrity}"
        )
    }
}

/// Error of fragments that are too large for a manifest.
#[derive(Debug)]
struct TooLarge {
    /// URL or path of the folder of the fragments.
    at: String,
}

impl fmt::Display for TooLarge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}: the fragments have more than {MAX_BYTES} bytes, too many for a manifest",
            self.at
        )
    }
}

impl std::error::Error for TooLarge {}

/// Seals a database and prints a summary.
pub fn run(args: Args) -> Outcome {
    let plan = Plan::read(&args.verb.plan)?;
    let settings = Settings {
        unconditional: args.unconditional,
        ..Settings::default()
    };
    let database = args
        .database
        .or(args.folder)
        .ok_or("no database is named")?;
    let store = Store::open(&database, settings)?;
    let report = database::wait(seal(&store, &plan))??;
    if let Some(dir) = database.folder() {
        remove_leftovers(&dir.join(plan.folder()));
    }
    args.verb.print_report(&report)?;
    Ok(ExitCode::SUCCESS)
}

async fn seal(store: &Store, plan: &Plan) -> Result<Report, BoxError> {
    let there: BTreeMap<String, u64> = store
        .list("")
        .await?
        .into_iter()
        .map(|entry| (entry.name, entry.bytes))
        .collect();
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
            return Err(TooLarge {
                at: store.locate(&plan.folder()),
            }
            .into());
        }
        let at = store.locate(&plan.fragment_name(part));
        match Fragment::parse(&found.bytes, plan, part) {
            Err(error) => wrong.push(format!("{at}: {error}")),
            Ok(fragment) => {
                for shard in &fragment.table.shards {
                    let at = store.locate(&shard.file);
                    match there.get(&shard.file) {
                        None => wrong.push(format!("{at}, of part {part}, is missing: encode this part again")),
                        Some(bytes) if *bytes != shard.bytes => wrong.push(format!(
                            "{at}, of part {part}, has {bytes} bytes, expected {}: encode this part again",
                            shard.bytes
                        )),
                        Some(_) => {}
                    }
                }
                fragments.push(fragment);
            }
        }
    }
    if !missing.is_empty() {
        let count = missing.len();
        let more = if count > NAMED { ", …" } else { "" };
        let named = missing[..count.min(NAMED)].join(", ");
        wrong.insert(
            0,
            format!(
                "{count} of {} parts are not encoded yet: {named}{more}",
                plan.parts()
            ),
        );
    }
    if !wrong.is_empty() {
        wrong.truncate(NAMED);
        return Err(wrong.join("; ").into());
    }
    let mut over_limit = OverLimit::default();
    fragments
        .iter()
        .for_each(|fragment| over_limit.add(&fragment.over_limit));
    let parts = fragments.len();
    let tables = fragments.into_iter().map(|fragment| fragment.table);
    let manifest = Part::join::<PositionEval>(tables, &plan.writer_options())?;
    let bytes = manifest.to_bytes::<PositionEval>()?;
    publish::replace_manifest(store, &bytes).await?;
    Ok(Report {
        manifest: store.locate(Manifest::FILE),
        integrity: Integrity::of(&bytes).to_string(),
        positions: manifest.positions,
        bytes: manifest.bytes(),
        parts,
        over_limit,
    })
}

/// Removes the directories of killed processes. The results of running processes are no longer needed.
fn remove_leftovers(folder: &std::path::Path) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let is_left = entry.file_name().to_string_lossy().ends_with(".tmp");
        if is_left && entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            // A remaining directory does no harm.
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}
