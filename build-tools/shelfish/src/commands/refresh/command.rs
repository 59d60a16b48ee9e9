//! `shelfish refresh`: options and output.

use std::path::PathBuf;
use std::process::ExitCode;

use super::{Report, refresh};
use crate::Outcome;
use crate::terminal::report;
use crate::terminal::shown::shown;

/// Build, verify, publish and prune a database if its sources changed.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:
  shelfish refresh refresh.toml
  shelfish refresh refresh.toml --dry-run
  shelfish refresh refresh.toml --quiet --json > report.json

The file has these keys; the first two are required:

  sources = [\"https://database.lichess.org/lichess_db_eval.jsonl.zst\"]   # files or URLs; several are merged
  to = \"s3://my-bucket/evals\"          # destination, as for `shelfish publish`
  directory = \"evals\"                  # directory of the build
  base = \"published\"                   # build on the published database instead of the sources alone
  build = [\"--max-memory\", \"4GiB\"]     # options of `shelfish build`
  book-build = [\"--min-games\", \"2\"]   # instead of `build`: the sources are games, options of `shelfish book build`
  publish = [\"--prune\", \"--keep\", \"3\"] # options of `shelfish publish`
  max-loss = 5                         # publish nothing if more than this share of the positions is lost, in percent
  state = \"refresh.json\"               # file that records the last build

Paths are relative to the configuration file, except for paths in options of `build` and `publish`. The command can be run
and repeated at any time. It does nothing if the sources and the files of --whole and --plan did not change and the database
built from them is published. It detects changes by the published checksum, the ETag, or the modification time. It continues
an interrupted run. Keep the file of the state; without it, everything is built again.

A source that is cut off must not replace a complete database. If the new database has fewer positions than the published
database, and the loss exceeds `max-loss`, the new database is kept in `directory` and not published. A change of
options such as --min-depth may need `max-loss = 100` once.

Credentials are the same as for `shelfish publish`. Files for GitHub Actions, systemd and containers are in deploy/.

Exit codes: 0 if the newest database is published, changed or not; 1 otherwise; 2 if the usage, the configuration or a variable
of the environment is wrong; 130 and 143 if interrupted.")]
pub struct Args {
    /// Configuration file
    #[arg(value_name = "CONFIG")]
    pub(super) config: PathBuf,
    /// Build even if nothing changed
    #[arg(long)]
    pub(super) force: bool,
    /// Print what would be done, and the reason
    #[arg(long)]
    pub(super) dry_run: bool,
    #[command(flatten)]
    pub(super) output: report::Output,
}

/// Refreshes a database and prints a report.
pub fn run(args: &Args) -> Outcome {
    args.output.print(&refresh(args)?)?;
    Ok(ExitCode::SUCCESS)
}

impl std::fmt::Display for Report {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if let Some(would) = self.would {
            return match &self.reason {
                Some(reason) => writeln!(f, "would {would}: {}", shown(reason)),
                None => writeln!(f, "would {would}"),
            };
        }
        if let Some(built) = &self.built {
            write!(f, "{built}")?;
        }
        match &self.published {
            Some(published) => write!(f, "{published}"),
            None => writeln!(
                f,
                "nothing to do: the newest is published, {}",
                self.integrity
            ),
        }
    }
}
