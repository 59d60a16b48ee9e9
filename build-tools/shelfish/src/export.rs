//! `shelfish export`: a database back to the lines of a dump.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use shelfish::table::{Block, TableError};

use crate::Outcome;
use crate::database;
use crate::json;
use crate::ordered::ordered;
use crate::scan::Scan;

/// Write a database as a dump: one JSON object a line, in the order of the database.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:
  shelfish export -d db | zstd > dump.jsonl.zst
  shelfish export -d https://example.org/evals -o dump.jsonl

What is written holds every position, evaluation, PV, depth and node count; `shelfish build` makes the same database of
it.")]
pub struct Args {
    #[command(flatten)]
    database: database::Args,
    /// Write to FILE in place of standard output
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

/// Exports.
///
/// # Errors
///
/// The database cannot be read, or the lines cannot be written.
pub fn run(args: Args) -> Outcome {
    match &args.output {
        Some(path) => {
            let named = |error: io::Error| io::Error::new(error.kind(), format!("{}: {error}", path.display()));
            let mut out = BufWriter::with_capacity(1 << 20, File::create(path).map_err(named)?);
            export(&args.database, &mut out)?;
            out.flush().map_err(named)?;
        }
        None => export(&args.database, &mut io::stdout().lock())?,
    }
    Ok(ExitCode::SUCCESS)
}

fn export(database: &database::Args, out: &mut impl Write) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
    let place = database.source()?;
    let manifest = Arc::new(database::wait(database::manifest(&place))??);
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let lines = |block: Result<crate::scan::RawBlock, crate::scan::ScanError>| {
        let block = block.map_err(Box::new)?;
        let lines = || {
            let mut lines = Vec::new();
            for eval in Block::open(&block.bytes, &block.at)?.records() {
                json::push_line(&mut lines, &eval?);
            }
            Ok(lines)
        };
        lines().map_err(|error: TableError| -> Box<dyn std::error::Error + Send + Sync> { Box::new(error) })
    };
    for lines in ordered(Scan::new(place, manifest)?, threads, lines) {
        out.write_all(&lines?)?;
    }
    out.flush()?;
    Ok(())
}
