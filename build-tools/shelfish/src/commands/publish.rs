//! `shelfish publish`: options and output.

use std::fmt;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use indicatif::HumanBytes;
use thiserror::Error;

use crate::Outcome;
use crate::publish::{Options, Prune, Replaces, Report, publish};
use crate::store::Address;
use crate::terminal::report;
use crate::terminal::shown::shown;

/// Publish a database to S3, R2, Google Cloud Storage or a folder.
#[derive(clap::Args, Clone, Debug)]
#[command(after_help = "Examples:
  shelfish publish db s3://my-bucket/evals --dry-run
  shelfish publish db s3://my-bucket/evals --cors --prune
  shelfish publish db https://ACCOUNT.r2.cloudflarestorage.com/my-bucket/evals --prune --keep 3 --grace 14d
  shelfish publish db gs://my-bucket/evals
  shelfish publish db ../site/evals --pages

Files that the store already has are not sent again; the command compares name, length and hash. The manifest is sent last,
and only if the published manifest did not change in the meantime. Readers therefore see the old or the new database, even
after a failure. Run the same command again to continue. If two users publish at the same time, the second command fails.

The replaced manifest is kept in the folder `superseded`. With --prune, a file is removed if no kept manifest names it and if
it was sent before --grace. Allow some days, because browsers may still have an old manifest.

Shards are served as model/mesh and cached for a year; the manifest is served as application/json and cached for a minute.
The bucket must be readable by the public, and by pages of other sites (see --cors). `shelfish doctor URL` checks this.

Credentials come from the environment:
  S3      AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_REGION; AWS_ENDPOINT for MinIO, Garage and others
  R2      AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY
  Google  GOOGLE_APPLICATION_CREDENTIALS or GOOGLE_SERVICE_ACCOUNT, the path of a key
An empty variable counts as unset. Files of profiles (~/.aws) are not read. Parts of a killed upload stay until a life-cycle
rule of the bucket removes them.

Exit codes: 0 if the database is published, changed or not; 1 otherwise; 2 if the usage is wrong; 130 and 143 if
interrupted.")]
pub struct Args {
    /// Directory of the database
    #[arg(value_name = "DIR")]
    dir: PathBuf,
    /// Folder in the store: s3://BUCKET/FOLDER, gs://BUCKET/FOLDER, the https:// URL of an R2 bucket, or a local directory
    #[arg(value_name = "URL", value_parser = Address::parse)]
    to: Address,
    /// Print the number of files that would be sent and removed
    #[arg(long)]
    dry_run: bool,
    /// Remove files that no kept database needs
    #[arg(long)]
    prune: bool,
    /// Number of databases that --prune keeps, including the new database
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = clap::value_parser!(u32).range(1..), requires = "prune")]
    keep: u32,
    /// Time that --prune keeps a database after its replacement and a file after its upload: a number with d, h, m or s
    #[arg(long, value_name = "TIME", default_value = "7d", value_parser = humantime::parse_duration, requires = "prune")]
    grace: Duration,
    /// Print the commands that allow pages of other sites to read the bucket
    #[arg(long)]
    cors: bool,
    /// Fail if the database exceeds the limits of GitHub Pages: 1 GB per site, 100 MB per file
    #[arg(long)]
    pages: bool,
    /// Fail if the published database has more positions and the new database lacks more than this share of them
    #[arg(long, value_name = "PERCENT", value_parser = percent)]
    max_loss: Option<f64>,
    /// Print the summary as JSON
    #[arg(long)]
    json: bool,
    /// Do not print progress
    #[arg(short, long)]
    quiet: bool,
}

/// Error of a share in percent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("expected a number from 0 to 100")]
pub struct PercentError;

/// Parses a share in percent.
pub fn percent(text: &str) -> Result<f64, PercentError> {
    text.parse()
        .ok()
        .filter(|percent| (0.0..=100.0).contains(percent))
        .ok_or(PercentError)
}

impl Args {
    /// Returns whether the destination is this directory.
    pub fn is_to(&self, directory: &Path) -> bool {
        self.to.folder().is_some_and(|to| to == directory)
    }

    /// Returns the options of the publication.
    pub fn options(self) -> Options {
        Options {
            dir: self.dir,
            to: self.to,
            prune: self.prune.then_some(Prune {
                keep: self.keep as usize,
                grace: self.grace,
            }),
            dry_run: self.dry_run,
            pages: self.pages,
            cors: self.cors,
            replaces: Replaces::Any,
            max_loss: self.max_loss,
            quiet: self.quiet,
        }
    }
}

/// Publishes a database and prints a summary.
pub fn run(args: Args) -> Outcome {
    let is_json = args.json;
    let report = publish(&args.options())?;
    report::print(&report, is_json)?;
    Ok(ExitCode::SUCCESS)
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bytes = |bytes| HumanBytes(bytes).to_string();
        let would = if self.dry_run { "would be " } else { "" };
        let share = 100.0 * self.sent_bytes as f64 / self.bytes.max(1) as f64;
        writeln!(
            f,
            "{} of {} files {would}sent, {} of {} ({share:.1} %)",
            self.sent_shards,
            self.shards,
            bytes(self.sent_bytes),
            bytes(self.bytes)
        )?;
        if self.removed_files > 0 {
            writeln!(
                f,
                "{} old files {would}removed, {}",
                self.removed_files,
                bytes(self.removed_bytes)
            )?;
        }
        if let Some(cors) = &self.cors {
            writeln!(
                f,
                "{}",
                cors.lines().map(shown).collect::<Vec<_>>().join("\n")
            )?;
        }
        let verdict = match (self.dry_run, self.changed) {
            (true, true) => "would be replaced",
            (true, false) => "is this one already",
            (false, true) => "published",
            (false, false) => "was this one already",
        };
        writeln!(
            f,
            "{}: {verdict}, {}, {:.1} s",
            shown(&self.manifest),
            self.integrity,
            self.seconds
        )
    }
}
