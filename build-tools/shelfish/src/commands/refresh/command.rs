//! The command line of `shelfish refresh`.

use std::path::PathBuf;
use std::process::ExitCode;

use super::{How, Report, refresh};
use crate::Outcome;
use crate::terminal::report;

/// Build of the newest dump, verify, publish and prune, if there is anything new.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:
  shelfish refresh refresh.toml
  shelfish refresh refresh.toml --dry-run
  shelfish refresh refresh.toml --quiet --json > report.json

The file has these keys; the first two are needed:

  sources = [\"https://database.lichess.org/lichess_db_eval.jsonl.zst\"]   # files or URLs; several are merged
  to = \"s3://my-bucket/evals\"          # where it is published: as for `shelfish publish`, or a folder
  directory = \"evals\"                  # where it is built
  base = \"published\"                   # go on from what is published; without, the sources are all there is
  build = [\"--max-memory\", \"4GiB\"]     # options of `shelfish build`
  book-build = [\"--min-games\", \"2\"]   # instead of `build`: the sources are games, options of `shelfish book build`
  publish = [\"--prune\", \"--keep\", \"3\"] # options of `shelfish publish`
  state = \"refresh.json\"               # where it is remembered what was built of what

Paths are relative to the file, those among the options of `build` and `publish` to where the program runs. It is safe to
run at any time, and again: where neither the sources nor the files of --whole and --plan changed (by the checksum that their
host publishes, else by its ETag, or by a file's time) and what was built of them is published, nothing is done; a run that
broke off is gone on with. Keep the file of the state: without it everything is built again.

Credentials are those of `shelfish publish`. Files for GitHub Actions, systemd and containers are in deploy/.

Exit codes: 0 if the newest is published, changed or not; 1 if not; 2 for wrong usage; 130 and 143 if interrupted.")]
pub struct Args {
    /// The file that says what is refreshed
    #[arg(value_name = "CONFIG")]
    config: PathBuf,
    /// Build though nothing changed
    #[arg(long)]
    force: bool,
    /// Look, and say what would be done
    #[arg(long)]
    dry_run: bool,
    /// Print the report as JSON
    #[arg(long)]
    json: bool,
    /// Say nothing before the report
    #[arg(short, long)]
    quiet: bool,
}

/// Refreshes, and prints a report.
///
/// # Errors
///
/// Nothing new was published.
pub fn run(args: &Args) -> Outcome {
    let how = How { force: args.force, dry_run: args.dry_run, quiet: args.quiet };
    let report = refresh(&args.config, how)?;
    report::print(&report, args.json)?;
    Ok(ExitCode::SUCCESS)
}

impl std::fmt::Display for Report {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if let Some(would) = self.would {
            return writeln!(f, "would {would}");
        }
        if let Some(built) = &self.built {
            write!(f, "{built}")?;
        }
        match &self.published {
            Some(published) => write!(f, "{published}"),
            None => writeln!(f, "nothing to do: the newest is published, {}", self.integrity),
        }
    }
}
