//! The command line of `shelfish publish`.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use indicatif::{HumanBytes, HumanCount};

use crate::Outcome;
use crate::publish::{Options, Prune, Replaces, Report, publish};
use crate::store::{Address, Settings};
use crate::system::size;
use crate::terminal::report;
use crate::terminal::shown::shown;

/// Send a database to S3, R2, Google Cloud Storage, Azure or a folder.
#[derive(clap::Args, Clone, Debug)]
#[command(after_help = "Examples:
  shelfish publish db s3://my-bucket/evals --dry-run
  shelfish publish db s3://my-bucket/evals --cors --prune
  shelfish publish db https://ACCOUNT.r2.cloudflarestorage.com/my-bucket/evals --prune --keep 3 --grace 14d
  shelfish publish db gs://my-bucket/evals
  shelfish publish db az://my-container/evals
  shelfish publish db ../site/evals --pages

Files that are there already are not sent again: name, length and hash are compared. The manifest goes last, and only if
it is still the one that was there at the beginning. Whatever breaks, and whenever, readers have the old database or the
new one; run the same command again to go on. Of two who publish at a time, the second is told.

The manifest that is replaced is kept in the folder `superseded`. With --prune, a file goes when no kept manifest names it
and it was sent longer ago than --grace, which is best left at some days: browsers may still have an old manifest.

Files are served as model/mesh, to be kept for a year, the manifest as application/json, to be kept for a minute. A bucket
has to let the public read it, and pages of other sites, too: see --cors.

Credentials come from the environment:
  S3      AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_REGION; AWS_ENDPOINT for MinIO, Garage and others
  R2      AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY
  Google  GOOGLE_APPLICATION_CREDENTIALS or GOOGLE_SERVICE_ACCOUNT, the path of a key
  Azure   AZURE_STORAGE_ACCOUNT_NAME, AZURE_STORAGE_ACCOUNT_KEY or AZURE_STORAGE_SAS_KEY
Files of profiles (~/.aws) are not read. Parts of files whose upload was killed stay until the bucket's rules for its
life cycle remove them.

Exit codes: 0 if it was published, or there was nothing to do; 1 if not; 2 for wrong usage; 130 and 143 if interrupted.")]
pub struct Args {
    /// The directory of the database, as `shelfish build` made it
    #[arg(value_name = "DIR")]
    dir: PathBuf,
    /// The folder in the store: s3://BUCKET/FOLDER, gs://BUCKET/FOLDER, az://CONTAINER/FOLDER, the https:// URL of an R2 or
    /// Azure bucket, or a directory of this machine
    #[arg(value_name = "URL", value_parser = Address::parse)]
    to: Address,
    /// Look, and say what would be sent and removed, in how many requests, at what cost
    #[arg(long)]
    dry_run: bool,
    /// Afterwards, remove files that no kept database has
    #[arg(long)]
    prune: bool,
    /// Databases that --prune keeps, the new one counted
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = clap::value_parser!(u32).range(1..), requires = "prune")]
    keep: u32,
    /// How long --prune keeps a database after it was replaced, and a file after it was sent: a number with d, h, m or s
    #[arg(long, value_name = "TIME", default_value = "7d", value_parser = duration, requires = "prune")]
    grace: Duration,
    /// Let pages of other sites read the bucket, where the store's API has rules for that; else say what to do
    #[arg(long)]
    cors: bool,
    /// Refuse what GitHub Pages does not take: over 1 GB, or a file over 100 MB
    #[arg(long)]
    pages: bool,
    /// Replace the manifest whatever it is by now: for stores that know no conditions, where nobody else publishes
    #[arg(long)]
    unconditional: bool,
    /// How often a request that failed is sent again, later each time [default: 8]
    #[arg(long, value_name = "N")]
    retries: Option<u8>,
    /// Files that are sent at a time; each takes the memory of two parts
    #[arg(short, long, value_name = "N", default_value_t = crate::publish::JOBS as u16, value_parser = clap::value_parser!(u16).range(1..=64))]
    jobs: u16,
    /// Files that have more are sent in parts of so much, without a unit: MiB; S3 takes 5 MiB at least
    #[arg(long, value_name = "SIZE", default_value = "8MiB", value_parser = size::within(1, 1 << 30))]
    part_size: u64,
    /// Print the summary as JSON
    #[arg(long)]
    json: bool,
    /// Say nothing before the summary
    #[arg(short, long)]
    quiet: bool,
}

/// Reads a time such as `7d`.
fn duration(text: &str) -> Result<Duration, String> {
    let digits = text.trim_end_matches(|c: char| !c.is_ascii_digit());
    let unit = match text[digits.len()..].trim() {
        "d" => 24 * 60 * 60,
        "h" => 60 * 60,
        "m" => 60,
        "s" => 1,
        unit => return Err(format!("unknown unit {unit:?}, expected d, h, m or s")),
    };
    let number: u64 = digits.parse().map_err(|_| "expected a number such as 7d or 12h".to_owned())?;
    Ok(Duration::from_secs(number.checked_mul(unit).ok_or("too long")?))
}

impl Args {
    /// Whether they send it to this directory.
    pub fn is_to(&self, directory: &Path) -> bool {
        self.to.folder().is_some_and(|to| to == directory)
    }

    /// Whether they ask for nothing but looking.
    pub fn is_dry_run(&self) -> bool {
        self.dry_run
    }

    /// What they ask for.
    pub fn options(self) -> Options {
        Options {
            dir: self.dir,
            to: self.to,
            settings: Settings {
                unconditional: self.unconditional,
                retries: self.retries.map(usize::from),
                part: Some(self.part_size),
                timeout: None,
            },
            jobs: self.jobs.into(),
            prune: self.prune.then_some(Prune { keep: self.keep as usize, grace: self.grace }),
            dry_run: self.dry_run,
            pages: self.pages,
            cors: self.cors,
            replaces: Replaces::Any,
            quiet: self.quiet,
        }
    }
}

/// Publishes, and prints a summary.
///
/// # Errors
///
/// The database was not published.
pub fn run(args: Args) -> Outcome {
    let is_json = args.json;
    let report = publish(&args.options())?;
    report::print(&report, is_json)?;
    Ok(ExitCode::SUCCESS)
}

impl std::fmt::Display for Report {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let bytes = |bytes| HumanBytes(bytes).to_string();
        let would = if self.dry_run { "would be " } else { "" };
        let share = 100.0 * self.sent_bytes as f64 / self.bytes.max(1) as f64;
        writeln!(
            f,
            "{} of {} files {would}sent, {} of {} ({share:.1} %), {} requests",
            self.sent_shards,
            self.shards,
            bytes(self.sent_bytes),
            bytes(self.bytes),
            HumanCount(self.requests)
        )?;
        if self.removed_files > 0 {
            writeln!(f, "{} old files {would}removed, {}", self.removed_files, bytes(self.removed_bytes))?;
        }
        if let Some(cost) = self.cost {
            writeln!(
                f,
                "by list prices, requests ${:.4}, keeping it ${:.2} a month; what readers fetch is charged besides",
                cost.requests_usd, cost.month_usd
            )?;
        }
        if let Some(cors) = &self.cors {
            writeln!(f, "{}", cors.lines().map(shown).collect::<Vec<_>>().join("\n"))?;
        }
        let verdict = match (self.dry_run, self.changed) {
            (true, true) => "would be replaced",
            (true, false) => "is this one already",
            (false, true) => "published",
            (false, false) => "was this one already",
        };
        writeln!(f, "{}: {verdict}, {}, {:.1} s", shown(&self.manifest), self.integrity, self.seconds)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_units() {
        for (text, seconds) in [("7d", 604_800), ("12h", 43_200), ("0s", 0), ("90m", 5_400)] {
            assert_eq!(duration(text), Ok(Duration::from_secs(seconds)), "{text}");
        }
        for text in ["", "7", "d", "1y", "99999999999999999999d", "-1d"] {
            assert!(duration(text).is_err(), "{text}");
        }
    }
}
