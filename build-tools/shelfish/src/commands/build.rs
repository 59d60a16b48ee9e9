//! `shelfish build`: a database of evaluations.

use std::path::PathBuf;

use super::table_args::{Built, TableArgs, inputs};
use crate::BoxError;
use crate::evaluations::parts::Plan;
use crate::evaluations::{self, Selection};
use crate::system::quantity;

/// Build a database of evaluations from dumps.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:
  shelfish build lichess_db_eval.jsonl.zst -o db
  shelfish build https://database.lichess.org/lichess_db_eval.jsonl.zst -o db
  shelfish build january.jsonl.zst february.jsonl.gz -o db --max-memory 4GiB --rejects rejects.tsv
  shelfish build --base db own.jsonl -o db
  shelfish build lichess_db_eval.jsonl.zst -o site/evals --max-size 900MiB
  zstdcat own.jsonl.zst | shelfish build - -o db --best-only --max-pvs 1
  shelfish build lichess_db_eval.jsonl.zst -o db --plan plan.json

`shelfish book build` builds a database of games.

The same input gives the same bytes for any number of threads and any memory. If a build fails, the database in DIR is
unchanged.

With --base, the result is byte for byte that of a build from all inputs at once. Blocks without new positions are copied.
The selection of a base (--min-depth and so on) also applies to the inputs. The result can differ from a build at once in two
cases. --best-only with --max-pvs or --max-plies ranks the shortened evaluations of a base. And evaluations that a base left
out for lack of room stay missing, even if --max-pvs or --max-plies would have made room.

A dump on a host is read as a stream, without a copy on the disk. If the connection breaks, the rest is requested, provided
that the file is unchanged. The SHA-256 is compared with the one in `sha256sums.txt` next to the file, if the host has that.

Parquet does not mark the end of an evaluation. A new evaluation begins when the position, the depth or the nodes change,
or when a first move is repeated.

A record has room for 256 evaluations, 4,096 PVs and 4,096 moves (fewer if its positions have very many legal moves), so
that every record is fast to read. The best evaluations are kept. A single evaluation with too many moves is cut to the
first moves of each PV.

The summary is short; with --json it counts every rejected line by reason. Lines over 16 MiB, with more than 256 evaluations, with more than 256 PVs
in one evaluation or with a PV of more than 5 KiB are rejected, too. --json also counts PVs that were cut or dropped at an illegal
move, PVs that were cut for lack of room, and positions with too many evaluations.

Sizes have a unit: KiB, MiB and GiB are powers of 1024, kB, MB and GB are powers of 1000. A number alone counts MiB.

Exit codes: 0 if the database was built, even with rejected lines; 1 if not; 2 for wrong usage; 130 and 143 if
interrupted.")]
pub struct Args {
    /// Dumps of the Lichess evaluation database: one JSON object per line, plain or compressed with zstd, gzip or bzip2, or
    /// Parquet with one row per PV. A file, an https:// URL, or `-` for standard input; Parquet must be a file
    #[arg(required_unless_present = "base", value_name = "SOURCE")]
    pub(super) sources: Vec<PathBuf>,
    #[command(flatten)]
    pub(super) table: TableArgs,
    #[command(flatten)]
    selection: SelectionArgs,
    /// Limit the size of all files; a number alone counts MiB. Evaluations of the lowest depths are left out until the rest fits; of the lowest depth
    /// that is kept, some positions are left out, to fill the size. The summary reports the depth and its share
    #[arg(long, value_name = "SIZE", value_parser = quantity::size(1 << 12), conflicts_with = "update")]
    max_size: Option<u64>,
    /// Build the parts of a plan of `shelfish parts plan`, with its selection and sizes. The result is byte for byte that of
    /// `shelfish parts partition`, `encode` and `seal`
    #[arg(long, value_name = "PLAN", conflicts_with_all = ["min_depth", "max_pvs", "max_plies", "best_only", "max_size", "shard_size", "inline_pages", "base"])]
    pub(super) plan: Option<PathBuf>,
}

/// Options that select evaluations.
#[derive(clap::Args, Debug)]
pub struct SelectionArgs {
    /// Leave out evaluations of lower depth
    #[arg(long, value_name = "DEPTH", value_parser = quantity::integer(0_u16, u16::MAX))]
    min_depth: Option<u16>,
    /// Keep the first N PVs of each evaluation
    #[arg(long, value_name = "N", value_parser = quantity::integer(1_u32, u32::MAX))]
    max_pvs: Option<u32>,
    /// Keep the first N moves of each PV; 0 keeps only the scores [default: all]
    #[arg(long, value_name = "N", value_parser = quantity::integer(0_u32, u32::MAX))]
    max_plies: Option<u32>,
    /// Keep the best evaluation of each position: the deepest, then the one with more PVs, then the one with more nodes
    #[arg(long)]
    best_only: bool,
}

impl SelectionArgs {
    /// Returns the selection.
    pub fn selection(&self) -> Selection {
        Selection {
            min_depth: self.min_depth.unwrap_or(0),
            share: None,
            max_pvs: self.max_pvs.map(|n| n as usize),
            max_plies: self.max_plies.map(|n| n as usize),
            best_only: self.best_only,
        }
    }
}

impl Args {
    pub(super) fn build_in(self, out: PathBuf, quiet: bool) -> Result<Built, BoxError> {
        let mut table = self.table.options(inputs(&self.sources), out, quiet);
        table.max_bytes = self.max_size;
        let mut selection = self.selection.selection();
        if let Some(plan) = self.plan.as_deref().map(Plan::read).transpose()? {
            table.boundaries = plan.boundaries().to_vec();
            let planned = plan.writer_options();
            (table.shard_bytes, table.inline_page_bytes) =
                (planned.shard_bytes, planned.inline_page_bytes);
            table.page_blocks = Some(planned.page_blocks);
            selection = plan.selection;
        }
        let summary = evaluations::build(&table, &selection)?;
        Ok(Built::Evaluations(Box::new(summary)))
    }
}
